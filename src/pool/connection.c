/* SPDX-License-Identifier: MIT */
/* One application user inside the pool; see connection.h. */
#include "pool/connection.h"

void weir_connection_close(struct weir_connection *connection)
{
    connection->ramp = 1;
    connection->generation++;
}

void weir_connection_ramp_up(struct weir_connection *connection, uint64_t generation, int level)
{
    if (!connection->ramp || generation != connection->generation)
        return;
    connection->ramp *= 2;
    if (connection->ramp >= (uint32_t)level)
        connection->ramp = 0;
}

uint32_t weir_connection_cap(const struct weir_connection *connection, int level, int64_t now_us)
{
    uint32_t cap = (uint32_t)level;
    if (connection->ramp && connection->ramp < cap)
        cap = connection->ramp;
    if (cap > 1 && weir_breaker_state(&connection->breaker, now_us) != WEIR_BREAKER_CLOSED)
        cap = 1;
    return cap;
}
