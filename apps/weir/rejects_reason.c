/* SPDX-License-Identifier: MIT */
/* A rejected row with its reason; see rejects.h. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_text.h"
#include "base/limits.h"
#include "journal/reject_json.h"
#include "records/format.h"
#include "rejects.h"

/* A row, every byte of it escaped, and its texts. */
#define LINE_BYTES_MAX (6 * WEIR_RECORD_BYTES_MAX + 64 * WEIR_JOURNAL_TEXT_MAX)

static struct weir_str without_line_end(struct weir_str text)
{
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

/* The first record behind the header, if there is one. */
static bool read_row(const struct weir_format *format, void *state, struct weir_str text,
                     struct weir_arena *arena, struct weir_record *ret)
{
    struct weir_error err;
    format->begin(state);
    if (format->head(state, &err) == WEIR_STEP_MORE)
        format->feed(state, 0, text.ptr, text.len, true);
    if (format->head(state, &err) != WEIR_STEP_READY)
        return false;
    enum weir_step step = format->next(state, arena, ret, &err);
    if (step == WEIR_STEP_MORE) { /* there was no header to ask for */
        format->feed(state, 0, text.ptr, text.len, true);
        step = format->next(state, arena, ret, &err);
    }
    return step == WEIR_STEP_RECORD && ret->problem == WEIR_RECORD_FINE;
}

/* Whether a row can be read behind the header; *ret_columns: of the header. */
static bool is_whole(const struct weir_job_facts *facts, struct weir_str bytes,
                     uint32_t *ret_columns)
{
    const struct weir_format *format = weir_format_named(facts->suffix);
    const struct weir_format_options options = { .raw = true };
    struct weir_record record;
    struct weir_buf text;
    void *state = format->open(&options);
    struct weir_arena *arena = weir_arena_new(4 * WEIR_RECORD_BYTES_MAX);
    weir_buf_init(&text, WEIR_JOURNAL_FACT_MAX + WEIR_JOURNAL_RECORD_MAX);
    weir_buf_add(&text, facts->header.ptr, facts->header.len);
    weir_buf_add(&text, bytes.ptr, bytes.len);
    bool whole = read_row(format, state, weir_str(weir_buf_text(&text), text.len), arena, &record);
    *ret_columns = format->columns(state).count;
    weir_buf_release(&text);
    weir_arena_unref(arena);
    format->free(state);
    return whole;
}

/* --- a table ---------------------------------------------------------------------------------- */

static char separator_of(const struct weir_job_facts *facts)
{
    return weir_format_named(facts->suffix) == &weir_format_tsv ? '\t' : ',';
}

static void add_cell(struct weir_buf *line, struct weir_str text)
{
    weir_buf_add_char(line, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            weir_buf_add_char(line, '"');
        weir_buf_add_char(line, text.ptr[i]);
    }
    weir_buf_add_char(line, '"');
}

static void add_reason(struct weir_buf *line, const struct weir_reject *reject)
{
    struct weir_buf reason;
    weir_buf_init(&reason, 4 * WEIR_JOURNAL_TEXT_MAX);
    if (reject->superseded)
        weir_buf_add_text(&reason, "superseded by a later row with the same key: ");
    weir_buf_add(&reason, reject->column.ptr, reject->column.len);
    weir_buf_add_text(&reason, reject->column.len ? ": " : "");
    weir_buf_add(&reason, reject->message.ptr, reject->message.len);
    if (reject->service_code)
        weir_buf_printf(&reason, " (0x%08" PRIx32 ")", reject->service_code);
    add_cell(line, weir_str(weir_buf_text(&reason), reason.len));
    weir_buf_release(&reason);
}

static void add_row(struct weir_buf *line, const struct weir_job_facts *facts,
                    const struct weir_reject *reject)
{
    char separator = separator_of(facts);
    uint32_t columns;
    struct weir_str row = without_line_end(reject->bytes);
    if (is_whole(facts, reject->bytes, &columns)) {
        weir_buf_add(line, row.ptr, row.len);
    } else {
        add_cell(line, row);
        for (uint32_t i = 1; i < columns; i++)
            weir_buf_add_char(line, separator);
    }
    weir_buf_add_char(line, separator);
    add_reason(line, reject);
    weir_buf_add_text(line, weir_job_facts_line_end(facts));
}

void rejects_print_header(FILE *out, const struct weir_job_facts *facts)
{
    struct weir_str header = without_line_end(facts->header);
    if (header.len == 0)
        return;
    fwrite(header.ptr, 1, header.len, out);
    fprintf(out, "%creason%s", separator_of(facts), weir_job_facts_line_end(facts));
}

/* --- objects ---------------------------------------------------------------------------------- */

static void add_record(struct weir_buf *line, const struct weir_job_facts *facts,
                       struct weir_str bytes)
{
    uint32_t columns;
    struct weir_str row = weir_str_trim(bytes);
    if (!is_whole(facts, bytes, &columns)) {
        weir_reject_json_text(line, "text", row);
        return;
    }
    weir_buf_add_text(line, ",\"record\":");
    weir_buf_add(line, row.ptr, row.len);
}

static void add_object(struct weir_buf *line, const struct weir_job_facts *facts,
                       const struct weir_reject *reject)
{
    const char *path = reject->file < facts->input_count ? facts->inputs[reject->file].path : NULL;
    weir_buf_printf(line, "{\"row\":%" PRIu64, reject->row);
    weir_reject_json_text(line, "file", weir_str_from(path));
    weir_reject_json_reason(line, reject);
    weir_buf_printf(line, ",\"superseded\":%s", reject->superseded ? "true" : "false");
    add_record(line, facts, reject->bytes);
    weir_buf_add_text(line, "}\n");
}

void rejects_print_reason(FILE *out, const struct weir_job_facts *facts,
                          const struct weir_reject *reject)
{
    struct weir_buf line;
    weir_buf_init(&line, LINE_BYTES_MAX);
    if (facts->header.len > 0)
        add_row(&line, facts, reject);
    else
        add_object(&line, facts, reject);
    fwrite(weir_buf_text(&line), 1, line.len, out);
    weir_buf_release(&line);
}
