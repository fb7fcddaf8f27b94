/* SPDX-License-Identifier: MIT */
/*
 * Cells of text; see cell_kinds.h. They are sent as they are. The service counts their length in
 * UTF-16 units, and refuses characters that XML 1.0 cannot hold (0x80040278): control characters
 * but for tab and line ends, and U+FFFE and U+FFFF. The cell is well-formed UTF-8: its reader has
 * seen to that.
 */
#include "base/error.h"
#include "records/cell_kinds.h"
#include "records/escape.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Eight bytes from U+0020 to U+007F. A borrow can only make a word with a lower byte look worse. */
static inline bool is_plain(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return !((word | (word - ONES * 0x20)) & HIGHS);
}

/* U+FFFE or U+FFFF stands here. */
static bool is_no_character(const unsigned char *at, size_t left)
{
    return left >= 3 && at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE;
}

static bool is_refused(const unsigned char *at, size_t left)
{
    if (*at < 0x20)
        return *at != '\t' && *at != '\n' && *at != '\r';
    return *at == 0xEF && is_no_character(at, left);
}

/* Where the first character is that is refused; cell.len: there is none. */
static size_t find_refused(struct weir_str cell)
{
    size_t at = 0;
    while (at < cell.len) {
        if (cell.len - at >= 8 && is_plain(cell.ptr + at)) {
            at += 8;
            continue;
        }
        if (is_refused((const unsigned char *)cell.ptr + at, cell.len - at))
            return at;
        at++;
    }
    return at;
}

/* A character beyond U+FFFF has four bytes, and two units. */
static size_t count_units(struct weir_str text)
{
    size_t units = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        units += ((c & 0xC0) != 0x80) + (c >= 0xF0);
    }
    return units;
}

static size_t count_characters(struct weir_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static enum weir_status fail_refused(const struct weir_cell_rule *rule, struct weir_str cell,
                                     size_t at, struct weir_error *err)
{
    unsigned code = (unsigned char)cell.ptr[at];
    if (code >= 0x20)
        code = 0xFFC0 | ((unsigned char)cell.ptr[at + 2] & 0x3F);
    return weir_fail(err, WEIR_E_INVALID,
                     "character %zu of the text is U+%04X, which the service refuses; \"%s\" takes "
                     "no control characters but tabs and line ends",
                     count_characters(weir_str(cell.ptr, at)) + 1, code, rule->column->name);
}

static enum weir_status measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                size_t *ret_bytes, struct weir_error *err)
{
    uint32_t max = rule->column->length_max;
    size_t refused = find_refused(cell);
    if (refused < cell.len)
        return fail_refused(rule, cell, refused, err);
    /* No text has more units than bytes, so that most need not be counted. */
    size_t units = max && cell.len > max ? count_units(cell) : 0;
    if (units > max)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" has %zu characters, counted in UTF-16 units; \"%s\" takes up to "
                         "%u",
                         WEIR_CELL_QUOTED(cell), units, rule->column->name, max);
    *ret_bytes = weir_escape_bytes(cell);
    return WEIR_OK;
}

static char *write_text(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    (void)rule;
    return weir_escape_write(cell, to);
}

const struct weir_typed_kind weir_kind_text = { measure, write_text };
