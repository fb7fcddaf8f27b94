/* SPDX-License-Identifier: MIT */
/*
 * The command that goes on with a job, as it can be pasted into a shell, from any directory: the
 * same configuration and settings, the same manners (how many at a time, how fast, how many errors)
 * and the same things to look at (progress, metrics, log, a report of its own beside the first);
 * not the same ends (--limit, --deadline), which were those of one run.
 */
#ifndef WEIR_APP_RESUME_LINE_H
#define WEIR_APP_RESUME_LINE_H

#include "base/buf.h"
#include "job_args.h"

/* The caller frees it. `directory` is absolute; `from_stdin`: rows came from standard input. */
char *resume_line_make(const struct job_args *args, const struct settings *settings,
                       const char *directory, bool from_stdin);

/* The path of the next run's report, in that folder, after one of that name: "load-run2.html" after
 * "load.html". One that is there already is passed over. */
void resume_line_next_report(struct weir_buf *ret, const char *folder, const char *name);

/* One word, quoted for a shell if it has to be. */
void resume_line_quote(struct weir_buf *line, const char *word);

#endif
