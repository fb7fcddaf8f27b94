/* SPDX-License-Identifier: MIT */
/*
 * What one run did, request by request, and its timeline as a picture: what was in flight, how full
 * the windows were, and when it was throttled.
 *
 * A run is traced from outside: its policy is wrapped in one that writes down what it is told and
 * passes everything on, so that neither the run nor the policy knows.
 */
#ifndef LAB_TRACE_H
#define LAB_TRACE_H

#include "base/buf.h"
#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"

/* One request. */
struct lab_step {
    int64_t sent_us;
    int64_t back_us;
    int64_t service_us; /* on the server, as the client sees it; 0 if it was throttled */
    bool throttled;
};

struct lab_trace {
    struct lab_step *steps; /* in the order of their answers */
    uint32_t count;
    uint32_t capacity;
};

/* Run a scenario and write down what happened. */
void lab_trace_run(const struct sim_scenario *scenario, const struct lab_policy *policy,
                   uint64_t seed, struct lab_trace *ret, struct lab_figures *ret_figures);

/* The schedule of the oracle, as if it had been run. */
void lab_trace_oracle(const struct sim_scenario *scenario, uint64_t seed, struct lab_trace *ret,
                      struct lab_oracle *ret_oracle);

void lab_trace_release(struct lab_trace *trace);

/* The timelines of some policies and of the oracle, one below the other. In timeline.c. */
void lab_plot_timeline(const struct sim_scenario *scenario, const struct lab_policy *policies,
                       uint32_t count, uint64_t seed, struct weir_buf *ret);

#endif
