/* SPDX-License-Identifier: MIT */
/*
 * The files of a job: opened by a new one, compared and entered by a later run, and again by each
 * pass; see job_parts.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

/* --- a new job -------------------------------------------------------------------------------- */

/* What the shell writes for <(…) leads to a pipe that has no name: no later run, nor pass, would
 * find it. */
static enum weir_status fail_path(const char *path, struct weir_error *err)
{
    int error = errno;
    struct stat about;
    if (error == ENOENT && !stat(path, &about))
        return weir_fail(err, WEIR_E_INVALID,
                         "input \"%s\" is a pipe without a name, which a resume could not find "
                         "again; send it to standard input, and name that as \"-\"",
                         path);
    return weir_fail(err, error == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                     "input \"%s\" cannot be opened: %s", path, strerror(error));
}

/* As a later run, begun elsewhere, will find it. */
static enum weir_status keep_path(struct weir_job *job, size_t i, const char *path,
                                  struct weir_error *err)
{
    char real[PATH_MAX];
    struct stat about;
    if (strcmp(path, "-") != 0) {
        if (!realpath(path, real))
            return fail_path(path, err);
        if (!stat(real, &about) && S_ISDIR(about.st_mode))
            return weir_fail(err, WEIR_E_INVALID, "input \"%s\" is a directory; it must be a file",
                             path);
        path = real;
    }
    job->paths[i] = weir_job_keep(job, path);
    return job->paths[i] ? WEIR_OK : weir_fail(err, WEIR_E_TOO_BIG, "too many input files");
}

enum weir_status weir_job_keep_paths(struct weir_job *job, const struct weir_job_files *files,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    job->path_count = files ? files->path_count : 0;
    job->paths = weir_calloc(job->path_count ? job->path_count : 1, sizeof(*job->paths));
    for (size_t i = 0; !status && i < job->path_count; i++)
        status = keep_path(job, i, files->paths[i], err);
    return status;
}

/* --- formats ---------------------------------------------------------------------------------- */

/* Standard input has no name to tell it by. */
static const struct weir_format *format_of(const struct weir_job *job)
{
    const char *path = job->paths[0];
    if (job->options.format)
        return weir_format_named(job->options.format);
    return strcmp(path, "-") == 0 ? &weir_format_csv : weir_format_of(path);
}

/* A file that says by its name that it is something else than the first. */
static enum weir_status check_names(const struct weir_job *job, const struct weir_format *format,
                                    struct weir_error *err)
{
    for (size_t i = 1; format && !job->options.format && i < job->path_count; i++) {
        const struct weir_format *own = weir_format_of(job->paths[i]);
        if (own && own != format)
            return weir_fail(err, WEIR_E_INVALID,
                             "input \"%s\" is %s by its name; all files must be %s as the first is",
                             job->paths[i], own->name, format->name);
    }
    return WEIR_OK;
}

static enum weir_status check_raw(const struct weir_job *job, const struct weir_format *format,
                                  struct weir_error *err)
{
    if (job->options.raw && format && format != &weir_format_jsonl)
        return weir_fail(err, WEIR_E_INVALID,
                         "raw rows are objects, and \"%s\" is %s; it must be jsonl", job->paths[0],
                         format->name);
    return WEIR_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

enum weir_status weir_job_open_files(struct weir_job *job, struct weir_reader_options *options,
                                     struct weir_reader **ret, struct weir_error *err)
{
    if (!job->path_count)
        return WEIR_OK;
    options->format = format_of(job);
    options->format_options.raw = job->options.raw;
    enum weir_status status = check_raw(job, options->format, err);
    if (!status)
        status = check_names(job, options->format, err);
    if (status)
        return status;
    if (job->stop_fds[0] < 0 && pipe2(job->stop_fds, O_CLOEXEC))
        return weir_fail(err, WEIR_E_IO, "no pipe could be made: %s", strerror(errno));
    options->paths = job->paths;
    options->path_count = job->path_count;
    options->stop_fd = job->stop_fds[0];
    return weir_reader_new(options, ret, err);
}

/* Of plain files; of others it is not known how long they are. */
int64_t weir_job_bytes(const struct weir_job *job)
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

bool weir_job_reads_streams(const struct weir_job *job)
{
    for (size_t i = 0; i < job->path_count; i++) {
        if (!weir_reader_identities(job->reader)[i].on_disk)
            return true;
    }
    return false;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The names of the first record, if it is one. */
static void keep_names(struct weir_job *job, const struct weir_record *record)
{
    uint32_t count = record->problem ? 0 : record->cell_count;
    job->first_file = record->place.file;
    struct weir_str *names = weir_arena_take(job->texts, (count ? count : 1) * sizeof(*names));
    job->first_names = (struct weir_columns){ names, 0 };
    for (uint32_t i = 0; names && i < count; i++) {
        char *copy = weir_arena_take(job->texts, record->names[i].len + 1);
        if (!copy)
            return;
        memcpy(copy, record->names[i].ptr, record->names[i].len);
        names[job->first_names.count++] = weir_str(copy, record->names[i].len);
    }
}

static enum weir_status read_first(struct weir_job *job, struct weir_error *err)
{
    struct weir_reader_options options = { .stdin_fd = -1 };
    struct weir_reader *reader = NULL;
    struct weir_record record;
    enum weir_status status = weir_job_open_files(job, &options, &reader, err);
    if (status || !reader) /* rows that are handed in have no files */
        return status;
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    if (weir_reader_next(reader, arena, &record, err) == WEIR_STEP_RECORD)
        keep_names(job, &record);
    weir_arena_unref(arena);
    weir_reader_free(reader);
    return WEIR_OK;
}

enum weir_status weir_job_columns(struct weir_job *job, struct weir_columns *ret,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    bool named = job->reader && weir_reader_format(job->reader) == &weir_format_jsonl;
    *ret = (struct weir_columns){ 0 };
    if (job->reader && !named)
        *ret = weir_reader_columns(job->reader);
    if (!named || job->options.raw || weir_job_reads_streams(job))
        return WEIR_OK;
    if (!job->first_names.names)
        status = read_first(job, err);
    *ret = job->first_names;
    return status;
}

const char *weir_job_input_name(const struct weir_job *job)
{
    return job->reader ? weir_reader_name(job->reader, job->first_file) : NULL;
}

/* --- again ------------------------------------------------------------------------------------ */

static enum weir_status load_file_blocks(struct weir_job *job, const struct weir_journal_view *view,
                                         uint32_t file, struct weir_error *err)
{
    struct weir_cursor cursor;
    const struct weir_entry *entry;
    enum weir_status status = weir_cursor_init(&cursor, view, WEIR_CURSOR_BLOCKS, file, err);
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

/* What was journaled of all of them, or of what was handed in. */
static enum weir_status load_blocks(struct weir_job *job, const struct weir_journal_view *view,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint32_t count = job->path_count ? (uint32_t)job->path_count : 1;
    job->block_count = 0;
    for (uint32_t i = 0; !status && i < count; i++)
        status = load_file_blocks(job, view, i, err);
    return status;
}

static enum weir_status find_entrance(const struct weir_journal_view *view, enum weir_pass pass,
                                      struct weir_entrance *ret, struct weir_error *err)
{
    struct weir_skipper skipper;
    enum weir_status status = weir_skipper_init(&skipper, view, pass, err);
    if (status)
        return status;
    status = weir_skipper_entrance(&skipper, ret, err);
    weir_skipper_release(&skipper);
    return status;
}

static struct weir_file_identity *copy_identities(const struct weir_job_facts *facts)
{
    struct weir_file_identity *identities =
        weir_calloc(facts->input_count ? facts->input_count : 1, sizeof(*identities));
    for (size_t i = 0; i < facts->input_count; i++)
        identities[i] = (struct weir_file_identity){
            .on_disk = facts->inputs[i].on_disk,
            .bytes = facts->inputs[i].size_bytes,
            .head = facts->inputs[i].hash_first,
            .tail = facts->inputs[i].hash_last,
        };
    return identities;
}

enum weir_status weir_job_reopen_files(struct weir_job *job, const struct weir_journal_view *view,
                                       enum weir_pass pass, int stdin_fd, struct weir_reader **ret,
                                       struct weir_error *err)
{
    struct weir_entrance entrance;
    enum weir_status status = find_entrance(view, pass, &entrance, err);
    if (!status)
        status = load_blocks(job, view, err);
    if (status)
        return status;
    struct weir_file_identity *identities = copy_identities(weir_journal_facts(job->journal));
    struct weir_reader_options options = {
        .stdin_fd = stdin_fd,
        .identities = identities,
        .blocks = job->blocks,
        .block_count = job->block_count,
        .enter = { .file = entrance.file, .offset = entrance.offset },
        .enter_number = entrance.number > 1 ? entrance.number : 0,
    };
    status = weir_job_open_files(job, &options, ret, err);
    free(identities);
    return status;
}
