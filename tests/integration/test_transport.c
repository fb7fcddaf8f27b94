/* SPDX-License-Identifier: MIT */
/*
 * The transport's own promises: what goes out is what was given and fit to be sent, nothing of one
 * exchange is left for the next, and what is counted and logged is what happened. What breaks it is
 * in the files beside this one.
 */
#include "base/limits.h"
#include "base/log.h"
#include "base/rng.h"
#include "support/exchange.h"
#include "support/origin.h"

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

static struct origin *origin;
static struct client client;

static void setup(origin_script *script, void *ctx)
{
    static const char *const answers[] = { NO_CONTENT };
    struct origin_options options = { .record_max = 64 };
    if (script) {
        options.script = script;
        options.ctx = ctx;
    } else {
        options.answers = answers;
        options.answer_count = 1;
    }
    origin = origin_new(&options);
    client_init(&client, origin_url(origin));
}

static void teardown(void)
{
    client_release(&client);
    origin_free(origin);
}

static void say_nothing(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx, (void)request;
    answer->then = ORIGIN_STALL;
}

/* --- what goes out ---------------------------------------------------------------------------- */

#define SLICES_MAX 40

/* The hash of a body is the answer to it. */
static void answer_hash(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx;
    char hash[32];
    int len =
        snprintf(hash, sizeof(hash), "%016llx",
                 (unsigned long long)weir_str_hash(weir_str(request->body, request->body_len)));
    weir_buf_printf(&answer->bytes, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len, hash);
}

/* Bodies of any size, and any number of slices. */
START_TEST(a_body_arrives_whole_however_it_is_sliced)
{
    static const char *const methods[] = { "POST", "PATCH", "PUT", "DELETE", "GET" };
    static const size_t sizes[] = { 1, 17000, 16384, 70000, 300000 };
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup(answer_hash, NULL);
    char *bytes = weir_calloc(sizes[4], 1);
    for (size_t i = 0; i < sizes[4]; i++)
        bytes[i] = (char)weir_rng_u64(&rng);
    for (int round = 0; round < 30; round++) {
        struct weir_str slices[SLICES_MAX];
        size_t len = sizes[weir_rng_below(&rng, COUNT(sizes))], at = 0, count = 0;
        while (count + 1 < SLICES_MAX && at < len) {
            size_t part = (size_t)weir_rng_below(&rng, 2 * len / SLICES_MAX + 2);
            part = part < len - at ? part : len - at;
            slices[count++] = weir_str(part ? bytes + at : NULL, part);
            at += part;
        }
        slices[count++] = weir_str(bytes + at, len - at);
        struct got got = { 0 };
        struct weir_exchange_request request = {
            .method = methods[round % 5], .target = "/", .body = slices, .body_count = count
        };
        weir_transport_send(client.transport, &request, copy_answer, &got);
        client_until(&client, got.done);
        assert_complete(got, 200);
        char hash[32];
        snprintf(hash, sizeof(hash), "%016llx",
                 (unsigned long long)weir_str_hash(weir_str(bytes, len)));
        ck_assert_str_eq(got.body, hash);
    }
    ck_assert_uint_eq(origin_counts(origin).connections, 1);
    free(bytes);
    teardown();
}
END_TEST

/* One connection is used for all of them, in any order: nothing of one is left in the next. */
START_TEST(no_request_has_anything_of_the_one_before)
{
    static const struct {
        const char *method;
        const char *body;
        const char *length; /* of the body, as the head must have it */
    } rows[] = {
        { "GET", NULL, "" },  { "POST", "ab", "2" }, { "DELETE", NULL, "" },  { "POST", NULL, "0" },
        { "PATCH", "", "0" }, { "PUT", "abc", "3" }, { "DELETE", "ab", "2" }, { "GET", "a", "1" },
    };
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup(NULL, NULL);
    for (uint64_t i = 0; i < 64; i++) {
        size_t row = (size_t)weir_rng_below(&rng, COUNT(rows));
        char target[32];
        struct origin_record record;
        snprintf(target, sizeof(target), "/%u?a=%%20b", (unsigned)i);
        assert_complete(client_ask(&client, rows[row].method, target, rows[row].body), 204);
        ck_assert(origin_record(origin, i, &record));
        char line[64];
        int len = snprintf(line, sizeof(line), "%s %s HTTP/1.1\r\n", rows[row].method, target);
        ck_assert_msg(strncmp(record.head, line, (size_t)len) == 0, "%s", record.head);
        ck_assert(weir_str_equal(origin_header(record.head, "Content-Length"),
                                 weir_str_from(rows[row].length)));
        ck_assert_uint_eq(origin_header(record.head, "Content-Type").len, 0);
        ck_assert_uint_eq(origin_header(record.head, "Transfer-Encoding").len, 0);
    }
    ck_assert_uint_eq(origin_counts(origin).connections, 1);
    teardown();
}
END_TEST

static char long_line[WEIR_REQUEST_HEAD_BYTES_MAX + 2];
static char long_target[WEIR_URL_BYTES_MAX + 2];

START_TEST(what_must_not_be_sent_is_refused_without_a_byte)
{
    static const struct {
        const char *method;
        const char *target;
        const char *line;
    } rows[] = {
        { "HEAD", "/", NULL },
        { "get", "/", NULL },
        { "GET /x HTTP/1.1\r\nA:", "/", NULL },
        { "", "/", NULL },
        { NULL, "/", NULL },
        { "GET", NULL, NULL },
        { "GET", "", NULL },
        { "GET", "x", NULL },
        { "GET", "http://elsewhere/", NULL },
        { "GET", "*", NULL },
        { "GET", "/a b", NULL },
        { "GET", "/a\r\nB: c", NULL },
        { "GET", "/\x7f", NULL },
        { "GET", "/\xc3\xa9", NULL },
        { "GET", "/#a", NULL },
        { "GET", long_target, NULL },
        { "GET", "/", "" },
        { "GET", "/", "A" },
        { "GET", "/", "A:" },
        { "GET", "/", "A: \t" },
        { "GET", "/", "A;" },
        { "GET", "/", ": b" },
        { "GET", "/", "A : b" },
        { "GET", "/", "A: b\r\nC: d" },
        { "GET", "/", "A: b\n" },
        { "GET", "/", "A: b\x01" },
        { "GET", "/", "Content-Length: 5" },
        { "GET", "/", "transfer-encoding: chunked" },
        { "GET", "/", "Host: elsewhere" },
        { "GET", "/", "Expect: 100-continue" },
        { "GET", "/", "Connection: close" },
        { "GET", "/", "Upgrade: h2c" },
        { "GET", "/", long_line },
    };
    memset(long_line, 'x', sizeof(long_line) - 1);
    memcpy(long_line, "A: ", 3);
    memset(long_target, 'x', sizeof(long_target) - 1);
    long_target[0] = '/';
    setup(NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        client.headers = &rows[i].line;
        client.header_count = rows[i].line ? 1 : 0;
        struct got got = client_ask(&client, rows[i].method, rows[i].target, "body");
        ck_assert_msg(got.ending == WEIR_ENDING_BROKEN && !got.sent, "%zu: %s", i,
                      weir_ending_name(got.ending));
        ck_assert_msg(strncmp(got.detail, "not sent: ", 10) == 0, "%s", got.detail);
    }
    ck_assert_uint_eq(origin_counts(origin).connections, 0);
    teardown();
}
END_TEST

/* As long, and as many, as they may be. */
START_TEST(what_is_just_within_its_bound_is_sent)
{
    const char *lines[WEIR_REQUEST_HEADERS_MAX + 1];
    struct origin_record record;
    memset(long_target, 'x', WEIR_URL_BYTES_MAX);
    long_target[0] = '/';
    long_target[WEIR_URL_BYTES_MAX] = '\0';
    setup(NULL, NULL);
    assert_complete(client_ask(&client, "GET", long_target, NULL), 204);
    for (size_t i = 0; i < COUNT(lines); i++)
        lines[i] = "A: b";
    client.headers = lines;
    client.header_count = WEIR_REQUEST_HEADERS_MAX;
    assert_complete(client_ask(&client, "POST", "/", "x"), 204);
    ck_assert(origin_record(origin, 1, &record));
    size_t count = 0;
    for (const char *at = record.head; (at = strstr(at, "\r\nA: b")); at++)
        count++;
    ck_assert_uint_eq(count, WEIR_REQUEST_HEADERS_MAX);
    client.header_count++;
    assert_ending(client_ask(&client, "POST", "/", "x"), WEIR_ENDING_BROKEN);
    teardown();
}
END_TEST

/* --- connections ------------------------------------------------------------------------------ */

/* The second request of a connection is lost with it. */
static void lose_reused(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx;
    if (request->before == 1)
        answer->then = ORIGIN_CLOSE;
    else
        weir_buf_add_text(&answer->bytes, NO_CONTENT);
}

/* Small bodies and large ones, in turns. */
START_TEST(what_was_lost_leaves_nothing_behind_for_the_next)
{
    static char large[70000];
    memset(large, 'x', sizeof(large) - 1);
    setup(lose_reused, NULL);
    for (uint64_t i = 0; i < 40; i++) {
        struct got got = client_ask(&client, "POST", "/", i % 4 < 2 ? large : "small");
        if (i % 2 == 0) {
            assert_complete(got, 204);
        } else {
            assert_ending(got, WEIR_ENDING_BROKEN);
            ck_assert(got.sent && got.reused);
            ck_assert_str_eq(got.detail, "closed without a byte of an answer");
        }
        ck_assert_uint_eq(origin_counts(origin).requests, i + 1);
        ck_assert_uint_eq(origin_counts(origin).connections, i / 2 + 1);
    }
    teardown();
}
END_TEST

static void answer_with_excess_once(void *ctx, const struct origin_request *request,
                                    struct origin_answer *answer)
{
    (void)ctx;
    weir_buf_add_text(&answer->bytes, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                      "2\r\nab\r\n0\r\n\r\n");
    if (request->index == 0)
        weir_buf_add_text(&answer->bytes, "excess");
}

START_TEST(excess_costs_one_connection_and_no_more)
{
    setup(answer_with_excess_once, NULL);
    for (int i = 0; i < 6; i++) {
        struct got got = client_ask(&client, "GET", "/", NULL);
        assert_complete(got, 200);
        ck_assert_str_eq(got.body, "ab");
    }
    ck_assert_uint_eq(origin_counts(origin).connections, 2);
    teardown();
}
END_TEST

#define FORGED "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

/* An answer, and a while later another that nobody asked for. */
static void answer_twice(void *ctx, const struct origin_request *request,
                         struct origin_answer *answer)
{
    (void)ctx, (void)request;
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
    answer->pause_at = answer->bytes.len;
    answer->pause_us = MS(50);
    weir_buf_add_text(&answer->bytes, FORGED);
}

struct late {
    struct weir_task task;
    struct got got;
};

/* Until it has left: on this machine that means that it has arrived. */
static void await_forgery(void)
{
    int64_t until_us = weir_clock_now_us() + GUARD_US;
    while (origin_counts(origin).said < strlen(NO_CONTENT) + strlen(FORGED))
        must(weir_clock_now_us() < until_us);
}

static void send_late(struct weir_task *task)
{
    struct late *late = (void *)task;
    struct weir_exchange_request request = { .method = "GET", .target = "/" };
    await_forgery();
    weir_transport_send(client.transport, &request, copy_answer, &late->got);
}

/*
 * The worst moment: the loop has asked the kernel what is new, and while it is busy with that, what
 * nobody asked for comes in on an idle connection. Then a request begins, in the same turn.
 */
START_TEST(what_comes_unasked_is_not_the_answer_to_what_begins_in_the_same_turn)
{
    struct late late = { .task.run = send_late };
    setup(answer_twice, NULL);
    assert_complete(client_ask(&client, "GET", "/", NULL), 204);
    weir_loop_post(client.loop, &late.task);
    client_until(&client, late.got.done);
    ck_assert_msg(late.got.status != 200, "forged");
    assert_complete(late.got, 204); /* on another connection */
    teardown();
}
END_TEST

/* --- origins ---------------------------------------------------------------------------------- */

START_TEST(a_wrong_origin_makes_no_transport)
{
    struct weir_loop *loop;
    struct weir_transport *transport = NULL;
    struct weir_error err;
    ck_assert_int_eq(weir_loop_new(&loop, NULL), WEIR_OK);
    struct weir_transport_options options = { .origin = "http://elsewhere.example" };
    ck_assert_int_eq(weir_transport_new(loop, &options, &transport, &err), WEIR_E_INVALID);
    ck_assert_ptr_null(transport);
    weir_transport_free(NULL);
    weir_loop_free(loop);
}
END_TEST

START_TEST(nobody_there_is_no_connection_and_nothing_was_sent)
{
    setup(NULL, NULL);
    char url[64];
    snprintf(url, sizeof(url), "%s", origin_url(origin));
    teardown(); /* so that nobody listens there */
    client_init(&client, url);
    for (int i = 0; i < 5; i++) {
        struct got got = client_ask(&client, "POST", "/", "body");
        assert_ending(got, WEIR_ENDING_NO_CONNECTION);
        ck_assert(!got.sent && !got.sent_us && !got.first_byte_us);
    }
    ck_assert_uint_eq(client_stats(&client).connections, 0);
    client_release(&client);
}
END_TEST

/* --- time-outs -------------------------------------------------------------------------------- */

START_TEST(a_time_out_says_which_it_was)
{
    setup(say_nothing, NULL);
    struct got got =
        client_ask_within(&client, "GET", "/", weir_str(NULL, 0),
                          (struct weir_http_options){ .first_byte_timeout_us = MS(50) });
    assert_ending(got, WEIR_ENDING_TIMED_OUT);
    ck_assert_str_eq(got.detail, "no byte of an answer within 0.05 s");
    ck_assert(got.sent && got.done_us - got.begun_us >= MS(50));
    got = client_ask_within(&client, "GET", "/", weir_str(NULL, 0),
                            (struct weir_http_options){ .request_timeout_us = MS(40) });
    assert_ending(got, WEIR_ENDING_TIMED_OUT);
    ck_assert_str_eq(got.detail, "no whole answer within 0.04 s");
    ck_assert(got.sent && got.done_us - got.begun_us >= MS(40));
    teardown();
}
END_TEST

/* Accepted by the kernel, but nobody shakes hands. */
START_TEST(connecting_has_a_time_of_its_own)
{
    char url[64];
    setup(say_nothing, NULL);
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", origin_port(origin));
    client_release(&client);
    client_init(&client, url);
    struct got got = client_ask_within(&client, "POST", "/", weir_str_from("body"),
                                       (struct weir_http_options){ .connect_timeout_us = MS(30) });
    ck_assert(got.ending == WEIR_ENDING_TIMED_OUT || got.ending == WEIR_ENDING_TLS);
    ck_assert(!got.sent);
    if (got.ending == WEIR_ENDING_TIMED_OUT)
        ck_assert_str_eq(got.detail, "no connection within 0.03 s");
    ck_assert_uint_eq(origin_counts(origin).requests, 0);
    teardown();
}
END_TEST

/* --- counters and the log --------------------------------------------------------------------- */

START_TEST(the_counters_are_those_of_the_other_side)
{
    setup(answer_hash, NULL);
    static char body[70000];
    memset(body, 'x', sizeof(body) - 1);
    uint64_t received = 0;
    for (int i = 0; i < 10; i++) {
        body[i * 100] = '\0'; /* 0, then 100 … */
        assert_complete(client_ask(&client, "POST", "/", body), 200);
        body[i * 100] = 'x';
        received += strlen("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n") + 16;
    }
    assert_complete(client_ask(&client, "POST", "/", body), 200);
    received += strlen("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n") + 16;
    struct weir_transport_stats stats = client_stats(&client);
    ck_assert_uint_eq(stats.requests, 11);
    ck_assert_uint_eq(stats.complete, 11);
    ck_assert_uint_eq(stats.bytes_sent, origin_counts(origin).bytes);
    ck_assert_uint_eq(stats.bytes_received, received);
    ck_assert_uint_eq(stats.connections, 1);
    ck_assert_uint_eq(stats.reused, 10);
    ck_assert_uint_eq(stats.handshakes, 0);
    teardown();
}
END_TEST

static char logged[4096];
static int log_count;

static void write_log(void *ctx, const struct weir_log_record *record)
{
    (void)ctx;
    log_count++;
    weir_log_format_json(record, logged, sizeof(logged));
}

START_TEST(an_exchange_leaves_one_record_and_no_secret)
{
    static const char *const headers[] = { "Authorization: Bearer canary" };
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nSet-Cookie: canary\r\n\r\ncanary"
    };
    struct weir_log_sink sink = { .level = WEIR_LOG_TRACE, .write = write_log };
    origin = origin_new(&(struct origin_options){ .answers = answers, .answer_count = 1 });
    client_init_with(&client, (struct weir_transport_options){ .origin = origin_url(origin),
                                                               .connection_name = "app1",
                                                               .sink = &sink });
    client.headers = headers;
    client.header_count = 1;
    assert_complete(client_ask(&client, "POST", "/a/b?c=canary", "canary"), 200);
    ck_assert_int_eq(log_count, 1);
    ck_assert_ptr_null(strstr(logged, "canary"));
    static const char *const parts[] = {
        "\"event\":\"exchange\"", "\"Connection\":\"app1\"", "\"Method\":\"POST\"",
        "\"Target\":\"/a/b\"",    "\"Status\":200",          "\"Ending\":\"complete\"",
        "\"Reused\":0",           "\"Duration\":",           "\"FirstByte\":",
        "\"BytesSent\":",         "\"BytesReceived\":",
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        ck_assert_msg(strstr(logged, parts[i]), "%s in %s", parts[i], logged);
    assert_ending(client_ask(&client, "canary", "no path canary", "canary"), WEIR_ENDING_BROKEN);
    ck_assert_int_eq(log_count, 2);
    ck_assert_ptr_null(strstr(logged, "canary"));
    teardown();
}
END_TEST

START_TEST(endings_have_names)
{
    for (int i = 0; i <= WEIR_ENDING_CANCELLED; i++)
        ck_assert_ptr_null(strstr(weir_ending_name((enum weir_ending)i), "unknown"));
    ck_assert_str_eq(weir_ending_name((enum weir_ending)99), "unknown ending");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport");
    suite_add_loop(&s, "a_body_arrives_whole_however_it_is_sliced",
                   a_body_arrives_whole_however_it_is_sliced, 5);
    suite_add_loop(&s, "no_request_has_anything_of_the_one_before",
                   no_request_has_anything_of_the_one_before, 5);
    suite_add(&s, what_must_not_be_sent_is_refused_without_a_byte);
    suite_add(&s, what_is_just_within_its_bound_is_sent);
    suite_add(&s, what_was_lost_leaves_nothing_behind_for_the_next);
    suite_add(&s, excess_costs_one_connection_and_no_more);
    suite_add(&s, what_comes_unasked_is_not_the_answer_to_what_begins_in_the_same_turn);
    suite_add(&s, a_wrong_origin_makes_no_transport);
    suite_add(&s, nobody_there_is_no_connection_and_nothing_was_sent);
    suite_add(&s, a_time_out_says_which_it_was);
    suite_add(&s, connecting_has_a_time_of_its_own);
    suite_add(&s, the_counters_are_those_of_the_other_side);
    suite_add(&s, an_exchange_leaves_one_record_and_no_secret);
    suite_add(&s, endings_have_names);
    return suite_run(&s);
}
