/* SPDX-License-Identifier: MIT */
/* GUIDs, dates, decimals, and how the database compares values. */
#include <math.h>

#include "base/mem.h"
#include "sim/service/guid.h"
#include "sim/service/literal.h"
#include "sim/service/value.h"
#include "support/suite.h"

static struct weir_str s(const char *text)
{
    return weir_str_from(text);
}

START_TEST(a_guid_is_read_in_all_its_forms)
{
    static const char canonical[] = "0f8fad5b-d9cb-469f-a165-70867728950e";
    static const char *const forms[] = {
        "0f8fad5b-d9cb-469f-a165-70867728950e",   "0F8FAD5B-D9CB-469F-A165-70867728950E",
        "{0f8fad5b-d9cb-469f-a165-70867728950e}", "(0f8fad5b-d9cb-469f-a165-70867728950e)",
        "0f8fad5bd9cb469fa16570867728950e",
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct sim_guid guid;
        char text[SIM_GUID_TEXT];
        ck_assert(sim_guid_parse(s(forms[i]), &guid));
        ck_assert_str_eq(sim_guid_print(guid, text), canonical);
    }
}
END_TEST

START_TEST(anything_else_is_no_guid)
{
    static const char *const bad[] = {
        "",
        "0f8fad5b",
        "0f8fad5b-d9cb-469f-a165-70867728950",
        "0f8fad5b-d9cb-469f-a165-70867728950g",
        "0f8fad5b-d9cb-469f-a165-70867728950e ",
        "{0f8fad5b-d9cb-469f-a165-70867728950e)",
        "0f8fad5bd-9cb-469f-a165-70867728950e",
        "0f8fad5bd9cb469fa16570867728950",
        "0f8fad5b-d9cb-469f-a16570867728950e",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sim_guid guid;
        ck_assert_msg(!sim_guid_parse(s(bad[i]), &guid), "%s", bad[i]);
    }
}
END_TEST

START_TEST(made_guids_are_distinct_and_of_version_4)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 2);
    struct sim_guid last = sim_guid_make(&rng);
    for (int i = 0; i < 1000; i++) {
        struct sim_guid guid = sim_guid_make(&rng);
        must(!sim_guid_equal(guid, last) && guid.bytes[6] >> 4 == 4 && guid.bytes[8] >> 6 == 2);
        last = guid;
    }
    ck_assert(sim_guid_equal(sim_guid_of("a", 1), sim_guid_of("a", 1)));
    ck_assert(!sim_guid_equal(sim_guid_of("a", 1), sim_guid_of("a", 2)));
    ck_assert(!sim_guid_equal(sim_guid_of("a", 1), sim_guid_of("b", 1)));
}
END_TEST

/* Whichever of its bytes they count in, slots are chosen by the bottom of the hash: two in three of
 * them are met where chance does it. */
START_TEST(the_hashes_of_ids_that_count_up_are_spread)
{
    enum {
        SLOTS = 65536
    };
    for (int byte = 0; byte + 1 < 16; byte++) {
        static bool met[SLOTS];
        struct sim_guid guid = { { 0x5a, 0x3c } };
        int distinct = 0;
        memset(met, 0, sizeof(met));
        for (uint32_t i = 0; i < SLOTS; i++) {
            guid.bytes[byte] = (uint8_t)(i >> 8);
            guid.bytes[byte + 1] = (uint8_t)i;
            bool *slot = &met[sim_guid_hash(guid) & (SLOTS - 1)];
            distinct += !*slot;
            *slot = true;
        }
        ck_assert_msg(distinct > SLOTS / 2, "bytes %d: %d", byte, distinct);
    }
}
END_TEST

START_TEST(dates_are_read_by_their_behavior)
{
    static const struct {
        const char *text;
        enum sim_date_behavior behavior;
        bool good;
        const char *printed;
    } cases[] = {
        { "2024-02-29", SIM_DATE_ONLY, true, "2024-02-29" },
        { "2023-02-29", SIM_DATE_ONLY, false, NULL },
        { "1900-02-29", SIM_DATE_ONLY, false, NULL },
        { "2000-02-29", SIM_DATE_ONLY, true, "2000-02-29" },
        { "1753-01-01", SIM_DATE_ONLY, true, "1753-01-01" },
        { "0001-01-01", SIM_DATE_ONLY, true, "0001-01-01" },
        { "9999-12-31", SIM_DATE_ONLY, true, "9999-12-31" },
        { "2024-13-01", SIM_DATE_ONLY, false, NULL },
        { "2024-1-1", SIM_DATE_ONLY, false, NULL },
        { "2024-01-01T00:00:00Z", SIM_DATE_ONLY, false, NULL },
        { "2024-01-01", SIM_DATE_USER_LOCAL, false, NULL },
        { "2024-01-01T10:20:30Z", SIM_DATE_USER_LOCAL, true, "2024-01-01T10:20:30Z" },
        { "2024-01-01T10:20:30.999Z", SIM_DATE_USER_LOCAL, true, "2024-01-01T10:20:30Z" },
        { "2024-01-01T10:20Z", SIM_DATE_USER_LOCAL, true, "2024-01-01T10:20:00Z" },
        { "2024-01-01T00:30:00+02:00", SIM_DATE_USER_LOCAL, true, "2023-12-31T22:30:00Z" },
        { "2024-12-31T23:30:00-02:00", SIM_DATE_ZONE_INDEPENDENT, true, "2025-01-01T01:30:00Z" },
        { "1969-12-31T23:59:59Z", SIM_DATE_USER_LOCAL, true, "1969-12-31T23:59:59Z" },
        { "2024-01-01T10:20:30", SIM_DATE_USER_LOCAL, false, NULL },
        { "2024-01-01T24:00:00Z", SIM_DATE_USER_LOCAL, false, NULL },
        { "2024-01-01T10:20:30.Z", SIM_DATE_USER_LOCAL, false, NULL },
        { "2024-01-01T10:20:30Zx", SIM_DATE_USER_LOCAL, false, NULL },
        { "2024-01-01 10:20:30Z", SIM_DATE_USER_LOCAL, false, NULL },
        { "", SIM_DATE_ONLY, false, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t us;
        ck_assert_msg(sim_date_parse(s(cases[i].text), cases[i].behavior, &us) == cases[i].good,
                      "%s", cases[i].text);
        if (!cases[i].good)
            continue;
        struct weir_buf text;
        weir_buf_init(&text, 100);
        sim_date_print(us, cases[i].behavior, &text);
        ck_assert_str_eq(weir_buf_text(&text), cases[i].printed);
        weir_buf_release(&text);
    }
    int64_t first;
    ck_assert(sim_date_parse(s("1753-01-01"), SIM_DATE_ONLY, &first));
    ck_assert_int_eq(first, SIM_DATE_MIN_US);
}
END_TEST

START_TEST(every_day_of_five_centuries_is_itself)
{
    int64_t us = SIM_DATE_MIN_US;
    for (int day = 0; day < 182500; day++, us += INT64_C(86400000000)) {
        struct weir_buf text;
        int64_t again;
        weir_buf_init(&text, 32);
        sim_date_print(us, SIM_DATE_ONLY, &text);
        must(sim_date_parse(weir_str(text.ptr, text.len), SIM_DATE_ONLY, &again) && again == us);
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(decimals_are_exact_and_rounded_half_away_from_zero)
{
    static const struct {
        const char *number;
        unsigned precision;
        bool good;
        const char *printed;
    } cases[] = {
        { "0", 0, true, "0" },
        { "-0.0", 2, true, "0.00" },
        { "12.5", 2, true, "12.50" },
        { "0.125", 2, true, "0.13" },
        { "-0.125", 2, true, "-0.13" },
        { "0.1249999", 2, true, "0.12" },
        { "0.005", 2, true, "0.01" },
        { "1e3", 2, true, "1000.00" },
        { "1.5E-1", 4, true, "0.1500" },
        { "922337203685477.5808", 4, true, "922337203685477.5808" },
        { "-9999999999999999999999999999.9999999999", 10, true,
          "-9999999999999999999999999999.9999999999" }, /* 38 digits */
        { "1.50000000000000000000000000000000000000000000000000", 2, true, "1.50" },
        { "170141183460469231731687303715884105727", 0, true,
          "170141183460469231731687303715884105727" },
        { "170141183460469231731687303715884105728", 0, false, NULL },
        { "1e999999999999999999999", 2, false, NULL },
        { "0e999999999999999999999", 2, true, "0.00" },
        { "1e-999999999999999999999", 2, true, "0.00" },
        { "123456789012345678901234567890123456789012345678901234567890", 0, false, NULL },
        { "0.00000000000000000000000000000000000000000000000000000000001", 4, true, "0.0000" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sim_wide scaled;
        ck_assert_msg(sim_decimal_parse(s(cases[i].number), cases[i].precision, &scaled, NULL) ==
                          cases[i].good,
                      "%s", cases[i].number);
        if (!cases[i].good)
            continue;
        struct weir_buf text;
        weir_buf_init(&text, 100);
        sim_decimal_print(scaled, cases[i].precision, &text);
        ck_assert_str_eq(weir_buf_text(&text), cases[i].printed);
        weir_buf_release(&text);
    }
}
END_TEST

/* Random digits, a point at a random place: nothing changes on the way in and out. */
START_TEST(a_decimal_of_38_digits_comes_back_as_it_was_written)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 38, 1);
    for (int i = 0; i < 20000; i++) {
        char number[64];
        size_t len = 0;
        unsigned precision = (unsigned)weir_rng_below(&rng, 11);
        unsigned whole = 1 + (unsigned)weir_rng_below(&rng, 38 - precision);
        if (weir_rng_below(&rng, 2))
            number[len++] = '-';
        number[len++] = (char)('1' + (int)weir_rng_below(&rng, 9));
        for (unsigned k = 1; k < whole + precision; k++) {
            if (k == whole)
                number[len++] = '.';
            number[len++] = (char)('0' + (int)weir_rng_below(&rng, 10));
        }
        sim_wide scaled;
        bool exact;
        struct weir_buf text;
        weir_buf_init(&text, 100);
        must(sim_decimal_parse(weir_str(number, len), precision, &scaled, &exact) && exact);
        sim_decimal_print(scaled, precision, &text);
        must(weir_str_equal(weir_str(text.ptr, text.len), weir_str(number, len)));
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(what_a_precision_cannot_hold_is_known)
{
    static const struct {
        const char *number;
        unsigned precision;
        bool exact;
    } cases[] = {
        { "1.50", 1, true },
        { "1.55", 1, false },
        { "15e-1", 1, true },
        { "15e-2", 1, false },
        { "0.00", 0, true },
        { "1e-30", 10, false },
        { "0.1000000000000000000000000000000000000000000001", 10, false },
        { "0.1000000000000000000000000000000000000000000000", 10, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sim_wide scaled;
        bool exact = !cases[i].exact;
        ck_assert(sim_decimal_parse(s(cases[i].number), cases[i].precision, &scaled, &exact));
        ck_assert_msg(exact == cases[i].exact, "%s", cases[i].number);
    }
}
END_TEST

START_TEST(a_real_is_printed_so_that_it_is_itself_again)
{
    static const char *const cases[][2] = {
        { "-0.0", "-0.0" },         { "-0", "-0.0" }, { "0", "0.0" },
        { "0.1", "0.1" },           { "5", "5.0" },   { "1e300", "1e+300" },
        { "52.51704", "52.51704" },
    };
    struct weir_rng rng;
    struct weir_buf text;
    weir_buf_init(&text, 100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double real;
        weir_buf_reset(&text);
        ck_assert(sim_real_parse(s(cases[i][0]), &real));
        sim_real_print(real, &text);
        ck_assert_str_eq(weir_buf_text(&text), cases[i][1]);
    }
    weir_rng_init(&rng, 17, 1);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = weir_rng_u64(&rng);
        double real;
        double again;
        memcpy(&real, &bits, sizeof(real));
        if (!isfinite(real))
            continue;
        weir_buf_reset(&text);
        sim_real_print(real, &text);
        must(sim_real_parse(weir_str(text.ptr, text.len), &again));
        must(memcmp(&real, &again, sizeof(real)) == 0);
    }
    weir_buf_release(&text);
}
END_TEST

static struct sim_value text_value(const char *text)
{
    return (struct sim_value){ .kind = SIM_TEXT, .text = s(text) };
}

START_TEST(texts_compare_without_case_and_trailing_blanks)
{
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } cases[] = {
        { "abc", "ABC", true },
        { "abc  ", "Abc", true },
        { " abc", "abc", false },
        { "", "   ", true },
        { "a", "b", false },
        { "\xc3\x84rger", "\xc3\xa4RGER", true },         /* Ä ä */
        { "\xc3\x97", "\xc3\xb7", false },                /* × ÷ */
        { "\xce\xa9", "\xcf\x89", true },                 /* Ω ω */
        { "\xd0\x96\xd0\x81", "\xd0\xb6\xd1\x91", true }, /* ЖЁ жё */
        { "\xc5\x81", "\xc5\x82", true },                 /* Ł ł */
        { "\xc5\xbd", "\xc5\xbe", true },                 /* Ž ž */
        { "\xc4\x8c", "\xc4\x8d", true },                 /* Č č */
        { "\xc4\x8d", "\xc4\x8e", false },                /* č Ď */
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81", false },
        { "\xe2\x82\xac", "\xe2\x82\xac ", true },
        { "abc", "abcd", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_value a = text_value(cases[i].a);
        struct sim_value b = text_value(cases[i].b);
        ck_assert_msg(sim_value_equal(&a, &b) == cases[i].equal, "%s %s", cases[i].a, cases[i].b);
        ck_assert_int_eq(sim_value_compare(&a, &b), -sim_value_compare(&b, &a));
        ck_assert(!cases[i].equal || sim_value_hash(&a) == sim_value_hash(&b));
        ck_assert(!sim_value_same(&a, &b) || strcmp(cases[i].a, cases[i].b) == 0);
    }
}
END_TEST

START_TEST(lengths_are_counted_in_utf16_units)
{
    ck_assert_uint_eq(sim_text_units(s("")), 0);
    ck_assert_uint_eq(sim_text_units(s("abc")), 3);
    ck_assert_uint_eq(sim_text_units(s("\xc3\xa4\xe2\x82\xac")), 2);
    ck_assert_uint_eq(sim_text_units(s("\xf0\x9f\x98\x80!")), 3);
}
END_TEST

START_TEST(literals_have_the_type_of_their_column)
{
    static const struct {
        struct sim_column column;
        const char *text;
        bool good;
    } cases[] = {
        { { .type = SIM_TYPE_STRING }, "anything", true },
        { { .type = SIM_TYPE_INTEGER }, "12", true },
        { { .type = SIM_TYPE_INTEGER }, "1.5", false },
        { { .type = SIM_TYPE_DECIMAL, .precision = 2 }, "-1.5", true },
        { { .type = SIM_TYPE_DECIMAL, .precision = 2 }, "1.5.5", false },
        { { .type = SIM_TYPE_DECIMAL, .precision = 2 }, "-", false },
        { { .type = SIM_TYPE_DECIMAL, .precision = 2 }, "x", false },
        { { .type = SIM_TYPE_DOUBLE }, "1.25", true },
        { { .type = SIM_TYPE_DOUBLE }, "1e999", false },
        { { .type = SIM_TYPE_DOUBLE }, "", false },
        { { .type = SIM_TYPE_BOOLEAN }, "true", true },
        { { .type = SIM_TYPE_BOOLEAN }, "1", false },
        { { .type = SIM_TYPE_LOOKUP }, "0f8fad5b-d9cb-469f-a165-70867728950e", true },
        { { .type = SIM_TYPE_UNIQUEIDENTIFIER }, "x", false },
        { { .type = SIM_TYPE_DATETIME, .behavior = SIM_DATE_ONLY }, "2024-01-01", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_value value;
        ck_assert_msg(sim_literal_parse(&cases[i].column, s(cases[i].text), &value) ==
                          cases[i].good,
                      "%zu %s", i, cases[i].text);
    }
}
END_TEST

int main(void)
{
    struct suite suite = suite_new("sim_value");
    suite_add(&suite, a_guid_is_read_in_all_its_forms);
    suite_add(&suite, anything_else_is_no_guid);
    suite_add(&suite, made_guids_are_distinct_and_of_version_4);
    suite_add(&suite, the_hashes_of_ids_that_count_up_are_spread);
    suite_add(&suite, dates_are_read_by_their_behavior);
    suite_add(&suite, every_day_of_five_centuries_is_itself);
    suite_add(&suite, decimals_are_exact_and_rounded_half_away_from_zero);
    suite_add(&suite, a_decimal_of_38_digits_comes_back_as_it_was_written);
    suite_add(&suite, what_a_precision_cannot_hold_is_known);
    suite_add(&suite, a_real_is_printed_so_that_it_is_itself_again);
    suite_add(&suite, texts_compare_without_case_and_trailing_blanks);
    suite_add(&suite, lengths_are_counted_in_utf16_units);
    suite_add(&suite, literals_have_the_type_of_their_column);
    return suite_run(&suite);
}
