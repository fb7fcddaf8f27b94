/* SPDX-License-Identifier: MIT */
/*
 * The account of one user on one web server (or of one user, if the limits are shared): what it
 * used within the window, what it is executing, and whether it is in penalty.
 *
 * The edges. The check comes before execution and looks at what was used so far:
 *
 *     concurrency   refused if `concurrent` requests are executing already
 *     requests      refused if the window holds `requests` already: the 6,000th is accepted, the
 *                   6,001st refused, until one leaves the window
 *     execution     refused once the window holds `execution` or more; work in flight goes on and
 * may exceed it
 *
 * in this order; a penalty is looked at first, by the law. Execution is counted in units of
 * 1/SIM_WHOLE_SHARE microsecond, so that shares add up without rounding.
 */
#ifndef SIM_LAW_ACCOUNT_H
#define SIM_LAW_ACCOUNT_H

#include "sim/law/penalty.h"
#include "sim/law/scenario.h"
#include "sim/law/window.h"

/* Stale headers tell what was true this long ago. */
#define SIM_STALE_US INT64_C(5000000)

struct sim_account {
    struct sim_window requests;
    struct sim_window execution;
    struct sim_penalty penalty;
    uint32_t executing;
    bool counts_requests; /* false: there never is such a limit, and nothing is recorded */
    bool counts_execution;
};

/* At time 0, with the scenario's prefill spread evenly over the window before. */
void sim_account_init(struct sim_account *account, const struct sim_scenario *scenario);
void sim_account_release(struct sim_account *account);

/* The limit that a request meets now, or SIM_THROTTLE_NONE. Does not look at the penalty. */
enum sim_throttle sim_account_check(struct sim_account *account, const struct sim_limits *limits,
                                    const struct sim_budget *budget, int64_t now_us);

/* A request was refused; it counts if the scenario says so. */
void sim_account_refused(struct sim_account *account, const struct sim_limits *limits,
                         int64_t now_us);

/* A request begins that is planned to run for `plan_us`. Returns what was charged at once. */
int64_t sim_account_begin(struct sim_account *account, enum sim_charge charge, int64_t share,
                          int64_t plan_us, int64_t now_us);

/* A request ends after `ran_us`. Returns what was charged between its begin and now. */
int64_t sim_account_end(struct sim_account *account, enum sim_charge charge, int64_t share,
                        int64_t ran_us, int64_t now_us);

/*
 * When the window that tripped falls to 98 % of its limit if nothing happens but `coming` (to the
 * execution window). `now_us` for concurrency.
 */
int64_t sim_account_clears_us(const struct sim_account *account, enum sim_throttle kind,
                              const struct sim_budget *budget, const struct sim_entry *coming,
                              size_t count, int64_t now_us);

#endif
