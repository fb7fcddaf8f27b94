/* SPDX-License-Identifier: MIT */
/* Options of requests as header lines, and bodies in slices. */
#include <stdio.h>

#include "base/limits.h"
#include "protocol/request_options.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SOMEBODY     "0f8fad5b-d9cb-469f-a165-70867728950e"
#define STANDARD     "Accept: application/json|OData-Version: 4.0|OData-MaxVersion: 4.0|"
#define DETAILS      "Prefer: odata.include-annotations=\"Microsoft.PowerApps.CDS.ErrorDetails.*\"|"

static const struct weir_request_options nothing;
static const struct weir_request_options everything = {
    .bypass_logic = WEIR_BYPASS_ALL,
    .bypass_step_ids = SOMEBODY "," SOMEBODY,
    .bypass_flows = true,
    .detect_duplicates = true,
    .error_details = true,
    .continue_on_error = true,
    .tag = "a tag",
    .impersonate = "{0F8FAD5B-D9CB-469F-A165-70867728950E}",
    .session_token = "207:8#142792105#7=-1",
};

#define BYPASS                                                                                     \
    "MSCRM.BypassBusinessLogicExecution: CustomSync,CustomAsync|"                                  \
    "MSCRM.BypassBusinessLogicExecutionStepIds: " SOMEBODY "," SOMEBODY "|"                        \
    "MSCRM.SuppressCallbackRegistrationExpanderJob: true|"
#define CALLER     "CallerObjectId: " SOMEBODY "|"
#define DUPLICATES "MSCRM.SuppressDuplicateDetection: false|"
#define SESSION    "MSCRM.SessionToken: 207:8#142792105#7=-1|"
#define JSON       "Content-Type: application/json|"

/* Lines with a bar behind each. */
static void check_lines(struct weir_request_lines *lines, const char *wanted)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 65536);
    for (size_t i = 0; i < lines->count; i++)
        weir_buf_printf(&buf, "%s|", lines->lines[i]);
    ck_assert_str_eq(weir_buf_text(&buf), wanted);
    weir_buf_release(&buf);
    weir_request_lines_release(lines);
    weir_request_lines_release(lines);
}

static void check_part(const struct weir_request_options *options, enum weir_request_kind kind,
                       const char *wanted)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 65536);
    weir_request_add_part_headers(&buf, options, kind);
    const char *got = weir_buf_text(&buf);
    for (; *wanted; wanted++) {
        if (*wanted == '|') {
            ck_assert_int_eq(*got++, '\r');
            ck_assert_int_eq(*got++, '\n');
        } else {
            ck_assert_msg(*got == *wanted, "%s for %s", got, wanted);
            got++;
        }
    }
    ck_assert_str_eq(got, "");
    weir_buf_release(&buf);
}

START_TEST(every_request_has_the_standard_headers)
{
    static const char *const wanted[WEIR_REQUEST_KINDS] = {
        [WEIR_REQUEST_READ] = STANDARD "If-None-Match: null|",
        [WEIR_REQUEST_CREATE] = STANDARD "If-None-Match: null|" JSON,
        [WEIR_REQUEST_UPDATE] = STANDARD JSON "If-Match: *|",
        [WEIR_REQUEST_UPSERT] = STANDARD JSON,
        [WEIR_REQUEST_DELETE] = STANDARD "If-None-Match: null|",
    };
    static const char *const methods[] = { "GET", "POST", "PATCH", "PATCH", "DELETE" };
    for (int kind = 0; kind < WEIR_REQUEST_KINDS; kind++) {
        struct weir_request_lines lines;
        weir_request_lines_init(&lines, &nothing, (enum weir_request_kind)kind);
        check_lines(&lines, wanted[kind]);
        ck_assert_str_eq(weir_request_method((enum weir_request_kind)kind), methods[kind]);
    }
}
END_TEST

START_TEST(options_are_asked_for_where_they_have_a_meaning)
{
    static const char *const own[WEIR_REQUEST_KINDS] = {
        [WEIR_REQUEST_READ] = CALLER SESSION DETAILS,
        [WEIR_REQUEST_CREATE] = JSON CALLER BYPASS DUPLICATES DETAILS,
        [WEIR_REQUEST_UPDATE] = JSON "If-Match: *|" CALLER BYPASS DUPLICATES DETAILS,
        [WEIR_REQUEST_UPSERT] = JSON CALLER BYPASS DUPLICATES DETAILS,
        [WEIR_REQUEST_DELETE] = CALLER BYPASS DETAILS,
    };
    ck_assert_int_eq(weir_request_options_check(&everything, NULL), WEIR_OK);
    for (int i = 0; i < WEIR_REQUEST_KINDS; i++) {
        enum weir_request_kind kind = (enum weir_request_kind)i;
        bool patch = kind == WEIR_REQUEST_UPDATE || kind == WEIR_REQUEST_UPSERT;
        char wanted[2048];
        snprintf(wanted, sizeof(wanted), STANDARD "%s%s", patch ? "" : "If-None-Match: null|",
                 own[i]);
        struct weir_request_lines lines;
        weir_request_lines_init(&lines, &everything, kind);
        check_lines(&lines, wanted);
        /* the same in a part, but for what the outer request says */
        snprintf(wanted, sizeof(wanted), "%s%s",
                 kind == WEIR_REQUEST_READ ? "Accept: application/json|" : "", own[i]);
        check_part(&everything, kind, wanted);
    }
}
END_TEST

START_TEST(a_batch_keeps_to_itself_what_belongs_to_its_parts)
{
    struct weir_request_lines lines;
    weir_request_lines_init_batch(&lines, &everything, weir_str("batch_1xx", 7));
    check_lines(&lines, STANDARD "If-None-Match: null|"
                                 "Content-Type: multipart/mixed; boundary=batch_1|" CALLER
                                 "Prefer: odata.continue-on-error|");
    weir_request_lines_init_batch(&lines, &nothing, weir_str_from("b"));
    check_lines(&lines, STANDARD "If-None-Match: null|"
                                 "Content-Type: multipart/mixed; boundary=b|");
}
END_TEST

START_TEST(bypassing_says_what_is_bypassed)
{
    static const struct {
        enum weir_bypass bypass;
        const char *lines;
    } rows[] = {
        { WEIR_BYPASS_NONE, "" },
        { WEIR_BYPASS_SYNC, "MSCRM.BypassBusinessLogicExecution: CustomSync|" },
        { WEIR_BYPASS_ASYNC, "MSCRM.BypassBusinessLogicExecution: CustomAsync|" },
        { WEIR_BYPASS_ALL, "MSCRM.BypassBusinessLogicExecution: CustomSync,CustomAsync|" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_request_options options = { .bypass_logic = rows[i].bypass };
        check_part(&options, WEIR_REQUEST_DELETE, rows[i].lines);
    }
}
END_TEST

static void check_refused(struct weir_request_options options, enum weir_status status,
                          const char *says)
{
    struct weir_error err;
    ck_assert_int_eq(weir_request_options_check(&options, &err), status);
    ck_assert_msg(strstr(err.message, says), "%s", err.message);
}

START_TEST(what_cannot_stand_in_a_header_is_refused)
{
    static char big[WEIR_REQUEST_TEXT_MAX + 2];
    memset(big, 'a', sizeof(big) - 1);
    struct weir_request_options o = { .session_token = "a\r\nHost: b" };
    check_refused(o, WEIR_E_INVALID, "the session token has a character");
    ck_assert_int_eq(weir_request_options_check(&nothing, NULL), WEIR_OK);
    check_refused((struct weir_request_options){ .session_token = "Zo\xc3\xab" }, WEIR_E_INVALID,
                  "token");
    check_refused((struct weir_request_options){ .session_token = big }, WEIR_E_TOO_BIG, "4096");
    check_refused((struct weir_request_options){ .tag = big }, WEIR_E_TOO_BIG, "4096");
    check_refused((struct weir_request_options){ .bypass_step_ids = big }, WEIR_E_TOO_BIG, "4096");
    check_refused((struct weir_request_options){ .bypass_step_ids = SOMEBODY "," }, WEIR_E_INVALID,
                  "GUIDs");
    check_refused((struct weir_request_options){ .bypass_step_ids = "x" }, WEIR_E_INVALID, "GUIDs");
    check_refused((struct weir_request_options){ .impersonate = "me" }, WEIR_E_INVALID, "\"me\"");
    big[WEIR_REQUEST_TEXT_MAX] = '\0';
    o = (struct weir_request_options){ .session_token = big, .tag = big };
    ck_assert_int_eq(weir_request_options_check(&o, NULL), WEIR_OK);
    struct weir_request_lines lines;
    weir_request_lines_init(&lines, &o, WEIR_REQUEST_READ);
    ck_assert_uint_eq(lines.count, 5);
    ck_assert_uint_eq(strlen(lines.lines[4]),
                      WEIR_REQUEST_TEXT_MAX + strlen("MSCRM.SessionToken: "));
    weir_request_lines_release(&lines);
    /* a tag is encoded on its way */
    o = (struct weir_request_options){ .tag = "a\r\nb" };
    ck_assert_int_eq(weir_request_options_check(&o, NULL), WEIR_OK);
}
END_TEST

/* ---- gather ---- */

START_TEST(a_gathered_body_is_what_was_added_and_borrows_the_rest)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 4, (uint64_t)_i);
    static char rows[64][100];
    struct weir_buf wanted;
    struct weir_gather gather;
    weir_buf_init(&wanted, 10000000);
    weir_gather_init(&gather, 10000000);
    for (int run = 0; run < 3000; run++) {
        char *row = rows[weir_rng_below(&rng, COUNT(rows))];
        struct weir_str text = weir_str(row, (size_t)weir_rng_below(&rng, sizeof(rows[0])));
        if (weir_rng_below(&rng, 100) == 0) { /* longer than a block */
            static char big[40000];
            memset(big, 'b', sizeof(big));
            weir_gather_own(&gather, big, sizeof(big));
            weir_buf_add(&wanted, big, sizeof(big));
        } else if (weir_rng_below(&rng, 2)) {
            memset(row, 'o', sizeof(rows[0]));
            weir_gather_own(&gather, text.ptr, text.len);
            weir_buf_add(&wanted, text.ptr, text.len);
            memset(row, 'r', sizeof(rows[0])); /* its own copy was taken */
        } else {
            memset(row, 'r', sizeof(rows[0]));
            weir_gather_borrow(&gather, text);
            must(text.len == 0 || gathered_borrows(&gather, text));
            weir_buf_add(&wanted, text.ptr, text.len);
        }
    }
    memset(rows, 'r', sizeof(rows));
    char *got = gathered(&gather);
    ck_assert_uint_eq(gather.bytes, wanted.len);
    ck_assert(memcmp(got, wanted.ptr, wanted.len) == 0);
    ck_assert(!gather.overflow);
    free(got);
    weir_gather_release(&gather);
    weir_gather_release(&gather);
    weir_buf_release(&wanted);
}
END_TEST

START_TEST(own_pieces_that_touch_become_one_slice)
{
    struct weir_gather gather;
    weir_gather_init(&gather, 1000);
    weir_gather_own_text(&gather, "a");
    weir_gather_own_text(&gather, "");
    weir_gather_own_text(&gather, "b");
    weir_gather_borrow(&gather, weir_str("", 0));
    weir_gather_own_text(&gather, "c");
    ck_assert_uint_eq(gather.count, 1);
    /* borrowed neighbours stay apart: they are not ours to join */
    static const char two[] = "xy";
    weir_gather_borrow(&gather, weir_str(two, 1));
    weir_gather_borrow(&gather, weir_str(two + 1, 1));
    ck_assert_uint_eq(gather.count, 3);
    char *got = gathered(&gather);
    ck_assert_str_eq(got, "abcxy");
    free(got);
    weir_gather_release(&gather);
}
END_TEST

START_TEST(a_gathered_body_stays_within_its_bounds)
{
    struct weir_gather gather;
    weir_gather_init(&gather, 10);
    weir_gather_own_text(&gather, "12345");
    struct weir_gather_mark mark = weir_gather_mark(&gather);
    weir_gather_own_text(&gather, "67890");
    ck_assert(!gather.overflow);
    weir_gather_borrow(&gather, weir_str("x", 1));
    ck_assert(gather.overflow);
    weir_gather_own_text(&gather, "");
    ck_assert_uint_eq(gather.bytes, 10);
    weir_gather_rewind(&gather, mark);
    ck_assert(!gather.overflow);
    weir_gather_own_text(&gather, "ab");
    char *got = gathered(&gather);
    ck_assert_str_eq(got, "12345ab");
    free(got);
    weir_gather_release(&gather);

    weir_gather_init(&gather, (size_t)-1);
    for (size_t i = 0; i < WEIR_GATHER_SLICES_MAX; i++)
        weir_gather_borrow(&gather, weir_str("x", 1));
    ck_assert(!gather.overflow);
    weir_gather_borrow(&gather, weir_str("x", 1));
    ck_assert(gather.overflow);
    ck_assert_uint_eq(gather.count, WEIR_GATHER_SLICES_MAX);
    weir_gather_release(&gather);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_request");
    suite_add(&s, every_request_has_the_standard_headers);
    suite_add(&s, options_are_asked_for_where_they_have_a_meaning);
    suite_add(&s, a_batch_keeps_to_itself_what_belongs_to_its_parts);
    suite_add(&s, bypassing_says_what_is_bypassed);
    suite_add(&s, what_cannot_stand_in_a_header_is_refused);
    suite_add_loop(&s, "a_gathered_body_is_what_was_added_and_borrows_the_rest",
                   a_gathered_body_is_what_was_added_and_borrows_the_rest, 5);
    suite_add(&s, own_pieces_that_touch_become_one_slice);
    suite_add(&s, a_gathered_body_stays_within_its_bounds);
    return suite_run(&s);
}
