/* SPDX-License-Identifier: MIT */
/*
 * A report for people: one page that needs nothing but itself. No script and no address of
 * anything elsewhere is in it, and a policy of its own forbids both; every text that comes from
 * files, the command line or the service is escaped. Pure; any thread.
 */
#ifndef WEIR_APP_REPORT_HTML_H
#define WEIR_APP_REPORT_HTML_H

#include "report_data.h"

void report_html(const struct report_data *data, struct weir_buf *html);

/* The style sheet; report_style.c. */
extern const char report_style[];

/* The charts: all connections, then each; report_timelines.c. */
void report_html_timelines(const struct report_data *data, struct weir_buf *html);

#endif
