/* SPDX-License-Identifier: MIT */
/* Words in columns; see text_table.h. */
#include "text_table.h"

#include <assert.h>

#include "base/buf.h"
#include "base/mem.h"
#include "printable.h"
#include "wrap.h"

#define CELL_BYTES_MAX 8192
#define GAP            2
#define FIRST_BYTES    128 /* a title, filled up */

void text_table_init(struct text_table *table, const struct text_table_column *columns,
                     size_t column_count)
{
    assert(column_count <= TEXT_TABLE_COLUMNS_MAX);
    *table = (struct text_table){ .columns = columns, .column_count = column_count };
}

void text_table_release(struct text_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct text_table){ 0 };
}

void text_table_add(struct text_table *table, const char *cell)
{
    struct weir_buf text;
    if (table->cell_count == table->cells_max) {
        table->cells_max = table->cells_max ? 2 * table->cells_max : 64;
        table->cells = weir_realloc(table->cells, table->cells_max, sizeof(*table->cells));
    }
    weir_buf_init(&text, CELL_BYTES_MAX);
    printable_add(&text, weir_str_from(cell));
    table->cells[table->cell_count++] = weir_buf_take(&text);
}

static void measure(const struct text_table *table, size_t widths[TEXT_TABLE_COLUMNS_MAX])
{
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = printable_columns(weir_str_from(table->columns[i].title));
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t *width = &widths[i % table->column_count];
        size_t columns = printable_columns(weir_str_from(table->cells[i]));
        *width = columns > *width ? columns : *width;
    }
}

/* Nothing is filled up behind the last word of a line. */
static void print_cell(const struct text_table *table, size_t column, const char *cell,
                       size_t width, FILE *out)
{
    bool last = column + 1 == table->column_count;
    int fill = (int)(width - printable_columns(weir_str_from(cell)));
    if (table->columns[column].right)
        fprintf(out, "%*s%s", fill, "", cell);
    else
        fprintf(out, "%s%*s", cell, last ? 0 : fill, "");
    fprintf(out, "%*s", last ? 0 : GAP, "");
    if (last)
        fputc('\n', out);
}

/* --- row by row ------------------------------------------------------------------------------- */

static bool is_too_wide(const struct text_table *table, const size_t *widths, size_t columns)
{
    size_t whole = GAP * (table->column_count - 1);
    for (size_t i = 0; i < table->column_count; i++)
        whole += widths[i];
    return columns > 0 && whole > columns;
}

static size_t widest_title(const struct text_table *table)
{
    size_t widest = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        size_t wide = printable_columns(weir_str_from(table->columns[i].title));
        widest = wide > widest ? wide : widest;
    }
    return widest;
}

static void print_upright(const struct text_table *table, size_t columns, FILE *out)
{
    char first[FIRST_BYTES];
    size_t indent = widest_title(table) + GAP;
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        if (i > 0 && column == 0)
            fputc('\n', out);
        snprintf(first, sizeof(first), "%-*s", (int)indent, table->columns[column].title);
        wrap_print(out, first, indent, columns, table->cells[i]);
    }
}

void text_table_print(const struct text_table *table, FILE *out)
{
    size_t widths[TEXT_TABLE_COLUMNS_MAX], columns = wrap_columns(fileno(out));
    measure(table, widths);
    if (is_too_wide(table, widths, columns)) {
        print_upright(table, columns, out);
        return;
    }
    for (size_t i = 0; i < table->column_count; i++)
        print_cell(table, i, table->columns[i].title, widths[i], out);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        print_cell(table, column, table->cells[i], widths[column], out);
    }
}
