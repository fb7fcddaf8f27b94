/* SPDX-License-Identifier: MIT */
/* What is asked of the service about a table, and what is read out of canned answers. */
#include "support/gadget.h"

/* ---- asking ---- */

START_TEST(the_addresses_are_ready_for_a_request_line)
{
    char *paths[PARTS];
    ck_assert_int_eq(weir_metadata_paths("account", paths, &err), WEIR_OK);
    for (size_t i = 0; i < PARTS; i++) {
        ck_assert_ptr_null(strstr(paths[i], "api/data"));
        ck_assert_int_ne(paths[i][0], '/');
        ck_assert_ptr_nonnull(strstr(paths[i], "'account'"));
        for (const char *c = paths[i]; *c; c++)
            must(*c > ' ' && *c < 0x7f && *c != '"' && *c != '#');
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(paths[i], paths[k]);
    }
    ck_assert_str_eq(paths[STRINGS],
                     "EntityDefinitions(LogicalName='account')/Attributes/Microsoft."
                     "Dynamics.CRM.StringAttributeMetadata?$select=LogicalName,MaxLength");
    ck_assert_str_eq(paths[CREATES],
                     "sdkmessagefilters?$select=sdkmessagefilterid&$filter="
                     "sdkmessageid/name%20eq%20'CreateMultiple'%20and%20primaryobjecttypecode%20eq"
                     "%20'account'");
    weir_metadata_paths_free(paths);
    ck_assert_ptr_null(paths[0]);
    weir_metadata_paths_free(paths);
}
END_TEST

START_TEST(what_cannot_be_a_name_is_not_asked_for)
{
    static const char *const names[] = { "",     "a b",    "a'b",   "a)",  "a/b",
                                         "a%20", "\u00e4", "a\r\n", "a(b", NULL };
    char *paths[PARTS] = { NULL };
    for (size_t i = 0; i < COUNT(names); i++) {
        ck_assert_int_eq(weir_metadata_paths(names[i], paths, &err), WEIR_E_INVALID);
        ck_assert_ptr_null(paths[0]);
    }
    char longest[WEIR_NAME_BYTES_MAX + 2];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    ck_assert_int_eq(weir_metadata_paths(longest, paths, &err), WEIR_E_INVALID);
    longest[WEIR_NAME_BYTES_MAX] = '\0';
    ck_assert_int_eq(weir_metadata_paths(longest, paths, &err), WEIR_OK);
    weir_metadata_paths_free(paths);
}
END_TEST

/* ---- a table ---- */

START_TEST(a_table_has_its_names_and_kinds)
{
    gadget_read_well();
    ck_assert_str_eq(table->name, "gadget");
    ck_assert_str_eq(table->set_name, "gadgets");
    ck_assert_str_eq(table->primary_id, "gadgetid");
    ck_assert_str_eq(table->primary_name, "name");
    ck_assert_int_eq(table->type, WEIR_TABLE_STANDARD);
    ck_assert_int_eq(table->ownership, WEIR_OWNERSHIP_USER);
    ck_assert_ptr_null(weir_table_column(table, weir_str_from("Name")));
    ck_assert_ptr_null(weir_table_column(table, weir_str_from("nam")));
    ck_assert_ptr_null(weir_table_column(table, weir_str("", 0)));
}
END_TEST

START_TEST(tables_of_other_types_and_owners)
{
    static const struct {
        const char *old;
        const char *new;
        enum weir_table_type type;
        enum weir_ownership ownership;
    } rows[] = {
        { "'Standard'", "'Virtual'", WEIR_TABLE_VIRTUAL, WEIR_OWNERSHIP_USER },
        { "'Standard'", "'Quantum'", WEIR_TABLE_OTHER, WEIR_OWNERSHIP_USER },
        { "'Standard'", "null", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_USER },
        { "UserOwned", "OrganizationOwned", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_ORGANIZATION },
        { "UserOwned", "TeamOwned", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_USER },
        { "UserOwned", "None", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_NONE },
        { "UserOwned", "BusinessParented", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_NONE },
        { "'PrimaryNameAttribute':'name',", "", WEIR_TABLE_STANDARD, WEIR_OWNERSHIP_USER },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        gadget_replace(DEFINITION, rows[i].old, rows[i].new);
        gadget_read_well();
        ck_assert_msg(table->type == rows[i].type, "%s", rows[i].new);
        ck_assert_msg(table->ownership == rows[i].ownership, "%s", rows[i].new);
    }
    ck_assert_ptr_null(table->primary_name);
}
END_TEST

/* ---- columns ---- */

START_TEST(every_column_has_its_type)
{
    static const struct {
        const char *name;
        enum weir_column_type type;
    } rows[] = {
        { "gadgetid", WEIR_COLUMN_ID },     { "name", WEIR_COLUMN_STRING },
        { "kindname", WEIR_COLUMN_OTHER },  { "notes", WEIR_COLUMN_MEMO },
        { "pieces", WEIR_COLUMN_INTEGER },  { "serial", WEIR_COLUMN_BIGINT },
        { "weight", WEIR_COLUMN_DECIMAL },  { "angle", WEIR_COLUMN_DOUBLE },
        { "price", WEIR_COLUMN_MONEY },     { "sold", WEIR_COLUMN_BOOLEAN },
        { "kind", WEIR_COLUMN_PICKLIST },   { "tags", WEIR_COLUMN_MULTI_PICKLIST },
        { "statecode", WEIR_COLUMN_STATE }, { "statuscode", WEIR_COLUMN_STATUS },
        { "built", WEIR_COLUMN_DATETIME },  { "maker", WEIR_COLUMN_LOOKUP },
        { "buyer", WEIR_COLUMN_CUSTOMER },  { "ownerid", WEIR_COLUMN_OWNER },
        { "manual", WEIR_COLUMN_FILE },     { "photo", WEIR_COLUMN_IMAGE },
        { "plain", WEIR_COLUMN_STRING }, /* has only the older AttributeType */
    };
    gadget_read_well();
    ck_assert_uint_eq(COUNT(rows), table->column_count);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct weir_column *column = gadget_column(rows[i].name);
        ck_assert_msg(column->type == rows[i].type, "%s", rows[i].name);
        ck_assert_ptr_eq(column, &table->columns[i]);
        ck_assert(weir_column_is_lookup(column) ==
                  (rows[i].type >= WEIR_COLUMN_LOOKUP && rows[i].type <= WEIR_COLUMN_OWNER));
    }
}
END_TEST

START_TEST(columns_say_what_may_be_done_with_them)
{
    gadget_read_well();
    const struct weir_column *id = gadget_column("gadgetid");
    const struct weir_column *shown = gadget_column("kindname");
    ck_assert(id->for_create && !id->for_update && id->for_read);
    ck_assert(!shown->for_create && !shown->for_update && !shown->for_read);
    ck_assert_str_eq(shown->part_of, "kind");
    ck_assert_ptr_null(id->part_of);
    ck_assert_int_eq(id->required, WEIR_REQUIRED_SYSTEM);
    ck_assert_int_eq(gadget_column("name")->required, WEIR_REQUIRED_APPLICATION);
    ck_assert_int_eq(gadget_column("notes")->required, WEIR_REQUIRED_NONE);
}
END_TEST

START_TEST(lengths_and_ranges_are_as_written)
{
    static const struct {
        const char *name;
        uint32_t length_max;
        const char *min;
        const char *max;
        int precision;
    } rows[] = {
        { "name", 160, NULL, NULL, -1 },
        { "notes", 2000, NULL, NULL, -1 },
        { "plain", 0, NULL, NULL, -1 },
        { "pieces", 0, "-5", "2147483647", -1 },
        { "serial", 0, "-9223372036854775808", "9223372036854775807", -1 },
        { "weight", 0, "-100000000000.0", "1e11", 4 },
        { "angle", 0, "-180.0", "180.0", 5 },
        { "price", 0, "0.0", "922337203685477.0", 2 },
    };
    gadget_read_well();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct weir_column *column = gadget_column(rows[i].name);
        ck_assert_uint_eq(column->length_max, rows[i].length_max);
        ck_assert_pstr_eq(column->min, rows[i].min);
        ck_assert_pstr_eq(column->max, rows[i].max);
        ck_assert_int_eq(column->precision, rows[i].precision);
    }
}
END_TEST

START_TEST(dates_have_a_behaviour_and_a_format)
{
    static const char *const words[] = { "UserLocal", "DateOnly", "TimeZoneIndependent" };
    for (int i = 0; i < 3; i++) {
        char body[256];
        snprintf(body, sizeof(body),
                 LIST("{'LogicalName':'built','DateTimeBehavior':{'Value':'%s'},'Format':'%s'}"),
                 words[i], i ? "DateOnly" : "DateAndTime");
        gadget_set(DATES, body);
        gadget_read_well();
        ck_assert_int_eq(gadget_column("built")->behavior, i);
        ck_assert(gadget_column("built")->shows_date_only == (i > 0));
    }
    gadget_set(DATES, LIST("{'LogicalName':'built','DateTimeBehavior':{'Value':'Lunar'}}"));
    ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "\"Lunar\""));
    gadget_set(DATES, LIST("{'LogicalName':'built'}"));
    gadget_read_well();
    ck_assert_int_eq(gadget_column("built")->behavior, WEIR_DATE_USER_LOCAL);
}
END_TEST

START_TEST(choices_have_values_and_labels)
{
    static const struct {
        const char *name;
        uint32_t count;
        int32_t value;
        int32_t state;
        const char *label;
    } rows[] = {
        { "kind", 3, 1, -1, "Gizmo" },
        { "kind", 3, -2, -1, "Ding" }, /* not in the user's language */
        { "kind", 3, 3, -1, NULL },
        { "tags", 2, 10, -1, "Red" }, /* a shared set */
        { "tags", 2, 20, -1, "Blue" },
        { "statecode", 2, 1, -1, "Inactive" },
        { "statuscode", 2, 1, 0, "New" },
        { "statuscode", 2, 2, 1, "Old" },
        { "sold", 2, 0, -1, "In stock" },
        { "sold", 2, 1, -1, "Sold" },
    };
    gadget_read_well();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct weir_column *column = gadget_column(rows[i].name);
        const struct weir_choice *choice = weir_column_choice(column, rows[i].value);
        ck_assert_msg(choice, "%s has no %d", rows[i].name, rows[i].value);
        ck_assert_uint_eq(column->choice_count, rows[i].count);
        ck_assert_int_eq(choice->state, rows[i].state);
        ck_assert_pstr_eq(choice->label, rows[i].label);
    }
    ck_assert_ptr_null(weir_column_choice(gadget_column("kind"), 2));
    ck_assert_uint_eq(gadget_column("name")->choice_count, 0);
}
END_TEST

static void must_point(const char *name, const char *to, const char *navigation)
{
    const struct weir_lookup_target *target =
        weir_column_target(gadget_column(name), weir_str_from(to));
    ck_assert_msg(target, "%s to %s", name, to);
    ck_assert_pstr_eq(target->navigation, navigation);
}

START_TEST(columns_are_called_what_people_call_them)
{
    static const struct {
        const char *said;
        const char *label;
    } rows[] = {
        { "{'UserLocalizedLabel':{'Label':'Print','LanguageCode':1033},'LocalizedLabels':[]}",
          "Print" },
        { "{'UserLocalizedLabel':null,'LocalizedLabels':[{'Label':'Druck'},{'Label':'Print'}]}",
          "Druck" },
        { "{'UserLocalizedLabel':null,'LocalizedLabels':[]}", NULL },
        { "null", NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char with[300];
        snprintf(with, sizeof(with), "{'LogicalName':'notes','DisplayName':%s", rows[i].said);
        gadget_replace(DEFINITION, "{'LogicalName':'notes'", with);
        gadget_read_well();
        ck_assert_pstr_eq(gadget_column("notes")->label, rows[i].label);
        ck_assert_ptr_null(gadget_column("name")->label);
    }
    char *paths[PARTS];
    ck_assert_int_eq(weir_metadata_paths("gadget", paths, &err), WEIR_OK);
    ck_assert_ptr_nonnull(strstr(paths[DEFINITION], "RequiredLevel,DisplayName)"));
    weir_metadata_paths_free(paths);
}
END_TEST

START_TEST(lookups_know_their_targets_and_how_to_bind_them)
{
    gadget_read_well();
    must_point("maker", "account", "Maker");
    must_point("buyer", "account", "buyer_account");
    must_point("buyer", "contact", "buyer_contact");
    must_point("ownerid", "systemuser", "ownerid");
    must_point("ownerid", "team", "ownerid");
    ck_assert_uint_eq(gadget_column("ownerid")->target_count, 2);
    ck_assert_ptr_null(weir_column_target(gadget_column("maker"), weir_str_from("contact")));

    gadget_set(LOOKUPS, LIST("{'LogicalName':'maker','Targets':['contact']},"
                             "{'LogicalName':'buyer','Targets':[]},{'LogicalName':'ownerid'}"));
    gadget_read_well();
    must_point("maker", "contact", NULL);
    must_point("buyer", "account", "buyer_account"); /* what the relationships say */
    must_point("ownerid", "owner", "ownerid");
}
END_TEST

/* ---- keys and messages ---- */

START_TEST(keys_have_columns_and_a_status)
{
    static const char *const words[] = { "Quantum", "Pending", "InProgress", "Active", "Failed" };
    gadget_read_well();
    const struct weir_alternate_key *key = weir_table_key(table, weir_str_from("byserial"));
    ck_assert_ptr_nonnull(key);
    ck_assert_uint_eq(table->key_count, 2);
    ck_assert_uint_eq(key->column_count, 2);
    ck_assert_str_eq(key->columns[0], "serial");
    ck_assert_str_eq(key->columns[1], "kind");
    ck_assert_ptr_null(weir_table_key(table, weir_str_from("bynothing")));
    for (int i = 0; i < 5; i++) {
        gadget_replace(DEFINITION, "Active", words[i]);
        gadget_read_well();
        ck_assert_int_eq(weir_table_key(table, weir_str_from("byserial"))->status, i);
    }
}
END_TEST

START_TEST(upsert_follows_from_create_and_update_and_delete_is_for_elastic_tables)
{
    for (int elastic = 0; elastic < 2; elastic++) {
        gadget_replace(DEFINITION, "Standard", elastic ? "Elastic" : "Standard");
        for (unsigned mask = 0; mask < 16; mask++) {
            for (unsigned i = 0; i < 4; i++)
                gadget_set(CREATES + i, mask & 1u << i ? LIST("{}") : LIST(""));
            gadget_read_well();
            must(table->bulk_known);
            must(table->bulk[WEIR_BULK_CREATE] == (mask & 1));
            must(table->bulk[WEIR_BULK_UPDATE] == (mask >> 1 & 1));
            must(table->bulk[WEIR_BULK_UPSERT] == ((mask & 4) || (mask & 3) == 3));
            must(table->bulk[WEIR_BULK_DELETE] == (elastic && (mask & 8)));
        }
    }
    ck_assert_int_eq(table->type, WEIR_TABLE_ELASTIC);
}
END_TEST

START_TEST(a_key_is_found_by_its_columns_in_any_order)
{
    gadget_read_well();
    const struct weir_str serial = weir_str_from("serial"), kind = weir_str_from("kind"),
                          name = weir_str_from("name");
    const struct weir_alternate_key *key = weir_table_key(table, weir_str_from("byserial"));
    const struct weir_str straight[] = { serial, kind }, turned[] = { kind, serial };
    const struct weir_str twice[] = { serial, serial }, more[] = { serial, kind, name };
    ck_assert_ptr_eq(weir_table_key_of(table, straight, 2), key);
    ck_assert_ptr_eq(weir_table_key_of(table, turned, 2), key);
    ck_assert_ptr_eq(weir_table_key_of(table, &name, 1),
                     weir_table_key(table, weir_str_from("byname")));
    ck_assert_ptr_null(weir_table_key_of(table, twice, 2));
    ck_assert_ptr_null(weir_table_key_of(table, more, 3));
    ck_assert_ptr_null(weir_table_key_of(table, straight, 1));
    ck_assert_ptr_null(weir_table_key_of(table, straight, 0));
    gadget_replace(DEFINITION, "['serial','kind']", "['serial','serial']");
    gadget_read_well();
    ck_assert_ptr_null(weir_table_key_of(table, straight, 2));
    gadget_replace(DEFINITION, "['serial','kind']", "[]");
    gadget_read_well();
    ck_assert_ptr_null(weir_table_key_of(table, straight, 0));
}
END_TEST

START_TEST(requests_take_their_names_from_the_table)
{
    gadget_read_well();
    struct weir_table_names names = weir_table_names_of(table);
    ck_assert(weir_str_equal(names.logical_name, weir_str_from("gadget")));
    ck_assert(weir_str_equal(names.set_name, weir_str_from("gadgets")));
    ck_assert(weir_str_equal(names.primary_id, weir_str_from("gadgetid")));
    ck_assert_int_eq(weir_table_names_check(&names, NULL), WEIR_OK);
}
END_TEST

START_TEST(a_value_stands_in_a_key_as_its_column_wants_it)
{
    static const struct {
        const char *column;
        const char *written; /* NULL: not in a key */
    } rows[] = {
        { "name", "name='A1'" },
        { "notes", "notes='A1'" },
        { "pieces", "pieces=A1" },
        { "serial", "serial=A1" },
        { "weight", "weight=A1" },
        { "kind", "kind=A1" },
        { "sold", "sold=A1" },
        { "built", "built=A1" },
        { "gadgetid", "gadgetid=A1" },
        { "maker", "_maker_value=A1" },
        { "buyer", "_buyer_value=A1" },
        { "ownerid", "_ownerid_value=A1" },
        { "tags", NULL },
        { "photo", NULL },
        { "manual", NULL },
        { "kindname", NULL },
    };
    gadget_read_well();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_key_part part;
        struct weir_buf buf;
        bool good = weir_column_key_part(gadget_column(rows[i].column), weir_str_from("A1"), &part);
        ck_assert_msg(good == (rows[i].written != NULL), "%s", rows[i].column);
        if (!good)
            continue;
        weir_buf_init(&buf, 100);
        ck_assert_int_eq(weir_odata_add_predicate(&buf, &part, 1, NULL), WEIR_OK);
        ck_assert_str_eq(weir_buf_text(&buf), rows[i].written);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(bulk_support_that_we_may_not_know_is_unknown)
{
    static const int withheld[] = { 403, 404 };
    static const enum weir_class classes[] = { WEIR_CLASS_OK, WEIR_CLASS_PRIVILEGE,
                                               WEIR_CLASS_BAD_ROWS, WEIR_CLASS_OTHER };
    for (size_t part = CREATES; part <= DELETES; part++) {
        for (size_t i = 0; i < COUNT(withheld) * COUNT(classes); i++) {
            gadget_fill();
            parts[part].status = withheld[i % 2];
            parts[part].class_ = classes[i / 2];
            gadget_read_well();
            ck_assert(!table->bulk_known);
            for (int k = 0; k < WEIR_BULK_MESSAGES; k++)
                ck_assert(!table->bulk[k]);
        }
    }
}
END_TEST

START_TEST(every_type_has_a_name_of_its_own)
{
    for (int i = 0; i < WEIR_COLUMN_TYPES; i++) {
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(weir_column_type_name((enum weir_column_type)i),
                             weir_column_type_name((enum weir_column_type)k));
    }
    ck_assert_str_eq(weir_table_type_name(WEIR_TABLE_ELASTIC), "elastic");
    ck_assert_str_eq(weir_key_status_name(WEIR_KEY_STATUS_IN_PROGRESS), "in progress");
    ck_assert_str_eq(weir_column_type_name(WEIR_COLUMN_TYPES), "unknown type");
    ck_assert_str_eq(weir_table_type_name((enum weir_table_type)9), "unknown type");
    ck_assert_str_eq(weir_key_status_name((enum weir_key_status)9), "unknown status");
    weir_table_free(NULL);
}
END_TEST

#define ADD(test) gadget_add(&s, #test, test)

int main(void)
{
    struct suite s = suite_new("metadata");
    ADD(the_addresses_are_ready_for_a_request_line);
    ADD(what_cannot_be_a_name_is_not_asked_for);
    ADD(a_table_has_its_names_and_kinds);
    ADD(tables_of_other_types_and_owners);
    ADD(every_column_has_its_type);
    ADD(columns_say_what_may_be_done_with_them);
    ADD(lengths_and_ranges_are_as_written);
    ADD(dates_have_a_behaviour_and_a_format);
    ADD(choices_have_values_and_labels);
    ADD(columns_are_called_what_people_call_them);
    ADD(lookups_know_their_targets_and_how_to_bind_them);
    ADD(keys_have_columns_and_a_status);
    ADD(a_key_is_found_by_its_columns_in_any_order);
    ADD(requests_take_their_names_from_the_table);
    ADD(a_value_stands_in_a_key_as_its_column_wants_it);
    ADD(upsert_follows_from_create_and_update_and_delete_is_for_elastic_tables);
    ADD(bulk_support_that_we_may_not_know_is_unknown);
    ADD(every_type_has_a_name_of_its_own);
    return suite_run(&s);
}
