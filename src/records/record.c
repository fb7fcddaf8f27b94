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
        [WEIR_RECORD_NOT_OBJECT] = "no object",
        [WEIR_RECORD_NOT_JSON] = "not JSON",
        [WEIR_RECORD_CUT] = "object cut",
        [WEIR_RECORD_BEHIND_OBJECT] = "text behind an object",
        [WEIR_RECORD_TOO_DEEP] = "nested too deep",
        [WEIR_RECORD_TOO_MANY_MEMBERS] = "too many members",
        [WEIR_RECORD_TWICE] = "member twice",
        [WEIR_RECORD_HALF_CHARACTER] = "half a character",
    };
    return (unsigned)problem < WEIR_RECORD_PROBLEM_COUNT ? names[problem] : "unknown";
}

/* A name in quotes, cut at a character. */
static void add_name(struct weir_buf *buf, struct weir_str name)
{
    struct weir_str part = weir_str_cut(name, NAME_BYTES_MAX);
    weir_buf_printf(buf, "\"%.*s%s\"", (int)part.len, part.ptr, part.len < name.len ? "…" : "");
}

/* What is wrong, and a blank; nothing if that is the record. */
static void add_subject(struct weir_buf *buf, const struct weir_record *record,
                        struct weir_str column_name)
{
    if (record->member.ptr) {
        weir_buf_add_text(buf, "member ");
        add_name(buf, record->member);
        weir_buf_add_char(buf, ' ');
    } else if (record->column) {
        weir_buf_printf(buf, "column %" PRIu32 " ", record->column);
        if (!column_name.len)
            return;
        weir_buf_add_char(buf, '(');
        add_name(buf, column_name);
        weir_buf_add_text(buf, ") ");
    }
}

/* `raw` from `bad_at` on, `len` bytes at most. */
static struct weir_str bad_part(const struct weir_record *record, size_t len)
{
    uint64_t at = record->bad_at - record->place.offset;
    if (at >= record->raw.len)
        return weir_str("", 0);
    size_t left = record->raw.len - (size_t)at;
    return weir_str(record->raw.ptr + at, left < len ? left : len);
}

/* The byte at `bad_at`; 0 if `raw` has it not. */
static unsigned char bad_byte(const struct weir_record *record)
{
    struct weir_str part = bad_part(record, 1);
    return part.len ? (unsigned char)part.ptr[0] : 0;
}

/* The byte that is wrong, as itself if that can be read. */
static void add_bad_byte(struct weir_buf *buf, const struct weir_record *record)
{
    unsigned char c = bad_byte(record);
    bool readable = c > ' ' && c < 0x7F;
    if (c == '"')
        weir_buf_add_text(buf, "'\"'");
    else
        weir_buf_printf(buf, readable ? "\"%c\"" : "\"0x%02X\"", c);
}

static void add_length(struct weir_buf *buf, const struct weir_record *record)
{
    bool name = record->member.ptr && record->member.len > record->bound;
    weir_buf_printf(buf, "%s longer than %" PRIu64 " bytes", name ? "has a name" : "is",
                    record->bound);
}

/* What is wrong with a text, wherever it stands. */
static void add_reason(struct weir_buf *buf, const struct weir_record *record)
{
    switch (record->problem) {
    case WEIR_RECORD_NUL:
        weir_buf_printf(buf, "has %s at offset %" PRIu64 ", which no text may have",
                        bad_byte(record) == '\\' ? "an escaped NUL" : "a NUL byte", record->bad_at);
        break;
    case WEIR_RECORD_NOT_UTF8:
        weir_buf_printf(
            buf, "is not UTF-8: the byte \"0x%02X\" at offset %" PRIu64 " does not belong there",
            (unsigned)bad_byte(record), record->bad_at);
        break;
    case WEIR_RECORD_BEHIND_QUOTE:
        weir_buf_add_text(buf, "has ");
        if (bad_part(record, 1).len)
            add_bad_byte(buf, record);
        else
            weir_buf_add_text(buf, "text");
        weir_buf_printf(buf,
                        " behind its closing quote at offset %" PRIu64
                        "; a quote inside of a quoted cell is written twice",
                        record->bad_at);
        break;
    case WEIR_RECORD_UNCLOSED:
        if (record->bound)
            weir_buf_printf(buf, "opens a quote that is not closed within %" PRIu64 " bytes",
                            record->bound);
        else
            weir_buf_printf(buf,
                            "opens a quote at offset %" PRIu64
                            " that is not closed before the end of the file",
                            record->bad_at);
        break;
    default:
        add_length(buf, record);
    }
}

/* What is wrong with an object, or with a member of it. */
static void add_object_reason(struct weir_buf *buf, const struct weir_record *record)
{
    switch (record->problem) {
    case WEIR_RECORD_NOT_OBJECT:
        weir_buf_add_text(buf, "is no JSON object: it begins with ");
        add_bad_byte(buf, record);
        weir_buf_add_text(buf, "; every line must be an object, from \"{\" to \"}\"");
        break;
    case WEIR_RECORD_NOT_JSON:
        weir_buf_add_text(buf, "is not JSON: the byte ");
        add_bad_byte(buf, record);
        weir_buf_printf(buf, " at offset %" PRIu64 " does not belong there", record->bad_at);
        break;
    case WEIR_RECORD_CUT:
        weir_buf_add_text(buf, "ends before its object does; an object must stand on one line");
        break;
    case WEIR_RECORD_BEHIND_OBJECT:
        weir_buf_printf(buf,
                        "has text behind its object at offset %" PRIu64
                        "; a line may hold one object only",
                        record->bad_at);
        break;
    case WEIR_RECORD_TWICE:
        weir_buf_printf(
            buf, "stands there again at offset %" PRIu64 "; an object may have a member once",
            record->bad_at);
        break;
    default: {
        struct weir_str escape = bad_part(record, strlen("\\uD83D"));
        weir_buf_printf(buf,
                        "has half a character, \"%.*s\", at offset %" PRIu64
                        "; the other half must stand beside it",
                        (int)escape.len, escape.ptr, record->bad_at);
    }
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
    case WEIR_RECORD_TOO_MANY_MEMBERS:
        weir_buf_printf(buf, "has more than %" PRIu64 " members", record->bound);
        break;
    case WEIR_RECORD_TOO_DEEP:
        weir_buf_printf(buf, "has objects and arrays nested more than %" PRIu64 " deep",
                        record->bound);
        break;
    default:
        add_subject(buf, record, name);
        if (record->problem < WEIR_RECORD_NOT_OBJECT)
            add_reason(buf, record);
        else
            add_object_reason(buf, record);
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
