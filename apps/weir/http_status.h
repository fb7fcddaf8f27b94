/* SPDX-License-Identifier: MIT */
/* What an HTTP status of the service, or of a gateway before it, means to people. */
#ifndef WEIR_APPS_HTTP_STATUS_H
#define WEIR_APPS_HTTP_STATUS_H

#define HTTP_STATUS_MIN 100
#define HTTP_STATUS_MAX 599

struct http_status {
    int status;
    const char *name;
    const char *meaning;
    const char *advice; /* NULL: weir goes on by itself */
};

/* NULL: not one that the service gives. */
const struct http_status *http_status_find(int status);

#endif
