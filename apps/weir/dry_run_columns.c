/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the columns of an input, one line for each:
 *
 *     INPUT      COLUMN           WHAT IT TAKES
 *     Firma      name             text, 160 characters
 *     Parent No  parentaccountid  lookup of account by accountnumber
 *     Notiz      -                ignored
 *     _ownerid_value  ownerid     owner, each row says of which table
 *
 * A delete takes only what names its rows.
 */
#include <string.h>

#include "base/limits.h"
#include "column_text.h"
#include "dry_run.h"
#include "printable.h"
#include "records/column_target.h"
#include "records/read_format.h"

#define WIDTH_MAX 40 /* of a name that others line up with */

/* One line; texts are owned. */
struct line {
    struct weir_buf input;
    struct weir_buf column;
    struct weir_buf takes;
};

/* --- what stands in a line -------------------------------------------------------------------- */

static void add_lookup(struct weir_buf *takes, const struct weir_column *column,
                       const struct weir_column_target *target)
{
    weir_buf_add_text(takes, weir_column_type_name(column->type));
    if (target->table.ptr)
        weir_buf_printf(takes, " of %.*s", (int)target->table.len, target->table.ptr);
    else if (column->target_count == 1)
        weir_buf_printf(takes, " of %s", column->targets[0].table);
    else
        weir_buf_add_text(takes, ", each row says of which table");
    for (uint32_t i = 0; i < target->key_count; i++) {
        const char *by = target->derived ? " derived from " : " by ";
        weir_buf_printf(takes, "%s%.*s", i ? "," : by, (int)target->keys[i].len,
                        target->keys[i].ptr);
    }
}

/*
 * A name as Dataverse writes it when rows are read: what it says of a lookup or of the row. False:
 * it is another one, or the id of a lookup, whose column becomes *ret.
 */
static bool add_read_member(struct line *line, struct weir_str name, struct weir_str *ret)
{
    struct weir_str column;
    switch (weir_read_member_of(name, &column)) {
    case WEIR_READ_LOOKUP:
        *ret = column;
        return false;
    case WEIR_READ_LOOKUP_TABLE:
        weir_buf_add_text(&line->column, "-");
        weir_buf_printf(&line->takes, "the table to which %.*s points", (int)column.len,
                        column.ptr);
        return true;
    case WEIR_READ_ETAG:
    case WEIR_READ_LOOKUP_NAVIGATION:
    case WEIR_READ_ANNOTATION:
        weir_buf_add_text(&line->column, "-");
        weir_buf_add_text(&line->takes, "an annotation, passed over");
        return true;
    default:
        return false;
    }
}

static void add_target(struct line *line, const struct weir_table *table, struct weir_str text)
{
    struct weir_column_target target;
    const struct weir_column *column = NULL;
    if (weir_column_target_parse(text, &target, NULL) == WEIR_OK)
        column = weir_table_column(table, target.column);
    if (column && strcmp(column->name, "createdon") == 0 &&
        weir_table_column(table, weir_str_from(WEIR_OVERRIDDEN_COLUMN)))
        column = weir_table_column(table, weir_str_from(WEIR_OVERRIDDEN_COLUMN));
    if (!column) { /* whoever made the mapping knows better */
        printable_add(&line->column, text);
        return;
    }
    weir_buf_add_text(&line->column, column->name);
    if (strcmp(column->name, table->primary_id) == 0)
        weir_buf_add_text(&line->takes, "the id of the row");
    else if (weir_column_is_lookup(column))
        add_lookup(&line->takes, column, &target);
    else
        column_text_type(&line->takes, column);
}

static void add_spec(struct line *line, const struct weir_spec_column *spec)
{
    if (spec->value_count > 0)
        weir_buf_printf(&line->takes, ", %u value%s mapped", spec->value_count,
                        spec->value_count == 1 ? "" : "s");
}

static void line_init(struct line *line)
{
    weir_buf_init(&line->input, WEIR_FIELD_BYTES_MAX);
    weir_buf_init(&line->column, WEIR_FIELD_BYTES_MAX);
    weir_buf_init(&line->takes, WEIR_FIELD_BYTES_MAX);
}

static void line_release(struct line *line)
{
    weir_buf_release(&line->input);
    weir_buf_release(&line->column);
    weir_buf_release(&line->takes);
}

/* --- the lines -------------------------------------------------------------------------------- */

/* What is printed, and how wide; the first walk measures, the second prints. */
struct sheet {
    FILE *out; /* NULL: measure */
    const struct weir_table *table;
    const struct weir_job_options *options;
    size_t input_width;
    size_t column_width;
};

static size_t columns_of(const struct weir_buf *buf)
{
    return printable_columns(weir_str(weir_buf_text(buf), buf->len));
}

static size_t wider(size_t width, const struct weir_buf *buf)
{
    size_t columns = columns_of(buf);
    columns = columns < WIDTH_MAX ? columns : WIDTH_MAX;
    return columns > width ? columns : width;
}

/* The text, and blanks up to the width. */
static void put_padded(FILE *out, const struct weir_buf *buf, size_t width)
{
    size_t columns = columns_of(buf);
    fprintf(out, "%s%*s  ", weir_buf_text(buf), columns < width ? (int)(width - columns) : 0, "");
}

static void put_line(struct sheet *sheet, struct line *line)
{
    if (sheet->out) {
        put_padded(sheet->out, &line->input, sheet->input_width);
        put_padded(sheet->out, &line->column, sheet->column_width);
        fprintf(sheet->out, "%s\n", weir_buf_text(&line->takes));
    } else {
        sheet->input_width = wider(sheet->input_width, &line->input);
        sheet->column_width = wider(sheet->column_width, &line->column);
    }
    line_release(line);
}

/* In a list with commas; `list` may be NULL. */
static bool is_listed(const char *list, struct weir_str name)
{
    struct weir_str rest = weir_str_from(list);
    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        if (weir_str_equal(weir_str_trim(weir_str(rest.ptr, len)), name))
            return true;
        len += comma != NULL;
        rest = weir_str(rest.ptr + len, rest.len - len);
    }
    return false;
}

static bool is_passed_over(const struct sheet *sheet, struct weir_str target)
{
    return sheet->options->operation == WEIR_OPERATION_DELETE &&
           !is_listed(sheet->options->key, target) && !is_listed(sheet->options->id_from, target) &&
           !weir_str_equal(target, weir_str_from(sheet->table->primary_id)) &&
           !weir_str_equal(target, weir_str_from(WEIR_PARTITION_COLUMN));
}

static void put_column(struct sheet *sheet, struct weir_str name,
                       const struct weir_spec_column *spec)
{
    struct line line;
    bool ignored = spec && !spec->target;
    struct weir_str target = spec ? weir_str_from(spec->target) : name;
    line_init(&line);
    printable_add(&line.input, name);
    if (ignored || is_passed_over(sheet, target)) {
        weir_buf_add_text(&line.column, "-");
        weir_buf_add_text(&line.takes, ignored ? "ignored" : "not needed by a delete");
    } else if (spec || !add_read_member(&line, name, &target)) {
        add_target(&line, sheet->table, target);
    }
    if (spec && !ignored)
        add_spec(&line, spec);
    put_line(sheet, &line);
}

static void put_constant(struct sheet *sheet, const struct weir_spec_with *with)
{
    struct line line;
    line_init(&line);
    weir_buf_add_char(&line.input, '=');
    printable_add(&line.input, weir_str_cut(weir_str_from(with->value), WIDTH_MAX));
    add_target(&line, sheet->table, weir_str_from(with->target));
    put_line(sheet, &line);
}

/* Members of objects have names of their own: of them only what a mapping says is known. */
static void put_all(struct sheet *sheet, struct weir_columns columns, const struct weir_spec *spec)
{
    for (uint32_t i = 0; i < columns.count; i++)
        put_column(sheet, columns.names[i], spec ? weir_spec_find(spec, columns.names[i]) : NULL);
    for (uint32_t i = 0; spec && columns.count == 0 && i < spec->column_count; i++)
        put_column(sheet, weir_str_from(spec->columns[i].source), &spec->columns[i]);
    for (uint32_t i = 0; spec && i < spec->with_count; i++)
        put_constant(sheet, &spec->with[i]);
}

void dry_run_print_columns(FILE *out, const struct weir_table *table, struct weir_columns columns,
                           const struct weir_spec *spec, const struct weir_job_options *options)
{
    struct sheet sheet = { .table = table,
                           .options = options,
                           .input_width = strlen("INPUT"),
                           .column_width = strlen("COLUMN") };
    put_all(&sheet, columns, spec);
    sheet.out = out;
    if (columns.count > 0 || (spec && (spec->column_count > 0 || spec->with_count > 0)))
        fprintf(out, "\n%-*s  %-*s  WHAT IT TAKES\n", (int)sheet.input_width, "INPUT",
                (int)sheet.column_width, "COLUMN");
    put_all(&sheet, columns, spec);
    if (columns.count == 0)
        fputs("\nmembers of the objects go to the columns of their names\n", out);
}
