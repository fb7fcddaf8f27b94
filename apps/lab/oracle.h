/* SPDX-License-Identifier: MIT */
/*
 * The oracles: what a client could do that knows every limit, every duration and every failure, and
 * chooses its web server. Requests are taken first in, first out, as every policy must.
 *
 *     O1   compliant and greedy: each request begins as early as no window sum, all that is in
 *          flight included to its end, will ever exceed the limit in force when it begins. It keeps
 *          the scenario's rule of charging, its buckets, its changes of limits, its prefill. For
 *          charges at arrival greedy is optimal at every moment: who begins earlier is never
 *          later afterwards. For charges that come later it is so to within a part of a request.
 *     O2   O1 with the share of the budgets that a foreign client leaves on the mean, and beside
 *          him: it knows what he will do, and no window of both together will ever exceed the limit
 *          for it (outlook.h); under contention, where that cannot be foretold to the last, what he
 *          has executing slows it down, it slows him down, and what he takes longer for it is lost
 *          to both (neighbor.h)
 *     O3   the edge rider: begins whenever the window is not full just now, whatever is in flight;
 *          what the check at arrival lets pass without a throttle. No compliant client does this;
 *          a policy above O1 is explained by it.
 *
 * Under contention more in flight costs everybody, with drift what waits may cost less, and greedy
 * is not optimal: there the best is taken of several caps on what an account may have in flight and
 * several horizons over which it spreads the room that it has.
 */
#ifndef LAB_ORACLE_H
#define LAB_ORACLE_H

#include "sim/law/scenario.h"

enum lab_oracle_kind {
    LAB_ORACLE_COMPLIANT, /* O1; O2 if there is a foreign client */
    LAB_ORACLE_EDGE,      /* O3 */
};

struct lab_oracle {
    uint64_t items;
    double makespan_s; /* < 0: no work items set */
};

/* One request of an oracle's schedule. Requests of a user are numbered in this order. */
struct lab_start {
    int64_t at_us;
    uint32_t user;
    uint32_t server;
    int64_t service_us;
};

struct lab_plan {
    struct lab_start *starts;
    uint32_t count;
    uint32_t capacity;
};

/* What the oracle does. `plan`: its schedule, to be released; NULL: not wanted. */
void lab_oracle(const struct sim_scenario *scenario, uint64_t seed, enum lab_oracle_kind kind,
                struct lab_oracle *ret, struct lab_plan *plan);

void lab_plan_release(struct lab_plan *plan);

#endif
