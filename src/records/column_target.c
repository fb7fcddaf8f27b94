/* SPDX-License-Identifier: MIT */
/* Where a column of the input goes; see column_target.h. */
#include "records/column_target.h"

#include "base/error.h"
#include "protocol/odata.h"

/* How much of it goes into a message. */
#define QUOTED_MAX 80

static enum weir_status fail_form(struct weir_str text, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" says no column; a lookup is written column:table, "
                     "column:table(key) or column:table(#column)",
                     (int)weir_str_cut(text, QUOTED_MAX).len, text.ptr);
}

/* The first byte of a kind; text.len: there is none. */
static size_t find(struct weir_str text, char c)
{
    const char *at = text.len ? memchr(text.ptr, c, text.len) : NULL;
    return at ? (size_t)(at - text.ptr) : text.len;
}

/* One of the names between the parentheses: all of them have a # or none has. */
static bool add_key(struct weir_column_target *target, struct weir_str name)
{
    bool derived = name.len && name.ptr[0] == '#';
    if (derived)
        name = weir_str_trim(weir_str(name.ptr + 1, name.len - 1));
    if (target->key_count == WEIR_KEY_PARTS_MAX || !name.len ||
        (target->key_count && derived != target->derived))
        return false;
    /* What an id was derived from need not be a column of the table. */
    if (!derived && !weir_odata_is_name(name))
        return false;
    target->derived = derived;
    target->keys[target->key_count++] = name;
    return true;
}

static bool read_keys(struct weir_column_target *target, struct weir_str list)
{
    for (bool more = true; more;) {
        size_t len = find(list, ',');
        if (!add_key(target, weir_str_trim(weir_str(list.ptr, len))))
            return false;
        more = len < list.len;
        if (more)
            list = weir_str(list.ptr + len + 1, list.len - len - 1);
    }
    return true;
}

enum weir_status weir_column_target_parse(struct weir_str text, struct weir_column_target *ret,
                                          struct weir_error *err)
{
    size_t colon = find(text, ':');
    struct weir_column_target target = { .column = text };
    if (colon < text.len) {
        struct weir_str rest = weir_str_trim(weir_str(text.ptr + colon + 1, text.len - colon - 1));
        size_t open = find(rest, '(');
        target.column = weir_str_trim(weir_str(text.ptr, colon));
        target.table = weir_str_trim(weir_str(rest.ptr, open));
        bool fine = weir_odata_is_name(target.column) && weir_odata_is_name(target.table);
        if (fine && open < rest.len)
            fine = rest.ptr[rest.len - 1] == ')' &&
                   read_keys(&target, weir_str(rest.ptr + open + 1, rest.len - open - 2));
        if (!fine)
            return fail_form(text, err);
    }
    *ret = target;
    return WEIR_OK;
}
