/* SPDX-License-Identifier: MIT */
/*
 * The law of the simulated service; see law.h.
 *
 * Vocabulary. A client is who sends: ours or the foreign one. A call is one request on its way
 * through: who sends it, to which web server, with which draws. Admission is the same for
 * both clients; only their bookkeeping differs.
 *
 * Invariants: executing[server] is the number of open flights on it; accounts[i].executing of those
 * on the account; what the windows hold is what was begun and ended, never what was planned, but
 * for the rule of charging at arrival.
 */
#include "sim/law/law.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/service_time.h"

#define SOFT_PERCENT 90

#define WRONG_REQUESTS     6000
#define WRONG_EXECUTION_US (1200 * WEIR_US_PER_S)

struct call {
    enum sim_client client;
    uint32_t user;
    uint32_t server;
    const struct sim_request *request;
    uint64_t key; /* of its draws */
};

static void init_users(struct sim_law *law, uint64_t seed)
{
    law->users = weir_calloc(law->scenario.connections, sizeof(*law->users));
    for (uint32_t i = 0; i < law->scenario.connections; i++) {
        struct sim_user *user = &law->users[i];
        user->key = sim_draw_key(seed, i, SIM_DRAWER_CLIENT);
        user->foreign_key = sim_draw_key(seed, i, SIM_DRAWER_FOREIGN);
        weir_rng_init(&user->balancer, sim_draw_key(seed, i, SIM_DRAWER_BALANCER), 0);
        weir_rng_init(&user->foreign_balancer, sim_draw_key(seed, i, SIM_DRAWER_FOREIGN_BALANCER),
                      0);
    }
}

static void init_accounts(struct sim_law *law)
{
    const struct sim_scenario *scenario = &law->scenario;
    law->account_count = scenario->connections * (scenario->limits.shared ? 1 : scenario->servers);
    law->accounts = weir_calloc(law->account_count, sizeof(*law->accounts));
    for (uint32_t i = 0; i < law->account_count; i++)
        sim_account_init(&law->accounts[i], scenario);
}

void sim_law_init(struct sim_law *law, const struct sim_scenario *scenario, uint64_t seed)
{
    *law = (struct sim_law){ .scenario = *scenario };
    init_users(law, seed);
    init_accounts(law);
    law->executing = weir_calloc(scenario->servers, sizeof(*law->executing));
    sim_flights_init(&law->flights);
    sim_foreign_init(&law->foreign, scenario, seed);
}

void sim_law_release(struct sim_law *law)
{
    for (uint32_t i = 0; i < law->account_count; i++)
        sim_account_release(&law->accounts[i]);
    free(law->accounts);
    free(law->users);
    free(law->executing);
    free(law->coming);
    sim_flights_release(&law->flights);
    sim_foreign_release(&law->foreign);
    *law = (struct sim_law){ 0 };
}

static struct sim_account *account_of(const struct sim_law *law, uint32_t user, uint32_t server)
{
    if (law->scenario.limits.shared)
        return &law->accounts[user];
    return &law->accounts[user * law->scenario.servers + server];
}

static uint32_t route(const struct sim_law *law, struct weir_rng *balancer, uint32_t wanted_server)
{
    enum sim_affinity affinity = law->scenario.affinity;
    /* Both draws are made in any case, so that a cookie does not shift those that follow. */
    uint64_t percent = weir_rng_below(balancer, 100);
    uint32_t balanced = (uint32_t)weir_rng_below(balancer, law->scenario.servers);
    if (wanted_server >= law->scenario.servers || affinity == SIM_AFFINITY_NONE)
        return balanced;
    return affinity == SIM_AFFINITY_PINNED || percent < SOFT_PERCENT ? wanted_server : balanced;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct sim_entry *)a)->at_us;
    int64_t y = ((const struct sim_entry *)b)->at_us;
    return (x > y) - (x < y);
}

/* What the end of a flight will do to the execution window. */
static struct sim_entry coming_of(const struct sim_flight *flight, enum sim_charge charge,
                                  int64_t now_us)
{
    int64_t at_us = flight->ends_us > now_us ? flight->ends_us : now_us;
    if (charge == SIM_CHARGE_ACCRUAL)
        return (struct sim_entry){ at_us, 0, -flight->share };
    return (struct sim_entry){ at_us, flight->share * (at_us - flight->begun_us), 0 };
}

/* The planned ends of all that executes on the account, ascending, in law->coming. */
static size_t look_ahead(struct sim_law *law, const struct sim_account *account)
{
    const struct sim_flights *flights = &law->flights;
    size_t count = 0;
    if (law->scenario.limits.charge == SIM_CHARGE_ARRIVAL)
        return 0;
    if (law->coming_capacity < flights->capacity) {
        law->coming = weir_realloc(law->coming, flights->capacity, sizeof(*law->coming));
        law->coming_capacity = flights->capacity;
    }
    for (uint32_t i = 0; i < flights->capacity; i++) {
        const struct sim_flight *flight = &flights->slots[i];
        if (flight->open && account_of(law, flight->user, flight->server) == account)
            law->coming[count++] = coming_of(flight, law->scenario.limits.charge, law->now_us);
    }
    if (count)
        qsort(law->coming, count, sizeof(*law->coming), by_time);
    return count;
}

static int64_t limit_of(const struct sim_law *law, const struct sim_budget *budget,
                        enum sim_throttle kind)
{
    switch (kind) {
    case SIM_THROTTLE_REQUESTS:
        return budget->requests;
    case SIM_THROTTLE_EXECUTION_TIME:
        return budget->execution_us;
    default:
        return law->scenario.limits.concurrent;
    }
}

/* Retry-After for a request that met `kind` outside a penalty. */
static int64_t violate(struct sim_law *law, struct sim_account *account, enum sim_throttle kind,
                       const struct sim_budget *budget)
{
    size_t count = kind == SIM_THROTTLE_EXECUTION_TIME ? look_ahead(law, account) : 0;
    int64_t clears_us =
        sim_account_clears_us(account, kind, budget, law->coming, count, law->now_us);
    return sim_penalty_violate(&account->penalty, &law->scenario.retry_after, kind,
                               clears_us - law->now_us, law->now_us);
}

/* Whether the request is refused, and if so the whole answer. */
static bool refuse(struct sim_law *law, struct sim_account *account, struct sim_decision *decision)
{
    const struct sim_limits *limits = &law->scenario.limits;
    struct sim_budget budget = sim_scenario_budget(&law->scenario, law->now_us);
    bool offence = sim_penalty_holds(&account->penalty, law->now_us);
    enum sim_throttle kind =
        offence ? account->penalty.kind : sim_account_check(account, limits, &budget, law->now_us);
    if (kind == SIM_THROTTLE_NONE)
        return false;
    sim_account_refused(account, limits, law->now_us);
    decision->kind = kind;
    decision->retry_after_us =
        offence ? sim_penalty_offend(&account->penalty, &law->scenario.retry_after, law->now_us)
                : violate(law, account, kind, &budget);
    decision->limit = limit_of(law, &budget, kind);
    decision->window_us = limits->window_us;
    return true;
}

static void plan(const struct sim_law *law, const struct call *call, struct sim_decision *decision)
{
    const struct sim_scenario *scenario = &law->scenario;
    const struct sim_request *request = call->request;
    struct sim_draw draw = sim_draw(call->key, request->number);
    uint32_t index = request->service < scenario->service_count
                         ? request->service
                         : sim_service_pick(scenario, request->operation, draw.pick);
    const struct sim_service *service = &scenario->services[index];
    double factor = sim_drift_factor(&service->drift, scenario->duration_us, law->now_us) *
                    sim_contention_factor(&scenario->contention, law->executing[call->server] + 1);
    decision->service = index;
    decision->service_us = sim_service_time_us(service, draw.normal, request->rows, factor);
    decision->ends_us = law->now_us + decision->service_us;
    decision->overhead_us = service->overhead_us;
    decision->fails = draw.fail < scenario->failures;
}

static void begin(struct sim_law *law, struct sim_account *account, const struct call *call,
                  struct sim_decision *decision)
{
    plan(law, call, decision);
    int64_t share = law->scenario.services[decision->service].exec_share;
    law->executing[call->server]++;
    int64_t charged = sim_account_begin(account, law->scenario.limits.charge, share,
                                        decision->service_us, law->now_us);
    if (call->client == SIM_CLIENT_OWN)
        law->users[call->user].stats.execution_us += charged / SIM_WHOLE_SHARE;
    struct sim_flight flight = {
        .client = call->client,
        .user = call->user,
        .server = call->server,
        .begun_us = law->now_us,
        .ends_us = decision->ends_us,
        .share = share,
    };
    decision->accepted = true;
    decision->ticket = sim_flights_open(&law->flights, &flight);
}

static struct sim_decision admit(struct sim_law *law, const struct call *call)
{
    struct sim_account *account = account_of(law, call->user, call->server);
    struct sim_decision decision = { .server = call->server };
    if (!refuse(law, account, &decision))
        begin(law, account, call, &decision);
    return decision;
}

static void end(struct sim_law *law, uint32_t ticket)
{
    struct sim_flight flight = sim_flights_close(&law->flights, ticket);
    law->executing[flight.server]--;
    int64_t charged =
        sim_account_end(account_of(law, flight.user, flight.server), law->scenario.limits.charge,
                        flight.share, law->now_us - flight.begun_us, law->now_us);
    if (flight.client != SIM_CLIENT_OWN)
        return;
    struct sim_stats *stats = &law->users[flight.user].stats;
    stats->executing--;
    stats->execution_us += charged / SIM_WHOLE_SHARE;
}

static void foreign_turn(struct sim_law *law)
{
    uint32_t user;
    if (!sim_foreign_turn(&law->foreign, &law->scenario, &user))
        return;
    struct sim_user *u = &law->users[user];
    struct sim_request request = { .service = SIM_ANY_SERVICE, .number = u->foreign_number++ };
    struct call call = { SIM_CLIENT_FOREIGN, user, route(law, &u->foreign_balancer, SIM_ANY_SERVER),
                         &request, u->foreign_key };
    struct sim_decision decision = admit(law, &call);
    if (decision.accepted)
        sim_foreign_served(&law->foreign, user);
    else
        sim_foreign_throttled(&law->foreign, user, law->now_us + decision.retry_after_us);
}

void sim_law_advance(struct sim_law *law, int64_t now_us)
{
    struct weir_heap *ends = &law->flights.ends[SIM_CLIENT_FOREIGN];
    for (;;) {
        int64_t end_us = weir_heap_min(ends);
        int64_t turn_us = sim_foreign_next_us(&law->foreign);
        int64_t next_us = end_us < turn_us ? end_us : turn_us;
        if (next_us > now_us || next_us == WEIR_FOREVER)
            break;
        law->now_us = next_us;
        if (end_us <= turn_us)
            end(law, weir_heap_top(ends));
        else
            foreign_turn(law);
    }
    if (now_us > law->now_us)
        law->now_us = now_us;
}

static void count(struct sim_stats *stats, const struct sim_decision *decision, bool offence)
{
    stats->requests++;
    if (!decision->accepted) {
        stats->throttled[decision->kind]++;
        stats->sent_while_throttled += offence;
        return;
    }
    stats->accepted++;
    stats->executing++;
    if (stats->executing > stats->max_concurrent)
        stats->max_concurrent = stats->executing;
}

struct sim_decision sim_law_arrive(struct sim_law *law, uint32_t user, uint32_t wanted_server,
                                   const struct sim_request *request, int64_t now_us)
{
    sim_law_advance(law, now_us);
    struct sim_user *u = &law->users[user];
    struct call call = { SIM_CLIENT_OWN, user, route(law, &u->balancer, wanted_server), request,
                         u->key };
    bool offence = sim_penalty_holds(&account_of(law, user, call.server)->penalty, law->now_us);
    struct sim_decision decision = admit(law, &call);
    count(&u->stats, &decision, offence);
    return decision;
}

void sim_law_finish(struct sim_law *law, uint32_t ticket, int64_t now_us)
{
    sim_law_advance(law, now_us);
    end(law, ticket);
}

bool sim_law_next_end(const struct sim_law *law, uint32_t *ret_ticket, int64_t *ret_ends_us)
{
    const struct weir_heap *ends = &law->flights.ends[SIM_CLIENT_OWN];
    if (!ends->count)
        return false;
    *ret_ticket = weir_heap_top(ends);
    *ret_ends_us = weir_heap_min(ends);
    return true;
}

/* What is left of a limit; -1 without one. */
static int64_t remaining(int64_t limit, int64_t used)
{
    if (!limit)
        return -1;
    return used < limit ? limit - used : 0;
}

static void tell_quota(struct sim_law *law, struct sim_account *account,
                       struct sim_headers *headers)
{
    bool stale = law->scenario.headers == SIM_HEADERS_STALE;
    int64_t as_of_us = stale ? law->now_us - SIM_STALE_US : law->now_us;
    struct sim_budget budget = sim_scenario_budget(&law->scenario, as_of_us);
    int64_t (*sum)(struct sim_window *, int64_t) = stale ? sim_window_past_sum : sim_window_sum;
    headers->requests_remaining = remaining(budget.requests, sum(&account->requests, law->now_us));
    int64_t units =
        remaining(budget.execution_us * SIM_WHOLE_SHARE, sum(&account->execution, law->now_us));
    headers->execution_remaining_us = units < 0 ? -1 : units / SIM_WHOLE_SHARE;
}

struct sim_headers sim_law_headers(struct sim_law *law, uint32_t user, uint32_t server,
                                   int64_t now_us)
{
    sim_law_advance(law, now_us);
    struct sim_headers headers = { -1, -1, 0 };
    headers.dop_hint = sim_scenario_budget(&law->scenario, law->now_us).dop_hint;
    switch (law->scenario.headers) {
    case SIM_HEADERS_EXACT:
    case SIM_HEADERS_STALE:
        tell_quota(law, account_of(law, user, server), &headers);
        break;
    case SIM_HEADERS_WRONG:
        headers.requests_remaining = WRONG_REQUESTS;
        headers.execution_remaining_us = WRONG_EXECUTION_US;
        break;
    case SIM_HEADERS_ABSENT:
        break;
    }
    return headers;
}

int64_t sim_law_penalty_until_us(const struct sim_law *law, uint32_t user, uint32_t server)
{
    return account_of(law, user, server)->penalty.until_us;
}

int64_t sim_law_penalty_us(struct sim_law *law, uint32_t user, uint32_t server, int64_t now_us)
{
    sim_law_advance(law, now_us);
    return sim_penalty_spent_us(&account_of(law, user, server)->penalty, law->now_us);
}

const struct sim_stats *sim_law_stats(const struct sim_law *law, uint32_t user)
{
    return &law->users[user].stats;
}

struct sim_foreign_counts sim_law_foreign(const struct sim_law *law, uint32_t user)
{
    static const struct sim_foreign_counts none;
    return law->foreign.users ? law->foreign.users[user].counts : none;
}
