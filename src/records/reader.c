/* SPDX-License-Identifier: MIT */
/* From files to records; see reader.h. */
#include "records/reader.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

struct weir_reader {
    struct weir_reader_options options;
    const struct weir_format *format;
    void *state;
    struct weir_input *input;
    struct weir_file_identity *identities;
    uint32_t file;
    bool broken;
    struct weir_error why;
};

const char *weir_reader_name(const struct weir_reader *reader, uint32_t file)
{
    return weir_source_name(reader->options.paths[file]);
}

struct weir_columns weir_reader_columns(const struct weir_reader *reader)
{
    return reader->format->columns(reader->state);
}

const char *weir_reader_line_end(const struct weir_reader *reader)
{
    return reader->format->line_end(reader->state);
}

const struct weir_format *weir_reader_format(const struct weir_reader *reader)
{
    return reader->format;
}

const struct weir_file_identity *weir_reader_identities(const struct weir_reader *reader)
{
    return reader->identities;
}

bool weir_reader_take_block(struct weir_reader *reader, struct weir_block *ret)
{
    return weir_input_take_block(reader->input, ret);
}

bool weir_reader_partial_block(const struct weir_reader *reader, struct weir_block *ret)
{
    return weir_input_partial_block(reader->input, ret);
}

bool weir_reader_grown_block(struct weir_reader *reader, size_t step, struct weir_block *ret)
{
    return weir_input_grown_block(reader->input, step, ret);
}

bool weir_reader_may_wait(const struct weir_reader *reader)
{
    for (size_t i = reader->file; i < reader->options.path_count; i++) {
        if (!reader->identities[i].on_disk)
            return true;
    }
    return false;
}

void weir_reader_watch(struct weir_reader *reader, struct weir_idle idle)
{
    weir_input_watch(reader->input, idle);
}

/* ---- what can be said before anything is read ---- */

static enum weir_status check_paths(const struct weir_reader_options *options,
                                    struct weir_error *err)
{
    if (!options->path_count)
        return weir_fail(err, WEIR_E_INVALID, "no input file is named");
    if (options->path_count > WEIR_INPUT_FILES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "\"%zu\" input files are named; at most %d may be",
                         options->path_count, WEIR_INPUT_FILES_MAX);
    size_t streams = 0;
    for (size_t i = 0; i < options->path_count; i++)
        streams += !strcmp(options->paths[i], "-");
    if (streams > 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "standard input (\"-\") is named %zu times; it can be read once", streams);
    if (options->enter_number && options->enter.file >= options->path_count)
        return weir_fail(err, WEIR_E_INVALID,
                         "the next row stands in file number %" PRIu32 "; only %zu are named",
                         options->enter.file + 1, options->path_count);
    return WEIR_OK;
}

/* All files have the format of the first unless one was asked for. */
static enum weir_status choose_format(const struct weir_reader_options *options,
                                      const struct weir_format **ret, struct weir_error *err)
{
    const struct weir_format *chosen = options->format;
    for (size_t i = 0; i < options->path_count && !options->format; i++) {
        const char *path = options->paths[i];
        const struct weir_format *own = weir_format_of(path);
        if (!own)
            return weir_fail(
                err, WEIR_E_INVALID,
                "the format of input \"%s\" cannot be told from its name; say it with --format "
                "csv, tsv or jsonl, or name the file .csv, .tsv, .jsonl or .ndjson, with .gz if it "
                "is packed",
                weir_source_name(path));
        if (chosen && own != chosen)
            return weir_fail(err, WEIR_E_INVALID,
                             "input \"%s\" is %s by its name; all files must be %s as the first is",
                             path, own->name, chosen->name);
        chosen = own;
    }
    *ret = chosen;
    return WEIR_OK;
}

/* A stream is not touched: there is nothing that could be read twice. */
static enum weir_status look_at(const char *path, struct weir_file_identity *ret,
                                struct weir_error *err)
{
    *ret = (struct weir_file_identity){ 0 };
    if (weir_source_is_stream(path))
        return WEIR_OK;
    struct weir_source source;
    enum weir_status status = weir_source_init(&source, path, -1, 0, (struct weir_idle){ 0 }, err);
    if (status)
        return status;
    status = weir_file_identity_read(source.fd, source.name, ret, err);
    weir_source_release(&source);
    return status;
}

static enum weir_status look_at_files(struct weir_reader *reader, struct weir_error *err)
{
    const struct weir_reader_options *options = &reader->options;
    for (size_t i = 0; i < options->path_count; i++) {
        enum weir_status status = look_at(options->paths[i], &reader->identities[i], err);
        if (!status && options->identities)
            status =
                weir_file_identity_compare(weir_reader_name(reader, (uint32_t)i),
                                           &options->identities[i], &reader->identities[i], err);
        if (status)
            return status;
    }
    return WEIR_OK;
}

/* ---- files ---- */

/* What is read, and what makes records of it. */
struct pair {
    struct weir_input *input;
    const struct weir_format *format;
    void *state;
};

static struct pair pair_of(const struct weir_reader *reader)
{
    return (struct pair){ reader->input, reader->format, reader->state };
}

static enum weir_status feed(struct pair pair, struct weir_error *err)
{
    struct weir_piece piece;
    enum weir_status status = weir_input_read(pair.input, &piece, err);
    if (status)
        return status;
    pair.format->feed(pair.state, piece.offset, piece.bytes.ptr, piece.bytes.len, !piece.bytes.len);
    return WEIR_OK;
}

/* A format's message lacks its subject. */
static enum weir_status name_file(const char *name, const struct weir_error *why,
                                  struct weir_error *err)
{
    return weir_fail(err, why->status, "input \"%s\" %s", name, why->message);
}

/* Open file number `file` and read what precedes its first record. */
static enum weir_status read_head(struct pair pair, uint32_t file, const char *name,
                                  struct weir_error *err)
{
    enum weir_status status = weir_input_open(pair.input, file, err);
    if (status)
        return status;
    pair.format->begin(pair.state);
    struct weir_error why;
    enum weir_step step;
    while ((step = pair.format->head(pair.state, &why)) == WEIR_STEP_MORE) {
        status = feed(pair, err);
        if (status)
            return status;
    }
    return step == WEIR_STEP_BROKEN ? name_file(name, &why, err) : WEIR_OK;
}

static enum weir_status open_file(struct weir_reader *reader, uint32_t file, struct weir_error *err)
{
    reader->file = file;
    return read_head(pair_of(reader), file, weir_reader_name(reader, file), err);
}

/* The heads of all that lie on disk, beside the reading itself and without any comparing of blocks:
 * no more than a piece of each is read. */
static enum weir_status compare_heads(const struct weir_reader *reader, struct weir_error *err)
{
    const struct weir_reader_options *options = &reader->options;
    enum weir_status status = WEIR_OK;
    if (options->path_count == 1)
        return WEIR_OK;
    struct pair pair = {
        .input = weir_input_new(&(struct weir_input_options){
            .paths = options->paths, .path_count = (uint32_t)options->path_count, .stdin_fd = -1 }),
        .format = reader->format,
        .state = reader->format->open(&options->format_options),
    };
    for (uint32_t i = 0; i < options->path_count && !status; i++) {
        if (reader->identities[i].on_disk)
            status = read_head(pair, i, weir_reader_name(reader, i), err);
    }
    weir_input_free(pair.input);
    pair.format->free(pair.state);
    return status;
}

static enum weir_status enter(struct weir_reader *reader, struct weir_error *err)
{
    const struct weir_place *place = &reader->options.enter;
    reader->format->enter(reader->state, place->offset, place->line, reader->options.enter_number);
    return weir_input_skip_to(reader->input, place->offset, err);
}

/*
 * The columns are those of the first file, also if it has been read already. (Of a stream that has,
 * nothing is left: then they are those of the file at hand.)
 */
static enum weir_status open_first(struct weir_reader *reader, struct weir_error *err)
{
    uint32_t file = reader->options.enter_number ? reader->options.enter.file : 0;
    enum weir_status status = WEIR_OK;
    if (file == 0 || reader->identities[0].on_disk)
        status = open_file(reader, 0, err);
    if (!status && file)
        status = open_file(reader, file, err);
    if (!status && reader->options.enter_number)
        status = enter(reader, err);
    return status;
}

enum weir_status weir_reader_new(const struct weir_reader_options *options,
                                 struct weir_reader **ret, struct weir_error *err)
{
    const struct weir_format *format = NULL;
    enum weir_status status = check_paths(options, err);
    if (!status)
        status = choose_format(options, &format, err);
    if (status)
        return status;
    struct weir_reader *reader = weir_calloc(1, sizeof(*reader));
    reader->options = *options;
    reader->format = format;
    reader->state = format->open(&options->format_options);
    reader->identities = weir_calloc(options->path_count, sizeof(*reader->identities));
    reader->input =
        weir_input_new(&(struct weir_input_options){ .paths = options->paths,
                                                     .path_count = (uint32_t)options->path_count,
                                                     .stdin_fd = options->stdin_fd,
                                                     .stop_fd = options->stop_fd,
                                                     .blocks = options->blocks,
                                                     .block_count = options->block_count });
    status = look_at_files(reader, err);
    if (!status)
        status = compare_heads(reader, err);
    if (!status)
        status = open_first(reader, err);
    if (status) {
        weir_reader_free(reader);
        return status;
    }
    *ret = reader;
    return WEIR_OK;
}

void weir_reader_free(struct weir_reader *reader)
{
    if (!reader)
        return;
    weir_input_free(reader->input);
    reader->format->free(reader->state);
    free(reader->identities);
    free(reader);
}

/* ---- records ---- */

static enum weir_step give_up(struct weir_reader *reader, struct weir_error *err)
{
    reader->broken = true;
    if (err)
        *err = reader->why;
    return WEIR_STEP_BROKEN;
}

/* MORE: go on; anything else: hand it out. */
static enum weir_step go_on(struct weir_reader *reader, enum weir_step step, struct weir_error *err)
{
    if (step == WEIR_STEP_MORE && feed(pair_of(reader), &reader->why))
        return give_up(reader, err);
    if (step == WEIR_STEP_END && reader->file + 1 < reader->options.path_count)
        return open_file(reader, reader->file + 1, &reader->why) ? give_up(reader, err)
                                                                 : WEIR_STEP_MORE;
    return step;
}

enum weir_step weir_reader_next(struct weir_reader *reader, struct weir_arena *arena,
                                struct weir_record *ret, struct weir_error *err)
{
    enum weir_step step = reader->broken ? give_up(reader, err) : WEIR_STEP_MORE;
    while (step == WEIR_STEP_MORE) {
        struct weir_error why;
        step = reader->format->next(reader->state, arena, ret, &why);
        if (step == WEIR_STEP_BROKEN) {
            name_file(weir_reader_name(reader, reader->file), &why, &reader->why);
            return give_up(reader, err);
        }
        if (step != WEIR_STEP_RECORD)
            step = go_on(reader, step, err);
    }
    if (step == WEIR_STEP_RECORD)
        ret->place.file = reader->file;
    return step;
}
