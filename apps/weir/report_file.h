/* SPDX-License-Identifier: MIT */
/*
 * The file of a report: there whole, or as it was before. It is written beside its place and
 * renamed. One thread.
 */
#ifndef WEIR_APP_REPORT_FILE_H
#define WEIR_APP_REPORT_FILE_H

#include "base/str.h"
#include "weir/error.h"

/* Nothing is left behind. WEIR_E_INVALID: it cannot be written there, and why. */
enum weir_status report_file_try(const char *path, struct weir_error *err);

/* WEIR_E_IO: what was there is still there. */
enum weir_status report_file_write(const char *path, struct weir_str bytes, struct weir_error *err);

#endif
