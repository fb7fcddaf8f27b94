/* SPDX-License-Identifier: MIT */
/*
 * JSON, pulled token by token out of bytes that somebody else owns; nothing is allocated and
 * nothing is copied. Strict: the grammar of RFC 8259, UTF-8 throughout, no trailing commas, nothing
 * behind the end.
 *
 *     struct sim_scan scan;
 *     struct sim_token token;
 *     sim_scan_init(&scan, body);
 *     while (sim_scan_next(&scan, &token) > SIM_SCAN_END) …
 *
 * A token is a value, or the end of a container; a value inside an object brings its key along.
 * Texts are as they were written; those with `escaped` go through sim_scan_decode(). Any thread.
 */
#ifndef SIM_SERVICE_SCAN_H
#define SIM_SERVICE_SCAN_H

#include "base/str.h"

#define SIM_SCAN_DEPTH_MAX 64

enum sim_scan_type {
    SIM_SCAN_BAD, /* and it stays: `problem` says what is wrong */
    SIM_SCAN_END, /* of the document */
    SIM_SCAN_OBJECT,
    SIM_SCAN_OBJECT_END,
    SIM_SCAN_ARRAY,
    SIM_SCAN_ARRAY_END,
    SIM_SCAN_STRING,
    SIM_SCAN_NUMBER,
    SIM_SCAN_TRUE,
    SIM_SCAN_FALSE,
    SIM_SCAN_NULL,
};

struct sim_token {
    enum sim_scan_type type;
    struct weir_str key;  /* without quotes; ptr NULL: not inside an object */
    struct weir_str text; /* of a string without quotes; of a number and the words as written */
    bool key_escaped;
    bool escaped;
};

struct sim_scan {
    const char *start;
    const char *at;
    const char *end;
    uint64_t objects; /* bit n: the container at depth n is an object */
    uint32_t depth;
    bool first; /* nothing has been read in this container yet */
    bool done;  /* the value of the document has been read */
    const char *problem;
};

void sim_scan_init(struct sim_scan *scan, struct weir_str text);

enum sim_scan_type sim_scan_next(struct sim_scan *scan, struct sim_token *ret);

/* Behind the rest of a container whose beginning was the last token. False: it is bad. */
bool sim_scan_skip(struct sim_scan *scan);

/* The whole document is well-formed. */
bool sim_scan_check(struct weir_str text, struct sim_scan *ret);

/* Write a text without its escapes; `out` has room for raw.len bytes. Returns how many it took. */
size_t sim_scan_decode(struct weir_str raw, char *out);

#endif
