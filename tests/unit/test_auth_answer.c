/* SPDX-License-Identifier: MIT */
/* What token endpoints, commands and files say: tokens, refusals, and everything else. */
#include <stdio.h>

#include "auth/token_refusal.h"
#include "auth/token_verdict.h"
#include "base/base64url.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define S            WEIR_US_PER_S
#define WALL_S       INT64_C(1767225600)
#define WALL_US      (WALL_S * S)
#define TRACE        "0f8fad5b-d9cb-469f-a165-70867728950e"

static const char jwt[] = "e30.eyJleHAiOjE3NjcyMjkyMDB9.c2ln"; /* exp: an hour after WALL_S */

/* --- tokens ----------------------------------------------------------------------------------- */

struct grant_row {
    const char *text;
    const char *token; /* NULL: refused */
    int64_t life_s;
    int64_t refresh_s; /* -1: not said */
};

static void check_row(const struct grant_row *row, bool bare)
{
    struct weir_token_grant grant = { 0 };
    struct weir_error err = { 0 };
    struct weir_str text = weir_str_from(row->text);
    enum weir_status status = bare ? weir_token_text_read(text, WALL_US, &grant, &err)
                                   : weir_token_answer_read(text, WALL_US, &grant, &err);
    ck_assert_msg((status == WEIR_OK) == (row->token != NULL), "%s: %s", row->text, err.message);
    if (row->token) {
        ck_assert_str_eq(grant.text.text, row->token);
        ck_assert_msg(grant.life_us == row->life_s * S, "%s: %lld", row->text,
                      (long long)grant.life_us);
        ck_assert_int_eq(grant.refresh_us, row->refresh_s < 0 ? -1 : row->refresh_s * S);
    } else {
        ck_assert_ptr_null(grant.text.text);
        ck_assert_ptr_null(strstr(err.message, "CANARY"));
    }
    weir_token_grant_release(&grant);
}

START_TEST(tokens_are_read_from_every_endpoint)
{
    static const struct grant_row rows[] = {
        { "{\"token_type\":\"Bearer\",\"expires_in\":3599,\"ext_expires_in\":3599,\"access_token\":"
          "\"abc\"}",
          "abc", 3599, -1 },
        { "{\"access_token\":\"abc\",\"expires_in\":\"86399\",\"refresh_in\":\"43199\"}", "abc",
          86399, 43199 },
        { "{\"access_token\":\"abc\",\"expires_in\":3599.9,\"refresh_in\":0}", "abc", 3599, -1 },
        { "{\"access_token\":\"abc\",\"expires_on\":\"1767225700\"}", "abc", 100, -1 },
        { "{\"access_token\":\"abc\",\"expires_on\":1767225700}", "abc", 100, -1 },
        { "{\"access_token\":\"abc\",\"expires_on\":\"2026-01-01T00:01:40Z\"}", "abc", 100, -1 },
        { "{\"access_token\":\"abc\",\"expires_in\":50,\"expires_on\":\"1\"}", "abc", 50, -1 },
        { "{\"accessToken\":\"abc\",\"expires_on\":1767225700,\"tokenType\":\"Bearer\"}", "abc",
          100, -1 },
        { "{\"accessToken\":\"abc\",\"expiresOn\":\"2026-01-01 00:01:40.000000\"}", "abc", 100,
          -1 },
        { "{\"access_token\":\"abc\",\"token_type\":\"bearer\"}", "abc", 3600, -1 },
        { "{\"access_token\":\"abc\",\"expires_in\":99999999999}", "abc", 7 * 86400, -1 },
        { "{\"access_token\":\"abc\",\"expires_on\":\"9223372036854775807\"}", "abc", 7 * 86400,
          -1 },
        /* refused */
        { "{\"access_token\":\"CANARY\",\"expires_in\":0}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\",\"expires_in\":-5}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\",\"expires_on\":\"1767225600\"}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\",\"expires_on\":\"1\"}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\",\"token_type\":\"pop\"}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY x\",\"expires_in\":5}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\\r\\nX: y\",\"expires_in\":5}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\\u0000\",\"expires_in\":5}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARYé\",\"expires_in\":5}", NULL, 0, 0 },
        { "{\"access_token\":\"\",\"expires_in\":5}", NULL, 0, 0 },
        { "{\"access_token\":17,\"expires_in\":5}", NULL, 0, 0 },
        { "{\"token\":\"CANARY\"}", NULL, 0, 0 },
        { "{\"access_token\":\"CANARY\"", NULL, 0, 0 },
        { "<html>CANARY</html>", NULL, 0, 0 },
        { "[\"CANARY\"]", NULL, 0, 0 },
        { "\"CANARY\"", NULL, 0, 0 },
        { "null", NULL, 0, 0 },
        { "", NULL, 0, 0 },
    };
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i], false);
}
END_TEST

START_TEST(commands_and_files_may_hold_a_token_or_its_json)
{
    struct grant_row rows[] = {
        { "abc\n", "abc", 3600, -1 },
        { "  abc\r\n", "abc", 3600, -1 },
        { "a.b.c", "a.b.c", 3600, -1 }, /* looks like a JWT, is none */
        { jwt, jwt, 3600, -1 },
        { " {\"accessToken\":\"abc\",\"expires_on\":1767225700}\n", "abc", 100, -1 },
        { "e30.eyJleHAiOjE3NjcyMjU2MDF9.CANARY", "e30.eyJleHAiOjE3NjcyMjU2MDF9.CANARY", 1, -1 },
        { "e30.eyJleHAiOjE3NjcyMjU2MDB9.CANARY", NULL, 0, 0 }, /* over this very second */
        { "CANARY two\n", NULL, 0, 0 },
        { "CANARY\nCANARY", NULL, 0, 0 },
        { "", NULL, 0, 0 },
        { "\n", NULL, 0, 0 },
        { "{}", NULL, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i], true);
}
END_TEST

START_TEST(tokens_and_answers_have_bounds)
{
    char *text = weir_calloc(1, WEIR_TOKEN_ANSWER_BYTES_MAX + 2);
    struct weir_token_grant grant = { 0 };
    memset(text, 'x', WEIR_TOKEN_BYTES_MAX + 1);
    ck_assert_int_eq(
        weir_token_text_read(weir_str(text, WEIR_TOKEN_BYTES_MAX), WALL_US, &grant, NULL), WEIR_OK);
    weir_token_grant_release(&grant);
    ck_assert_int_ne(
        weir_token_text_read(weir_str(text, WEIR_TOKEN_BYTES_MAX + 1), WALL_US, &grant, NULL),
        WEIR_OK);
    int len = snprintf(text, 64, "{\"access_token\":\"abc\"}");
    memset(text + len, ' ', (size_t)(WEIR_TOKEN_ANSWER_BYTES_MAX + 1 - len));
    ck_assert_int_eq(
        weir_token_answer_read(weir_str(text, WEIR_TOKEN_ANSWER_BYTES_MAX), WALL_US, &grant, NULL),
        WEIR_OK);
    weir_token_grant_release(&grant);
    ck_assert_int_eq(weir_token_answer_read(weir_str(text, WEIR_TOKEN_ANSWER_BYTES_MAX + 1),
                                            WALL_US, &grant, NULL),
                     WEIR_E_TOO_BIG);
    free(text);
}
END_TEST

/* --- refusals --------------------------------------------------------------------------------- */

START_TEST(a_refusal_is_taken_apart)
{
    static const char body[] = "{\"error\":\"invalid_client\",\"error_description\":"
                               "\"AADSTS7000215: Invalid client secret "
                               "provided. Ensure \\\"it\\\" is right.\\r\\nTrace ID: " TRACE
                               " Correlation ID: x Timestamp: "
                               "y\",\"error_codes\":[7000215],\"trace_id\":\"" TRACE "\"}";
    struct weir_token_refusal refusal;
    ck_assert(weir_token_refusal_read(weir_str_from(body), weir_str("", 0), &refusal));
    ck_assert_str_eq(refusal.error, "invalid_client");
    ck_assert_int_eq(refusal.number, 7000215);
    ck_assert_str_eq(refusal.words, "Invalid client secret provided. Ensure 'it' is right.");
    ck_assert_str_eq(refusal.trace_id, TRACE);
    ck_assert_ptr_nonnull(strstr(refusal.meaning, "not its id"));
    ck_assert(!refusal.passing);
}
END_TEST

START_TEST(what_is_no_refusal_is_not_taken_for_one)
{
    static const char *const rows[] = { "",
                                        "null",
                                        "{}",
                                        "<html>",
                                        "{\"error\":{\"code\":\"x\"}}",
                                        "{\"error\":\"\"}",
                                        "{\"error\":5}",
                                        "[]" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_token_refusal refusal;
        ck_assert(!weir_token_refusal_read(weir_str_from(rows[i]), weir_str("", 0), &refusal));
    }
}
END_TEST

START_TEST(an_answer_that_repeats_the_secret_is_reduced_to_its_number)
{
    static const char *const rows[] = {
        "{\"error\":\"e\",\"error_description\":\"AADSTS7000215: not ca+nary, please\"}",
        "{\"error\":\"e\",\"error_description\":\"AADSTS7000215: client_secret=ca%2Bnary&x\"}",
        "{\"error\":\"ca+nary\",\"error_description\":\"AADSTS7000215: no\"}",
        "{\"error\":\"e\",\"trace_id\":\"ca+nary\",\"error_codes\":[7000215]}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_token_refusal refusal;
        ck_assert(
            weir_token_refusal_read(weir_str_from(rows[i]), weir_str_from("ca+nary"), &refusal));
        ck_assert_int_eq(refusal.number, 7000215);
        ck_assert(!refusal.error[0] && !refusal.words[0] && !refusal.trace_id[0]);
    }
}
END_TEST

START_TEST(words_of_others_are_made_harmless)
{
    struct weir_buf body;
    struct weir_token_refusal refusal;
    weir_buf_init(&body, 65536);
    weir_buf_add_text(&body,
                      "{\"error\":\"a b\",\"trace_id\":\"x\\u001b[0m\",\"error_description\":"
                      "\"one \\u001b[31m two ");
    for (int i = 0; i < 100; i++)
        weir_buf_add_text(&body, "eyJ");
    for (int i = 0; i < 100; i++)
        weir_buf_add_text(&body, " wörd");
    weir_buf_add_text(&body, "\"}");
    ck_assert(weir_token_refusal_read(weir_str(body.ptr, body.len), weir_str("", 0), &refusal));
    ck_assert_str_eq(refusal.error, "");
    ck_assert_str_eq(refusal.trace_id, "");
    ck_assert_int_eq(strncmp(refusal.words, "one ?[31m two … wörd", 21), 0);
    ck_assert_uint_lt(strlen(refusal.words), WEIR_REFUSAL_WORDS_MAX);
    ck_assert_uint_gt(strlen(refusal.words), WEIR_REFUSAL_WORDS_MAX - 10);
    size_t len = strlen(refusal.words);
    ck_assert_str_eq(refusal.words + len - 3, "…");
    weir_buf_release(&body);
}
END_TEST

START_TEST(every_common_number_has_a_meaning)
{
    static const int64_t numbers[] = { 7000215, 7000222, 700016, 500011, 70011, 1002012,
                                       90014,   7000218, 90002,  700027, 700024 };
    for (size_t i = 0; i < COUNT(numbers); i++)
        ck_assert_msg(weir_aadsts_meaning(numbers[i]), "%lld", (long long)numbers[i]);
    ck_assert_ptr_null(weir_aadsts_meaning(1));
    ck_assert_ptr_null(weir_aadsts_meaning(0));
}
END_TEST

START_TEST(no_number_is_made_up)
{
    static const struct {
        const char *body;
        int64_t number;
    } rows[] = {
        { "{\"error\":\"x\",\"error_description\":\"AADSTS: y\"}", 0 },
        { "{\"error\":\"x\",\"error_description\":\"AADSTS99999999999999999999: y\"}", 0 },
        { "{\"error\":\"x\",\"error_description\":\"see AADSTS50011\"}", 0 },
        { "{\"error\":\"x\",\"error_codes\":[]}", 0 },
        { "{\"error\":\"x\",\"error_codes\":\"5\"}", 0 },
        { "{\"error\":\"x\",\"error_codes\":[-5]}", 0 },
        { "{\"error\":\"x\",\"error_codes\":[90055,1]}", 90055 },
        { "{\"error\":\"x\",\"error_description\":\"aadsts90055 y\"}", 90055 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_token_refusal refusal;
        ck_assert(weir_token_refusal_read(weir_str_from(rows[i].body), weir_str("", 0), &refusal));
        ck_assert_msg(refusal.number == rows[i].number, "row %zu", i);
    }
}
END_TEST

/* --- verdicts --------------------------------------------------------------------------------- */

#define NO    "{\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000215: Wrong.\"}"
#define LATER "{\"error\":\"temporarily_unavailable\",\"error_description\":\"AADSTS90055: Busy.\"}"
#define PAGE  "<!DOCTYPE html><html>Sign in to the network</html>"
#define GOOD  "{\"access_token\":\"abc\",\"expires_in\":60}"

struct verdict_row {
    int status;
    const char *body;
    const char *retry_after;
    bool machine;
    enum weir_status expected;
    int64_t retry_after_s; /* -1: none */
};

START_TEST(verdicts)
{
    static const struct verdict_row rows[] = {
        { 200, GOOD, NULL, false, WEIR_OK, -1 },
        { 200, GOOD, NULL, true, WEIR_OK, -1 },
        { 200, PAGE, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 200, "", NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 200, NO, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 201, GOOD, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 302, GOOD, "5", false, WEIR_E_UNAVAILABLE, 5 },
        { 307, NO, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 400, NO, NULL, false, WEIR_E_CREDENTIALS, -1 },
        { 401, NO, NULL, false, WEIR_E_CREDENTIALS, -1 },
        { 401, PAGE, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 403, NO, NULL, true, WEIR_E_CREDENTIALS, -1 },
        { 400, LATER, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 404, NO, NULL, false, WEIR_E_CREDENTIALS, -1 },
        { 404, NO, NULL, true, WEIR_E_UNAVAILABLE, -1 },
        { 410, "", NULL, true, WEIR_E_UNAVAILABLE, -1 },
        { 408, NO, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 429, LATER, "7", false, WEIR_E_UNAVAILABLE, 7 },
        { 429, NO, "7", false, WEIR_E_UNAVAILABLE, 7 },
        { 429, "", "0", false, WEIR_E_UNAVAILABLE, 1 },
        { 429, "", "99999", false, WEIR_E_UNAVAILABLE, 3600 },
        { 429, "", "soon", false, WEIR_E_UNAVAILABLE, -1 },
        { 500, NO, NULL, false, WEIR_E_UNAVAILABLE, -1 },
        { 503, PAGE, "30", false, WEIR_E_UNAVAILABLE, 30 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct verdict_row *row = &rows[i];
        const struct weir_http_header header = { "Retry-After", row->retry_after };
        const struct weir_exchange_answer answer = {
            .status = row->status,
            .headers = &header,
            .header_count = row->retry_after ? 1 : 0,
            .body = weir_str_from(row->body),
            .detail = "",
        };
        const struct weir_token_verdict_ask ask = { .who = "the login service",
                                                    .machine = row->machine,
                                                    .wall_us = WALL_US };
        struct weir_token_grant grant = { 0 };
        struct weir_error err = { .retry_after_us = -1 };
        int64_t number = -1;
        enum weir_status status = weir_token_verdict(&answer, &ask, &grant, &number, &err);
        ck_assert_msg(status == row->expected, "row %zu: %s", i, err.message);
        ck_assert_int_ne(number, -1);
        if (status != WEIR_OK) {
            ck_assert_int_eq(err.status, status);
            ck_assert_int_eq(err.http_status, row->status);
            ck_assert_int_eq(err.retryable, status == WEIR_E_UNAVAILABLE);
            ck_assert_msg(err.retry_after_us ==
                              (row->retry_after_s < 0 ? -1 : row->retry_after_s * S),
                          "row %zu: %lld", i, (long long)err.retry_after_us);
            ck_assert_int_eq(strncmp(err.message, "the login service ", 18), 0);
        }
        weir_token_grant_release(&grant);
    }
}
END_TEST

START_TEST(an_answer_that_did_not_come_is_never_a_no)
{
    for (int ending = WEIR_ENDING_NO_CONNECTION; ending <= WEIR_ENDING_CANCELLED; ending++) {
        const struct weir_exchange_answer answer = {
            .ending = (enum weir_ending)ending,
            .status = 401,
            .body = weir_str_from(NO),
            .detail = "as it happens",
        };
        const struct weir_token_verdict_ask ask = { .who = "it", .wall_us = WALL_US };
        struct weir_token_grant grant;
        struct weir_error err;
        int64_t number;
        ck_assert_int_eq(weir_token_verdict(&answer, &ask, &grant, &number, &err),
                         WEIR_E_UNAVAILABLE);
        ck_assert_ptr_nonnull(strstr(err.message, weir_ending_name((enum weir_ending)ending)));
        ck_assert_ptr_nonnull(strstr(err.message, "as it happens"));
        ck_assert(err.retryable);
    }
}
END_TEST

/* Bytes of nobody's making: no crash, no token that could not stand in a header, no odd message. */
START_TEST(garbled_answers_are_harmless)
{
    static const char *const seeds[] = { GOOD, NO, LATER, PAGE };
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int i = 0; i < 60000; i++) {
        char text[256];
        size_t len = (size_t)snprintf(text, sizeof(text), "%s", seeds[weir_rng_below(&rng, 4)]);
        for (uint64_t k = weir_rng_below(&rng, 4); k; k--)
            text[weir_rng_below(&rng, len)] = (char)weir_rng_u64(&rng);
        const struct weir_exchange_answer answer = {
            .status = weir_rng_below(&rng, 2) ? 200 : 400,
            .body = weir_str(text, weir_rng_below(&rng, 4) ? len : weir_rng_below(&rng, len)),
            .detail = "",
        };
        const struct weir_token_verdict_ask ask = { .who = "it", .wall_us = WALL_US };
        struct weir_token_grant grant = { 0 };
        struct weir_error err;
        int64_t number;
        if (weir_token_verdict(&answer, &ask, &grant, &number, &err) == WEIR_OK) {
            must(answer.status == 200 && grant.text.len && grant.life_us > 0);
            for (size_t k = 0; k < grant.text.len; k++)
                must(grant.text.text[k] > ' ' && grant.text.text[k] <= '~');
        } else {
            for (const char *c = err.message; *c; c++)
                must((unsigned char)*c >= ' ' && *c != 127);
        }
        weir_token_grant_release(&grant);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("auth_answer");
    suite_add(&s, tokens_are_read_from_every_endpoint);
    suite_add(&s, commands_and_files_may_hold_a_token_or_its_json);
    suite_add(&s, tokens_and_answers_have_bounds);
    suite_add(&s, a_refusal_is_taken_apart);
    suite_add(&s, what_is_no_refusal_is_not_taken_for_one);
    suite_add(&s, an_answer_that_repeats_the_secret_is_reduced_to_its_number);
    suite_add(&s, words_of_others_are_made_harmless);
    suite_add(&s, every_common_number_has_a_meaning);
    suite_add(&s, no_number_is_made_up);
    suite_add(&s, verdicts);
    suite_add(&s, an_answer_that_did_not_come_is_never_a_no);
    suite_add(&s, garbled_answers_are_harmless);
    return suite_run(&s);
}
