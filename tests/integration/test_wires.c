/* SPDX-License-Identifier: MIT */
/*
 * Connections between their requests, and beside each other: which are kept, which are not used
 * again, and that libcurl, which has made them, leaves alone what is in use.
 */
#include "net/transport_parts.h"
#include "support/exchange.h"
#include "support/origin.h"
#include "support/raw.h"
#include "support/toxic.h"

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

/* libcurl looks for connections that are dead when it makes one, but not twice in a second. */
#define LOOKED_AGAIN_US MS(1100)

static struct origin *origin;
static struct client client;

static void setup(origin_script *script)
{
    static const char *const answers[] = { NO_CONTENT };
    origin = origin_new(
        &(struct origin_options){ .script = script, .answers = answers, .answer_count = 1 });
    client_init(&client, origin_url(origin));
}

static void teardown(void)
{
    client_release(&client);
    origin_free(origin);
}

START_TEST(one_that_was_idle_for_too_long_is_not_used_again)
{
    setup(NULL);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_complete(client_ask(&client, "POST", "/", "{}"), 204);
        struct got again = client_ask(&client, "POST", "/", "{}");
        ck_assert(again.reused);
        ck_assert_uint_eq(origin_counts(origin).connections, i);
        ck_assert_uint_eq(client.transport->idle_count, 1);
        client.transport->idle->rest_us -= WEIR_WIRE_IDLE_US;
    }
    teardown();
}
END_TEST

static void nothing_heard(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    (void)ctx, (void)index;
    must(answer->ending == WEIR_ENDING_COMPLETE);
}

START_TEST(no_more_than_a_number_of_them_wait)
{
    setup(NULL);
    crowd_run(&(struct crowd){ .client = &client,
                               .count = 4 * WEIR_WIRES_IDLE_MAX,
                               .in_flight_max = WEIR_WIRES_IDLE_MAX + 20,
                               .method = "POST",
                               .body = "{}",
                               .heard = nothing_heard });
    ck_assert_uint_gt(origin_counts(origin).connections, WEIR_WIRES_IDLE_MAX);
    ck_assert_uint_le(client.transport->idle_count, WEIR_WIRES_IDLE_MAX);
    client_until(&client, origin_counts(origin).open == client.transport->idle_count);
    teardown();
}
END_TEST

/* The last one that was used is the first to be used again; one that has ended is passed over. */
START_TEST(one_that_has_ended_costs_no_request)
{
    setup(NULL);
    struct got got[3] = { 0 };
    struct weir_exchange_request request = { .method = "POST", .target = "/" };
    for (int i = 0; i < 3; i++)
        weir_transport_send(client.transport, &request, copy_answer, &got[i]);
    client_until(&client, got[0].done && got[1].done && got[2].done);
    ck_assert_uint_eq(client.transport->idle_count, 3);
    shutdown(client.transport->idle->fd, SHUT_RDWR);
    struct got next = client_ask(&client, "POST", "/", "{}");
    assert_complete(next, 204);
    ck_assert(next.reused);
    ck_assert_uint_eq(origin_counts(origin).connections, 3);
    teardown();
}
END_TEST

/* --- before they are asked ----------------------------------------------------------------------
 */

struct speaker {
    int listener;
    const char *words; /* "": it ends without any */
};

static void *speak_first(void *argument)
{
    struct speaker *speaker = argument;
    must(readable(speaker->listener, WAIT_MS));
    int fd = accept(speaker->listener, NULL, NULL);
    must(fd >= 0);
    say(fd, speaker->words, strlen(speaker->words));
    if (speaker->words[0])
        must(readable(fd, WAIT_MS)); /* until the client has left */
    close(fd);
    return NULL;
}

/* Both are seen when the connection is made, or else when the answer is awaited. */
START_TEST(one_that_speaks_before_it_is_asked_gives_no_answer)
{
    static const char *const words[] = { "hello\r\n", "" };
    struct speaker speaker = { .listener = loopback_listening(0, 8), .words = words[_i] };
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", loopback_port(speaker.listener));
    pthread_t thread = loopback_thread(speak_first, &speaker);
    client_init(&client, url);
    assert_ending(client_ask(&client, "POST", "/", "{}"), WEIR_ENDING_BROKEN);
    ck_assert_uint_eq(client.transport->idle_count, 0);
    client_release(&client);
    pthread_join(thread, NULL);
    close(speaker.listener);
}
END_TEST

/* --- beside each other ------------------------------------------------------------------------ */

static void answer_late(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx;
    if (strcmp(request->target, "/late") == 0)
        answer->delay_us = LOOKED_AGAIN_US;
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
}

struct second {
    struct weir_task task;
    struct got got;
};

/* The answer to the first one is there, and nobody has read it; and to libcurl it is too old. */
static void send_second(struct weir_task *task)
{
    struct second *second = (void *)task;
    struct weir_exchange_request request = { .method = "POST", .target = "/" };
    int64_t until_us = weir_clock_now_us() + GUARD_US;
    while (origin_counts(origin).said < strlen(NO_CONTENT))
        must(weir_clock_now_us() < until_us);
    weir_transport_send(client.transport, &request, copy_answer, &second->got);
    curl_easy_setopt(client.transport->first->wire->easy, CURLOPT_MAXAGE_CONN, 0L);
    weir_transport_act(client.transport, CURL_SOCKET_TIMEOUT, 0);
}

START_TEST(one_in_use_is_not_taken_for_dead_when_another_is_made)
{
    struct got first = { 0 };
    struct second second = { .task.run = send_second };
    struct weir_exchange_request request = { .method = "POST", .target = "/late" };
    setup(answer_late);
    weir_transport_send(client.transport, &request, copy_answer, &first);
    client_until(&client, origin_counts(origin).requests == 1);
    weir_loop_post(client.loop, &second.task);
    client_until(&client, first.done && second.got.done);
    assert_complete(first, 204);
    assert_complete(second.got, 204);
    ck_assert_uint_eq(origin_counts(origin).connections, 2);
    teardown();
}
END_TEST

/* --- answers too early ------------------------------------------------------------------------ */

/* A thousand bytes are heard; where the rest goes there is no room for it. */
static struct got ask_early(const char *answer)
{
    static char body[15 * 1024 * 1024];
    char url[64];
    origin = origin_new(&(struct origin_options){
        .answers = &answer, .answer_count = 1, .early = true, .early_body_bytes = 1000 });
    struct toxic *toxic = toxic_new(origin_port(origin));
    toxic_set(toxic, (struct toxic_script){ .up = { .end = TOXIC_STALL, .end_at = 100000 } });
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    client_init(&client, url);
    struct got got = client_ask_within(&client, "POST", "/", weir_str(body, sizeof(body)),
                                       (struct weir_http_options){ 0 });
    ck_assert_uint_eq(client.transport->idle_count, 0);
    ck_assert(got.sent && !got.sent_us);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
    return got;
}

START_TEST(a_success_before_all_of_it_was_sent_is_none)
{
    static const char *const successes[] = { NO_CONTENT,
                                             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" };
    for (size_t i = 0; i < COUNT(successes); i++) {
        struct got got = ask_early(successes[i]);
        assert_ending(got, WEIR_ENDING_BROKEN);
        ck_assert_str_eq(got.detail, "answered before all of it was sent");
        ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    }
}
END_TEST

START_TEST(a_refusal_before_all_of_it_was_sent_is_one)
{
    struct got got = ask_early("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    assert_complete(got, 413);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("wires");
    suite_add(&s, one_that_was_idle_for_too_long_is_not_used_again);
    suite_add(&s, no_more_than_a_number_of_them_wait);
    suite_add(&s, one_that_has_ended_costs_no_request);
    suite_add_loop(&s, "one_that_speaks_before_it_is_asked_gives_no_answer",
                   one_that_speaks_before_it_is_asked_gives_no_answer, 2);
    suite_add(&s, one_in_use_is_not_taken_for_dead_when_another_is_made);
    suite_add(&s, a_success_before_all_of_it_was_sent_is_none);
    suite_add(&s, a_refusal_before_all_of_it_was_sent_is_one);
    return suite_run(&s);
}
