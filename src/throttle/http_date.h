/* SPDX-License-Identifier: MIT */
/*
 * Dates as HTTP writes them, in the three forms that RFC 9110 makes a recipient understand. Names
 * in any case. That the weekday goes with the date is not checked. Pure. Any thread.
 *
 *     Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate
 *     Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
 *     Sun Nov  6 08:49:37 1994          asctime
 */
#ifndef WEIR_THROTTLE_HTTP_DATE_H
#define WEIR_THROTTLE_HTTP_DATE_H

#include "base/str.h"

/*
 * The whole of `text` as seconds since 1970. A year of two digits is the last one with these digits
 * that is not more than 50 years after `near_s`. False, and *ret_s untouched: not a date.
 */
bool weir_http_date_parse(struct weir_str text, int64_t near_s, int64_t *ret_s);

#endif
