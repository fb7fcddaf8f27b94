/* SPDX-License-Identifier: MIT */
/*
 * Values and how the database compares them; see value.h. Case is folded character by character for
 * Latin, Greek and Cyrillic letters, which is what keys are made of; anything else is compared as
 * it is.
 */
#include "sim/service/value.h"

static struct weir_str trim_end(struct weir_str text)
{
    while (text.len && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* The next character of valid UTF-8; *at moves behind it. */
static uint32_t next_code(const unsigned char **at)
{
    const unsigned char *p = *at;
    if (p[0] < 0x80) {
        *at += 1;
        return p[0];
    }
    if (p[0] < 0xe0) {
        *at += 2;
        return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    }
    if (p[0] < 0xf0) {
        *at += 3;
        return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    }
    *at += 4;
    return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
           (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
}

/* In Latin Extended-A capitals are even, or odd in the two stretches where the pairs are shifted.
 */
static uint32_t fold_extended(uint32_t code)
{
    if (code == 0x130 || code == 0x138 || code == 0x149 || code == 0x17f)
        return code;
    if (code == 0x178)
        return 0xff;
    bool shifted = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17e);
    return shifted ? code + (code & 1) : code | 1;
}

static uint32_t fold(uint32_t code)
{
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    if (code >= 0xc0 && code <= 0xde)
        return code == 0xd7 ? code : code + 32;
    if (code >= 0x100 && code <= 0x17f)
        return fold_extended(code);
    if (code >= 0x391 && code <= 0x3a9)
        return code + 32;
    if (code >= 0x410 && code <= 0x42f)
        return code + 32;
    if (code >= 0x400 && code <= 0x40f)
        return code + 80;
    return code;
}

static int compare_texts(struct weir_str a, struct weir_str b)
{
    a = trim_end(a);
    b = trim_end(b);
    const unsigned char *at = (const unsigned char *)a.ptr;
    const unsigned char *other = (const unsigned char *)b.ptr;
    const unsigned char *end = at + a.len;
    const unsigned char *other_end = other + b.len;
    while (at < end && other < other_end) {
        uint32_t x = fold(next_code(&at));
        uint32_t y = fold(next_code(&other));
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (at < end) - (other < other_end);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    return hash ^ hash >> 32;
}

static uint64_t hash_text(struct weir_str text)
{
    text = trim_end(text);
    const unsigned char *at = (const unsigned char *)text.ptr;
    const unsigned char *end = at + text.len;
    uint64_t hash = 14695981039346656037ULL;
    while (at < end)
        hash = (hash ^ fold(next_code(&at))) * 1099511628211ULL;
    return mix(hash, 0);
}

bool sim_value_same(const struct sim_value *a, const struct sim_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case SIM_NULL:
        return true;
    case SIM_TEXT:
        return weir_str_equal(a->text, b->text);
    case SIM_NUMBER:
        return a->number == b->number;
    case SIM_DECIMAL:
        return a->decimal == b->decimal;
    case SIM_REAL:
        /* The same bits are wanted: 0 and -0 are two values, and there is no NaN.
           NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        return memcmp(&a->real, &b->real, sizeof(a->real)) == 0;
    case SIM_ID:
        return a->target == b->target && sim_guid_equal(a->id, b->id);
    }
    return false;
}

int sim_value_compare(const struct sim_value *a, const struct sim_value *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case SIM_NULL:
        return 0;
    case SIM_TEXT:
        return compare_texts(a->text, b->text);
    case SIM_NUMBER:
        return (a->number > b->number) - (a->number < b->number);
    case SIM_DECIMAL:
        return (a->decimal > b->decimal) - (a->decimal < b->decimal);
    case SIM_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case SIM_ID:
        return memcmp(a->id.bytes, b->id.bytes, sizeof(a->id.bytes));
    }
    return 0;
}

bool sim_value_equal(const struct sim_value *a, const struct sim_value *b)
{
    return sim_value_compare(a, b) == 0;
}

uint64_t sim_value_hash(const struct sim_value *value)
{
    switch (value->kind) {
    case SIM_NULL:
        return 0;
    case SIM_TEXT:
        return hash_text(value->text);
    case SIM_NUMBER:
        return mix(SIM_NUMBER, (uint64_t)value->number);
    case SIM_DECIMAL:
        return mix(mix(SIM_DECIMAL, (uint64_t)value->decimal), (uint64_t)(value->decimal >> 64));
    case SIM_REAL: {
        double real = value->real == 0 ? 0 : value->real; /* -0 equals 0 */
        uint64_t bits;
        memcpy(&bits, &real, sizeof(bits));
        return mix(SIM_REAL, bits);
    }
    case SIM_ID:
        return sim_guid_hash(value->id);
    }
    return 0;
}

struct weir_str sim_text_cut(struct weir_str text, size_t bytes_max)
{
    if (text.len <= bytes_max)
        return text.ptr ? text : weir_str("", 0);
    while (bytes_max && ((unsigned char)text.ptr[bytes_max] & 0xc0) == 0x80)
        bytes_max--;
    return weir_str(text.ptr, bytes_max);
}

size_t sim_text_units(struct weir_str text)
{
    size_t units = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        units += ((c & 0xc0) != 0x80) + (c >= 0xf0); /* a character beyond U+FFFF has two */
    }
    return units;
}
