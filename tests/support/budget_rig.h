/* SPDX-License-Identifier: MIT */
/* One state of Budget that a test tells what happened, and the time, which the test moves. */
#ifndef WEIR_TESTS_BUDGET_RIG_H
#define WEIR_TESTS_BUDGET_RIG_H

#include "base/mem.h"
#include "support/rig.h"
#include "throttle/policy_budget_state.h"

static struct weir_budget *budget;
static struct weir_adaptive_rate_options options;
static int64_t now_us;
static uint64_t serial;

/* A new one with all defaults. */
static inline void budget_rig_start(int64_t begin_us)
{
    struct weir_options all;
    weir_options_defaults(&all);
    options = all.adaptive_rate;
    free(budget);
    budget = weir_calloc(1, sizeof(*budget));
    weir_policy_budget.init(budget, &options);
    now_us = begin_us;
    serial = 0;
}

#endif
