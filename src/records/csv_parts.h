/* SPDX-License-Identifier: MIT */
/*
 * What the files of the CSV reader share: csv.c (the window and the life of a record), csv_scan.c
 * (where cells and records end) and csv_header.c (the names of the columns).
 *
 *      window  ┌──── gone ────┬─ the record at hand ──────┬─ not looked at ─┐
 *              0            begin     field      at       …              len
 *              └ stands at offset `base` of the file
 *
 * Cells are noted relative to `begin`, so the window may be moved under them.
 */
#ifndef WEIR_RECORDS_CSV_PARTS_H
#define WEIR_RECORDS_CSV_PARTS_H

#include "base/limits.h"
#include "records/csv.h"

/* Bytes that are looked at in one go; the window has as many zeros behind its end. */
#define WEIR_CSV_STRIDE 64

struct weir_csv_cell {
    uint32_t begin; /* of the contents: behind the opening quote */
    uint32_t end;
    uint32_t doubled; /* quotes that stand twice */
};

enum weir_csv_outcome {
    WEIR_CSV_MORE,    /* the window ends before the record does */
    WEIR_CSV_WHOLE,   /* a record: `end`, `cells` */
    WEIR_CSV_PROBLEM, /* its end is not known: `problem`, `column`, `bad_at`, `bound` */
};

struct weir_csv {
    struct weir_format_options options;

    char *window;
    size_t len;
    size_t capacity;
    uint64_t base;
    bool last; /* nothing comes behind `len` */

    /* The record at hand. */
    size_t begin;
    size_t at;      /* everything before it has been looked at */
    size_t field;   /* of the cell at hand: its first byte, relative to begin */
    size_t doubled; /* its doubled quotes */
    bool quoted;
    bool any_quoted;
    struct weir_csv_cell *cells;
    uint32_t cell_count;
    size_t end; /* WHOLE: behind it, relative to begin */

    /* Special bytes in the stride at `block`, a bit each. */
    size_t block;
    uint64_t specials;
    uint64_t quotes;

    /* What is wrong with the record at hand; then its physical line is looked for. */
    enum weir_record_problem problem;
    uint32_t column;
    uint64_t bad_at;
    uint64_t bound;
    uint64_t dropped;                 /* bytes of that line that are no longer in the window */
    char kept[WEIR_RECORD_CUT_BYTES]; /* its beginning then */

    bool begun;        /* what stands before the header has been looked at */
    bool headed;       /* this file's header has been read */
    uint64_t enter_at; /* bytes before this offset are skipped */
    uint64_t line;     /* of `begin`; 0: not known */
    uint64_t number;   /* of the last record */

    struct weir_arena *names; /* memory of `columns` */
    struct weir_columns columns;
    const char *line_end;    /* of their line */
    enum weir_status broken; /* with `why`, for good */
    struct weir_error why;
};

/* ---- csv_scan.c ---- */

/* Go on with the record at hand. The window is not moved. */
enum weir_csv_outcome weir_csv_scan(struct weir_csv *csv);

/* Go on to the end of the physical line: true, with *ret behind it (an index); false: not there. */
bool weir_csv_scan_line(struct weir_csv *csv, size_t *ret);

/* Line ends in the record at hand, WHOLE; a CR LF is one. */
uint64_t weir_csv_count_lines(const struct weir_csv *csv);

/* ---- csv_header.c ---- */

/* The record at hand, WHOLE, is a header: the first one is kept, a later one compared. */
enum weir_status weir_csv_header(struct weir_csv *csv, struct weir_error *err);

/* ---- csv.c ---- */

/* The contents of a cell of the record at hand, quotes undoubled into `to` if it has any. */
struct weir_str weir_csv_cell_text(const char *record, const struct weir_csv_cell *cell, char *to);

/* NUL bytes and what is not UTF-8 in the record at hand, WHOLE: problem, column, bad_at. */
void weir_csv_check_text(const struct weir_csv *csv, struct weir_record *record);

#endif
