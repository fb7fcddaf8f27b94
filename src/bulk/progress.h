/* SPDX-License-Identifier: MIT */
/*
 * How fast a run is, and how long it will take. Pure.
 *
 * The rate is that of the last 30 s: rows are counted in slots of a quarter of a second, and what
 * has become older is forgotten. Before 30 s have passed it is the rate since the beginning.
 *
 *     rate = rows ended in the window / its length
 *     ETA  = rows that remain / rate while work is possible + the wait that is known
 *
 * While every connection is throttled nothing can end. That time is waited through once: it is
 * added to the ETA as the wait that it is, and it must not slow down the rate that the rest is
 * reckoned with. So there are two windows: one over all time, which is the rate that people see,
 * and one over working time, a clock that stands still meanwhile.
 *
 * Times are of one clock and do not go back; one that does counts as the last one. One thread at a
 * time.
 */
#ifndef WEIR_BULK_PROGRESS_H
#define WEIR_BULK_PROGRESS_H

#include <stdint.h>

#define WEIR_PROGRESS_SLOTS   120
#define WEIR_PROGRESS_SLOT_US INT64_C(250000)

/* Rows by slot; one is valid as long as its number is of the last WEIR_PROGRESS_SLOTS. */
struct weir_progress_window {
    struct {
        int64_t number; /* slots since the beginning */
        uint64_t rows;
    } slots[WEIR_PROGRESS_SLOTS];
};

struct weir_progress {
    int64_t begun_us;
    int64_t last_us; /* the latest time that was heard of */
    uint64_t rows_ended;
    int64_t waited_us;     /* through waits that are over */
    int64_t wait_begun_us; /* the wait that is known: from … */
    int64_t wait_until_us; /* … to; not behind its beginning: none */
    struct weir_progress_window all;
    struct weir_progress_window working;
};

/*
 * What is known of the rest. Rows are those of the pass under way: numbers of earlier runs
 * included. Where this run reads, the first rows may be far behind those that an earlier one has
 * read: how long rows are is told by the place alone.
 */
struct weir_progress_view {
    uint64_t rows_total;      /* exactly; 0: not known */
    uint64_t rows_read;       /* up to the place where this run reads, … */
    uint64_t bytes_read;      /* … and the bytes of the input up to there */
    uint64_t bytes_total;     /* 0: not known */
    uint64_t rows_known;      /* the input has at least so many, as an earlier run has seen */
    uint64_t rows_ended;      /* in this pass */
    unsigned passes_after;    /* with as many rows each */
    uint64_t rows_max;        /* this run ends after so many rows of a pass; 0: any … */
    uint64_t rows_ended_now;  /* … and so many it has ended in it */
    int64_t throttled_for_us; /* every connection is, for so long from now; 0: not */
};

void weir_progress_init(struct weir_progress *progress, int64_t now_us);

/* So many rows of this run have ended by now, in all. Cheap: call it whenever some have. */
void weir_progress_note(struct weir_progress *progress, uint64_t rows_ended, int64_t now_us);

/* Rows a second. */
double weir_progress_rate(const struct weir_progress *progress, int64_t now_us);

/*
 * Seconds until the last row of this run has ended; negative: not known. Also learns from the view
 * what is waited for: call it about once a second or more often.
 */
double weir_progress_eta_s(struct weir_progress *progress, const struct weir_progress_view *view,
                           int64_t now_us);

#endif
