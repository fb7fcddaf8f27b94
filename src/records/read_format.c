/* SPDX-License-Identifier: MIT */
/* The names of members as Dataverse writes them; see read_format.h. */
#include "records/read_format.h"

static bool is(struct weir_str text, const char *wanted)
{
    return weir_str_equal(text, weir_str_from(wanted));
}

/* "_x_value" → x. A column's own name begins with a letter, so nothing else looks like this. */
static bool take_lookup(struct weir_str name, struct weir_str *ret)
{
    static const char end[] = "_value";
    const size_t end_len = sizeof(end) - 1;
    if (name.len < end_len + 2 || name.ptr[0] != '_' ||
        memcmp(name.ptr + name.len - end_len, end, end_len) != 0)
        return false;
    *ret = weir_str(name.ptr + 1, name.len - 1 - end_len);
    return true;
}

/* One that the service could have written, of OData or of its own. */
static bool is_term(struct weir_str term)
{
    static const char *const spaces[] = { "odata.", "microsoft.dynamics.crm." };
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        size_t len = strlen(spaces[i]);
        if (term.len > len &&
            weir_str_equal_nocase(weir_str(term.ptr, len), weir_str(spaces[i], len)))
            return true;
    }
    return false;
}

static enum weir_read_member annotation_of_row(struct weir_str term)
{
    if (is(term, "odata.etag"))
        return WEIR_READ_ETAG;
    bool reserved = is(term, "odata.id") || is(term, "odata.type");
    return reserved ? WEIR_READ_RESERVED : WEIR_READ_ANNOTATION;
}

static enum weir_read_member annotation_of_lookup(struct weir_str term)
{
    if (is(term, "Microsoft.Dynamics.CRM.lookuplogicalname"))
        return WEIR_READ_LOOKUP_TABLE;
    bool navigation = is(term, "Microsoft.Dynamics.CRM.associatednavigationproperty");
    return navigation ? WEIR_READ_LOOKUP_NAVIGATION : WEIR_READ_ANNOTATION;
}

enum weir_read_member weir_read_member_of(struct weir_str name, struct weir_str *ret_column)
{
    const char *sign = name.len ? memchr(name.ptr, '@', name.len) : NULL;
    size_t len = sign ? (size_t)(sign - name.ptr) : name.len;
    struct weir_str term = weir_str(name.ptr + len, name.len - len);
    if (sign)
        term = weir_str(sign + 1, term.len - 1);
    if (sign && !is_term(term))
        len = name.len;
    *ret_column = weir_str(name.ptr, len);
    bool lookup = take_lookup(*ret_column, ret_column);
    if (len == name.len)
        return lookup ? WEIR_READ_LOOKUP : WEIR_READ_PLAIN;
    if (!len)
        return annotation_of_row(term);
    if (lookup)
        return annotation_of_lookup(term);
    return is(term, "odata.bind") ? WEIR_READ_BIND : WEIR_READ_ANNOTATION;
}
