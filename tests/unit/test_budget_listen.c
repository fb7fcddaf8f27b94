/* SPDX-License-Identifier: MIT */
/*
 * Budget beside somebody who comes and goes: while there is no room and nothing is out that would
 * tell of him, one goes to listen. The books are filled in by hand.
 */
#include "base/clock.h"
#include "support/budget_rig.h"
#include "support/suite.h"

#define WINDOW_US  SECONDS(300)
#define LISTENS_US (WINDOW_US / 32)

static uint32_t shut_lanes;

/* Somebody uses all there is, but for what is ours in any case; that we have used ourselves. He
 * was heard of at `heard_us`, and not always so much. */
static void fill(uint32_t i, int64_t heard_us)
{
    struct weir_budget_lane *lane = &budget->lanes[i];
    weir_budget_lane_init(budget, lane, 100 + i, 6000, 1200e6, now_us);
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        struct weir_quota *quota = &lane->quotas[which];
        quota->foreign = quota->most = quota->highest[0] = quota->limit;
        quota->lately[0] = quota->limit;
        quota->first_us = now_us - 3 * WINDOW_US;
        quota->sample_us = heard_us;
    }
    lane->quotas[WEIR_BUDGET_REQUESTS].rhythm.uneven = true;
    lane->heard_us = heard_us;
    weir_ledger_add(&lane->ledger, WEIR_SERIES_REQUESTS, now_us, 301);
}

static void setup(uint32_t lanes)
{
    budget_rig_start(SECONDS(3600));
    shut_lanes = 0;
    budget->lane_count = lanes;
    for (uint32_t i = 0; i < lanes; i++)
        fill(i, now_us - SECONDS(1 + i));
    budget->pinned = lanes > 1;
    budget->begun_us = now_us - 3 * WINDOW_US;
    budget->activity_us = now_us;
    budget->kinds[0] = (struct weir_budget_kind){ .samples = 9, .mean_us = 1e6 };
    budget->coarse.verdict = WEIR_WINDOW_FINE;
}

static struct weir_admission ask(void)
{
    static const struct weir_ask plain;
    struct weir_policy_ask wish = { .ask = &plain, .shut_lanes = shut_lanes };
    struct weir_admission ret;
    weir_policy_budget.admit(budget, &wish, now_us, &ret);
    return ret;
}

START_TEST(one_goes_to_listen_after_a_while_of_silence)
{
    setup(1);
    now_us += LISTENS_US;
    ck_assert(!ask().ok);
    now_us += 1;
    ck_assert(ask().ok);
}
END_TEST

START_TEST(nobody_is_listened_for_who_does_not_come_and_go)
{
    setup(1);
    budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].rhythm.uneven = false;
    now_us += 2 * LISTENS_US;
    ck_assert(!ask().ok);
}
END_TEST

START_TEST(while_one_is_out_it_will_tell)
{
    setup(1);
    budget->flights[0] = (struct weir_budget_flight){ .sent_us = now_us, .expected_us = 1e6 };
    budget->flight_count = 1;
    now_us += 2 * LISTENS_US;
    ck_assert(!ask().ok);
}
END_TEST

/* Listening is not to cost more than a fifth of one request at a time. */
START_TEST(long_requests_listen_less_often)
{
    setup(1);
    budget->kinds[0].mean_us = 4e6;
    now_us += SECONDS(20);
    ck_assert(!ask().ok);
    now_us += 1;
    ck_assert(ask().ok);
}
END_TEST

/* It may have been a lower limit, which one would only run into again. */
START_TEST(after_a_throttle_a_window_is_waited_unless_the_rhythm_is_known)
{
    setup(1);
    budget->throttled_us = now_us;
    budget->reopens_us = now_us + SECONDS(5);
    now_us += 2 * LISTENS_US;
    ck_assert(!ask().ok);
    budget->lanes[0].foreseen_no = now_us / (2 * budget->lanes[0].ledger.bucket_us);
    budget->lanes[0].foreseen[WEIR_BUDGET_REQUESTS] = 0;
    ck_assert(ask().ok);
}
END_TEST

START_TEST(nothing_goes_to_listen_inside_retry_after)
{
    setup(1);
    budget->reopens_us = now_us + 3 * LISTENS_US;
    now_us = budget->reopens_us;
    ck_assert(!ask().ok);
    now_us += 1;
    ck_assert(ask().ok);
}
END_TEST

START_TEST(of_several_servers_the_one_that_was_silent_for_longest_is_asked)
{
    setup(3);
    now_us += 2 * LISTENS_US;
    struct weir_admission longest = ask();
    ck_assert(longest.ok);
    ck_assert_uint_eq(longest.server_id, 102);
    shut_lanes = 1 << 2;
    ck_assert_uint_eq(ask().server_id, 101);
    budget->lanes[1].quotas[WEIR_BUDGET_REQUESTS].rhythm.uneven = false;
    ck_assert_uint_eq(ask().server_id, 100);
    shut_lanes |= 1;
    ck_assert(!ask().ok);
}
END_TEST

/* What is foreseen beside a rhythm is not more than two buckets of the ledger old. */
START_TEST(what_is_ours_beside_a_rhythm_is_foreseen_once_in_two_buckets)
{
    setup(1);
    struct weir_budget_lane *lane = &budget->lanes[0];
    int64_t two_us = 2 * lane->ledger.bucket_us;
    ask();
    ck_assert_double_eq(lane->foreseen[WEIR_BUDGET_REQUESTS], -1); /* there is none */
    lane->foreseen[WEIR_BUDGET_REQUESTS] = 77;
    now_us = (now_us / two_us + 1) * two_us - 1;
    ask();
    ck_assert_double_eq(lane->foreseen[WEIR_BUDGET_REQUESTS], 77);
    now_us += 1;
    ask();
    ck_assert_double_eq(lane->foreseen[WEIR_BUDGET_REQUESTS], -1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_listen");
    suite_add(&s, one_goes_to_listen_after_a_while_of_silence);
    suite_add(&s, nobody_is_listened_for_who_does_not_come_and_go);
    suite_add(&s, while_one_is_out_it_will_tell);
    suite_add(&s, long_requests_listen_less_often);
    suite_add(&s, after_a_throttle_a_window_is_waited_unless_the_rhythm_is_known);
    suite_add(&s, nothing_goes_to_listen_inside_retry_after);
    suite_add(&s, of_several_servers_the_one_that_was_silent_for_longest_is_asked);
    suite_add(&s, what_is_ours_beside_a_rhythm_is_foreseen_once_in_two_buckets);
    return suite_run(&s);
}
