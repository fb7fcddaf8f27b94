/* SPDX-License-Identifier: MIT */
/*
 * What the other client will have in every window while something of ours is there: an oracle that
 * knows his future leaves him all that he wants.
 *
 *     ours(x) + his(x)  ≤  limit      for every x from now until what begins now has left
 *
 * Time goes in cells, 512 to a window. What is used within a cell counts from its beginning until a
 * window after its end, so the outlook is on the safe side by a cell: whoever keeps to it is never
 * throttled, and neither is he, unless requests slow each other: he is taken as he would be without
 * us. What he wants while he alone has used up a budget is refused to him, and counts for nothing.
 */
#ifndef LAB_OUTLOOK_H
#define LAB_OUTLOOK_H

#include "lab/ledger.h"
#include "lab/others.h"

enum lab_outlook_budget {
    LAB_OUTLOOK_REQUESTS,
    LAB_OUTLOOK_EXECUTION,
    LAB_OUTLOOK_COUNT
};

struct lab_outlook {
    const struct sim_scenario *scenario;
    struct lab_others others;
    struct lab_outlook_account *accounts; /* NULL: there is no other client */
    uint32_t account_count;
    uint32_t servers; /* accounts of a user */
    int64_t cell_us;
    int64_t span;    /* cells that count in a window */
    int64_t ring;    /* cells that are kept of each sum: a power of two */
    int64_t now;     /* the cell that time has come to */
    int64_t cleared; /* the last cell that is kept */
};

void lab_outlook_init(struct lab_outlook *outlook, const struct sim_scenario *scenario,
                      uint64_t seed);
void lab_outlook_release(struct lab_outlook *outlook);

/* When a request of ours may begin at `now_us` or is worth another look, if `budget` is in force.
 * With nobody else there, at once. */
int64_t lab_outlook_allows_us(struct lab_outlook *outlook, uint32_t account,
                              const struct lab_claim *claim, const struct sim_budget *budget,
                              int64_t now_us);

/* It begins. */
void lab_outlook_charge(struct lab_outlook *outlook, uint32_t account,
                        const struct lab_claim *claim, int64_t now_us);

#endif
