/* SPDX-License-Identifier: MIT */
/*
 * Tables of cells: what was written, and what is sent, or the whole message. Every cell is
 * measured, written into memory of just that size, and looked at.
 */
#ifndef WEIR_TESTS_CELL_RIG_H
#define WEIR_TESTS_CELL_RIG_H

#include "base/buf.h"
#include "base/mem.h"
#include "records/cell_kinds.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const struct weir_column *column;
    const char *cell;
    const char *json;  /* or … */
    const char *error; /* … the message */
};

/* The message of what is out of range. */
#define RANGE(cell, column, range) "\"" cell "\" is out of range; \"" column "\" takes " range

/* The short cut comes to the same. */
static inline void try_plain(const struct weir_cell_rule *rule, struct weir_str cell,
                             const char *json, const char *error)
{
    enum weir_cell_plain plain = weir_cell_rule_plain(rule, cell);
    const char *quote = plain == WEIR_CELL_QUOTED_AS_IS ? "\"" : "";
    if (!plain)
        return;
    ck_assert_msg(!error, "\"%.*s\" is plain: %s", (int)cell.len, cell.ptr, error);
    struct weir_buf sent;
    weir_buf_init(&sent, cell.len + 2);
    weir_buf_add_text(&sent, quote);
    weir_buf_add(&sent, cell.ptr, cell.len);
    weir_buf_add_text(&sent, quote);
    ck_assert_str_eq(weir_buf_text(&sent), json);
    weir_buf_release(&sent);
}

static inline void try_cell(const struct weir_cell_rule *rule, struct weir_str cell,
                            const char *json, const char *error)
{
    try_plain(rule, cell, json, error);
    struct weir_error err = { 0 };
    size_t bytes = 0;
    enum weir_status got = weir_cell_rule_measure(rule, cell, &bytes, &err);
    if (error) {
        ck_assert_int_eq(got, WEIR_E_INVALID);
        ck_assert_str_eq(err.message, error);
        return;
    }
    ck_assert_msg(got == WEIR_OK, "\"%.*s\": %s", (int)cell.len, cell.ptr, err.message);
    char *memory = weir_calloc(bytes, 1);
    ck_assert_ptr_eq(weir_cell_rule_write(rule, cell, memory), memory + bytes);
    ck_assert_msg(weir_str_equal(weir_str(memory, bytes), weir_str_from(json)),
                  "\"%.*s\": %.*s, not %s", (int)cell.len, cell.ptr, (int)bytes, memory, json);
    free(memory);
}

/* A cell stands in memory of its own, so that a byte read behind it is noticed. */
static inline void try_row(const struct row *row, const struct weir_zone *zone)
{
    struct weir_cell_rule rule;
    size_t len = strlen(row->cell);
    char *copy = weir_calloc(len, 1);
    memcpy(copy, row->cell, len);
    weir_cell_rule_init(&rule, row->column, zone, WEIR_CELL_EMPTY_OMIT);
    ck_assert(!weir_cell_rule_omits(&rule, weir_str(copy, len)));
    try_cell(&rule, weir_str(copy, len), row->json, row->error);
    weir_cell_rule_release(&rule);
    free(copy);
}

#define TRY(rows)                                                                                  \
    for (size_t i = 0; i < COUNT(rows); i++)                                                       \
    try_row(&(rows)[i], NULL)

#endif
