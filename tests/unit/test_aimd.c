/* SPDX-License-Identifier: MIT */
/*
 * The policy Aimd: the tests that the design documents list, the settled script and the ceiling
 * table number for number, and the corrections (C…) that live in the policy.
 */
#include <string.h>

#include "support/rig.h"
#include "support/suite.h"
#include "throttle/policy.h"

#define T0 SECONDS(5000)

/* One policy state, driven by hand. */
static struct weir_options options;
static _Alignas(16) unsigned char state[1024];
static const struct weir_policy *aimd = &weir_policy_aimd;
static int64_t reopens_us;

static void setup_max(int max)
{
    ck_assert_uint_le(aimd->state_bytes, sizeof(state));
    weir_options_defaults(&options);
    reopens_us = WEIR_NEVER;
    aimd->init(state, &options.adaptive_rate);
    aimd->hint(state, max, T0);
}

static int lease(int64_t now_us)
{
    struct weir_ask ask = { 0 };
    struct weir_policy_ask policy_ask = { .ask = &ask };
    struct weir_admission admission;
    aimd->admit(state, &policy_ask, now_us, &admission);
    ck_assert(admission.ok);
    struct weir_policy_lease policy_lease = { .leased_us = now_us };
    aimd->leased(state, &policy_lease, now_us);
    return aimd->level(state);
}

static void tell(struct weir_answer answer, uint64_t epoch, int64_t now_us)
{
    struct weir_policy_lease policy_lease = { .epoch = epoch };
    aimd->answered(state, &policy_lease, &answer, reopens_us, now_us);
}

static void ok_for(int64_t duration_us, int count, int64_t now_us)
{
    for (int i = 0; i < count; i++)
        tell(answer_ok(duration_us), aimd->epoch(state), now_us);
}

static void ok(int count, int64_t now_us)
{
    ok_for(SECONDS(1), count, now_us);
}

static void throttle(int64_t retry_after_us, int64_t now_us)
{
    tell(answer_throttle(retry_after_us), aimd->epoch(state), now_us);
}

static struct weir_adaptive_rate_stats snapshot(int64_t now_us)
{
    struct weir_adaptive_rate_stats stats;
    memset(&stats, 0, sizeof(stats));
    aimd->stats(state, now_us, &stats);
    return stats;
}

/* Climb by successes until the level is reached. Returns the time. */
static int64_t climb_to(int level, int64_t now_us)
{
    while (aimd->level(state) < level) {
        now_us += SECONDS(5);
        ok(3, now_us);
    }
    ck_assert_int_eq(aimd->level(state), level);
    return now_us;
}

/* --- the unit tests of the design document, by their names ------------------------------------ */

START_TEST(initialization_is_a_factor_of_max)
{
    const struct {
        int max;
        double factor;
        int min;
        int level;
    } rows[] = {
        { 52, 0.5, 1, 26 },  { 5, 0.5, 1, 2 },  { 1, 0.5, 1, 1 },  { 10, 0.3, 1, 3 },
        { 52, 1.0, 1, 52 },  { 4, 0.5, 10, 4 }, { 52, 0.1, 8, 8 }, { 3, 0.1, 1, 1 },
        { 50, 0.58, 1, 29 }, /* 50 × 0.58 is a hair below 29 in binary */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup_max(rows[i].max);
        options.adaptive_rate.initial_parallelism_factor = rows[i].factor;
        options.adaptive_rate.min_parallelism = rows[i].min;
        ck_assert_int_eq(lease(T0), rows[i].level);
        ck_assert_int_eq(snapshot(T0).last_known_good_parallelism, rows[i].level);
        ck_assert_int_eq(snapshot(T0).max_parallelism, rows[i].max);
    }
}
END_TEST

START_TEST(increase_logic_needs_stabilization_batches_and_the_interval)
{
    setup_max(52);
    lease(T0);
    ok(50, T0 + SECONDS(5) - 1); /* many batches, too early */
    ck_assert_int_eq(aimd->level(state), 26);
    ok(1, T0 + SECONDS(5)); /* now both hold */
    ck_assert_int_eq(aimd->level(state), 28);
    ck_assert_int_eq(snapshot(T0).successes_since_throttle, 0);
    ck_assert(snapshot(T0).last_increase_time_us == T0 + SECONDS(5));
    ok(2, T0 + SECONDS(60)); /* late enough, too few */
    ck_assert_int_eq(aimd->level(state), 28);
    ok(1, T0 + SECONDS(60));
    ck_assert_int_eq(aimd->level(state), 30);
}
END_TEST

START_TEST(decrease_logic_is_multiplicative)
{
    setup_max(52);
    lease(T0);
    throttle(SECONDS(30), T0 + SECONDS(1));
    struct weir_adaptive_rate_stats stats = snapshot(T0 + SECONDS(1));
    ck_assert_int_eq(stats.current_parallelism, 13);
    ck_assert_int_eq(stats.last_known_good_parallelism, 24);
    ck_assert_int_eq(stats.successes_since_throttle, 0);
    ck_assert_uint_eq(stats.total_throttle_events, 1);
    ck_assert(stats.last_throttle_time_us == T0 + SECONDS(1));
    throttle(SECONDS(30), T0 + SECONDS(60));
    ck_assert_int_eq(aimd->level(state), 6);
}
END_TEST

START_TEST(fast_recovery_is_twice_as_fast_below_last_known_good)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    throttle(SECONDS(5), now);
    ck_assert_int_eq(aimd->level(state), 22);
    ok(3, now + SECONDS(10));
    ck_assert_int_eq(aimd->level(state), 26);
    options.adaptive_rate.recovery_multiplier = 1.75; /* 2 × 1.75 = 3.5: rounded down */
    ok(3, now + SECONDS(20));
    ck_assert_int_eq(aimd->level(state), 29);
}
END_TEST

START_TEST(probing_is_at_the_plain_rate_above_last_known_good)
{
    setup_max(52);
    lease(T0);
    ok(3, T0 + SECONDS(5));
    ck_assert_int_eq(aimd->level(state), 28);
    ok(3, T0 + SECONDS(10));
    ck_assert_int_eq(aimd->level(state), 30);
}
END_TEST

START_TEST(ttl_expiry_discards_a_stale_last_known_good)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    throttle(SECONDS(5), now); /* level 22, LKG 42 */
    now += MINUTES(5);
    ck_assert(!snapshot(now).is_last_known_good_stale);
    ck_assert(snapshot(now + 1).is_last_known_good_stale);
    ok(3, now + 1); /* the LKG is the level now: probing, not recovery */
    ck_assert_int_eq(aimd->level(state), 24);
    ck_assert_int_eq(snapshot(now + 1).last_known_good_parallelism, 22);
}
END_TEST

START_TEST(idle_reset_starts_fresh_after_the_idle_period)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(40, T0);
    throttle(SECONDS(5), now);
    now = climb_to(32, now);
    ck_assert_int_eq(lease(now + MINUTES(5)), 32); /* exactly the period: not idle */
    ck_assert_int_eq(lease(now + MINUTES(10) + 1), 26);
    struct weir_adaptive_rate_stats stats = snapshot(now + MINUTES(10) + 1);
    ck_assert_int_eq(stats.last_known_good_parallelism, 26);
    ck_assert_int_eq(stats.successes_since_throttle, 0);
    ck_assert_uint_eq(stats.total_throttle_events, 1);
}
END_TEST

START_TEST(min_max_bounds_hold)
{
    setup_max(52);
    options.adaptive_rate.min_parallelism = 4;
    lease(T0);
    int64_t now = T0;
    for (int i = 0; i < 20; i++) {
        now += SECONDS(60);
        throttle(SECONDS(5), now);
        ck_assert_int_ge(aimd->level(state), 4);
    }
    ck_assert_int_eq(aimd->level(state), 4);
    ck_assert_int_eq(snapshot(now).last_known_good_parallelism, 4);
    for (int i = 0; i < 100; i++) {
        now += SECONDS(5);
        ok(3, now);
        ck_assert_int_le(aimd->level(state), 52);
    }
    ck_assert_int_eq(aimd->level(state), 52);
    ck_assert_int_eq(snapshot(now).bound_by, WEIR_BOUND_MAX);
    /* An odd distance to max is closed exactly. */
    aimd->hint(state, 51, now);
    ck_assert_int_eq(aimd->level(state), 51);
    aimd->hint(state, 52, now);
    ok(3, now + SECONDS(5));
    ck_assert_int_eq(aimd->level(state), 52);
}
END_TEST

/* --- the settled script and the ceiling table --------------------------------------------------
 */

static int64_t at(int minutes, double seconds)
{
    return T0 + MINUTES(minutes) + SECONDS(seconds);
}

static void expect(int64_t now_us, int level, int counter, int lkg)
{
    struct weir_adaptive_rate_stats stats = snapshot(now_us);
    ck_assert_int_eq(stats.current_parallelism, level);
    ck_assert_int_eq(stats.successes_since_throttle, counter);
    ck_assert_int_eq(stats.last_known_good_parallelism, lkg);
}

/* A lease stamps activity at the same moment as the answers, so it changes nothing here. */
static void rows_up_to_1_50(void)
{
    setup_max(52);
    ck_assert_int_eq(lease(at(0, 0)), 26);
    ok(3, at(0, 0));
    expect(at(0, 0), 26, 3, 26);
    ok(1, at(0, 5));
    expect(at(0, 5), 28, 0, 26);
    for (int i = 0; i < 8; i++) {
        ok(3, at(0, 10 + 5 * i));
        expect(at(0, 10 + 5 * i), 30 + 2 * i, 0, 26);
    }
    throttle(SECONDS(5), at(1, 0));
    expect(at(1, 0), 22, 0, 42);
    ok(1, at(1, 5));
    expect(at(1, 5), 22, 1, 42);
    for (int i = 0; i < 5; i++) {
        ok(3, at(1, 15 + 5 * i));
        expect(at(1, 15 + 5 * i), 26 + 4 * i, 1, 42);
    }
    ok(3, at(1, 45));
    expect(at(1, 45), 44, 1, 42);
    ok(3, at(1, 50));
    expect(at(1, 50), 46, 1, 42);
    expect(at(6, 0), 46, 1, 42); /* looking is not activity and resets nothing */
}

START_TEST(the_script_of_the_settled_rules_number_for_number)
{
    rows_up_to_1_50();
    ck_assert_int_eq(lease(at(6, 50.000)), 46);
    expect(at(6, 50.000), 46, 1, 42);

    rows_up_to_1_50();
    ck_assert_int_eq(lease(at(6, 50.001)), 26);
    expect(at(6, 50.001), 26, 0, 26);
}
END_TEST

START_TEST(the_ceiling_table_of_the_settled_rules_number_for_number)
{
    const struct {
        int factor;
        int threshold_ms;
        double seconds;
        int level;
    } rows[] = {
        { 200, 8000, 7.9, 52 },  { 200, 8000, 8.0, 25 },   { 200, 8000, 10.0, 20 },
        { 140, 6000, 5.9, 52 },  { 140, 6000, 6.0, 23 },   { 140, 6000, 8.5, 16 },
        { 140, 6000, 9.0, 15 },  { 320, 11000, 10.9, 52 }, { 320, 11000, 11.0, 29 },
        { 250, 10000, 9.1, 52 }, { 180, 8000, 8.5, 21 },   { 200, 8000, 300.0, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup_max(52);
        options.adaptive_rate.initial_parallelism_factor = 1.0;
        options.adaptive_rate.execution_time_ceiling_factor = rows[i].factor;
        options.adaptive_rate.slow_batch_threshold_ms = rows[i].threshold_ms;
        ck_assert_int_eq(lease(T0), 52);
        ok_for(SECONDS(rows[i].seconds), 1, T0 + SECONDS(1));
        ck_assert_msg(aimd->level(state) == rows[i].level, "%d/%d with %.1f s: %d, not %d",
                      rows[i].factor, rows[i].threshold_ms, rows[i].seconds, aimd->level(state),
                      rows[i].level);
    }
}
END_TEST

/* Whoever calls the library may say that every batch is slow, and have none that takes any time. */
START_TEST(a_ceiling_above_every_number_is_the_largest)
{
    setup_max(52);
    options.adaptive_rate.execution_time_ceiling_factor = 10000;
    options.adaptive_rate.slow_batch_threshold_ms = 0;
    lease(T0);
    ok_for(1, 1, T0);
    ck_assert_int_eq(snapshot(T0).execution_time_ceiling, INT32_MAX);
    ck_assert_int_ge(aimd->level(state), 1);
    ck_assert_int_le(aimd->level(state), 52);
}
END_TEST

START_TEST(the_average_is_seeded_by_the_first_success_and_moves_by_three_tenths)
{
    setup_max(52);
    lease(T0);
    ck_assert(snapshot(T0).average_batch_ms == 0);
    ok_for(SECONDS(10), 1, T0);
    ck_assert(snapshot(T0).average_batch_ms == 10000.0);
    ok_for(SECONDS(20), 1, T0);
    ck_assert_double_eq_tol(snapshot(T0).average_batch_ms, 13000.0, 1e-6);
    throttle(SECONDS(5), T0); /* only successes count */
    ck_assert_double_eq_tol(snapshot(T0).average_batch_ms, 13000.0, 1e-6);
}
END_TEST

START_TEST(a_falling_ceiling_lowers_the_level_which_grows_back_by_increases)
{
    setup_max(52);
    options.adaptive_rate.initial_parallelism_factor = 1.0;
    lease(T0);
    ok_for(SECONDS(10), 1, T0);
    ck_assert_int_eq(aimd->level(state), 20);
    ck_assert_int_eq(snapshot(T0).execution_time_ceiling, 20);
    ck_assert_int_eq(snapshot(T0).bound_by, WEIR_BOUND_EXECUTION_TIME);
    /* Fast again: the average falls below the threshold, the level does not jump. */
    ok_for(SECONDS(0.1), 1, T0 + SECONDS(1)); /* 7.03 s */
    ck_assert_int_eq(snapshot(T0 + SECONDS(1)).execution_time_ceiling, 0);
    ck_assert_int_eq(aimd->level(state), 20);
    ok_for(SECONDS(0.1), 1, T0 + SECONDS(5));
    ck_assert_int_eq(aimd->level(state), 24); /* below the last known good: recovery */
}
END_TEST

START_TEST(before_the_first_hint_max_is_four_and_the_first_hint_starts_the_level)
{
    weir_options_defaults(&options);
    reopens_us = WEIR_NEVER;
    aimd->init(state, &options.adaptive_rate);
    ck_assert_int_eq(snapshot(T0).max_parallelism, 4);
    ck_assert_int_eq(snapshot(T0).current_parallelism, 0);
    ck_assert_int_eq(lease(T0), 2);
    aimd->hint(state, 52, T0 + SECONDS(1));
    ck_assert_int_eq(aimd->level(state), 26);
    ck_assert_int_eq(snapshot(T0).last_known_good_parallelism, 26);
}
END_TEST

START_TEST(a_lower_hint_clamps_level_and_last_known_good_a_higher_one_raises_only_max)
{
    setup_max(52);
    lease(T0);
    aimd->hint(state, 10, T0 + SECONDS(1));
    ck_assert_int_eq(aimd->level(state), 10);
    ck_assert_int_eq(snapshot(T0).last_known_good_parallelism, 10);
    aimd->hint(state, 48, T0 + SECONDS(2));
    ck_assert_int_eq(aimd->level(state), 10);
    ck_assert_int_eq(snapshot(T0).last_known_good_parallelism, 10);
    ck_assert_int_eq(snapshot(T0).max_parallelism, 48);
}
END_TEST

START_TEST(answers_before_the_first_lease_are_counted_and_give_no_level)
{
    setup_max(52);
    ok(5, T0);
    throttle(SECONDS(5), T0);
    struct weir_adaptive_rate_stats stats = snapshot(T0);
    ck_assert_int_eq(stats.current_parallelism, 0);
    ck_assert_uint_eq(stats.total_throttle_events, 1);
    ck_assert(stats.average_batch_ms > 0);
    ck_assert_int_eq(lease(T0), 26);
}
END_TEST

START_TEST(explicit_reset_clears_average_and_ceilings_idle_reset_keeps_them)
{
    setup_max(52);
    lease(T0);
    ok_for(SECONDS(12), 1, T0);
    throttle(SECONDS(300), T0 + SECONDS(1));
    lease(T0 + MINUTES(20)); /* idle */
    ck_assert(snapshot(T0 + MINUTES(20)).average_batch_ms == 12000.0);
    ck_assert_int_eq(snapshot(T0 + MINUTES(20)).execution_time_ceiling, 16);
    aimd->reset(state, T0 + MINUTES(20));
    struct weir_adaptive_rate_stats stats = snapshot(T0 + MINUTES(20));
    ck_assert(stats.average_batch_ms == 0);
    ck_assert_int_eq(stats.execution_time_ceiling, 0);
    ck_assert_int_eq(stats.throttle_ceiling, 0);
    ck_assert_int_eq(stats.current_parallelism, 26);
    ck_assert_uint_eq(stats.total_throttle_events, 1);
}
END_TEST

/* --- corrections ------------------------------------------------------------------------------ */

START_TEST(c1_idleness_is_tested_before_the_activity_is_stamped)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(40, T0);
    ck_assert_int_eq(lease(now + MINUTES(5) + 1), 26);
}
END_TEST

START_TEST(c1_waiting_for_a_throttle_is_not_idleness)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    reopens_us = now + MINUTES(10);
    throttle(MINUTES(10), now);
    ck_assert_int_eq(lease(now + MINUTES(15)), 22);
    /* And the TTL of the last known good has gone on meanwhile. */
    ck_assert(snapshot(now + MINUTES(15)).is_last_known_good_stale);
}
END_TEST

START_TEST(c2_one_hundred_throttles_of_one_flight_cut_once)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    uint64_t epoch = aimd->epoch(state);
    for (int i = 0; i < 100; i++)
        tell(answer_throttle(SECONDS(30)), epoch, now + i);
    struct weir_adaptive_rate_stats stats = snapshot(now + 100);
    ck_assert_int_eq(stats.current_parallelism, 22);
    ck_assert_int_eq(stats.last_known_good_parallelism, 42);
    ck_assert_uint_eq(stats.total_throttle_events, 100);
    ck_assert(stats.last_throttle_time_us == now + 99);
    ck_assert(stats.last_activity_time_us == now + 99);
    ck_assert_uint_eq(aimd->epoch(state), epoch + 1);
}
END_TEST

START_TEST(c3_successes_sent_before_the_last_decrease_do_not_count_towards_the_next_rise)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    uint64_t before = aimd->epoch(state);
    throttle(SECONDS(5), now);
    for (int i = 0; i < 20; i++)
        tell(answer_ok(SECONDS(1)), before, now + SECONDS(10));
    ck_assert_int_eq(aimd->level(state), 22);
    ck_assert_int_eq(snapshot(now).successes_since_throttle, 0);
    ok(3, now + SECONDS(10));
    ck_assert_int_eq(aimd->level(state), 26);
}
END_TEST

START_TEST(c5_the_start_rounds_down_safely_and_max_wins_over_min)
{
    setup_max(50);
    options.adaptive_rate.initial_parallelism_factor = 0.58;
    ck_assert_int_eq(lease(T0), 29);
    setup_max(4);
    options.adaptive_rate.min_parallelism = 10;
    ck_assert_int_eq(lease(T0), 4);
    throttle(SECONDS(5), T0 + SECONDS(1));
    ck_assert_int_eq(aimd->level(state), 4);
    setup_max(1);
    options.adaptive_rate.initial_parallelism_factor = 0.1;
    ck_assert_int_eq(lease(T0), 1);
    throttle(SECONDS(5), T0 + SECONDS(1));
    ck_assert_int_eq(aimd->level(state), 1);
}
END_TEST

START_TEST(c6_a_stale_last_known_good_is_stamped_anew)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(44, T0);
    throttle(SECONDS(5), now);
    now += MINUTES(5) + 1;
    ok(1, now);
    ck_assert(!snapshot(now).is_last_known_good_stale);
    ck_assert(!snapshot(now + MINUTES(5)).is_last_known_good_stale);
    /* Without the stamp every further success would drag the last known good along. */
    now = climb_to(26, now);
    ck_assert_int_eq(snapshot(now).last_known_good_parallelism, 22);
}
END_TEST

START_TEST(c1_a_lease_is_activity)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(40, T0);
    ck_assert_int_eq(lease(now + MINUTES(4)), 40);
    ck_assert_int_eq(lease(now + MINUTES(8)), 40); /* four minutes after the last lease */
}
END_TEST

START_TEST(c1_a_block_that_is_no_throttle_is_not_idleness_either_and_the_longest_counts)
{
    setup_max(52);
    lease(T0);
    int64_t now = climb_to(40, T0);
    reopens_us = now + MINUTES(10);
    tell(answer_of_class(WEIR_CLASS_TRANSIENT), aimd->epoch(state), now);
    reopens_us = now + MINUTES(1); /* an answer from elsewhere, of a shorter block */
    tell(answer_of_class(WEIR_CLASS_TRANSIENT), aimd->epoch(state), now);
    ck_assert_int_eq(lease(now + MINUTES(15)), 40);
}
END_TEST

START_TEST(a_full_connection_says_when_idleness_will_make_room)
{
    setup_max(52);
    lease(T0);
    throttle(SECONDS(5), T0); /* 13 */
    struct weir_ask ask = { 0 };
    struct weir_policy_ask full = { .ask = &ask, .in_flight = 13 };
    struct weir_admission admission;
    aimd->admit(state, &full, T0 + SECONDS(1), &admission);
    ck_assert(!admission.ok && !admission.paced);
    ck_assert(admission.not_before_us == T0 + MINUTES(5) + 1);
    aimd->admit(state, &full, admission.not_before_us, &admission);
    ck_assert(admission.ok);
}
END_TEST

START_TEST(the_first_hint_after_a_cut_raises_only_max)
{
    weir_options_defaults(&options);
    reopens_us = WEIR_NEVER;
    aimd->init(state, &options.adaptive_rate);
    ck_assert_int_eq(lease(T0), 2);
    throttle(SECONDS(5), T0);
    aimd->hint(state, 52, T0 + SECONDS(1));
    ck_assert_int_eq(aimd->level(state), 1);
    ck_assert_int_eq(snapshot(T0).max_parallelism, 52);
}
END_TEST

START_TEST(c3_successes_from_before_a_decrease_still_move_the_average)
{
    setup_max(52);
    lease(T0);
    uint64_t before = aimd->epoch(state);
    throttle(SECONDS(5), T0);
    tell(answer_ok(SECONDS(10)), before, T0 + SECONDS(1));
    ck_assert(snapshot(T0).average_batch_ms == 10000.0);
    ck_assert(snapshot(T0).last_activity_time_us == T0 + SECONDS(1));
}
END_TEST

START_TEST(c10_of_two_throttle_ceilings_the_later_end_counts)
{
    setup_max(52);
    options.adaptive_rate.slow_batch_threshold_ms = 0; /* every batch is slow */
    options.adaptive_rate.execution_time_ceiling_factor = 10000;
    lease(T0);
    int64_t now = climb_to(40, T0);
    throttle(SECONDS(60), now); /* until now + 6 min */
    int first = snapshot(now).throttle_ceiling;
    throttle(SECONDS(300), now + 1); /* smaller, and until 10 min after */
    int second = snapshot(now + 1).throttle_ceiling;
    ck_assert_int_lt(second, first);
    ck_assert_int_eq(snapshot(now + MINUTES(9)).throttle_ceiling, second);
    throttle(SECONDS(5), now + 2); /* its end is earlier: nothing changes */
    ck_assert_int_gt(snapshot(now + MINUTES(9)).throttle_ceiling, 0);
}
END_TEST

START_TEST(c10_the_throttle_ceiling_by_retry_after)
{
    const struct {
        double retry_after_s;
        int level; /* of 40 */
    } rows[] = { { 30, 38 }, { 150, 30 }, { 300, 20 }, { 600, 20 }, { 3600, 20 }, { 5, 39 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup_max(52);
        lease(T0);
        climb_to(40, T0);
        int64_t now = T0 + SECONDS(100);
        throttle(SECONDS(rows[i].retry_after_s), now);
        ok_for(SECONDS(300), 1, now); /* slow enough for ceilings to apply */
        ck_assert_int_eq(snapshot(now).throttle_ceiling, rows[i].level);
        int64_t end = now + SECONDS(rows[i].retry_after_s) + MINUTES(5);
        ck_assert_int_eq(snapshot(end - 1).throttle_ceiling, rows[i].level);
        ck_assert_int_eq(snapshot(end).throttle_ceiling, 0);
    }
}
END_TEST

START_TEST(c10_the_throttle_ceiling_applies_only_to_slow_batches_and_the_smaller_one_stands)
{
    setup_max(52);
    options.adaptive_rate.execution_time_ceiling_factor = 10000;
    lease(T0);
    int64_t now = climb_to(40, T0);
    throttle(SECONDS(300), now); /* ceiling 20, level 20 */
    now = climb_to(40, now);     /* fast batches: it does not hold them */
    ok_for(SECONDS(100), 1, now);
    ck_assert_int_eq(aimd->level(state), 20);
    ck_assert_int_eq(snapshot(now).bound_by, WEIR_BOUND_THROTTLE_CEILING);
    ck_assert_int_eq(snapshot(now).throttle_ceiling, 20);
    throttle(SECONDS(5), now); /* floor(20 × 0.99) = 19: smaller, stands */
    ck_assert_int_eq(snapshot(now).throttle_ceiling, 19);
    ck_assert_int_eq(aimd->level(state), 10);
    throttle(SECONDS(5), now + 1); /* floor(10 × 0.99) = 9 */
    ck_assert_int_eq(snapshot(now).throttle_ceiling, 9);
    /* One in force is not raised by a weaker one. */
    options.adaptive_rate.decrease_factor = 0.9;
    options.adaptive_rate.slow_batch_threshold_ms = 600000;
    now = climb_to(45, now);
    options.adaptive_rate.slow_batch_threshold_ms = 0;
    throttle(SECONDS(5), now);
    ck_assert_int_eq(snapshot(now).throttle_ceiling, 9);
    ck_assert_int_eq(aimd->level(state), 9);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("aimd");
    suite_add(&s, initialization_is_a_factor_of_max);
    suite_add(&s, increase_logic_needs_stabilization_batches_and_the_interval);
    suite_add(&s, decrease_logic_is_multiplicative);
    suite_add(&s, fast_recovery_is_twice_as_fast_below_last_known_good);
    suite_add(&s, probing_is_at_the_plain_rate_above_last_known_good);
    suite_add(&s, ttl_expiry_discards_a_stale_last_known_good);
    suite_add(&s, idle_reset_starts_fresh_after_the_idle_period);
    suite_add(&s, min_max_bounds_hold);
    suite_add(&s, the_script_of_the_settled_rules_number_for_number);
    suite_add(&s, the_ceiling_table_of_the_settled_rules_number_for_number);
    suite_add(&s, a_ceiling_above_every_number_is_the_largest);
    suite_add(&s, the_average_is_seeded_by_the_first_success_and_moves_by_three_tenths);
    suite_add(&s, a_falling_ceiling_lowers_the_level_which_grows_back_by_increases);
    suite_add(&s, before_the_first_hint_max_is_four_and_the_first_hint_starts_the_level);
    suite_add(&s, a_lower_hint_clamps_level_and_last_known_good_a_higher_one_raises_only_max);
    suite_add(&s, answers_before_the_first_lease_are_counted_and_give_no_level);
    suite_add(&s, explicit_reset_clears_average_and_ceilings_idle_reset_keeps_them);
    suite_add(&s, c1_idleness_is_tested_before_the_activity_is_stamped);
    suite_add(&s, c1_waiting_for_a_throttle_is_not_idleness);
    suite_add(&s, c2_one_hundred_throttles_of_one_flight_cut_once);
    suite_add(&s, c3_successes_sent_before_the_last_decrease_do_not_count_towards_the_next_rise);
    suite_add(&s, c5_the_start_rounds_down_safely_and_max_wins_over_min);
    suite_add(&s, c6_a_stale_last_known_good_is_stamped_anew);
    suite_add(&s, c1_a_lease_is_activity);
    suite_add(&s, c1_a_block_that_is_no_throttle_is_not_idleness_either_and_the_longest_counts);
    suite_add(&s, a_full_connection_says_when_idleness_will_make_room);
    suite_add(&s, the_first_hint_after_a_cut_raises_only_max);
    suite_add(&s, c3_successes_from_before_a_decrease_still_move_the_average);
    suite_add(&s, c10_of_two_throttle_ceilings_the_later_end_counts);
    suite_add(&s, c10_the_throttle_ceiling_by_retry_after);
    suite_add(&s, c10_the_throttle_ceiling_applies_only_to_slow_batches_and_the_smaller_one_stands);
    return suite_run(&s);
}
