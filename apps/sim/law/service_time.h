/* SPDX-License-Identifier: MIT */
/*
 * What chance decides about one request, and how long it runs.
 *
 * Chance is a function of (seed, connection, number of the request) and of nothing else: neither
 * the order of calls nor a policy can shift it. So every policy meets the same durations, and a
 * request that is sent again after a failure needs a new number, or it fails again.
 *
 *     server time = (fixed + median × rows/rows of the entry)
 *                   × e^(sigma × normal) × drift × contention
 *
 * Contention is fixed when the request arrives, from the number then executing on the web server,
 * itself included. In a steady state every request sees the same number, so that this agrees with
 * sharing the processor all along; and the end of a request is known when it begins.
 */
#ifndef SIM_LAW_SERVICE_TIME_H
#define SIM_LAW_SERVICE_TIME_H

#include "sim/law/scenario.h"

/* No request runs longer. */
#define SIM_SERVICE_TIME_MAX_US INT64_C(86400000000)

/* Who draws: each has streams of its own. */
enum sim_drawer {
    SIM_DRAWER_CLIENT,
    SIM_DRAWER_FOREIGN,
    SIM_DRAWER_FOREIGN_ARRIVALS,
    SIM_DRAWER_BALANCER,
    SIM_DRAWER_FOREIGN_BALANCER,
};

struct sim_draw {
    double pick;   /* [0, 1): which kind of request */
    double fail;   /* [0, 1): below the share of failures it fails */
    double normal; /* standard normal */
};

/* The key of one connection's draws. */
uint64_t sim_draw_key(uint64_t seed, uint32_t connection, enum sim_drawer drawer);

struct sim_draw sim_draw(uint64_t key, uint64_t number);

/*
 * The entry that serves an operation, drawn by weight: among those of that name, or else among
 * those without a name, or else among all. An empty operation: among all.
 */
uint32_t sim_service_pick(const struct sim_scenario *scenario, struct weir_str operation,
                          double pick);

/* The factor on the median at `now_us` of a run of `duration_us`: 1 before the start. */
double sim_drift_factor(const struct sim_drift *drift, int64_t duration_us, int64_t now_us);

/* The factor on the server time with `executing` requests on the web server. */
double sim_contention_factor(const struct sim_contention *contention, uint32_t executing);

/* The server time in whole microseconds; `factor` is drift × contention. rows 0: the entry's own.
 */
int64_t sim_service_time_us(const struct sim_service *service, double normal, uint32_t rows,
                            double factor);

/* The mean of the server time in seconds, of the entry's own rows and without contention. */
double sim_service_mean_s(const struct sim_service *service, double factor);

#endif
