/* SPDX-License-Identifier: MIT */
/*
 * Loads: rows of one batch that wait or travel together, and the lines in which they wait. A load
 * is cut to one request when it boards (portion.c).
 *
 *     BLOCKED ──▶ LINED ──▶ BOARDING ──▶ FLYING ──▶ answered: new loads for what is left, or none
 *                  ▲ ▲         │ stale
 *          RESTING ┘ └─────────┘
 *
 *   blocked    rows with the same key are on their way in an earlier batch
 *   lined      may go with the next lease
 *   resting    not before `due_us`: a back-off, or the time before an id is read back
 *   boarding   has a lease, is not on the wire yet
 *   flying     on the wire
 *
 * In line: what was sent before, before what was not; then the order of the input.
 *
 * Blocked ones wait for their turn (turn.h).
 */
#ifndef WEIR_BULK_LOAD_H
#define WEIR_BULK_LOAD_H

#include "base/heap.h"
#include "bulk/batch.h"
#include "bulk/failing.h"
#include "weir/pool.h"

enum weir_load_mode {
    WEIR_LOAD_BULK = 0,  /* one bulk message */
    WEIR_LOAD_SINGLES,   /* single requests in one $batch, each with an answer of its own */
    WEIR_LOAD_READ_BACK, /* reads of the ids in one $batch: is the row there? */
};

enum weir_load_stage {
    WEIR_LOAD_BLOCKED = 0,
    WEIR_LOAD_LINED,
    WEIR_LOAD_RESTING,
    WEIR_LOAD_BOARDING,
    WEIR_LOAD_FLYING,
    WEIR_LOAD_STAGES
};

#define WEIR_NOBODY UINT32_MAX

struct weir_load {
    uint32_t place; /* in the table of loads */
    enum weir_load_stage stage;
    enum weir_load_mode mode;
    bool fresh;    /* never sent: its mode is settled when it goes */
    bool straight; /* single requests at once, because too many bulk messages failed */
    struct weir_batch *batch;

    /* What it has been through. */
    uint32_t denied_by; /* connection that forbade all of it; WEIR_NOBODY: none */
    uint32_t avoid;     /* connection that it should not go to again; WEIR_NOBODY: none */
    int transients;     /* in a row, as the next two */
    int races;
    int refusals; /* of the credentials */
    int unsent;   /* for want of a token: nobody has seen it, so it is no retry */
    struct weir_failing failing;

    int64_t due_us; /* resting */
    struct weir_lease lease;
    int64_t begun_us; /* flying */
    void *carrier;    /* of whoever drives the executor, while it is out */

    uint32_t row_count;
    uint32_t rows[]; /* places in the batch, ascending */
};

struct weir_loads {
    struct weir_load **table;
    uint32_t *free_places;
    uint32_t free_count;
    uint32_t capacity;
    struct weir_heap line; /* lined, by their order */
    struct weir_heap rest; /* resting, by the time they are due */
    uint32_t counts[WEIR_LOAD_STAGES];
};

/* Rows of the requests that are on the wire. */
uint64_t weir_loads_flying_rows(const struct weir_loads *loads);

void weir_loads_init(struct weir_loads *loads);
void weir_loads_release(struct weir_loads *loads);

/* A load of `row_count` rows, which the caller fills in; blocked until it is put elsewhere. */
struct weir_load *weir_loads_add(struct weir_loads *loads, struct weir_batch *batch,
                                 uint32_t row_count);

/* `count` rows of another load from `first` on, with its history. */
struct weir_load *weir_loads_cut(struct weir_loads *loads, const struct weir_load *from,
                                 uint32_t first, uint32_t count);

void weir_loads_remove(struct weir_loads *loads, struct weir_load *load);

/* Put a load into another stage. Resting ones have their `due_us` set. */
void weir_loads_move(struct weir_loads *loads, struct weir_load *load, enum weir_load_stage stage);

/* Those that are due get in line. */
void weir_loads_wake(struct weir_loads *loads, int64_t now_us);

/* --- one load --- */

/* A failure that is no throttle was the last thing that happened to it. */
static inline bool weir_load_is_retry(const struct weir_load *load)
{
    return (load->transients || load->races) && !load->failing.throttled;
}

/* On a connection, on the wire or nearly so. */
static inline bool weir_load_is_out(const struct weir_load *load)
{
    return load->stage == WEIR_LOAD_BOARDING || load->stage == WEIR_LOAD_FLYING;
}

/* What was counted is over: the service has said something else. */
void weir_load_forgive(struct weir_load *load);

static inline const struct weir_row *weir_load_row(const struct weir_load *load, uint32_t i)
{
    return &load->batch->rows[load->rows[i]];
}

static inline struct weir_row_state *weir_load_state(const struct weir_load *load, uint32_t i)
{
    return &load->batch->states[load->rows[i]];
}

#endif
