/* SPDX-License-Identifier: MIT */
/* The proxy that breaks transports, seen from raw sockets: what it promises to do is what happens.
 */
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "support/origin.h"
#include "support/raw.h"
#include "support/toxic.h"

#define MS      WEIR_US_PER_MS
#define REQUEST "GET / HTTP/1.1\r\nHost: origin\r\n\r\n"
#define ANSWER  "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789abcdefghij"

static const char *const answers[] = { ANSWER };
static struct origin *origin;
static struct toxic *toxic;

static void start(const struct origin_options *options)
{
    static const struct origin_options plain = { .answers = answers, .answer_count = 1 };
    origin = origin_new(options ? options : &plain);
    toxic = toxic_new(origin_port(origin));
}

static void stop(void)
{
    toxic_free(toxic);
    origin_free(origin);
}

/* One request through the proxy on a connection of its own; what came, and how it ended. */
static enum ending ask(struct weir_buf *heard)
{
    int fd = dial(toxic_port(toxic));
    must(fd >= 0);
    weir_buf_reset(heard);
    say(fd, REQUEST, strlen(REQUEST));
    enum ending ending = hear_bytes(fd, heard, strlen(ANSWER));
    close(fd);
    return ending;
}

static void echo(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    (void)ctx;
    weir_buf_printf(&answer->bytes, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                    request->body_len);
    weir_buf_add(&answer->bytes, request->body, request->body_len);
}

/* However they are sliced, all bytes arrive, in their order, and are counted. */
START_TEST(without_harm_everything_passes_unchanged)
{
    static const size_t slices[] = { 0, 1, 777 };
    struct weir_rng rng;
    struct weir_buf text, heard;
    weir_rng_init(&rng, 1, 0);
    weir_buf_init(&text, BYTES_MAX);
    weir_buf_init(&heard, BYTES_MAX);
    start(&(struct origin_options){ .script = echo });
    for (size_t i = 0; i < 3; i++) {
        size_t len = slices[i] == 1 ? 20000 : 3000000;
        struct toxic_way way = { .slice_bytes = slices[i] };
        toxic_set(toxic, (struct toxic_script){ way, way });
        weir_buf_reset(&text);
        weir_buf_reset(&heard);
        weir_buf_printf(&text, "POST / HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", len);
        size_t head = text.len;
        while (text.len < head + len)
            weir_buf_add_char(&text, (char)weir_rng_u64(&rng));
        struct toxic_counts before = toxic_counts(toxic);
        int fd = dial(toxic_port(toxic));
        say(fd, text.ptr, text.len);
        while (!memmem(weir_buf_text(&heard), heard.len, "\r\n\r\n", 4))
            must(hear(fd, &heard) == OPEN);
        size_t answer_head = (size_t)(strstr(heard.ptr, "\r\n\r\n") + 4 - heard.ptr);
        must(hear_bytes(fd, &heard, answer_head + len) == OPEN);
        ck_assert_uint_eq(heard.len, answer_head + len);
        must(memcmp(heard.ptr + answer_head, text.ptr + head, len) == 0);
        close(fd);
        struct toxic_counts after = toxic_counts(toxic);
        ck_assert_uint_eq(after.bytes_up - before.bytes_up, text.len);
        ck_assert_uint_eq(after.bytes_down - before.bytes_down, heard.len);
        ck_assert_uint_eq(after.connections, i + 1);
    }
    eventually(toxic_counts(toxic).open == 0);
    weir_buf_release(&text);
    weir_buf_release(&heard);
    stop();
}
END_TEST

static void cut_down_at_every_byte(enum toxic_end end, enum ending expected)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (size_t at = 0; at < strlen(ANSWER); at++) {
        toxic_set(toxic, (struct toxic_script){ .down = { .end = end, .end_at = at } });
        int fd = dial(toxic_port(toxic));
        weir_buf_reset(&heard);
        if (at)
            say(fd, REQUEST, strlen(REQUEST));
        must(hear_all(fd, &heard) == expected);
        ck_assert_uint_eq(heard.len, at);
        must(memcmp(weir_buf_text(&heard), ANSWER, at) == 0);
        close(fd);
    }
    eventually(toxic_counts(toxic).open == 0);
    eventually(origin_counts(origin).open == 0);
    weir_buf_release(&heard);
    stop();
}

START_TEST(a_cut_at_byte_n_lets_n_bytes_pass_and_is_a_clean_end)
{
    cut_down_at_every_byte(TOXIC_CLOSE, CLOSED);
}
END_TEST

START_TEST(a_reset_at_byte_n_lets_n_bytes_pass_and_is_a_reset)
{
    cut_down_at_every_byte(TOXIC_RESET, RESET);
}
END_TEST

START_TEST(a_cut_on_the_way_up_stops_the_request_at_that_byte)
{
    struct weir_buf heard;
    uint64_t sum = 0;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (size_t at = 1; at < strlen(REQUEST); at++) {
        enum toxic_end end = at % 2 ? TOXIC_CLOSE : TOXIC_RESET;
        toxic_set(toxic, (struct toxic_script){ .up = { .end = end, .end_at = at } });
        must(ask(&heard) == (at % 2 ? CLOSED : RESET));
        ck_assert_uint_eq(heard.len, 0);
        sum += at;
        ck_assert_uint_eq(toxic_counts(toxic).bytes_up, sum);
        if (at % 2) /* a reset may overtake what came before it */
            eventually(origin_counts(origin).bytes >= at);
    }
    eventually(origin_counts(origin).open == 0);
    ck_assert_uint_eq(origin_counts(origin).requests, 0);
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(a_stall_lasts_until_the_script_is_changed)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    toxic_set(toxic, (struct toxic_script){ .down = { .end = TOXIC_STALL, .end_at = 7 } });
    int fd = dial(toxic_port(toxic));
    say(fd, REQUEST, strlen(REQUEST));
    must(hear_bytes(fd, &heard, 7) == OPEN);
    ck_assert(!readable(fd, SHORT_MS));
    ck_assert_uint_eq(heard.len, 7);
    toxic_set(toxic, (struct toxic_script){ 0 });
    must(hear_bytes(fd, &heard, strlen(ANSWER)) == OPEN);
    ck_assert_str_eq(heard.ptr, ANSWER);
    close(fd);
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(a_stall_on_the_way_up_lasts_until_the_script_is_changed)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    toxic_set(toxic, (struct toxic_script){ .up = { .end = TOXIC_STALL, .end_at = 7 } });
    int fd = dial(toxic_port(toxic));
    say(fd, REQUEST, strlen(REQUEST));
    eventually(origin_counts(origin).bytes == 7);
    ck_assert(!readable(fd, SHORT_MS));
    ck_assert_uint_eq(origin_counts(origin).bytes, 7);
    toxic_set(toxic, (struct toxic_script){ 0 });
    must(hear_bytes(fd, &heard, strlen(ANSWER)) == OPEN);
    ck_assert_str_eq(heard.ptr, ANSWER);
    close(fd);
    weir_buf_release(&heard);
    stop();
}
END_TEST

/* The client goes on sending: a descriptor closed with unread bytes would reset it. */
START_TEST(a_clean_end_stays_clean_while_the_client_is_still_sending)
{
    struct weir_buf heard;
    char *body = weir_calloc(1, 1000000);
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    toxic_set(toxic, (struct toxic_script){ .up = { .end = TOXIC_CLOSE, .end_at = 1000 } });
    for (int i = 0; i < 10; i++) {
        int fd = dial(toxic_port(toxic));
        say(fd, body, 1000000);
        must(hear_all(fd, &heard) == CLOSED);
        say(fd, body, 1000000); /* into the void, but not into a reset */
        close(fd);
    }
    ck_assert_uint_eq(toxic_counts(toxic).bytes_up, 10000);
    weir_buf_release(&heard);
    free(body);
    stop();
}
END_TEST

START_TEST(half_open_is_one_dead_direction_or_two)
{
    static const struct toxic_way dead = { .end = TOXIC_STALL };
    start(NULL);
    toxic_set_list(toxic, (struct toxic_script[]){ { .up = dead }, { .down = dead } }, 2);
    int first = dial(toxic_port(toxic));
    say(first, REQUEST, strlen(REQUEST));
    ck_assert(!readable(first, SHORT_MS));
    ck_assert_uint_eq(origin_counts(origin).bytes, 0);
    int second = dial(toxic_port(toxic));
    say(second, REQUEST, strlen(REQUEST));
    eventually(origin_counts(origin).whole == 1); /* it was heard … */
    ck_assert(!readable(second, SHORT_MS));       /* … and the answer is lost */
    ck_assert_uint_eq(toxic_counts(toxic).bytes_down, 0);
    close(first);
    close(second);
    stop();
}
END_TEST

START_TEST(refusing_is_nobody_listening_and_ends_on_the_same_port)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (int i = 0; i < 20; i++) {
        toxic_refuse(toxic, true);
        ck_assert_int_eq(dial(toxic_port(toxic)), -ECONNREFUSED);
        toxic_refuse(toxic, false);
        must(ask(&heard) == OPEN);
        ck_assert_str_eq(heard.ptr, ANSWER);
    }
    ck_assert_uint_eq(toxic_counts(toxic).connections, 20);
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(a_list_gives_each_connection_its_own_script)
{
    struct weir_buf heard;
    const struct toxic_script list[] = {
        { .down = { .end = TOXIC_CLOSE, .end_at = 1 } },
        { .down = { .end = TOXIC_RESET, .end_at = 2 } },
        { .down = { .end = TOXIC_CLOSE, .end_at = 3 } },
    };
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    toxic_set_list(toxic, list, 3);
    for (size_t i = 0; i < 5; i++) {
        enum ending ending = ask(&heard);
        must(ending == (i >= 3 ? OPEN : i == 1 ? RESET : CLOSED));
        ck_assert_uint_eq(heard.len, i < 3 ? i + 1 : strlen(ANSWER));
    }
    weir_buf_release(&heard);
    stop();
}
END_TEST

START_TEST(open_connections_can_be_ended_all_at_once)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (int how = 0; how < 2; how++) {
        int fds[10];
        for (int i = 0; i < 10; i++) {
            fds[i] = dial(toxic_port(toxic));
            say(fds[i], REQUEST, strlen(REQUEST));
            weir_buf_reset(&heard);
            must(hear_bytes(fds[i], &heard, strlen(ANSWER)) == OPEN);
        }
        ck_assert_uint_eq(toxic_counts(toxic).open, 10);
        toxic_end(toxic, how ? TOXIC_RESET : TOXIC_CLOSE);
        for (int i = 0; i < 10; i++) {
            must(hear(fds[i], &heard) == (how ? RESET : CLOSED));
            close(fds[i]);
        }
        eventually(toxic_counts(toxic).open == 0);
    }
    weir_buf_release(&heard);
    stop();
}
END_TEST

static int64_t time_of_one(struct toxic_script script)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    toxic_set(toxic, script);
    int64_t begun_us = weir_clock_now_us();
    must(ask(&heard) == OPEN);
    int64_t took_us = weir_clock_now_us() - begun_us;
    ck_assert_str_eq(heard.ptr, ANSWER);
    weir_buf_release(&heard);
    return took_us;
}

/* Lower bounds only: they hold however busy the machine is. */
START_TEST(latency_bandwidth_and_slices_take_their_time)
{
    struct toxic_way late = { .latency_us = 60 * MS };
    int64_t rest = (int64_t)strlen(ANSWER) - 1;
    start(NULL);
    ck_assert_int_ge(time_of_one((struct toxic_script){ .down = late }), 60 * MS);
    ck_assert_int_ge(time_of_one((struct toxic_script){ late, late }), 120 * MS);
    struct toxic_way narrow = { .bytes_per_s = 200 }; /* 5 bytes each 25 ms */
    ck_assert_int_ge(time_of_one((struct toxic_script){ .down = narrow }), (rest - 4) * 5 * MS);
    struct toxic_way sliced = { .slice_bytes = 1, .slice_gap_us = 2 * MS };
    ck_assert_int_ge(time_of_one((struct toxic_script){ .down = sliced }), rest * 2 * MS);
    stop();
}
END_TEST

/* A slice that falls due between a look and the wait after it must not be slept over. */
START_TEST(quick_slices_on_many_connections_all_arrive)
{
    struct weir_buf heard;
    struct toxic_way way = { .slice_bytes = 1, .slice_gap_us = 50 };
    int fds[20];
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    toxic_set(toxic, (struct toxic_script){ way, way });
    for (int i = 0; i < 20; i++) {
        fds[i] = dial(toxic_port(toxic));
        say(fds[i], REQUEST, strlen(REQUEST));
    }
    for (int i = 0; i < 20; i++) {
        weir_buf_reset(&heard);
        must(hear_bytes(fds[i], &heard, strlen(ANSWER)) == OPEN);
        ck_assert_str_eq(heard.ptr, ANSWER);
        close(fds[i]);
    }
    weir_buf_release(&heard);
    stop();
}
END_TEST

/* Scripts change, connections come and go, counters are read: for ThreadSanitizer. */
START_TEST(everything_may_change_while_it_runs)
{
    struct weir_rng rng;
    struct weir_buf heard;
    weir_rng_init(&rng, 7, 0);
    weir_buf_init(&heard, BYTES_MAX);
    start(NULL);
    for (int i = 0; i < 300; i++) {
        struct toxic_way way = {
            .slice_bytes = weir_rng_below(&rng, 5),
            .latency_us = (int64_t)weir_rng_below(&rng, 2000),
            .end = (enum toxic_end)weir_rng_below(&rng, 3),
            .end_at = weir_rng_below(&rng, 100),
        };
        toxic_set(toxic, (struct toxic_script){ .up = way, .down = way });
        int fd = dial(toxic_port(toxic));
        toxic_set(toxic, (struct toxic_script){ .down = way });
        if (i % 3 == 0)
            toxic_end(toxic, TOXIC_RESET);
        if (i % 7 == 0)
            toxic_refuse(toxic, true);
        if (send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) > 0 && i % 3)
            poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 5);
        close(fd);
        toxic_refuse(toxic, false);
        must(toxic_counts(toxic).open <= toxic_counts(toxic).connections);
    }
    toxic_set(toxic, (struct toxic_script){ 0 });
    must(ask(&heard) == OPEN);
    ck_assert_str_eq(heard.ptr, ANSWER);
    weir_buf_release(&heard);
    stop();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("toxic");
    suite_add(&s, without_harm_everything_passes_unchanged);
    suite_add(&s, a_cut_at_byte_n_lets_n_bytes_pass_and_is_a_clean_end);
    suite_add(&s, a_reset_at_byte_n_lets_n_bytes_pass_and_is_a_reset);
    suite_add(&s, a_cut_on_the_way_up_stops_the_request_at_that_byte);
    suite_add(&s, a_stall_lasts_until_the_script_is_changed);
    suite_add(&s, a_stall_on_the_way_up_lasts_until_the_script_is_changed);
    suite_add(&s, a_clean_end_stays_clean_while_the_client_is_still_sending);
    suite_add(&s, half_open_is_one_dead_direction_or_two);
    suite_add(&s, refusing_is_nobody_listening_and_ends_on_the_same_port);
    suite_add(&s, a_list_gives_each_connection_its_own_script);
    suite_add(&s, open_connections_can_be_ended_all_at_once);
    suite_add(&s, latency_bandwidth_and_slices_take_their_time);
    suite_add(&s, quick_slices_on_many_connections_all_arrive);
    suite_add(&s, everything_may_change_while_it_runs);
    return suite_run(&s);
}
