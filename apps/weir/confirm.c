/* SPDX-License-Identifier: MIT */
/* Asking before rows are changed; see confirm.h. */
#include "confirm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "figures.h"
#include "job_warning.h"
#include "records/reader.h"
#include "records/source.h"
#include "say.h"

/* What comes by a pipe can be read once only. */
static bool has_stream(const struct weir_job_files *files)
{
    for (size_t i = 0; i < files->path_count; i++) {
        if (weir_source_is_stream(files->paths[i]))
            return true;
    }
    return false;
}

static bool has_stdin(const struct weir_job_files *files)
{
    for (size_t i = 0; i < files->path_count; i++) {
        if (strcmp(files->paths[i], "-") == 0)
            return true;
    }
    return false;
}

enum weir_status confirm_possible(const struct weir_job_files *files, struct weir_error *err)
{
    if (has_stdin(files))
        return weir_fail(err, WEIR_E_INVALID,
                         "it asks before it changes rows, and standard input has the rows: give "
                         "--yes");
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return weir_fail(err, WEIR_E_INVALID,
                         "it asks before it changes rows, and there is no terminal to ask on: give "
                         "--yes");
    return WEIR_OK;
}

static enum weir_status count_all(struct weir_reader *reader, uint64_t *ret, struct weir_error *err)
{
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    enum weir_step step;
    uint64_t rows = 0;
    while ((step = weir_reader_next(reader, arena, &record, err)) == WEIR_STEP_RECORD) {
        rows++;
        weir_arena_reset(arena);
    }
    weir_arena_unref(arena);
    if (step == WEIR_STEP_BROKEN)
        return err->status;
    *ret = rows;
    return WEIR_OK;
}

/* The files as the job reads them. */
static enum weir_status count_rows(const struct weir_job *job, const struct weir_job_files *files,
                                   uint64_t *ret, struct weir_error *err)
{
    const struct weir_job_options *given = weir_job_options(job);
    const struct weir_reader_options options = {
        .paths = files->paths,
        .path_count = files->path_count,
        .stdin_fd = files->stdin_fd,
        .format = given->format ? weir_format_named(given->format) : NULL,
        .format_options = { .raw = given->raw },
    };
    struct weir_reader *reader;
    enum weir_status status = weir_reader_new(&options, &reader, err);
    if (status)
        return status;
    status = count_all(reader, ret, err);
    weir_reader_free(reader);
    return status;
}

/* What is not to be expected: the terminal is the last place to say so. */
static void show_warnings(const struct weir_job *job)
{
    const char *elastic = job_warning_elastic(weir_job_options(job), weir_job_table(job));
    struct weir_buf owner;
    weir_buf_init(&owner, 1024);
    job_warning_owner(weir_job_options(job), &owner);
    if (owner.len)
        say("owner        %s", weir_buf_text(&owner));
    if (elastic)
        say("elastic      %s", elastic);
    weir_buf_release(&owner);
}

static void show(const struct weir_job *job, const char *rows)
{
    const struct weir_job_options *options = weir_job_options(job);
    say("environment  %s", weir_job_url(job));
    say("table        %s", options->table);
    const char *by = options->key ? options->key : options->id_from;
    say("operation    %s%s%s", weir_operation_name(options->operation), by ? " by " : "",
        by ? by : "");
    say("rows         %s", rows);
    show_warnings(job);
}

bool confirm_read_answer(void)
{
    char answer[16] = "";
    if (!fgets(answer, sizeof(answer), stdin))
        say("%s", "");
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

enum weir_status confirm_ask(const struct weir_job *job, const struct weir_job_files *files,
                             bool *ret, struct weir_error *err)
{
    struct weir_error why = { 0 };
    uint64_t rows = 0;
    bool countable = !has_stream(files);
    enum weir_status status = countable ? count_rows(job, files, &rows, &why) : WEIR_OK;
    if (status) {
        if (err)
            *err = why;
        return status;
    }
    show(job, countable ? figure_count(rows).text : "an unknown number");
    say_part("Go on? [y/N] ");
    *ret = confirm_read_answer();
    return WEIR_OK;
}
