/* SPDX-License-Identifier: MIT */
/* The blocking, thread-safe face of the pool; run under ThreadSanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "base/rng.h"
#include "support/rig.h"
#include "support/suite.h"
#include "weir/weir.h"

#define THREADS 8

static struct weir_options options;
static struct weir_connection_options connections[3] = { { .name = "AppUser1" },
                                                         { .name = "AppUser2" },
                                                         { .name = "AppUser3" } };

static struct weir_pool *make_pool(size_t count, int level, const struct weir_log_sink *sink)
{
    struct weir_pool *pool = NULL;
    struct weir_error err;
    options.connections = connections;
    options.connection_count = count;
    options.adaptive_rate.policy = "Fixed";
    options.adaptive_rate.fixed_parallelism = level;
    ck_assert_msg(weir_pool_new(&options, sink, &pool, &err) == WEIR_OK, "%s", err.message);
    return pool;
}

static void setup(void)
{
    weir_options_defaults(&options);
    options.pool.selection_strategy = "ThrottleAware";
    options.resilience.retry_after_buffer_us = 0;
}

static struct weir_lease acquire(struct weir_pool *pool)
{
    struct weir_lease lease = { 0 };
    struct weir_error err;
    enum weir_status status = weir_pool_acquire(pool, NULL, &lease, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return lease;
}

static void release(struct weir_pool *pool, struct weir_lease lease, struct weir_answer answer)
{
    ck_assert_int_eq(weir_pool_release(pool, &lease, &answer), WEIR_OK);
}

/* --- eight threads ---------------------------------------------------------------------------- */

struct hammer {
    struct weir_pool *pool;
    uint64_t seed;
    int rounds;
    atomic_uint *in_flight; /* per connection */
    atomic_uint *violations;
    atomic_ulong *throttles;
    atomic_ulong *served;
};

static struct weir_answer random_answer(struct weir_rng *rng)
{
    uint64_t draw = weir_rng_below(rng, 100);
    if (draw < 3)
        return answer_throttle(1 + (int64_t)weir_rng_below(rng, 2000)); /* up to 2 ms */
    if (draw < 6)
        return answer_of_class(WEIR_CLASS_UNSENT);
    if (draw < 9)
        return answer_of_class(WEIR_CLASS_BAD_ROWS);
    return answer_ok(MS(1));
}

static void *hammer(void *argument)
{
    struct hammer *it = argument;
    struct weir_rng rng;
    weir_rng_init(&rng, it->seed, 0);
    for (int i = 0; i < it->rounds;) {
        struct weir_lease lease;
        struct weir_error err;
        if (weir_pool_acquire(it->pool, NULL, &lease, &err) != WEIR_OK) {
            atomic_fetch_add(it->violations, 1);
            return NULL;
        }
        struct weir_answer answer = random_answer(&rng);
        if (weir_pool_begin(it->pool, &lease, &err) != WEIR_OK)
            continue; /* given back unsent: throttled or set aside since the grant */
        if (atomic_fetch_add(&it->in_flight[lease.connection], 1) >= 2)
            atomic_fetch_add(it->violations, 1);
        if (answer.verdict.class_ == WEIR_CLASS_THROTTLE)
            atomic_fetch_add(it->throttles, 1);
        if (answer.verdict.class_ != WEIR_CLASS_UNSENT)
            atomic_fetch_add(it->served, 1);
        atomic_fetch_sub(&it->in_flight[lease.connection], 1);
        if (weir_pool_release(it->pool, &lease, &answer) != WEIR_OK)
            atomic_fetch_add(it->violations, 1);
        struct weir_pool_stats stats;
        weir_pool_stats(it->pool, &stats);
        i++;
    }
    return NULL;
}

static void count_record(void *ctx, const struct weir_log_record *record)
{
    char line[512];
    weir_log_format_json(record, line, sizeof(line));
    atomic_fetch_add((atomic_ulong *)ctx, 1);
}

START_TEST(eight_threads_hammer_the_pool_without_a_race_a_lost_wake_up_or_starvation)
{
    setup();
    atomic_ulong records = 0;
    struct weir_log_sink sink = { WEIR_LOG_TRACE, count_record, &records };
    struct weir_pool *pool = make_pool(3, 2, &sink);
    atomic_uint in_flight[3] = { 0 };
    atomic_uint violations = 0;
    atomic_ulong throttles = 0;
    atomic_ulong served = 0;
    struct hammer hammers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        hammers[i] =
            (struct hammer){ pool, (uint64_t)i, 2000, in_flight, &violations, &throttles, &served };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, &hammers[i]), 0);
    }
    /* Meanwhile somebody looks, hints and sets aside. */
    for (int i = 0; i < 200; i++) {
        struct weir_adaptive_rate_stats stats;
        ck_assert_int_eq(weir_pool_rate_stats(pool, "AppUser2", &stats), WEIR_OK);
        weir_pool_hint(pool, "AppUser1", 1 + i % 52);
        weir_pool_set_aside(pool, "AppUser3");
        weir_pool_clear_throttle(pool, "AppUser1");
        weir_pool_restore(pool, "AppUser3");
    }
    for (int i = 0; i < THREADS; i++) /* every thread comes home: nobody was forgotten */
        pthread_join(threads[i], NULL);
    struct weir_pool_stats stats;
    weir_pool_stats(pool, &stats);
    ck_assert_uint_eq(atomic_load(&violations), 0);
    ck_assert_uint_ge(atomic_load(&records), atomic_load(&throttles));
    ck_assert_uint_eq(stats.active_leases, 0);
    ck_assert_uint_eq(stats.waiters, 0);
    ck_assert_uint_eq(stats.total_throttle_events, atomic_load(&throttles));
    ck_assert_uint_eq(stats.requests_served, atomic_load(&served));
    weir_pool_free(pool);
}
END_TEST

/* Each thread hands the one lease on as soon as it has it: with a wake-up lost, somebody sleeps on.
 */
struct relay {
    struct weir_pool *pool;
    atomic_uint *turns;
};

static void *run_relay(void *argument)
{
    struct relay *relay = argument;
    for (int i = 0; i < 3000; i++) {
        struct weir_lease lease;
        if (weir_pool_acquire(relay->pool, NULL, &lease, NULL) != WEIR_OK)
            return NULL;
        struct weir_answer answer = answer_ok(1);
        weir_pool_release(relay->pool, &lease, &answer);
        atomic_fetch_add(relay->turns, 1);
    }
    return NULL;
}

START_TEST(one_slot_is_handed_from_thread_to_thread_without_a_lost_wake_up)
{
    setup();
    struct weir_pool *pool = make_pool(1, 1, NULL);
    atomic_uint turns = 0;
    struct relay relay = { pool, &turns };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_relay, &relay), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(atomic_load(&turns), THREADS * 3000);
    weir_pool_free(pool);
}
END_TEST

/* --- refusals from waiting -------------------------------------------------------------------- */

struct wait {
    struct weir_pool *pool;
    struct weir_ask ask;
    enum weir_status status;
    struct weir_error err;
};

static void *wait_for_lease(void *argument)
{
    struct wait *wait = argument;
    struct weir_lease lease;
    wait->status = weir_pool_acquire(wait->pool, &wait->ask, &lease, &wait->err);
    return NULL;
}

static void until_waiting(struct weir_pool *pool, uint32_t count)
{
    struct weir_pool_stats stats;
    do
        weir_pool_stats(pool, &stats);
    while (stats.waiters != count);
}

START_TEST(shutdown_wakes_every_waiter_and_free_waits_until_they_have_left)
{
    setup();
    struct weir_pool *pool = make_pool(1, 1, NULL);
    acquire(pool);
    struct wait waits[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        waits[i] = (struct wait){ .pool = pool };
        pthread_create(&threads[i], NULL, wait_for_lease, &waits[i]);
    }
    until_waiting(pool, THREADS);
    weir_pool_free(pool);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(waits[i].status, WEIR_E_SHUTDOWN);
        ck_assert(!waits[i].err.retryable);
    }
}
END_TEST

START_TEST(cancelling_by_tag_wakes_those_and_nobody_else)
{
    setup();
    struct weir_pool *pool = make_pool(1, 1, NULL);
    struct weir_lease lease = acquire(pool);
    struct wait waits[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        waits[i] = (struct wait){ .pool = pool, .ask = { .cancel_tag = i < 3 ? 7 : 8 } };
        pthread_create(&threads[i], NULL, wait_for_lease, &waits[i]);
    }
    until_waiting(pool, 4);
    ck_assert_uint_eq(weir_pool_cancel(pool, 0), 0);
    ck_assert_uint_eq(weir_pool_cancel(pool, 99), 0);
    ck_assert_uint_eq(weir_pool_cancel(pool, 7), 3);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(waits[i].status, WEIR_E_CANCELLED);
    }
    release(pool, lease, answer_ok(1));
    pthread_join(threads[3], NULL);
    ck_assert_int_eq(waits[3].status, WEIR_OK);
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_slot_that_does_not_come_free_is_pool_exhausted)
{
    setup();
    options.pool.acquire_timeout_us = MS(2);
    struct weir_pool *pool = make_pool(1, 1, NULL);
    acquire(pool);
    struct weir_lease lease;
    struct weir_error err;
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &lease, &err), WEIR_E_POOL_EXHAUSTED);
    ck_assert_int_eq(weir_pool_try_acquire(pool, NULL, &lease, &err), WEIR_E_WOULD_WAIT);
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_throttle_is_waited_for_and_a_wait_beyond_the_tolerance_is_refused)
{
    setup();
    options.pool.acquire_timeout_us = MS(1); /* does not run while waiting for a throttle */
    options.pool.max_retry_after_tolerance_us = SECONDS(30);
    struct weir_pool *pool = make_pool(1, 4, NULL);
    release(pool, acquire(pool), answer_throttle(MS(30)));
    int64_t remaining_us;
    weir_pool_is_throttled(pool, "AppUser1", &remaining_us);
    int64_t before = weir_clock_now_us();
    struct weir_lease lease = acquire(pool);
    ck_assert(weir_clock_now_us() - before > 0);
    release(pool, lease, answer_throttle(SECONDS(60)));
    ck_assert(weir_pool_is_throttled(pool, "AppUser1", &remaining_us));
    ck_assert(remaining_us > SECONDS(30) && remaining_us <= SECONDS(61));
    struct weir_error err;
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &lease, &err), WEIR_E_SERVICE_PROTECTION);
    ck_assert_str_eq(err.connection, "AppUser1");
    ck_assert_uint_eq(err.service_code, 0x80072322);
    ck_assert(err.retry_after_us > SECONDS(30));
    weir_pool_free(pool);
}
END_TEST

START_TEST(the_throttled_are_named_and_the_shortest_expiry_is_told)
{
    setup();
    struct weir_pool *pool = make_pool(3, 2, NULL);
    const char *names[3];
    ck_assert_uint_eq(weir_pool_throttled_connections(pool, names, 3), 0);
    ck_assert(weir_pool_shortest_expiry_us(pool) == 0);
    struct weir_lease first = acquire(pool);
    struct weir_lease second = acquire(pool);
    struct weir_lease third = acquire(pool);
    release(pool, third, answer_throttle(SECONDS(60)));
    release(pool, first, answer_throttle(SECONDS(600)));
    release(pool, second, answer_ok(1));
    ck_assert_uint_eq(weir_pool_throttled_connections(pool, names, 3), 2);
    ck_assert_str_eq(names[0], first.connection_name);
    ck_assert_str_eq(names[1], third.connection_name);
    ck_assert_uint_eq(weir_pool_throttled_connections(pool, names, 1), 1);
    int64_t wait_us = weir_pool_shortest_expiry_us(pool);
    ck_assert(wait_us > 0 && wait_us <= SECONDS(60));
    weir_pool_free(pool);
}
END_TEST

START_TEST(names_that_nobody_has_are_not_found)
{
    setup();
    struct weir_pool *pool = make_pool(1, 4, NULL);
    struct weir_adaptive_rate_stats stats;
    ck_assert_int_eq(weir_pool_rate_stats(pool, "Nobody", &stats), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_pool_set_aside(pool, "Nobody"), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_pool_restore(pool, "Nobody"), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_pool_reset(pool, "Nobody"), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_pool_clear_throttle(pool, "Nobody"), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_pool_hint(pool, "Nobody", 4), WEIR_E_NOT_FOUND);
    ck_assert(!weir_pool_is_throttled(pool, "Nobody", NULL));
    weir_pool_free(pool);
    weir_pool_free(NULL);
}
END_TEST

START_TEST(a_stale_lease_says_so_and_has_been_given_back)
{
    setup();
    struct weir_pool *pool = make_pool(1, 2, NULL);
    struct weir_lease a = acquire(pool);
    struct weir_lease b = acquire(pool);
    release(pool, a, answer_throttle(SECONDS(30)));
    struct weir_error err;
    ck_assert_int_eq(weir_pool_begin(pool, &b, &err), WEIR_E_STALE_LEASE);
    ck_assert_str_eq(err.message, "the lease on \"AppUser1\" is no longer good: acquire another");
    struct weir_answer answer = answer_ok(1);
    ck_assert_int_eq(weir_pool_release(pool, &b, &answer), WEIR_E_STALE_LEASE);
    weir_pool_free(pool);
}
END_TEST

/* --- nobody waits for the timekeeper's timer ---------------------------------------------------
 */

static uint32_t waiters(struct weir_pool *pool)
{
    struct weir_pool_stats stats;
    weir_pool_stats(pool, &stats);
    return stats.waiters;
}

/* After each call that makes room (or makes waiting senseless) the waiter has been served when the
 * call returns, not at the next tick of a timer. */
START_TEST(whatever_makes_room_serves_the_waiter_before_it_returns)
{
    for (int what = 0; what < 7; what++) {
        setup();
        struct weir_pool *pool = make_pool(2, 1, NULL);
        struct weir_lease a = acquire(pool);
        struct weir_lease b = acquire(pool);
        if (what == 1 || what == 2)
            weir_pool_set_aside(pool, b.connection_name);
        if (what == 3)
            release(pool, a, answer_throttle(MINUTES(5)));
        struct wait wait = { .pool = pool, .ask = { .cancel_tag = 5 } };
        pthread_t thread;
        pthread_create(&thread, NULL, wait_for_lease, &wait);
        until_waiting(pool, 1);
        struct weir_answer ok = answer_ok(1);
        struct weir_error err;
        if (what == 0) {
            weir_pool_release(pool, &a, &ok);
        } else if (what == 1) { /* stale: set aside since the grant, so it goes back unsent */
            weir_pool_restore(pool, b.connection_name);
            ck_assert_uint_eq(waiters(pool), 1);
            ck_assert_int_eq(weir_pool_begin(pool, &b, &err), WEIR_E_STALE_LEASE);
        } else if (what == 2) {
            weir_pool_set_aside(pool, a.connection_name); /* nobody is left */
        } else if (what == 3) {
            weir_pool_clear_throttle(pool, a.connection_name);
        } else if (what == 4) {
            weir_pool_cancel(pool, 5);
        } else if (what == 5) {
            weir_pool_shutdown(pool);
        } else {
            weir_pool_release(pool, &b, &ok);
        }
        ck_assert_msg(waiters(pool) == 0, "call %d", what);
        pthread_join(thread, NULL);
        const enum weir_status expected[] = { WEIR_OK, WEIR_OK,          WEIR_E_NO_CONNECTION,
                                              WEIR_OK, WEIR_E_CANCELLED, WEIR_E_SHUTDOWN,
                                              WEIR_OK };
        ck_assert_int_eq(wait.status, expected[what]);
        weir_pool_free(pool);
    }
}
END_TEST

START_TEST(a_hint_serves_the_waiter_before_it_returns)
{
    setup();
    struct weir_pool *pool = NULL;
    options.connections = connections;
    options.connection_count = 1;
    options.adaptive_rate.policy = "Dop";
    ck_assert_int_eq(weir_pool_new(&options, NULL, &pool, NULL), WEIR_OK);
    for (int i = 0; i < 4; i++)
        acquire(pool);
    struct wait wait = { .pool = pool };
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_lease, &wait);
    until_waiting(pool, 1);
    ck_assert_int_eq(weir_pool_hint(pool, "AppUser1", 5), WEIR_OK);
    ck_assert_uint_eq(waiters(pool), 0);
    pthread_join(thread, NULL);
    weir_pool_free(pool);
}
END_TEST

/* --- the sink ----------------------------------------------------------------------------------
 */

struct gate {
    struct weir_pool *pool;
    sem_t entered;
    sem_t go_on;
};

static void stop_at_reopening(void *ctx, const struct weir_log_record *record)
{
    struct gate *gate = ctx;
    struct weir_pool_stats stats;
    weir_pool_stats(gate->pool, &stats); /* would lock up if the sink were called under the lock */
    if (strcmp(record->event, "reopened") != 0)
        return;
    sem_post(&gate->entered);
    sem_wait(&gate->go_on);
    ck_assert_str_eq(record->fields[0].text, "AppUser1"); /* the pool's memory */
}

static atomic_bool freed;

static void *free_pool(void *argument)
{
    weir_pool_free(argument);
    atomic_store(&freed, true);
    return NULL;
}

START_TEST(free_waits_for_a_waiter_that_is_still_writing_to_the_log)
{
    setup();
    struct gate gate = { 0 };
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.go_on, 0, 0);
    struct weir_log_sink sink = { WEIR_LOG_DEBUG, stop_at_reopening, &gate };
    struct weir_pool *pool = make_pool(1, 2, &sink);
    gate.pool = pool;
    release(pool, acquire(pool), answer_throttle(MS(20)));
    struct wait wait = { .pool = pool };
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait_for_lease, &wait);
    sem_wait(&gate.entered);
    pthread_t freeing;
    pthread_create(&freeing, NULL, free_pool, pool);
    for (int i = 0; i < 20000; i++) {
        sched_yield();
        must(!atomic_load(&freed));
    }
    sem_post(&gate.go_on);
    pthread_join(waiter, NULL);
    pthread_join(freeing, NULL);
    ck_assert_int_eq(wait.status, WEIR_OK);
    ck_assert(atomic_load(&freed));
}
END_TEST

/* --- the log ---------------------------------------------------------------------------------- */

struct lines {
    char text[16][512];
    int count;
};

static void keep_line(void *ctx, const struct weir_log_record *record)
{
    struct lines *lines = ctx;
    if (lines->count < 16)
        weir_log_format_text(record, lines->text[lines->count++], sizeof(lines->text[0]));
}

START_TEST(every_step_of_a_throttle_is_logged_with_its_fields)
{
    setup();
    struct lines lines = { 0 };
    struct weir_log_sink sink = { WEIR_LOG_DEBUG, keep_line, &lines };
    options.resilience.retry_after_buffer_us = SECONDS(1);
    struct weir_pool *pool = make_pool(2, 2, &sink);
    struct weir_ask ask = { .attempt = 1, .attempt_max = 3 };
    struct weir_lease a;
    struct weir_lease b;
    ck_assert_int_eq(weir_pool_acquire(pool, &ask, &a, NULL), WEIR_OK);
    ck_assert_int_eq(weir_pool_acquire(pool, &ask, &b, NULL), WEIR_OK);
    struct weir_answer first = answer_throttle(SECONDS(30));
    first.verdict.limit.value = 6000;
    release(pool, a, first);
    struct weir_answer second = answer_throttle(SECONDS(10));
    second.verdict.retry_after_fallback = true;
    release(pool, b, second);
    ck_assert_int_eq(lines.count, 5);
    ck_assert_str_eq(
        lines.text[0],
        "warning service protection limit hit Connection=AppUser1 ErrorCode=0x80072322 "
        "RetryAfter=30.000s Attempt=1 MaxRetries=3 Kind=requests Limit=6000");
    ck_assert_str_eq(lines.text[1], "debug   other connections are available, retrying at once on "
                                    "another one Connection=AppUser1");
    ck_assert_ptr_nonnull(strstr(lines.text[2], "Connection=AppUser2"));
    ck_assert_str_eq(lines.text[3], "warning throttled without a usable Retry-After, using the "
                                    "fallback Connection=AppUser2 Fallback=10.000s");
    ck_assert_ptr_nonnull(strstr(lines.text[4], "info    all connections are throttled, waiting"));
    ck_assert_ptr_nonnull(strstr(lines.text[4], "WaitTime=11."));
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_sink_gets_only_the_levels_that_it_wants)
{
    setup();
    struct lines lines = { 0 };
    struct weir_log_sink sink = { WEIR_LOG_WARNING, keep_line, &lines };
    struct weir_pool *pool = make_pool(2, 2, &sink);
    release(pool, acquire(pool), answer_throttle(SECONDS(30)));
    ck_assert_int_eq(lines.count, 1);
    weir_pool_set_aside(pool, "AppUser2");
    weir_pool_restore(pool, "AppUser2");
    ck_assert_int_eq(lines.count, 2);
    ck_assert_str_eq(lines.text[1], "warning connection set aside Connection=AppUser2");
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_change_of_level_is_logged_at_debug)
{
    setup();
    struct lines lines = { 0 };
    struct weir_log_sink sink = { WEIR_LOG_DEBUG, keep_line, &lines };
    struct weir_pool *pool = NULL;
    options.connections = connections;
    options.connection_count = 1;
    options.adaptive_rate.policy = "Aimd";
    ck_assert_int_eq(weir_pool_new(&options, &sink, &pool, NULL), WEIR_OK);
    ck_assert_int_eq(weir_pool_hint(pool, "AppUser1", 52), WEIR_OK);
    acquire(pool);
    ck_assert_int_eq(lines.count, 1);
    ck_assert_str_eq(lines.text[0],
                     "debug   adaptive rate changed Connection=AppUser1 Current=26 Max=52 "
                     "SuccessesSinceThrottle=0 TotalThrottleEvents=0 BoundBy=aimd");
    weir_pool_free(pool);
}
END_TEST

#define MANY 20

static atomic_int reopened[MANY];

static void count_reopened(void *ctx, const struct weir_log_record *record)
{
    char text[512];
    (void)ctx;
    if (strcmp(record->event, "reopened") != 0)
        return;
    weir_log_format_text(record, text, sizeof(text));
    const char *name = strstr(text, "Connection=AppUser");
    must(name);
    atomic_fetch_add(&reopened[strtol(name + strlen("Connection=AppUser"), NULL, 10) - 1], 1);
}

static struct weir_pool *make_pool_of_many(const struct weir_log_sink *sink)
{
    static char names[MANY][16];
    struct weir_connection_options many[MANY] = { 0 };
    struct weir_pool *pool = NULL;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "AppUser%d", i + 1);
        many[i].name = names[i];
    }
    options.connections = many;
    options.connection_count = MANY;
    options.adaptive_rate.policy = "Fixed";
    options.adaptive_rate.fixed_parallelism = 1;
    ck_assert_int_eq(weir_pool_new(&options, sink, &pool, NULL), WEIR_OK);
    return pool;
}

/* Taking turns, all wait for the first connection, and with it all the others are used again. */
START_TEST(more_steps_at_once_than_fit_one_list_are_all_logged)
{
    struct weir_log_sink sink = { WEIR_LOG_DEBUG, count_reopened, NULL };
    struct weir_lease leases[MANY];
    struct wait waits[MANY];
    pthread_t threads[MANY];
    setup();
    options.pool.selection_strategy = "RoundRobin";
    struct weir_pool *pool = make_pool_of_many(&sink);
    for (int i = 0; i < MANY; i++)
        leases[i] = acquire(pool);
    for (int i = 0; i < MANY; i++) {
        release(pool, leases[i], answer_throttle(MINUTES(5)));
        atomic_store(&reopened[i], 0);
    }
    for (int i = 0; i < MANY; i++) {
        waits[i] = (struct wait){ .pool = pool };
        pthread_create(&threads[i], NULL, wait_for_lease, &waits[i]);
    }
    until_waiting(pool, MANY);
    for (int i = 1; i < MANY; i++)
        weir_pool_clear_throttle(pool, leases[i].connection_name);
    ck_assert_uint_eq(waiters(pool), MANY);
    weir_pool_clear_throttle(pool, leases[0].connection_name);
    ck_assert_uint_eq(waiters(pool), 0);
    for (int i = 0; i < MANY; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(waits[i].status, WEIR_OK);
    }
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(atomic_load(&reopened[i]), 1);
    weir_pool_free(pool);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("blocking");
    suite_add(&s, eight_threads_hammer_the_pool_without_a_race_a_lost_wake_up_or_starvation);
    suite_add(&s, one_slot_is_handed_from_thread_to_thread_without_a_lost_wake_up);
    suite_add(&s, shutdown_wakes_every_waiter_and_free_waits_until_they_have_left);
    suite_add(&s, cancelling_by_tag_wakes_those_and_nobody_else);
    suite_add(&s, a_slot_that_does_not_come_free_is_pool_exhausted);
    suite_add(&s, a_throttle_is_waited_for_and_a_wait_beyond_the_tolerance_is_refused);
    suite_add(&s, the_throttled_are_named_and_the_shortest_expiry_is_told);
    suite_add(&s, names_that_nobody_has_are_not_found);
    suite_add(&s, a_stale_lease_says_so_and_has_been_given_back);
    suite_add(&s, whatever_makes_room_serves_the_waiter_before_it_returns);
    suite_add(&s, a_hint_serves_the_waiter_before_it_returns);
    suite_add(&s, free_waits_for_a_waiter_that_is_still_writing_to_the_log);
    suite_add(&s, every_step_of_a_throttle_is_logged_with_its_fields);
    suite_add(&s, a_sink_gets_only_the_levels_that_it_wants);
    suite_add(&s, a_change_of_level_is_logged_at_debug);
    suite_add(&s, more_steps_at_once_than_fit_one_list_are_all_logged);
    return suite_run(&s);
}
