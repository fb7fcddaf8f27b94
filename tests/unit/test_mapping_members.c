/* SPDX-License-Identifier: MIT */
/* Rows whose members have names of their own. */
#include "support/lookup_rig.h"

START_TEST(members_go_by_the_same_rules_as_cells)
{
    open_named(NULL);
    members({ "name", "Contoso" }, { "pieces", "007" }, { "maker", ID_1 });
    is_members("\"name\":\"Contoso\",\"pieces\":7,\"Maker@odata.bind\":\"/accounts(" ID_1 ")\"");
    must(weir_mapping_takes_ids(mapping));
    ck_assert_uint_eq(draft.key_hash, 0);
    members({ "sold", "true" }, { "gadgetid", ID_1X });
    is_target(ID_1, "", "", "\"sold\":true");
    must(draft.key_hash != 0);
    members({ "pieces", "x" });
    is_refused("pieces", "\"x\" is no whole number; \"pieces\" takes digits without separators");
    members({ "maker:account(accountnumber)", "A1" }, { "buyer:contact", ID_2 });
    is_members("\"Maker@odata.bind\":\"/accounts(accountnumber='A1')\","
               "\"buyer_contact@odata.bind\":\"/contacts(" ID_2 ")\"");
    members({ "buyer:account", ID_2 });
    is_members("\"buyer_account@odata.bind\":\"/accounts(" ID_2 ")\"");
}
END_TEST

static char *copy_text(struct weir_str text)
{
    return weir_strndup(text.len ? text.ptr : "", text.len);
}

/* The same cells by a header and by names, in whatever order: the same members, or the same words.
 */
START_TEST(a_row_of_members_is_the_row_of_cells_in_other_clothes)
{
    static const char *const texts[][4] = {
        { "Contoso", "\u00fc", "", "x\x01" },
        { "5", "007", "x", "" },
        { "1.5", "1,5", "-0", "" },
        { "yes", "maybe", "Sold", "0" },
        { "Gizmo", "3", "9", "" },
        { "2024-02-29", "", "x", "" },
        { ID_1, ID_1X, "x", "" },
        { "contact:" ID_2, ID_1, "", "account:" ID_1 },
    };
    static const char *const names[] = { "name", "pieces", "weight", "sold",
                                         "kind", "built",  "maker",  "buyer" };
    struct weir_rng rng;
    weir_rng_init(&rng, 8, 0);
    int refused = 0;
    for (int i = 0; i < 1000; i++) {
        const char *pairs[COUNT(names)][2];
        const char *cells[CELLS] = { NULL };
        for (size_t k = 0; k < COUNT(names); k++) {
            cells[k] = texts[k][weir_rng_below(&rng, 4) & weir_rng_below(&rng, 4)];
            pairs[k][0] = names[k];
            pairs[k][1] = cells[k];
        }
        rig_options.named = false;
        rig_open("name,pieces,weight,sold,kind,built,maker,buyer");
        rig_texts(cells);
        char *wanted = copy_text(draft.target.members);
        char *reason = copy_text(draft.refusal);
        open_named(NULL);
        member_row((const char *const(*)[2])pairs, COUNT(names));
        same_text(draft.target.members, wanted);
        same_text(draft.refusal, reason);
        refused += draft.refusal.len > 0;
        free(wanted);
        free(reason);
    }
    must(refused > 100 && refused < 900);
}
END_TEST

START_TEST(an_unknown_member_refuses_its_row_and_no_other)
{
    open_named(NULL);
    for (int again = 0; again < 3; again++) {
        members({ "name", "x" }, { "peices", "5" });
        is_refused(
            "peices",
            "the table \"gadget\" has no column \"peices\"; did you mean \"pieces\", or is it "
            "to be passed over with --ignore-columns peices?");
        members({ "name", "x" });
        is_members("\"name\":\"x\"");
        members({ "manual", "x" });
        is_refused("manual", "the column \"manual\" of the table \"gadget\" is of the type file, "
                             "which no row can carry; pass over it with --ignore-columns manual");
        members({ "Maker@odata.bind", "/accounts(1)" });
        is_refused("Maker@odata.bind",
                   "\"Maker@odata.bind\" is a member as the Web API takes it; a lookup is written "
                   "column:table, or all rows are sent as they are (--raw)");
    }
}
END_TEST

/* A file of cells may have the names of Dataverse, too. */
START_TEST(a_header_that_dataverse_wrote_is_understood)
{
    rig_open("@odata.etag,name,kind@OData.Community.Display.V1.FormattedValue,_buyer_value,"
             "_buyer_value@Microsoft.Dynamics.CRM.lookuplogicalname,_maker_value,_ownerid_value@"
             "Microsoft.Dynamics.CRM.lookuplogicalname,_ownerid_value");
    rig_row("W/1", "x", "Gizmo", ID_1, "contact", ID_2, "team", ID_2);
    is_members("\"name\":\"x\",\"buyer_contact@odata.bind\":\"/contacts(" ID_1
               ")\",\"Maker@odata.bind\":\"/accounts(" ID_2 ")\",\"ownerid@odata.bind\":"
               "\"/teams(" ID_2 ")\"");
    rig_row("", "x", "", "", "", "", "systemuser", ID_2);
    is_members("\"name\":\"x\",\"ownerid@odata.bind\":\"/systemusers(" ID_2 ")\"");
    rig_row("", "x", "", ID_1, "", "", "", "");
    is_refused("buyer", "\"" ID_1 "\" is no reference; \"buyer\" takes account:ID or contact:ID");
    rig_refused("_buyer_value",
                "\"_buyer_value\" may point to several tables, and no \"_buyer_value@Microsoft."
                "Dynamics.CRM.lookuplogicalname\" beside it says to which; say it in a mapping "
                "file, as \"buyer:account\", or pass over it with --ignore-columns");
    rig_options.named = true;
    rig_open("name,_buyer_value");
    rig_refused("name,_ownerid_value",
                "\"_ownerid_value\" may point to several tables, and no \"_ownerid_value@Microsoft."
                "Dynamics.CRM.lookuplogicalname\" beside it says to which; say it in a mapping "
                "file, as \"ownerid:systemuser\", or pass over it with --ignore-columns");
    rig_options.named = false;
    rig_refused("e@mail", "the table \"gadget\" has no column \"e@mail\"; columns go by their "
                          "logical names, or are passed over with --ignore-columns e@mail");
    rig_refused("_name_value",
                "\"_name_value\" reads as a lookup, and the column \"name\" of the table "
                "\"gadget\" is none");
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_open("gadgetid,_buyer_value");
}
END_TEST

/* What the row says of the table counts behind a mapping file, too, unless that ignores it. */
START_TEST(a_lookup_that_is_mapped_points_to_the_table_that_the_row_says)
{
    struct weir_spec spec = { 0 };
    const char *text = "{\"columns\":{\"_ownerid_value\":\"ownerid\"}}";
    must(weir_spec_read(weir_str_from(text), "m", &spec, &err) == WEIR_OK);
    rig_options.spec = &spec;
    rig_open("_ownerid_value,_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname");
    rig_row(ID_1, "team");
    is_members("\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    open_named(NULL);
    members({ "_ownerid_value", ID_1 },
            { "_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname", "team" });
    is_members("\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    weir_spec_release(&spec);
    text = "{\"columns\":{\"_ownerid_value\":\"ownerid:systemuser\",\"_ownerid_value@Microsoft."
           "Dynamics.CRM.lookuplogicalname\":null}}";
    must(weir_spec_read(weir_str_from(text), "m", &spec, &err) == WEIR_OK);
    open_named(NULL);
    members({ "_ownerid_value", ID_1 },
            { "_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname", "team" });
    is_members("\"ownerid@odata.bind\":\"/systemusers(" ID_1 ")\"");
    weir_mapping_free(mapping);
    mapping = NULL;
    weir_spec_release(&spec);
}
END_TEST

START_TEST(a_row_may_name_a_column_once)
{
    open_named(NULL);
    members({ "maker", ID_1 }, { "_maker_value", ID_1 });
    is_refused("maker", "the row has two values for \"maker\", which takes one");
    members({ "maker", ID_1 });
    is_fine();
    members({ "maker", "" }, { "_maker_value", ID_1 });
    is_fine();
}
END_TEST

START_TEST(null_clears_a_column_and_an_empty_text_is_an_empty_cell)
{
    rig_options.operation = WEIR_OPERATION_UPDATE;
    open_named(NULL);
    members({ "gadgetid", ID_1 }, { "name", NULL }, { "pieces", "" }, { "maker", NULL });
    is_members("\"name\":null,\"Maker@odata.bind\":null");
    rig_options.empty = WEIR_CELL_EMPTY_REJECT;
    open_named(NULL);
    members({ "gadgetid", ID_1 }, { "name", NULL });
    is_members("\"name\":null");
    members({ "gadgetid", ID_1 }, { "name", "" });
    is_refused("name", "the cell is empty; \"name\" takes a value in every row");
    members({ "gadgetid", NULL }, { "name", "x" });
    is_refused("gadgetid", "the row has no value for \"gadgetid\", which names it");
    members({ "gadgetid", ID_1 }, { "ownerid", NULL });
    is_refused("ownerid", "\"ownerid\" cannot be cleared: every row has one; leave it out or give "
                          "it a value");
}
END_TEST

/* What was read with all its annotations can be written again. */
START_TEST(the_format_of_dataverse_itself_is_understood)
{
    open_named(NULL);
    members({ "@odata.etag", "W/\"1\"" }, { "gadgetid", ID_2 }, { "name", "x" },
            { "kind@OData.Community.Display.V1.FormattedValue", "Gizmo" }, { "kind", "1" },
            { "_maker_value", ID_1 },
            { "_buyer_value@Microsoft.Dynamics.CRM.lookuplogicalname", "contact" },
            { "_buyer_value", ID_1 },
            { "_buyer_value@Microsoft.Dynamics.CRM.associatednavigationproperty", "y" },
            { "_ownerid_value", ID_1 },
            { "_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname", "team" },
            { "@odata.id", "https://x/gadgets(1)" }, { "@odata.type", "#x" });
    is_target(ID_2, "", "",
              "\"name\":\"x\",\"kind\":1,\"Maker@odata.bind\":\"/accounts(" ID_1 ")\","
              "\"buyer_contact@odata.bind\":\"/contacts(" ID_1 ")\","
              "\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    members({ "_buyer_value", ID_1 });
    is_refused("buyer", "\"" ID_1 "\" is no reference; \"buyer\" takes account:ID or contact:ID");
    members({ "_maker_value", ID_1 },
            { "_maker_value@Microsoft.Dynamics.CRM.lookuplogicalname", "contact" });
    is_refused("maker",
               "the row points to the table \"contact\"; \"maker\" takes ids of \"account\" here");
    members({ "_buyer_value", NULL },
            { "_buyer_value@Microsoft.Dynamics.CRM.lookuplogicalname", NULL }, { "name", "x" });
    is_members("\"name\":\"x\"");
    members({ "_buyer_value", ID_1 },
            { "_buyer_value@Microsoft.Dynamics.CRM.lookuplogicalname", "lead" });
    is_refused("buyer", "the row points to the table \"lead\", to which \"buyer\" cannot; it takes "
                        "account:ID or contact:ID");
    members({ "name", NULL }, { "@odata.etag", "W/\"1\"" });
    is_refused("", "every member of the row that is not passed over is empty");
    members({ "_name_value", "x" });
    is_refused("_name_value", "\"_name_value\" reads as a lookup, and the column \"name\" of the "
                              "table \"gadget\" is none");
}
END_TEST

START_TEST(any_row_with_names_may_need_any_pass)
{
    open_named("name");
    must(weir_mapping_has_pass(mapping, WEIR_PASS_STATE));
    must(!weir_mapping_has_pass(mapping, WEIR_PASS_LOOKUPS));
    lookup_inward();
    open_named(NULL);
    must(weir_mapping_has_pass(mapping, WEIR_PASS_LOOKUPS));
    members({ "name", "x" }, { "maker", ID_1 }, { "statecode", "1" });
    is_members("\"name\":\"x\"");
    rig_pass = WEIR_PASS_LOOKUPS;
    members({ "name", "x" }, { "maker", ID_1 }, { "statecode", "1" });
    is_members("\"Maker@odata.bind\":\"/gadgets(" ID_1 ")\"");
    members({ "name", "x" });
    must(draft.idle);
    rig_options.operation = WEIR_OPERATION_UPDATE;
    open_named(NULL);
    must(!weir_mapping_has_pass(mapping, WEIR_PASS_STATE));
}
END_TEST

START_TEST(names_that_are_known_to_come_are_looked_at_before)
{
    const struct weir_table *of;
    const struct weir_column *by;
    rig_options.named = true;
    rig_refused("name,peices",
                "the table \"gadget\" has no column \"peices\"; did you mean \"pieces\", or is it "
                "to be passed over with --ignore-columns peices?");
    open_named("ownerid:systemuser(domainname)");
    must(weir_mapping_reference(mapping, 0, &of, &by));
    members({ "ownerid:systemuser(domainname)", "x" });
    is_refused("ownerid", "no row of the table \"systemuser\" has \"x\" as \"domainname\", to "
                          "which \"ownerid\" would point");
    members({ "maker:account(name)", "x" });
    is_refused("maker:account(name)",
               "rows of the table \"account\" by the column \"name\" were not read; name that "
               "lookup in a mapping file, or in the first row");
    rig_options.other_count = 0;
    open_named(NULL);
    members({ "maker:account(accountnumber)", "x" });
    is_refused("maker:account(accountnumber)",
               "the table \"account\", to which \"maker\" points, was not described; name it in a "
               "mapping file, or in the first row");
}
END_TEST

START_TEST(rows_with_names_have_owners_keys_and_ids_like_others)
{
    rig_options.connections = 2;
    open_named(NULL);
    members({ "name", "x" });
    is_refused("ownerid", "the row has no owner, and several connections would share such rows "
                          "out; it takes systemuser:ID or team:ID");
    members({ "name", "x" }, { "ownerid:team", ID_1 });
    is_members("\"name\":\"x\",\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    rig_options.owner = "team:" ID_2;
    open_named(NULL);
    members({ "name", "x" }, { "ownerid", NULL });
    is_members("\"name\":\"x\",\"ownerid@odata.bind\":\"/teams(" ID_2 ")\"");
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.owner = "caller";
    rig_options.key = "serial,kind";
    open_named(NULL);
    members({ "kind", "Gizmo" }, { "name", "x" }, { "serial", "5" });
    is_target("", "serial=5,kind=1", "", "\"name\":\"x\"");
    members({ "serial", "5" }, { "name", "x" });
    is_refused("kind", "the row has no value for \"kind\", which names it");
    members({ "serial", "5" }, { "kind", "1" }, { "gadgetid", ID_1 });
    is_refused("gadgetid", "the row has \"gadgetid\", and rows go by a key; leave one of them out");
    rig_options.key = NULL;
    rig_options.id_from = "code";
    open_named(NULL);
    members({ "code", "4711" }, { "name", "x" });
    is_members("\"name\":\"x\"");
    ck_assert_uint_eq(draft.target.id.len, WEIR_GUID_CHARS);
    members({ "name", "x" });
    is_refused("code", "the row has no value for \"code\", from which its id is derived");
    members({ "code", "1" }, { "gadgetid", ID_1 });
    is_refused("gadgetid", "the row has \"gadgetid\", and rows go by ids that are derived; leave "
                           "one of them out");
}
END_TEST

START_TEST(no_more_names_are_remembered_than_the_bound_allows)
{
    open_named(NULL);
    for (int i = 0; i <= WEIR_MEMBER_NAMES_MAX; i++) {
        char name[16];
        snprintf(name, sizeof(name), "x%d", i);
        members({ name, "x" });
        must(draft.refusal.len > 0);
    }
    is_refused("", "the objects of the input have more than 10000 different names of members");
    members({ "x0", "x" });
    is_refused("x0", "the table \"gadget\" has no column \"x0\"; columns go by their logical "
                     "names, or are passed over with --ignore-columns x0");
}
END_TEST

/* ---- raw ---- */

START_TEST(raw_rows_are_objects_as_they_stand)
{
    struct weir_record record = {
        .number = 1, .raw = weir_str_from(" {\"name\":5,\"Maker@odata.bind\":\"/x\"}\r\n")
    };
    rig_options.raw = true;
    rig_open(NULL);
    must(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
    is_members("\"name\":5,\"Maker@odata.bind\":\"/x\"");
    must(!weir_mapping_has_pass(mapping, WEIR_PASS_STATE));
    record.problem = WEIR_RECORD_CUT;
    must(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
    must(draft.refusal.len);
    rig_options.id_from = "name";
    rig_refused(NULL, "rows that are objects as the Web API takes them are sent as they are; leave "
                      "--id-from out");
    rig_options.id_from = NULL;
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_refused(NULL, "rows that are objects as the Web API takes them are sent as they are; leave "
                      "--empty out");
}
END_TEST

/* ---- with the reader ---- */

/* Every object of `text` by the reader of JSON Lines, then by the mapping; their members, each in
 * braces, or their refusals. */
static char *read_lines(const char *text, bool raw)
{
    struct weir_format_options options = { .raw = raw };
    struct weir_arena *records = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    struct weir_buf all;
    void *state = weir_format_jsonl.open(&options);
    weir_buf_init(&all, 65536);
    weir_format_jsonl.begin(state);
    weir_format_jsonl.feed(state, 0, text, strlen(text), true);
    must(weir_format_jsonl.head(state, &err) == WEIR_STEP_READY);
    while (weir_format_jsonl.next(state, records, &record, &err) == WEIR_STEP_RECORD) {
        weir_arena_reset(rig_arena);
        must(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
        struct weir_str shown = draft.refusal.len ? draft.refusal : draft.target.members;
        weir_buf_printf(&all, "{%.*s}\n", (int)shown.len, shown.ptr);
        weir_arena_reset(records);
    }
    weir_format_jsonl.free(state);
    weir_arena_unref(records);
    return weir_buf_take(&all);
}

START_TEST(lines_become_rows)
{
    static const char lines[] =
        "\xef\xbb\xbf{\"name\":\"\\u00fc\\n\",\"pieces\":5,\"sold\":true,\"notes\":null}\r\n"
        "\n{ \"weight\" : 12345678901.1234 , \"name\":\"\" }\n"
        "{\"name\":{}}\n"
        "{\"tags\":[10, \"Blue\"]}\n{\"tags\":[],\"name\":\"x\"}\n{\"tags\":[[10]]}\n"
        "{\"tags\":[30]}\n{\"name\":\"[1]\"}\n{}\n"
        "{\"name\":\"\\u0001\"}\n"
        "{\"serial\":-0,\"angle\":-0.0}";
    open_named(NULL);
    char *rows = read_lines(lines, false);
    ck_assert_str_eq(rows, "{\"name\":\"\u00fc\\n\",\"pieces\":5,\"sold\":true,\"notes\":null}\n"
                           "{\"weight\":12345678901.1234}\n"
                           "{member \"name\" is an object; it must be a text, a number, true, "
                           "false or null}\n"
                           "{\"tags\":\"10,20\"}\n{\"tags\":null,\"name\":\"x\"}\n"
                           "{member \"tags\" is an array; it must be a text, a number, true, false "
                           "or null}\n{\"30\" is no choice; \"tags\" takes 10 (Red), 20 (Blue)}\n"
                           "{\"name\":\"[1]\"}\n{every member of the row is empty}\n"
                           "{character 1 of the text is U+0001, which the service refuses; "
                           "\"name\" takes no control characters but tabs and line ends}\n"
                           "{\"serial\":0,\"angle\":-0.0}\n");
    free(rows);
    free(read_lines("{\"name\":{}}\n", false));
    must(draft.column.len == strlen("name")); /* the draft's own line is gone with its arena */
    rig_options.raw = true;
    rig_open(NULL);
    rows = read_lines("\xef\xbb\xbf{\"name\":{}}\r\n {\"x\":[1, 2]} \n{\n", true);
    ck_assert_str_eq(
        rows,
        "{\"name\":{}}\n{\"x\":[1, 2]}\n{the row ends before its object does; an object must stand "
        "on one line}\n");
    free(rows);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_members");
    lookup_add(&s, members_go_by_the_same_rules_as_cells);
    lookup_add(&s, a_row_of_members_is_the_row_of_cells_in_other_clothes);
    lookup_add(&s, an_unknown_member_refuses_its_row_and_no_other);
    lookup_add(&s, a_header_that_dataverse_wrote_is_understood);
    lookup_add(&s, a_lookup_that_is_mapped_points_to_the_table_that_the_row_says);
    lookup_add(&s, a_row_may_name_a_column_once);
    lookup_add(&s, null_clears_a_column_and_an_empty_text_is_an_empty_cell);
    lookup_add(&s, the_format_of_dataverse_itself_is_understood);
    lookup_add(&s, any_row_with_names_may_need_any_pass);
    lookup_add(&s, names_that_are_known_to_come_are_looked_at_before);
    lookup_add(&s, rows_with_names_have_owners_keys_and_ids_like_others);
    lookup_add(&s, no_more_names_are_remembered_than_the_bound_allows);
    lookup_add(&s, raw_rows_are_objects_as_they_stand);
    lookup_add(&s, lines_become_rows);
    return suite_run(&s);
}
