/* SPDX-License-Identifier: MIT */
/* The report of a run; see report_run.h. */
#include "report_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "report_file.h"
#include "report_html.h"
#include "report_json.h"

#define PERIOD_US 250000

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcasecmp(text + len - end_len, end) == 0;
}

enum weir_status report_init(struct report *report, const char *path, struct weir_error *err)
{
    *report = (struct report){ .path = path };
    if (!path)
        return WEIR_OK;
    report->html = ends_with(path, ".html") || ends_with(path, ".htm");
    if (!report->html && !ends_with(path, ".json"))
        return weir_fail(err, WEIR_E_INVALID,
                         "--report is \"%.300s\"; it must end with .html (a page) or .json (data)",
                         path);
    return report_file_try(path, err);
}

void report_release(struct report *report)
{
    progress_snapshot_release(&report->snapshot);
    report_timeline_release(&report->timeline);
}

static void take(struct report *report, struct weir_job *job)
{
    progress_snapshot_take(&report->snapshot, job);
    report_timeline_add(&report->timeline, &report->snapshot);
    report->next_us = weir_clock_now_us() + PERIOD_US;
}

/* The last one: files were written since the run was over. */
static void take_end(struct report *report, struct weir_job *job, double elapsed_s)
{
    progress_snapshot_take(&report->snapshot, job);
    if (elapsed_s < report->snapshot.job.elapsed_s)
        report->snapshot.job.elapsed_s = elapsed_s;
    report_timeline_add(&report->timeline, &report->snapshot);
}

void report_begin(struct report *report, struct weir_job *job)
{
    report->began_us = weir_clock_wall_us();
    if (report->path)
        take(report, job);
}

int64_t report_sample(struct report *report, struct weir_job *job)
{
    if (!report->path)
        return INT64_MAX;
    if (weir_clock_now_us() >= report->next_us)
        take(report, job);
    int64_t rest_us = report->next_us - weir_clock_now_us();
    return rest_us > 0 ? rest_us : 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

static const char *name_of(const char *directory)
{
    const char *slash = strrchr(directory, '/');
    return slash && slash[1] ? slash + 1 : directory;
}

static struct report_connection *look(struct report_data *data, struct weir_job *job)
{
    size_t count = weir_job_connection_count(job);
    struct report_connection *connections = weir_calloc(count, sizeof(*connections));
    for (size_t i = 0; i < count; i++) {
        weir_job_connection(job, i, &connections[i].now);
        weir_job_rate_stats(job, i, &connections[i].rate);
        weir_job_experience(job, i, &connections[i].experience);
        weir_histogram_merge(&data->latency, &connections[i].experience.latency);
    }
    data->connections = connections;
    data->connection_count = count;
    return connections;
}

static void fill(const struct report *report, struct weir_job *job,
                 const struct weir_job_result *result, struct report_data *data)
{
    const struct weir_job_options *options = weir_job_options(job);
    data->directory = weir_job_directory(job);
    data->job = options->name ? options->name : name_of(data->directory);
    data->url = weir_job_url(job);
    data->trouble = weir_job_trouble(job);
    data->options = options;
    data->began_us = report->began_us;
    data->passes = report->snapshot.job.passes;
    data->result = result;
    data->timeline = &report->timeline;
}

enum weir_status report_write(struct report *report, struct weir_job *job,
                              const struct weir_job_result *result, struct report_data *data,
                              struct weir_error *err)
{
    struct weir_buf text;
    if (!report->path)
        return WEIR_OK;
    take_end(report, job, result->elapsed_s);
    fill(report, job, result, data);
    struct report_connection *connections = look(data, job);
    weir_buf_init(&text, REPORT_BYTES_MAX);
    if (report->html)
        report_html(data, &text);
    else
        report_json(data, &text);
    enum weir_status status =
        report_file_write(report->path, weir_str(weir_buf_text(&text), text.len), err);
    weir_buf_release(&text);
    free(connections);
    return status;
}
