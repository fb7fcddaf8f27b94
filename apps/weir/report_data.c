/* SPDX-License-Identifier: MIT */
/* What a report says of a run; see report_data.h. */
#include "report_data.h"

#include <time.h>

#include "base/clock.h"

struct report_moment report_data_moment(int64_t wall_us)
{
    struct report_moment moment = { "" };
    struct tm parts;
    time_t seconds = wall_us / WEIR_US_PER_S;
    if (gmtime_r(&seconds, &parts))
        strftime(moment.text, sizeof(moment.text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return moment;
}

uint64_t report_data_throttles(const struct report_data *data, enum weir_throttle_kind kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < data->connection_count; i++)
        count += data->connections[i].experience.throttles_by_kind[kind];
    return count;
}

bool report_data_is_unfinished(const struct report_data *data)
{
    return data->result->ends || data->result->unknown > 0 || data->result->not_sent > 0;
}
