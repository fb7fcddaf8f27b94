/* SPDX-License-Identifier: MIT */
/*
 * Answers to writes: a course for every row; see landing.h.
 *
 * The one rule above all others: a create that is tainted is never rejected before its id was read
 * back, whatever the error says. It may be the first attempt that is in the way of the second.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bulk/landing.h"

/* A service that takes another id than the one that a create carries would double it if it were
 * sent again. */
static bool has_its_id(const struct weir_landing *landing, uint32_t i)
{
    const struct weir_load *load = landing->load;
    const struct weir_guid *answered = &weir_load_state(load, i)->id;
    if (load->batch->ids && weir_guid_equal(&load->batch->ids[load->rows[i]], answered))
        return true;
    struct weir_str text = weir_load_row(load, i)->target.id;
    struct weir_guid sent;
    return !text.len || (weir_guid_parse(text, &sent) && weir_guid_equal(&sent, answered));
}

/* The service gave or confirmed an id. */
static void note_id(struct weir_landing *landing, uint32_t i, const struct weir_guid *id)
{
    struct weir_row_state *state = weir_load_state(landing->load, i);
    state->id_known = true;
    state->id = *id;
    landing->foreign_id |= weir_landing_is_create(landing) && !has_its_id(landing, i);
}

static void count_done(struct weir_landing *landing, uint32_t rows)
{
    landing->executor->any_done = true;
    landing->executor->result.connections[landing->load->lease.connection].rows_done += rows;
}

static void done_row(struct weir_landing *landing, uint32_t i, const struct weir_report_item *item)
{
    if (item->id_known)
        note_id(landing, i, &item->id);
    count_done(landing, 1);
    weir_landing_end(landing, i, WEIR_FATE_DONE);
}

static void done_all(struct weir_landing *landing)
{
    const struct weir_guid *ids = landing->report->ids;
    for (uint32_t i = 0; ids && i < landing->load->row_count; i++)
        note_id(landing, i, &ids[i]);
    count_done(landing, landing->load->row_count);
    weir_landing_end_all(landing, WEIR_FATE_DONE);
}

static void taint(struct weir_landing *landing, uint32_t i)
{
    struct weir_row_state *state = weir_load_state(landing->load, i);
    struct weir_batch *batch = landing->load->batch;
    state->tainted = true;
    state->unknown_us = landing->now_us;
    batch->clear_us = landing->now_us + landing->executor->plan.late_us;
}

/* --- errors ----------------------------------------------------------------------------------- */

void weir_executor_blame(const struct weir_load *load, uint32_t i, const struct weir_report *report,
                         const struct weir_report_item *item, bool own)
{
    struct weir_row_state *state = weir_load_state(load, i);
    const struct weir_verdict *verdict = item ? &item->verdict : &report->answer.verdict;
    struct weir_row_error error = {
        .class_ = verdict->class_,
        .fault = item ? item->fault : report->fault,
        .http_status = verdict->http_status,
        .code = verdict->code,
        .connection = load->lease.connection,
        .message = item ? item->message : report->message,
        .request_id = item && item->request_id ? item->request_id : report->request_id,
    };
    weir_row_error_free(state->error);
    state->error = weir_row_error_new(&error);
    state->own_error = own;
    load->batch->blamed = true;
}

void weir_landing_say_existing(struct weir_row_state *state)
{
    static const char existing[] = "exists already";
    char *words = state->error->message;
    struct weir_buf text;
    weir_buf_init(&text, sizeof(existing) + strlen(words) + 2);
    weir_buf_printf(&text, words[0] ? "%s: %s" : "%s", existing, words);
    state->error->message = weir_buf_take(&text);
    free(words);
}

/* An error on a create says nothing if an earlier attempt may be the cause. */
static bool must_read_back(const struct weir_landing *landing, uint32_t i,
                           enum weir_fault_kind fault)
{
    bool older = landing->executor->plan.ids == WEIR_IDS_DERIVED && fault == WEIR_FAULT_DUPLICATE;
    return weir_landing_is_create(landing) && (weir_load_state(landing->load, i)->tainted || older);
}

/*
 * On an update, upsert or delete that is tainted an error is believed only if it would have been
 * the same before: a value that does not fit, a row that is not there. A plug-in may refuse just
 * because the first attempt was executed, or is being so. Such a row is asked once more when
 * nothing of that attempt can be under way; what it is told then stands.
 */
static bool is_doubtful(const struct weir_landing *landing, uint32_t i, enum weir_fault_kind fault,
                        enum weir_class class_)
{
    const struct weir_row_state *state = weir_load_state(landing->load, i);
    bool clear = landing->load->begun_us >= state->unknown_us + landing->executor->plan.late_us;
    return !weir_landing_is_create(landing) && state->tainted && !clear &&
           class_ == WEIR_CLASS_BAD_ROWS && fault != WEIR_FAULT_VALIDATION &&
           fault != WEIR_FAULT_NOT_FOUND;
}

static void reject(struct weir_landing *landing, uint32_t i, enum weir_fault_kind fault)
{
    if (weir_landing_is_create(landing) && fault == WEIR_FAULT_DUPLICATE)
        weir_landing_say_existing(weir_load_state(landing->load, i));
    weir_landing_end(landing, i, WEIR_FATE_REJECTED);
}

/* The row itself is to blame, and no other try would change that. */
void weir_landing_fail(struct weir_landing *landing, uint32_t i,
                       const struct weir_report_item *item)
{
    enum weir_fault_kind fault = item ? item->fault : landing->report->fault;
    enum weir_class class_ = item ? item->verdict.class_ : landing->report->answer.verdict.class_;
    weir_executor_blame(landing->load, i, landing->report, item, true);
    if (landing->executor->plan.operation == WEIR_OPERATION_DELETE && fault == WEIR_FAULT_NOT_FOUND)
        weir_landing_end(landing, i, WEIR_FATE_ABSENT);
    else if (must_read_back(landing, i, fault))
        weir_landing_steer(landing, i, WEIR_COURSE_READ_BACK);
    else if (is_doubtful(landing, i, fault, class_))
        weir_landing_steer(landing, i, WEIR_COURSE_WHEN_CLEAR);
    else
        reject(landing, i, fault);
}

/* --- writes ----------------------------------------------------------------------------------- */

/* Forbidden: for want of a privilege, or because of a user that is not the connection's own: the
 * one on whose behalf it is written, or one that a row names. */
static bool is_denial(const struct weir_verdict *verdict, enum weir_fault_kind fault)
{
    return verdict->class_ == WEIR_CLASS_PRIVILEGE ||
           (verdict->class_ == WEIR_CLASS_BAD_CREDENTIALS && fault == WEIR_FAULT_USER);
}

static void count_verdict(struct weir_landing *landing, const struct weir_verdict *verdict,
                          enum weir_fault_kind fault, uint32_t rows)
{
    landing->done_rows += verdict->class_ == WEIR_CLASS_OK ? rows : 0;
    landing->denied_rows += is_denial(verdict, fault) ? rows : 0;
}

static void count_verdicts(struct weir_landing *landing)
{
    const struct weir_report *report = landing->report;
    if (!report->items) {
        count_verdict(landing, &report->answer.verdict, report->fault, landing->load->row_count);
        return;
    }
    for (uint32_t i = 0; i < report->item_count; i++)
        count_verdict(landing, &report->items[i].verdict, report->items[i].fault, 1);
}

/* An elastic table names the rows that failed, but not why: asked by itself the row is told. */
static bool is_wordless(const struct weir_landing *landing, const struct weir_report_item *item)
{
    return landing->load->mode == WEIR_LOAD_BULK && item->verdict.code == 0 &&
           item->fault == WEIR_FAULT_NONE;
}

static void read_item(struct weir_landing *landing, uint32_t i, const struct weir_report_item *item)
{
    const struct weir_verdict *verdict = &item->verdict;
    bool unknown = verdict->outcome == WEIR_OUTCOME_UNKNOWN;
    if (unknown)
        taint(landing, i);
    switch (verdict->class_) {
    case WEIR_CLASS_OK:
        done_row(landing, i, item);
        break;
    case WEIR_CLASS_THROTTLE:
        weir_landing_steer(landing, i, WEIR_COURSE_AGAIN);
        break;
    case WEIR_CLASS_TRANSIENT:
    case WEIR_CLASS_RACE:
        weir_landing_later(landing, i, verdict->class_);
        break;
    case WEIR_CLASS_BAD_CREDENTIALS:
    case WEIR_CLASS_PRIVILEGE:
        if (is_denial(verdict, item->fault))
            weir_landing_deny(landing, i, item);
        else
            weir_landing_later(landing, i, verdict->class_);
        break;
    default:
        landing->bad_row = true;
        if (unknown)
            weir_landing_later(landing, i, WEIR_CLASS_TRANSIENT);
        else if (is_wordless(landing, item))
            weir_landing_steer(landing, i, WEIR_COURSE_SINGLES);
        else
            weir_landing_fail(landing, i, item);
        break;
    }
}

/* A bulk message failed as a whole: the rows go on one by one, or are looked for first. */
static void take_apart(struct weir_landing *landing)
{
    landing->whole_bad = true;
    weir_landing_forget_refusers(landing);
    for (uint32_t i = 0; i < landing->load->row_count; i++) {
        if (!must_read_back(landing, i, landing->report->fault)) {
            weir_landing_steer(landing, i, WEIR_COURSE_SINGLES);
            continue;
        }
        weir_executor_blame(landing->load, i, landing->report, NULL, false);
        weir_landing_steer(landing, i, WEIR_COURSE_READ_BACK);
    }
}

static void read_refusal(struct weir_landing *landing)
{
    struct weir_load *load = landing->load;
    const struct weir_report *report = landing->report;
    bool unknown = report->answer.verdict.outcome == WEIR_OUTCOME_UNKNOWN;
    /* Nobody's error in particular: a gateway, a page. */
    bool blames_nobody =
        report->answer.verdict.class_ == WEIR_CLASS_OTHER && report->fault == WEIR_FAULT_NONE;
    if (load->mode == WEIR_LOAD_BULK &&
        (report->fault == WEIR_FAULT_BULK_DISABLED || report->fault == WEIR_FAULT_UNSUPPORTED)) {
        landing->executor->plan.bulk = false;
        weir_landing_steer_all(landing, WEIR_COURSE_SINGLES);
    } else if (load->mode ==
               WEIR_LOAD_BULK) { /* one row, too: it may be the message that is wrong */
        take_apart(landing);
    } else if (load->row_count > 1) {
        weir_landing_steer_all(landing, WEIR_COURSE_HALVES);
    } else if (unknown || blames_nobody) {
        weir_landing_later(landing, 0, WEIR_CLASS_TRANSIENT);
    } else {
        landing->whole_bad = true;
        weir_landing_fail(landing, 0, NULL);
    }
}

/* An elastic table has no transaction: what failed as a whole may have begun. */
static bool may_have_begun(const struct weir_landing *landing)
{
    const struct weir_verdict *verdict = &landing->report->answer.verdict;
    return landing->executor->plan.elastic && landing->load->mode == WEIR_LOAD_BULK &&
           verdict->class_ != WEIR_CLASS_OK && verdict->class_ != WEIR_CLASS_THROTTLE &&
           verdict->class_ != WEIR_CLASS_PRIVILEGE &&
           verdict->class_ != WEIR_CLASS_BAD_CREDENTIALS && verdict->http_status != 0;
}

static void read_whole(struct weir_landing *landing)
{
    const struct weir_report *report = landing->report;
    const struct weir_verdict *verdict = &report->answer.verdict;
    bool unknown = verdict->outcome == WEIR_OUTCOME_UNKNOWN || may_have_begun(landing);
    for (uint32_t i = 0; unknown && i < landing->load->row_count; i++)
        taint(landing, i);
    switch (verdict->class_) {
    case WEIR_CLASS_OK:
        done_all(landing);
        break;
    case WEIR_CLASS_THROTTLE:
    case WEIR_CLASS_UNSENT:
        weir_landing_steer_all(landing, WEIR_COURSE_AGAIN);
        break;
    case WEIR_CLASS_TRANSIENT:
        if (report->timed_out)
            weir_landing_halve(landing, verdict->class_);
        else
            weir_landing_all_later(landing, verdict->class_);
        break;
    case WEIR_CLASS_RACE:
        weir_landing_all_later(landing, verdict->class_);
        break;
    case WEIR_CLASS_BAD_CREDENTIALS:
    case WEIR_CLASS_PRIVILEGE:
        if (verdict->class_ == WEIR_CLASS_PRIVILEGE ||
            (is_denial(verdict, report->fault) && !report->broken))
            weir_landing_deny_all(landing);
        else
            weir_landing_refused(landing);
        break;
    case WEIR_CLASS_TOO_BIG:
        if (landing->load->row_count > 1 || unknown)
            weir_landing_halve(landing, WEIR_CLASS_TRANSIENT);
        else
            weir_landing_fail(landing, 0, NULL);
        break;
    default:
        read_refusal(landing);
        break;
    }
}

void weir_landing_read_write(struct weir_landing *landing)
{
    count_verdicts(landing);
    if (!landing->report->items) {
        read_whole(landing);
    } else if (landing->denied_rows == landing->load->row_count) {
        weir_landing_deny_all(landing);
    } else {
        for (uint32_t i = 0; i < landing->load->row_count; i++)
            read_item(landing, i, &landing->report->items[i]);
    }
}
