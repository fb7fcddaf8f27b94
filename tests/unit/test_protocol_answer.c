/* SPDX-License-Identifier: MIT */
/* Answers of success: ids, who am I, the id of a created row, the next page. */
#include <stdio.h>

#include "base/buf.h"
#include "protocol/answer.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define A            "00000000-0000-4000-8000-00000000000a"
#define B            "00000000-0000-4000-8000-00000000000b"
#define CONTEXT      "\"@odata.context\":\"http://x/$metadata#Ids\","

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static enum weir_status ids_of(const char *body, size_t count, struct weir_error *err)
{
    struct weir_guid ids[4];
    struct weir_str all = text(body);
    char *copy = exact_copy(all);
    enum weir_status status = weir_answer_ids(weir_str(copy, all.len), count, ids, err);
    free(copy);
    return status;
}

START_TEST(ids_are_exactly_as_many_as_rows)
{
    struct weir_error err;
    ck_assert_int_eq(ids_of("{" CONTEXT "\"Ids\":[\"" A "\",\"" B "\"]}", 2, &err), WEIR_OK);
    ck_assert_int_eq(ids_of("{\"Ids\":[]}", 0, &err), WEIR_OK);
    ck_assert_int_eq(ids_of("{\"Ids\":[\"" A "\"]}", 2, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the answer has 1 ids, but 2 rows were to be created");
    ck_assert_int_eq(ids_of("{\"Ids\":[\"" A "\",\"" B "\"]}", 1, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the answer has 2 ids, but 1 rows were to be created");
    ck_assert_int_eq(ids_of("{\"Ids\":[\"" A "\",7]}", 2, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "number 1 of the list \"Ids\" is no GUID");
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"ids\":[\"" A "\"]}",
        "{\"Ids\":\"" A "\"}",
        "{\"Ids\":{\"0\":\"" A "\"}}",
        "{\"Ids\":[\"{" A "}\"]}",
        "{\"Ids\":[\"\\u00300000000-0000-4000-8000-00000000000a\"]}",
        "{\"Ids\":[\"00000000-0000-4000-8000-00000000000\"]}",
        "{\"Ids\":[\"" A "0\"]}",
        "{\"Ids\":[null]}",
        "{\"Ids\":[[\"" A "\"]]}",
        "{\"Ids\":[\"" A "\",]}",
        "{\"Ids\":[\"" A "\"]",
        "{\"Ids\":[\"" A "\"]}}",
        "{\"error\":{\"code\":\"c\",\"message\":\"m\"}}",
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(ids_of(bad[i], 1, &err) == WEIR_E_INVALID, "%s", bad[i]);
}
END_TEST

START_TEST(random_ids_come_back_in_their_order_and_never_from_a_part)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 0);
    for (int run = 0; run < 50; run++) {
        static struct weir_guid made[100], got[100];
        struct weir_buf buf;
        size_t count = 1 + (size_t)weir_rng_below(&rng, 20);
        weir_buf_init(&buf, 65536);
        weir_buf_add_text(&buf, "{" CONTEXT "\"Ids\":");
        for (size_t i = 0; i < count; i++) {
            char id[WEIR_GUID_TEXT];
            for (size_t k = 0; k < 16; k++)
                made[i].bytes[k] = (uint8_t)weir_rng_below(&rng, 256);
            const char *between = run % 2 ? "," : ", "; /* as the service has it, and otherwise */
            weir_buf_printf(&buf, "%s\"%s\"", i ? between : "[", weir_guid_print(&made[i], id));
        }
        weir_buf_add_text(&buf, "]}");
        must(weir_answer_ids(weir_str(buf.ptr, buf.len), count, got, NULL) == WEIR_OK);
        for (size_t i = 0; i < count; i++)
            must(weir_guid_equal(&made[i], &got[i]));
        for (size_t len = 0; len < buf.len; len++)
            must(weir_answer_ids(weir_str(buf.ptr, len), count, got, NULL) != WEIR_OK);
        weir_buf_release(&buf);
    }
}
END_TEST

/* An answer as the service writes it is read another way than one with a blank in front. */
START_TEST(what_is_read_in_one_go_is_what_would_be_read_otherwise)
{
    static const char *const usual[] = { "{" CONTEXT "\"Ids\":[\"" A "\",\"" B "\"]}",
                                         "{\"Ids\":[\"" A "\",\"" B "\"]}" };
    struct weir_rng rng;
    int good = 0;
    weir_rng_init(&rng, 12, 0);
    for (int run = 0; run < 20000; run++) {
        char body[256] = " ";
        struct weir_guid one[2], other[2];
        size_t len = strlen(usual[run % 2]);
        memcpy(body + 1, usual[run % 2], len);
        if (run > 1)
            len = mutate(&rng, body + 1, len, sizeof(body) - 1);
        enum weir_status status = weir_answer_ids(weir_str(body + 1, len), 2, one, NULL);
        must(status == weir_answer_ids(weir_str(body, len + 1), 2, other, NULL));
        must(status || memcmp(one, other, sizeof(one)) == 0);
        good += status == WEIR_OK;
    }
    ck_assert_int_gt(good, 100);
}
END_TEST

START_TEST(who_am_i_names_three)
{
    struct weir_whoami who;
    struct weir_error err;
    char id[WEIR_GUID_TEXT];
    static const char whole[] = "{\"@odata.context\":\"x\",\"BusinessUnitId\":\"" B
                                "\",\"UserId\":\"" A "\",\"OrganizationId\":\"" B "\"}";
    ck_assert_int_eq(weir_answer_whoami(text(whole), &who, &err), WEIR_OK);
    ck_assert_str_eq(weir_guid_print(&who.user_id, id), A);
    ck_assert_str_eq(weir_guid_print(&who.business_unit_id, id), B);
    ck_assert_str_eq(weir_guid_print(&who.organization_id, id), B);
    for (size_t len = 0; len < strlen(whole); len++)
        ck_assert_int_eq(weir_answer_whoami(weir_str(whole, len), &who, &err), WEIR_E_INVALID);
    ck_assert_int_eq(
        weir_answer_whoami(text("{\"UserId\":\"" A "\",\"BusinessUnitId\":\"" A "\"}"), &who, &err),
        WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the answer has no GUID \"OrganizationId\"");
}
END_TEST

START_TEST(a_created_row_is_named_by_a_header)
{
    static const struct {
        const char *value;
        bool known;
    } rows[] = {
        { "https://org.crm.dynamics.com/api/data/v9.2/accounts(" A ")", true },
        { " /accounts(" A ") ", true },
        { "https://x/accounts(accountnumber='A1')", false },
        { "https://x/accounts(" A, false },
        { "https://x/accounts" A ")", false },
        { "(" A ")", true },
        { A ")", false },
        { "", false },
        { ")", false },
        { NULL, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_http_header headers[] = { { "X", "(" B ")" },
                                              { "odata-entityid", rows[i].value } };
        struct weir_guid id;
        char out[WEIR_GUID_TEXT];
        ck_assert_int_eq(weir_answer_entity_id(headers, 2, &id), rows[i].known);
        if (rows[i].known)
            ck_assert_str_eq(weir_guid_print(&id, out), A);
        ck_assert(!weir_answer_entity_id(headers, 1, &id));
    }
}
END_TEST

START_TEST(a_page_names_the_next_one)
{
    char link[32];
    ck_assert_int_eq(
        weir_answer_next_link(text("{\"value\":[],\"@odata.nextLink\":\"http:\\/\\/x\\u002fy?z\"}"),
                              link, sizeof(link), NULL),
        WEIR_OK);
    ck_assert_str_eq(link, "http://x/y?z");
    ck_assert_int_eq(weir_answer_next_link(text("{\"value\":[]}"), link, sizeof(link), NULL),
                     WEIR_OK);
    ck_assert_str_eq(link, "");
    ck_assert_int_eq(
        weir_answer_next_link(text("{\"@odata.nextLink\":5}"), link, sizeof(link), NULL),
        WEIR_E_INVALID);
    ck_assert_int_eq(weir_answer_next_link(text("{\"value\":["), link, sizeof(link), NULL),
                     WEIR_E_INVALID);
    ck_assert_int_eq(weir_answer_next_link(text("[]"), link, sizeof(link), NULL), WEIR_E_INVALID);
    ck_assert_int_eq(
        weir_answer_next_link(text("{\"@odata.nextLink\":\"http://01234567890123456789012345\"}"),
                              link, sizeof(link), NULL),
        WEIR_E_TOO_BIG);
}
END_TEST

START_TEST(a_link_of_bytes_that_are_no_text_is_none)
{
    static const struct {
        const char *written;
        const char *read; /* NULL: refused */
    } rows[] = {
        { "/\xc3\xab", "/\xc3\xab" },
        { "/\\ud83d\\udca7", "/\xf0\x9f\x92\xa7" },
        { "/\xef\xbf\xbd", "/\xef\xbf\xbd" },
        { "/\\ufffd", "/\xef\xbf\xbd" },
        { "/\xff", NULL },
        { "/\xc3", NULL },
        { "/\xed\xa0\x80", NULL },
        { "/\\ud83d", NULL },
        { "/\\udca7x", NULL },
        { "/\\u0000", NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char body[64], link[64] = "untouched";
        snprintf(body, sizeof(body), "{\"@odata.nextLink\":\"%s\"}", rows[i].written);
        ck_assert_int_eq(weir_answer_next_link(text(body), link, sizeof(link), NULL),
                         rows[i].read ? WEIR_OK : WEIR_E_INVALID);
        ck_assert_str_eq(link, rows[i].read ? rows[i].read : "untouched");
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_answer");
    suite_add(&s, ids_are_exactly_as_many_as_rows);
    suite_add(&s, random_ids_come_back_in_their_order_and_never_from_a_part);
    suite_add(&s, what_is_read_in_one_go_is_what_would_be_read_otherwise);
    suite_add(&s, who_am_i_names_three);
    suite_add(&s, a_created_row_is_named_by_a_header);
    suite_add(&s, a_page_names_the_next_one);
    suite_add(&s, a_link_of_bytes_that_are_no_text_is_none);
    return suite_run(&s);
}
