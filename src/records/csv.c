/* SPDX-License-Identifier: MIT */
/*
 * The window and the life of a record; see csv.h for the rules and csv_parts.h for the drawing.
 *
 *     scan ─ WHOLE ──▶ empty line? skipped : copied into the arena with its cells ──▶ RECORD
 *        └── PROBLEM ─▶ look for the end of the physical line ──▶ RECORD with the problem
 *
 * A record takes one piece of the arena: its cells, its raw bytes, and the text of those cells
 * whose quotes are doubled. All other cells are slices of the raw bytes.
 */
#include "records/csv.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "records/csv_parts.h"
#include "records/utf8.h"

/* A stride that contains nothing of the window. */
#define NO_BLOCK (SIZE_MAX / 2)

#define FIRST_CAPACITY 4096

/* Enough to tell one byte order mark from another. */
#define MARK_BYTES 4

struct weir_csv *weir_csv_new(const struct weir_format_options *options)
{
    struct weir_csv *csv = weir_calloc(1, sizeof(*csv));
    if (options)
        csv->options = *options;
    struct weir_format_options *o = &csv->options;
    if (!o->separator)
        o->separator = ',';
    if (!o->field_bytes_max)
        o->field_bytes_max = WEIR_FIELD_BYTES_MAX;
    if (!o->record_bytes_max || o->record_bytes_max > WEIR_RECORD_BYTES_MAX)
        o->record_bytes_max = WEIR_RECORD_BYTES_MAX;
    if (!o->fields_max || o->fields_max > WEIR_FIELDS_MAX)
        o->fields_max = WEIR_FIELDS_MAX;
    csv->capacity = FIRST_CAPACITY;
    csv->window = weir_calloc(csv->capacity, 1);
    csv->cells = weir_calloc(o->fields_max, sizeof(*csv->cells));
    csv->names = weir_arena_new(3 * WEIR_RECORD_BYTES_MAX);
    weir_csv_begin(csv);
    return csv;
}

void weir_csv_free(struct weir_csv *csv)
{
    if (!csv)
        return;
    weir_arena_unref(csv->names);
    free(csv->cells);
    free(csv->window);
    free(csv);
}

const char *weir_csv_line_end(const struct weir_csv *csv)
{
    return csv->line_end ? csv->line_end : "\n";
}

struct weir_columns weir_csv_columns(const struct weir_csv *csv)
{
    return csv->columns;
}

/* ---- the window ---- */

/* A record begins at csv->begin. */
static void restart(struct weir_csv *csv)
{
    csv->at = csv->begin;
    csv->field = 0;
    csv->doubled = 0;
    csv->quoted = false;
    csv->any_quoted = false;
    csv->cell_count = 0;
    csv->problem = WEIR_RECORD_FINE;
    csv->dropped = 0;
}

static void empty_window(struct weir_csv *csv, uint64_t offset)
{
    csv->base = offset;
    csv->begin = 0;
    csv->len = 0;
    csv->block = NO_BLOCK;
    restart(csv);
}

void weir_csv_begin(struct weir_csv *csv)
{
    empty_window(csv, 0);
    csv->last = false;
    csv->begun = false;
    csv->headed = false;
    csv->enter_at = 0;
    csv->line = 1;
}

static void make_room(struct weir_csv *csv, size_t len)
{
    memmove(csv->window, csv->window + csv->begin, csv->len - csv->begin);
    csv->base += csv->begin;
    csv->at -= csv->begin;
    csv->len -= csv->begin;
    csv->begin = 0;
    csv->block = NO_BLOCK;
    size_t wanted = csv->len + len + WEIR_CSV_STRIDE;
    if (wanted <= csv->capacity)
        return;
    size_t capacity = csv->capacity;
    while (capacity < wanted)
        capacity *= 2;
    csv->window = weir_realloc(csv->window, capacity, 1);
    csv->capacity = capacity;
}

void weir_csv_feed(struct weir_csv *csv, uint64_t offset, const char *bytes, size_t len, bool last)
{
    if (offset != csv->base + csv->len)
        empty_window(csv, offset);
    if (csv->begin || csv->len + len + WEIR_CSV_STRIDE > csv->capacity)
        make_room(csv, len);
    csv->block = NO_BLOCK;
    if (len)
        memcpy(csv->window + csv->len, bytes, len);
    csv->len += len;
    csv->last = last;
    memset(csv->window + csv->len, 0, WEIR_CSV_STRIDE);
}

/* The record at hand, `len` bytes and `lines` lines, is done with. */
static void consume(struct weir_csv *csv, size_t len, uint64_t lines)
{
    csv->begin += len;
    if (csv->line)
        csv->line += lines;
    restart(csv);
}

/* ---- entering ---- */

void weir_csv_enter(struct weir_csv *csv, uint64_t offset, uint64_t line, uint64_t number)
{
    uint64_t here = csv->base + csv->begin;
    if (offset < here)
        csv->broken = weir_fail(&csv->why, WEIR_E_INVALID,
                                "has no row at byte %" PRIu64 "; its header ends at byte %" PRIu64,
                                offset, here);
    csv->enter_at = offset;
    csv->line = line;
    csv->number = number - 1;
    restart(csv);
}

/* False: the place has not been reached. */
static bool reach_entry(struct weir_csv *csv)
{
    uint64_t here = csv->base + csv->begin;
    if (here >= csv->enter_at)
        return true;
    size_t left = csv->len - csv->begin;
    csv->begin += csv->enter_at - here < left ? (size_t)(csv->enter_at - here) : left;
    csv->at = csv->begin;
    return csv->base + csv->begin == csv->enter_at;
}

/* ---- the head of a file ---- */

static enum weir_step broken(struct weir_csv *csv, struct weir_error *err)
{
    if (err)
        *err = csv->why;
    return WEIR_STEP_BROKEN;
}

/* Bytes of a UTF-8 mark; a mark of another encoding breaks the reader. */
static size_t read_mark(struct weir_csv *csv)
{
    const char *at = csv->window;
    size_t len = csv->len;
    if (len >= 3 && !memcmp(at, "\xEF\xBB\xBF", 3))
        return 3;
    const char *name = NULL;
    if (len >= 4 && (!memcmp(at, "\xFF\xFE\0\0", 4) || !memcmp(at, "\0\0\xFE\xFF", 4)))
        name = "UTF-32";
    else if (len >= 2 && (!memcmp(at, "\xFF\xFE", 2) || !memcmp(at, "\xFE\xFF", 2)))
        name = "UTF-16";
    if (name)
        csv->broken =
            weir_fail(&csv->why, WEIR_E_INVALID, "is encoded as \"%s\"; it must be UTF-8", name);
    return 0;
}

/* A quoted cell ends behind its quote, at 1 at least. */
static bool is_empty_line(const struct weir_csv *csv)
{
    return csv->cell_count == 1 && csv->cells[0].end == 0;
}

static uint64_t lines_of(const struct weir_csv *csv)
{
    return csv->any_quoted ? weir_csv_count_lines(csv) : 1;
}

static void explain_header(struct weir_csv *csv)
{
    struct weir_record record = {
        .problem = csv->problem, .column = csv->column, .bad_at = csv->bad_at, .bound = csv->bound
    };
    char text[WEIR_MESSAGE_MAX / 2];
    weir_record_explain(&record, weir_str(NULL, 0), text, sizeof(text));
    csv->broken =
        weir_fail(&csv->why, WEIR_E_INVALID, "has a header that cannot be read: %s", text);
}

/* True: the header is at hand, WHOLE, or it broke the reader. False: more is needed. */
static bool find_header(struct weir_csv *csv)
{
    for (;;) {
        if (csv->last && csv->begin == csv->len) {
            csv->broken = weir_fail(&csv->why, WEIR_E_INVALID,
                                    "has no header; its first line must name the columns");
            return true;
        }
        enum weir_csv_outcome outcome = weir_csv_scan(csv);
        if (outcome == WEIR_CSV_MORE)
            return false;
        if (outcome == WEIR_CSV_PROBLEM)
            explain_header(csv);
        if (outcome == WEIR_CSV_PROBLEM || !is_empty_line(csv))
            return true;
        consume(csv, csv->end, 1);
    }
}

enum weir_step weir_csv_head(struct weir_csv *csv, struct weir_error *err)
{
    if (csv->headed && !csv->broken)
        return WEIR_STEP_READY;
    if (!csv->begun && !csv->broken) {
        if (csv->len < MARK_BYTES && !csv->last)
            return WEIR_STEP_MORE;
        consume(csv, read_mark(csv), 0);
        csv->begun = true;
    }
    if (!csv->broken && !find_header(csv))
        return WEIR_STEP_MORE;
    if (!csv->broken)
        csv->broken = weir_csv_header(csv, &csv->why);
    if (csv->broken)
        return broken(csv, err);
    consume(csv, csv->end, lines_of(csv));
    csv->headed = true;
    return WEIR_STEP_READY;
}

/* ---- records ---- */

struct weir_str weir_csv_cell_text(const char *record, const struct weir_csv_cell *cell, char *to)
{
    const char *from = record + cell->begin;
    size_t len = cell->end - cell->begin;
    if (!cell->doubled)
        return weir_str(from, len);
    const char *end = from + len;
    char *next = to;
    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));
        size_t part = (size_t)((quote ? quote + 1 : end) - from);
        memcpy(next, from, part);
        next += part;
        from += part + (quote != NULL);
    }
    return weir_str(to, (size_t)(next - to));
}

static uint32_t column_at(const struct weir_csv *csv, size_t at)
{
    uint32_t column = 0;
    while (column + 1 < csv->cell_count && csv->cells[column].end < at)
        column++;
    return column + 1;
}

void weir_csv_check_text(const struct weir_csv *csv, struct weir_record *record)
{
    struct weir_str raw = weir_str(csv->window + csv->begin, csv->end);
    size_t at = weir_utf8_check(raw);
    if (at == raw.len)
        return;
    record->problem = raw.ptr[at] ? WEIR_RECORD_NOT_UTF8 : WEIR_RECORD_NUL;
    record->column = column_at(csv, at);
    record->bad_at = csv->base + csv->begin + at;
}

static size_t doubled_bytes(const struct weir_csv *csv)
{
    size_t bytes = 0;
    if (!csv->any_quoted)
        return 0;
    for (uint32_t i = 0; i < csv->cell_count; i++) {
        const struct weir_csv_cell *cell = &csv->cells[i];
        if (cell->doubled)
            bytes += cell->end - cell->begin - cell->doubled;
    }
    return bytes;
}

/* Copy cells and raw bytes of the record at hand into `piece`. */
static void fill(const struct weir_csv *csv, struct weir_record *record, void *piece)
{
    struct weir_str *cells = piece;
    char *raw = (char *)(cells + csv->cell_count);
    char *spare = raw + csv->end;
    memcpy(raw, csv->window + csv->begin, csv->end);
    for (uint32_t i = 0; i < csv->cell_count; i++) {
        const struct weir_csv_cell *cell = &csv->cells[i];
        cells[i] = weir_str(raw + cell->begin, cell->end - cell->begin);
        if (cell->doubled) {
            cells[i] = weir_csv_cell_text(raw, cell, spare);
            spare += cells[i].len;
        }
    }
    record->raw = weir_str(raw, csv->end);
    record->cells = cells;
    record->cell_count = csv->cell_count;
}

/* The record at hand is WHOLE. */
static enum weir_step deliver(struct weir_csv *csv, struct weir_arena *arena,
                              struct weir_record *ret)
{
    size_t bytes = csv->cell_count * sizeof(struct weir_str) + csv->end + doubled_bytes(csv);
    void *piece = weir_arena_take(arena, bytes);
    if (!piece) {
        restart(csv);
        return WEIR_STEP_FULL;
    }
    static const struct weir_record nothing; /* copied, it takes less time than to be zeroed */
    uint64_t offset = csv->base + csv->begin;
    *ret = nothing;
    ret->number = ++csv->number;
    ret->place =
        (struct weir_place){ .offset = offset, .end = offset + csv->end, .line = csv->line };
    fill(csv, ret, piece);
    weir_csv_check_text(csv, ret);
    if (!ret->problem && csv->cell_count != csv->columns.count) {
        ret->problem = WEIR_RECORD_RAGGED;
        ret->bound = csv->columns.count;
    }
    consume(csv, csv->end, lines_of(csv));
    return WEIR_STEP_RECORD;
}

/* ---- rejected lines ---- */

static size_t kept_bytes(const struct weir_csv *csv)
{
    size_t max = csv->options.record_bytes_max;
    return max < sizeof(csv->kept) ? max : sizeof(csv->kept);
}

/* The line is longer than any record: keep its beginning and forget what was looked at. */
static void drop(struct weir_csv *csv)
{
    if (!csv->dropped)
        memcpy(csv->kept, csv->window + csv->begin, kept_bytes(csv));
    csv->dropped += csv->at - csv->begin;
    csv->begin = csv->at;
}

/* The physical line of the record at hand ends at index `end`. */
static enum weir_step reject(struct weir_csv *csv, size_t end, struct weir_arena *arena,
                             struct weir_record *ret)
{
    size_t len = end - csv->begin;
    bool cut = csv->dropped || len > csv->options.record_bytes_max;
    size_t raw_len = cut ? kept_bytes(csv) : len;
    char *raw = weir_arena_take(arena, raw_len);
    if (!raw)
        return WEIR_STEP_FULL;
    memcpy(raw, csv->dropped ? csv->kept : csv->window + csv->begin, raw_len);
    *ret = (struct weir_record){
        .number = ++csv->number,
        .place = { .offset = csv->base + csv->begin - csv->dropped,
                   .end = csv->base + end,
                   .line = csv->line },
        .raw = weir_str(raw, raw_len),
        .raw_cut = cut,
        .problem = csv->problem,
        .column = csv->problem < WEIR_RECORD_TOO_BIG ? csv->column : 0,
        .bad_at = csv->bad_at,
        .bound = csv->bound,
    };
    consume(csv, len, 1);
    return WEIR_STEP_RECORD;
}

static enum weir_step reject_line(struct weir_csv *csv, struct weir_arena *arena,
                                  struct weir_record *ret)
{
    size_t end;
    if (weir_csv_scan_line(csv, &end))
        return reject(csv, end, arena, ret);
    if (csv->dropped || csv->len - csv->begin > csv->options.record_bytes_max)
        drop(csv);
    return WEIR_STEP_MORE;
}

/* ---- the next one ---- */

static enum weir_step too_short(struct weir_csv *csv, struct weir_error *err)
{
    csv->broken = weir_fail(&csv->why, WEIR_E_INVALID,
                            "ends at byte %" PRIu64 ", before byte %" PRIu64
                            ", where the next row should begin",
                            csv->base + csv->len, csv->enter_at);
    return broken(csv, err);
}

enum weir_step weir_csv_next(struct weir_csv *csv, struct weir_arena *arena,
                             struct weir_record *ret, struct weir_error *err)
{
    enum weir_step head = weir_csv_head(csv, err);
    if (head != WEIR_STEP_READY)
        return head;
    if (!reach_entry(csv))
        return csv->last ? too_short(csv, err) : WEIR_STEP_MORE;
    for (;;) {
        if (csv->problem)
            return reject_line(csv, arena, ret);
        if (csv->begin == csv->len)
            return csv->last ? WEIR_STEP_END : WEIR_STEP_MORE;
        enum weir_csv_outcome outcome = weir_csv_scan(csv);
        if (outcome == WEIR_CSV_MORE)
            return WEIR_STEP_MORE;
        if (outcome == WEIR_CSV_WHOLE && !is_empty_line(csv))
            return deliver(csv, arena, ret);
        if (outcome == WEIR_CSV_WHOLE)
            consume(csv, csv->end, 1);
    }
}
