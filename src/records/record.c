/* SPDX-License-Identifier: MIT */
/* What is wrong with a record, in words; see record.h. */
#include "records/record.h"

#include <inttypes.h>

#include "base/buf.h"

/* Of a sentence with a column's name in it. */
#define TEXT_BYTES_MAX 1024

/* Longest column name that is quoted whole. */
#define NAME_BYTES_MAX 128

const char *weir_record_problem_name(enum weir_record_problem problem)
{
    static const char *const names[] = {
        [WEIR_RECORD_FINE] = "fine",
        [WEIR_RECORD_RAGGED] = "wrong number of cells",
        [WEIR_RECORD_NUL] = "NUL byte",
        [WEIR_RECORD_NOT_UTF8] = "not UTF-8",
        [WEIR_RECORD_BEHIND_QUOTE] = "text behind a closing quote",
        [WEIR_RECORD_UNCLOSED] = "unclosed quote",
        [WEIR_RECORD_CELL_TOO_BIG] = "cell too long",
        [WEIR_RECORD_TOO_BIG] = "record too long",
        [WEIR_RECORD_TOO_MANY_CELLS] = "too many cells",
    };
    return (unsigned)problem < WEIR_RECORD_PROBLEM_COUNT ? names[problem] : "unknown";
}

static void add_column(struct weir_buf *buf, const struct weir_record *record, struct weir_str name)
{
    weir_buf_printf(buf, "column %" PRIu32, record->column);
    if (!name.len)
        return;
    size_t len = name.len < NAME_BYTES_MAX ? name.len : NAME_BYTES_MAX;
    weir_buf_printf(buf, " (\"%.*s%s\")", (int)len, name.ptr, len < name.len ? "…" : "");
}

/* The byte at `bad_at`, if `raw` has it. */
static unsigned bad_byte(const struct weir_record *record)
{
    uint64_t at = record->bad_at - record->place.offset;
    return at < record->raw.len ? (unsigned char)record->raw.ptr[at] : 0;
}

static void add_reason(struct weir_buf *buf, const struct weir_record *record)
{
    switch (record->problem) {
    case WEIR_RECORD_NUL:
        weir_buf_printf(buf, " has a NUL byte at offset %" PRIu64 ", which no text may have",
                        record->bad_at);
        break;
    case WEIR_RECORD_NOT_UTF8:
        weir_buf_printf(
            buf, " is not UTF-8: the byte \"0x%02X\" at offset %" PRIu64 " does not belong there",
            bad_byte(record), record->bad_at);
        break;
    case WEIR_RECORD_BEHIND_QUOTE:
        weir_buf_printf(buf,
                        " has text behind its closing quote at offset %" PRIu64
                        "; a quote inside of a quoted cell is written twice",
                        record->bad_at);
        break;
    case WEIR_RECORD_UNCLOSED:
        weir_buf_add_text(buf, " opens a quote that is not closed ");
        if (record->bound)
            weir_buf_printf(buf, "within %" PRIu64 " bytes", record->bound);
        else
            weir_buf_add_text(buf, "before the end of the file");
        break;
    default:
        weir_buf_printf(buf, " is longer than %" PRIu64 " bytes", record->bound);
    }
}

static void add_sentence(struct weir_buf *buf, const struct weir_record *record,
                         struct weir_str name)
{
    switch (record->problem) {
    case WEIR_RECORD_FINE:
        break;
    case WEIR_RECORD_RAGGED:
        weir_buf_printf(buf, "has %" PRIu32 " cell%s where the header names %" PRIu64,
                        record->cell_count, record->cell_count == 1 ? "" : "s", record->bound);
        break;
    case WEIR_RECORD_TOO_BIG:
        weir_buf_printf(buf, "is longer than %" PRIu64 " bytes", record->bound);
        break;
    case WEIR_RECORD_TOO_MANY_CELLS:
        weir_buf_printf(buf, "has more than %" PRIu64 " cells", record->bound);
        break;
    default:
        add_column(buf, record, name);
        add_reason(buf, record);
    }
}

void weir_record_explain(const struct weir_record *record, struct weir_str column_name, char *text,
                         size_t text_bytes)
{
    struct weir_buf buf;
    weir_buf_init(&buf, TEXT_BYTES_MAX);
    add_sentence(&buf, record, column_name);
    weir_buf_hand_over(&buf, text, text_bytes);
}
