/* SPDX-License-Identifier: MIT */
/* What a run has come to; see result.h. */
#include "bulk/result.h"

uint64_t weir_result_ended(const struct weir_result *result)
{
    uint64_t sum = 0;
    for (int fate = WEIR_FATE_OPEN + 1; fate < WEIR_FATE_COUNT; fate++)
        sum += result->fates[fate];
    return sum;
}

int weir_result_exit_code(const struct weir_result *result)
{
    const struct {
        bool applies;
        int code;
    } codes[] = {
        { weir_result_ended(result) != result->read || result->ends & WEIR_END_INTERNAL, 70 },
        { result->ends & WEIR_END_JOURNAL, 7 },
        { result->ends & WEIR_END_CREDENTIALS, 4 },
        { result->ends & WEIR_END_UNREACHABLE, 10 },
        { result->fates[WEIR_FATE_UNKNOWN] > 0, 8 },
        { result->ends & WEIR_END_ERRORS, 3 },
        { result->ends & WEIR_END_LIMIT, 6 },
        { result->ends & WEIR_END_INTERRUPT, 5 },
        { result->ends & WEIR_END_INPUT, 2 },
        { result->fates[WEIR_FATE_NOT_SENT] > 0, 6 }, /* given up after MaxRetryTime */
        { result->fates[WEIR_FATE_REJECTED] > 0, 1 },
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].applies)
            return codes[i].code;
    }
    return 0;
}
