/* SPDX-License-Identifier: MIT */
/* What a signal means; see signal_meaning.h. */
#include "signal_meaning.h"

#include "weir/stats.h"

enum signal_meaning signal_meaning(int64_t first_us, int64_t now_us)
{
    if (first_us == WEIR_NEVER)
        return SIGNAL_STOP;
    return now_us - first_us < SIGNAL_APART_US ? SIGNAL_ECHO : SIGNAL_LEAVE;
}
