/* SPDX-License-Identifier: MIT */
/* The answer that weir_execute() hands out: a copy in one piece of memory. */
#include <string.h>

#include "base/mem.h"
#include "client/client.h"

/* Copy `text` with its terminator to *at, which moves on. */
static const char *put(char **at, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = *at;
    memcpy(copy, text, bytes);
    *at += bytes;
    return copy;
}

static size_t bytes_of(const struct weir_exchange_answer *exchange)
{
    size_t bytes = exchange->header_count * sizeof(struct weir_http_header);
    for (size_t i = 0; i < exchange->header_count; i++)
        bytes += strlen(exchange->headers[i].name) + strlen(exchange->headers[i].value) + 2;
    return bytes + exchange->body.len + 1;
}

void weir_response_copy(const struct weir_exchange_answer *exchange, struct weir_response *ret)
{
    struct weir_http_header *headers = weir_calloc(bytes_of(exchange), 1);
    char *at = (char *)(headers + exchange->header_count);
    for (size_t i = 0; i < exchange->header_count; i++) {
        headers[i].name = put(&at, exchange->headers[i].name);
        headers[i].value = put(&at, exchange->headers[i].value);
    }
    if (exchange->body.len)
        memcpy(at, exchange->body.ptr, exchange->body.len);
    *ret = (struct weir_response){
        .status = exchange->status,
        .headers = headers,
        .header_count = exchange->header_count,
        .body = at,
        .body_bytes = exchange->body.len,
        .memory = headers,
    };
}

void weir_response_release(struct weir_response *response)
{
    free(response->memory);
    *response = (struct weir_response){ 0 };
}

const char *weir_response_header(const struct weir_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return NULL;
}
