/* SPDX-License-Identifier: MIT */
/*
 * SIGINT, SIGTERM and SIGHUP, taken by a thread of their own, whatever the others do meanwhile:
 *
 *     begin ── nothing has been sent: leave at once, exit code 5
 *     hold  ── the job is being begun: the first one waits for that
 *     watch ── once: weir_job_stop();  once more, a second later or more (signal_meaning.h): say
 *              how to go on, leave at once, exit code 5
 *     over  ── the job has ended by itself: they are not heeded any more
 *
 * A signal that was ignored when the command was started (nohup) stays so. SIGPIPE is ignored.
 * There is one job in a process. Main thread.
 */
#ifndef WEIR_APP_JOB_SIGNALS_H
#define WEIR_APP_JOB_SIGNALS_H

#include "weir/bulk.h"

/* Before any other thread is started: they inherit that the signals are blocked. */
void job_signals_begin(const char *command);

/* Before weir_job_begin(). The text is borrowed until job_signals_over(). */
void job_signals_hold(const char *resume_line);

/* After it: what came meanwhile is done now. The job is borrowed until job_signals_over(). */
void job_signals_watch(struct weir_job *job);

/* The job may be freed afterwards. Fine without a job. */
void job_signals_over(void);

#endif
