/* SPDX-License-Identifier: MIT */
/*
 * A table for programs: one object with everything that is known of it. What is not known of a
 * column, or does not apply to it, is left out.
 */
#include <inttypes.h>

#include "base/json_text.h"
#include "base/limits.h"
#include "describe.h"

/* Of one text; none exceeds the part of the metadata that it came with, an escape is six bytes. */
#define TEXT_BYTES_MAX (6 * WEIR_METADATA_BYTES_MAX)

static const char *const type_names[WEIR_COLUMN_TYPES] = {
    [WEIR_COLUMN_OTHER] = "other",
    [WEIR_COLUMN_STRING] = "string",
    [WEIR_COLUMN_MEMO] = "memo",
    [WEIR_COLUMN_INTEGER] = "integer",
    [WEIR_COLUMN_BIGINT] = "bigint",
    [WEIR_COLUMN_DECIMAL] = "decimal",
    [WEIR_COLUMN_DOUBLE] = "double",
    [WEIR_COLUMN_MONEY] = "money",
    [WEIR_COLUMN_BOOLEAN] = "boolean",
    [WEIR_COLUMN_PICKLIST] = "choice",
    [WEIR_COLUMN_MULTI_PICKLIST] = "choices",
    [WEIR_COLUMN_STATE] = "state",
    [WEIR_COLUMN_STATUS] = "status",
    [WEIR_COLUMN_DATETIME] = "datetime",
    [WEIR_COLUMN_ID] = "id",
    [WEIR_COLUMN_LOOKUP] = "lookup",
    [WEIR_COLUMN_CUSTOMER] = "customer",
    [WEIR_COLUMN_OWNER] = "owner",
    [WEIR_COLUMN_PARTY_LIST] = "party_list",
    [WEIR_COLUMN_ENTITY_NAME] = "table_name",
    [WEIR_COLUMN_FILE] = "file",
    [WEIR_COLUMN_IMAGE] = "image",
};

static const char *const ownership_names[] = {
    [WEIR_OWNERSHIP_NONE] = "none",
    [WEIR_OWNERSHIP_USER] = "user",
    [WEIR_OWNERSHIP_ORGANIZATION] = "organization",
};

static const char *const required_names[] = {
    [WEIR_REQUIRED_NONE] = "none",
    [WEIR_REQUIRED_RECOMMENDED] = "recommended",
    [WEIR_REQUIRED_APPLICATION] = "application",
    [WEIR_REQUIRED_SYSTEM] = "system",
};

static const char *const behavior_names[] = {
    [WEIR_DATE_USER_LOCAL] = "user_local",
    [WEIR_DATE_ONLY] = "date_only",
    [WEIR_DATE_ZONE_INDEPENDENT] = "zone_independent",
};

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* `before` is what stands before the text; NULL as a text is left out with it. */
static void put_text(FILE *out, const char *before, const char *text)
{
    struct weir_buf quoted;
    if (!text)
        return;
    weir_buf_init(&quoted, TEXT_BYTES_MAX);
    weir_json_text_add(&quoted, weir_str_from(text));
    fprintf(out, "%s%s", before, weir_buf_text(&quoted));
    weir_buf_release(&quoted);
}

/* Written as the service wrote it: a number. */
static void put_number(FILE *out, const char *before, const char *number)
{
    if (number)
        fprintf(out, "%s%s", before, number);
}

static void put_choices(FILE *out, const struct weir_column *column)
{
    if (column->choice_count == 0)
        return;
    for (uint32_t i = 0; i < column->choice_count; i++) {
        const struct weir_choice *choice = &column->choices[i];
        fprintf(out, "%s{\"value\":%" PRId32, i ? "," : ",\"choices\":[", choice->value);
        put_text(out, ",\"label\":", choice->label);
        if (choice->state >= 0)
            fprintf(out, ",\"state\":%" PRId32, choice->state);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_targets(FILE *out, const struct weir_column *column)
{
    if (column->target_count == 0)
        return;
    for (uint32_t i = 0; i < column->target_count; i++) {
        put_text(out, i ? ",{\"table\":" : ",\"targets\":[{\"table\":", column->targets[i].table);
        put_text(out, ",\"navigation\":", column->targets[i].navigation);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_column(FILE *out, const struct weir_column *column)
{
    put_text(out, "{\"name\":", column->name);
    put_text(out, ",\"label\":", column->label);
    put_text(out, ",\"type\":", type_names[column->type]);
    fprintf(out, ",\"create\":%s,\"update\":%s,\"read\":%s,\"required\":\"%s\"",
            truth(column->for_create), truth(column->for_update), truth(column->for_read),
            required_names[column->required]);
    put_text(out, ",\"part_of\":", column->part_of);
    if (column->length_max > 0)
        fprintf(out, ",\"length_max\":%" PRIu32, column->length_max);
    put_number(out, ",\"min\":", column->min);
    put_number(out, ",\"max\":", column->max);
    if (column->precision >= 0)
        fprintf(out, ",\"precision\":%d", column->precision);
    if (column->type == WEIR_COLUMN_DATETIME)
        fprintf(out, ",\"behavior\":\"%s\",\"shows_date_only\":%s",
                behavior_names[column->behavior], truth(column->shows_date_only));
    put_choices(out, column);
    put_targets(out, column);
    fputc('}', out);
}

static void put_key(FILE *out, const struct weir_alternate_key *key)
{
    put_text(out, "{\"name\":", key->name);
    fputs(",\"columns\":[", out);
    for (uint32_t i = 0; i < key->column_count; i++)
        put_text(out, i ? "," : "", key->columns[i]);
    fprintf(out, "],\"status\":\"%s\"}", weir_key_status_name(key->status));
}

/* null: the service would not say. */
static void put_bulk(FILE *out, const struct weir_table *table)
{
    bool any = false;
    if (!table->bulk_known) {
        fputs(",\"bulk\":null", out);
        return;
    }
    fputs(",\"bulk\":[", out);
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++) {
        if (table->bulk[i])
            fprintf(out, "%s\"%s\"", any ? "," : "", weir_bulk_name((enum weir_bulk_message)i));
        any = any || table->bulk[i];
    }
    fputc(']', out);
}

void describe_json(FILE *out, const struct weir_table *table)
{
    put_text(out, "{\"table\":", table->name);
    put_text(out, ",\"set\":", table->set_name);
    put_text(out, ",\"primary_id\":", table->primary_id);
    put_text(out, ",\"primary_name\":", table->primary_name);
    fprintf(out, ",\"type\":\"%s\",\"ownership\":\"%s\"", weir_table_type_name(table->type),
            ownership_names[table->ownership]);
    put_bulk(out, table);
    fputs(",\"keys\":[", out);
    for (uint32_t i = 0; i < table->key_count; i++) {
        fputs(i ? "," : "", out);
        put_key(out, &table->keys[i]);
    }
    fputs("],\n\"columns\":[\n", out);
    for (uint32_t i = 0; i < table->column_count; i++) {
        fputs(i ? ",\n" : "", out);
        put_column(out, &table->columns[i]);
    }
    fputs("\n]}\n", out);
}
