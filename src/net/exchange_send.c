/* SPDX-License-Identifier: MIT */
/*
 * What goes out: checked first, so that no byte of a caller's can become a line of its own or
 * another origin, then the head is written. The body stays where the caller has it.
 */
#include <assert.h>
#include <stdio.h>

#include "net/transport_parts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORD(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* --- what is asked for ------------------------------------------------------------------------ */

/* Methods, and whether a request without a body says that its length is 0. */
static const struct {
    const char *name;
    bool with_body;
} methods[] = {
    { "GET", false }, { "POST", true }, { "PATCH", true }, { "PUT", true }, { "DELETE", false },
};

static int find_method(const char *name)
{
    for (size_t i = 0; name && i < COUNT(methods); i++) {
        if (strcmp(methods[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Visible ASCII from a slash on, without a fragment. */
static bool is_target(const char *target)
{
    if (!target || target[0] != '/')
        return false;
    const char *at = target;
    while (*at > 0x20 && *at < 0x7f && *at != '#')
        at++;
    return *at == '\0' && (size_t)(at - target) <= WEIR_URL_BYTES_MAX;
}

/* Headers that say where a request ends or goes are ours alone. */
static bool is_reserved(struct weir_str name)
{
    static const struct weir_str reserved[] = {
        WORD("Content-Length"), WORD("Transfer-Encoding"), WORD("Host"), WORD("Expect"),
        WORD("Connection"),     WORD("Upgrade"),           WORD("TE"),   WORD("Trailer"),
        WORD("Keep-Alive"),
    };
    for (size_t i = 0; i < COUNT(reserved); i++) {
        if (weir_str_equal_nocase(name, reserved[i]))
            return true;
    }
    return false;
}

/* "Name: value", and the value is not empty. */
static bool is_header(struct weir_str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t len = colon ? (size_t)(colon - line.ptr) : 0;
    struct weir_str name = weir_str(line.ptr, len);
    if (!weir_head_is_token(name) || is_reserved(name))
        return false;
    struct weir_str value = weir_str(colon + 1, line.len - len - 1);
    return weir_head_is_text(value) && weir_str_trim(value).len > 0;
}

static const char *headers_problem(const struct weir_exchange_request *request)
{
    size_t bytes = 0;
    if (request->header_count > WEIR_REQUEST_HEADERS_MAX)
        return "too many header lines";
    for (size_t i = 0; i < request->header_count; i++) {
        struct weir_str line = weir_str_from(request->headers[i]);
        bytes += line.len;
        if (bytes > WEIR_REQUEST_HEAD_BYTES_MAX)
            return "header lines over their bound";
        if (!is_header(line))
            return "a header line that is none";
    }
    return NULL;
}

static bool count_body(const struct weir_exchange_request *request, int64_t *ret_bytes)
{
    *ret_bytes = 0;
    for (size_t i = 0; i < request->body_count; i++) {
        if (__builtin_add_overflow(*ret_bytes, request->body[i].len, ret_bytes))
            return false;
    }
    return true;
}

const char *weir_exchange_problem(const struct weir_exchange_request *request)
{
    int64_t bytes;
    if (find_method(request->method) < 0)
        return "a method that is none of GET, POST, PATCH, PUT and DELETE";
    if (!is_target(request->target))
        return "a target that is no path, or too long";
    if (!count_body(request, &bytes))
        return "a body without end";
    return headers_problem(request);
}

/* --- the head ----------------------------------------------------------------------------------
 */

/* Does a line of the caller's name this header? */
static bool is_given(const struct weir_exchange_request *request, struct weir_str name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const char *line = request->headers[i];
        if (weir_str_same_nocase(line, name.ptr, name.len) && line[name.len] == ':')
            return true;
    }
    return false;
}

static void add_unless_given(struct weir_exchange *exchange, struct weir_str name,
                             const char *value)
{
    if (is_given(&exchange->request, name))
        return;
    weir_buf_add(&exchange->head, name.ptr, name.len);
    weir_buf_add_text(&exchange->head, ": ");
    weir_buf_add_text(&exchange->head, value);
    weir_buf_add_text(&exchange->head, "\r\n");
}

static void write_head(struct weir_exchange *exchange, int method)
{
    const struct weir_exchange_request *request = &exchange->request;
    struct weir_buf *head = &exchange->head;
    weir_buf_add_text(head, methods[method].name);
    weir_buf_add_char(head, ' ');
    weir_buf_add_text(head, request->target);
    weir_buf_add_text(head, " HTTP/1.1\r\nHost: ");
    weir_buf_add_text(head, exchange->transport->host);
    weir_buf_add_text(head, "\r\n");
    add_unless_given(exchange, (struct weir_str)WORD("User-Agent"), exchange->transport->agent);
    add_unless_given(exchange, (struct weir_str)WORD("Accept"), "*/*");
    for (size_t i = 0; i < request->header_count; i++) {
        weir_buf_add_text(head, request->headers[i]);
        weir_buf_add_text(head, "\r\n");
    }
    if (exchange->body_bytes || methods[method].with_body)
        weir_buf_printf(head, "Content-Length: %lld\r\n", (long long)exchange->body_bytes);
    weir_buf_add_text(head, "\r\n");
    assert(!head->overflow);
}

bool weir_exchange_prepare(struct weir_exchange *exchange)
{
    const struct weir_exchange_request *request = &exchange->request;
    const char *problem = weir_exchange_problem(request);
    if (problem) {
        exchange->over = true;
        exchange->ending = WEIR_ENDING_BROKEN;
        snprintf(exchange->detail, sizeof(exchange->detail), "not sent: %s", problem);
        return false;
    }
    count_body(request, &exchange->body_bytes);
    write_head(exchange, find_method(request->method));
    return true;
}
