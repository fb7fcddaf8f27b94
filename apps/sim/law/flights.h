/* SPDX-License-Identifier: MIT */
/*
 * The requests that are executing: a table whose slots are used again, and for each of the two
 * clients (ours and the foreign one) an order by planned end. A ticket is the number of a slot.
 */
#ifndef SIM_LAW_FLIGHTS_H
#define SIM_LAW_FLIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

enum sim_client {
    SIM_CLIENT_OWN,
    SIM_CLIENT_FOREIGN,
    SIM_CLIENT_COUNT
};

struct sim_flight {
    enum sim_client client;
    uint32_t user;
    uint32_t server;
    int64_t begun_us;
    int64_t ends_us; /* planned */
    int64_t share;   /* of its time that is charged, in SIM_WHOLE_SHARE parts */
    bool open;
    uint32_t next_free; /* while not open: the next one that is not, plus one */
};

struct sim_flights {
    struct sim_flight *slots;
    uint32_t capacity;
    uint32_t first_free; /* plus one; 0: none */
    struct weir_heap ends[SIM_CLIENT_COUNT];
};

void sim_flights_init(struct sim_flights *flights);
void sim_flights_release(struct sim_flights *flights);

/* Take a request up; returns its ticket, valid until it is closed. */
uint32_t sim_flights_open(struct sim_flights *flights, const struct sim_flight *flight);

/* Take a request out and return what it was; the ticket must be open. */
struct sim_flight sim_flights_close(struct sim_flights *flights, uint32_t ticket);

#endif
