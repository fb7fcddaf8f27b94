/* SPDX-License-Identifier: MIT */
/*
 * Servers that answer wrongly, endlessly or not at all. Whatever they say: the exchange ends in
 * bounded time, it is called what it is, and the next request on the same transport gets its own
 * answer: nothing that was left over is taken for it.
 *
 * "/hostile" is answered with the bytes of the case at hand; "/n" with an echo of its number.
 */
#include <poll.h>

#include "base/limits.h"
#include "support/exchange.h"
#include "support/origin.h"

#define CASE_TIMEOUT_US MS(400) /* of the hostile request; the echo has plenty */

#define OK_HEAD      "HTTP/1.1 200 OK\r\n"
#define CHUNKED_HEAD OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define FORGED       OK_HEAD "Content-Length: 6\r\n\r\nforged"

/* Which endings are right, as a set. */
#define ONLY(ending) (1U << (ending))
#define COMPLETE     ONLY(WEIR_ENDING_COMPLETE)
#define BROKEN       ONLY(WEIR_ENDING_BROKEN)
#define TIMED_OUT    ONLY(WEIR_ENDING_TIMED_OUT)
#define TOO_BIG      ONLY(WEIR_ENDING_TOO_BIG)

struct hostile {
    const char *name;
    unsigned endings;
    const char *bytes;
    size_t len;       /* 0: as long as the text */
    const char *body; /* what a complete one has */
    bool close;       /* behind the bytes; else it is kept */
};

static struct origin *origin;
static struct client client;
static struct origin_answer hostile; /* read on the origin's thread, set while it is idle */
static unsigned echoes;

static void answer_hostile(void *ctx, const struct origin_request *request,
                           struct origin_answer *answer)
{
    (void)ctx;
    if (strcmp(request->target, "/hostile") != 0) {
        weir_buf_printf(&answer->bytes, OK_HEAD "Content-Length: %zu\r\n\r\necho %s",
                        5 + strlen(request->target), request->target);
        return;
    }
    struct weir_buf bytes = answer->bytes;
    weir_buf_add(&bytes, hostile.bytes.ptr, hostile.bytes.len);
    *answer = hostile;
    answer->bytes = bytes;
}

static void setup(size_t answer_bytes_max)
{
    weir_buf_init(&hostile.bytes, ORIGIN_BYTES_MAX);
    origin = origin_new(&(struct origin_options){ .script = answer_hostile });
    client_init_with(&client,
                     (struct weir_transport_options){ .origin = origin_url(origin),
                                                      .answer_bytes_max = answer_bytes_max });
}

static void teardown(void)
{
    client_release(&client);
    origin_free(origin);
    weir_buf_release(&hostile.bytes);
}

static void prepare(const char *bytes, size_t len, bool close)
{
    struct weir_buf buf = hostile.bytes;
    weir_buf_reset(&buf);
    weir_buf_add(&buf, bytes, len);
    hostile = (struct origin_answer){ .bytes = buf, .then = close ? ORIGIN_CLOSE : ORIGIN_KEEP };
}

/* Little time only for what is meant to use it up. */
static struct got ask_hostile(bool times_out)
{
    struct weir_http_options http = { 0 };
    if (times_out)
        http.first_byte_timeout_us = http.request_timeout_us = CASE_TIMEOUT_US;
    return client_ask_within(&client, "POST", "/hostile", weir_str("{}", 2), http);
}

/* The transport is as good as new. */
static void check_echo(const char *name)
{
    char target[32], expected[48];
    snprintf(target, sizeof(target), "/%u", ++echoes);
    snprintf(expected, sizeof(expected), "echo %s", target);
    struct got got = client_ask(&client, "GET", target, NULL);
    ck_assert_msg(got.ending == WEIR_ENDING_COMPLETE, "after %s: %s: %s", name,
                  weir_ending_name(got.ending), got.detail);
    ck_assert_msg(strcmp(got.body, expected) == 0, "after %s: '%s'", name, got.body);
}

static void check_ending(const struct hostile *row, const struct got *got)
{
    ck_assert_msg(row->endings & ONLY(got->ending), "%s: %s %d: %s", row->name,
                  weir_ending_name(got->ending), got->status, got->detail);
    ck_assert_msg(got->sent, "%s", row->name);
    if (got->ending == WEIR_ENDING_COMPLETE)
        ck_assert_msg(strcmp(got->body, row->body) == 0, "%s: '%s'", row->name, got->body);
    ck_assert_msg(got->verdict.outcome != WEIR_OUTCOME_EXECUTED || got->status / 100 == 2, "%s",
                  row->name);
}

/* Each on a connection that has answered before, and each followed by an echo; then once more. */
static void run_rows(const struct hostile *rows, size_t count)
{
    setup(0);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct hostile *row = &rows[i % count];
        prepare(row->bytes, row->len ? row->len : strlen(row->bytes), row->close);
        struct got got = ask_hostile(row->endings == TIMED_OUT);
        check_ending(row, &got);
        check_echo(row->name);
    }
    ck_assert_uint_eq(origin_counts(origin).requests, 4 * count);
    suite_tally(2 * count, 2 * count);
    teardown();
}

START_TEST(a_wrong_content_length_is_seen)
{
    static const struct hostile rows[] = {
        { "too long, then closed", BROKEN, OK_HEAD "Content-Length: 9\r\n\r\nshort", 0, "", true },
        { "too long, kept", TIMED_OUT, OK_HEAD "Content-Length: 9\r\n\r\nshort", 0, "", false },
        { "too short", COMPLETE | BROKEN, OK_HEAD "Content-Length: 2\r\n\r\nabcdef", 0, "ab",
          false },
        { "negative", BROKEN, OK_HEAD "Content-Length: -1\r\n\r\nabc", 0, "", false },
        { "over 63 bits", BROKEN | TOO_BIG, OK_HEAD "Content-Length: 9223372036854775808\r\n\r\na",
          0, "", true },
        { "wraps to 3 in 64 bits", BROKEN | TOO_BIG,
          OK_HEAD "Content-Length: 18446744073709551619\r\n\r\nabc", 0, "", true },
        { "huge", TOO_BIG | BROKEN, OK_HEAD "Content-Length: 9000000000000000000\r\n\r\na", 0, "",
          true },
        { "no number", BROKEN, OK_HEAD "Content-Length: three\r\n\r\nabc", 0, "", false },
        { "a number and more", BROKEN, OK_HEAD "Content-Length: 3x\r\n\r\nabc", 0, "", false },
        { "with a sign", BROKEN, OK_HEAD "Content-Length: +3\r\n\r\nabc", 0, "", false },
        { "in hex", BROKEN, OK_HEAD "Content-Length: 0x3\r\n\r\nabc", 0, "", false },
        { "empty", BROKEN, OK_HEAD "Content-Length:\r\n\r\nabc", 0, "", false },
        { "a list", BROKEN, OK_HEAD "Content-Length: 3, 4\r\n\r\nabcd", 0, "", false },
        { "two different", BROKEN, OK_HEAD "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 0,
          "", false },
        { "two different, backwards", BROKEN,
          OK_HEAD "content-length: 4\r\nCONTENT-LENGTH: 3\r\n\r\nabcd", 0, "", false },
        { "and chunked", BROKEN,
          OK_HEAD "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0,
          "", false },
        { "chunked, and a length", BROKEN,
          OK_HEAD "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0,
          "", false },
        { "204 with a body", COMPLETE | BROKEN,
          "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", 0, "", false },
    };
    run_rows(rows, COUNT(rows));
}
END_TEST

START_TEST(bad_chunking_is_seen)
{
    static const struct hostile rows[] = {
        { "size is garbage", BROKEN, CHUNKED_HEAD "xyz\r\nabc\r\n0\r\n\r\n", 0, "", false },
        { "size is empty", BROKEN, CHUNKED_HEAD "\r\nabc\r\n0\r\n\r\n", 0, "", false },
        { "size is negative", BROKEN, CHUNKED_HEAD "-3\r\nabc\r\n0\r\n\r\n", 0, "", false },
        { "size with 0x", BROKEN, CHUNKED_HEAD "0x3\r\nabc\r\n0\r\n\r\n", 0, "", false },
        { "size over 64 bits", BROKEN | TOO_BIG,
          CHUNKED_HEAD "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n", 0, "", true },
        { "size wraps to 3", BROKEN | TOO_BIG, CHUNKED_HEAD "10000000000000003\r\nabc\r\n0\r\n\r\n",
          0, "", true },
        { "size of 63 bits", BROKEN | TOO_BIG, CHUNKED_HEAD "7FFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n",
          0, "", true },
        { "size of many zeroes", COMPLETE | BROKEN,
          CHUNKED_HEAD "00000000000000000000000000000003\r\nabc\r\n0\r\n\r\n", 0, "abc", false },
        { "no line end behind the data", BROKEN, CHUNKED_HEAD "3\r\nabc0\r\n\r\n", 0, "", true },
        { "too much data", BROKEN, CHUNKED_HEAD "3\r\nabcdef\r\n0\r\n\r\n", 0, "", false },
        { "no final chunk", BROKEN, CHUNKED_HEAD "3\r\nabc\r\n", 0, "", true },
        { "no final chunk, kept", TIMED_OUT, CHUNKED_HEAD "3\r\nabc\r\n", 0, "", false },
        { "final chunk without its end", BROKEN, CHUNKED_HEAD "3\r\nabc\r\n0\r\n", 0, "", true },
        { "an encoding nobody knows", BROKEN, OK_HEAD "Transfer-Encoding: xchunked\r\n\r\nabc", 0,
          "", true },
        { "chunked twice", BROKEN, OK_HEAD "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
          0, "", true },
        { "gzip and chunked", BROKEN,
          OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0, "", false },
        { "identity", BROKEN, OK_HEAD "Transfer-Encoding: identity\r\n\r\nabc", 0, "", true },
        { "chunked in HTTP/1.0", BROKEN,
          "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0, "",
          true },
        { "a trailer without end", TIMED_OUT, CHUNKED_HEAD "0\r\nX-A: 1\r\n", 0, "", false },
        { "a trailer that is a length", COMPLETE,
          CHUNKED_HEAD "3\r\nabc\r\n0\r\nContent-Length: 99\r\n\r\n", 0, "abc", false },
    };
    run_rows(rows, COUNT(rows));
}
END_TEST

#define WITH_NUL(text) (text), sizeof(text) - 1

START_TEST(what_is_no_http_is_seen)
{
    static const struct hostile rows[] = {
        { "HTTP/0.9", BROKEN, "hello\n", 0, "", true },
        { "HTML only", BROKEN, "<html>service unavailable</html>", 0, "", true },
        { "a greeting of SMTP", BROKEN, "220 mail.example ESMTP\r\n", 0, "", false },
        { "no status", BROKEN, "HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "status is text", BROKEN, "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "status of two digits", BROKEN, "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", 0, "",
          false },
        { "status of four digits", BROKEN, "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", 0, "",
          false },
        { "status 000", BROKEN, "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "status 999", BROKEN, "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "status is negative", BROKEN, "HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n", 0, "",
          false },
        { "version 9.9", BROKEN, "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "version 2", BROKEN, "HTTP/2 200\r\ncontent-length: 0\r\n\r\n", 0, "", false },
        { "another protocol", BROKEN, "RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, "",
          false },
        { "101 that nobody asked for", BROKEN,
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nPRI", 0,
          "", false },
        { "NUL in the status line", BROKEN,
          WITH_NUL("HTTP/1.1 2\0000 OK\r\nContent-Length: 0\r\n\r\n"), "", false },
        { "NUL in a header", BROKEN,
          WITH_NUL("HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n"), "", false },
        { "NUL in a name", BROKEN,
          WITH_NUL("HTTP/1.1 200 OK\r\nContent-Length\0: 0\r\nX: y\r\n\r\n"), "", true },
        { "only NULs", BROKEN, WITH_NUL("\0\0\0\0\0\0\0\0\r\n\r\n"), "", true },
        { "a header without a colon", BROKEN, OK_HEAD "nonsense\r\nContent-Length: 0\r\n\r\n", 0,
          "", false },
        { "a header without a name", BROKEN, OK_HEAD ": x\r\nContent-Length: 0\r\n\r\n", 0, "",
          false },
        { "a blank before the colon", BROKEN, OK_HEAD "Content-Length : 3\r\n\r\nabc", 0, "",
          true },
        { "a folded header", BROKEN | COMPLETE,
          OK_HEAD "X-A: b\r\n Content-Length: 9\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "a bare carriage return", BROKEN,
          OK_HEAD "X-A: b\rContent-Length: 9\r\nContent-Length: 0\r\n\r\n", 0, "", false },
        { "blank lines first", BROKEN, "\r\n\r\n" OK_HEAD "Content-Length: 0\r\n\r\n", 0, "",
          true },
        { "nothing at all", BROKEN, "", 0, "", true },
    };
    run_rows(rows, COUNT(rows));
}
END_TEST

/* NULs in a body are bytes like any other. */
START_TEST(a_body_may_have_any_bytes)
{
    char text[400];
    setup(0);
    int head = snprintf(text, sizeof(text), OK_HEAD "Content-Length: 256\r\n\r\n");
    for (int i = 0; i < 256; i++)
        text[head + i] = (char)i;
    prepare(text, (size_t)head + 256, false);
    struct got got = ask_hostile(false);
    assert_complete(got, 200);
    ck_assert_uint_eq(got.body_len, 256);
    ck_assert_mem_eq(got.body, text + head, 256);
    check_echo("a body of all bytes");
    ck_assert_uint_eq(origin_counts(origin).connections, 1);
    teardown();
}
END_TEST

/* ---- no smuggling ---- */

static const char *const whole[] = {
    OK_HEAD "Content-Length: 2\r\n\r\nab",
    CHUNKED_HEAD "2\r\nab\r\n0\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    OK_HEAD "Content-Length: 0\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n",
};

/* An answer, and a forged one that nobody asked for so much later. */
static void ask_for_two(size_t which, int64_t later_us)
{
    prepare(whole[which], strlen(whole[which]), false);
    hostile.pause_at = hostile.bytes.len;
    hostile.pause_us = later_us;
    weir_buf_add_text(&hostile.bytes, FORGED);
    struct got got = ask_hostile(false);
    ck_assert_msg(got.ending == WEIR_ENDING_COMPLETE || got.ending == WEIR_ENDING_BROKEN, "%s",
                  got.detail);
    ck_assert_ptr_null(strstr(got.body, "forged"));
}

/* The excess comes with the answer, right behind it, or a moment later. */
START_TEST(what_is_left_over_is_not_the_next_answer)
{
    static const int64_t later_us[] = { 0, 1, MS(30) };
    setup(0);
    for (size_t i = 0; i < COUNT(whole) * COUNT(later_us); i++) {
        char name[64];
        uint64_t said = origin_counts(origin).said;
        uint64_t connections = origin_counts(origin).connections;
        ask_for_two(i % COUNT(whole), later_us[i / COUNT(whole)]);
        client_until(&client, origin_counts(origin).said == said + hostile.bytes.len ||
                                  later_us[i / COUNT(whole)] == 0);
        client_idle(&client, MS(10));
        snprintf(name, sizeof(name), "left over in case %zu", i);
        check_echo(name);
        check_echo(name);
        /* What has said too much once is not used again. */
        ck_assert_msg(origin_counts(origin).connections > connections, "%s", name);
    }
    teardown();
}
END_TEST

/* The same, but the loop has had no time to notice before the next request goes out. */
START_TEST(what_was_left_over_unnoticed_is_not_the_next_answer)
{
    setup(0);
    for (size_t i = 0; i < COUNT(whole); i++) {
        uint64_t said = origin_counts(origin).said;
        ask_for_two(i, MS(10));
        int64_t until_us = weir_clock_now_us() + GUARD_US;
        while (origin_counts(origin).said < said + hostile.bytes.len) {
            must(weir_clock_now_us() < until_us);
            poll(NULL, 0, 1);
        }
        struct got got = client_ask(&client, "GET", "/unnoticed", NULL);
        ck_assert_ptr_null(strstr(got.body, "forged"));
        assert_complete(got, 200); /* on another connection */
        ck_assert_str_eq(got.body, "echo /unnoticed");
        check_echo("what was left over unnoticed");
    }
    teardown();
}
END_TEST

/* ---- slow ones ---- */

START_TEST(a_silent_server_is_left_in_time)
{
    setup(0);
    for (int i = 0; i < 2; i++) {
        prepare("", 0, false);
        struct got got = ask_hostile(true);
        assert_ending(got, WEIR_ENDING_TIMED_OUT);
        ck_assert(got.sent && got.sent_us && !got.first_byte_us);
        ck_assert_int_ge(got.done_us - got.begun_us, CASE_TIMEOUT_US - MS(20));
        check_echo("silence");
    }
    teardown();
}
END_TEST

/* A byte now and then keeps no request alive beyond its time: in the head, or in the body. */
START_TEST(a_dribble_is_bounded_by_the_time_of_the_whole_request)
{
    static const char *const dribbles[] = {
        OK_HEAD "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nContent-Length: 0\r\n\r\n",
        OK_HEAD "Content-Length: 60\r\n\r\n"
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        CHUNKED_HEAD "1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
    };
    setup(0);
    for (size_t i = 0; i < COUNT(dribbles); i++) {
        prepare(dribbles[i], strlen(dribbles[i]), false);
        hostile.slice_bytes = 1;
        hostile.slice_gap_us = MS(25);
        struct weir_http_options http = { .request_timeout_us = CASE_TIMEOUT_US };
        struct got got = client_ask_within(&client, "POST", "/hostile", weir_str("{}", 2), http);
        assert_ending(got, WEIR_ENDING_TIMED_OUT);
        ck_assert_int_ge(got.done_us - got.begun_us, CASE_TIMEOUT_US - MS(20));
        check_echo(dribbles[i]);
    }
    teardown();
}
END_TEST

/* ---- big ones ---- */

static void fill(const char *text, size_t bytes)
{
    while (hostile.bytes.len < bytes)
        weir_buf_add_text(&hostile.bytes, text);
}

static void check_too_big(const char *name)
{
    struct got got = client_ask(&client, "POST", "/hostile", "{}");
    ck_assert_msg(got.ending == WEIR_ENDING_TOO_BIG, "%s: %s: %s", name,
                  weir_ending_name(got.ending), got.detail);
    ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    check_echo(name);
}

START_TEST(heads_have_a_bound)
{
    setup(0);
    prepare(OK_HEAD, strlen(OK_HEAD), false);
    fill("X-A: b\r\n", (size_t)4 * 1024 * 1024);
    check_too_big("headers without end");

    prepare(OK_HEAD, strlen(OK_HEAD), false);
    for (int i = 0; i < 10000; i++)
        weir_buf_printf(&hostile.bytes, "X-%d: b\r\n", i);
    weir_buf_add_text(&hostile.bytes, "Content-Length: 0\r\n\r\n");
    check_too_big("10,000 header lines");

    prepare(OK_HEAD "X-A: ", strlen(OK_HEAD "X-A: "), false);
    fill("aaaaaaaaaaaaaaaa", (size_t)1024 * 1024);
    weir_buf_add_text(&hostile.bytes, "\r\nContent-Length: 0\r\n\r\n");
    check_too_big("a huge header line");

    prepare(OK_HEAD "X-A: ", strlen(OK_HEAD "X-A: "), false);
    fill("aaaaaaaaaaaaaaaa", (size_t)4 * 1024 * 1024);
    check_too_big("a header line without end");

    prepare("HTTP/1.1 200 ", strlen("HTTP/1.1 200 "), false);
    fill("OK OK OK OK OK OK", (size_t)1024 * 1024);
    weir_buf_add_text(&hostile.bytes, "\r\nContent-Length: 0\r\n\r\n");
    check_too_big("a huge status line");

    prepare("", 0, false);
    fill("HTTP/1.1 100 Continue\r\n\r\n", (size_t)4 * 1024 * 1024);
    check_too_big("100 without end");

    prepare(CHUNKED_HEAD "0\r\n", strlen(CHUNKED_HEAD "0\r\n"), false);
    fill("X-A: b\r\n", (size_t)4 * 1024 * 1024);
    check_too_big("trailers without end");
    teardown();
}
END_TEST

/* The bounds of limits.h, hit from both sides. */
START_TEST(heads_up_to_their_bound_are_fine)
{
    setup(0);
    for (size_t extra = 0; extra < 2; extra++) {
        prepare(OK_HEAD "Content-Length: 0\r\n", strlen(OK_HEAD "Content-Length: 0\r\n"), false);
        for (size_t i = 1; i < WEIR_ANSWER_HEADERS_MAX + extra; i++)
            weir_buf_printf(&hostile.bytes, "X-%zu: b\r\n", i);
        weir_buf_add_text(&hostile.bytes, "\r\n");
        struct got got = client_ask(&client, "POST", "/hostile", "{}");
        if (extra)
            assert_ending(got, WEIR_ENDING_TOO_BIG);
        else
            assert_complete(got, 200);
        ck_assert_uint_eq(got.header_count, extra ? 0 : WEIR_ANSWER_HEADERS_MAX);
        check_echo("many headers");
    }
    teardown();
}
END_TEST

#define BODY_MAX 100000

/* A body of exactly the bound is whole; a byte more is too big, whether it was announced or not. */
START_TEST(bodies_have_a_bound)
{
    setup(BODY_MAX);
    for (size_t i = 0; i < 8; i++) {
        size_t len = i / 2 == 0 ? BODY_MAX : i / 2 == 1 ? BODY_MAX + 1 : i / 2 * BODY_MAX * 10;
        bool chunked = i % 2;
        prepare(OK_HEAD, strlen(OK_HEAD), false);
        if (chunked)
            weir_buf_printf(&hostile.bytes, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", len);
        else
            weir_buf_printf(&hostile.bytes, "Content-Length: %zu\r\n\r\n", len);
        for (size_t n = 0; n < len; n++)
            weir_buf_add_char(&hostile.bytes, 'a');
        if (chunked)
            weir_buf_add_text(&hostile.bytes, "\r\n0\r\n\r\n");
        if (len > BODY_MAX) {
            check_too_big("a huge body");
            continue;
        }
        struct got got = client_ask(&client, "POST", "/hostile", "{}");
        assert_complete(got, 200);
        ck_assert_uint_eq(got.body_len, len);
        check_echo("a large body");
    }
    teardown();
}
END_TEST

/* Announcing more than the bound is enough. */
START_TEST(a_length_over_the_bound_is_refused_at_once)
{
    static const char text[] = OK_HEAD "Content-Length: 100001\r\n\r\n";
    setup(BODY_MAX);
    prepare(text, strlen(text), false);
    check_too_big("an announcement");
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_hostile");
    suite_add(&s, a_wrong_content_length_is_seen);
    suite_add(&s, bad_chunking_is_seen);
    suite_add(&s, what_is_no_http_is_seen);
    suite_add(&s, a_body_may_have_any_bytes);
    suite_add(&s, what_is_left_over_is_not_the_next_answer);
    suite_add(&s, what_was_left_over_unnoticed_is_not_the_next_answer);
    suite_add(&s, a_silent_server_is_left_in_time);
    suite_add(&s, a_dribble_is_bounded_by_the_time_of_the_whole_request);
    suite_add(&s, heads_have_a_bound);
    suite_add(&s, heads_up_to_their_bound_are_fine);
    suite_add(&s, bodies_have_a_bound);
    suite_add(&s, a_length_over_the_bound_is_refused_at_once);
    return suite_run(&s);
}
