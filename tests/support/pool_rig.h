/* SPDX-License-Identifier: MIT */
/* What the tests of the pool's core share: one rig with the policy Fixed, and shorthands for it. */
#ifndef WEIR_TESTS_POOL_RIG_H
#define WEIR_TESTS_POOL_RIG_H

#include "support/rig.h"
#include "support/suite.h"

static struct rig rig;

static inline void setup(uint32_t connections, int fixed_level)
{
    rig_init(&rig, connections);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = fixed_level;
}

static inline int64_t turn(struct weir_grant *grants, uint32_t max, uint32_t *ret_count)
{
    return weir_core_turn(&rig.core, rig.now_us, grants, max, ret_count);
}

/* Lease as many as there are; settle them all with a success. Returns how many there were. */
static inline int burst(void)
{
    struct weir_lease leases[64];
    int count = 0;
    struct weir_grant grant;
    while ((grant = rig_try(&rig)).status == WEIR_OK)
        leases[count++] = grant.lease;
    rig.now_us += SECONDS(1);
    for (int i = 0; i < count; i++)
        rig_settle(&rig, leases[i], answer_ok(SECONDS(1)));
    return count;
}

#endif
