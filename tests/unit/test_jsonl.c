/* SPDX-License-Identifier: MIT */
/*
 * JSON Lines as they should be: random objects, written in every way that means the same, come back
 * member for member and byte for byte, however the bytes are cut and wherever reading begins; and
 * what they hold is what json-c finds in them.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/limits.h"
#include "records/read_format.h"
#include "support/input_rig.h"
#include "support/jsonl_make.h"
#include "support/jsonl_rig.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define TEXT(literal) weir_str((literal), sizeof(literal) - 1)
#define FILES         150

static const struct weir_format_options flat = { 0 };
static const struct weir_format_options raw = { .raw = true };

static void must_be_row(const struct made *m, size_t i, const struct weir_record *record,
                        bool cells)
{
    const struct made_row *row = &m->row[i];
    must(record->problem == WEIR_RECORD_FINE && record->number == i + 1);
    must(record->place.offset == row->offset && record->place.end == row->end);
    must(record->place.line == row->line && record->place.file == 0);
    must(!record->raw_cut && !record->bad_at && !record->bound && !record->member.ptr);
    must(record->cell_count == (cells ? row->members : 0));
    for (size_t k = 0; k < record->cell_count; k++) {
        must(weir_str_equal(record->names[k], made_text(m, row->names[k])));
        must(!record->cells[k].ptr == row->nulls[k]);
        if (!row->nulls[k])
            must(weir_str_equal(record->cells[k], made_text(m, row->values[k])));
    }
}

static void must_be_made(const struct made *m, const struct jsonl_list *list, bool cells)
{
    must(list->ended == WEIR_STEP_END);
    must(list->count == m->rows);
    for (size_t i = 0; i < m->rows; i++)
        must_be_row(m, i, &list->records[i], cells);
}

START_TEST(objects_come_back_member_for_member_in_every_style_and_every_piece)
{
    static const int pieces[] = { 0, 1, 2, 3, 7, 64, -1 };
    struct weir_rng rng;
    weir_rng_init(&rng, 31, (uint64_t)_i);
    for (int n = 0; n < FILES; n++) {
        struct made m;
        bool nested = n % 3 == 0;
        make_jsonl(&m, &rng, nested);
        struct weir_str text = str_of(&m.text);
        for (size_t i = 0; i < COUNT(pieces); i++) {
            struct jsonl_list list = jsonl_read(text, nested ? &raw : &flat, pieces[i], &rng);
            must_be_made(&m, &list, !nested);
            jsonl_must_tile(text, &list);
            jsonl_list_release(&list);
        }
        made_release(&m);
    }
}
END_TEST

START_TEST(entering_at_any_record_gives_the_rest_with_the_same_numbers)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 32, 0);
    for (int n = 0; n < FILES; n++) {
        struct made m;
        make_jsonl(&m, &rng, false);
        struct weir_str text = str_of(&m.text);
        struct jsonl_list all = jsonl_read(text, NULL, 0, &rng);
        for (size_t i = 0; i < all.count; i++) {
            struct jsonl_list rest =
                jsonl_read_from(text, NULL, &all.records[i], make_pick(&rng, 2), -1, &rng);
            jsonl_must_match(&all, i, &rest);
            jsonl_list_release(&rest);
        }
        jsonl_list_release(&all);
        made_release(&m);
    }
}
END_TEST

/* A last line that was cut is not fine, unless only what ends it was. */
START_TEST(a_file_cut_anywhere_keeps_the_records_before_the_cut)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 33, 0);
    for (int n = 0; n < 25; n++) {
        struct made m;
        make_jsonl(&m, &rng, n % 2);
        for (size_t len = 0; len < m.text.len; len++) {
            struct weir_str text = weir_str(m.text.ptr, len);
            struct jsonl_list list = jsonl_read(text, n % 2 ? &raw : &flat, -1, &rng);
            jsonl_must_tile(text, &list);
            size_t row = 0;
            for (; row < m.rows && m.row[row].end <= len; row++)
                must_be_row(&m, row, &list.records[row], n % 2 == 0);
            must(list.ended == WEIR_STEP_END && list.count <= row + 1);
            if (list.count > row && list.records[row].problem == WEIR_RECORD_FINE) {
                struct weir_str rest =
                    weir_str_trim(weir_str(m.text.ptr + len, m.row[row].end - len));
                must(!rest.len);
            }
            jsonl_list_release(&list);
        }
        made_release(&m);
    }
}
END_TEST

START_TEST(a_full_arena_loses_nothing)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 34, 0);
    for (int n = 0; n < 200; n++) {
        struct made m;
        make_jsonl(&m, &rng, false);
        struct weir_jsonl *jsonl = weir_jsonl_new(NULL);
        weir_jsonl_feed(jsonl, 0, m.text.ptr, m.text.len, true);
        struct weir_arena *arena = weir_arena_new(1500);
        struct weir_arena *large = weir_arena_new(MAKE_BYTES_MAX);
        size_t row = 0;
        enum weir_step step;
        struct weir_record record;
        while ((step = weir_jsonl_next(jsonl, arena, &record, NULL)) != WEIR_STEP_END) {
            if (step == WEIR_STEP_FULL) {
                weir_arena_reset(arena);
                if (weir_jsonl_next(jsonl, arena, &record, NULL) == WEIR_STEP_FULL)
                    must(weir_jsonl_next(jsonl, large, &record, NULL) == WEIR_STEP_RECORD);
            }
            must_be_row(&m, row++, &record, true);
        }
        must(row == m.rows);
        weir_arena_unref(arena);
        weir_arena_unref(large);
        weir_jsonl_free(jsonl);
        made_release(&m);
    }
}
END_TEST

/* ---- json-c has the last word ---- */

static void must_be_json_c(const struct weir_record *record)
{
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    struct json_object *object =
        json_tokener_parse_ex(tokener, record->raw.ptr, (int)record->raw.len);
    must(object && json_object_get_type(object) == json_type_object);
    must((size_t)json_object_object_length(object) == record->cell_count);
    uint32_t i = 0;
    json_object_object_foreach(object, name, value)
    {
        struct weir_str cell = record->cells[i];
        must(weir_str_equal(record->names[i], weir_str_from(name)));
        must(!cell.ptr == !value);
        if (json_object_get_type(value) == json_type_string)
            must(weir_str_equal(cell, weir_str(json_object_get_string(value),
                                               (size_t)json_object_get_string_len(value))));
        if (json_object_get_type(value) == json_type_double)
            must(weir_str_equal(cell, weir_str_from(json_object_get_string(value))));
        i++;
    }
    json_object_put(object);
    json_tokener_free(tokener);
}

START_TEST(json_c_finds_the_same_names_and_texts)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 35, 0);
    for (int n = 0; n < 3 * FILES; n++) {
        struct made m;
        make_jsonl(&m, &rng, false);
        struct jsonl_list list = jsonl_read(str_of(&m.text), NULL, 0, &rng);
        for (size_t i = 0; i < list.count; i++)
            must_be_json_c(&list.records[i]);
        jsonl_list_release(&list);
        made_release(&m);
    }
}
END_TEST

/* ---- what is left open elsewhere ---- */

START_TEST(a_file_may_have_no_rows_and_lines_may_be_blank)
{
    static const char *const texts[] = {
        "", "\n", "\r\r\n\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\r\n", " \t ", " \n ", "\n\t\r"
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (int piece = -1; piece < 3; piece++) {
            struct jsonl_list list = jsonl_read(weir_str_from(texts[i]), NULL, piece, &rng);
            ck_assert_int_eq(list.ended, WEIR_STEP_END);
            ck_assert_uint_eq(list.count, 0);
            jsonl_list_release(&list);
        }
    }
}
END_TEST

START_TEST(values_are_kept_as_they_are_written)
{
    struct weir_str text =
        TEXT("{\"a\":1e400,\"b\":-0,\"c\":00000000000000000000000000000000000001.50}\n"
             "{\"a\":1e400,\"b\":-0.0,\"c\":12345678901234567890123456789012345678,\"d\":\"\","
             "\"e\":null,\"f\":\"007\",\"g\":true,\"h\":\"null\"}");
    static const char *const cells[] = { "1e400", "-0.0", "12345678901234567890123456789012345678",
                                         "",      NULL,   "007",
                                         "true",  "null" };
    struct jsonl_list list = jsonl_read(text, NULL, 0, NULL);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_eq(list.records[0].problem, WEIR_RECORD_NOT_JSON);
    ck_assert_uint_eq(list.records[1].cell_count, COUNT(cells));
    for (size_t i = 0; i < COUNT(cells); i++) {
        struct weir_str cell = list.records[1].cells[i];
        ck_assert_int_eq(!cell.ptr, !cells[i]);
        ck_assert(weir_str_equal(cell, weir_str_from(cells[i])));
    }
    ck_assert_ptr_null(weir_format_jsonl.columns(NULL).names);
    jsonl_list_release(&list);
}
END_TEST

/* As long as a record may be, and every text has to be resolved. */
START_TEST(any_record_fits_into_an_arena_that_is_said_to_be_enough)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * WEIR_RECORD_BYTES_MAX);
    weir_buf_add_char(&text, '{');
    for (int i = 0; i < WEIR_FIELDS_MAX; i++)
        weir_buf_printf(&text, "%s\"\\n%d\":\"\\t%0*d\"", i ? "," : "", i, 395, i);
    while (text.len < WEIR_RECORD_BYTES_MAX - 1)
        weir_buf_add_char(&text, ' ');
    weir_buf_add_text(&text, "}\r\n");
    struct weir_jsonl *jsonl = weir_jsonl_new(NULL);
    weir_jsonl_feed(jsonl, 0, text.ptr, text.len, true);
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    ck_assert_int_eq(weir_jsonl_next(jsonl, arena, &record, NULL), WEIR_STEP_RECORD);
    ck_assert_int_eq(record.problem, WEIR_RECORD_FINE);
    ck_assert_uint_eq(record.cell_count, WEIR_FIELDS_MAX);
    ck_assert_uint_eq(record.cells[9999].len, 396);
    ck_assert_uint_gt(weir_arena_used(arena), 2 * WEIR_RECORD_BYTES_MAX - 200000);
    weir_arena_unref(arena);
    weir_jsonl_free(jsonl);
    weir_buf_release(&text);
}
END_TEST

/* Reading takes memory from the arena alone, once it has seen lines as long as these. */
START_TEST(names_that_come_again_in_every_record_are_no_repeats)
{
    struct weir_buf text;
    weir_buf_init(&text, (size_t)64 << 20);
    for (int i = 0; i < 70000; i++)
        weir_buf_printf(&text, "{\"a\":%d,\"b\":{\"a\":[{\"a\":1},{\"a\":2}],\"b\":{}}}\n", i);
    struct weir_jsonl *jsonl = weir_jsonl_new(&raw);
    weir_jsonl_feed(jsonl, 0, text.ptr, text.len, true);
    struct weir_arena *arena = weir_arena_new(1 << 20);
    struct weir_record record;
    uint64_t count = 0;
    enum weir_step step;
    while ((step = weir_jsonl_next(jsonl, arena, &record, NULL)) != WEIR_STEP_END) {
        if (step == WEIR_STEP_FULL) {
            weir_arena_reset(arena);
            continue;
        }
        must(record.problem == WEIR_RECORD_FINE && record.number == ++count);
    }
    ck_assert_uint_eq(count, 70000);
    weir_arena_unref(arena);
    weir_jsonl_free(jsonl);
    weir_buf_release(&text);
}
END_TEST

/* ---- files ---- */

struct source {
    struct input_rig rig;
    struct made made[3];
    const char *paths[3];
    struct weir_reader_options options;
};

static void source_init(struct source *s, struct weir_rng *rng)
{
    input_rig_init(&s->rig);
    for (int i = 0; i < 3; i++)
        make_jsonl(&s->made[i], rng, false);
    s->paths[0] = input_rig_write(&s->rig, "a.jsonl", str_of(&s->made[0].text));
    s->paths[1] = input_rig_gzip(&s->rig, "b.jsonl.gz", str_of(&s->made[1].text), 2);
    s->paths[2] = input_rig_write(&s->rig, "c.ndjson", str_of(&s->made[2].text));
    s->options = (struct weir_reader_options){
        .paths = s->paths, .path_count = 3, .stdin_fd = -1, .format = &weir_format_jsonl
    };
}

static void source_release(struct source *s)
{
    for (int i = 0; i < 3; i++)
        made_release(&s->made[i]);
    input_rig_release(&s->rig);
}

static struct jsonl_list read_files(const struct weir_reader_options *options)
{
    struct jsonl_list list = { .arena = weir_arena_new((size_t)64 << 20) };
    struct weir_reader *reader;
    struct weir_record record;
    must(weir_reader_new(options, &reader, &list.err) == WEIR_OK);
    while ((list.ended = weir_reader_next(reader, list.arena, &record, &list.err)) ==
           WEIR_STEP_RECORD)
        jsonl_list_add(&list, &record);
    weir_reader_free(reader);
    return list;
}

START_TEST(several_files_are_read_in_a_row_and_entered_anywhere)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 36, 0);
    for (int n = 0; n < 8; n++) {
        struct source s;
        source_init(&s, &rng);
        struct jsonl_list all = read_files(&s.options);
        must(all.ended == WEIR_STEP_END);
        size_t at = 0;
        for (uint32_t file = 0; file < 3; file++) {
            for (size_t i = 0; i < s.made[file].rows; i++, at++) {
                struct weir_record record = all.records[at];
                must(record.place.file == file && record.number == at + 1);
                record.place.file = 0;
                record.number = i + 1;
                must_be_row(&s.made[file], i, &record, true);
            }
        }
        must(at == all.count);
        for (size_t i = 0; i < all.count; i++) {
            s.options.enter = all.records[i].place;
            s.options.enter_number = all.records[i].number;
            struct jsonl_list rest = read_files(&s.options);
            jsonl_must_match(&all, i, &rest);
            jsonl_list_release(&rest);
        }
        jsonl_list_release(&all);
        source_release(&s);
    }
}
END_TEST

/* ---- what the service calls its members ---- */

START_TEST(members_of_rows_that_were_read_are_recognised)
{
    static const struct {
        const char *name;
        enum weir_read_member member;
        const char *column;
    } rows[] = {
        { "name", WEIR_READ_PLAIN, "name" },
        { "", WEIR_READ_PLAIN, "" },
        { "_value", WEIR_READ_PLAIN, "_value" },
        { "__value", WEIR_READ_PLAIN, "__value" },
        { "_x_value", WEIR_READ_LOOKUP, "x" },
        { "__x__value", WEIR_READ_LOOKUP, "_x_" },
        { "_x_Value", WEIR_READ_PLAIN, "_x_Value" },
        { "x_value", WEIR_READ_PLAIN, "x_value" },
        { "_x_values", WEIR_READ_PLAIN, "_x_values" },
        { "_new_parent_value", WEIR_READ_LOOKUP, "new_parent" },
        { "_x_value@Microsoft.Dynamics.CRM.lookuplogicalname", WEIR_READ_LOOKUP_TABLE, "x" },
        { "_x_value@Microsoft.Dynamics.CRM.associatednavigationproperty",
          WEIR_READ_LOOKUP_NAVIGATION, "x" },
        { "_x_value@OData.Community.Display.V1.FormattedValue", WEIR_READ_ANNOTATION, "x" },
        { "_x_value@microsoft.dynamics.crm.lookuplogicalname", WEIR_READ_ANNOTATION, "x" },
        { "x@Microsoft.Dynamics.CRM.lookuplogicalname", WEIR_READ_ANNOTATION, "x" },
        { "_x_value@odata.bind", WEIR_READ_ANNOTATION, "x" },
        { "statecode@OData.Community.Display.V1.FormattedValue", WEIR_READ_ANNOTATION,
          "statecode" },
        { "createdon@odata.type", WEIR_READ_ANNOTATION, "createdon" },
        { "contacts@odata.nextLink", WEIR_READ_ANNOTATION, "contacts" },
        { "parentcustomerid_account@odata.bind", WEIR_READ_BIND, "parentcustomerid_account" },
        { "@odata.etag", WEIR_READ_ETAG, "" },
        { "@odata.id", WEIR_READ_RESERVED, "" },
        { "@odata.type", WEIR_READ_RESERVED, "" },
        { "@odata.context", WEIR_READ_ANNOTATION, "" },
        { "@odata.editLink", WEIR_READ_ANNOTATION, "" },
        { "@odata.etags", WEIR_READ_ANNOTATION, "" },
        { "@", WEIR_READ_PLAIN, "@" },
        { "x@", WEIR_READ_PLAIN, "x@" },
        { "x@odata.", WEIR_READ_PLAIN, "x@odata." },
        { "e@mail", WEIR_READ_PLAIN, "e@mail" },
        { "_x_value@mail", WEIR_READ_PLAIN, "_x_value@mail" },
        { "x@odata.etag", WEIR_READ_ANNOTATION, "x" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_str column = weir_str(NULL, 99);
        size_t len = strlen(rows[i].name);
        char *name = weir_realloc(NULL, len + 1, 1); /* of just the size that is read */
        memcpy(name, rows[i].name, len);
        name = weir_realloc(name, len ? len : 1, 1);
        enum weir_read_member member = weir_read_member_of(weir_str(name, len), &column);
        ck_assert_msg(member == rows[i].member &&
                          weir_str_equal(column, weir_str_from(rows[i].column)),
                      "%s: %d of \"%.*s\"", rows[i].name, member, (int)column.len, column.ptr);
        free(name);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("jsonl");
    suite_add_loop(&s, "objects_come_back_member_for_member_in_every_style_and_every_piece",
                   objects_come_back_member_for_member_in_every_style_and_every_piece, 10);
    suite_add(&s, entering_at_any_record_gives_the_rest_with_the_same_numbers);
    suite_add(&s, a_file_cut_anywhere_keeps_the_records_before_the_cut);
    suite_add(&s, a_full_arena_loses_nothing);
    suite_add(&s, json_c_finds_the_same_names_and_texts);
    suite_add(&s, a_file_may_have_no_rows_and_lines_may_be_blank);
    suite_add(&s, values_are_kept_as_they_are_written);
    suite_add(&s, any_record_fits_into_an_arena_that_is_said_to_be_enough);
    suite_add(&s, names_that_come_again_in_every_record_are_no_repeats);
    suite_add(&s, several_files_are_read_in_a_row_and_entered_anywhere);
    suite_add(&s, members_of_rows_that_were_read_are_recognised);
    return suite_run(&s);
}
