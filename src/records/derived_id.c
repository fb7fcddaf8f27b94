/* SPDX-License-Identifier: MIT */
/*
 * Ids that are derived from values; see derived_id.h. The digest is asked for by its old names:
 * behind the new ones OpenSSL 3 allocates for every id.
 */
#define OPENSSL_API_COMPAT 0x10100000L

#include "records/derived_id.h"

#include <openssl/sha.h>
#include <stdlib.h>

#include "base/mem.h"
#include "records/cell_kinds.h"

#define SEPARATOR "\x1f"

struct weir_derived_ids {
    struct weir_guid organisation;
    SHA_CTX digest;
};

struct weir_derived_ids *weir_derived_ids_new(const struct weir_guid *organisation)
{
    struct weir_derived_ids *ids = weir_calloc(1, sizeof(*ids));
    ids->organisation = *organisation;
    return ids;
}

void weir_derived_ids_free(struct weir_derived_ids *ids)
{
    free(ids);
}

/* A digest that cannot be computed: no id would be right. */
static void need(int done)
{
    if (done != 1)
        abort();
}

static void put(struct weir_derived_ids *ids, const void *bytes, size_t len)
{
    need(SHA1_Update(&ids->digest, bytes, len));
}

void weir_derived_ids_begin(struct weir_derived_ids *ids, const char *table)
{
    need(SHA1_Init(&ids->digest));
    put(ids, ids->organisation.bytes, sizeof(ids->organisation.bytes));
    put(ids, table, strlen(table));
}

static bool holds_ids(const struct weir_column *column)
{
    return column && (column->type == WEIR_COLUMN_ID || weir_column_is_lookup(column));
}

void weir_derived_ids_add(struct weir_derived_ids *ids, const struct weir_column *column,
                          struct weir_str value)
{
    struct weir_guid guid;
    char canonical[WEIR_GUID_TEXT];
    value = weir_str_trim(value);
    if (holds_ids(column) && weir_cell_guid(value, &guid))
        value = weir_str_from(weir_guid_print(&guid, canonical));
    put(ids, SEPARATOR, 1);
    put(ids, value.ptr, value.len);
}

struct weir_guid weir_derived_ids_end(struct weir_derived_ids *ids)
{
    unsigned char bytes[SHA_DIGEST_LENGTH];
    struct weir_guid id;
    need(SHA1_Final(bytes, &ids->digest));
    memcpy(id.bytes, bytes, sizeof(id.bytes));
    id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x50); /* version 5 */
    id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80); /* the variant of RFC 9562 */
    return id;
}
