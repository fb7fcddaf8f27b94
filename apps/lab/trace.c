/* SPDX-License-Identifier: MIT */
/*
 * What one run did, request by request; see trace.h.
 *
 * A wrapped state is the state of the policy inside and nothing else; which policy that is and
 * where to write are the same for all connections of the one run under way, so they stand here.
 */
#include "lab/trace.h"

#include "base/mem.h"

static const struct weir_policy *inside;
static struct lab_trace *sink;
static int64_t overhead_us;

static void write_down(struct lab_trace *trace, struct lab_step step)
{
    if (trace->count == trace->capacity) {
        trace->capacity = trace->capacity ? 2 * trace->capacity : 1024;
        trace->steps = weir_realloc(trace->steps, trace->capacity, sizeof(*trace->steps));
    }
    trace->steps[trace->count++] = step;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    inside->answered(state, lease, answer, reopens_us, now_us);
    if (answer->verdict.class_ == WEIR_CLASS_UNSENT)
        return;
    bool throttled = answer->verdict.class_ == WEIR_CLASS_THROTTLE;
    int64_t service_us = answer->duration_us - overhead_us;
    write_down(sink, (struct lab_step){
                         .sent_us = lease->sent_us,
                         .back_us = now_us,
                         .service_us = throttled || service_us < 0 ? 0 : service_us,
                         .throttled = throttled,
                     });
}

void lab_trace_run(const struct sim_scenario *scenario, const struct lab_policy *policy,
                   uint64_t seed, struct lab_trace *ret, struct lab_figures *ret_figures)
{
    struct weir_policy outside = *policy->policy;
    struct lab_policy wrapped = *policy;
    *ret = (struct lab_trace){ 0 };
    inside = policy->policy;
    sink = ret;
    overhead_us = scenario->services[0].overhead_us;
    outside.answered = answered;
    wrapped.policy = &outside;
    lab_run(scenario, &wrapped, seed, ret_figures);
    inside = NULL;
    sink = NULL;
}

void lab_trace_oracle(const struct sim_scenario *scenario, uint64_t seed, struct lab_trace *ret,
                      struct lab_oracle *ret_oracle)
{
    struct lab_plan plan;
    *ret = (struct lab_trace){ 0 };
    lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, ret_oracle, &plan);
    for (uint32_t i = 0; i < plan.count; i++) {
        const struct lab_start *start = &plan.starts[i];
        int64_t end_us = start->at_us + start->service_us;
        write_down(ret, (struct lab_step){ .sent_us = start->at_us,
                                           .back_us = end_us + scenario->services[0].overhead_us,
                                           .service_us = start->service_us });
    }
    lab_plan_release(&plan);
}

void lab_trace_release(struct lab_trace *trace)
{
    free(trace->steps);
    *trace = (struct lab_trace){ 0 };
}
