/* SPDX-License-Identifier: MIT */
/*
 * The run of a job; see job.h and job_parts.h.
 *
 *     caller's thread        reader's thread        loop thread        journal's thread
 *     begin ───────────────▶ feed ────────────────▶ driver ──────────▶ journal
 *     wait, or add           (rows from files)        │
 *     finish ◀──────────────────────────────────── over
 */
#include "bulk/job.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "journal/export.h"

/* --- callbacks -------------------------------------------------------------------------------- */

static void on_durable(void *ctx, uint64_t serial)
{
    struct weir_job *job = ctx;
    weir_driver_durable(job->driver, serial);
}

static void on_failed(void *ctx, const struct weir_error *err)
{
    struct weir_job *job = ctx;
    weir_driver_journal_failed(job->driver, err);
}

/* Nothing is given to the journal before there is a driver. */
struct weir_journal_watch weir_job_watch(struct weir_job *job)
{
    return (struct weir_journal_watch){ on_durable, on_failed, job };
}

void weir_job_on_ready(void *ctx)
{
    struct weir_job *job = ctx;
    weir_driver_wake(job->driver);
}

/* A feed that waits for a stream is told; there are none if it is read more than once. */
static void on_over(void *ctx)
{
    struct weir_job *job = ctx;
    if (job->stop_fds[1] >= 0 && job->last_pass == WEIR_PASS_ROWS) {
        ssize_t written = write(job->stop_fds[1], "", 1);
        (void)written; /* a pipe that was never written to has room */
    }
    pthread_mutex_lock(&job->lock);
    job->over = true;
    pthread_cond_broadcast(&job->ended);
    pthread_mutex_unlock(&job->lock);
}

/* --- begin ------------------------------------------------------------------------------------ */

static enum weir_status make_driver(struct weir_job *job, struct weir_error *err)
{
    job->intake = weir_job_new_intake(job);
    struct weir_driver_options driver = {
        .client = job->client,
        .settings = &job->settings,
        .journal = job->journal,
        .pass = weir_job_driver_pass(job),
        .sizes = &job->sizes,
        .throttles_before = job->throttles_before,
        .deadline_us = job->deadline_us,
        .over = on_over,
        .ctx = job,
    };
    driver.pass.view = job->resumed ? weir_journal_view(job->journal) : NULL;
    return weir_driver_new(&driver, &job->driver, err);
}

void weir_job_call_off(struct weir_job *job, const struct weir_error *why)
{
    job->input_over = true;
    weir_intake_end(job->intake, why->status, why);
}

static enum weir_status start_reading(struct weir_job *job, struct weir_error *err)
{
    if (!job->reader)
        return weir_job_begin_rows(job, err);
    return weir_job_start_feed(job, job->resumed ? weir_journal_view(job->journal) : NULL, err);
}

enum weir_status weir_job_begin(struct weir_job *job, struct weir_error *err)
{
    struct weir_error why = { 0 };
    enum weir_status status = WEIR_OK;
    job->begun_us = weir_clock_now_us();
    if (job->journal)
        weir_export_revoke(job->journal);
    else
        status = weir_job_make_journal(job, err);
    if (!status)
        status = make_driver(job, err);
    if (status)
        return status;
    weir_job_note_tables(job);
    weir_driver_start(job->driver);
    status = start_reading(job, &why);
    if (status)
        weir_job_call_off(job, &why);
    if (status && err)
        *err = why;
    return status;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* For the end of the pass under way. */
static bool wait_for_pass(struct weir_job *job, int64_t until_us)
{
    int64_t left_us;
    pthread_mutex_lock(&job->lock);
    while (!job->over && (left_us = until_us - weir_clock_now_us()) > 0) {
        struct timespec deadline;
        weir_clock_deadline(left_us, &deadline);
        pthread_cond_timedwait(&job->ended, &job->lock, &deadline);
    }
    bool over = job->over;
    pthread_mutex_unlock(&job->lock);
    return over;
}

static void note_end(struct weir_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->run_over = true;
    pthread_mutex_unlock(&job->lock);
}

/* Whoever waits begins the next pass. */
bool weir_job_wait(struct weir_job *job, int64_t timeout_us)
{
    int64_t until_us = weir_time_add(weir_clock_now_us(), timeout_us);
    while (wait_for_pass(job, until_us)) {
        if (!weir_job_next_pass(job)) {
            note_end(job);
            return true;
        }
    }
    return false;
}

void weir_job_stop(struct weir_job *job)
{
    weir_driver_stop(job->driver, WEIR_END_INTERRUPT);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void note_sizes(struct weir_job *job)
{
    struct weir_sizes sizes;
    char text[WEIR_SIZES_TEXT_MAX];
    weir_driver_sizes(job->driver, &sizes);
    weir_sizes_print(&sizes, text);
    if (text[0])
        weir_job_add_note(job, WEIR_SIZES_NOTE, text, NULL);
}

/* What a later run has to know. A failure is latched by the journal, and told. */
static void leave_notes(struct weir_job *job)
{
    struct weir_driver_view view;
    struct weir_block block;
    char name[WEIR_REACH_NAME_MAX], text[24];
    weir_driver_view(job->driver, &view);
    bool right = view.broken_input.status == WEIR_OK; /* what is wrong leaves no trace */
    if (right && (job->reader ? weir_reader_partial_block(job->reading, &block)
                              : weir_job_rows_block(job, &block))) {
        struct weir_input_block entry = { block.file, block.index, block.bytes, block.last,
                                          block.hash };
        weir_journal_add_block(job->journal, &entry, NULL, NULL);
    }
    weir_job_note_read(job, job->pass != WEIR_PASS_ROWS || weir_job_is_complete(job), NULL);
    weir_reach_name(job->pass, name);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)weir_job_taint(job, &view));
    weir_job_add_note(job, name, text, NULL);
    note_sizes(job);
    weir_driver_note_lessons(job->driver);
}

/* The threads of the run are gone when this returns. */
static void end_run(struct weir_job *job)
{
    weir_job_end_rows(job);
    weir_job_wait(job, WEIR_FOREVER);
    weir_feed_join(job->feed);
    if (!job->feed)
        return;
    pthread_mutex_lock(&job->lock);
    job->limited = weir_feed_position(job->feed).limited;
    pthread_mutex_unlock(&job->lock);
}

enum weir_status weir_job_finish(struct weir_job *job, struct weir_job_result *ret,
                                 struct weir_error *err)
{
    struct weir_error failure = { 0 };
    end_run(job);
    leave_notes(job);
    enum weir_status journal = weir_journal_finish(job->journal, &failure);
    enum weir_status unread = weir_job_sum_up(job, ret, journal ? NULL : &failure);
    journal = journal ? journal : unread;
    if (journal)
        ret->ends |= WEIR_END_JOURNAL;
    enum weir_status status = weir_export_all(job->journal, journal ? NULL : &failure);
    if (journal || status)
        ret->exit_code = WEIR_EXIT_LOCAL_IO;
    struct weir_error summary;
    enum weir_status summed = weir_job_write_summary(job, ret, &summary);
    if (summed && !status && !journal) {
        failure = summary;
        status = summed;
        ret->exit_code = WEIR_EXIT_LOCAL_IO;
    }
    job->finished = true;
    weir_job_explain(job, ret, &failure);
    if (err && status && !journal)
        *err = failure;
    return journal ? WEIR_OK : status;
}

bool weir_job_result_can_resume(const struct weir_job_result *result)
{
    bool unfinished = result->ends || result->exit_code > WEIR_EXIT_REJECTED_ROWS;
    return unfinished && !(result->ends & WEIR_END_DAMAGED);
}

void weir_job_free(struct weir_job *job)
{
    if (!job)
        return;
    if (job->driver && !job->finished) {
        weir_driver_stop(job->driver, WEIR_END_INTERRUPT);
        end_run(job);
    }
    weir_feed_free(job->feed);
    if (job->journal)
        weir_journal_finish(job->journal, NULL);
    weir_driver_free(job->driver);
    weir_intake_free(job->intake);
    weir_job_release_rows(job);
    weir_journal_free(job->journal);
    weir_job_release_preparations(job);
}

/* --- both at once ----------------------------------------------------------------------------- */

static enum weir_status begin_or_free(struct weir_job *job, struct weir_job **ret,
                                      struct weir_error *err)
{
    enum weir_status status = weir_job_begin(job, err);
    if (status)
        weir_job_free(job);
    else
        *ret = job;
    return status;
}

enum weir_status weir_job_new(struct weir_client *client, const struct weir_job_options *options,
                              struct weir_job **ret, struct weir_error *err)
{
    struct weir_job *job;
    enum weir_status status = weir_job_prepare(client, options, NULL, NULL, &job, err);
    return status ? status : begin_or_free(job, ret, err);
}

enum weir_status weir_job_resume(struct weir_client *client, const struct weir_job_options *options,
                                 struct weir_job **ret, struct weir_error *err)
{
    struct weir_job *job;
    enum weir_status status = weir_job_prepare_again(client, options, false, -1, NULL, &job, err);
    if (status)
        return status;
    if (job->path_count) {
        weir_job_free(job);
        return weir_fail(err, WEIR_E_INVALID,
                         "the job reads files: it is resumed with the command, not by hand");
    }
    return begin_or_free(job, ret, err);
}
