/* SPDX-License-Identifier: MIT */
/* From an answer to new loads, and what the job learns on the way; see landing.h. */
#include "bulk/landing.h"

#include <assert.h>

#include "base/clock.h"
#include "base/mem.h"

/* Waits that double from the first to the longest, as of a single request (throttle/attempt.c). */
#define TRANSIENT_FIRST_US   (1 * WEIR_US_PER_S)
#define TRANSIENT_LONGEST_US (30 * WEIR_US_PER_S)
#define RACE_FIRST_US        (500 * WEIR_US_PER_MS)
#define RACE_LONGEST_US      (2 * WEIR_US_PER_S)

/* A $batch where there is no bulk message should not take longer. */
#define SINGLES_LONG_US (30 * WEIR_US_PER_S)

/* While nobody gets there each connection is tried again after so long, however often it failed. */
#define TRIED_AGAIN_US (30 * WEIR_US_PER_S)

void weir_landing_steer(struct weir_landing *landing, uint32_t i, enum weir_course course)
{
    landing->courses[i] = (uint8_t)course;
    landing->counts[course]++;
}

void weir_landing_steer_all(struct weir_landing *landing, enum weir_course course)
{
    memset(landing->courses, (int)course, landing->load->row_count);
    landing->counts[course] += landing->load->row_count;
}

/* --- rows ------------------------------------------------------------------------------------- */

void weir_executor_end_row(struct weir_executor *executor, struct weir_batch *batch, uint32_t row,
                           enum weir_fate fate)
{
    struct weir_row_state *state = &batch->states[row];
    bool durable = fate != WEIR_FATE_UNKNOWN && fate != WEIR_FATE_NOT_SENT;
    if (durable && executor->result.ends & WEIR_END_JOURNAL) { /* a later run will not know of it */
        bool executed = fate == WEIR_FATE_DONE && !batch->rows[row].idle;
        durable = false;
        fate = executed || state->tainted ? WEIR_FATE_UNKNOWN : WEIR_FATE_NOT_SENT;
    }
    state->fate = fate;
    batch->open_rows--;
    executor->rejected += fate == WEIR_FATE_REJECTED;
    executor->ended++;
    if (durable) {
        weir_outbox_add(&executor->outbox, batch, row, fate);
        return;
    }
    batch->lapsed = true;
    executor->result.fates[fate]++;
}

void weir_landing_end(struct weir_landing *landing, uint32_t i, enum weir_fate fate)
{
    struct weir_load *load = landing->load;
    weir_executor_end_row(landing->executor, load->batch, load->rows[i], fate);
    weir_landing_steer(landing, i, WEIR_COURSE_OVER);
}

void weir_landing_end_all(struct weir_landing *landing, enum weir_fate fate)
{
    struct weir_load *load = landing->load;
    for (uint32_t i = 0; i < load->row_count; i++)
        weir_executor_end_row(landing->executor, load->batch, load->rows[i], fate);
    weir_landing_steer_all(landing, WEIR_COURSE_OVER);
}

/* --- failures that pass ----------------------------------------------------------------------- */

void weir_landing_later(struct weir_landing *landing, uint32_t i, enum weir_class class_)
{
    landing->race |= class_ == WEIR_CLASS_RACE;
    landing->refusal |= class_ == WEIR_CLASS_BAD_CREDENTIALS;
    landing->transient |= class_ != WEIR_CLASS_RACE && class_ != WEIR_CLASS_BAD_CREDENTIALS;
    weir_landing_steer(landing, i, WEIR_COURSE_LATER);
}

void weir_landing_all_later(struct weir_landing *landing, enum weir_class class_)
{
    for (uint32_t i = 0; i < landing->load->row_count; i++)
        weir_landing_later(landing, i, class_);
}

void weir_landing_halve(struct weir_landing *landing, enum weir_class class_)
{
    if (landing->load->row_count > 1)
        weir_landing_steer_all(landing, WEIR_COURSE_HALVES);
    else
        weir_landing_later(landing, 0, class_);
}

/* The link gets a new token; only a second refusal waits. */
void weir_landing_refused(struct weir_landing *landing)
{
    if (landing->load->refusals) {
        weir_landing_all_later(landing, WEIR_CLASS_BAD_CREDENTIALS);
        return;
    }
    landing->refusal = true;
    weir_landing_steer_all(landing, WEIR_COURSE_AGAIN);
}

static bool is_failure(enum weir_class class_)
{
    return class_ == WEIR_CLASS_TRANSIENT || class_ == WEIR_CLASS_RACE;
}

/* What a $batch has come to: its parts, if none did better than to fail or to be throttled; one
 * that did shows a service. */
static enum weir_class class_of_all(const struct weir_report *report)
{
    enum weir_class all = report->answer.verdict.class_;
    for (uint32_t i = 0; report->items && i < report->item_count; i++) {
        enum weir_class class_ = report->items[i].verdict.class_;
        if (!is_failure(class_) && class_ != WEIR_CLASS_THROTTLE)
            return class_;
        if (i == 0 || is_failure(class_))
            all = class_;
    }
    return all;
}

/* Not too big, and no row is to blame: smaller ones may fail just as well. */
static bool halves_in_doubt(const struct weir_landing *landing)
{
    const struct weir_report *report = landing->report;
    const struct weir_verdict *verdict = &report->answer.verdict;
    bool blames_nobody = verdict->class_ == WEIR_CLASS_OTHER && report->fault == WEIR_FAULT_NONE;
    return landing->counts[WEIR_COURSE_HALVES] &&
           (report->timed_out || blames_nobody || verdict->outcome == WEIR_OUTCOME_UNKNOWN);
}

/* To be throttled ends no row of failures: each is counted apart. */
static void count_none(struct weir_landing *landing)
{
    struct weir_load *load = landing->load;
    if (!landing->done_rows && (load->transients || load->races) &&
        class_of_all(landing->report) == WEIR_CLASS_THROTTLE)
        weir_failing_throttle(&load->failing);
    else
        weir_load_forgive(load);
}

/* A throttle of another load keeps this one waiting just as well. */
static void count_time(struct weir_landing *landing)
{
    const struct weir_executor *executor = landing->executor;
    struct weir_load *load = landing->load;
    int64_t now_us = landing->now_us;
    int64_t begun_us = load->begun_us < now_us ? load->begun_us : now_us;
    if (executor->throttled_us >= load->failing.last_us)
        weir_failing_throttle(&load->failing);
    weir_failing_add(&load->failing, begun_us, executor->plan.max_retry_time_us, now_us);
}

/*
 * Halves of what timed out have all of MaxRetryTime before them, for two requests that run into
 * their time-out use it up and half as many rows take half as long.
 */
static void count_failures(struct weir_landing *landing)
{
    struct weir_load *load = landing->load;
    landing->transient |= halves_in_doubt(landing);
    if (landing->counts[WEIR_COURSE_HALVES] && landing->report->timed_out)
        load->failing = weir_failing_since(landing->now_us);
    if (!landing->transient && !landing->race && !landing->refusal) {
        count_none(landing);
        return;
    }
    load->transients += landing->transient;
    load->races += landing->race;
    load->refusals += landing->refusal;
    if (!landing->refusal)
        count_time(landing);
}

static int64_t span_us(int64_t first_us, int64_t longest_us, int count)
{
    int64_t span = first_us;
    for (int i = 1; i < count && span < longest_us; i++)
        span *= 2;
    return span < longest_us ? span : longest_us;
}

void weir_executor_rest(struct weir_executor *executor, struct weir_load *load, int64_t now_us)
{
    int failures = load->transients + load->refusals + load->unsent;
    int64_t span = failures ? span_us(TRANSIENT_FIRST_US, TRANSIENT_LONGEST_US, failures)
                            : span_us(RACE_FIRST_US, RACE_LONGEST_US, load->races);
    double chance = weir_rng_unit(&executor->rng);
    int64_t limit_us = executor->plan.max_retry_time_us;
    if (weir_failing_for_us(&load->failing, limit_us, now_us) >= limit_us) {
        weir_executor_give_up(executor, load, now_us);
        return;
    }
    load->due_us = now_us + (int64_t)((double)span * (0.5 + 0.5 * chance));
    weir_loads_move(&executor->loads, load, WEIR_LOAD_RESTING);
}

/* --- cutting up ------------------------------------------------------------------------------- */

static struct weir_load *cut_by_course(struct weir_landing *landing, enum weir_course course)
{
    struct weir_load *load = landing->load;
    struct weir_loads *loads = &landing->executor->loads;
    struct weir_load *part = weir_loads_cut(loads, load, 0, landing->counts[course]);
    uint32_t count = 0;
    for (uint32_t i = 0; i < load->row_count; i++) {
        if (landing->courses[i] == course)
            part->rows[count++] = load->rows[i];
    }
    return part;
}

static void line_up(struct weir_landing *landing, struct weir_load *load)
{
    weir_loads_move(&landing->executor->loads, load, WEIR_LOAD_LINED);
}

static void lead_half_on(struct weir_landing *landing, struct weir_load *half)
{
    if (halves_in_doubt(landing))
        weir_executor_rest(landing->executor, half, landing->now_us);
    else
        line_up(landing, half);
}

static void lead_halves_on(struct weir_landing *landing, struct weir_load *load)
{
    struct weir_loads *loads = &landing->executor->loads;
    uint32_t half = load->row_count / 2;
    if (half)
        lead_half_on(landing, weir_loads_cut(loads, load, 0, half));
    lead_half_on(landing, weir_loads_cut(loads, load, half, load->row_count - half));
    weir_loads_remove(loads, load);
}

static void start_afresh(struct weir_load *load, enum weir_load_mode mode)
{
    load->mode = mode;
    if (mode == WEIR_LOAD_READ_BACK) /* who may not write may read */
        load->avoid = WEIR_NOBODY;
    weir_load_forgive(load);
}

/* Not before so long after the last attempt with an unknown outcome. */
static void rest_after_unknown(struct weir_landing *landing, struct weir_load *load,
                               int64_t span_after_us)
{
    load->due_us = landing->now_us;
    for (uint32_t i = 0; i < load->row_count; i++) {
        const struct weir_row_state *state = weir_load_state(load, i);
        int64_t due_us = state->tainted ? state->unknown_us + span_after_us : 0;
        load->due_us = due_us > load->due_us ? due_us : load->due_us;
    }
    weir_loads_move(&landing->executor->loads, load, WEIR_LOAD_RESTING);
}

static int64_t wait_us(const struct weir_resilience_options *options,
                       const struct weir_verdict *verdict)
{
    if (verdict->class_ != WEIR_CLASS_THROTTLE)
        return 0;
    int64_t told_us = verdict->retry_after_us;
    return (told_us < 0 ? options->fallback_retry_after_us : told_us) +
           options->retry_after_buffer_us;
}

/* What the answer asks for, of the whole request or of rows in it; 0: nothing. */
static int64_t longest_wait_us(const struct weir_landing *landing)
{
    const struct weir_resilience_options *options = &landing->executor->core->resilience;
    const struct weir_report *report = landing->report;
    int64_t longest = wait_us(options, &report->answer.verdict);
    for (uint32_t i = 0; i < report->item_count; i++) {
        int64_t wait = wait_us(options, &report->items[i].verdict);
        longest = wait > longest ? wait : longest;
    }
    return longest;
}

/* At once: a throttled connection is routed around. Where nobody keeps track of them, the load
 * that was throttled waits by itself. */
static void lead_on_again(struct weir_landing *landing, struct weir_load *load)
{
    int64_t wait = longest_wait_us(landing);
    if (landing->executor->core->resilience.enable_throttle_tracking || !wait) {
        line_up(landing, load);
        return;
    }
    load->due_us = weir_time_add(landing->now_us, wait);
    weir_loads_move(&landing->executor->loads, load, WEIR_LOAD_RESTING);
}

static void lead_on(struct weir_landing *landing, struct weir_load *load, enum weir_course course)
{
    switch (course) {
    case WEIR_COURSE_AGAIN:
        lead_on_again(landing, load);
        break;
    case WEIR_COURSE_LATER:
        weir_executor_rest(landing->executor, load, landing->now_us);
        break;
    case WEIR_COURSE_HALVES:
        lead_halves_on(landing, load);
        break;
    case WEIR_COURSE_ELSEWHERE:
        load->avoid = landing->load->lease.connection;
        if (landing->denied)
            load->denied_by = load->avoid;
        line_up(landing, load);
        break;
    case WEIR_COURSE_SINGLES:
        start_afresh(load, WEIR_LOAD_SINGLES);
        line_up(landing, load);
        break;
    case WEIR_COURSE_READ_BACK:
        start_afresh(load, WEIR_LOAD_READ_BACK);
        rest_after_unknown(landing, load, landing->executor->plan.read_back_us);
        break;
    case WEIR_COURSE_WHEN_CLEAR:
        start_afresh(load, load->mode);
        rest_after_unknown(landing, load, landing->executor->plan.late_us);
        break;
    case WEIR_COURSE_OVER:
    case WEIR_COURSE_COUNT:
        assert(false); /* leads nowhere */
    }
}

static void cut_up(struct weir_landing *landing)
{
    struct weir_batch *batch = landing->load->batch;
    for (int course = WEIR_COURSE_OVER + 1; course < WEIR_COURSE_COUNT; course++) {
        if (!landing->counts[course])
            continue;
        struct weir_load *part = cut_by_course(landing, (enum weir_course)course);
        if (weir_executor_is_stopping(landing->executor))
            weir_executor_give_up(landing->executor, part, landing->now_us);
        else
            lead_on(landing, part, (enum weir_course)course);
    }
    weir_loads_remove(&landing->executor->loads, landing->load);
    weir_executor_finish_batch(landing->executor, batch, landing->now_us);
}

/* --- what the job learns ---------------------------------------------------------------------- */

/* Has the service been reached at all? */
static void note_contact(struct weir_executor *executor, uint32_t connection, bool unreachable,
                         int64_t now_us)
{
    executor->unreachable[connection] = unreachable;
    if (!unreachable) {
        executor->contacted = true;
        executor->unreachable_us = WEIR_FOREVER;
        return;
    }
    if (executor->unreachable_us == WEIR_FOREVER)
        executor->unreachable_us = now_us;
    weir_core_hasten(executor->core, TRIED_AGAIN_US, now_us);
}

static void note_failing(struct weir_executor *executor, int64_t now_us)
{
    weir_failing_add(&executor->failing, now_us, executor->plan.max_retry_time_us, now_us);
}

static void note_throttle(struct weir_executor *executor, int64_t now_us)
{
    executor->throttled_us = now_us;
    weir_failing_throttle(&executor->failing);
}

/* Does the service do anything at all? To throttle tells nothing; what took too long may be done
 * with fewer rows. */
static void note_service(struct weir_landing *landing)
{
    struct weir_executor *executor = landing->executor;
    const struct weir_report *report = landing->report;
    enum weir_class class_ = class_of_all(report);
    if (report->timed_out && landing->load->row_count > 1)
        return;
    if (is_failure(class_) ||
        (class_ == WEIR_CLASS_OTHER && report->fault == WEIR_FAULT_NONE && !report->items))
        note_failing(executor, landing->now_us);
    else if (class_ == WEIR_CLASS_THROTTLE)
        note_throttle(executor, landing->now_us);
    else if (class_ != WEIR_CLASS_UNSENT && class_ != WEIR_CLASS_BAD_CREDENTIALS)
        executor->failing = weir_failing_none();
}

/*
 * Nothing has worked for as long as a load is tried. There is no use in trying the next one as
 * long, and the one after it; if there is none, it was given up as any other.
 */
static void end_if_nothing_works(struct weir_executor *executor, int64_t now_us)
{
    const uint32_t *counts = executor->loads.counts;
    bool has_more = counts[WEIR_LOAD_LINED] || counts[WEIR_LOAD_RESTING] ||
                    counts[WEIR_LOAD_BOARDING] || counts[WEIR_LOAD_FLYING];
    int64_t limit_us = executor->plan.max_retry_time_us;
    if (has_more && !weir_executor_is_stopping(executor) &&
        weir_failing_for_us(&executor->failing, limit_us, now_us) > limit_us)
        weir_executor_stop(executor, WEIR_END_UNREACHABLE, now_us);
}

static void note_history(struct weir_executor *executor, bool bad)
{
    executor->bad_history = executor->bad_history << 1 | bad;
    executor->bad_seen += executor->bad_seen < WEIR_BAD_WINDOW;
}

static void learn_of_write(struct weir_landing *landing)
{
    struct weir_executor *executor = landing->executor;
    struct weir_load *load = landing->load;
    weir_executor_learn_size(executor, load, landing->report,
                             landing->done_rows == load->row_count);
    if (load->mode == WEIR_LOAD_BULK && landing->done_rows)
        executor->warm = true;
    if (load->mode == WEIR_LOAD_BULK && (landing->whole_bad || landing->done_rows))
        note_history(executor, landing->whole_bad);
    if (load->straight && landing->report->items)
        note_history(executor, landing->bad_row);
    weir_landing_learn_of_denials(landing);
    bool is_long = landing->report->answer.duration_us > SINGLES_LONG_US;
    if (load->mode == WEIR_LOAD_SINGLES && !executor->plan.bulk && is_long && load->row_count > 1 &&
        load->row_count <= executor->plan.singles_max)
        executor->plan.singles_max = load->row_count / 2;
}

/* What never came back took no time that anybody could tell. */
static void count_answer(struct weir_connection_result *result, const struct weir_answer *answer)
{
    const struct weir_verdict *verdict = &answer->verdict;
    bool is_throttle = verdict->class_ == WEIR_CLASS_THROTTLE;
    result->throttles += is_throttle;
    result->throttles_by_kind[verdict->throttle] += is_throttle;
    if (verdict->http_status)
        weir_histogram_add(&result->latency, answer->duration_us);
}

static void settle(struct weir_landing *landing)
{
    struct weir_executor *executor = landing->executor;
    const struct weir_verdict *verdict = &landing->report->answer.verdict;
    uint32_t connection = landing->load->lease.connection;
    weir_core_settle(executor->core, &landing->load->lease, &landing->report->answer,
                     landing->now_us);
    weir_executor_land(executor, landing->load);
    note_contact(executor, connection, weir_report_is_unreachable(landing->report),
                 landing->now_us);
    if (landing->report->broken)
        weir_core_set_aside(executor->core, connection, landing->now_us);
    count_answer(&executor->result.connections[connection], &landing->report->answer);
    note_service(landing);
    if (verdict->outcome == WEIR_OUTCOME_UNKNOWN && landing->load->mode != WEIR_LOAD_READ_BACK)
        weir_result_note_late(&executor->result, landing->now_us + executor->plan.late_us);
}

/* A share says little of a few rows, and files are seldom bad all over: until the input has ended
 * it is one of a thousand rows at least. It is one of the rows that were read: those that we refuse
 * ourselves end at once, long before the good ones beside them. */
#define SHARE_ROWS_MIN 1000

static bool has_too_many_errors(const struct weir_executor *executor)
{
    uint64_t rejected = executor->rejected;
    uint64_t before = executor->ended_before;
    uint64_t seen = executor->result.read > before ? executor->result.read : before;
    double share = executor->plan.errors_share_max;
    uint64_t rows = executor->input_ended || seen > SHARE_ROWS_MIN ? seen : SHARE_ROWS_MIN;
    return rejected > executor->plan.errors_max ||
           (share > 0 && (double)rejected > share * (double)rows);
}

void weir_executor_end_early(struct weir_executor *executor, int64_t now_us)
{
    if (has_too_many_errors(executor))
        weir_executor_stop(executor, WEIR_END_ERRORS, now_us);
}

void weir_executor_answered(struct weir_executor *executor, struct weir_load *flight,
                            const struct weir_report *report, int64_t now_us)
{
    struct weir_landing landing = {
        .executor = executor, .load = flight, .report = report, .now_us = now_us
    };
    landing.courses = weir_calloc(flight->row_count, sizeof(*landing.courses));
    settle(&landing);
    if (flight->mode == WEIR_LOAD_READ_BACK)
        weir_landing_read_back(&landing);
    else
        weir_landing_read_write(&landing);
    count_failures(&landing);
    if (flight->mode != WEIR_LOAD_READ_BACK)
        learn_of_write(&landing);
    flight->straight = false;
    if (landing.convicted)
        weir_executor_stop(executor, WEIR_END_CREDENTIALS, now_us);
    if (landing.foreign_id)
        weir_executor_stop(executor, WEIR_END_INTERNAL, now_us);
    cut_up(&landing);
    free(landing.courses);
    weir_executor_end_early(executor, now_us);
    end_if_nothing_works(executor, now_us);
}

void weir_executor_unsent(struct weir_executor *executor, struct weir_load *flight,
                          enum weir_unsent why, int64_t now_us)
{
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    uint32_t connection = flight->lease.connection;
    weir_core_settle(executor->core, &flight->lease, &unsent, now_us);
    weir_executor_land(executor, flight);
    if (why == WEIR_UNSENT_CREDENTIALS)
        weir_core_set_aside(executor->core, connection, now_us);
    else
        note_contact(executor, connection, true, now_us);
    if (why == WEIR_UNSENT_TRANSIENT)
        note_failing(executor, now_us);
    if (weir_executor_is_stopping(executor)) {
        weir_executor_give_up(executor, flight, now_us);
    } else if (why == WEIR_UNSENT_CREDENTIALS) {
        weir_loads_move(&executor->loads, flight, WEIR_LOAD_LINED);
    } else {
        flight->unsent++;
        weir_failing_add(&flight->failing, now_us, executor->plan.max_retry_time_us, now_us);
        weir_executor_rest(executor, flight, now_us);
    }
    end_if_nothing_works(executor, now_us);
}
