/* SPDX-License-Identifier: MIT */
/* Cells that point to other rows: by ids, keys, lists of references and derived ids. */
#include "records/derived_id.h"
#include "support/lookup_rig.h"

#define NOT_ID "takes 32 hexadecimal digits in groups of 8-4-4-4-12, not all of them 0"
#define NIL    "00000000-0000-0000-0000-000000000000"
#define MAKER  "\"Maker@odata.bind\":\"/accounts(" ID_1 ")\""

/* A header of one column, a cell, and what it becomes: a member or a refusal. */
struct cell {
    const char *header;
    const char *cell;
    const char *member; /* or … */
    const char *reason; /* … why not */
};

static void try_cells(const struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rig_open(cells[i].header);
        rig_row(cells[i].cell);
        if (cells[i].reason)
            same_text(draft.refusal, cells[i].reason);
        else
            is_members(cells[i].member);
    }
}

static void add_reference(struct weir_references *references, uint32_t list, const char *value,
                          const char *id)
{
    struct weir_guid guid;
    must(weir_guid_parse(weir_str_from(id), &guid));
    must(weir_references_add(references, list, weir_str_from(value), &guid, &err) == WEIR_OK);
}

/* ---- ids ---- */

START_TEST(an_id_becomes_an_address_below_the_navigation_property)
{
    static const struct cell cells[] = {
        { "maker", ID_1, MAKER, NULL },
        { "maker", ID_1X, MAKER, NULL },
        { "maker", "  " ID_1 " ", MAKER, NULL },
        { "maker", "(" ID_1 ")", MAKER, NULL },
        { "maker", "0123ABCD456789ABCDEF0123456789AB", MAKER, NULL },
        { "maker", "account:" ID_1, MAKER, NULL },
        { "maker", "account: {" ID_1 "}", MAKER, NULL },
        { "maker:account", ID_1, MAKER, NULL },
        { "maker : account", ID_1, MAKER, NULL },
        { "maker", "Contoso", NULL, "\"Contoso\" is no id; \"maker\" " NOT_ID },
        { "maker", "contact:" ID_1, NULL,
          "the row points to the table \"contact\"; \"maker\" takes ids of \"account\" here" },
        { "maker", "http://x", NULL, "\"http://x\" is no id; \"maker\" " NOT_ID },
        { "maker", NIL, NULL, "\"" NIL "\" is no id; \"maker\" " NOT_ID },
        { "maker", " ", NULL, "every cell of the row is empty" },
        { "maker", "account:", NULL, "\"account:\" is no id; \"maker\" " NOT_ID },
    };
    try_cells(cells, COUNT(cells));
}
END_TEST

START_TEST(a_lookup_to_several_tables_needs_to_know_which)
{
    static const char which[] = " is no reference; \"buyer\" takes account:ID or contact:ID";
    static const struct cell cells[] = {
        { "buyer", "account:" ID_1, "\"buyer_account@odata.bind\":\"/accounts(" ID_1 ")\"", NULL },
        { "buyer", "contact:" ID_1X, "\"buyer_contact@odata.bind\":\"/contacts(" ID_1 ")\"", NULL },
        { "buyer:contact", ID_1, "\"buyer_contact@odata.bind\":\"/contacts(" ID_1 ")\"", NULL },
        { "buyer:contact", "contact:" ID_1, "\"buyer_contact@odata.bind\":\"/contacts(" ID_1 ")\"",
          NULL },
        { "buyer:contact", "account:" ID_1, NULL,
          "the row points to the table \"account\"; \"buyer\" takes ids of \"contact\" here" },
    };
    char reason[200];
    try_cells(cells, COUNT(cells));
    rig_open("buyer");
    snprintf(reason, sizeof(reason), "\"%s\"%s", ID_1, which);
    rig_row(ID_1);
    is_refused("buyer", reason);
    snprintf(reason, sizeof(reason), "\"lead:%s\"%s", ID_1, which);
    rig_row("lead:" ID_1);
    is_refused("buyer", reason);
    snprintf(reason, sizeof(reason), "\"account:x\"%s", which);
    rig_row("account:x");
    is_refused("buyer", reason);
}
END_TEST

START_TEST(an_owner_is_a_user_or_a_team)
{
    static const struct cell cells[] = {
        { "ownerid", "team:" ID_1, "\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"", NULL },
        { "ownerid", "systemuser: " ID_1, "\"ownerid@odata.bind\":\"/systemusers(" ID_1 ")\"",
          NULL },
        { "ownerid:systemuser", ID_1, "\"ownerid@odata.bind\":\"/systemusers(" ID_1 ")\"", NULL },
        { "ownerid:team", ID_1, "\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"", NULL },
        { "ownerid", ID_1, NULL,
          "\"" ID_1 "\" is no owner; \"ownerid\" takes systemuser:ID or team:ID" },
        { "ownerid", "account:" ID_1, NULL,
          "\"account:" ID_1 "\" is no owner; \"ownerid\" takes systemuser:ID or team:ID" },
    };
    try_cells(cells, COUNT(cells));
    struct weir_table_list list;
    struct weir_str name = weir_str_from("ownerid");
    gadget_set(LOOKUPS, LIST("")); /* then only the relationship to owners is known */
    gadget_read_well();
    try_cells(cells, COUNT(cells));
    must(weir_mapping_tables(table, (struct weir_columns){ &name, 1 }, NULL, &list, &err) ==
         WEIR_OK);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

/* Each row fills one of them. */
START_TEST(a_lookup_may_have_a_column_for_each_table)
{
    rig_open("buyer:account,buyer:contact");
    rig_row(ID_1, "");
    is_members("\"buyer_account@odata.bind\":\"/accounts(" ID_1 ")\"");
    rig_row("", ID_2);
    is_members("\"buyer_contact@odata.bind\":\"/contacts(" ID_2 ")\"");
    rig_row("", "");
    is_refused("", "every cell of the row is empty");
    rig_row(ID_1, ID_2);
    is_refused("buyer", "the row has two values for \"buyer\", which takes one");
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_open("gadgetid,buyer:account,buyer:contact");
    rig_row(ID_1, "", ID_2);
    is_members("\"buyer_contact@odata.bind\":\"/contacts(" ID_2 ")\"");
    rig_row(ID_1, ID_2, "");
    is_members("\"buyer_account@odata.bind\":\"/accounts(" ID_2 ")\"");
    rig_row(ID_1, "", "");
    is_members("\"buyer_contact@odata.bind\":null");
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_refused("buyer:account,buyer:account(accountnumber)",
                "the columns \"buyer:account\" and \"buyer:account(accountnumber)\" of the input "
                "both go to \"buyer\"");
    rig_refused("buyer,buyer:account",
                "the columns \"buyer\" and \"buyer:account\" of the input both go to \"buyer\"");
}
END_TEST

/* ---- keys ---- */

START_TEST(a_key_of_the_other_table_binds_without_a_read)
{
#define BY_NUMBER(inside) "\"Maker@odata.bind\":\"/accounts(" inside ")\""
    static const struct cell cells[] = {
        { "maker:account(accountnumber)", "A1", BY_NUMBER("accountnumber='A1'"), NULL },
        { "maker:account(accountnumber)", "O'Brien \"1\"",
          BY_NUMBER("accountnumber='O''Brien%20%221%22'"), NULL },
        { "maker:account(accountnumber)", "\u00fc,1", BY_NUMBER("accountnumber='%C3%BC%2C1'"),
          NULL },
        { "maker:account( region , accountnumber )", "007,A1",
          BY_NUMBER("region=7,accountnumber='A1'"), NULL },
        { "maker:account(accountnumber,region)", "\"A,\"\"1\", 7",
          BY_NUMBER("accountnumber='A%2C%221',region=7"), NULL },
        { "maker:account(accountnumber)", "a/b", NULL,
          "the value \"a/b\" of the key \"accountnumber\" has a \"/\", which cannot stand in a "
          "key; use the row's id" },
        { "maker:account(accountnumber)", " ", NULL, "every cell of the row is empty" },
        { "maker:account(region,accountnumber)", "7", NULL,
          "\"7\" does not have 2 values with commas between them, none of them empty, as "
          "\"maker\" takes them" },
        { "maker:account(region,accountnumber)", "7,A1,x", NULL,
          "\"7,A1,x\" does not have 2 values with commas between them, none of them empty, as "
          "\"maker\" takes them" },
        { "maker:account(region,accountnumber)", "7,", NULL,
          "\"7,\" does not have 2 values with commas between them, none of them empty, as "
          "\"maker\" takes them" },
        { "maker:account(region,accountnumber)", "7,\"A1", NULL,
          "\"7,\"A1\" does not have 2 values with commas between them, none of them empty, as "
          "\"maker\" takes them" },
        { "maker:account(region,accountnumber)", "7,\"A1\"x", NULL,
          "\"7,\"A1\"x\" does not have 2 values with commas between them, none of them empty, as "
          "\"maker\" takes them" },
        { "maker:account(region,accountnumber)", "x,A1", NULL,
          "\"x\" is no whole number; \"region\" takes digits without separators" },
        { "buyer:account(accountnumber)", "A1",
          "\"buyer_account@odata.bind\":\"/accounts(accountnumber='A1')\"", NULL },
    };
    try_cells(cells, COUNT(cells));
    const struct weir_table *of;
    const struct weir_column *column;
    must(!weir_mapping_reference(mapping, 0, &of, &column));
}
END_TEST

START_TEST(a_key_that_no_address_can_hold_is_refused)
{
    char *text = weir_calloc(WEIR_ROW_NAME_BYTES_MAX + 1, 1);
    memset(text, 'x', WEIR_ROW_NAME_BYTES_MAX);
    rig_open("maker:account(accountnumber)");
    rig_row(text);
    same_text(draft.refusal,
              "what \"maker\" points to has a key of more than 16384 bytes, which no "
              "address can hold");
    text[WEIR_ROW_NAME_BYTES_MAX - strlen("accountnumber=''")] = 0;
    rig_row(text);
    is_fine();
    free(text);
}
END_TEST

/* ---- references ---- */

START_TEST(any_column_leads_to_a_row_by_a_list_that_was_read)
{
    struct weir_references *references = weir_references_new();
    const struct weir_table *of;
    const struct weir_column *column;
    rig_open("ownerid:systemuser(domainname),maker:account(name),buyer:contact(emailaddress1)");
    static const char *const lists[][2] = { { "systemuser", "domainname" },
                                            { "account", "name" },
                                            { "contact", "emailaddress1" } };
    for (uint32_t i = 0; i < COUNT(lists); i++) {
        must(weir_mapping_reference(mapping, i, &of, &column));
        ck_assert_str_eq(of->name, lists[i][0]);
        ck_assert_str_eq(column->name, lists[i][1]);
    }
    must(!weir_mapping_reference(mapping, COUNT(lists), &of, &column));
    add_reference(references, 0, "anna@contoso.com", ID_1);
    add_reference(references, 0, "twin", ID_1);
    add_reference(references, 0, "TWIN ", ID_2);
    add_reference(references, 1, "anna@contoso.com", ID_2);
    weir_mapping_set_references(mapping, references);
    rig_row("Anna@Contoso.com ", "", "");
    is_members("\"ownerid@odata.bind\":\"/systemusers(" ID_1 ")\"");
    rig_row("", "anna@contoso.com", "");
    is_members("\"Maker@odata.bind\":\"/accounts(" ID_2 ")\"");
    rig_row("bert@contoso.com", "", "");
    is_refused("ownerid", "no row of the table \"systemuser\" has \"bert@contoso.com\" as "
                          "\"domainname\", to which \"ownerid\" would point");
    rig_row("Twin", "", "");
    is_refused("ownerid", "several rows of the table \"systemuser\" have \"Twin\" as "
                          "\"domainname\"; \"ownerid\" takes what only one has");
    rig_row("", "", "x");
    is_refused("buyer", "no row of the table \"contact\" has \"x\" as \"emailaddress1\", to which "
                        "\"buyer\" would point");
    weir_references_free(references);
}
END_TEST

START_TEST(two_lookups_share_a_list)
{
    const struct weir_table *of;
    const struct weir_column *column;
    rig_open("maker:account(name),buyer:account(name)");
    must(weir_mapping_reference(mapping, 0, &of, &column));
    must(!weir_mapping_reference(mapping, 1, &of, &column));
}
END_TEST

/* ---- derived ---- */

START_TEST(a_derived_id_is_what_the_other_job_gave_its_row)
{
    char id[WEIR_GUID_TEXT];
    char member[200];
    struct weir_guid organisation;
    must(weir_guid_parse(weir_str_from(ORGANISATION), &organisation));
    struct weir_derived_ids *ids = weir_derived_ids_new(&organisation);
    weir_derived_ids_begin(ids, "account");
    weir_derived_ids_add(ids, NULL, weir_str_from("4711"));
    struct weir_guid guid = weir_derived_ids_end(ids);
    snprintf(member, sizeof(member), "\"Maker@odata.bind\":\"/accounts(%s)\"",
             weir_guid_print(&guid, id));
    rig_open("maker:account(#code)");
    rig_row(" 4711 ");
    is_members(member);
    rig_open("maker:account(#accountnumber)");
    rig_row("4711");
    is_members(member);
    weir_derived_ids_begin(ids, "account");
    weir_derived_ids_add(ids, NULL, weir_str_from("a,b"));
    weir_derived_ids_add(ids, NULL, weir_str_from("c"));
    guid = weir_derived_ids_end(ids);
    snprintf(member, sizeof(member), "\"Maker@odata.bind\":\"/accounts(%s)\"",
             weir_guid_print(&guid, id));
    rig_open("maker:account(#one,#two)");
    rig_row("\"a,b\", c");
    is_members(member);
    rig_row("a");
    is_refused("maker", "\"a\" does not have 2 values with commas between them, none of them "
                        "empty, as \"maker\" takes them");
    weir_derived_ids_free(ids);
    rig_options.organisation = NULL;
    rig_refused("maker:account(#code)", "\"maker\" takes ids that are derived, for which the id of "
                                        "the organisation must be known");
}
END_TEST

/* ---- clearing ---- */

START_TEST(a_lookup_is_cleared_by_null)
{
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_open("gadgetid,maker");
    rig_row(ID_2, "");
    is_members("\"Maker@odata.bind\":null");
    rig_open("gadgetid,buyer");
    rig_row(ID_2, "");
    is_members("\"buyer_account@odata.bind\":null");
    rig_open("gadgetid,buyer:contact");
    rig_row(ID_2, "");
    is_members("\"buyer_contact@odata.bind\":null");
    rig_open("gadgetid,ownerid");
    rig_row(ID_2, "");
    is_refused("ownerid", "\"ownerid\" cannot be cleared: every row has one; leave it out or give "
                          "it a value");
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_open("maker,name");
    rig_row("", "x");
    is_members("\"name\":\"x\"");
}
END_TEST

/* ---- what is refused before the first row ---- */

START_TEST(a_lookup_that_cannot_be_is_refused)
{
    static const char *const rows[][2] = {
        { "maker:contact",
          "the column \"maker\" does not point to the table \"contact\", but to: account" },
        { "buyer:lead",
          "the column \"buyer\" does not point to the table \"lead\", but to: account, contact" },
        { "name:account", "the column \"name\" is of the type text and points to no table; leave "
                          "out \":account\"" },
        { "maker:account(nam)",
          "\"maker\" points to the table \"account\", which has no column \"nam\"" },
        { "maker:account(name,region)",
          "\"maker\" points to the table \"account\" by 2 columns, which must be an active "
          "alternate key of it; otherwise it takes one column" },
        { "maker:account(shadow)", "\"maker\" cannot point to the table \"account\" by the column "
                                   "\"shadow\", which cannot be read as a text" },
        { "gadgetid:account", "the column \"gadgetid\" names rows, and its cells are taken as they "
                              "are; leave out what stands behind its name" },
        { "maker:", "\"maker:\" says no column; a lookup is written column:table, "
                    "column:table(key) or column:table(#column)" },
        { "maker:account(", "\"maker:account(\" says no column; a lookup is written column:table, "
                            "column:table(key) or column:table(#column)" },
        { "maker:account()", "\"maker:account()\" says no column; a lookup is written "
                             "column:table, column:table(key) or column:table(#column)" },
        { "maker:account(a)b", "\"maker:account(a)b\" says no column; a lookup is written "
                               "column:table, column:table(key) or column:table(#column)" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_str name = weir_str_from(rows[i][0]);
        rig_options.columns = (struct weir_columns){ &name, 1 };
        rig_options.table = table;
        ck_assert_int_eq(weir_mapping_new(&rig_options, &mapping, &err), WEIR_E_INVALID);
        ck_assert_str_eq(err.message, rows[i][1]);
    }
    rig_options.other_count = 0;
    rig_refused("maker:account(accountnumber)",
                "the table \"account\", to which \"maker\" points, was not described; name it in a "
                "mapping file, or in the first row");
}
END_TEST

START_TEST(tables_that_lookups_point_to_are_named_beforehand)
{
    static const struct {
        const char *columns;
        const char *tables;
    } rows[] = {
        { "name,pieces,nonsense", "" },
        { "maker,buyer,ownerid", "" }, /* every environment has those */
        { "maker:account(accountnumber)", "account" },
        { "maker:account(#code);buyer:contact(emailaddress1);ownerid:team(name);maker",
          "account contact team" },
        { "maker:gadget(name)", "" },
        { "maker:widget;buyer:account(name);maker:widget(x)", "widget account" },
        { "_maker_value;_maker_value@x;statecode@y", "" },
        { "maker:account(;buyer:widget", "widget" }, /* what is wrong is said when all is mapped */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_table_list list;
        struct weir_buf text;
        uint32_t count = 0;
        for (const char *at = rows[i].columns; *at; count++) {
            size_t len = strcspn(at, strchr(rows[i].columns, ';') ? ";" : ",");
            rig_names[count] = weir_str(at, len);
            at += len + (at[len] != 0);
        }
        ck_assert_int_eq(weir_mapping_tables(table, (struct weir_columns){ rig_names, count }, NULL,
                                             &list, &err),
                         WEIR_OK);
        weir_buf_init(&text, 200);
        for (uint32_t k = 0; k < list.count; k++)
            weir_buf_printf(&text, "%s%s", k ? " " : "", list.names[k]);
        ck_assert_str_eq(weir_buf_text(&text), rows[i].tables);
        if (list.count == 1)
            ck_assert_ptr_nonnull(strstr(list.columns[0], list.names[0]));
        weir_buf_release(&text);
        weir_table_list_release(&list);
    }
}
END_TEST

START_TEST(more_tables_than_are_described_are_refused)
{
    static char names[WEIR_LOOKUP_TABLES_MAX + 1][32];
    struct weir_str columns[WEIR_LOOKUP_TABLES_MAX + 1];
    struct weir_table_list list;
    for (int i = 0; i <= WEIR_LOOKUP_TABLES_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "maker:t%d", i);
        columns[i] = weir_str_from(names[i]);
    }
    must(weir_mapping_tables(table, (struct weir_columns){ columns, WEIR_LOOKUP_TABLES_MAX }, NULL,
                             &list, &err) == WEIR_OK);
    ck_assert_uint_eq(list.count, WEIR_LOOKUP_TABLES_MAX);
    weir_table_list_release(&list);
    ck_assert_int_eq(
        weir_mapping_tables(table, (struct weir_columns){ columns, WEIR_LOOKUP_TABLES_MAX + 1 },
                            NULL, &list, &err),
        WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "lookups may point to more than 32 tables; say which in the "
                                  "header, as column:table");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_lookups");
    lookup_add(&s, an_id_becomes_an_address_below_the_navigation_property);
    lookup_add(&s, a_lookup_to_several_tables_needs_to_know_which);
    lookup_add(&s, an_owner_is_a_user_or_a_team);
    lookup_add(&s, a_lookup_may_have_a_column_for_each_table);
    lookup_add(&s, a_key_of_the_other_table_binds_without_a_read);
    lookup_add(&s, a_key_that_no_address_can_hold_is_refused);
    lookup_add(&s, any_column_leads_to_a_row_by_a_list_that_was_read);
    lookup_add(&s, two_lookups_share_a_list);
    lookup_add(&s, a_derived_id_is_what_the_other_job_gave_its_row);
    lookup_add(&s, a_lookup_is_cleared_by_null);
    lookup_add(&s, a_lookup_that_cannot_be_is_refused);
    lookup_add(&s, tables_that_lookups_point_to_are_named_beforehand);
    lookup_add(&s, more_tables_than_are_described_are_refused);
    return suite_run(&s);
}
