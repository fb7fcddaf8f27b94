/* SPDX-License-Identifier: MIT */
/*
 * Random JSON Lines for tests, together with what they mean: objects with different members, every
 * text written in one of the many ways that mean the same, blanks and blank lines anywhere, any
 * line ends.
 */
#ifndef WEIR_TESTS_JSONL_MAKE_H
#define WEIR_TESTS_JSONL_MAKE_H

#include "base/buf.h"
#include "base/rng.h"
#include "support/suite.h"

#define MAKE_MEMBERS_MAX 8
#define MAKE_ROWS_MAX    20
#define MAKE_BYTES_MAX   ((size_t)1024 * 1024)

struct made_text {
    size_t at; /* in the pool */
    size_t len;
};

struct made_row {
    size_t offset;
    size_t end;
    size_t line;
    size_t members;
    struct made_text names[MAKE_MEMBERS_MAX];
    struct made_text values[MAKE_MEMBERS_MAX];
    bool nulls[MAKE_MEMBERS_MAX];
};

struct made {
    struct weir_buf text;
    struct weir_buf pool;
    bool nested; /* values may be objects and arrays; then they are not noted */
    size_t rows;
    struct made_row row[MAKE_ROWS_MAX];
};

static inline size_t make_pick(struct weir_rng *rng, size_t bound)
{
    return weir_rng_below(rng, bound);
}

static inline struct weir_str made_text(const struct made *m, struct made_text text)
{
    return weir_str(weir_buf_text(&m->pool) + text.at, text.len);
}

static inline void make_space(struct made *m, struct weir_rng *rng)
{
    static const char *const spaces[] = { " ", "\t", "  ", " \t " };
    if (make_pick(rng, 6) == 0)
        weir_buf_add_text(&m->text, spaces[make_pick(rng, 4)]);
}

/* ---- texts ---- */

static inline void make_utf8(struct weir_buf *to, uint32_t code)
{
    static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    char bytes[4];
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(leads[len] | code);
    weir_buf_add(to, bytes, len);
}

static inline void make_unit(struct made *m, struct weir_rng *rng, uint32_t unit)
{
    weir_buf_printf(&m->text, make_pick(rng, 2) ? "\\u%04x" : "\\u%04X", unit);
}

static inline void make_escape(struct made *m, struct weir_rng *rng, uint32_t code)
{
    static const char meant[] = "\"\\/\b\f\n\r\t";
    static const char letters[] = "\"\\/bfnrt";
    const char *at = code < 0x80 ? strchr(meant, (int)code) : NULL;
    if (at && *at && make_pick(rng, 2)) {
        weir_buf_printf(&m->text, "\\%c", letters[at - meant]);
    } else if (code < 0x10000) {
        make_unit(m, rng, code);
    } else {
        make_unit(m, rng, 0xD800 + ((code - 0x10000) >> 10));
        make_unit(m, rng, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
}

static inline void make_character(struct made *m, struct weir_rng *rng, uint32_t code)
{
    make_utf8(&m->pool, code);
    if (code < 0x20 || code == '"' || code == '\\' || make_pick(rng, 12) == 0)
        make_escape(m, rng, code);
    else
        make_utf8(&m->text, code);
}

static inline uint32_t make_code(struct weir_rng *rng)
{
    static const uint32_t edges[] = { '"',    '\\',   '/',    '\n',    '\r',    '\t',    1,
                                      0x1F,   ' ',    '{',    '}',     ',',     ':',     '[',
                                      0x7F,   0x80,   0x7FF,  0x800,   0xD7FF,  0xE000,  0xFFFD,
                                      0xFFFF, 0xFEFF, 0x2028, 0x10000, 0x1F600, 0x10FFFF };
    if (make_pick(rng, 3) == 0)
        return edges[make_pick(rng, sizeof(edges) / sizeof(*edges))];
    return make_pick(rng, 8) ? 'a' + (uint32_t)make_pick(rng, 26)
                             : 0xA0 + (uint32_t)make_pick(rng, 0x400);
}

static inline struct made_text make_string(struct made *m, struct weir_rng *rng, const char *prefix)
{
    struct made_text text = { .at = m->pool.len };
    weir_buf_add_char(&m->text, '"');
    for (; *prefix; prefix++)
        make_character(m, rng, (unsigned char)*prefix);
    size_t len = make_pick(rng, 4) ? make_pick(rng, 8) : make_pick(rng, 80);
    bool tame = make_pick(rng, 2);
    for (size_t i = 0; i < len; i++)
        make_character(m, rng, tame ? 'x' : make_code(rng));
    weir_buf_add_char(&m->text, '"');
    text.len = m->pool.len - text.at;
    return text;
}

/* ---- values ---- */

static inline void make_bare(struct made *m, struct weir_rng *rng, struct made_text *value,
                             bool *null)
{
    static const char *const bare[] = { "null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0",
                                        "7",
                                        "-12",
                                        "1e400",
                                        "1E-5",
                                        "0.1",
                                        "2.50",
                                        "1e+3",
                                        "-0.0e0",
                                        "12345678901234567890123456789012345678",
                                        "99999999999999999999.123456789" };
    const char *word = bare[make_pick(rng, sizeof(bare) / sizeof(*bare))];
    *value = (struct made_text){ m->pool.len, strlen(word) };
    *null = word[0] == 'n';
    weir_buf_add_text(&m->pool, word);
    weir_buf_add_text(&m->text, word);
}

static inline void make_value(struct made *m, struct weir_rng *rng, int depth,
                              struct made_text *value, bool *null);

static inline void make_container(struct made *m, struct weir_rng *rng, int depth)
{
    bool object = make_pick(rng, 2);
    size_t count = make_pick(rng, 4);
    struct made_text ignored;
    bool ignored_null;
    weir_buf_add_char(&m->text, object ? '{' : '[');
    make_space(m, rng);
    for (size_t i = 0; i < count; i++) {
        char prefix[] = { (char)('0' + i), '\0' };
        weir_buf_add_text(&m->text, i ? "," : "");
        make_space(m, rng);
        if (object) {
            make_string(m, rng, prefix);
            make_space(m, rng);
            weir_buf_add_char(&m->text, ':');
        }
        make_value(m, rng, depth + 1, &ignored, &ignored_null);
    }
    weir_buf_add_char(&m->text, object ? '}' : ']');
}

static inline void make_value(struct made *m, struct weir_rng *rng, int depth,
                              struct made_text *value, bool *null)
{
    make_space(m, rng);
    *null = false;
    if (m->nested && depth < 5 && make_pick(rng, 4) == 0)
        make_container(m, rng, depth);
    else if (make_pick(rng, 3) == 0)
        make_bare(m, rng, value, null);
    else
        *value = make_string(m, rng, "");
    make_space(m, rng);
}

/* ---- rows ---- */

static inline void make_object(struct made *m, struct weir_rng *rng, struct made_row *row)
{
    static const char *const prefixes[] = { "a", "b", "_c_value", "@odata.d", "e", "f", "g", "h" };
    row->members = make_pick(rng, MAKE_MEMBERS_MAX + 1);
    bool unnamed = make_pick(rng, 10) == 0; /* its first member's name is empty */
    weir_buf_add_char(&m->text, '{');
    make_space(m, rng);
    for (size_t i = 0; i < row->members; i++) {
        weir_buf_add_text(&m->text, i ? "," : "");
        make_space(m, rng);
        row->names[i] = (struct made_text){ m->pool.len, 0 };
        if (unnamed && i == 0)
            weir_buf_add_text(&m->text, "\"\"");
        else
            row->names[i] = make_string(m, rng, prefixes[i]);
        make_space(m, rng);
        weir_buf_add_char(&m->text, ':');
        make_value(m, rng, 1, &row->values[i], &row->nulls[i]);
    }
    weir_buf_add_char(&m->text, '}');
}

static inline void make_line_end(struct made *m, struct weir_rng *rng, size_t style)
{
    static const char *const ends[] = { "\n", "\r\n", "\r" };
    weir_buf_add_text(&m->text, ends[style < 3 ? style : make_pick(rng, 3)]);
}

/* A CR and an LF that were meant as two ends are one. */
static inline size_t make_count_lines(struct weir_str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            i++;
        lines += text.ptr[i] == '\r' || text.ptr[i] == '\n';
    }
    return lines;
}

static inline void make_row(struct made *m, struct weir_rng *rng, size_t i, size_t style)
{
    struct made_row *row = &m->row[i];
    while (make_pick(rng, 5) == 0) {
        make_space(m, rng);
        make_line_end(m, rng, style);
    }
    row->offset = m->text.len;
    row->line = 1 + make_count_lines(weir_str(m->text.ptr, m->text.len));
    make_space(m, rng);
    make_object(m, rng, row);
    make_space(m, rng);
    if (i + 1 < m->rows || make_pick(rng, 3))
        make_line_end(m, rng, style);
    row->end = m->text.len;
}

/* An LF that follows the CR of a row belongs to the row. */
static inline void make_mend_ends(struct made *m)
{
    for (size_t i = 0; i < m->rows; i++) {
        size_t end = m->row[i].end;
        if (end < m->text.len && m->text.ptr[end - 1] == '\r' && m->text.ptr[end] == '\n')
            m->row[i].end++;
    }
}

static inline void make_jsonl(struct made *m, struct weir_rng *rng, bool nested)
{
    *m = (struct made){ .rows = make_pick(rng, MAKE_ROWS_MAX + 1), .nested = nested };
    weir_buf_init(&m->text, MAKE_BYTES_MAX);
    weir_buf_init(&m->pool, MAKE_BYTES_MAX);
    size_t style = make_pick(rng, 4);
    if (make_pick(rng, 3) == 0)
        weir_buf_add_text(&m->text, "\xEF\xBB\xBF");
    for (size_t i = 0; i < m->rows; i++)
        make_row(m, rng, i, style);
    make_mend_ends(m);
}

static inline void made_release(struct made *m)
{
    weir_buf_release(&m->text);
    weir_buf_release(&m->pool);
}

#endif
