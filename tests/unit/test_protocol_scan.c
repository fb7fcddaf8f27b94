/* SPDX-License-Identifier: MIT */
/* JSON without a tree: what is a document, walking it, taking texts out. */
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "protocol/scan.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static bool is_document(const char *s)
{
    struct weir_str root;
    struct weir_str all = text(s);
    char *copy = exact_copy(all);
    bool good = weir_scan_document(weir_str(copy, all.len), &root);
    free(copy);
    return good;
}

START_TEST(documents_are_taken_whole_or_not_at_all)
{
    static const char *const good[] = {
        "{}",
        "[]",
        " \r\n\t[ ] ",
        "0",
        "-0",
        "-1.5e+10",
        "1E3",
        "true",
        "false",
        "null",
        "\"\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fF\"",
        "\"\\ud800\"", /* half a pair is grammatical */
        "\"\xff\"",    /* bytes are the reader's affair */
        "{\"a\":1,\"b\":[true,{\"c\":null}],\"a\":{}}",
        "\xef\xbb\xbf{}",
        "[[],{},\"\"]",
    };
    static const char *const bad[] = {
        "",          " ",        "\xef\xbb\xbf", "{",           "}",          "[",
        "]",         "[1",       "[1,",          "[1,]",        "[,1]",       "[1 2]",
        "{\"a\"}",   "{\"a\":}", "{a:1}",        "{\"a\":1,",   "{\"a\":1,}", "{,}",
        "{\"a\" 1}", "{1:2}",    "[1}",          "{\"a\":1]",   "tru",        "truE",
        "nullx",     "NaN",      "Infinity",     "01",          "-",          "+1",
        ".5",        "1.",       "1e",           "1e+",         "0x10",       "\"",
        "\"\\\"",    "\"\\x\"",  "\"\\u12\"",    "\"\\u12g4\"", "\"\n\"",     "'a'",
        "{} {}",     "1 2",      "[] x",         "// c\n{}",    "/**/{}",     "{}//",
        "[1]]",      "\"a\"\"",  "\"\x01\"",     "\"\\",        "\"\\u",
    };
    for (size_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(is_document(good[i]), "refused: %s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!is_document(bad[i]), "taken: %s", bad[i]);
    struct weir_str root;
    ck_assert(!weir_scan_document(weir_str(NULL, 0), &root));
    ck_assert(!weir_scan_document(weir_str("{}\0", 3), &root));
    ck_assert(weir_scan_document(text(" \n [1] \t"), &root));
    ck_assert(weir_str_equal(root, text("[1]")));
}
END_TEST

START_TEST(nesting_ends_at_its_bound)
{
    for (int deep = 0; deep < 2; deep++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 4096);
        int depth = WEIR_SCAN_DEPTH_MAX + deep;
        for (int i = 0; i < depth; i++)
            weir_buf_add_text(&buf, i % 2 ? "{\"a\":" : "[");
        weir_buf_add_char(&buf, '1');
        for (int i = depth; i > 0; i--)
            weir_buf_add_char(&buf, (i - 1) % 2 ? '}' : ']');
        ck_assert_int_eq(is_document(weir_buf_text(&buf)), !deep);
        weir_buf_release(&buf);
    }
    struct weir_str root;
    size_t len = 1000000;
    char *open = weir_calloc(len, 1);
    memset(open, '[', len);
    ck_assert(!weir_scan_document(weir_str(open, len), &root));
    free(open);
}
END_TEST

START_TEST(walking_meets_every_member_in_order)
{
    struct weir_str root, key, value;
    ck_assert(weir_scan_document(text("{ \"a\" : 1 , \"b}\" : [ \"]\\\"\" , { } , -2 ] "
                                      ",\"c\\u0041\":{\"d\":null},\"e\":true}"),
                                 &root));
    static const char *const members[][2] = {
        { "\"a\"", "1" },
        { "\"b}\"", "[ \"]\\\"\" , { } , -2 ]" },
        { "\"c\\u0041\"", "{\"d\":null}" },
        { "\"e\"", "true" },
    };
    struct weir_scan scan = weir_scan_open(root);
    for (size_t i = 0; i < COUNT(members); i++) {
        ck_assert(weir_scan_next(&scan, &key, &value));
        ck_assert(weir_str_equal(key, text(members[i][0])));
        ck_assert(weir_str_equal(value, text(members[i][1])));
    }
    ck_assert(!weir_scan_next(&scan, &key, &value));
    ck_assert(!weir_scan_next(&scan, &key, &value));

    struct weir_str list;
    ck_assert(weir_scan_find(root, "b}", &list));
    scan = weir_scan_open(list);
    static const char *const elements[] = { "\"]\\\"\"", "{ }", "-2" };
    for (size_t i = 0; i < COUNT(elements); i++) {
        ck_assert(weir_scan_next(&scan, &key, &value));
        ck_assert_uint_eq(key.len, 0);
        ck_assert(weir_str_equal(value, text(elements[i])));
    }
    ck_assert(!weir_scan_next(&scan, &key, &value));
    ck_assert(weir_scan_find(root, "cA", &value)); /* an escape in a key */
    ck_assert(!weir_scan_find(root, "d", &value));
    ck_assert(!weir_scan_find(list, "a", &value));
    ck_assert(!weir_scan_find(text("1"), "a", &value));
    scan = weir_scan_open(text("12"));
    ck_assert(!weir_scan_next(&scan, &key, &value));
    /* the first of two */
    ck_assert(weir_scan_find(text("{\"a\":1,\"a\":2}"), "a", &value));
    ck_assert(weir_str_equal(value, text("1")));
}
END_TEST

static void check_text(const char *json, const char *wanted)
{
    char out[64];
    size_t len = weir_scan_text(text(json), out, sizeof(out));
    ck_assert_str_eq(out, wanted);
    ck_assert_uint_eq(len, strlen(wanted));
}

START_TEST(texts_come_out_as_utf8)
{
    check_text("\"\"", "");
    check_text("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\b\f\n\r\tz");
    check_text("\"Zo\xc3\xab\"", "Zo\xc3\xab");
    check_text("\"\\u00eb\\u20AC\\ud83d\\ude00\"", "\xc3\xab\xe2\x82\xac\xf0\x9f\x98\x80");
    check_text("-12.5e3", "-12.5e3");
    check_text("true", "");
    check_text("null", "");
    check_text("[1]", "");
    /* what is none is replaced */
    check_text("\"a\\u0000b\"", "a\xef\xbf\xbd"
                                "b");
    check_text("\"\\ud83dx\"", "\xef\xbf\xbdx");
    check_text("\"\\ude00\"", "\xef\xbf\xbd");
    check_text("\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                                     "A");
    check_text("\"\xff\xc3\"", "\xef\xbf\xbd\xef\xbf\xbd");
    check_text("\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    check_text("\"\xc0\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong */
    check_text("\"\xf4\x90\x80\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}
END_TEST

START_TEST(texts_are_cut_at_a_character)
{
    for (size_t room = 1; room < 12; room++) {
        char out[12];
        memset(out, 'x', sizeof(out));
        size_t len = weir_scan_text(text("\"a\xc3\xab\xf0\x9f\x98\x80z\""), out, room);
        static const size_t cuts[] = { 0, 1, 3, 7, 8 };
        size_t wanted = 0;
        for (size_t i = 0; i < COUNT(cuts); i++) {
            if (cuts[i] < room)
                wanted = cuts[i];
        }
        ck_assert_uint_eq(len, wanted);
        ck_assert_int_eq(out[len], 0);
        for (size_t i = room; i < sizeof(out); i++)
            ck_assert_int_eq(out[i], 'x');
    }
}
END_TEST

/* ---- random documents ---- */

static void add_random_string(struct weir_rng *rng, struct weir_buf *buf)
{
    static const char *const pieces[] = {
        "a", "Z", " ", "\\n", "\\u00e9", "\xc3\xa9", "\\\"", "}"
    };
    weir_buf_add_char(buf, '"');
    for (uint64_t n = weir_rng_below(rng, 5); n > 0; n--)
        weir_buf_add_text(buf, pieces[weir_rng_below(rng, COUNT(pieces))]);
    weir_buf_add_char(buf, '"');
}

static void add_random_value(struct weir_rng *rng, struct weir_buf *buf, int depth)
{
    static const char *const scalars[] = { "0", "-1", "1.5", "2e9", "true", "false", "null" };
    uint64_t kind = weir_rng_below(rng, depth > 4 ? 2 : 4);
    if (kind == 0) {
        weir_buf_add_text(buf, scalars[weir_rng_below(rng, COUNT(scalars))]);
    } else if (kind == 1) {
        add_random_string(rng, buf);
    } else {
        weir_buf_add_char(buf, kind == 2 ? '[' : '{');
        uint64_t count = weir_rng_below(rng, 4);
        for (uint64_t i = 0; i < count; i++) {
            weir_buf_add_text(buf, i ? ", " : "");
            if (kind == 3)
                weir_buf_printf(buf, "\"k%u\":", (unsigned)i);
            add_random_value(rng, buf, depth + 1);
        }
        weir_buf_add_char(buf, kind == 2 ? ']' : '}');
    }
}

/* The library beside it takes comments and trailing commas, and refuses keys that come twice. */
static bool is_beyond_comparison(struct weir_str doc, const struct weir_error *err)
{
    if (memchr(doc.ptr, '/', doc.len) || strstr(err->message, "twice") ||
        strstr(err->message, "key") || strstr(err->message, "utf") || strstr(err->message, "UTF"))
        return true;
    for (size_t i = 0; i < doc.len; i++) {
        size_t next = i + 1;
        while (next < doc.len && strchr(" \t\r\n", doc.ptr[next]) && doc.ptr[next])
            next++;
        if (doc.ptr[i] == ',' && next < doc.len && (doc.ptr[next] == ']' || doc.ptr[next] == '}'))
            return true;
    }
    return false;
}

static void compare(struct weir_str doc)
{
    struct weir_str root;
    struct weir_json *json = NULL;
    struct weir_error err = { 0 };
    bool ours = weir_scan_document(doc, &root);
    bool theirs = weir_json_parse(doc, &json, &err) == WEIR_OK;
    weir_json_free(json);
    for (size_t i = 0; i < doc.len; i++) {
        if ((unsigned char)doc.ptr[i] >= 0x80 || doc.ptr[i] == 0)
            theirs |= ours; /* not UTF-8, perhaps */
    }
    if (ours != theirs && !is_beyond_comparison(doc, &err))
        ck_abort_msg("ours %d, theirs %d (%s): %.*s", ours, theirs, err.message, (int)doc.len,
                     doc.ptr);
}

START_TEST(random_documents_are_judged_as_json_c_judges_them)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, (uint64_t)_i);
    for (int run = 0; run < 2000; run++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 65536);
        add_random_value(&rng, &buf, 0);
        must(!buf.overflow);
        must(is_document(weir_buf_text(&buf)));
        char changed[4096];
        size_t len = buf.len < 2048 ? buf.len : 2048;
        memcpy(changed, buf.ptr, len);
        len = mutate(&rng, changed, len, sizeof(changed));
        char *copy = exact_copy(weir_str(changed, len));
        compare(weir_str(copy, len));
        free(copy);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(no_beginning_of_a_container_is_a_document)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 2, 0);
    for (int run = 0; run < 300; run++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 65536);
        weir_buf_add_char(&buf, '[');
        add_random_value(&rng, &buf, 1);
        weir_buf_add_char(&buf, ']');
        struct weir_str root;
        for (size_t len = 0; len < buf.len; len++)
            must(!weir_scan_document(weir_str(buf.ptr, len), &root));
        must(weir_scan_document(weir_str(buf.ptr, buf.len), &root));
        weir_buf_release(&buf);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_scan");
    suite_add(&s, documents_are_taken_whole_or_not_at_all);
    suite_add(&s, nesting_ends_at_its_bound);
    suite_add(&s, walking_meets_every_member_in_order);
    suite_add(&s, texts_come_out_as_utf8);
    suite_add(&s, texts_are_cut_at_a_character);
    suite_add_loop(&s, "random_documents_are_judged_as_json_c_judges_them",
                   random_documents_are_judged_as_json_c_judges_them, 5);
    suite_add(&s, no_beginning_of_a_container_is_a_document);
    return suite_run(&s);
}
