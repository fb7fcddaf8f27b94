/* SPDX-License-Identifier: MIT */
/*
 * A record: one row of an input as it was found, before anything is made of it. It knows its place
 * and its raw bytes, so that a reject can be reported to the byte and written back as it stood.
 *
 * A record with a problem is a rejected row, not an error: reading goes on behind it. A record's
 * slices lie in the arena that it was read into and live as long as that.
 */
#ifndef WEIR_RECORDS_RECORD_H
#define WEIR_RECORDS_RECORD_H

#include "base/str.h"

/* Offsets count decoded bytes (of a gzip file: what it was made from) from the file's beginning. */
struct weir_place {
    uint32_t file;   /* index into the list of input files */
    uint64_t offset; /* of the first byte */
    uint64_t end;    /* of the byte behind the last, line end included */
    uint64_t line;   /* physical line of the first byte, from 1; 0: not known after a resume */
};

enum weir_record_problem {
    WEIR_RECORD_FINE = 0,

    /* Of the whole record: `raw` is all of it, `cells` are what was found (of an object: none). */
    WEIR_RECORD_RAGGED,   /* more or fewer cells than the header names */
    WEIR_RECORD_NUL,      /* has a NUL byte */
    WEIR_RECORD_NOT_UTF8, /* has bytes that are not UTF-8 */

    /* Where a record ends is not known: `raw` is the physical line it began on; no cells. */
    WEIR_RECORD_BEHIND_QUOTE, /* text between a closing quote and the separator */
    WEIR_RECORD_UNCLOSED,     /* a quote that is not closed */
    WEIR_RECORD_CELL_TOO_BIG,
    WEIR_RECORD_TOO_BIG,
    WEIR_RECORD_TOO_MANY_CELLS,

    /* Of a line that should be a JSON object: `raw` is the line; no cells. */
    WEIR_RECORD_NOT_OBJECT,    /* begins with something else */
    WEIR_RECORD_NOT_JSON,      /* has a byte where the grammar has none */
    WEIR_RECORD_CUT,           /* ends before its object does */
    WEIR_RECORD_BEHIND_OBJECT, /* text between the object and the line's end */
    WEIR_RECORD_TOO_DEEP,      /* objects and arrays inside of each other */
    WEIR_RECORD_TOO_MANY_MEMBERS,
    WEIR_RECORD_TWICE,          /* a member's name stands twice in an object */
    WEIR_RECORD_HALF_CHARACTER, /* an escaped surrogate without the other one */
    WEIR_RECORD_PROBLEM_COUNT
};

struct weir_record {
    uint64_t number; /* from 1, over all files; headers are not counted */
    struct weir_place place;
    struct weir_str raw; /* as it stands, its line end included (the last one may have none) */
    bool raw_cut;        /* too long to be kept: `raw` is its beginning, `place` is all of it */
    const struct weir_str *cells; /* one whose ptr is NULL is JSON's null */
    const struct weir_str *names; /* of as many members of an object; NULL: a header has them */
    uint32_t cell_count;

    enum weir_record_problem problem;
    uint32_t column;        /* of the problem, from 1; 0: of the whole record, or of `member` */
    struct weir_str member; /* of the problem, its name; ptr NULL: of none */
    uint64_t bad_at;        /* offset of the first byte that is wrong */
    uint64_t bound;         /* that was exceeded, or how many cells there should be; 0: none */
};

/*
 * The cell of a member is an object or an array, as it is written: not every column takes one. A
 * text that looks like one has a quote before it.
 */
static inline bool weir_record_is_nested(const struct weir_record *record, uint32_t cell)
{
    struct weir_str text = record->cells[cell];
    uintptr_t at = (uintptr_t)text.ptr;
    uintptr_t raw = (uintptr_t)record->raw.ptr;
    bool inside = text.len && at > raw && at < raw + record->raw.len;
    return inside && record->names && (*text.ptr == '{' || *text.ptr == '[') && text.ptr[-1] != '"';
}

/* The problem's short name, such as "unclosed quote". Any thread. */
const char *weir_record_problem_name(enum weir_record_problem problem);

/*
 * The problem as one sentence, lower case, without a full stop and without the place. Cut to fit;
 * empty if there is none. `column_name` may be empty: then the column is named by its number alone.
 * A member of an object is named by the record itself.
 */
void weir_record_explain(const struct weir_record *record, struct weir_str column_name, char *text,
                         size_t text_bytes);

#endif
