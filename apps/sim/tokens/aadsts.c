/* SPDX-License-Identifier: MIT */
/* The errors of the login service; see aadsts.h. */
#include "sim/tokens/aadsts.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

#define TEXT_BYTES_MAX 2048

static const struct row {
    enum sim_aadsts code;
    int status;
    const char *error;
} rows[] = {
    { SIM_AADSTS_JWT_MALFORMED, 400, "invalid_request" },
    { SIM_AADSTS_UNSUPPORTED_GRANT, 400, "unsupported_grant_type" },
    { SIM_AADSTS_BAD_SCOPE, 400, "invalid_scope" },
    { SIM_AADSTS_TENANT_NOT_FOUND, 400, "invalid_tenant" },
    { SIM_AADSTS_MISSING_FIELD, 400, "invalid_request" },
    { SIM_AADSTS_RESOURCE_NOT_FOUND, 400, "invalid_resource" },
    { SIM_AADSTS_APP_NOT_FOUND, 400, "unauthorized_client" },
    { SIM_AADSTS_ASSERTION_CLIENT, 401, "invalid_client" },
    { SIM_AADSTS_ASSERTION_AUDIENCE, 401, "invalid_client" },
    { SIM_AADSTS_ASSERTION_TIME, 401, "invalid_client" },
    { SIM_AADSTS_ASSERTION_KEY, 401, "invalid_client" },
    { SIM_AADSTS_WRONG_METHOD, 405, "invalid_request" },
    { SIM_AADSTS_SCOPE_NOT_DEFAULT, 400, "invalid_scope" },
    { SIM_AADSTS_APP_DISABLED, 401, "unauthorized_client" },
    { SIM_AADSTS_BAD_SECRET, 401, "invalid_client" },
    { SIM_AADSTS_NO_CREDENTIAL, 401, "invalid_client" },
    { SIM_AADSTS_SECRET_EXPIRED, 401, "invalid_client" },
    { SIM_AADSTS_DUPLICATE_FIELD, 400, "invalid_request" },
    { SIM_AADSTS_MALFORMED_REQUEST, 400, "invalid_request" },
};

static const struct row *find(enum sim_aadsts code)
{
    const struct row *row = rows;
    while (row->code != code)
        row++;
    return row;
}

/* "2026-01-09 02:02:12Z" */
static void print_time(int64_t wall_us, char *text, size_t bytes)
{
    time_t seconds = (time_t)(wall_us / WEIR_US_PER_S);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(text, bytes, "%Y-%m-%d %H:%M:%SZ", &tm))
        text[0] = 0;
}

static void keep_printable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

void sim_aadsts_answer(struct sim_answer *answer, const struct sim_aadsts_marks *marks,
                       enum sim_aadsts code, const char *format, ...)
{
    char text[TEXT_BYTES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_printable(text);

    char time_text[32];
    print_time(marks->wall_us, time_text, sizeof time_text);
    struct weir_buf description;
    weir_buf_init(&description, 2 * TEXT_BYTES_MAX);
    weir_buf_printf(&description, "AADSTS%d: %s Trace ID: %s Correlation ID: %s Timestamp: %s",
                    (int)code, text, marks->trace_id, marks->correlation_id, time_text);

    const struct row *row = find(code);
    answer->status = row->status;
    struct weir_buf *body = &answer->body;
    weir_buf_reset(body);
    weir_buf_printf(body, "{\"error\":\"%s\",\"error_description\":", row->error);
    weir_buf_add_json_string(body, weir_str(weir_buf_text(&description), description.len));
    weir_buf_printf(body,
                    ",\"error_codes\":[%d],\"timestamp\":\"%s\",\"trace_id\":\"%s\""
                    ",\"correlation_id\":\"%s\",\"error_uri\":\"%s/error?code=%d\"}",
                    (int)code, time_text, marks->trace_id, marks->correlation_id, marks->base_url,
                    (int)code);
    weir_buf_release(&description);
}
