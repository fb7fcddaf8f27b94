/* SPDX-License-Identifier: MIT */
/* The other client beside an oracle; see neighbor.h. */
#include "lab/neighbor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/service_time.h"

void lab_neighbor_init(struct lab_neighbor *neighbor, const struct sim_scenario *scenario,
                       uint64_t seed)
{
    *neighbor = (struct lab_neighbor){ .scenario = scenario };
    sim_flights_init(&neighbor->flights);
    lab_others_init(&neighbor->others, scenario, seed);
    if (!neighbor->others.users)
        return;
    const struct sim_limits *limits = &scenario->limits;
    neighbor->servers = limits->shared ? 1 : scenario->servers;
    uint32_t accounts = scenario->connections * neighbor->servers;
    neighbor->excess = weir_calloc(accounts, sizeof(*neighbor->excess));
    for (uint32_t i = 0; i < accounts; i++)
        lab_ledger_init(&neighbor->excess[i], limits->window_us, limits->bucket_us);
}

void lab_neighbor_release(struct lab_neighbor *neighbor)
{
    uint32_t accounts = neighbor->excess ? neighbor->scenario->connections * neighbor->servers : 0;
    for (uint32_t i = 0; i < accounts; i++)
        lab_ledger_release(&neighbor->excess[i]);
    free(neighbor->excess);
    sim_flights_release(&neighbor->flights);
    lab_others_release(&neighbor->others);
    *neighbor = (struct lab_neighbor){ 0 };
}

int64_t lab_neighbor_next_us(const struct lab_neighbor *neighbor)
{
    if (!neighbor->excess)
        return WEIR_FOREVER;
    int64_t end_us = weir_heap_min(&neighbor->flights.ends[SIM_CLIENT_FOREIGN]);
    int64_t turn_us = lab_others_next_us(&neighbor->others);
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

static void begin(struct lab_neighbor *neighbor, const struct lab_others_request *request,
                  int64_t ours, uint32_t *executing)
{
    const struct sim_scenario *scenario = neighbor->scenario;
    int64_t now_us = request->at_us;
    uint32_t server = request->server;
    uint32_t account = request->user * neighbor->servers + (neighbor->servers > 1 ? server : 0);
    if (ours && lab_neighbor_excess(neighbor, account, now_us) >= ours)
        return;
    double slower = sim_contention_factor(&scenario->contention, executing[server] + 1);
    struct sim_flight flight = {
        .client = SIM_CLIENT_FOREIGN,
        .server = server,
        .begun_us = now_us,
        .ends_us = now_us + lab_others_service_us(request, slower),
    };
    charge(&neighbor->excess[account], scenario->limits.charge, request->service->exec_share,
           &flight, lab_others_service_us(request, 1));
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
        struct lab_others_request request;
        if (weir_heap_min(ends) == next_us)
            executing[sim_flights_close(&neighbor->flights, weir_heap_top(ends)).server]--;
        else if (lab_others_turn(&neighbor->others, &request))
            begin(neighbor, &request, ours, executing);
    }
}

int64_t lab_neighbor_excess(struct lab_neighbor *neighbor, uint32_t account, int64_t now_us)
{
    if (!neighbor->excess)
        return 0;
    lab_ledger_advance(&neighbor->excess[account], now_us);
    return neighbor->excess[account].now.sum;
}
