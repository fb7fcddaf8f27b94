/* SPDX-License-Identifier: MIT */
/*
 * Whether a request of the caller's can be sent: nothing in it may break out of its line, lead to
 * another origin, or pretend to be somebody else. See weir/execute.h.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "client/client.h"

static bool is_method(const char *method)
{
    static const char *const methods[] = { "GET", "POST", "PATCH", "PUT", "DELETE" };
    for (size_t i = 0; method && i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(method, methods[i]) == 0)
            return true;
    }
    return false;
}

/* Printable ASCII without blanks, and no other origin in disguise. */
static bool is_path(const char *path)
{
    if (!path || !path[0] || strncmp(path, "//", 2) == 0 || strstr(path, "://"))
        return false;
    for (const char *at = path; *at; at++) {
        if (*at <= ' ' || *at > '~')
            return false;
    }
    return true;
}

/* Names are tokens; values have no control characters. Who sends is not the caller's to say. */
static bool is_header(const struct weir_http_header *header)
{
    static const char *const ours[] = { "Authorization",     "Host",   "Content-Length",
                                        "Transfer-Encoding", "Expect", "Connection" };
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (!header->name || strcasecmp(header->name, ours[i]) == 0)
            return false;
    }
    size_t len = strlen(header->name);
    if (len == 0 || strspn(header->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-._!#$&'*+^`|~") != len)
        return false;
    for (const char *at = header->value; at && *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
    }
    return header->value != NULL;
}

static enum weir_status check_headers(const struct weir_request *request, struct weir_error *err)
{
    size_t bytes = 0;
    if (request->header_count > WEIR_REQUEST_OWN_HEADERS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%zu headers are too many; %d can be given",
                         request->header_count, WEIR_REQUEST_OWN_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct weir_http_header *header = &request->headers[i];
        if (!is_header(header))
            return weir_fail(err, WEIR_E_INVALID, "the header \"%s\" cannot be sent",
                             header->name ? header->name : "");
        bytes += strlen(header->name) + strlen(header->value) + 4;
    }
    if (bytes > WEIR_REQUEST_HEAD_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "headers of %zu bytes are too much; %d can be sent",
                         bytes, WEIR_REQUEST_HEAD_BYTES_MAX);
    return WEIR_OK;
}

enum weir_status weir_request_check(const struct weir_request *request, struct weir_error *err)
{
    if (!is_method(request->method))
        return weir_fail(err, WEIR_E_INVALID,
                         "the method is \"%s\"; it must be GET, POST, PATCH, PUT or DELETE",
                         request->method ? request->method : "");
    if (!is_path(request->path))
        return weir_fail(
            err, WEIR_E_INVALID,
            "the path is \"%s\"; it must be one below the Web API (\"accounts?$top=1\") "
            "or from \"/\" on, with everything else percent-encoded",
            request->path ? request->path : "");
    if (strlen(request->path) > WEIR_URL_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "a path of %zu bytes is too long; %zu can be sent",
                         strlen(request->path), WEIR_URL_BYTES_MAX);
    return check_headers(request, err);
}
