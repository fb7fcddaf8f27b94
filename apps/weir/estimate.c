/* SPDX-License-Identifier: MIT */
/* How long a job will take; see estimate.h. */
#include "estimate.h"

/* The slower of what stands there and another bound. */
static void take(double seconds, enum estimate_bound bound, double *slowest_s,
                 enum estimate_bound *ret)
{
    if (seconds > *slowest_s) {
        *slowest_s = seconds;
        *ret = bound;
    }
}

/* What exceeds the budget of a window is waited for: so much of it comes back every second. */
static double wait_s(double wanted, double budget)
{
    return wanted > budget ? (wanted - budget) / (budget / ESTIMATE_WINDOW_S) : 0;
}

void estimate_add(struct estimate *it, const struct estimate_world *world, uint64_t requests,
                  uint64_t rows)
{
    if (requests == 0)
        return;
    double connections = world->connections > 0 ? (double)world->connections : 1;
    double in_flight = world->in_flight > 0 ? (double)world->in_flight : 1;
    double execution_s = (double)rows * ESTIMATE_HUNDRED_ROWS_S / 100;
    double seconds = execution_s / (double)requests;
    enum estimate_bound bound = ESTIMATE_BOUND_ANSWER;
    take(execution_s / in_flight, ESTIMATE_BOUND_PARALLELISM, &seconds, &bound);
    take(wait_s(execution_s / connections, ESTIMATE_EXECUTION_S), ESTIMATE_BOUND_EXECUTION,
         &seconds, &bound);
    take(wait_s((double)requests / connections, ESTIMATE_REQUESTS), ESTIMATE_BOUND_REQUESTS,
         &seconds, &bound);
    if (world->in_flight_max > 0)
        take(execution_s / (double)world->in_flight_max, ESTIMATE_BOUND_USER_PARALLELISM, &seconds,
             &bound);
    if (world->rows_per_second_max > 0)
        take((double)rows / world->rows_per_second_max, ESTIMATE_BOUND_USER_RATE, &seconds, &bound);
    it->seconds += seconds;
    take(seconds, bound, &it->longest_s, &it->bound);
}
