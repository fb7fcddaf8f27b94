/* SPDX-License-Identifier: MIT */
/* What a mapping file makes of columns, constants, cells with nothing in them, and dates. */
#include "support/lookup_rig.h"

static struct weir_spec spec;

/* ---- mapping files ---- */

static void use_spec(const char *text)
{
    char *copy = weir_strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    weir_spec_release(&spec);
    enum weir_status status = weir_spec_read(weir_str_from(copy), "map.json", &spec, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    free(copy);
    rig_options.spec = &spec;
}

START_TEST(a_mapping_file_says_where_columns_go_and_what_their_cells_mean)
{
    use_spec("{'table':'gadget','columns':{'Firma':'name','Hersteller':'maker:account("
             "accountnumber)','Art':{'to':'kind','values':{'IT':'1','Bau':'Ding','?':null,'-':''},"
             "'empty':'null'},'Notiz':null},'with':{'sold':true}}");
    rig_open("Firma,pieces,Hersteller,Art,Notiz");
    rig_row("Contoso", "5", "A1", "IT", "whatever");
    is_members("\"name\":\"Contoso\",\"pieces\":5,\"Maker@odata.bind\":\"/accounts(accountnumber="
               "'A1')\",\"kind\":1,\"sold\":true");
    rig_row("", "", "", "Bau", "");
    is_members("\"kind\":-2,\"sold\":true");
    rig_row("", "", "", "?", "");
    is_members("\"kind\":null,\"sold\":true");
    rig_row("", "", "", "-", "");
    is_members("\"kind\":null,\"sold\":true");
    rig_row("x", "", "", "", "");
    is_members("\"name\":\"x\",\"kind\":null,\"sold\":true");
    rig_row("", "", "", "bau", "");
    must(draft.refusal.len);
    rig_refused("Firma,pieces,Hersteller,Art",
                "map.json, line 1, column 181: the input has no column \"Notiz\"");
    rig_refused("Firma,name,Hersteller,Art,Notiz",
                "the columns \"Firma\" and \"name\" of the input both go to \"name\"");
    rig_options.id_from = "name";
    use_spec("{'columns':{'name':'plain','Firma':'name'}}");
    rig_refused("name,Firma", "ids are derived from \"name\" (--id-from), which both \"name\" and "
                              "\"Firma\" of the input could be");
    rig_options.id_from = NULL;
    use_spec("{'table':'account'}");
    rig_refused("name", "the mapping file is for the table \"account\", and rows go to \"gadget\"");
    use_spec("{'columns':{'Firma':'nmae'}}");
    rig_refused("Firma", "map.json, line 1, column 21: the table \"gadget\" has no column "
                         "\"nmae\"; did you mean \"name\"?");
    use_spec("{'columns':{'Firma':'kindname','name':'plain'}}");
    rig_refused("Firma,name",
                "map.json, line 1, column 21: the column \"kindname\" of the table \"gadget\" "
                "cannot be written by a create; pass over it with --ignore-columns Firma");
}
END_TEST

START_TEST(a_mapping_file_renames_members_too)
{
    use_spec("{'columns':{'Firma':'name','Owner':'ownerid:systemuser(domainname)','x':null}}");
    open_named(NULL);
    members({ "Firma", "Contoso" }, { "x", "y" });
    is_members("\"name\":\"Contoso\"");
    members({ "Firma", "Contoso" }, { "name", "y" });
    is_refused("name", "the row has two values for \"name\", which takes one");
}
END_TEST

START_TEST(values_of_a_mapping_file_name_rows_too)
{
    use_spec("{'columns':{'No':{'to':'gadgetid','values':{'one':'" ID_1 "'}}}}");
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("No,name");
    rig_row("one", "x");
    is_target(ID_1, "", "", "\"name\":\"x\"");
    rig_row("two", "x");
    must(draft.refusal.len);
}
END_TEST

START_TEST(constants_are_in_every_row)
{
    use_spec("{'with':{'name':'\\u00fc\\'','maker:account(accountnumber)':'A1','pieces':null,"
             "'ownerid':'team:" ID_1 "'}}");
    rig_options.connections = 2;
    rig_open("weight");
    rig_row("1.5");
    is_members("\"weight\":1.5,\"name\":\"\u00fc\\\"\",\"Maker@odata.bind\":\"/accounts("
               "accountnumber='A1')\",\"pieces\":null,\"ownerid@odata.bind\":\"/teams(" ID_1 ")\"");
    rig_refused("weight,name", "map.json, line 1, column 17: the column \"name\" has a constant, "
                               "and is in the input as \"name\"; leave one of them out");
    rig_options.connections = 1;
    use_spec("{'with':{'statecode':1,'kind':1}}");
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "serial,kind";
    rig_open("serial,name");
    rig_row("5", "x");
    is_target("", "serial=5,kind=1", "", "\"name\":\"x\"");
    rig_pass = WEIR_PASS_STATE;
    rig_row("5", "x");
    is_target("", "serial=5,kind=1", "", "\"statecode\":1");
}
END_TEST

/* As the command says them. */
static void use_constants(const char *const *texts)
{
    weir_spec_release(&spec);
    for (; *texts; texts++)
        ck_assert_int_eq(weir_spec_add_with(&spec, weir_str_from(*texts), &err), WEIR_OK);
    rig_options.spec = &spec;
}

START_TEST(what_is_said_beside_the_input_is_not_blamed_on_its_file)
{
    rig_options.input = "a.csv";
    use_spec("{'columns':{'Firma':'nmae'}}");
    rig_refused("Firma", "map.json, line 1, column 21: the table \"gadget\" has no column "
                         "\"nmae\"; did you mean \"name\"?");
    rig_refused("name", "map.json, line 1, column 21: input \"a.csv\" has no column \"Firma\"");
    use_spec("{'columns':{'Firma':'kindname','name':'plain'}}");
    rig_refused("Firma,name",
                "map.json, line 1, column 21: the column \"kindname\" of the table \"gadget\" "
                "cannot be written by a create; pass over it with --ignore-columns Firma");
    use_constants((const char *const[]){ "nmae=x", NULL });
    rig_refused("name", "--with nmae=x: the table \"gadget\" has no column \"nmae\"; did you mean "
                        "\"name\"?");
}
END_TEST

START_TEST(a_constant_that_can_never_be_right_is_refused_before_the_first_row)
{
    static const struct {
        const char *texts[3];
        const char *message;
    } rows[] = {
        { { "nmae=x" },
          "--with nmae=x: the table \"gadget\" has no column \"nmae\"; did you mean \"name\"?" },
        { { "pieces=x" },
          "--with pieces=x: \"x\" is no whole number; \"pieces\" takes digits without "
          "separators" },
        { { "gadgetid=" ID_1 },
          "--with gadgetid=" ID_1 ": \"gadgetid\" cannot be a constant: no two "
          "rows have the same id" },
        { { "maker=x" },
          "--with maker=x: \"x\" is no id; \"maker\" takes 32 hexadecimal digits in "
          "groups of 8-4-4-4-12, not all of them 0" },
        { { "ownerid=nonsense" },
          "--with ownerid=nonsense: \"nonsense\" is no owner; \"ownerid\" "
          "takes systemuser:ID or team:ID" },
        { { "kindname=x" },
          "--with kindname=x: the column \"kindname\" of the table \"gadget\" "
          "cannot be written by an update" },
        { { "statecode=" },
          "--with statecode=: \"statecode\" cannot be cleared: every row has one; "
          "leave it out or give it a value" },
        { { "statecode=0", "statuscode=2" },
          "--with statuscode=2: the status \"2\" belongs to state 1, and the row has state \"0\"" },
    };
    for (int named = 0; named < 2; named++) {
        rig_options.named = named;
        rig_options.operation = WEIR_OPERATION_UPDATE;
        for (size_t i = 0; i < COUNT(rows); i++) {
            use_constants(rows[i].texts);
            rig_refused("gadgetid,weight", rows[i].message);
        }
    }
    use_constants((const char *const[]){ "serial=x", "kind=1", NULL });
    rig_options.key = "serial,kind";
    rig_refused("name",
                "--with serial=x: \"x\" is no whole number; \"serial\" takes digits without "
                "separators");
    rig_options.key = NULL;
    rig_options.id_from = "code";
    use_constants((const char *const[]){ "code= ", NULL });
    rig_refused("name", "--with code= : ids are derived from \"code\" (--id-from), which needs a "
                        "value");
}
END_TEST

START_TEST(a_value_that_can_never_be_right_is_refused_though_no_row_has_it)
{
    static const struct {
        const char *column;
        const char *message;
    } rows[] = {
        { "{'to':'kind','values':{'a':'1','b':'9'}}",
          "map.json, line 1, column 52: \"b\" stands for a wrong value: \"9\" is no choice; "
          "\"kind\" takes 1 (Gizmo), -2 (Ding), 3" },
        { "{'to':'name','values':{'a':null,'b':'x\\u0001'}}",
          "map.json, line 1, column 53: \"b\" stands for a wrong value: character 2 of the text is "
          "U+0001, which the service refuses; \"name\" takes no control characters but tabs and "
          "line "
          "ends" },
        { "{'to':'ownerid','values':{'a':null}}",
          "map.json, line 1, column 47: \"a\" stands for a wrong value: \"ownerid\" cannot be "
          "cleared: every row has one; leave it out or give it a value" },
        { "{'to':'ownerid','empty':'null'}", "map.json, line 1, column 17: \"ownerid\" cannot be "
                                             "cleared: every row has one; leave it out or give it "
                                             "a value" },
        { "{'to':'name','values':{'a':''},'empty':'reject'}",
          "map.json, line 1, column 44: \"a\" stands for a wrong value: the cell is empty; "
          "\"name\" "
          "takes a value in every row" },
        { "{'to':'gadgetid','values':{'a':'x'}}",
          "map.json, line 1, column 48: \"a\" stands for a wrong value: \"x\" is no id; "
          "\"gadgetid\" "
          "needs 32 hexadecimal digits in groups of 8-4-4-4-12, not all of them 0" },
    };
    rig_options.operation = WEIR_OPERATION_UPDATE;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300];
        snprintf(text, sizeof(text), "{'columns':{'x':%s}}", rows[i].column);
        use_spec(text);
        for (int named = 0; named < 2; named++) {
            rig_options.named = named;
            rig_refused(i < 5 ? "gadgetid,x" : "x,weight", rows[i].message);
            rig_options.named = true; /* no name is known to come but that of the mapping */
            rig_refused(NULL, rows[i].message);
        }
    }
    rig_options.named = false;
    use_spec("{'columns':{'x':{'to':'kind','values':{'a':'','b':null}}}}");
    rig_open("gadgetid,x");
}
END_TEST

/* What only the list can tell is told when it is there. */
START_TEST(a_constant_that_no_reference_has_is_refused_when_they_are_known)
{
    const struct weir_guid id = { { 1 } };
    struct weir_references *references = weir_references_new();
    must(weir_references_add(references, 0, weir_str_from("anna"), &id, &err) == WEIR_OK);
    use_constants((const char *const[]){ "ownerid:systemuser(domainname)=nobody", NULL });
    rig_open("name");
    weir_mapping_set_references(mapping, references);
    ck_assert_int_eq(weir_mapping_check_said(mapping, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message,
                     "--with ownerid:systemuser(domainname)=nobody: no row of the table "
                     "\"systemuser\" has \"nobody\" as \"domainname\", to which \"ownerid\" would "
                     "point");
    use_spec("{'columns':{'Wer':{'to':'ownerid:systemuser(domainname)','values':{'A':'anna','B':"
             "'berta'}}}}");
    for (int named = 0; named < 2; named++) {
        rig_options.named = named;
        rig_open(named ? NULL : "Wer");
        weir_mapping_set_references(mapping, references);
        ck_assert_int_eq(weir_mapping_check_said(mapping, &err), WEIR_E_INVALID);
        ck_assert_str_eq(
            err.message,
            "map.json, line 1, column 83: \"B\" stands for a wrong value: no row of the "
            "table \"systemuser\" has \"berta\" as \"domainname\", to which "
            "\"ownerid\" would point");
    }
    use_constants((const char *const[]){ "ownerid:systemuser(domainname)=Anna", NULL });
    rig_options.named = false;
    rig_open("name");
    weir_mapping_set_references(mapping, references);
    ck_assert_int_eq(weir_mapping_check_said(mapping, &err), WEIR_OK);
    weir_references_free(references);
}
END_TEST

/* Where the type does not count blanks around a value, they do not count here. */
START_TEST(values_are_found_as_their_type_reads_cells)
{
    use_spec("{'columns':{'Art':{'to':'kind','values':{'IT':'1',' Bau ':'-2',' x':'-2','x':'1'}},"
             "'Firma':{'to':'name','values':{'A':'Anton'}}}}");
    rig_open("Art,Firma");
    rig_row(" IT", "A");
    is_members("\"kind\":1,\"name\":\"Anton\"");
    rig_row("Bau", " A");
    is_members("\"kind\":-2,\"name\":\" A\"");
    rig_row(" x", "");
    is_members("\"kind\":-2");
    rig_row("x ", "");
    is_members("\"kind\":1");
}
END_TEST

START_TEST(columns_that_are_ignored_may_be_anything)
{
    weir_spec_release(&spec);
    must(weir_spec_ignore(&spec, weir_str_from("nonsense,manual,a:b:c, kindname"), &err) ==
         WEIR_OK);
    rig_options.spec = &spec;
    rig_open("nonsense,manual,name,a:b:c,kindname");
    rig_row("1", "2", "x", "3", "4");
    is_members("\"name\":\"x\"");
    rig_refused("nonsense,manual,name,a:b:c,Kindname",
                "--ignore-columns names \"kindname\", and the input has no column of that name");
    open_named(NULL);
    members({ "nonsense", "1" }, { "name", "x" }, { "manual", "y" });
    is_members("\"name\":\"x\"");
}
END_TEST

/* ---- cells with nothing in them ---- */

START_TEST(empty_cells_are_left_out_cleared_or_refused)
{
    rig_open("name,pieces");
    rig_row("", "5");
    is_members("\"pieces\":5");
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_open("name,pieces");
    rig_row("", "5");
    is_members("\"name\":null,\"pieces\":5");
    rig_options.empty = WEIR_CELL_EMPTY_REJECT;
    rig_open("name,pieces");
    rig_row("", "5");
    is_refused("name", "the cell is empty; \"name\" takes a value in every row");
    use_spec("{'columns':{'name':{'to':'name','empty':'omit'},'maker':{'to':'maker','empty':"
             "'reject'}}}");
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_open("name,pieces,maker");
    rig_row("", "", ID_1);
    is_members("\"pieces\":null,\"Maker@odata.bind\":\"/accounts(" ID_1 ")\"");
    rig_row("x", "5", "");
    is_refused("maker", "the cell is empty; \"maker\" takes a value in every row");
}
END_TEST

/* Where blanks around a value do not count, nothing is left of them. */
START_TEST(a_cell_of_blanks_is_empty_unless_it_is_a_text)
{
    rig_open("name,pieces,kind,built,maker,sold");
    rig_row("  ", " ", "\t ", "   ", " ", " ");
    is_members("\"name\":\"  \"");
    rig_options.empty = WEIR_CELL_EMPTY_REJECT;
    rig_open("name,pieces");
    rig_row("  ", " ");
    is_refused("pieces", "the cell is empty; \"pieces\" takes a value in every row");
}
END_TEST

/* Rows of different columns never share a request: what is cleared is written. */
START_TEST(a_column_that_is_cleared_counts_for_the_shape)
{
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_open("gadgetid,name");
    rig_row(ID_1, "x");
    uint64_t shape = draft.shape;
    rig_row(ID_1, "");
    ck_assert_uint_eq(draft.shape, shape);
}
END_TEST

/* ---- when a row was created ---- */

static const char *const DATED[] = {
    "{\"LogicalName\":\"plain\"",
    "{\"LogicalName\":\"createdon\",\"AttributeType\":\"DateTime\",\"IsValidForCreate\":false,"
    "\"IsValidForUpdate\":false,\"IsValidForRead\":true},{\"LogicalName\":\"overriddencreatedon\","
    "\"AttributeType\":\"DateTime\",\"IsValidForCreate\":true,\"IsValidForUpdate\":false,"
    "\"IsValidForRead\":true},{\"LogicalName\":\"plain\""
};

START_TEST(when_a_row_was_created_goes_where_it_can_be_written)
{
    rig_table(DATED, NULL);
    rig_open("createdon");
    rig_row("2020-02-29T12:00:00Z");
    is_members("\"overriddencreatedon\":\"2020-02-29T12:00:00Z\"");
    rig_row("2020-07-01 12:00");
    is_refused("overriddencreatedon",
               "\"2020-07-01 12:00\" says no zone; \"overriddencreatedon\" takes an offset such as "
               "+01:00 or Z, or a time zone for the whole input");
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_open("gadgetid,createdon");
    rig_row(ID_1, "2020-02-29T12:00:00Z");
    is_members("\"overriddencreatedon\":\"2020-02-29T12:00:00Z\"");
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_refused("gadgetid,createdon",
                "the column \"createdon\" of the table \"gadget\" cannot be written by an update; "
                "pass over it with --ignore-columns createdon");
}
END_TEST

/* The service keeps in overriddencreatedon when a row was brought in, once it has been. */
START_TEST(of_two_dates_the_row_was_created_on_the_first)
{
    static const char *const orders[] = { "createdon,overriddencreatedon",
                                          "overriddencreatedon,createdon" };
    rig_table(DATED, NULL);
    for (int i = 0; i < 2; i++) {
        const char *dates[] = { "2020-02-29T12:00:00Z", "2024-05-01T00:00:00Z" };
        rig_open(orders[i]);
        rig_row(dates[i], dates[!i]);
        is_members("\"overriddencreatedon\":\"2020-02-29T12:00:00Z\"");
        rig_row(i ? dates[1] : "", i ? "" : dates[1]);
        is_members("\"overriddencreatedon\":\"2024-05-01T00:00:00Z\"");
        rig_row(i ? "" : dates[0], i ? dates[0] : "");
        is_members("\"overriddencreatedon\":\"2020-02-29T12:00:00Z\"");
        open_named(NULL);
        members({ i ? "overriddencreatedon" : "createdon", dates[i] },
                { i ? "createdon" : "overriddencreatedon", dates[!i] });
        is_members("\"overriddencreatedon\":\"2020-02-29T12:00:00Z\"");
        rig_options.named = false;
    }
    use_constants((const char *const[]){ "overriddencreatedon=2020-01-01T00:00:00Z", NULL });
    rig_refused(
        "createdon",
        "--with overriddencreatedon=2020-01-01T00:00:00Z: the column "
        "\"overriddencreatedon\" has a constant, and is in the input as \"createdon\"; leave "
        "one of them out");
}
END_TEST

START_TEST(dates_are_in_the_zone_of_the_input_unless_they_say_theirs)
{
    struct weir_zone *zone;
    must(weir_zone_load("Europe/Berlin", &zone, &err) == WEIR_OK);
    rig_table(DATED, NULL);
    rig_options.zone = zone;
    rig_open("createdon");
    rig_row("2020-07-01 12:00");
    is_members("\"overriddencreatedon\":\"2020-07-01T10:00:00Z\"");
    rig_row("2020-12-01 12:00");
    is_members("\"overriddencreatedon\":\"2020-12-01T11:00:00Z\"");
    rig_row("2020-07-01 12:00Z");
    is_members("\"overriddencreatedon\":\"2020-07-01T12:00:00Z\"");
    rig_row("2020-03-29 02:30");
    is_refused("overriddencreatedon",
               "\"2020-03-29 02:30\" was never on the clocks of Europe/Berlin, which were changed "
               "then; \"overriddencreatedon\" takes it with an offset such as +01:00");
    weir_zone_free(zone);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_spec");
    lookup_add(&s, a_mapping_file_says_where_columns_go_and_what_their_cells_mean);
    lookup_add(&s, a_mapping_file_renames_members_too);
    lookup_add(&s, values_of_a_mapping_file_name_rows_too);
    lookup_add(&s, constants_are_in_every_row);
    lookup_add(&s, what_is_said_beside_the_input_is_not_blamed_on_its_file);
    lookup_add(&s, a_constant_that_can_never_be_right_is_refused_before_the_first_row);
    lookup_add(&s, a_value_that_can_never_be_right_is_refused_though_no_row_has_it);
    lookup_add(&s, a_constant_that_no_reference_has_is_refused_when_they_are_known);
    lookup_add(&s, values_are_found_as_their_type_reads_cells);
    lookup_add(&s, columns_that_are_ignored_may_be_anything);
    lookup_add(&s, empty_cells_are_left_out_cleared_or_refused);
    lookup_add(&s, a_cell_of_blanks_is_empty_unless_it_is_a_text);
    lookup_add(&s, a_column_that_is_cleared_counts_for_the_shape);
    lookup_add(&s, when_a_row_was_created_goes_where_it_can_be_written);
    lookup_add(&s, of_two_dates_the_row_was_created_on_the_first);
    lookup_add(&s, dates_are_in_the_zone_of_the_input_unless_they_say_theirs);
    int status = suite_run(&s);
    weir_spec_release(&spec);
    return status;
}
