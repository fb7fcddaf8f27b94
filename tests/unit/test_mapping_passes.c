/* SPDX-License-Identifier: MIT */
/* What waits for a pass of its own: lookups to the table itself, and states. And derived ids, by
 * which rows of one file refer to each other. */
#include "records/derived_id.h"
#include "support/lookup_rig.h"

#define TO(id) "\"Maker@odata.bind\":\"/gadgets(" id ")\""
#define CLOSED "\"statecode\":1"
#define CLOSES                                                                                     \
    "is set by actions that close a row, which are not offered here; pass over it with "           \
    "--ignore-columns statecode"

static void in_pass(enum weir_pass pass)
{
    rig_pass = pass;
    rig_number = 0; /* the same row again */
}

static void is_idle(void)
{
    is_members("");
    must(draft.idle);
}

static void has_passes(bool lookups, bool state)
{
    must(weir_mapping_has_pass(mapping, WEIR_PASS_ROWS));
    must(weir_mapping_has_pass(mapping, WEIR_PASS_LOOKUPS) == lookups);
    must(weir_mapping_has_pass(mapping, WEIR_PASS_STATE) == state);
}

/* ---- lookups ---- */

START_TEST(a_lookup_to_the_table_itself_waits_until_all_rows_are_there)
{
    lookup_inward();
    for (int upsert = 0; upsert < 2; upsert++) {
        rig_options.operation = upsert ? WEIR_OPERATION_UPSERT : WEIR_OPERATION_CREATE;
        rig_open("gadgetid,name,maker");
        has_passes(true, false);
        ck_assert_int_eq(weir_mapping_operation(mapping, WEIR_PASS_ROWS), rig_options.operation);
        ck_assert_int_eq(weir_mapping_operation(mapping, WEIR_PASS_LOOKUPS), WEIR_OPERATION_UPDATE);
        in_pass(WEIR_PASS_ROWS);
        rig_row(ID_1, "x", ID_2);
        is_target(ID_1, "", "", "\"name\":\"x\"");
        uint64_t hash = draft.key_hash;
        must(!draft.idle);
        in_pass(WEIR_PASS_LOOKUPS);
        rig_row(ID_1, "x", ID_2);
        is_target(ID_1, "", "", TO(ID_2));
        must(!draft.idle && draft.shape && draft.key_hash == hash);
        rig_row(ID_1, "x", "");
        is_idle();
        in_pass(WEIR_PASS_STATE);
        rig_row(ID_1, "x", ID_2);
        is_idle();
    }
}
END_TEST

/* Neither is it created first, and then refused. */
START_TEST(a_row_in_a_partition_does_not_point_to_its_own_table)
{
    static const char why[] = "the row is in a partition and points to a row of its own table, "
                              "which a lookup does not find by an id alone; leave it empty";
    lookup_inward();
    rig_table(ELASTIC, PARTITIONED, NULL);
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_UPSERT; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        rig_open("gadgetid,partitionid,maker,buyer");
        in_pass(WEIR_PASS_ROWS);
        rig_row(ID_1, "p", ID_2, "");
        is_refused("maker", why);
        rig_row(ID_1, "p", "", "contact:" ID_2);
        must(!draft.refusal.len);
        rig_row(ID_1, "", ID_2, "");
        must(!draft.refusal.len);
        rig_row(ID_1, "p", "", "");
        must(!draft.refusal.len);
    }
}
END_TEST

/* The row is there already, and so is what it points to, or the service says that it is not. */
START_TEST(an_update_has_one_pass)
{
    lookup_inward();
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,maker,statecode");
    has_passes(false, false);
    rig_row(ID_1, ID_2, "1");
    is_members(TO(ID_2) "," CLOSED);
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_open("gadgetid,maker,statecode");
    has_passes(false, false);
}
END_TEST

/* If the service refuses it. Which of several columns of the first pass it was, nobody knows. */
START_TEST(a_later_pass_says_which_column_is_to_blame)
{
    lookup_inward();
    rig_open("name,maker,statuscode,statecode");
    rig_row("x", ID_2, "2", "1");
    same_text(draft.column, "");
    in_pass(WEIR_PASS_LOOKUPS);
    rig_row("x", ID_2, "2", "1");
    is_fine();
    same_text(draft.column, "maker");
    rig_row("x", "", "2", "1");
    same_text(draft.column, "");
    in_pass(WEIR_PASS_STATE);
    rig_row("x", ID_2, "2", "1");
    same_text(draft.column, "statecode");
    rig_row("x", ID_2, "2", "");
    same_text(draft.column, "statuscode");
}
END_TEST

START_TEST(rows_that_were_made_are_updated_under_the_same_id)
{
    lookup_inward();
    rig_open("name,maker");
    rig_row("x", ID_2);
    struct weir_str made = draft.target.id;
    char id[WEIR_GUID_CHARS];
    memcpy(id, made.ptr, sizeof(id));
    in_pass(WEIR_PASS_LOOKUPS);
    rig_row("x", ID_2);
    must(weir_str_equal(draft.target.id, weir_str(id, sizeof(id))));
    is_members(TO(ID_2));
    must(weir_mapping_allows_bulk(mapping, WEIR_PASS_LOOKUPS));
}
END_TEST

/* UpdateMultiple takes no alternate keys. */
START_TEST(rows_that_go_by_a_key_are_updated_by_it_one_by_one)
{
    lookup_inward();
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "serial,kind";
    rig_open("serial,kind,maker:gadget(serial,kind)");
    must(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    must(!weir_mapping_allows_bulk(mapping, WEIR_PASS_LOOKUPS));
    rig_row("1", "1", "2,Gizmo");
    is_target("", "serial=1,kind=1", "", "");
    must(!draft.idle);
    in_pass(WEIR_PASS_LOOKUPS);
    rig_row("1", "1", "2,Gizmo");
    is_target("", "serial=1,kind=1", "", "\"Maker@odata.bind\":\"/gadgets(serial=2,kind=1)\"");
}
END_TEST

/* Which table it is stands in the cell, and so does the pass. */
START_TEST(a_lookup_to_several_tables_waits_if_it_points_to_its_own)
{
    gadget_make(LOOKUPS, gadget_texts[LOOKUPS], "'buyer','Targets':['account','contact']",
                "'buyer','Targets':['gadget','contact']");
    gadget_make(DEFINITION, gadget_texts[DEFINITION],
                "{'ReferencingAttribute':'buyer','ReferencedEntity':'account',"
                "'ReferencingEntityNavigationPropertyName':'buyer_account'}",
                "{'ReferencingAttribute':'buyer','ReferencedEntity':'gadget',"
                "'ReferencingEntityNavigationPropertyName':'buyer_gadget'}");
    gadget_read_well();
    rig_open("buyer");
    has_passes(true, false);
    rig_row("contact:" ID_1);
    is_members("\"buyer_contact@odata.bind\":\"/contacts(" ID_1 ")\"");
    rig_row("gadget:" ID_1);
    is_members("");
    in_pass(WEIR_PASS_LOOKUPS);
    rig_row("contact:" ID_1);
    is_idle();
    rig_row("gadget:" ID_1);
    is_members("\"buyer_gadget@odata.bind\":\"/gadgets(" ID_1 ")\"");
    rig_open("buyer:contact");
    has_passes(false, false);
}
END_TEST

/* It would be created, and then never be finished. */
START_TEST(a_cell_for_a_later_pass_is_checked_in_the_first)
{
    lookup_inward();
    rig_open("name,maker,statecode");
    rig_row("x", "nonsense", "");
    must(draft.refusal.len && weir_str_equal(draft.column, weir_str_from("maker")));
    rig_row("x", "", "Sleeping");
    is_refused("statecode", "\"Sleeping\" is no choice; \"statecode\" takes 0 (Active), 1 "
                            "(Inactive)");
}
END_TEST

/* ---- states ---- */

START_TEST(states_are_set_when_the_row_is_there)
{
    rig_open("name,statecode,statuscode");
    has_passes(false, true);
    rig_row("x", "Inactive", "2");
    is_members("\"name\":\"x\"");
    must(!draft.idle);
    in_pass(WEIR_PASS_STATE);
    rig_row("x", "Inactive", "2");
    is_members(CLOSED ",\"statuscode\":2");
    rig_row("x", "1", "");
    is_members(CLOSED);
    rig_row("x", "", "");
    is_idle();
}
END_TEST

START_TEST(a_status_alone_implies_its_state)
{
    rig_open("name,statuscode");
    in_pass(WEIR_PASS_STATE);
    rig_row("x", "Old");
    is_members("\"statuscode\":2," CLOSED);
    rig_row("x", "New");
    is_members("\"statuscode\":1,\"statecode\":0");
    rig_options.operation = WEIR_OPERATION_UPDATE;
    in_pass(WEIR_PASS_ROWS);
    rig_open("gadgetid,statuscode");
    rig_row(ID_1, "Old");
    is_members("\"statuscode\":2," CLOSED);
}
END_TEST

START_TEST(a_status_of_another_state_is_refused)
{
    rig_open("statecode,statuscode");
    rig_row("0", "2");
    is_refused("statuscode", "the status \"2\" belongs to state 1, and the row has state \"0\"");
    rig_row("Active", "Old");
    is_refused("statuscode",
               "the status \"Old\" belongs to state 1, and the row has state \"Active\"");
}
END_TEST

START_TEST(a_state_cannot_be_cleared)
{
    rig_options.empty = WEIR_CELL_EMPTY_NULL;
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,statecode");
    rig_row(ID_1, "");
    is_refused("statecode", "\"statecode\" cannot be cleared: every row has one; leave it out or "
                            "give it a value");
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_open("name,statecode");
    in_pass(WEIR_PASS_STATE);
    rig_row("x", "");
    is_idle();
}
END_TEST

/* The gadget under the name of a table whose rows are closed by actions. */
START_TEST(rows_that_are_closed_by_an_action_are_not_closed)
{
    static const char *const names[] = { "opportunity", "quote",    "salesorder", "invoice",
                                         "incident",    "lead",     "contract",   "gadgets",
                                         "leads",       "Contract", "quotedetail" };
    for (size_t i = 0; i < COUNT(names); i++) {
        char change[64];
        snprintf(change, sizeof(change), "'LogicalName':'%s','EntitySetName'", names[i]);
        gadget_replace(DEFINITION, "'LogicalName':'gadget','EntitySetName'", change);
        ck_assert_int_eq(gadget_read_as(names[i]), WEIR_OK);
        bool closes = i < 7;
        char message[200];
        snprintf(message, sizeof(message), "the column \"statecode\" of the table \"%s\" " CLOSES,
                 names[i]);
        if (closes)
            rig_refused("name,statecode", message);
        else
            rig_open("name,statecode");
        rig_open("name,statuscode");
        rig_row("x", "New");
        is_fine();
        rig_row("x", "Old");
        must((draft.refusal.len > 0) == closes);
        if (i == 0)
            is_refused("statuscode",
                       "\"Old\" is a status of state 1, and a row of the table \"opportunity\" "
                       "gets there by an action that is not offered here; \"statuscode\" takes "
                       "those of state 0");
    }
}
END_TEST

/* A column that a create does not take is no hindrance, nor is one that an update does not take. */
START_TEST(what_waits_must_be_for_an_update_and_what_does_not_for_a_create)
{
    static const char *const LATER[] = {
        "{\"Value\":\"StateType\"},\"AttributeOf\":null,\"IsValidForCreate\":true",
        "{\"Value\":\"StateType\"},\"AttributeOf\":null,\"IsValidForCreate\":false"
    };
    static const char *const AT_ONCE[] = {
        "{\"Value\":\"LookupType\"},\"AttributeOf\":null,\"IsValidForCreate\":true,"
        "\"IsValidForUpdate\":true",
        "{\"Value\":\"LookupType\"},\"AttributeOf\":null,\"IsValidForCreate\":true,"
        "\"IsValidForUpdate\":false"
    };
    lookup_inward();
    rig_table(LATER, AT_ONCE, NULL);
    rig_open("maker,statecode");
    has_passes(false, true);
    rig_row(ID_2, "1");
    is_members(TO(ID_2));
    in_pass(WEIR_PASS_STATE);
    rig_row(ID_2, "1");
    is_members(CLOSED);
}
END_TEST

/* ---- all passes together ---- */

#define WIDTH 8

static const char *const choices_of[WIDTH][3] = {
    { "Contoso", "x", "" },   { "5", "7", "" },     { ID_2, "", "" },
    { "1", "Inactive", "" },  { "2", "", "" },      { "contact:" ID_1, "account:" ID_1, "" },
    { "team:" ID_2, "", "" }, { "1.50", "-1", "" },
};

static void take_members(struct weir_buf *set, const char *const cells[CELLS])
{
    rig_texts(cells);
    is_fine();
    if (set->len && draft.target.members.len)
        weir_buf_add_char(set, ',');
    weir_buf_add(set, draft.target.members.ptr, draft.target.members.len);
}

static struct weir_json *parse_set(struct weir_buf *set)
{
    struct weir_json *json;
    struct weir_buf object;
    weir_buf_init(&object, 4096);
    weir_buf_printf(&object, "{%s}", weir_buf_text(set));
    weir_buf_release(set);
    *set = object;
    must(weir_json_parse(weir_str(object.ptr, object.len), &json, &err) == WEIR_OK);
    return json;
}

static bool is_same_set(const struct weir_json_node *a, const struct weir_json_node *b)
{
    for (const struct weir_json_node *it = a->first; it; it = it->next) {
        const struct weir_json_node *other = b->first;
        while (other && !weir_str_equal(other->key, it->key))
            other = other->next;
        if (!other || other->type != it->type || !weir_str_equal(other->text, it->text))
            return false;
    }
    return a->count == b->count;
}

/* What an update writes at once, a create writes in its passes: all of it, and nothing twice (the
 * parser refuses a key that is there twice). */
START_TEST(the_passes_together_write_what_an_update_writes_at_once)
{
    static const char header[] =
        "gadgetid,name,pieces,maker,statecode,statuscode,buyer,ownerid,weight";
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    lookup_inward();
    for (int i = 0; i < 500; i++) {
        const char *cells[CELLS] = { ID_1 };
        struct weir_buf once, passes;
        weir_buf_init(&once, 4096);
        weir_buf_init(&passes, 4096);
        for (size_t k = 0; k < WIDTH; k++)
            cells[1 + k] = choices_of[k][weir_rng_below(&rng, 3)];
        rig_options.operation = WEIR_OPERATION_UPDATE;
        rig_pass = WEIR_PASS_ROWS;
        rig_open(header);
        take_members(&once, cells);
        rig_options.operation = i % 2 ? WEIR_OPERATION_CREATE : WEIR_OPERATION_UPSERT;
        rig_open(header);
        for (int pass = WEIR_PASS_ROWS; pass < WEIR_PASSES; pass++) {
            rig_pass = (enum weir_pass)pass;
            take_members(&passes, cells);
            must(draft.idle == (pass > 0 && !draft.target.members.len));
        }
        struct weir_json *a = parse_set(&once);
        struct weir_json *b = parse_set(&passes);
        ck_assert_msg(is_same_set(weir_json_root(a), weir_json_root(b)), "%s and %s",
                      weir_buf_text(&once), weir_buf_text(&passes));
        weir_json_free(a);
        weir_json_free(b);
        weir_buf_release(&once);
        weir_buf_release(&passes);
    }
}
END_TEST

/* ---- derived ids ---- */

/* The id that the values give, by the definition. */
static const char *derive(const char *of, const char *one, const char *two)
{
    static char text[WEIR_GUID_TEXT];
    struct weir_guid organisation;
    must(weir_guid_parse(weir_str_from(ORGANISATION), &organisation));
    struct weir_derived_ids *ids = weir_derived_ids_new(&organisation);
    weir_derived_ids_begin(ids, of);
    weir_derived_ids_add(ids, NULL, weir_str_from(one));
    if (two)
        weir_derived_ids_add(ids, NULL, weir_str_from(two));
    struct weir_guid id = weir_derived_ids_end(ids);
    weir_derived_ids_free(ids);
    weir_guid_print(&id, text);
    return text;
}

START_TEST(rows_get_the_ids_that_other_rows_refer_to)
{
    lookup_inward();
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_DELETE; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        rig_options.id_from = "code";
        rig_open("code,name,maker:gadget(#code)"); /* the table has no column `code` */
        in_pass(WEIR_PASS_ROWS);
        rig_row("4711", "x", "4712");
        is_fine();
        same_text(draft.target.id, derive("gadget", "4711", NULL));
        must(draft.key_hash);
        must(weir_mapping_takes_ids(mapping));
        uint64_t hash = draft.key_hash;
        rig_row(" 4711", "y", "");
        must(draft.key_hash == hash);
        rig_row("", "y", "");
        is_refused("code", "the row has no value for \"code\", from which its id is derived");
        rig_row(" ", "y", "");
        is_refused("code", "the row has no value for \"code\", from which its id is derived");
    }
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_open("code,name,maker:gadget(#code)");
    in_pass(WEIR_PASS_LOOKUPS);
    rig_row("4711", "x", "4712");
    char member[100];
    snprintf(member, sizeof(member), "\"Maker@odata.bind\":\"/gadgets(%s)\"",
             derive("gadget", "4712", NULL));
    is_members(member);
}
END_TEST

START_TEST(ids_are_derived_from_columns_that_are_written_too)
{
    rig_options.id_from = "pieces, name";
    rig_open("name,pieces");
    rig_row("Contoso", "5");
    same_text(draft.target.id, derive("gadget", "5", "Contoso"));
    is_members("\"name\":\"Contoso\",\"pieces\":5");
    rig_refused("name", "the input has no column \"pieces\", from which ids are derived "
                        "(--id-from)");
    rig_refused("name,pieces,gadgetid", "the input has the column \"gadgetid\", and ids are "
                                        "derived (--id-from); leave one of them out");
    rig_options.id_from = "name,name";
    rig_refused("name", "ids are derived from the column \"name\" twice");
    rig_options.id_from = "name,";
    rig_refused("name", "a column from which ids are derived (--id-from) has no name");
    rig_options.id_from = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q";
    rig_refused("name", "ids are derived from 16 columns at most");
    rig_options.id_from = "name";
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "serial,kind";
    rig_refused("name,serial,kind",
                "rows go by a key or by derived ids (--id-from); leave one of them out");
    rig_options.key = NULL;
    rig_options.organisation = NULL;
    rig_refused("name", "ids are derived (--id-from), for which the id of the organisation must "
                        "be known");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_passes");
    lookup_add(&s, a_lookup_to_the_table_itself_waits_until_all_rows_are_there);
    lookup_add(&s, a_row_in_a_partition_does_not_point_to_its_own_table);
    lookup_add(&s, an_update_has_one_pass);
    lookup_add(&s, a_later_pass_says_which_column_is_to_blame);
    lookup_add(&s, rows_that_were_made_are_updated_under_the_same_id);
    lookup_add(&s, rows_that_go_by_a_key_are_updated_by_it_one_by_one);
    lookup_add(&s, a_lookup_to_several_tables_waits_if_it_points_to_its_own);
    lookup_add(&s, a_cell_for_a_later_pass_is_checked_in_the_first);
    lookup_add(&s, states_are_set_when_the_row_is_there);
    lookup_add(&s, a_status_alone_implies_its_state);
    lookup_add(&s, a_status_of_another_state_is_refused);
    lookup_add(&s, a_state_cannot_be_cleared);
    lookup_add(&s, rows_that_are_closed_by_an_action_are_not_closed);
    lookup_add(&s, what_waits_must_be_for_an_update_and_what_does_not_for_a_create);
    lookup_add(&s, the_passes_together_write_what_an_update_writes_at_once);
    lookup_add(&s, rows_get_the_ids_that_other_rows_refer_to);
    lookup_add(&s, ids_are_derived_from_columns_that_are_written_too);
    return suite_run(&s);
}
