/* SPDX-License-Identifier: MIT */
/*
 * The oracles; see oracle.h.
 *
 * An account is one user on one web server (or one user, if budgets are shared), with a ledger for
 * each budget. The run goes from one moment to the next at which an account may begin something:
 *
 *     look ─▶ when may the next request of this user begin here? ─┬─ now: begin it
 *                                                                 └─ later: look again then
 *
 * What is next for a user changes with every request it begins, so all its accounts look again. A
 * moment is gone through in rounds, one request for each account, so that nobody is served first.
 */
#include "lab/oracle.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/mem.h"
#include "lab/ledger.h"
#include "lab/neighbor.h"
#include "lab/outlook.h"
#include "sim/law/number.h"
#include "sim/law/service_time.h"

#define MAKESPAN_MAX_US (30 * WEIR_US_PER_DAY)

/* Where durations change with time, looking again sooner than this gains nothing. */
#define LOOK_AGAIN_US WEIR_US_PER_MS

#define PREFILL_PORTIONS_MAX 10000

/* The end of a request. */
struct landing {
    int64_t at_us;
    uint32_t server;
};

struct account {
    uint32_t user;
    uint32_t server; /* 0 if budgets are shared */
    struct lab_ledger requests;
    struct lab_ledger execution;
    struct landing *landings; /* of what is in flight, ascending */
    uint32_t flying;
    uint32_t landing_capacity;
    int64_t paced_us; /* not before this; only with a horizon */
};

/* What is tried out where greedy is not optimal. */
struct restraint {
    uint32_t cap;       /* on what an account may have in flight */
    int64_t horizon_us; /* over which room is spread; 0: greedy */
};

struct oracle {
    const struct sim_scenario *scenario;
    enum lab_oracle_kind kind;
    uint64_t seed;
    struct restraint restraint;
    bool durations_vary; /* with the time of their beginning or with what executes */
    bool contended;
    struct account *accounts;
    uint32_t account_count;
    uint32_t servers; /* accounts of a user */
    struct weir_heap looks;
    uint32_t *turn;               /* the accounts of a round */
    uint64_t *numbers;            /* requests begun, by user */
    uint32_t *executing;          /* by web server */
    struct lab_neighbor neighbor; /* only under contention */
    struct lab_outlook outlook;
    int64_t now_us;
    uint32_t changes_seen;
    int64_t last_end_us;
    uint64_t items;
    uint64_t left; /* work items not begun; UINT64_MAX: endless */
    double fair;   /* share of the budgets that is ours */
    struct lab_plan *plan;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- in flight -------------------------------------------------------------------------------- */

static void fly(struct account *account, struct landing landing)
{
    if (account->flying == account->landing_capacity) {
        account->landing_capacity = account->landing_capacity ? 2 * account->landing_capacity : 64;
        account->landings =
            weir_realloc(account->landings, account->landing_capacity, sizeof(*account->landings));
    }
    uint32_t place = account->flying++;
    for (; place > 0 && account->landings[place - 1].at_us > landing.at_us; place--)
        account->landings[place] = account->landings[place - 1];
    account->landings[place] = landing;
}

static void land(struct oracle *oracle, struct account *account)
{
    uint32_t landed = 0;
    while (landed < account->flying && account->landings[landed].at_us <= oracle->now_us)
        oracle->executing[account->landings[landed++].server]--;
    if (!landed)
        return;
    account->flying -= landed;
    memmove(account->landings, account->landings + landed,
            account->flying * sizeof(*account->landings));
}

/* --- the next request ------------------------------------------------------------------------- */

static struct sim_budget budget_now(const struct oracle *oracle)
{
    struct sim_budget budget = sim_scenario_budget(oracle->scenario, oracle->now_us);
    budget.requests = (int64_t)((double)budget.requests * oracle->fair);
    budget.execution_us = (int64_t)((double)budget.execution_us * oracle->fair);
    return budget;
}

/* The web server with the fewest requests, for an account that may use any. */
static uint32_t server_of(const struct oracle *oracle, const struct account *account)
{
    if (!oracle->scenario->limits.shared)
        return account->server;
    uint32_t best = 0;
    for (uint32_t i = 1; i < oracle->scenario->servers; i++) {
        if (oracle->executing[i] < oracle->executing[best])
            best = i;
    }
    return best;
}

/* What the next request of a user would be, if it began now. */
struct next {
    struct sim_draw draw;
    const struct sim_service *service;
    uint32_t server;
    int64_t service_us;
};

static struct next next_request(const struct oracle *oracle, const struct account *account)
{
    const struct sim_scenario *scenario = oracle->scenario;
    uint64_t key = sim_draw_key(oracle->seed, account->user, SIM_DRAWER_CLIENT);
    struct next next = { .draw = sim_draw(key, oracle->numbers[account->user]) };
    next.service =
        &scenario->services[sim_service_pick(scenario, weir_str(NULL, 0), next.draw.pick)];
    next.server = server_of(oracle, account);
    uint32_t executing = oracle->executing[next.server] + 1;
    double factor = sim_drift_factor(&next.service->drift, scenario->duration_us, oracle->now_us) *
                    sim_contention_factor(&scenario->contention, executing);
    next.service_us = sim_service_time_us(next.service, next.draw.normal, 0, factor);
    return next;
}

static struct lab_claim claim_of(const struct oracle *oracle, const struct next *next)
{
    return (struct lab_claim){
        .charge = oracle->scenario->limits.charge,
        .amount = next->service->exec_share * next->service_us,
        .rate = next->service->exec_share,
        .duration_us = next->service_us,
    };
}

/* --- looking ---------------------------------------------------------------------------------- */

static uint32_t flying_max(const struct oracle *oracle)
{
    int64_t concurrent = oracle->scenario->limits.concurrent;
    int64_t most = concurrent ? concurrent : WEIR_PARALLELISM_MAX;
    return most < oracle->restraint.cap ? (uint32_t)most : oracle->restraint.cap;
}

/* Of our share of an account's execution time, what the other client does not take of it. */
static int64_t execution_left(struct oracle *oracle, const struct account *account,
                              int64_t execution_us)
{
    uint32_t number = (uint32_t)(account - oracle->accounts);
    return execution_us * SIM_WHOLE_SHARE -
           lab_neighbor_excess(&oracle->neighbor, number, oracle->now_us);
}

/* At the limit itself a request is refused, so there is a look at the sum of now, too. */
static int64_t share_allows_us(struct oracle *oracle, const struct account *account,
                               const struct next *next)
{
    static const struct lab_claim one = { .charge = SIM_CHARGE_ARRIVAL, .amount = 1 };
    struct sim_budget budget = budget_now(oracle);
    int64_t from_us = oracle->now_us;
    if (budget.requests)
        from_us = larger(from_us, lab_ledger_earliest(&account->requests, &one, budget.requests));
    if (!budget.execution_us)
        return from_us;
    int64_t limit = execution_left(oracle, account, budget.execution_us);
    from_us = larger(from_us, lab_ledger_falls_us(&account->execution, limit - 1));
    if (oracle->kind == LAB_ORACLE_EDGE)
        return from_us;
    struct lab_claim claim = claim_of(oracle, next);
    return larger(from_us, lab_ledger_earliest(&account->execution, &claim, limit));
}

/* Our share of the budgets, and what the other client will leave of them. */
static int64_t budgets_allow_us(struct oracle *oracle, const struct account *account,
                                const struct next *next)
{
    int64_t at_us = share_allows_us(oracle, account, next);
    if (at_us > oracle->now_us || oracle->kind == LAB_ORACLE_EDGE)
        return at_us;
    uint32_t number = (uint32_t)(account - oracle->accounts);
    struct sim_budget budget = sim_scenario_budget(oracle->scenario, oracle->now_us);
    int64_t excess_us =
        lab_neighbor_excess(&oracle->neighbor, number, oracle->now_us) / SIM_WHOLE_SHARE;
    if (budget.execution_us)
        budget.execution_us = larger(budget.execution_us - excess_us, 1);
    struct lab_claim claim = claim_of(oracle, next);
    return lab_outlook_allows_us(&oracle->outlook, number, &claim, &budget, oracle->now_us);
}

static int64_t own_landing_us(const struct oracle *oracle)
{
    int64_t first_us = WEIR_FOREVER;
    for (uint32_t i = 0; i < oracle->account_count; i++) {
        const struct account *account = &oracle->accounts[i];
        if (account->flying && account->landings[0].at_us < first_us)
            first_us = account->landings[0].at_us;
    }
    return first_us;
}

/* With contention every end may make the next request shorter. */
static int64_t next_landing_us(const struct oracle *oracle)
{
    int64_t first_us = own_landing_us(oracle);
    int64_t his_us = lab_neighbor_next_us(&oracle->neighbor);
    return his_us < first_us ? his_us : first_us;
}

/* When the next request may begin here; now, or when to look again. */
static int64_t look(struct oracle *oracle, struct account *account, struct next *ret_next)
{
    land(oracle, account);
    if (account->flying >= flying_max(oracle))
        return account->landings[0].at_us;
    if (account->paced_us > oracle->now_us)
        return account->paced_us;
    lab_ledger_advance(&account->requests, oracle->now_us);
    lab_ledger_advance(&account->execution, oracle->now_us);
    *ret_next = next_request(oracle, account);
    int64_t at_us = budgets_allow_us(oracle, account, ret_next);
    if (at_us <= oracle->now_us || !oracle->durations_vary)
        return at_us;
    if (oracle->contended && next_landing_us(oracle) < at_us)
        at_us = next_landing_us(oracle);
    return larger(at_us, oracle->now_us + LOOK_AGAIN_US);
}

/* --- beginning -------------------------------------------------------------------------------- */

static void charge(struct oracle *oracle, struct account *account, const struct next *next)
{
    struct lab_claim claim = claim_of(oracle, next);
    lab_ledger_add(&account->requests, (struct lab_change){ oracle->now_us, 1, 0 });
    lab_ledger_charge(&account->execution, &claim, oracle->now_us);
    lab_outlook_charge(&oracle->outlook, (uint32_t)(account - oracle->accounts), &claim,
                       oracle->now_us);
}

static void count_item(struct oracle *oracle, const struct next *next)
{
    const struct sim_scenario *scenario = oracle->scenario;
    int64_t back_us = oracle->now_us + next->service_us + next->service->overhead_us;
    if (next->draw.fail < scenario->failures)
        return;
    if (scenario->work_items != SIM_NO_WORK_ITEMS || back_us <= scenario->duration_us)
        oracle->items++;
    if (oracle->left != UINT64_MAX)
        oracle->left--;
    oracle->last_end_us = larger(oracle->last_end_us, back_us);
}

static void write_down(struct lab_plan *plan, struct lab_start start)
{
    if (plan->count == plan->capacity) {
        plan->capacity = plan->capacity ? 2 * plan->capacity : 256;
        plan->starts = weir_realloc(plan->starts, plan->capacity, sizeof(*plan->starts));
    }
    plan->starts[plan->count++] = start;
}

/* How long a use of `amount` is to last if the room of a budget is spread over the horizon. */
static int64_t spread_us(const struct lab_ledger *ledger, int64_t limit, int64_t amount,
                         int64_t horizon_us)
{
    double room = (double)(limit - ledger->now.sum - lab_ledger_coming(ledger)) +
                  (double)lab_ledger_leaving(ledger, horizon_us);
    if (room <= (double)amount)
        return horizon_us;
    return (int64_t)((double)amount / room * (double)horizon_us);
}

static void pace(struct oracle *oracle, struct account *account, const struct next *next)
{
    struct sim_budget budget = budget_now(oracle);
    int64_t horizon_us = oracle->restraint.horizon_us;
    int64_t wait_us = 0;
    if (!horizon_us)
        return;
    if (budget.requests)
        wait_us = spread_us(&account->requests, budget.requests, 1, horizon_us);
    if (budget.execution_us)
        wait_us = larger(wait_us, spread_us(&account->execution,
                                            execution_left(oracle, account, budget.execution_us),
                                            claim_of(oracle, next).amount, horizon_us));
    account->paced_us = oracle->now_us + wait_us;
}

static void begin(struct oracle *oracle, struct account *account, const struct next *next)
{
    charge(oracle, account, next);
    pace(oracle, account, next);
    fly(account, (struct landing){ oracle->now_us + next->service_us, next->server });
    oracle->executing[next->server]++;
    oracle->numbers[account->user]++;
    count_item(oracle, next);
    if (oracle->plan)
        write_down(oracle->plan, (struct lab_start){ oracle->now_us, account->user, next->server,
                                                     next->service_us });
}

/* --- the run ---------------------------------------------------------------------------------- */

static void look_at_all(struct oracle *oracle, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        weir_heap_set(&oracle->looks, i, oracle->now_us);
}

/* What has ended by now, of ours and of the other client's, in the order of time: what of his
 * begins meanwhile is slowed down by what is still executing then. */
static void land_all(struct oracle *oracle)
{
    int64_t now_us = oracle->now_us;
    int64_t ours = budget_now(oracle).execution_us * SIM_WHOLE_SHARE;
    do {
        int64_t first_us = own_landing_us(oracle);
        oracle->now_us = first_us < now_us ? first_us : now_us;
        lab_neighbor_advance(&oracle->neighbor, oracle->now_us, ours, oracle->executing);
        for (uint32_t i = 0; i < oracle->account_count; i++)
            land(oracle, &oracle->accounts[i]);
    } while (oracle->now_us < now_us);
}

/* Every account that is due begins one request, if it may. */
static void go_round(struct oracle *oracle)
{
    uint32_t count = 0;
    while (weir_heap_min(&oracle->looks) <= oracle->now_us) {
        uint32_t due = weir_heap_top(&oracle->looks);
        weir_heap_remove(&oracle->looks, due);
        oracle->turn[count++] = due;
    }
    if (oracle->contended)
        land_all(oracle);
    for (uint32_t i = 0; i < count && oracle->left; i++) {
        struct account *account = &oracle->accounts[oracle->turn[i]];
        struct next next = { 0 };
        int64_t at_us = look(oracle, account, &next);
        weir_heap_set(&oracle->looks, oracle->turn[i], at_us);
        if (at_us > oracle->now_us)
            continue;
        assert(next.service); /* look() has drawn the request */
        begin(oracle, account, &next);
        look_at_all(oracle, account->user * oracle->servers, oracle->servers);
    }
}

/* The next moment of interest: somebody may begin something, or the limits change. */
static void go_on(struct oracle *oracle)
{
    const struct sim_scenario *scenario = oracle->scenario;
    int64_t next_us = weir_heap_min(&oracle->looks);
    if (oracle->changes_seen < scenario->change_count &&
        scenario->changes[oracle->changes_seen].at_us <= next_us) {
        oracle->now_us = larger(oracle->now_us, scenario->changes[oracle->changes_seen++].at_us);
        look_at_all(oracle, 0, oracle->account_count);
        return;
    }
    oracle->now_us = next_us;
}

static bool is_over(const struct oracle *oracle)
{
    if (oracle->scenario->work_items == SIM_NO_WORK_ITEMS)
        return oracle->now_us >= oracle->scenario->duration_us;
    return oracle->left == 0 || oracle->now_us >= MAKESPAN_MAX_US;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* As the law does it: requests one by one, execution as a rate, both over the window before. */
static void prefill(const struct oracle *oracle, struct account *account)
{
    const struct sim_limits *limits = &oracle->scenario->limits;
    double share = oracle->scenario->prefill * oracle->fair;
    int64_t count = sim_round(share * (double)limits->requests, limits->requests);
    int64_t portions = count < PREFILL_PORTIONS_MAX ? count : PREFILL_PORTIONS_MAX;
    for (int64_t i = 1; i <= portions; i++) {
        double into_us = (double)limits->window_us * (double)i / (double)portions;
        struct lab_change change = {
            .at_us = sim_round(into_us, limits->window_us) - limits->window_us,
            .amount = count * i / portions - count * (i - 1) / portions,
        };
        lab_ledger_add(&account->requests, change);
    }
    double amount = share * (double)limits->execution_us * SIM_WHOLE_SHARE;
    int64_t rate = sim_round(amount / (double)limits->window_us, INT64_MAX);
    lab_ledger_add(&account->execution, (struct lab_change){ -limits->window_us, 0, rate });
    lab_ledger_add(&account->execution, (struct lab_change){ 0, 0, -rate });
}

static void open_accounts(struct oracle *oracle)
{
    const struct sim_limits *limits = &oracle->scenario->limits;
    oracle->accounts = weir_calloc(oracle->account_count, sizeof(*oracle->accounts));
    for (uint32_t i = 0; i < oracle->account_count; i++) {
        struct account *account = &oracle->accounts[i];
        account->user = i / oracle->servers;
        account->server = i % oracle->servers;
        lab_ledger_init(&account->requests, limits->window_us, limits->bucket_us);
        lab_ledger_init(&account->execution, limits->window_us, limits->bucket_us);
        prefill(oracle, account);
        lab_ledger_advance(&account->requests, 0);
        lab_ledger_advance(&account->execution, 0);
    }
}

static void close_accounts(struct oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->account_count; i++) {
        lab_ledger_release(&oracle->accounts[i].requests);
        lab_ledger_release(&oracle->accounts[i].execution);
        free(oracle->accounts[i].landings);
    }
    free(oracle->accounts);
}

static bool drifts(const struct sim_scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        if (scenario->services[i].drift.kind != SIM_DRIFT_NONE)
            return true;
    }
    return false;
}

static bool is_contended(const struct sim_scenario *scenario)
{
    return scenario->contention.knee > 0 && scenario->contention.kappa > 0;
}

static void attempt(const struct sim_scenario *scenario, uint64_t seed, enum lab_oracle_kind kind,
                    struct restraint restraint, struct lab_oracle *ret, struct lab_plan *plan)
{
    bool endless = scenario->work_items == SIM_NO_WORK_ITEMS;
    uint32_t servers = scenario->limits.shared ? 1 : scenario->servers;
    struct oracle oracle = {
        .scenario = scenario,
        .kind = kind,
        .seed = seed,
        .restraint = restraint,
        .contended = is_contended(scenario) || (scenario->limits.shared && scenario->servers > 1),
        .account_count = scenario->connections * servers,
        .servers = servers,
        .left = endless ? UINT64_MAX : (uint64_t)scenario->work_items,
        .fair = 1.0 - scenario->foreign.share,
        .plan = plan,
    };
    oracle.durations_vary = drifts(scenario) || is_contended(scenario);
    oracle.numbers = weir_calloc(scenario->connections, sizeof(*oracle.numbers));
    oracle.executing = weir_calloc(scenario->servers, sizeof(*oracle.executing));
    oracle.turn = weir_calloc(oracle.account_count, sizeof(*oracle.turn));
    weir_heap_init(&oracle.looks, oracle.account_count);
    if (is_contended(scenario))
        lab_neighbor_init(&oracle.neighbor, scenario, seed);
    lab_outlook_init(&oracle.outlook, scenario, seed);
    open_accounts(&oracle);
    look_at_all(&oracle, 0, oracle.account_count);
    for (; !is_over(&oracle); go_on(&oracle))
        go_round(&oracle);
    ret->items = oracle.items;
    ret->makespan_s = endless ? -1 : (double)oracle.last_end_us / 1e6;
    close_accounts(&oracle);
    lab_neighbor_release(&oracle.neighbor);
    lab_outlook_release(&oracle.outlook);
    weir_heap_release(&oracle.looks);
    free(oracle.turn);
    free(oracle.numbers);
    free(oracle.executing);
}

static bool is_better(const struct lab_oracle *a, const struct lab_oracle *b)
{
    return a->makespan_s >= 0 ? a->makespan_s < b->makespan_s : a->items > b->items;
}

/* The best cap without a horizon, and then the best horizon with that cap or with none. */
static struct restraint best_restraint(const struct sim_scenario *scenario, uint64_t seed,
                                       enum lab_oracle_kind kind)
{
    static const uint32_t caps[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24 };
    static const int64_t horizons_s[] = { 30, 60, 120, 300 };
    struct restraint best = { .cap = UINT32_MAX };
    struct lab_oracle most, candidate;
    attempt(scenario, seed, kind, best, &most, NULL);
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
        struct restraint restraint = { .cap = caps[i] };
        attempt(scenario, seed, kind, restraint, &candidate, NULL);
        if (is_better(&candidate, &most)) {
            most = candidate;
            best = restraint;
        }
    }
    uint32_t cap = best.cap;
    for (size_t i = 0; i < 2 * sizeof(horizons_s) / sizeof(horizons_s[0]); i++) {
        struct restraint restraint = { i % 2 ? cap : UINT32_MAX,
                                       horizons_s[i / 2] * WEIR_US_PER_S };
        attempt(scenario, seed, kind, restraint, &candidate, NULL);
        if (is_better(&candidate, &most)) {
            most = candidate;
            best = restraint;
        }
    }
    return best;
}

void lab_oracle(const struct sim_scenario *scenario, uint64_t seed, enum lab_oracle_kind kind,
                struct lab_oracle *ret, struct lab_plan *plan)
{
    struct restraint restraint = { .cap = UINT32_MAX };
    if (is_contended(scenario) || drifts(scenario))
        restraint = best_restraint(scenario, seed, kind);
    if (plan)
        *plan = (struct lab_plan){ 0 };
    attempt(scenario, seed, kind, restraint, ret, plan);
}

void lab_plan_release(struct lab_plan *plan)
{
    free(plan->starts);
    *plan = (struct lab_plan){ 0 };
}
