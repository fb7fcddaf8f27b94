/* SPDX-License-Identifier: MIT */
/* Reading JSON: what is taken, what is refused and where, and that nothing is rounded. */
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/rng.h"
#include "support/suite.h"

static struct weir_json *parse(const char *text)
{
    struct weir_json *json = NULL;
    struct weir_error err;
    enum weir_status status = weir_json_parse(weir_str_from(text), &json, &err);
    ck_assert_msg(status == WEIR_OK, "%s: %s", text, err.message);
    return json;
}

static void assert_text(struct weir_str text, const char *wanted)
{
    ck_assert_msg(weir_str_equal(text, weir_str_from(wanted)), "\"%.*s\", wanted \"%s\"",
                  (int)text.len, text.ptr, wanted);
}

static void assert_refused(const char *text, enum weir_status status, const char *message)
{
    struct weir_json *json = NULL;
    struct weir_error err;
    ck_assert_msg(weir_json_parse(weir_str_from(text), &json, &err) == status, "%s", text);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(json);
    ck_assert_int_eq(weir_json_parse(weir_str_from(text), &json, NULL), status);
}

START_TEST(an_object_is_walked_in_the_order_of_the_text)
{
    struct weir_json *json = parse("{\"b\": 1, \"a\": [true, null, \"x\"], \"c\": {}}");
    const struct weir_json_node *root = weir_json_root(json);
    ck_assert_int_eq(root->type, WEIR_JSON_OBJECT);
    ck_assert_uint_eq(root->count, 3);
    ck_assert_ptr_null(root->next);

    const struct weir_json_node *b = root->first;
    assert_text(b->key, "b");
    ck_assert_int_eq(b->type, WEIR_JSON_NUMBER);
    const struct weir_json_node *a = b->next;
    assert_text(a->key, "a");
    ck_assert_int_eq(a->type, WEIR_JSON_ARRAY);
    ck_assert_uint_eq(a->count, 3);
    assert_text(a->text, "[true, null, \"x\"]");
    ck_assert_int_eq(a->first->type, WEIR_JSON_BOOL);
    ck_assert_int_eq(a->first->next->type, WEIR_JSON_NULL);
    ck_assert_int_eq(a->first->next->next->type, WEIR_JSON_STRING);
    assert_text(a->first->next->next->text, "x");
    assert_text(a->first->key, "");
    const struct weir_json_node *c = a->next;
    ck_assert_int_eq(c->type, WEIR_JSON_OBJECT);
    ck_assert_ptr_null(c->first);
    ck_assert_ptr_null(c->next);
    weir_json_free(json);
}
END_TEST

START_TEST(a_member_is_found_by_its_exact_name)
{
    struct weir_json *json = parse("{\"a\": 1, \"A\": 2, \"n\": null}");
    const struct weir_json_node *root = weir_json_root(json);
    assert_text(weir_json_find(root, "A")->text, "2");
    ck_assert_int_eq(weir_json_find(root, "n")->type, WEIR_JSON_NULL);
    ck_assert_ptr_null(weir_json_find(root, "b"));
    ck_assert_ptr_null(weir_json_find(root->first, "a"));
    ck_assert_ptr_null(weir_json_find(NULL, "a"));
    weir_json_free(json);
}
END_TEST

START_TEST(numbers_are_kept_as_they_were_written)
{
    static const char *const numbers[] = {
        "0",
        "-0",
        "0.10",
        "1e3",
        "1E+3",
        "-1.50e-07",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "1e999",
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct weir_json *json = parse(numbers[i]);
        ck_assert_int_eq(weir_json_root(json)->type, WEIR_JSON_NUMBER);
        assert_text(weir_json_root(json)->text, numbers[i]);
        weir_json_free(json);
    }
    struct weir_json *json = parse("[0.10,1e3/* a */,-0]");
    const struct weir_json_node *first = weir_json_root(json)->first;
    assert_text(first->text, "0.10");
    assert_text(first->next->text, "1e3");
    assert_text(first->next->next->text, "-0");
    weir_json_free(json);
}
END_TEST

START_TEST(strings_lose_their_escapes)
{
    struct weir_json *json = parse("{\"k\\u0065y\": \"a\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude00\"}");
    const struct weir_json_node *node = weir_json_root(json)->first;
    assert_text(node->key, "key");
    assert_text(node->text, "a\n\"\\/\u00e9\U0001F600");
    ck_assert_int_eq(node->text.ptr[node->text.len], '\0');
    weir_json_free(json);

    json = parse("\"a\\u0000b\"");
    ck_assert_uint_eq(weir_json_root(json)->text.len, 3);
    weir_json_free(json);
}
END_TEST

START_TEST(comments_and_trailing_commas_are_taken)
{
    struct weir_json *json = parse("// first\n"
                                   "/* second * / */ { // third\n"
                                   "  \"a\": [1, /**/ 2,], /* \" */\n"
                                   "  \"b//\": \"/* no comment */\",\n"
                                   "} // last, without an end of line");
    const struct weir_json_node *root = weir_json_root(json);
    ck_assert_uint_eq(root->count, 2);
    ck_assert_uint_eq(root->first->count, 2);
    assert_text(root->first->next->key, "b//");
    assert_text(root->first->next->text, "/* no comment */");
    weir_json_free(json);
}
END_TEST

START_TEST(values_know_their_line_and_column)
{
    struct weir_json *json = parse("{\n  \"a\": 1,\r\n\t\"b\": [\n/*\n*/ 2, \"\u00e9\", 3]}");
    const struct weir_json_node *a = weir_json_root(json)->first;
    ck_assert_uint_eq(a->line, 2);
    ck_assert_uint_eq(a->column, 8);
    ck_assert_uint_eq(a->next->line, 3);
    ck_assert_uint_eq(a->next->column, 7);
    const struct weir_json_node *two = a->next->first;
    ck_assert_uint_eq(two->line, 5);
    ck_assert_uint_eq(two->column, 4);
    ck_assert_uint_eq(two->next->next->column, 13); /* bytes */
    weir_json_free(json);
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    struct weir_json *json = parse("\xEF\xBB\xBF{\"a\": 1}");
    ck_assert_uint_eq(weir_json_root(json)->first->column, 7);
    weir_json_free(json);
}
END_TEST

START_TEST(every_scalar_may_be_the_document)
{
    static const struct {
        const char *text;
        enum weir_json_type type;
    } rows[] = {
        { "null", WEIR_JSON_NULL },   { " true ", WEIR_JSON_BOOL }, { "false", WEIR_JSON_BOOL },
        { "\"\"", WEIR_JSON_STRING }, { "-1\n", WEIR_JSON_NUMBER }, { "[]", WEIR_JSON_ARRAY },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_json *json = parse(rows[i].text);
        ck_assert_int_eq(weir_json_root(json)->type, rows[i].type);
        ck_assert_uint_eq(weir_json_root(json)->count, 0);
        weir_json_free(json);
    }
}
END_TEST

#define NO_VALUE "neither a number nor true, false, null or a string in quotes"

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    { "", "line 1, column 1: unexpected end of data" },
    { " \n // nothing", "line 2, column 12: unexpected end of data" },
    { "{", "line 1, column 2: unexpected end of data" },
    { "{\"a\": 1", "line 1, column 8: unexpected end of data" },
    { "{\"a\": [1}", "line 1, column 9: array value separator ',' expected" },
    { "[1}", "line 1, column 3: array value separator ',' expected" },
    { "{\"a\" 1}", "line 1, column 6: object property name separator ':' expected" },
    { "{\"a\": 1\n\"b\": 2}", "line 2, column 1: object value separator ',' expected" },
    { "[1,,2]", "line 1, column 4: unexpected character" },
    { "[,]", "line 1, column 2: unexpected character" },
    { "{,}", "line 1, column 2: quoted object property name expected" },
    { "{1: 2}", "line 1, column 3: unexpected character" },
    { "[\"a\": 1]", "line 1, column 5: array value separator ',' expected" },
    { "[:1]", "line 1, column 2: unexpected character" },
    { ":", "line 1, column 1: unexpected character" },
    { ",", "line 1, column 1: unexpected character" },
    { "}", "line 1, column 1: unexpected character" },
    /* Lenient in json-c, refused here. */
    { "[NaN]", "line 1, column 2: " NO_VALUE },
    { "nan", "line 1, column 1: " NO_VALUE },
    { "[\n Infinity]", "line 2, column 2: " NO_VALUE },
    { "[-Infinity]", "line 1, column 2: " NO_VALUE },
    { "[True]", "line 1, column 2: " NO_VALUE },
    { "[NULL]", "line 1, column 2: " NO_VALUE },
    { "[01]", "line 1, column 2: " NO_VALUE },
    { "[+1]", "line 1, column 2: " NO_VALUE },
    { "[1.]", "line 1, column 2: " NO_VALUE },
    { "[.5]", "line 1, column 2: " NO_VALUE },
    { "[-]", "line 1, column 2: " NO_VALUE },
    { "[1e]", "line 1, column 2: " NO_VALUE },
    { "[1e+]", "line 1, column 2: " NO_VALUE },
    { "[0x10]", "line 1, column 2: " NO_VALUE },
    { "[hunter2]", "line 1, column 2: " NO_VALUE },
    { "{a: 1}", "line 1, column 2: " NO_VALUE },
    { "['a']", "line 1, column 2: unexpected character" },
    { "[\"a\nb\"]",
      "line 1, column 4: a control character or the end of the line within a string" },
    { "[\"a\tb\"]",
      "line 1, column 4: a control character or the end of the line within a string" },
    { "[\"a", "line 1, column 2: the string does not end" },
    { "[\"a\\", "line 1, column 2: the string does not end" },
    { "[\"a\\\"", "line 1, column 2: the string does not end" },
    { "[\"\\q\"]", "line 1, column 4: invalid string sequence" },
    { "[\"\\u12\"]", "line 1, column 7: invalid string sequence" },
    { "[\"\xff\"]", "line 1, column 3: invalid utf-8 string" },
    { "[1] /* no end", "line 1, column 5: the comment does not end" },
    { "[1] /", "line 1, column 5: unexpected character" },
    { "[1 \v]", "line 1, column 4: unexpected character" },
    { "[1 \xc2\xa0]", "line 1, column 4: unexpected character" },
    /* After the end. */
    { "{} {}", "line 1, column 4: something follows the end of the document" },
    { "1 2", "line 1, column 3: something follows the end of the document" },
    { "{}\nx", "line 2, column 1: " NO_VALUE },
    { "{}\ntrue", "line 2, column 1: something follows the end of the document" },
    { "{}}", "line 1, column 3: unexpected character" },
    { "{},", "line 1, column 3: unexpected character" },
    { "\"a\": 1", "line 1, column 4: unexpected character" },
    /* Twice. */
    { "{\"a\": 1, \"b\": 2,\n \"a\": 3}", "line 2, column 2: the object has the key \"a\" twice" },
    { "{\"x\": {\"a\": 1, \"a\": 1}}", "line 1, column 16: the object has the key \"a\" twice" },
    { "{\"a\": 1, \"\\u0061\": 2}",
      "line 1, column 1: an object has the same key twice, spelled in two ways" },
};

START_TEST(what_is_not_json_is_refused_with_line_and_column)
{
    assert_refused(refused[_i].text, WEIR_E_INVALID, refused[_i].message);
}
END_TEST

START_TEST(a_zero_byte_is_no_end)
{
    struct weir_json *json;
    struct weir_error err;
    ck_assert_int_eq(weir_json_parse(weir_str("{}\0{", 4), &json, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "line 1, column 3: unexpected character");
}
END_TEST

START_TEST(equal_keys_in_different_objects_are_no_repetition)
{
    weir_json_free(
        parse("{\"a\": {\"a\": {\"a\": 1}}, \"b\": [{\"a\": 1}, {\"a\": 1}], \"A\": 1}"));
}
END_TEST

START_TEST(a_long_key_that_stands_twice_is_cut_between_characters)
{
    struct weir_buf key;
    weir_buf_init(&key, 100);
    for (int i = 0; i < 50; i++)
        weir_buf_add_text(&key, "\u00e9");
    char text[512];
    snprintf(text, sizeof(text), "{\"%s\": 1, \"%s\": 2}", key.ptr, key.ptr);
    char message[512];
    snprintf(message, sizeof(message),
             "line 1, column 109: the object has the key \"%.78s…\" twice", key.ptr);
    weir_buf_release(&key);
    assert_refused(text, WEIR_E_INVALID, message);
}
END_TEST

START_TEST(nesting_ends_at_its_bound)
{
    char text[2 * WEIR_JSON_DEPTH_MAX + 8];
    for (int objects = 0; objects < 2; objects++) {
        for (int depth = WEIR_JSON_DEPTH_MAX; depth <= WEIR_JSON_DEPTH_MAX + 1; depth++) {
            struct weir_buf buf;
            weir_buf_init(&buf, 1024);
            for (int i = 0; i < depth; i++)
                weir_buf_add_text(&buf, objects ? "{\"a\":" : "[");
            weir_buf_add_text(&buf, "1");
            for (int i = 0; i < depth; i++)
                weir_buf_add_text(&buf, objects ? "}" : "]");
            if (depth == WEIR_JSON_DEPTH_MAX) {
                weir_json_free(parse(buf.ptr));
            } else {
                snprintf(text, sizeof(text), "line 1, column %d: nested too deep",
                         objects ? 161 : 33);
                assert_refused(buf.ptr, WEIR_E_TOO_BIG, text);
            }
            weir_buf_release(&buf);
        }
    }
}
END_TEST

START_TEST(a_text_beyond_two_gigabytes_is_not_even_looked_at)
{
    struct weir_json *json;
    struct weir_error err;
    ck_assert_int_eq(weir_json_parse(weir_str("{}", (size_t)INT32_MAX + 1), &json, &err),
                     WEIR_E_TOO_BIG);
    ck_assert_str_eq(err.message, "the text is longer than 2 GiB");
}
END_TEST

START_TEST(types_have_names)
{
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_NULL), "null");
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_BOOL), "true or false");
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_NUMBER), "a number");
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_STRING), "a string");
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_ARRAY), "an array");
    ck_assert_str_eq(weir_json_type_name(WEIR_JSON_OBJECT), "an object");
}
END_TEST

/* Every node's text must lie where the node says, and its children must be as many as it says. */
static void assert_sound(const struct weir_json_node *node, const char *text)
{
    const char *at = text;
    for (uint32_t line = 1; line < node->line; line++)
        at = strchr(at, '\n') + 1;
    at += node->column - 1;
    static const char *const begins[] = { "n", "tf", "-0123456789", "\"", "[", "{" };
    ck_assert_ptr_nonnull(strchr(begins[node->type], *at));
    if (node->type != WEIR_JSON_STRING)
        ck_assert_ptr_eq(node->text.ptr, at);
    uint32_t count = 0;
    for (const struct weir_json_node *child = node->first; child; child = child->next, count++)
        assert_sound(child, text);
    ck_assert_uint_eq(count, node->count);
}

START_TEST(damaged_documents_are_refused_or_sound)
{
    static const char good[] = "{\"a\": [1, -2.5e3, true, null, {\"b\\n\": \"c\"}], // x\n"
                               " \"d\": {\"e\": [], \"f\": {},}, /* y */ \"a2\": \"\\u00e9\"}";
    static const char spice[] = "{}[]:,\"'\\/*\n 0-.eatnN\xc3";
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    int taken = 0;
    for (int round = 0; round < 2000; round++) {
        char text[sizeof(good)];
        memcpy(text, good, sizeof(good));
        for (uint64_t i = weir_rng_below(&rng, 3) + 1; i; i--)
            text[weir_rng_below(&rng, sizeof(good) - 1)] =
                spice[weir_rng_below(&rng, sizeof(spice) - 1)];
        struct weir_json *json = NULL;
        struct weir_error err;
        size_t len =
            weir_rng_below(&rng, 8) ? sizeof(good) - 1 : (size_t)weir_rng_below(&rng, sizeof(good));
        if (weir_json_parse(weir_str(text, len), &json, &err) == WEIR_OK) {
            assert_sound(weir_json_root(json), text);
            weir_json_free(json);
            taken++;
        }
    }
    ck_assert_int_gt(taken, 20); /* or the test would not look at nodes at all */
}
END_TEST

int main(void)
{
    struct suite s = suite_new("json");
    suite_add(&s, an_object_is_walked_in_the_order_of_the_text);
    suite_add(&s, a_member_is_found_by_its_exact_name);
    suite_add(&s, numbers_are_kept_as_they_were_written);
    suite_add(&s, strings_lose_their_escapes);
    suite_add(&s, comments_and_trailing_commas_are_taken);
    suite_add(&s, values_know_their_line_and_column);
    suite_add(&s, a_byte_order_mark_is_skipped);
    suite_add(&s, every_scalar_may_be_the_document);
    suite_add_loop(&s, "what_is_not_json_is_refused_with_line_and_column",
                   what_is_not_json_is_refused_with_line_and_column,
                   (int)(sizeof(refused) / sizeof(refused[0])));
    suite_add(&s, a_zero_byte_is_no_end);
    suite_add(&s, equal_keys_in_different_objects_are_no_repetition);
    suite_add(&s, a_long_key_that_stands_twice_is_cut_between_characters);
    suite_add(&s, nesting_ends_at_its_bound);
    suite_add(&s, a_text_beyond_two_gigabytes_is_not_even_looked_at);
    suite_add(&s, types_have_names);
    suite_add_loop(&s, "damaged_documents_are_refused_or_sound",
                   damaged_documents_are_refused_or_sound, 10);
    return suite_run(&s);
}
