/* SPDX-License-Identifier: MIT */
/* How a job stands while it runs; see job_parts.h. Any thread. */
#include <stdio.h>

#include "base/clock.h"
#include "bulk/job_parts.h"

/* What the pass under way and the driver say, of the same moment. */
struct standing {
    struct weir_driver_view view;
    struct weir_feed_position position; /* of rows that are handed in: without offsets */
    enum weir_pass pass;
    struct weir_pass_totals totals; /* of the pass, all runs together */
    uint64_t rejected_before;
    uint64_t skipped_before;
    uint64_t read;
};

static struct standing stand(struct weir_job *job)
{
    struct standing it = { 0 };
    pthread_mutex_lock(&job->pass_lock);
    it.position = weir_job_position(job);
    weir_driver_view(job->driver, &it.view);
    const uint64_t *fates = it.view.result.fates;
    it.pass = job->pass;
    it.totals = (struct weir_pass_totals){
        .done = job->before.done + fates[WEIR_FATE_DONE],
        .absent = job->before.absent + fates[WEIR_FATE_ABSENT],
        .skipped = job->before.skipped + fates[WEIR_FATE_SKIPPED],
        .rejected = job->before.rejected + fates[WEIR_FATE_REJECTED],
    };
    it.rejected_before = job->rejected_before;
    it.skipped_before = job->skipped_before;
    it.read = it.position.last_row > job->read_before ? it.position.last_row : job->read_before;
    pthread_mutex_unlock(&job->pass_lock);
    return it;
}

/* --- rows ------------------------------------------------------------------------------------- */

static uint64_t ended_in_pass(const struct standing *it)
{
    return it->totals.done + it->totals.absent + it->totals.skipped + it->totals.rejected +
           it->rejected_before;
}

/* Done are rows after their last pass. Those that the first skipped are among them until then. */
static void count_rows(const struct weir_job *job, const struct standing *it,
                       struct weir_job_progress *ret)
{
    uint64_t through = it->totals.done + it->totals.absent;
    uint64_t skipped = it->skipped_before < through ? it->skipped_before : through;
    bool last = it->pass == job->last_pass;
    ret->pass = weir_job_pass_place(job, it->pass) + 1;
    ret->passes = weir_job_pass_count(job);
    ret->pass_ended = ended_in_pass(it);
    ret->read = it->read;
    ret->done = last ? through - skipped : 0;
    ret->skipped = last ? it->totals.skipped + skipped : 0;
    ret->rejected = it->totals.rejected + it->rejected_before;
    ret->in_flight = it->view.rows_in_flight;
}

/* --- the rest --------------------------------------------------------------------------------- */

/* Bytes of the input before the place that was read up to. */
static uint64_t bytes_read(struct weir_job *job, const struct standing *it)
{
    uint64_t bytes = it->position.offset;
    for (uint32_t i = 0; job->reader && i < it->position.file; i++)
        bytes += weir_reader_identities(job->reader)[i].bytes;
    return bytes;
}

static uint64_t ended_now(const struct standing *it)
{
    const uint64_t *fates = it->view.result.fates;
    return fates[WEIR_FATE_DONE] + fates[WEIR_FATE_ABSENT] + fates[WEIR_FATE_SKIPPED] +
           fates[WEIR_FATE_REJECTED];
}

/* Each pass has as many rows as the input, and reads as many bytes. */
static void look_ahead(struct weir_job *job, const struct standing *it,
                       struct weir_job_progress *ret)
{
    unsigned before = ret->pass - 1;
    uint64_t bytes_total = (uint64_t)job->bytes_total;
    bool known = it->position.complete || before;
    struct weir_progress_view rest = {
        .rows_total = known ? it->read : 0,
        .rows_read = it->position.last_row,
        .bytes_read = bytes_read(job, it),
        .bytes_total = bytes_total,
        .rows_known = it->read,
        .rows_ended = ret->pass_ended,
        .passes_after = ret->passes - ret->pass,
        .rows_max = job->options.rows_max,
        .rows_ended_now = ended_now(it),
        .throttled_for_us = (int64_t)(ret->throttled_for_s * WEIR_US_PER_S),
    };
    double share = bytes_total ? (double)rest.bytes_read / (double)bytes_total : 0;
    ret->read_share = bytes_total ? (before + share) / ret->passes : -1;
    ret->eta_s = it->view.stopping ? -1 : weir_driver_eta_s(job->driver, &rest);
}

static void name_trouble(const struct standing *it, struct weir_job_progress *ret)
{
    bool stuck = it->view.rows_per_second <= 0 && ret->throttled_for_s <= 0;
    const struct weir_error *why = it->view.refusal.status ? &it->view.refusal : &it->view.trouble;
    snprintf(ret->trouble, sizeof(ret->trouble), "%.*s",
             stuck && why->status ? (int)sizeof(ret->trouble) - 1 : 0, why->message);
}

/* Between two passes one is over and the job is not. */
static bool is_over(struct weir_job *job)
{
    pthread_mutex_lock(&job->lock);
    bool over = job->over && (job->run_over || job->last_pass == WEIR_PASS_ROWS);
    pthread_mutex_unlock(&job->lock);
    return over;
}

void weir_job_progress(struct weir_job *job, struct weir_job_progress *ret)
{
    struct standing it = stand(job);
    int64_t now_us = weir_clock_now_us();
    int64_t throttled_us = it.view.all_throttled_until_us - now_us;
    *ret = (struct weir_job_progress){
        .rows_per_second = it.view.rows_per_second,
        .elapsed_s = (double)(now_us - job->begun_us) / WEIR_US_PER_S,
        .throttled_for_s = throttled_us > 0 ? (double)throttled_us / WEIR_US_PER_S : 0,
        .pool = it.view.pool,
        .requests_in_flight = it.view.requests_in_flight,
        .stopping = it.view.stopping,
        .over = is_over(job),
    };
    count_rows(job, &it, ret);
    look_ahead(job, &it, ret);
    name_trouble(&it, ret);
}

/* --- connections ------------------------------------------------------------------------------ */

void weir_job_rate_stats(struct weir_job *job, size_t connection,
                         struct weir_adaptive_rate_stats *ret)
{
    struct weir_driver_connection it = { 0 };
    if (connection < job->settings.connection_count)
        weir_driver_connection(job->driver, (uint32_t)connection, &it);
    *ret = it.rate;
}

size_t weir_job_connection_count(const struct weir_job *job)
{
    return job->settings.connection_count;
}

/* From now until then in seconds; 0: it is past. */
static double ahead_s(int64_t moment_us, int64_t now_us)
{
    return moment_us > now_us ? (double)(moment_us - now_us) / WEIR_US_PER_S : 0;
}

static struct weir_job_budget budget(const struct weir_budget_seen *seen, double unit)
{
    if (!seen->known)
        return (struct weir_job_budget){ .remaining = -1 };
    return (struct weir_job_budget){ (double)seen->remaining / unit, (double)seen->most / unit };
}

void weir_job_connection(struct weir_job *job, size_t connection, struct weir_job_connection *ret)
{
    struct weir_driver_connection it;
    weir_driver_connection(job->driver, (uint32_t)connection, &it);
    int64_t now_us = weir_clock_now_us();
    *ret = (struct weir_job_connection){
        .name = job->settings.connections[connection].name,
        .requests = it.result.requests,
        .rows_done = it.result.rows_done,
        .throttles = it.result.throttles,
        .throttled_for_s = ahead_s(it.reopening_us, now_us),
        .broken_for_s = ahead_s(it.breaker_until_us, now_us),
        .set_aside = it.set_aside,
        .requests_budget = budget(&it.requests_budget, 1),
        .execution_budget = budget(&it.execution_budget, (double)WEIR_US_PER_S),
        .in_flight = it.in_flight,
        .level = it.cap,
        .bound_by = it.rate.bound_by,
    };
}

char *weir_job_refusal(struct weir_job *job, size_t connection)
{
    return weir_driver_refusal(job->driver, (uint32_t)connection);
}

void weir_job_experience(struct weir_job *job, size_t connection, struct weir_job_experience *ret)
{
    struct weir_driver_connection it;
    weir_driver_connection(job->driver, (uint32_t)connection, &it);
    *ret = (struct weir_job_experience){
        .throttle_wait_s = (double)it.backoff_us / WEIR_US_PER_S,
        .latency = it.result.latency,
    };
    for (int kind = 0; kind <= WEIR_THROTTLE_OTHER; kind++)
        ret->throttles_by_kind[kind] = it.result.throttles_by_kind[kind];
}
