/* SPDX-License-Identifier: MIT */
/*
 * Budget where things are not as published: limits that cannot be, servers that draw on one
 * account, more than there is room for, answers that never came.
 */
#include <string.h>

#include "base/clock.h"
#include "support/budget_rig.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void setup(void)
{
    budget_rig_start(SECONDS(1000));
}

static struct weir_admission ask(void)
{
    static const struct weir_ask plain;
    struct weir_policy_ask wish = { .ask = &plain, .in_flight = budget->flight_count };
    struct weir_admission ret;
    weir_policy_budget.admit(budget, &wish, now_us, &ret);
    return ret;
}

static struct weir_policy_lease lend_to(uint64_t server, uint32_t kind)
{
    struct weir_policy_lease lease = {
        .serial = ++serial,
        .kind = kind,
        .server_id = server,
        .epoch = weir_policy_budget.epoch(budget),
        .leased_us = now_us,
        .sent_us = now_us,
    };
    weir_policy_budget.leased(budget, &lease, now_us);
    weir_policy_budget.sent(budget, &lease, now_us);
    return lease;
}

static struct weir_policy_lease lend(uint32_t kind)
{
    return lend_to(0, kind); /* any */
}

static void give_back(const struct weir_policy_lease *lease, struct weir_answer answer)
{
    weir_policy_budget.answered(budget, lease, &answer, now_us + SECONDS(5), now_us);
}

static struct weir_answer throttle(enum weir_throttle_kind kind, int64_t limit, int64_t window_us)
{
    struct weir_answer answer = answer_throttle(SECONDS(5));
    answer.verdict.throttle = kind;
    answer.verdict.limit = (struct weir_named_limit){ limit, window_us };
    return answer;
}

static void be_throttled(enum weir_throttle_kind kind, int64_t limit, int64_t window_us)
{
    struct weir_policy_lease lease = lend(0);
    give_back(&lease, throttle(kind, limit, window_us));
}

static double limit_of(int which)
{
    return budget->lanes[0].quotas[which].limit;
}

/* --- throttles -------------------------------------------------------------------------------- */

/* Else a service, or whoever answers in its place, could stop a job for ever with one sentence. */
START_TEST(a_throttle_that_names_what_no_service_has_teaches_neither_limit_nor_window)
{
    static const struct {
        enum weir_throttle_kind kind;
        int64_t limit;
        int64_t window_us;
    } rows[] = {
        { WEIR_THROTTLE_REQUESTS, 1, 0 },
        { WEIR_THROTTLE_REQUESTS, 19, 0 },
        { WEIR_THROTTLE_REQUESTS, INT64_C(9000000000000), 0 },
        { WEIR_THROTTLE_REQUESTS, 0, INT64_MAX },
        { WEIR_THROTTLE_REQUESTS, 0, SECONDS(3601) },
        { WEIR_THROTTLE_REQUESTS, 0, 1 },
        { WEIR_THROTTLE_EXECUTION_TIME, 1, 0 },
        { WEIR_THROTTLE_EXECUTION_TIME, INT64_C(9000000000000), INT64_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        setup();
        be_throttled(rows[i].kind, rows[i].limit, rows[i].window_us);
        ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_REQUESTS), 6000, 1e-6);
        ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.2e9, 1e-3);
        ck_assert_int_eq(budget->window_us, SECONDS(300));
        now_us += SECONDS(600);
        ck_assert(ask().ok);
    }
}
END_TEST

START_TEST(a_window_that_is_named_begins_the_books_of_every_lane_anew)
{
    setup();
    for (uint64_t server = 1; server <= 3; server++) {
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(SECONDS(1));
        answer.budget.server_id = server;
        give_back(&lease, answer);
    }
    ck_assert_uint_eq(budget->lane_count, 3);
    be_throttled(WEIR_THROTTLE_REQUESTS, 600, SECONDS(60));
    ck_assert_int_eq(budget->window_us, SECONDS(60));
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(budget->lanes[i].ledger.window_us, SECONDS(60));
        ck_assert_double_eq_tol(budget->lanes[i].quotas[WEIR_BUDGET_REQUESTS].limit, 600, 1e-6);
    }
    be_throttled(WEIR_THROTTLE_REQUESTS, 600,
                 SECONDS(60) + 1000); /* the same, but for a rounding */
    ck_assert_int_eq(budget->window_us, SECONDS(60));
    be_throttled(WEIR_THROTTLE_REQUESTS, 600, SECONDS(600));
    ck_assert_int_eq(budget->window_us, SECONDS(600));
}
END_TEST

START_TEST(without_a_window_of_its_own_it_is_the_published_one)
{
    setup();
    options.budget.window_us = 0;
    weir_policy_budget.init(budget, &options);
    ck_assert_int_eq(budget->window_us, SECONDS(300));
}
END_TEST

/* Our own requests explain it: no ghost, and nothing to learn of the share that is charged. */
START_TEST(a_throttle_that_our_own_requests_explain_haunts_nobody)
{
    setup();
    for (int i = 0; i < 5900; i++) {
        struct weir_policy_lease lease = lend(0);
        give_back(&lease, answer_ok(MS(1)));
    }
    be_throttled(WEIR_THROTTLE_REQUESTS, 0, 0);
    ck_assert_double_eq_tol(budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].ghost, 0, 1e-9);
    ck_assert_double_eq_tol(budget->blind_rho, 1, 1e-9);
    setup();
    be_throttled(WEIR_THROTTLE_REQUESTS, 0, 0); /* after one request: somebody else's */
    const struct weir_quota *quota = &budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS];
    ck_assert(quota->ghost > 5000);
    double now = weir_quota_foreign(quota, 0, false, SECONDS(300), now_us);
    double later = weir_quota_foreign(quota, 0, false, SECONDS(300), now_us + SECONDS(301));
    ck_assert(weir_quota_beside(quota, now) < 1000);
    ck_assert(weir_quota_beside(quota, later) > 5000);
}
END_TEST

START_TEST(what_will_have_been_kept_is_not_loaded)
{
    static char bytes[WEIR_LESSON_BYTES_MAX];
    setup();
    size_t len = weir_policy_budget.save(budget, now_us, bytes, sizeof(bytes));
    ck_assert_uint_gt(len, 0);
    ck_assert(weir_policy_budget.load(budget, bytes, len, 0, now_us));
    ck_assert(!weir_policy_budget.load(budget, bytes, len, -1, now_us));
    ck_assert_uint_eq(weir_policy_budget.save(budget, now_us, bytes, 100), 0); /* no room */
}
END_TEST

START_TEST(as_many_at_a_time_as_are_named_or_one_fewer_than_there_were_but_one)
{
    setup();
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 60, 0); /* more than we send: somebody else is there */
    ck_assert_double_eq_tol(budget->concurrent, 0.85 * 50, 1e-6);
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 8, 0); /* within the Retry-After of the first */
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 0, 0);
    ck_assert_double_eq_tol(budget->concurrent, 0.85 * 50, 1e-6);
    now_us += SECONDS(6);
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 8, 0);
    ck_assert_double_eq_tol(budget->concurrent, 8, 1e-6);
    now_us += SECONDS(6);
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 0, 0); /* it was alone */
    ck_assert_double_eq_tol(budget->concurrent, 1, 1e-6);
    ck_assert(ask().ok);
    struct weir_policy_lease out = lend(0);
    struct weir_admission full = ask();
    ck_assert(!full.ok && !full.paced); /* only an answer helps */
    give_back(&out, answer_ok(MS(1)));
    for (int i = 0; i < 14; i++) { /* after twelve windows, one more with every clean one */
        struct weir_policy_lease lease = lend(0);
        now_us += SECONDS(301);
        give_back(&lease, answer_ok(SECONDS(1)));
        double expected = i < 11 ? 1 : i - 9;
        ck_assert_double_eq_tol(budget->concurrent, expected, 1e-6);
    }
}
END_TEST

START_TEST(a_throttle_that_names_no_number_does_not_raise_the_one_that_was_named)
{
    struct weir_policy_lease out[12];
    setup();
    be_throttled(WEIR_THROTTLE_CONCURRENCY, 8, 0);
    ck_assert_double_eq(budget->concurrent, 8);
    now_us += SECONDS(6);
    for (size_t i = 0; i < COUNT(out); i++)
        out[i] = lend(0);
    give_back(&out[11], throttle(WEIR_THROTTLE_CONCURRENCY, 0, 0));
    ck_assert_double_eq(budget->concurrent, 8);
    ck_assert_int_eq(budget->concurrent_us, now_us); /* though it was heard */
}
END_TEST

/* --- the share that is charged ---------------------------------------------------------------- */

/* Of the twenty minutes of a window, so much is used, and a smaller share was tried so long ago. */
static void use_share(double used_s, double rho, int64_t tried_ago_us)
{
    setup();
    budget->blind_rho = rho;
    struct weir_policy_lease lease = lend(0);
    struct weir_answer answer = answer_ok(SECONDS(used_s / rho));
    if (used_s > 0)
        give_back(&lease, answer);
    budget->tried_us = tried_ago_us < 0 ? WEIR_NEVER : now_us - tried_ago_us;
}

START_TEST(a_higher_limit_takes_back_a_smaller_share_unless_our_use_explains_it)
{
    static const struct {
        double used_s;
        int64_t tried_ago_us;
        double rho; /* afterwards */
    } rows[] = {
        { 1000, 1, 1 }, /* and never to more than all of it */
        { 1500, 1, 0.5 * 2400 / 1500 },
        { 1500, -1, 0.5 }, /* nothing was tried */
        { 0, 1, 0.5 },     /* nothing was used */
        { 2000, 1, 0.5 },  /* as much as explains it */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        use_share(rows[i].used_s, 0.5, rows[i].tried_ago_us);
        be_throttled(WEIR_THROTTLE_EXECUTION_TIME, 2400 * 1000, 0);
        ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 2.4e9, 1);
        ck_assert_double_eq_tol(budget->blind_rho, rows[i].rho, 0.001);
        ck_assert_int_eq(budget->blind_failed, rows[i].rho != 0.5);
    }
}
END_TEST

/* Two thirds of the limit are used: what was tried is to blame if that was a moment ago. */
START_TEST(a_share_that_was_tried_long_ago_or_has_failed_is_not_what_a_throttle_is_about)
{
    static const struct {
        int64_t tried_ago_us;
        bool failed;
        bool blamed;
    } rows[] = {
        { SECONDS(100), false, true },
        { SECONDS(301), false, false },
        { SECONDS(100), true, false },
        { -1, false, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        use_share(800, 0.5, rows[i].tried_ago_us);
        budget->blind_failed = rows[i].failed;
        be_throttled(WEIR_THROTTLE_EXECUTION_TIME, 0, 0);
        ck_assert_double_eq_tol(budget->blind_rho, rows[i].blamed ? 0.75 : 0.5, 0.001);
        ck_assert_int_eq(budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].ghost > 0, !rows[i].blamed);
    }
}
END_TEST

/* --- more throttles --------------------------------------------------------------------------- */

START_TEST(caution_grows_with_every_throttle_up_to_a_tenth_and_fades)
{
    setup();
    for (int i = 0; i < 30; i++)
        be_throttled(WEIR_THROTTLE_REQUESTS, 0, 0);
    ck_assert(budget->caution > 0.09 && budget->caution < 0.12);
    double before = budget->caution;
    struct weir_policy_lease lease = lend(0);
    now_us += SECONDS(301);
    give_back(&lease, answer_ok(SECONDS(1)));
    ck_assert(budget->caution < before);
}
END_TEST

START_TEST(a_throttle_on_another_server_shuts_that_one)
{
    setup();
    for (uint64_t server = 1; server <= 2; server++) {
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(SECONDS(1));
        answer.budget.server_id = server;
        give_back(&lease, answer);
    }
    struct weir_policy_lease lease = lend(0); /* lane 0 */
    struct weir_answer answer = throttle(WEIR_THROTTLE_REQUESTS, 0, 0);
    answer.budget.server_id = 2;
    give_back(&lease, answer);
    ck_assert_int_eq(budget->lanes[1].shut_us, now_us + SECONDS(5));
    ck_assert_int_eq(budget->lanes[0].shut_us, WEIR_NEVER);
    budget->pinned = true;                                     /* lanes can be chosen */
    budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].limit /= 2; /* the other one has more left */
    budget->search_lease = budget->leases;
    ck_assert(ask().ok);
    ck_assert_uint_eq(ask().lane, 0);
    now_us += SECONDS(6);
    ck_assert_uint_eq(ask().lane, 1);
}
END_TEST

/* What was sent a moment ago need not be in the header yet: it is left out of a higher limit that
 * shows, and given back by the next answer that nothing is in flight beside. */
START_TEST(a_higher_limit_is_first_what_had_surely_been_sent)
{
    setup();
    const struct weir_quota *requests = &budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS];
    struct weir_policy_lease out[3];
    for (int i = 0; i < 3; i++)
        out[i] = lend(0);
    for (int i = 1; i <= 25; i++) {
        struct weir_policy_lease lease = lend(0);
        now_us += MS(50);
        struct weir_answer answer = answer_ok(MS(50));
        answer.budget.requests_known = true;
        answer.budget.requests_remaining = 8000 - 3 - i;
        give_back(&lease, answer);
    }
    ck_assert_double_gt(budget->lanes[0].left_out, 0);
    ck_assert_double_ge(requests->limit, 7990);
    ck_assert_double_lt(requests->limit, 8000);
    for (int i = 0; i < 3; i++) {
        struct weir_answer answer = answer_ok(SECONDS(2));
        answer.budget.requests_known = true;
        answer.budget.requests_remaining = 8000 - 28;
        give_back(&out[i], answer);
    }
    ck_assert_double_eq(requests->limit, 8000);
    ck_assert_double_eq(budget->lanes[0].left_out, 0);
}
END_TEST

/* Somebody may have used all of it in one request, or the header is mistaken. */
START_TEST(no_time_left_while_no_requests_are_missing_does_not_stop_us_for_good)
{
    setup();
    struct weir_policy_lease lease = lend(0);
    struct weir_answer answer = answer_ok(SECONDS(1));
    answer.budget.requests_known = answer.budget.execution_known = true;
    answer.budget.requests_remaining = 5999;
    answer.budget.execution_remaining_us = 0;
    give_back(&lease, answer);
    now_us += SECONDS(1);
    ck_assert(ask().ok);
    ck_assert(budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].unbacked);
    ck_assert_double_gt(budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].limit, 1e9);
}
END_TEST

/* A throttle names six seconds in a window of twelve, and a header that one of them is left, which
 * is no room for a request; nothing says that the other five will ever leave. */
START_TEST(after_a_window_of_silence_one_goes_to_look)
{
    setup();
    for (int i = 0; i < 2; i++) {
        struct weir_policy_lease lease = lend(0);
        now_us += SECONDS(1);
        struct weir_answer answer = throttle(WEIR_THROTTLE_EXECUTION_TIME, 5999, SECONDS(12));
        answer.budget.execution_known = true;
        answer.budget.execution_remaining_us = SECONDS(1);
        give_back(&lease, answer);
    }
    int64_t open_us = now_us + SECONDS(5); /* the Retry-After is over */
    while (!ask().ok && now_us < open_us + SECONDS(100))
        now_us += MS(100);
    ck_assert_int_ge(now_us - open_us, SECONDS(12));
    ck_assert_int_le(now_us - open_us, SECONDS(13));
    lend(0);
    ck_assert(!ask().ok); /* and only one */
}
END_TEST

/* --- one account or several ------------------------------------------------------------------- */

enum headers {
    NONE,
    ALWAYS_THE_SAME,
    TELLING
};

static void setup_two_servers(enum headers headers)
{
    setup();
    for (int i = 0; i < 4; i++) {
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(SECONDS(1));
        answer.budget.server_id = 1 + i % 2;
        answer.budget.requests_known = headers != NONE;
        answer.budget.requests_remaining = headers == TELLING ? 5990 - i : 5990;
        give_back(&lease, answer);
    }
}

/* A throttle that names 52, for the last of so many at a time. */
static void be_throttled_with(int at_a_time, int64_t then_us)
{
    struct weir_policy_lease held[65];
    must(at_a_time <= 65);
    for (int j = 0; j < at_a_time; j++)
        held[j] = lend(0);
    struct weir_answer answer = throttle(WEIR_THROTTLE_CONCURRENCY, 52, 0);
    answer.budget.server_id = 1;
    give_back(&held[at_a_time - 1], answer);
    for (int j = 0; j < at_a_time - 1; j++) {
        answer = answer_ok(SECONDS(1));
        answer.budget.server_id = 1 + j % 2;
        give_back(&held[j], answer);
    }
    now_us += then_us;
}

/* The same for 55, most of which were meant for one server and went there. */
static void be_throttled_alone(void)
{
    struct weir_policy_lease held[55];
    budget->pinned = true;
    for (int j = 0; j < 55; j++)
        held[j] = lend_to(j < 10 ? 2 : 1, 0);
    for (int j = 54; j >= 0; j--) {
        struct weir_answer answer =
            j == 54 ? throttle(WEIR_THROTTLE_CONCURRENCY, 52, 0) : answer_ok(SECONDS(1));
        answer.budget.server_id = held[j].server_id;
        give_back(&held[j], answer);
    }
    budget->pinned = false;
    now_us += SECONDS(10);
}

/* Two servers; throttles of 55 at a time, each for a flight after the last. */
static void be_throttled_together(enum headers headers, int times)
{
    setup_two_servers(headers);
    for (int i = 0; i < times; i++)
        be_throttled_with(55, SECONDS(10));
}

START_TEST(without_headers_two_throttles_of_all_servers_together_tell_one_account)
{
    be_throttled_together(NONE, 1);
    ck_assert_uint_eq(budget->lane_count, 2);
    be_throttled_together(NONE, 2);
    ck_assert_uint_eq(budget->lane_count, 1);
    be_throttled_together(TELLING, 5); /* headers know better, … */
    ck_assert_uint_eq(budget->lane_count, 2);
    be_throttled_together(ALWAYS_THE_SAME, 2); /* … if they know anything */
    ck_assert_uint_eq(budget->lane_count, 1);
}
END_TEST

START_TEST(throttles_that_one_account_does_not_explain_do_not_tell_of_one)
{
    setup_two_servers(NONE);
    for (int i = 0; i < 5; i++) {
        be_throttled_with(40, SECONDS(10)); /* one account would have borne them, … */
        be_throttled_with(65, SECONDS(10)); /* … or would have said so before */
    }
    ck_assert_uint_eq(budget->lane_count, 2);
    be_throttled_with(55, SECONDS(10));
    be_throttled_alone(); /* that server has reached its limit by itself */
    be_throttled_with(55, SECONDS(10));
    ck_assert_uint_eq(budget->lane_count, 2);
    be_throttled_with(55, SECONDS(10));
    ck_assert_uint_eq(budget->lane_count, 1);
}
END_TEST

START_TEST(two_throttles_of_one_moment_tell_as_much_as_one)
{
    setup_two_servers(NONE);
    be_throttled_with(55, SECONDS(1));
    be_throttled_with(55, SECONDS(10));
    ck_assert_uint_eq(budget->lane_count, 2);
    be_throttled_with(55, SECONDS(10));
    ck_assert_uint_eq(budget->lane_count, 1);
}
END_TEST

/* Requests to two servers in turn, each of which has an answer at once. */
static void send_to_both(int count)
{
    for (int i = 0; i < count; i++) {
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(MS(1));
        answer.budget.server_id = 1 + (uint64_t)(i % 2);
        give_back(&lease, answer);
    }
}

static void be_throttled_at(uint64_t server)
{
    struct weir_policy_lease lease = lend(0);
    struct weir_answer answer = throttle(WEIR_THROTTLE_REQUESTS, 0, 0);
    answer.budget.server_id = server;
    give_back(&lease, answer);
}

/* The first of them is somebody else's as far as anybody knows; the second is explained. */
START_TEST(a_throttle_that_tells_of_one_account_haunts_nobody)
{
    setup_two_servers(NONE);
    now_us += SECONDS(301); /* in the first window there may be what was used before us */
    send_to_both(6000);
    be_throttled_at(1);
    ck_assert_uint_eq(budget->lane_count, 2);
    ck_assert_double_gt(budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].ghost, 2900);
    ck_assert_double_eq(budget->lanes[1].quotas[WEIR_BUDGET_REQUESTS].ghost, 0);
    now_us += SECONDS(10);
    be_throttled_at(2);
    ck_assert_uint_eq(budget->lane_count, 1);
    ck_assert_double_eq(budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].ghost, 0);
    ck_assert_double_eq(budget->lanes[1].quotas[WEIR_BUDGET_REQUESTS].ghost, 0); /* nor was it */
    now_us += SECONDS(400); /* nothing of ours is left: now it is somebody else's */
    be_throttled_at(1);
    ck_assert_double_gt(budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS].ghost, 5900);
}
END_TEST

/* Five requests to one server, then five to the other; each says what is left of its account. */
static void take_turns(bool one_account)
{
    double own[2] = { 0 };
    double all = 0;
    for (int i = 0; i < 400; i++) {
        int server = i / 5 % 2;
        struct weir_policy_lease lease = lend(0);
        now_us += MS(50);
        own[server]++;
        all++;
        struct weir_answer answer = answer_ok(MS(50));
        answer.budget.server_id = 7 + (uint64_t)server;
        answer.budget.requests_known = true;
        answer.budget.requests_remaining = (int64_t)(6000 - (one_account ? all : own[server]));
        give_back(&lease, answer);
    }
}

START_TEST(servers_that_draw_on_one_account_have_one_lane)
{
    setup();
    struct weir_policy_lease out = lend(0); /* all the time */
    take_turns(true);
    ck_assert_uint_eq(budget->flights[0].lane, WEIR_BUDGET_ANY);
    give_back(&out, answer_ok(MS(50)));
    ck_assert(budget->shared);
    ck_assert_uint_eq(budget->lane_count, 1);
    ck_assert(!budget->pinned);
    double booked = weir_budget_requests_on(budget, 0, now_us);
    ck_assert_msg(booked > 390 && booked < 410, "%f", booked); /* the books of both */
    take_turns(true); /* … and it stays so, whoever answers */
    ck_assert_uint_eq(budget->lane_count, 1);
}
END_TEST

START_TEST(servers_with_accounts_of_their_own_keep_their_lanes)
{
    setup();
    take_turns(false);
    for (int i = 0; i < 20; i++) { /* nothing left is no news of whose it was */
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(MS(50));
        answer.budget.server_id = 7 + (uint64_t)(i % 2);
        answer.budget.requests_known = true;
        give_back(&lease, answer);
    }
    ck_assert(!budget->shared);
    ck_assert_uint_eq(budget->lane_count, 2);
}
END_TEST

/* --- more than there is room for -------------------------------------------------------------- */

START_TEST(flights_beyond_those_that_are_kept_are_booked_all_the_same)
{
    static struct weir_policy_lease leases[WEIR_BUDGET_FLIGHTS_MAX + 8];
    setup();
    for (size_t i = 0; i < COUNT(leases); i++)
        leases[i] = lend(0);
    ck_assert_uint_eq(budget->flight_count, WEIR_BUDGET_FLIGHTS_MAX);
    ck_assert(!ask().ok);
    now_us += SECONDS(1);
    for (size_t i = COUNT(leases); i-- > 0;)
        give_back(&leases[i], answer_ok(SECONDS(1)));
    ck_assert_uint_eq(budget->flight_count, 0);
    double booked = weir_budget_requests_on(budget, 0, now_us + SECONDS(1));
    ck_assert_double_eq_tol(booked, (double)COUNT(leases), 1);
}
END_TEST

/* Each server would take a hundred, of a job that is over soon. */
START_TEST(all_servers_together_are_not_given_more_than_flights_are_kept)
{
    setup();
    for (uint64_t server = 1; server <= WEIR_LANES_MAX; server++) {
        struct weir_policy_lease lease = lend(0);
        struct weir_answer answer = answer_ok(SECONDS(1));
        answer.budget.server_id = server;
        give_back(&lease, answer);
    }
    ck_assert_uint_eq(budget->lane_count, WEIR_LANES_MAX);
    budget->apart = WEIR_BUDGET_APART;
    budget->concurrent = budget->guard.cap = 100;
    budget->guard.started = true;
    now_us += SECONDS(1);
    static const struct weir_ask plain;
    struct weir_policy_ask wish = { .ask = &plain, .left = 2000 };
    struct weir_admission ret;
    weir_policy_budget.admit(budget, &wish, now_us, &ret);
    ck_assert(ret.ok);
    ck_assert_int_eq(weir_policy_budget.level(budget), WEIR_BUDGET_FLIGHTS_MAX);
}
END_TEST

START_TEST(of_too_many_kinds_the_least_known_is_forgotten)
{
    setup();
    for (uint32_t kind = 0; kind < WEIR_BUDGET_KINDS + 1; kind++) {
        int samples = kind == 3 ? 1 : 5;
        for (int i = 0; i < samples; i++) {
            struct weir_policy_lease lease = lend(kind);
            now_us += MS(10 * (kind + 1));
            give_back(&lease, answer_ok(MS(10 * (kind + 1))));
        }
    }
    ck_assert_double_eq_tol(weir_budget_expected_us(budget, 0, now_us), 10e3, 1);
    ck_assert_double_eq_tol(weir_budget_expected_us(budget, 3, now_us), 1e6, 1); /* not known */
}
END_TEST

/* --- answers ---------------------------------------------------------------------------------- */

START_TEST(what_was_not_sent_is_not_booked)
{
    setup();
    struct weir_policy_lease lease = lend(0);
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    now_us += SECONDS(1);
    give_back(&lease, unsent);
    ck_assert_double_eq_tol(weir_budget_requests_on(budget, 0, now_us + SECONDS(1)), 0, 1e-9);
    ck_assert_uint_eq(budget->flight_count, 0);
}
END_TEST

/* It may have been executed: for as long as it was out, or as long as such a request takes. */
START_TEST(an_answer_that_never_came_is_booked_as_if_it_had)
{
    static const struct {
        int64_t out_us;
        double booked_s;
    } rows[] = { { SECONDS(0.1), 1 }, { SECONDS(30), 30 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        setup();
        struct weir_policy_lease lease = lend(0); /* a second is expected */
        now_us += rows[i].out_us;
        struct weir_answer silence = { .verdict = { .class_ = WEIR_CLASS_TRANSIENT,
                                                    .outcome = WEIR_OUTCOME_UNKNOWN,
                                                    .retry_after_us = -1 } };
        give_back(&lease, silence);
        double used = weir_budget_used(budget, 0, WEIR_BUDGET_EXECUTION, now_us + SECONDS(2));
        ck_assert_double_eq_tol(used / 1e6, rows[i].booked_s, 0.2);
    }
}
END_TEST

/* --- exploring -------------------------------------------------------------------------------- */

/* An answer after so long, and whether the execution budget was what held us back. */
static void be_bound(bool bound, int64_t after_us)
{
    budget->was_bound = bound;
    struct weir_policy_lease lease = lend(0);
    now_us += after_us;
    budget->clean_us = now_us - SECONDS(250); /* no window ends meanwhile */
    give_back(&lease, answer_ok(MS(1)));
}

START_TEST(more_than_the_known_limits_is_tried_by_option_and_not_soon_after_a_throttle)
{
    setup();
    be_bound(true, MS(1));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.2e9, 1); /* nobody asked for it */
    setup();
    options.budget.explore = true;
    be_bound(false, MS(1));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.2e9, 1); /* there is enough */
    budget->charging.trusted = true; /* headers say what is left */
    be_bound(true, MS(1));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.2e9, 1);
    budget->charging.trusted = false;
    be_bound(true, MS(1));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.5e9, 1);
    be_bound(true, SECONDS(10));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.5e9, 1); /* thrice in a window */
    be_bound(true, SECONDS(101));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.875e9, 1);
    be_throttled(WEIR_THROTTLE_REQUESTS, 0, 0);
    be_bound(true, SECONDS(301));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 1.875e9, 1);
    be_bound(true, 12 * SECONDS(300));
    ck_assert_double_eq_tol(limit_of(WEIR_BUDGET_EXECUTION), 2.34375e9, 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_edges");
    suite_add(&s, a_throttle_that_names_what_no_service_has_teaches_neither_limit_nor_window);
    suite_add(&s, a_window_that_is_named_begins_the_books_of_every_lane_anew);
    suite_add(&s, without_a_window_of_its_own_it_is_the_published_one);
    suite_add(&s, a_throttle_that_our_own_requests_explain_haunts_nobody);
    suite_add(&s, what_will_have_been_kept_is_not_loaded);
    suite_add(&s, as_many_at_a_time_as_are_named_or_one_fewer_than_there_were_but_one);
    suite_add(&s, a_throttle_that_names_no_number_does_not_raise_the_one_that_was_named);
    suite_add(&s, a_higher_limit_takes_back_a_smaller_share_unless_our_use_explains_it);
    suite_add(&s, a_share_that_was_tried_long_ago_or_has_failed_is_not_what_a_throttle_is_about);
    suite_add(&s, caution_grows_with_every_throttle_up_to_a_tenth_and_fades);
    suite_add(&s, a_throttle_on_another_server_shuts_that_one);
    suite_add(&s, a_higher_limit_is_first_what_had_surely_been_sent);
    suite_add(&s, no_time_left_while_no_requests_are_missing_does_not_stop_us_for_good);
    suite_add(&s, after_a_window_of_silence_one_goes_to_look);
    suite_add(&s, without_headers_two_throttles_of_all_servers_together_tell_one_account);
    suite_add(&s, throttles_that_one_account_does_not_explain_do_not_tell_of_one);
    suite_add(&s, two_throttles_of_one_moment_tell_as_much_as_one);
    suite_add(&s, a_throttle_that_tells_of_one_account_haunts_nobody);
    suite_add(&s, servers_that_draw_on_one_account_have_one_lane);
    suite_add(&s, servers_with_accounts_of_their_own_keep_their_lanes);
    suite_add(&s, flights_beyond_those_that_are_kept_are_booked_all_the_same);
    suite_add(&s, all_servers_together_are_not_given_more_than_flights_are_kept);
    suite_add(&s, of_too_many_kinds_the_least_known_is_forgotten);
    suite_add(&s, what_was_not_sent_is_not_booked);
    suite_add(&s, an_answer_that_never_came_is_booked_as_if_it_had);
    suite_add(&s, more_than_the_known_limits_is_tried_by_option_and_not_soon_after_a_throttle);
    return suite_run(&s);
}
