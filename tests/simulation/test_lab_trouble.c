/* SPDX-License-Identifier: MIT */
/*
 * Trouble that heals, in the laboratory: what a policy learned in bad times must not stay. Limits
 * are cut by the scenario; what an answer says is spoilt on its way to the policy. Worlds are made
 * from a number, so that one that fails can be run again.
 *
 *     |--- well ---|--- trouble ---|-- two windows, Retry-After --|--- compared ---
 */
#include "base/clock.h"
#include "simulation/lab_worlds.h"
#include "support/lab_rig.h"
#include "support/suite.h"

#define TROUBLES      12
#define TROUBLES_FULL 600
#define AFTERWARDS    48 /* windows in which policies that swing are compared with themselves */

static struct trouble {
    const struct weir_policy *policy; /* that the spoilt answers are for */
    int64_t begins_us;
    int64_t heals_us;
    bool wrong_headers; /* 6000 and 1200.00, as if nothing were used */
    bool no_headers;
    double failing; /* share of answers that become a 503 */
    struct weir_rng rng;
} trouble;

static void answered_in_trouble(void *state, const struct weir_policy_lease *lease,
                                const struct weir_answer *answer, int64_t reopens_us,
                                int64_t now_us)
{
    struct weir_answer spoilt = *answer;
    if (now_us >= trouble.begins_us && now_us < trouble.heals_us) {
        if (trouble.wrong_headers) {
            spoilt.budget.requests_remaining = 6000;
            spoilt.budget.execution_remaining_us = seconds(1200);
        }
        if (trouble.no_headers)
            spoilt.budget = (struct weir_budget_headers){ .server_id = answer->budget.server_id };
        if (spoilt.verdict.class_ == WEIR_CLASS_OK &&
            weir_rng_unit(&trouble.rng) < trouble.failing) {
            spoilt.verdict.class_ = WEIR_CLASS_TRANSIENT;
            spoilt.verdict.http_status = 503;
        }
    }
    trouble.policy->answered(state, lease, &spoilt, reopens_us, now_us);
}

/* From the second window to the fourth. Retry-After is two windows at most. `window_s`: 6 for a
 * small world, 300 for one that is like it and fifty times slower. */
static void make_trouble(struct sim_scenario *scenario, double window_s, uint64_t number)
{
    struct weir_rng rng;
    weir_rng_init(&rng, number, 0);
    sim_scenario_init(scenario);
    scenario->limits.window_us = seconds(window_s);
    scenario->limits.requests = 120;
    scenario->limits.execution_us = seconds(4 * window_s);
    scenario->services[0].overhead_us = seconds(window_s / 3000);
    trouble =
        (struct trouble){ .begins_us = seconds(2 * window_s), .heals_us = seconds(4 * window_s) };
    trouble.wrong_headers = weir_rng_below(&rng, 3) == 0;
    trouble.no_headers = weir_rng_below(&rng, 4) == 0;
    trouble.failing = weir_rng_below(&rng, 2) ? between(&rng, 0.1, 1) : 0;
    if (weir_rng_below(&rng, 2)) {
        double less = between(&rng, 1.5, 3);
        scenario->changes[0] = (struct sim_change){ trouble.begins_us, (int64_t)(120 / less),
                                                    seconds(4 * window_s / less), SIM_UNCHANGED };
        scenario->changes[1] = (struct sim_change){ trouble.heals_us, 120,
                                                    scenario->limits.execution_us, SIM_UNCHANGED };
        scenario->change_count = 2;
    }
    scenario->limits.charge = (enum sim_charge)weir_rng_below(&rng, 3);
    scenario->services[0].median_s = window_s / 6 * by_ratio(&rng, 0.01, 0.2);
    scenario->services[0].exec_share =
        (int64_t)between(&rng, 0.5 * SIM_WHOLE_SHARE, SIM_WHOLE_SHARE);
    scenario->retry_after.base_us = seconds(window_s / 6 * between(&rng, 1, 12));
    scenario->retry_after.cap_us = seconds(2 * window_s);
}

static uint64_t items_in_trouble(struct sim_scenario scenario, const char *name, int64_t until_us,
                                 uint64_t seed)
{
    struct lab_policy policy;
    struct lab_figures figures;
    ck_assert_int_eq(lab_policy_find(weir_str_from(name), &policy, NULL), WEIR_OK);
    struct weir_policy spoilt = *policy.policy;
    trouble.policy = policy.policy;
    spoilt.answered = answered_in_trouble;
    policy.policy = &spoilt;
    scenario.duration_us = until_us;
    weir_rng_init(&trouble.rng, seed, 1); /* each run the same up to its end */
    lab_run(&scenario, &policy, seed, &figures);
    return figures.items;
}

/* From when on it has to be well again. */
static int64_t well_us(const struct sim_scenario *scenario)
{
    return trouble.heals_us + 2 * scenario->limits.window_us + scenario->retry_after.cap_us;
}

/* What the oracle gets done in three windows of a world without trouble, once it is full. */
static double healthy_items(struct sim_scenario scenario, uint64_t seed)
{
    struct lab_oracle early, late;
    scenario.change_count = 0;
    scenario.duration_us = seconds(15);
    lab_oracle(&scenario, seed, LAB_ORACLE_COMPLIANT, &early, NULL);
    scenario.duration_us = seconds(33);
    lab_oracle(&scenario, seed, LAB_ORACLE_COMPLIANT, &late, NULL);
    return (double)(late.items - early.items);
}

/* Within two windows and the longest Retry-After. */
static void expect_no_mark(uint64_t number)
{
    struct sim_scenario scenario;
    make_trouble(&scenario, 6, number);
    int64_t from_us = well_us(&scenario);
    uint64_t before = items_in_trouble(scenario, "budget", from_us, number);
    uint64_t after = items_in_trouble(scenario, "budget", from_us + seconds(18), number);
    double part = (double)(after - before) / healthy_items(scenario, number);
    if (part < 0.9)
        ck_abort_msg("trouble %llu: %.2f of the oracle", (unsigned long long)number, part);
}

START_TEST(trouble_that_has_healed_leaves_no_mark)
{
    uint64_t troubles = count_of(TROUBLES, TROUBLES_FULL);
    for (uint64_t i = 0; i < troubles; i++)
        expect_no_mark(i);
}
END_TEST

/* Next to the step that a header makes when limits come back, what short requests use was not seen,
 * and headers were not trusted for long. */
START_TEST(limits_that_come_back_hide_nothing)
{
    struct sim_scenario scenario;
    make_trouble(&scenario, 6, 145); /* as it was found */
    ck_assert_uint_eq(scenario.change_count, 2);
    ck_assert_double_lt(scenario.services[0].median_s, 0.02);
    expect_no_mark(145);
}
END_TEST

/* What a policy gets done in a span; `ill`: in trouble before it. */
static double items_between(struct sim_scenario scenario, const char *name, bool ill,
                            int64_t from_us, int64_t until_us, uint64_t seed)
{
    struct trouble kept = trouble;
    if (!ill) {
        scenario.change_count = 0;
        trouble.begins_us = trouble.heals_us;
    }
    uint64_t before = items_in_trouble(scenario, name, from_us, seed);
    uint64_t after = items_in_trouble(scenario, name, until_us, seed);
    trouble = kept;
    return (double)(after - before);
}

/*
 * The others swing between too much and Retry-After, each cycle as long as a window or several, and
 * trouble moves the cycle: of a few windows a run without any trouble has half of what it has in
 * the next few. Over four dozen it is a few hundredths. The steps of Aimd take minutes whatever the
 * window is, so the window is the real one. All worlds together have less noise than each.
 */
static void expect_as_well_as_before(const char *name, int64_t dop_hint)
{
    uint64_t troubles = count_of(TROUBLES, TROUBLES_FULL);
    double sum = 0;
    for (uint64_t i = 0; i < troubles; i++) {
        struct sim_scenario scenario;
        make_trouble(&scenario, 300, i);
        scenario.dop_hint = dop_hint;
        if (scenario.change_count) { /* the hint falls with the limits, and comes back */
            scenario.changes[0].dop_hint = 1;
            scenario.changes[1].dop_hint = dop_hint;
        }
        int64_t from_us = well_us(&scenario);
        int64_t until_us = from_us + AFTERWARDS * scenario.limits.window_us;
        double part = items_between(scenario, name, true, from_us, until_us, i) /
                      items_between(scenario, name, false, from_us, until_us, i);
        sum += part;
        if (part < 0.9)
            ck_abort_msg("%s, trouble %llu: %.2f of what it does without", name,
                         (unsigned long long)i, part);
    }
    ck_assert_msg(sum > 0.97 * (double)troubles, "%s: %.3f of what it does without", name,
                  sum / (double)troubles);
}

START_TEST(aimd_comes_back)
{
    expect_as_well_as_before("aimd", 4);
    expect_as_well_as_before("aimd", 20);
}
END_TEST

START_TEST(dop_comes_back)
{
    expect_as_well_as_before("dop", 4);
    expect_as_well_as_before("dop", 20);
}
END_TEST

START_TEST(fixed_comes_back)
{
    expect_as_well_as_before("fixed:4", 4);
    expect_as_well_as_before("fixed:10", 4);
    expect_as_well_as_before("fixed:52", 4);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab_trouble");
    suite_add(&s, trouble_that_has_healed_leaves_no_mark);
    suite_add(&s, limits_that_come_back_hide_nothing);
    suite_add(&s, aimd_comes_back);
    suite_add(&s, dop_comes_back);
    suite_add(&s, fixed_comes_back);
    return suite_run(&s);
}
