/* SPDX-License-Identifier: MIT */
/*
 * Durations as people write them: `[d.]hh:mm:ss[.fffffff]` like .NET, or a number with a unit:
 * `250us`, `500ms`, `1.5s`, `2m`, `1h`, `1d`. Inside they are microseconds; what is finer is cut
 * off. A number without a unit is no duration. Any thread.
 */
#ifndef WEIR_CONFIG_DURATION_H
#define WEIR_CONFIG_DURATION_H

#include "base/str.h"

/* Longest text of a duration, terminator included. */
#define WEIR_DURATION_TEXT_MAX 40

/* The whole of `text`. False: it is none. What does not fit ends at INT64_MAX or its negative. */
bool weir_duration_parse(struct weir_str text, int64_t *ret_us);

/* True for a plain number: right but for the unit. */
bool weir_duration_lacks_unit(struct weir_str text);

/* In the .NET form; `us` is not negative. */
void weir_duration_print(int64_t us, char text[WEIR_DURATION_TEXT_MAX]);

#endif
