/* SPDX-License-Identifier: MIT */
/*
 * One pass after the other; see job_parts.h.
 *
 *     a pass is over ─▶ every row finished in it, or rejected? ─ no ─▶ the run is over
 *                                   │ yes
 *     notes: all was read, the next pass ─▶ files opened again ─▶ intake, driver, feed
 *
 * The notes are in the journal before anything of the new pass is: a later run that finds one of
 * its records knows that the pass before it is complete.
 */
#include <stdio.h>

#include "base/error.h"
#include "bulk/job_parts.h"

unsigned weir_job_pass_place(const struct weir_job *job, enum weir_pass pass)
{
    unsigned place = 0;
    for (int i = WEIR_PASS_ROWS; job->reader && i < (int)pass; i++)
        place += weir_mapping_has_pass(job->mapping, (enum weir_pass)i);
    return place;
}

unsigned weir_job_pass_count(const struct weir_job *job)
{
    return weir_job_pass_place(job, job->last_pass) + 1;
}

/* --- the pass under way ----------------------------------------------------------------------- */

struct weir_intake *weir_job_new_intake(struct weir_job *job)
{
    struct weir_intake_options options = {
        .packer = weir_job_packer_options(job),
        .queue_bytes_max = job->options.memory_bytes_max - job->plan.memory_bytes_max,
        .tainted_through = job->plan.tainted_through,
        .ready = weir_job_on_ready,
        .ctx = job,
    };
    return weir_intake_new(&options);
}

struct weir_driver_pass weir_job_driver_pass(const struct weir_job *job)
{
    return (struct weir_driver_pass){
        .plan = &job->plan,
        .requests = &job->requests,
        .intake = job->intake,
        .reach = job->reach,
    };
}

enum weir_status weir_job_start_feed(struct weir_job *job, const struct weir_journal_view *view,
                                     struct weir_error *err)
{
    struct weir_feed_options feed = {
        .reader = job->reading,
        .mapping = job->mapping,
        .pass = job->pass,
        .intake = job->intake,
        .view = view,
        .rows_max = job->options.rows_max,
        .only_pass = weir_job_reads_streams(job),
    };
    return weir_feed_new(&feed, &job->feed, err);
}

/* --- notes ------------------------------------------------------------------------------------ */

enum weir_status weir_job_add_note(struct weir_job *job, const char *name, const char *text,
                                   struct weir_error *err)
{
    struct weir_note note = { weir_str_from(name), weir_str_from(text) };
    return weir_journal_add_note(job->journal, &note, NULL, err);
}

enum weir_status weir_job_note_read(struct weir_job *job, bool complete, struct weir_error *err)
{
    char text[48];
    uint64_t read = weir_job_last_row(job);
    snprintf(text, sizeof(text), "%llu%s",
             (unsigned long long)(read > job->read_before ? read : job->read_before),
             complete ? " complete" : "");
    return weir_job_add_note(job, WEIR_READ_NOTE, text, err);
}

static enum weir_status note_pass(struct weir_job *job, enum weir_pass pass, struct weir_error *err)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", (int)pass);
    enum weir_status status = weir_job_note_read(job, true, err);
    return status ? status : weir_job_add_note(job, WEIR_PASS_NOTE, text, err);
}

/* --- the next one ----------------------------------------------------------------------------- */

/* Every row of the input is finished in the pass that is over, or rejected. */
static bool is_complete(struct weir_job *job, const struct weir_driver_view *view)
{
    const uint64_t *fates = view->result.fates;
    return !view->result.ends && !view->stopping && !view->broken_input.status &&
           !view->rows_left_behind && weir_job_is_complete(job) && fates[WEIR_FATE_UNKNOWN] == 0 &&
           fates[WEIR_FATE_NOT_SENT] == 0;
}

static enum weir_pass pass_after(const struct weir_job *job)
{
    int pass = job->pass + 1;
    while (!weir_mapping_has_pass(job->mapping, (enum weir_pass)pass))
        pass++;
    return (enum weir_pass)pass;
}

/* What is counted from here on is of the next pass. */
static void carry_over(struct weir_job *job, const struct weir_driver_view *view)
{
    const uint64_t *fates = view->result.fates;
    uint64_t read = weir_job_last_row(job);
    job->read_before = read > job->read_before ? read : job->read_before;
    job->rejected_before += job->before.rejected + fates[WEIR_FATE_REJECTED];
    if (job->pass == WEIR_PASS_ROWS)
        job->skipped_before = job->before.skipped + fates[WEIR_FATE_SKIPPED];
    job->before = (struct weir_pass_totals){ 0 };
}

/* The reader is the pass's from now on; what the one before had goes. */
static enum weir_status change_pass(struct weir_job *job, enum weir_pass pass,
                                    struct weir_reader *reader, const struct weir_driver_view *view,
                                    struct weir_error *err)
{
    struct weir_reader *read = job->reading;
    struct weir_intake *intake = job->intake;
    carry_over(job, view);
    weir_feed_free(job->feed);
    job->feed = NULL;
    job->pass = pass;
    job->reading = reader;
    if (read != job->reader)
        weir_reader_free(read);
    weir_job_make_plan(job, pass);
    job->reach = 0;
    job->intake = weir_job_new_intake(job);
    struct weir_driver_pass driver = weir_job_driver_pass(job);
    enum weir_status status = weir_driver_next_pass(job->driver, &driver, err);
    weir_intake_free(intake);
    return status;
}

static void set_over(struct weir_job *job, bool over)
{
    pthread_mutex_lock(&job->lock);
    job->over = over;
    pthread_mutex_unlock(&job->lock);
}

/* True: it has begun, and whatever became of its feed, it will be over. */
static bool begin_pass(struct weir_job *job, enum weir_pass pass, struct weir_reader *reader,
                       const struct weir_driver_view *view, struct weir_error *err)
{
    struct weir_journal_view now = weir_journal_view_now(job->journal);
    struct weir_error why = { 0 };
    set_over(job, false);
    pthread_mutex_lock(&job->pass_lock);
    bool begun = change_pass(job, pass, reader, view, err) == WEIR_OK;
    if (begun && weir_job_start_feed(job, &now, &why) != WEIR_OK)
        weir_job_call_off(job, &why);
    pthread_mutex_unlock(&job->pass_lock);
    if (!begun)
        set_over(job, true);
    return begun;
}

bool weir_job_next_pass(struct weir_job *job)
{
    struct weir_driver_view view;
    struct weir_reader *reader = NULL;
    if (!job->feed || job->pass_failure.status || job->pass == job->last_pass)
        return false;
    weir_feed_join(job->feed);
    weir_driver_view(job->driver, &view);
    if (!is_complete(job, &view))
        return false;
    struct weir_error *err = &job->pass_failure;
    enum weir_pass pass = pass_after(job);
    enum weir_status status = note_pass(job, pass, err);
    if (!status) {
        struct weir_journal_view now = weir_journal_view_now(job->journal);
        status = weir_job_reopen_files(job, &now, pass, -1, &reader, err);
    }
    return !status && begin_pass(job, pass, reader, &view, err);
}
