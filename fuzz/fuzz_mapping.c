/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a mapping file. It must not crash, there is a spec or an error and never half of
 * one, what was read keeps its bounds and borrows nothing; and with it a mapping is made or
 * refused, by which rows of cells and of members become drafts whose members are JSON.
 *
 *     { "columns": … }␞cell␟cell␟cell       the file, then the cells of a row, if any
 *
 *     clang -fsanitize=fuzzer,address,undefined …     with libFuzzer
 *     replay.c                                        without: the files named on the command line
 */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/mapping.h"

#define FILE_END '\x1e'
#define CELL_END '\x1f'
#define CELLS    16
#define PARTS    WEIR_METADATA_PARTS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COLUMN(name, type)                                                                         \
    ",{\"LogicalName\":\"" name "\",\"AttributeType\":\"" type                                     \
    "\",\"IsValidForCreate\":true,\"IsValidForUpdate\":true,\"IsValidForRead\":true}"

/* clang-format off */
static const char definition[] =
    "{\"LogicalName\":\"gadget\",\"EntitySetName\":\"gadgets\",\"PrimaryIdAttribute\":\"gadgetid\","
    "\"Attributes\":[{\"LogicalName\":\"gadgetid\",\"AttributeType\":\"Uniqueidentifier\"}"
    COLUMN("name", "String")
    COLUMN("kind", "Picklist")
    COLUMN("sold", "Boolean")
    COLUMN("built", "DateTime")
    COLUMN("weight", "Decimal")
    COLUMN("maker", "Lookup")
    COLUMN("statecode", "State")
    COLUMN("ownerid", "Owner")
    "],\"Keys\":[{\"LogicalName\":\"byname\",\"KeyAttributes\":[\"name\",\"weight\"],"
    "\"EntityKeyIndexStatus\":\"Active\"}],"
    "\"ManyToOneRelationships\":[{\"ReferencingAttribute\":\"maker\",\"ReferencedEntity\":"
    "\"gadget\",\"ReferencingEntityNavigationPropertyName\":\"Maker\"},"
    "{\"ReferencingAttribute\":\"ownerid\",\"ReferencedEntity\":\"team\","
    "\"ReferencingEntityNavigationPropertyName\":\"ownerid\"}]}";
/* clang-format on */

static void need(bool truth)
{
    if (!truth)
        abort();
}

static struct weir_table *make_table(void)
{
    struct weir_metadata_part parts[PARTS];
    struct weir_table *table = NULL;
    for (size_t i = 0; i < PARTS; i++)
        parts[i] =
            (struct weir_metadata_part){ .status = 200,
                                         .body = weir_str_from(i ? "{\"value\":[]}" : definition) };
    need(weir_metadata_read("gadget", parts, PARTS, &table, NULL) == WEIR_OK);
    return table;
}

/* ---- the spec ---- */

static void walk(const struct weir_spec *spec)
{
    need(spec->column_count <= WEIR_FIELDS_MAX && spec->with_count <= WEIR_SPEC_WITH_MAX);
    for (uint32_t i = 0; i < spec->column_count; i++) {
        const struct weir_spec_column *column = &spec->columns[i];
        need(weir_spec_find(spec, weir_str_from(column->source)) != NULL);
        need(!column->target || column->target[0]);
        need(column->empty >= -1 && column->empty <= WEIR_CELL_EMPTY_REJECT);
        need(column->value_count <= WEIR_SPEC_VALUES_MAX);
        for (uint32_t k = 0; k < column->value_count; k++)
            need(column->values[k].from != NULL);
    }
    for (uint32_t i = 0; i < spec->with_count; i++)
        need(spec->with[i].target[0] && spec->with[i].value);
}

/* ---- rows ---- */

static uint32_t split(struct weir_str text, struct weir_str cells[CELLS])
{
    uint32_t count = 0;
    while (count < CELLS) {
        const char *end = text.len ? memchr(text.ptr, CELL_END, text.len) : NULL;
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        cells[count++] = weir_str(text.ptr, len);
        if (!end)
            break;
        text = weir_str(end + 1, text.len - len - 1);
    }
    return count;
}

/* Cells are UTF-8: their reader sees to that, and so does the parser that is asked here. */
static void check_draft(const struct weir_draft *draft)
{
    struct weir_buf object;
    struct weir_json *json;
    need(!draft->refusal.len || !draft->target.members.len);
    weir_buf_init(&object, WEIR_ROW_BYTES_MAX + 2);
    weir_buf_add_char(&object, '{');
    weir_buf_add(&object, draft->target.members.ptr, draft->target.members.len);
    weir_buf_add_char(&object, '}');
    need(weir_json_parse(weir_str(object.ptr, object.len), &json, NULL) == WEIR_OK);
    weir_json_free(json);
    weir_buf_release(&object);
}

static bool is_text(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    }
    return true;
}

static void map_rows(const struct weir_mapping *mapping, bool named, struct weir_str text,
                     const struct weir_spec *spec)
{
    struct weir_str cells[CELLS];
    struct weir_str names[CELLS];
    struct weir_draft draft;
    struct weir_record record = { .number = 1, .cells = cells, .raw = text };
    record.cell_count = split(text, cells);
    for (uint32_t i = 0; i < record.cell_count; i++)
        names[i] = i < spec->column_count ? weir_str_from(spec->columns[i].source) : cells[i];
    record.names = named ? names : NULL;
    struct weir_arena *arena = weir_arena_new(WEIR_DRAFT_BYTES_ENOUGH);
    for (int pass = WEIR_PASS_ROWS; pass < WEIR_PASSES && is_text(text); pass++) {
        if (!weir_mapping_has_pass(mapping, (enum weir_pass)pass))
            continue;
        need(weir_mapping_record(mapping, (enum weir_pass)pass, &record, arena, &draft));
        check_draft(&draft);
    }
    weir_arena_unref(arena);
}

static void map_with(const struct weir_table *table, const struct weir_spec *spec, bool named,
                     struct weir_str cells)
{
    struct weir_str columns[CELLS];
    struct weir_mapping *mapping = NULL;
    struct weir_error err = { .status = WEIR_OK };
    struct weir_mapping_options options = {
        .table = table,
        .organisation = "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        .spec = spec,
        .named = named,
        .connections = 1,
    };
    for (uint32_t i = 0; i < CELLS && i < spec->column_count; i++)
        columns[i] = weir_str_from(spec->columns[i].source);
    options.columns.names = columns;
    options.columns.count = named ? 0 : spec->column_count < CELLS ? spec->column_count : CELLS;
    if (!named && !options.columns.count)
        return;
    enum weir_status status = weir_mapping_new(&options, &mapping, &err);
    need((status == WEIR_OK) == (mapping != NULL));
    need(status == WEIR_OK || (err.status == status && err.message[0]));
    if (mapping)
        map_rows(mapping, named, cells, spec);
    weir_mapping_free(mapping);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, FILE_END, size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    struct weir_spec spec = { 0 };
    struct weir_error err = { .status = WEIR_OK };
    /* Copies of just their size, so that reading beyond the end is noticed. */
    char *file = weir_calloc(len ? len : 1, 1);
    char *cells = weir_calloc(size - len + 1, 1);
    if (size) {
        memcpy(file, data, len);
        memcpy(cells, data + len, size - len);
    }
    enum weir_status status = weir_spec_read(weir_str(file, len), "file", &spec, &err);
    need(status == WEIR_OK || (err.status == status && err.message[0] && !spec.columns));
    free(file); /* nothing is borrowed */
    if (status == WEIR_OK) {
        struct weir_table *table = make_table();
        struct weir_str row = end ? weir_str(cells + 1, size - len - 1) : weir_str("", 0);
        walk(&spec);
        map_with(table, &spec, false, row);
        map_with(table, &spec, true, row);
        weir_table_free(table);
    }
    weir_spec_release(&spec);
    free(cells);
    return 0;
}
