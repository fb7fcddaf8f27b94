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

/* --- which columns ---------------------------------------------------------------------------- */

/* The columns that are shown, and how wide each is. */
struct layout {
    size_t widths[TEXT_TABLE_COLUMNS_MAX]; /* 0: left out */
    size_t last;                           /* the last one */
    size_t left_out;
};

static size_t whole_width(const struct text_table *table, const struct layout *layout)
{
    size_t whole = 0;
    for (size_t i = 0; i < table->column_count; i++)
        whole += layout->widths[i] ? layout->widths[i] + (whole ? GAP : 0) : 0;
    return whole;
}

static unsigned most_spare(const struct text_table *table, const struct layout *layout)
{
    unsigned most = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (layout->widths[i] && table->columns[i].spare > most)
            most = table->columns[i].spare;
    return most;
}

static void leave_out(const struct text_table *table, unsigned spare, struct layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].spare == spare) {
            layout->widths[i] = 0;
            layout->left_out++;
        }
}

/* `columns` 0: as wide as it is. False: it does not fit, whatever is left out. */
static bool lay_out(const struct text_table *table, size_t columns, struct layout *layout)
{
    unsigned spare;
    measure(table, layout->widths);
    while (columns && whole_width(table, layout) > columns) {
        spare = most_spare(table, layout);
        if (!spare)
            return false;
        leave_out(table, spare, layout);
    }
    for (size_t i = 0; i < table->column_count; i++)
        layout->last = layout->widths[i] ? i : layout->last;
    return true;
}

/* Nothing is filled up behind the last word of a line. */
static void print_cell(const struct text_table *table, const struct layout *layout, size_t column,
                       const char *cell, FILE *out)
{
    bool last = column == layout->last;
    size_t width = layout->widths[column];
    if (!width)
        return;
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

size_t text_table_print(const struct text_table *table, FILE *out)
{
    struct layout layout = { 0 };
    size_t columns = wrap_columns(fileno(out));
    assert(table->column_count > 0 && table->column_count <= TEXT_TABLE_COLUMNS_MAX);
    if (!lay_out(table, columns, &layout)) {
        print_upright(table, columns, out);
        return 0;
    }
    for (size_t i = 0; i < table->column_count; i++)
        print_cell(table, &layout, i, table->columns[i].title, out);
    for (size_t i = 0; i < table->cell_count; i++)
        print_cell(table, &layout, i % table->column_count, table->cells[i], out);
    return layout.left_out;
}
