/* SPDX-License-Identifier: MIT */
/*
 * The oracles: their ledger against sums counted again from scratch, O1 against all schedules of
 * tiny worlds, its schedules against the law in random worlds, and policies against O1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/rng.h"
#include "lab/ledger.h"
#include "lab/oracle.h"
#include "lab/others.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "sim/law/law.h"
#include "support/suite.h"

static int rounds(int few, int many)
{
    return getenv("WEIR_FULL") ? many : few;
}

/* --- the ledger ------------------------------------------------------------------------------- */

#define CHANGES_MAX 40

static struct lab_change log_[CHANGES_MAX];
static int log_count;

/* What was used in (from, to], counted from scratch. */
static int64_t used_until(int64_t x)
{
    int64_t used = 0;
    for (int i = 0; i < log_count; i++) {
        if (log_[i].at_us <= x)
            used += log_[i].amount + log_[i].rate * (x - log_[i].at_us);
    }
    return used;
}

static int64_t floor_to(int64_t x, int64_t step)
{
    int64_t rest = x % step;
    return x - (rest < 0 ? rest + step : rest);
}

static int64_t sum_at(int64_t x, int64_t window, int64_t bucket)
{
    int64_t tail = bucket ? floor_to(x - window, bucket) : x - window;
    return used_until(x) - used_until(tail);
}

/* Whether a claim that begins at s fits at every whole moment, counted from scratch. */
static bool fits(const struct lab_claim *claim, int64_t s, int64_t limit, int64_t window,
                 int64_t bucket, int64_t now)
{
    int64_t amount = claim->amount < limit ? claim->amount : limit;
    for (int64_t x = now; x < now + 600; x++) {
        int64_t of_it = 0;
        if (claim->charge == SIM_CHARGE_ACCRUAL && x > s)
            of_it = claim->rate * (x - s) < amount ? claim->rate * (x - s) : amount;
        else if (claim->charge == SIM_CHARGE_ARRIVAL && x >= s)
            of_it = amount;
        else if (claim->charge == SIM_CHARGE_COMPLETION && x >= s + claim->duration_us)
            of_it = amount;
        if (x >= s && sum_at(x, window, bucket) + of_it > limit)
            return false;
    }
    return true;
}

static void note(struct lab_ledger *ledger, int64_t at_us, int64_t amount, int64_t rate)
{
    struct lab_change change = { at_us, amount, rate };
    log_[log_count++] = change;
    lab_ledger_add(ledger, change);
}

/* Random requests, past and in flight, of the rule of charging; all times are small numbers. */
static void fill(struct lab_ledger *ledger, struct weir_rng *rng, enum sim_charge charge)
{
    log_count = 0;
    int64_t before = (int64_t)weir_rng_below(rng, 3); /* somebody else's, as a rate */
    note(ledger, ledger->now.head_us, 0, before);
    note(ledger, ledger->now.head_us + 10, 0, -before);
    int count = (int)weir_rng_below(rng, CHANGES_MAX / 2 - 1);
    for (int i = 0; i < count; i++) {
        int64_t begin = ledger->now.head_us;
        int64_t length = (int64_t)weir_rng_below(rng, 20);
        int64_t rate = 1 + (int64_t)weir_rng_below(rng, 3);
        if (charge == SIM_CHARGE_ACCRUAL) {
            note(ledger, begin, 0, rate);
            note(ledger, begin + length, 0, -rate);
        } else {
            note(ledger, begin + (charge == SIM_CHARGE_COMPLETION ? length : 0), rate * length, 0);
        }
        lab_ledger_advance(ledger, begin + (int64_t)weir_rng_below(rng, 6));
        ck_assert_int_eq(ledger->now.sum,
                         sum_at(ledger->now.head_us, ledger->window_us, ledger->bucket_us));
    }
}

/* How fast the sum rises at the most. Between two whole moments nobody counts. */
static int64_t steepest(void)
{
    int64_t most = 0, rate = 0;
    for (int64_t x = -100; x < 400; x++) {
        for (int i = 0; i < log_count; i++)
            rate += log_[i].at_us == x ? log_[i].rate : 0;
        most = rate > most ? rate : most;
    }
    return most;
}

/* The earliest beginning is one, and nothing before it is, as far as whole moments can tell. */
START_TEST(the_earliest_beginning_is_the_first_that_fits)
{
    static const int64_t buckets[] = { 0, 0, 3, 10 };
    for (int i = 0; i < rounds(1500, 100000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, 1);
        enum sim_charge charge = (enum sim_charge)weir_rng_below(&rng, 3);
        struct lab_ledger ledger;
        lab_ledger_init(&ledger, 30 + (int64_t)weir_rng_below(&rng, 30),
                        buckets[weir_rng_below(&rng, 4)]);
        fill(&ledger, &rng, charge);
        struct lab_claim claim = { .charge = charge,
                                   .rate = 1,
                                   .duration_us = 1 + (int64_t)weir_rng_below(&rng, 20) };
        claim.amount = claim.duration_us;
        int64_t limit = 10 + (int64_t)weir_rng_below(&rng, 120);
        int64_t now = ledger.now.head_us;
        int64_t found = lab_ledger_earliest(&ledger, &claim, limit);
        int64_t first = now;
        while (!fits(&claim, first, limit, ledger.window_us, ledger.bucket_us, now))
            first++;
        ck_assert_msg(
            found >= first && found <= first + 1 + steepest(),
            "round %d: found %ld, counted %ld, now %ld, charge %d, window %ld, bucket %ld, "
            "duration %ld, limit %ld",
            i, (long)found, (long)first, (long)now, (int)charge, (long)ledger.window_us,
            (long)ledger.bucket_us, (long)claim.duration_us, (long)limit);
        lab_ledger_release(&ledger);
    }
}
END_TEST

START_TEST(what_leaves_comes_and_falls_is_what_was_written_down)
{
    for (int i = 0; i < rounds(500, 20000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, 2);
        struct lab_ledger ledger;
        lab_ledger_init(&ledger, 40, i % 2 ? 7 : 0);
        fill(&ledger, &rng, (enum sim_charge)(i % 3));
        int64_t now = ledger.now.head_us;
        int64_t span = (int64_t)weir_rng_below(&rng, 40);
        int64_t tail = i % 2 ? floor_to(now - 40, 7) : now - 40;
        int64_t later = i % 2 ? floor_to(now + span - 40, 7) : now + span - 40;
        ck_assert_int_eq(lab_ledger_leaving(&ledger, span), used_until(later) - used_until(tail));
        ck_assert_int_eq(lab_ledger_coming(&ledger), used_until(now + 600) - used_until(now));
        int64_t target = (int64_t)weir_rng_below(&rng, 60);
        int64_t x = now;
        while (sum_at(x, 40, ledger.bucket_us) > target)
            x++;
        ck_assert_int_eq(lab_ledger_falls_us(&ledger, target), x);
        lab_ledger_release(&ledger);
    }
}
END_TEST

/* --- all schedules of tiny worlds ------------------------------------------------------------- */

#define ITEMS  4
#define GRID   WEIR_US_PER_S /* begins and durations are whole seconds, so sums bend only there */
#define LATEST 60

static struct {
    const struct sim_scenario *scenario;
    int64_t length_s[ITEMS];
    int64_t start_s[ITEMS];
    int64_t best_s;
} tiny;

static int64_t charged(int item, int64_t from_s, int64_t to_s)
{
    int64_t begin = tiny.start_s[item];
    int64_t end = begin + tiny.length_s[item];
    switch (tiny.scenario->limits.charge) {
    case SIM_CHARGE_ARRIVAL:
        return begin > from_s && begin <= to_s ? end - begin : 0;
    case SIM_CHARGE_COMPLETION:
        return end > from_s && end <= to_s ? end - begin : 0;
    case SIM_CHARGE_ACCRUAL:
        break;
    }
    int64_t from = begin > from_s ? begin : from_s;
    int64_t to = end < to_s ? end : to_s;
    return to > from ? to - from : 0;
}

/* The law refuses at the limit itself: an item begins only while the window is not full. */
static bool is_let_in(int item)
{
    const struct sim_limits *limits = &tiny.scenario->limits;
    int64_t used = 0;
    for (int i = 0; i < item; i++)
        used += charged(i, tiny.start_s[item] - limits->window_us / GRID, tiny.start_s[item]);
    return used * GRID < limits->execution_us;
}

static bool is_compliant(int items)
{
    const struct sim_limits *limits = &tiny.scenario->limits;
    int64_t window_s = limits->window_us / GRID;
    for (int64_t x = 0; x <= LATEST; x++) {
        int64_t execution = 0, requests = 0, flying = 0;
        for (int i = 0; i < items; i++) {
            execution += charged(i, x - window_s, x);
            requests += tiny.start_s[i] > x - window_s && tiny.start_s[i] <= x;
            flying += tiny.start_s[i] <= x && x < tiny.start_s[i] + tiny.length_s[i];
        }
        if ((limits->execution_us && execution * GRID > limits->execution_us) ||
            (limits->requests && requests > limits->requests) || flying > limits->concurrent)
            return false;
    }
    return true;
}

static void enumerate(int item, int64_t end_s)
{
    if (end_s >= tiny.best_s)
        return;
    if (item == ITEMS) {
        tiny.best_s = end_s;
        return;
    }
    for (int64_t at = item ? tiny.start_s[item - 1] : 0; at < tiny.best_s; at++) {
        tiny.start_s[item] = at;
        int64_t end = at + tiny.length_s[item];
        if (is_let_in(item) && is_compliant(item + 1))
            enumerate(item + 1, end > end_s ? end : end_s);
    }
}

static void make_tiny(struct sim_scenario *scenario, struct weir_rng *rng)
{
    sim_scenario_init(scenario);
    scenario->connections = 1;
    scenario->work_items = ITEMS;
    scenario->limits.window_us = (6 + (int64_t)weir_rng_below(rng, 6)) * GRID;
    scenario->limits.execution_us = (5 + (int64_t)weir_rng_below(rng, 5)) * GRID;
    scenario->limits.requests = (int64_t)weir_rng_below(rng, 4);
    scenario->limits.concurrent = 1 + (int64_t)weir_rng_below(rng, 3);
    scenario->limits.charge = (enum sim_charge)weir_rng_below(rng, 3);
    scenario->service_count = 3;
    for (int i = 0; i < 3; i++) {
        scenario->services[i] = sim_service_default();
        scenario->services[i].median_s = 1 + 2 * i; /* 1, 3, 5 s */
        scenario->services[i].sigma = 0;
        scenario->services[i].overhead_us = 0;
    }
}

/*
 * Charged at its beginning, greedy is the best of all schedules. Charged as it accrues, what waits
 * a little may let the next one begin earlier: a second at the most here. Charged at its end, a
 * window that is full to the last second keeps everybody out until it is not: a request at most,
 * and seldom.
 */
START_TEST(no_schedule_of_a_tiny_world_is_better_than_o1)
{
    int64_t late = 0;
    for (int i = 0; i < rounds(60, 1000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, 3);
        struct sim_scenario scenario;
        make_tiny(&scenario, &rng);
        struct lab_oracle oracle;
        struct lab_plan plan;
        lab_oracle(&scenario, (uint64_t)i, LAB_ORACLE_COMPLIANT, &oracle, &plan);
        ck_assert_uint_eq(plan.count, ITEMS);
        tiny.scenario = &scenario;
        tiny.best_s = LATEST;
        for (int k = 0; k < ITEMS; k++)
            tiny.length_s[k] = plan.starts[k].service_us / GRID;
        enumerate(0, 0);
        static const double tolerances_s[] = {
            [SIM_CHARGE_ARRIVAL] = 0.01, [SIM_CHARGE_ACCRUAL] = 1.01, [SIM_CHARGE_COMPLETION] = 5.01
        };
        double tolerance_s = tolerances_s[scenario.limits.charge];
        ck_assert_msg(oracle.makespan_s <= (double)tiny.best_s + tolerance_s,
                      "world %d: %f s, the best is %ld s, charge %d", i, oracle.makespan_s,
                      (long)tiny.best_s, (int)scenario.limits.charge);
        late += oracle.makespan_s > (double)tiny.best_s + 0.01;
        lab_plan_release(&plan);
    }
    ck_assert_int_le(late, rounds(60, 1000) / 12);
}
END_TEST

/* --- schedules against the law ---------------------------------------------------------------- */

static double between(struct weir_rng *rng, double least, double most)
{
    return least + weir_rng_unit(rng) * (most - least);
}

static void make_random(struct sim_scenario *scenario, struct weir_rng *rng)
{
    static const int64_t buckets_s[] = { 0, 0, 1, 7 };
    sim_scenario_init(scenario);
    scenario->affinity = SIM_AFFINITY_PINNED; /* the law routes as the schedule says */
    scenario->duration_us = 150 * WEIR_US_PER_S;
    scenario->connections = 1 + (uint32_t)weir_rng_below(rng, 3);
    scenario->servers = 1 + (uint32_t)weir_rng_below(rng, 3);
    struct sim_limits *limits = &scenario->limits;
    limits->window_us = (int64_t)between(rng, 15e6, 60e6);
    limits->bucket_us = buckets_s[weir_rng_below(rng, 4)] * WEIR_US_PER_S;
    limits->requests = weir_rng_below(rng, 4) ? (int64_t)between(rng, 10, 300) : 0;
    limits->execution_us = weir_rng_below(rng, 4) ? (int64_t)between(rng, 10e6, 120e6) : 0;
    limits->concurrent = weir_rng_below(rng, 4) ? (int64_t)between(rng, 1, 30) : 0;
    limits->charge = (enum sim_charge)weir_rng_below(rng, 3);
    limits->shared = weir_rng_below(rng, 3) == 0;
    if (weir_rng_below(rng, 3) == 0)
        scenario->work_items = (int64_t)between(rng, 1, 300);
    scenario->service_count = 1 + (uint32_t)weir_rng_below(rng, 3);
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        struct sim_service *service = &scenario->services[i];
        *service = sim_service_default();
        service->median_s = between(rng, 0.1, 6);
        service->sigma = between(rng, 0, 1);
        service->exec_share = (int64_t)between(rng, 0, SIM_WHOLE_SHARE);
        service->drift.kind = (enum sim_drift_kind)weir_rng_below(rng, 4);
        service->drift.to = between(rng, 0.3, 3);
    }
    if (weir_rng_below(rng, 3) == 0)
        scenario->contention = (struct sim_contention){ between(rng, 1, 8), between(rng, 0, 2) };
    if (weir_rng_below(rng, 2))
        scenario->prefill = weir_rng_unit(rng);
    if (weir_rng_below(rng, 3) == 0)
        scenario->failures = between(rng, 0, 0.3);
    scenario->change_count = (uint32_t)weir_rng_below(rng, 3);
    for (uint32_t i = 0; i < scenario->change_count; i++)
        scenario->changes[i] = (struct sim_change){
            .at_us = (int64_t)(i + 1) * 40 * WEIR_US_PER_S,
            .requests = weir_rng_below(rng, 2) ? (int64_t)between(rng, 10, 300) : SIM_UNCHANGED,
            .execution_us =
                weir_rng_below(rng, 2) ? (int64_t)between(rng, 1e7, 2e8) : SIM_UNCHANGED,
            .dop_hint = SIM_UNCHANGED,
        };
}

static void end_until(struct sim_law *law, int64_t now_us)
{
    uint32_t ticket;
    int64_t ends_us;
    while (sim_law_next_end(law, &ticket, &ends_us) && ends_us <= now_us)
        sim_law_finish(law, ticket, ends_us);
}

/* Send the plan to the law, and see how many of it are refused, and what the other client wanted
 * and did not get. */
static uint32_t replay_beside(const struct sim_scenario *scenario, uint64_t seed,
                              const struct lab_plan *plan, uint64_t *unserved)
{
    struct sim_law law;
    uint64_t numbers[8] = { 0 };
    uint32_t refused = 0;
    sim_law_init(&law, scenario, seed);
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct lab_start *start = &plan->starts[i];
        end_until(&law, start->at_us);
        struct sim_request request = { .service = SIM_ANY_SERVICE,
                                       .number = numbers[start->user]++ };
        struct sim_decision decision =
            sim_law_arrive(&law, start->user, start->server, &request, start->at_us);
        refused += !decision.accepted;
        if (decision.accepted)
            ck_assert_int_eq(decision.service_us, start->service_us);
        else
            break;
    }
    for (uint32_t user = 0; user < scenario->connections; user++) {
        struct sim_foreign_counts counts = sim_law_foreign(&law, user);
        *unserved += counts.wanted - counts.served;
    }
    sim_law_release(&law);
    return refused;
}

/* Send the plan to the law; returns how many were refused. */
static uint32_t replay(const struct sim_scenario *scenario, uint64_t seed,
                       const struct lab_plan *plan)
{
    uint64_t unserved = 0;
    return replay_beside(scenario, seed, plan, &unserved);
}

static void oracle_is_never_throttled(enum lab_oracle_kind kind, uint64_t stream)
{
    uint64_t requests = 0;
    for (int i = 0; i < rounds(150, 5000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, stream);
        struct sim_scenario scenario;
        make_random(&scenario, &rng);
        struct lab_oracle oracle;
        struct lab_plan plan;
        lab_oracle(&scenario, (uint64_t)i, kind, &oracle, &plan);
        ck_assert_msg(replay(&scenario, (uint64_t)i, &plan) == 0, "world %d", i);
        requests += plan.count;
        lab_plan_release(&plan);
    }
    ck_assert_uint_gt(requests, 10000);
}

START_TEST(the_schedule_of_o1_is_never_throttled)
{
    oracle_is_never_throttled(LAB_ORACLE_COMPLIANT, 4);
}
END_TEST

START_TEST(the_edge_rider_is_never_throttled_either)
{
    oracle_is_never_throttled(LAB_ORACLE_EDGE, 5);
}
END_TEST

/* The sum of every window, all in flight included, stays at the limit or below. */
START_TEST(o1_keeps_every_window_and_the_edge_rider_does_not)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.connections = 1;
    scenario.services[0].median_s = 8;
    for (int kind = 0; kind < 2; kind++) {
        struct lab_oracle oracle;
        struct lab_plan plan;
        lab_oracle(&scenario, 1, (enum lab_oracle_kind)kind, &oracle, &plan);
        int64_t most = 0;
        for (uint32_t i = 0; i < plan.count; i++) { /* a sum has its peaks where something ends */
            int64_t x = plan.starts[i].at_us + plan.starts[i].service_us, sum = 0;
            for (uint32_t k = 0; k < plan.count; k++) {
                int64_t from = plan.starts[k].at_us, to = from + plan.starts[k].service_us;
                from = from > x - scenario.limits.window_us ? from : x - scenario.limits.window_us;
                to = to < x ? to : x;
                sum += to > from ? to - from : 0;
            }
            most = sum > most ? sum : most;
        }
        ck_assert_int_eq(most <= scenario.limits.execution_us, kind == LAB_ORACLE_COMPLIANT);
        ck_assert_int_gt(most, scenario.limits.execution_us * 98 / 100);
        lab_plan_release(&plan);
    }
}
END_TEST

/* --- policies against O1 ---------------------------------------------------------------------- */

/*
 * With n in flight at the most an account may, once a window, have n requests more under way when
 * the limit stops it. So many, and no more, a policy may be ahead of the oracle.
 */
START_TEST(no_policy_is_ahead_of_o1_by_more_than_what_is_in_flight)
{
    static const struct {
        const char *name;
        uint32_t in_flight_max;
    } policies[] = {
        { "fixed:2", 2 }, { "fixed:4", 4 }, { "fixed:10", 10 }, { "dop", 6 }, { "aimd", 6 }
    };
    for (int i = 0; i < rounds(60, 2000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, 6);
        struct sim_scenario scenario;
        make_random(&scenario, &rng);
        scenario.contention = (struct sim_contention){ 0 };
        scenario.work_items = SIM_NO_WORK_ITEMS;
        scenario.dop_hint = 6;
        /* A request that is large beside the budget keeps the oracle waiting, not the policy. */
        scenario.limits.execution_us += 60 * WEIR_US_PER_S;
        for (uint32_t k = 0; k < scenario.service_count; k++) {
            scenario.services[k].drift.kind = SIM_DRIFT_NONE;
            scenario.services[k].sigma *= 0.3;
        }
        struct lab_oracle oracle;
        lab_oracle(&scenario, (uint64_t)i, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
            struct lab_policy policy;
            struct lab_figures figures;
            struct weir_error err;
            lab_policy_find(weir_str_from(policies[p].name), &policy, &err);
            lab_run(&scenario, &policy, (uint64_t)i, &figures);
            int64_t windows = scenario.duration_us / scenario.limits.window_us + 1;
            uint64_t ahead = (uint64_t)windows * scenario.connections * scenario.servers *
                             policies[p].in_flight_max;
            ck_assert_msg(figures.items <= oracle.items + ahead, "world %d, %s: %lu of %lu + %lu",
                          i, policies[p].name, (unsigned long)figures.items,
                          (unsigned long)oracle.items, (unsigned long)ahead);
        }
    }
}
END_TEST

START_TEST(the_fair_share_is_what_the_other_client_leaves)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    struct lab_oracle whole, share;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &whole, NULL);
    scenario.foreign.share = 0.3;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &share, NULL);
    ck_assert_double_ge((double)share.items, 0.69 * (double)whole.items);
    ck_assert_double_le((double)share.items, 0.72 * (double)whole.items);
}
END_TEST

/* A world with another client who does not use up the budgets by himself, and no limit on requests
 * at the same time: how many he has is nobody's to choose. */
static void make_beside(struct sim_scenario *scenario, struct weir_rng *rng)
{
    sim_scenario_init(scenario);
    scenario->connections = 1 + (uint32_t)weir_rng_below(rng, 2);
    scenario->servers = 1 + (uint32_t)weir_rng_below(rng, 2);
    scenario->affinity = SIM_AFFINITY_PINNED;
    scenario->limits.concurrent = 0;
    scenario->limits.charge = (enum sim_charge)weir_rng_below(rng, 3);
    scenario->limits.shared = weir_rng_below(rng, 4) == 0;
    if (weir_rng_below(rng, 3) == 0)
        scenario->limits.bucket_us = (int64_t)(1 + weir_rng_below(rng, 60)) * WEIR_US_PER_S;
    scenario->services[0].median_s = between(rng, 0.1, 3) * (1 + (double)weir_rng_below(rng, 10));
    scenario->services[0].exec_share = (int64_t)between(rng, SIM_WHOLE_SHARE / 2, SIM_WHOLE_SHARE);
    scenario->foreign.pattern = (enum sim_pattern)weir_rng_below(rng, 3);
    scenario->foreign.share = between(rng, 0.05, 0.3);
    if (weir_rng_below(rng, 3) == 0)
        scenario->prefill = between(rng, 0, 0.3);
}

START_TEST(beside_the_oracle_the_other_client_gets_all_that_he_wants)
{
    uint64_t requests = 0;
    for (int i = 0; i < rounds(60, 2000); i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, (uint64_t)i, 7);
        struct sim_scenario scenario;
        make_beside(&scenario, &rng);
        struct lab_oracle oracle;
        struct lab_plan plan;
        uint64_t unserved = 0;
        lab_oracle(&scenario, (uint64_t)i, LAB_ORACLE_COMPLIANT, &oracle, &plan);
        ck_assert_msg(replay_beside(&scenario, (uint64_t)i, &plan, &unserved) == 0, "world %d", i);
        ck_assert_msg(unserved == 0, "world %d: %lu", i, (unsigned long)unserved);
        requests += plan.count;
        lab_plan_release(&plan);
    }
    ck_assert_uint_gt(requests, 10000);
}
END_TEST

#define STEPS_A_WINDOW 300 /* seconds */
#define STEPS          1800

/* What the other client has in the window of the one account at every second. */
static void his_windows(const struct sim_scenario *scenario, uint64_t seed, double *ret_s)
{
    double begun[STEPS + 1] = { 0 }; /* charged at the beginning */
    struct lab_others others;
    struct lab_others_request request;
    lab_others_init(&others, scenario, seed);
    while (lab_others_next_us(&others) < STEPS * WEIR_US_PER_S) {
        if (lab_others_turn(&others, &request))
            begun[request.at_us / WEIR_US_PER_S] +=
                (double)lab_others_service_us(&request, 1) / 1e6;
    }
    lab_others_release(&others);
    double sum = 0;
    for (int t = 0; t <= STEPS; t++) {
        sum += begun[t] - (t >= STEPS_A_WINDOW ? begun[t - STEPS_A_WINDOW] : 0);
        ret_s[t] = sum;
    }
}

/*
 * The most that anybody can have who knows his future and leaves it to him: N(t), all that was
 * begun by t, keeps N(t) - N(t - W) <= c(t) and never falls. The largest such N is a shortest path
 * over steps of a window, c(t), and back in time, 0.
 */
static double most_beside(const double *his_s, double fair_s, double limit_s)
{
    double most[STEPS + 1];
    for (int t = 0; t <= STEPS; t++) {
        most[t] = INFINITY;
        for (int s = t; s < t + STEPS_A_WINDOW && s <= STEPS; s++) {
            double before = s < STEPS_A_WINDOW ? 0 : most[s - STEPS_A_WINDOW];
            most[t] = fmin(most[t], before + fmin(fair_s, limit_s - his_s[s]));
        }
    }
    return most[STEPS - 1]; /* what begins with the last moment does not count */
}

START_TEST(beside_another_client_the_oracle_has_nearly_all_that_can_be_had)
{
    static const struct sim_foreign_load loads[] = {
        { 0.1, SIM_PATTERN_CONSTANT }, { 0.3, SIM_PATTERN_CONSTANT }, { 0.6, SIM_PATTERN_CONSTANT },
        { 0.2, SIM_PATTERN_ONOFF },    { 0.4, SIM_PATTERN_ONOFF },    { 0.5, SIM_PATTERN_ONOFF },
        { 0.1, SIM_PATTERN_BURSTY },   { 0.3, SIM_PATTERN_BURSTY },
    };
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.connections = 1;
        scenario.limits.concurrent = 0;
        scenario.limits.charge = SIM_CHARGE_ARRIVAL;
        scenario.foreign = loads[i];
        struct lab_oracle oracle;
        struct lab_plan plan;
        double his_s[STEPS + 1];
        double had_s = 0;
        his_windows(&scenario, 3, his_s);
        lab_oracle(&scenario, 3, LAB_ORACLE_COMPLIANT, &oracle, &plan);
        for (uint32_t k = 0; k < plan.count; k++)
            had_s += (double)plan.starts[k].service_us / 1e6;
        lab_plan_release(&plan);
        double most_s = most_beside(his_s, 1200 * (1 - loads[i].share), 1200);
        ck_assert_msg(had_s <= 1.01 * most_s && had_s >= 0.98 * most_s, "%g, pattern %d: %g of %g",
                      loads[i].share, (int)loads[i].pattern, had_s, most_s);
    }
}
END_TEST

/* He has 2.4 in flight on the mean, of the six that the server takes without being slow; with ours
 * beside them they take longer, and so much less is left. */
START_TEST(under_contention_the_other_client_slows_the_oracle)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.contention = (struct sim_contention){ .knee = 6, .kappa = 2 };
    scenario.foreign.share = 0.3;
    struct lab_oracle beside, alone;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &beside, NULL);
    scenario.foreign.share = 0;
    scenario.limits.requests = scenario.limits.requests * 7 / 10;
    scenario.limits.execution_us = scenario.limits.execution_us * 7 / 10;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &alone, NULL);
    ck_assert_double_lt((double)beside.items, 0.9 * (double)alone.items);
    ck_assert_double_gt((double)beside.items, 0.3 * (double)alone.items);
}
END_TEST

/* So many at a time leave him what he wants, and there is no more to be had beside him: the time
 * that his requests take longer is not the oracle's. What he happens to use differs from seed to
 * seed. */
START_TEST(beside_a_client_that_is_slowed_down_the_oracle_is_within_reach)
{
    static const struct {
        double kappa;
        const char *policy;
    } worlds[] = { { 1, "fixed:2" }, { 2, "fixed:1" } };
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.foreign.share = 0.3;
    scenario.contention.knee = 6;
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        double done = 0, possible = 0;
        scenario.contention.kappa = worlds[i].kappa;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct lab_policy policy;
            struct lab_figures figures;
            struct lab_oracle oracle;
            lab_policy_find(weir_str_from(worlds[i].policy), &policy, NULL);
            lab_run(&scenario, &policy, seed, &figures);
            lab_oracle(&scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
            ck_assert_double_ge(figures.foreign_served, 0.97);
            done += (double)figures.items;
            possible += (double)oracle.items;
        }
        ck_assert_msg(done > 0.93 * possible && done < 1.03 * possible, "kappa %g: %g of %g",
                      worlds[i].kappa, done, possible);
    }
}
END_TEST

START_TEST(restraint_pays_under_contention)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.contention = (struct sim_contention){ .knee = 6, .kappa = 2 };
    struct lab_oracle oracle;
    struct lab_plan plan;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &oracle, &plan);
    /* Six at a time on the one server, 2.09 s each: more would cost more than they bring. */
    ck_assert_uint_gt(oracle.items, 5100);
    ck_assert_int_eq(replay(&scenario, 1, &plan), 0);
    lab_plan_release(&plan);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab_oracle");
    suite_add(&s, the_earliest_beginning_is_the_first_that_fits);
    suite_add(&s, what_leaves_comes_and_falls_is_what_was_written_down);
    suite_add(&s, no_schedule_of_a_tiny_world_is_better_than_o1);
    suite_add(&s, the_schedule_of_o1_is_never_throttled);
    suite_add(&s, the_edge_rider_is_never_throttled_either);
    suite_add(&s, o1_keeps_every_window_and_the_edge_rider_does_not);
    suite_add(&s, no_policy_is_ahead_of_o1_by_more_than_what_is_in_flight);
    suite_add(&s, the_fair_share_is_what_the_other_client_leaves);
    suite_add(&s, beside_the_oracle_the_other_client_gets_all_that_he_wants);
    suite_add(&s, beside_another_client_the_oracle_has_nearly_all_that_can_be_had);
    suite_add(&s, under_contention_the_other_client_slows_the_oracle);
    suite_add(&s, beside_a_client_that_is_slowed_down_the_oracle_is_within_reach);
    suite_add(&s, restraint_pays_under_contention);
    return suite_run(&s);
}
