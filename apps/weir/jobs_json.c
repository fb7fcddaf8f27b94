/* SPDX-License-Identifier: MIT */
/* A job for programs; see jobs.h. What is not known is null. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "jobs.h"

static void add_text(struct weir_buf *buf, const char *key, const char *text)
{
    weir_buf_printf(buf, ", \"%s\": ", key);
    if (text && text[0])
        weir_json_text_add(buf, weir_str_from(text));
    else
        weir_buf_add_text(buf, "null");
}

static void add_number(struct weir_buf *buf, const char *key, bool known, uint64_t number)
{
    if (known)
        weir_buf_printf(buf, ", \"%s\": %" PRIu64, key, number);
    else
        weir_buf_printf(buf, ", \"%s\": null", key);
}

static void add_moment(struct weir_buf *buf, const char *key, int64_t us)
{
    char text[40] = "";
    struct tm parts;
    time_t moment = us / WEIR_US_PER_S;
    if (us > 0 && gmtime_r(&moment, &parts))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    add_text(buf, key, text);
}

static void add_counts(struct weir_buf *buf, const struct job_view *view)
{
    bool readable = view->state != JOB_STATE_DAMAGED;
    add_number(buf, "read", view->summed, view->read);
    add_number(buf, "done", readable, view->done);
    add_number(buf, "rejected", readable, view->rejected);
    add_number(buf, "skipped", readable, view->skipped);
    add_number(buf, "unknown", view->summed, view->unknown);
    add_number(buf, "not_sent", view->summed, view->not_sent);
    add_number(buf, "exit_code", view->summed, (uint64_t)view->exit_code);
}

void jobs_json_add(struct weir_buf *buf, const struct weir_job_listing *job,
                   const struct job_view *view)
{
    weir_buf_add_text(buf, "\"job\": ");
    weir_json_text_add(buf, weir_str_from(job->name));
    add_text(buf, "directory", job->path);
    add_text(buf, "state", job_state_name(view->state));
    add_text(buf, "operation", job->facts.operation);
    add_text(buf, "table", job->facts.table);
    add_text(buf, "environment", job->facts.url);
    add_moment(buf, "started", job->facts.started_us);
    add_number(buf, "runs", !job->error.status, job->runs);
    add_number(buf, "process", view->state == JOB_STATE_RUNNING, (uint64_t)job->holder);
    add_counts(buf, view);
    add_text(buf, "error", job->error.status ? job->error.message : NULL);
}
