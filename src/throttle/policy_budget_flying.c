/* SPDX-License-Identifier: MIT */
/* What is in flight, and what the sums are with it; see policy_budget_flying.h. */
#include "throttle/policy_budget_flying.h"

#include <math.h>

#include "base/clock.h"

#define PLACED         3.0 /* deviations of those that are not tied to a server where others are */
#define BLIND_MARGIN   0.010
#define HEARD_MARGIN   0.004
#define SETTLED_MARGIN 0.0005

static void add_load(struct weir_budget_flying *load, const struct weir_budget_flight *flight,
                     double half_us, int64_t now_us)
{
    double elapsed = (double)(now_us - flight->sent_us);
    double rest = flight->expected_us - elapsed;
    if (rest < flight->expected_us / 4)
        rest = flight->expected_us / 4; /* overdue */
    load->count += 1;
    load->elapsed_us += elapsed;
    load->rest_us += rest;
    load->half_us += rest < half_us ? rest : half_us;
}

static struct weir_budget_flying share(const struct weir_budget_flying *own,
                                       const struct weir_budget_flying *any, double part)
{
    return (struct weir_budget_flying){
        .count = own->count + any->count * part,
        .meant = own->meant,
        .elapsed_us = own->elapsed_us + any->elapsed_us * part,
        .half_us = own->half_us + any->half_us * part,
        .rest_us = own->rest_us + any->rest_us * part,
    };
}

/* The part of the flights that are not tied to a server which one of them may have: on the mean,
 * and where the others are tied, by chance. Where none is, whoever asks sees to chance. */
static double part_of_any(const struct weir_budget *budget, double count)
{
    double even = 1.0 / budget->lane_count;
    double part = even;
    if (budget->pinned && count > 0)
        part += PLACED * sqrt(even * (1 - even) / count);
    return part < 1 ? part : 1;
}

void weir_budget_weigh(const struct weir_budget *budget, double expected_us, int64_t now_us,
                       struct weir_budget_flying *loads)
{
    struct weir_budget_flying any = { 0 };
    for (uint32_t i = 0; i < budget->lane_count; i++)
        loads[i] = (struct weir_budget_flying){ 0 };
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        const struct weir_budget_flight *flight = &budget->flights[i];
        bool meant = flight->lane < budget->lane_count;
        bool tied = budget->pinned && meant;
        if (meant)
            loads[flight->lane].meant += 1;
        add_load(tied ? &loads[flight->lane] : &any, flight, expected_us / 2, now_us);
    }
    double part = part_of_any(budget, any.count);
    for (uint32_t i = 0; i < budget->lane_count; i++)
        loads[i] = share(&loads[i], &any, part);
}

int64_t weir_budget_oldest_us(const struct weir_budget *budget, int64_t now_us)
{
    int64_t oldest_us = now_us;
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        int64_t sent_us = budget->flights[i].sent_us;
        oldest_us = sent_us < oldest_us ? sent_us : oldest_us;
    }
    return oldest_us;
}

double weir_budget_execution_at(const struct weir_budget *budget,
                                const struct weir_budget_lane *lane, bool idle, double in_flight_us,
                                double ahead_us, int64_t now_us)
{
    int64_t until_us = now_us + (int64_t)ahead_us;
    int64_t from_us = weir_budget_tail_us(budget, lane, idle, until_us, now_us);
    int64_t booked = weir_ledger_span(&lane->ledger, weir_budget_series(budget), from_us, until_us);
    return weir_budget_rho(budget) * ((double)booked + in_flight_us);
}

double weir_budget_requests_at(const struct weir_budget *budget,
                               const struct weir_budget_lane *lane, bool idle, int64_t ahead_us,
                               int64_t now_us)
{
    int64_t until_us = now_us + ahead_us;
    int64_t from_us = weir_budget_tail_us(budget, lane, idle, until_us, now_us);
    return (double)weir_ledger_span(&lane->ledger, WEIR_SERIES_REQUESTS, from_us, until_us);
}

bool weir_budget_is_exact(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                          int which)
{
    const struct weir_quota *quota = &lane->quotas[which];
    double most = quota->most > quota->highest[0] ? quota->most : quota->highest[0];
    return budget->charging.trusted && (budget->lane_count == 1 || budget->pinned) &&
           !weir_budget_is_coarse(budget) && most <= weir_budget_noise(budget, lane, which);
}

bool weir_budget_is_settled(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                            const struct weir_budget_flying *load, int which)
{
    return load->count <= 0 && weir_budget_series(budget) != WEIR_SERIES_AT_BEGIN &&
           weir_budget_is_exact(budget, lane, which);
}

double weir_budget_ours(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                        const struct weir_budget_flying *load, int which, int64_t now_us)
{
    double margin = budget->charging.trusted ? HEARD_MARGIN : BLIND_MARGIN;
    bool coarse = weir_budget_is_coarse(budget);
    if (weir_budget_is_settled(budget, lane, load, which))
        margin = which == WEIR_BUDGET_REQUESTS && budget->lane_count == 1 ? 0 : SETTLED_MARGIN;
    double all = weir_budget_beside(budget, lane, which, coarse, load->count <= 0, now_us);
    double forgotten = weir_budget_forgotten(budget, lane, which, now_us);
    all = all + forgotten < lane->quotas[which].limit ? all + forgotten : lane->quotas[which].limit;
    if (which == WEIR_BUDGET_EXECUTION && lane->heard_us != WEIR_NEVER) /* as we see it by now */
        all += weir_budget_rho(budget) * lane->heard.used[budget->charging.best] - lane->heard_own;
    return all * (1 - margin - budget->caution);
}
