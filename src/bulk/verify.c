/* SPDX-License-Identifier: MIT */
/*
 * Reading back: is a row there that may have been created? See landing.h.
 *
 *                       ids made for the job   given by the input        derived from columns
 *   present, since      done                   done if tainted           done if tainted
 *   the job began                              else exists already       else exists already
 *   present, older      done                   rejected, exists already  skipped
 *   present, from the   done                   as since               skipped, unless a row of
 *   second of the                                                     this job with the same id
 *   beginning, and                                                    was sent then: as since
 *   untainted
 *   absent              untainted: its own error stands; after one of the whole it goes on alone
 *   forbidden           once more on another connection, then unknown
 */
#include "bulk/landing.h"

/* createdon has no fractions: the second in which the job began counts as since. */
static int64_t begin_second_us(const struct weir_executor *executor)
{
    int64_t begun_us = executor->plan.job_begun_wall_us;
    return begun_us - begun_us % WEIR_US_PER_S;
}

static bool is_since_begin(const struct weir_executor *executor,
                           const struct weir_report_item *item)
{
    return item->created_wall_us >= begin_second_us(executor);
}

/* --- the second in which the job began -------------------------------------------------------- */

/*
 * A row that is there from that second is an earlier job's, or that of a row further up with the
 * same id. Which one is known if all rows are remembered that were sent while the second lasted;
 * one more is for web servers whose clocks differ.
 */
#define FIRST_US (2 * WEIR_US_PER_S)

static bool tells_first_rows(const struct weir_executor *executor)
{
    const struct weir_plan *plan = &executor->plan;
    return plan->ids == WEIR_IDS_DERIVED && plan->operation == WEIR_OPERATION_CREATE &&
           plan->tainted_through == 0;
}

/* The service's clock is no earlier than where it stood when the job began, and the time since. */
void weir_executor_note_first(struct weir_executor *executor, const struct weir_load *load,
                              int64_t now_us)
{
    int64_t into_us = executor->plan.job_begun_wall_us - begin_second_us(executor);
    if (!tells_first_rows(executor) || load->mode == WEIR_LOAD_READ_BACK ||
        now_us - executor->begun_us + into_us >= FIRST_US)
        return;
    for (uint32_t i = 0; i < load->row_count; i++) {
        const struct weir_row *row = weir_load_row(load, i);
        if (row->key_hash && executor->first_rows.count < WEIR_FIRST_ROWS_MAX &&
            !weir_table64_find(&executor->first_rows, row->key_hash, NULL))
            weir_table64_set(&executor->first_rows, row->key_hash, row->number);
    }
}

/* Nobody of this job can have created it. A row that is skipped makes no later one a repeat. */
static bool is_from_before(struct weir_executor *executor, const struct weir_row *row,
                           const struct weir_report_item *item)
{
    uint64_t first;
    if (!tells_first_rows(executor) || !row->key_hash ||
        item->created_wall_us >= begin_second_us(executor) + WEIR_US_PER_S ||
        executor->first_rows.count == WEIR_FIRST_ROWS_MAX)
        return false;
    if (!weir_table64_find(&executor->first_rows, row->key_hash, &first))
        return true;
    if (first == row->number)
        weir_table64_remove(&executor->first_rows, row->key_hash);
    return first == row->number;
}

/* --- what is there ---------------------------------------------------------------------------- */

/* Whatever was said of it, perhaps of a whole request: this is why. */
static void reject_as_existing(struct weir_row_state *state, const struct weir_load *load)
{
    struct weir_row_error error = { 0 };
    if (state->error)
        error = *state->error;
    error.class_ = WEIR_CLASS_BAD_ROWS;
    error.fault = WEIR_FAULT_DUPLICATE;
    error.connection = load->lease.connection;
    struct weir_row_error *made = weir_row_error_new(&error);
    weir_row_error_free(state->error);
    state->error = made;
    load->batch->blamed = true;
    weir_landing_say_existing(state);
}

static enum weir_fate fate_of_present(struct weir_executor *executor, const struct weir_load *load,
                                      uint32_t i, const struct weir_report_item *item)
{
    struct weir_row_state *state = weir_load_state(load, i);
    if (executor->plan.ids == WEIR_IDS_MADE)
        return WEIR_FATE_DONE;
    bool since = is_since_begin(executor, item);
    if (since && state->tainted)
        return WEIR_FATE_DONE;
    if (executor->plan.ids == WEIR_IDS_DERIVED &&
        (!since || is_from_before(executor, weir_load_row(load, i), item)))
        return WEIR_FATE_SKIPPED;
    reject_as_existing(state, load);
    return WEIR_FATE_REJECTED;
}

static enum weir_course end(struct weir_executor *executor, const struct weir_load *load,
                            uint32_t i, enum weir_fate fate)
{
    weir_executor_end_row(executor, load->batch, load->rows[i], fate);
    return WEIR_COURSE_OVER;
}

static enum weir_course unseen(struct weir_executor *executor, const struct weir_load *load,
                               uint32_t i)
{
    struct weir_row_state *state = weir_load_state(load, i);
    if (state->unseen || !weir_executor_has_other(executor, load->lease.connection))
        return end(executor, load, i, WEIR_FATE_UNKNOWN);
    state->unseen = true;
    return WEIR_COURSE_ELSEWHERE;
}

static enum weir_course verify(struct weir_executor *executor, const struct weir_load *load,
                               uint32_t i, const struct weir_report_item *item)
{
    struct weir_row_state *state = weir_load_state(load, i);
    switch (item->presence) {
    case WEIR_PRESENCE_PRESENT:
        return end(executor, load, i, fate_of_present(executor, load, i, item));
    case WEIR_PRESENCE_ABSENT:
        state->tainted = false;
        if (!state->own_error)
            return WEIR_COURSE_SINGLES;
        return end(executor, load, i, WEIR_FATE_REJECTED);
    case WEIR_PRESENCE_FORBIDDEN:
        return unseen(executor, load, i);
    default:
        break;
    }
    if (item->verdict.class_ == WEIR_CLASS_THROTTLE)
        return WEIR_COURSE_AGAIN;
    if (item->verdict.class_ == WEIR_CLASS_BAD_ROWS || item->verdict.class_ == WEIR_CLASS_OTHER)
        return end(executor, load, i, WEIR_FATE_UNKNOWN); /* it cannot be asked for */
    return WEIR_COURSE_LATER;
}

static void read_back_whole(struct weir_landing *landing)
{
    const struct weir_verdict *verdict = &landing->report->answer.verdict;
    struct weir_load *load = landing->load;
    switch (verdict->class_) {
    case WEIR_CLASS_THROTTLE:
    case WEIR_CLASS_UNSENT:
        weir_landing_steer_all(landing, WEIR_COURSE_AGAIN);
        break;
    case WEIR_CLASS_BAD_CREDENTIALS:
        weir_landing_refused(landing);
        break;
    case WEIR_CLASS_TRANSIENT:
    case WEIR_CLASS_RACE:
        if (landing->report->timed_out)
            weir_landing_halve(landing, verdict->class_);
        else
            weir_landing_all_later(landing, verdict->class_);
        break;
    case WEIR_CLASS_PRIVILEGE:
        if (load->avoid == WEIR_NOBODY &&
            weir_executor_has_other(landing->executor, load->lease.connection))
            weir_landing_steer_all(landing, WEIR_COURSE_ELSEWHERE);
        else
            weir_landing_end_all(landing, WEIR_FATE_UNKNOWN);
        break;
    default:
        if (load->row_count > 1)
            weir_landing_steer_all(landing, WEIR_COURSE_HALVES);
        else if (verdict->class_ == WEIR_CLASS_OTHER && landing->report->fault == WEIR_FAULT_NONE)
            weir_landing_later(landing, 0, WEIR_CLASS_TRANSIENT); /* nobody's error in particular */
        else
            weir_landing_end(landing, 0, WEIR_FATE_UNKNOWN);
        break;
    }
}

void weir_landing_read_back(struct weir_landing *landing)
{
    if (!landing->report->items) {
        read_back_whole(landing);
        return;
    }
    for (uint32_t i = 0; i < landing->load->row_count; i++) {
        const struct weir_report_item *item = &landing->report->items[i];
        enum weir_course course = verify(landing->executor, landing->load, i, item);
        if (course == WEIR_COURSE_LATER)
            weir_landing_later(landing, i, item->verdict.class_);
        else
            weir_landing_steer(landing, i, course);
    }
}
