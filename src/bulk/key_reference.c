/* SPDX-License-Identifier: MIT */
/* Rows that are referred to by alternate keys; see key_reference.h. */
#include "bulk/key_reference.h"

#include <string.h>

#include "base/limits.h"
#include "protocol/scan.h"

#define BIND "@odata.bind"

/* Its address is a set and a predicate, and that is a key's, not an id. */
static bool is_by_key(struct weir_str address)
{
    const char *open = memchr(address.ptr, '(', address.len);
    return open && memchr(open, '=', address.len - (size_t)(open - address.ptr));
}

/* As it was before it became a part of an address. */
static void add_decoded(struct weir_buf *text, struct weir_str part)
{
    for (size_t i = 0; i < part.len; i++) {
        bool whole = part.ptr[i] == '%' && i + 2 < part.len;
        int high = whole ? weir_str_hex_digit(part.ptr[i + 1]) : -1;
        int low = whole ? weir_str_hex_digit(part.ptr[i + 2]) : -1;
        char c = part.ptr[i];
        if (high >= 0 && low >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        weir_buf_add_char(text, c);
    }
}

static void add_reference(struct weir_buf *text, struct weir_str name, struct weir_str address,
                          bool first)
{
    weir_buf_add_text(text, first ? "" : ", ");
    weir_buf_add(text, name.ptr, name.len);
    weir_buf_add_text(text, ": ");
    add_decoded(text, weir_str(address.ptr + 1, address.len - 1));
}

/* One member; true: it was added. */
static bool add_member(struct weir_buf *text, struct weir_str key, struct weir_str value,
                       bool first)
{
    char name[WEIR_NAME_BYTES_MAX + sizeof(BIND)];
    char address[WEIR_JOURNAL_TEXT_MAX / 2];
    size_t name_len = weir_scan_text(key, name, sizeof(name));
    if (name_len <= strlen(BIND) || strcmp(name + name_len - strlen(BIND), BIND) != 0 ||
        !weir_scan_is_string(value))
        return false;
    struct weir_str at = weir_str(address, weir_scan_text(value, address, sizeof(address)));
    if (!at.len || !is_by_key(at))
        return false;
    add_reference(text, weir_str(name, name_len - strlen(BIND)), at, first);
    return true;
}

void weir_key_references_add(struct weir_buf *text, struct weir_str members)
{
    struct weir_buf object;
    struct weir_str root, key, value;
    bool first = true;
    weir_buf_init(&object, members.len + 2);
    weir_buf_add_char(&object, '{');
    weir_buf_add(&object, members.ptr, members.len);
    weir_buf_add_char(&object, '}');
    if (weir_scan_document(weir_str(object.ptr, object.len), &root)) {
        struct weir_scan scan = weir_scan_open(root);
        while (weir_scan_next(&scan, &key, &value))
            first = !add_member(text, key, value, first) && first;
    }
    weir_buf_release(&object);
}
