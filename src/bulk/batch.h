/* SPDX-License-Identifier: MIT */
/*
 * Rows on their way: what a source of records hands over and the executor carries to its end.
 *
 * A *batch* is some rows and their memory, made by the reader, changed by nobody, and given back
 * when its last row has come to an end. What happens to a row meanwhile stands beside it, in
 * its *state*, which is the executor's; what has become of it is its *fate*.
 *
 * Rows of one batch have different keys and the same columns, and ascending numbers; those that are
 * refused, and so never sent, may have any key and any columns, and those that have nothing to do
 * any columns. A row whose key was seen before goes into a later batch, which names the batches
 * that have to be over before it is sent.
 */
#ifndef WEIR_BULK_BATCH_H
#define WEIR_BULK_BATCH_H

#include "base/limits.h"
#include "protocol/guid.h"
#include "protocol/target.h"
#include "throttle/catalogue.h"

/* One record of the input. Everything is borrowed from the batch. */
struct weir_row {
    uint64_t number;     /* from 1, over the whole input */
    uint32_t file;       /* of the input */
    uint64_t offset;     /* of its first byte in the file, and … */
    uint64_t end;        /* … of the byte behind it */
    struct weir_str raw; /* as it was read */
    struct weir_target target;
    struct weir_str written; /* as a target of a bulk message; empty: it was not written */
    bool named_by_input;     /* its id is of the input, or derived from it */
    uint64_t key_hash;       /* 0: no other row can have the same key */
    bool idle;               /* nothing is to be done for it in this pass: done without a request */
    struct weir_str refusal; /* why it is not to be sent at all; empty: it is */
    struct weir_str column;  /* that is to blame; empty: the row */
};

/* An earlier run that may have sent rows up to `reach` may have sent this one: it is neither
 * refused nor idle. */
bool weir_row_may_be_sent(const struct weir_row *row, uint64_t reach);

/* What has become of a row. */
enum weir_fate {
    WEIR_FATE_OPEN = 0,
    WEIR_FATE_DONE,
    WEIR_FATE_ABSENT,   /* a delete that found nothing: done, counted apart */
    WEIR_FATE_SKIPPED,  /* found there, from an earlier job that derived the same id */
    WEIR_FATE_REJECTED, /* will never be accepted */
    WEIR_FATE_UNKNOWN,  /* given up; it may have been executed */
    WEIR_FATE_NOT_SENT, /* given up; it has not been executed */
    WEIR_FATE_COUNT
};

/* Why a row was not accepted. */
struct weir_row_error {
    enum weir_class class_;
    enum weir_fault_kind fault;
    int http_status; /* 0: there was no answer */
    uint32_t code;
    uint32_t connection; /* that said so */
    char *message;       /* "": none */
    char *request_id;    /* the service's; "": none */
};

/* Texts are copied; NULL: none. */
struct weir_row_error *weir_row_error_new(const struct weir_row_error *from);
void weir_row_error_free(struct weir_row_error *error); /* NULL is fine */

struct weir_row_state {
    enum weir_fate fate;
    bool tainted;       /* an attempt that carried it ended with its outcome unknown */
    bool own_error;     /* `error` was said of this row alone, not of the whole request */
    bool singled_out;   /* forbidden, and others of the same answer were done */
    bool unseen;        /* reading it back was forbidden by one connection */
    bool id_known;      /* the service named `id` */
    uint16_t attempts;  /* requests that carried it */
    int64_t unknown_us; /* when the last attempt with an unknown outcome ended */
    int64_t denied_us;  /* when it was forbidden first; 0: never */
    struct weir_guid id;
    uint64_t *refusers;           /* connections that forbade it, a bit for each; NULL: none */
    struct weir_row_error *error; /* to be reported unless a read-back says otherwise; NULL: none */
};

struct weir_batch {
    uint64_t serial; /* from 1, in the order of making */
    struct weir_row *rows;
    uint32_t row_count;
    size_t bytes;          /* of its memory: counts against the budget */
    const uint64_t *after; /* serials of the batches that must be over before it is sent */
    uint32_t after_count;
    const struct weir_guid *ids; /* of the rows, as the message has them; NULL: see the targets */
    struct weir_str message; /* body of the bulk message of all rows that are to be sent; empty: it
                            was not written */
    uint32_t message_rows;   /* those that it has */
    bool plain;              /* no row is refused or idle or has a key: nobody need look at each */
    bool unbroken;           /* all rows are of one file, and no number is left out */
    char *message_memory;    /* the packer's */
    char *texts_memory;

    /* The executor's. */
    struct weir_row_state *states;
    uint32_t open_rows;
    uint32_t receipts; /* that await their commit */
    uint32_t place;    /* among those that are alive */
    bool over;         /* to be handed back */
    bool lapsed;       /* a row was given up: what comes after it in its order may not go on */
    bool blamed;       /* a state has an error, or refusers: else nobody need look at each */
    int64_t clear_us;  /* when what it left unknown can no longer be executed */
    struct weir_batch *next;
};

/* Make and free the executor's part. */
void weir_batch_open(struct weir_batch *batch);
void weir_batch_close(struct weir_batch *batch);

#endif
