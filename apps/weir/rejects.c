/* SPDX-License-Identifier: MIT */
/*
 * weir rejects: the rejected rows of a job on standard output. They come from the journal, so they
 * are there whatever became of the job; superseded rows are left out, as in its rejects file,
 * unless reasons are asked for, which say so.
 */
#include "rejects.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "command.h"
#include "exit_code.h"
#include "job_place.h"
#include "journal/place.h"
#include "output.h"
#include "records/format.h"

/* What the command line says. */
struct words {
    bool with_reasons;
    bool help;
};

/* What is being written. */
struct writing {
    const struct weir_job_facts *facts;
    bool with_reasons;
    uint64_t row; /* the last that was written, plus one */
};

static int fail(const struct weir_error *err)
{
    command_refuse(&command_rejects, err->message);
    return exit_code_of(err);
}

/* The last line of a file may have had no end; here another may follow. */
static void write_row(const struct weir_job_facts *facts, const struct weir_reject *reject)
{
    struct weir_str bytes = reject->bytes;
    fwrite(bytes.ptr, 1, bytes.len, stdout);
    if (bytes.len > 0 && bytes.ptr[bytes.len - 1] != '\n' && bytes.ptr[bytes.len - 1] != '\r')
        fputs(weir_job_facts_line_end(facts), stdout);
}

/* A row may be rejected in two passes, and is fed in again once. */
static void write_reject(struct writing *writing, const struct weir_reject *reject)
{
    bool left_out = reject->superseded && !writing->with_reasons;
    if (left_out || !reject->bytes.len || reject->row + 1 == writing->row)
        return;
    writing->row = reject->row + 1;
    if (writing->with_reasons)
        rejects_print_reason(stdout, writing->facts, reject);
    else
        write_row(writing->facts, reject);
}

static enum weir_status write_all(struct writing *writing, const char *directory,
                                  struct weir_error *err)
{
    struct weir_path database = weir_path_join(directory, WEIR_PLACE_DATABASE);
    const struct weir_journal_view source = { .path = database.text, .serial_max = INT64_MAX };
    struct weir_rejects rejects;
    const struct weir_reject *reject;
    enum weir_status status = weir_rejects_init(&rejects, &source, err);
    if (status)
        return status;
    while (!ferror(stdout) && !(status = weir_rejects_next(&rejects, &reject, err)) && reject)
        write_reject(writing, reject);
    weir_rejects_release(&rejects);
    return status;
}

static int print(const struct weir_job_listing *job, const struct words *words)
{
    struct writing writing = { .facts = &job->facts, .with_reasons = words->with_reasons };
    struct weir_error err = { 0 };
    if (words->with_reasons && !weir_format_named(job->facts.suffix))
        return command_refuse(&command_rejects, "the job's rows are of a format that is not known");
    if (words->with_reasons)
        rejects_print_header(stdout, &job->facts);
    else
        fwrite(job->facts.header.ptr, 1, job->facts.header.len, stdout);
    if (write_all(&writing, job->path, &err))
        return fail(&err);
    return output_end(&command_rejects);
}

static int reject(const char *name, const struct words *words)
{
    struct weir_job_listing job;
    struct weir_error err = { 0 };
    char *directory;
    int code;
    if (job_place_find(name, &directory, &err))
        return fail(&err);
    if (weir_job_listing_init(&job, directory, &err)) {
        code = fail(&err);
    } else {
        code = print(&job, words);
        weir_job_listing_release(&job);
    }
    free(directory);
    return code;
}

static size_t list_args(struct words *words, struct arg *ret)
{
    const struct arg args[] = {
        { .name = "--with-reasons", .flag = &words->with_reasons },
        ARGS_HELP(&words->help),
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static int run(int argc, char **argv)
{
    struct words words = { 0 };
    struct arg args[ARGS_MAX];
    int code;
    if (!command_parse(&command_rejects, args, list_args(&words, args), &argc, argv, &code))
        return code;
    if (argc != 1)
        return command_refuse(&command_rejects, "it takes one job; see weir help rejects");
    return reject(argv[0], &words);
}

static size_t options(struct arg *ret)
{
    static struct words none;
    return list_args(&none, ret);
}

const struct command command_rejects = {
    .name = "rejects",
    .summary = "the rejected rows of a job, as they came or with their reasons",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir rejects JOB [--with-reasons]\n"
        "\n"
        "Writes the rejected rows of a job (its id, or its directory) to standard output\n"
        "as they came, with the header first where there is one: mend them and feed them\n"
        "in again. It reads the journal, so it works for a job that runs or was killed.\n"
        "\n"
        "  --with-reasons      CSV and TSV: a last column, reason; a row that cannot be\n"
        "                      read as one stands in the first cell as it came. JSON\n"
        "                      Lines: an object for each row, with the reason in its\n"
        "                      parts and the row as record. Superseded rows (a later\n"
        "                      row has the same key) are left out otherwise; here they\n"
        "                      stand, and the reason says so\n"
        "\n"
        "exit code: 0 written, 2 usage or no such job, 7 local I/O\n"
        "\n"
        "example:\n"
        "  weir rejects 20261116-054512-account-create-7f3a --with-reasons > why.csv\n",
    /* clang-format on */
};
