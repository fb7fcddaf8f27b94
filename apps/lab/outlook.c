/* SPDX-License-Identifier: MIT */
/*
 * The other client's future; see outlook.h.
 *
 * Cells are kept in a ring: those that a window may still have, and those to come.
 */
#include "lab/outlook.h"

#include "base/clock.h"
#include "base/mem.h"

#define CELLS 512 /* in a window */
#define RING                                                                                       \
    4096 /* a window in buckets as long as itself, a window ahead, requests of two more            \
          */

struct lab_outlook_account {
    int64_t used[LAB_OUTLOOK_COUNT][RING]; /* by both of us */
    int64_t sum[LAB_OUTLOOK_COUNT];        /* in the window that ends with the cell of now */
    int64_t his[LAB_OUTLOOK_COUNT][RING];
    int64_t his_sum[LAB_OUTLOOK_COUNT]; /* in the window that ends with the cell he has come to */
    int64_t his_cell;
};

static uint32_t place_of(int64_t cell)
{
    return (uint32_t)(cell & (RING - 1));
}

/* The sum of the window that ends with a cell becomes that of the next cell. */
static int64_t step(const struct lab_outlook *outlook, const int64_t *used, int64_t cell)
{
    return used[place_of(cell + 1)] - used[place_of(cell + 1 - outlook->span)];
}

/* --- use -------------------------------------------------------------------------------------- */

/* What of a claim that begins at `from_us` has been charged by `until_us`. */
static int64_t charged_by(const struct lab_claim *claim, int64_t from_us, int64_t until_us)
{
    int64_t end_us = from_us + claim->duration_us;
    if (until_us < from_us)
        return 0;
    if (claim->charge == SIM_CHARGE_ARRIVAL || until_us >= end_us)
        return claim->amount;
    return claim->charge == SIM_CHARGE_ACCRUAL ? claim->rate * (until_us - from_us) : 0;
}

/* Write a claim down, cell by cell; what is to come later than anything is kept is not. `ends`:
 * the cell with which a window ends whose sum is kept. */
static void write_down(const struct lab_outlook *outlook, const struct lab_claim *claim,
                       int64_t from_us, int64_t *used, int64_t *sum, int64_t ends)
{
    int64_t before = 0;
    int64_t cell = from_us / outlook->cell_us;
    for (; cell <= outlook->cleared && before < claim->amount; cell++) {
        int64_t by = charged_by(claim, from_us, (cell + 1) * outlook->cell_us - 1);
        used[place_of(cell)] += by - before;
        if (cell <= ends && cell > ends - outlook->span)
            *sum += by - before;
        before = by;
    }
}

static struct lab_claim one_request(void)
{
    return (struct lab_claim){ .charge = SIM_CHARGE_ARRIVAL, .amount = 1 };
}

static void write_both(const struct lab_outlook *outlook, struct lab_outlook_account *account,
                       const struct lab_claim *claim, int64_t from_us)
{
    struct lab_claim one = one_request();
    write_down(outlook, &one, from_us, account->used[LAB_OUTLOOK_REQUESTS],
               &account->sum[LAB_OUTLOOK_REQUESTS], outlook->now);
    write_down(outlook, claim, from_us, account->used[LAB_OUTLOOK_EXECUTION],
               &account->sum[LAB_OUTLOOK_EXECUTION], outlook->now);
}

/* --- the other client ------------------------------------------------------------------------- */

static int64_t limit_of(const struct sim_budget *budget, int which)
{
    return which == LAB_OUTLOOK_REQUESTS ? budget->requests
                                         : budget->execution_us * SIM_WHOLE_SHARE;
}

static void follow(const struct lab_outlook *outlook, struct lab_outlook_account *account,
                   int64_t cell)
{
    for (; account->his_cell < cell; account->his_cell++) {
        for (int which = 0; which < LAB_OUTLOOK_COUNT; which++)
            account->his_sum[which] += step(outlook, account->his[which], account->his_cell);
    }
}

/* He alone has used up a budget. */
static bool is_refused(const struct lab_outlook *outlook, struct lab_outlook_account *account,
                       int64_t now_us)
{
    struct sim_budget budget = sim_scenario_budget(outlook->scenario, now_us);
    bool refused = false;
    follow(outlook, account, now_us / outlook->cell_us);
    for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
        int64_t limit = limit_of(&budget, which);
        refused |= limit && account->his_sum[which] >= limit;
    }
    return refused;
}

static void foresee(struct lab_outlook *outlook, const struct lab_others_request *request)
{
    uint32_t number =
        request->user * outlook->servers + (outlook->servers > 1 ? request->server : 0);
    struct lab_outlook_account *account = &outlook->accounts[number];
    if (is_refused(outlook, account, request->at_us))
        return;
    int64_t service_us = lab_others_service_us(request, 1);
    struct lab_claim one = one_request();
    struct lab_claim claim = {
        .charge = outlook->scenario->limits.charge,
        .amount = request->service->exec_share * service_us,
        .rate = request->service->exec_share,
        .duration_us = service_us,
    };
    write_down(outlook, &one, request->at_us, account->his[LAB_OUTLOOK_REQUESTS],
               &account->his_sum[LAB_OUTLOOK_REQUESTS], account->his_cell);
    write_down(outlook, &claim, request->at_us, account->his[LAB_OUTLOOK_EXECUTION],
               &account->his_sum[LAB_OUTLOOK_EXECUTION], account->his_cell);
    write_both(outlook, account, &claim, request->at_us);
}

/* --- time ------------------------------------------------------------------------------------- */

static void clear_until(struct lab_outlook *outlook, int64_t cell)
{
    while (outlook->cleared < cell) {
        uint32_t place = place_of(++outlook->cleared);
        for (uint32_t i = 0; i < outlook->account_count; i++) {
            for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
                outlook->accounts[i].used[which][place] = 0;
                outlook->accounts[i].his[which][place] = 0;
            }
        }
    }
}

/* He is known for as long ahead as what begins now stays in a window. */
static void advance(struct lab_outlook *outlook, int64_t now_us)
{
    int64_t until_us = now_us + (outlook->span + 1) * outlook->cell_us;
    for (; outlook->now < now_us / outlook->cell_us; outlook->now++) {
        clear_until(outlook, outlook->now + 1 + RING - outlook->span - 2);
        for (uint32_t i = 0; i < outlook->account_count; i++) {
            struct lab_outlook_account *account = &outlook->accounts[i];
            for (int which = 0; which < LAB_OUTLOOK_COUNT; which++)
                account->sum[which] += step(outlook, account->used[which], outlook->now);
            follow(outlook, account, outlook->now + 1);
        }
    }
    while (lab_others_next_us(&outlook->others) <= until_us) {
        struct lab_others_request request;
        if (lab_others_turn(&outlook->others, &request))
            foresee(outlook, &request);
    }
}

/* What was used before the run leaves the window by and by. */
static void prefill(const struct lab_outlook *outlook, struct lab_outlook_account *account)
{
    const struct sim_limits *limits = &outlook->scenario->limits;
    struct sim_budget all = { .requests = limits->requests, .execution_us = limits->execution_us };
    for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
        double amount = outlook->scenario->prefill * (double)limit_of(&all, which);
        for (int64_t i = 1; i <= CELLS; i++) {
            int64_t part =
                (int64_t)(amount * (double)i / CELLS) - (int64_t)(amount * (double)(i - 1) / CELLS);
            account->used[which][place_of(i - 1 - CELLS)] = part;
            account->sum[which] += part;
        }
    }
}

void lab_outlook_init(struct lab_outlook *outlook, const struct sim_scenario *scenario,
                      uint64_t seed)
{
    *outlook = (struct lab_outlook){ .scenario = scenario };
    if (scenario->foreign.share <= 0)
        return;
    const struct sim_limits *limits = &scenario->limits;
    int64_t bucket_us =
        limits->bucket_us < limits->window_us ? limits->bucket_us : limits->window_us;
    outlook->cell_us = (limits->window_us + CELLS - 1) / CELLS;
    outlook->span = CELLS + 1 + (bucket_us + outlook->cell_us - 1) / outlook->cell_us;
    outlook->servers = limits->shared ? 1 : scenario->servers;
    outlook->account_count = scenario->connections * outlook->servers;
    outlook->cleared = RING - outlook->span - 2;
    outlook->accounts = weir_calloc(outlook->account_count, sizeof(*outlook->accounts));
    for (uint32_t i = 0; i < outlook->account_count; i++)
        prefill(outlook, &outlook->accounts[i]);
    lab_others_init(&outlook->others, scenario, seed);
}

void lab_outlook_release(struct lab_outlook *outlook)
{
    lab_others_release(&outlook->others);
    free(outlook->accounts);
    *outlook = (struct lab_outlook){ 0 };
}

/* --- ours ------------------------------------------------------------------------------------- */

static bool fits(const struct lab_outlook *outlook, const struct lab_outlook_account *account,
                 int which, const struct lab_claim *claim, int64_t limit, int64_t now_us)
{
    int64_t sum = account->sum[which];
    int64_t last = outlook->now + outlook->span;
    for (int64_t cell = outlook->now; cell < last; cell++) {
        int64_t by = charged_by(claim, now_us, (cell + 1) * outlook->cell_us - 1);
        if (sum + (by < limit ? by : limit) > limit) /* a larger one goes when nothing else does */
            return false;
        sum += step(outlook, account->used[which], cell);
    }
    return true;
}

int64_t lab_outlook_allows_us(struct lab_outlook *outlook, uint32_t account,
                              const struct lab_claim *claim, const struct sim_budget *budget,
                              int64_t now_us)
{
    if (!outlook->accounts)
        return now_us;
    advance(outlook, now_us);
    struct lab_claim one = one_request();
    for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
        int64_t limit = limit_of(budget, which);
        const struct lab_claim *of = which == LAB_OUTLOOK_REQUESTS ? &one : claim;
        if (limit && !fits(outlook, &outlook->accounts[account], which, of, limit - 1, now_us))
            return (outlook->now + 1) * outlook->cell_us;
    }
    return now_us;
}

void lab_outlook_charge(struct lab_outlook *outlook, uint32_t account,
                        const struct lab_claim *claim, int64_t now_us)
{
    if (!outlook->accounts)
        return;
    advance(outlook, now_us);
    write_both(outlook, &outlook->accounts[account], claim, now_us);
}
