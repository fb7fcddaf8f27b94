/* SPDX-License-Identifier: MIT */
/*
 * What turns bytes into records: a format is a table of functions on a state of its own (CSV and
 * TSV are the first; JSON Lines is another table). Formats are pure: bytes are handed to them in
 * pieces of any size, records come out, and where the pieces were cut makes no difference.
 *
 *     state = open(options)
 *     begin(state)                                  at the beginning of each file
 *     head(state) ── MORE ──▶ feed, again           what precedes the first record, if anything
 *     enter(state, place, number)                   only on a resume, after the head
 *     next(state) ── MORE ──▶ feed, again
 *        │  └─ FULL ──▶ another arena, again: the record is still there
 *        ├─ RECORD                                  a row, perhaps with a problem
 *        ├─ END                                     of this file
 *        └─ BROKEN                                  the file cannot be read at all; err says why
 */
#ifndef WEIR_RECORDS_FORMAT_H
#define WEIR_RECORDS_FORMAT_H

#include "base/arena.h"
#include "records/record.h"
#include "weir/error.h"

enum weir_step {
    WEIR_STEP_MORE,
    WEIR_STEP_READY, /* head() only: it has been read */
    WEIR_STEP_RECORD,
    WEIR_STEP_FULL,
    WEIR_STEP_END,
    WEIR_STEP_BROKEN,
};

/* The names of the columns, borrowed from whoever read them. */
struct weir_columns {
    const struct weir_str *names;
    uint32_t count;
};

/* Zero is the default of each. */
struct weir_format_options {
    char separator;          /* of cells; the format's own */
    size_t field_bytes_max;  /* WEIR_FIELD_BYTES_MAX */
    size_t record_bytes_max; /* WEIR_RECORD_BYTES_MAX */
    uint32_t fields_max;     /* WEIR_FIELDS_MAX; never more */
    bool raw;                /* JSON Lines: objects as they stand, without cells */
};

struct weir_format {
    const char *name;

    void *(*open)(const struct weir_format_options *options);
    void (*free)(void *state);

    /* A file begins at offset 0; row numbers run on. */
    void (*begin)(void *state);

    /*
     * Bytes that stand at `offset`; only after MORE, and without a gap unless enter() was called
     * meanwhile and the gap ends before that place. `last`: nothing follows; then `len` may be 0.
     * The bytes are copied.
     */
    void (*feed)(void *state, uint64_t offset, const char *bytes, size_t len, bool last);

    enum weir_step (*head)(void *state, struct weir_error *err);

    /* The next record is the one that begins at `offset`, on `line` (0: not known). */
    void (*enter)(void *state, uint64_t offset, uint64_t line, uint64_t number);

    /* `ret` is set with RECORD only; place.file stays 0. Its slices lie in `arena`. */
    enum weir_step (*next)(void *state, struct weir_arena *arena, struct weir_record *ret,
                           struct weir_error *err);

    /*
     * Of the first file, as long as the state lives; none before head() was READY. A format whose
     * records have names of their own has none.
     */
    struct weir_columns (*columns)(const void *state);

    /* How the line of those names ends: "\n", "\r\n" or "\r"; "\n" if it has no end. */
    const char *(*line_end)(const void *state);
};

extern const struct weir_format weir_format_csv;   /* separated by commas */
extern const struct weir_format weir_format_tsv;   /* by tabs, quoted like CSV */
extern const struct weir_format weir_format_jsonl; /* an object a line */

/* By the end of a file's name, with or without ".gz", ignoring case; NULL: no format is known. */
const struct weir_format *weir_format_of(const char *path);

/* "csv", "tsv" or "jsonl"; NULL: no format is called like that. */
const struct weir_format *weir_format_named(const char *name);

#endif
