/* SPDX-License-Identifier: MIT */
/* The names that an input has; see input_names.h. */
#include "input_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

enum weir_status input_names_check_format(const char *format, struct weir_error *err)
{
    if (!format || weir_format_named(format))
        return WEIR_OK;
    return args_refuse("--format", format, "csv, tsv or jsonl", err);
}

/* --- records with names of their own ---------------------------------------------------------- */

static void take_names(struct input_names *names, struct weir_map *seen,
                       const struct weir_record *record)
{
    for (uint32_t i = 0; record->names && i < record->cell_count; i++) {
        if (names->count < WEIR_FIELDS_MAX && weir_map_add(seen, record->names[i], names->count))
            names->names[names->count++] = record->names[i];
    }
}

/* Slices of the arena are kept: nothing of it is given back until the end. */
static enum weir_status read_records(struct input_names *names, struct weir_map *seen,
                                     struct weir_error *err)
{
    struct weir_record record;
    for (int i = 0; i < INPUT_NAMES_RECORDS; i++) {
        enum weir_step step = weir_reader_next(names->reader, names->arena, &record, err);
        if (step == WEIR_STEP_BROKEN)
            return err->status;
        if (step != WEIR_STEP_RECORD)
            break;
        take_names(names, seen, &record);
    }
    if (names->count == 0)
        return weir_fail(err, WEIR_E_INVALID, "\"%s\" has no objects whose members have names",
                         weir_reader_name(names->reader, 0));
    return WEIR_OK;
}

static enum weir_status collect(struct input_names *names, struct weir_error *err)
{
    struct weir_map seen;
    names->arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    names->names = weir_calloc(WEIR_FIELDS_MAX, sizeof(*names->names));
    weir_map_init(&seen);
    enum weir_status status = read_records(names, &seen, err);
    weir_map_release(&seen);
    return status;
}

/* --- life ------------------------------------------------------------------------------------- */

enum weir_status input_names_init(struct input_names *names, const char *path, const char *format,
                                  struct weir_error *err)
{
    struct weir_error why = { 0 };
    const struct weir_reader_options options = {
        .paths = &path,
        .path_count = 1,
        .stdin_fd = STDIN_FILENO,
        .format = format                   ? weir_format_named(format)
                  : strcmp(path, "-") == 0 ? &weir_format_csv
                                           : NULL,
    };
    *names = (struct input_names){ 0 };
    enum weir_status status = weir_reader_new(&options, &names->reader, &why);
    if (!status && weir_reader_columns(names->reader).count == 0)
        status = collect(names, &why);
    if (status)
        input_names_release(names);
    if (status && err)
        *err = why;
    return status;
}

void input_names_release(struct input_names *names)
{
    weir_reader_free(names->reader);
    weir_arena_unref(names->arena);
    free(names->names);
    *names = (struct input_names){ 0 };
}

struct weir_columns input_names_columns(const struct input_names *names)
{
    if (!names->arena)
        return weir_reader_columns(names->reader);
    return (struct weir_columns){ names->names, names->count };
}
