/* SPDX-License-Identifier: MIT */
/*
 * The life of a record of JSON Lines; see jsonl.h for the rules.
 *
 *     line ── blank ──▶ passed over
 *        └──▶ read ── fine ────▶ names, cells, raw bytes and resolved texts, copied ──▶ RECORD
 *               └──── a problem ──▶ raw bytes and the name of the member, copied ──▶ RECORD
 *
 * Nothing is passed before it is copied: when the arena is full, the line is read again.
 */
#include "records/jsonl.h"

#include "base/mem.h"
#include "records/jsonl_parts.h"

struct weir_jsonl *weir_jsonl_new(const struct weir_format_options *options)
{
    struct weir_jsonl *jsonl = weir_calloc(1, sizeof(*jsonl));
    if (options)
        jsonl->options = *options;
    struct weir_format_options *o = &jsonl->options;
    if (!o->field_bytes_max)
        o->field_bytes_max = WEIR_FIELD_BYTES_MAX;
    if (!o->record_bytes_max || o->record_bytes_max > WEIR_RECORD_BYTES_MAX)
        o->record_bytes_max = WEIR_RECORD_BYTES_MAX;
    if (!o->fields_max || o->fields_max > WEIR_FIELDS_MAX)
        o->fields_max = WEIR_FIELDS_MAX;
    weir_lines_init(&jsonl->lines, o->record_bytes_max);
    return jsonl;
}

void weir_jsonl_free(struct weir_jsonl *jsonl)
{
    if (!jsonl)
        return;
    weir_lines_release(&jsonl->lines);
    weir_jsonl_names_release(jsonl);
    free(jsonl->resolved);
    free(jsonl);
}

void weir_jsonl_begin(struct weir_jsonl *jsonl)
{
    weir_lines_begin(&jsonl->lines);
}

void weir_jsonl_feed(struct weir_jsonl *jsonl, uint64_t offset, const char *bytes, size_t len,
                     bool last)
{
    weir_lines_feed(&jsonl->lines, offset, bytes, len, last);
}

enum weir_step weir_jsonl_head(struct weir_jsonl *jsonl, struct weir_error *err)
{
    return weir_lines_head(&jsonl->lines, err);
}

void weir_jsonl_enter(struct weir_jsonl *jsonl, uint64_t offset, uint64_t line, uint64_t number)
{
    weir_lines_enter(&jsonl->lines, offset, line);
    jsonl->number = number - 1;
}

/* ---- records ---- */

/* Where the texts of a record lie once it is copied. */
struct copies {
    const char *in[WEIR_JSONL_NULL + 1];
};

static inline struct weir_str copy_of(const struct copies *copies, struct weir_jsonl_text text)
{
    bool null = text.where == WEIR_JSONL_NULL;
    return null ? weir_str(NULL, 0) : weir_str(copies->in[text.where] + text.begin, text.len);
}

static void fill_cells(const struct weir_jsonl *jsonl, struct weir_record *record,
                       struct weir_str *names, const struct copies *copies)
{
    struct weir_str *cells = names + jsonl->member_count;
    for (uint32_t i = 0; i < jsonl->member_count; i++) {
        names[i] = copy_of(copies, jsonl->members[i].name);
        cells[i] = copy_of(copies, jsonl->members[i].value);
    }
    record->names = names;
    record->cells = cells;
    record->cell_count = jsonl->member_count;
}

/* The record without its texts. */
static struct weir_record record_of(const struct weir_jsonl *jsonl, const struct weir_line *line)
{
    struct weir_record record = {
        .number = jsonl->number + 1,
        .place = { .offset = line->offset, .end = line->end, .line = line->number },
        .raw_cut = line->too_long,
        .problem = jsonl->problem,
    };
    if (jsonl->problem) {
        record.bad_at = line->offset + jsonl->bad_at;
        record.bound = jsonl->bound;
    }
    return record;
}

/* With its line end, which stands behind it; of a line that is too long, its beginning. */
static struct weir_str raw_of(const struct weir_line *line)
{
    size_t len = line->too_long ? line->text.len : (size_t)(line->end - line->offset);
    return weir_str(line->text.ptr, len);
}

/* Raw bytes into `to`, resolved texts behind them. */
static struct copies copy_texts(const struct weir_jsonl *jsonl, struct weir_str raw, char *to)
{
    memcpy(to, raw.ptr, raw.len);
    if (jsonl->resolved_len)
        memcpy(to + raw.len, jsonl->resolved, jsonl->resolved_len);
    return (struct copies){ { to, to + raw.len } };
}

static enum weir_step deliver(struct weir_jsonl *jsonl, const struct weir_line *line,
                              struct weir_arena *arena, struct weir_record *ret)
{
    weir_jsonl_read(jsonl, line);
    struct weir_str raw = raw_of(line);
    bool flat = !jsonl->problem && !jsonl->options.raw;
    size_t cells_bytes = flat ? 2 * jsonl->member_count * sizeof(struct weir_str) : 0;
    if (!flat && !jsonl->has_culprit)
        jsonl->resolved_len = 0;
    char *piece = weir_arena_take(arena, cells_bytes + raw.len + jsonl->resolved_len);
    if (!piece)
        return WEIR_STEP_FULL;
    struct copies copies = copy_texts(jsonl, raw, piece + cells_bytes);
    struct weir_record record = record_of(jsonl, line);
    record.raw = weir_str(copies.in[WEIR_JSONL_LINE], raw.len);
    if (flat)
        fill_cells(jsonl, &record, (struct weir_str *)(void *)piece, &copies);
    else if (jsonl->has_culprit)
        record.member = copy_of(&copies, jsonl->culprit);
    *ret = record;
    jsonl->number++;
    weir_lines_pass(&jsonl->lines);
    return WEIR_STEP_RECORD;
}

static bool is_blank(const struct weir_line *line)
{
    const char *at = line->text.ptr;
    const char *end = at + line->text.len;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at == end && !line->too_long;
}

enum weir_step weir_jsonl_next(struct weir_jsonl *jsonl, struct weir_arena *arena,
                               struct weir_record *ret, struct weir_error *err)
{
    struct weir_line line;
    enum weir_step step;
    while ((step = weir_lines_peek(&jsonl->lines, &line, err)) == WEIR_STEP_RECORD) {
        if (!is_blank(&line))
            return deliver(jsonl, &line, arena, ret);
        weir_lines_pass(&jsonl->lines);
    }
    return step;
}

/* ---- as a format ---- */

static void *open_format(const struct weir_format_options *options)
{
    return weir_jsonl_new(options);
}

static void free_format(void *state)
{
    weir_jsonl_free(state);
}

static void begin_format(void *state)
{
    weir_jsonl_begin(state);
}

static void feed_format(void *state, uint64_t offset, const char *bytes, size_t len, bool last)
{
    weir_jsonl_feed(state, offset, bytes, len, last);
}

static enum weir_step head_format(void *state, struct weir_error *err)
{
    return weir_jsonl_head(state, err);
}

static void enter_format(void *state, uint64_t offset, uint64_t line, uint64_t number)
{
    weir_jsonl_enter(state, offset, line, number);
}

static enum weir_step next_format(void *state, struct weir_arena *arena, struct weir_record *ret,
                                  struct weir_error *err)
{
    return weir_jsonl_next(state, arena, ret, err);
}

static struct weir_columns no_columns(const void *state)
{
    (void)state;
    return (struct weir_columns){ NULL, 0 };
}

static const char *line_end(const void *state)
{
    (void)state;
    return "\n";
}

const struct weir_format weir_format_jsonl = {
    .name = "jsonl",
    .open = open_format,
    .free = free_format,
    .begin = begin_format,
    .feed = feed_format,
    .head = head_format,
    .enter = enter_format,
    .next = next_format,
    .columns = no_columns,
    .line_end = line_end,
};
