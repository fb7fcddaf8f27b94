/* SPDX-License-Identifier: MIT */
/*
 * Whether a job that is there is the one that a command line means: --or-resume goes on with it
 * only then. Operation, table, files and whatever shapes the rows are compared; whether the files
 * still have what they had, and the environment, is found out by whoever goes on.
 */
#ifndef WEIR_APP_JOB_SAME_H
#define WEIR_APP_JOB_SAME_H

#include "bulk/job.h"

/*
 * `options` with their table and operation.
 *   WEIR_E_INVALID   it is another job, and the message says in what; or it is damaged
 *   WEIR_E_IO        it, or the mapping file, cannot be read
 */
enum weir_status job_same_check(const char *directory, const struct weir_job_options *options,
                                const struct weir_job_files *files, struct weir_error *err);

#endif
