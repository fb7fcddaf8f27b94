/* SPDX-License-Identifier: MIT */
/* What a job has come to; see job_view.h. */
#include "job_view.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "job_place.h"
#include "journal/place.h"
#include "resume_line.h"

#define LINE_BYTES_MAX (8 * WEIR_JOURNAL_PATH_MAX)

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {
        [JOB_STATE_FINISHED] = "finished",     [JOB_STATE_REJECTS] = "finished with rejects",
        [JOB_STATE_UNFINISHED] = "unfinished", [JOB_STATE_RUNNING] = "running",
        [JOB_STATE_DAMAGED] = "damaged",
    };
    return names[state];
}

/* --- the lock --------------------------------------------------------------------------------- */

/*
 * Only where the lock names a process that is alive, which may be somebody else's by now, the lock
 * itself is tried: whoever begins at this very moment must not be kept from it.
 */
static bool is_held(const struct weir_job_listing *job)
{
    struct weir_path path = weir_path_join(job->path, WEIR_PLACE_LOCK);
    int fd = job->holder ? open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
}

/* --- the summary ------------------------------------------------------------------------------ */

/* The whole file into `text`, as far as it has room; the caller releases it. */
static void read_summary_text(const char *directory, struct weir_buf *text)
{
    char piece[4096];
    ssize_t len;
    struct weir_path path = weir_path_join(directory, "summary.json");
    int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    weir_buf_init(text, WEIR_SUMMARY_BYTES_MAX);
    if (fd < 0)
        return;
    while (!text->overflow && (len = read(fd, piece, sizeof(piece))) > 0)
        weir_buf_add(text, piece, (size_t)len);
    close(fd);
}

static bool read_number(const struct weir_json_node *root, const char *name, uint64_t *ret)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    int64_t number;
    if (!node || node->type != WEIR_JSON_NUMBER || !weir_str_to_int64(node->text, &number) ||
        number < 0)
        return false;
    *ret = (uint64_t)number;
    return true;
}

static bool read_bool(const struct weir_json_node *root, const char *name)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node && node->type == WEIR_JSON_BOOL &&
           weir_str_equal(node->text, weir_str_from("true"));
}

static bool read_summary(struct job_view *view, const struct weir_json_node *root)
{
    uint64_t exit_code;
    bool whole = read_number(root, "read", &view->read) && read_number(root, "done", &view->done) &&
                 read_number(root, "rejected", &view->rejected) &&
                 read_number(root, "skipped", &view->skipped) &&
                 read_number(root, "unknown", &view->unknown) &&
                 read_number(root, "not_sent", &view->not_sent) &&
                 read_number(root, "exit_code", &exit_code) && exit_code <= 255;
    if (whole)
        view->exit_code = (int)exit_code;
    view->read_to_end = read_bool(root, "read_to_end");
    return whole;
}

static bool take_summary(struct job_view *view, const char *directory)
{
    struct weir_buf text;
    struct weir_json *json;
    bool whole = false;
    read_summary_text(directory, &text);
    if (!weir_json_parse(weir_str(weir_buf_text(&text), text.len), &json, NULL)) {
        whole = read_summary(view, weir_json_root(json));
        weir_json_free(json);
    }
    weir_buf_release(&text);
    return whole;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool has_rows(const struct weir_pass_totals *it)
{
    return it->done + it->absent + it->skipped + it->rejected > 0;
}

/* A row is done after its last pass: what counts is the one that the job has come to. */
static void take_totals(struct job_view *view, const struct weir_totals *totals)
{
    for (size_t i = 0; i < WEIR_JOURNAL_PASSES; i++) {
        const struct weir_pass_totals *it = &totals->pass[i];
        view->rejected += it->rejected;
        if (i > 0 && !has_rows(it))
            continue;
        view->done = it->done + it->absent;
        view->skipped = it->skipped;
    }
}

static enum job_state judge(const struct job_view *view, const struct weir_job_listing *job)
{
    if (is_held(job))
        return JOB_STATE_RUNNING;
    if (job->error.status)
        return JOB_STATE_DAMAGED;
    if (!view->summed || view->exit_code > 1 || view->unknown > 0 || view->not_sent > 0)
        return JOB_STATE_UNFINISHED;
    return view->rejected > 0 ? JOB_STATE_REJECTS : JOB_STATE_FINISHED;
}

void job_view_look(struct job_view *view, const struct weir_job_listing *job)
{
    *view = (struct job_view){ 0 };
    view->summed = !job->error.status && take_summary(view, job->path);
    if (!view->summed) {
        *view = (struct job_view){ 0 };
        take_totals(view, &job->totals);
    }
    view->state = judge(view, job);
}

static bool reads_stdin(const struct weir_job_facts *facts)
{
    for (size_t i = 0; i < facts->input_count; i++) {
        if (strcmp(facts->inputs[i].path, "-") == 0)
            return true;
    }
    return false;
}

char *job_view_resume_line(const struct job_view *view, const struct weir_job_listing *job)
{
    struct weir_buf line;
    if (view->state != JOB_STATE_UNFINISHED)
        return NULL;
    char *name = job_place_name(job->path);
    weir_buf_init(&line, LINE_BYTES_MAX);
    weir_buf_add_text(&line, "weir resume ");
    resume_line_quote(&line, name);
    if (reads_stdin(&job->facts))
        weir_buf_add_text(&line, " -");
    free(name);
    return weir_buf_take(&line);
}
