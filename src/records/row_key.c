/* SPDX-License-Identifier: MIT */
/*
 * The name of a row as a number; see row_key.h. The canonical name goes through a small buffer; if
 * that is full, its hash takes its place and the rest is put behind.
 *
 *     "A1  ", "7.50"  ──▶  a1 NUL 75e-1 NUL  ──▶  hash          a part ends with a NUL
 */
#include "records/row_key.h"

#include <inttypes.h>
#include <stdio.h>

#include "records/fold.h"
#include "records/hash.h"

void weir_row_key_init(struct weir_row_key *key)
{
    key->len = 0;
}

/* The bytes so far become their hash. */
static void shrink(struct weir_row_key *key)
{
    uint64_t hash = weir_hash64(key->bytes, key->len);
    memcpy(key->bytes, &hash, sizeof(hash));
    key->len = sizeof(hash);
}

/* Where bytes were cut into pieces makes no difference. */
static void put(struct weir_row_key *key, const char *bytes, size_t len)
{
    while (len) {
        if (key->len == sizeof(key->bytes))
            shrink(key);
        size_t room = sizeof(key->bytes) - key->len;
        size_t some = len < room ? len : room;
        memcpy(key->bytes + key->len, bytes, some);
        key->len += some;
        bytes += some;
        len -= some;
    }
}

static void end_part(struct weir_row_key *key)
{
    put(key, "", 1);
}

/* ---- texts ---- */

static void put_text(struct weir_row_key *key, struct weir_str text)
{
    size_t blanks = 0;
    while (text.len) {
        char folded[WEIR_FOLD_BYTES];
        size_t len = weir_fold_next(&text, folded);
        if (len == 1 && folded[0] == ' ') {
            blanks++;
            continue;
        }
        for (; len && blanks; blanks--)
            put(key, " ", 1);
        put(key, folded, len);
    }
}

/* ---- numbers ---- */

/* -012.50e3 is 125, of which the last digit is worth 10^2. */
struct number {
    bool negative;
    struct weir_str digits; /* without noughts at the ends; a point may be among them; empty: 0 */
    int64_t exponent;       /* of the last one */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* `e-3` at the end, which is taken off. */
static bool take_exponent(struct weir_str *text, int64_t *ret)
{
    size_t at = 0;
    while (at < text->len && text->ptr[at] != 'e' && text->ptr[at] != 'E')
        at++;
    *ret = 0;
    if (at == text->len)
        return true;
    struct weir_str exponent = weir_str(text->ptr + at + 1, text->len - at - 1);
    text->len = at;
    return weir_str_to_int64(exponent, ret) && *ret > -INT32_MAX && *ret < INT32_MAX;
}

/* Digits with one point at most, of which there is at least one digit. */
static bool is_decimal(struct weir_str text, size_t *ret_point)
{
    size_t digits = 0;
    *ret_point = text.len;
    for (size_t i = 0; i < text.len; i++) {
        if (is_digit(text.ptr[i]))
            digits++;
        else if (text.ptr[i] == '.' && *ret_point == text.len)
            *ret_point = i;
        else
            return false;
    }
    return digits > 0;
}

static bool is_naught(char c)
{
    return c == '0' || c == '.';
}

static bool parse_number(struct weir_str text, struct number *ret)
{
    ret->negative = text.len && text.ptr[0] == '-';
    if (text.len && (text.ptr[0] == '-' || text.ptr[0] == '+'))
        text = weir_str(text.ptr + 1, text.len - 1);
    size_t point;
    if (!take_exponent(&text, &ret->exponent) || !is_decimal(text, &point))
        return false;
    size_t first = 0, end = text.len;
    while (first < end && is_naught(text.ptr[first]))
        first++;
    while (end > first && is_naught(text.ptr[end - 1]))
        end--;
    ret->digits = weir_str(text.ptr + first, end - first);
    ret->exponent += (int64_t)point - (int64_t)end + (end > point);
    return true;
}

static void put_number(struct weir_row_key *key, const struct number *number)
{
    if (!number->digits.len) {
        put(key, "0", 1);
        return;
    }
    if (number->negative)
        put(key, "-", 1);
    for (size_t i = 0; i < number->digits.len; i++) {
        if (is_digit(number->digits.ptr[i]))
            put(key, number->digits.ptr + i, 1);
    }
    char exponent[24];
    int len = snprintf(exponent, sizeof(exponent), "e%" PRId64, number->exponent);
    put(key, exponent, (size_t)len);
}

/* ---- parts ---- */

static bool is_number_type(enum weir_column_type type)
{
    return (type >= WEIR_COLUMN_INTEGER && type <= WEIR_COLUMN_MONEY) ||
           type == WEIR_COLUMN_PICKLIST || type == WEIR_COLUMN_STATE || type == WEIR_COLUMN_STATUS;
}

static bool is_guid_type(enum weir_column_type type)
{
    return type >= WEIR_COLUMN_ID && type <= WEIR_COLUMN_OWNER;
}

void weir_row_key_add(struct weir_row_key *key, enum weir_column_type type, struct weir_str value)
{
    struct weir_guid guid;
    struct number number;
    if (is_guid_type(type) && weir_guid_parse(value, &guid))
        put(key, (const char *)guid.bytes, sizeof(guid.bytes));
    else if (is_number_type(type) && parse_number(value, &number))
        put_number(key, &number);
    else
        put_text(key, value);
    end_part(key);
}

void weir_row_key_add_guid(struct weir_row_key *key, const struct weir_guid *guid)
{
    put(key, (const char *)guid->bytes, sizeof(guid->bytes));
    end_part(key);
}

void weir_row_key_add_exact(struct weir_row_key *key, struct weir_str value)
{
    put(key, value.ptr, value.len);
    end_part(key);
}

uint64_t weir_row_key_hash(const struct weir_row_key *key)
{
    uint64_t hash = weir_hash64(key->bytes, key->len);
    return hash ? hash : 1;
}
