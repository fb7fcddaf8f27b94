/* SPDX-License-Identifier: MIT */
/*
 * What has become of a job, over all its runs; see job_parts.h.
 *
 *     read = done + rejected + skipped + unknown + not_sent
 *
 * What is finished stands in the journal. The rest are rows that this run has given up, rows that
 * it has read and not begun, and rows that an earlier run had read and this one did not get to: all
 * of them are `unknown` if a request may have carried them, and `not_sent` if not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "bulk/summary.h"
#include "journal/export.h"

/* Of the rows that are handed in: under the lock. */
static struct weir_feed_position position_of_rows(struct weir_job *job)
{
    pthread_mutex_lock(&job->lock);
    struct weir_feed_position position = {
        .last_row = job->rows,
        .complete = job->input_over && !job->limited,
    };
    pthread_mutex_unlock(&job->lock);
    return position;
}

struct weir_feed_position weir_job_position(struct weir_job *job)
{
    if (!job->reader)
        return position_of_rows(job);
    return job->feed ? weir_feed_position(job->feed) : (struct weir_feed_position){ 0 };
}

uint64_t weir_job_last_row(struct weir_job *job)
{
    return weir_job_position(job).last_row;
}

bool weir_job_is_complete(struct weir_job *job)
{
    return weir_job_position(job).complete;
}

/* What keeps the next pass from being read is wrong with the input, or the journal. */
static void view_run(struct weir_job *job, struct weir_driver_view *ret)
{
    weir_driver_view(job->driver, ret);
    if (!job->pass_failure.status)
        return;
    ret->broken_input = job->pass_failure;
    ret->result.ends |= WEIR_END_INPUT;
    if (job->pass_failure.status == WEIR_E_DAMAGED)
        ret->result.ends |= WEIR_END_DAMAGED;
}

/* Every row that an earlier run may have sent was offered to this one, or is finished. */
static bool has_passed(struct weir_job *job, const struct weir_driver_view *view)
{
    uint64_t tainted = job->plan.tainted_through;
    if (tainted == 0)
        return true;
    return view->rows_left_behind == 0 &&
           (weir_job_is_complete(job) || weir_job_last_row(job) >= tainted);
}

uint64_t weir_job_taint(struct weir_job *job, const struct weir_driver_view *view)
{
    bool known = view->result.fates[WEIR_FATE_UNKNOWN] == 0;
    uint64_t before = has_passed(job, view) ? 0 : job->plan.tainted_through;
    uint64_t now = known ? 0 : view->last_row;
    return now > before ? now : before;
}

/* --- the balance ------------------------------------------------------------------------------ */

struct balance {
    uint64_t read;
    uint64_t done;
    uint64_t absent;
    uint64_t skipped;
    uint64_t rejected;
    uint64_t unknown;
    uint64_t not_sent;
    uint64_t halfway; /* of them */
    bool wrong;
    enum weir_status unread; /* the journal cannot say what it has */
};

static uint64_t finished(const struct weir_pass_totals *totals)
{
    return totals->done + totals->absent + totals->skipped;
}

/* What the journal has: rows are done after the last pass, and rejected in any. */
static void read_totals(struct weir_job *job, struct weir_totals *totals, struct balance *it,
                        struct weir_error *err)
{
    const struct weir_pass_totals *last = &totals->pass[job->last_pass];
    it->unread = weir_journal_totals(job->journal, totals, err);
    if (it->unread)
        *totals = (struct weir_totals){ 0 };
    for (int pass = 0; pass < WEIR_PASSES; pass++)
        it->rejected += totals->pass[pass].rejected;
    it->skipped = last->skipped;
    if (job->last_pass != WEIR_PASS_ROWS && totals->pass[0].skipped) {
        struct weir_journal_view now = weir_journal_view_now(job->journal);
        it->unread = weir_totals_skipped(&now, job->last_pass, &it->skipped, err);
    }
    it->absent = last->absent;
    it->done = finished(last) - it->absent - it->skipped;
}

/* Rows of the pass under way that nobody accounts for; *ret_wrong: nor can that be explained. */
static uint64_t rest_of_pass(struct weir_job *job, const struct weir_driver_view *view,
                             const struct weir_totals *totals, uint64_t read, bool *ret_wrong)
{
    uint64_t known = finished(&totals->pass[job->pass]) + view->result.fates[WEIR_FATE_UNKNOWN] +
                     view->result.fates[WEIR_FATE_NOT_SENT];
    for (int pass = 0; pass <= (int)job->pass; pass++)
        known += totals->pass[pass].rejected;
    uint64_t rest = known < read ? read - known : 0;
    bool explained = rest <= view->rows_left_behind || weir_job_last_row(job) < job->read_before;
    *ret_wrong = known > read || !explained;
    return rest;
}

/* Rows that the first pass has written, and that are neither through the last one nor lost on the
 * way there. */
static uint64_t halfway(const struct weir_job *job, const struct weir_totals *totals,
                        const struct balance *it)
{
    uint64_t written = totals->pass[WEIR_PASS_ROWS].done;
    uint64_t on = it->done + (job->pass == WEIR_PASS_ROWS ? 0 : it->unknown);
    for (int pass = WEIR_PASS_ROWS + 1; pass < WEIR_PASSES; pass++)
        on += totals->pass[pass].rejected;
    uint64_t rows = job->last_pass != WEIR_PASS_ROWS && written > on ? written - on : 0;
    return rows < it->not_sent ? rows : it->not_sent;
}

/* What is not done, rejected, skipped or unknown has a pass before it. */
static struct balance weigh(struct weir_job *job, const struct weir_driver_view *view,
                            struct weir_error *err)
{
    struct balance it = { 0 };
    struct weir_totals totals;
    bool wrong;
    uint64_t last = weir_job_last_row(job);
    uint64_t tainted = job->plan.tainted_through;
    read_totals(job, &totals, &it, err);
    it.read = last > job->read_before ? last : job->read_before;
    uint64_t rest = rest_of_pass(job, view, &totals, it.read, &wrong);
    it.wrong = wrong && !it.unread;
    it.unknown = view->result.fates[WEIR_FATE_UNKNOWN];
    if (view->last_row < tainted || last < tainted)
        it.unknown += rest;
    else
        it.unknown += rest < view->tainted_left_behind ? rest : view->tainted_left_behind;
    uint64_t known = it.done + it.absent + it.skipped + it.rejected + it.unknown;
    it.wrong |= known > it.read && !it.unread;
    it.not_sent = known < it.read ? it.read - known : 0;
    it.halfway = halfway(job, &totals, &it);
    return it;
}

static int exit_code_of(const struct weir_job *job, const struct weir_driver_view *view,
                        const struct balance *balance, bool complete)
{
    struct weir_result result = {
        .read = balance->read,
        .ends = view->result.ends,
    };
    result.fates[WEIR_FATE_DONE] = balance->done;
    result.fates[WEIR_FATE_ABSENT] = balance->absent;
    result.fates[WEIR_FATE_SKIPPED] = balance->skipped;
    result.fates[WEIR_FATE_REJECTED] = balance->rejected;
    result.fates[WEIR_FATE_UNKNOWN] = balance->unknown;
    result.fates[WEIR_FATE_NOT_SENT] = balance->not_sent;
    if (balance->wrong && !(view->result.ends & WEIR_END_JOURNAL))
        result.ends |= WEIR_END_INTERNAL;
    if (job->limited && !complete)
        result.ends |= WEIR_END_LIMIT;
    if (view->broken_input.status == WEIR_E_IO)
        result.ends |= WEIR_END_JOURNAL; /* a disk that fails is a disk that fails */
    return weir_result_exit_code(&result);
}

/* Of all connections together. */
static double throttle_wait_s(struct weir_job *job)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < job->settings.connection_count; i++) {
        struct weir_driver_connection it;
        weir_driver_connection(job->driver, i, &it);
        sum_s += (double)it.backoff_us / WEIR_US_PER_S;
    }
    return sum_s;
}

enum weir_status weir_job_sum_up(struct weir_job *job, struct weir_job_result *ret,
                                 struct weir_error *err)
{
    struct weir_driver_view view;
    view_run(job, &view);
    struct balance balance = weigh(job, &view, err);
    int64_t now_us = weir_clock_now_us();
    int64_t clear_us = view.result.clear_us - now_us;
    *ret = (struct weir_job_result){
        .read = balance.read,
        .done = balance.done + balance.absent,
        .absent = balance.absent,
        .rejected = balance.rejected,
        .skipped = balance.skipped,
        .unknown = balance.unknown,
        .not_sent = balance.not_sent,
        .halfway = balance.halfway,
        .read_to_end = weir_job_is_complete(job) || job->pass != WEIR_PASS_ROWS,
        .ends = view.result.ends | (job->limited ? WEIR_END_LIMIT : 0u),
        .exit_code = exit_code_of(job, &view, &balance, weir_job_is_complete(job)),
        .elapsed_s = (double)(now_us - job->begun_us) / WEIR_US_PER_S,
        .requests = view.result.requests,
        .bytes_sent = view.bytes_sent,
        .rows_again = view.result.rows_again,
        .throttles = view.pool.total_throttle_events,
        .throttle_wait_s = throttle_wait_s(job),
        .requests_unknown = view.result.requests_unknown,
        .requests_unknown_for_s = clear_us > 0 ? (double)clear_us / WEIR_US_PER_S : 0,
        .batch_rows = view.rows_chosen ? view.rows_chosen : job->options.batch_size,
    };
    return balance.unread;
}

/* --- summary.json ----------------------------------------------------------------------------- */

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* What getrusage() says is inherited from whoever started the program. */
static uint64_t peak_rss_kib(void)
{
    unsigned long long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kib;
}

static struct weir_summary_connection *sum_up_connections(struct weir_job *job)
{
    size_t count = job->settings.connection_count;
    struct weir_summary_connection *connections = weir_calloc(count, sizeof(*connections));
    for (uint32_t i = 0; i < count; i++) {
        struct weir_driver_connection it;
        weir_driver_connection(job->driver, i, &it);
        connections[i] = (struct weir_summary_connection){
            .name = job->settings.connections[i].name,
            .requests = it.result.requests,
            .done_rows = it.result.rows_done,
            .throttles = it.result.throttles,
            .throttle_wait_s = (double)it.backoff_us / WEIR_US_PER_S,
            .level = it.cap,
            .bound_by = it.rate.bound_by,
        };
    }
    return connections;
}

enum weir_status weir_job_write_summary(struct weir_job *job, const struct weir_job_result *result,
                                        struct weir_error *err)
{
    struct rusage usage;
    struct weir_buf text;
    getrusage(RUSAGE_SELF, &usage);
    struct weir_summary_connection *connections = sum_up_connections(job);
    struct weir_summary summary = {
        .job = job->options.name,
        .operation = weir_operation_name(job->options.operation),
        .table = job->options.table,
        .read = result->read,
        .done = result->done,
        .rejected = result->rejected,
        .skipped = result->skipped,
        .unknown = result->unknown,
        .not_sent = result->not_sent,
        .read_to_end = result->read_to_end,
        .elapsed_s = result->elapsed_s,
        .cpu_user_s = seconds(usage.ru_utime),
        .cpu_system_s = seconds(usage.ru_stime),
        .peak_rss_kib = peak_rss_kib(),
        .requests = result->requests,
        .bytes_sent = result->bytes_sent,
        .throttles = result->throttles,
        .throttle_wait_s = result->throttle_wait_s,
        .batch_rows = result->batch_rows,
        .exit_code = result->exit_code,
        .connections = connections,
        .connection_count = job->settings.connection_count,
    };
    weir_buf_init(&text, WEIR_SUMMARY_BYTES_MAX);
    weir_summary_write(&summary, &text);
    enum weir_status status = weir_export_summary(job->journal, weir_str(text.ptr, text.len), err);
    weir_buf_release(&text);
    free(connections);
    return status;
}

/* --- why -------------------------------------------------------------------------------------- */

/* The gravest reason, in words, and what is known of it beyond that; in the order of exit codes. */
struct reason {
    const char *phrase; /* "": none */
    const struct weir_error *detail;
};

/* Which bound it was, as whoever gave it has written it. */
static void explain_errors(const struct weir_job *job, uint64_t rejected, char *text,
                           size_t text_bytes)
{
    struct weir_job_options defaults;
    const struct weir_job_options *options = &job->options;
    char bound[32];
    weir_job_options_defaults(&defaults);
    if (options->rejected_share_max > 0 && options->rejected_max == UINT64_MAX)
        snprintf(bound, sizeof(bound), "%g%%", options->rejected_share_max * 100);
    else
        snprintf(bound, sizeof(bound), "%llu%s", (unsigned long long)options->rejected_max,
                 options->rejected_max == defaults.rejected_max ? " (the default)" : "");
    snprintf(text, text_bytes, "stopped at --max-errors %s: %llu row%s rejected", bound,
             (unsigned long long)rejected, rejected == 1 ? " is" : "s are");
}

static struct reason reason_of(const struct weir_job *job, unsigned ends,
                               const struct weir_driver_view *view, const char *too_many)
{
    static const struct weir_error none;
    const struct {
        enum weir_end end;
        struct reason reason;
    } reasons[] = {
        { WEIR_END_INTERNAL,
          { "the service, or weir itself, did not do as it must", &view->trouble } },
        { WEIR_END_JOURNAL, { "", &view->trouble } },
        { WEIR_END_CREDENTIALS, { "no connection is left that may do this", &view->refusal } },
        { WEIR_END_UNREACHABLE, { "the service cannot be reached", &view->trouble } },
        { WEIR_END_ERRORS, { too_many, &none } },
        { WEIR_END_LIMIT,
          { job->limited                ? "the limit of rows is reached"
            : view->pool_refusal.status ? ""
                                        : "the deadline is reached",
            &view->pool_refusal } },
        { WEIR_END_INTERRUPT, { "interrupted", &none } },
        { WEIR_END_INPUT, { "", &view->broken_input } },
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (ends & reasons[i].end)
            return reasons[i].reason;
    }
    return (struct reason){ "", &none };
}

void weir_job_explain(struct weir_job *job, const struct weir_job_result *result,
                      const struct weir_error *failure)
{
    struct weir_driver_view view;
    view_run(job, &view);
    char too_many[128];
    explain_errors(job, result->rejected, too_many, sizeof(too_many));
    struct reason reason = reason_of(job, result->ends, &view, too_many);
    const struct weir_error *detail = failure->status ? failure : reason.detail;
    bool both = reason.phrase[0] && detail->status && detail->message[0];
    snprintf(job->trouble, sizeof(job->trouble), "%s%s%s", reason.phrase, both ? ": " : "",
             detail->status ? detail->message : "");
}

const char *weir_job_trouble(const struct weir_job *job)
{
    return job->trouble;
}
