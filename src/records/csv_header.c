/* SPDX-License-Identifier: MIT */
/*
 * The names of the columns; see csv.h. Messages lack their subject: whoever knows the file's name
 * puts it in front.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "records/csv_parts.h"

/* Longest name that is quoted whole in a message. */
#define QUOTED_MAX 100

static int quoted_len(struct weir_str name)
{
    return (int)(name.len < QUOTED_MAX ? name.len : QUOTED_MAX);
}

/* The names of the record at hand, in memory of `arena`. Fits: its maximum is made for it. */
static struct weir_columns copy_names(const struct weir_csv *csv, struct weir_arena *arena)
{
    const char *record = csv->window + csv->begin;
    struct weir_str *names = weir_arena_take(arena, csv->cell_count * sizeof(*names));
    char *text = weir_arena_take(arena, csv->end);
    for (uint32_t i = 0; i < csv->cell_count; i++) {
        const struct weir_csv_cell *cell = &csv->cells[i];
        struct weir_str name = weir_csv_cell_text(record, cell, text);
        memmove(text, name.ptr, name.len);
        names[i] = weir_str(text, name.len);
        text += name.len;
    }
    return (struct weir_columns){ names, csv->cell_count };
}

static enum weir_status check_text(const struct weir_csv *csv, struct weir_error *err)
{
    struct weir_record record = { .place.offset = csv->base + csv->begin,
                                  .raw = weir_str(csv->window + csv->begin, csv->end) };
    weir_csv_check_text(csv, &record);
    if (!record.problem)
        return WEIR_OK;
    char text[WEIR_MESSAGE_MAX / 2];
    weir_record_explain(&record, weir_str(NULL, 0), text, sizeof(text));
    return weir_fail(err, WEIR_E_INVALID, "has a header that cannot be read: %s%s", text,
                     record.problem == WEIR_RECORD_NUL ? "; perhaps the file is UTF-16" : "");
}

static enum weir_status check_names(struct weir_columns columns, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    struct weir_map seen;
    weir_map_init(&seen);
    for (uint32_t i = 0; i < columns.count && !status; i++) {
        struct weir_str name = columns.names[i];
        uint32_t before;
        if (!weir_str_trim(name).len)
            status = weir_fail(err, WEIR_E_INVALID,
                               "has a header without a name for column %u; every column needs one",
                               i + 1);
        else if (weir_map_find(&seen, name, &before))
            status = weir_fail(err, WEIR_E_INVALID,
                               "has a header that names column %u and column %u both \"%.*s\"; a "
                               "name may stand there once",
                               before + 1, i + 1, quoted_len(name), name.ptr);
        else
            weir_map_add(&seen, name, i);
    }
    weir_map_release(&seen);
    return status;
}

static enum weir_status compare(struct weir_columns first, struct weir_columns later,
                                struct weir_error *err)
{
    for (uint32_t i = 0; i < first.count && i < later.count; i++) {
        struct weir_str a = first.names[i];
        struct weir_str b = later.names[i];
        if (!weir_str_equal(a, b))
            return weir_fail(err, WEIR_E_INVALID,
                             "has a header that names column %u \"%.*s\"; it must be \"%.*s\", as "
                             "in the first file",
                             i + 1, quoted_len(b), b.ptr, quoted_len(a), a.ptr);
    }
    if (first.count == later.count)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "has a header that names %u columns; there must be %u, as in the first file",
                     later.count, first.count);
}

static enum weir_status compare_header(const struct weir_csv *csv, struct weir_error *err)
{
    struct weir_arena *arena = weir_arena_new(3 * WEIR_RECORD_BYTES_MAX);
    enum weir_status status = compare(csv->columns, copy_names(csv, arena), err);
    weir_arena_unref(arena);
    return status;
}

static const char *line_end_of(const struct weir_csv *csv)
{
    const char *end = csv->window + csv->begin + csv->end;
    bool cr = csv->end > 0 && end[-1] == '\r';
    bool crlf = csv->end > 1 && end[-1] == '\n' && end[-2] == '\r';
    return cr ? "\r" : crlf ? "\r\n" : "\n";
}

enum weir_status weir_csv_header(struct weir_csv *csv, struct weir_error *err)
{
    enum weir_status status = check_text(csv, err);
    if (status)
        return status;
    if (csv->columns.count)
        return compare_header(csv, err);
    struct weir_columns columns = copy_names(csv, csv->names);
    status = check_names(columns, err);
    if (status)
        return status;
    csv->columns = columns;
    csv->line_end = line_end_of(csv);
    return WEIR_OK;
}
