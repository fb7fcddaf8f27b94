/* SPDX-License-Identifier: MIT */
/*
 * What a job is going to do, found out before anything is written; see job_parts.h.
 *
 *     a new one    options ─▶ files opened ─▶ table asked for ─▶ columns mapped ─▶ plan
 *     an old one   journal ─▶ facts ─▶ files compared and entered ─▶ table ─▶ columns ─▶ plan
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "bulk/summary.h"
#include "client/describe.h"
#include "journal/export.h"

#define TEXTS_BYTES_MAX ((size_t)64 * 1024 * 1024) /* WEIR_INPUT_FILES_MAX paths of PATH_MAX */

/* Of a $batch where there is no bulk message; halved when it takes long. */
#define SINGLES_MAX 20

/* Batches that wait may have this share of the memory; the rest is for those under way. */
#define QUEUE_SHARE 4

void weir_job_options_defaults(struct weir_job_options *options)
{
    *options = (struct weir_job_options){
        .batch_size = 100,
        .rejected_max = 100,
        .memory_bytes_max = (size_t)24 * 1024 * 1024,
    };
}

const char *weir_operation_name(enum weir_operation operation)
{
    static const char *const names[] = { "create", "update", "upsert", "delete" };
    return names[operation];
}

/* --- life ------------------------------------------------------------------------------------- */

static struct weir_job *new_job(struct weir_client *client, const struct weir_job_options *options,
                                const struct weir_journal_hooks *hooks)
{
    struct weir_job *job = weir_calloc(1, sizeof(*job));
    pthread_condattr_t attributes;
    job->client = client;
    job->options = *options;
    job->hooks = hooks ? *hooks : (struct weir_journal_hooks){ 0 };
    job->texts = weir_arena_new(TEXTS_BYTES_MAX);
    job->options.table = weir_job_keep(job, options->table);
    job->options.key = weir_job_keep(job, options->key);
    job->options.owner = weir_job_keep(job, options->owner);
    job->options.directory = weir_job_keep(job, options->directory);
    job->options.name = weir_job_keep(job, options->name);
    job->settings = *client->options;
    if (options->parallel_batches_max)
        job->settings.bulk.max_parallel_batches = (int)options->parallel_batches_max;
    job->stop_fds[0] = job->stop_fds[1] = -1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return job;
}

void weir_job_release_preparations(struct weir_job *job)
{
    weir_mapping_free(job->mapping);
    weir_reader_free(job->reader);
    weir_table_free(job->table);
    weir_arena_unref(job->texts);
    free(job->paths);
    free(job->blocks);
    for (int i = 0; i < 2; i++) {
        if (job->stop_fds[i] >= 0)
            close(job->stop_fds[i]);
    }
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

/* --- options ---------------------------------------------------------------------------------- */

static enum weir_status check_run_options(const struct weir_job_options *options,
                                          struct weir_error *err)
{
    if (!options->directory || !options->directory[0])
        return weir_fail(err, WEIR_E_INVALID, "a job needs a directory");
    if (options->rejected_share_max < 0 || options->rejected_share_max > 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "the share of rejected rows is %g; it must be between 0 and 1",
                         options->rejected_share_max);
    if (!(options->rows_per_second_max >= 0))
        return weir_fail(err, WEIR_E_INVALID, "the rate is %g rows a second; it must be positive",
                         options->rows_per_second_max);
    if (options->memory_bytes_max < WEIR_JOB_MEMORY_MIN)
        return weir_fail(err, WEIR_E_INVALID, "%zu bytes of memory are too few; it must be %zu",
                         options->memory_bytes_max, WEIR_JOB_MEMORY_MIN);
    if (options->deadline_us < 0)
        return weir_fail(err, WEIR_E_INVALID, "the deadline lies in the past");
    return WEIR_OK;
}

static enum weir_status check_options(const struct weir_job_options *options,
                                      struct weir_error *err)
{
    if (!options->table || !options->table[0])
        return weir_fail(err, WEIR_E_INVALID, "a job needs a table");
    if (options->batch_size < 1 || options->batch_size > WEIR_TARGETS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "a batch of %u rows cannot be; 1 to %d can",
                         (unsigned)options->batch_size, WEIR_TARGETS_MAX);
    return check_run_options(options, err);
}

/* The last part of the directory. */
static const char *default_name(const char *directory)
{
    const char *slash = strrchr(directory, '/');
    return slash && slash[1] ? slash + 1 : directory;
}

/* --- files ------------------------------------------------------------------------------------ */

/* As a later run, begun elsewhere, will find it. */
static enum weir_status keep_path(struct weir_job *job, size_t i, const char *path,
                                  struct weir_error *err)
{
    char real[PATH_MAX];
    if (strcmp(path, "-") != 0) {
        if (!realpath(path, real))
            return weir_fail(err, errno == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                             "input \"%s\" cannot be opened: %s", path, strerror(errno));
        path = real;
    }
    job->paths[i] = weir_job_keep(job, path);
    return job->paths[i] ? WEIR_OK : weir_fail(err, WEIR_E_TOO_BIG, "too many input files");
}

static enum weir_status keep_paths(struct weir_job *job, const struct weir_job_files *files,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    job->path_count = files ? files->path_count : 0;
    job->paths = weir_calloc(job->path_count ? job->path_count : 1, sizeof(*job->paths));
    for (size_t i = 0; !status && i < job->path_count; i++)
        status = keep_path(job, i, files->paths[i], err);
    return status;
}

static enum weir_status open_files(struct weir_job *job, struct weir_reader_options *options,
                                   struct weir_error *err)
{
    if (!job->path_count)
        return WEIR_OK;
    if (pipe2(job->stop_fds, O_CLOEXEC))
        return weir_fail(err, WEIR_E_IO, "no pipe could be made: %s", strerror(errno));
    options->format = weir_format_of(job->paths[0]);
    if (!options->format && strcmp(job->paths[0], "-") == 0)
        options->format = &weir_format_csv; /* it has no name to tell it by */
    options->paths = job->paths;
    options->path_count = job->path_count;
    options->stop_fd = job->stop_fds[0];
    return weir_reader_new(options, &job->reader, err);
}

/* --- the table -------------------------------------------------------------------------------- */

static enum weir_status describe(struct weir_job *job, struct weir_error *err)
{
    struct weir_description description;
    int64_t patience_us = WEIR_FIRST_CONTACT_US;
    if (job->options.deadline_us && job->options.deadline_us < patience_us)
        patience_us = job->options.deadline_us;
    enum weir_status status =
        weir_client_describe(job->client, job->options.table, patience_us, &description, err);
    if (status)
        return status;
    job->table = description.table;
    job->names = weir_table_names_of(job->table);
    weir_guid_print(&description.who.organization_id, job->organisation);
    if (!job->resumed)
        job->service_began_us = description.service_wall_us;
    if (job->table->type == WEIR_TABLE_VIRTUAL)
        return weir_fail(err, WEIR_E_INVALID,
                         "table \"%s\" is virtual: its rows live in another system",
                         job->options.table);
    return WEIR_OK;
}

static enum weir_status map(struct weir_job *job, struct weir_error *err)
{
    struct weir_mapping_options options = {
        .table = job->table,
        .operation = job->options.operation,
        .key = job->options.key,
        .owner = job->options.owner,
        .connections = job->settings.connection_count,
        .ids = job->ids,
    };
    if (job->reader)
        options.columns = weir_reader_columns(job->reader);
    return weir_mapping_new(&options, &job->mapping, err);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Whether rows may bring ids along: then finding one means less. */
static enum weir_ids whose_ids(const struct weir_job *job)
{
    if (!job->reader)
        return WEIR_IDS_GIVEN;
    struct weir_columns columns = weir_reader_columns(job->reader);
    for (uint32_t i = 0; i < columns.count; i++) {
        if (weir_str_equal(columns.names[i], job->names.primary_id))
            return WEIR_IDS_GIVEN;
    }
    return WEIR_IDS_MADE;
}

static bool has_bulk(const struct weir_job *job)
{
    static const enum weir_bulk_message messages[] = { WEIR_BULK_CREATE, WEIR_BULK_UPDATE,
                                                       WEIR_BULK_UPSERT, WEIR_BULK_DELETE };
    enum weir_operation operation = job->options.operation;
    bool elastic = job->table->type == WEIR_TABLE_ELASTIC;
    if (!weir_mapping_allows_bulk(job->mapping) || (operation == WEIR_OPERATION_DELETE && !elastic))
        return false;
    return job->table->bulk[messages[operation]] || !job->table->bulk_known;
}

static void make_plan(struct weir_job *job)
{
    const struct weir_job_options *options = &job->options;
    job->plan = (struct weir_plan){
        .operation = options->operation,
        .ids = whose_ids(job),
        .elastic = job->table->type == WEIR_TABLE_ELASTIC,
        .bulk = has_bulk(job),
        .tainted_through = job->plan.tainted_through,
        .singles_max = SINGLES_MAX,
        .job_begun_wall_us = job->service_began_us,
        .max_retry_time_us = job->settings.resilience.max_retry_time_us,
        .late_us = job->settings.resilience.late_commit_time_us,
        .read_back_us = job->settings.resilience.read_back_delay_us,
        .errors_max = options->rejected_max,
        .errors_share_max = options->rejected_share_max,
        .rows_per_second_max = options->rows_per_second_max,
        .memory_bytes_max = options->memory_bytes_max - options->memory_bytes_max / QUEUE_SHARE,
        .commit_wait_max = WEIR_JOURNAL_GROUP_RECORDS,
    };
    job->requests = (struct weir_request_plan){
        .operation = options->operation,
        .table = &job->names,
        .options = { .error_details = true },
        .body_bytes_max = WEIR_BODY_BYTES_MAX,
    };
}

/* Of plain files; of others it is not known how long they are. */
static int64_t bytes_of(const struct weir_job *job)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < job->path_count; i++) {
        const struct weir_file_identity *it = &weir_reader_identities(job->reader)[i];
        size_t len = strlen(job->paths[i]);
        bool packed = len > 3 && strcasecmp(job->paths[i] + len - 3, ".gz") == 0;
        if (!it->on_disk || packed)
            return 0;
        bytes += (int64_t)it->bytes;
    }
    return bytes;
}

static enum weir_status settle(struct weir_job *job, struct weir_error *err)
{
    enum weir_status status = describe(job, err);
    if (!status)
        status = map(job, err);
    if (status)
        return status;
    make_plan(job);
    job->bytes_total = job->reader ? bytes_of(job) : 0;
    return WEIR_OK;
}

/* --- a new job -------------------------------------------------------------------------------- */

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
    if (!job->options.name)
        job->options.name = default_name(job->options.directory);
    draw_id(job);
    enum weir_status status = keep_paths(job, files, err);
    if (!status)
        status = open_files(job, &options, err);
    return status ? status : settle(job, err);
}

enum weir_status weir_job_prepare(struct weir_client *client,
                                  const struct weir_job_options *options,
                                  const struct weir_job_files *files,
                                  const struct weir_journal_hooks *hooks, struct weir_job **ret,
                                  struct weir_error *err)
{
    enum weir_status status = check_options(options, err);
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

static enum weir_status look_back(struct weir_job *job, struct weir_error *err)
{
    struct weir_totals totals;
    uint64_t high;
    enum weir_status status = weir_journal_totals(job->journal, &totals, err);
    if (!status)
        status = weir_journal_high_row(job->journal, &high, err);
    if (status)
        return status;
    job->before = totals.pass[0];
    read_read_note(job);
    job->read_before = high > job->read_before ? high : job->read_before;
    job->plan.tainted_through = read_note(job, WEIR_REACH_NOTE);
    return WEIR_OK;
}

static enum weir_status load_blocks(struct weir_job *job, uint32_t file, struct weir_error *err)
{
    struct weir_cursor cursor;
    const struct weir_entry *entry;
    enum weir_status status =
        weir_cursor_init(&cursor, weir_journal_view(job->journal), WEIR_CURSOR_BLOCKS, file, err);
    if (status)
        return status;
    while (!(status = weir_cursor_next(&cursor, &entry, err)) && entry) {
        job->blocks = weir_realloc(job->blocks, job->block_count + 1, sizeof(*job->blocks));
        job->blocks[job->block_count++] = (struct weir_block){
            .file = entry->block.file,
            .index = entry->block.number,
            .bytes = entry->block.bytes,
            .last = entry->block.last,
            .hash = entry->block.hash,
        };
    }
    weir_cursor_release(&cursor);
    return status;
}

static enum weir_status find_entrance(struct weir_job *job, struct weir_entrance *ret,
                                      struct weir_error *err)
{
    struct weir_skipper skipper;
    enum weir_status status = weir_skipper_init(&skipper, weir_journal_view(job->journal), err);
    if (status)
        return status;
    status = weir_skipper_entrance(&skipper, ret, err);
    weir_skipper_release(&skipper);
    return status;
}

static enum weir_status reopen_files(struct weir_job *job, const struct weir_job_facts *facts,
                                     int stdin_fd, struct weir_error *err)
{
    struct weir_entrance entrance;
    enum weir_status status = find_entrance(job, &entrance, err);
    uint32_t count =
        facts->input_count ? (uint32_t)facts->input_count : 1; /* or what is handed in */
    for (uint32_t i = 0; !status && i < count; i++)
        status = load_blocks(job, i, err);
    if (status)
        return status;
    struct weir_file_identity *identities =
        weir_calloc(facts->input_count ? facts->input_count : 1, sizeof(*identities));
    for (size_t i = 0; i < facts->input_count; i++)
        identities[i] = (struct weir_file_identity){
            .on_disk = facts->inputs[i].on_disk,
            .bytes = facts->inputs[i].size_bytes,
            .head = facts->inputs[i].hash_first,
            .tail = facts->inputs[i].hash_last,
        };
    struct weir_reader_options options = {
        .stdin_fd = stdin_fd,
        .identities = identities,
        .blocks = job->blocks,
        .block_count = job->block_count,
        .enter = { .file = entrance.file, .offset = entrance.offset },
        .enter_number = entrance.number > 1 ? entrance.number : 0,
    };
    status = open_files(job, &options, err);
    free(identities);
    return status;
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
        status = reopen_files(job, facts, stdin_fd, err);
    if (!status && job->path_count && weir_job_is_finished(job))
        return WEIR_OK; /* nobody has to be asked */
    if (!status)
        status = settle(job, err);
    if (!status && strcmp(facts->organisation, job->organisation) != 0)
        status = weir_fail(err, WEIR_E_INVALID,
                           "the job belongs to organisation %s, and \"%s\" is organisation %s now",
                           facts->organisation, facts->url, job->organisation);
    return status;
}

enum weir_status weir_job_prepare_again(struct weir_client *client,
                                        const struct weir_job_options *options, bool stdin_given,
                                        int stdin_fd, const struct weir_journal_hooks *hooks,
                                        struct weir_job **ret, struct weir_error *err)
{
    enum weir_status status = check_run_options(options, err);
    if (status)
        return status;
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
           it->done + it->absent + it->skipped + it->rejected == job->read_before;
}
