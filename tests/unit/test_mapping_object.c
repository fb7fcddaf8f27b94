/* SPDX-License-Identifier: MIT */
/* Rows that are JSON objects: what names them is taken out, the rest stays as it is. */
#include "support/mapping_rig.h"

#define MADE_1 "01020304-0506-8708-890a-6553f1000001"
#define OWNER  "\"ownerid@odata.bind\":\"/teams(" ID_2 ")\""

static void begin(enum weir_operation operation, const char *key)
{
    rig_options.operation = operation;
    rig_options.key = key;
    rig_open(NULL);
}

/* ---- members ---- */

START_TEST(members_stay_as_they_are)
{
    static const char *const rows[][2] = {
        { "{\"name\":\"A\"}", "\"name\":\"A\"" },
        { "\xef\xbb\xbf{ \"name\" : \"A\" ,\n\"revenue\":5.0 }\n",
          "\"name\" : \"A\" ,\n\"revenue\":5.0" },
        { "{\"Maker@odata.bind\":\"/accounts(x)\",\"parts\":[{\"gadgetid\":1},{}],\"x\":null}",
          "\"Maker@odata.bind\":\"/accounts(x)\",\"parts\":[{\"gadgetid\":1},{}],\"x\":null" },
        { "{\"a\":1,\"a\":2}", "\"a\":1,\"a\":2" }, /* the service's to judge */
    };
    begin(WEIR_OPERATION_CREATE, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_number = 0;
        rig_object(rows[i][0]);
        is_target(MADE_1, "", "", rows[i][1]);
        ck_assert_uint_eq(weir_arena_used(rig_arena), 48); /* the id: nothing was copied */
        ck_assert_uint_eq(draft.key_hash, 0);
        ck_assert_uint_eq(draft.shape, 0);
    }
    ck_assert(weir_mapping_takes_ids(mapping));
}
END_TEST

START_TEST(what_names_a_row_is_taken_out_wherever_it_stands)
{
    static const char *const rows[][2] = {
        { "{\"gadgetid\":\"" ID_1 "\"}", "" },
        { "{\"gadgetid\":\"" ID_1X "\",\"name\":\"A\",\"n\":1}", "\"name\":\"A\",\"n\":1" },
        { "{\"name\":\"A\",\"gadgetid\" : \"" ID_1 "\" , \"n\": 1 }", "\"name\":\"A\",\"n\": 1" },
        { "{\"name\" : {\"gadgetid\":2},\"n\":[1] ,\"gadgetid\":\"" ID_1 "\"}",
          "\"name\" : {\"gadgetid\":2},\"n\":[1]" },
        { "{\"\\u0067adget\\u0069d\":\"\\u0030123abcd-4567-89ab-cdef-0123456789ab\",\"n\":1}",
          "\"n\":1" },
    };
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_DELETE; operation++) {
        begin((enum weir_operation)operation, NULL);
        for (size_t i = 0; i < COUNT(rows); i++) {
            rig_object(rows[i][0]);
            is_target(ID_1, "", "", operation == WEIR_OPERATION_DELETE ? "" : rows[i][1]);
            ck_assert_uint_ne(draft.key_hash, 0);
        }
    }
}
END_TEST

START_TEST(cells_and_objects_have_the_same_hashes)
{
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,name");
    rig_row(ID_1, "x");
    uint64_t hash = draft.key_hash;
    begin(WEIR_OPERATION_UPDATE, NULL);
    rig_object("{\"gadgetid\":\"" ID_1X "\",\"name\":\"y\"}");
    ck_assert_uint_eq(draft.key_hash, hash);
    rig_object("{\"gadgetid\":\"" ID_2 "\",\"name\":\"y\"}");
    ck_assert_uint_ne(draft.key_hash, hash);
}
END_TEST

START_TEST(rows_go_by_a_key)
{
    rig_table(NAME_IS_KEY, KEY_OF_MANY, NULL);
    begin(WEIR_OPERATION_UPSERT, "name,maker,weight,pieces");
    rig_object("{\"notes\":\"n\",\"name\":\"O'\\u0042\",\"maker\":\"" ID_1X
               "\",\"weight\":1.50,\"pieces\":\"7\"}");
    is_target("", "_maker_value=" ID_1 ",weight=1.50,name='O''B',pieces=7", "", "\"notes\":\"n\"");
    ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    uint64_t hash = draft.key_hash;
    rig_object("{\"pieces\":7.0,\"name\":\"o'b \",\"weight\":\"1.5\",\"maker\":\"" ID_1 "\"}");
    ck_assert_uint_eq(draft.key_hash, hash);
    rig_object("{\"pieces\":7,\"name\":\"o'b\",\"maker\":\"" ID_1 "\"}");
    is_refused("weight", "the row has no value for \"weight\", which names it");
    rig_object("{\"pieces\":7,\"weight\":1,\"name\":null,\"maker\":\"" ID_1 "\"}");
    is_refused("name", "the row has no value for \"name\", which names it");
    begin(WEIR_OPERATION_DELETE, "name,maker,weight,pieces");
    rig_object("{\"pieces\":7,\"weight\":1,\"name\":\"A\",\"maker\":\"" ID_1
               "\",\"gadgetid\":\"x\",\"y\":2,\"@odata.id\":\"z\"}");
    is_target("", "_maker_value=" ID_1 ",weight=1,name='A',pieces=7", "", "");
    ck_assert(!weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
}
END_TEST

START_TEST(the_partition_of_an_elastic_row_is_taken_out)
{
    rig_table(ELASTIC, PARTITIONED, NULL);
    begin(WEIR_OPERATION_CREATE, NULL);
    rig_object("{\"partitionid\":\"dev\\\"1\",\"name\":\"A\"}");
    is_target(MADE_1, "", "dev\"1", "\"name\":\"A\"");
    ck_assert_uint_eq(draft.key_hash, 0);
    begin(WEIR_OPERATION_UPDATE, NULL);
    rig_object("{\"partitionid\":\"p\",\"gadgetid\":\"" ID_1 "\",\"name\":\"A\"}");
    is_target(ID_1, "", "p", "\"name\":\"A\"");
    uint64_t hash = draft.key_hash;
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"name\":\"A\"}");
    ck_assert_uint_ne(draft.key_hash, hash);
    rig_object("{\"partitionid\":\"a/b\",\"gadgetid\":\"" ID_1 "\",\"name\":\"A\"}");
    is_refused("partitionid",
               "the partition \"a/b\" has a \"/\", which cannot stand in an address");
    rig_object("{\"partitionid\":5,\"gadgetid\":\"" ID_1 "\",\"name\":\"A\"}");
    is_refused("partitionid", "the value of \"partitionid\" is no string, which it must be to name "
                              "the row");
}
END_TEST

/* ---- refusals ---- */

START_TEST(what_is_no_object_is_refused)
{
    static const char *const rows[] = {
        "",      "x",        "[]",         "5",     "\"a\"",   "null",        "{",
        "{} {}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\":NaN}", "{\"a\":\"\n\"}"
    };
    begin(WEIR_OPERATION_CREATE, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_object(rows[i]);
        is_refused("", "the row is no JSON object");
    }
    rig_object("{\"a\":\"\xff\"}");
    is_refused("", "the row is not UTF-8: the byte \"0xFF\" at offset 6 does not belong there");
    rig_object_of(weir_str("{\"a\":\"\0\"}", 9));
    is_refused("", "the row is not UTF-8: the byte \"0x00\" at offset 6 does not belong there");
}
END_TEST

START_TEST(a_row_that_is_not_named_as_it_must_be_is_refused)
{
    static const char *const rows[][3] = {
        { "{\"name\":\"A\"}", "gadgetid", "the row has no value for \"gadgetid\", which names it" },
        { "{\"gadgetid\":\"\"}", "gadgetid",
          "the row has no value for \"gadgetid\", which names it" },
        { "{\"gadgetid\":null}", "gadgetid",
          "the row has no value for \"gadgetid\", which names it" },
        { "{\"gadgetid\":\"x\"}", "gadgetid",
          "\"x\" is no id; \"gadgetid\" needs 32 hexadecimal digits in groups of 8-4-4-4-12, not "
          "all "
          "of them 0" },
        { "{\"gadgetid\":5}", "gadgetid",
          "the value of \"gadgetid\" is no string, which it must be to name the row" },
        { "{\"gadgetid\":true}", "gadgetid",
          "the value of \"gadgetid\" is no string, which it must be to name the row" },
        { "{\"gadgetid\":{\"a\":1}}", "gadgetid",
          "the value of \"gadgetid\" is no string, which it must be to name the row" },
        { "{\"gadgetid\":\"" ID_1 "\",\"n\":1,\"gadgetid\":\"" ID_1 "\"}", "gadgetid",
          "the row has \"gadgetid\" twice, which names it" },
        { "{\"gadgetid\":\"\\ud800\"}", "gadgetid",
          "the value of \"gadgetid\" has half a character or a NUL in it, which no text may have" },
        { "{\"gadgetid\":\"\\u0000\"}", "gadgetid",
          "the value of \"gadgetid\" has half a character or a NUL in it, which no text may have" },
        { "{\"@odata.type\":\"x\",\"gadgetid\":\"" ID_1 "\"}", "",
          "the row has the member \"@odata.type\", which every request has already; leave it out" },
        { "{\"gadgetid\":\"" ID_1 "\",\"@odata.\\u0069d\":\"x\"}", "",
          "the row has the member \"@odata.id\", which every request has already; leave it out" },
    };
    begin(WEIR_OPERATION_UPDATE, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_object(rows[i][0]);
        is_refused(rows[i][1], rows[i][2]);
        ck_assert_uint_eq(draft.key_hash, 0);
    }
    /* A create makes an id only where there is no place for one. */
    begin(WEIR_OPERATION_CREATE, NULL);
    rig_object(rows[2][0]);
    is_refused(rows[2][1], rows[2][2]);
    rig_table(NAME_IS_KEY, NULL);
    begin(WEIR_OPERATION_UPDATE, "name");
    rig_object("{\"name\":\"A\",\"gadgetid\":\"" ID_1 "\"}");
    is_refused("gadgetid", "the row has \"gadgetid\", and rows go by a key; leave one of them out");
    rig_object("{\"name\":[\"A\"]}");
    is_refused("name", "the value of \"name\" is no string, which it must be to name the row");
    rig_object("{\"name\":\"A\",\"name\":\"A\"}");
    is_refused("name", "the row has \"name\" twice, which names it");
}
END_TEST

/* ---- owners ---- */

START_TEST(an_owner_is_added_where_there_is_none)
{
    rig_options.connections = 3;
    rig_options.owner = "team:" ID_2;
    begin(WEIR_OPERATION_CREATE, NULL);
    rig_object("{}");
    is_refused("", "the row is an object without members");
    rig_object("{\"n\":1}");
    is_target("01020304-0506-8708-890a-6553f1000002", "", "", "\"n\":1," OWNER);
    rig_object("{ \"name\":\"A\" , \"n\":1}");
    same_text(draft.target.members, "\"name\":\"A\",\"n\":1," OWNER);
    rig_object("{\"ownerid@odata.bind\":\"/systemusers(x)\",\"n\":1}");
    same_text(draft.target.members, "\"ownerid@odata.bind\":\"/systemusers(x)\",\"n\":1");
    rig_object("{\"gadgetid\":\"" ID_1 "\"}");
    is_target(ID_1, "", "", OWNER);
}
END_TEST

/* ---- shapes ---- */

START_TEST(the_shape_is_the_set_of_names)
{
    begin(WEIR_OPERATION_UPDATE, NULL);
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"a\":1,\"b\":2}");
    uint64_t shape = draft.shape;
    rig_object("{\"b\":null,\"gadgetid\":\"" ID_2 "\",\"\\u0061\":\"x\"}");
    ck_assert_uint_eq(draft.shape, shape);
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"a\":1}");
    ck_assert_uint_ne(draft.shape, shape);
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"a\":1,\"c\":2}");
    ck_assert_uint_ne(draft.shape, shape);
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"a\":1,\"b\":2,\"c\":2}");
    ck_assert_uint_ne(draft.shape, shape);
    begin(WEIR_OPERATION_DELETE, NULL);
    rig_object("{\"gadgetid\":\"" ID_1 "\",\"a\":1}");
    ck_assert_uint_eq(draft.shape, 0);
}
END_TEST

/* Escapes of names that are longer than any column's are not resolved. */
START_TEST(names_of_any_length_have_a_shape)
{
    uint64_t shapes[2];
    char text[4096];
    begin(WEIR_OPERATION_UPDATE, NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof(text), "{\"gadgetid\":\"" ID_1 "\",\"\\u0061%02000d%d\":1}", 0, i);
        rig_object(text);
        is_fine();
        shapes[i] = draft.shape;
    }
    ck_assert_uint_ne(shapes[0], shapes[1]);
}
END_TEST

/* ---- bounds ---- */

START_TEST(an_object_may_weigh_what_a_request_can_carry_and_no_more)
{
    struct weir_table_names names = weir_table_names_of(table);
    static const char *const heads[] = { "{\"name\":\"", "{\"gadgetid\":\"" ID_1 "\",\"name\":\"" };
    char *text = weir_calloc(2 * WEIR_BODY_BYTES_MAX, 1);
    begin(WEIR_OPERATION_CREATE, NULL);
    for (size_t i = 0; i < COUNT(heads); i++) {
        size_t head = strlen(heads[i]);
        memset(text, 'x', 2 * WEIR_BODY_BYTES_MAX);
        memcpy(text, heads[i], head);
        rig_object("{\"name\":\"\"}");
        size_t most = WEIR_ROW_BYTES_MAX - weir_bulk_target_bytes(&names, &draft.target);
        memcpy(text + head + most, "\"}", 2);
        rig_object_of(weir_str(text, head + most + 2));
        is_fine();
        ck_assert_uint_eq(weir_bulk_target_bytes(&names, &draft.target), WEIR_ROW_BYTES_MAX);
        memcpy(text + head + most, "x\"}", 3);
        rig_object_of(weir_str(text, head + most + 3));
        ck_assert_uint_gt(draft.refusal.len, 0);
        ck_assert_uint_eq(draft.target.members.len, 0);
        ck_assert_uint_lt(weir_arena_used(rig_arena), 1000);
    }
    free(text);
}
END_TEST

START_TEST(an_arena_that_is_full_is_said_and_harms_nothing)
{
    static const char *const rows[] = {
        "{\"name\":\"\\u0041\",\"gadgetid\":\"\\u0030123abcd-4567-89ab-cdef-0123456789ab\"}",
        "{\"gadgetid\":\"x\"}",
        "{",
        "{\"gadgetid\":4}",
    };
    begin(WEIR_OPERATION_UPSERT, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_object(rows[i]);
        size_t used = weir_arena_used(rig_arena);
        for (size_t bytes = 0; bytes <= used; bytes++) {
            struct weir_arena *small = weir_arena_new(bytes);
            must(weir_mapping_object(mapping, weir_str_from(rows[i]), small, &draft) ==
                 (bytes == used));
            weir_arena_unref(small);
        }
    }
}
END_TEST

/* ---- at random ---- */

struct made {
    bool empty; /* no member at all */
    struct weir_buf text;
    bool id;
};

static void add_json_string(struct weir_rng *rng, struct weir_buf *to)
{
    char text[4 * 20];
    weir_buf_add_json_string(to, random_text(rng, text, 20));
}

static void add_space(struct weir_rng *rng, struct weir_buf *to)
{
    static const char *const spaces[] = { "", "", "", " ", "\n", "\t \r\n" };
    weir_buf_add_text(to, spaces[weir_rng_below(rng, COUNT(spaces))]);
}

static void add_value(struct weir_rng *rng, struct weir_buf *to, int depth)
{
    static const char *const plain[] = { "null", "true", "false", "0", "-1.5e3", "{}", "[]" };
    uint64_t kind = weir_rng_below(rng, depth ? 4 : 3);
    if (kind == 0)
        weir_buf_add_text(to, plain[weir_rng_below(rng, COUNT(plain))]);
    else if (kind < 3)
        add_json_string(rng, to);
    else {
        bool object = weir_rng_below(rng, 2);
        weir_buf_add_text(to, object ? "{\"gadgetid\":" : "[");
        add_value(rng, to, depth - 1);
        add_space(rng, to);
        weir_buf_add_text(to, object ? "}" : "]");
    }
}

static void make_object(struct weir_rng *rng, struct made *made)
{
    uint64_t count = weir_rng_below(rng, 8);
    uint64_t id_at = weir_rng_below(rng, 8);
    made->id = false;
    made->empty = !count;
    add_space(rng, &made->text);
    weir_buf_add_char(&made->text, '{');
    for (uint64_t i = 0; i < count; i++) {
        add_space(rng, &made->text);
        if (i)
            weir_buf_add_char(&made->text, ',');
        add_space(rng, &made->text);
        if (i == id_at) {
            made->id = true;
            weir_buf_add_text(&made->text, "\"gadgetid\" :\"" ID_1X "\"");
            continue;
        }
        weir_buf_printf(&made->text, "\"m%d\"", (int)i);
        add_space(rng, &made->text);
        weir_buf_add_char(&made->text, ':');
        add_value(rng, &made->text, 3);
    }
    add_space(rng, &made->text);
    weir_buf_add_char(&made->text, '}');
    add_space(rng, &made->text);
}

/* The same names in the same order with the same values, as far as they can be compared. */
static void compare(const struct made *made, const struct weir_json_node *row)
{
    struct weir_json *json;
    must(weir_json_parse(weir_str(made->text.ptr, made->text.len), &json, &err) == WEIR_OK);
    const struct weir_json_node *node = row->first->next->next; /* behind type and id */
    for (const struct weir_json_node *old = weir_json_root(json)->first; old; old = old->next) {
        if (weir_str_equal(old->key, weir_str_from("gadgetid")))
            continue;
        must(node && weir_str_equal(node->key, old->key) && node->type == old->type);
        must(node->count == old->count && weir_str_equal(node->text, old->text));
        node = node->next;
    }
    must(!node);
    weir_json_free(json);
}

START_TEST(whatever_an_object_has_arrives)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 21, 0);
    begin(WEIR_OPERATION_CREATE, NULL);
    int named = 0;
    for (int i = 0; i < 20000; i++) {
        struct made made;
        weir_buf_init(&made.text, 65536);
        make_object(&rng, &made);
        rig_object_of(weir_str(made.text.ptr, made.text.len));
        must((draft.refusal.len > 0) == made.empty);
        if (made.empty) {
            weir_buf_release(&made.text);
            continue;
        }
        must((draft.key_hash != 0) == made.id);
        must(weir_str_equal(draft.target.id, weir_str_from(ID_1)) == made.id);
        struct weir_json *json = rig_parse(WEIR_BULK_CREATE);
        compare(&made, rig_target(json));
        weir_json_free(json);
        named += made.id;
        weir_buf_release(&made.text);
    }
    ck_assert_int_gt(named, 5000);
    ck_assert_int_lt(named, 15000);
}
END_TEST

/* Bytes changed, dropped and doubled: a refusal, or a row that requests can be made of. */
START_TEST(damaged_objects_are_refused_or_are_objects)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 22, 0);
    rig_table(ELASTIC, PARTITIONED, NULL);
    begin(WEIR_OPERATION_UPSERT, NULL);
    static const char whole[] =
        "{\"gadgetid\":\"" ID_1 "\",\"partitionid\":\"p\\u0041\",\"na\\tme\":"
        "[1,{\"a\":null}],\"b\":\"\u00e9\"}";
    int refused = 0;
    for (int i = 0; i < 50000; i++) {
        size_t len = strlen(whole);
        char *text = weir_calloc(len, 1);
        memcpy(text, whole, len);
        for (uint64_t n = 1 + weir_rng_below(&rng, 3); n > 0; n--)
            text[weir_rng_below(&rng, len)] = "{}[]\",:\\u0 \xc3"[weir_rng_below(&rng, 12)];
        if (weir_rng_below(&rng, 3) == 0)
            len = (size_t)weir_rng_below(&rng, len);
        rig_object_of(weir_str(text, len));
        refused += draft.refusal.len > 0;
        if (!draft.refusal.len) {
            struct weir_table_names names = weir_table_names_of(table);
            struct weir_gather body;
            weir_gather_init(&body, WEIR_BODY_BYTES_MAX);
            must(weir_bulk_body(WEIR_BULK_UPSERT, &names, &draft.target, 1, &body, &err) ==
                 WEIR_OK);
            weir_gather_release(&body);
        }
        free(text);
    }
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_lt(refused, 49900);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_object");
    rig_add(&s, members_stay_as_they_are);
    rig_add(&s, what_names_a_row_is_taken_out_wherever_it_stands);
    rig_add(&s, cells_and_objects_have_the_same_hashes);
    rig_add(&s, rows_go_by_a_key);
    rig_add(&s, the_partition_of_an_elastic_row_is_taken_out);
    rig_add(&s, what_is_no_object_is_refused);
    rig_add(&s, a_row_that_is_not_named_as_it_must_be_is_refused);
    rig_add(&s, an_owner_is_added_where_there_is_none);
    rig_add(&s, the_shape_is_the_set_of_names);
    rig_add(&s, names_of_any_length_have_a_shape);
    rig_add(&s, an_object_may_weigh_what_a_request_can_carry_and_no_more);
    rig_add(&s, an_arena_that_is_full_is_said_and_harms_nothing);
    rig_add(&s, whatever_an_object_has_arrives);
    rig_add(&s, damaged_objects_are_refused_or_are_objects);
    return suite_run(&s);
}
