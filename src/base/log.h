/* SPDX-License-Identifier: MIT */
/* Making log records; what they are stands in weir/log.h. Any thread that may call the sink. */
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#include "weir/log.h"

static inline bool weir_log_wants(const struct weir_log_sink *sink, enum weir_log_level level)
{
    return sink && sink->write && level <= sink->level;
}

/* Hand a record to the sink if it wants that level. */
void weir_log(const struct weir_log_sink *sink, enum weir_log_level level, const char *event,
              const char *message, const struct weir_log_field *fields, size_t field_count);

#endif
