/* SPDX-License-Identifier: MIT */
/*
 * Tables as texts: whatever a table holds comes back, and a text that is cut, damaged or written
 * by somebody else is refused, or was the text of another table to the byte.
 */
#include "protocol/metadata_text.h"

#include "base/rng.h"
#include "protocol/metadata_parts.h"
#include "support/gadget.h"

/* ---- a model: equal in everything ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void must_equal_lists(const struct weir_column *a, const struct weir_column *b)
{
    must(a->choice_count == b->choice_count && a->target_count == b->target_count);
    for (uint32_t i = 0; i < a->choice_count; i++) {
        const struct weir_choice *x = &a->choices[i], *y = &b->choices[i];
        must(x->value == y->value && x->state == y->state && same_text(x->label, y->label));
    }
    for (uint32_t i = 0; i < a->target_count; i++) {
        const struct weir_lookup_target *x = &a->targets[i], *y = &b->targets[i];
        must(same_text(x->table, y->table) && same_text(x->navigation, y->navigation));
    }
}

static void must_equal_columns(const struct weir_column *a, const struct weir_column *b)
{
    must(same_text(a->name, b->name) && same_text(a->key_name, b->key_name));
    must(a->type == b->type && a->required == b->required && a->behavior == b->behavior);
    must(a->for_create == b->for_create && a->for_update == b->for_update);
    must(a->for_read == b->for_read && a->shows_date_only == b->shows_date_only);
    must(same_text(a->part_of, b->part_of) && same_text(a->label, b->label));
    must(a->length_max == b->length_max);
    must(same_text(a->min, b->min) && same_text(a->max, b->max));
    must(a->precision == b->precision);
    must_equal_lists(a, b);
}

static void must_equal_keys(const struct weir_alternate_key *a, const struct weir_alternate_key *b)
{
    must(same_text(a->name, b->name) && a->status == b->status);
    must(a->column_count == b->column_count);
    for (uint32_t i = 0; i < a->column_count; i++)
        must(same_text(a->columns[i], b->columns[i]));
}

static void must_equal(const struct weir_table *a, const struct weir_table *b)
{
    must(same_text(a->name, b->name) && same_text(a->set_name, b->set_name));
    must(same_text(a->primary_id, b->primary_id) && same_text(a->primary_name, b->primary_name));
    must(a->type == b->type && a->ownership == b->ownership && a->bulk_known == b->bulk_known);
    must(!memcmp(a->bulk, b->bulk, sizeof(a->bulk)));
    must(a->column_count == b->column_count && a->key_count == b->key_count);
    for (uint32_t i = 0; i < a->column_count; i++) {
        must_equal_columns(&a->columns[i], &b->columns[i]);
        must(weir_table_column(b, weir_str_from(a->columns[i].name)) == &b->columns[i]);
    }
    for (uint32_t i = 0; i < a->key_count; i++)
        must_equal_keys(&a->keys[i], &b->keys[i]);
}

/* There and back; the text is the caller's. */
static char *round_trip(const struct weir_table *it)
{
    struct weir_table *back = NULL;
    char *text = weir_table_print(it);
    must(text);
    enum weir_status status = weir_table_parse(weir_str_from(text), &back, &err);
    if (status)
        ck_abort_msg("%s: %s", err.message, text);
    must_equal(it, back);
    char *again = weir_table_print(back);
    must(!strcmp(again, text));
    free(again);
    weir_table_free(back);
    return text;
}

/* ---- any table ---- */

static struct weir_rng rng;

static uint64_t below(uint64_t bound)
{
    return weir_rng_below(&rng, bound);
}

static const char *any_text(struct weir_table *it, const char *before)
{
    static const char *const pieces[] = {
        "a",  "B",  "_",    "7",    " ",        "\"",           "\\",
        "\n", "\t", "\x01", "\x7f", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a",
        "/",  "'",  "{",    "]",    ","
    };
    char text[64];
    size_t len = (size_t)snprintf(text, sizeof(text), "%s", before);
    for (uint64_t i = below(12); i; i--)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", pieces[below(COUNT(pieces))]);
    return weir_table_text(it, weir_str(text, len));
}

static const char *maybe_text(struct weir_table *it)
{
    return below(2) ? any_text(it, "") : NULL;
}

static const char *maybe_number(struct weir_table *it)
{
    static const char *const numbers[] = { "0",    "-1",       "922337203685477.0",
                                           "1e11", "-0.50E-7", "-9223372036854775808" };
    return below(2) ? weir_table_text(it, weir_str_from(numbers[below(COUNT(numbers))])) : NULL;
}

static void fill_lists(struct weir_table *it, struct weir_column *column)
{
    column->choice_count = below(3) ? 0 : (uint32_t)below(5);
    column->choices = weir_table_alloc(it, column->choice_count, sizeof(*column->choices));
    for (uint32_t i = 0; i < column->choice_count; i++)
        column->choices[i] =
            (struct weir_choice){ (int32_t)weir_rng_u64(&rng),
                                  below(2) ? -1 : (int32_t)weir_rng_u64(&rng), maybe_text(it) };
    column->target_count = below(3) ? 0 : (uint32_t)below(4);
    column->targets = weir_table_alloc(it, column->target_count, sizeof(*column->targets));
    for (uint32_t i = 0; i < column->target_count; i++)
        column->targets[i] = (struct weir_lookup_target){ any_text(it, ""), maybe_text(it) };
}

static void fill_column(struct weir_table *it, struct weir_column *column, uint32_t place)
{
    char before[16];
    snprintf(before, sizeof(before), "%u.", place);
    *column = (struct weir_column){
        .name = any_text(it, before),
        .type = (enum weir_column_type)below(WEIR_COLUMN_TYPES),
        .for_create = below(2),
        .for_update = below(2),
        .for_read = below(2),
        .required = (enum weir_required)below(WEIR_REQUIRED_SYSTEM + 1),
        .part_of = maybe_text(it),
        .label = maybe_text(it),
        .length_max = below(2) ? 0 : (uint32_t)weir_rng_u64(&rng),
        .min = maybe_number(it),
        .max = maybe_number(it),
        .precision = (int)below(102) - 1,
        .shows_date_only = below(2),
        .behavior = (enum weir_date_behavior)below(WEIR_DATE_ZONE_INDEPENDENT + 1),
    };
    column->key_name = weir_table_key_name(it, column);
    fill_lists(it, column);
    must(weir_map_add(&it->column_map, weir_str_from(column->name), place));
}

static void fill_key(struct weir_table *it, struct weir_alternate_key *key)
{
    key->name = any_text(it, "");
    key->status = (enum weir_key_status)below(WEIR_KEY_STATUS_FAILED + 1);
    key->column_count = (uint32_t)below(4);
    key->columns = weir_table_alloc(it, key->column_count, sizeof(*key->columns));
    for (uint32_t i = 0; i < key->column_count; i++)
        key->columns[i] = any_text(it, "");
}

static struct weir_table *any_table(void)
{
    struct weir_table *it = weir_calloc(1, sizeof(*it));
    weir_map_init(&it->column_map);
    it->name = any_text(it, "");
    it->set_name = any_text(it, "");
    it->primary_id = any_text(it, "");
    it->primary_name = maybe_text(it);
    it->type = (enum weir_table_type)below(WEIR_TABLE_OTHER + 1);
    it->ownership = (enum weir_ownership)below(WEIR_OWNERSHIP_ORGANIZATION + 1);
    it->bulk_known = below(2);
    for (size_t i = 0; i < WEIR_BULK_MESSAGES; i++)
        it->bulk[i] = it->bulk_known && below(2);
    it->column_count = (uint32_t)below(8);
    it->columns = weir_table_alloc(it, it->column_count, sizeof(*it->columns));
    for (uint32_t i = 0; i < it->column_count; i++)
        fill_column(it, &it->columns[i], i);
    it->key_count = (uint32_t)below(4);
    it->keys = weir_table_alloc(it, it->key_count, sizeof(*it->keys));
    for (uint32_t i = 0; i < it->key_count; i++)
        fill_key(it, &it->keys[i]);
    return it;
}

START_TEST(any_table_comes_back_as_it_was)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        weir_rng_init(&rng, seed, 0);
        struct weir_table *it = any_table();
        free(round_trip(it));
        weir_table_free(it);
    }
}
END_TEST

START_TEST(a_described_table_comes_back_as_it_was)
{
    gadget_read_well();
    char *text = round_trip(table);
    ck_assert_ptr_nonnull(strstr(text, "\"max\":922337203685477.0"));
    ck_assert_ptr_nonnull(strstr(text, "{\"value\":2,\"state\":1,\"label\":\"Old\"}"));
    ck_assert_ptr_null(strpbrk(text, "\n\t"));
    /* as jobs of before there were labels of columns have it in their journals */
    ck_assert_ptr_nonnull(strstr(text, "{\"name\":\"notes\",\"type\":\"memo\""));
    free(text);
    gadget_replace(DEFINITION, "{'LogicalName':'notes'",
                   "{'LogicalName':'notes','DisplayName':{'UserLocalizedLabel':{'Label':'Print'}}");
    gadget_read_well();
    text = round_trip(table);
    ck_assert_ptr_nonnull(strstr(text, "{\"name\":\"notes\",\"label\":\"Print\",\"type\""));
    free(text);
}
END_TEST

START_TEST(nothing_is_borrowed_from_the_text)
{
    struct weir_table *back = NULL;
    gadget_read_well();
    char *text = weir_table_print(table);
    ck_assert_int_eq(weir_table_parse(weir_str_from(text), &back, &err), WEIR_OK);
    memset(text, 'x', strlen(text));
    must_equal(table, back);
    free(text);
    weir_table_free(back);
}
END_TEST

/* ---- damage ---- */

/* A copy of just the size, so that reading beyond its end is noticed. */
static bool is_taken(const char *bytes, size_t len)
{
    struct weir_table *back = NULL;
    char *copy = weir_calloc(len ? len : 1, 1);
    memcpy(copy, bytes, len);
    err = (struct weir_error){ 0 };
    enum weir_status status = weir_table_parse(weir_str(copy, len), &back, &err);
    must((status == WEIR_OK) == (back != NULL));
    must(status == WEIR_OK || (err.status == status && err.message[0]));
    if (back) {
        char *again = weir_table_print(back);
        must(weir_str_equal(weir_str_from(again), weir_str(copy, len)));
        free(again);
        weir_table_free(back);
    }
    free(copy);
    return status == WEIR_OK;
}

START_TEST(a_text_that_is_cut_anywhere_is_refused)
{
    gadget_read_well();
    char *text = weir_table_print(table);
    for (size_t len = 0; len < strlen(text); len++)
        must(!is_taken(text, len));
    free(text);
}
END_TEST

START_TEST(one_wrong_byte_is_refused_or_another_table)
{
    static const char wrong[] = "\"\\},0 -\xff"; /* and a zero */
    size_t taken = 0;
    gadget_read_well();
    char *text = weir_table_print(table);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        char was = text[i];
        for (size_t k = 0; k < sizeof(wrong) + 8; k++) {
            text[i] = (char)(k < 8 ? was ^ (1 << k) : wrong[k - 8]);
            taken += text[i] != was && is_taken(text, len);
        }
        text[i] = was;
    }
    ck_assert_uint_gt(taken, 100); /* another letter in a name */
    free(text);
}
END_TEST

/* ---- written by somebody else ---- */

#define HEAD "'name':'t','set':'ts','id':'tid'"

static void refuse(const char *quoted, const char *reason)
{
    char *text = weir_strdup(quoted);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    must(!is_taken(text, strlen(text)));
    ck_assert_int_eq(err.status, WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, reason), "%s: %s", text, err.message);
    free(text);
}

START_TEST(what_is_wrong_is_said)
{
    refuse("[]", "the table is an array where an object is right");
    refuse("{'name':'t','id':'tid'}", "the table whose \"set\" is missing where a string is right");
    refuse("{" HEAD ",'id ':7}", "the table has a member \"id \", which is none of its own");
    refuse("{" HEAD ",'type':7}", "the table whose \"type\" is a number where a string is right");
    refuse("{" HEAD ",'type':'Elastic'}", "the table cannot have \"Elastic\" as its \"type\"");
    refuse("{" HEAD ",'bulk known':'true'}", "is a string where true or false is right");
    refuse("{" HEAD ",'create multiple':true}", "it has bulk messages and does not know them");
    refuse("{" HEAD ",'columns':{}}", "\"columns\" is an object where an array is right");
    refuse("{" HEAD ",'columns':[7]}", "a column is a number where an object is right");
    refuse("{" HEAD ",'columns':[{'name':'a'},{'name':'a'}]}", "column \"a\" comes twice");
    refuse("{" HEAD ",'columns':[{'name':'a\\u0000b'}]}", "a column cannot have \"a");
    refuse("{" HEAD ",'columns':[{'name':'a','length':4294967296}]}", "\"4294967296\"");
    refuse("{" HEAD ",'columns':[{'name':'a','length':1.5}]}", "cannot have \"1.5\"");
    refuse("{" HEAD ",'columns':[{'name':'a','precision':101}]}", "as its \"precision\"");
    refuse("{" HEAD ",'columns':[{'name':'a','precision':-1}]}", "as its \"precision\"");
    refuse("{" HEAD ",'columns':[{'name':'a','choices':[{}]}]}",
           "a choice whose \"value\" is missing");
    refuse("{" HEAD ",'columns':[{'name':'a','choices':[{'value':2147483648}]}]}", "a choice");
    refuse("{" HEAD ",'columns':[{'name':'a','targets':[{'table':null}]}]}", "is null where");
    refuse("{" HEAD ",'keys':[{'name':'k','columns':[7]}]}", "a column of a key whose \"name\"");
}
END_TEST

/* The same table in other words. */
START_TEST(a_text_in_another_form_is_refused)
{
    static const char *const others[] = {
        " {" HEAD "}",
        "{" HEAD "} ",
        "{" HEAD ",}",
        "{" HEAD "/* */}",
        "{'set':'ts','name':'t','id':'tid'}",
        "{'name':'\\u0074','set':'ts','id':'tid'}",
        "{" HEAD ",'bulk known':false}",
        "{" HEAD ",'type':'standard'}",
        "{" HEAD ",'columns':[]}",
        "{" HEAD ",'columns':[{'name':'a','length':0}]}",
        "{" HEAD ",'columns':[{'name':'a','length':+7}]}",
        "{" HEAD ",'columns':[{'name':'a','precision':-0}]}",
        "{" HEAD ",'columns':[{'name':'a','choices':[{'value':1,'state':-1}]}]}",
    };
    for (size_t i = 0; i < COUNT(others); i++)
        refuse(others[i], "the description of a table cannot be used: ");
    refuse(others[0], "is not written as they are");
}
END_TEST

/* ---- bounds ---- */

/* A list of so many elements; each has its number where the "#" is. */
static bool is_taken_with(const char *before, const char *element, size_t count, const char *after)
{
    int hash = (int)strcspn(element, "#");
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_TABLE_TEXT_MAX);
    weir_buf_add_text(&buf, before);
    for (size_t i = 0; i < count; i++) {
        weir_buf_printf(&buf, "%s%.*s%zu%s", i ? "," : "", hash, element, i, element + hash + 1);
    }
    weir_buf_add_text(&buf, after);
    for (size_t i = 0; i < buf.len; i++)
        buf.ptr[i] = buf.ptr[i] == '\'' ? '"' : buf.ptr[i];
    bool taken = is_taken(buf.ptr, buf.len);
    weir_buf_release(&buf);
    return taken;
}

START_TEST(lists_have_bounds)
{
    static const struct {
        const char *before, *element, *after;
        size_t max;
    } rows[] = {
        { "{" HEAD ",'columns':[", "{'name':'#'}", "]}", WEIR_COLUMNS_MAX },
        { "{" HEAD ",'keys':[", "{'name':'#'}", "]}", WEIR_ALTERNATE_KEYS_MAX },
        { "{" HEAD ",'keys':[{'name':'k','columns':[", "'#'", "]}]}", WEIR_KEY_PARTS_MAX },
        { "{" HEAD ",'columns':[{'name':'a','choices':[", "{'value':#}", "]}]}", WEIR_CHOICES_MAX },
        { "{" HEAD ",'columns':[{'name':'a','targets':[", "{'table':'#'}", "]}]}",
          WEIR_LOOKUP_TARGETS_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ck_assert(is_taken_with(rows[i].before, rows[i].element, rows[i].max, rows[i].after));
        ck_assert(!is_taken_with(rows[i].before, rows[i].element, rows[i].max + 1, rows[i].after));
        ck_assert_int_eq(err.status, WEIR_E_TOO_BIG);
    }
}
END_TEST

START_TEST(a_text_has_a_bound)
{
    static const char before[] = "{\"name\":\"t\",\"set\":\"ts\",\"id\":\"";
    size_t len = WEIR_TABLE_TEXT_MAX;
    char *text = weir_calloc(len + 2, 1);
    memset(text, 'x', len + 1);
    memcpy(text, before, strlen(before));
    memcpy(text + len - 2, "\"}", 2);
    ck_assert(is_taken(text, len));
    memcpy(text + len - 2, "x\"}", 3);
    ck_assert(!is_taken(text, len + 1));
    ck_assert_int_eq(err.status, WEIR_E_TOO_BIG);
    struct weir_table it = { .name = "t", .set_name = "ts" };
    text[len - 1] = '\0';
    it.primary_id = text + strlen(before);
    char *printed = weir_table_print(&it);
    ck_assert_ptr_null(printed);
    text[len - 2] = '\0';
    printed = weir_table_print(&it);
    ck_assert_uint_eq(strlen(printed), len);
    free(printed);
    free(text);
}
END_TEST

#define ADD(test) gadget_add(&s, #test, test)

int main(void)
{
    struct suite s = suite_new("metadata_text");
    ADD(any_table_comes_back_as_it_was);
    ADD(a_described_table_comes_back_as_it_was);
    ADD(nothing_is_borrowed_from_the_text);
    ADD(a_text_that_is_cut_anywhere_is_refused);
    ADD(one_wrong_byte_is_refused_or_another_table);
    ADD(what_is_wrong_is_said);
    ADD(a_text_in_another_form_is_refused);
    ADD(lists_have_bounds);
    ADD(a_text_has_a_bound);
    return suite_run(&s);
}
