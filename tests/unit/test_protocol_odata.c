/* SPDX-License-Identifier: MIT */
/* GUIDs, addresses, keys, and where links lead. */
#include <stdio.h>

#include "base/limits.h"
#include "protocol/guid.h"
#include "protocol/odata.h"
#include "protocol/same_origin.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GUID         "0f8fad5b-d9cb-469f-a165-70867728950e"

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

START_TEST(guids_of_any_case_come_out_canonical)
{
    static const char *const forms[] = {
        GUID,
        "0F8FAD5B-D9CB-469F-A165-70867728950E",
        "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        "{0F8FAD5b-d9cb-469F-a165-70867728950E}",
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct weir_guid guid;
        char out[WEIR_GUID_TEXT];
        ck_assert(weir_guid_parse(text(forms[i]), &guid));
        ck_assert_str_eq(weir_guid_print(&guid, out), GUID);
        ck_assert_int_eq(weir_guid_is_canonical(text(forms[i])), i == 0);
    }
    static const char *const bad[] = {
        "",
        "{}",
        "0f8fad5bd9cb469fa16570867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950",
        "0f8fad5b-d9cb-469f-a165-70867728950e0",
        "0f8fad5b-d9cb-469f-a165_70867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950g",
        "{0f8fad5b-d9cb-469f-a165-70867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950e}",
        "(0f8fad5b-d9cb-469f-a165-70867728950e)",
        " 0f8fad5b-d9cb-469f-a165-70867728950e",
        "0f8fad5-bd9cb-469f-a165-70867728950e",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct weir_guid guid;
        ck_assert_msg(!weir_guid_parse(text(bad[i]), &guid), "%s", bad[i]);
        ck_assert(!weir_guid_is_canonical(text(bad[i])));
    }
}
END_TEST

/* Every byte in every place. */
START_TEST(one_byte_makes_a_guid_or_none)
{
    char form[] = GUID;
    for (size_t at = 0; at < strlen(GUID); at++) {
        for (int byte = 0; byte < 256; byte++) {
            struct weir_guid guid;
            char out[WEIR_GUID_TEXT];
            form[at] = (char)byte;
            bool dash = at == 8 || at == 13 || at == 18 || at == 23;
            bool good = dash ? byte == '-' : byte && strchr("0123456789abcdefABCDEF", byte);
            must(weir_guid_parse(weir_str(form, strlen(GUID)), &guid) == good);
            bool small = good && !(byte >= 'A' && byte <= 'F');
            must(weir_guid_is_canonical(weir_str(form, strlen(GUID))) == small);
            if (good)
                must(strcasecmp(weir_guid_print(&guid, out), form) == 0);
        }
        form[at] = GUID[at];
    }
}
END_TEST

START_TEST(random_guids_survive_print_and_parse)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int run = 0; run < 10000; run++) {
        struct weir_guid guid, back;
        char out[WEIR_GUID_TEXT];
        for (size_t i = 0; i < sizeof(guid.bytes); i++)
            guid.bytes[i] = (uint8_t)weir_rng_below(&rng, 256);
        weir_guid_print(&guid, out);
        must(weir_guid_is_canonical(text(out)));
        must(weir_guid_parse(text(out), &back) && weir_guid_equal(&guid, &back));
        back.bytes[weir_rng_below(&rng, 16)] ^= 1;
        must(!weir_guid_equal(&guid, &back));
    }
}
END_TEST

static int unhex(char c)
{
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

START_TEST(encoding_leaves_only_what_an_address_may_hold)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 4096);
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    weir_odata_add_encoded(&buf, weir_str(all, sizeof(all)));
    ck_assert(weir_odata_is_address(weir_str(buf.ptr, buf.len)));
    size_t at = 0;
    for (int i = 0; i < 256; i++) {
        int c = (unsigned char)buf.ptr[at++];
        if (c == '%') {
            c = unhex(buf.ptr[at]) << 4 | unhex(buf.ptr[at + 1]);
            at += 2;
        } else {
            ck_assert(
                strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c));
        }
        ck_assert_int_eq(c, i);
    }
    ck_assert_uint_eq(at, buf.len);
    ck_assert_uint_eq(weir_odata_encoded_bytes(weir_str(all, sizeof(all))), buf.len);
    weir_buf_release(&buf);
}
END_TEST

START_TEST(queries_begin_with_a_question_mark_once)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 4096);
    weir_buf_add_text(&buf, WEIR_API_PATH "accounts");
    weir_odata_add_query(&buf, "tag", text("a b&c=d?"));
    weir_odata_add_query(&buf, "x", text("\xc3\xab"));
    ck_assert_str_eq(weir_buf_text(&buf), "/api/data/v9.2/accounts?tag=a%20b%26c%3Dd%3F&x=%C3%AB");
    weir_buf_release(&buf);
}
END_TEST

static const char *predicate(const struct weir_key_part *parts, size_t count)
{
    static char out[4096];
    struct weir_buf buf;
    struct weir_error err;
    weir_buf_init(&buf, sizeof(out) - 1);
    if (weir_odata_add_predicate(&buf, parts, count, &err) != WEIR_OK) {
        ck_assert_uint_eq(buf.len, 0);
        snprintf(out, sizeof(out), "! %s", err.message);
    } else {
        snprintf(out, sizeof(out), "%s", weir_buf_text(&buf));
    }
    weir_buf_release(&buf);
    return out;
}

START_TEST(keys_are_written_as_predicates)
{
    struct weir_key_part parts[] = {
        { WEIR_KEY_PART_TEXT, text("accountnumber"), text("O'Brien") },
        { WEIR_KEY_PART_LITERAL, text("x"), text("5") },
        { WEIR_KEY_PART_LITERAL, text("_parentaccountid_value"), text(GUID) },
        { WEIR_KEY_PART_TEXT, text("name"), text("Zo\xc3\xab (#1), \"2\" = ''") },
    };
    ck_assert_str_eq(predicate(parts, 1), "accountnumber='O''Brien'");
    ck_assert_str_eq(predicate(parts, 2), "accountnumber='O''Brien',x=5");
    ck_assert_str_eq(predicate(parts + 2, 1), "_parentaccountid_value=" GUID);
    ck_assert_str_eq(predicate(parts + 3, 1),
                     "name='Zo%C3%AB%20%28%231%29%2C%20%222%22%20%3D%20'''''");
}
END_TEST

START_TEST(what_cannot_stand_in_a_key_is_named)
{
    static const char refused[] = "/<>*%&:\\?+";
    for (const char *c = refused; *c; c++) {
        char value[] = "ab_cd", message[128];
        value[2] = *c;
        ck_assert_uint_eq(weir_odata_key_obstacle(text(value)), 2);
        struct weir_key_part part = { WEIR_KEY_PART_TEXT, text("no"), text(value) };
        snprintf(message, sizeof(message),
                 "! the value \"%s\" of the key \"no\" has a \"%c\", which cannot stand in a key; "
                 "use the row's id",
                 value, *c);
        ck_assert_str_eq(predicate(&part, 1), message);
    }
    for (int c = 1; c < 256; c++) {
        char value[] = { 'a', (char)c, '\0' };
        bool bad = c < 0x20 || c == 0x7f || strchr(refused, c);
        ck_assert_int_eq(weir_odata_key_obstacle(text(value)) < 2, bad);
    }
    ck_assert_uint_eq(weir_odata_key_obstacle(weir_str("a\0b", 3)), 1);
    ck_assert_uint_eq(weir_odata_key_obstacle(text("")), 0);

    struct weir_key_part control = { WEIR_KEY_PART_TEXT, text("no"), text("a\nb") };
    ck_assert_ptr_nonnull(strstr(predicate(&control, 1), "control character"));
    struct weir_key_part empty = { WEIR_KEY_PART_TEXT, text("no"), text("") };
    ck_assert_str_eq(predicate(&empty, 1), "! the key \"no\" has no value");
    struct weir_key_part nameless = { WEIR_KEY_PART_TEXT, text("a b"), text("1") };
    ck_assert_ptr_nonnull(strstr(predicate(&nameless, 1), "needs names"));

    struct weir_key_part many[WEIR_KEY_PARTS_MAX + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (struct weir_key_part){ WEIR_KEY_PART_LITERAL, text("n"), text("1") };
    ck_assert_str_eq(predicate(many, 0), "! a key has 1 to 16 columns, not 0");
    ck_assert_int_eq(predicate(many, WEIR_KEY_PARTS_MAX)[0], 'n');
    ck_assert_str_eq(predicate(many, COUNT(many)), "! a key has 1 to 16 columns, not 17");
    /* a long value is shown by its beginning, cut at a character */
    struct weir_key_part wide = { WEIR_KEY_PART_TEXT, text("no"),
                                  text(
                                      "?12345678901234567890123456789012345678901234567890123456789"
                                      "\xc3\xab\xc3\xab") };
    ck_assert_ptr_nonnull(strstr(predicate(&wide, 1), "56789\" of the key"));
}
END_TEST

START_TEST(a_literal_is_made_of_letters_digits_and_three_signs)
{
    for (int c = 1; c < 256; c++) {
        char value[] = { '1', (char)c, '2', '\0' };
        struct weir_key_part part = { WEIR_KEY_PART_LITERAL, text("no"), text(value) };
        bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    strchr("._-", c);
        const char *written = predicate(&part, 1);
        ck_assert_msg((written[0] == 'n') == good, "%s", written);
        if (good)
            ck_assert_str_eq(written + 3, value);
    }
    struct weir_key_part injected = { WEIR_KEY_PART_LITERAL, text("no"), text("5,other='x'") };
    ck_assert_str_eq(predicate(&injected, 1),
                     "! the value \"5,other='x'\" of the key \"no\" is no number, date or id: only "
                     "letters, digits and . _ - make one");
}
END_TEST

START_TEST(links_are_followed_to_the_same_origin_only)
{
    static const struct {
        const char *origin;
        const char *link;
        const char *path; /* NULL: not to be followed */
    } rows[] = {
        { "https://org.crm.dynamics.com", "https://org.crm.dynamics.com/api/x?a=1", "/api/x?a=1" },
        { "https://org.crm.dynamics.com", "HTTPS://ORG.crm.dynamics.com:443/x", "/x" },
        { "https://org.crm.dynamics.com:443", "https://org.crm.dynamics.com/x", "/x" },
        { "https://org.crm.dynamics.com", "/x", "/x" },
        { "http://127.0.0.1:8080", "http://127.0.0.1:8080/x", "/x" },
        { "http://[::1]:8080", "http://[::1]:8080/x", "/x" },
        { "http://[::1]", "http://[::1]:80/x", "/x" },
        { "https://a", "https://a/?http://b/", "/?http://b/" },

        { "https://a", "http://a/x", NULL },
        { "https://a", "https://b/x", NULL },
        { "https://a", "https://a.b/x", NULL },
        { "https://a", "https://a:444/x", NULL },
        { "https://a", "https://a:80/x", NULL },
        { "http://a:8080", "http://a/x", NULL },
        { "https://a", "https://a@b/x", NULL },
        { "https://a", "https://a:443@b/x", NULL },
        { "https://a", "https://u@a/x", NULL },
        { "https://a", "//a/x", NULL },
        { "https://a", "https:///x", NULL },
        { "https://a", "https://a//x", NULL },
        { "https://a", "https:/a/x", NULL },
        { "https://a", "https://a", NULL },
        { "https://a", "https://a?x", NULL },
        { "https://a", "https://a:/x", NULL },
        { "https://a", "https://a:x/x", NULL },
        { "https://a", "https://a:+443/x", NULL },
        { "https://a", "https://a:-443/x", NULL },
        { "https://a", "https://a:443x/x", NULL },
        { "https://a", "https://a:0443/x", "/x" },
        { "https://a:65536", "https://a:65536/x", NULL },
        { "https://a:99999999999999999999", "https://a:99999999999999999999/x", NULL },
        { "https://a", "https://a\\@b/x", NULL },
        { "https://a", "https://a/x#y", NULL },
        { "https://a", "https://a/x y", NULL },
        { "https://a", "https://a/x\r\nHost: b", NULL },
        { "https://a", "https://a/\xc3\xab", NULL },
        { "https://a", "\\\\a/x", NULL },
        { "https://a", "/\\b/x", NULL },
        { "https://a", "https://a/x\\y", NULL },
        { "https://a", "x", NULL },
        { "https://a", "?x", NULL },
        { "https://a", "", NULL },
        { "https://a", "javascript://a/x", NULL },
        { "http://[::1]:8080", "http://[::1]:8081/x", NULL },
        { "http://[::1]", "http://[::2]/x", NULL },
        { "", "https://a/x", NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_str path = weir_str("untouched", 9);
        bool follow = weir_same_origin_path(rows[i].origin, text(rows[i].link), &path);
        ck_assert_msg(follow == (rows[i].path != NULL), "row %zu: %s", i, rows[i].link);
        const char *wanted = rows[i].path ? rows[i].path : "untouched";
        ck_assert_msg(weir_str_equal(path, text(wanted)), "row %zu: %s", i, rows[i].link);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_odata");
    suite_add(&s, guids_of_any_case_come_out_canonical);
    suite_add(&s, one_byte_makes_a_guid_or_none);
    suite_add(&s, random_guids_survive_print_and_parse);
    suite_add(&s, encoding_leaves_only_what_an_address_may_hold);
    suite_add(&s, queries_begin_with_a_question_mark_once);
    suite_add(&s, keys_are_written_as_predicates);
    suite_add(&s, what_cannot_stand_in_a_key_is_named);
    suite_add(&s, a_literal_is_made_of_letters_digits_and_three_signs);
    suite_add(&s, links_are_followed_to_the_same_origin_only);
    return suite_run(&s);
}
