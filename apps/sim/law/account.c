/* SPDX-License-Identifier: MIT */
/* The account of one user on one web server; see account.h. */
#include "sim/law/account.h"

#include "sim/law/number.h"

#define CLEAR_PERCENT        98
#define PREFILL_PORTIONS_MAX 10000

/* Evenly, one by one; a huge count in as many portions as this. */
static void prefill_requests(struct sim_window *window, int64_t count)
{
    int64_t portions = count < PREFILL_PORTIONS_MAX ? count : PREFILL_PORTIONS_MAX;
    for (int64_t i = 1; i <= portions; i++) {
        double into_us = (double)window->window_us * (double)i / (double)portions;
        int64_t at_us = sim_round(into_us, window->window_us) - window->window_us;
        sim_window_add(window, at_us, count * i / portions - count * (i - 1) / portions, 0);
    }
}

/* As a rate: what others executed before the start drains evenly, whatever the rule of charging. */
static void prefill_execution(struct sim_window *window, double amount)
{
    int64_t rate = sim_round(amount / (double)window->window_us, INT64_MAX);
    sim_window_add(window, -window->window_us, 0, rate);
    sim_window_add(window, 0, 0, -rate);
}

static void prefill(struct sim_account *account, const struct sim_scenario *scenario)
{
    const struct sim_limits *limits = &scenario->limits;
    double share = scenario->prefill;
    if (share <= 0)
        return;
    if (account->counts_requests)
        prefill_requests(&account->requests,
                         sim_round(share * (double)limits->requests, limits->requests));
    if (account->counts_execution)
        prefill_execution(&account->execution,
                          share * (double)limits->execution_us * SIM_WHOLE_SHARE);
}

/* Whether there is a limit at any time of the run. */
static void find_limits(struct sim_account *account, const struct sim_scenario *scenario)
{
    account->counts_requests = scenario->limits.requests > 0;
    account->counts_execution = scenario->limits.execution_us > 0;
    for (uint32_t i = 0; i < scenario->change_count; i++) {
        account->counts_requests |= scenario->changes[i].requests > 0;
        account->counts_execution |= scenario->changes[i].execution_us > 0;
    }
}

void sim_account_init(struct sim_account *account, const struct sim_scenario *scenario)
{
    const struct sim_limits *limits = &scenario->limits;
    int64_t lag_us = scenario->headers == SIM_HEADERS_STALE ? SIM_STALE_US : 0;
    *account = (struct sim_account){ 0 };
    sim_window_init(&account->requests, limits->window_us, limits->bucket_us, lag_us,
                    -limits->window_us);
    sim_window_init(&account->execution, limits->window_us, limits->bucket_us, lag_us,
                    -limits->window_us);
    find_limits(account, scenario);
    prefill(account, scenario);
}

void sim_account_release(struct sim_account *account)
{
    sim_window_release(&account->requests);
    sim_window_release(&account->execution);
    *account = (struct sim_account){ 0 };
}

enum sim_throttle sim_account_check(struct sim_account *account, const struct sim_limits *limits,
                                    const struct sim_budget *budget, int64_t now_us)
{
    if (limits->concurrent && account->executing >= limits->concurrent)
        return SIM_THROTTLE_CONCURRENCY;
    if (budget->requests && sim_window_sum(&account->requests, now_us) >= budget->requests)
        return SIM_THROTTLE_REQUESTS;
    if (budget->execution_us &&
        sim_window_sum(&account->execution, now_us) >= budget->execution_us * SIM_WHOLE_SHARE)
        return SIM_THROTTLE_EXECUTION_TIME;
    return SIM_THROTTLE_NONE;
}

void sim_account_refused(struct sim_account *account, const struct sim_limits *limits,
                         int64_t now_us)
{
    if (limits->count_throttled && account->counts_requests)
        sim_window_add(&account->requests, now_us, 1, 0);
}

static void charge_execution(struct sim_account *account, int64_t now_us, int64_t amount,
                             int64_t rate)
{
    if (account->counts_execution)
        sim_window_add(&account->execution, now_us, amount, rate);
}

int64_t sim_account_begin(struct sim_account *account, enum sim_charge charge, int64_t share,
                          int64_t plan_us, int64_t now_us)
{
    account->executing++;
    if (account->counts_requests)
        sim_window_add(&account->requests, now_us, 1, 0);
    if (charge == SIM_CHARGE_ACCRUAL)
        charge_execution(account, now_us, 0, share);
    if (charge != SIM_CHARGE_ARRIVAL)
        return 0;
    charge_execution(account, now_us, share * plan_us, 0);
    return share * plan_us;
}

int64_t sim_account_end(struct sim_account *account, enum sim_charge charge, int64_t share,
                        int64_t ran_us, int64_t now_us)
{
    account->executing--;
    if (charge == SIM_CHARGE_ARRIVAL)
        return 0;
    if (charge == SIM_CHARGE_ACCRUAL)
        charge_execution(account, now_us, 0, -share);
    else
        charge_execution(account, now_us, share * ran_us, 0);
    return share * ran_us;
}

int64_t sim_account_clears_us(const struct sim_account *account, enum sim_throttle kind,
                              const struct sim_budget *budget, const struct sim_entry *coming,
                              size_t count, int64_t now_us)
{
    if (kind == SIM_THROTTLE_REQUESTS)
        return sim_window_falls_us(&account->requests, budget->requests * CLEAR_PERCENT / 100, NULL,
                                   0);
    if (kind == SIM_THROTTLE_EXECUTION_TIME)
        return sim_window_falls_us(&account->execution,
                                   budget->execution_us * SIM_WHOLE_SHARE / 100 * CLEAR_PERCENT,
                                   coming, count);
    return now_us;
}
