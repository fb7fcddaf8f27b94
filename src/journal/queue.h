/* SPDX-License-Identifier: MIT */
/*
 * Records on their way to the journal's thread: copies, in order, bounded in bytes. No lock of its
 * own: whoever owns it has one.
 */
#ifndef WEIR_JOURNAL_QUEUE_H
#define WEIR_JOURNAL_QUEUE_H

#include "journal/entry.h"

/* One allocation; the texts of the record stand behind it. Free with free(). */
struct weir_queued {
    struct weir_queued *next;
    size_t bytes; /* all of it */
    struct weir_entry record;
    char text[];
};

struct weir_queue {
    struct weir_queued *first;
    struct weir_queued *last;
    size_t count;
    size_t bytes;
};

/* Frees what is in it. */
void weir_queue_release(struct weir_queue *queue);

/* A copy of the record, behind the others. */
void weir_queue_add(struct weir_queue *queue, const struct weir_entry *record);

/* All of it, in order; the queue is empty then. */
struct weir_queue weir_queue_take(struct weir_queue *queue);

#endif
