/* SPDX-License-Identifier: MIT */
/*
 * The inside of the driver, for the files that are it; see driver.h.
 *
 *     driver.c    its life, its turns: what happened elsewhere, what to do, when to come again
 *     flight.c    one load on its way: token, request, answer
 *     scribe.c    receipts, blocks, marks and the reach on their way into the journal
 */
#ifndef WEIR_BULK_DRIVER_PARTS_H
#define WEIR_BULK_DRIVER_PARTS_H

#include <pthread.h>

#include "bulk/driver.h"
#include "bulk/scribe.h"

/* One load that is out. The executor may have forgotten it: then it only has to end. */
struct weir_flight {
    struct weir_driver *driver;
    struct weir_load *load; /* NULL: cancelled */
    struct weir_link *link;
    struct weir_token_ask ask;
    bool asking;
    struct weir_load_request request; /* while `call` */
    struct weir_call *call;
    enum weir_load_mode mode;
    uint32_t row_count;
};

struct weir_driver {
    struct weir_driver_options options;
    struct weir_loop *loop;

    /* What others say; atomic. */
    struct weir_task start;
    struct weir_task wake;
    struct weir_task farewell;
    bool wake_posted;
    unsigned orders; /* enum weir_end, as bits */
    uint64_t durable_serial;

    /* Under the lock; the loop thread holds it while it works. */
    pthread_mutex_t lock;
    struct weir_driver_pass pass;
    struct weir_core core;
    struct weir_executor executor;
    struct weir_scribe scribe;
    struct weir_progress progress;
    int64_t lessons_us; /* when what the policies have learned is written down next */
    struct weir_timer timer;
    struct weir_batch *held;    /* taken from the intake, beyond the reach */
    struct weir_batch *returns; /* over, but a cancelled request may still read them */
    uint32_t flights;
    uint32_t cancelled; /* of them */
    uint64_t last_row;  /* that was offered */
    struct weir_intake_rows left_behind;
    uint64_t ended_before; /* rows, in the passes before */
    uint64_t bytes_before; /* that the links had sent when it began … */
    uint64_t bytes_sent;   /* … and that they sent until it was over */
    bool started;
    bool intake_closed;
    bool over;                 /* the executor says so … */
    bool over_told;            /* … and nothing is on its way any more */
    struct weir_error trouble; /* the last one of its kind, each */
    struct weir_error refusal; /* who we are, or what we may do … */
    char **refusals;           /* … and in words, of each connection; NULL: none */
    struct weir_error broken_input;

    /* Told by the journal's thread; under its own lock. */
    pthread_mutex_t failure_lock;
    bool failed;
    struct weir_error failure;

    /* The end, waited for by whoever frees it. */
    pthread_cond_t released;
    bool is_released;
};

/* --- driver.c --- */

/*
 * Whoever comes home to the loop thread with something enters, says it, and leaves: then everything
 * is done that can be done now, and, outside the lock, the sink hears what has happened.
 */
void weir_driver_enter(struct weir_driver *driver);
void weir_driver_leave(struct weir_driver *driver);

/* Has the journal failed? Then the executor is told, and nothing is sent any more. */
void weir_driver_hear_failure(struct weir_driver *driver, int64_t now_us);

/* Remember what is in the way, for people. */
void weir_driver_note_trouble(struct weir_driver *driver, const struct weir_error *err);

/* --- flight.c --- */

void weir_flight_begin(struct weir_driver *driver, struct weir_load *load);
void weir_flight_cancel(struct weir_driver *driver, struct weir_load *load);

#endif
