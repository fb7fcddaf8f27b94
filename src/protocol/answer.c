/* SPDX-License-Identifier: MIT */
/* What successful answers say; see answer.h. */
#include "protocol/answer.h"

#include "base/error.h"
#include "protocol/scan.h"

/* A string that is a GUID without braces; escapes are not looked through. */
static bool read_guid(struct weir_str value, struct weir_guid *ret)
{
    return weir_scan_is_string(value) && value.len == WEIR_GUID_CHARS + 2 &&
           weir_guid_parse(weir_str(value.ptr + 1, WEIR_GUID_CHARS), ret);
}

/* --- the ids of rows that were created -------------------------------------------------------- */

/* Whether `text` stands at *at, which goes behind it. */
static bool take(struct weir_str *at, const char *text)
{
    size_t len = strlen(text);
    if (at->len < len || memcmp(at->ptr, text, len) != 0)
        return false;
    *at = weir_str(at->ptr + len, at->len - len);
    return true;
}

/* The rest of a string of visible ASCII without escapes, with its quote. */
static bool take_simple_string(struct weir_str *at)
{
    size_t len = 0;
    while (len < at->len && at->ptr[len] != '"') {
        if (at->ptr[len] < 0x20 || at->ptr[len] > 0x7e || at->ptr[len] == '\\')
            return false;
        len++;
    }
    *at = weir_str(at->ptr + len, at->len - len);
    return take(at, "\"");
}

static bool take_id(struct weir_str *at, struct weir_guid *ret)
{
    if (at->len < WEIR_GUID_CHARS + 3 || at->ptr[0] != '"' || at->ptr[WEIR_GUID_CHARS + 1] != '"' ||
        !weir_guid_parse(weir_str(at->ptr + 1, WEIR_GUID_CHARS), ret))
        return false;
    *at = weir_str(at->ptr + WEIR_GUID_CHARS + 2, at->len - (WEIR_GUID_CHARS + 2));
    return true;
}

/*
 * An answer as the service writes it, to the byte: `{"@odata.context":"…","Ids":["…","…"]}`, the
 * first member or not. It is read in one go, where others are read twice. False: it is another one,
 * good or bad.
 */
static bool read_usual(struct weir_str body, size_t count, struct weir_guid *ids)
{
    struct weir_str at = body;
    if (!take(&at, "{") || !count)
        return false;
    if (take(&at, "\"@odata.context\":\"") && !(take_simple_string(&at) && take(&at, ",")))
        return false;
    if (!take(&at, "\"Ids\":["))
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((i && !take(&at, ",")) || !take_id(&at, &ids[i]))
            return false;
    }
    return take(&at, "]}") && at.len == 0;
}

enum weir_status weir_answer_ids(struct weir_str body, size_t count, struct weir_guid *ids,
                                 struct weir_error *err)
{
    struct weir_str root, list, key, value;
    if (read_usual(body, count, ids))
        return WEIR_OK;
    if (!weir_scan_document(body, &root))
        return weir_fail(err, WEIR_E_INVALID, "the answer is no complete JSON document");
    if (!weir_scan_find(root, "Ids", &list) || !weir_scan_is_array(list))
        return weir_fail(err, WEIR_E_INVALID, "the answer has no list \"Ids\"");
    struct weir_scan scan = weir_scan_open(list);
    size_t got = 0;
    for (; weir_scan_next(&scan, &key, &value); got++) {
        if (got < count && !read_guid(value, &ids[got]))
            return weir_fail(err, WEIR_E_INVALID, "number %zu of the list \"Ids\" is no GUID", got);
    }
    if (got != count)
        return weir_fail(err, WEIR_E_INVALID,
                         "the answer has %zu ids, but %zu rows were to be created", got, count);
    return WEIR_OK;
}

enum weir_status weir_answer_whoami(struct weir_str body, struct weir_whoami *ret,
                                    struct weir_error *err)
{
    struct weir_whoami who;
    const struct {
        const char *name;
        struct weir_guid *guid;
    } members[] = {
        { "UserId", &who.user_id },
        { "BusinessUnitId", &who.business_unit_id },
        { "OrganizationId", &who.organization_id },
    };
    struct weir_str root, value;
    if (!weir_scan_document(body, &root))
        return weir_fail(err, WEIR_E_INVALID, "the answer is no complete JSON document");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!weir_scan_find(root, members[i].name, &value) || !read_guid(value, members[i].guid))
            return weir_fail(err, WEIR_E_INVALID, "the answer has no GUID \"%s\"", members[i].name);
    }
    *ret = who;
    return WEIR_OK;
}

bool weir_answer_entity_id(const struct weir_http_header *headers, size_t header_count,
                           struct weir_guid *ret)
{
    struct weir_str value = weir_str(NULL, 0);
    for (size_t i = 0; i < header_count; i++) {
        if (weir_str_equal_nocase(weir_str_from(headers[i].name), weir_str_from("OData-EntityId")))
            value = weir_str_trim(weir_str_from(headers[i].value));
    }
    if (value.len < WEIR_GUID_CHARS + 2 || value.ptr[value.len - 1] != ')')
        return false;
    const char *id = value.ptr + value.len - 1 - WEIR_GUID_CHARS;
    return id[-1] == '(' && weir_guid_parse(weir_str(id, WEIR_GUID_CHARS), ret);
}

enum weir_status weir_answer_next_link(struct weir_str body, char *link, size_t link_bytes,
                                       struct weir_error *err)
{
    struct weir_str root, value;
    if (!weir_scan_document(body, &root) || !weir_scan_is_object(root))
        return weir_fail(err, WEIR_E_INVALID, "the page is no complete JSON document");
    if (!weir_scan_find(root, "@odata.nextLink", &value)) {
        link[0] = '\0';
        return WEIR_OK;
    }
    if (!weir_scan_is_string(value))
        return weir_fail(err, WEIR_E_INVALID, "the link to the next page is no text");
    if (!weir_scan_is_clean(value))
        return weir_fail(err, WEIR_E_INVALID, "the link to the next page is no UTF-8");
    if (value.len > link_bytes)
        return weir_fail(err, WEIR_E_TOO_BIG, "the link to the next page is longer than %zu bytes",
                         link_bytes);
    weir_scan_text(value, link, link_bytes);
    return WEIR_OK;
}
