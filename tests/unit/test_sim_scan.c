/* SPDX-License-Identifier: MIT */
/* The simulator's JSON scanner: what is JSON and what is not, tokens, escapes, depth. */
#include "sim/service/scan.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

static bool accepts(const char *text)
{
    struct sim_scan scan;
    return sim_scan_check(weir_str_from(text), &scan);
}

START_TEST(what_the_standard_allows_is_accepted)
{
    static const char *const good[] = {
        "{}",
        " [ ] ",
        "null",
        "true",
        "\"\"",
        "0",
        "-0",
        "-12.5e+3",
        "1E9",
        "[1,2,[3],{\"a\":{}}]",
        "{\"a\":1,\"a\":2}",
        "\"\\u00e4\\ud83d\\ude00\\n\\/\"",
        "\"\xc3\xa4\xf0\x9f\x98\x80 and more plain text behind it\"",
        "\xef\xbb\xbf{}",
        "[\n\t1 ,\r 2 ]",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ck_assert_msg(accepts(good[i]), "%s", good[i]);
}
END_TEST

START_TEST(what_it_forbids_is_refused)
{
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "[",
        "}",
        "{]",
        "[}",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "-",
        "--1",
        "0x10",
        "NaN",
        "Infinity",
        "nul",
        "tru",
        "True",
        "\"",
        "\"abc",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"\\ud83d\\u0041\"",
        "\"a\tb\"",
        "\"12345678\n\"",
        "\"\x80\"",
        "\"\xc3\"",
        "\"\xc0\xaf\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xe0\x80\x80\"",
        "{} {}",
        "1 2",
        "[1] x",
        "// c\n1",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!accepts(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(tokens_bring_their_keys_and_texts_along)
{
    struct sim_scan scan;
    struct sim_token token;
    sim_scan_init(&scan, weir_str_from("{\"a\":[1,\"x\\n\"],\"b\\u0041\":true,\"c\":null}"));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_OBJECT);
    ck_assert_ptr_null(token.key.ptr);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_ARRAY);
    ck_assert(weir_str_equal(token.key, weir_str_from("a")));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_NUMBER);
    ck_assert(weir_str_equal(token.text, weir_str_from("1")));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_STRING);
    ck_assert(token.escaped && weir_str_equal(token.text, weir_str_from("x\\n")));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_ARRAY_END);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_TRUE);
    ck_assert(token.key_escaped && !token.escaped);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_NULL);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_OBJECT_END);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_END);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_END);
}
END_TEST

START_TEST(a_bad_document_stays_bad)
{
    struct sim_scan scan;
    struct sim_token token;
    sim_scan_init(&scan, weir_str_from("[1 2]"));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_ARRAY);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_NUMBER);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_BAD);
    ck_assert_str_eq(scan.problem, "a comma is missing");
}
END_TEST

START_TEST(escapes_become_what_they_stand_for)
{
    static const char raw[] = "\\\"\\\\\\/\\b\\f\\n\\r\\t|\\u0041\\u00e4\\u20ac\\ud83d\\ude00|end";
    static const char plain[] = "\"\\/\b\f\n\r\t|A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|end";
    char out[sizeof(raw)];
    size_t len = sim_scan_decode(weir_str_from(raw), out);
    ck_assert(weir_str_equal(weir_str(out, len), weir_str_from(plain)));
}
END_TEST

START_TEST(skipping_leaves_a_container_whole)
{
    struct sim_scan scan;
    struct sim_token token;
    sim_scan_init(&scan, weir_str_from("[{\"a\":[[1],{}]},7]"));
    sim_scan_next(&scan, &token);
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_OBJECT);
    ck_assert(sim_scan_skip(&scan));
    ck_assert_int_eq(sim_scan_next(&scan, &token), SIM_SCAN_NUMBER);
    sim_scan_init(&scan, weir_str_from("[{\"a\":[[1],{}"));
    sim_scan_next(&scan, &token);
    sim_scan_next(&scan, &token);
    ck_assert(!sim_scan_skip(&scan));
}
END_TEST

START_TEST(depth_ends_at_its_bound)
{
    char text[2 * SIM_SCAN_DEPTH_MAX + 3];
    for (uint32_t depth = SIM_SCAN_DEPTH_MAX; depth <= SIM_SCAN_DEPTH_MAX + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        struct sim_scan scan;
        bool good = sim_scan_check(weir_str(text, 2 * depth), &scan);
        ck_assert(good == (depth == SIM_SCAN_DEPTH_MAX));
    }
    char *deep = weir_calloc(100001, 1);
    memset(deep, '[', 100000);
    ck_assert(!accepts(deep));
    free(deep);
}
END_TEST

/* A random text that is often JSON. */
static size_t scribble(struct weir_rng *rng, char *text, size_t max)
{
    static const char *const pieces[] = { "{",     "}",        "[",   "]",     ",",      ":",
                                          "\"a\"", "\"b\"",    "1",   "-2.5",  "true",   "null",
                                          " ",     "\"\\n\"",  "\"",  "\\u00", "\"k\":", "[1]",
                                          "{}",    "\xc3\xa4", "1e5", "0" };
    size_t len = 0;
    uint64_t count = 1 + weir_rng_below(rng, 12);
    for (uint64_t i = 0; i < count; i++) {
        const char *piece = pieces[weir_rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))];
        if (len + strlen(piece) < max) {
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
    }
    return len;
}

/* base/json also takes comments and trailing commas and refuses repeated keys; none of these
 * occurs. */
START_TEST(it_agrees_with_the_other_parser_on_random_texts)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 1);
    char text[256];
    uint32_t good_count = 0;
    for (int step = 0; step < 20000; step++) {
        size_t len = scribble(&rng, text, sizeof(text));
        text[len] = '\0';
        if (strstr(text, ",]") || strstr(text, ",}") || strstr(text, ", ]") || strstr(text, ", }"))
            continue;
        struct weir_json *json = NULL;
        struct weir_error err;
        bool other = weir_json_parse(weir_str(text, len), &json, &err) == WEIR_OK;
        bool repeated = !other && strstr(err.message, "twice");
        weir_json_free(json);
        bool own = accepts(text);
        good_count += own;
        if (own != other && !repeated && strstr(text, ",  ") == NULL)
            ck_abort_msg("own %d, other %d (%s): %s", own, other, err.message, text);
    }
    must(good_count > 100);
}
END_TEST

/* Every prefix and every single changed byte of a body: no crash, no read beyond the end. */
START_TEST(damaged_texts_are_survived)
{
    static const char body[] = "{\"Targets\":[{\"@odata.type\":\"x\",\"name\":"
                               "\"\xc3\xa4\\u00e4\\ud83d\\ude00\",\"n\":-1.5e3,"
                               "\"t\":true,\"f\":false,\"z\":null}]}";
    size_t len = sizeof(body) - 1;
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = weir_strndup(body, cut);
        struct sim_scan scan;
        must(!sim_scan_check(weir_str(copy, cut), &scan));
        free(copy);
    }
    for (size_t at = 0; at < len; at++) {
        char *copy = weir_strndup(body, len);
        for (int byte = 0; byte < 256; byte++) {
            struct sim_scan scan;
            copy[at] = (char)byte;
            sim_scan_check(weir_str(copy, len), &scan);
        }
        free(copy);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_scan");
    suite_add(&s, what_the_standard_allows_is_accepted);
    suite_add(&s, what_it_forbids_is_refused);
    suite_add(&s, tokens_bring_their_keys_and_texts_along);
    suite_add(&s, a_bad_document_stays_bad);
    suite_add(&s, escapes_become_what_they_stand_for);
    suite_add(&s, skipping_leaves_a_container_whole);
    suite_add(&s, depth_ends_at_its_bound);
    suite_add_loop(&s, "it_agrees_with_the_other_parser_on_random_texts",
                   it_agrees_with_the_other_parser_on_random_texts, 5);
    suite_add(&s, damaged_texts_are_survived);
    return suite_run(&s);
}
