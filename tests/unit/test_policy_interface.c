/* SPDX-License-Identifier: MIT */
/*
 * The interface between pool and policy, with a policy that does what the test says: pacing,
 * several lanes, answers that depend on the ask, and the identity of leases from grant to answer.
 */
#include <string.h>

#include "support/rig.h"
#include "support/suite.h"

#define LANES 4

/* What the policy will say, and what it was told last. */
static struct {
    int level;
    int64_t not_before_us; /* 0: admits up to the level */
    bool paced;
    uint32_t lane;
    uint32_t rows_max; /* asks with more rows are refused */
    struct weir_policy_ask asked;
    struct weir_policy_lease leased;
    struct weir_policy_lease sent;
    struct weir_policy_lease answered;
    struct weir_answer answer;
    int64_t reopens_us;
    uint32_t admits;
    uint64_t epoch;
} script;

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)state;
    (void)options;
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    (void)state;
    script.asked = *ask;
    script.admits++;
    bool wait =
        script.not_before_us > now_us || (script.rows_max && ask->ask->rows > script.rows_max);
    *ret = (struct weir_admission){
        .ok = !wait && ask->in_flight < (uint32_t)script.level,
        .paced = wait && script.paced,
        .not_before_us = wait ? script.not_before_us : WEIR_FOREVER,
        .lane = script.lane,
    };
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)state;
    (void)now_us;
    script.leased = *lease;
}

static void sent(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)state;
    (void)now_us;
    script.sent = *lease;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)state;
    (void)now_us;
    script.answered = *lease;
    script.answer = *answer;
    script.reopens_us = reopens_us;
}

static void hint(void *state, int dop_hint, int64_t now_us)
{
    (void)state;
    (void)now_us;
    script.level = dop_hint;
}

static void reset(void *state, int64_t now_us)
{
    (void)state;
    (void)now_us;
}

static uint64_t epoch(const void *state)
{
    (void)state;
    return script.epoch;
}

static int level(const void *state)
{
    (void)state;
    return script.level;
}

static void stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    (void)state;
    (void)now_us;
    ret->current_parallelism = script.level;
}

static const struct weir_policy scripted = {
    .name = "scripted",
    .state_bytes = 1,
    .lanes_max = LANES,
    .asks_differ = true,
    .init = init,
    .admit = admit,
    .leased = leased,
    .sent = sent,
    .answered = answered,
    .hint = hint,
    .reset = reset,
    .epoch = epoch,
    .level = level,
    .stats = stats,
};

static struct rig rig;

static void setup(uint32_t connections, int script_level)
{
    memset(&script, 0, sizeof(script));
    script.level = script_level;
    rig_init(&rig, connections);
    struct weir_error err;
    ck_assert_int_eq(weir_core_init(&rig.core, &rig.options, &scripted, 1, true, &err), WEIR_OK);
}

static struct weir_grant try_rows(uint32_t rows)
{
    struct weir_ask ask = { .kind = 3, .rows = rows, .bytes = rows * 10 };
    struct weir_grant grant;
    weir_core_try(&rig.core, &ask, rig.now_us, &grant);
    return grant;
}

/* --- leases ----------------------------------------------------------------------------------- */

START_TEST(a_policy_sees_the_same_lease_from_grant_to_answer)
{
    setup(1, 5);
    script.lane = 2;
    script.epoch = 7;
    struct weir_lease lease = try_rows(100).lease;
    ck_assert_uint_eq(script.leased.serial, lease.serial);
    ck_assert_uint_eq(script.leased.slot, lease.slot);
    ck_assert_uint_eq(script.leased.lane, 2);
    ck_assert_uint_eq(script.leased.kind, 3);
    ck_assert_uint_eq(script.leased.rows, 100);
    ck_assert_uint_eq(script.leased.bytes, 1000);
    ck_assert_uint_eq(script.leased.epoch, 7);
    ck_assert(script.leased.leased_us == rig.now_us);

    rig.now_us += SECONDS(2);
    script.epoch = 8;
    ck_assert_int_eq(weir_core_begin(&rig.core, &lease, rig.now_us), WEIR_OK);
    ck_assert_uint_eq(script.sent.serial, lease.serial);
    ck_assert(script.sent.sent_us == rig.now_us);
    ck_assert_uint_eq(script.sent.epoch, 8); /* of the moment it was sent */
    ck_assert_uint_eq(lease.epoch, 8);

    int64_t sent_us = rig.now_us;
    rig.now_us += SECONDS(3);
    struct weir_answer answer = answer_ok(SECONDS(3));
    answer.ttfb_us = SECONDS(1);
    answer.budget = (struct weir_budget_headers){ .requests_known = true,
                                                  .requests_remaining = 17,
                                                  .server_id = 99 };
    rig_settle(&rig, lease, answer);
    ck_assert_uint_eq(script.answered.serial, lease.serial);
    ck_assert(script.answered.sent_us == sent_us);
    ck_assert_uint_eq(script.answered.epoch, 8);
    ck_assert(script.answer.ttfb_us == SECONDS(1));
    ck_assert_int_eq(script.answer.budget.requests_remaining, 17);
    ck_assert_uint_eq(script.answer.budget.server_id, 99);
    ck_assert(script.reopens_us == WEIR_NEVER);
    rig_release(&rig);
}
END_TEST

START_TEST(a_stale_lease_is_answered_as_unsent_and_says_nothing_of_budgets)
{
    setup(1, 5);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_settle(&rig, a, answer_throttle(SECONDS(5)));
    ck_assert_int_eq(weir_core_begin(&rig.core, &b, rig.now_us), WEIR_E_STALE_LEASE);
    ck_assert_uint_eq(script.answered.serial, b.serial);
    ck_assert_int_eq(script.answer.verdict.class_, WEIR_CLASS_UNSENT);
    ck_assert(!script.answer.budget.requests_known && !script.answer.budget.execution_known);
    ck_assert(script.reopens_us == weir_core_reopening_us(&rig.core, 0));
    rig_release(&rig);
}
END_TEST

START_TEST(a_lease_from_before_a_throttle_stays_stale_after_the_reopening)
{
    setup(1, 20);
    struct weir_lease leases[20];
    for (int i = 0; i < 20; i++)
        leases[i] = rig_lease(&rig);
    rig_settle(&rig, leases[0], answer_throttle(SECONDS(5)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    for (int i = 1; i < 20; i++)
        ck_assert_int_eq(weir_core_begin(&rig.core, &leases[i], rig.now_us), WEIR_E_STALE_LEASE);
    rig_lease(&rig); /* the probe */
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_release(&rig);
}
END_TEST

START_TEST(a_lease_from_before_a_trip_or_being_set_aside_stays_stale)
{
    setup(1, 20);
    struct weir_lease leases[13];
    for (int i = 0; i < 13; i++)
        leases[i] = rig_lease(&rig);
    for (int i = 0; i < 10; i++)
        rig_settle(&rig, leases[i], answer_of_class(WEIR_CLASS_TRANSIENT));
    ck_assert_int_eq(weir_core_begin(&rig.core, &leases[10], rig.now_us), WEIR_E_STALE_LEASE);
    rig.now_us += SECONDS(30); /* half open */
    ck_assert_int_eq(weir_core_begin(&rig.core, &leases[11], rig.now_us), WEIR_E_STALE_LEASE);
    weir_core_restore(&rig.core, 0, rig.now_us);
    struct weir_lease fresh = rig_lease(&rig);
    weir_core_set_aside(&rig.core, 0, rig.now_us);
    weir_core_restore(&rig.core, 0, rig.now_us);
    ck_assert_int_eq(weir_core_begin(&rig.core, &fresh, rig.now_us), WEIR_E_STALE_LEASE);
    rig_release(&rig);
}
END_TEST

/* --- pacing ----------------------------------------------------------------------------------- */

START_TEST(a_paced_connection_is_asked_again_in_time_and_acquire_timeout_stands_still)
{
    setup(1, 5);
    script.paced = true;
    script.not_before_us = rig.now_us + MINUTES(10);
    uint64_t ticket = rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    ck_assert(weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count) == script.not_before_us);
    ck_assert(!rig.core.slot_clock_runs);
    rig.now_us = script.not_before_us;
    weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, ticket);
    ck_assert_int_eq(grant.status, WEIR_OK);
    rig_release(&rig);
}
END_TEST

START_TEST(a_full_connection_that_names_a_time_is_asked_again_then_and_acquire_timeout_runs)
{
    setup(1, 1);
    rig_lease(&rig);
    script.not_before_us = rig.now_us + SECONDS(30);
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    ck_assert(weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count) == script.not_before_us);
    ck_assert(rig.core.slot_clock_runs);
    rig_release(&rig);
}
END_TEST

START_TEST(a_policy_that_is_early_is_not_asked_more_than_a_thousand_times_a_second)
{
    setup(1, 1);
    script.paced = true;
    int64_t end_us = rig.now_us + SECONDS(1);
    script.not_before_us = rig.now_us + 1;
    script.level = 0;
    rig_wait(&rig);
    while (rig.now_us < end_us) {
        script.not_before_us = rig.now_us + 1; /* always a microsecond from now */
        struct weir_grant grant;
        uint32_t count;
        rig.now_us = weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
    }
    ck_assert_uint_le(script.admits, 1100);
    rig_release(&rig);
}
END_TEST

START_TEST(a_refusal_for_ever_with_nothing_in_flight_is_asked_again_all_the_same)
{
    setup(1, 0);
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    int64_t next = weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
    ck_assert(next <= rig.now_us + SECONDS(1));
    script.level = 1;
    rig.now_us = next;
    weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    rig_release(&rig);
}
END_TEST

START_TEST(what_was_said_of_one_ask_does_not_bind_another)
{
    setup(2, 5);
    script.paced = true;
    script.rows_max = 10;
    script.not_before_us = 0;
    ck_assert_int_eq(try_rows(100).status, WEIR_E_WOULD_WAIT);
    ck_assert_int_eq(try_rows(1).status, WEIR_OK);
    ck_assert_int_eq(try_rows(100).status, WEIR_E_WOULD_WAIT);
    /* The same ask again is not put to the policy again. */
    uint32_t admits = script.admits;
    ck_assert_int_eq(try_rows(100).status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_eq(script.admits, admits);
    /* A big one waits in front and is cancelled; the small one behind it is served. */
    struct weir_ask big = { .rows = 100 };
    struct weir_ask small = { .rows = 1 };
    struct weir_grant first;
    struct weir_grant second;
    weir_core_ask(&rig.core, &big, rig.now_us, &first);
    weir_core_ask(&rig.core, &small, rig.now_us, &second);
    ck_assert_int_eq(second.status, WEIR_E_WOULD_WAIT);
    ck_assert(weir_core_cancel(&rig.core, first.ticket, rig.now_us));
    ck_assert(weir_core_next_us(&rig.core) <= rig.now_us);
    struct weir_grant grant;
    uint32_t count;
    weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, second.ticket);
    rig_release(&rig);
}
END_TEST

START_TEST(a_full_connection_is_asked_again_for_an_ask_that_differs_in_anything)
{
    setup(1, 1);
    rig_lease(&rig);
    struct weir_ask asks[] = { { .kind = 3, .rows = 1, .bytes = 10 },
                               { .kind = 3, .rows = 2, .bytes = 10 },
                               { .kind = 3, .rows = 2, .bytes = 99 },
                               { .kind = 4, .rows = 2, .bytes = 99 } };
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        uint32_t admits = script.admits;
        for (int again = 0; again < 2; again++) {
            struct weir_grant grant;
            weir_core_try(&rig.core, &asks[i], rig.now_us, &grant);
            ck_assert_int_eq(grant.status, WEIR_E_WOULD_WAIT);
        }
        ck_assert_int_eq(rig.core.connections[0].condition, WEIR_CONDITION_FULL);
        ck_assert_uint_eq(script.admits, admits + 1);
    }
    rig_release(&rig);
}
END_TEST

START_TEST(a_blind_strategy_whose_connections_are_all_paced_has_no_choice)
{
    setup(2, 5);
    rig.core.strategy = weir_strategy_find("RoundRobin");
    script.paced = true;
    script.not_before_us = rig.now_us + MINUTES(10);
    struct weir_grant grant = try_rows(1);
    ck_assert_int_eq(grant.status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_ge(grant.refusal.connection, rig.core.count); /* nobody */
    rig.now_us = script.not_before_us;
    ck_assert_int_eq(try_rows(1).status, WEIR_OK);
    rig_release(&rig);
}
END_TEST

/* --- lanes ------------------------------------------------------------------------------------ */

static struct weir_lease lease_on(uint32_t lane)
{
    script.lane = lane;
    struct weir_lease lease = rig_lease(&rig);
    ck_assert_uint_eq(lease.lane, lane);
    return lease;
}

START_TEST(a_throttle_shuts_its_lane_and_leaves_the_others_alone)
{
    setup(1, 8);
    struct weir_lease a = lease_on(0);
    struct weir_lease b = lease_on(1);
    struct weir_lease stale = lease_on(0);
    rig_settle(&rig, a, answer_throttle(SECONDS(30)));
    ck_assert(!weir_core_is_throttled(&rig.core, 0, rig.now_us)); /* lane 1 is open */
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 0);
    ck_assert_int_eq(weir_core_begin(&rig.core, &b, rig.now_us), WEIR_OK);
    ck_assert_int_eq(weir_core_begin(&rig.core, &stale, rig.now_us), WEIR_E_STALE_LEASE);
    lease_on(1);
    ck_assert_uint_eq(script.asked.shut_lanes, 1);
    for (int i = 0; i < 5; i++)
        lease_on(1); /* no ramp on lane 1, and the level of the whole connection */
    /* A policy that insists on the shut lane does not get it. */
    script.lane = 0;
    script.level = 20;
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_release(&rig);
}
END_TEST

START_TEST(a_lane_returns_by_a_probe_of_its_own)
{
    setup(1, 20);
    struct weir_lease a = lease_on(0);
    lease_on(1);
    rig_settle(&rig, a, answer_throttle(SECONDS(30)));
    rig.now_us += SECONDS(33);
    struct weir_lease probe = lease_on(0);
    lease_on(1);
    ck_assert_uint_eq(script.asked.shut_lanes, 1); /* the probe of lane 0 is out */
    rig_settle(&rig, probe, answer_ok(1));
    lease_on(0);
    lease_on(0);
    lease_on(1);
    ck_assert_uint_eq(script.asked.shut_lanes, 1); /* two of two */
    rig_release(&rig);
}
END_TEST

START_TEST(a_connection_is_closed_when_all_its_lanes_are)
{
    setup(2, 8);
    struct weir_lease a = lease_on(0); /* AppUser1 */
    lease_on(0);                       /* AppUser2 */
    struct weir_lease b = lease_on(3); /* AppUser1 */
    ck_assert_uint_eq(a.connection, b.connection);
    rig_settle(&rig, a, answer_throttle(SECONDS(30)));
    struct weir_lease never = lease_on(3); /* AppUser2 opens lane 3 */
    ck_assert_uint_ne(never.connection, a.connection);
    rig_settle(&rig, b, answer_throttle(SECONDS(60)));
    /* Lanes 1 and 2 of AppUser1 were opened with lane 3 and are not throttled. */
    ck_assert(!weir_core_is_throttled(&rig.core, a.connection, rig.now_us));
    struct weir_lease c = lease_on(1);
    ck_assert_uint_eq(c.connection, a.connection);
    struct weir_lease d = { 0 };
    do
        d = lease_on(2);
    while (d.connection != a.connection);
    rig_settle(&rig, c, answer_throttle(SECONDS(10)));
    rig_settle(&rig, d, answer_throttle(SECONDS(20)));
    ck_assert(weir_core_is_throttled(&rig.core, a.connection, rig.now_us));
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 1);
    int64_t reopening = weir_core_reopening_us(&rig.core, a.connection);
    ck_assert(reopening >= rig.now_us + SECONDS(11) && reopening < rig.now_us + SECONDS(12));
    weir_core_clear_throttle(&rig.core, a.connection, rig.now_us);
    ck_assert(!weir_core_is_throttled(&rig.core, a.connection, rig.now_us));
    rig_release(&rig);
}
END_TEST

START_TEST(a_policy_with_too_many_lanes_is_refused)
{
    struct weir_policy greedy = scripted;
    greedy.lanes_max = WEIR_LANES_MAX + 1;
    rig_init(&rig, 1);
    struct weir_error err;
    ck_assert_int_eq(weir_core_init(&rig.core, &rig.options, &greedy, 1, false, &err),
                     WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the policy's lanes_max is 17, it takes 1 to 16");
    free(rig.connections);
    free(rig.names);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("policy_interface");
    suite_add(&s, a_policy_sees_the_same_lease_from_grant_to_answer);
    suite_add(&s, a_stale_lease_is_answered_as_unsent_and_says_nothing_of_budgets);
    suite_add(&s, a_lease_from_before_a_throttle_stays_stale_after_the_reopening);
    suite_add(&s, a_lease_from_before_a_trip_or_being_set_aside_stays_stale);
    suite_add(&s, a_paced_connection_is_asked_again_in_time_and_acquire_timeout_stands_still);
    suite_add(&s, a_full_connection_that_names_a_time_is_asked_again_then_and_acquire_timeout_runs);
    suite_add(&s, a_policy_that_is_early_is_not_asked_more_than_a_thousand_times_a_second);
    suite_add(&s, a_refusal_for_ever_with_nothing_in_flight_is_asked_again_all_the_same);
    suite_add(&s, what_was_said_of_one_ask_does_not_bind_another);
    suite_add(&s, a_full_connection_is_asked_again_for_an_ask_that_differs_in_anything);
    suite_add(&s, a_blind_strategy_whose_connections_are_all_paced_has_no_choice);
    suite_add(&s, a_throttle_shuts_its_lane_and_leaves_the_others_alone);
    suite_add(&s, a_lane_returns_by_a_probe_of_its_own);
    suite_add(&s, a_connection_is_closed_when_all_its_lanes_are);
    suite_add(&s, a_policy_with_too_many_lanes_is_refused);
    return suite_run(&s);
}
