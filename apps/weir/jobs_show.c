/* SPDX-License-Identifier: MIT */
/* weir jobs show: all that is known of one job; see jobs.h. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_text.h"
#include "command.h"
#include "exit_code.h"
#include "figures.h"
#include "job_place.h"
#include "jobs.h"
#include "journal/place.h"
#include "open_rows.h"
#include "output.h"
#include "printable.h"

#define STRETCHES_SHOWN  10   /* of rows that are not finished, to people */
#define STRETCHES_LISTED 1000 /* to programs */

#define TEXT_MAX ((size_t)32 * 1024 * 1024) /* a job has ten thousand inputs at most */

static const char *const pass_names[WEIR_JOURNAL_PASSES] = { "rows", "lookups", "states" };

/* --- for people ------------------------------------------------------------------------------- */

static void add_label(struct weir_buf *buf, const char *label)
{
    weir_buf_printf(buf, "%-13s", label);
}

static void add_line(struct weir_buf *buf, const char *label, const char *text)
{
    add_label(buf, label);
    printable_add(buf, weir_str_from(text));
    weir_buf_add_char(buf, '\n');
}

static void add_started(struct weir_buf *buf, const struct weir_job_listing *job)
{
    char text[64] = "-";
    struct tm local;
    time_t moment = job->facts.started_us / WEIR_US_PER_S;
    if (localtime_r(&moment, &local))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
    add_label(buf, "started");
    weir_buf_printf(buf, "%s, %s run%s\n", text, figure_count(job->runs).text,
                    job->runs == 1 ? "" : "s");
}

static void add_inputs(struct weir_buf *buf, const struct weir_job_facts *facts)
{
    for (size_t i = 0; i < facts->input_count; i++) {
        const struct weir_job_input *it = &facts->inputs[i];
        add_label(buf, "input");
        printable_add(buf, weir_str_from(strcmp(it->path, "-") ? it->path : "standard input"));
        if (it->on_disk)
            weir_buf_printf(buf, ", %s bytes", figure_count(it->size_bytes).text);
        weir_buf_add_char(buf, '\n');
    }
}

/* Whether it says something: not null, false, an empty list. */
static bool is_said(const struct weir_json_node *node)
{
    bool off = node->type == WEIR_JSON_BOOL && weir_str_equal(node->text, weir_str_from("false"));
    bool empty = node->type == WEIR_JSON_ARRAY && node->count == 0;
    return node->type != WEIR_JSON_NULL && !off && !empty;
}

static void add_value(struct weir_buf *buf, const struct weir_json_node *node)
{
    static const char *const empties[] = { "omit", "null", "reject" };
    int64_t number;
    if (weir_str_equal(node->key, weir_str_from("mapping")))
        weir_buf_printf(buf, "a file of %s bytes", figure_count(node->text.len).text);
    else if (weir_str_equal(node->key, weir_str_from("empty")) &&
             weir_str_to_int64(node->text, &number) && number >= 0 && number < 3)
        weir_buf_add_text(buf, empties[number]);
    else
        printable_add(buf, node->text);
    weir_buf_add_char(buf, '\n');
}

static void add_option(struct weir_buf *buf, const struct weir_json_node *node)
{
    const struct weir_json_node *first = node->type == WEIR_JSON_ARRAY ? node->first : node;
    for (const struct weir_json_node *it = first; it; it = it == node ? NULL : it->next) {
        add_label(buf, "option");
        printable_add(buf, node->key);
        weir_buf_add_char(buf, ' ');
        add_value(buf, it);
    }
}

static void add_options(struct weir_buf *buf, const struct weir_job_facts *facts)
{
    struct weir_json *json;
    if (weir_json_parse(weir_str_from(facts->options), &json, NULL))
        return;
    const struct weir_json_node *node = weir_json_root(json)->first;
    for (; node; node = node->next) {
        if (is_said(node) && !weir_str_equal(node->key, weir_str_from("service_began_us")))
            add_option(buf, node);
    }
    weir_json_free(json);
}

static bool is_used(const struct weir_totals *totals, size_t pass)
{
    const struct weir_pass_totals *it = &totals->pass[pass];
    return pass == 0 || it->done + it->absent + it->skipped + it->rejected > 0;
}

static void add_passes(struct weir_buf *buf, const struct weir_totals *totals)
{
    for (size_t i = 0; i < WEIR_JOURNAL_PASSES; i++) {
        const struct weir_pass_totals *it = &totals->pass[i];
        if (!is_used(totals, i))
            continue;
        add_label(buf, "pass");
        weir_buf_printf(buf, "%s: done %s, ", pass_names[i],
                        figure_count(it->done + it->absent).text);
        weir_buf_printf(buf, "skipped %s, ", figure_count(it->skipped).text);
        weir_buf_printf(buf, "rejected %s\n", figure_count(it->rejected).text);
    }
}

static void add_balance(struct weir_buf *buf, const struct job_view *view)
{
    if (!view->summed)
        return;
    add_label(buf, "rows");
    weir_buf_printf(buf,
                    "read %s = done %s + rejected %s + skipped %s + unknown %s + not sent %s\n",
                    figure_count(view->read).text, figure_count(view->done).text,
                    figure_count(view->rejected).text, figure_count(view->skipped).text,
                    figure_count(view->unknown).text, figure_count(view->not_sent).text);
    add_label(buf, "exit code");
    weir_buf_printf(buf, "%d\n", view->exit_code);
}

/* Stretches of rows that are not finished, as far as they are shown. */
struct stretches {
    struct weir_buf *buf;
    bool json;
    size_t shown_max;
    size_t count;
};

static void add_stretch(void *ctx, struct open_rows rows)
{
    struct stretches *it = ctx;
    if (it->count++ >= it->shown_max)
        return;
    weir_buf_add_text(it->buf, it->count > 1 ? ", " : "");
    if (it->json)
        weir_buf_printf(it->buf, "[%" PRIu64 ", %" PRIu64 "]", rows.first, rows.last);
    else if (rows.first == rows.last)
        weir_buf_printf(it->buf, "%" PRIu64, rows.first);
    else
        weir_buf_printf(it->buf, "%" PRIu64 "-%" PRIu64, rows.first, rows.last);
}

/* By their numbers, which are those of errors.jsonl and ids.csv. */
static void add_open_rows(struct weir_buf *buf, const struct weir_job_listing *job,
                          const struct job_view *view)
{
    struct stretches it = { .buf = buf, .shown_max = STRETCHES_SHOWN };
    uint64_t behind;
    if (view->state != JOB_STATE_UNFINISHED)
        return;
    add_label(buf, "not finished");
    weir_buf_add_text(buf, "rows ");
    if (open_rows_each(job, view->read, add_stretch, &it, &behind, NULL))
        weir_buf_add_text(buf, "that cannot be told");
    if (it.count > it.shown_max)
        weir_buf_printf(buf, " and %zu more stretches", it.count - it.shown_max);
    if (!view->summed || !view->read_to_end || it.count == 0)
        weir_buf_printf(buf, "%sfrom %" PRIu64 " on", it.count ? " and " : "", behind + 1);
    weir_buf_add_char(buf, '\n');
}

/* Not what the database needs while somebody looks at it. */
static int is_file(const struct dirent *entry)
{
    static const char of_database[] = WEIR_PLACE_DATABASE "-";
    return entry->d_name[0] != '.' && strncmp(entry->d_name, of_database, strlen(of_database)) != 0;
}

/* Each file of the directory, as a line or as an element. */
static void add_files(struct weir_buf *buf, const char *directory, bool json)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_file, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (json) {
            weir_buf_add_text(buf, i ? ", " : "");
            weir_json_text_add(buf, weir_str_from(name));
        } else {
            add_line(buf, "file", name);
        }
        free(entries[i]);
    }
    free(entries);
}

static void add_facts(struct weir_buf *buf, const struct weir_job_listing *job,
                      const struct job_view *view)
{
    add_line(buf, "operation", job->facts.operation);
    add_line(buf, "table", job->facts.table);
    add_line(buf, "environment", job->facts.url);
    add_started(buf, job);
    add_inputs(buf, &job->facts);
    add_options(buf, &job->facts);
    add_passes(buf, &job->totals);
    add_balance(buf, view);
    add_open_rows(buf, job, view);
}

static void add_text(struct weir_buf *buf, const struct weir_job_listing *job,
                     const struct job_view *view, const char *resume)
{
    add_line(buf, "job", job->name);
    add_line(buf, "directory", job->path);
    add_label(buf, "state");
    weir_buf_add_text(buf, job_state_name(view->state));
    if (view->state == JOB_STATE_RUNNING)
        weir_buf_printf(buf, ", process %" PRId64, job->holder);
    weir_buf_add_char(buf, '\n');
    if (job->error.status)
        add_line(buf, "error", job->error.message);
    else
        add_facts(buf, job, view);
    add_files(buf, job->path, false);
    if (resume)
        add_line(buf, "go on with", resume);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void add_json_inputs(struct weir_buf *buf, const struct weir_job_facts *facts)
{
    weir_buf_add_text(buf, ", \"inputs\": [");
    for (size_t i = 0; i < facts->input_count; i++) {
        const struct weir_job_input *it = &facts->inputs[i];
        weir_buf_printf(buf, "%s{\"path\": ", i ? ", " : "");
        weir_json_text_add(buf, weir_str_from(it->path));
        if (it->on_disk)
            weir_buf_printf(buf, ", \"bytes\": %" PRIu64 "}", it->size_bytes);
        else
            weir_buf_add_text(buf, ", \"bytes\": null}");
    }
    weir_buf_add_char(buf, ']');
}

static void add_json_passes(struct weir_buf *buf, const struct weir_totals *totals)
{
    weir_buf_add_text(buf, ", \"passes\": [");
    for (size_t i = 0; i < WEIR_JOURNAL_PASSES; i++) {
        const struct weir_pass_totals *it = &totals->pass[i];
        if (is_used(totals, i))
            weir_buf_printf(buf,
                            "%s{\"pass\": \"%s\", \"done\": %" PRIu64 ", \"skipped\": %" PRIu64
                            ", \"rejected\": %" PRIu64 "}",
                            i ? ", " : "", pass_names[i], it->done + it->absent, it->skipped,
                            it->rejected);
    }
    weir_buf_add_char(buf, ']');
}

/* The first of them, and how many there are. */
static void add_json_open_rows(struct weir_buf *buf, const struct weir_job_listing *job,
                               const struct job_view *view)
{
    struct stretches it = { .buf = buf, .json = true, .shown_max = STRETCHES_LISTED };
    uint64_t behind;
    weir_buf_add_text(buf, ", \"not_finished\": [");
    if (view->state == JOB_STATE_UNFINISHED)
        open_rows_each(job, view->read, add_stretch, &it, &behind, NULL);
    weir_buf_printf(buf, "], \"not_finished_count\": %zu", it.count);
}

static void add_json(struct weir_buf *buf, const struct weir_job_listing *job,
                     const struct job_view *view, const char *resume)
{
    weir_buf_add_char(buf, '{');
    jobs_json_add(buf, job, view);
    if (!job->error.status) {
        weir_buf_printf(buf, ", \"options\": %s", job->facts.options);
        add_json_inputs(buf, &job->facts);
        add_json_passes(buf, &job->totals);
        add_json_open_rows(buf, job, view);
    }
    weir_buf_add_text(buf, ", \"files\": [");
    add_files(buf, job->path, true);
    weir_buf_add_text(buf, "], \"resume\": ");
    if (resume)
        weir_json_text_add(buf, weir_str_from(resume));
    else
        weir_buf_add_text(buf, "null");
    weir_buf_add_text(buf, "}\n");
}

/* --- the whole -------------------------------------------------------------------------------- */

static int print(const struct weir_job_listing *job, bool json)
{
    struct job_view view;
    struct weir_buf buf;
    job_view_look(&view, job);
    char *resume = job_view_resume_line(&view, job);
    weir_buf_init(&buf, TEXT_MAX);
    if (json)
        add_json(&buf, job, &view, resume);
    else
        add_text(&buf, job, &view, resume);
    fwrite(weir_buf_text(&buf), 1, buf.len, stdout);
    weir_buf_release(&buf);
    free(resume);
    return output_end(&command_jobs);
}

/* A job is called what its directory is called. */
static void strip_slashes(char *directory)
{
    size_t len = strlen(directory);
    while (len > 1 && directory[len - 1] == '/')
        directory[--len] = '\0';
}

int jobs_show(const char *job, const struct jobs_words *words)
{
    struct weir_job_listing listing;
    struct weir_error err = { 0 };
    char *directory;
    if (job_place_find(job, &directory, &err))
        return jobs_fail(&err);
    strip_slashes(directory);
    int code;
    if (weir_job_listing_init(&listing, directory, &err) == WEIR_E_NOT_FOUND) {
        code = jobs_fail(&err);
    } else {
        listing.error = err;
        code = print(&listing, words->json);
        weir_job_listing_release(&listing);
    }
    free(directory);
    return code;
}
