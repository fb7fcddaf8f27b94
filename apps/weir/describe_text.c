/* SPDX-License-Identifier: MIT */
/*
 * A table for people: what it is, and a line for each column. Its choices and targets stand behind
 * the type, as many on a line as fit.
 *
 *     COLUMN        LABEL     WRITE          REQUIRED  TYPE
 *     industrycode  Industry  create update  -         choice: 1 = Accounting; 4 = Brokers;
 *                                                        7 = Consulting; 8 = Consumer Services
 */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "column_text.h"
#include "describe.h"
#include "printable.h"

#define LABEL_COLUMNS    24 /* at most: what is longer is cut */
#define WRITE_COLUMNS    13 /* "create update" */
#define REQUIRED_COLUMNS 8
#define INDENT           2 /* of what stands below a type */

/* Of one choice with its label, which no part of the metadata exceeds. */
#define ITEM_BYTES_MAX (WEIR_METADATA_BYTES_MAX + 64)

/* Where the types begin, and what is being written there. */
struct sheet {
    FILE *out;
    int name_columns;
    int label_columns;
    struct weir_buf item;
    size_t used; /* places of the line at hand */
};

/* --- the head --------------------------------------------------------------------------------- */

static const char *ownership_text(enum weir_ownership ownership)
{
    switch (ownership) {
    case WEIR_OWNERSHIP_USER:
        return "owned by users or teams";
    case WEIR_OWNERSHIP_ORGANIZATION:
        return "owned by the organisation";
    default:
        return "without owners";
    }
}

static void print_bulk(FILE *out, const struct weir_table *table)
{
    bool any = false;
    fputs("bulk messages   ", out);
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++) {
        if (table->bulk[i])
            fprintf(out, "%s%s", any ? ", " : "", weir_bulk_name((enum weir_bulk_message)i));
        any = any || table->bulk[i];
    }
    if (!any)
        fputs(table->bulk_known ? "none: rows go by $batch" : "the service does not say", out);
    fputc('\n', out);
}

static void print_keys(FILE *out, const struct weir_table *table)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        const struct weir_alternate_key *key = &table->keys[i];
        fputs(i == 0 ? "alternate keys  " : "                ", out);
        for (uint32_t c = 0; c < key->column_count; c++)
            fprintf(out, "%s%s", c ? "," : "", key->columns[c]);
        fprintf(out, "  (%s, %s)\n", key->name, weir_key_status_name(key->status));
    }
    if (table->key_count == 0)
        fputs("alternate keys  none\n", out);
}

static void print_head(FILE *out, const struct weir_table *table)
{
    fprintf(out, "table           %s, %s, %s\n", table->name, weir_table_type_name(table->type),
            ownership_text(table->ownership));
    fprintf(out, "entity set      %s\n", table->set_name);
    fprintf(out, "id              %s\n", table->primary_id);
    if (table->primary_name)
        fprintf(out, "name            %s\n", table->primary_name);
    print_bulk(out, table);
    print_keys(out, table);
}

/* --- a column --------------------------------------------------------------------------------- */

static const char *write_text(const struct weir_column *column)
{
    if (column->for_create)
        return column->for_update ? "create update" : "create";
    return column->for_update ? "update" : "-";
}

static const char *required_text(enum weir_required required)
{
    switch (required) {
    case WEIR_REQUIRED_SYSTEM:
        return "system";
    case WEIR_REQUIRED_APPLICATION:
        return "forms";
    case WEIR_REQUIRED_RECOMMENDED:
        return "advised";
    default:
        return "-";
    }
}

/* The places before the types. */
static int margin(const struct sheet *sheet)
{
    return sheet->name_columns + 2 + sheet->label_columns + 2 + WRITE_COLUMNS + 2 +
           REQUIRED_COLUMNS + 2;
}

/* What stands in `item`: on the line at hand if it fits, else on the next. */
static void put_item(struct sheet *sheet, bool first)
{
    const char *mark = first ? ":" : ";";
    size_t columns = printable_columns(weir_str(weir_buf_text(&sheet->item), sheet->item.len));
    bool fits = sheet->used + 2 + columns <= DESCRIBE_COLUMNS;
    if (fits)
        fprintf(sheet->out, "%s ", mark);
    else
        fprintf(sheet->out, "%s\n%*s", mark, margin(sheet) + INDENT, "");
    sheet->used = columns + (fits ? sheet->used + 2 : (size_t)margin(sheet) + INDENT);
    fputs(weir_buf_text(&sheet->item), sheet->out);
    weir_buf_reset(&sheet->item);
}

/* As much of it as there is room for. */
static struct weir_str label_of(const struct weir_column *column)
{
    struct weir_str text = weir_str_from(column->label ? column->label : "-");
    text = weir_str_cut(text, (size_t)4 * LABEL_COLUMNS);
    while (printable_columns(text) > LABEL_COLUMNS)
        text = weir_str_cut(text, text.len - 1);
    return text;
}

/* With blanks behind it, up to the next column. */
static void print_label(struct sheet *sheet, const struct weir_column *column)
{
    struct weir_str text = label_of(column);
    printable_add(&sheet->item, text);
    fprintf(sheet->out, "%s%*s  ", weir_buf_text(&sheet->item),
            sheet->label_columns - (int)printable_columns(text), "");
    weir_buf_reset(&sheet->item);
}

static void print_column(struct sheet *sheet, const struct weir_column *column)
{
    fprintf(sheet->out, "%-*s  ", sheet->name_columns, column->name);
    print_label(sheet, column);
    column_text_type(&sheet->item, column);
    if (column->part_of)
        weir_buf_printf(&sheet->item, ", shows %s", column->part_of);
    fprintf(sheet->out, "%-*s  %-*s  %s", WRITE_COLUMNS, write_text(column), REQUIRED_COLUMNS,
            required_text(column->required), weir_buf_text(&sheet->item));
    sheet->used = (size_t)margin(sheet) + sheet->item.len;
    weir_buf_reset(&sheet->item);
    for (uint32_t i = 0; i < column->choice_count; i++) {
        column_text_choice(&sheet->item, &column->choices[i]);
        put_item(sheet, i == 0);
    }
    for (uint32_t i = 0; i < column->target_count; i++) {
        column_text_target(&sheet->item, &column->targets[i]);
        put_item(sheet, i == 0);
    }
    fputc('\n', sheet->out);
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool is_shown(const struct weir_table *table, const struct weir_column *column, bool all)
{
    return all || column->for_create || column->for_update ||
           strcmp(column->name, table->primary_id) == 0;
}

static int name_columns(const struct weir_table *table, bool all)
{
    size_t columns = strlen("COLUMN");
    for (uint32_t i = 0; i < table->column_count; i++) {
        size_t len = strlen(table->columns[i].name);
        if (is_shown(table, &table->columns[i], all) && len > columns)
            columns = len;
    }
    return (int)columns;
}

static int label_columns(const struct weir_table *table, bool all)
{
    size_t columns = strlen("LABEL");
    for (uint32_t i = 0; i < table->column_count; i++) {
        size_t len = printable_columns(label_of(&table->columns[i]));
        if (is_shown(table, &table->columns[i], all) && len > columns)
            columns = len;
    }
    return (int)columns;
}

void describe_text(FILE *out, const struct weir_table *table, bool all)
{
    struct sheet sheet = { .out = out,
                           .name_columns = name_columns(table, all),
                           .label_columns = label_columns(table, all) };
    uint32_t hidden = 0;
    weir_buf_init(&sheet.item, ITEM_BYTES_MAX);
    print_head(out, table);
    fprintf(out, "\n%-*s  %-*s  %-*s  %-*s  TYPE\n", sheet.name_columns, "COLUMN",
            sheet.label_columns, "LABEL", WRITE_COLUMNS, "WRITE", REQUIRED_COLUMNS, "REQUIRED");
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (is_shown(table, &table->columns[i], all))
            print_column(&sheet, &table->columns[i]);
        else
            hidden++;
    }
    if (hidden > 0)
        fprintf(out, "\n%" PRIu32 " column%s that cannot be written %s left out; --all shows %s\n",
                hidden, hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are",
                hidden == 1 ? "it" : "them");
    weir_buf_release(&sheet.item);
}
