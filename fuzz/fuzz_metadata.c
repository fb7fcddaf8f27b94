/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as parts of the answer about a table. It must not crash, there is a table or an error
 * and never half of one, everything in a table can be walked, and all its bounds hold.
 *
 *     A2{"LogicalName":…}␞J2{"value":…}       a letter for the part, a digit for its status, its
 *                                             body; the rest is as a small table would be described
 *
 *     clang -fsanitize=fuzzer,address,undefined …     with libFuzzer
 *     replay.c                                        without: the files named on the command line
 */
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/metadata.h"

#define PARTS     WEIR_METADATA_PARTS
#define SEPARATOR '\x1e'

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char definition[] =
    "{\"LogicalName\":\"gadget\",\"EntitySetName\":\"gadgets\",\"PrimaryIdAttribute\":\"gadgetid\","
    "\"Attributes\":[{\"LogicalName\":\"gadgetid\",\"AttributeType\":\"Uniqueidentifier\"},"
    "{\"LogicalName\":\"name\",\"AttributeType\":\"String\"},"
    "{\"LogicalName\":\"kind\",\"AttributeType\":\"Picklist\"},"
    "{\"LogicalName\":\"sold\",\"AttributeType\":\"Boolean\"},"
    "{\"LogicalName\":\"built\",\"AttributeType\":\"DateTime\"},"
    "{\"LogicalName\":\"weight\",\"AttributeType\":\"Decimal\"},"
    "{\"LogicalName\":\"ownerid\",\"AttributeType\":\"Owner\"}],"
    "\"Keys\":[{\"LogicalName\":\"byname\",\"KeyAttributes\":[\"name\",\"kind\"],"
    "\"EntityKeyIndexStatus\":\"Active\"}],"
    "\"ManyToOneRelationships\":[{\"ReferencingAttribute\":\"ownerid\","
    "\"ReferencedEntity\":\"owner\",\"ReferencingEntityNavigationPropertyName\":\"ownerid\"}]}";

static const char list[] = "{\"value\":[]}";

static int status_of(char digit)
{
    static const int statuses[] = { 0, 204, 200, 302, 403, 404, 429, 500, 401, 400 };
    return statuses[digit >= '0' && digit <= '9' ? digit - '0' : 2];
}

static void take_segment(struct weir_str segment, struct weir_metadata_part *parts)
{
    if (segment.len < 2)
        return;
    size_t part = (size_t)(unsigned char)(segment.ptr[0] - 'A') % PARTS;
    parts[part].status = status_of(segment.ptr[1]);
    parts[part].class_ = (enum weir_class)((unsigned char)segment.ptr[0] / 128);
    parts[part].body = weir_str(segment.ptr + 2, segment.len - 2);
}

static void take_input(struct weir_str input, struct weir_metadata_part *parts)
{
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = (struct weir_metadata_part){ .status = 200,
                                                .body = weir_str_from(i ? list : definition) };
    while (input.len) {
        const char *end = memchr(input.ptr, SEPARATOR, input.len);
        size_t len = end ? (size_t)(end - input.ptr) : input.len;
        take_segment(weir_str(input.ptr, len), parts);
        len += end != NULL;
        input = weir_str(input.ptr + len, input.len - len);
    }
}

static void need(bool truth)
{
    if (!truth)
        abort();
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t walk_column(const struct weir_table *table, const struct weir_column *column)
{
    struct weir_key_part part;
    need(weir_table_column(table, weir_str_from(column->name)) == column);
    need(column->choice_count <= WEIR_CHOICES_MAX);
    need(column->target_count <= WEIR_LOOKUP_TARGETS_MAX);
    need(column->type < WEIR_COLUMN_TYPES && column->key_name);
    size_t sum = length(column->min) + length(column->max) + length(column->part_of);
    for (uint32_t i = 0; i < column->choice_count; i++)
        sum += length(column->choices[i].label);
    for (uint32_t i = 0; i < column->target_count; i++)
        sum += strlen(column->targets[i].table) + length(column->targets[i].navigation);
    if (weir_column_key_part(column, weir_str("1", 1), &part))
        sum += part.name.len;
    return sum;
}

static size_t walk(const struct weir_table *table)
{
    size_t sum = strlen(table->name) + strlen(table->set_name) + strlen(table->primary_id);
    need(weir_str_equal_nocase(weir_str_from(table->name), weir_str_from("gadget")));
    need(table->column_count <= WEIR_COLUMNS_MAX && table->key_count <= WEIR_ALTERNATE_KEYS_MAX);
    for (uint32_t i = 0; i < table->column_count; i++)
        sum += walk_column(table, &table->columns[i]);
    for (uint32_t i = 0; i < table->key_count; i++) {
        need(table->keys[i].column_count <= WEIR_KEY_PARTS_MAX);
        for (uint32_t k = 0; k < table->keys[i].column_count; k++)
            sum += strlen(table->keys[i].columns[k]);
    }
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++)
        need(table->bulk_known || !table->bulk[i]);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_calloc(size ? size : 1, 1);
    struct weir_metadata_part parts[PARTS];
    struct weir_table *table = NULL;
    struct weir_error err = { .status = WEIR_OK };
    if (size)
        memcpy(bytes, data, size);
    take_input(weir_str(bytes, size), parts);
    enum weir_status status = weir_metadata_read("gadget", parts, PARTS, &table, &err);
    need((status == WEIR_OK) == (table != NULL));
    need(status == WEIR_OK || (err.status == status && err.message[0]));
    free(bytes); /* nothing is borrowed */
    if (table)
        walk(table);
    weir_table_free(table);
    return 0;
}
