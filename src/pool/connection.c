/* SPDX-License-Identifier: MIT */
/* One application user inside the pool; see connection.h. */
#include "pool/connection.h"

void weir_lane_close(struct weir_lane *lane)
{
    lane->ramp = 1;
    lane->probed = false;
    lane->generation++;
}

void weir_lane_ramp_up(struct weir_lane *lane, uint64_t generation, int level)
{
    if (!lane->ramp || generation != lane->generation)
        return;
    lane->ramp *= 2;
    if (lane->ramp >= (uint32_t)level)
        lane->ramp = 0;
}

void weir_connection_outdate(struct weir_connection *connection)
{
    for (uint32_t i = 0; i < connection->lane_count; i++)
        connection->lanes[i].generation++;
}

uint32_t weir_connection_cap(const struct weir_connection *connection, int level, int64_t now_us)
{
    uint32_t cap = (uint32_t)level;
    const struct weir_lane *only = connection->lane_count == 1 ? &connection->lanes[0] : NULL;
    if (only && only->ramp && only->ramp < cap)
        cap = only->ramp;
    if (cap > 1 && weir_breaker_state(&connection->breaker, now_us) != WEIR_BREAKER_CLOSED)
        cap = 1;
    return cap;
}

void weir_budget_hear(struct weir_budget_seen *seen, int64_t remaining)
{
    seen->known = true;
    seen->remaining = remaining;
    if (remaining > seen->most)
        seen->most = remaining;
}
