/* SPDX-License-Identifier: MIT */
/* Ids that are derived from values: by the definition, by an independent hand, and as a function.
 */
#include "records/derived_id.h"
#include "support/suite.h"

#define DNS "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

static struct weir_derived_ids *ids;

static void open_ids(const char *organisation)
{
    struct weir_guid guid;
    weir_derived_ids_free(ids);
    must(weir_guid_parse(weir_str_from(organisation), &guid));
    ids = weir_derived_ids_new(&guid);
}

static void close_ids(void)
{
    weir_derived_ids_free(ids);
    ids = NULL;
}

static const char *derive(const char *table, const struct weir_column *column, const char *value)
{
    static char text[WEIR_GUID_TEXT];
    weir_derived_ids_begin(ids, table);
    if (value)
        weir_derived_ids_add(ids, column, weir_str_from(value));
    struct weir_guid id = weir_derived_ids_end(ids);
    weir_guid_print(&id, text);
    return text;
}

/* Python: uuid.uuid5(uuid.NAMESPACE_DNS, "python.org"), and names with U+001F in them. */
START_TEST(they_are_what_others_call_version_5)
{
    open_ids(DNS);
    ck_assert_str_eq(derive("python.org", NULL, NULL), "886313e1-3b8a-5372-9b90-0c9aee199e5d");
    ck_assert_str_eq(derive("account", NULL, "4711"), "62933695-def6-57ac-80ac-03698cc65a98");
    ck_assert_str_eq(derive("account", NULL, "\u00fc \u4e2d"),
                     "45a97a3f-1dee-5620-b98b-4e4f9fe77ec0");
    close_ids();
}
END_TEST

START_TEST(blanks_around_a_value_do_not_count_and_those_inside_do)
{
    char one[WEIR_GUID_TEXT];
    open_ids(DNS);
    memcpy(one, derive("account", NULL, "a b"), sizeof(one));
    ck_assert_str_eq(derive("account", NULL, " a b\t\n"), one);
    ck_assert_str_ne(derive("account", NULL, "a  b"), one);
    ck_assert_str_ne(derive("account", NULL, "A b"), one);
    close_ids();
}
END_TEST

START_TEST(ids_are_taken_in_their_canonical_form_where_the_column_holds_ids)
{
    static const char lower[] = "0123abcd-4567-89ab-cdef-0123456789ab";
    static const char upper[] = "{0123ABCD-4567-89AB-CDEF-0123456789AB}";
    static const enum weir_column_type types[] = { WEIR_COLUMN_ID, WEIR_COLUMN_LOOKUP,
                                                   WEIR_COLUMN_CUSTOMER, WEIR_COLUMN_OWNER };
    char one[WEIR_GUID_TEXT];
    open_ids(DNS);
    memcpy(one, derive("account", NULL, lower), sizeof(one));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct weir_column column = { .name = "x", .type = types[i] };
        ck_assert_str_eq(derive("account", &column, upper), one);
        ck_assert_str_ne(derive("account", &column, "x"), one);
    }
    struct weir_column text = { .name = "x", .type = WEIR_COLUMN_STRING };
    ck_assert_str_ne(derive("account", &text, upper), one);
    close_ids();
}
END_TEST

/* Whatever is different gives another id: table, organisation, values, and where one value ends. */
START_TEST(everything_that_goes_in_matters)
{
    char seen[64][WEIR_GUID_TEXT];
    size_t count = 0;
    static const char *const tables[] = { "account", "accounts", "contact" };
    static const char *const values[][2] = { { "ab", "c" }, { "a", "bc" }, { "abc", "" } };
    static const char *const organisations[] = { DNS, "6ba7b811-9dad-11d1-80b4-00c04fd430c8" };
    for (size_t o = 0; o < 2; o++) {
        open_ids(organisations[o]);
        for (size_t i = 0; i < 9; i++) {
            weir_derived_ids_begin(ids, tables[i / 3]);
            weir_derived_ids_add(ids, NULL, weir_str_from(values[i % 3][0]));
            weir_derived_ids_add(ids, NULL, weir_str_from(values[i % 3][1]));
            struct weir_guid id = weir_derived_ids_end(ids);
            must(id.bytes[6] >> 4 == 5 && id.bytes[8] >> 6 == 2);
            weir_guid_print(&id, seen[count]);
            for (size_t k = 0; k < count; k++)
                ck_assert_str_ne(seen[k], seen[count]);
            count++;
        }
    }
    ck_assert_uint_eq(count, 18);
    close_ids();
}
END_TEST

/* One that was begun and not ended leaves nothing behind. */
START_TEST(each_begins_anew)
{
    char one[WEIR_GUID_TEXT];
    open_ids(DNS);
    memcpy(one, derive("account", NULL, "1"), sizeof(one));
    weir_derived_ids_begin(ids, "contact");
    weir_derived_ids_add(ids, NULL, weir_str_from("half"));
    ck_assert_str_eq(derive("account", NULL, "1"), one);
    ck_assert_str_eq(derive("account", NULL, "1"), one);
    close_ids();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("derived_id");
    suite_add(&s, they_are_what_others_call_version_5);
    suite_add(&s, blanks_around_a_value_do_not_count_and_those_inside_do);
    suite_add(&s, ids_are_taken_in_their_canonical_form_where_the_column_holds_ids);
    suite_add(&s, everything_that_goes_in_matters);
    suite_add(&s, each_begins_anew);
    return suite_run(&s);
}
