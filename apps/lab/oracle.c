/* SPDX-License-Identifier: MIT */
/*
 * O1, the compliant greedy oracle; see oracle.h.
 *
 * An account is one user on one web server (or one user, if budgets are shared). It keeps what it
 * has admitted as bookings [from, to) in the order of their beginning:
 *
 *        now − W                                     now
 *     ──────┼──────────────────────────────────────────┼───────────▶
 *       [leaving]      … gone through, still counted …  [in flight]
 *
 * sum(x) = Σ share × length of [from, to) within (x − W, x]. A request may begin now if no sum from
 * now on exceeds the limit. As a function of x the sum bends only where something in flight ends
 * and where a booking begins or ends to leave the window; so only those moments are looked at, and
 * only until the last end: after that it can only fall.
 */
#include "lab/oracle.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/service_time.h"

#define MAKESPAN_MAX_US (30 * WEIR_US_PER_DAY)

struct booking {
    int64_t from_us;
    int64_t to_us;
    int64_t share;
};

struct account {
    uint32_t user;
    uint32_t server; /* 0 if budgets are shared */
    struct booking *bookings;
    uint32_t count;
    uint32_t capacity;
    uint32_t leaving; /* the first that has not left the window altogether */
    uint32_t inside;  /* the first that began within the window */
    uint32_t *flying; /* places of those in flight */
    uint32_t flying_count;
    uint32_t flying_capacity;
    int64_t sum; /* at oracle.now_us */
};

struct oracle {
    const struct sim_scenario *scenario;
    uint64_t seed;
    uint32_t cap; /* on what an account may have in flight */
    struct account *accounts;
    uint32_t account_count;
    uint64_t *numbers;   /* requests begun, by user */
    uint32_t *executing; /* by web server */
    int64_t now_us;
    int64_t last_end_us;
    uint64_t items;
    uint64_t left; /* work items not begun; UINT64_MAX: endless */
    double fair;   /* share of the budgets that is ours */
};

/* --- bookings --------------------------------------------------------------------------------- */

static void book(struct account *account, struct booking booking)
{
    if (account->count == account->capacity) {
        account->capacity = account->capacity ? account->capacity * 2 : 256;
        account->bookings =
            weir_realloc(account->bookings, account->capacity, sizeof(*account->bookings));
    }
    account->bookings[account->count++] = booking;
}

static void fly(struct account *account, uint32_t place)
{
    if (account->flying_count == account->flying_capacity) {
        account->flying_capacity = account->flying_capacity ? account->flying_capacity * 2 : 64;
        account->flying =
            weir_realloc(account->flying, account->flying_capacity, sizeof(*account->flying));
    }
    account->flying[account->flying_count++] = place;
}

static int64_t overlap(const struct booking *it, int64_t from_us, int64_t to_us)
{
    int64_t from = it->from_us > from_us ? it->from_us : from_us;
    int64_t to = it->to_us < to_us ? it->to_us : to_us;
    return to > from ? it->share * (to - from) : 0;
}

/* How much the sum changes from `now_us` to `x`: what is in flight goes on, what is old leaves. */
static int64_t change_until(const struct account *account, int64_t now_us, int64_t x,
                            int64_t window)
{
    int64_t change = 0;
    for (uint32_t i = 0; i < account->flying_count; i++)
        change += overlap(&account->bookings[account->flying[i]], now_us, x);
    for (uint32_t i = account->leaving;
         i < account->count && account->bookings[i].from_us < x - window; i++)
        change -= overlap(&account->bookings[i], now_us - window, x - window);
    return change;
}

static void advance(struct account *account, int64_t from_us, int64_t to_us, int64_t window)
{
    account->sum += change_until(account, from_us, to_us, window);
    const struct booking *bookings = account->bookings;
    while (account->leaving < account->count && bookings[account->leaving].to_us <= to_us - window)
        account->leaving++;
    while (account->inside < account->count && bookings[account->inside].from_us <= to_us - window)
        account->inside++;
    for (uint32_t i = account->flying_count; i-- > 0;) {
        if (bookings[account->flying[i]].to_us <= to_us)
            account->flying[i] = account->flying[--account->flying_count];
    }
}

static bool exceeds(const struct account *account, int64_t now_us, int64_t x, int64_t window,
                    int64_t limit)
{
    return account->sum + change_until(account, now_us, x, window) > limit;
}

/* No sum from now until `last_us`, the end of all that is in flight, exceeds the limit. */
static bool fits(const struct account *account, int64_t now_us, int64_t last_us, int64_t window,
                 int64_t limit)
{
    int64_t most = account->sum; /* if nothing left the window meanwhile */
    for (uint32_t i = 0; i < account->flying_count; i++)
        most += overlap(&account->bookings[account->flying[i]], now_us, last_us);
    if (most <= limit)
        return true;
    if (exceeds(account, now_us, last_us, window, limit))
        return false;
    for (uint32_t i = 0; i < account->flying_count; i++) {
        if (exceeds(account, now_us, account->bookings[account->flying[i]].to_us, window, limit))
            return false;
    }
    for (uint32_t i = account->leaving; i < account->count; i++) {
        int64_t x = account->bookings[i].from_us + window; /* where it begins to leave */
        if (x >= last_us)
            break;
        if (x > now_us && exceeds(account, now_us, x, window, limit))
            return false;
    }
    return true;
}

/* --- admitting -------------------------------------------------------------------------------- */

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

/* What the next request of a user would be. */
struct next {
    struct sim_draw draw;
    const struct sim_service *service;
    struct booking booking;
};

static struct next next_request(const struct oracle *oracle, const struct account *account)
{
    const struct sim_scenario *scenario = oracle->scenario;
    uint64_t key = sim_draw_key(oracle->seed, account->user, SIM_DRAWER_CLIENT);
    struct next next = { .draw = sim_draw(key, oracle->numbers[account->user]) };
    next.service =
        &scenario->services[sim_service_pick(scenario, weir_str(NULL, 0), next.draw.pick)];
    uint32_t executing = oracle->executing[server_of(oracle, account)] + 1;
    double factor = sim_drift_factor(&next.service->drift, scenario->duration_us, oracle->now_us) *
                    sim_contention_factor(&scenario->contention, executing);
    next.booking = (struct booking){
        .from_us = oracle->now_us,
        .to_us = oracle->now_us + sim_service_time_us(next.service, next.draw.normal, 0, factor),
        .share = next.service->exec_share,
    };
    return next;
}

static int64_t last_end(const struct account *account)
{
    int64_t last = 0;
    for (uint32_t i = 0; i < account->flying_count; i++) {
        int64_t end = account->bookings[account->flying[i]].to_us;
        last = end > last ? end : last;
    }
    return last;
}

static void count_item(struct oracle *oracle, const struct next *next)
{
    const struct sim_scenario *scenario = oracle->scenario;
    int64_t back_us = next->booking.to_us + next->service->overhead_us;
    if (next->draw.fail < scenario->failures)
        return;
    if (scenario->work_items != SIM_NO_WORK_ITEMS || back_us <= scenario->duration_us)
        oracle->items++;
    if (oracle->left != UINT64_MAX)
        oracle->left--;
    if (back_us > oracle->last_end_us)
        oracle->last_end_us = back_us;
}

static bool admit(struct oracle *oracle, struct account *account)
{
    const struct sim_limits *limits = &oracle->scenario->limits;
    struct sim_budget budget = budget_now(oracle);
    uint32_t flying = account->flying_count;
    if (flying >= oracle->cap || (limits->concurrent && flying >= (uint64_t)limits->concurrent))
        return false;
    if (budget.requests && account->count - account->inside >= (uint64_t)budget.requests)
        return false;

    struct next next = next_request(oracle, account);
    book(account, next.booking);
    fly(account, account->count - 1);
    if (budget.execution_us && !fits(account, oracle->now_us, last_end(account), limits->window_us,
                                     budget.execution_us * SIM_WHOLE_SHARE)) {
        account->count--;
        account->flying_count--;
        return false;
    }
    oracle->numbers[account->user]++;
    oracle->executing[server_of(oracle, account)]++;
    count_item(oracle, &next);
    return true;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Prefill: the share of the window that is used already, spread evenly over it. */
static void prefill(struct oracle *oracle, struct account *account)
{
    const struct sim_scenario *scenario = oracle->scenario;
    struct sim_budget budget = budget_now(oracle);
    int64_t window = scenario->limits.window_us;
    int64_t requests = (int64_t)(scenario->prefill * (double)budget.requests);
    int64_t pieces = requests > 0 ? requests : scenario->prefill > 0 ? 300 : 0;
    double execution = scenario->prefill * (double)budget.execution_us;
    for (int64_t i = 0; i < pieces; i++) {
        int64_t from = -window + window * i / pieces;
        int64_t length = window / pieces > 1 ? window / pieces : 1;
        double share = execution / (double)pieces / (double)length * SIM_WHOLE_SHARE;
        struct booking booking = { from, from + length, (int64_t)share };
        book(account, booking);
        account->sum += overlap(&booking, -window, 0);
    }
}

static void count_executing(struct oracle *oracle)
{
    memset(oracle->executing, 0, oracle->scenario->servers * sizeof(*oracle->executing));
    for (uint32_t i = 0; i < oracle->account_count; i++)
        oracle->executing[oracle->accounts[i].server] += oracle->accounts[i].flying_count;
}

/* Everybody begins what he may, one for each account in turn, so that nobody is served first. */
static void step(struct oracle *oracle)
{
    count_executing(oracle);
    bool any = true;
    while (any) {
        any = false;
        for (uint32_t i = 0; i < oracle->account_count && oracle->left; i++)
            any |= admit(oracle, &oracle->accounts[i]);
    }
}

static void go_on(struct oracle *oracle, int64_t step_us)
{
    int64_t next_us = oracle->now_us + step_us;
    for (uint32_t i = 0; i < oracle->account_count; i++)
        advance(&oracle->accounts[i], oracle->now_us, next_us, oracle->scenario->limits.window_us);
    oracle->now_us = next_us;
}

static int64_t step_us(const struct sim_scenario *scenario)
{
    double shortest_s = 5.0;
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        if (scenario->services[i].median_s < shortest_s)
            shortest_s = scenario->services[i].median_s;
    }
    int64_t step = (int64_t)(shortest_s / 20 * 1e6);
    return step > 1000 ? step : 1000;
}

static bool is_over(const struct oracle *oracle)
{
    if (oracle->scenario->work_items == SIM_NO_WORK_ITEMS)
        return oracle->now_us >= oracle->scenario->duration_us;
    return oracle->left == 0 || oracle->now_us >= MAKESPAN_MAX_US;
}

static void run_with_cap(const struct sim_scenario *scenario, uint64_t seed, uint32_t cap,
                         struct lab_oracle *ret)
{
    bool endless = scenario->work_items == SIM_NO_WORK_ITEMS;
    uint32_t servers = scenario->limits.shared ? 1 : scenario->servers;
    struct oracle oracle = {
        .scenario = scenario,
        .seed = seed,
        .cap = cap,
        .account_count = scenario->connections * servers,
        .left = endless ? UINT64_MAX : (uint64_t)scenario->work_items,
        .fair = 1.0 - scenario->foreign.share,
    };
    oracle.accounts = weir_calloc(oracle.account_count, sizeof(*oracle.accounts));
    oracle.numbers = weir_calloc(scenario->connections, sizeof(*oracle.numbers));
    oracle.executing = weir_calloc(scenario->servers, sizeof(*oracle.executing));
    for (uint32_t i = 0; i < oracle.account_count; i++) {
        oracle.accounts[i].user = i / servers;
        oracle.accounts[i].server = i % servers;
        prefill(&oracle, &oracle.accounts[i]);
    }
    for (; !is_over(&oracle); go_on(&oracle, step_us(scenario)))
        step(&oracle);
    ret->items = oracle.items;
    ret->makespan_s = endless ? -1 : (double)oracle.last_end_us / 1e6;
    for (uint32_t i = 0; i < oracle.account_count; i++) {
        free(oracle.accounts[i].bookings);
        free(oracle.accounts[i].flying);
    }
    free(oracle.accounts);
    free(oracle.numbers);
    free(oracle.executing);
}

static bool is_better(const struct lab_oracle *a, const struct lab_oracle *b)
{
    return a->makespan_s >= 0 ? a->makespan_s < b->makespan_s : a->items > b->items;
}

void lab_oracle(const struct sim_scenario *scenario, uint64_t seed, struct lab_oracle *ret)
{
    static const uint32_t caps[] = { 3, 4, 5, 6, 7, 8, 10, 12, 16, 24 };
    run_with_cap(scenario, seed, UINT32_MAX, ret);
    if (scenario->contention.knee <= 0 || scenario->contention.kappa <= 0)
        return;
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
        struct lab_oracle candidate;
        run_with_cap(scenario, seed, caps[i], &candidate);
        if (is_better(&candidate, ret))
            *ret = candidate;
    }
}
