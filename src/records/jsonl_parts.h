/* SPDX-License-Identifier: MIT */
/*
 * What the files of the JSON Lines reader share: jsonl.c (the life of a record), jsonl_scan.c (the
 * grammar), jsonl_text.c (strings) and jsonl_names.c (no name twice).
 *
 * A text is noted by where it lies: in the line as it stands, or, if it has escapes, resolved in
 * `resolved`. No text is longer than it is written, so what all of them need is bounded by the
 * line.
 */
#ifndef WEIR_RECORDS_JSONL_PARTS_H
#define WEIR_RECORDS_JSONL_PARTS_H

#include "records/jsonl.h"
#include "records/lines.h"

enum weir_jsonl_where {
    WEIR_JSONL_LINE,
    WEIR_JSONL_RESOLVED,
    WEIR_JSONL_NULL, /* no text: null */
};

struct weir_jsonl_text {
    uint32_t begin;
    uint32_t len;
    enum weir_jsonl_where where;
};

struct weir_jsonl_member {
    struct weir_jsonl_text name;
    struct weir_jsonl_text value; /* flat only */
    uint32_t object;              /* it belongs to: the how many-th of the record, from 0 */
    uint32_t hash;                /* of the name */
};

/* Of the table of names: members by their hashes. */
struct weir_jsonl_slot {
    uint32_t turn; /* of another record: empty */
    uint32_t member;
};

struct weir_jsonl {
    struct weir_format_options options;
    struct weir_lines lines;
    uint64_t number; /* of the last record */

    /* The record at hand. */
    struct weir_str line;
    struct weir_jsonl_member *members;
    uint32_t member_count;
    char *resolved;
    size_t resolved_len;
    size_t resolved_capacity;

    /* No name twice. */
    uint32_t member_capacity;      /* 0, or a power of two */
    struct weir_jsonl_slot *slots; /* twice as many */
    uint32_t turn;                 /* of this record; never 0 */

    /* What is wrong with it. */
    enum weir_record_problem problem;
    size_t bad_at; /* in the line */
    uint64_t bound;
    bool has_culprit; /* the name of a member that is wrong: */
    struct weir_jsonl_text culprit;
};

/*
 * Where the grammar stands. At `end` stands a byte below ' ', and there is none in between (but for
 * tabs and what is wrong): loops that end at such a byte need not count.
 */
struct weir_jsonl_scan {
    struct weir_jsonl *jsonl;
    const char *at;
    const char *end;
    uint32_t top; /* number of the member of the outermost object that is at hand, from 1 */
};

/* ---- jsonl_scan.c ---- */

/* Read the line at hand: members, or a problem. */
void weir_jsonl_read(struct weir_jsonl *jsonl, const struct weir_line *line);

/*
 * All return false, so that failing is one line. Of the member at hand, if any; of a name that has
 * not been read, of none. At the line's end a byte that is wrong is one that is missing: CUT.
 */
bool weir_jsonl_fail(struct weir_jsonl_scan *scan, enum weir_record_problem problem,
                     const char *bad, uint64_t bound);
bool weir_jsonl_fail_byte(struct weir_jsonl_scan *scan, const char *bad);

/* ---- jsonl_text.c ---- */

/* The string at scan->at, which is a quote. False: a problem. */
bool weir_jsonl_take_string(struct weir_jsonl_scan *scan, struct weir_jsonl_text *ret);

/* ---- jsonl_names.c ---- */

void weir_jsonl_names_release(struct weir_jsonl *jsonl);

/* A record begins: none are known. */
void weir_jsonl_names_reset(struct weir_jsonl *jsonl);

/* Add a member of that object. False: it has one of that name. */
bool weir_jsonl_names_add(struct weir_jsonl *jsonl, struct weir_jsonl_text name, uint32_t object);

static inline const char *weir_jsonl_text_at(const struct weir_jsonl *jsonl,
                                             struct weir_jsonl_text text)
{
    return (text.where == WEIR_JSONL_LINE ? jsonl->line.ptr : jsonl->resolved) + text.begin;
}

#endif
