/* SPDX-License-Identifier: MIT */
/*
 * What to do about rejected rows of one kind: by the service's code, by its HTTP status, or by our
 * own reason for not sending them. Constant texts; any thread.
 */
#ifndef WEIR_APP_REPORT_ADVICE_H
#define WEIR_APP_REPORT_ADVICE_H

#include "journal/entry.h"

/* A few words for what it is: "duplicate record", "no whole number". Never NULL. */
const char *report_advice_name(const struct weir_reject *reject);

/* One sentence. Never NULL. */
const char *report_advice(const struct weir_reject *reject);

#endif
