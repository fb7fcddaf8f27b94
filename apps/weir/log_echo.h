/* SPDX-License-Identifier: MIT */
/*
 * Warnings that repeat themselves, for people who look at a terminal: fifty requests that meet the
 * same throttle are one piece of news. What was said of a connection is not said of it again for
 * half a minute. Pure; one thread at a time.
 */
#ifndef WEIR_APP_LOG_ECHO_H
#define WEIR_APP_LOG_ECHO_H

#include <stdbool.h>

#include "weir/log.h"

#define LOG_ECHO_US  ((int64_t)30 * 1000 * 1000)
#define LOG_ECHO_MAX 64 /* pieces of news that are remembered; of more, the oldest is forgotten */

/* All zero: nothing was said. */
struct log_echo {
    struct log_echo_news {
        uint64_t hash; /* of event and connection; 0: none */
        int64_t said_us;
    } news[LOG_ECHO_MAX];
};

/* Whether `record` only repeats what was said; if not, it is said now. */
bool log_echo_hears(struct log_echo *echo, const struct weir_log_record *record, int64_t now_us);

#endif
