/* SPDX-License-Identifier: MIT */
/*
 * Budget in the laboratory: what must hold whatever the world is like. Scenarios are made from a
 * number, so that one that fails can be run again.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "support/suite.h"

#define WORLDS      200
#define WORLDS_FULL 10000

static struct lab_figures run(const struct sim_scenario *scenario, const char *name, uint64_t seed)
{
    struct lab_policy policy;
    struct lab_figures figures;
    ck_assert_int_eq(lab_policy_find(weir_str_from(name), &policy, NULL), WEIR_OK);
    lab_run(scenario, &policy, seed, &figures);
    return figures;
}

static double between(struct weir_rng *rng, double least, double most)
{
    return least + (most - least) * weir_rng_unit(rng);
}

static int64_t seconds(double s)
{
    return (int64_t)(s * 1e6);
}

/* A world without secrets: limits, headers and charging are as they say, nobody else is there. */
static void make_honest(struct sim_scenario *scenario, uint64_t number)
{
    static const double windows_s[] = { 6, 30, 60, 300 };
    struct weir_rng rng;
    weir_rng_init(&rng, number, 0);
    sim_scenario_init(scenario);
    double window_s = windows_s[weir_rng_below(&rng, 4)];
    double scale = window_s / 300; /* as Budget takes them to be */
    scenario->connections = 1 + (uint32_t)weir_rng_below(&rng, 3);
    scenario->servers = 1 + (uint32_t)weir_rng_below(&rng, 4);
    scenario->affinity = SIM_AFFINITY_PINNED;
    scenario->limits.window_us = seconds(window_s);
    scenario->limits.requests = (int64_t)(6000 * scale);
    scenario->limits.execution_us = seconds(1200 * scale);
    scenario->limits.charge = (enum sim_charge)weir_rng_below(&rng, 3);
    scenario->duration_us = seconds(window_s * between(&rng, 2.5, 5));
    scenario->failures = weir_rng_below(&rng, 3) ? 0 : between(&rng, 0, 0.1);
    scenario->retry_after.base_us = seconds(1);
    struct sim_service *service = &scenario->services[0];
    service->median_s = window_s * exp(between(&rng, log(1 / 3000.0), log(1 / 40.0)));
    service->sigma = between(&rng, 0, 0.6);
    service->exec_share = (int64_t)between(&rng, 0.5 * SIM_WHOLE_SHARE, SIM_WHOLE_SHARE);
    service->overhead_us = seconds(service->median_s * between(&rng, 0.005, 0.1));
}

START_TEST(in_an_honest_world_nothing_is_ever_throttled)
{
    uint64_t worlds = getenv("WEIR_FULL") ? WORLDS_FULL : WORLDS;
    for (uint64_t i = 0; i < worlds; i++) {
        struct sim_scenario scenario;
        make_honest(&scenario, i);
        struct lab_figures figures = run(&scenario, "budget", i);
        if (figures.throttles)
            ck_abort_msg("world %llu: %llu throttles", (unsigned long long)i,
                         (unsigned long long)figures.throttles);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_lab");
    suite_add(&s, in_an_honest_world_nothing_is_ever_throttled);
    return suite_run(&s);
}
