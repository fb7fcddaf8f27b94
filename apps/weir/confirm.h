/* SPDX-License-Identifier: MIT */
/*
 * Asking before rows are changed: environment, table, operation and number of rows are shown on
 * standard error, the answer comes from standard input, which must be a terminal and not the data.
 */
#ifndef WEIR_APP_CONFIRM_H
#define WEIR_APP_CONFIRM_H

#include "bulk/job.h"

/* WEIR_E_INVALID: there is nobody to ask; the message says what to do. */
enum weir_status confirm_possible(const struct weir_job_files *files, struct weir_error *err);

/*
 * Count the rows, show, ask. *ret: yes. Fails with what keeps the files from being read to their
 * end.
 */
enum weir_status confirm_ask(const struct weir_job *job, const struct weir_job_files *files,
                             bool *ret, struct weir_error *err);

/* One line of standard input: whether it says yes. */
bool confirm_read_answer(void);

#endif
