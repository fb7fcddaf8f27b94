/* SPDX-License-Identifier: MIT */
/* A report for programs; see report_data.h. Pure; any thread. */
#ifndef WEIR_APP_REPORT_JSON_H
#define WEIR_APP_REPORT_JSON_H

#include "report_data.h"

/*
 * One object. Counts have the names that they have in summary.json. A timeline is an object of
 * arrays that are equally long, a value for each point; null: not told. Times are in seconds from
 * the beginning of the run on, latencies in milliseconds.
 */
void report_json(const struct report_data *data, struct weir_buf *text);

#endif
