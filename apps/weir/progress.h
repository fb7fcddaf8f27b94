/* SPDX-License-Identifier: MIT */
/*
 * What a running job shows on standard error, in one of its forms: a view that is drawn again in
 * place (progress_view.h), a plain line now and then (progress_plain.h), JSON (progress_json.h), or
 * nothing. One thread.
 */
#ifndef WEIR_APP_PROGRESS_H
#define WEIR_APP_PROGRESS_H

#include "job_args.h"
#include "progress_json.h"
#include "progress_snapshot.h"

/* Zeroed, then begun. */
struct progress {
    enum job_progress_form form; /* never AUTO without a terminal for it */
    int64_t next_us;             /* when it is told again */
    bool colour;
    bool utf8;
    struct progress_snapshot snapshot;
};

void progress_begin(struct progress *progress, enum job_progress_form form);

/* Tell it if it is time, and somebody reads. Returns in how long it will be time again. */
int64_t progress_tell(struct progress *progress, struct weir_job *job);

/* The last state; the view stays where it is. Fine if it was not begun. */
void progress_end(struct progress *progress, struct weir_job *job);

/* As JSON, the very last line: how it ended. `job` may be NULL: it was not begun. */
void progress_say_end(struct weir_job *job, const struct progress_end *end);

#endif
