/* SPDX-License-Identifier: MIT */
/* Budget in the laboratory, beside another client of the same user. */
#include <stdlib.h>

#include "support/lab_rig.h"
#include "support/suite.h"

START_TEST(another_user_of_the_connection_is_served)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.foreign.share = 0.3;
        struct lab_figures figures = run(&scenario, "budget", seed);
        ck_assert_double_gt(figures.foreign_served, 0.95);
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.90);
    }
}
END_TEST

/* Two connections for half an hour are one connection for an hour. */
START_TEST(beside_another_user_there_is_a_throttle_in_five_hours_at_most)
{
    uint64_t runs = 0, episodes = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (int tenths = 1; tenths <= 3; tenths += 2, runs++) {
            struct sim_scenario scenario;
            sim_scenario_init(&scenario);
            scenario.foreign.share = tenths / 10.0;
            episodes += run(&scenario, "budget", seed).episodes;
        }
    }
    ck_assert_uint_le(5 * episodes, runs);
}
END_TEST

/* He wants more than there is half of the time: who leaves him what he wants gets less. */
START_TEST(another_user_who_comes_and_goes_is_served_too)
{
    enum {
        SEEDS = 20
    };
    int served = 0; /* seeds in which he was: the median counts */
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.foreign = (struct sim_foreign_load){ 0.6, SIM_PATTERN_ONOFF };
        double share = run(&scenario, "budget", seed).foreign_served;
        ck_assert_double_gt(share, 0.85);
        served += share > 0.95;
    }
    ck_assert_int_gt(2 * served, SEEDS);
}
END_TEST

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

#define SEEDS_MAX 21

/* Medians of some seeds: what was done of what an oracle does, or how soon, and how he was served.
 */
static void expect_medians(const struct sim_scenario *scenario, int seeds, double of_fair_share)
{
    double parts[SEEDS_MAX];
    double served[SEEDS_MAX];
    for (int i = 0; i < seeds; i++) {
        struct lab_oracle oracle;
        lab_oracle(scenario, (uint64_t)i + 1, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        struct lab_figures figures = run(scenario, "budget", (uint64_t)i + 1);
        served[i] = figures.foreign_served;
        parts[i] = figures.makespan_s > 0 ? oracle.makespan_s / figures.makespan_s
                                          : (double)figures.items / (double)oracle.items;
    }
    qsort(parts, (size_t)seeds, sizeof(parts[0]), by_size);
    qsort(served, (size_t)seeds, sizeof(served[0]), by_size);
    ck_assert_msg(parts[seeds / 2] >= of_fair_share, "%g of the oracle", parts[seeds / 2]);
    ck_assert_msg(served[seeds / 2] >= 0.95, "he was served in %g", served[seeds / 2]);
}

/* Beside a client of three tenths. */
static void expect_beside(enum sim_pattern pattern, double median_s, double of_fair_share)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.services[0].median_s = median_s;
    scenario.foreign = (struct sim_foreign_load){ 0.3, pattern };
    expect_medians(&scenario, 9, of_fair_share);
}

static void expect_job_beside(struct sim_foreign_load foreign, int64_t items, double of_fair_share)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.foreign = foreign;
    scenario.work_items = items;
    expect_medians(&scenario, SEEDS_MAX, of_fair_share);
}

/* Who keeps his highest for him at all times has 91 % of the fair share, less what chance may add.
 */
START_TEST(the_rhythm_of_another_user_is_used)
{
    expect_beside(SIM_PATTERN_BURSTY, 2, 0.90);
    expect_beside(SIM_PATTERN_BURSTY, 0.5, 0.91);
    expect_beside(SIM_PATTERN_ONOFF, 2, 0.92);
    expect_beside(SIM_PATTERN_ONOFF, 0.5, 0.93);
}
END_TEST

/* What was spread over a third of a window comes free over a third of the next one. */
START_TEST(beside_a_steady_user_a_job_that_ends_spends_a_window_sooner)
{
    expect_job_beside((struct sim_foreign_load){ 0.4, SIM_PATTERN_CONSTANT }, 1721, 0.90);
    expect_job_beside((struct sim_foreign_load){ 0.2, SIM_PATTERN_CONSTANT }, 2294, 0.92);
}
END_TEST

/* A burst was taken to go on for all of the first window, and hardly anything was left for us. */
START_TEST(a_user_who_begins_with_a_burst_is_not_taken_to_go_on_like_that)
{
    expect_job_beside((struct sim_foreign_load){ 0.3, SIM_PATTERN_BURSTY }, 883, 0.955);
}
END_TEST

/* What is more than its share is not all chance if somebody else is there. */
START_TEST(another_user_of_servers_that_cannot_be_chosen_is_served)
{
    static const double medians_s[] = { 2, 8, 30 };
    for (size_t i = 0; i < sizeof(medians_s) / sizeof(medians_s[0]); i++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.servers = 4;
        scenario.services[0].median_s = medians_s[i];
        scenario.foreign.share = 0.2;
        double served = 0;
        for (uint64_t seed = 1; seed <= 5; seed++)
            served += run(&scenario, "budget", seed).foreign_served / 5;
        ck_assert_msg(served >= 0.95, "requests of %g s: %g", medians_s[i], served);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_beside");
    suite_add(&s, another_user_of_the_connection_is_served);
    suite_add(&s, beside_another_user_there_is_a_throttle_in_five_hours_at_most);
    suite_add(&s, another_user_who_comes_and_goes_is_served_too);
    suite_add(&s, the_rhythm_of_another_user_is_used);
    suite_add(&s, beside_a_steady_user_a_job_that_ends_spends_a_window_sooner);
    suite_add(&s, a_user_who_begins_with_a_burst_is_not_taken_to_go_on_like_that);
    suite_add(&s, another_user_of_servers_that_cannot_be_chosen_is_served);
    return suite_run(&s);
}
