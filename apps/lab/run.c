/* SPDX-License-Identifier: MIT */
/*
 * One run of the laboratory; see run.h.
 *
 *     ask pool ─▶ lease ─▶ law: arrive ─▶ refused: the answer is back after the overhead
 *                                   └───▶ accepted: ends at ends_us, the answer is back overhead
 * later answer ─▶ settle ─▶ done, or the item goes back to the queue
 *
 * Items are alike, so the queue is a number. One ask is out at a time, as long as items are left;
 * what is granted departs at once. Events are ordered by time and then by flight number.
 */
#include "lab/run.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "pool/core.h"

#define FLIGHTS_MAX    65536
#define EPISODE_GAP_US (30 * WEIR_US_PER_S)
#define ITEMS_ENDLESS  UINT64_MAX
#define RUN_MAX_US     (30 * WEIR_US_PER_DAY) /* of a job with work items that does not get done */

/* One request. It ends at the server first (if it was accepted) and at the client after that. */
struct flight {
    struct weir_lease lease;
    struct weir_answer answer;
    struct sim_decision decision;
    bool at_client; /* its next event is the answer */
};

struct run {
    const struct sim_scenario *scenario;
    struct sim_law law;
    struct weir_core core;
    int64_t now_us;
    int64_t end_us;
    uint64_t queued; /* items waiting */
    uint64_t done;
    uint64_t ticket; /* of the ask that is out; 0: none */
    struct flight *flights;
    struct weir_heap events; /* flights by their next event */
    uint32_t *free;
    uint32_t free_count;
    uint64_t *numbers;     /* accepted requests by connection */
    uint64_t *items;       /* done by connection */
    int64_t *throttled_us; /* the last throttle by lane; WEIR_NEVER */
    struct lab_figures *figures;
};

/* --- beginning and end ------------------------------------------------------------------------ */

static void make_core(struct run *run, const struct lab_policy *policy, uint64_t seed)
{
    uint32_t count = run->scenario->connections;
    struct weir_connection_options *connections = weir_calloc(count, sizeof(*connections));
    char(*names)[16] = weir_calloc(count, sizeof(*names));
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "app%u", i + 1);
        connections[i].name = names[i];
    }
    struct weir_options options;
    weir_options_defaults(&options);
    options.connections = connections;
    options.connection_count = count;
    options.adaptive_rate = policy->options;
    options.adaptive_rate.budget.window_us = run->scenario->limits.window_us; /* it is published */
    options.pool.selection_strategy = policy->strategy;
    if (weir_core_init(&run->core, &options, policy->policy, seed, false, NULL))
        abort(); /* names and number are ours */
    free(connections);
    free(names);
    int64_t hint = run->scenario->dop_hint;
    for (uint32_t i = 0; hint > 0 && i < count; i++)
        weir_core_hint(&run->core, i, (int)hint, 0); /* a WhoAmI before the work begins */
}

static void begin(struct run *run, const struct lab_policy *policy, uint64_t seed)
{
    const struct sim_scenario *scenario = run->scenario;
    sim_law_init(&run->law, scenario, seed);
    make_core(run, policy, seed);
    run->end_us = scenario->duration_us;
    run->queued = ITEMS_ENDLESS;
    if (scenario->work_items != SIM_NO_WORK_ITEMS) {
        run->queued = (uint64_t)scenario->work_items;
        run->end_us = RUN_MAX_US;
    }
    uint32_t lanes = scenario->connections * scenario->servers;
    run->flights = weir_calloc(FLIGHTS_MAX, sizeof(*run->flights));
    run->free = weir_calloc(FLIGHTS_MAX, sizeof(*run->free));
    while (run->free_count < FLIGHTS_MAX) {
        run->free[run->free_count] = FLIGHTS_MAX - 1 - run->free_count;
        run->free_count++;
    }
    weir_heap_init(&run->events, FLIGHTS_MAX);
    run->numbers = weir_calloc(scenario->connections, sizeof(*run->numbers));
    run->items = weir_calloc(scenario->connections, sizeof(*run->items));
    run->throttled_us = weir_calloc(lanes, sizeof(*run->throttled_us));
    for (uint32_t i = 0; i < lanes; i++)
        run->throttled_us[i] = WEIR_NEVER;
}

static void end(struct run *run)
{
    sim_law_release(&run->law);
    weir_core_release(&run->core);
    weir_heap_release(&run->events);
    free(run->flights);
    free(run->free);
    free(run->numbers);
    free(run->items);
    free(run->throttled_us);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void read_headers(struct run *run, struct flight *flight)
{
    struct sim_headers headers =
        sim_law_headers(&run->law, flight->lease.connection, flight->decision.server, run->now_us);
    flight->answer.budget = (struct weir_budget_headers){
        .requests_known = headers.requests_remaining >= 0,
        .execution_known = headers.execution_remaining_us >= 0,
        .requests_remaining = headers.requests_remaining,
        .execution_remaining_us = headers.execution_remaining_us,
        .dop_hint = (int)headers.dop_hint,
        .server_id = flight->decision.server + 1,
    };
}

/* Whole seconds, as the header has them; nothing if the scenario leaves it out. */
static int64_t retry_after_us(const struct run *run, int64_t exact_us)
{
    if (run->scenario->retry_after.form == SIM_RETRY_MISSING)
        return -1;
    return (exact_us + WEIR_US_PER_S - 1) / WEIR_US_PER_S * WEIR_US_PER_S;
}

static struct weir_verdict refusal(const struct run *run, const struct sim_decision *decision)
{
    static const struct {
        enum weir_throttle_kind kind;
        uint32_t code;
    } kinds[] = {
        [SIM_THROTTLE_REQUESTS] = { WEIR_THROTTLE_REQUESTS, 0x80072322 },
        [SIM_THROTTLE_EXECUTION_TIME] = { WEIR_THROTTLE_EXECUTION_TIME, 0x80072321 },
        [SIM_THROTTLE_CONCURRENCY] = { WEIR_THROTTLE_CONCURRENCY, 0x80072326 },
    };
    return (struct weir_verdict){
        .class_ = WEIR_CLASS_THROTTLE,
        .outcome = WEIR_OUTCOME_NOT_EXECUTED,
        .throttle = kinds[decision->kind].kind,
        .code = kinds[decision->kind].code,
        .http_status = 429,
        .retry_after_us = retry_after_us(run, decision->retry_after_us),
        .limit = { .value = decision->kind == SIM_THROTTLE_EXECUTION_TIME
                                ? decision->limit / WEIR_US_PER_MS
                                : decision->limit,
                   .window_us = decision->window_us },
    };
}

static void count_throttle(struct run *run, const struct flight *flight)
{
    uint32_t lane = flight->lease.connection * run->scenario->servers + flight->decision.server;
    int64_t last = run->throttled_us[lane];
    run->figures->throttles++;
    if (last == WEIR_NEVER || run->now_us - last >= EPISODE_GAP_US)
        run->figures->episodes++;
    run->throttled_us[lane] = run->now_us;
}

/* --- flights ---------------------------------------------------------------------------------- */

static void depart(struct run *run, struct weir_lease lease)
{
    if (weir_core_begin(&run->core, &lease, run->now_us) != WEIR_OK)
        return; /* throttled meanwhile; the item is still in the queue */
    if (run->queued != ITEMS_ENDLESS)
        run->queued--;
    uint32_t place = run->free[--run->free_count];
    struct flight *flight = &run->flights[place];
    *flight = (struct flight){ .lease = lease };
    struct sim_request request = { .service = SIM_ANY_SERVICE,
                                   .number = run->numbers[lease.connection] };
    uint32_t wanted = lease.server_id ? (uint32_t)lease.server_id - 1 : SIM_ANY_SERVER;
    flight->decision = sim_law_arrive(&run->law, lease.connection, wanted, &request, run->now_us);
    if (flight->decision.accepted) {
        run->numbers[lease.connection]++;
        weir_heap_set(&run->events, place, flight->decision.ends_us);
        return;
    }
    flight->at_client = true;
    flight->answer.verdict = refusal(run, &flight->decision);
    read_headers(run, flight);
    count_throttle(run, flight);
    int64_t overhead_us = run->scenario->services[0].overhead_us;
    weir_heap_set(&run->events, place, run->now_us + overhead_us);
}

/* The service time is over; the answer is on its way. */
static void leave_server(struct run *run, uint32_t place)
{
    struct flight *flight = &run->flights[place];
    const struct sim_decision *decision = &flight->decision;
    sim_law_finish(&run->law, decision->ticket, run->now_us);
    flight->answer.verdict = (struct weir_verdict){
        .class_ = decision->fails ? WEIR_CLASS_TRANSIENT : WEIR_CLASS_OK,
        .outcome = decision->fails ? WEIR_OUTCOME_UNKNOWN : WEIR_OUTCOME_EXECUTED,
        .http_status = decision->fails ? 503 : 204,
        .retry_after_us = -1,
    };
    flight->answer.duration_us = decision->service_us + decision->overhead_us;
    flight->answer.ttfb_us = flight->answer.duration_us;
    read_headers(run, flight);
    flight->at_client = true;
    weir_heap_set(&run->events, place, run->now_us + decision->overhead_us);
}

static void reach_client(struct run *run, uint32_t place)
{
    struct flight *flight = &run->flights[place];
    weir_heap_remove(&run->events, place);
    run->free[run->free_count++] = place;
    weir_core_settle(&run->core, &flight->lease, &flight->answer, run->now_us);
    if (flight->answer.verdict.class_ == WEIR_CLASS_OK) {
        run->done++;
        run->items[flight->lease.connection]++;
    } else if (run->queued != ITEMS_ENDLESS) {
        run->queued++;
    }
}

static void handle_events(struct run *run)
{
    while (weir_heap_min(&run->events) <= run->now_us) {
        uint32_t place = weir_heap_top(&run->events);
        if (run->flights[place].at_client)
            reach_client(run, place);
        else
            leave_server(run, place);
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Leases for as many items as may go now. Returns when to look again. */
static int64_t send_items(struct run *run)
{
    static const struct weir_ask wish = { .acquire_timeout_us = -1 };
    for (;;) {
        struct weir_grant grant;
        uint32_t count;
        int64_t next = weir_core_turn(&run->core, run->now_us, &grant, 1, &count);
        if (count) {
            run->ticket = 0;
        } else {
            if (run->ticket || !run->queued || !run->free_count)
                return next;
            weir_core_set_left(&run->core, run->queued == ITEMS_ENDLESS ? 0 : run->queued);
            weir_core_ask(&run->core, &wish, run->now_us, &grant);
            if (grant.status == WEIR_E_WOULD_WAIT) {
                run->ticket = grant.ticket;
                continue;
            }
        }
        if (grant.status == WEIR_OK)
            depart(run, grant.lease);
    }
}

static bool is_over(const struct run *run)
{
    if (run->now_us >= run->end_us)
        return true;
    return run->scenario->work_items != SIM_NO_WORK_ITEMS &&
           run->done >= (uint64_t)run->scenario->work_items;
}

double lab_jain(const uint64_t *items, uint32_t count)
{
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)items[i];
        squares += (double)items[i] * (double)items[i];
    }
    return squares > 0 ? sum * sum / (count * squares) : 1;
}

static void conclude(struct run *run)
{
    const struct sim_scenario *scenario = run->scenario;
    struct lab_figures *figures = run->figures;
    figures->items = run->done;
    figures->makespan_s =
        scenario->work_items == SIM_NO_WORK_ITEMS ? -1 : (double)run->now_us / 1e6;
    figures->jain = lab_jain(run->items, scenario->connections);
    uint32_t servers = scenario->limits.shared ? 1 : scenario->servers;
    double penalty_us = 0;
    uint64_t wanted = 0;
    uint64_t served = 0;
    for (uint32_t user = 0; user < scenario->connections; user++) {
        for (uint32_t server = 0; server < servers; server++)
            penalty_us += (double)sim_law_penalty_us(&run->law, user, server, run->now_us);
        struct sim_foreign_counts foreign = sim_law_foreign(&run->law, user);
        wanted += foreign.wanted;
        served += foreign.served;
    }
    double lanes_us = (double)run->now_us * scenario->connections * servers;
    figures->penalty_fraction = lanes_us > 0 ? penalty_us / lanes_us : 0;
    figures->foreign_served = wanted ? (double)served / (double)wanted : 1;
}

void lab_run(const struct sim_scenario *scenario, const struct lab_policy *policy, uint64_t seed,
             struct lab_figures *ret)
{
    *ret = (struct lab_figures){ 0 };
    struct run run = { .scenario = scenario, .figures = ret };
    begin(&run, policy, seed);
    while (!is_over(&run)) {
        int64_t next = send_items(&run);
        if (weir_heap_min(&run.events) < next)
            next = weir_heap_min(&run.events);
        if (next > run.end_us)
            next = run.end_us;
        if (next > run.now_us)
            run.now_us = next;
        sim_law_advance(&run.law, run.now_us);
        handle_events(&run);
    }
    conclude(&run);
    end(&run);
}
