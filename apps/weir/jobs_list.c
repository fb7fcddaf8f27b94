/* SPDX-License-Identifier: MIT */
/* weir jobs: all of them, newest first; see jobs.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "command.h"
#include "exit_code.h"
#include "figures.h"
#include "jobs.h"
#include "output.h"
#include "say.h"
#include "text_table.h"

#define MOMENT_BYTES 32
#define JSON_MAX     ((size_t)8 * 1024 * 1024) /* of one job: its options are a megabyte at most */

/* What is shown of a job; texts of its own. */
struct line {
    char *name;
    char *operation;
    char *table;
    char *url;
    char *json; /* NULL: for people */
    int64_t started_us;
    struct job_view view;
};

struct lines {
    struct line *list;
    size_t count;
    size_t max;
    bool json;
};

static char *copy(const char *text)
{
    return weir_strdup(text ? text : "");
}

static char *make_json(const struct weir_job_listing *job, const struct job_view *view)
{
    struct weir_buf buf;
    weir_buf_init(&buf, JSON_MAX);
    jobs_json_add(&buf, job, view);
    return weir_buf_take(&buf);
}

static void add(void *ctx, const struct weir_job_listing *job)
{
    struct lines *lines = ctx;
    if (lines->count == lines->max) {
        lines->max = lines->max ? 2 * lines->max : 64;
        lines->list = weir_realloc(lines->list, lines->max, sizeof(*lines->list));
    }
    struct line *line = &lines->list[lines->count++];
    *line = (struct line){ .name = copy(job->name),
                           .operation = copy(job->facts.operation),
                           .table = copy(job->facts.table),
                           .url = copy(job->facts.url),
                           .started_us = job->facts.started_us };
    job_view_look(&line->view, job);
    if (lines->json)
        line->json = make_json(job, &line->view);
}

/* Those that do not say when they began come last. */
static int compare(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    if (left->started_us != right->started_us)
        return left->started_us < right->started_us ? 1 : -1;
    return strcmp(right->name, left->name);
}

static void release(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        free(lines->list[i].name);
        free(lines->list[i].operation);
        free(lines->list[i].table);
        free(lines->list[i].url);
        free(lines->list[i].json);
    }
    free(lines->list);
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_moment(int64_t us, char text[MOMENT_BYTES])
{
    struct tm local;
    time_t moment = us / WEIR_US_PER_S;
    if (us <= 0 || !localtime_r(&moment, &local) ||
        !strftime(text, MOMENT_BYTES, "%Y-%m-%d %H:%M", &local))
        snprintf(text, MOMENT_BYTES, "-");
}

static const char *without_scheme(const char *url)
{
    const char *rest = strstr(url, "://");
    return rest ? rest + 3 : url;
}

static void add_count(struct text_table *table, bool known, uint64_t count)
{
    text_table_add(table, known ? figure_count(count).text : "-");
}

static void add_word(struct text_table *table, const char *word)
{
    text_table_add(table, word[0] ? word : "-");
}

static void add_row(struct text_table *table, const struct line *line)
{
    const struct job_view *view = &line->view;
    bool readable = view->state != JOB_STATE_DAMAGED;
    char moment[MOMENT_BYTES];
    print_moment(line->started_us, moment);
    add_word(table, line->name);
    add_word(table, line->operation);
    add_word(table, line->table);
    add_word(table, without_scheme(line->url));
    text_table_add(table, moment);
    add_count(table, view->summed, view->read);
    add_count(table, readable, view->done);
    add_count(table, readable, view->rejected);
    add_count(table, view->summed, view->unknown);
    add_count(table, view->summed, view->not_sent);
    text_table_add(table, job_state_name(view->state));
}

/* A name that weir gave has operation, table and day in it. */
static void print_table(const struct lines *lines)
{
    static const struct text_table_column columns[] = {
        { "JOB", false, 0 },         { "OPERATION", false, 1 }, { "TABLE", false, 2 },
        { "ENVIRONMENT", false, 4 }, { "STARTED", false, 3 },   { "READ", true, 5 },
        { "DONE", true, 0 },         { "REJECTED", true, 0 },   { "UNKNOWN", true, 6 },
        { "NOT SENT", true, 6 },     { "STATE", false, 0 },
    };
    struct text_table table;
    text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < lines->count; i++)
        add_row(&table, &lines->list[i]);
    if (text_table_print(&table, stdout))
        say_wrapped("weir jobs: a wider terminal shows more of each; --json and `weir jobs show "
                    "JOB` show all");
    text_table_release(&table);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void print_json(const struct lines *lines)
{
    fputs("[", stdout);
    for (size_t i = 0; i < lines->count; i++)
        printf("%s\n  {%s}", i ? "," : "", lines->list[i].json);
    fputs(lines->count ? "\n]\n" : "]\n", stdout);
}

int jobs_list(const char *root, const struct jobs_words *words)
{
    struct lines lines = { .json = words->json };
    struct weir_error err = { 0 };
    int code;
    if (weir_jobs_each(root, add, &lines, &err)) {
        code = jobs_fail(&err);
    } else {
        if (lines.count > 0)
            qsort(lines.list, lines.count, sizeof(*lines.list), compare);
        if (words->json)
            print_json(&lines);
        else if (lines.count > 0)
            print_table(&lines);
        else
            fprintf(stderr, "weir jobs: there are no jobs in %s\n", root);
        code = output_end(&command_jobs);
    }
    release(&lines);
    return code;
}
