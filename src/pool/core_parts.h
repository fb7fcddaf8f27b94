/* SPDX-License-Identifier: MIT */
/* What the files of the pool's core (core.c, serve.c, settle.c, stats.c) share; nobody else's. */
#ifndef WEIR_POOL_CORE_PARTS_H
#define WEIR_POOL_CORE_PARTS_H

#include "pool/core.h"

#define WEIR_NO_CONNECTION UINT32_MAX

static inline void *weir_core_policy_state(const struct weir_core *core, uint32_t connection)
{
    return core->policy_states + connection * core->policy->state_bytes;
}

/* The policy's level of a connection. */
static inline int weir_core_level(const struct weir_core *core, uint32_t connection)
{
    return core->policy->level(weir_core_policy_state(core, connection));
}

/* The tracker's key of a lane. */
static inline uint32_t weir_core_lane_key(const struct weir_core *core, uint32_t connection,
                                          uint32_t lane)
{
    return connection * core->policy->lanes_max + lane;
}

/* Let time pass: the slot clock, if it runs, and the conditions that end by themselves. */
void weir_core_advance(struct weir_core *core, int64_t now_us);

/* Put a connection where it belongs after something happened to it. */
void weir_core_refresh(struct weir_core *core, uint32_t connection);

/* `until_us`: when the condition ends by itself, or WEIR_FOREVER. */
void weir_core_set_condition(struct weir_core *core, uint32_t connection,
                             enum weir_condition condition, int64_t until_us);

static inline struct weir_lane *weir_core_lane(const struct weir_core *core, uint32_t connection,
                                               uint32_t lane)
{
    return &core->connections[connection].lanes[lane];
}

/* A throttle keeps the lane from being used just now. */
bool weir_core_lane_closed(const struct weir_core *core, uint32_t connection, uint32_t lane);

/* Whoever waits, waits for a throttle and not for a slot. */
bool weir_core_waits_for_throttle(const struct weir_core *core);

/* Every change of the core ends with it: the slot clock runs or stands as things are now. */
void weir_core_set_slot_clock(struct weir_core *core);

/* The same after a change that may serve or refuse a waiter. */
void weir_core_changed(struct weir_core *core);

void weir_core_note(struct weir_core *core, uint32_t connection, enum weir_pool_event_type type,
                    int64_t wait_us);

/* Note a change of level, if there was one. */
void weir_core_note_level(struct weir_core *core, uint32_t connection, int before);

#endif
