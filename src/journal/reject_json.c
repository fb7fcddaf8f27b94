/* SPDX-License-Identifier: MIT */
/* A rejected row as JSON; see reject_json.h. */
#include "journal/reject_json.h"

#include <inttypes.h>

#include "base/json_text.h"

void weir_reject_json_text(struct weir_buf *line, const char *key, struct weir_str text)
{
    weir_buf_printf(line, ",\"%s\":", key);
    if (text.len > 0)
        weir_json_text_add(line, text);
    else
        weir_buf_add_text(line, "null");
}

static void add_status(struct weir_buf *line, int http_status)
{
    if (http_status)
        weir_buf_printf(line, ",\"http_status\":%d", http_status);
    else
        weir_buf_add_text(line, ",\"http_status\":null");
}

static void add_code(struct weir_buf *line, uint32_t code)
{
    if (code)
        weir_buf_printf(line, ",\"service_code\":\"0x%08" PRIx32 "\"", code);
    else
        weir_buf_add_text(line, ",\"service_code\":null");
}

void weir_reject_json_reason(struct weir_buf *line, const struct weir_reject *reject)
{
    weir_reject_json_text(line, "column", reject->column);
    weir_reject_json_text(line, "class", reject->class_name);
    add_status(line, reject->http_status);
    add_code(line, reject->service_code);
    weir_reject_json_text(line, "message", reject->message);
    weir_reject_json_text(line, "request_id", reject->request_id);
}
