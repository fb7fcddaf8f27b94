/* SPDX-License-Identifier: MIT */
/*
 * The barest loop of libuv and libcurl that a careful person would write: finished bodies, so many
 * in flight, answers thrown away. What everything that sends is measured against.
 */
#ifndef WEIR_BENCH_BARE_H
#define WEIR_BENCH_BARE_H

#include <stddef.h>

struct bare_work {
    const char *url;
    const char *const *lines; /* header lines; NULL ends them */
    const char *body;
    size_t body_bytes;
    int in_flight;
    long requests;
};

/* Returns when so many were answered with 200; ends the process if that is not to be. */
void bare_run(const struct bare_work *work);

#endif
