/* SPDX-License-Identifier: MIT */
/*
 * The thread that reads: records of the files become drafts and go into the intake, but for those
 * that an earlier run has finished. It ends with the input, at a number of rows, when the input
 * cannot be read, or when the intake takes no more.
 *
 * Rows of a stream that falls silent are not kept waiting for others to go with. What was read of
 * the input is told to the journal every few rows, before these go on: a later run can then tell
 * whether it is given the same stream.
 */
#ifndef WEIR_BULK_FEED_H
#define WEIR_BULK_FEED_H

#include "bulk/intake.h"
#include "journal/cursor.h"
#include "records/mapping.h"
#include "records/reader.h"

struct weir_feed;

/* Borrowed as long as the feed lives, but for the view, which is looked at once. */
struct weir_feed_options {
    struct weir_reader *reader;
    const struct weir_mapping *mapping;
    enum weir_pass pass;
    struct weir_intake *intake;
    const struct weir_journal_view *view; /* of what is finished; NULL: nothing is */
    uint64_t rows_max;                    /* that go into the intake; 0: all */
    bool only_pass; /* no other follows: a row that has something for one is refused */
};

/*
 * Why a row cannot be taken if there is no pass after this one: something of it is for a later one.
 * Empty: nothing is. The arena is used up.
 */
struct weir_str weir_feed_wants_file(const struct weir_mapping *mapping, enum weir_pass pass,
                                     const struct weir_record *record, struct weir_arena *arena);

enum weir_status weir_feed_new(const struct weir_feed_options *options, struct weir_feed **ret,
                               struct weir_error *err);

/* Wait for its end, which must have been brought about; more than once is fine, so is NULL. */
void weir_feed_join(struct weir_feed *feed);

/* Joins it. NULL is fine. */
void weir_feed_free(struct weir_feed *feed);

/* So far. Any thread. */
struct weir_feed_position {
    uint64_t last_row; /* that was read */
    uint32_t file;
    uint64_t offset; /* in the file, behind that row */
    bool complete;   /* the input has ended */
    bool limited;    /* rows_max was reached before that */
};
struct weir_feed_position weir_feed_position(struct weir_feed *feed);

#endif
