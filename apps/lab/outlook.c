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
#define SPANS 8   /* kept at least: one that is over, one ahead, and requests of five more */

struct sums {
    int64_t *used; /* by cell, in a ring */
    int64_t sum;   /* in the window that ends with the cell that it has come to */
};

struct lab_outlook_account {
    struct sums both[LAB_OUTLOOK_COUNT]; /* of both of us: it has come to now */
    struct sums his[LAB_OUTLOOK_COUNT];
    int64_t his_cell; /* that his have come to */
};

static uint32_t place_of(const struct lab_outlook *outlook, int64_t cell)
{
    return (uint32_t)(cell & (outlook->ring - 1));
}

/* The sum of the window that ends with a cell becomes that of the next cell. */
static int64_t step(const struct lab_outlook *outlook, const int64_t *used, int64_t cell)
{
    return used[place_of(outlook, cell + 1)] - used[place_of(outlook, cell + 1 - outlook->span)];
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

/* Write a claim down, cell by cell; what is to come later than anything is kept is not, nor what
 * was so long ago. `ends`: the cell that the sum has come to. */
static void write_down(const struct lab_outlook *outlook, const struct lab_claim *claim,
                       int64_t from_us, struct sums *sums, int64_t ends)
{
    int64_t before = 0;
    int64_t cell = from_us / outlook->cell_us;
    for (; cell <= outlook->cleared && before < claim->amount; cell++) {
        int64_t by = charged_by(claim, from_us, (cell + 1) * outlook->cell_us - 1);
        if (cell > outlook->cleared - outlook->ring)
            sums->used[place_of(outlook, cell)] += by - before;
        if (cell <= ends && cell > ends - outlook->span)
            sums->sum += by - before;
        before = by;
    }
}

/* One request, and what it takes. */
static void write_both(const struct lab_outlook *outlook, struct sums *sums,
                       const struct lab_claim *claim, int64_t from_us, int64_t ends)
{
    static const struct lab_claim one = { .charge = SIM_CHARGE_ARRIVAL, .amount = 1 };
    write_down(outlook, &one, from_us, &sums[LAB_OUTLOOK_REQUESTS], ends);
    write_down(outlook, claim, from_us, &sums[LAB_OUTLOOK_EXECUTION], ends);
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
            account->his[which].sum += step(outlook, account->his[which].used, account->his_cell);
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
        refused |= limit && account->his[which].sum >= limit;
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
    struct lab_claim claim = {
        .charge = outlook->scenario->limits.charge,
        .amount = request->service->exec_share * service_us,
        .rate = request->service->exec_share,
        .duration_us = service_us,
    };
    write_both(outlook, account->his, &claim, request->at_us, account->his_cell);
    write_both(outlook, account->both, &claim, request->at_us, outlook->now);
}

/* --- time ------------------------------------------------------------------------------------- */

static void clear_until(struct lab_outlook *outlook, int64_t cell)
{
    while (outlook->cleared < cell) {
        uint32_t place = place_of(outlook, ++outlook->cleared);
        for (uint32_t i = 0; i < outlook->account_count; i++) {
            for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
                outlook->accounts[i].both[which].used[place] = 0;
                outlook->accounts[i].his[which].used[place] = 0;
            }
        }
    }
}

/* He is known until `until_us`. */
static void advance(struct lab_outlook *outlook, int64_t now_us, int64_t until_us)
{
    for (; outlook->now < now_us / outlook->cell_us; outlook->now++) {
        clear_until(outlook, outlook->now + 1 + outlook->ring - outlook->span - 2);
        for (uint32_t i = 0; i < outlook->account_count; i++) {
            struct lab_outlook_account *account = &outlook->accounts[i];
            for (int which = 0; which < LAB_OUTLOOK_COUNT; which++)
                account->both[which].sum += step(outlook, account->both[which].used, outlook->now);
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
            account->both[which].used[place_of(outlook, i - 1 - CELLS)] = part;
            account->both[which].sum += part;
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
    outlook->cell_us = (limits->window_us + CELLS - 1) / CELLS;
    outlook->span = CELLS + 1 + (limits->bucket_us + outlook->cell_us - 1) / outlook->cell_us;
    for (outlook->ring = 1; outlook->ring < SPANS * outlook->span;)
        outlook->ring *= 2;
    outlook->servers = limits->shared ? 1 : scenario->servers;
    outlook->account_count = scenario->connections * outlook->servers;
    outlook->cleared = outlook->ring - outlook->span - 2;
    outlook->accounts = weir_calloc(outlook->account_count, sizeof(*outlook->accounts));
    for (uint32_t i = 0; i < outlook->account_count; i++) {
        for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
            outlook->accounts[i].both[which].used = weir_calloc(outlook->ring, sizeof(int64_t));
            outlook->accounts[i].his[which].used = weir_calloc(outlook->ring, sizeof(int64_t));
        }
        prefill(outlook, &outlook->accounts[i]);
    }
    lab_others_init(&outlook->others, scenario, seed);
}

void lab_outlook_release(struct lab_outlook *outlook)
{
    lab_others_release(&outlook->others);
    for (uint32_t i = 0; i < outlook->account_count; i++) {
        for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
            free(outlook->accounts[i].both[which].used);
            free(outlook->accounts[i].his[which].used);
        }
    }
    free(outlook->accounts);
    *outlook = (struct lab_outlook){ 0 };
}

/* --- ours ------------------------------------------------------------------------------------- */

/* What it takes as far as the ring goes. */
static int64_t kept_us(const struct lab_outlook *outlook, const struct lab_claim *claim)
{
    int64_t most_us = (outlook->cleared - outlook->now - outlook->span - 2) * outlook->cell_us;
    return claim->duration_us < most_us ? claim->duration_us : most_us;
}

/* From now until all of it has left the window again. */
static bool fits(const struct lab_outlook *outlook, const struct sums *sums,
                 const struct lab_claim *claim, int64_t limit, int64_t now_us)
{
    int64_t sum = sums->sum;
    int64_t last = outlook->now + outlook->span + kept_us(outlook, claim) / outlook->cell_us + 1;
    for (int64_t cell = outlook->now; cell < last; cell++) {
        int64_t end_us = (cell + 1) * outlook->cell_us - 1;
        int64_t there = charged_by(claim, now_us, end_us) -
                        charged_by(claim, now_us, end_us - outlook->span * outlook->cell_us);
        there = there < limit ? there : limit; /* a larger one goes when nothing else does */
        if (sum + there > limit)
            return false;
        sum += step(outlook, sums->used, cell);
    }
    return true;
}

int64_t lab_outlook_allows_us(struct lab_outlook *outlook, uint32_t account,
                              const struct lab_claim *claim, const struct sim_budget *budget,
                              int64_t now_us)
{
    static const struct lab_claim one = { .charge = SIM_CHARGE_ARRIVAL, .amount = 1 };
    if (!outlook->accounts)
        return now_us;
    advance(outlook, now_us,
            now_us + kept_us(outlook, claim) + (outlook->span + 1) * outlook->cell_us);
    for (int which = 0; which < LAB_OUTLOOK_COUNT; which++) {
        int64_t limit = limit_of(budget, which);
        const struct lab_claim *of = which == LAB_OUTLOOK_REQUESTS ? &one : claim;
        const struct sums *sums = &outlook->accounts[account].both[which];
        if (limit && !fits(outlook, sums, of, limit - 1, now_us))
            return (outlook->now + 1) * outlook->cell_us;
    }
    return now_us;
}

void lab_outlook_charge(struct lab_outlook *outlook, uint32_t account,
                        const struct lab_claim *claim, int64_t now_us)
{
    if (!outlook->accounts)
        return;
    advance(outlook, now_us, now_us);
    write_both(outlook, outlook->accounts[account].both, claim, now_us, outlook->now);
}
