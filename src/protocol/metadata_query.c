/* SPDX-License-Identifier: MIT */
/*
 * What is asked of the service about a table, and the order in which it is asked:
 *
 *     0        EntityDefinitions(LogicalName='t')   with columns, keys and lookups expanded
 *     1 … 14   …/Attributes/Microsoft.Dynamics.CRM.XAttributeMetadata: what only columns of one
 *              kind have can only be selected through a cast to it
 *     15 … 18  sdkmessagefilters: a row if the table has the bulk message
 *     19       EntityDefinitions by the name of an entity set, in case that was meant
 *
 * Metadata is never paged. Blanks are written as %20: an address may stand in a request line.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/metadata_parts.h"
#include "protocol/odata.h"

static const char definition[] =
    "?$select=LogicalName,EntitySetName,PrimaryIdAttribute,PrimaryNameAttribute,TableType,"
    "OwnershipType"
    "&$expand=Attributes($select=LogicalName,AttributeType,AttributeTypeName,AttributeOf,"
    "IsValidForCreate,IsValidForUpdate,IsValidForRead,RequiredLevel,DisplayName),"
    "Keys($select=LogicalName,KeyAttributes,EntityKeyIndexStatus),"
    "ManyToOneRelationships($select=ReferencingAttribute,ReferencedEntity,"
    "ReferencingEntityNavigationPropertyName)";

static void add_table(struct weir_buf *buf, const char *table)
{
    weir_buf_printf(buf, "EntityDefinitions(LogicalName='%s')", table);
}

static void add_cast(struct weir_buf *buf, const char *table, const struct weir_metadata_cast *cast)
{
    add_table(buf, table);
    weir_buf_printf(buf, "/Attributes/Microsoft.Dynamics.CRM.%sAttributeMetadata", cast->type);
    weir_buf_printf(buf, "?$select=LogicalName%s%s", cast->select[0] ? "," : "", cast->select);
    if (cast->expand)
        weir_buf_printf(buf, "&$expand=%s", cast->expand);
}

static void add_message(struct weir_buf *buf, const char *table, enum weir_bulk_message message)
{
    weir_buf_printf(buf,
                    "sdkmessagefilters?$select=sdkmessagefilterid"
                    "&$filter=sdkmessageid/name%%20eq%%20'%s'"
                    "%%20and%%20primaryobjecttypecode%%20eq%%20'%s'",
                    weir_bulk_name(message), table);
}

static void add_set(struct weir_buf *buf, const char *table)
{
    weir_buf_printf(buf,
                    "EntityDefinitions?$select=LogicalName,EntitySetName"
                    "&$filter=EntitySetName%%20eq%%20'%s'",
                    table);
}

static char *make_path(const char *table, size_t part)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_PART_URL_BYTES_MAX);
    if (part == WEIR_METADATA_DEFINITION) {
        add_table(&buf, table);
        weir_buf_add_text(&buf, definition);
    } else if (part < WEIR_METADATA_MESSAGES) {
        add_cast(&buf, table, &weir_metadata_casts[part - WEIR_METADATA_CASTS]);
    } else if (part < WEIR_METADATA_SET) {
        add_message(&buf, table, (enum weir_bulk_message)(part - WEIR_METADATA_MESSAGES));
    } else {
        add_set(&buf, table);
    }
    return weir_buf_take(&buf);
}

enum weir_status weir_metadata_paths(const char *table, char *paths[WEIR_METADATA_PARTS],
                                     struct weir_error *err)
{
    struct weir_str name = weir_str_from(table);
    if (name.len > WEIR_NAME_BYTES_MAX || !weir_odata_is_name(name))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no name of a table: letters, digits and underscores make one",
                         (int)(name.len < WEIR_NAME_BYTES_MAX ? name.len : WEIR_NAME_BYTES_MAX),
                         table ? table : "");
    for (size_t i = 0; i < WEIR_METADATA_PARTS; i++)
        paths[i] = make_path(table, i);
    return WEIR_OK;
}

void weir_metadata_paths_free(char *paths[WEIR_METADATA_PARTS])
{
    for (size_t i = 0; i < WEIR_METADATA_PARTS; i++) {
        free(paths[i]);
        paths[i] = NULL;
    }
}
