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
    const struct sim_limits *limits = &scenario->limits;
    neighbor->servers = limits->shared ? 1 : scenario->servers;
    uint32_t accounts = scenario->connections * neighbor->servers;
    neighbor->excess = weir_calloc(accounts, sizeof(*neighbor->excess));
    for (uint32_t i = 0; i < accounts; i++)
        lab_ledger_init(&neighbor->excess[i], limits->window_us, limits->bucket_us);
    neighbor->users = weir_calloc(scenario->connections, sizeof(*neighbor->users));
    for (uint32_t i = 0; i < scenario->connections; i++) {
        struct lab_neighbor_user *user = &neighbor->users[i];
        user->key = sim_draw_key(seed, i, SIM_DRAWER_FOREIGN);
        weir_rng_init(&user->balancer, sim_draw_key(seed, i, SIM_DRAWER_FOREIGN_BALANCER), 0);
    }
}

void lab_neighbor_release(struct lab_neighbor *neighbor)
{
    uint32_t accounts = neighbor->users ? neighbor->scenario->connections * neighbor->servers : 0;
    for (uint32_t i = 0; i < accounts; i++)
        lab_ledger_release(&neighbor->excess[i]);
    free(neighbor->excess);
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

/* What comes on top of his share: charged on arrival it comes at once, otherwise after the time
 * that the request would have taken without contention. */
static void charge(struct lab_ledger *excess, enum sim_charge rule, int64_t share,
                   const struct sim_flight *flight, int64_t alone_us)
{
    int64_t more_us = flight->ends_us - flight->begun_us - alone_us;
    struct lab_claim claim = {
        .charge = rule,
        .amount = share * more_us,
        .rate = share,
        .duration_us = more_us,
    };
    bool at_once = rule == SIM_CHARGE_ARRIVAL;
    lab_ledger_charge(excess, &claim, flight->begun_us + (at_once ? 0 : alone_us));
}

static void begin(struct lab_neighbor *neighbor, uint32_t number, int64_t now_us, int64_t ours,
                  uint32_t *executing)
{
    const struct sim_scenario *scenario = neighbor->scenario;
    struct lab_neighbor_user *user = &neighbor->users[number];
    struct sim_draw draw = sim_draw(user->key, user->number++);
    const struct sim_service *service =
        &scenario->services[sim_service_pick(scenario, weir_str(NULL, 0), draw.pick)];
    double drift = sim_drift_factor(&service->drift, scenario->duration_us, now_us);
    weir_rng_below(&user->balancer, 100); /* the law's draw for a cookie, which he has not */
    uint32_t server = (uint32_t)weir_rng_below(&user->balancer, scenario->servers);
    uint32_t account = number * neighbor->servers + (neighbor->servers > 1 ? server : 0);
    if (ours && lab_neighbor_excess(neighbor, account, now_us) >= ours)
        return;
    double slower = sim_contention_factor(&scenario->contention, executing[server] + 1);
    struct sim_flight flight = {
        .client = SIM_CLIENT_FOREIGN,
        .server = server,
        .begun_us = now_us,
        .ends_us = now_us + sim_service_time_us(service, draw.normal, 0, drift * slower),
    };
    charge(&neighbor->excess[account], scenario->limits.charge, service->exec_share, &flight,
           sim_service_time_us(service, draw.normal, 0, drift));
    executing[flight.server]++;
    sim_flights_open(&neighbor->flights, &flight);
}

void lab_neighbor_advance(struct lab_neighbor *neighbor, int64_t now_us, int64_t ours,
                          uint32_t *executing)
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
            begin(neighbor, user, next_us, ours, executing);
    }
}

int64_t lab_neighbor_excess(struct lab_neighbor *neighbor, uint32_t account, int64_t now_us)
{
    if (!neighbor->users)
        return 0;
    lab_ledger_advance(&neighbor->excess[account], now_us);
    return neighbor->excess[account].now.sum;
}
