/* SPDX-License-Identifier: MIT */
/*
 * How long a job will take, and what will keep it from being faster. The service publishes what a
 * user may do in any 300 s and at the same time, and recommends how many requests to have in
 * flight, which the policy Budget does not go by; what a request costs nobody knows before it was
 * sent, so that is an assumption:
 *
 *     parallelism      requests x cost / requests in flight
 *     execution time   1,200 s at once, then 4 s of it every second, for each connection
 *     requests         6,000 at once, then 20 every second, for each connection
 *
 * The slowest of them is the answer. Passes follow each other. Pure.
 */
#ifndef WEIR_APP_ESTIMATE_H
#define WEIR_APP_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Assumed: a hundred rows take the service so long. */
#define ESTIMATE_HUNDRED_ROWS_S 2.5

/* Published: for each user, in any … */
#define ESTIMATE_WINDOW_S    300.0
#define ESTIMATE_EXECUTION_S 1200.0
#define ESTIMATE_REQUESTS    6000.0
#define ESTIMATE_AT_A_TIME   50 /* of 52; Budget leaves two alone */

enum estimate_bound {
    ESTIMATE_BOUND_NONE = 0, /* there is nothing to send */
    ESTIMATE_BOUND_ANSWER,   /* all requests are in flight at once */
    ESTIMATE_BOUND_PARALLELISM,
    ESTIMATE_BOUND_EXECUTION,
    ESTIMATE_BOUND_REQUESTS,
    ESTIMATE_BOUND_USER_PARALLELISM, /* --max-parallel */
    ESTIMATE_BOUND_USER_RATE,        /* --max-rate */
};

struct estimate_world {
    size_t connections;         /* that work; 0 counts as 1 */
    uint64_t in_flight;         /* that the service recommends or takes, over all of them */
    uint64_t in_flight_max;     /* that the user allows; 0: any */
    double rows_per_second_max; /* likewise */
    bool by_limits;             /* in flight are what it takes, not what it recommends */
};

struct estimate {
    double seconds;
    enum estimate_bound bound; /* of the pass that takes longest */
    double longest_s;          /* that pass */
};

/* Add a pass to a zeroed estimate, or to one that has passes. */
void estimate_add(struct estimate *it, const struct estimate_world *world, uint64_t requests,
                  uint64_t rows);

#endif
