/* SPDX-License-Identifier: MIT */
/*
 * From files to records: an input and a format. Rows are numbered through over all files; a place
 * is a file and an offset in it.
 *
 * A reader can enter at the place of any record that an earlier one delivered and then delivers the
 * same records with the same numbers. Whether the input is still the same is compared as far as it
 * was journaled: what lies on disk at the beginning, all else before records are made of it.
 *
 * Calls block on the files; they belong into a thread of their own. One thread at a time; records
 * are handed over with their arena.
 */
#ifndef WEIR_RECORDS_READER_H
#define WEIR_RECORDS_READER_H

#include "records/format.h"
#include "records/input.h"

struct weir_reader;

struct weir_reader_options {
    const char *const *paths; /* borrowed, like the strings; "-" is standard input, once at most */
    size_t path_count;
    int stdin_fd;
    int stop_fd; /* readable: reading a stream ends, with WEIR_E_CANCELLED; 0: none */
    const struct weir_format *format; /* NULL: by the name of the first file */
    struct weir_format_options format_options;

    /* On a resume: what was journaled, and the record to begin with. Borrowed. */
    const struct weir_file_identity *identities; /* of each file; NULL: a new job */
    const struct weir_block *blocks;             /* ascending by file and index */
    size_t block_count;
    struct weir_place enter; /* file, offset, line (0: not known) */
    uint64_t enter_number;   /* of that record; 0: from the beginning */
};

/*
 * Open the files once and look at them and at their heads, so that whatever is wrong with the input
 * as a whole is said now: columns that differ, for example. Of streams only the first file is
 * looked at, as nothing can be read twice. WEIR_E_INVALID, WEIR_E_NOT_FOUND, WEIR_E_IO.
 */
enum weir_status weir_reader_new(const struct weir_reader_options *options,
                                 struct weir_reader **ret, struct weir_error *err);
void weir_reader_free(struct weir_reader *reader);

/*
 * RECORD, FULL (the same record again, with an emptier arena; WEIR_BATCH_BYTES_ENOUGH is enough for
 * any), END of the last file, or BROKEN, for good, with err. Never MORE.
 */
enum weir_step weir_reader_next(struct weir_reader *reader, struct weir_arena *arena,
                                struct weir_record *ret, struct weir_error *err);

struct weir_columns weir_reader_columns(const struct weir_reader *reader);
const struct weir_format *weir_reader_format(const struct weir_reader *reader);

/* Of the line with those names, if there is one. */
const char *weir_reader_line_end(const struct weir_reader *reader);

/* As people know the file: its path, or "standard input". */
const char *weir_reader_name(const struct weir_reader *reader, uint32_t file);

/* To be journaled: once, at the beginning; and after every few records. See input.h. */
const struct weir_file_identity *weir_reader_identities(const struct weir_reader *reader);
bool weir_reader_take_block(struct weir_reader *reader, struct weir_block *ret);
bool weir_reader_partial_block(const struct weir_reader *reader, struct weir_block *ret);
bool weir_reader_grown_block(struct weir_reader *reader, size_t step, struct weir_block *ret);

/* Whether the file at hand is a stream, or a later one is: reading on may mean waiting. */
bool weir_reader_may_wait(const struct weir_reader *reader);

/* Whom to call, within weir_reader_next(), before that; `ctx` must outlive the last call. */
void weir_reader_watch(struct weir_reader *reader, struct weir_idle idle);

#endif
