/* SPDX-License-Identifier: MIT */
/* Headers, answers and the two shapes of errors; see http.h. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/service/http.h"

#define ANSWER_HEADERS_MAX ((size_t)64 * 1024)
#define MESSAGE_MAX        4096

struct weir_str sim_http_header(const struct sim_header *headers, size_t count, const char *name)
{
    struct weir_str wanted = weir_str_from(name);
    for (size_t i = 0; i < count; i++) {
        if (weir_str_equal_nocase(headers[i].name, wanted))
            return headers[i].value;
    }
    return weir_str(NULL, 0);
}

void sim_answer_init(struct sim_answer *answer)
{
    answer->status = 0;
    weir_buf_init(&answer->headers, ANSWER_HEADERS_MAX);
    weir_buf_init(&answer->body, SIM_ANSWER_BYTES_MAX);
}

void sim_answer_release(struct sim_answer *answer)
{
    weir_buf_release(&answer->headers);
    weir_buf_release(&answer->body);
}

void sim_answer_reset(struct sim_answer *answer)
{
    answer->status = 0;
    weir_buf_reset(&answer->headers);
    weir_buf_reset(&answer->body);
}

/* A line end inside a value would begin another header: whatever is no text becomes a blank. */
static void make_safe(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
    }
}

void sim_answer_header(struct sim_answer *answer, const char *name, const char *format, ...)
{
    va_list args;
    char text[MESSAGE_MAX];
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    size_t shown = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    make_safe(text, shown);
    struct weir_buf *headers = &answer->headers;
    if (headers->len + strlen(name) + shown + 4 > ANSWER_HEADERS_MAX)
        return; /* a whole line or none */
    weir_buf_add_text(headers, name);
    weir_buf_add(headers, ": ", 2);
    weir_buf_add(headers, text, shown);
    weir_buf_add(headers, "\r\n", 2);
}

static bool has_content_type(const struct sim_answer *answer)
{
    struct weir_str headers = weir_str(weir_buf_text(&answer->headers), answer->headers.len);
    if (weir_str_starts_nocase(headers, "Content-Type:"))
        return true;
    return weir_str_find_nocase(headers, "\r\nContent-Type:") < headers.len;
}

/* An empty body of that status, with the type of an error. */
static void begin_error(struct sim_answer *answer, int status)
{
    answer->status = status;
    weir_buf_reset(&answer->body);
    if (!has_content_type(answer))
        sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
}

/* How many bytes the UTF-8 character at `at` has; 0: it is none. */
static size_t character(const unsigned char *at, size_t left)
{
    size_t len = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (len > left || (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool outside = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

/* Messages quote what came from a client: whatever is no UTF-8 becomes a question mark. */
static void clean(char *text, size_t len)
{
    for (size_t i = 0, step; i < len; i += step ? step : 1) {
        step = character((const unsigned char *)text + i, len - i);
        if (!step)
            text[i] = '?';
    }
}

static void add_message(struct weir_buf *body, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void add_message(struct weir_buf *body, const char *format, va_list args)
{
    char text[MESSAGE_MAX];
    int len = vsnprintf(text, sizeof(text), format, args);
    size_t shown = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    if (len > (int)shown) {
        /* Where it was cut, a character may have been cut with it. */
        while (shown && ((unsigned char)text[shown - 1] & 0xc0) == 0x80)
            shown--;
        shown -= shown && (unsigned char)text[shown - 1] >= 0xc0;
    }
    clean(text, shown);
    weir_buf_add_json_string(body, weir_str(text, shown));
}

void sim_answer_error(struct sim_answer *answer, int status, const char *code, const char *format,
                      ...)
{
    va_list args;
    begin_error(answer, status);
    weir_buf_add_text(&answer->body, "{\"error\":{\"code\":");
    weir_buf_add_json_string(&answer->body, weir_str_from(code));
    weir_buf_add_text(&answer->body, ",\"message\":");
    va_start(args, format);
    add_message(&answer->body, format, args);
    va_end(args);
    weir_buf_add_text(&answer->body, "}}");
}

void sim_answer_flat_error(struct sim_answer *answer, int status, const char *code,
                           const char *format, ...)
{
    va_list args;
    begin_error(answer, status);
    weir_buf_add_text(&answer->body, "{\"Message\":");
    va_start(args, format);
    add_message(&answer->body, format, args);
    va_end(args);
    weir_buf_add_text(&answer->body, ",\"ErrorCode\":");
    weir_buf_add_json_string(&answer->body, weir_str_from(code));
    weir_buf_add_text(&answer->body, "}");
}

const char *sim_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 304, "Not Modified" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Request Entity Too Large" },
        { 414, "Request-URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 424, "Failed Dependency" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status)
            return reasons[i].reason;
    }
    return "Unknown";
}
