/* SPDX-License-Identifier: MIT */
/* The rejected rows of a job, as they came or with the reason of each. */
#ifndef WEIR_APP_REJECTS_H
#define WEIR_APP_REJECTS_H

#include <stdio.h>

#include "journal/jobs.h"
#include "journal/rejects.h"

/*
 * One rejected row with its reason. Of a table (CSV, TSV): the row with a cell more; a row that is
 * none, as a quote is not closed or cells are missing, stands in the first cell as it came. Of
 * objects: one that has the reason in its parts and the row as the member `record`, or as `text` if
 * it is no object.
 */
void rejects_print_header(FILE *out, const struct weir_job_facts *facts);
void rejects_print_reason(FILE *out, const struct weir_job_facts *facts,
                          const struct weir_reject *reject);

#endif
