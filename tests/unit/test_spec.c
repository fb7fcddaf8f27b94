/* SPDX-License-Identifier: MIT */
/* Mapping files, constants and ignored columns: what is read, and what is refused. */
#include "records/cell_kinds.h"
#include "support/lookup_rig.h"

static struct weir_spec spec;

static enum weir_status read_spec(const char *text)
{
    /* In memory of just this size, with " for '. */
    size_t len = strlen(text);
    char *copy = weir_calloc(len, 1);
    for (size_t i = 0; i < len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    weir_spec_release(&spec);
    memset(&err, 0, sizeof(err));
    enum weir_status status = weir_spec_read(weir_str(copy, len), "map.json", &spec, &err);
    free(copy);
    return status;
}

static const struct weir_spec_column *column(const char *source)
{
    const struct weir_spec_column *found = weir_spec_find(&spec, weir_str_from(source));
    ck_assert_msg(found, "%s", source);
    return found;
}

START_TEST(a_file_says_where_columns_go)
{
    ck_assert_int_eq(read_spec("// what goes where\n"
                               "{ 'table': 'account',\n"
                               "  'columns': { 'Firma': 'name',\n"
                               "    'Parent No': 'parentaccountid:account(accountnumber)',\n"
                               "    'Branche': { 'to': 'industrycode', 'values': { 'IT': '7',\n"
                               "                 'Bau': 8, '': null, 'x': true }, 'empty': 'null' "
                               "},\n"
                               "    'Notiz': null, /* ignored */\n"
                               "    'N\\u00e4he': { 'to': 'x', 'empty': 'reject' }, },\n"
                               "  'with': { 'donotemail': true, 'revenue': 1.50, 'y': 'z', 'n': "
                               "null } }"),
                     WEIR_OK);
    ck_assert_str_eq(spec.table, "account");
    ck_assert_uint_eq(spec.column_count, 5);
    ck_assert_str_eq(column("Firma")->target, "name");
    ck_assert_int_eq(column("Firma")->empty, -1);
    ck_assert_str_eq(column("Parent No")->target, "parentaccountid:account(accountnumber)");
    ck_assert_ptr_null(column("Notiz")->target);
    ck_assert_int_eq(column("N\u00e4he")->empty, WEIR_CELL_EMPTY_REJECT);
    const struct weir_spec_column *trade = column("Branche");
    ck_assert_int_eq(trade->empty, WEIR_CELL_EMPTY_NULL);
    ck_assert_uint_eq(trade->value_count, 4);
    ck_assert_str_eq(trade->values[0].from, "IT");
    ck_assert_str_eq(trade->values[0].to, "7");
    ck_assert_str_eq(trade->values[1].to, "8");
    ck_assert_str_eq(trade->values[2].from, "");
    ck_assert_ptr_null(trade->values[2].to);
    ck_assert_str_eq(trade->values[3].to, "true");
    static const char *const with[][2] = {
        { "donotemail", "true" }, { "revenue", "1.50" }, { "y", "z" }, { "n", "" }
    };
    ck_assert_uint_eq(spec.with_count, COUNT(with));
    for (size_t i = 0; i < COUNT(with); i++) {
        ck_assert_str_eq(spec.with[i].target, with[i][0]);
        ck_assert_str_eq(spec.with[i].value, with[i][1]);
    }
    ck_assert_ptr_null(weir_spec_find(&spec, weir_str_from("firma")));
    ck_assert_int_eq(read_spec("{}"), WEIR_OK);
    ck_assert_ptr_null(spec.table);
    ck_assert_ptr_null(weir_spec_find(NULL, weir_str_from("x")));
}
END_TEST

START_TEST(a_file_with_a_mistake_is_refused_with_its_place)
{
    static const char *const rows[][2] = {
        { "", "map.json, line 1, column 1: unexpected end of data" },
        { "[]", "map.json is an array; a mapping file is an object with \"table\", \"columns\" and "
                "\"with\"" },
        { "{'colums': {}}", "map.json, line 1, column 12: \"colums\" is not known here; there may "
                            "be \"table\", \"columns\" and \"with\"" },
        { "{'table': 5}", "map.json, line 1, column 11: \"table\" is a number; it must be a "
                          "string" },
        { "{'table': ''}", "map.json, line 1, column 11: \"table\" is empty, or has a NUL in it" },
        { "{'columns': []}", "map.json, line 1, column 13: \"columns\" is an array; it must be an "
                             "object: columns of the input, and where they go" },
        { "{'columns': {\n 'a': 7}}",
          "map.json, line 2, column 7: \"a\" is a number; it must be a string" },
        { "{'columns': {'a': ''}}",
          "map.json, line 1, column 19: \"a\" is empty, or has a NUL in it" },
        { "{'columns': {'a': {}}}",
          "map.json, line 1, column 19: \"a\" does not say \"to\" which column it goes" },
        { "{'columns': {'a': {'to': null}}}",
          "map.json, line 1, column 26: \"to\" is null; it must be a string" },
        { "{'columns': {'a': {'into': 'x'}}}",
          "map.json, line 1, column 28: \"into\" is not known here; there may be \"to\", "
          "\"values\" and \"empty\"" },
        { "{'columns': {'a': {'to': 'x', 'empty': 'nil'}}}",
          "map.json, line 1, column 40: \"empty\" is \"nil\"; it must be \"omit\", \"null\" or "
          "\"reject\"" },
        { "{'columns': {'a': {'to': 'x', 'values': []}}}",
          "map.json, line 1, column 41: \"values\" is an array; it must be an object of texts" },
        { "{'columns': {'a': {'to': 'x', 'values': {'b': {}}}}}",
          "map.json, line 1, column 47: \"b\" is an object; it must be a text, a number, true, "
          "false or null" },
        { "{'with': 'x'}", "map.json, line 1, column 10: \"with\" is a string; it must be an "
                           "object: columns, and the constant of each" },
        { "{'with': {'x': []}}", "map.json, line 1, column 16: \"x\" is an array; it must be a "
                                 "text, a number, true, false or null" },
        { "{'with': {'': 1}}",
          "map.json, line 1, column 15: \"\" is not known here; there may be names of columns" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(read_spec(rows[i][0]), WEIR_E_INVALID);
        ck_assert_str_eq(err.message, rows[i][1]);
        ck_assert_ptr_null(spec.columns);
    }
    ck_assert_int_eq(read_spec("{'columns': {'a': 'x', 'a': 'y'}}"), WEIR_E_INVALID);
    static const char *const nuls[] = { "{'columns': {'a': 'x\\u0000'}}",
                                        "{'columns': {'a':{'to':'b','values':{'x':'\\u0000'}}}}",
                                        "{'with': {'a': 'x\\u0000'}}", "{'table': 'a\\u0000'}" };
    for (size_t i = 0; i < COUNT(nuls); i++)
        ck_assert_msg(read_spec(nuls[i]) == WEIR_E_INVALID, "%s", nuls[i]);
}
END_TEST

/* A file of `count` entries like `format`, between `head` and `tail`. */
static char *make_file(const char *head, const char *format, int count, const char *tail)
{
    struct weir_buf text;
    weir_buf_init(&text, WEIR_SPEC_BYTES_MAX);
    weir_buf_add_text(&text, head);
    for (int i = 0; i < count; i++) {
        char entry[64];
        snprintf(entry, sizeof(entry), "'%d':%s,", i, format);
        weir_buf_add_text(&text, entry);
    }
    weir_buf_add_text(&text, tail);
    must(!text.overflow);
    return weir_buf_take(&text);
}

START_TEST(a_file_has_its_bounds)
{
    static const struct {
        const char *head;
        const char *tail;
        const char *entry;
        int most;
    } rows[] = {
        { "{'columns':{", "}}", "null", WEIR_FIELDS_MAX },
        { "{'columns':{'a':{'to':'b','values':{", "}}}}", "1", WEIR_SPEC_VALUES_MAX },
        { "{'with':{", "}}", "1", WEIR_SPEC_WITH_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int more = 0; more < 2; more++) {
            char *text = make_file(rows[i].head, rows[i].entry, rows[i].most + more, rows[i].tail);
            ck_assert_int_eq(read_spec(text), more ? WEIR_E_TOO_BIG : WEIR_OK);
            free(text);
        }
    }
    char *large = weir_calloc(WEIR_SPEC_BYTES_MAX + 2, 1);
    memset(large, ' ', WEIR_SPEC_BYTES_MAX + 1);
    memcpy(large, "{}", 2);
    ck_assert_int_eq(read_spec(large), WEIR_E_TOO_BIG);
    ck_assert_str_eq(err.message, "map.json is larger than 1048576 bytes");
    large[WEIR_SPEC_BYTES_MAX] = 0;
    ck_assert_int_eq(read_spec(large), WEIR_OK);
    free(large);
}
END_TEST

START_TEST(constants_and_ignored_columns_come_from_options_too)
{
    weir_spec_release(&spec);
    must(weir_spec_add_with(&spec, weir_str_from(" donotemail =true"), &err) == WEIR_OK);
    must(weir_spec_add_with(&spec, weir_str_from("name= a=b "), &err) == WEIR_OK);
    must(weir_spec_add_with(&spec, weir_str_from("fax="), &err) == WEIR_OK);
    ck_assert_str_eq(spec.with[0].target, "donotemail");
    ck_assert_str_eq(spec.with[1].value, " a=b ");
    ck_assert_str_eq(spec.with[2].value, "");
    ck_assert_int_eq(weir_spec_add_with(&spec, weir_str_from("name=x"), &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the column \"name\" has two constants");
    ck_assert_int_eq(weir_spec_add_with(&spec, weir_str_from("name"), &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "\"name\" is no constant; it must be COLUMN=VALUE");
    ck_assert_int_eq(weir_spec_add_with(&spec, weir_str_from("=x"), &err), WEIR_E_INVALID);
    ck_assert_int_eq(weir_spec_add_with(&spec, weir_str("", 0), &err), WEIR_E_INVALID);
    must(weir_spec_ignore(&spec, weir_str_from("a, b c ,d"), &err) == WEIR_OK);
    ck_assert_uint_eq(spec.column_count, 3);
    ck_assert_ptr_null(column("b c")->target);
    ck_assert_int_eq(weir_spec_ignore(&spec, weir_str_from("a,,b"), &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "a column to be ignored has no name; they stand with one comma "
                                  "between them");
    must(read_spec("{'columns':{'Firma':'name'}}") == WEIR_OK);
    must(weir_spec_ignore(&spec, weir_str_from("Firma"), &err) == WEIR_OK);
    ck_assert_ptr_null(column("Firma")->target);
    ck_assert_uint_eq(spec.column_count, 1);
}
END_TEST

/* ---- templates ---- */

static void make_template(struct weir_buf *buf, const char *columns)
{
    weir_spec_release(&spec);
    weir_buf_init(buf, 1024 * 1024);
    weir_spec_template(buf, table, rig_split(columns), rig_options.others, rig_options.other_count,
                       false);
    must(!buf->overflow);
}

static void same_target(const char *source, const char *target)
{
    const struct weir_spec_column *found = column(source);
    if (target)
        ck_assert_str_eq(found->target, target);
    else
        ck_assert_ptr_null(found->target);
}

START_TEST(a_template_guesses_and_says_what_columns_are)
{
    static const char *const lines[] = {
        "// text, up to 160 characters; forms insist on it\n    \"Name\": \"name\",\n",
        "// by its name, written otherwise\n    // whole number, -5 to 2147483647\n    \"PIECES\": "
        "\"pieces\",\n",
        "// no column is called like this: perhaps pieces? ignored, until you say where it goes\n"
        "    \"piece\": null,\n",
        "// by its label\n    // multi-line text, up to 2000 characters\n    \"Small print\": "
        "\"notes\",\n",
        "// decimal, -100000000000.0 to 1e11, up to 4 digits behind the point\n",
        "// choice: 1 (Gizmo), -2 (Ding), 3\n    \"kind\": \"kind\",\n",
        "// lookup to account, by its key :account(accountnumber), by its key "
        ":account(region,accountnumber)\n    \"maker\": \"maker\",\n",
        "// no column is called like this: ignored, until you say where it goes\n    \"colour\": "
        "null,\n",
        "// \"manual\" cannot be written: ignored\n    \"manual\": null,\n",
        "// date and time, YYYY-MM-DD\n    \"built\": \"built\",\n",
    };
    struct weir_buf buf;
    gadget_make(
        DEFINITION, gadget_texts[DEFINITION], "{'LogicalName':'notes'",
        "{'LogicalName':'notes','DisplayName':{'UserLocalizedLabel':{'Label':'Small Print'}}");
    gadget_read_well();
    make_template(&buf, "Name,piece,weight,kind,maker,colour,manual,built,buyer:contact,GADGETID,"
                        "PIECES,Small print");
    for (size_t i = 0; i < COUNT(lines); i++)
        ck_assert_msg(strstr(weir_buf_text(&buf), lines[i]), "%s in\n%s", lines[i],
                      weir_buf_text(&buf));
    must(weir_spec_read(weir_str(buf.ptr, buf.len), "map.json", &spec, &err) == WEIR_OK);
    ck_assert_str_eq(spec.table, "gadget");
    ck_assert_uint_eq(spec.column_count, 12);
    same_target("Name", "name");
    same_target("piece", NULL);
    same_target("PIECES", "pieces");
    same_target("Small print", "notes");
    same_target("GADGETID", "gadgetid");
    same_target("buyer:contact", "buyer:contact");
    same_target("colour", NULL);
    weir_buf_release(&buf);
}
END_TEST

START_TEST(a_label_that_is_cut_in_a_template_has_a_mark)
{
    struct weir_buf buf;
    gadget_replace(PICKLISTS, "'UserLocalizedLabel':{'Label':'Gizmo'",
                   "'UserLocalizedLabel':{'Label':'01234567890123456789012345678901234567890'");
    gadget_replace(DEFINITION, "{'LogicalName':'pieces'",
                   "{'LogicalName':'pieces','DisplayName':{'UserLocalizedLabel':{'Label':"
                   "'123456789012345678901234567890123456789\u00fc'}}");
    gadget_read_well();
    make_template(&buf, "kind,piece");
    ck_assert_ptr_nonnull(
        strstr(weir_buf_text(&buf),
               "// choice: 1 (0123456789012345678901234567890123456789\u2026), -2 (Ding), 3\n"));
    ck_assert_ptr_nonnull(
        strstr(weir_buf_text(&buf),
               "perhaps pieces (\"123456789012345678901234567890123456789\u2026\")?"));
    weir_buf_release(&buf);
}
END_TEST

/* What it says can be used as it is, whatever the header has in it. */
START_TEST(a_template_can_be_used_without_a_change)
{
    struct weir_buf buf;
    gadget_make(PICKLISTS, gadget_texts[PICKLISTS], "Gizmo", "Giz\\nmo */ \\\"x");
    gadget_read_well();
    make_template(&buf, "Name,kind,\"quo\"ted\",line\nend,*/,//,tab\tbed,\\,Kind Of,Weigth");
    enum weir_status status = weir_spec_read(weir_str(buf.ptr, buf.len), "map.json", &spec, &err);
    ck_assert_msg(status == WEIR_OK, "%s in\n%s", err.message, weir_buf_text(&buf));
    same_target("Weigth", NULL);
    rig_options.spec = &spec;
    rig_open("Name,kind,\"quo\"ted\",line\nend,*/,//,tab\tbed,\\,Kind Of,Weigth");
    rig_row("x", "3", "", "", "", "", "", "", "", "1.5");
    is_members("\"name\":\"x\",\"kind\":3");
    weir_buf_release(&buf);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("spec");
    lookup_add(&s, a_file_says_where_columns_go);
    lookup_add(&s, a_file_with_a_mistake_is_refused_with_its_place);
    lookup_add(&s, a_file_has_its_bounds);
    lookup_add(&s, constants_and_ignored_columns_come_from_options_too);
    lookup_add(&s, a_template_guesses_and_says_what_columns_are);
    lookup_add(&s, a_label_that_is_cut_in_a_template_has_a_mark);
    lookup_add(&s, a_template_can_be_used_without_a_change);
    int status = suite_run(&s);
    weir_spec_release(&spec);
    return status;
}
