/* SPDX-License-Identifier: MIT */
/*
 * The other client; see foreign.h.
 *
 * A Poisson process has no memory: at the end of a cell the next gap is simply drawn again, with
 * the new rate. So each connection has one turn to come at any time.
 */
#include "sim/law/foreign.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/number.h"
#include "sim/law/service_time.h"

#define CELL_US         (20 * WEIR_US_PER_S)
#define CELLS_PER_PHASE 6 /* 120 s */
#define ONOFF_FACTOR    2
#define BURSTY_FACTOR   6

static double pattern_factor(enum sim_pattern pattern, int64_t cell)
{
    switch (pattern) {
    case SIM_PATTERN_ONOFF:
        return cell / CELLS_PER_PHASE % 2 ? 0 : ONOFF_FACTOR;
    case SIM_PATTERN_BURSTY:
        return cell % CELLS_PER_PHASE ? 0 : BURSTY_FACTOR;
    case SIM_PATTERN_CONSTANT:
        break;
    }
    return 1;
}

/* Execution-seconds that a request of the mix is charged, on average. */
static double mean_charge_s(const struct sim_scenario *scenario, int64_t now_us)
{
    double charge = 0, weights = 0;
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        const struct sim_service *service = &scenario->services[i];
        double drift = sim_drift_factor(&service->drift, scenario->duration_us, now_us);
        double mean_s = sim_service_mean_s(service, drift);
        charge += service->weight * mean_s * (double)service->exec_share / SIM_WHOLE_SHARE;
        weights += service->weight;
    }
    return weights > 0 ? charge / weights : 0;
}

/* Requests that exhaust one window: by their number or by their execution time. */
static double requests_in_budget(const struct sim_scenario *scenario, int64_t now_us)
{
    struct sim_budget budget = sim_scenario_budget(scenario, now_us);
    double charge_s = mean_charge_s(scenario, now_us);
    double by_number = (double)budget.requests;
    if (!budget.execution_us || charge_s <= 0)
        return by_number;
    double by_time = (double)budget.execution_us / (double)WEIR_US_PER_S / charge_s;
    return budget.requests && by_number < by_time ? by_number : by_time;
}

double sim_foreign_rate(const struct sim_scenario *scenario, int64_t now_us)
{
    int64_t cell = now_us / CELL_US;
    double window_s = (double)scenario->limits.window_us / (double)WEIR_US_PER_S;
    double budgets = scenario->limits.shared ? 1 : scenario->servers;
    double middle = requests_in_budget(scenario, cell * CELL_US + CELL_US / 2) / window_s;
    return scenario->foreign.share * budgets * middle *
           pattern_factor(scenario->foreign.pattern, cell);
}

static void plan_turn(struct sim_foreign *foreign, const struct sim_scenario *scenario,
                      uint32_t user, int64_t now_us)
{
    struct sim_foreign_user *u = &foreign->users[user];
    double rate = sim_foreign_rate(scenario, now_us);
    int64_t turn_us = (now_us / CELL_US + 1) * CELL_US;
    u->wants = false;
    if (rate > 0) {
        double gap_s = -sim_log(1 - weir_rng_unit(&u->rng)) / rate;
        int64_t gap_us = sim_round(gap_s * (double)WEIR_US_PER_S, CELL_US);
        u->wants = gap_us < turn_us - now_us;
        turn_us = u->wants ? now_us + gap_us : turn_us;
    }
    weir_heap_set(&foreign->turns, user, turn_us);
}

void sim_foreign_init(struct sim_foreign *foreign, const struct sim_scenario *scenario,
                      uint64_t seed)
{
    *foreign = (struct sim_foreign){ 0 };
    if (scenario->foreign.share <= 0)
        return;
    foreign->users = weir_calloc(scenario->connections, sizeof(*foreign->users));
    weir_heap_init(&foreign->turns, scenario->connections);
    for (uint32_t user = 0; user < scenario->connections; user++) {
        uint64_t key = sim_draw_key(seed, user, SIM_DRAWER_FOREIGN_ARRIVALS);
        weir_rng_init(&foreign->users[user].rng, key, 0);
        plan_turn(foreign, scenario, user, 0);
    }
}

void sim_foreign_release(struct sim_foreign *foreign)
{
    free(foreign->users);
    weir_heap_release(&foreign->turns);
    *foreign = (struct sim_foreign){ 0 };
}

int64_t sim_foreign_next_us(const struct sim_foreign *foreign)
{
    return weir_heap_min(&foreign->turns);
}

bool sim_foreign_turn(struct sim_foreign *foreign, const struct sim_scenario *scenario,
                      uint32_t *ret_user)
{
    int64_t now_us = sim_foreign_next_us(foreign);
    uint32_t user = weir_heap_top(&foreign->turns);
    struct sim_foreign_user *u = &foreign->users[user];
    bool wants = u->wants;
    plan_turn(foreign, scenario, user, now_us);
    if (!wants)
        return false;
    u->counts.wanted++;
    if (now_us < u->blocked_until_us)
        return false;
    u->counts.sent++;
    *ret_user = user;
    return true;
}

void sim_foreign_served(struct sim_foreign *foreign, uint32_t user)
{
    foreign->users[user].counts.served++;
}

void sim_foreign_throttled(struct sim_foreign *foreign, uint32_t user, int64_t until_us)
{
    foreign->users[user].blocked_until_us = until_us;
}
