/* SPDX-License-Identifier: MIT */
/* The scripted server, seen from raw sockets: it counts what was on the wire and says what it is
 * told. */
#include <stdio.h>

#include "support/origin.h"
#include "support/raw.h"
#include "support/toxic.h"

#define MS      WEIR_US_PER_MS
#define REQUEST "GET / HTTP/1.1\r\nHost: origin\r\n\r\n"
#define ANSWER  "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789abcdefghij"

static const char *const answers[] = { ANSWER };
static struct origin *origin;

static void start(const struct origin_options *options)
{
    static const struct origin_options plain = { .answers = answers, .answer_count = 1 };
    origin = origin_new(options ? options : &plain);
}

static void stop(void)
{
    origin_free(origin);
}

START_TEST(requests_are_counted_however_they_arrive)
{
    static const char two[] = "POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello" REQUEST;
    struct weir_buf heard;
    struct origin_record got;
    weir_buf_init(&heard, BYTES_MAX);
    start(&(struct origin_options){ .answers = answers, .answer_count = 1, .record_max = 3 });
    struct toxic *toxic = toxic_new(origin_port(origin));
    for (size_t slice = 0; slice < 12; slice++) {
        toxic_set(toxic, (struct toxic_script){ .up = { .slice_bytes = slice } });
        int fd = dial(toxic_port(toxic));
        say(fd, two, strlen(two));
        weir_buf_reset(&heard);
        must(hear_bytes(fd, &heard, 2 * strlen(ANSWER)) == OPEN);
        ck_assert_str_eq(heard.ptr, ANSWER ANSWER);
        close(fd);
    }
    struct origin_counts counts = origin_counts(origin);
    ck_assert_uint_eq(counts.requests, 24);
    ck_assert_uint_eq(counts.whole, 24);
    ck_assert_uint_eq(counts.connections, 12);
    ck_assert_uint_eq(counts.bytes, 12 * strlen(two));
    ck_assert(origin_record(origin, 1, &got));
    ck_assert_str_eq(got.head, REQUEST);
    ck_assert_uint_eq(got.connection, 0);
    ck_assert_uint_eq(got.before, 1);
    ck_assert(origin_record(origin, 2, &got));
    ck_assert_uint_eq(got.connection, 1);
    ck_assert(weir_str_equal(origin_header(got.head, "Content-Length"), weir_str("5", 1)));
    ck_assert_uint_eq(origin_header(got.head, "Content-Lengt").len, 0);
    ck_assert(!origin_record(origin, 3, &got));
    weir_buf_release(&heard);
    toxic_free(toxic);
    stop();
}
END_TEST

static void drop_second(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    const enum origin_end *how = ctx;
    if (request->before == 1)
        answer->then = *how;
    else
        weir_buf_add_text(&answer->bytes, ANSWER);
}

/* Two requests are read, one is answered; a third, sent after the end, is counted all the same. */
START_TEST(a_reused_connection_can_be_dropped_without_a_byte)
{
    enum origin_end how;
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    for (how = ORIGIN_CLOSE; how <= ORIGIN_RESET; how++) {
        start(&(struct origin_options){ .script = drop_second, .ctx = &how });
        int fd = dial(origin_port(origin));
        say(fd, REQUEST, strlen(REQUEST));
        weir_buf_reset(&heard);
        must(hear_bytes(fd, &heard, strlen(ANSWER)) == OPEN);
        say(fd, REQUEST, strlen(REQUEST));
        must(hear_all(fd, &heard) == (how == ORIGIN_RESET ? RESET : CLOSED));
        ck_assert_uint_eq(heard.len, strlen(ANSWER));
        if (how == ORIGIN_CLOSE) {
            say(fd, REQUEST, strlen(REQUEST));
            eventually(origin_counts(origin).requests == 3);
        }
        close(fd);
        ck_assert_uint_eq(origin_counts(origin).whole, how == ORIGIN_RESET ? 2 : 3);
        stop();
    }
    weir_buf_release(&heard);
}
END_TEST

static void slowly(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    (void)ctx;
    (void)request;
    weir_buf_add_text(&answer->bytes, ANSWER);
    answer->delay_us = 40 * MS;
    answer->pause_at = 10;
    answer->pause_us = 40 * MS;
    answer->slice_bytes = 4;
    answer->slice_gap_us = MS;
    answer->then = ORIGIN_CLOSE;
}

START_TEST(answers_are_delayed_paused_and_dribbled)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(&(struct origin_options){ .script = slowly });
    int64_t begun_us = weir_clock_now_us();
    int fd = dial(origin_port(origin));
    say(fd, REQUEST, strlen(REQUEST));
    must(hear(fd, &heard) == OPEN);
    ck_assert_int_ge(weir_clock_now_us() - begun_us, 40 * MS);
    ck_assert_uint_le(heard.len, 10);
    must(hear_all(fd, &heard) == CLOSED);
    ck_assert_int_ge(weir_clock_now_us() - begun_us,
                     80 * MS + (int64_t)(strlen(ANSWER) - 4) / 4 * MS);
    ck_assert_str_eq(heard.ptr, ANSWER);
    close(fd);
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(a_request_can_be_answered_before_its_body_is_there)
{
    struct weir_buf heard;
    static const char head[] = "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n";
    char body[100] = { 0 };
    weir_buf_init(&heard, BYTES_MAX);
    start(&(struct origin_options){
        .answers = answers, .answer_count = 1, .early = true, .early_body_bytes = 10 });
    int fd = dial(origin_port(origin));
    say(fd, head, strlen(head));
    say(fd, body, 9);
    ck_assert(!readable(fd, SHORT_MS));
    say(fd, body, 1);
    must(hear_bytes(fd, &heard, strlen(ANSWER)) == OPEN);
    say(fd, body, 90); /* thrown away: the next head is found behind it */
    say(fd, head, strlen(head));
    say(fd, body, 10);
    must(hear_bytes(fd, &heard, 2 * strlen(ANSWER)) == OPEN);
    ck_assert_uint_eq(origin_counts(origin).requests, 2);
    ck_assert_uint_eq(origin_counts(origin).whole, 0);
    close(fd);
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(what_is_no_request_is_reset_and_counted_apart)
{
    static const char *const wrong[] = {
        "hello\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int fd = dial(origin_port(origin));
        say(fd, wrong[i], strlen(wrong[i]));
        must(hear_all(fd, &heard) == RESET);
        close(fd);
    }
    ck_assert_uint_eq(heard.len, 0);
    ck_assert_uint_eq(origin_counts(origin).requests, 0);
    ck_assert_uint_eq(origin_counts(origin).malformed, 4);
    weir_buf_release(&heard);
    stop();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("scripted_origin");
    suite_add(&s, requests_are_counted_however_they_arrive);
    suite_add(&s, a_reused_connection_can_be_dropped_without_a_byte);
    suite_add(&s, answers_are_delayed_paused_and_dribbled);
    suite_add(&s, a_request_can_be_answered_before_its_body_is_there);
    suite_add(&s, what_is_no_request_is_reset_and_counted_apart);
    return suite_run(&s);
}
