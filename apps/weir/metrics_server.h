/* SPDX-License-Identifier: MIT */
/*
 * `GET /metrics` of a running job (metrics_text.h), over plain HTTP, on this machine unless an
 * address is given. Main thread; answers are given by a thread of its own.
 */
#ifndef WEIR_APP_METRICS_SERVER_H
#define WEIR_APP_METRICS_SERVER_H

#include "weir/bulk.h"

struct metrics_server;

/*
 * Take the port, and no more: who asks waits. `text` is PORT, :PORT or ADDR:PORT; 0 is any that is
 * free. WEIR_E_INVALID: no such thing, or it is taken.
 */
enum weir_status metrics_server_new(const char *text, struct metrics_server **ret,
                                    struct weir_error *err);

/* Answer from now on. The job is borrowed until metrics_server_free(). */
enum weir_status metrics_server_start(struct metrics_server *server, struct weir_job *job,
                                      struct weir_error *err);

/* http://127.0.0.1:9100/metrics; lives as long as the server. */
const char *metrics_server_url(const struct metrics_server *server);

/* Waits for answers that are being made. NULL is fine. */
void metrics_server_free(struct metrics_server *server);

#endif
