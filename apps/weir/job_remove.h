/* SPDX-License-Identifier: MIT */
/*
 * Removing a job's directory. It is held while it goes, so that nobody begins to work on it, and
 * moved out of sight first: a job is there whole or not at all.
 */
#ifndef WEIR_APP_JOB_REMOVE_H
#define WEIR_APP_JOB_REMOVE_H

#include "weir/error.h"

/*
 * `still(ctx, directory)` is asked once the job is held: it may have changed since it was looked
 * at. WEIR_E_INVALID  somebody works on it, it is no directory, or it is no longer to be removed
 *   WEIR_E_IO       it cannot be removed, or not all of it
 */
enum weir_status job_remove(const char *directory, bool (*still)(void *ctx, const char *directory),
                            void *ctx, struct weir_error *err);

#endif
