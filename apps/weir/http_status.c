/* SPDX-License-Identifier: MIT */
/* The statuses; see http_status.h. What becomes of the rows is not said here: the engine knows. */
#include "http_status.h"

#include <stddef.h>

#define ASK_FOR_CODE "look for the code in errors.jsonl, or in the message, and explain that"

static const struct http_status statuses[] = {
    { 200, "OK", "the request was executed, and the answer has its result", "go on" },
    { 201, "Created", "the row was created, and the answer has it", "go on" },
    { 204, "No Content", "the request was executed, and there is nothing to say", "go on" },
    { 400, "Bad Request", "the service does not accept what a row says, or the request itself",
      ASK_FOR_CODE },
    { 401, "Unauthorized", "the service does not accept the token",
      "run weir check: it says which connection cannot log in, and why" },
    { 403, "Forbidden", "the application user has not the privilege for it",
      "give its role the privilege that the message names; weir check TABLE FILE lists what is "
      "missing" },
    { 404, "Not Found", "the row, or the table, is not there",
      "check the key, the id or the name" },
    { 405, "Method Not Allowed", "the table has no such message", ASK_FOR_CODE },
    { 408, "Request Timeout", "the request did not come in whole, or took too long", NULL },
    { 409, "Conflict", "another change is at the same row, or it is there already", ASK_FOR_CODE },
    { 412, "Precondition Failed",
      "a row of that id or key exists already, a rule for duplicates found one like it, or it was "
      "changed since it was read",
      "use upsert to change what is there" },
    { 413, "Payload Too Large", "the request is larger than the service, or a gateway, takes",
      "make --batch-size smaller, so that it need not be cut" },
    { 414, "URI Too Long", "the address of a row is too long", "use a shorter key, or the id" },
    { 415, "Unsupported Media Type", "the service does not read this kind of body", ASK_FOR_CODE },
    { 421, "Misdirected Request", "the request came to a server that is not for it", NULL },
    { 425, "Too Early", "the service does not risk a request that might be a repetition", NULL },
    { 429, "Too Many Requests",
      "one of the three limits of service protection is reached: requests or execution time "
      "within five minutes, or requests at the same time",
      "add a connection, which is another application user with limits of its own" },
    { 431, "Request Header Fields Too Large", "the lines of the request's head are too long",
      ASK_FOR_CODE },
    { 449, "Retry With", "the service asks for the same request again", NULL },
    { 500, "Internal Server Error", "the service failed, often in a plug-in or in the database",
      ASK_FOR_CODE },
    { 501, "Not Implemented", "the service does not know this kind of request", ASK_FOR_CODE },
    { 502, "Bad Gateway", "the gateway has no answer of the service that it understands", NULL },
    { 503, "Service Unavailable", "the service cannot work at the moment", NULL },
    { 504, "Gateway Timeout", "the gateway waited for the service too long",
      "make --batch-size smaller, or auto, if it happens again and again" },
};

const struct http_status *http_status_find(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].status == status)
            return &statuses[i];
    }
    return NULL;
}
