/* SPDX-License-Identifier: MIT */
/* Names of rows as numbers: what is the same name, and what is not. */
#include "records/row_key.h"

#include <stdio.h>

#include "base/rng.h"
#include "records/fold.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t hash_of(enum weir_column_type type, struct weir_str value)
{
    struct weir_row_key key;
    weir_row_key_init(&key);
    weir_row_key_add(&key, type, value);
    return weir_row_key_hash(&key);
}

static uint64_t hash_text(enum weir_column_type type, const char *value)
{
    return hash_of(type, weir_str_from(value));
}

static void are_same(enum weir_column_type type, const char *a, const char *b)
{
    ck_assert_msg(hash_text(type, a) == hash_text(type, b), "\"%s\" and \"%s\"", a, b);
}

static void are_different(enum weir_column_type type, const char *a, const char *b)
{
    ck_assert_msg(hash_text(type, a) != hash_text(type, b), "\"%s\" and \"%s\"", a, b);
}

/* ---- texts ---- */

START_TEST(texts_are_the_same_in_any_case_with_any_blanks_behind)
{
    static const char *const same[][2] = {
        { "A1", "a1" },
        { "a1", "a1   " },
        { "a1", "a1\u00a0\u3000 " },
        { "", "  " },
        { "M\u00fcller", "MULLER" },
        { "stra\u00dfe", "STRASSE" },
        { "\u1e9e", "ss" },
        { "\u00c6ON", "aeon" },
        { "\u0152uvre", "OEUVRE" },
        { "\u00deor", "thor" },
        { "re\u0301sume\u0301", "R\u00e9sum\u00e9" },
        { "\u0141\u00f3d\u017a", "lodz" },
        { "Nguy\u1ec5n", "NGUYEN" },
        { "\u0399\u039f\u03a5\u039b\u0399\u039f\u03a3",
          "\u03b9\u03bf\u03cd\u03bb\u03b9\u03bf\u03c2" },
        { "\u0416\u0423\u0420\u041d\u0410\u041b", "\u0436\u0443\u0440\u043d\u0430\u043b" },
        { "\u0401\u0436", "\u0435\u0436" },
        { "\u04c1", "\u04c2" },
        { "\u0490", "\u0491" },
        { "\u0531", "\u0561" },
        { "\uff21\uff4a\uff11", "aj1" },
        { "\u30ab", "\u304b" },
        { "\u212a", "k" },
        { "co\u00adop", "coop" },
        { "\U00010400", "\U00010428" },
    };
    for (size_t i = 0; i < COUNT(same); i++)
        are_same(WEIR_COLUMN_STRING, same[i][0], same[i][1]);
}
END_TEST

START_TEST(texts_that_differ_are_different)
{
    static const char *const texts[] = {
        "",        "a",      "b",      " a",     "a b",    "ab",     "a  b",       "a.",
        "a1",      "01",     "1",      "1.0",    "\u00d7", "\u4e00", "\u4e01",     "\u4e00\u4e01",
        "\u03b1",  "\u0430", "\u05d0", "\u3042", "\u3044", "\u00f7", "\U0001f600", "\U0001f601",
        "e\u4e00", "a,b",    "a\tb",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t k = 0; k < i; k++)
            are_different(WEIR_COLUMN_STRING, texts[i], texts[k]);
    }
}
END_TEST

/* Folding twice is folding once, nothing grows, and every byte is taken. */
START_TEST(what_is_folded_is_folded_for_good)
{
    for (uint32_t code = 1; code < 0x110000; code++) {
        if (code >= 0xd800 && code < 0xe000)
            continue;
        char text[4], once[4], twice[4];
        size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        uint32_t left = code;
        for (size_t i = bytes - 1; i > 0; i--, left >>= 6)
            text[i] = (char)(0x80 | (left & 0x3f));
        text[0] = (char)(bytes == 1 ? left : ((0xf00u >> bytes) & 0xf0) | left);
        struct weir_str rest = weir_str(text, bytes);
        size_t len = weir_fold_next(&rest, once);
        must(rest.len == 0 && len <= bytes);
        for (struct weir_str again = weir_str(once, len); again.len;) {
            const char *at = again.ptr;
            size_t len_2 = weir_fold_next(&again, twice);
            must(len_2 == (size_t)(again.ptr - at) && memcmp(at, twice, len_2) == 0);
        }
    }
}
END_TEST

START_TEST(bytes_that_are_no_text_are_taken_one_by_one)
{
    static const char *const texts[] = { "\x80",  "\xc3", "\xe2\x82", "\xf0\x9f\x98",
                                         "\xc3(", "\xff", "\xc0\x80" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char *copy = strdup(texts[i]);
        struct weir_str rest = weir_str(copy, strlen(copy));
        char folded[WEIR_FOLD_BYTES];
        ck_assert_uint_eq(weir_fold_next(&rest, folded), 1);
        ck_assert_int_eq(folded[0], texts[i][0]);
        ck_assert_uint_eq(rest.len, strlen(texts[i]) - 1);
        free(copy);
    }
}
END_TEST

/* Longer than what is hashed at once: the ends and the middle count, blanks behind do not. */
START_TEST(long_texts_are_told_apart)
{
    enum {
        BYTES = 3000
    };
    char text[BYTES + 40], other[BYTES + 40];
    for (size_t len = WEIR_ROW_KEY_BYTES - 3; len < BYTES; len += len < 600 ? 1 : 97) {
        memset(text, 'x', sizeof(text));
        memset(other, 'X', sizeof(other));
        memset(other + len, ' ', 40);
        uint64_t hash = hash_of(WEIR_COLUMN_MEMO, weir_str(text, len));
        must(hash == hash_of(WEIR_COLUMN_MEMO, weir_str(other, len + 40)));
        must(hash != hash_of(WEIR_COLUMN_MEMO, weir_str(text, len + 1)));
        for (size_t at = 0; at < len; at += 1 + len / 9) {
            other[at] = 'y';
            must(hash != hash_of(WEIR_COLUMN_MEMO, weir_str(other, len)));
            other[at] = 'X';
        }
    }
}
END_TEST

/* ---- numbers ---- */

START_TEST(numbers_are_the_same_by_their_value)
{
    static const char *const same[][2] = {
        { "7", "007" },       { "7", "+7" },     { "7", "7.0" },      { "7", "7." },
        { "0", "-0" },        { "0", "0.00" },   { "0", "000" },      { "0", "0e9" },
        { ".5", "0.50" },     { "1.50", "1.5" }, { "100", "1e2" },    { "100", "1E+2" },
        { "0.05", "5e-2" },   { "-1.0", "-1" },  { "10.10", "10.1" }, { "1050e-1", "105.00" },
        { "12.5", "125e-1" },
    };
    static const enum weir_column_type types[] = {
        WEIR_COLUMN_INTEGER, WEIR_COLUMN_BIGINT,   WEIR_COLUMN_DECIMAL, WEIR_COLUMN_DOUBLE,
        WEIR_COLUMN_MONEY,   WEIR_COLUMN_PICKLIST, WEIR_COLUMN_STATE,   WEIR_COLUMN_STATUS,
    };
    for (size_t i = 0; i < COUNT(same); i++) {
        for (size_t k = 0; k < COUNT(types); k++)
            are_same(types[k], same[i][0], same[i][1]);
        are_different(WEIR_COLUMN_STRING, same[i][0], same[i][1]);
    }
}
END_TEST

START_TEST(numbers_that_differ_are_different)
{
    static const char *const numbers[] = {
        "0",
        "1",
        "-1",
        "10",
        "100",
        "1.01",
        "101",
        "0.1",
        "0.01",
        "-0.01",
        "1e30",
        "1e31",
        "9223372036854775807",
        "9223372036854775806",
        "",
        "1x",
        "1.2.3",
        "1e",
        "e1",
        ".",
        "-",
        "1e99999999999",
        "--1",
        "0x1",
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        for (size_t k = 0; k < i; k++)
            are_different(WEIR_COLUMN_DECIMAL, numbers[i], numbers[k]);
    }
}
END_TEST

/* A random number in a random spelling: the point somewhere, noughts on both sides, an exponent. */
static void spell(struct weir_rng *rng, uint64_t digits, int exponent, bool negative, char *text,
                  size_t bytes)
{
    char number[40];
    size_t len = (size_t)snprintf(number, sizeof(number), "%llu", (unsigned long long)digits);
    size_t point = (size_t)weir_rng_below(rng, len + 1);
    int shown = exponent + (int)(len - point);
    snprintf(text, bytes, "%s%.*s%.*s.%s%.*se%s%d",
             negative                 ? "-"
             : weir_rng_below(rng, 2) ? "+"
                                      : "",
             (int)weir_rng_below(rng, 4), "0000", (int)point, number, number + point,
             (int)weir_rng_below(rng, 4), "0000", shown >= 0 && weir_rng_below(rng, 2) ? "+" : "",
             shown);
}

START_TEST(every_spelling_of_a_number_is_that_number)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 5, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t digits = 1 + weir_rng_below(&rng, UINT64_C(1) << (1 + weir_rng_below(&rng, 60)));
        int exponent = (int)weir_rng_below(&rng, 41) - 20;
        bool negative = weir_rng_below(&rng, 2);
        char a[80], b[80], c[80];
        spell(&rng, digits, exponent, negative, a, sizeof(a));
        spell(&rng, digits, exponent, negative, b, sizeof(b));
        spell(&rng, digits + 1, exponent, negative, c, sizeof(c));
        uint64_t hash = hash_text(WEIR_COLUMN_DECIMAL, a);
        if (hash != hash_text(WEIR_COLUMN_DECIMAL, b))
            ck_abort_msg("%s and %s", a, b);
        if (hash == hash_text(WEIR_COLUMN_DECIMAL, c))
            ck_abort_msg("%s and %s", a, c);
    }
}
END_TEST

/* ---- ids ---- */

START_TEST(ids_are_the_same_in_any_form)
{
    static const enum weir_column_type types[] = { WEIR_COLUMN_ID, WEIR_COLUMN_LOOKUP,
                                                   WEIR_COLUMN_CUSTOMER, WEIR_COLUMN_OWNER };
    for (size_t i = 0; i < COUNT(types); i++) {
        are_same(types[i], "0123ABCD-4567-89ab-cdef-0123456789ab",
                 "{0123abcd-4567-89ab-cdef-0123456789ab}");
        are_different(types[i], "0123abcd-4567-89ab-cdef-0123456789ab",
                      "0123abcd-4567-89ab-cdef-0123456789ac");
    }
    are_different(WEIR_COLUMN_STRING, "0123abcd-4567-89ab-cdef-0123456789ab",
                  "{0123abcd-4567-89ab-cdef-0123456789ab}");
}
END_TEST

/* ---- several parts ---- */

static uint64_t hash_two(const char *a, const char *b)
{
    struct weir_row_key key;
    weir_row_key_init(&key);
    weir_row_key_add(&key, WEIR_COLUMN_STRING, weir_str_from(a));
    weir_row_key_add(&key, WEIR_COLUMN_STRING, weir_str_from(b));
    return weir_row_key_hash(&key);
}

START_TEST(parts_do_not_run_into_each_other)
{
    ck_assert(hash_two("a", "bc") != hash_two("ab", "c"));
    ck_assert(hash_two("a", "b") != hash_two("b", "a"));
    ck_assert(hash_two("a", "") != hash_two("", "a"));
    ck_assert(hash_two("a", " b") != hash_two("a ", "b"));
    ck_assert(hash_two("a ", "B") == hash_two("A", "b "));
    ck_assert(hash_two("a", "") != hash_text(WEIR_COLUMN_STRING, "a"));
}
END_TEST

static uint64_t hash_exact(const struct weir_guid *id, const char *partition)
{
    struct weir_row_key key;
    weir_row_key_init(&key);
    weir_row_key_add_guid(&key, id);
    weir_row_key_add_exact(&key, weir_str_from(partition));
    return weir_row_key_hash(&key);
}

START_TEST(partitions_are_compared_byte_by_byte)
{
    static const char *const partitions[] = { "", "a", "A", "a ", "\u00e4", "a\u0308" };
    struct weir_guid id = { { 1 } }, other = { { 2 } };
    for (size_t i = 0; i < COUNT(partitions); i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert(hash_exact(&id, partitions[i]) != hash_exact(&id, partitions[k]));
        ck_assert(hash_exact(&id, partitions[i]) == hash_exact(&id, partitions[i]));
        ck_assert(hash_exact(&id, partitions[i]) != hash_exact(&other, partitions[i]));
    }
}
END_TEST

/* In one piece, over the border of what is hashed at once. */
START_TEST(long_partitions_are_told_apart)
{
    char text[3 * WEIR_ROW_KEY_BYTES];
    struct weir_guid id = { { 1 } };
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    uint64_t hash = hash_exact(&id, text);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        text[i] = 'y';
        must(hash_exact(&id, text) != hash);
        text[i] = 'x';
        must(hash_exact(&id, text + i + 1) != hash);
    }
}
END_TEST

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

START_TEST(a_million_keys_have_a_million_hashes_and_none_is_nought)
{
    enum {
        KEYS = 1000000
    };
    uint64_t *hashes = calloc(KEYS, sizeof(*hashes));
    for (unsigned i = 0; i < KEYS; i++) {
        char text[24];
        snprintf(text, sizeof(text), "A-%07u", i);
        hashes[i] = hash_text(WEIR_COLUMN_STRING, text);
        must(hashes[i] != 0);
    }
    qsort(hashes, KEYS, sizeof(*hashes), compare_hashes);
    for (size_t i = 1; i < KEYS; i++)
        must(hashes[i] != hashes[i - 1]);
    free(hashes);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("row_key");
    suite_add(&s, texts_are_the_same_in_any_case_with_any_blanks_behind);
    suite_add(&s, texts_that_differ_are_different);
    suite_add(&s, what_is_folded_is_folded_for_good);
    suite_add(&s, bytes_that_are_no_text_are_taken_one_by_one);
    suite_add(&s, long_texts_are_told_apart);
    suite_add(&s, numbers_are_the_same_by_their_value);
    suite_add(&s, numbers_that_differ_are_different);
    suite_add(&s, every_spelling_of_a_number_is_that_number);
    suite_add(&s, ids_are_the_same_in_any_form);
    suite_add(&s, parts_do_not_run_into_each_other);
    suite_add(&s, partitions_are_compared_byte_by_byte);
    suite_add(&s, long_partitions_are_told_apart);
    suite_add(&s, a_million_keys_have_a_million_hashes_and_none_is_nought);
    return suite_run(&s);
}
