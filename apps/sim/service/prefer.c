/* SPDX-License-Identifier: MIT */
/*
 * The Prefer header: a list of names with optional values, some of them in quotes that hold a list
 * again. It may come in several headers.
 */
#include "sim/service/render.h"

#define PAGE_SIZE_MAX 5000

/* The next element of a list; quotes protect commas. */
static struct weir_str next_element(struct weir_str *list)
{
    bool quoted = false;
    size_t at = 0;
    for (; at < list->len && (quoted || (list->ptr[at] != ',' && list->ptr[at] != ';')); at++)
        quoted ^= list->ptr[at] == '"';
    struct weir_str element = weir_str_trim(weir_str(list->ptr, at));
    size_t taken = at < list->len ? at + 1 : at;
    *list = weir_str(list->ptr + taken, list->len - taken);
    return element;
}

/* "*", "Microsoft.Dynamics.CRM.*" or a full name. */
static bool matches(struct weir_str pattern, const char *name)
{
    struct weir_str full = weir_str_from(name);
    if (pattern.len && pattern.ptr[pattern.len - 1] == '*') {
        struct weir_str start = weir_str(pattern.ptr, pattern.len - 1);
        return full.len >= start.len && weir_str_equal(start, weir_str(full.ptr, start.len));
    }
    return weir_str_equal(pattern, full);
}

static bool asks_for(struct weir_str annotations, const char *name)
{
    bool wanted = false;
    while (annotations.len) {
        struct weir_str pattern = next_element(&annotations);
        bool without = pattern.len && *pattern.ptr == '-';
        if (without)
            pattern = weir_str(pattern.ptr + 1, pattern.len - 1);
        if (matches(pattern, name))
            wanted = !without;
    }
    return wanted;
}

/* A value without its quotes; false: there is none, or a quote is alone. */
static bool unquote(struct weir_str *value)
{
    struct weir_str text = weir_str_trim(*value);
    if (text.len && *text.ptr == '"') {
        if (text.len < 2 || text.ptr[text.len - 1] != '"')
            return false;
        text = weir_str(text.ptr + 1, text.len - 2);
    }
    *value = text;
    return text.len > 0 && !memchr(text.ptr, '"', text.len);
}

static bool read_annotations(struct weir_str value, struct sim_prefer *ret)
{
    if (!unquote(&value))
        return false;
    ret->annotations = value;
    ret->formatted = asks_for(value, "OData.Community.Display.V1.FormattedValue");
    ret->lookup_names = asks_for(value, "Microsoft.Dynamics.CRM.lookuplogicalname");
    ret->error_details =
        asks_for(value, "Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails");
    return true;
}

/* One preference. False: malformed. */
static bool read_preference(struct weir_str element, struct sim_prefer *ret)
{
    const char *equals = element.len ? memchr(element.ptr, '=', element.len) : NULL;
    size_t name_len = equals ? (size_t)(equals - element.ptr) : element.len;
    struct weir_str name = weir_str_trim(weir_str(element.ptr, name_len));
    struct weir_str value =
        equals ? weir_str(equals + 1, element.len - name_len - 1) : weir_str("", 0);
    if (weir_str_starts_nocase(name, "odata."))
        name = weir_str(name.ptr + 6, name.len - 6);
    if (weir_str_equal_nocase(name, weir_str_from("include-annotations")))
        return read_annotations(value, ret);
    unquote(&value);
    int64_t number;
    if (weir_str_equal_nocase(name, weir_str_from("return")))
        ret->representation = weir_str_equal_nocase(value, weir_str_from("representation"));
    else if (weir_str_equal_nocase(name, weir_str_from("continue-on-error")))
        ret->continue_on_error = !weir_str_equal_nocase(value, weir_str_from("false"));
    else if (weir_str_equal_nocase(name, weir_str_from("maxpagesize")) &&
             weir_str_to_int64(value, &number) && number > 0)
        ret->page_size = (uint32_t)(number < PAGE_SIZE_MAX ? number : PAGE_SIZE_MAX);
    return true;
}

bool sim_prefer_parse(const struct sim_header *headers, size_t count, struct sim_prefer *ret,
                      struct sim_answer *answer)
{
    *ret = (struct sim_prefer){ 0 };
    for (size_t i = 0; i < count; i++) {
        struct weir_str list = headers[i].value;
        if (!weir_str_equal_nocase(headers[i].name, weir_str_from("Prefer")))
            continue;
        while (list.len) {
            struct weir_str element = next_element(&list);
            if (read_preference(element, ret))
                continue;
            sim_answer_flat_error(answer, 400, "0x80097303",
                                  "The value of the odata.include-annotations preference is "
                                  "invalid.");
            return false;
        }
    }
    return true;
}
