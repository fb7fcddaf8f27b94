/* SPDX-License-Identifier: MIT */
/*
 * Leases, and which load goes with one; see executor_parts.h.
 *
 * One ask is out at a time, for whoever is first in line. Which load takes the lease is decided
 * when it comes: it may be another one by then, and some may not use every connection.
 */
#include "bulk/executor_parts.h"

/* Of the flights so many may be retries of failures: one in five, but one at least. */
#define RETRY_SHARE 5

/* Straight to single requests while more than one in twenty of the last forty loads was bad. */
#define BAD_SHARE 20

/* The longest pause between two requests that a rate can ask for. */
#define PACE_MAX_US (365 * WEIR_US_PER_DAY)

/* Leases came, and no load could use them. */
#define UNFIT_US (1 * WEIR_US_PER_S)

static uint32_t out_count(const struct weir_executor *executor)
{
    return executor->loads.counts[WEIR_LOAD_BOARDING] + executor->loads.counts[WEIR_LOAD_FLYING];
}

bool weir_executor_has_other(const struct weir_executor *executor, uint32_t connection)
{
    for (uint32_t i = 0; i < executor->core->count; i++) {
        if (i != connection && !executor->core->connections[i].set_aside)
            return true;
    }
    return false;
}

static bool goes_straight(const struct weir_executor *executor)
{
    uint64_t window = executor->bad_history & ((UINT64_C(1) << WEIR_BAD_WINDOW) - 1);
    uint32_t seen = executor->bad_seen < BAD_SHARE ? BAD_SHARE : executor->bad_seen;
    return (uint32_t)__builtin_popcountll(window) * BAD_SHARE > seen;
}

static enum weir_load_mode mode_of(const struct weir_executor *executor,
                                   const struct weir_load *load)
{
    if (load->mode != WEIR_LOAD_BULK)
        return load->mode;
    if (!executor->plan.bulk || (load->fresh && goes_straight(executor)))
        return WEIR_LOAD_SINGLES;
    return WEIR_LOAD_BULK;
}

/* May this load go now, on this connection (WEIR_NOBODY: on any)? */
static bool fits(const struct weir_executor *executor, const struct weir_load *load,
                 uint32_t connection, int64_t now_us)
{
    enum weir_load_mode mode = mode_of(executor, load);
    if (connection != WEIR_NOBODY && weir_executor_is_barred(executor, load, connection))
        return false;
    if (mode == WEIR_LOAD_BULK && !executor->warm && executor->bulk_out)
        return false;
    if (mode != WEIR_LOAD_READ_BACK && now_us < executor->pace_us)
        return false;
    uint32_t retries_max = out_count(executor) / RETRY_SHARE;
    return !weir_load_is_retry(load) || executor->retries_out < (retries_max ? retries_max : 1);
}

/* The first in line that may go; NULL: none. */
static struct weir_load *find(const struct weir_executor *executor, uint32_t connection,
                              int64_t now_us)
{
    const struct weir_heap *line = &executor->loads.line;
    struct weir_load *const *table = executor->loads.table;
    if (!line->count)
        return NULL;
    if (fits(executor, table[weir_heap_top(line)], connection, now_us))
        return table[weir_heap_top(line)];
    struct weir_load *first = NULL;
    for (uint32_t i = 0; i < line->count; i++) {
        struct weir_load *load = table[line->ids[i]];
        if ((!first || line->keys[load->place] < line->keys[first->place]) &&
            fits(executor, load, connection, now_us))
            first = load;
    }
    return first;
}

/* How many requests a batch becomes; what is left of one says less than a whole one did. */
static void note_parts(struct weir_executor *executor, const struct weir_load *load)
{
    uint32_t rows = weir_executor_portion(executor, load, mode_of(executor, load));
    if (load->row_count == load->batch->row_count || !executor->load_parts)
        executor->load_parts = (load->row_count + rows - 1) / rows;
}

/* Requests of the job that are still to be sent. Of an input that has not ended nobody knows. */
static uint64_t count_left(const struct weir_executor *executor)
{
    const uint32_t *counts = executor->loads.counts;
    if (!executor->input_ended)
        return 0;
    return ((uint64_t)counts[WEIR_LOAD_BLOCKED] + counts[WEIR_LOAD_LINED] +
            counts[WEIR_LOAD_RESTING]) *
           executor->load_parts;
}

static void pace(struct weir_executor *executor, const struct weir_load *load, int64_t now_us)
{
    double rate = executor->plan.rows_per_second_max;
    if (rate <= 0 || load->mode == WEIR_LOAD_READ_BACK)
        return;
    int64_t from_us = executor->pace_us > now_us ? executor->pace_us : now_us;
    double span_us = (double)load->row_count / rate * WEIR_US_PER_S;
    executor->pace_us =
        weir_time_add(from_us, span_us < PACE_MAX_US ? (int64_t)span_us : PACE_MAX_US);
}

static struct weir_load *board(struct weir_executor *executor, struct weir_load *load,
                               const struct weir_lease *lease, int64_t now_us)
{
    enum weir_load_mode mode = mode_of(executor, load);
    load = weir_executor_cut(executor, load, mode);
    load->straight = load->fresh && executor->plan.bulk && mode == WEIR_LOAD_SINGLES;
    load->mode = mode;
    load->lease = *lease;
    weir_loads_move(&executor->loads, load, WEIR_LOAD_BOARDING);
    executor->retries_out += weir_load_is_retry(load);
    executor->bulk_out += mode == WEIR_LOAD_BULK;
    pace(executor, load, now_us);
    return load;
}

void weir_executor_land(struct weir_executor *executor, struct weir_load *flight)
{
    executor->retries_out -= weir_load_is_retry(flight);
    executor->bulk_out -= flight->mode == WEIR_LOAD_BULK;
    executor->unfit_us = 0; /* another connection may have room now */
}

void weir_executor_cancel_ask(struct weir_executor *executor, int64_t now_us)
{
    if (executor->ticket)
        weir_core_cancel(executor->core, executor->ticket, now_us);
    executor->ticket = 0;
}

static void request_lease(struct weir_executor *executor, const struct weir_load *load,
                          int64_t now_us, struct weir_grant *ret)
{
    struct weir_ask ask = {
        .rows = weir_executor_portion(executor, load, mode_of(executor, load)),
        .acquire_timeout_us = -1,
    };
    weir_core_ask(executor->core, &ask, now_us, ret);
    executor->ticket = ret->ticket;
}

/* The pool says no for good. */
static void refused(struct weir_executor *executor, const struct weir_refusal *refusal,
                    int64_t now_us)
{
    switch (weir_core_explain(executor->core, refusal, &executor->refusal)) {
    case WEIR_E_NO_CONNECTION:
        weir_executor_stop(executor, WEIR_END_CREDENTIALS, now_us);
        break;
    case WEIR_E_SHUTDOWN:
    case WEIR_E_CANCELLED:
        weir_executor_stop(executor, WEIR_END_INTERRUPT, now_us);
        break;
    default:
        weir_executor_stop(executor, WEIR_END_LIMIT, now_us);
        break;
    }
}

/*
 * A lease, if there is one at once; WEIR_E_WOULD_WAIT: not yet. Whoever has just begun to wait
 * turns as well: the core may have had something to see to, and says then when to come again.
 */
static enum weir_status want_lease(struct weir_executor *executor, const struct weir_load *load,
                                   int64_t now_us, struct weir_grant *ret)
{
    uint32_t count = 0;
    note_parts(executor, load);
    weir_core_set_left(executor->core, count_left(executor));
    if (!executor->ticket)
        request_lease(executor, load, now_us, ret);
    if (executor->ticket)
        weir_core_turn(executor->core, now_us, ret, 1, &count);
    if (count)
        executor->ticket = 0;
    else if (executor->ticket)
        return WEIR_E_WOULD_WAIT;
    return ret->status;
}

static void give_back(struct weir_executor *executor, const struct weir_lease *lease,
                      int64_t now_us)
{
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    weir_core_settle(executor->core, lease, &unsent, now_us);
}

static bool may_ask(const struct weir_executor *executor, int64_t now_us)
{
    return !weir_executor_is_stopping(executor) && now_us >= executor->unfit_us &&
           executor->outbox.count < executor->plan.commit_wait_max;
}

/* A load, and a lease that it can use: those that nobody in line can use are passed over. The
 * status is that of the last lease that was asked for. */
static enum weir_status match(struct weir_executor *executor, const struct weir_load *load,
                              int64_t now_us, struct weir_grant *ret, struct weir_load **ret_taker)
{
    *ret_taker = NULL;
    for (;;) {
        *ret = (struct weir_grant){ .status = WEIR_E_WOULD_WAIT };
        enum weir_status status = want_lease(executor, load, now_us, ret);
        if (status)
            return status;
        *ret_taker = find(executor, ret->lease.connection, now_us);
        if (*ret_taker)
            return WEIR_OK;
        executor->unfit_us = now_us + UNFIT_US;
        weir_core_pass_over(executor->core, ret->lease.connection, now_us);
        give_back(executor, &ret->lease, now_us);
    }
}

bool weir_executor_ask(struct weir_executor *executor, int64_t now_us, struct weir_action *ret)
{
    struct weir_load *load = may_ask(executor, now_us) ? find(executor, WEIR_NOBODY, now_us) : NULL;
    if (!load) {
        weir_executor_cancel_ask(executor, now_us);
        return false;
    }
    struct weir_grant grant;
    struct weir_load *taker;
    enum weir_status status = match(executor, load, now_us, &grant, &taker);
    if (executor->unfit_us > now_us) { /* some were passed over: not for whoever asks next */
        weir_core_consider_all(executor->core, now_us);
        if (status == WEIR_E_WOULD_WAIT)
            weir_executor_cancel_ask(executor, now_us);
    }
    if (taker) {
        executor->unfit_us = 0;
        ret->kind = WEIR_ACTION_SEND;
        ret->flight = board(executor, taker, &grant.lease, now_us);
        return true;
    }
    if (status != WEIR_E_WOULD_WAIT)
        refused(executor, &grant.refusal, now_us);
    return false;
}

int64_t weir_executor_ask_us(const struct weir_executor *executor)
{
    if (executor->ticket)
        return weir_core_next_us(executor->core);
    if (!executor->loads.line.count || weir_executor_is_stopping(executor))
        return WEIR_FOREVER;
    int64_t next_us = WEIR_FOREVER;
    if (executor->unfit_us > executor->now_us)
        next_us = executor->unfit_us;
    if (executor->pace_us > executor->now_us && executor->pace_us < next_us)
        next_us = executor->pace_us;
    return next_us;
}

/* --- flights ---------------------------------------------------------------------------------- */

static void count_begin(struct weir_executor *executor, struct weir_load *flight, int64_t now_us)
{
    if (executor->first_begun_us == WEIR_FOREVER)
        executor->first_begun_us = now_us;
    executor->result.requests++;
    executor->result.connections[flight->lease.connection].requests++;
    for (uint32_t i = 0; i < flight->row_count; i++) {
        struct weir_row_state *state = weir_load_state(flight, i);
        if (flight->mode == WEIR_LOAD_READ_BACK)
            continue;
        executor->result.rows_again += state->attempts > 0;
        if (state->attempts < UINT16_MAX)
            state->attempts++;
    }
    weir_core_set_attempt(executor->core, &flight->lease, weir_load_state(flight, 0)->attempts);
}

enum weir_status weir_executor_begin(struct weir_executor *executor, struct weir_load *flight,
                                     int64_t now_us)
{
    if (weir_executor_is_stopping(executor)) {
        give_back(executor, &flight->lease, now_us);
        weir_executor_land(executor, flight);
        weir_executor_give_up(executor, flight, now_us);
        return WEIR_E_CANCELLED;
    }
    enum weir_status status = weir_core_begin(executor->core, &flight->lease, now_us);
    if (status) {
        weir_executor_land(executor, flight);
        weir_loads_move(&executor->loads, flight, WEIR_LOAD_LINED);
        return status;
    }
    count_begin(executor, flight, now_us);
    weir_executor_note_first(executor, flight, now_us);
    flight->fresh = false;
    flight->begun_us = now_us;
    weir_loads_move(&executor->loads, flight, WEIR_LOAD_FLYING);
    return WEIR_OK;
}
