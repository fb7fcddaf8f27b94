/* SPDX-License-Identifier: MIT */
/*
 * What is in flight towards a lane's server, and with it what its sums are and will be.
 *
 * Where it is known which server a request went to, that one has it; otherwise each has a fraction.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_FLYING_H
#define WEIR_THROTTLE_POLICY_BUDGET_FLYING_H

#include "throttle/policy_budget_state.h"

struct weir_budget_flying {
    double count;
    double meant; /* of them, those that were sent to this server, whether they get there or not */
    double elapsed_us;
    double half_us; /* that will have passed of the rest when a new request is half through */
    double rest_us; /* expected */
};

/* The load of every lane. A flight that is not tied to a server may be on any. */
void weir_budget_weigh(const struct weir_budget *budget, double expected_us, int64_t now_us,
                       struct weir_budget_flying *loads);

/* When the oldest of all that are in flight was sent; now, if none is. */
int64_t weir_budget_oldest_us(const struct weir_budget *budget, int64_t now_us);

/* The server's execution sum `ahead_us` from now, without the request in question. */
double weir_budget_execution_at(const struct weir_budget *budget,
                                const struct weir_budget_lane *lane, bool idle, double in_flight_us,
                                double ahead_us, int64_t now_us);

/* The server's requests `ahead_us` from now, without what is in flight. */
double weir_budget_requests_at(const struct weir_budget *budget,
                               const struct weir_budget_lane *lane, bool idle, int64_t ahead_us,
                               int64_t now_us);

/* What of a budget is ours now and for as long as what goes now stays in the window. */
double weir_budget_ours(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                        const struct weir_budget_flying *load, int which, int64_t now_us);

/* Nobody else is there, and what the server has booked of a budget is in our books: headers are
 * trusted, the window slides, and it is known which server a request goes to. */
bool weir_budget_is_exact(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                          int which);

/* Besides, nothing is in flight: it is known to the last drop, and so is what is left of it. Not
 * where time is charged on arrival: what the next ones will have taken is not known when they are
 * there. */
bool weir_budget_is_settled(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                            const struct weir_budget_flying *load, int which);

#endif
