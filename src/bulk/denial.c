/* SPDX-License-Identifier: MIT */
/*
 * Writes that are forbidden; see landing.h.
 *
 *     a load, by one connection     to another one that has not forbidden it. Any row that is done
 *                                   there sets those aside that forbade all of it
 *     a bulk message, by everybody  its rows one by one, by anybody: one of them may be the reason
 *     all its rows, by everybody    the job is over: nobody may do this, and no row is to blame
 *     a row, by everybody           rejected
 *
 * Everybody is who is in use: connections that are set aside are not asked. Rows that are forbidden
 * leave their load together, so that the first row stands for all where a way is to be chosen; what
 * becomes of a row goes by its own.
 *
 * A row is *singled out* if others of the same answer were done: it is itself the reason. So is a
 * row that travels alone, once any other was done. But if nobody may do anything from one moment to
 * the next, some rows are left over from answers just then: a row is blamed only if a request that
 * began after it was forbidden has done another one, or if there is none that could.
 */
#include "base/mem.h"
#include "bulk/landing.h"

#define WORD_BITS 64

static bool has_refused(const struct weir_row_state *state, uint32_t connection)
{
    return state->refusers &&
           (state->refusers[connection / WORD_BITS] >> connection % WORD_BITS & 1);
}

static void add_refuser(const struct weir_landing *landing, struct weir_row_state *state)
{
    uint32_t connection = landing->load->lease.connection;
    if (!state->denied_us)
        state->denied_us = landing->now_us;
    size_t words = (landing->executor->core->count + WORD_BITS - 1) / WORD_BITS;
    if (!state->refusers)
        state->refusers = weir_calloc(words, sizeof(*state->refusers));
    landing->load->batch->blamed = true;
    state->refusers[connection / WORD_BITS] |= UINT64_C(1) << connection % WORD_BITS;
}

void weir_landing_forget_refusers(struct weir_landing *landing)
{
    for (uint32_t i = 0; i < landing->load->row_count; i++) {
        struct weir_row_state *state = weir_load_state(landing->load, i);
        free(state->refusers);
        state->refusers = NULL;
    }
}

static bool is_refused_by_all(const struct weir_executor *executor,
                              const struct weir_row_state *state)
{
    for (uint32_t i = 0; i < executor->core->count; i++) {
        if (!executor->core->connections[i].set_aside && !has_refused(state, i))
            return false;
    }
    return true;
}

bool weir_executor_is_barred(const struct weir_executor *executor, const struct weir_load *load,
                             uint32_t connection)
{
    const struct weir_row_state *state = weir_load_state(load, 0);
    if (load->avoid == connection && weir_executor_has_other(executor, connection))
        return true;
    return load->mode != WEIR_LOAD_READ_BACK && has_refused(state, connection) &&
           !is_refused_by_all(executor, state);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Left over from answers in which others were done. */
static bool is_leftover(const struct weir_load *load)
{
    for (uint32_t i = 0; i < load->row_count; i++) {
        if (!weir_load_state(load, i)->singled_out)
            return false;
    }
    return true;
}

/* Everybody forbids these rows: is none of them to blame? */
static bool is_nobodys_fault(const struct weir_landing *landing, const struct weir_row_state *state)
{
    return !state->singled_out && (landing->denied_rows > 1 || !landing->executor->any_done);
}

/* A load that may be done by somebody, and soon. */
static bool is_promising(const struct weir_executor *executor, const struct weir_load *load)
{
    return (weir_load_is_out(load) || load->stage == WEIR_LOAD_LINED) &&
           load->mode != WEIR_LOAD_READ_BACK &&
           !is_refused_by_all(executor, weir_load_state(load, 0));
}

/* Whether others may be done, now that this row is forbidden, is still to be seen. */
static bool is_undecided(const struct weir_landing *landing, const struct weir_row_state *state)
{
    const struct weir_executor *executor = landing->executor;
    if (executor->done_begun_us > state->denied_us)
        return false;
    for (uint32_t i = 0; i < executor->loads.capacity; i++) {
        const struct weir_load *load = executor->loads.table[i];
        if (load && load != landing->load && is_promising(executor, load))
            return true;
    }
    return false;
}

void weir_landing_deny(struct weir_landing *landing, uint32_t i,
                       const struct weir_report_item *item)
{
    struct weir_row_state *state = weir_load_state(landing->load, i);
    state->singled_out |= landing->done_rows > 0;
    landing->denied = true;
    add_refuser(landing, state);
    if (!is_refused_by_all(landing->executor, state)) {
        weir_landing_steer(landing, i, WEIR_COURSE_ELSEWHERE);
    } else if (is_nobodys_fault(landing, state)) {
        landing->convicted = true;
        weir_landing_steer(landing, i, WEIR_COURSE_AGAIN); /* by a later run: this one stops */
    } else if (is_undecided(landing, state)) {
        weir_landing_later(landing, i, WEIR_CLASS_RACE);
    } else if (state->tainted && !weir_landing_is_create(landing)) {
        weir_landing_end(landing, i, WEIR_FATE_UNKNOWN); /* done before it was forbidden, perhaps */
    } else {
        weir_landing_fail(landing, i, item);
    }
}

static const struct weir_report_item *item_of(const struct weir_landing *landing, uint32_t i)
{
    return landing->report->items ? &landing->report->items[i] : NULL;
}

static bool goes_on_by_rows(const struct weir_landing *landing)
{
    return landing->load->mode == WEIR_LOAD_BULK &&
           is_refused_by_all(landing->executor, weir_load_state(landing->load, 0));
}

void weir_landing_deny_all(struct weir_landing *landing)
{
    struct weir_load *load = landing->load;
    for (uint32_t i = 0; i < load->row_count; i++)
        add_refuser(landing, weir_load_state(load, i));
    if (goes_on_by_rows(landing)) { /* what was said of the message is no word on a row */
        weir_landing_forget_refusers(landing);
        load->denied_by = WEIR_NOBODY;
        weir_landing_steer_all(landing, WEIR_COURSE_SINGLES);
        return;
    }
    for (uint32_t i = 0; i < load->row_count; i++)
        weir_landing_deny(landing, i, item_of(landing, i));
}

/* --- what the job learns ---------------------------------------------------------------------- */

/* This connection forbade all of it, and not just a row that it may not touch. */
static bool is_shown_wrong(const struct weir_landing *landing, uint32_t connection)
{
    const struct weir_executor *executor = landing->executor;
    const struct weir_load *load = landing->load;
    bool forbade =
        connection == load->denied_by || has_refused(weir_load_state(load, 0), connection);
    bool one_row = load->row_count == 1 && executor->result.connections[connection].rows_done > 0;
    return forbade && !one_row && connection != load->lease.connection &&
           !executor->core->connections[connection].set_aside &&
           weir_executor_has_other(executor, connection);
}

/* What some connections forbade as a whole another one has done. */
void weir_landing_learn_of_denials(struct weir_landing *landing)
{
    struct weir_executor *executor = landing->executor;
    if (landing->done_rows && landing->load->begun_us > executor->done_begun_us)
        executor->done_begun_us = landing->load->begun_us;
    if (landing->load->denied_by == WEIR_NOBODY || !landing->done_rows ||
        is_leftover(landing->load))
        return;
    for (uint32_t i = 0; i < executor->core->count; i++) {
        if (is_shown_wrong(landing, i))
            weir_core_set_aside(executor->core, i, landing->now_us);
    }
}
