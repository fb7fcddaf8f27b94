/* SPDX-License-Identifier: MIT */
/* The other client beside an oracle; see neighbor.h. */
#include "lab/neighbor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/service_time.h"

struct lab_neighbor_user {
    uint64_t key; /* of the draws */
    uint64_t number;
    struct weir_rng balancer;
};

void lab_neighbor_init(struct lab_neighbor *neighbor, const struct sim_scenario *scenario,
                       uint64_t seed)
{
    *neighbor = (struct lab_neighbor){ .scenario = scenario };
    sim_flights_init(&neighbor->flights);
    sim_foreign_init(&neighbor->foreign, scenario, seed);
    if (!neighbor->foreign.users)
        return;
    neighbor->users = weir_calloc(scenario->connections, sizeof(*neighbor->users));
    for (uint32_t i = 0; i < scenario->connections; i++) {
        struct lab_neighbor_user *user = &neighbor->users[i];
        user->key = sim_draw_key(seed, i, SIM_DRAWER_FOREIGN);
        weir_rng_init(&user->balancer, sim_draw_key(seed, i, SIM_DRAWER_FOREIGN_BALANCER), 0);
    }
}

void lab_neighbor_release(struct lab_neighbor *neighbor)
{
    sim_flights_release(&neighbor->flights);
    sim_foreign_release(&neighbor->foreign);
    free(neighbor->users);
    *neighbor = (struct lab_neighbor){ 0 };
}

int64_t lab_neighbor_next_us(const struct lab_neighbor *neighbor)
{
    if (!neighbor->users)
        return WEIR_FOREVER;
    int64_t end_us = weir_heap_min(&neighbor->flights.ends[SIM_CLIENT_FOREIGN]);
    int64_t turn_us = sim_foreign_next_us(&neighbor->foreign);
    return end_us < turn_us ? end_us : turn_us;
}

static void begin(struct lab_neighbor *neighbor, struct lab_neighbor_user *user, int64_t now_us,
                  uint32_t *executing)
{
    const struct sim_scenario *scenario = neighbor->scenario;
    struct sim_draw draw = sim_draw(user->key, user->number++);
    const struct sim_service *service =
        &scenario->services[sim_service_pick(scenario, weir_str(NULL, 0), draw.pick)];
    double drift = sim_drift_factor(&service->drift, scenario->duration_us, now_us);
    weir_rng_below(&user->balancer, 100); /* the law's draw for a cookie, which he has not */
    struct sim_flight flight = {
        .client = SIM_CLIENT_FOREIGN,
        .server = (uint32_t)weir_rng_below(&user->balancer, scenario->servers),
        .begun_us = now_us,
        .ends_us = now_us + sim_service_time_us(service, draw.normal, 0, drift),
    };
    executing[flight.server]++;
    sim_flights_open(&neighbor->flights, &flight);
}

void lab_neighbor_advance(struct lab_neighbor *neighbor, int64_t now_us, uint32_t *executing)
{
    const struct weir_heap *ends = &neighbor->flights.ends[SIM_CLIENT_FOREIGN];
    for (;;) {
        int64_t next_us = lab_neighbor_next_us(neighbor);
        if (next_us > now_us || next_us == WEIR_FOREVER)
            return;
        uint32_t user;
        if (weir_heap_min(ends) == next_us)
            executing[sim_flights_close(&neighbor->flights, weir_heap_top(ends)).server]--;
        else if (sim_foreign_turn(&neighbor->foreign, neighbor->scenario, &user))
            begin(neighbor, &neighbor->users[user], next_us, executing);
    }
}
