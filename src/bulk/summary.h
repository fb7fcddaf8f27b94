/* SPDX-License-Identifier: MIT */
/*
 * summary.json: what a job has come to, for programs. Numbers of rows are those of all runs, the
 * rest is of this one. Pure; any thread.
 */
#ifndef WEIR_BULK_SUMMARY_H
#define WEIR_BULK_SUMMARY_H

#include "base/buf.h"
#include "weir/stats.h"

struct weir_summary_connection {
    const char *name;
    uint64_t requests;
    uint64_t done_rows; /* rows that it brought home */
    uint64_t throttles;
    double throttle_wait_s;
    uint32_t level; /* requests that it may have in flight */
    enum weir_bound bound_by;
};

/* Names and values of the file; everything is borrowed. A text that is NULL is written as null. */
struct weir_summary {
    const char *job;
    const char *operation;
    const char *table;
    uint64_t read; /* = done + rejected + skipped + unknown + not_sent */
    uint64_t done;
    uint64_t rejected;
    uint64_t skipped;
    uint64_t unknown;
    uint64_t not_sent;
    bool read_to_end; /* there are no more rows than those that were read */
    double elapsed_s; /* seconds are written to the millisecond */
    double cpu_user_s;
    double cpu_system_s;
    uint64_t peak_rss_kib;
    uint64_t requests;
    uint64_t bytes_sent;
    uint64_t throttles;
    double throttle_wait_s;
    uint32_t batch_rows; /* of a request: as asked for, or as chosen at the end */
    int exit_code;
    const struct weir_summary_connection *connections;
    size_t connection_count;
};

/*
 * Add it to `text`: JSON with a line for each key, and a line end behind the last. A buffer of
 * WEIR_SUMMARY_BYTES_MAX holds any.
 */
void weir_summary_write(const struct weir_summary *summary, struct weir_buf *text);

/* How the run ended that wrote it. False: it is not a summary. */
bool weir_summary_read_exit_code(struct weir_str text, int *ret);

#endif
