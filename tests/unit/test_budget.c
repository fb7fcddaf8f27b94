/* SPDX-License-Identifier: MIT */
/*
 * Budget, decision by decision: a policy state that is told what happened and asked what may go.
 * A *row* of the tables is an observation and the decision that has to follow.
 */
#include <string.h>

#include "base/clock.h"
#include "support/budget_rig.h"
#include "support/suite.h"

static double left; /* requests of the job; 0: not known */

static void setup(void)
{
    budget_rig_start(SECONDS(1));
    left = 0;
}

static struct weir_admission ask(uint32_t shut_lanes)
{
    static const struct weir_ask plain;
    struct weir_policy_ask wish = {
        .ask = &plain, .in_flight = budget->flight_count, .shut_lanes = shut_lanes, .left = left
    };
    struct weir_admission ret;
    weir_policy_budget.admit(budget, &wish, now_us, &ret);
    return ret;
}

static struct weir_policy_lease lend(const struct weir_admission *admission)
{
    struct weir_policy_lease lease = {
        .serial = ++serial,
        .lane = admission->lane,
        .server_id = admission->server_id,
        .epoch = weir_policy_budget.epoch(budget),
        .leased_us = now_us,
        .sent_us = now_us,
    };
    weir_policy_budget.leased(budget, &lease, now_us);
    weir_policy_budget.sent(budget, &lease, now_us);
    return lease;
}

static void give_back(const struct weir_policy_lease *lease, struct weir_answer answer)
{
    weir_policy_budget.answered(budget, lease, &answer, WEIR_NEVER, now_us);
}

/* One request after the other, each as long as said, without headers. */
static void work(int requests, int64_t duration_us)
{
    for (int i = 0; i < requests; i++) {
        struct weir_admission any = { 0 };
        struct weir_policy_lease lease = lend(&any);
        now_us += duration_us;
        give_back(&lease, answer_ok(duration_us));
    }
}

/* How many may go at the same moment. */
static int burst(void)
{
    int count = 0;
    for (struct weir_admission it = ask(0); it.ok; it = ask(0)) {
        lend(&it);
        count++;
        must(count < 1000);
    }
    return count;
}

START_TEST(the_first_requests_are_twice_as_many_as_use_the_budget_up)
{
    setup();
    ck_assert_int_eq(burst(), 8); /* 1,200 s in 300 s are 4 */
    struct weir_admission refused = ask(0);
    ck_assert(!refused.ok);
    ck_assert_int_gt(refused.not_before_us, now_us);
    ck_assert_int_eq(refused.bound_by, WEIR_BOUND_GUARD);
}
END_TEST

START_TEST(statistics_before_the_first_request_tell_what_it_would_be_told)
{
    for (int window_s = 20; window_s <= 300; window_s += 280) {
        struct weir_adaptive_rate_stats before, after;
        setup();
        options.budget.window_us = SECONDS(window_s);
        weir_policy_budget.init(budget, &options);
        weir_policy_budget.stats(budget, now_us, &before);
        ck_assert_int_eq(weir_policy_budget.level(budget), before.current_parallelism);
        ck_assert_int_eq(before.current_parallelism, burst());
        weir_policy_budget.stats(budget, now_us, &after);
        ck_assert_int_eq(before.current_parallelism, after.current_parallelism);
        ck_assert_int_eq(before.bound_by, after.bound_by);
    }
}
END_TEST

/* The same, and keep them. */
static int burst_into(struct weir_policy_lease *leases, int most)
{
    int count = 0;
    for (struct weir_admission it = ask(0); it.ok && count < most; it = ask(0))
        leases[count++] = lend(&it);
    return count;
}

/* A second each is assumed, of 1,200; 30 of the 50 that may go at a time go at first. Three of them
 * come back after two seconds, from all over the wave, or those that went first. */
START_TEST(a_short_job_goes_at_once)
{
    static const struct {
        double left;
        int first, then, then_in_order;
    } table[] = {
        { 0, 8, 6, 6 },     /* nobody knows */
        { 5, 8, 45, 45 },   /* (whoever asks knows when there are no more) */
        { 40, 40, 13, 6 },  /* all of it */
        { 200, 30, 23, 6 }, /* most of it when some have come back, unless they come in order */
        { 1100, 30, 0, 0 }, /* which takes too much then: there are more than it may have */
        { 1300, 8, 6, 6 },  /* more than the window */
        { 1e6, 8, 6, 6 },
    };
    for (size_t row = 0; row < 2 * sizeof(table) / sizeof(table[0]); row++) {
        bool in_order = row % 2;
        struct weir_policy_lease leases[64];
        setup();
        left = table[row / 2].left;
        int first = burst_into(leases, 64);
        ck_assert_msg(first == table[row / 2].first, "%g left: %d went", left, first);
        now_us += SECONDS(2);
        for (int i = 1; i <= 3; i++)
            give_back(&leases[in_order ? i : first * i / 4], answer_ok(SECONDS(2)));
        int expected = in_order ? table[row / 2].then_in_order : table[row / 2].then;
        int more = burst();
        ck_assert_msg(more == expected, "%g left: %d more, not %d", left, more, expected);
    }
}
END_TEST

START_TEST(a_short_job_leaves_room_for_somebody_else_and_does_not_hurry_where_little_is_left)
{
    struct weir_policy_lease leases[64];
    setup();
    left = 200;
    int first = burst_into(leases, 64);
    now_us += SECONDS(2);
    for (int i = 1; i <= 3; i++)
        give_back(&leases[first * i / 4], answer_ok(SECONDS(2)));
    budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].foreign = 1;
    ck_assert_int_eq(first - 3 + burst(), 40);
    setup();
    left = 200;
    budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].limit = 150; /* of which it needs all */
    ck_assert_int_le(burst(), 8);
    setup();
    left = 100;
    budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].limit = 150;
    ck_assert_int_eq(burst(), 30);
}
END_TEST

/* A thousand requests of a second each are left, of twelve hundred that there is room for: enough
 * to go on hurrying, and too many to go on if they slow each other. */
START_TEST(a_job_in_a_hurry_whose_requests_slow_each_other_has_to_be_shorter)
{
    for (int fallen = 0; fallen < 2; fallen++) {
        setup();
        work(1, SECONDS(1));
        left = 1000;
        budget->guard.hurried = budget->guard.started = true;
        budget->guard.fallen = fallen;
        ck_assert(ask(0).ok);
        ck_assert_int_eq(budget->guard.hurried, !fallen);
    }
}
END_TEST

/* All that may go, goes, and is answered after so long: the numbers that went, round by round. */
START_TEST(the_start_goes_as_answers_come)
{
    static const struct {
        int64_t first_us, then_us;
        int went[4];
    } table[] = {
        { MS(500), MS(500), { 8, 16, 32, 39 } },  /* no slower: twice as many, up to the pacing */
        { MS(500), MS(560), { 8, 16, 30, 39 } },  /* hardly slower: it waits for two answers */
        { MS(500), MS(2000), { 8, 16, 13, 13 } }, /* four times as slow: half of what was reached */
    };
    for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
        setup();
        for (int round = 0; round < 4; round++) {
            struct weir_policy_lease leases[64];
            int count = burst_into(leases, 64);
            int64_t took_us = round ? table[row].then_us : table[row].first_us;
            now_us += took_us;
            for (int i = 0; i < count; i++)
                give_back(&leases[i], answer_ok(took_us));
            ck_assert_msg(count == table[row].went[round], "row %zu, round %d: %d went", row, round,
                          count);
        }
    }
}
END_TEST

/* Each request of the first wave takes longer for all that went before it. */
START_TEST(the_start_waits_where_the_first_wave_shows_a_knee)
{
    setup();
    struct weir_policy_lease leases[8];
    for (int i = 0; i < 8; i++) {
        struct weir_admission it = ask(0);
        leases[i] = lend(&it);
    }
    ck_assert(!ask(0).ok);
    for (int i = 0; i < 8; i++) {
        now_us += MS(100);
        give_back(&leases[i], answer_ok(MS(500 + 100 * i)));
    }
    ck_assert_int_eq(burst(), 8 + 6); /* six answers do not tell yet */
}
END_TEST

START_TEST(a_full_window_admits_nothing_until_something_leaves_it)
{
    setup();
    work(150, SECONDS(2)); /* 300 s, one at a time, then the rest of it at once */
    for (int i = 0; i < 443; i++) {
        struct weir_admission any = { 0 };
        struct weir_policy_lease lease = lend(&any);
        lease.sent_us = now_us - SECONDS(2);
        budget->flights[0].sent_us = lease.sent_us;
        give_back(&lease, answer_ok(SECONDS(2)));
    }
    struct weir_admission full = ask(0);
    ck_assert(!full.ok);
    ck_assert(full.paced);
    ck_assert_int_eq(full.bound_by, WEIR_BOUND_BUDGET_EXECUTION);
    now_us += SECONDS(60);
    ck_assert(ask(0).ok);
}
END_TEST

/* Nothing is told of execution time, and of requests that plenty are left: by a header that goes by
 * what is sent, or by one that always says the same. */
START_TEST(requests_that_are_told_of_alone_are_believed_if_they_go_by_ours)
{
    for (int falls = 0; falls < 2; falls++) {
        setup();
        for (int i = 1; i <= 6000; i++) {
            struct weir_admission any = { 0 };
            struct weir_policy_lease lease = lend(&any);
            struct weir_answer answer = answer_ok(1000);
            now_us += 1000;
            answer.budget.requests_known = true;
            answer.budget.requests_remaining = 1000000 - (falls ? i : 0);
            give_back(&lease, answer);
        }
        struct weir_admission next = ask(0);
        ck_assert_int_eq(next.ok, falls);
        ck_assert(falls || next.bound_by == WEIR_BOUND_BUDGET_REQUESTS);
    }
}
END_TEST

START_TEST(requests_are_counted_as_well_as_their_time)
{
    setup();
    for (int i = 0; i < 5960; i++) {
        struct weir_admission any = { 0 };
        struct weir_policy_lease lease = lend(&any);
        give_back(&lease, answer_ok(MS(1)));
    }
    struct weir_admission full = ask(0);
    ck_assert(!full.ok);
    ck_assert_int_eq(full.bound_by, WEIR_BOUND_BUDGET_REQUESTS);
    now_us += SECONDS(302);
    ck_assert(ask(0).ok);
}
END_TEST

static struct weir_answer throttle(enum weir_throttle_kind kind, int64_t limit, int64_t window_us)
{
    struct weir_answer answer = answer_throttle(SECONDS(5));
    answer.verdict.throttle = kind;
    answer.verdict.limit = (struct weir_named_limit){ limit, window_us };
    return answer;
}

/* observation: a throttle that names a limit; decision: what is believed afterwards. */
START_TEST(a_throttle_teaches_the_limit_that_it_names)
{
    static const struct {
        enum weir_throttle_kind kind;
        int64_t limit;
        int64_t window_us;
        double requests;
        double execution_s;
        double concurrent;
        double window_s;
    } rows[] = {
        { WEIR_THROTTLE_REQUESTS, 3000, SECONDS(300), 3000, 1200, 50, 300 },
        { WEIR_THROTTLE_REQUESTS, 8000, SECONDS(300), 8000, 1200, 50, 300 },
        { WEIR_THROTTLE_EXECUTION_TIME, 600000, SECONDS(300), 6000, 600, 50, 300 },
        { WEIR_THROTTLE_EXECUTION_TIME, 24000, SECONDS(6), 6000, 24, 50, 6 },
        { WEIR_THROTTLE_EXECUTION_TIME, 0, 0, 6000, 1200, 50, 300 },
        { WEIR_THROTTLE_CONCURRENCY, 2, 0, 6000, 1200, 2, 300 },
        { WEIR_THROTTLE_CONCURRENCY, 0, 0, 6000, 1200, 3, 300 },
        { WEIR_THROTTLE_OTHER, 0, 0, 6000, 1200, 3, 300 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup();
        struct weir_policy_lease lease = { 0 };
        for (int k = 0; k < 4; k++) {
            struct weir_admission any = { 0 };
            lease = lend(&any);
        }
        now_us += MS(50);
        give_back(&lease, throttle(rows[i].kind, rows[i].limit, rows[i].window_us));
        const struct weir_quota *quotas = budget->lanes[0].quotas;
        ck_assert_double_eq_tol(quotas[WEIR_BUDGET_REQUESTS].limit, rows[i].requests, 1e-6);
        ck_assert_double_eq_tol(quotas[WEIR_BUDGET_EXECUTION].limit / 1e6, rows[i].execution_s,
                                1e-6);
        ck_assert_double_eq_tol(budget->concurrent, rows[i].concurrent, 1e-6);
        ck_assert_double_eq_tol((double)budget->window_us / 1e6, rows[i].window_s, 1e-6);
    }
}
END_TEST

START_TEST(the_throttles_of_one_flight_teach_once)
{
    setup();
    struct weir_policy_lease leases[4];
    for (int i = 0; i < 4; i++) {
        struct weir_admission any = { 0 };
        leases[i] = lend(&any);
    }
    for (int i = 0; i < 4; i++)
        give_back(&leases[i], throttle(WEIR_THROTTLE_CONCURRENCY, 0, 0));
    ck_assert_double_eq_tol(budget->concurrent, 1, 1e-6); /* the first had nobody beside it */
    ck_assert_uint_eq(weir_policy_budget.epoch(budget), 1);
    ck_assert_uint_eq(budget->throttle_events, 4);
}
END_TEST

/* A server that charges a share of the time while it runs and says what is left. */
static void serve(uint64_t server_id, int requests, int64_t duration_us, double share,
                  double *used_us)
{
    for (int i = 0; i < requests; i++) {
        struct weir_admission any = { 0 };
        struct weir_policy_lease lease = lend(&any);
        now_us += duration_us;
        *used_us += share * (double)duration_us;
        struct weir_answer answer = answer_ok(duration_us);
        answer.budget = (struct weir_budget_headers){
            .execution_known = true,
            .requests_known = true,
            .requests_remaining = 6000 - (int64_t)serial,
            .execution_remaining_us = (int64_t)(1200e6 - *used_us),
            .server_id = server_id,
        };
        give_back(&lease, answer);
        now_us += i % 3 * SECONDS(0.5); /* so that it can be told from a drift */
    }
}

START_TEST(the_share_that_is_charged_is_read_off_the_headers)
{
    setup();
    double used_us = 0;
    serve(1, 90, SECONDS(2), 0.7, &used_us);
    ck_assert(budget->charging.trusted);
    ck_assert_double_eq_tol(budget->charging.rho, 0.7, 0.02);
    ck_assert_double_lt(budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].foreign, 12e6);
}
END_TEST

START_TEST(headers_that_do_not_move_are_not_trusted)
{
    setup();
    for (int i = 0; i < 60; i++) {
        double used_us = 0;
        serve(1, 1, SECONDS(2), 0, &used_us);
    }
    ck_assert(!budget->charging.trusted);
    ck_assert_double_eq_tol(budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].limit, 1200e6, 1);
}
END_TEST

START_TEST(a_header_that_says_less_is_believed_at_once)
{
    setup();
    double used_us = 1200e6 - 60e6;
    serve(1, 1, SECONDS(2), 1, &used_us);
    int count = burst();
    ck_assert_int_ge(count, 1);
    const struct weir_quota *quota = &budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION];
    double foreign = weir_quota_foreign(quota, 0, false, budget->window_us, now_us);
    ck_assert_double_lt(weir_quota_beside(quota, foreign), 62e6);
}
END_TEST

START_TEST(a_new_server_gets_a_lane_and_no_more_than_there_are)
{
    setup();
    double used_us = 0;
    for (uint64_t id = 1; id <= WEIR_LANES_MAX + 4; id++)
        serve(id, 1, MS(10), 1, &used_us);
    ck_assert_uint_eq(budget->lane_count, WEIR_LANES_MAX);
}
END_TEST

START_TEST(lanes_are_chosen_once_the_cookie_holds_and_no_longer_than_it_does)
{
    setup();
    double used_us = 0;
    serve(1, 2, MS(10), 1, &used_us);
    serve(2, 2, MS(10), 1, &used_us);
    for (int i = 0; i < 20; i++) {
        struct weir_admission to = { .server_id = 1 + i % 2 };
        struct weir_policy_lease lease = lend(&to);
        struct weir_answer answer = answer_ok(MS(10));
        answer.budget.server_id = to.server_id;
        give_back(&lease, answer);
    }
    ck_assert(budget->pinned);
    struct weir_admission first_shut = ask(1);
    ck_assert(first_shut.ok);
    ck_assert_uint_eq(first_shut.lane, 1);
    for (int i = 0; i < 20; i++) {
        struct weir_admission to = { .server_id = 1 };
        struct weir_policy_lease lease = lend(&to);
        struct weir_answer answer = answer_ok(MS(10));
        answer.budget.server_id = 2;
        give_back(&lease, answer);
    }
    ck_assert(!budget->pinned);
}
END_TEST

START_TEST(what_was_learned_outlives_a_restart_and_ages)
{
    static unsigned char bytes[1024 * 1024];
    setup();
    double used_us = 0;
    serve(9, 100, SECONDS(2), 0.8, &used_us);
    budget->concurrent = 17;
    size_t len = weir_policy_budget.save(budget, now_us, bytes, sizeof(bytes));
    ck_assert_uint_gt(len, 0);
    ck_assert_uint_eq(weir_policy_budget.save(budget, now_us, bytes, len - 1), 0);
    weir_policy_budget.save(budget, now_us, bytes, len);
    double before = weir_budget_used(budget, 0, WEIR_BUDGET_EXECUTION, now_us);
    int64_t saved_us = now_us;

    setup();
    now_us = SECONDS(5000);
    ck_assert(weir_policy_budget.load(budget, bytes, len, 0, now_us));
    ck_assert_double_eq_tol(budget->concurrent, 17, 1e-9);
    ck_assert_uint_eq(budget->lanes[0].server_id, 9);
    double after = weir_budget_used(budget, 0, WEIR_BUDGET_EXECUTION, now_us);
    ck_assert_double_eq_tol(after, before, 0.02 * 1200e6);

    setup();
    now_us = saved_us + SECONDS(400);
    ck_assert(weir_policy_budget.load(budget, bytes, len, SECONDS(400), now_us));
    ck_assert_double_eq_tol(weir_budget_used(budget, 0, WEIR_BUDGET_EXECUTION, now_us), 0, 1);

    bytes[0] ^= 1;
    ck_assert(!weir_policy_budget.load(budget, bytes, len, 0, now_us));
    bytes[0] ^= 1;
    ck_assert(!weir_policy_budget.load(budget, bytes, len - 8, 0, now_us));
    ck_assert(!weir_policy_budget.load(budget, bytes, 0, 0, now_us));
}
END_TEST

START_TEST(any_bytes_are_refused_or_harmless)
{
    static unsigned char bytes[1024 * 1024];
    setup();
    double used_us = 0;
    serve(9, 30, SECONDS(2), 0.8, &used_us);
    size_t len = weir_policy_budget.save(budget, now_us, bytes, sizeof(bytes));
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int i = 0; i < 2000; i++) {
        size_t at = weir_rng_below(&rng, len);
        unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)weir_rng_below(&rng, 256);
        setup();
        weir_policy_budget.load(budget, bytes, len, SECONDS(1), now_us);
        ask(0);
        double room = weir_policy_budget.headroom(budget, now_us);
        must(room <= 1);
        bytes[at] = kept;
    }
}
END_TEST

/* Ten in flight use 1,200 s up in 120 s. What is said on the way has to be right to a twentieth. */
START_TEST(a_throttle_is_predicted_as_long_as_nobody_holds_back)
{
    struct weir_policy_lease leases[10];
    struct weir_admission any = { 0 };
    struct weir_adaptive_rate_stats stats;
    setup();
    weir_policy_budget.stats(budget, now_us, &stats);
    ck_assert_int_eq(stats.predicted_throttle_in_us, -1);
    int64_t begin_us = now_us;
    for (int i = 0; i < 10; i++)
        leases[i] = lend(&any);
    for (int round = 1; round < 55; round++) {
        now_us += SECONDS(2);
        for (int i = 0; i < 10; i++) {
            give_back(&leases[i], answer_ok(SECONDS(2)));
            leases[i] = lend(&any);
        }
        weir_policy_budget.stats(budget, now_us, &stats);
        int64_t wrong_us = now_us + stats.predicted_throttle_in_us - (begin_us + SECONDS(120));
        if (round > 5)
            must(stats.predicted_throttle_in_us >= 0 && llabs(wrong_us) < SECONDS(6));
    }
}
END_TEST

START_TEST(the_connection_with_most_left_is_chosen)
{
    struct rig rig;
    rig_init(&rig, 2);
    rig.options.adaptive_rate.policy = "Budget";
    rig.options.pool.selection_strategy = "Headroom";
    rig_start(&rig);
    struct weir_lease first = rig_lease(&rig);
    rig.now_us += SECONDS(30);
    rig_settle(&rig, first, answer_ok(SECONDS(30)));
    for (int i = 0; i < 3; i++) {
        struct weir_lease lease = rig_lease(&rig);
        ck_assert_uint_ne(lease.connection, first.connection);
    }
    rig_release(&rig);
}
END_TEST

START_TEST(headroom_without_books_goes_by_leases_and_around_throttles)
{
    struct rig rig;
    rig_init(&rig, 3);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 4;
    rig.options.pool.selection_strategy = "Headroom";
    rig_start(&rig);
    struct weir_lease first = rig_lease(&rig);
    ck_assert_uint_eq(first.connection, 0);
    ck_assert_uint_eq(rig_lease(&rig).connection, 1);
    ck_assert_uint_eq(rig_lease(&rig).connection, 2);
    rig_settle(&rig, first, answer_throttle(SECONDS(60)));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_ne(rig_lease(&rig).connection, 0);
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget");
    suite_add(&s, the_first_requests_are_twice_as_many_as_use_the_budget_up);
    suite_add(&s, statistics_before_the_first_request_tell_what_it_would_be_told);
    suite_add(&s, a_short_job_goes_at_once);
    suite_add(&s,
              a_short_job_leaves_room_for_somebody_else_and_does_not_hurry_where_little_is_left);
    suite_add(&s, a_job_in_a_hurry_whose_requests_slow_each_other_has_to_be_shorter);
    suite_add(&s, the_start_goes_as_answers_come);
    suite_add(&s, the_start_waits_where_the_first_wave_shows_a_knee);
    suite_add(&s, a_full_window_admits_nothing_until_something_leaves_it);
    suite_add(&s, requests_that_are_told_of_alone_are_believed_if_they_go_by_ours);
    suite_add(&s, requests_are_counted_as_well_as_their_time);
    suite_add(&s, a_throttle_teaches_the_limit_that_it_names);
    suite_add(&s, the_throttles_of_one_flight_teach_once);
    suite_add(&s, the_share_that_is_charged_is_read_off_the_headers);
    suite_add(&s, headers_that_do_not_move_are_not_trusted);
    suite_add(&s, a_header_that_says_less_is_believed_at_once);
    suite_add(&s, a_new_server_gets_a_lane_and_no_more_than_there_are);
    suite_add(&s, lanes_are_chosen_once_the_cookie_holds_and_no_longer_than_it_does);
    suite_add(&s, what_was_learned_outlives_a_restart_and_ages);
    suite_add(&s, any_bytes_are_refused_or_harmless);
    suite_add(&s, a_throttle_is_predicted_as_long_as_nobody_holds_back);
    suite_add(&s, the_connection_with_most_left_is_chosen);
    suite_add(&s, headroom_without_books_goes_by_leases_and_around_throttles);
    return suite_run(&s);
}
