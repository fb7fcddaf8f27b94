/* SPDX-License-Identifier: MIT */
/*
 * What a job is going to do, found out before anything is written; see job_parts.h.
 *
 *     a new one    options ─▶ files opened ─▶ table asked for ─▶ columns mapped ─▶ plan
 *     an old one   journal ─▶ facts ─▶ files compared and entered ─▶ table ─▶ columns ─▶ plan
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "bulk/summary.h"
#include "journal/export.h"
#include "pool/blocking.h"

#define TEXTS_BYTES_MAX ((size_t)64 * 1024 * 1024) /* WEIR_INPUT_FILES_MAX paths of PATH_MAX */

/* --- life ------------------------------------------------------------------------------------- */

static struct weir_job *new_job(struct weir_client *client, const struct weir_job_options *options,
                                const struct weir_journal_hooks *hooks)
{
    struct weir_job *job = weir_calloc(1, sizeof(*job));
    pthread_condattr_t attributes;
    job->client = client;
    job->hooks = hooks ? *hooks : (struct weir_journal_hooks){ 0 };
    job->texts = weir_arena_new(TEXTS_BYTES_MAX);
    weir_job_keep_options(job, options);
    job->settings = *client->options;
    if (options->parallel_batches_max)
        job->settings.bulk.max_parallel_batches = (int)options->parallel_batches_max;
    job->throttles_before =
        weir_calloc(client->options->connection_count, sizeof(*job->throttles_before));
    weir_pool_throttles(client->pool, job->throttles_before);
    job->stop_fds[0] = job->stop_fds[1] = -1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_mutex_init(&job->pass_lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return job;
}

void weir_job_release_preparations(struct weir_job *job)
{
    weir_mapping_free(job->mapping);
    weir_references_free(job->references);
    weir_zone_free(job->zone);
    weir_spec_release(&job->spec);
    for (size_t i = 0; i < job->other_count; i++)
        weir_table_free(job->others[i]);
    free(job->others);
    if (job->reading != job->reader)
        weir_reader_free(job->reading);
    weir_reader_free(job->reader);
    weir_table_free(job->table);
    weir_arena_unref(job->texts);
    free(job->paths);
    free(job->throttles_before);
    free(job->blocks);
    for (int i = 0; i < 2; i++) {
        if (job->stop_fds[i] >= 0)
            close(job->stop_fds[i]);
    }
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->pass_lock);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

/* --- what is going to be done ----------------------------------------------------------------- */

static enum weir_status map(struct weir_job *job, struct weir_error *err)
{
    struct weir_mapping_options options = {
        .table = job->table,
        .others = (const struct weir_table *const *)job->others,
        .other_count = job->other_count,
        .operation = job->options.operation,
        .key = job->options.key,
        .id_from = job->options.id_from,
        .owner = job->options.owner,
        .organisation = job->organisation,
        .spec = weir_job_spec(job),
        .empty = (enum weir_cell_empty)job->options.empty,
        .zone = job->zone,
        .raw = job->options.raw,
        .named = job->reader && weir_reader_format(job->reader) == &weir_format_jsonl,
        .connections = job->settings.connection_count,
        .ids = job->ids,
    };
    enum weir_status status = weir_job_columns(job, &options.columns, err);
    options.input = weir_job_input_name(job); /* that has those columns */
    if (!status)
        status = weir_mapping_new(&options, &job->mapping, err);
    return status ? status : weir_job_read_references(job, err);
}

/*
 * A pass needs the input again, and a stream comes only once. Of objects nobody knows what they
 * will have: those in a stream that need another pass are refused when they come.
 */
static enum weir_status choose_passes(struct weir_job *job, struct weir_error *err)
{
    bool named = job->reader && weir_reader_format(job->reader) == &weir_format_jsonl;
    bool streams = job->reader && weir_job_reads_streams(job);
    job->last_pass = WEIR_PASS_ROWS;
    for (int pass = WEIR_PASS_ROWS; job->reader && pass < WEIR_PASSES; pass++) {
        if (weir_mapping_has_pass(job->mapping, (enum weir_pass)pass))
            job->last_pass = (enum weir_pass)pass;
    }
    if (job->last_pass != WEIR_PASS_ROWS && streams && !named)
        return weir_fail(err, WEIR_E_INVALID,
                         "lookups to the same table and states are set in passes of their own, for "
                         "which the input is read again: it must be a file, not a stream");
    if (streams)
        job->last_pass = WEIR_PASS_ROWS;
    if (job->pass > job->last_pass || !weir_mapping_has_pass(job->mapping, job->pass))
        return weir_fail(err, WEIR_E_INVALID, "the job is in pass %d, which it does not have",
                         (int)job->pass);
    return WEIR_OK;
}

static enum weir_status settle(struct weir_job *job, struct weir_error *err)
{
    uint64_t tainted = job->plan.tainted_through;
    enum weir_status status = weir_job_make_spec(job, err);
    if (!status)
        status = weir_job_describe(job, err);
    if (!status)
        status = weir_job_describe_others(job, err);
    if (!status)
        status = map(job, err);
    if (!status)
        status = choose_passes(job, err);
    if (status)
        return status;
    weir_job_make_plan(job, job->pass);
    job->plan.tainted_through = tainted;
    job->bytes_total = job->reader ? weir_job_bytes(job) : 0;
    return WEIR_OK;
}

/* --- a new job -------------------------------------------------------------------------------- */

/* The last part of the directory. */
static const char *default_name(const char *directory)
{
    const char *slash = strrchr(directory, '/');
    return slash && slash[1] ? slash + 1 : directory;
}

static void draw_id(struct weir_job *job)
{
    for (size_t i = 0; i < sizeof(job->ids.job); i += sizeof(uint64_t)) {
        uint64_t bits = weir_rng_system_seed();
        size_t left = sizeof(job->ids.job) - i;
        memcpy(job->ids.job + i, &bits, left < sizeof(bits) ? left : sizeof(bits));
    }
    job->started_us = weir_clock_wall_us();
    job->ids.started_s = job->started_us / WEIR_US_PER_S;
}

static enum weir_status prepare(struct weir_job *job, const struct weir_job_files *files,
                                struct weir_error *err)
{
    struct weir_reader_options options = { .stdin_fd = files ? files->stdin_fd : -1 };
    if (!job->options.name && job->options.directory)
        job->options.name = default_name(job->options.directory);
    draw_id(job);
    enum weir_status status = weir_job_keep_paths(job, files, err);
    if (!status)
        status = weir_job_read_mapping(job, err);
    if (!status)
        status = weir_job_open_files(job, &options, &job->reader, err);
    job->reading = job->reader;
    return status ? status : settle(job, err);
}

enum weir_status weir_job_prepare(struct weir_client *client,
                                  const struct weir_job_options *options,
                                  const struct weir_job_files *files,
                                  const struct weir_journal_hooks *hooks, struct weir_job **ret,
                                  struct weir_error *err)
{
    enum weir_status status = weir_job_check_options(options, err);
    if (status)
        return status;
    struct weir_job *job = new_job(client, options, hooks);
    status = prepare(job, files, err);
    if (status) {
        weir_job_free(job);
        return status;
    }
    *ret = job;
    return WEIR_OK;
}

/* --- an old one ------------------------------------------------------------------------------- */

static uint64_t read_note(struct weir_job *job, const char *name)
{
    char *text = NULL;
    long long value = 0;
    if (weir_journal_note(job->journal, name, &text, NULL) == WEIR_OK)
        sscanf(text, "%lld", &value);
    free(text);
    return value > 0 ? (uint64_t)value : 0;
}

/* "1234 complete", or without the word. */
static void read_read_note(struct weir_job *job)
{
    char *text = NULL;
    if (weir_journal_note(job->journal, WEIR_READ_NOTE, &text, NULL) == WEIR_OK)
        job->complete_before = strstr(text, "complete") != NULL;
    free(text);
    job->read_before = read_note(job, WEIR_READ_NOTE);
}

static void read_sizes_note(struct weir_job *job)
{
    char *text = NULL;
    if (weir_journal_note(job->journal, WEIR_SIZES_NOTE, &text, NULL) == WEIR_OK)
        weir_sizes_parse(&job->sizes, text);
    free(text);
}

static enum weir_status look_back(struct weir_job *job, struct weir_error *err)
{
    char reach[WEIR_REACH_NAME_MAX];
    struct weir_totals totals;
    uint64_t high;
    enum weir_status status = weir_journal_totals(job->journal, &totals, err);
    if (!status)
        status = weir_journal_high_row(job->journal, &high, err);
    if (status)
        return status;
    uint64_t pass = read_note(job, WEIR_PASS_NOTE);
    if (pass >= WEIR_PASSES)
        return weir_fail(err, WEIR_E_INVALID, "the job is in pass %llu; there are %d",
                         (unsigned long long)pass, WEIR_PASSES);
    job->pass = (enum weir_pass)pass;
    job->before = totals.pass[pass];
    job->skipped_before = pass ? totals.pass[0].skipped : 0;
    for (uint64_t i = 0; i < pass; i++)
        job->rejected_before += totals.pass[i].rejected;
    read_read_note(job);
    read_sizes_note(job);
    job->read_before = high > job->read_before ? high : job->read_before;
    weir_reach_name(job->pass, reach);
    job->plan.tainted_through = job->reach = read_note(job, reach);
    return WEIR_OK;
}

static bool reads_stdin(const struct weir_job *job)
{
    for (size_t i = 0; i < job->path_count; i++) {
        if (strcmp(job->paths[i], "-") == 0)
            return true;
    }
    return false;
}

static enum weir_status check_environment(const struct weir_job *job,
                                          const struct weir_job_facts *facts, bool stdin_given,
                                          struct weir_error *err)
{
    if (strcasecmp(facts->url, job->settings.url) != 0)
        return weir_fail(err, WEIR_E_INVALID,
                         "the job belongs to \"%s\", and the settings name \"%s\"", facts->url,
                         job->settings.url);
    if (reads_stdin(job) && !stdin_given)
        return weir_fail(err, WEIR_E_INVALID,
                         "the job read from standard input: give it the same again, with \"-\"");
    if (!reads_stdin(job) && stdin_given)
        return weir_fail(err, WEIR_E_INVALID,
                         "the job did not read from standard input: leave the \"-\" out");
    return WEIR_OK;
}

static enum weir_status prepare_again(struct weir_job *job, bool stdin_given, int stdin_fd,
                                      struct weir_error *err)
{
    struct weir_journal_watch watch = weir_job_watch(job);
    enum weir_status status =
        weir_journal_open(job->options.directory, &watch, &job->hooks, &job->journal, err);
    if (status)
        return status;
    const struct weir_job_facts *facts = weir_journal_facts(job->journal);
    status = weir_job_facts_parse(job, facts, err);
    if (!status)
        status = check_environment(job, facts, stdin_given, err);
    if (!status)
        status = look_back(job, err);
    if (!status)
        status = weir_job_reopen_files(job, weir_journal_view(job->journal), job->pass, stdin_fd,
                                       &job->reader, err);
    job->reading = job->reader;
    if (!status && job->path_count && weir_job_is_finished(job))
        return WEIR_OK; /* nobody has to be asked */
    if (!status)
        status = settle(job, err);
    return status;
}

enum weir_status weir_job_prepare_again(struct weir_client *client,
                                        const struct weir_job_options *options, bool stdin_given,
                                        int stdin_fd, const struct weir_journal_hooks *hooks,
                                        struct weir_job **ret, struct weir_error *err)
{
    enum weir_status status = weir_job_check_run_options(options, err);
    if (status)
        return status;
    if (!options->directory || !options->directory[0])
        return weir_fail(err, WEIR_E_INVALID, "a job is found by its directory");
    struct weir_job *job = new_job(client, options, hooks);
    job->resumed = true;
    status = prepare_again(job, stdin_given, stdin_fd, err);
    if (status) {
        weir_job_free(job);
        return status;
    }
    *ret = job;
    return WEIR_OK;
}

/* --- looking ---------------------------------------------------------------------------------- */

const struct weir_table *weir_job_table(const struct weir_job *job)
{
    return job->table;
}

const struct weir_job_options *weir_job_options(const struct weir_job *job)
{
    return &job->options;
}

const char *weir_job_directory(const struct weir_job *job)
{
    return job->options.directory;
}

const char *const *weir_job_paths(const struct weir_job *job, size_t *ret_count)
{
    *ret_count = job->path_count;
    return job->paths;
}

const char *weir_job_url(const struct weir_job *job)
{
    return job->settings.url;
}

/* A run was over in good order, with all its files: the summary is the last of them. */
static bool has_good_summary(const struct weir_job *job)
{
    struct weir_buf text;
    int code;
    weir_buf_init(&text, WEIR_SUMMARY_BYTES_MAX);
    weir_export_read_summary(job->journal, &text);
    bool good = weir_summary_read_exit_code(weir_str(text.ptr, text.len), &code) &&
                (code == 0 || code == 1);
    weir_buf_release(&text);
    return good;
}

bool weir_job_is_finished(const struct weir_job *job)
{
    const struct weir_pass_totals *it = &job->before;
    return job->complete_before && has_good_summary(job) &&
           it->done + it->absent + it->skipped + it->rejected + job->rejected_before ==
               job->read_before;
}
