/* SPDX-License-Identifier: MIT */
/*
 * What a run has come to, and the code that the command ends with.
 *
 *     read = done + absent + rejected + skipped + unknown + not_sent      when it is over
 *
 * Before that, rows that are on their way are missing on the right.
 */
#ifndef WEIR_BULK_RESULT_H
#define WEIR_BULK_RESULT_H

#include "bulk/batch.h"
#include "metrics/histogram.h"
#include "weir/bulk.h"

struct weir_connection_result {
    uint64_t requests;
    uint64_t rows_done; /* rows that it brought home */
    uint64_t throttles;
    uint64_t throttles_by_kind[WEIR_THROTTLE_OTHER + 1]; /* enum weir_throttle_kind */
    struct weir_histogram latency; /* from the first byte that is sent to the last of the answer */
};

/* Requests whose outcome is unknown and that ended within a second. */
struct weir_late {
    int64_t from_us; /* until the first of them may still be executed, … */
    int64_t until_us;
    uint64_t count;
};

struct weir_result {
    uint64_t read;
    uint64_t fates[WEIR_FATE_COUNT]; /* rows; `open` is not counted */
    uint64_t requests;               /* that were sent */
    uint64_t rows_again;             /* rows of requests that were not their first */
    uint64_t requests_unknown;       /* whose outcome is not known, and may still be executed */
    int64_t clear_us;                /* until then one of those may be; 0: none */
    struct weir_late *late;          /* the executor's: those, by time */
    uint32_t late_count;
    uint32_t late_capacity;
    unsigned ends;                              /* enum weir_end, as bits */
    struct weir_connection_result *connections; /* the executor's, one for each of the pool's */
    uint32_t connection_count;
};

/* Rows that have come to an end. */
uint64_t weir_result_ended(const struct weir_result *result);

/*
 * A request has ended with its outcome unknown, and may be executed until that moment, which is
 * never before the last one's. Its memory is bounded: one entry for a second.
 */
void weir_result_note_late(struct weir_result *result, int64_t until_us);

/* Those whose time is over count no longer. */
void weir_result_forget_late(struct weir_result *result, int64_t now_us);

/* The exit code: of several that apply the gravest. */
int weir_result_exit_code(const struct weir_result *result);

#endif
