/* SPDX-License-Identifier: MIT */
/* The last lines of a run: the balance, what it took, why rows were rejected, where the files are,
 * how to go on. */
#ifndef WEIR_APP_JOB_REPORT_H
#define WEIR_APP_JOB_REPORT_H

#include "bulk/job.h"
#include "report_problems.h"

/* Of a job that was finished with weir_job_finish(). `report`: where all problems stand; NULL:
 * nowhere. */
void job_report(struct weir_job *job, const struct weir_job_result *result,
                const struct report_problems *problems, const char *report,
                const char *resume_line);

/* Whether there is something to go on with, and a later run could. */
bool job_report_can_go_on(const struct weir_job_result *result);

#endif
