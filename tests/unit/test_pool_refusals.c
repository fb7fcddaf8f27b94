/* SPDX-License-Identifier: MIT */
/* What a pool refuses, with and without somebody who wants to know why. */
#include "pool/blocking.h"
#include "pool/core_parts.h"
#include "support/rig.h"
#include "support/suite.h"
#include "throttle/breaker.h"
#include "weir/weir.h"

START_TEST(a_connection_without_a_name_makes_no_pool)
{
    static const char *const names[] = { NULL, "" };
    for (int i = 0; i < 2; i++) {
        struct weir_connection_options connection = { .name = names[i] };
        struct weir_options options;
        struct weir_error err = { 0 };
        struct weir_pool *pool = NULL;
        struct weir_core core;
        weir_options_defaults(&options);
        options.connections = &connection;
        options.connection_count = 1;
        ck_assert_int_eq(weir_pool_new(&options, NULL, &pool, &err), WEIR_E_INVALID);
        ck_assert_ptr_null(pool);
        ck_assert_str_eq(err.message, "connection 0 has no name");
        ck_assert_int_eq(weir_core_init(&core, &options, NULL, 1, false, NULL), WEIR_E_INVALID);
    }
}
END_TEST

/* One connection of a pool that may have one request in flight. */
static struct weir_pool *make_pool(struct weir_options *options,
                                   struct weir_connection_options *connection)
{
    struct weir_pool *pool = NULL;
    weir_options_defaults(options);
    *connection = (struct weir_connection_options){ .name = "A" };
    options->connections = connection;
    options->connection_count = 1;
    options->adaptive_rate.policy = "Fixed";
    options->adaptive_rate.fixed_parallelism = 2;
    ck_assert_int_eq(weir_pool_new(options, NULL, &pool, NULL), WEIR_OK);
    return pool;
}

START_TEST(whoever_is_cancelled_before_he_asks_gets_nothing)
{
    struct weir_options options;
    struct weir_connection_options connection;
    struct weir_pool *pool = make_pool(&options, &connection);
    struct weir_lease lease;
    struct weir_error err = { 0 };
    bool cancelled = true;
    ck_assert_int_eq(weir_pool_acquire_unless(pool, NULL, &cancelled, &lease, &err),
                     WEIR_E_CANCELLED);
    ck_assert(!err.retryable);
    cancelled = false;
    ck_assert_int_eq(weir_pool_acquire_unless(pool, NULL, &cancelled, &lease, &err), WEIR_OK);
    struct weir_answer answer = answer_ok(SECONDS(1));
    weir_pool_release(pool, &lease, &answer);
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_lease_that_went_stale_is_refused_whoever_listens)
{
    struct weir_options options;
    struct weir_connection_options connection;
    struct weir_pool *pool = make_pool(&options, &connection);
    struct weir_lease first, second;
    int64_t left_us = 0;
    ck_assert(!weir_pool_is_throttled(pool, "A", &left_us));
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &first, NULL), WEIR_OK);
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &second, NULL), WEIR_OK);
    ck_assert_int_eq(weir_pool_begin(pool, &first, NULL), WEIR_OK);
    struct weir_answer answer = answer_throttle(SECONDS(30));
    weir_pool_release(pool, &first, &answer);
    ck_assert_int_eq(weir_pool_begin(pool, &second, NULL), WEIR_E_STALE_LEASE);
    ck_assert(weir_pool_is_throttled(pool, "A", NULL));
    ck_assert(weir_pool_is_throttled(pool, "A", &left_us));
    ck_assert(left_us > SECONDS(20));
    ck_assert(!weir_pool_is_throttled(pool, "B", &left_us));
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_refusal_is_the_same_whoever_listens)
{
    static const enum weir_status refusals[] = {
        WEIR_E_SERVICE_PROTECTION, WEIR_E_POOL_EXHAUSTED, WEIR_E_NO_CONNECTION,
        WEIR_E_WOULD_WAIT,         WEIR_E_TOO_BIG,        WEIR_E_SHUTDOWN,
        WEIR_E_CANCELLED
    };
    struct rig rig;
    rig_init(&rig, 1);
    rig_start(&rig);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct weir_refusal refusal = { .status = refusals[i], .retry_after_us = SECONDS(3) };
        struct weir_error err = { 0 };
        ck_assert_int_eq(weir_core_explain(&rig.core, &refusal, NULL), refusals[i]);
        ck_assert_int_eq(weir_core_explain(&rig.core, &refusal, &err), refusals[i]);
        ck_assert_int_eq(err.status, refusals[i]);
        ck_assert_int_eq(err.retry_after_us, SECONDS(3));
        bool final = refusals[i] == WEIR_E_SHUTDOWN || refusals[i] == WEIR_E_CANCELLED;
        ck_assert_int_eq(err.retryable, !final);
    }
    rig_release(&rig);
}
END_TEST

START_TEST(a_lease_that_is_not_out_is_left_alone)
{
    struct rig rig;
    rig_init(&rig, 1);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    struct weir_lease strange[3] = { lease, lease, lease };
    strange[0].slot = UINT32_MAX;
    strange[1].serial = 0;
    strange[2].serial += 1000;
    for (int i = 0; i < 3; i++) {
        weir_core_set_attempt(&rig.core, &strange[i], 7);
        ck_assert_int_eq(weir_core_begin(&rig.core, &strange[i], rig.now_us), WEIR_E_STALE_LEASE);
    }
    ck_assert_uint_eq(rig.core.leases.count, 1);
    rig_settle(&rig, lease, answer_ok(SECONDS(1)));
    ck_assert_uint_eq(rig.core.leases.count, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(a_policy_that_keeps_nothing_takes_nothing)
{
    struct rig rig;
    char bytes[8] = "any";
    rig_init(&rig, 1);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 2;
    rig_start(&rig);
    ck_assert(!weir_core_load(&rig.core, 0, bytes, sizeof(bytes), 0, rig.now_us));
    ck_assert_uint_eq(weir_core_save(&rig.core, 0, rig.now_us, bytes, sizeof(bytes)), 0);
    rig_release(&rig);
}
END_TEST

START_TEST(whoever_tries_after_the_end_is_told_so_though_others_wait)
{
    struct rig rig;
    rig_init(&rig, 1);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 1;
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    rig_wait(&rig);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    weir_core_shutdown(&rig.core, rig.now_us);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_SHUTDOWN);
    rig_settle(&rig, lease, answer_ok(SECONDS(1)));
    rig_release(&rig);
}
END_TEST

/* What was open for longer than the probe is let to wait doubles from there; what was not, not. */
START_TEST(a_breaker_that_is_hastened_doubles_from_where_it_was_let_to)
{
    struct weir_breaker breaker = { .open_for_us = SECONDS(60), .until_us = SECONDS(160) };
    ck_assert(weir_breaker_hasten(&breaker, SECONDS(5), SECONDS(100)));
    ck_assert_int_eq(breaker.until_us, SECONDS(105));
    ck_assert_int_eq(breaker.open_for_us, SECONDS(5));
    breaker = (struct weir_breaker){ .open_for_us = SECONDS(2), .until_us = SECONDS(160) };
    ck_assert(weir_breaker_hasten(&breaker, SECONDS(5), SECONDS(100)));
    ck_assert_int_eq(breaker.open_for_us, SECONDS(2));
    ck_assert(!weir_breaker_hasten(&breaker, SECONDS(50), SECONDS(100)));
    breaker = (struct weir_breaker){ .open_for_us = SECONDS(2), .until_us = SECONDS(160) };
    ck_assert(weir_breaker_hasten(&breaker, 0, SECONDS(100)));
    ck_assert_int_eq(breaker.open_for_us, 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool_refusals");
    suite_add(&s, a_connection_without_a_name_makes_no_pool);
    suite_add(&s, whoever_is_cancelled_before_he_asks_gets_nothing);
    suite_add(&s, a_lease_that_went_stale_is_refused_whoever_listens);
    suite_add(&s, a_refusal_is_the_same_whoever_listens);
    suite_add(&s, a_lease_that_is_not_out_is_left_alone);
    suite_add(&s, a_policy_that_keeps_nothing_takes_nothing);
    suite_add(&s, whoever_tries_after_the_end_is_told_so_though_others_wait);
    suite_add(&s, a_breaker_that_is_hastened_doubles_from_where_it_was_let_to);
    return suite_run(&s);
}
