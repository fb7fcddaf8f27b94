/* SPDX-License-Identifier: MIT */
/* Why rows would be rejected, counted. Linked with reasons.c of apps/weir. */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "reasons.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of the row with this number. */
static struct weir_check_refusal refusal(uint64_t row, const char *column, const char *message)
{
    return (struct weir_check_refusal){ .row = row,
                                        .column = (char *)column,
                                        .message = (char *)message };
}

START_TEST(values_and_numbers_make_no_reason_of_their_own)
{
    const struct weir_check_refusal refusals[] = {
        refusal(3, "name", "\"a\" has 161 characters, 160 fit"),
        refusal(4, "name", "\"6\"x4\"\" has 2000 characters, 160 fit"),
        refusal(5, "city", "\"a\" has 161 characters, 160 fit"),
        refusal(6, "name", "\"\" is empty"),
        refusal(7, "", "the key is empty"),
        refusal(9, "name", "\"c\" has 161 characters, 160 fit"),
        refusal(11, "", "the key is empty"),
    };
    struct reasons reasons;
    reasons_init(&reasons, refusals, COUNT(refusals));
    ck_assert_uint_eq(reasons.count, 4);
    ck_assert_uint_eq(reasons.list[0].rows, 3);
    ck_assert_uint_eq(reasons.list[0].first->row, 3);
    ck_assert_uint_eq(reasons.list[1].rows, 2);
    ck_assert_uint_eq(reasons.list[1].first->row, 7);
    ck_assert_uint_eq(reasons.list[2].first->row, 5);
    ck_assert_uint_eq(reasons.list[3].first->row, 6);
    ck_assert_uint_eq(reasons.others, 0);
    reasons_release(&reasons);
}
END_TEST

START_TEST(a_quote_that_is_not_closed_ends_nothing_early)
{
    const struct weir_check_refusal refusals[] = {
        refusal(1, "name", "\""),
        refusal(2, "name", "\"abc"),
        refusal(3, "name", "text behind a \" quote"),
        refusal(4, "name", "text behind a \" comma"),
    };
    struct reasons reasons;
    reasons_init(&reasons, refusals, COUNT(refusals));
    ck_assert_uint_eq(reasons.count, 4);
    reasons_release(&reasons);
}
END_TEST

START_TEST(however_many_there_are_all_rows_are_counted_and_the_most_frequent_stand_first)
{
    enum {
        ROWS = 5000
    };
    static struct weir_check_refusal refusals[ROWS];
    static char messages[ROWS][24];
    struct weir_rng rng;
    struct reasons reasons;
    weir_rng_init(&rng, 5, 0);
    for (size_t kinds = 1; kinds <= 2 * REASONS_MAX; kinds *= 2) {
        for (size_t i = 0; i < ROWS; i++) {
            size_t kind = weir_rng_below(&rng, kinds);
            snprintf(messages[i], sizeof(messages[i]), "\"%zu\" is %c%c", i,
                     (char)('a' + kind / 26), (char)('a' + kind % 26));
            refusals[i] = refusal(i + 1, "name", messages[i]);
        }
        reasons_init(&reasons, refusals, ROWS);
        uint64_t rows = reasons.others;
        for (size_t i = 0; i < reasons.count; i++) {
            rows += reasons.list[i].rows;
            ck_assert(i == 0 || reasons.list[i - 1].rows >= reasons.list[i].rows);
        }
        ck_assert_uint_eq(rows, ROWS);
        ck_assert_uint_eq(reasons.count, kinds < REASONS_MAX ? kinds : REASONS_MAX);
        ck_assert_int_eq(reasons.others > 0, kinds > REASONS_MAX);
        reasons_release(&reasons);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_reasons");
    suite_add(&s, values_and_numbers_make_no_reason_of_their_own);
    suite_add(&s, a_quote_that_is_not_closed_ends_nothing_early);
    suite_add(&s, however_many_there_are_all_rows_are_counted_and_the_most_frequent_stand_first);
    return suite_run(&s);
}
