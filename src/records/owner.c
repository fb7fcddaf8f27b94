/* SPDX-License-Identifier: MIT */
/* Who a row belongs to; see owner.h. */
#include "records/owner.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *prefix;
    const char *set;
} kinds[] = {
    { "systemuser:", "systemusers" },
    { "team:", "teams" },
};

bool weir_owner_parse(struct weir_str text, struct weir_owner *ret)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        size_t len = strlen(kinds[i].prefix);
        struct weir_guid id;
        if (text.len < len || memcmp(text.ptr, kinds[i].prefix, len) != 0)
            continue;
        if (!weir_guid_parse(weir_str(text.ptr + len, text.len - len), &id))
            return false;
        *ret = (struct weir_owner){ weir_str_from(kinds[i].set), id };
        return true;
    }
    return false;
}

size_t weir_owner_bytes(const struct weir_owner *owner)
{
    return strlen("\"/()\"") + owner->set.len + WEIR_GUID_CHARS;
}

char *weir_owner_write(const struct weir_owner *owner, char *to)
{
    char id[WEIR_GUID_TEXT];
    weir_guid_print(&owner->id, id);
    memcpy(to, "\"/", 2);
    to += 2;
    memcpy(to, owner->set.ptr, owner->set.len);
    to += owner->set.len;
    *to++ = '(';
    memcpy(to, id, WEIR_GUID_CHARS);
    to += WEIR_GUID_CHARS;
    memcpy(to, ")\"", 2);
    return to + 2;
}
