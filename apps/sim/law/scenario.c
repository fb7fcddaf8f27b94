/* SPDX-License-Identifier: MIT */
/* Defaults of a scenario; see scenario.h. */
#include "sim/law/scenario.h"

#include <stdio.h>

#include "base/clock.h"

static const struct sim_limits default_limits = {
    .requests = 6000,
    .execution_us = 1200 * WEIR_US_PER_S,
    .concurrent = 52,
    .window_us = 300 * WEIR_US_PER_S,
    .charge = SIM_CHARGE_ACCRUAL,
};

static const struct sim_retry_after default_retry_after = {
    .base_us = 1 * WEIR_US_PER_S,
    .growth = 1.5,
    .forget_us = 360 * WEIR_US_PER_S,
    .cap_us = 480 * WEIR_US_PER_S,
    .per_offence_us = 1 * WEIR_US_PER_S,
    .form = SIM_RETRY_SECONDS,
};

struct sim_service sim_service_default(void)
{
    return (struct sim_service){
        .weight = 1,
        .rows = 100,
        .median_s = 2.0,
        .sigma = 0.3,
        .overhead_us = 50 * WEIR_US_PER_MS,
        .exec_share = SIM_WHOLE_SHARE,
        .drift = { SIM_DRIFT_NONE, 1.0 },
    };
}

void sim_scenario_init(struct sim_scenario *scenario)
{
    *scenario = (struct sim_scenario){
        .name = "slow-8s",
        .duration_us = 1800 * WEIR_US_PER_S,
        .work_items = SIM_NO_WORK_ITEMS,
        .connections = 2,
        .servers = 1,
        .affinity = SIM_AFFINITY_NONE,
        .limits = default_limits,
        .retry_after = default_retry_after,
        .headers = SIM_HEADERS_EXACT,
        .dop_hint = 4,
        .service_count = 1,
    };
    scenario->services[0] = sim_service_default();
}

void sim_scenario_calibrated(struct sim_scenario *scenario)
{
    sim_scenario_init(scenario);
    snprintf(scenario->name, sizeof(scenario->name), "calibrated");
    scenario->dop_hint = 5;
    struct sim_service *service = &scenario->services[0];
    service->median_s = 2.5;
    /* What was measured are means; with a wide distribution the mean would leave the median. */
    service->sigma = 0.1;
    service->exec_share = 72 * SIM_WHOLE_SHARE / 100;
    scenario->contention = (struct sim_contention){ .knee = 12, .kappa = 0.96 };
}

struct sim_budget sim_scenario_budget(const struct sim_scenario *scenario, int64_t now_us)
{
    struct sim_budget budget = { scenario->limits.requests, scenario->limits.execution_us,
                                 scenario->dop_hint };
    for (uint32_t i = 0; i < scenario->change_count; i++) {
        const struct sim_change *change = &scenario->changes[i];
        if (change->at_us > now_us)
            break;
        if (change->requests != SIM_UNCHANGED)
            budget.requests = change->requests;
        if (change->execution_us != SIM_UNCHANGED)
            budget.execution_us = change->execution_us;
        if (change->dop_hint != SIM_UNCHANGED)
            budget.dop_hint = change->dop_hint;
    }
    return budget;
}
