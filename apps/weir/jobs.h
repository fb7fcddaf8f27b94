/* SPDX-License-Identifier: MIT */
/* weir jobs: what each of its forms does with the jobs of this user, or with one. */
#ifndef WEIR_APP_JOBS_H
#define WEIR_APP_JOBS_H

#include "base/buf.h"
#include "job_view.h"

/* What the command line says. */
struct jobs_words {
    bool json;
    bool force;
    bool yes;
    const char *older_than; /* NULL: not given */
    bool help;
};

/* All of them, newest first. Each returns the exit code. */
int jobs_list(const char *root, const struct jobs_words *words);

/* One: its id, or its directory. */
int jobs_show(const char *job, const struct jobs_words *words);

/* Remove what is finished. */
int jobs_clean(const char *root, const struct jobs_words *words);

/* A job as the members of a JSON object, without braces. */
void jobs_json_add(struct weir_buf *buf, const struct weir_job_listing *job,
                   const struct job_view *view);

/* Say what went wrong; returns the exit code. */
int jobs_fail(const struct weir_error *err);

#endif
