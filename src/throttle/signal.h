/* SPDX-License-Identifier: MIT */
/*
 * Recognising throttles and budgets in answers: the pieces that weir_answer_read() is made of.
 * Pure; nothing is kept. Any thread.
 */
#ifndef WEIR_THROTTLE_SIGNAL_H
#define WEIR_THROTTLE_SIGNAL_H

#include "base/str.h"
#include "throttle/catalogue.h"
#include "weir/verdict.h"

/*
 * A service code in any form: `0x80072322` (any case), `80072322` is not one; `-2147015902`,
 * `2147951394`. False: not a code.
 */
bool weir_signal_parse_code(struct weir_str text, uint32_t *ret);

/* Which limit a code stands for; WEIR_THROTTLE_NONE: it is none of the three. */
enum weir_throttle_kind weir_signal_kind(uint32_t code);

/*
 * The limit that a throttle's message names: "limit of 6000 over time window of 300 seconds",
 * "limit of 1,200,000 milliseconds". What it does not name is 0.
 */
struct weir_named_limit weir_signal_parse_limit(struct weir_str message);

/* A number with or without thousands separators: `1,200.00`, `5999`. In millionths. False: none. */
bool weir_signal_parse_decimal_us(struct weir_str text, int64_t *ret_us);

/* An HTTP-date in any of the three forms, as seconds since 1970. False: not one. */
bool weir_signal_parse_http_date(struct weir_str text, int64_t *ret_s);

struct weir_retry_after {
    int64_t us;    /* -1: no header asked for a wait and no fallback was wanted */
    bool fallback; /* missing or unusable: the fallback stands in */
    bool clamped;
};

/*
 * Retry-After of one answer, by precedence: retry-after-ms, x-ms-retry-after-ms, Retry-After in
 * seconds, in fractions, as a date relative to the answer's own Date. 0 and the past become 1 s,
 * more than an hour becomes an hour; missing, negative and garbage the fallback.
 * `fallback_us` < 0: none wanted, a missing header gives -1 (garbage too).
 */
struct weir_retry_after weir_signal_retry_after(const struct weir_http_header *headers,
                                                size_t header_count, int64_t fallback_us);

/* The value of a header by name, any case; the last one if it is repeated. Empty ptr: not there. */
struct weir_str weir_signal_header(const struct weir_http_header *headers, size_t header_count,
                                   const char *name);

/* The value of the last ARRAffinity cookie that is set, as it stands. Empty: none is. */
struct weir_str weir_signal_affinity(const struct weir_http_header *headers, size_t header_count);

/* Budgets, dop hint (clamped to 1..52) and server id. */
struct weir_budget_headers weir_signal_budget(const struct weir_http_header *headers,
                                              size_t header_count);

#endif
