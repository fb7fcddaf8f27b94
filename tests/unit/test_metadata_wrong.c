/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of a table that are wrong: refused, cut at every byte, with every value replaced and
 * every member renamed, larger than their bounds. There is a table or an error, never half of one.
 */
#include <time.h>

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
        { 404, WEIR_E_REFUSED },
    };
    for (size_t part = 0; part < SETS; part++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            bool told_elsewhere = (rows[i].http == 403 && part >= CREATES) ||
                                  (rows[i].http == 404 && (part == 0 || part >= CREATES));
            if (told_elsewhere)
                continue;
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

/* A code in the body decides; the status is what it is. */
START_TEST(the_verdict_goes_before_the_status)
{
    static const struct {
        enum weir_class class_;
        enum weir_status status;
    } rows[] = {
        { WEIR_CLASS_THROTTLE, WEIR_E_UNAVAILABLE },
        { WEIR_CLASS_TRANSIENT, WEIR_E_UNAVAILABLE },
        { WEIR_CLASS_RACE, WEIR_E_UNAVAILABLE },
        { WEIR_CLASS_BAD_CREDENTIALS, WEIR_E_CREDENTIALS },
        { WEIR_CLASS_PRIVILEGE, WEIR_E_REFUSED },
        { WEIR_CLASS_BAD_ROWS, WEIR_E_REFUSED },
        { WEIR_CLASS_TOO_BIG, WEIR_E_REFUSED },
        { WEIR_CLASS_OTHER, WEIR_E_REFUSED },
    };
    static const int statuses[] = { 200, 400, 403, 404, 429, 500 };
    for (size_t i = 0; i < SETS * COUNT(rows) * COUNT(statuses); i++) {
        size_t part = i % SETS;
        int http = statuses[i / SETS % COUNT(statuses)];
        size_t row = i / SETS / COUNT(statuses);
        bool withheld = rows[row].status == WEIR_E_REFUSED && (http == 403 || http == 404);
        gadget_fill();
        parts[part].status = http;
        parts[part].class_ = rows[row].class_;
        enum weir_status wanted = rows[row].status;
        if (withheld && part >= CREATES)
            wanted = WEIR_OK;
        else if (withheld && part == DEFINITION && http == 404)
            wanted = WEIR_E_NOT_FOUND;
        enum weir_status status = gadget_read();
        if (status != wanted)
            ck_abort_msg("part %zu, %d, class %d: %s", part, http, (int)rows[row].class_,
                         err.message);
        must(status == WEIR_OK || err.retryable == (status == WEIR_E_UNAVAILABLE));
    }
}
END_TEST

START_TEST(a_part_that_was_not_answered_is_worth_another_try)
{
    static const enum weir_class classes[] = { WEIR_CLASS_OK, WEIR_CLASS_TRANSIENT,
                                               WEIR_CLASS_OTHER };
    for (size_t i = 0; i < SETS * COUNT(classes); i++) {
        gadget_fill();
        for (size_t part = i % SETS; part < PARTS; part++)
            parts[part] = (struct weir_metadata_part){ .class_ = classes[i / SETS] };
        ck_assert_int_eq(gadget_read(), WEIR_E_UNAVAILABLE);
        ck_assert(err.retryable);
        ck_assert_int_eq(err.http_status, 0);
        ck_assert_ptr_nonnull(strstr(err.message, "not answered"));
    }
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

static bool ends_with(struct weir_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* Whether a table cannot be made without the member whose name ends at `end`. */
static bool is_needed(size_t part, const char *end)
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
    struct weir_str before = weir_str(bodies[part], (size_t)(end - bodies[part]));
    if (ends_with(before, "\"ReferencedEntity")) /* of a column that is there */
        return !ends_with(before, "\"gone\",\"ReferencedEntity");
    if (ends_with(before, "\"Value")) /* of a choice */
        return part >= PICKLISTS && part <= STATUSES;
    if (ends_with(before, "\"AttributeType")) /* of the column that has no AttributeTypeName */
        return ends_with(before, "\"plain\",\"AttributeType");
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
            bool needed = is_needed(part, at);
            at[-1] ^= 1; /* another name */
            enum weir_status status = gadget_read();
            at[-1] ^= 1;
            must(status == WEIR_OK || status == WEIR_E_INVALID);
            must((status == WEIR_OK) == !needed);
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

START_TEST(what_comes_twice_is_refused)
{
    for (size_t part = STRINGS; part < CREATES; part++) {
        gadget_fill();
        const char *first = strchr(bodies[part], '[') + 1;
        size_t len = value_end(first, 0);
        struct weir_buf buf;
        weir_buf_init(&buf, WEIR_METADATA_BYTES_MAX);
        weir_buf_add(&buf, bodies[part], (size_t)(first - bodies[part]));
        weir_buf_printf(&buf, "%.*s,%s", (int)len, first, first);
        parts[part].body = weir_str(buf.ptr, buf.len);
        ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
        ck_assert_msg(strstr(err.message, "comes twice"), "%s", err.message);
        weir_buf_release(&buf);
    }
    gadget_fill();
    gadget_replace(DEFINITION, "'notes'", "'name'");
    ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"name\" comes twice"));
}
END_TEST

/* A column may be told of by two casts, and a cast of columns that there are not. */
START_TEST(what_another_cast_has_told_is_replaced)
{
    gadget_replace(STATES, "'value':[",
                   "'value':[{'LogicalName':'kind','OptionSet':{'Options':[{'Value':7},{'Value':8},"
                   "{'Value':9},{'Value':10}]}},{'LogicalName':'unheard'},"
                   "{'LogicalName':'unheard'},");
    gadget_read_well();
    ck_assert_uint_eq(gadget_column("kind")->choice_count, 4);
    walk();
}
END_TEST

START_TEST(a_name_with_a_zero_byte_is_no_name)
{
    static const struct {
        size_t part;
        const char *old;
        const char *new;
        const char *says;
    } rows[] = {
        { DEFINITION, "['serial','kind']", "['serial','ki\\u0000nd']", "KeyAttributes" },
        { LOOKUPS, "['account','contact']", "['account','con\\u0000tact']", "Targets" },
        { DEFINITION, "['serial','kind']", "['serial',7]", "KeyAttributes has a number" },
        { LOOKUPS, "['account','contact']", "[null,'contact']", "Targets has null" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        gadget_fill();
        gadget_replace(rows[i].part, rows[i].old, rows[i].new);
        ck_assert_int_eq(gadget_read(), WEIR_E_INVALID);
        ck_assert_msg(strstr(err.message, rows[i].says), "%s", err.message);
        ck_assert(i >= 2 || strstr(err.message, "zero byte"));
    }
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

/* Eight lookups that point to `count` tables each, told by relationships and by a cast. */
static void point_to(size_t count)
{
    struct weir_buf relations, casts, columns;
    weir_buf_init(&relations, WEIR_METADATA_BYTES_MAX);
    weir_buf_init(&casts, WEIR_METADATA_BYTES_MAX);
    weir_buf_init(&columns, WEIR_METADATA_BYTES_MAX);
    weir_buf_add_text(&relations, "'ManyToOneRelationships':[");
    weir_buf_add_text(&columns, "'Attributes':[");
    weir_buf_add_text(&casts, "{'value':[");
    for (int lookup = 0; lookup < 8; lookup++) {
        weir_buf_printf(&columns, "{'LogicalName':'l%d','AttributeType':'Lookup'},", lookup);
        weir_buf_printf(&casts, "%s{'LogicalName':'l%d','Targets':[", lookup ? "," : "", lookup);
        for (size_t i = 0; i < count; i++) {
            weir_buf_printf(&relations,
                            "{'ReferencingAttribute':'l%d','ReferencedEntity':'table%zu'},", lookup,
                            i);
            weir_buf_printf(&casts, "%s'table%zu'", i ? "," : "", count - i - 1);
        }
        weir_buf_add_text(&casts, "]}");
    }
    weir_buf_add_text(&casts, "]}");
    gadget_replace(DEFINITION, "'Attributes':[", weir_buf_text(&columns));
    char *definition = weir_strdup(bodies[DEFINITION]);
    gadget_make(DEFINITION, definition, "\"ManyToOneRelationships\":[", weir_buf_text(&relations));
    free(definition);
    gadget_set(LOOKUPS, weir_buf_text(&casts));
    weir_buf_release(&relations);
    weir_buf_release(&casts);
    weir_buf_release(&columns);
}

/* The least of a few tries, in processor time: others use the machine, too. */
static double cost_of(size_t count)
{
    double least = 1e9;
    point_to(count);
    for (int i = 0; i < 5; i++) {
        clock_t start = clock();
        gadget_read_well();
        double cost = (double)(clock() - start);
        least = cost < least ? cost : least;
    }
    ck_assert_uint_eq(gadget_column("l7")->target_count, count);
    return least;
}

/* In proportion it is four times as much, looked through again and again sixteen times. */
START_TEST(four_times_the_targets_cost_four_times_as_much)
{
    double few = cost_of(WEIR_LOOKUP_TARGETS_MAX / 4);
    double many = cost_of(WEIR_LOOKUP_TARGETS_MAX);
    ck_assert_msg(many < 9 * few, "%.0f against %.0f", many, few);
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
    ADD(the_verdict_goes_before_the_status);
    ADD(a_part_that_was_not_answered_is_worth_another_try);
    ADD(parts_that_are_missing_are_an_error);
    ADD(answers_about_another_table_are_refused);
    ADD(answers_in_another_order_are_refused);
    ADD(a_body_that_is_cut_anywhere_gives_no_table);
    ADD(every_value_in_every_place_is_borne);
    ADD(every_member_may_be_missing);
    ADD(a_complaint_names_the_table_the_member_and_what_would_be_right);
    ADD(what_comes_twice_is_refused);
    ADD(what_another_cast_has_told_is_replaced);
    ADD(a_name_with_a_zero_byte_is_no_name);
    ADD(bounds_hold_to_the_last);
    ADD(four_times_the_targets_cost_four_times_as_much);
    ADD(a_body_of_too_many_bytes_is_not_parsed);
    return suite_run(&s);
}
