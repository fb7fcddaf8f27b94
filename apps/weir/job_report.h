/* SPDX-License-Identifier: MIT */
/* The last lines of a run: the balance, what it took, where the files are, how to go on. */
#ifndef WEIR_APP_JOB_REPORT_H
#define WEIR_APP_JOB_REPORT_H

#include "bulk/job.h"

/* Of a job that was finished with weir_job_finish(). */
void job_report(const struct weir_job *job, const struct weir_job_result *result,
                const char *resume_line);

#endif
