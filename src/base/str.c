/* SPDX-License-Identifier: MIT */
/* Borrowed text; see str.h. */
#include "base/str.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool weir_str_equal(struct weir_str a, struct weir_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool weir_str_same_nocase(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (lower(a[i]) != lower(b[i]))
            return false;
    }
    return true;
}

bool weir_str_starts_nocase(struct weir_str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text.len >= len && weir_str_equal_nocase(weir_str(text.ptr, len), weir_str(prefix, len));
}

struct weir_str weir_str_trim(struct weir_str text)
{
    while (text.len && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

size_t weir_control_bytes(struct weir_str text, size_t at)
{
    unsigned char c = (unsigned char)text.ptr[at];
    if (c < 0x20 || c == 0x7F)
        return 1;
    if (c != 0xC2 || at + 1 >= text.len)
        return 0;
    unsigned char next = (unsigned char)text.ptr[at + 1];
    return next >= 0x80 && next <= 0x9F ? 2 : 0;
}

size_t weir_str_find_nocase(struct weir_str text, const char *needle)
{
    for (size_t at = 0; at < text.len; at++) {
        if (weir_str_starts_nocase(weir_str(text.ptr + at, text.len - at), needle))
            return at;
    }
    return text.len;
}

bool weir_str_to_int64(struct weir_str text, int64_t *ret)
{
    bool negative = text.len && text.ptr[0] == '-';
    size_t at = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    if (at == text.len)
        return false;

    int64_t value = 0; /* kept negative: INT64_MIN has no positive twin */
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9')
            return false;
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_sub_overflow(value, (int64_t)(text.ptr[at] - '0'), &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *ret = negative ? value : -value;
    return true;
}

struct weir_str weir_str_cut(struct weir_str text, size_t bytes_max)
{
    if (text.len <= bytes_max)
        return text;
    size_t len = bytes_max;
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return weir_str(text.ptr, len);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's, row by row. */
size_t weir_str_distance(struct weir_str a, struct weir_str b)
{
    if (a.len > WEIR_STR_WORD_MAX || b.len > WEIR_STR_WORD_MAX)
        return SIZE_MAX / 2;
    size_t row[WEIR_STR_WORD_MAX + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same =
                weir_str_equal_nocase(weir_str(a.ptr + i - 1, 1), weir_str(b.ptr + j - 1, 1));
            size_t cost = least(diagonal + !same, least(row[j], row[j - 1]) + 1);
            diagonal = row[j];
            row[j] = cost;
        }
    }
    return row[b.len];
}

size_t weir_str_tolerance(struct weir_str word)
{
    return word.len <= 3 ? 1 : word.len <= 8 ? 2 : word.len / 3;
}

const char *weir_str_nearest(struct weir_str typed, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        struct weir_str name = weir_str_from(names[i]);
        size_t wrong = weir_str_distance(typed, name);
        if (wrong <= weir_str_tolerance(name) && wrong < least) {
            least = wrong;
            nearest = names[i];
        }
    }
    return nearest;
}

uint64_t weir_str_hash(struct weir_str text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211ULL;
    return hash;
}
