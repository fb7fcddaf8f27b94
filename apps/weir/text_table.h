/* SPDX-License-Identifier: MIT */
/*
 * Words in columns: cell after cell, row after row, as wide as the widest. What comes from
 * elsewhere cannot steer a terminal (printable.h). On a terminal that is too narrow for the rows
 * columns that can be spared are left out; if that is not enough, each cell gets a line of its own
 * behind its title. One thread at a time.
 */
#ifndef WEIR_APP_TEXT_TABLE_H
#define WEIR_APP_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_TABLE_COLUMNS_MAX 16

struct text_table_column {
    const char *title;
    bool right;     /* numbers */
    unsigned spare; /* left out for want of room: the highest first; 0: never */
};

struct text_table {
    const struct text_table_column *columns;
    size_t column_count;
    char **cells; /* row by row */
    size_t cell_count;
    size_t cells_max;
};

/* `columns` must outlive it. */
void text_table_init(struct text_table *table, const struct text_table_column *columns,
                     size_t column_count);
void text_table_release(struct text_table *table);

void text_table_add(struct text_table *table, const char *cell);

/*
 * The titles, then the rows; or row by row, if `out` is a terminal that is too narrow. Returns how
 * many columns were left out.
 */
size_t text_table_print(const struct text_table *table, FILE *out);

#endif
