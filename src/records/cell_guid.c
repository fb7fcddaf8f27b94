/* SPDX-License-Identifier: MIT */
/*
 * Cells of ids that point nowhere; see cell_kinds.h. All the forms in which Windows prints them:
 *
 *     0123abcd-4567-89ab-cdef-0123456789ab    {…}    (…)    0123abcd456789abcdef0123456789ab
 */
#include "base/error.h"
#include "protocol/guid.h"
#include "records/cell_kinds.h"

#define DIGITS 32

static bool parse_digits(struct weir_str text, struct weir_guid *ret)
{
    struct weir_guid guid;
    for (size_t i = 0; i < sizeof(guid.bytes); i++) {
        int high = weir_str_hex_digit(text.ptr[2 * i]);
        int low = weir_str_hex_digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        guid.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ret = guid;
    return true;
}

bool weir_cell_guid(struct weir_str cell, struct weir_guid *ret)
{
    struct weir_str text = weir_str_trim(cell);
    if (text.len == DIGITS)
        return parse_digits(text, ret);
    if (text.len == WEIR_GUID_CHARS + 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')')
        text = weir_str(text.ptr + 1, WEIR_GUID_CHARS);
    return weir_guid_parse(text, ret);
}

static enum weir_status measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                size_t *ret_bytes, struct weir_error *err)
{
    struct weir_guid guid;
    if (!weir_cell_guid(cell, &guid))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no GUID; \"%s\" takes 32 hexadecimal digits in groups of "
                         "8-4-4-4-12",
                         WEIR_CELL_QUOTED(cell), rule->column->name);
    *ret_bytes = WEIR_GUID_CHARS + 2;
    return WEIR_OK;
}

static char *write_guid(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    struct weir_guid guid;
    char text[WEIR_GUID_TEXT];
    (void)rule;
    if (!weir_cell_guid(cell, &guid))
        return to;
    weir_guid_print(&guid, text);
    *to++ = '"';
    memcpy(to, text, WEIR_GUID_CHARS);
    to[WEIR_GUID_CHARS] = '"';
    return to + WEIR_GUID_CHARS + 1;
}

const struct weir_typed_kind weir_kind_guid = { measure, write_guid };
