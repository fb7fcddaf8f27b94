/* SPDX-License-Identifier: MIT */
/*
 * One value of one column, by value. Which kind a column has follows from its type:
 *
 *     text     texts, memos; multi-choices as "1,2,3"
 *     number   whole numbers, choices, booleans (0, 1); dates as microseconds since 1970
 *     decimal  decimals and money times 10^precision
 *     real     floating point
 *     id       primary ids and lookups; `target` is the place in the lookup's list of targets
 *
 * Texts are borrowed: from the request or from the row. Any thread.
 */
#ifndef SIM_SERVICE_VALUE_H
#define SIM_SERVICE_VALUE_H

#include "base/buf.h"
#include "sim/service/guid.h"
#include "sim/service/wide.h"

enum sim_value_kind {
    SIM_NULL = 0,
    SIM_TEXT,
    SIM_NUMBER,
    SIM_DECIMAL,
    SIM_REAL,
    SIM_ID,
};

struct sim_value {
    enum sim_value_kind kind;
    uint8_t target;
    union {
        struct weir_str text;
        int64_t number;
        sim_wide decimal;
        double real;
        struct sim_guid id;
    };
};

/* Bit for bit. Two nulls are equal here. */
bool sim_value_same(const struct sim_value *a, const struct sim_value *b);

/*
 * As the database compares: texts without case and without trailing blanks. Two nulls are equal
 * here; that a null is never unique is the business of who asks.
 */
bool sim_value_equal(const struct sim_value *a, const struct sim_value *b);

/* -1, 0, 1 in the same sense; null is less than anything. */
int sim_value_compare(const struct sim_value *a, const struct sim_value *b);

/* Equal values have equal hashes. */
uint64_t sim_value_hash(const struct sim_value *value);

/* The beginning of a text of valid UTF-8, at most that many bytes, ending with a whole character.
 */
struct weir_str sim_text_cut(struct weir_str text, size_t bytes_max);

/* How many UTF-16 units a text of valid UTF-8 has. */
size_t sim_text_units(struct weir_str text);

#endif
