/* SPDX-License-Identifier: MIT */
/* What a dry run sees in rows: links, and keys as the database compares them. */
#include "bulk/check_row.h"

#include "support/mapping_rig.h"

static struct weir_check_view view;

static void look(const char *members)
{
    weir_arena_reset(rig_arena);
    weir_check_view_row(&view, weir_str_from(members), rig_arena);
}

/* The key of the row; 0: none. */
static uint64_t key_of(const char *members)
{
    look(members);
    return view.hashes[0];
}

static void open_view(bool with_keys)
{
    weir_check_view_init(&view, table, with_keys);
}

START_TEST(a_key_is_all_of_its_columns_in_any_order)
{
    open_view(true);
    ck_assert_uint_eq(view.key_count, 1); /* the other one is not active */
    uint64_t key = key_of("\"name\":\"x\",\"serial\":7,\"kind\":1");
    ck_assert_uint_ne(key, 0);
    ck_assert_uint_eq(key_of("\"kind\":1,\"serial\":7,\"name\":\"y\""), key);
    ck_assert_uint_eq(key_of("\"kind\" : 1 , \"serial\" : 7"), key);
    ck_assert_uint_ne(key_of("\"serial\":1,\"kind\":7"), key);
    ck_assert_uint_ne(key_of("\"serial\":8,\"kind\":1"), key);
    ck_assert_uint_eq(key_of("\"serial\":7"), 0);
    ck_assert_uint_eq(key_of("\"serial\":7,\"kind\":null"), 0);
    ck_assert_uint_eq(key_of(""), 0);
    weir_check_view_release(&view);
}
END_TEST

START_TEST(texts_are_compared_as_the_database_does)
{
    rig_table(NAME_IS_KEY, NULL);
    open_view(true);
    ck_assert_uint_eq(view.key_count, 2);
    look("\"name\":\"Stra\\u00dfe \\\"1\\\"\"");
    uint64_t key = view.hashes[1];
    ck_assert(key && !view.hashes[0]);
    look("\"name\":\"STRA\xc3\x9f"
         "E \\u00221\\u0022  \"");
    ck_assert_uint_eq(view.hashes[1], key);
    look("\"name\":\"Strasse 2\"");
    ck_assert_uint_ne(view.hashes[1], key);
    look("\"name\":\"\"");
    ck_assert_uint_eq(view.hashes[1], 0);
    weir_check_view_release(&view);
}
END_TEST

/* As values of a key, and as what they are. */
START_TEST(lookups_are_parts_of_keys)
{
    static const char *const by_maker[] = { "[\"serial\",\"kind\"]", "[\"maker\"]" };
    rig_table(by_maker, NULL);
    open_view(true);
    uint64_t key = key_of("\"Maker@odata.bind\":\"/accounts(" ID_1 ")\"");
    ck_assert_uint_ne(key, 0);
    ck_assert_uint_eq(key_of("\"Maker@odata.bind\":\"/accounts(" ID_1 ")\""), key);
    ck_assert_uint_ne(key_of("\"Maker@odata.bind\":\"/accounts(" ID_2 ")\""), key);
    ck_assert_uint_eq(key_of("\"Maker@odata.bind\":null"), 0);
    weir_check_view_release(&view);
}
END_TEST

START_TEST(links_are_noted_once_with_their_set)
{
    open_view(false);
    ck_assert_uint_eq(view.key_count, 0);
    look("\"Maker@odata.bind\":\"/accounts(" ID_1 ")\",\"name\":\"/contacts(1)\"");
    look("\"Maker@odata.bind\" : \"/accounts(" ID_2 ")\"");
    look("\"buyer_contact@odata.bind\":\"https://host/api/data/v9.2/contacts(" ID_1 ")\"");
    look("\"name\":\"a@odata.bind\",\"notes\":\"\\\"b@odata.bind\\\":\\\"/c(1)\\\"\"");
    look("\"Maker@odata.bind\":null,\"x@odata.bind\":\"/y'or'(1)\",\"z@odata.bind\":\"accounts\"");
    ck_assert_uint_eq(view.link_count, 2);
    ck_assert_str_eq(view.links[0].member, "Maker");
    ck_assert_str_eq(view.links[0].set, "accounts");
    ck_assert_str_eq(view.links[1].member, "buyer_contact");
    ck_assert_str_eq(view.links[1].set, "contacts");
    ck_assert(!view.links_forgotten && !view.overrides);
    look("\"overriddencreatedon\":null");
    ck_assert(!view.overrides);
    look("\"overriddencreatedon\":\"2020-01-01T00:00:00Z\"");
    ck_assert(view.overrides);
    weir_check_view_release(&view);
}
END_TEST

START_TEST(more_links_than_are_kept_are_known_to_be_missing)
{
    char members[128];
    open_view(false);
    for (int i = 0; i <= WEIR_CHECK_LINKS_MAX; i++) {
        ck_assert(!view.links_forgotten);
        snprintf(members, sizeof(members), "\"m%d@odata.bind\":\"/s%d(1)\"", i, i);
        look(members);
    }
    ck_assert(view.links_forgotten);
    ck_assert_uint_eq(view.link_count, WEIR_CHECK_LINKS_MAX);
    weir_check_view_release(&view);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("check_row");
    rig_add(&s, a_key_is_all_of_its_columns_in_any_order);
    rig_add(&s, texts_are_compared_as_the_database_does);
    rig_add(&s, lookups_are_parts_of_keys);
    rig_add(&s, links_are_noted_once_with_their_set);
    rig_add(&s, more_links_than_are_kept_are_known_to_be_missing);
    return suite_run(&s);
}
