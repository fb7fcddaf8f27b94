/* SPDX-License-Identifier: MIT */
/* The requests that are executing; see flights.h. */
#include "sim/law/flights.h"

#include <assert.h>

#include "base/mem.h"

#define CAPACITY_MIN 16u

void sim_flights_init(struct sim_flights *flights)
{
    *flights = (struct sim_flights){ 0 };
    for (int client = 0; client < SIM_CLIENT_COUNT; client++)
        weir_heap_init(&flights->ends[client], CAPACITY_MIN);
}

void sim_flights_release(struct sim_flights *flights)
{
    for (int client = 0; client < SIM_CLIENT_COUNT; client++)
        weir_heap_release(&flights->ends[client]);
    free(flights->slots);
    *flights = (struct sim_flights){ 0 };
}

static void put_free(struct sim_flights *flights, uint32_t ticket)
{
    flights->slots[ticket] = (struct sim_flight){ .next_free = flights->first_free };
    flights->first_free = ticket + 1;
}

static void grow(struct sim_flights *flights)
{
    uint32_t before = flights->capacity;
    uint32_t capacity = before ? 2 * before : CAPACITY_MIN;
    flights->slots = weir_realloc(flights->slots, capacity, sizeof(*flights->slots));
    flights->capacity = capacity;
    for (uint32_t ticket = capacity; ticket > before; ticket--)
        put_free(flights, ticket - 1);
    for (int client = 0; client < SIM_CLIENT_COUNT; client++)
        weir_heap_reserve(&flights->ends[client], capacity);
}

uint32_t sim_flights_open(struct sim_flights *flights, const struct sim_flight *flight)
{
    if (!flights->first_free)
        grow(flights);
    uint32_t ticket = flights->first_free - 1;
    struct sim_flight *slot = &flights->slots[ticket];
    flights->first_free = slot->next_free;
    *slot = *flight;
    slot->open = true;
    weir_heap_set(&flights->ends[slot->client], ticket, slot->ends_us);
    return ticket;
}

struct sim_flight sim_flights_close(struct sim_flights *flights, uint32_t ticket)
{
    assert(ticket < flights->capacity && flights->slots[ticket].open);
    struct sim_flight flight = flights->slots[ticket];
    weir_heap_remove(&flights->ends[flight.client], ticket);
    put_free(flights, ticket);
    return flight;
}
