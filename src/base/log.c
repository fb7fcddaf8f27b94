/* SPDX-License-Identifier: MIT */
/* Making and formatting log records; see log.h and weir/log.h. */
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"

static const char *const level_names[] = {
    [WEIR_LOG_ERROR] = "error", [WEIR_LOG_WARNING] = "warning", [WEIR_LOG_INFO] = "info",
    [WEIR_LOG_DEBUG] = "debug", [WEIR_LOG_TRACE] = "trace",
};

const char *weir_log_level_name(enum weir_log_level level)
{
    return (unsigned)level <= WEIR_LOG_TRACE ? level_names[level] : "unknown level";
}

void weir_log(const struct weir_log_sink *sink, enum weir_log_level level, const char *event,
              const char *message, const struct weir_log_field *fields, size_t field_count)
{
    if (!weir_log_wants(sink, level))
        return;
    struct weir_log_record record = {
        .level = level,
        .event = event,
        .message = message,
        .fields = fields,
        .field_count = field_count,
    };
    sink->write(sink->ctx, &record);
}

static void add_value(struct weir_buf *buf, const struct weir_log_field *field, bool json)
{
    switch (field->type) {
    case WEIR_LOG_TEXT:
        if (json)
            weir_buf_add_json_string(buf, weir_str_from(field->text));
        else
            weir_buf_add_text(buf, field->text ? field->text : "");
        break;
    case WEIR_LOG_INTEGER:
        weir_buf_printf(buf, "%" PRId64, field->integer);
        break;
    case WEIR_LOG_CODE:
        weir_buf_printf(buf, json ? "\"0x%08" PRIx32 "\"" : "0x%08" PRIx32,
                        (uint32_t)field->integer);
        break;
    case WEIR_LOG_DURATION_US:
        weir_buf_printf(buf, json ? "%.3f" : "%.3fs", (double)field->integer / 1e6);
        break;
    }
}

size_t weir_log_format_text(const struct weir_log_record *record, char *line, size_t line_bytes)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_LOG_LINE_MAX);
    weir_buf_printf(&buf, "%-7s %s", weir_log_level_name(record->level), record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        weir_buf_printf(&buf, " %s=", record->fields[i].name);
        add_value(&buf, &record->fields[i], false);
    }
    return weir_buf_hand_over(&buf, line, line_bytes);
}

size_t weir_log_format_json(const struct weir_log_record *record, char *line, size_t line_bytes)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_LOG_LINE_MAX);
    weir_buf_printf(&buf, "{\"level\":\"%s\",\"event\":", weir_log_level_name(record->level));
    weir_buf_add_json_string(&buf, weir_str_from(record->event));
    weir_buf_add_text(&buf, ",\"message\":");
    weir_buf_add_json_string(&buf, weir_str_from(record->message));
    for (size_t i = 0; i < record->field_count; i++) {
        weir_buf_add_char(&buf, ',');
        weir_buf_add_json_string(&buf, weir_str_from(record->fields[i].name));
        weir_buf_add_char(&buf, ':');
        add_value(&buf, &record->fields[i], true);
    }
    weir_buf_add_char(&buf, '}');
    return weir_buf_hand_over(&buf, line, line_bytes);
}
