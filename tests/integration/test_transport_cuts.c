/* SPDX-License-Identifier: MIT */
/*
 * Canned answers, cut at every byte, by a clean end and by a reset, on fresh connections and on
 * reused ones: a cut answer is never complete and its outcome is unknown; a whole one is what it
 * says. Hundreds of exchanges are under way at a time, and the target of each says what is to be
 * done to it: "/answer/bytes/how".
 */
#include "support/exchange.h"
#include "support/origin.h"
#include "support/toxic.h"

#define JSON       "Content-Type: application/json; odata.metadata=minimal\r\n"
#define BUDGET     "x-ms-ratelimit-burst-remaining-xrm-requests: 5999\r\nx-ms-dop-hint: 4\r\n"
#define IN_FLIGHT  200
#define LOCATION   "https://contoso.crm.dynamics.com/api/data/v9.2/accounts(0000-01)"
#define ERROR_BODY "{\"error\":{\"code\":\"0x80040265\",\"message\":\"no\"}}"

struct canned {
    const char *name;
    int status;
    enum weir_class class_; /* by status alone, as the transport hands it on */
    const char *body;
    const char *bytes;
    bool never; /* even whole it cannot be told from a cut one */
};

static const struct canned canned[] = {
    { "200 with a length", 200, WEIR_CLASS_OK, "{\"value\":[1]}",
      "HTTP/1.1 200 OK\r\n" JSON BUDGET "Content-Length: 13\r\n\r\n{\"value\":[1]}", false },
    { "200 chunked", 200, WEIR_CLASS_OK, "{\"value\":[1]}",
      "HTTP/1.1 200 OK\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"
      "5\r\n{\"val\r\n8\r\nue\":[1]}\r\n0\r\n\r\n",
      false },
    { "200 chunked with trailers", 200, WEIR_CLASS_OK, "{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A, X-B\r\n\r\n"
      "2;ext=1\r\n{}\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n",
      false },
    { "200 chunked and empty", 200, WEIR_CLASS_OK, "",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false },
    { "200 and empty", 200, WEIR_CLASS_OK, "", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      false },
    { "201 with a location", 201, WEIR_CLASS_OK, "{}",
      "HTTP/1.1 201 Created\r\nLocation: " LOCATION "\r\nContent-Length: 2\r\n\r\n{}", false },
    { "204", 204, WEIR_CLASS_OK, "",
      "HTTP/1.1 204 No Content\r\n" BUDGET "OData-EntityId: " LOCATION "\r\n\r\n", false },
    { "100, then 200", 200, WEIR_CLASS_OK, "{}",
      "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
      false },
    { "100, 103, then 204", 204, WEIR_CLASS_OK, "",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      "HTTP/1.1 204 No Content\r\n\r\n",
      false },
    { "302", 302, WEIR_CLASS_OTHER, "",
      "HTTP/1.1 302 Found\r\nLocation: https://login.example/\r\nContent-Length: 0\r\n\r\n",
      false },
    { "400", 400, WEIR_CLASS_OTHER, ERROR_BODY,
      "HTTP/1.1 400 Bad Request\r\n" JSON "Content-Length: 46\r\n\r\n" ERROR_BODY, false },
    { "401 with a challenge", 401, WEIR_CLASS_BAD_CREDENTIALS, "",
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer authorization_uri="
      "https://login.microsoftonline.com/0000/oauth2/authorize, resource_id=https://contoso/\r\n"
      "Content-Length: 0\r\n\r\n",
      false },
    { "403", 403, WEIR_CLASS_PRIVILEGE, ERROR_BODY,
      "HTTP/1.1 403 Forbidden\r\nContent-Length: 46\r\n\r\n" ERROR_BODY, false },
    { "404", 404, WEIR_CLASS_OTHER, "", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
      false },
    { "412", 412, WEIR_CLASS_OTHER, ERROR_BODY,
      "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 46\r\n\r\n" ERROR_BODY, false },
    { "413", 413, WEIR_CLASS_TOO_BIG, "",
      "HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      false },
    { "429 by requests", 429, WEIR_CLASS_THROTTLE,
      "{\"error\":{\"code\":\"0x80072322\",\"message\":\"limit of 6000\"}}",
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 37\r\nContent-Length: 57\r\n\r\n"
      "{\"error\":{\"code\":\"0x80072322\",\"message\":\"limit of 6000\"}}",
      false },
    { "429 by execution time, chunked", 429, WEIR_CLASS_THROTTLE,
      "{\"error\":{\"code\":\"0x80072321\"}}",
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1.3\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1f\r\n{\"error\":{\"code\":\"0x80072321\"}}\r\n0\r\n\r\n",
      false },
    { "429 by concurrency, with a date", 429, WEIR_CLASS_THROTTLE,
      "{\"error\":{\"code\":\"0x80072326\"}}",
      "HTTP/1.1 429 Too Many Requests\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
      "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\nContent-Length: 31\r\n\r\n"
      "{\"error\":{\"code\":\"0x80072326\"}}",
      false },
    { "429 bare", 429, WEIR_CLASS_THROTTLE, "",
      "HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: 2500\r\nContent-Length: 0\r\n\r\n",
      false },
    { "500", 500, WEIR_CLASS_TRANSIENT, ERROR_BODY,
      "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 46\r\n\r\n" ERROR_BODY, false },
    { "502 of a gateway, in HTML", 502, WEIR_CLASS_TRANSIENT,
      "<html><body>Bad Gateway</body></html>\n",
      "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 38\r\n\r\n"
      "<html><body>Bad Gateway</body></html>\n",
      false },
    { "503 with Retry-After", 503, WEIR_CLASS_TRANSIENT, "",
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n", false },
    { "multipart with a length", 200, WEIR_CLASS_OK,
      "--b_1\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No "
      "Content\r\n\r\n\r\n--b_1--\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b_1\r\nContent-Length: 79\r\n\r\n"
      "--b_1\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No "
      "Content\r\n\r\n\r\n--b_1--\r\n",
      false },
    { "multipart, chunked", 200, WEIR_CLASS_OK,
      "--b_1\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No "
      "Content\r\n\r\n\r\n--b_1--\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b_1\r\n"
      "Transfer-Encoding: chunked\r\n\r\n7\r\n--b_1\r\n\r\n"
      "48\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No "
      "Content\r\n\r\n\r\n--b_1--\r\n\r\n"
      "0\r\n\r\n",
      false },
    { "200 in HTTP/1.0, with a length", 200, WEIR_CLASS_OK, "{}",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", false },
    { "200 delimited by the end", 200, WEIR_CLASS_OK, "",
      "HTTP/1.1 200 OK\r\n" JSON "Connection: close\r\n\r\n{\"value\":[]}", true },
    { "multipart delimited by the end", 200, WEIR_CLASS_OK, "",
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; "
      "boundary=b\r\n\r\n--b\r\n\r\n\r\n--b--\r\n",
      true },
};

/* One exchange of a campaign. */
struct cut {
    uint8_t answer;
    uint16_t bytes;
    char how; /* 'c': clean end, 'r': reset, 'k': kept open */
};

#define CUTS_MAX 20000

struct campaign {
    struct cut cuts[CUTS_MAX];
    uint32_t count;
    uint32_t complete;
    uint32_t reused; /* cut ones on a connection that had answered before */
    uint32_t unsent; /* found their connection ended, and said so */
    uint32_t lost; /* went into a connection that the origin had ended: it may not have seen them */
};

static struct campaign campaign;

static void add(size_t answer, size_t bytes, char how)
{
    must(campaign.count < CUTS_MAX);
    campaign.cuts[campaign.count++] = (struct cut){ (uint8_t)answer, (uint16_t)bytes, how };
}

/* On the origin's thread: the target says it all. */
static void cut_answer(void *ctx, const struct origin_request *request,
                       struct origin_answer *answer)
{
    unsigned which, bytes;
    char how;
    (void)ctx;
    must(sscanf(request->target, "/%u/%u/%c", &which, &bytes, &how) == 3);
    must(which < COUNT(canned) && bytes <= strlen(canned[which].bytes));
    weir_buf_add(&answer->bytes, canned[which].bytes, bytes);
    answer->then = how == 'c' ? ORIGIN_CLOSE : how == 'r' ? ORIGIN_RESET : ORIGIN_KEEP;
}

static void name_cut(void *ctx, uint32_t index, char target[CROWD_TARGET_MAX])
{
    const struct cut *cut = &((struct campaign *)ctx)->cuts[index];
    snprintf(target, CROWD_TARGET_MAX, "/%u/%u/%c", cut->answer, cut->bytes, cut->how);
}

/* `row`, `cut` and `answer` are whatever is called so where it stands. */
#define assert_row(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s, %u bytes, '%c': %s, but: %s %s", row->name, cut->bytes, cut->how,    \
                         #condition, weir_ending_name(answer->ending), answer->detail);            \
    } while (0)

static void check_whole(const struct canned *row, const struct cut *cut,
                        const struct weir_exchange_answer *answer)
{
    assert_row(answer->ending == WEIR_ENDING_COMPLETE);
    assert_row(answer->status == row->status);
    assert_row(weir_str_equal(answer->body, weir_str_from(row->body)));
    assert_row(judge(answer).class_ == row->class_);
}

static void check_cut(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    struct campaign *it = ctx;
    const struct cut *cut = &it->cuts[index];
    const struct canned *row = &canned[cut->answer];
    bool uncut = cut->bytes == strlen(row->bytes);
    bool whole = uncut && !row->never;
    bool ended = cut->how != 'k' && answer->ending == WEIR_ENDING_BROKEN;
    it->complete += answer->ending == WEIR_ENDING_COMPLETE;
    if (!answer->sent) { /* the end behind a whole answer was noticed just in time */
        assert_row(answer->ending == WEIR_ENDING_BROKEN && answer->reused);
        it->unsent++;
        return;
    }
    assert_row(answer->sent_us);
    bool lost = uncut && ended && answer->reused;
    it->lost += lost; /* the end behind the answer before was not noticed in time */
    if (whole && (lost || (ended && cut->how == 'r')))
        return; /* … or the reset has overtaken this answer */
    if (whole) {
        check_whole(row, cut, answer);
        return;
    }
    it->reused += answer->reused;
    struct weir_verdict verdict = judge(answer);
    assert_row(answer->ending == WEIR_ENDING_BROKEN);
    assert_row(verdict.outcome == WEIR_OUTCOME_UNKNOWN);
    assert_row(verdict.class_ == WEIR_CLASS_TRANSIENT);
}

static struct origin *origin;
static struct client client;

static void run_campaign(uint32_t in_flight)
{
    crowd_run(&(struct crowd){ .client = &client,
                               .count = campaign.count,
                               .in_flight_max = in_flight,
                               .method = "POST",
                               .body = "{\"name\":\"a\"}",
                               .name = name_cut,
                               .heard = check_cut,
                               .ctx = &campaign });
    struct origin_counts seen = origin_counts(origin);
    ck_assert_uint_le(seen.requests, campaign.count - campaign.unsent);
    ck_assert_uint_ge(seen.requests, campaign.count - campaign.unsent - campaign.lost);
    ck_assert_uint_eq(seen.whole, seen.requests);
    suite_tally(campaign.count, campaign.count - campaign.complete);
}

static void setup(void)
{
    campaign = (struct campaign){ 0 };
    origin = origin_new(&(struct origin_options){ .script = cut_answer });
    client_init(&client, origin_url(origin));
}

static void teardown(void)
{
    client_release(&client);
    origin_free(origin);
}

static void add_all_cuts(char how)
{
    for (size_t i = 0; i < COUNT(canned); i++) {
        for (size_t bytes = 0; bytes < strlen(canned[i].bytes); bytes++)
            add(i, bytes, how);
    }
}

/* How many are whole when they are all there. */
static uint32_t add_all_whole(char how)
{
    uint32_t whole = 0;
    for (size_t i = 0; i < COUNT(canned); i++) {
        add(i, strlen(canned[i].bytes), how);
        whole += !canned[i].never;
    }
    return whole;
}

START_TEST(the_canned_answers_are_what_they_say)
{
    ck_assert_uint_ge(COUNT(canned), 20);
    for (const char *how = "kcr"; *how; how++) {
        setup();
        uint32_t whole = add_all_whole(*how);
        run_campaign(8);
        if (*how == 'k')
            ck_assert_uint_eq(campaign.unsent + campaign.lost, 0);
        if (*how != 'r') /* those that cannot be told from cut ones are among the lost */
            ck_assert_uint_ge(campaign.complete + campaign.unsent + campaign.lost, whole);
        ck_assert_uint_le(campaign.complete, whole);
        teardown();
    }
}
END_TEST

START_TEST(an_answer_cut_at_any_byte_by_a_clean_end_is_never_complete)
{
    setup();
    add_all_cuts('c');
    run_campaign(IN_FLIGHT);
    ck_assert_uint_eq(campaign.complete, 0);
    ck_assert_uint_eq(campaign.unsent + campaign.lost, 0);
    teardown();
}
END_TEST

START_TEST(an_answer_cut_at_any_byte_by_a_reset_is_never_complete)
{
    setup();
    add_all_cuts('r');
    run_campaign(IN_FLIGHT);
    ck_assert_uint_eq(campaign.complete, 0);
    ck_assert_uint_eq(campaign.unsent + campaign.lost, 0);
    teardown();
}
END_TEST

/* Every other answer is whole, so that the cut ones find connections that have answered before. */
START_TEST(an_answer_cut_on_a_reused_connection_is_never_complete)
{
    setup();
    for (size_t i = 0; i < COUNT(canned); i++) {
        for (size_t bytes = 0; bytes < strlen(canned[i].bytes); bytes += 1 + bytes / 16) {
            add(0, strlen(canned[0].bytes), 'k');
            add(i, bytes, bytes % 2 ? 'c' : 'r');
        }
    }
    run_campaign(16);
    ck_assert_uint_eq(campaign.complete, campaign.count / 2);
    ck_assert_uint_eq(campaign.unsent + campaign.lost, 0);
    ck_assert_uint_gt(campaign.reused, campaign.count / 8);
    teardown();
}
END_TEST

/* However the bytes arrive: each in a piece of its own. */
START_TEST(a_whole_answer_is_complete_however_it_is_sliced)
{
    char url[64];
    campaign = (struct campaign){ 0 };
    origin = origin_new(&(struct origin_options){ .script = cut_answer });
    struct toxic *toxic = toxic_new(origin_port(origin));
    struct toxic_way way = { .slice_bytes = 1, .slice_gap_us = 100 };
    toxic_set(toxic, (struct toxic_script){ way, way });
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    client_init(&client, url);
    uint32_t whole = add_all_whole('k');
    run_campaign(8);
    ck_assert_uint_eq(campaign.complete, whole);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_cuts");
    suite_add(&s, the_canned_answers_are_what_they_say);
    suite_add(&s, an_answer_cut_at_any_byte_by_a_clean_end_is_never_complete);
    suite_add(&s, an_answer_cut_at_any_byte_by_a_reset_is_never_complete);
    suite_add(&s, an_answer_cut_on_a_reused_connection_is_never_complete);
    suite_add(&s, a_whole_answer_is_complete_however_it_is_sliced);
    return suite_run(&s);
}
