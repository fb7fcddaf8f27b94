/* SPDX-License-Identifier: MIT */
/* Is a row there, and since when; see readback.h. */
#include "protocol/readback.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"
#include "protocol/scan.h"

/* Longer than any moment, and any GUID in quotes. */
#define VALUE_BYTES 64

enum weir_status weir_readback_path(const struct weir_table_names *table,
                                    const struct weir_target *target, struct weir_buf *buf,
                                    struct weir_error *err)
{
    size_t start = buf->len;
    enum weir_status status = weir_table_names_check(table, err);
    if (status == WEIR_OK)
        status = weir_target_check(target, WEIR_NAMING_ID, err);
    if (status == WEIR_OK)
        status = weir_target_add_address(buf, table, target, err);
    if (status != WEIR_OK)
        return status;
    weir_buf_printf(buf, "?$select=%.*s,createdon", (int)table->primary_id.len,
                    table->primary_id.ptr);
    if (table->overridden)
        weir_buf_add_text(buf, "," WEIR_OVERRIDDEN_COLUMN);
    if (buf->overflow || buf->len - start > WEIR_PART_URL_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the address of the row is longer than %zu bytes",
                         WEIR_PART_URL_BYTES_MAX);
    return WEIR_OK;
}

/* The member `name`, whose length is not ours to bound. */
static bool find_member(struct weir_str root, struct weir_str name, struct weir_str *ret)
{
    struct weir_scan scan = weir_scan_open(root);
    struct weir_str key;
    while (weir_scan_next(&scan, &key, ret)) {
        if (weir_str_equal(weir_str(key.ptr + 1, key.len - 2), name))
            return true;
    }
    return false;
}

static bool read_id(struct weir_str root, struct weir_str name, struct weir_guid *ret)
{
    struct weir_str value;
    char text[VALUE_BYTES];
    if (!find_member(root, name, &value) || !weir_scan_is_string(value))
        return false;
    size_t len = weir_scan_text(value, text, sizeof(text));
    return weir_guid_parse(weir_str(text, len), ret);
}

static bool find_value(struct weir_str root, const char *name, struct weir_str *ret)
{
    return find_member(root, weir_str_from(name), ret) &&
           !weir_str_equal(*ret, weir_str_from("null"));
}

static bool read_created(struct weir_str root, struct weir_readback *ret)
{
    struct weir_str value;
    char text[VALUE_BYTES];
    ret->created_known =
        find_value(root, WEIR_OVERRIDDEN_COLUMN, &value) || find_value(root, "createdon", &value);
    if (!ret->created_known)
        return true;
    size_t len = weir_scan_text(value, text, sizeof(text));
    return weir_moment_parse_iso(weir_str(text, len), &ret->created_us);
}

enum weir_status weir_readback_read(struct weir_str body, const struct weir_table_names *table,
                                    struct weir_readback *ret, struct weir_error *err)
{
    struct weir_str root;
    struct weir_readback row = { .created_known = false };
    if (!weir_scan_document(body, &root) || !weir_scan_is_object(root))
        return weir_fail(err, WEIR_E_INVALID, "the answer is no complete JSON document");
    if (!read_id(root, table->primary_id, &row.id))
        return weir_fail(err, WEIR_E_INVALID, "the answer has no GUID \"%.*s\"",
                         (int)table->primary_id.len, table->primary_id.ptr);
    if (!read_created(root, &row))
        return weir_fail(err, WEIR_E_INVALID, "the answer's \"createdon\" is no moment in UTC");
    *ret = row;
    return WEIR_OK;
}
