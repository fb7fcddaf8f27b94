/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of a table that are wrong: refused, cut at every byte, with every value replaced and
 * every member renamed, larger than their bounds. There is a table or an error, never half of one.
 */
#include "base/buf.h"
#include "support/gadget.h"

/* ---- refused ---- */

START_TEST(a_missing_table_is_said_to_be_missing)
{
    static const char *const odd[] = {
        "", "{", "[]", "7", LIST("7"), "{'value':{'LogicalName':'x'}}", LIST("{'LogicalName':7}")
    };
    for (size_t i = 0; i < SETS; i++)
        parts[i].status = 404;
    ck_assert_int_eq(gadget_read_as("gadgets"), WEIR_E_NOT_FOUND);
    ck_assert_str_eq(err.message, "no table \"gadgets\" in this environment");
    ck_assert_int_eq(err.http_status, 404);
    ck_assert_ptr_null(table);
    for (size_t i = 0; i < COUNT(odd); i++) {
        gadget_set(SETS, odd[i]);
        ck_assert_int_eq(gadget_read_as("gadgets"), WEIR_E_NOT_FOUND);
        ck_assert_str_eq(err.message, "no table \"gadgets\" in this environment");
    }
    gadget_set(SETS, LIST("{'LogicalName':'gadget','EntitySetName':'gadgets'}"));
    ck_assert_int_eq(gadget_read_as("gadgets"), WEIR_E_NOT_FOUND);
    ck_assert_str_eq(err.message,
                     "no table \"gadgets\" in this environment; it is the entity set of table "
                     "\"gadget\", whose logical name is wanted here");
    parts[SETS].status = 500;
    ck_assert_int_eq(gadget_read_as("gadgets"), WEIR_E_NOT_FOUND);
}
END_TEST

START_TEST(a_part_that_was_refused_is_to_blame)
{
    static const struct {
        int http;
        enum weir_status status;
    } rows[] = {
        { 400, WEIR_E_REFUSED },     { 401, WEIR_E_CREDENTIALS }, { 403, WEIR_E_REFUSED },
        { 408, WEIR_E_UNAVAILABLE }, { 429, WEIR_E_UNAVAILABLE }, { 500, WEIR_E_UNAVAILABLE },
        { 503, WEIR_E_UNAVAILABLE }, { 302, WEIR_E_REFUSED },     { 204, WEIR_E_REFUSED },
    };
    for (size_t part = 0; part < CREATES; part++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            gadget_fill();
            gadget_set(part, "{'error':{'code':'0x1','message':'no luck'}}");
            parts[part].status = rows[i].http;
            ck_assert_int_eq(gadget_read(), rows[i].status);
            ck_assert_int_eq(err.http_status, rows[i].http);
            ck_assert(err.retryable == (rows[i].status == WEIR_E_UNAVAILABLE));
            ck_assert_ptr_nonnull(strstr(err.message, "\"gadget\""));
            ck_assert_ptr_nonnull(strstr(err.message, ": no luck"));
            ck_assert_ptr_null(table);
        }
    }
    gadget_fill();
    gadget_set(STRINGS, "<html>");
    parts[STRINGS].status = 403;
    ck_assert_int_eq(gadget_read(), WEIR_E_REFUSED);
    ck_assert_str_eq(err.message, "the service does not describe table \"gadget\": HTTP 403");
}
END_TEST

START_TEST(parts_that_are_missing_are_an_error)
{
    for (size_t count = 0; count < PARTS; count++)
        ck_assert_int_eq(weir_metadata_read("gadget", parts, count, &table, &err), WEIR_E_INVALID);
    ck_assert_int_eq(weir_metadata_read("gadget", parts, PARTS + 1, &table, NULL), WEIR_E_INVALID);
    ck_assert_ptr_null(table);
    ck_assert_int_eq(weir_metadata_read("gadget", parts, PARTS, &table, NULL), WEIR_OK);
}
END_TEST

START_TEST(answers_about_another_table_are_refused)
{
    ck_assert_int_eq(gadget_read_as("widget"), WEIR_E_INVALID);
    ck_assert_int_eq(gadget_read_as("Gadget"), WEIR_OK);
}
END_TEST

START_TEST(answers_in_another_order_are_refused)
{
    for (size_t i = 1; i < SETS; i++) {
        struct weir_metadata_part first = parts[0];
        parts[0] = parts[i];
        parts[i] = first;
        ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
        parts[i] = parts[0];
        parts[0] = first;
    }
}
END_TEST

/* ---- malformed ---- */

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Every text and every list of the table can be walked. */
static size_t walk(void)
{
    size_t sum = length(table->name) + length(table->set_name) + length(table->primary_name);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct weir_column *each = &table->columns[i];
        must(weir_table_column(table, weir_str_from(each->name)) == each);
        sum += length(each->min) + length(each->max) + length(each->part_of);
        for (uint32_t k = 0; k < each->choice_count; k++)
            sum += length(each->choices[k].label);
        for (uint32_t k = 0; k < each->target_count; k++)
            sum += strlen(each->targets[k].table) + length(each->targets[k].navigation);
    }
    for (uint32_t i = 0; i < table->key_count; i++) {
        for (uint32_t k = 0; k < table->keys[i].column_count; k++)
            sum += strlen(table->keys[i].columns[k]);
    }
    return sum;
}

START_TEST(a_body_that_is_cut_anywhere_gives_no_table)
{
    for (size_t part = 0; part < SETS; part++) {
        size_t len = parts[part].body.len;
        for (size_t at = 0; at < len; at++) {
            char *cut = weir_strndup(bodies[part], at);
            parts[part].body = weir_str(cut, at);
            must(gadget_read() == WEIR_E_INVALID);
            must(!table && err.message[0]);
            free(cut);
        }
        parts[part].body = weir_str(bodies[part], len);
    }
    gadget_read_well();
}
END_TEST

/* Where the value that begins at `at` ends. The bodies have no escapes and no blanks. */
static size_t value_end(const char *text, size_t at)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = at; text[i]; i++) {
        quoted ^= text[i] == '"';
        if (quoted)
            continue;
        if (depth == 0 && i > at && strchr(",]}", text[i]))
            return i;
        depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
    }
    return strlen(text);
}

/* Behind a colon or a bracket; behind a comma if it is an object. */
static bool is_value(const char *text, size_t at)
{
    return at && (text[at - 1] == ':' || (text[at - 1] == '[' && text[at] != ']') ||
                  (text[at - 1] == ',' && text[at] == '{'));
}

static void try_value(size_t part, const char *text, size_t at, const char *value, size_t *refused)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_METADATA_BYTES_MAX);
    weir_buf_add(&buf, text, at);
    weir_buf_add_text(&buf, value);
    weir_buf_add_text(&buf, text + value_end(text, at));
    parts[part].body = weir_str(buf.ptr, buf.len);
    enum weir_status status = gadget_read();
    must(status == WEIR_OK || status == WEIR_E_INVALID);
    must((status == WEIR_OK) == (table != NULL));
    if (table)
        walk();
    else
        must(err.message[0]);
    *refused += !table;
    weir_buf_release(&buf);
}

START_TEST(every_value_in_every_place_is_borne)
{
    static const char *const values[] = {
        "null",
        "true",
        "-7",
        "1e400",
        "\"x\"",
        "\"\"",
        "[]",
        "{}",
        "[null]",
        "[{}]",
        "[7]",
        "[\"x\"]",
        "[[]]",
        "0.5",
        "\"\\u0000b\"",
        "{\"Value\":7}",
        "99999999999999999999999999",
    };
    size_t tried = 0, refused = 0;
    for (size_t part = 0; part < SETS; part++) {
        const char *text = bodies[part];
        for (size_t at = 0; text[at]; at++) {
            for (size_t i = 0; is_value(text, at) && i < COUNT(values); i++, tried++)
                try_value(part, text, at, values[i], &refused);
        }
        parts[part].body = weir_str_from(text);
    }
    ck_assert_uint_gt(tried, 4000);
    ck_assert_uint_gt(refused, tried / 2);
    ck_assert_uint_lt(refused, tried);
}
END_TEST

/* Whether a table cannot be made without the member whose name ends at `end`. */
static bool is_needed(const char *end)
{
    static const char *const needed[] = {
        "LogicalName",
        "EntitySetName",
        "PrimaryIdAttribute",
        "Attributes",
        "KeyAttributes",
        "EntityKeyIndexStatus",
        "ManyToOneRelationships",
        "Keys",
        "value",
        "ReferencingAttribute",
        "Options",
    };
    const char *name = end;
    while (name[-1] != '"')
        name--;
    for (size_t i = 0; i < COUNT(needed); i++) {
        if (weir_str_equal(weir_str(name, (size_t)(end - name)), weir_str_from(needed[i])))
            return true;
    }
    return false;
}

START_TEST(every_member_may_be_missing)
{
    size_t tried = 0;
    for (size_t part = 0; part < SETS; part++) {
        char *text = bodies[part];
        for (char *at = strstr(text, "\":"); at; at = strstr(at + 1, "\":"), tried++) {
            bool needed = is_needed(at);
            at[-1] ^= 1; /* another name */
            enum weir_status status = gadget_read();
            at[-1] ^= 1;
            must(status == WEIR_OK || status == WEIR_E_INVALID);
            must(!needed || status == WEIR_E_INVALID);
            if (table)
                walk();
        }
    }
    ck_assert_uint_gt(tried, 200);
    gadget_read_well();
}
END_TEST

START_TEST(a_complaint_names_the_table_the_member_and_what_would_be_right)
{
    gadget_replace(DEFINITION, "'gadgets'", "7");
    ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the metadata of \"gadget\" makes no sense: EntitySetName is a "
                                  "number where a string is right");
    gadget_replace(DEFINITION, "'EntitySetName':'gadgets',", "");
    ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the metadata of \"gadget\" makes no sense: EntitySetName is "
                                  "missing where a string is right");
    ck_assert_int_eq(err.http_status, 200);
}
END_TEST

START_TEST(what_comes_twice_does_no_harm)
{
    gadget_replace(PICKLISTS, "'value':[",
                   "'value':[{'LogicalName':'kind','OptionSet':{'Options':[{'Value':7},{'Value':8},"
                   "{'Value':9},{'Value':10}]}},{'LogicalName':'unheard'},");
    gadget_read_well();
    ck_assert_uint_eq(gadget_column("kind")->choice_count, 3);
    walk();
    gadget_replace(DEFINITION, "'notes'", "'name'");
    ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"name\" comes twice"));
}
END_TEST

/* ---- bounds ---- */

START_TEST(bounds_hold_to_the_last)
{
    static const struct {
        size_t part;
        const char *list;
        const char *before; /* an element: this, its number … */
        const char *after;  /* … and this */
        size_t there;       /* elements that the list has already */
        size_t max;
    } rows[] = {
        { DEFINITION, "'Attributes':[", "{'AttributeType':'Memo','LogicalName':'c", "'}", 21,
          WEIR_COLUMNS_MAX },
        { DEFINITION, "'Keys':[",
          "{'EntityKeyIndexStatus':'Failed','KeyAttributes':[],'LogicalName':'k", "'}", 2,
          WEIR_ALTERNATE_KEYS_MAX },
        { DEFINITION, "'KeyAttributes':[", "'c", "'", 2, WEIR_KEY_PARTS_MAX },
        { DEFINITION, "'ManyToOneRelationships':[",
          "{'ReferencingAttribute':'maker','ReferencedEntity':'t", "'}", 1,
          WEIR_LOOKUP_TARGETS_MAX },
        { LOOKUPS, "'Targets':[", "'t", "'", 1, WEIR_LOOKUP_TARGETS_MAX },
        { PICKLISTS, "'Options':[", "{'Value':1", "}", 3, WEIR_CHOICES_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t over = 0; over < 2; over++) {
            struct weir_buf list;
            weir_buf_init(&list, WEIR_METADATA_BYTES_MAX);
            weir_buf_add_text(&list, rows[i].list);
            for (size_t k = 0; k < rows[i].max - rows[i].there + over; k++)
                weir_buf_printf(&list, "%s%zu%s,", rows[i].before, k, rows[i].after);
            gadget_replace(rows[i].part, rows[i].list, weir_buf_text(&list));
            enum weir_status status = gadget_read();
            ck_assert_msg(status == (over ? WEIR_E_TOO_BIG : WEIR_OK), "row %zu, %zu over: %s", i,
                          over, err.message);
            weir_buf_release(&list);
        }
        gadget_fill();
    }
}
END_TEST

START_TEST(a_body_of_too_many_bytes_is_not_parsed)
{
    size_t len = strlen(bodies[STRINGS]);
    char *body = weir_calloc(WEIR_METADATA_BYTES_MAX + 1, 1);
    memset(body, ' ', WEIR_METADATA_BYTES_MAX + 1);
    memcpy(body, bodies[STRINGS], len);
    parts[STRINGS].body = weir_str(body, WEIR_METADATA_BYTES_MAX);
    gadget_read_well();
    parts[STRINGS].body.len++;
    ck_assert_int_eq(gadget_read(), WEIR_E_TOO_BIG);
    free(body);
}
END_TEST

#define ADD(test) gadget_add(&s, #test, test)

int main(void)
{
    struct suite s = suite_new("metadata_wrong");
    ADD(a_missing_table_is_said_to_be_missing);
    ADD(a_part_that_was_refused_is_to_blame);
    ADD(parts_that_are_missing_are_an_error);
    ADD(answers_about_another_table_are_refused);
    ADD(answers_in_another_order_are_refused);
    ADD(a_body_that_is_cut_anywhere_gives_no_table);
    ADD(every_value_in_every_place_is_borne);
    ADD(every_member_may_be_missing);
    ADD(a_complaint_names_the_table_the_member_and_what_would_be_right);
    ADD(what_comes_twice_does_no_harm);
    ADD(bounds_hold_to_the_last);
    ADD(a_body_of_too_many_bytes_is_not_parsed);
    return suite_run(&s);
}
