/* SPDX-License-Identifier: MIT */
/* Dates and decimals: from text to the numbers that are stored, and back. Any thread. */
#ifndef SIM_SERVICE_LITERAL_H
#define SIM_SERVICE_LITERAL_H

#include "base/buf.h"
#include "sim/service/schema.h"
#include "sim/service/value.h"

#define SIM_DATE_MIN_US INT64_C(-6847804800000000) /* 1753-01-01, the database's first day */

/*
 * "2024-02-29" for SIM_DATE_ONLY; otherwise "2024-02-29T23:59:59.123Z", where seconds and fraction
 * may be missing and an offset ("+02:00") may stand for the Z. False: anything else. Microseconds
 * since 1970.
 */
bool sim_date_parse(struct weir_str text, enum sim_date_behavior behavior, int64_t *ret_us);

/* The same, in full seconds, without quotes. */
void sim_date_print(int64_t us, enum sim_date_behavior behavior, struct weir_buf *text);

/*
 * A JSON number times 10^precision, rounded half away from zero. False: it does not fit (the
 * grammar has been checked). *ret_exact (NULL: not wanted): nothing had to be rounded.
 */
bool sim_decimal_parse(struct weir_str number, unsigned precision, sim_wide *ret, bool *ret_exact);

/* With all `precision` digits behind the point. */
void sim_decimal_print(sim_wide scaled, unsigned precision, struct weir_buf *text);

/* A JSON number as floating point. False: too long, or not finite. */
bool sim_real_parse(struct weir_str number, double *ret);

/* The shortest text that is the same number again; -0.0 keeps its sign. */
void sim_real_print(double real, struct weir_buf *text);

/*
 * A value from the text of a key or a filter (without quotes) in the type of a column. False: it is
 * none of that type. "null" is for the caller to know. Texts are borrowed.
 */
bool sim_literal_parse(const struct sim_column *column, struct weir_str text,
                       struct sim_value *ret);

#endif
