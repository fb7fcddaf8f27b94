/* SPDX-License-Identifier: MIT */
/*
 * What goes out: checked first, so that no byte of a caller's can become a line of its own or
 * another origin, then told to libcurl. Header lines and body stay where the caller has them.
 */
#include <stdio.h>

#include "base/mem.h"
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

/* Headers that say where a request ends or goes are libcurl's business alone. */
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

/* "Name: value"; libcurl would leave out a header without a value. */
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

/* --- told to libcurl -------------------------------------------------------------------------- */

/*
 * A list in memory of our own, of lines in the caller's: nothing secret is copied here. Lines
 * without a value keep libcurl from adding such a header.
 */
static void link_lines(struct weir_exchange *exchange)
{
    static char expect[] = "Expect:", type[] = "Content-Type:";
    const struct weir_exchange_request *request = &exchange->request;
    struct curl_slist *lines = exchange->lines;
    size_t count = 0;
    bool typed = false;
    lines[count++].data = expect;
    for (size_t i = 0; i < request->header_count; i++) {
        typed = typed || weir_str_starts_nocase(weir_str_from(request->headers[i]), type);
        lines[count++].data = (char *)request->headers[i];
    }
    if (!typed)
        lines[count++].data = type;
    for (size_t i = 0; i < count; i++)
        lines[i].next = i + 1 < count ? &lines[i + 1] : NULL;
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, lines);
}

static void join(struct weir_exchange *exchange)
{
    const struct weir_exchange_request *request = &exchange->request;
    exchange->joined = weir_realloc(NULL, (size_t)exchange->body_bytes + 1, 1);
    char *at = exchange->joined;
    for (size_t i = 0; i < request->body_count; i++) {
        if (request->body[i].len)
            memcpy(at, request->body[i].ptr, request->body[i].len);
        at += request->body[i].len;
    }
    *at = '\0';
}

/* A body in one piece stays where the caller has it. */
static const char *whole_body(struct weir_exchange *exchange)
{
    if (exchange->request.body_count == 1 && exchange->body_bytes)
        return exchange->request.body[0].ptr;
    join(exchange);
    return exchange->joined;
}

/*
 * A small body goes out in one piece with its head: one system call and one packet less, which is a
 * third of what a request costs. A large one is an upload, whatever its method is called: libcurl
 * then asks for the body piece by piece. That it sends neither again is seen to elsewhere
 * (weir_exchange_on_prereq); of an upload it would also have to ask for the first piece again.
 */
static void set_method(struct weir_exchange *exchange, int method)
{
    CURL *easy = exchange->easy;
    bool large = exchange->body_bytes > WEIR_BODY_JOINED_MAX;
    exchange->at_once = !large && (exchange->body_bytes || methods[method].with_body);
    /* Also if there is none: the handle must not remember the one before. */
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->at_once ? whole_body(exchange) : NULL);
    if (exchange->at_once) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body_bytes);
    } else if (large) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->body_bytes);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, methods[method].name);
}

/* libcurl divides it among the addresses of a host; ours, which is shorter, ends the attempt. */
static void set_connect_timeout(struct weir_exchange *exchange)
{
    int64_t ms = exchange->http.connect_timeout_us / WEIR_US_PER_MS + 1000;
    long connect_ms = ms > INT32_MAX ? INT32_MAX : (long)ms;
    if (connect_ms == exchange->connect_ms)
        return;
    exchange->connect_ms = connect_ms;
    curl_easy_setopt(exchange->easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
}

bool weir_exchange_prepare(struct weir_exchange *exchange)
{
    const struct weir_exchange_request *request = &exchange->request;
    const char *problem = weir_exchange_problem(request);
    if (problem) {
        exchange->ending = WEIR_ENDING_BROKEN;
        snprintf(exchange->detail, sizeof(exchange->detail), "not sent: %s", problem);
        return false;
    }
    count_body(request, &exchange->body_bytes);
    link_lines(exchange);
    set_method(exchange, find_method(request->method));
    set_connect_timeout(exchange);
    /* Not part of a URL, so that nothing in it can name another host. */
    curl_easy_setopt(exchange->easy, CURLOPT_REQUEST_TARGET, request->target);
    return true;
}
