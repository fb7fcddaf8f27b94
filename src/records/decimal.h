/* SPDX-License-Identifier: MIT */
/*
 * Decimal numbers of any length, as they were written: taken apart, compared, never calculated
 * with, so that no digit is lost.
 *
 *     -0012.50e3      negative  whole 12  fraction 50  exponent e3
 *
 * A decimal borrows from the text that it was read from. Pure. Any thread.
 */
#ifndef WEIR_RECORDS_DECIMAL_H
#define WEIR_RECORDS_DECIMAL_H

#include "base/str.h"

struct weir_decimal {
    bool negative;            /* of a zero, too */
    struct weir_str whole;    /* digits before the point, without zeros in front */
    struct weir_str fraction; /* digits behind it */
    struct weir_str exponent; /* as written, with its letter; empty: there is none */
    int64_t scale;            /* the exponent as a number; of a giant one, the beginning */
};

/*
 * The whole of `text`: a sign or none, digits with or without a point, an exponent or none. There
 * must be digits behind a point, but there need not be any before it. False: it is none.
 */
bool weir_decimal_parse(struct weir_str text, struct weir_decimal *ret);

bool weir_decimal_is_zero(const struct weir_decimal *decimal);

/* Below, at or above 0: a is less than, equal to, greater than b. */
int weir_decimal_compare(const struct weir_decimal *a, const struct weir_decimal *b);

/* Digits of the fraction as written, without the zeros at its end. */
size_t weir_decimal_places(const struct weir_decimal *decimal);

/* As JSON, digit for digit: its bytes; writing them, which returns the byte behind. */
size_t weir_decimal_bytes(const struct weir_decimal *decimal);
char *weir_decimal_write(const struct weir_decimal *decimal, char *to);

#endif
