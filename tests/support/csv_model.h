/* SPDX-License-Identifier: MIT */
/*
 * CSV as csv.h describes it, read the slow way: a byte at a time over a text that is there whole.
 * It shares nothing with the reader but the words for its problems. Knows a byte that is not UTF-8
 * only by 0xFF.
 */
#ifndef WEIR_TESTS_CSV_MODEL_H
#define WEIR_TESTS_CSV_MODEL_H

#include "records/format.h"
#include "support/suite.h"

#define MODEL_CELLS_MAX 64
#define MODEL_TEXT_MAX  4096

struct model_record {
    size_t begin;
    size_t end;
    enum weir_record_problem problem;
    uint32_t column;
    uint32_t cell_count;
    char cells[MODEL_CELLS_MAX][MODEL_TEXT_MAX];
    size_t cell_len[MODEL_CELLS_MAX];
};

struct model {
    struct weir_str text;
    struct weir_format_options options;
    size_t columns;
    size_t i;
    enum weir_record_problem text_problem; /* the first NUL or 0xFF */
    uint32_t text_column;
};

static inline bool model_is_line_end(const struct model *m, size_t i)
{
    return m->text.ptr[i] == '\n' || m->text.ptr[i] == '\r';
}

/* Behind the line end at i. */
static inline size_t model_behind(const struct model *m, size_t i)
{
    bool two = m->text.ptr[i] == '\r' && i + 1 < m->text.len && m->text.ptr[i + 1] == '\n';
    return i + (two ? 2 : 1);
}

/* Whether cell or record have become too long by now, and which of them first. */
static inline bool model_too_long(const struct model *m, struct model_record *r, size_t len,
                                  bool quoted)
{
    size_t record_len = m->i - r->begin;
    bool record_long = record_len > m->options.record_bytes_max;
    bool cell_long = len > m->options.field_bytes_max;
    if (!record_long && !cell_long)
        return false;
    if (record_long && cell_long)
        cell_long = len - m->options.field_bytes_max >= record_len - m->options.record_bytes_max;
    if (cell_long)
        r->problem = quoted ? WEIR_RECORD_UNCLOSED : WEIR_RECORD_CELL_TOO_BIG;
    else
        r->problem = WEIR_RECORD_TOO_BIG;
    r->column = cell_long ? r->cell_count + 1 : 0;
    return true;
}

static inline void model_take(struct model *m, struct model_record *r, size_t *len, uint32_t room)
{
    char c = m->text.ptr[m->i++];
    if ((!c || c == '\xFF') && !m->text_problem) {
        m->text_problem = c ? WEIR_RECORD_NOT_UTF8 : WEIR_RECORD_NUL;
        m->text_column = r->cell_count + 1;
    }
    must(*len < MODEL_TEXT_MAX);
    if (r->cell_count < room)
        r->cells[r->cell_count][*len] = c;
    ++*len;
}

static inline bool model_quoted_cell(struct model *m, struct model_record *r, size_t *len)
{
    m->i++;
    for (;;) {
        if (model_too_long(m, r, *len, true))
            return false;
        if (m->i == m->text.len) {
            r->problem = WEIR_RECORD_UNCLOSED;
            r->column = r->cell_count + 1;
            return false;
        }
        bool quote = m->text.ptr[m->i] == '"';
        bool twice = quote && m->i + 1 < m->text.len && m->text.ptr[m->i + 1] == '"';
        if (quote && !twice)
            break;
        m->i += twice;
        model_take(m, r, len, MODEL_CELLS_MAX);
    }
    m->i++;
    if (m->i == m->text.len || model_is_line_end(m, m->i) ||
        m->text.ptr[m->i] == m->options.separator)
        return true;
    r->problem = WEIR_RECORD_BEHIND_QUOTE;
    r->column = r->cell_count + 1;
    return false;
}

static inline bool model_plain_cell(struct model *m, struct model_record *r, size_t *len)
{
    for (;;) {
        if (model_too_long(m, r, *len, false))
            return false;
        if (m->i == m->text.len || model_is_line_end(m, m->i) ||
            m->text.ptr[m->i] == m->options.separator)
            return true;
        model_take(m, r, len, MODEL_CELLS_MAX);
    }
}

static inline bool model_cells(struct model *m, struct model_record *r)
{
    for (;;) {
        size_t len = 0;
        bool quoted = m->i < m->text.len && m->text.ptr[m->i] == '"';
        if (model_too_long(m, r, 0, false))
            return false;
        if (!(quoted ? model_quoted_cell(m, r, &len) : model_plain_cell(m, r, &len)))
            return false;
        if (r->cell_count == m->options.fields_max) {
            r->problem = WEIR_RECORD_TOO_MANY_CELLS;
            return false;
        }
        must(r->cell_count < MODEL_CELLS_MAX);
        r->cell_len[r->cell_count++] = len;
        if (m->i == m->text.len || m->text.ptr[m->i] != m->options.separator)
            return true;
        m->i++;
    }
}

/* The next record; false: the end. */
static inline bool model_next(struct model *m, struct model_record *r)
{
    while (m->i < m->text.len && model_is_line_end(m, m->i))
        m->i = model_behind(m, m->i);
    if (m->i == m->text.len)
        return false;
    r->begin = m->i;
    r->problem = WEIR_RECORD_FINE;
    r->column = 0;
    r->cell_count = 0;
    m->text_problem = WEIR_RECORD_FINE;
    if (!model_cells(m, r)) {
        r->cell_count = 0;
        m->i = r->begin;
        while (m->i < m->text.len && !model_is_line_end(m, m->i))
            m->i++;
    } else if (m->text_problem) {
        r->problem = m->text_problem;
        r->column = m->text_column;
    } else if (r->cell_count != m->columns) {
        r->problem = WEIR_RECORD_RAGGED;
    }
    if (m->i < m->text.len)
        m->i = model_behind(m, m->i);
    r->end = m->i;
    return true;
}

#endif
