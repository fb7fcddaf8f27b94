/* SPDX-License-Identifier: MIT */
/*
 * What a job does to rows that are there already and nobody may expect: said by whoever asks before
 * it begins, and by the dry run. One line each, without a full stop.
 */
#ifndef WEIR_APP_JOB_WARNING_H
#define WEIR_APP_JOB_WARNING_H

#include "base/buf.h"
#include "protocol/metadata.h"
#include "weir/bulk.h"

/* An owner for rows that are there, too: an upsert cannot tell them apart. Adds nothing if there is
 * nothing to say. */
void job_warning_owner(const struct weir_job_options *options, struct weir_buf *text);

/* That an elastic table replaces whole rows. NULL: nothing to say. */
const char *job_warning_elastic(const struct weir_job_options *options,
                                const struct weir_table *table);

#endif
