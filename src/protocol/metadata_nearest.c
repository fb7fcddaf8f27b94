/* SPDX-License-Identifier: MIT */
/* The table that was meant by a name that none has; declared in metadata.h. */
#include <stdio.h>

#include "base/limits.h"
#include "protocol/metadata.h"
#include "protocol/scan.h"

/* The list of tables, `{"value": [{"LogicalName": "account"}, …]}`. */
static bool open_list(struct weir_str body, struct weir_scan *ret)
{
    struct weir_str root, list;
    if (body.len > WEIR_METADATA_BYTES_MAX || !weir_scan_document(body, &root) ||
        !weir_scan_find(root, "value", &list))
        return false;
    *ret = weir_scan_open(list);
    return true;
}

bool weir_metadata_nearest(const char *table, struct weir_str body, char *ret, size_t ret_bytes)
{
    struct weir_str wanted = weir_str_from(table);
    size_t best = weir_str_tolerance(wanted) + 1;
    struct weir_scan scan;
    struct weir_str key, entry, logical;
    bool found = false;
    if (!open_list(body, &scan))
        return false;
    while (best && weir_scan_next(&scan, &key, &entry)) {
        char name[WEIR_NAME_BYTES_MAX + 1];
        if (!weir_scan_find(entry, "LogicalName", &logical) || !weir_scan_is_string(logical))
            continue;
        size_t len = weir_scan_text(logical, name, sizeof(name));
        size_t distance = weir_str_distance(wanted, weir_str(name, len));
        if (distance >= best)
            continue;
        best = distance;
        snprintf(ret, ret_bytes, "%s", name);
        found = true;
    }
    return found;
}
