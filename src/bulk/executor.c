/* SPDX-License-Identifier: MIT */
/*
 * The executor's life cycle, its batches, and what to do next; see executor.h.
 *
 * Batches in the order of their keys. A batch that names others waits until each of them has no
 * open row, and until nothing that they left unknown can still be executed: an old value that
 * arrives late must not meet a new one. If a row of one of them was given up, a later run will send
 * it again, so what comes after it has to be given up as well. Of a batch that was handed back only
 * its turn is kept (turn.h), for as long as somebody might have to wait for it.
 */
#include "bulk/executor.h"

#include <string.h>

#include "base/mem.h"
#include "bulk/executor_parts.h"

#define STREAM 5 /* of the seed: the executor's own */

void weir_executor_init(struct weir_executor *executor, const struct weir_plan *plan,
                        struct weir_core *core, uint64_t seed, int64_t now_us)
{
    *executor = (struct weir_executor){
        .plan = *plan,
        .core = core,
        .now_us = now_us,
        .begun_us = now_us,
        .crossover_us = WEIR_SIZING_CROSSOVER_US,
        .first_begun_us = WEIR_FOREVER,
        .unreachable_us = WEIR_FOREVER,
        .failing = weir_failing_none(),
        .throttled_us = WEIR_NEVER,
        .stop_us = WEIR_FOREVER,
    };
    weir_rng_init(&executor->rng, seed, STREAM);
    weir_loads_init(&executor->loads);
    weir_turns_init(&executor->turns);
    weir_table64_init(&executor->first_rows);
    executor->unreachable = weir_calloc(core->count, sizeof(*executor->unreachable));
    executor->result.connections = weir_calloc(core->count, sizeof(*executor->result.connections));
    executor->result.connection_count = core->count;
}

void weir_executor_release(struct weir_executor *executor)
{
    weir_outbox_release(&executor->outbox);
    for (uint32_t i = 0; i < executor->live_count; i++)
        weir_batch_close(executor->live[i]);
    for (struct weir_batch *batch = executor->returns; batch; batch = batch->next)
        weir_batch_close(batch);
    weir_loads_release(&executor->loads);
    weir_turns_release(&executor->turns);
    weir_table64_release(&executor->first_rows);
    free(executor->live);
    free(executor->unreachable);
    free(executor->result.connections);
    free(executor->result.late);
    *executor = (struct weir_executor){ 0 };
}

static void forget_rows(struct weir_executor *executor)
{
    weir_loads_release(&executor->loads);
    weir_turns_release(&executor->turns);
    weir_loads_init(&executor->loads);
    weir_turns_init(&executor->turns);
    executor->result.read = 0;
    memset(executor->result.fates, 0, sizeof(executor->result.fates));
    if (executor->ended > executor->ended_before)
        executor->ended_before = executor->ended;
    executor->ended = 0;
}

/* The message is another one: that it works, who may send it and which rows it refuses. */
void weir_executor_next_pass(struct weir_executor *executor, const struct weir_plan *plan,
                             int64_t now_us)
{
    weir_executor_cancel_ask(executor, now_us);
    forget_rows(executor);
    executor->plan = *plan;
    executor->now_us = now_us;
    executor->input_ended = false;
    executor->over_said = false;
    executor->warm = false;
    executor->bad_history = 0;
    executor->bad_seen = 0;
    executor->any_done = false;
    executor->done_begun_us = 0;
    executor->failing = weir_failing_none();
}

/* --- batches ---------------------------------------------------------------------------------- */

static void enlist(struct weir_executor *executor, struct weir_batch *batch)
{
    if (executor->live_count == executor->live_capacity) {
        executor->live_capacity = executor->live_capacity ? 2 * executor->live_capacity : 64;
        executor->live =
            weir_realloc(executor->live, executor->live_capacity, sizeof(struct weir_batch *));
    }
    batch->place = executor->live_count;
    executor->live[executor->live_count++] = batch;
    executor->live_bytes += batch->bytes;
    executor->result.read += batch->row_count;
}

static void delist(struct weir_executor *executor, struct weir_batch *batch)
{
    struct weir_batch *last = executor->live[--executor->live_count];
    executor->live[batch->place] = last;
    last->place = batch->place;
    executor->live_bytes -= batch->bytes;
}

/* What a run before this one may have left behind: it had ended when this one began. */
static void taint_old(const struct weir_executor *executor, struct weir_batch *batch)
{
    uint64_t through = executor->plan.tainted_through;
    for (uint32_t i = 0; i < batch->row_count && batch->rows[i].number <= through; i++) {
        if (!weir_row_may_be_sent(&batch->rows[i], through))
            continue;
        batch->states[i].tainted = true;
        batch->states[i].unknown_us = executor->begun_us;
        batch->clear_us = executor->begun_us + executor->plan.late_us;
    }
}

static void refuse_row(struct weir_executor *executor, struct weir_batch *batch, uint32_t row)
{
    struct weir_row_state *state = &batch->states[row];
    struct weir_row_error error = { .class_ = WEIR_CLASS_BAD_ROWS, .connection = WEIR_NOBODY };
    struct weir_str why = batch->rows[row].refusal;
    error.message = weir_strndup(why.ptr, why.len);
    state->error = weir_row_error_new(&error);
    state->own_error = true;
    batch->blamed = true;
    free(error.message);
    weir_executor_end_row(executor, batch, row, WEIR_FATE_REJECTED);
}

/* Rows that are not to be sent end here; the others become a load, if there are any. */
static struct weir_load *make_load(struct weir_executor *executor, struct weir_batch *batch)
{
    struct weir_load *load = weir_loads_add(&executor->loads, batch, batch->row_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        if (!batch->plain && batch->rows[i].refusal.len)
            refuse_row(executor, batch, i);
        else
            load->rows[count++] = i;
    }
    load->row_count = count;
    load->fresh = true;
    if (count)
        return load;
    weir_loads_remove(&executor->loads, load);
    return NULL;
}

void weir_executor_finish_batch(struct weir_executor *executor, struct weir_batch *batch,
                                int64_t now_us)
{
    if (batch->open_rows || batch->over)
        return;
    bool at_once = batch->lapsed || batch->clear_us < now_us;
    weir_turns_close(&executor->turns, batch->serial, batch->lapsed,
                     at_once ? now_us : batch->clear_us);
    if (batch->receipts)
        return;
    batch->over = true;
    delist(executor, batch);
    batch->next = executor->returns;
    executor->returns = batch;
}

/* --- turns ------------------------------------------------------------------------------------ */

/*
 * Its turn has come: rows with nothing to do are done, the others wait for a lease. (Before its
 * turn none is done: whoever keeps the books of repeated keys relies on that.)
 */
static void line_up(struct weir_executor *executor, struct weir_load *load, int64_t now_us)
{
    struct weir_batch *batch = load->batch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < load->row_count; i++) {
        uint32_t row = load->rows[i];
        if (!batch->plain && batch->rows[row].idle)
            weir_executor_end_row(executor, batch, row, WEIR_FATE_DONE);
        else
            load->rows[count++] = row;
    }
    load->row_count = count;
    if (count) {
        weir_loads_move(&executor->loads, load, WEIR_LOAD_LINED);
        return;
    }
    weir_loads_remove(&executor->loads, load);
    weir_executor_finish_batch(executor, batch, now_us);
}

static void queue_up(struct weir_executor *executor, struct weir_load *load, int64_t now_us)
{
    uint32_t ahead;
    if (!weir_turns_wait(&executor->turns, load, &ahead))
        weir_executor_give_up(executor, load, now_us);
    else if (!ahead)
        line_up(executor, load, now_us);
}

/* Giving one up closes its turn, which is due at once. */
static void unblock(struct weir_executor *executor, int64_t now_us)
{
    struct weir_turn *turn;
    while ((turn = weir_turns_due(&executor->turns, now_us))) {
        for (uint32_t i = 0; i < turn->waiter_count; i++) {
            struct weir_load *load = weir_turns_free(&executor->turns, turn, i);
            if (load && turn->lapsed)
                weir_executor_give_up(executor, load, now_us);
            else if (load)
                line_up(executor, load, now_us);
        }
        weir_turns_end(&executor->turns, turn);
    }
}

/* --- input ------------------------------------------------------------------------------------ */

bool weir_executor_wants(const struct weir_executor *executor)
{
    return !executor->input_ended && !weir_executor_is_stopping(executor) &&
           (executor->live_count == 0 || executor->live_bytes < executor->plan.memory_bytes_max);
}

void weir_executor_offer(struct weir_executor *executor, struct weir_batch *batch, int64_t now_us)
{
    weir_batch_open(batch);
    if (!executor->live_count) /* to wait for input is not to fail */
        executor->failing = weir_failing_none();
    enlist(executor, batch);
    weir_turns_open(&executor->turns, batch->serial);
    taint_old(executor, batch);
    struct weir_load *load = batch->row_count ? make_load(executor, batch) : NULL;
    weir_executor_end_early(executor, now_us); /* which may have given the load up */
    if (!load || !batch->open_rows)
        weir_executor_finish_batch(executor, batch, now_us);
    else if (weir_executor_is_stopping(executor))
        weir_executor_give_up(executor, load, now_us);
    else
        queue_up(executor, load, now_us);
}

void weir_executor_end_of_input(struct weir_executor *executor, int64_t now_us)
{
    executor->input_ended = true;
    weir_executor_end_early(executor, now_us); /* now it is known how many rows there are */
}

/* --- results ---------------------------------------------------------------------------------- */

void weir_executor_committed(struct weir_executor *executor, uint64_t serial, int64_t now_us)
{
    struct weir_receipt *receipt;
    while ((receipt = weir_outbox_take(&executor->outbox, serial))) {
        executor->result.fates[receipt->fate] += receipt->row_count;
        weir_executor_finish_batch(executor, receipt->batch, now_us);
        free(receipt);
    }
}

/* --- what to do next -------------------------------------------------------------------------- */

static bool hand_back(struct weir_executor *executor, struct weir_action *ret)
{
    struct weir_batch *batch = executor->returns;
    if (!batch)
        return false;
    executor->returns = batch->next;
    weir_batch_close(batch);
    *ret = (struct weir_action){ .kind = WEIR_ACTION_RETURN, .batch = batch };
    return true;
}

static bool hand_receipt(struct weir_executor *executor, struct weir_action *ret)
{
    const struct weir_receipt *receipt = weir_outbox_hand_out(&executor->outbox);
    if (!receipt)
        return false;
    *ret = (struct weir_action){ .kind = WEIR_ACTION_RECORD, .receipt = receipt };
    return true;
}

static bool hand_cancel(struct weir_executor *executor, int64_t now_us, struct weir_action *ret)
{
    struct weir_load *flight = weir_executor_abandon(executor, now_us);
    if (!flight)
        return false;
    *ret = (struct weir_action){ .kind = WEIR_ACTION_CANCEL, .flight = flight };
    return true;
}

static bool hand_over(struct weir_executor *executor, struct weir_action *ret)
{
    bool ended = executor->input_ended || weir_executor_is_stopping(executor);
    if (!ended || executor->live_count || executor->over_said)
        return false;
    executor->over_said = true;
    *ret = (struct weir_action){ .kind = WEIR_ACTION_OVER };
    return true;
}

void weir_executor_next(struct weir_executor *executor, int64_t now_us, struct weir_action *ret)
{
    *ret = (struct weir_action){ .kind = WEIR_ACTION_NONE };
    executor->now_us = now_us;
    weir_result_forget_late(&executor->result, now_us);
    weir_executor_check(executor, now_us);
    if (hand_cancel(executor, now_us, ret))
        return;
    unblock(executor, now_us);
    weir_loads_wake(&executor->loads, now_us);
    if (hand_receipt(executor, ret) || hand_back(executor, ret))
        return;
    if (weir_executor_ask(executor, now_us, ret))
        return;
    /* Asking may have been the end: what was given up then is handed back first. */
    if (hand_back(executor, ret))
        return;
    hand_over(executor, ret);
}

int64_t weir_executor_next_us(const struct weir_executor *executor)
{
    const int64_t times_us[] = {
        weir_heap_min(&executor->loads.rest),
        weir_heap_min(&executor->turns.due),
        weir_executor_ask_us(executor),
        weir_executor_check_us(executor),
    };
    int64_t next_us = WEIR_FOREVER;
    for (size_t i = 0; i < sizeof(times_us) / sizeof(times_us[0]); i++)
        next_us = times_us[i] < next_us ? times_us[i] : next_us;
    return next_us;
}
