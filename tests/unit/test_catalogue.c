/* SPDX-License-Identifier: MIT */
/*
 * The catalogue of codes against a list of what they mean, written down once more and apart from
 * it: each code in each form, with each HTTP status.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "support/suite.h"
#include "throttle/catalogue.h"
#include "throttle/signal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOT_IN_IT    UINT32_C(0x8004FFFF)
#define SQL          "Sql error: Generic SQL error. CRM ErrorCode: -2147204784 Sql ErrorCode: -2146232060 "

static const int statuses[] = { 200, 204, 400, 401, 403, 404, 408, 409,
                                412, 413, 429, 500, 501, 502, 503, 504 };

struct expected {
    uint32_t code;
    const char *message;
    enum weir_fault_kind kind;
    enum weir_class class_;
    enum weir_outcome outcome;
};

#define NOT     WEIR_OUTCOME_NOT_EXECUTED
#define UNKNOWN WEIR_OUTCOME_UNKNOWN

static const struct expected expectations[] = {
    { 0x80072321, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE, NOT },
    { 0x80072322, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE, NOT },
    { 0x80072326, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE, NOT },

    { 0x80072323, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80072324, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80072327, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80072329, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80072330, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x8005f103, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x8004a001, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80048559, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80060308, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, UNKNOWN },

    { 0x80048544, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, NOT },
    { 0x80050544, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, NOT },
    { 0x80048644, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, NOT },
    { 0x80048744, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, NOT },
    { 0x80048745, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, NOT },

    { 0x80044150, SQL "Sql Number: 1205", WEIR_FAULT_DEADLOCK, WEIR_CLASS_RACE, NOT },
    { 0x80044150, SQL "Sql Number: 3732 Cannot drop type", WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE,
      NOT },
    { 0x80044150, SQL "Sql Number: 2766", WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, NOT },
    { 0x80044150, SQL "Sql Number: 2812", WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, NOT },
    { 0x80044150, SQL "Sql Number: -2", WEIR_FAULT_SQL_TIMEOUT, WEIR_CLASS_TOO_BIG, UNKNOWN },
    { 0x80044150, SQL "Sql Number: 2627", WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044150, SQL "Sql Number: 12050", WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044150, SQL "Sql Number: 2", WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044150, "1205", WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044150, NULL, WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044151, NULL, WEIR_FAULT_SQL_TIMEOUT, WEIR_CLASS_TOO_BIG, UNKNOWN },
    { 0x80044151, SQL "Sql Number: 1205", WEIR_FAULT_SQL_TIMEOUT, WEIR_CLASS_TOO_BIG, UNKNOWN },
    { 0x80040255, NULL, WEIR_FAULT_DEADLOCK, WEIR_CLASS_RACE, UNKNOWN },
    { 0x8004419d, NULL, WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, NOT },

    { 0x80048554, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80048560, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80048561, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80072031, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80097622, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80098019, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x8004ed47, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },
    { 0x80044339, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, UNKNOWN },

    { 0x80048105, NULL, WEIR_FAULT_CASCADE, WEIR_CLASS_RACE, NOT },
    { 0x80060882, NULL, WEIR_FAULT_MISMATCH, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040237, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80060892, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040333, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040217, NULL, WEIR_FAULT_NOT_FOUND, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80060891, NULL, WEIR_FAULT_NOT_FOUND, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044331, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80044330, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80090429, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80048408, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80048d19, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040203, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040265, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80040265, SQL "Sql Number: 1205", WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80048d0b, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80048d02, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, NOT },

    { 0x80040220, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, NOT },
    { 0x80048306, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, NOT },
    { 0x80040299, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, NOT },
    { 0x80040231, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, NOT },
    { 0x80040225, NULL, WEIR_FAULT_USER, WEIR_CLASS_BAD_CREDENTIALS, NOT },
    { 0x80072560, NULL, WEIR_FAULT_USER, WEIR_CLASS_BAD_CREDENTIALS, NOT },
    { 0x8004a100, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, NOT },
    { 0x8004a101, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, NOT },
    { 0x8004a102, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, NOT },
    { 0x8004a103, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, NOT },

    { 0x80060888, NULL, WEIR_FAULT_TOO_BIG, WEIR_CLASS_TOO_BIG, NOT },
    { 0x80060888, "The request URI is too long.", WEIR_FAULT_TOO_BIG, WEIR_CLASS_TOO_BIG, NOT },
    { 0x80060888, "Resource not found for the segment 'x'.", WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER,
      NOT },
    { 0x80060888, "Could not find a property named 'x' on type 'y'.", WEIR_FAULT_VALIDATION,
      WEIR_CLASS_BAD_ROWS, NOT },
    { 0x80060888, "Bad Request - Error in query syntax.", WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER,
      NOT },
    { 0x80048d2d, NULL, WEIR_FAULT_BULK_DISABLED, WEIR_CLASS_OTHER, NOT },
    { 0x80040216, "DeleteMultiple has not yet been implemented.", WEIR_FAULT_UNSUPPORTED,
      WEIR_CLASS_OTHER, NOT },
    { 0x80040216, "Not yet implemented", WEIR_FAULT_UNSUPPORTED, WEIR_CLASS_OTHER, NOT },
    { 0x80097628, NULL, WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER, NOT },
    { 0x80097303, NULL, WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER, NOT },
};

static struct weir_verdict read_answer(int status, const char *code, const char *message)
{
    struct weir_http_answer http = {
        .status = status, .sent = true, .error_code = code, .error_message = message
    };
    struct weir_answer answer;
    weir_answer_read(&http, 0, &answer);
    return answer.verdict;
}

/* The forms in which a code is written; returns NULL after the last. */
static const char *form(uint32_t code, int which, char *text, size_t bytes)
{
    switch (which) {
    case 0:
        snprintf(text, bytes, "0x%08" PRIx32, code);
        return text;
    case 1:
        snprintf(text, bytes, "0X%08" PRIX32, code);
        return text;
    case 2:
        snprintf(text, bytes, "0x%08" PRIX32, code);
        return text;
    case 3:
        snprintf(text, bytes, "%" PRIu32, code);
        return text;
    case 4:
        snprintf(text, bytes, "%" PRId32, (int32_t)code);
        return text;
    default:
        return NULL;
    }
}

START_TEST(a_code_decides_in_every_form_and_with_every_status)
{
    for (size_t i = 0; i < COUNT(expectations); i++) {
        const struct expected *want = &expectations[i];
        char text[16];
        for (int which = 0; form(want->code, which, text, sizeof(text)); which++) {
            for (size_t k = 0; k < COUNT(statuses); k++) {
                struct weir_verdict got = read_answer(statuses[k], text, want->message);
                if (got.class_ != want->class_ || got.outcome != want->outcome)
                    ck_abort_msg("%s \"%s\" with %d: %s, %s", text, want->message, statuses[k],
                                 weir_class_name(got.class_), weir_outcome_name(got.outcome));
                must(got.code == want->code);
                must((got.throttle != WEIR_THROTTLE_NONE) == (want->class_ == WEIR_CLASS_THROTTLE));
            }
        }
    }
}
END_TEST

START_TEST(a_code_has_its_kind)
{
    for (size_t i = 0; i < COUNT(expectations); i++) {
        const struct expected *want = &expectations[i];
        const struct weir_catalogue_entry *entry =
            weir_catalogue_find(want->code, weir_str_from(want->message));
        ck_assert_ptr_nonnull(entry);
        ck_assert_msg(entry->kind == want->kind, "0x%08x is %s", want->code,
                      weir_fault_kind_name(entry->kind));
        ck_assert(!entry->by_status);
        ck_assert_int_eq(weir_catalogue_kind(want->code, want->message), want->kind);
    }
    ck_assert_int_eq(weir_catalogue_kind(NOT_IN_IT, NULL), WEIR_FAULT_NONE);
}
END_TEST

/* What stands in the table and is not expected here is not tested. */
START_TEST(every_row_of_the_table_is_expected_and_reached)
{
    for (size_t i = 0; i < weir_catalogue_count(); i++) {
        const struct weir_catalogue_entry *entry = weir_catalogue_at(i);
        bool reached = entry->by_status;
        for (size_t k = 0; k < COUNT(expectations); k++)
            reached |= weir_catalogue_find(expectations[k].code,
                                           weir_str_from(expectations[k].message)) == entry;
        ck_assert_msg(reached, "row %zu: 0x%08x %s", i, entry->code, entry->name);
    }
    ck_assert_ptr_null(weir_catalogue_at(weir_catalogue_count()));
}
END_TEST

START_TEST(an_incomplete_answer_is_not_judged_by_its_code)
{
    for (size_t i = 0; i < COUNT(expectations); i++) {
        char text[16];
        struct weir_verdict got = read_answer(0, form(expectations[i].code, 0, text, sizeof(text)),
                                              expectations[i].message);
        ck_assert_int_eq(got.class_, WEIR_CLASS_TRANSIENT);
        ck_assert_int_eq(got.outcome, WEIR_OUTCOME_UNKNOWN);
    }
}
END_TEST

static void must_be_alike(struct weir_verdict a, struct weir_verdict b, int status)
{
    ck_assert_msg(a.class_ == b.class_ && a.outcome == b.outcome, "%d: %s and %s", status,
                  weir_class_name(a.class_), weir_class_name(b.class_));
}

START_TEST(codes_that_decide_nothing_fall_back_to_the_status)
{
    static const char *const codes[] = { "0x8004ffff", "0x0", "0x80040216", "0x8006088a",
                                         "0x00040217" };
    for (size_t i = 0; i < COUNT(codes); i++) {
        for (int status = 300; status < 600; status++)
            must_be_alike(read_answer(status, codes[i], "An unexpected error occurred."),
                          read_answer(status, "", ""), status);
    }
    ck_assert_int_eq(read_answer(200, "0x8004ffff", NULL).class_, WEIR_CLASS_OTHER);
    ck_assert_int_eq(read_answer(200, "0x80040216", NULL).class_, WEIR_CLASS_OTHER);
    ck_assert_int_eq(read_answer(200, "0x0", NULL).class_, WEIR_CLASS_OK);
    ck_assert_int_eq(read_answer(400, "0x0", NULL).class_, WEIR_CLASS_BAD_ROWS);
}
END_TEST

/* A random code that is not in the table must not be taken for one that is. */
START_TEST(no_other_code_is_known)
{
    size_t known = 0, codes = 0;
    for (size_t i = 0; i < weir_catalogue_count(); i++) {
        uint32_t code = weir_catalogue_at(i)->code;
        bool first = code >> 20 == 0x800;
        for (size_t k = 0; first && k < i; k++)
            first = weir_catalogue_at(k)->code != code;
        codes += first;
    }
    for (uint32_t low = 0; low <= 0xfffff; low++)
        known += weir_catalogue_find(0x80000000 | low, weir_str(NULL, 0)) != NULL;
    ck_assert_uint_eq(known, codes);
    ck_assert_ptr_null(weir_catalogue_find(NOT_IN_IT, weir_str_from(SQL "Sql Number: 1205")));
}
END_TEST

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

START_TEST(no_row_stands_twice_and_none_hides_another)
{
    for (size_t i = 0; i < weir_catalogue_count(); i++) {
        const struct weir_catalogue_entry *entry = weir_catalogue_at(i);
        ck_assert(!entry->sql_number || !entry->phrase);
        for (size_t k = 0; k < i; k++) {
            const struct weir_catalogue_entry *before = weir_catalogue_at(k);
            if (before->code != entry->code)
                continue;
            ck_assert_msg(before->sql_number || before->phrase, "0x%08x is hidden", entry->code);
            ck_assert_msg(before->sql_number != entry->sql_number ||
                              !same_text(before->phrase, entry->phrase),
                          "0x%08x twice", entry->code);
        }
    }
}
END_TEST

/* Lower case, no full stop, one sentence, no line ends. */
static bool is_in_the_manner(const char *text)
{
    size_t len = strlen(text);
    if (len < 6 || isupper((unsigned char)text[0]) || text[len - 1] == '.')
        return false;
    return !strstr(text, ". ") && !strpbrk(text, "\n!\"") && !strstr(text, "  ");
}

START_TEST(every_row_has_a_name_and_an_advice)
{
    for (size_t i = 0; i < weir_catalogue_count(); i++) {
        const struct weir_catalogue_entry *entry = weir_catalogue_at(i);
        ck_assert_msg(is_in_the_manner(entry->name) && strlen(entry->name) <= 32, "%s",
                      entry->name);
        ck_assert_msg(is_in_the_manner(entry->advice) && strlen(entry->advice) > 40 &&
                          strlen(entry->advice) < WEIR_MESSAGE_MAX,
                      "%s", entry->advice);
        ck_assert_int_lt(entry->class_, WEIR_CLASS_COUNT);
        ck_assert_int_ne(entry->class_, WEIR_CLASS_OK);
        ck_assert_int_ne(entry->outcome, WEIR_OUTCOME_EXECUTED);
    }
}
END_TEST

START_TEST(every_kind_has_a_name_of_its_own_and_a_code)
{
    for (int kind = 0; kind < WEIR_FAULT_KIND_COUNT; kind++) {
        bool used = kind == WEIR_FAULT_NONE;
        for (size_t i = 0; i < weir_catalogue_count(); i++)
            used |= (int)weir_catalogue_at(i)->kind == kind;
        ck_assert_msg(used, "%s", weir_fault_kind_name((enum weir_fault_kind)kind));
        for (int other = 0; other < kind; other++)
            ck_assert_str_ne(weir_fault_kind_name((enum weir_fault_kind)kind),
                             weir_fault_kind_name((enum weir_fault_kind)other));
    }
    ck_assert_str_eq(weir_fault_kind_name(WEIR_FAULT_KIND_COUNT), "unknown kind");
}
END_TEST

START_TEST(the_number_of_the_database_is_read_from_its_message)
{
    static const struct {
        const char *message;
        bool found;
        int32_t number;
    } rows[] = {
        { "Sql Number: 1205", true, 1205 },
        { "sql number:1205.", true, 1205 },
        { "SQL NUMBER:   -2\r\n", true, -2 },
        { "Sql Number: 2627 in 'Sql Number: 1205'", true, 1205 },
        { "'Sql Number: 1205' Sql Number: 2627", true, 2627 },
        { "Sql Number: 547, Sql Number: none", true, 547 },
        { "Sql Number: 0", true, 0 },
        { "Sql Number: 2147483647", true, INT32_MAX },
        { "Sql Number: -2147483648", true, INT32_MIN },
        { "Sql Number: -2147483649", false, 7 },
        { "Sql Number: 2147483648", false, 7 },
        { "Sql Number: 99999999999999999999999", false, 7 },
        { "Sql Number: -", false, 7 },
        { "Sql Number: --2", false, 7 },
        { "Sql Number: +5", false, 7 },
        { "Sql Number:", false, 7 },
        { "Sql Number 1205", false, 7 },
        { "Sql Numb", false, 7 },
        { "", false, 7 },
        { NULL, false, 7 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t number = 7;
        bool found = weir_catalogue_parse_sql_number(weir_str_from(rows[i].message), &number);
        ck_assert_msg(found == rows[i].found, "%s", rows[i].message);
        ck_assert_msg(number == rows[i].number, "%s: %d", rows[i].message, number);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("catalogue");
    suite_add(&s, a_code_decides_in_every_form_and_with_every_status);
    suite_add(&s, a_code_has_its_kind);
    suite_add(&s, every_row_of_the_table_is_expected_and_reached);
    suite_add(&s, an_incomplete_answer_is_not_judged_by_its_code);
    suite_add(&s, codes_that_decide_nothing_fall_back_to_the_status);
    suite_add(&s, no_other_code_is_known);
    suite_add(&s, no_row_stands_twice_and_none_hides_another);
    suite_add(&s, every_row_has_a_name_and_an_advice);
    suite_add(&s, every_kind_has_a_name_of_its_own_and_a_code);
    suite_add(&s, the_number_of_the_database_is_read_from_its_message);
    return suite_run(&s);
}
