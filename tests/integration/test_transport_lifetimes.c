/* SPDX-License-Identifier: MIT */
/*
 * Exchanges are sent, cancelled and freed from anywhere, also from within each other's `done`, and
 * everybody hears of his own exactly once.
 */
#include "base/rng.h"
#include "support/exchange.h"
#include "support/origin.h"

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

static struct origin *origin;
static struct client client;

static void setup(origin_script *script)
{
    origin = origin_new(&(struct origin_options){ .script = script });
    client_init(&client, origin_url(origin));
}

static void teardown(void)
{
    client_release(&client);
    origin_free(origin);
}

/* --- cancelling ------------------------------------------------------------------------------- */

#define CROWD 60

struct fellow {
    struct got got;
    struct weir_exchange *exchange;
    bool cancelled;
};

/* Some are stalled, some answered in parts, some at once. */
static void answer_unevenly(void *ctx, const struct origin_request *request,
                            struct origin_answer *answer)
{
    (void)ctx;
    switch (request->target[1]) {
    case 's':
        answer->then = ORIGIN_STALL;
        break;
    case 'p':
        weir_buf_add_text(&answer->bytes, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234");
        answer->then = ORIGIN_STALL;
        break;
    default:
        weir_buf_add_text(&answer->bytes, NO_CONTENT);
    }
}

static void send_fellow(struct fellow *fellow, const char *target)
{
    struct weir_exchange_request request = { .method = "POST", .target = target };
    *fellow = (struct fellow){ 0 };
    fellow->exchange = weir_transport_send(client.transport, &request, copy_answer, &fellow->got);
}

static bool all_done(const struct fellow *fellows)
{
    for (int i = 0; i < CROWD; i++) {
        if (!fellows[i].got.done)
            return false;
    }
    return true;
}

/* After any number of turns, so in any phase; everybody hears of it once, the others are answered.
 */
START_TEST(an_exchange_may_be_cancelled_in_any_phase)
{
    static const char *const targets[] = { "/stalled", "/part", "/at-once" };
    static struct fellow fellows[CROWD];
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup(answer_unevenly);
    for (int i = 0; i < CROWD; i++)
        send_fellow(&fellows[i], targets[i % 3]);
    for (int i = 0; i < CROWD; i++) {
        for (uint64_t turns = weir_rng_below(&rng, 3); turns; turns--)
            weir_loop_turn(client.loop, 0);
        struct fellow *fellow = &fellows[weir_rng_below(&rng, CROWD)];
        if (fellow->got.done || fellow->cancelled)
            continue;
        weir_exchange_cancel(fellow->exchange);
        must(!fellow->got.done); /* never within the call */
        fellow->cancelled = true;
        weir_loop_turn(client.loop, 0);
        must(fellow->got.done);
    }
    for (int i = 0; i < CROWD; i++) { /* nobody else would ever end these */
        if (i % 3 < 2 && !fellows[i].got.done && !fellows[i].cancelled) {
            weir_exchange_cancel(fellows[i].exchange);
            fellows[i].cancelled = true;
        }
    }
    client_until(&client, all_done(fellows));
    for (int i = 0; i < CROWD; i++) {
        struct got *got = &fellows[i].got;
        assert_ending(*got, fellows[i].cancelled ? WEIR_ENDING_CANCELLED : WEIR_ENDING_COMPLETE);
        ck_assert(!fellows[i].cancelled || strcmp(got->detail, "cancelled") == 0);
    }
    assert_complete(client_ask(&client, "GET", "/next", NULL), 204);
    teardown();
}
END_TEST

static struct fellow others[CROWD];
static int heard_count;

static void cancel_the_others(void *ctx, const struct weir_exchange_answer *answer)
{
    copy_answer(ctx, answer);
    for (int i = 0; i < CROWD; i++)
        weir_exchange_cancel(others[i].exchange);
    for (int i = 0; i < CROWD; i++)
        must(!others[i].got.done);
    heard_count++;
}

START_TEST(done_may_cancel_the_others)
{
    struct got got = { 0 };
    setup(answer_unevenly);
    for (int i = 0; i < CROWD; i++)
        send_fellow(&others[i], i % 2 ? "/stalled" : "/part");
    struct weir_exchange_request request = { .method = "GET", .target = "/at-once" };
    weir_transport_send(client.transport, &request, cancel_the_others, &got);
    client_until(&client, all_done(others));
    for (int i = 0; i < CROWD; i++)
        assert_ending(others[i].got, WEIR_ENDING_CANCELLED);
    teardown();
}
END_TEST

/* --- freeing ---------------------------------------------------------------------------------- */

START_TEST(freeing_ends_what_is_under_way_before_it_returns)
{
    for (int turns = 0; turns < 12; turns++) {
        setup(answer_unevenly);
        for (int i = 0; i < CROWD; i++)
            send_fellow(&others[i], i % 2 ? "/stalled" : "/part");
        for (int i = 0; i < turns; i++)
            weir_loop_turn(client.loop, MS(1));
        weir_exchange_cancel(others[0].exchange);
        weir_transport_free(client.transport);
        for (int i = 0; i < CROWD; i++)
            assert_ending(others[i].got, WEIR_ENDING_CANCELLED);
        weir_loop_turn(client.loop, 0);
        client.transport = NULL;
        teardown();
    }
}
END_TEST

static struct got again;
static int sent_while_freeing;

static void send_while_freeing(void *ctx, const struct weir_exchange_answer *answer)
{
    struct weir_exchange_request request = { .method = "POST", .target = "/at-once" };
    copy_answer(ctx, answer);
    if (sent_while_freeing++ == 0)
        weir_transport_send(client.transport, &request, copy_answer, &again);
}

/* There is an open connection that it could take. */
START_TEST(what_is_sent_while_it_is_freed_is_not_sent)
{
    struct got got = { 0 };
    struct weir_exchange_request request = { .method = "POST", .target = "/stalled" };
    setup(answer_unevenly);
    weir_transport_send(client.transport, &request, send_while_freeing, &got);
    assert_complete(client_ask(&client, "POST", "/at-once", "{}"), 204);
    client_until(&client, origin_counts(origin).requests == 2);
    weir_transport_free(client.transport);
    client.transport = NULL;
    assert_ending(got, WEIR_ENDING_CANCELLED);
    assert_ending(again, WEIR_ENDING_CANCELLED);
    ck_assert(got.sent && !again.sent);
    ck_assert_uint_eq(origin_counts(origin).requests, 2);
    teardown();
}
END_TEST

static void free_all(void *ctx, const struct weir_exchange_answer *answer)
{
    weir_transport_free(client.transport);
    client.transport = NULL;
    must(all_done(others));
    copy_answer(ctx, answer); /* still alive */
}

/* The one that is answered frees it from within; so does one that times out, and one refused. */
START_TEST(done_may_free_the_transport)
{
    static const char *const targets[] = { "/at-once", "/stalled", "no path" };
    for (size_t i = 0; i < COUNT(targets); i++) {
        struct got got = { 0 };
        setup(answer_unevenly);
        for (int k = 0; k < CROWD; k++)
            send_fellow(&others[k], k % 2 ? "/stalled" : "/part");
        struct weir_exchange_request request = { .method = "GET",
                                                 .target = targets[i],
                                                 .http = { .first_byte_timeout_us = MS(50) } };
        weir_transport_send(client.transport, &request, free_all, &got);
        client_until(&client, got.done);
        weir_loop_turn(client.loop, 0);
        teardown();
    }
}
END_TEST

static int chain_left;

static void send_again(void *ctx, const struct weir_exchange_answer *answer)
{
    must(answer->ending == WEIR_ENDING_COMPLETE || answer->ending == WEIR_ENDING_BROKEN);
    heard_count++;
    if (chain_left-- <= 0)
        return;
    struct weir_exchange_request request = { .method = "POST",
                                             .target = chain_left % 7 ? "/" : "no path" };
    weir_transport_send(client.transport, &request, send_again, ctx);
    must(chain_left >= 0);
}

START_TEST(done_may_send_again)
{
    setup(answer_unevenly);
    chain_left = 2000;
    heard_count = 0;
    struct weir_exchange_request request = { .method = "POST", .target = "/" };
    for (int i = 0; i < 5; i++)
        weir_transport_send(client.transport, &request, send_again, NULL);
    client_until(&client, heard_count == 2005);
    struct weir_transport_stats stats = client_stats(&client);
    ck_assert_uint_eq(stats.requests, 2005);
    ck_assert_uint_eq(stats.complete, origin_counts(origin).requests);
    ck_assert_uint_le(stats.connections, 5);
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_lifetimes");
    suite_add_loop(&s, "an_exchange_may_be_cancelled_in_any_phase",
                   an_exchange_may_be_cancelled_in_any_phase, 10);
    suite_add(&s, done_may_cancel_the_others);
    suite_add(&s, freeing_ends_what_is_under_way_before_it_returns);
    suite_add(&s, what_is_sent_while_it_is_freed_is_not_sent);
    suite_add(&s, done_may_free_the_transport);
    suite_add(&s, done_may_send_again);
    return suite_run(&s);
}
