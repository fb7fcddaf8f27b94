/* SPDX-License-Identifier: MIT */
/*
 * Numbers as servers of any locale write them: `5999`, `1,200.00`, `1.200,00`, `1 200,00`,
 * `1'200.00`, `12,00,000`. Pure. Any thread.
 *
 * Separators are comma, dot, apostrophe and blank, the last two in their typographic forms too.
 * Which one is the decimal point is decided by this rule, tried in this order:
 *
 *   1. Only a comma or a dot can be, only the last separator, and only if there is none of its kind
 *      before it: `1,200,000` has no decimal point.
 *   2. After a separator of another kind it is: `1,200.000` is 1200.
 *   3. Alone, with exactly three digits after it and a group of thousands before it (one to three
 *      digits, the first not 0), it is not: `1,200` is 1200, but `0.500` and `1200.000` are 0.5
 *      and 1200.
 *   4. Otherwise it is: `963,5` is 963.5.
 *
 * All other separators must be of one kind and stand before groups of three digits; two are allowed
 * before the last group, as in India.
 */
#ifndef WEIR_THROTTLE_NUMBER_H
#define WEIR_THROTTLE_NUMBER_H

#include "base/str.h"

/*
 * The number without sign at the very beginning of `text`, in millionths; further decimals are cut
 * off. Returns its length in bytes. 0, and *ret_us untouched: there is none, its groups are not as
 * above, or it does not fit.
 */
size_t weir_number_scan(struct weir_str text, int64_t *ret_us);

#endif
