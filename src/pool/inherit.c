/* SPDX-License-Identifier: MIT */
/* A core that begins with what another one knows; see core.h. */
#include <assert.h>

#include "pool/core.h"
#include "pool/core_parts.h"

/* Throttled until when, and on which ramp it returns. */
static void take_lanes(struct weir_core *core, const struct weir_core *from, uint32_t connection,
                       int64_t now_us)
{
    struct weir_connection *it = &core->connections[connection];
    const struct weir_connection *other = &from->connections[connection];
    it->lane_count = other->lane_count;
    for (uint32_t lane = 0; lane < it->lane_count; lane++) {
        it->lanes[lane].ramp = other->lanes[lane].ramp;
        it->lanes[lane].probed = other->lanes[lane].probed;
        weir_tracker_take_over(&core->tracker, weir_core_lane_key(core, connection, lane),
                               &from->tracker, now_us);
    }
}

static void count_throttles(struct weir_core *core, uint32_t connection,
                            const struct weir_throttle_counts *now,
                            const struct weir_throttle_counts *before)
{
    for (int kind = 0; kind <= WEIR_THROTTLE_OTHER; kind++) {
        uint64_t count = now->of_kind[kind] - (before ? before->of_kind[kind] : 0);
        core->connections[connection].throttles.of_kind[kind] += count;
        core->tracker.total_events += count;
    }
}

static void take_connection(struct weir_core *core, const struct weir_core *from,
                            uint32_t connection, int64_t now_us)
{
    struct weir_connection *it = &core->connections[connection];
    const struct weir_connection *other = &from->connections[connection];
    it->set_aside = other->set_aside;
    it->breaker = other->breaker;
    it->throttled_us = other->throttled_us;
    it->last_throttle = other->last_throttle;
    it->requests_budget = other->requests_budget;
    it->execution_budget = other->execution_budget;
    take_lanes(core, from, connection, now_us);
    if (other->dop_hint)
        weir_core_hint(core, connection, other->dop_hint, now_us);
    weir_core_refresh(core, connection);
}

void weir_core_inherit(struct weir_core *core, const struct weir_core *from,
                       const struct weir_throttle_counts *before, int64_t now_us)
{
    assert(core->count == from->count && core->policy == from->policy);
    weir_core_advance(core, now_us);
    for (uint32_t i = 0; i < core->count; i++) {
        take_connection(core, from, i, core->now_us);
        count_throttles(core, i, &from->connections[i].throttles, before ? &before[i] : NULL);
    }
    weir_core_changed(core);
}
