/* SPDX-License-Identifier: MIT */
/* Rows of other tables by a value: against a list that is simply looked through. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "records/references.h"
#include "records/row_key.h"
#include "support/suite.h"

#define LISTS 3
#define ROWS  3000

static struct weir_guid id_of(uint32_t number)
{
    struct weir_guid id = { { 0 } };
    memcpy(id.bytes, &number, sizeof(number));
    return id;
}

static enum weir_status add(struct weir_references *references, uint32_t list, const char *value,
                            uint32_t number)
{
    struct weir_guid id = id_of(number);
    return weir_references_add(references, list, weir_str_from(value), &id, NULL);
}

static int find(const struct weir_references *references, uint32_t list, const char *value)
{
    struct weir_guid id;
    uint32_t number;
    enum weir_reference found = weir_references_find(references, list, weir_str_from(value), &id);
    memcpy(&number, id.bytes, sizeof(number));
    return found == WEIR_REFERENCE_FOUND ? (int)number : found == WEIR_REFERENCE_MISSING ? -1 : -2;
}

START_TEST(values_are_compared_as_the_database_does)
{
    struct weir_references *references = weir_references_new();
    static const char *const same[] = { "M\u00fcller  AG", "m\u00dcLLER  ag", "Muller  AG   ",
                                        "MULLER  \uff21\uff27" };
    static const char *const other[] = { "M\u00fcller AG", " M\u00fcller  AG", "M\u00fcller  A",
                                         "M\u00fcller  AGG", "" };
    must(add(references, 0, same[0], 7) == WEIR_OK);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        ck_assert_int_eq(find(references, 0, same[i]), 7);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        ck_assert_int_eq(find(references, 0, other[i]), -1);
    ck_assert_int_eq(find(references, 1, same[0]), -1);
    must(add(references, 1, same[0], 8) == WEIR_OK);
    ck_assert_int_eq(find(references, 1, same[1]), 8);
    weir_references_free(references);
}
END_TEST

START_TEST(a_value_of_two_rows_is_ambiguous_and_one_row_twice_is_not)
{
    struct weir_references *references = weir_references_new();
    must(add(references, 0, "EUR", 1) == WEIR_OK);
    must(add(references, 0, "eur", 1) == WEIR_OK);
    ck_assert_int_eq(find(references, 0, "EUR"), 1);
    must(add(references, 0, "EUR ", 2) == WEIR_OK);
    ck_assert_int_eq(find(references, 0, "EUR"), -2);
    must(add(references, 0, "EUR", 1) == WEIR_OK);
    ck_assert_int_eq(find(references, 0, "EUR"), -2);
    must(add(references, 0, "", 3) == WEIR_OK);
    must(add(references, 0, "  ", 3) == WEIR_OK);
    ck_assert_int_eq(find(references, 0, ""), -1);
    ck_assert_int_eq(find(references, 0, " "), -1);
    weir_references_free(references);
    weir_references_free(NULL);
}
END_TEST

START_TEST(ids_are_equal_in_any_form)
{
    struct weir_references *references = weir_references_new();
    must(add(references, 0, "0123abcd-4567-89ab-cdef-0123456789ab", 5) == WEIR_OK);
    ck_assert_int_eq(find(references, 0, "{0123ABCD-4567-89AB-CDEF-0123456789AB}"), 5);
    ck_assert_int_eq(find(references, 0, " 0123abcd456789abcdef0123456789ab"), 5);
    weir_references_free(references);
}
END_TEST

/* Few letters, so that values meet; equal is what row_key.h calls so. */
static size_t make_value(struct weir_rng *rng, char value[16])
{
    static const char *const letters[] = { "a", "A", "b", " ", "\u00e4" };
    size_t len = 0;
    for (uint64_t n = weir_rng_below(rng, 6); n > 0; n--)
        len += (size_t)snprintf(value + len, 16 - len, "%s", letters[weir_rng_below(rng, 5)]);
    value[len] = 0;
    return len;
}

static uint64_t model_hash(const char *value)
{
    struct weir_row_key key;
    weir_row_key_init(&key);
    weir_row_key_add(&key, WEIR_COLUMN_STRING, weir_str_from(value));
    return weir_row_key_hash(&key);
}

static struct {
    uint32_t list;
    uint64_t hash;
    int number;
} model[ROWS];
static size_t model_count;

static void model_add(uint32_t list, const char *value, int number)
{
    uint64_t hash = model_hash(value);
    for (size_t i = 0; i < model_count; i++) {
        if (model[i].list == list && model[i].hash == hash) {
            model[i].number = model[i].number == number ? number : -2;
            return;
        }
    }
    model[model_count].list = list;
    model[model_count].hash = hash;
    model[model_count++].number = number;
}

static int model_find(uint32_t list, const char *value)
{
    uint64_t hash = model_hash(value);
    for (size_t i = 0; i < model_count && hash != model_hash(""); i++) {
        if (model[i].list == list && model[i].hash == hash)
            return model[i].number;
    }
    return -1;
}

START_TEST(it_finds_what_a_list_that_is_looked_through_finds)
{
    struct weir_references *references = weir_references_new();
    struct weir_rng rng;
    weir_rng_init(&rng, 5, 0);
    for (int i = 0; i < ROWS; i++) {
        char value[16];
        uint32_t list = (uint32_t)weir_rng_below(&rng, LISTS);
        int number = (int)weir_rng_below(&rng, 3);
        make_value(&rng, value);
        must(add(references, list, value, (uint32_t)number) == WEIR_OK);
        model_add(list, value, number);
        make_value(&rng, value);
        list = (uint32_t)weir_rng_below(&rng, LISTS);
        must(find(references, list, value) == model_find(list, value));
    }
    must(model_count > 100);
    weir_references_free(references);
}
END_TEST

START_TEST(no_more_rows_are_taken_than_the_bound_allows)
{
    struct weir_references *references = weir_references_new();
    struct weir_error err = { 0 };
    struct weir_guid id = id_of(1);
    char value[16];
    for (uint32_t i = 0; i < WEIR_REFERENCES_MAX; i++) {
        snprintf(value, sizeof(value), "%u", i);
        must(add(references, 0, value, i) == WEIR_OK);
    }
    ck_assert_int_eq(find(references, 0, "999999"), 999999);
    ck_assert_int_eq(weir_references_add(references, 0, weir_str_from("x"), &id, &err),
                     WEIR_E_TOO_BIG);
    ck_assert_str_eq(err.message, "the tables that lookups refer to by a column have more than "
                                  "1000000 rows, or 134217728 bytes; refer to them by an alternate "
                                  "key, or by ids");
    weir_references_free(references);
}
END_TEST

START_TEST(no_more_bytes_are_taken_than_the_bound_allows)
{
    struct weir_references *references = weir_references_new();
    struct weir_guid id = id_of(1);
    size_t bytes = WEIR_REFERENCES_BYTES_MAX / 8;
    char *value = weir_calloc(bytes, 1);
    memset(value, 'x', bytes);
    int taken = 0;
    for (int i = 0; i < 10; i++) {
        value[0] = (char)('a' + i);
        enum weir_status status =
            weir_references_add(references, 0, weir_str(value, bytes), &id, NULL);
        must(status == WEIR_OK || status == WEIR_E_TOO_BIG);
        taken += status == WEIR_OK;
    }
    must(taken >= 7 && taken <= 8);
    free(value);
    weir_references_free(references);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("references");
    suite_add(&s, values_are_compared_as_the_database_does);
    suite_add(&s, a_value_of_two_rows_is_ambiguous_and_one_row_twice_is_not);
    suite_add(&s, ids_are_equal_in_any_form);
    suite_add(&s, it_finds_what_a_list_that_is_looked_through_finds);
    suite_add(&s, no_more_rows_are_taken_than_the_bound_allows);
    suite_add(&s, no_more_bytes_are_taken_than_the_bound_allows);
    return suite_run(&s);
}
