/* SPDX-License-Identifier: MIT */
/* The formats there are, and which one a file has by its name; see format.h. */
#include "records/format.h"

#include "records/csv.h"

static void *open_separated(const struct weir_format_options *options, char separator)
{
    struct weir_format_options own = { 0 };
    if (options)
        own = *options;
    if (!own.separator)
        own.separator = separator;
    return weir_csv_new(&own);
}

static void *open_csv(const struct weir_format_options *options)
{
    return open_separated(options, ',');
}

static void *open_tsv(const struct weir_format_options *options)
{
    return open_separated(options, '\t');
}

static void free_csv(void *state)
{
    weir_csv_free(state);
}

static void begin_csv(void *state)
{
    weir_csv_begin(state);
}

static void feed_csv(void *state, uint64_t offset, const char *bytes, size_t len, bool last)
{
    weir_csv_feed(state, offset, bytes, len, last);
}

static enum weir_step head_csv(void *state, struct weir_error *err)
{
    return weir_csv_head(state, err);
}

static void enter_csv(void *state, uint64_t offset, uint64_t line, uint64_t number)
{
    weir_csv_enter(state, offset, line, number);
}

static enum weir_step next_csv(void *state, struct weir_arena *arena, struct weir_record *ret,
                               struct weir_error *err)
{
    return weir_csv_next(state, arena, ret, err);
}

static struct weir_columns columns_csv(const void *state)
{
    return weir_csv_columns(state);
}

static const char *line_end_csv(const void *state)
{
    return weir_csv_line_end(state);
}

#define SEPARATED(format_name, open_function)                                                      \
    {                                                                                              \
        .name = (format_name), .open = (open_function), .free = free_csv, .begin = begin_csv,      \
        .feed = feed_csv, .head = head_csv, .enter = enter_csv, .next = next_csv,                  \
        .columns = columns_csv, .line_end = line_end_csv                                           \
    }

const struct weir_format weir_format_csv = SEPARATED("csv", open_csv);
const struct weir_format weir_format_tsv = SEPARATED("tsv", open_tsv);

static bool ends_with(struct weir_str path, const char *end)
{
    size_t len = strlen(end);
    return path.len > len &&
           weir_str_equal_nocase(weir_str(path.ptr + path.len - len, len), weir_str(end, len));
}

const struct weir_format *weir_format_of(const char *path)
{
    struct weir_str name = weir_str_from(path);
    if (ends_with(name, ".gz"))
        name.len -= 3;
    if (ends_with(name, ".csv"))
        return &weir_format_csv;
    if (ends_with(name, ".jsonl") || ends_with(name, ".ndjson"))
        return &weir_format_jsonl;
    return ends_with(name, ".tsv") ? &weir_format_tsv : NULL;
}

const struct weir_format *weir_format_named(const char *name)
{
    static const struct weir_format *const formats[] = { &weir_format_csv, &weir_format_tsv,
                                                         &weir_format_jsonl };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}
