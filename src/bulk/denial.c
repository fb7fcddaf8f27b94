/* SPDX-License-Identifier: MIT */
/*
 * Writes that are forbidden; see landing.h.
 *
 *     a load, by one connection    to another one; success there sets the first aside
 *     again                        its rows one by one
 *     a row, by two or the only    rejected
 *     all rows of the first load   the job is over: nobody may do this, and no row is to blame
 */
#include "bulk/landing.h"

/*
 * The first load that is forbidden as a whole tells whether anybody may do this at all. Not one
 * that is left over from a load of which other rows were accepted, nor a single row among many that
 * were.
 */
static void put_on_trial(struct weir_landing *landing)
{
    struct weir_executor *executor = landing->executor;
    if (executor->trial_rows || weir_load_state(landing->load, 0)->denials ||
        (landing->load->row_count == 1 && executor->any_done))
        return;
    executor->trial_rows = landing->load->row_count;
    for (uint32_t i = 0; i < landing->load->row_count; i++)
        weir_load_state(landing->load, i)->on_trial = true;
}

/* There is a connection that has not forbidden this row, as far as anybody knows. */
static bool deny(struct weir_landing *landing, uint32_t i)
{
    struct weir_row_state *state = weir_load_state(landing->load, i);
    uint32_t connection = landing->load->lease.connection;
    if (state->denials == 0)
        state->denied_by = connection;
    if (state->denials == 0 || (state->denials == 1 && state->denied_by != connection))
        state->denials++;
    return state->denials < 2 && weir_executor_has_other(landing->executor, connection);
}

static const struct weir_report_item *item_of(const struct weir_landing *landing, uint32_t i)
{
    return landing->report->items ? &landing->report->items[i] : NULL;
}

static bool is_denied_by_all(const struct weir_landing *landing)
{
    for (uint32_t i = 0; i < landing->load->row_count; i++) {
        if (weir_load_state(landing->load, i)->denials < 2 &&
            weir_executor_has_other(landing->executor, landing->load->lease.connection))
            return false;
    }
    return true;
}

static bool is_all_that_was_on_trial(const struct weir_landing *landing)
{
    const struct weir_executor *executor = landing->executor;
    for (uint32_t i = 0; i < landing->load->row_count; i++) {
        if (!weir_load_state(landing->load, i)->on_trial)
            return false;
    }
    return !executor->trial_over && landing->load->row_count == executor->trial_rows;
}

/*
 * All that was on trial is forbidden by everybody, or rows beside it that left at the same time,
 * and none was ever done: no row is to blame, and the job is over.
 */
static bool is_convicted(const struct weir_landing *landing)
{
    bool beside = !landing->executor->any_done && landing->load->row_count > 1;
    return landing->load->mode == WEIR_LOAD_SINGLES && is_denied_by_all(landing) &&
           (beside || is_all_that_was_on_trial(landing));
}

/* One connection forbids all of it. */
void weir_landing_deny_all(struct weir_landing *landing)
{
    struct weir_load *load = landing->load;
    bool elsewhere = false;
    put_on_trial(landing);
    landing->denied = true;
    for (uint32_t i = 0; i < load->row_count; i++) {
        if (deny(landing, i))
            elsewhere = true;
    }
    landing->convicted = is_convicted(landing);
    for (uint32_t i = 0; i < load->row_count; i++) {
        const struct weir_row_state *state = weir_load_state(load, i);
        if (landing->convicted)
            weir_landing_step(landing, i, WEIR_COURSE_AGAIN); /* by a later run: this one stops */
        else if (elsewhere && state->denials < 2)
            weir_landing_step(landing, i, WEIR_COURSE_ELSEWHERE);
        else if (load->mode == WEIR_LOAD_BULK)
            weir_landing_step(landing, i, WEIR_COURSE_SINGLES);
        else
            weir_landing_fail(landing, i, item_of(landing, i));
    }
}

void weir_landing_deny(struct weir_landing *landing, uint32_t i,
                       const struct weir_report_item *item)
{
    if (deny(landing, i))
        weir_landing_step(landing, i, WEIR_COURSE_ELSEWHERE);
    else
        weir_landing_fail(landing, i, item);
}
