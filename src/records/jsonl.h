/* SPDX-License-Identifier: MIT */
/*
 * JSON Lines: an object a line, as an incremental reader over bytes that are handed to it; format.h
 * says how it is called, lines.h what a line is. What the name leaves open:
 *
 * - An object stands on its line alone; blanks and tabs may stand around it. A line that has
 * nothing else is passed over. There is no head: a file may be empty.
 * - The grammar is that of RFC 8259 and nothing more. Text is UTF-8 without NUL, escaped ones
 *   included, and an escaped surrogate has its other half beside it.
 * - No object has two members of one name. To take one of them, as most parsers do, would be to
 *   guess which is meant.
 * - Numbers are never made into numbers: 1e400 and 38 digits stay what they are.
 * - Whatever is wrong with a line rejects this line. Not text, or too long: that is said first.
 *   Otherwise the first mistake in the order of the bytes.
 *
 * Two views:
 *
 *     flat  {"name":"Contoso","revenue":5,"fax":null}      names  name      revenue  fax
 *                                                          cells  Contoso   5        null
 *     raw   the same bytes; no cells
 *
 * Flat, members are cells: strings without their quotes and escapes, numbers, true and false as
 * they are written, null as a cell whose ptr is NULL. Objects and arrays are cells as they are
 * written, which weir_record_is_nested() tells from texts; names inside of them are not looked at.
 * They may be nested, to a bound. The bounds for cells hold for every string and number (as a name,
 * too), and raw the one for the number of cells for all members of a record, nested ones included.
 *
 * Names come with the records, for objects may have different members: there are no columns.
 *
 * Memory: a window that grows to one line and one piece of input, as much again for texts that have
 * escapes, and a table of the names of a record. They stay as large as they ever had to be;
 * otherwise reading a record allocates nothing but what it takes from the arena, in one piece. One
 * thread at a time.
 */
#ifndef WEIR_RECORDS_JSONL_H
#define WEIR_RECORDS_JSONL_H

#include "records/format.h"

struct weir_jsonl;

/* Never NULL. NULL: all defaults. */
struct weir_jsonl *weir_jsonl_new(const struct weir_format_options *options);
void weir_jsonl_free(struct weir_jsonl *jsonl);

/* As in format.h. */
void weir_jsonl_begin(struct weir_jsonl *jsonl);
void weir_jsonl_feed(struct weir_jsonl *jsonl, uint64_t offset, const char *bytes, size_t len,
                     bool last);
enum weir_step weir_jsonl_head(struct weir_jsonl *jsonl, struct weir_error *err);
void weir_jsonl_enter(struct weir_jsonl *jsonl, uint64_t offset, uint64_t line, uint64_t number);
enum weir_step weir_jsonl_next(struct weir_jsonl *jsonl, struct weir_arena *arena,
                               struct weir_record *ret, struct weir_error *err);

#endif
