/* SPDX-License-Identifier: MIT */
/*
 * What a job has come to, seen from outside: the journal says what is durable, the summary how the
 * last run ended, the lock whether one is under way. Nothing is changed. Any thread.
 */
#ifndef WEIR_APP_JOB_VIEW_H
#define WEIR_APP_JOB_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/jobs.h"

enum job_state {
    JOB_STATE_FINISHED,
    JOB_STATE_REJECTS,    /* finished, some rows were rejected */
    JOB_STATE_UNFINISHED, /* there is something to resume */
    JOB_STATE_RUNNING,
    JOB_STATE_DAMAGED, /* or it cannot be read */
};

struct job_view {
    enum job_state state;
    bool summed;       /* the last run came to its end: all numbers are known */
    uint64_t read;     /* known if summed */
    uint64_t done;     /* otherwise: what is durable of the pass that it is in */
    uint64_t rejected; /* otherwise: what is durable */
    uint64_t skipped;
    uint64_t unknown;  /* known if summed */
    uint64_t not_sent; /* known if summed */
    bool read_to_end;  /* known if summed: the input has no more rows than those */
    int exit_code;     /* known if summed */
};

void job_view_look(struct job_view *view, const struct weir_job_listing *job);

/* "finished with rejects" */
const char *job_state_name(enum job_state state);

/* The command that goes on with it, for a shell; NULL: there is nothing to go on with. The caller
 * frees it. */
char *job_view_resume_line(const struct job_view *view, const struct weir_job_listing *job);

#endif
