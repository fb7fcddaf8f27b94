/* SPDX-License-Identifier: MIT */
/*
 * weir map: a mapping file to edit, made of the names that an input has (input_names.c) and of what
 * the service says of the table. An edited one is work: none is written over unless that was asked
 * for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "ask_table.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command.h"
#include "exit_code.h"
#include "input_names.h"
#include "output.h"
#include "records/mapping.h"
#include "resume_line.h"
#include "say.h"
#include "settings.h"

/* What the command line says. */
struct words {
    struct settings_args settings;
    const char *out;
    const char *format;
    bool force;
    const char *table;
    const char *file;
    bool owned; /* rows of the table have owners; known once its text is made */
};

/* --- the text --------------------------------------------------------------------------------- */

/* The tables that lookups may point to, for the names of their keys. */
struct others {
    struct weir_table **tables;
    size_t count;
};

static void others_release(struct others *others)
{
    for (size_t i = 0; i < others->count; i++)
        weir_table_free(others->tables[i]);
    free(others->tables);
}

static enum weir_status ask_others(struct weir_client *client, const struct weir_table *table,
                                   struct weir_columns columns, struct others *ret,
                                   struct weir_error *err)
{
    struct weir_table_list names = { 0 };
    if (weir_mapping_tables(table, columns, NULL, &names, NULL))
        return WEIR_OK; /* too many tables: a mapping is there to say which are meant */
    enum weir_status status = WEIR_OK;
    ret->tables = weir_calloc(names.count + 1, sizeof(*ret->tables));
    for (uint32_t i = 0; i < names.count && !status; i++) {
        status = ask_table(client, names.names[i], &ret->tables[ret->count], err);
        ret->count += status == WEIR_OK;
    }
    weir_table_list_release(&names);
    return status;
}

static enum weir_status write_template(struct weir_client *client, struct words *words,
                                       const struct input_names *names, struct weir_buf *text,
                                       struct weir_error *err)
{
    struct weir_columns columns = input_names_columns(names);
    struct weir_table *table = NULL;
    struct others others = { 0 };
    enum weir_status status = ask_table(client, words->table, &table, err);
    words->owned = !status && table->ownership == WEIR_OWNERSHIP_USER;
    if (!status)
        status = ask_others(client, table, columns, &others, err);
    if (!status)
        weir_spec_template(text, table, columns, (const struct weir_table *const *)others.tables,
                           others.count, names->arena != NULL);
    if (text->overflow)
        status = weir_fail(err, WEIR_E_TOO_BIG, "the mapping would have more than %zu bytes",
                           text->bytes_max);
    others_release(&others);
    weir_table_free(table);
    return status;
}

static enum weir_status make_text(const struct settings *settings, struct words *words,
                                  const struct input_names *names, struct weir_buf *text,
                                  struct weir_error *err)
{
    struct weir_client *client;
    enum weir_status status = weir_client_new(settings->options, &settings->sink, &client, err);
    if (status)
        return status;
    status = write_template(client, words, names, text, err);
    weir_client_free(client);
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

static enum weir_status refuse_existing(const char *path, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "\"%s\" is there already: --force writes over it", path);
}

static enum weir_status write_to(int fd, const struct weir_buf *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t written = write(fd, text->ptr + at, text->len - at);
        if (written < 0 && errno != EINTR)
            return WEIR_E_IO;
        at += written > 0 ? (size_t)written : 0;
    }
    return WEIR_OK;
}

/* All of it, or the file is gone again; errno says why. */
static enum weir_status fill(int fd, const char *path, const struct weir_buf *text)
{
    enum weir_status status = write_to(fd, text);
    int why = errno;
    if (close(fd) != 0 && !status) {
        status = WEIR_E_IO;
        why = errno;
    }
    if (status)
        unlink(path);
    errno = why;
    return status;
}

static enum weir_status write_new(const char *path, const struct weir_buf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? WEIR_E_IO : fill(fd, path, text);
}

/* Beside the old one, which stays until the new one is whole, and with the same permissions. */
static enum weir_status write_over(const char *path, mode_t mode, const struct weir_buf *text)
{
    struct weir_buf beside;
    weir_buf_init(&beside, strlen(path) + 8);
    weir_buf_printf(&beside, "%s.XXXXXX", path);
    int fd = mkostemp(beside.ptr, O_CLOEXEC);
    enum weir_status status = fd < 0 ? WEIR_E_IO : fill(fd, beside.ptr, text);
    if (!status && (chmod(beside.ptr, mode) != 0 || rename(beside.ptr, path) != 0)) {
        status = WEIR_E_IO;
        unlink(beside.ptr);
    }
    weir_buf_release(&beside);
    return status;
}

static enum weir_status write_file(const struct words *words, const struct weir_buf *text,
                                   struct weir_error *err)
{
    struct stat old;
    bool over = words->force && stat(words->out, &old) == 0;
    enum weir_status status =
        over ? write_over(words->out, old.st_mode & 07777, text) : write_new(words->out, text);
    if (status && errno == EEXIST)
        return refuse_existing(words->out, err);
    if (status)
        return weir_fail(err, WEIR_E_IO, "\"%s\" could not be written: %s", words->out,
                         strerror(errno));
    return WEIR_OK;
}

static enum weir_status write_text(const struct words *words, const struct weir_buf *text,
                                   struct weir_error *err)
{
    if (words->out)
        return write_file(words, text, err);
    fputs(weir_buf_text(text), stdout); /* whether it got there is asked at the end */
    return WEIR_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

/* Several connections would share the rows out, unless the input says whose they are. */
static bool must_say_owner(const struct settings *settings, const struct words *words,
                           struct weir_columns columns)
{
    bool owned = words->owned && settings->options->connection_count > 1;
    for (uint32_t i = 0; owned && i < columns.count; i++)
        owned = !weir_str_starts_nocase(columns.names[i], "ownerid");
    return owned;
}

/* A line that can be pasted, whatever the files are called. */
static void say_next(const struct words *words, uint32_t columns, bool owner)
{
    const char *const operands[] = { words->table, words->file, "--mapping", words->out };
    struct weir_buf line;
    weir_buf_init(&line, SAY_LINE_MAX - 256);
    weir_buf_add_text(&line, "weir check");
    for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
        weir_buf_add_char(&line, ' ');
        resume_line_quote(&line, operands[i]);
    }
    if (words->settings.config) {
        weir_buf_add_text(&line, " --config ");
        resume_line_quote(&line, words->settings.config);
    }
    if (owner)
        weir_buf_add_text(&line, " --owner caller");
    say("weir map: %u columns in %s; edit it, then try it with\n  %s", columns, words->out,
        weir_buf_text(&line));
    weir_buf_release(&line);
}

static enum weir_status map(const struct settings *settings, struct words *words,
                            struct weir_error *err)
{
    struct input_names names;
    struct weir_buf text;
    enum weir_status status = input_names_init(&names, words->file, words->format, err);
    if (status)
        return status;
    weir_buf_init(&text, WEIR_SPEC_BYTES_MAX);
    status = make_text(settings, words, &names, &text, err);
    if (!status)
        status = write_text(words, &text, err);
    if (!status && words->out)
        say_next(words, input_names_columns(&names).count,
                 must_say_owner(settings, words, input_names_columns(&names)));
    weir_buf_release(&text);
    input_names_release(&names);
    return status;
}

static enum weir_status check_words(struct words *words, int operands, char **argv,
                                    struct weir_error *err)
{
    if (operands != 2)
        return weir_fail(err, WEIR_E_INVALID, "it takes a table and a file; see weir help map");
    words->table = argv[0];
    words->file = argv[1];
    if (words->out && strcmp(words->out, "-") == 0)
        words->out = NULL;
    if (words->out && !words->force && access(words->out, F_OK) == 0)
        return refuse_existing(words->out, err);
    return input_names_check_format(words->format, err);
}

static int work(struct words *words, int operands, char **argv)
{
    struct settings settings = { 0 };
    struct weir_error err = { 0 };
    enum weir_status status = check_words(words, operands, argv, &err);
    if (!status)
        status = settings_read(&settings, &words->settings, &err);
    if (!status)
        status = map(&settings, words, &err);
    settings_release(&settings);
    if (!status)
        return words->out ? EXIT_DONE : output_end(&command_map);
    command_refuse(&command_map, err.message);
    return exit_code_of(&err);
}

static size_t list_args(struct words *words, struct arg *ret)
{
    const struct arg args[] = {
        SETTINGS_ARGS(&words->settings),
        { .name = "-o", .text = &words->out },
        { .name = "--format", .text = &words->format },
        { .name = "--force", .flag = &words->force },
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static size_t options(struct arg *ret)
{
    static struct words none;
    return list_args(&none, ret);
}

static int run(int argc, char **argv)
{
    struct words words = { 0 };
    struct arg args[ARGS_MAX];
    int code;
    if (!command_parse(&command_map, args, list_args(&words, args), &argc, argv, &code))
        return code;
    return work(&words, argc, argv);
}

const struct command command_map = {
    .name = "map",
    .summary = "write a mapping file to edit: which column of a file goes where",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir map TABLE FILE [-o OUT] [OPTION]...\n"
        "\n"
        "Reads the names that a file has (the header; of JSON Lines the members of the\n"
        "first hundred objects), asks the service for the table, and writes a mapping\n"
        "file: an entry for every name, with the column that has this name or label, and\n"
        "comments that say what that column takes. A name that is merely near is ignored,\n"
        "and the column suggested. Edit it, try it with weir check, give it to create,\n"
        "update, upsert and delete with --mapping.\n"
        "\n"
        "  -o OUT              a file, instead of standard output\n"
        "  --force             write over a file that is there\n"
        "  --format F          csv, tsv or jsonl (by the name of the file; - is csv)\n"
        "  --config FILE, --url URL, --set KEY=VALUE   the settings; see weir-config(5)\n"
        "  --log-level L, --log-format text|json       the log; see weir(1)\n"
        "\n"
        "exit code: 0 written, 2 usage, configuration, no such table, or OUT is there\n"
        "already, 4 credentials or privilege, 6 throttled, 7 local I/O, 10 unreachable\n"
        "\n"
        "example:\n"
        "  weir map account accounts.csv -o account.map.json\n",
    /* clang-format on */
};
