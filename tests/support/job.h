/* SPDX-License-Identifier: MIT */
/*
 * A job in virtual time: batches through a pool core against the small throttling service. As many
 * batches in flight as the pool grants; a throttled batch goes back to the front of the queue.
 */
#ifndef WEIR_TESTS_JOB_H
#define WEIR_TESTS_JOB_H

#include "pool/core.h"
#include "support/service.h"

struct job {
    struct weir_core *core;  /* made by the caller */
    struct service *service; /* made by the caller */
    uint32_t batches;        /* to be done; UINT32_MAX: as many as fit before the deadline */
    int64_t duration_us;     /* of one batch */
    int dop_hint;            /* sent with every answer */
    int64_t deadline_us;     /* give up at this time */
    int64_t sample_us;       /* 0: never; else call `sample` this often */
    void (*sample)(void *ctx, const struct job *job, int64_t now_us);
    void *ctx;

    /* What came of it. */
    int64_t now_us; /* start time on entry, end time on return */
    uint32_t done;
    uint64_t throttled;
    uint64_t *done_by;     /* per connection; the caller's array, NULL: not wanted */
    uint64_t over_cap;     /* leases granted while in flight >= the cap: must stay 0 */
    uint64_t while_closed; /* requests that left for a closed connection: must stay 0 */
};

/* Run until all batches are done or the deadline has come. */
void job_run(struct job *job);

#endif
