/* SPDX-License-Identifier: MIT */
/* What rows of cells are called: by ids, alternate keys and partitions; and whose they are. */
#include "support/mapping_rig.h"

#define NOT_ID "needs 32 hexadecimal digits in groups of 8-4-4-4-12"
#define MADE_1 "01020304-0506-8708-890a-6553f1000001"
#define USER   "ownerid@odata.bind\":\"/systemusers(" ID_1 ")\""

/* ---- ids ---- */

START_TEST(ids_of_the_input_are_used_in_their_canonical_form)
{
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_UPSERT; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        rig_open("name,gadgetid");
        rig_row("Contoso", ID_1X);
        is_target(ID_1, "", "", "\"name\":\"Contoso\"");
        uint64_t hash = draft.key_hash;
        rig_row("Other", ID_1);
        is_target(ID_1, "", "", "\"name\":\"Other\"");
        ck_assert_uint_eq(draft.key_hash, hash);
        rig_row("Contoso", ID_2);
        is_target(ID_2, "", "", "\"name\":\"Contoso\"");
        ck_assert_uint_ne(draft.key_hash, hash);
        ck_assert_uint_ne(hash, 0);
        ck_assert(weir_mapping_takes_ids(mapping));
    }
}
END_TEST

START_TEST(a_row_whose_id_is_none_is_refused)
{
    static const char *const rows[][2] = {
        { "", "the row has no value for \"gadgetid\", which names it" },
        { "x", "\"x\" is no id; \"gadgetid\" " NOT_ID ", not all of them 0" },
        { ID_1 "0", "\"0123abcd-4567-89ab-cdef-0123456789ab0\" is no id; \"gadgetid\" " NOT_ID
                    ", not all of them 0" },
        { "00000000-0000-0000-0000-000000000000",
          "\"00000000-0000-0000-0000-000000000000\" is no id; \"gadgetid\" " NOT_ID
          ", not all of them 0" },
    };
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_DELETE; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        rig_open("gadgetid,name");
        for (size_t i = 0; i < COUNT(rows); i++) {
            rig_row(rows[i][0], "Contoso");
            is_refused("gadgetid", rows[i][1]);
            ck_assert_uint_eq(draft.key_hash, 0);
        }
    }
}
END_TEST

/* ---- alternate keys ---- */

START_TEST(rows_go_by_a_key_in_whatever_order_it_is_written)
{
    static const char *const keys[] = { "serial,kind", "kind,serial", " kind , serial " };
    static const enum weir_operation operations[] = { WEIR_OPERATION_UPDATE, WEIR_OPERATION_UPSERT,
                                                      WEIR_OPERATION_DELETE };
    for (size_t i = 0; i < COUNT(keys) * COUNT(operations); i++) {
        rig_options.key = keys[i % COUNT(keys)];
        rig_options.operation = operations[i / COUNT(keys)];
        bool is_delete = rig_options.operation == WEIR_OPERATION_DELETE;
        rig_open("kind,name,serial");
        rig_row("1", "Contoso", "42");
        is_target("", "serial=42,kind=1", "", is_delete ? "" : "\"name\":\"Contoso\"");
        uint64_t hash = draft.key_hash;
        rig_row("01", "", "+042.0");
        is_target("", "serial=42,kind=1", "", "");
        ck_assert_uint_eq(draft.key_hash, hash);
        rig_row("Gizmo", "", " 42");
        is_target("", "serial=42,kind=1", "", "");
        ck_assert_uint_eq(draft.key_hash, hash);
        rig_row("3", "", "42");
        ck_assert_uint_ne(draft.key_hash, hash);
        rig_row("1", "", "4x");
        is_refused("serial", "\"4x\" is no whole number; \"serial\" takes digits without "
                             "separators");
        bool is_upsert = rig_options.operation == WEIR_OPERATION_UPSERT;
        ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS) == is_upsert);
        ck_assert(!weir_mapping_takes_ids(mapping));
    }
}
END_TEST

START_TEST(a_key_that_the_table_has_not_is_refused)
{
    static const char *const rows[][3] = {
        { "name", "name,notes",
          "the index of the key \"byname\" of the table \"gadget\" is pending; it must be active" },
        { "serial", "serial,name",
          "the table \"gadget\" has no alternate key of just the columns \"serial\"; it could be "
          "\"serial,kind\" or \"name\"" },
        { "serial,kind,name", "serial,kind,name",
          "the table \"gadget\" has no alternate key of just the columns \"serial,kind,name\"; it "
          "could be \"serial,kind\" or \"name\"" },
        { "serial,serial", "serial,name", "the key names the column \"serial\" twice" },
        { "nam", "name", "the table \"gadget\" has no column \"nam\"; did you mean \"name\"?" },
        { "", "name",
          "the table \"gadget\" has no column \"\"; columns go by their logical names" },
        { "serial,", "name",
          "the table \"gadget\" has no column \"\"; columns go by their logical names" },
        { "name,notes,plain,pieces,serial,weight,angle,price,sold,kind,tags,statecode,statuscode,"
          "built,maker,buyer,ownerid",
          "name", "a key has 16 columns at most" },
        { "serial,kind", "kind,name",
          "the input has no column \"serial\", by which an upsert names its rows" },
        { "serial,kind", "serial,kind,name,gadgetid",
          "the input has the column \"gadgetid\", and rows go by a key; leave one of them out" },
    };
    rig_options.operation = WEIR_OPERATION_UPSERT;
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_options.key = rows[i][0];
        rig_refused(rows[i][1], rows[i][2]);
    }
    rig_options.key = "serial,kind";
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_refused("serial,kind",
                "a create takes no key; rows that may be there already are upserted");
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_open("serial,kind,gadgetid");
    rig_row("1", "3", "nonsense");
    is_target("", "serial=1,kind=3", "", "");
    rig_table(NAME_IS_KEY, KEY_OF_TAGS, NULL);
    rig_options.key = "tags";
    rig_refused("tags", "rows cannot go by the key \"byname\": its column \"tags\" is of the type "
                        "choices, which cannot stand in an address");
}
END_TEST

START_TEST(a_row_whose_key_cannot_stand_in_an_address_is_refused)
{
    static const char *const rows[][2] = {
        { "", "the row has no value for \"name\", which names it" },
        { "a/b", "the value \"a/b\" of the key \"name\" has a \"/\", which cannot stand in a key; "
                 "use the row's id" },
        { "a\nb", "the value of the key \"name\" has a control character, which cannot stand in a "
                  "key; use the row's id" },
    };
    rig_table(NAME_IS_KEY, NULL);
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "name";
    rig_open("name,notes");
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_row(rows[i][0], "x");
        is_refused("name", rows[i][1]);
        ck_assert_uint_eq(draft.key_hash, 0);
    }
    rig_row("O'Brien (1)", "x");
    is_target("", "name='O''Brien%20%281%29'", "", "\"notes\":\"x\"");
    uint64_t hash = draft.key_hash;
    rig_row("O'BRIEN (1)  ", "x");
    ck_assert_uint_eq(draft.key_hash, hash);
}
END_TEST

START_TEST(keys_of_lookups_and_numbers_are_literals)
{
    rig_table(NAME_IS_KEY, KEY_OF_MANY, NULL);
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_options.key = "name,maker,weight,pieces";
    rig_open("name,maker,weight,pieces,notes");
    rig_row("A", ID_1X, "1.50", "-3", "x");
    is_target("", "_maker_value=" ID_1 ",weight=1.50,name='A',pieces=-3", "", "\"notes\":\"x\"");
    uint64_t hash = draft.key_hash;
    rig_row("a", ID_1, "1.5", "-03", "x");
    ck_assert_uint_eq(draft.key_hash, hash);
    rig_row("A", "Contoso", "1.5", "-7", "x");
    is_refused("maker", "\"Contoso\" is no id; \"maker\" " NOT_ID);
    rig_row("A", ID_1, "1 5", "-7", "x");
    is_refused("weight", "\"1 5\" is no number; \"weight\" takes digits without separators, and a "
                         "point before decimals");
    rig_row("A", ID_1, "1.5", "", "x");
    is_refused("pieces", "the row has no value for \"pieces\", which names it");
}
END_TEST

START_TEST(the_primary_id_may_be_called_a_key)
{
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_options.key = "gadgetid";
    rig_open("gadgetid,name");
    rig_row(ID_1, "Contoso");
    is_target(ID_1, "", "", "\"name\":\"Contoso\"");
    ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    rig_refused("name", "the input has no column \"gadgetid\", by which an update names its rows");
}
END_TEST

/* ---- partitions ---- */

START_TEST(the_partition_is_a_part_of_the_name_in_elastic_tables)
{
    rig_table(ELASTIC, PARTITIONED, NULL);
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_DELETE; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        rig_open("partitionid,gadgetid,name");
        const char *members = operation == WEIR_OPERATION_DELETE ? "" : "\"name\":\"x\"";
        rig_row("Device 1", ID_1, "x");
        is_target(ID_1, "", "Device 1", members);
        uint64_t hash = draft.key_hash;
        rig_row("device 1", ID_1, "x");
        ck_assert_uint_ne(draft.key_hash, hash);
        rig_row("", ID_1, "x");
        is_target(ID_1, "", "", members);
        ck_assert_uint_ne(draft.key_hash, hash);
        rig_row("a:b", ID_1, "x");
        is_refused("partitionid",
                   "the partition \"a:b\" has a \":\", which cannot stand in an address");
        rig_row("a\tb", ID_1, "x");
        is_refused("partitionid", "the partition of the row has a control character, which cannot "
                                  "stand in an address");
    }
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_open("partitionid,name");
    rig_row("p", "x");
    ck_assert_uint_eq(draft.key_hash, 0);
    same_text(draft.target.partition, "p");
}
END_TEST

START_TEST(id_and_partition_together_are_no_alternate_key)
{
    rig_table(ELASTIC, PARTITIONED, NAME_IS_KEY, NULL);
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "partitionid,gadgetid";
    rig_open("gadgetid,partitionid,name");
    rig_row(ID_1, "p", "x");
    is_target(ID_1, "", "p", "\"name\":\"x\"");
    ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    rig_row(ID_1, "", "x");
    is_refused("partitionid", "the row has no value for \"partitionid\", which names it");
    rig_refused("gadgetid,name",
                "the input has no column \"partitionid\", by which an upsert names its rows");
    rig_options.key = "name";
    rig_refused("partitionid,name,notes",
                "the input has the column \"partitionid\", and rows go by a key; leave one of them "
                "out");
}
END_TEST

/* In a table that is not elastic it is a column like others. */
START_TEST(a_partition_elsewhere_is_a_column)
{
    rig_table(PARTITIONED, NULL);
    rig_open("partitionid");
    rig_row("a:b");
    is_target(MADE_1, "", "", "\"partitionid\":\"a:b\"");
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_options.key = "gadgetid,partitionid";
    rig_refused("gadgetid,partitionid",
                "the table \"gadget\" has no alternate key of just the columns "
                "\"gadgetid,partitionid\"; it could be \"serial,kind\" or \"name\"");
}
END_TEST

/* ---- owners ---- */

START_TEST(the_owner_must_be_said_if_there_are_several_connections)
{
    static const char message[] =
        "rows of the table \"gadget\" have owners, and 2 connections would share them out; say the "
        "owner (--owner): systemuser:ID, team:ID, or caller (whoever sends the row)";
    rig_options.connections = 2;
    rig_refused("name", message);
    rig_refused(NULL, message);
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_refused("gadgetid,name", message);
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,name");
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_open("gadgetid");
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_options.owner = "caller";
    rig_open("name");
    rig_row("x");
    is_target(MADE_1, "", "", "\"name\":\"x\"");
    rig_options.owner = NULL;
    rig_options.connections = 1;
    rig_open("name");
    rig_options.connections = 2;
    rig_open("name,ownerid");
    rig_table(NOBODYS, NULL);
    rig_open("name");
}
END_TEST

START_TEST(the_owner_that_is_said_is_in_every_row)
{
    rig_options.connections = 2;
    rig_options.owner = "systemuser:" ID_1X;
    rig_open("name");
    rig_row("x");
    is_target(MADE_1, "", "", "\"name\":\"x\",\"" USER);
    rig_row("");
    is_refused("", "every cell of the row is empty");
    rig_options.owner = "team:" ID_2;
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_open("gadgetid,name");
    rig_row(ID_1, "x");
    is_target(ID_1, "", "", "\"name\":\"x\",\"ownerid@odata.bind\":\"/teams(" ID_2 ")\"");
    weir_json_free(rig_parse(WEIR_BULK_UPSERT));
}
END_TEST

START_TEST(an_owner_that_is_none_is_refused)
{
    static const char *const owners[] = { "",
                                          "Caller",
                                          "systemuser",
                                          "team:",
                                          "team:x",
                                          "user:" ID_1,
                                          "team:" ID_1 " ",
                                          "Team:" ID_1,
                                          "systemuser:" ID_1 "0" };
    for (size_t i = 0; i < COUNT(owners); i++) {
        char message[200];
        snprintf(message, sizeof(message),
                 "\"%s\" is no owner; it must be systemuser:ID, team:ID, or caller (whoever sends "
                 "the row)",
                 owners[i]);
        rig_options.owner = owners[i];
        rig_refused("name", message);
    }
    rig_options.owner = "team:" ID_1;
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_refused("gadgetid,name", "an update takes no owner: it is said of rows that are created");
    rig_options.owner = "caller";
    rig_open("gadgetid,name");
    rig_options.owner = "team:" ID_1;
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_table(NOBODYS, NULL);
    rig_refused("name", "rows of the table \"gadget\" have no owner; leave it out");
}
END_TEST

START_TEST(the_owner_of_a_row_may_stand_in_a_cell)
{
    rig_options.connections = 2;
    rig_open("ownerid,name");
    rig_row("systemuser:" ID_1X, "x");
    is_target(MADE_1, "", "", "\"" USER ",\"name\":\"x\"");
    rig_row("Contoso", "x");
    is_refused("ownerid", "\"Contoso\" is no owner; \"ownerid\" takes systemuser:ID or team:ID");
    rig_row("", "x");
    is_refused("ownerid", "the row has no owner, and several connections would share such rows "
                          "out; it takes systemuser:ID or team:ID");
    rig_options.owner = "team:" ID_2;
    rig_open("ownerid,name");
    rig_row("systemuser:" ID_1, "x");
    is_target("01020304-0506-8708-890a-6553f1000004", "", "", "\"" USER ",\"name\":\"x\"");
    rig_row("", "x");
    is_target("01020304-0506-8708-890a-6553f1000005", "", "",
              "\"name\":\"x\",\"ownerid@odata.bind\":\"/teams(" ID_2 ")\"");
    rig_options.owner = NULL;
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,ownerid");
    rig_row(ID_2, "team:" ID_1);
    is_target(ID_2, "", "", "\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    rig_row(ID_2, "");
    is_target(ID_2, "", "", "");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_names");
    rig_add(&s, ids_of_the_input_are_used_in_their_canonical_form);
    rig_add(&s, a_row_whose_id_is_none_is_refused);
    rig_add(&s, rows_go_by_a_key_in_whatever_order_it_is_written);
    rig_add(&s, a_key_that_the_table_has_not_is_refused);
    rig_add(&s, a_row_whose_key_cannot_stand_in_an_address_is_refused);
    rig_add(&s, keys_of_lookups_and_numbers_are_literals);
    rig_add(&s, the_primary_id_may_be_called_a_key);
    rig_add(&s, the_partition_is_a_part_of_the_name_in_elastic_tables);
    rig_add(&s, id_and_partition_together_are_no_alternate_key);
    rig_add(&s, a_partition_elsewhere_is_a_column);
    rig_add(&s, the_owner_must_be_said_if_there_are_several_connections);
    rig_add(&s, the_owner_that_is_said_is_in_every_row);
    rig_add(&s, an_owner_that_is_none_is_refused);
    rig_add(&s, the_owner_of_a_row_may_stand_in_a_cell);
    return suite_run(&s);
}
