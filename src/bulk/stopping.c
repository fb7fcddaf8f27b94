/* SPDX-License-Identifier: MIT */
/*
 * Giving up and coming to an end; see executor_parts.h.
 *
 *     stop ──▶ nothing is sent; what waits is given up; what is not on the wire is cancelled;
 *              flights may come home ─┬─▶ OVER
 *                29 s later: what is left is cancelled ┘
 */
#include "base/mem.h"
#include "bulk/executor_parts.h"

#define COME_HOME_US (29 * WEIR_US_PER_S) /* and within thirty the process has ended */

/* Nobody answers: before the first answer, and after it. */
#define FIRST_CONTACT_US (15 * WEIR_US_PER_S)
#define UNREACHABLE_US   (5 * WEIR_US_PER_MINUTE)

static void give_up_rows(struct weir_executor *executor, struct weir_load *load)
{
    for (uint32_t i = 0; i < load->row_count; i++) {
        const struct weir_row_state *state = weir_load_state(load, i);
        weir_executor_end_row(executor, load->batch, load->rows[i],
                              state->tainted ? WEIR_FATE_UNKNOWN : WEIR_FATE_NOT_SENT);
    }
}

void weir_executor_give_up(struct weir_executor *executor, struct weir_load *load, int64_t now_us)
{
    struct weir_batch *batch = load->batch;
    give_up_rows(executor, load);
    weir_loads_remove(&executor->loads, load);
    weir_executor_finish_batch(executor, batch, now_us);
}

void weir_executor_stop(struct weir_executor *executor, enum weir_end why, int64_t now_us)
{
    executor->result.ends |= (unsigned)why;
    if (weir_executor_is_stopping(executor))
        return;
    executor->stop_us = now_us + COME_HOME_US;
    weir_executor_cancel_ask(executor, now_us);
    for (uint32_t i = 0; i < executor->loads.capacity; i++) {
        struct weir_load *load = executor->loads.table[i];
        if (load && !weir_load_is_out(load))
            weir_executor_give_up(executor, load, now_us);
    }
}

/* What awaits its commit will wait for ever: a later run does not know of it. */
void weir_executor_journal_failed(struct weir_executor *executor, int64_t now_us)
{
    struct weir_receipt *receipt;
    weir_executor_stop(executor, WEIR_END_JOURNAL, now_us);
    while ((receipt = weir_outbox_take(&executor->outbox, UINT64_MAX))) {
        for (uint32_t i = 0; i < receipt->row_count; i++) {
            const struct weir_row_state *state = &weir_receipt_states(receipt)[i];
            bool idle = weir_receipt_rows(receipt)[i].idle;
            bool executed = (receipt->fate == WEIR_FATE_DONE && !idle) || state->tainted;
            executor->result.fates[executed ? WEIR_FATE_UNKNOWN : WEIR_FATE_NOT_SENT]++;
        }
        weir_executor_finish_batch(executor, receipt->batch, now_us);
        free(receipt);
    }
}

/* --- time ------------------------------------------------------------------------------------- */

static int64_t unreachable_limit_us(const struct weir_executor *executor)
{
    if (executor->unreachable_us == WEIR_FOREVER)
        return WEIR_FOREVER;
    if (executor->contacted)
        return executor->unreachable_us + UNREACHABLE_US;
    int64_t from_us = executor->first_begun_us < executor->unreachable_us
                          ? executor->first_begun_us
                          : executor->unreachable_us;
    return from_us + FIRST_CONTACT_US;
}

/* A flight is out on a connection that has not failed yet: it may be the one that gets there. */
static bool has_hope(const struct weir_executor *executor)
{
    for (uint32_t i = 0; i < executor->loads.capacity; i++) {
        const struct weir_load *load = executor->loads.table[i];
        if (load && weir_load_is_out(load) && !executor->unreachable[load->lease.connection])
            return true;
    }
    return false;
}

void weir_executor_check(struct weir_executor *executor, int64_t now_us)
{
    if (!weir_executor_is_stopping(executor) && now_us >= unreachable_limit_us(executor) &&
        !has_hope(executor))
        weir_executor_stop(executor, WEIR_END_UNREACHABLE, now_us);
}

static int64_t cancel_us(const struct weir_executor *executor)
{
    if (executor->abandoned || executor->loads.counts[WEIR_LOAD_BOARDING])
        return executor->now_us;
    bool waits = executor->stop_us > executor->now_us || executor->loads.counts[WEIR_LOAD_FLYING];
    return waits ? executor->stop_us : WEIR_FOREVER;
}

int64_t weir_executor_check_us(const struct weir_executor *executor)
{
    if (weir_executor_is_stopping(executor))
        return cancel_us(executor);
    int64_t limit_us = unreachable_limit_us(executor);
    return limit_us == WEIR_FOREVER || has_hope(executor) ? WEIR_FOREVER : limit_us;
}

static struct weir_load *first_to_cancel(const struct weir_executor *executor, int64_t now_us)
{
    for (uint32_t i = 0; i < executor->loads.capacity; i++) {
        struct weir_load *load = executor->loads.table[i];
        if (load && (load->stage == WEIR_LOAD_BOARDING ||
                     (load->stage == WEIR_LOAD_FLYING && now_us >= executor->stop_us)))
            return load;
    }
    return NULL;
}

static void forget_abandoned(struct weir_executor *executor, int64_t now_us)
{
    struct weir_load *load = executor->abandoned;
    if (!load)
        return;
    struct weir_batch *batch = load->batch;
    executor->abandoned = NULL;
    weir_loads_remove(&executor->loads, load);
    weir_executor_finish_batch(executor, batch, now_us);
}

/* The service may go on with it all the same. */
static void leave_unknown(struct weir_executor *executor, struct weir_load *load, int64_t now_us)
{
    weir_result_note_late(&executor->result, now_us + executor->plan.late_us);
    for (uint32_t i = 0; i < load->row_count; i++) {
        weir_load_state(load, i)->tainted = true;
        weir_load_state(load, i)->unknown_us = now_us;
    }
}

struct weir_load *weir_executor_abandon(struct weir_executor *executor, int64_t now_us)
{
    forget_abandoned(executor, now_us);
    bool stopping = weir_executor_is_stopping(executor);
    struct weir_load *load = stopping ? first_to_cancel(executor, now_us) : NULL;
    if (!load)
        return NULL;
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    weir_core_settle(executor->core, &load->lease, &unsent, now_us);
    weir_executor_land(executor, load);
    if (load->stage == WEIR_LOAD_FLYING && load->mode != WEIR_LOAD_READ_BACK)
        leave_unknown(executor, load, now_us);
    give_up_rows(executor, load);
    executor->abandoned = load;
    return load;
}
