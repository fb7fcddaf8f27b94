/* SPDX-License-Identifier: MIT */
/*
 * One value: from text to what the options hold, by the type of its key, and back. Any thread.
 */
#ifndef WEIR_CONFIG_VALUE_H
#define WEIR_CONFIG_VALUE_H

#include "base/buf.h"
#include "base/json.h"
#include "config/keys.h"

struct weir_value {
    union {
        bool flag;        /* BOOL */
        int64_t number;   /* INT; DURATION in microseconds */
        double real;      /* REAL */
        const char *text; /* CHOICE as the table spells it; TEXT borrowed from the source */
    };
};

/*
 * Read `text`, which is terminated, as a value of `key`. `type` is how it was written: a BOOL or a
 * NUMBER of a JSON file, a STRING there or anywhere else. NULL on success; otherwise what is wrong,
 * as the end of the sentence `Key is "text"…`, for example ", which is too small".
 */
const char *weir_value_parse(const struct weir_key *key, enum weir_json_type type,
                             struct weir_str text, struct weir_value *ret);

/* What would be right: "a whole number from 1 to 100". By value: `weir_value_right(key).text`. */
struct weir_value_right {
    char text[160];
};
struct weir_value_right weir_value_right(const struct weir_key *key);

/* Put a value into the options (or the options of a connection) at `options`. */
void weir_value_store(const struct weir_key *key, struct weir_value value, void *options);

/* The default of the key, or that it is not set. */
void weir_value_store_default(const struct weir_key *key, void *options);

/* Append as much of a value's text as people may see. */
void weir_value_mask(const struct weir_key *key, struct weir_str text, struct weir_buf *buf);

/* Append what the options at `options` hold, which is set, as people may see it on one line. */
void weir_value_print(const struct weir_key *key, const void *options, struct weir_buf *buf);

#endif
