/* SPDX-License-Identifier: MIT */
/*
 * The names that an input has for what is in it: its header, or, of records with names of their
 * own, those of the first of them, each once.
 */
#ifndef WEIR_APP_INPUT_NAMES_H
#define WEIR_APP_INPUT_NAMES_H

#include "records/reader.h"

#define INPUT_NAMES_RECORDS 100 /* that are looked at */

struct input_names {
    struct weir_reader *reader;
    struct weir_arena *arena; /* of the records; NULL: there is a header */
    struct weir_str *names;   /* of them */
    uint32_t count;
};

/* WEIR_E_INVALID: neither csv, tsv nor jsonl. NULL is fine. */
enum weir_status input_names_check_format(const char *format, struct weir_error *err);

/*
 * `format` may be NULL: by the name of the file. Fails as weir_reader_new() and weir_reader_next()
 * do; WEIR_E_INVALID: there is no record to have names.
 */
enum weir_status input_names_init(struct input_names *names, const char *path, const char *format,
                                  struct weir_error *err);
void input_names_release(struct input_names *names);

/* Live as long as `names`. */
struct weir_columns input_names_columns(const struct input_names *names);

#endif
