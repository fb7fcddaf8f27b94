/* SPDX-License-Identifier: MIT */
/*
 * Dop: the server's recommended degree of parallelism (x-ms-dop-hint), as it is. What adaptive rate
 * control is when it is switched off.
 */
#include "base/limits.h"
#include "throttle/steady.h"

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    weir_steady_init(state, WEIR_PARALLELISM_UNHINTED, WEIR_BOUND_DOP);
}

static void hint(void *state, int dop_hint, int64_t now_us)
{
    (void)now_us;
    struct weir_steady *steady = state;
    steady->max = dop_hint;
    steady->level = dop_hint;
}

const struct weir_policy weir_policy_dop = {
    .name = "Dop",
    .state_bytes = sizeof(struct weir_steady),
    .lanes_max = 1,
    .init = init,
    .admit = weir_steady_admit,
    .leased = weir_steady_leased,
    .answered = weir_steady_answered,
    .hint = hint,
    .reset = weir_steady_reset,
    .epoch = weir_steady_epoch,
    .level = weir_steady_level,
    .stats = weir_steady_stats,
};
