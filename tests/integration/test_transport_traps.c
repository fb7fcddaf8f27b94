/* SPDX-License-Identifier: MIT */
/*
 * What a client does that means well: a test for each trap that libcurl was seen to fall into, over
 * real sockets. A server that counts says what was on the wire; each is named as it was measured.
 */
#include <signal.h>

#include "support/exchange.h"
#include "support/origin.h"
#include "support/toxic.h"

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"
#define OK         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define REQUESTS   10000
#define BIG_BYTES  ((size_t)8 * 1024 * 1024)

/* ---- a server that drops reused connections without a byte ---- */

struct losses {
    uint32_t dies_at; /* a connection answers so many requests; the next is its end */
    enum origin_end how;

    /* The origin's thread. */
    uint8_t seen[REQUESTS]; /* by target */
    uint32_t drops;

    /* The test's. */
    uint8_t lost[REQUESTS];
    uint32_t complete;
    uint32_t broken;
};

static struct losses losses;

static void drop_reused(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    struct losses *it = ctx;
    it->seen[strtoul(request->target + 1, NULL, 10)]++;
    if (request->before == it->dies_at) {
        it->drops++;
        answer->then = it->how;
        return;
    }
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
}

static void count_loss(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    struct losses *it = ctx;
    if (answer->ending == WEIR_ENDING_COMPLETE) {
        must(answer->status == 204);
        it->complete++;
        return;
    }
    if (answer->ending != WEIR_ENDING_BROKEN)
        ck_abort_msg("%s: %s", weir_ending_name(answer->ending), answer->detail);
    must(answer->sent && answer->reused);
    must(judge(answer).outcome == WEIR_OUTCOME_UNKNOWN);
    it->lost[index] = 1;
    it->broken++;
}

/* Every request is on the wire exactly once, and every loss is told. */
static void lose(const char *method, const char *body, uint32_t count, enum origin_end how)
{
    struct client client;
    losses = (struct losses){ .dies_at = 2, .how = how };
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = drop_reused, .ctx = &losses });
    client_init(&client, origin_url(origin));
    crowd_run(&(struct crowd){ .client = &client,
                               .count = count,
                               .in_flight_max = 16,
                               .method = method,
                               .body = body,
                               .heard = count_loss,
                               .ctx = &losses });
    struct origin_counts counts = origin_counts(origin);
    struct weir_transport_stats stats = client_stats(&client);
    client_release(&client);
    origin_free(origin);
    ck_assert_uint_eq(counts.requests, count);
    ck_assert_uint_eq(counts.whole, count);
    for (uint32_t i = 0; i < count; i++)
        must(losses.seen[i] == 1);
    ck_assert_uint_eq(losses.broken, losses.drops);
    ck_assert_uint_eq(losses.complete, count - losses.drops);
    ck_assert_uint_ge(losses.drops, count / 4);
    ck_assert_uint_eq(stats.requests, count);
    ck_assert_uint_eq(stats.complete, losses.complete);
    ck_assert_uint_eq(stats.connections, counts.connections);
    ck_assert_uint_eq(stats.reused, count - counts.connections);
}

START_TEST(ten_thousand_posts_are_ten_thousand_on_the_wire)
{
    lose("POST", "{\"name\":\"a\"}", REQUESTS, ORIGIN_CLOSE);
}
END_TEST

START_TEST(a_reset_does_not_send_a_post_again_either)
{
    lose("POST", "{\"name\":\"a\"}", 2000, ORIGIN_RESET);
}
END_TEST

START_TEST(a_post_without_a_body_is_sent_once)
{
    lose("POST", NULL, 1000, ORIGIN_CLOSE);
    lose("POST", "", 1000, ORIGIN_CLOSE);
}
END_TEST

START_TEST(a_bare_delete_is_sent_once)
{
    lose("DELETE", NULL, 2000, ORIGIN_CLOSE);
    lose("DELETE", NULL, 1000, ORIGIN_RESET);
    lose("DELETE", "{}", 1000, ORIGIN_CLOSE);
}
END_TEST

START_TEST(a_get_is_sent_once)
{
    lose("GET", NULL, 2000, ORIGIN_CLOSE);
    lose("GET", NULL, 1000, ORIGIN_RESET);
}
END_TEST

START_TEST(a_patch_and_a_put_are_sent_once)
{
    lose("PATCH", "{\"name\":\"b\"}", 2000, ORIGIN_CLOSE);
    lose("PUT", "{\"name\":\"b\"}", 1000, ORIGIN_CLOSE);
}
END_TEST

static void answer_and_leave(void *ctx, const struct origin_request *request,
                             struct origin_answer *answer)
{
    struct losses *it = ctx;
    it->seen[strtoul(request->target + 1, NULL, 10)]++;
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
    answer->then = ORIGIN_CLOSE;
}

static void count_seen(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    struct losses *it = ctx;
    bool complete = answer->ending == WEIR_ENDING_COMPLETE;
    must(complete || (answer->ending == WEIR_ENDING_BROKEN && answer->reused));
    it->lost[index] = !complete;
    it->complete += complete;
}

/*
 * The server leaves behind each answer without announcing it. Whether the next request meets the
 * end is a race; that nobody sends it twice is not.
 */
START_TEST(a_connection_that_ends_while_idle_sends_nothing_twice)
{
    struct client client;
    losses = (struct losses){ 0 };
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = answer_and_leave, .ctx = &losses });
    client_init(&client, origin_url(origin));
    crowd_run(&(struct crowd){ .client = &client,
                               .count = 2000,
                               .in_flight_max = 8,
                               .method = "POST",
                               .body = "{}",
                               .heard = count_seen,
                               .ctx = &losses });
    client_release(&client);
    origin_free(origin);
    for (uint32_t i = 0; i < 2000; i++)
        must(losses.lost[i] ? losses.seen[i] <= 1 : losses.seen[i] == 1);
    ck_assert_uint_gt(losses.complete, 0);
}
END_TEST

/* ---- answers that are not whole ---- */

/* Say this, and end; what does a POST make of it? */
static void say_all(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    (void)request;
    weir_buf_add_text(&answer->bytes, ctx);
    answer->then = ORIGIN_CLOSE;
}

static struct got ask_for(const char *bytes)
{
    struct client client;
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = say_all, .ctx = (void *)(uintptr_t)bytes });
    client_init(&client, origin_url(origin));
    struct got got = client_ask(&client, "POST", "/", "{}");
    client_release(&client);
    origin_free(origin);
    return got;
}

static void assert_broken(const char *bytes)
{
    struct got got = ask_for(bytes);
    ck_assert_msg(got.ending == WEIR_ENDING_BROKEN, "%s: %s", weir_ending_name(got.ending), bytes);
    ck_assert(got.sent);
    ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_UNKNOWN);
}

START_TEST(an_answer_cut_inside_its_headers_is_broken)
{
    assert_broken("HTTP/1.1 204 No Content");
    assert_broken("HTTP/1.1 204 No Content\r\n");
    assert_broken("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
    assert_broken("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r");
    assert_broken("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nRetry-After: 3");
}
END_TEST

START_TEST(the_blank_line_of_100_continue_is_not_the_end_of_the_headers)
{
    assert_broken("HTTP/1.1 100 Continue\r\n\r\n");
    assert_broken("HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
    assert_broken("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
    assert_broken("HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n");
    struct got got = ask_for("HTTP/1.1 100 Continue\r\nX-A: b\r\nContent-Length: 9\r\n\r\n" OK);
    assert_complete(got, 200);
    ck_assert_str_eq(got.body, "ok");
    ck_assert_uint_eq(got.header_count, 1); /* of the final head only */
}
END_TEST

START_TEST(a_body_that_only_the_end_delimits_is_never_complete)
{
    assert_broken("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"value\":[]}");
    assert_broken("HTTP/1.1 200 OK\r\n\r\n");
    assert_broken("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}");
    assert_broken("HTTP/1.0 200 OK\r\n\r\n{}");
    assert_complete(ask_for("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"),
                    200);
    assert_complete(ask_for(NO_CONTENT), 204);
}
END_TEST

/* ---- times ---- */

#define DELAY_MS 250

/* After the whole request has been read. The first head of two may come at once. */
static void answer_late(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    (void)ctx;
    if (strcmp(request->target, "/late") == 0)
        answer->delay_us = MS(DELAY_MS);
    if (strcmp(request->target, "/interim") == 0) {
        weir_buf_add_text(&answer->bytes, interim);
        answer->pause_at = strlen(interim);
        answer->pause_us = MS(DELAY_MS);
    }
    if (strcmp(request->target, "/body") == 0) {
        answer->pause_at = strlen(OK) - 1;
        answer->pause_us = MS(DELAY_MS);
    }
    weir_buf_add_text(&answer->bytes, OK);
}

static int64_t wait_of(struct client *client, const char *target)
{
    struct got got = client_ask(client, "POST", target, "{\"name\":\"a\"}");
    assert_complete(got, 200);
    ck_assert(got.sent_us && got.first_byte_us >= got.sent_us);
    return got.first_byte_us - got.sent_us;
}

/* Lower bounds, and the quickest of several: what holds on a busy machine, too. */
START_TEST(time_to_first_byte_is_the_answers_not_the_uploads)
{
    struct client client;
    struct origin *origin = origin_new(&(struct origin_options){ .script = answer_late });
    int64_t quick_us = INT64_MAX, body_us = INT64_MAX;
    client_init(&client, origin_url(origin));
    for (int i = 0; i < 5; i++) {
        int64_t us = wait_of(&client, "/");
        quick_us = us < quick_us ? us : quick_us;
        us = wait_of(&client, "/body");
        body_us = us < body_us ? us : body_us;
    }
    int64_t late_us = wait_of(&client, "/late");
    int64_t interim_us = wait_of(&client, "/interim");
    ck_assert_int_gt(late_us, MS(DELAY_MS) - MS(DELAY_MS) / 10);
    ck_assert_int_gt(interim_us, MS(DELAY_MS) - MS(DELAY_MS) / 10); /* the final head's */
    ck_assert_int_gt(late_us, 3 * quick_us);
    ck_assert_int_gt(late_us, 3 * body_us); /* the first byte, not the last */
    client_release(&client);
    origin_free(origin);
}
END_TEST

/* A server that hears everything and says nothing, or only that it is listening. */
START_TEST(there_is_a_first_byte_time_out)
{
    static const char *const said[] = { "", "HTTP/1.1 100 Continue\r\n\r\n" };
    for (size_t i = 0; i < COUNT(said); i++) {
        struct client client;
        struct origin *origin =
            origin_new(&(struct origin_options){ .answers = &said[i], .answer_count = 1 });
        client_init_with(&client, (struct weir_transport_options){
                                      .origin = origin_url(origin),
                                      .http = { .first_byte_timeout_us = MS(200),
                                                .request_timeout_us = 2 * GUARD_US } });
        struct got got = client_ask(&client, "POST", "/", "{}");
        assert_ending(got, WEIR_ENDING_TIMED_OUT);
        ck_assert(got.sent && !got.first_byte_us);
        ck_assert_int_ge(got.done_us - got.begun_us, MS(190));
        ck_assert_uint_eq(origin_counts(origin).whole, 1);
        client_release(&client);
        origin_free(origin);
    }
}
END_TEST

/* It is over with the first byte; the whole request has a time-out of its own. */
START_TEST(the_first_byte_time_out_ends_with_the_first_byte)
{
    struct client client;
    struct origin *origin = origin_new(&(struct origin_options){ .script = answer_late });
    client_init(&client, origin_url(origin));
    struct weir_http_options http = { .first_byte_timeout_us = MS(DELAY_MS) - MS(50) };
    struct got late = client_ask_within(&client, "POST", "/late", weir_str("{}", 2), http);
    assert_ending(late, WEIR_ENDING_TIMED_OUT);
    struct got body = { 0 };
    for (int i = 0; i < 20 && (!body.done || body.ending == WEIR_ENDING_TIMED_OUT); i++)
        body = client_ask_within(&client, "POST", "/body", weir_str("{}", 2), http);
    assert_complete(body, 200); /* sooner or later the machine is quick enough */
    ck_assert_int_gt(body.done_us - body.begun_us, http.first_byte_timeout_us);
    http = (struct weir_http_options){ .request_timeout_us = MS(DELAY_MS) - MS(50) };
    struct got whole = client_ask_within(&client, "POST", "/body", weir_str("{}", 2), http);
    assert_ending(whole, WEIR_ENDING_TIMED_OUT);
    ck_assert_str_ne(whole.detail, late.detail);
    client_release(&client);
    origin_free(origin);
}
END_TEST

/* ---- large bodies ---- */

static struct weir_str big_body(void)
{
    char *bytes = weir_calloc(1, BIG_BYTES);
    memset(bytes, 'x', BIG_BYTES);
    return weir_str(bytes, BIG_BYTES);
}

START_TEST(a_large_body_does_not_wait_for_expect)
{
    static const char *const answers[] = { OK };
    static const size_t sizes[] = { 10, 1024 * 1024, 1024 * 1024 + 1, BIG_BYTES };
    struct client client;
    struct weir_str body = big_body();
    struct origin_record record;
    struct origin *origin = origin_new(
        &(struct origin_options){ .answers = answers, .answer_count = 1, .record_max = 16 });
    client_init(&client, origin_url(origin));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct got got = client_ask_within(&client, "POST", "/", weir_str(body.ptr, sizes[i]),
                                           (struct weir_http_options){ 0 });
        assert_complete(got, 200);
        ck_assert(origin_record(origin, i, &record));
        ck_assert_uint_eq(origin_header(record.head, "Expect").len, 0);
        ck_assert_ptr_null(strcasestr(record.head, "\r\nExpect"));
        int64_t length = 0;
        ck_assert(weir_str_to_int64(origin_header(record.head, "Content-Length"), &length));
        ck_assert_int_eq(length, (int64_t)sizes[i]);
    }
    ck_assert_uint_eq(origin_counts(origin).whole, COUNT(sizes));
    client_release(&client);
    origin_free(origin);
    free((void *)(uintptr_t)body.ptr);
}
END_TEST

/* Nobody reads for a while, and no buffer holds so much. */
START_TEST(a_request_is_sent_when_its_last_byte_has_left)
{
    static const char *const answers[] = { OK };
    struct client client;
    struct weir_str slices[2] = { big_body() };
    struct got got = { 0 };
    char url[64];
    struct origin *origin =
        origin_new(&(struct origin_options){ .answers = answers, .answer_count = 1 });
    struct toxic *toxic = toxic_new(origin_port(origin));
    toxic_set(toxic, (struct toxic_script){ .up = { .end = TOXIC_STALL } });
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    client_init(&client, url);
    slices[1] = slices[0];
    struct weir_exchange_request request = {
        .method = "POST", .target = "/", .body = slices, .body_count = 2
    };
    weir_transport_send(client.transport, &request, copy_answer, &got);
    client_idle(&client, MS(100));
    int64_t stalled_us = weir_clock_now_us();
    toxic_set(toxic, (struct toxic_script){ 0 });
    client_until(&client, got.done);
    assert_complete(got, 200);
    ck_assert_int_lt(got.begun_us, stalled_us);
    ck_assert_int_ge(got.sent_us, stalled_us);
    ck_assert_int_ge(got.first_byte_us, got.sent_us);
    ck_assert_uint_gt(client_stats(&client).bytes_sent, 2 * BIG_BYTES);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
    free((void *)(uintptr_t)slices[0].ptr);
}
END_TEST

static void reset_early(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx;
    (void)request;
    answer->then = ORIGIN_RESET;
}

/* The server is gone while the body is being sent: with the default SIGPIPE that would be the end.
 */
START_TEST(no_sigpipe_ends_the_process)
{
    struct client client;
    struct weir_str body = big_body();
    struct sigaction before, after;
    sigset_t pipe, pending;
    signal(SIGPIPE, SIG_DFL);
    sigaction(SIGPIPE, NULL, &before);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
    struct origin *origin = origin_new(
        &(struct origin_options){ .script = reset_early, .early = true, .early_body_bytes = 1000 });
    client_init(&client, origin_url(origin));
    for (int i = 0; i < 20; i++) {
        struct got got =
            client_ask_within(&client, "POST", "/", body, (struct weir_http_options){ 0 });
        assert_ending(got, WEIR_ENDING_BROKEN);
        ck_assert(got.sent);
        sigpending(&pending);
        ck_assert(!sigismember(&pending, SIGPIPE));
    }
    sigaction(SIGPIPE, NULL, &after);
    ck_assert_ptr_eq(before.sa_handler, after.sa_handler);
    ck_assert_uint_eq(origin_counts(origin).requests, 20);
    client_release(&client);
    origin_free(origin);
    free((void *)(uintptr_t)body.ptr);
}
END_TEST

/* An answer that comes before the body is through counts, whatever becomes of the rest. */
START_TEST(an_early_refusal_is_never_taken_for_a_success)
{
    static const char *const answers[] = {
        "HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    };
    struct client client;
    struct weir_str body = big_body();
    struct origin *origin = origin_new(&(struct origin_options){
        .answers = answers, .answer_count = 1, .early = true, .early_body_bytes = 1000 });
    client_init(&client, origin_url(origin));
    struct got got = client_ask_within(&client, "POST", "/", body, (struct weir_http_options){ 0 });
    if (got.ending == WEIR_ENDING_COMPLETE)
        ck_assert_int_eq(got.status, 413);
    else
        assert_ending(got, WEIR_ENDING_BROKEN);
    ck_assert(got.sent);
    client_release(&client);
    origin_free(origin);
    free((void *)(uintptr_t)body.ptr);
}
END_TEST

/* ---- what must not have happened before anything was sent ---- */

START_TEST(what_never_left_was_not_sent)
{
    struct client client;
    struct origin *origin = origin_new(&(struct origin_options){ .script = drop_reused });
    struct toxic *toxic = toxic_new(origin_port(origin));
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    toxic_refuse(toxic, true);
    client_init(&client, url);
    for (int i = 0; i < 3; i++) {
        struct got got = client_ask(&client, i ? "POST" : "GET", "/", i ? "{}" : NULL);
        assert_ending(got, WEIR_ENDING_NO_CONNECTION);
        ck_assert(!got.sent && !got.reused);
        ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
    }
    ck_assert_uint_eq(toxic_counts(toxic).connections, 0);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
}
END_TEST

/* A request cut on its way up: the service has part of it, so it was sent. */
START_TEST(what_left_in_part_was_sent)
{
    static const char *const answers[] = { OK };
    struct client client;
    struct origin *origin =
        origin_new(&(struct origin_options){ .answers = answers, .answer_count = 1 });
    struct toxic *toxic = toxic_new(origin_port(origin));
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    client_init(&client, url);
    for (int how = 0; how < 2; how++) {
        toxic_set(toxic, (struct toxic_script){
                             .up = { .end = how ? TOXIC_RESET : TOXIC_CLOSE, .end_at = 50 } });
        for (int i = 0; i < 10; i++) {
            struct got got = client_ask(&client, "POST", "/", "{\"name\":\"a\"}");
            assert_ending(got, WEIR_ENDING_BROKEN);
            ck_assert(got.sent);
        }
    }
    ck_assert_uint_eq(origin_counts(origin).requests, 0);
    toxic_set(toxic, (struct toxic_script){ 0 });
    assert_complete(client_ask(&client, "POST", "/", "{}"), 200);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_traps");
    suite_add(&s, ten_thousand_posts_are_ten_thousand_on_the_wire);
    suite_add(&s, a_reset_does_not_send_a_post_again_either);
    suite_add(&s, a_post_without_a_body_is_sent_once);
    suite_add(&s, a_bare_delete_is_sent_once);
    suite_add(&s, a_get_is_sent_once);
    suite_add(&s, a_patch_and_a_put_are_sent_once);
    suite_add(&s, a_connection_that_ends_while_idle_sends_nothing_twice);
    suite_add(&s, an_answer_cut_inside_its_headers_is_broken);
    suite_add(&s, the_blank_line_of_100_continue_is_not_the_end_of_the_headers);
    suite_add(&s, a_body_that_only_the_end_delimits_is_never_complete);
    suite_add(&s, time_to_first_byte_is_the_answers_not_the_uploads);
    suite_add(&s, there_is_a_first_byte_time_out);
    suite_add(&s, the_first_byte_time_out_ends_with_the_first_byte);
    suite_add(&s, a_large_body_does_not_wait_for_expect);
    suite_add(&s, a_request_is_sent_when_its_last_byte_has_left);
    suite_add(&s, no_sigpipe_ends_the_process);
    suite_add(&s, an_early_refusal_is_never_taken_for_a_success);
    suite_add(&s, what_never_left_was_not_sent);
    suite_add(&s, what_left_in_part_was_sent);
    return suite_run(&s);
}
