/* SPDX-License-Identifier: MIT */
/* What a run has come to; see result.h. */
#include "bulk/result.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

uint64_t weir_result_ended(const struct weir_result *result)
{
    uint64_t sum = 0;
    for (int fate = WEIR_FATE_OPEN + 1; fate < WEIR_FATE_COUNT; fate++)
        sum += result->fates[fate];
    return sum;
}

static struct weir_late *add_late(struct weir_result *result, int64_t from_us)
{
    if (result->late_count == result->late_capacity) {
        result->late_capacity = result->late_capacity ? 2 * result->late_capacity : 8;
        result->late = weir_realloc(result->late, result->late_capacity, sizeof(*result->late));
    }
    assert(result->late);
    struct weir_late *late = &result->late[result->late_count++];
    *late = (struct weir_late){ .from_us = from_us };
    return late;
}

void weir_result_note_late(struct weir_result *result, int64_t until_us)
{
    struct weir_late *late = result->late_count ? &result->late[result->late_count - 1] : NULL;
    if (!late || until_us - late->from_us >= WEIR_US_PER_S)
        late = add_late(result, until_us);
    late->until_us = until_us;
    late->count++;
    result->requests_unknown++;
    result->clear_us = until_us;
}

void weir_result_forget_late(struct weir_result *result, int64_t now_us)
{
    uint32_t gone = 0;
    while (gone < result->late_count && result->late[gone].until_us <= now_us)
        result->requests_unknown -= result->late[gone++].count;
    if (!gone)
        return;
    result->late_count -= gone;
    memmove(result->late, result->late + gone, result->late_count * sizeof(*result->late));
    if (!result->late_count)
        result->clear_us = 0;
}

int weir_result_exit_code(const struct weir_result *result)
{
    const struct {
        bool applies;
        enum weir_exit code;
    } codes[] = {
        { weir_result_ended(result) != result->read || result->ends & WEIR_END_INTERNAL,
          WEIR_EXIT_INTERNAL },
        { result->ends & WEIR_END_JOURNAL, WEIR_EXIT_LOCAL_IO },
        { result->ends & WEIR_END_CREDENTIALS, WEIR_EXIT_CREDENTIALS },
        { result->ends & WEIR_END_UNREACHABLE, WEIR_EXIT_UNREACHABLE },
        { result->fates[WEIR_FATE_UNKNOWN] > 0, WEIR_EXIT_UNKNOWN_ROWS },
        { result->ends & WEIR_END_ERRORS, WEIR_EXIT_TOO_MANY },
        { result->ends & WEIR_END_LIMIT, WEIR_EXIT_STOPPED },
        { result->ends & WEIR_END_INTERRUPT, WEIR_EXIT_INTERRUPTED },
        { result->ends & WEIR_END_INPUT, WEIR_EXIT_USAGE },
        { result->fates[WEIR_FATE_NOT_SENT] > 0,
          WEIR_EXIT_STOPPED }, /* given up after MaxRetryTime */
        { result->fates[WEIR_FATE_REJECTED] > 0, WEIR_EXIT_REJECTED_ROWS },
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].applies)
            return codes[i].code;
    }
    return WEIR_EXIT_DONE;
}
