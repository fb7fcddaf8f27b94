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
#include "weir/bulk.h"

struct weir_connection_result {
    uint64_t requests;
    uint64_t rows_done; /* rows that it brought home */
    uint64_t throttles;
};

struct weir_result {
    uint64_t read;
    uint64_t fates[WEIR_FATE_COUNT]; /* rows; `open` is not counted */
    uint64_t requests;               /* that were sent */
    uint64_t rows_again;             /* rows of requests that were not their first */
    uint64_t requests_unknown;       /* whose outcome is not known */
    uint64_t bad_batches;            /* bulk messages that failed for a row in them */
    uint64_t read_backs;             /* ids that were looked for */
    int64_t clear_us; /* until then a request that was given up may still be executed; 0: none */
    unsigned ends;    /* enum weir_end, as bits */
    struct weir_connection_result *connections; /* the executor's, one for each of the pool's */
    uint32_t connection_count;
};

/* Rows that have come to an end. */
uint64_t weir_result_ended(const struct weir_result *result);

/* The exit code: of several that apply the gravest. */
int weir_result_exit_code(const struct weir_result *result);

#endif
