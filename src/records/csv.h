/* SPDX-License-Identifier: MIT */
/*
 * CSV and TSV by RFC 4180, as an incremental reader over bytes that are handed to it; format.h says
 * how it is called. What the RFC leaves open, or many files do otherwise:
 *
 * - A line ends with LF, CR LF or a lone CR. The last one need not end. Empty lines are skipped: a
 *   row whose only cell is empty is written "".
 * - A byte order mark of UTF-8 is skipped; UTF-16 and UTF-32 are refused.
 * - A quote that is not the first byte of a cell is a byte like others: 5" pipe. Excel and Python
 *   read it so, and nothing is ambiguous about it.
 * - Text behind a closing quote ("a"b) is refused, as Python does it when strict. To guess, as
 *   Excel does, is what lets one forgotten quote swallow the rest of a file unnoticed.
 * - Where a record ends is not known after such a mistake, nor after a quote that is never closed:
 *   the physical line on which the record began is the rejected row, and reading goes on with the
 *   line behind it. So is a cell, a record or a number of cells beyond its bound.
 * - Blanks belong to the cell. Cells are UTF-8 without NUL; otherwise the whole record is rejected.
 * - The first line that is not empty is the header. Names are neither empty nor twice there. The
 *   header of a later file must be the same, in the same order.
 *
 * Which bytes make which record depends on nothing but the bytes from its beginning on. So a reader
 * that enters at a record's offset sees the same records as one that came from the beginning.
 *
 * Memory: a window that grows to one record and one piece of input. Reading a record allocates
 * nothing but what it takes from the arena. One thread at a time.
 */
#ifndef WEIR_RECORDS_CSV_H
#define WEIR_RECORDS_CSV_H

#include "records/format.h"

struct weir_csv;

/* Never NULL. `options->separator` 0: a comma. NULL: all defaults. */
struct weir_csv *weir_csv_new(const struct weir_format_options *options);
void weir_csv_free(struct weir_csv *csv);

/* As in format.h. */
void weir_csv_begin(struct weir_csv *csv);
void weir_csv_feed(struct weir_csv *csv, uint64_t offset, const char *bytes, size_t len, bool last);
enum weir_step weir_csv_head(struct weir_csv *csv, struct weir_error *err);
void weir_csv_enter(struct weir_csv *csv, uint64_t offset, uint64_t line, uint64_t number);
enum weir_step weir_csv_next(struct weir_csv *csv, struct weir_arena *arena,
                             struct weir_record *ret, struct weir_error *err);
struct weir_columns weir_csv_columns(const struct weir_csv *csv);
const char *weir_csv_line_end(const struct weir_csv *csv);

#endif
