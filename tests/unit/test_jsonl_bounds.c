/* SPDX-License-Identifier: MIT */
/*
 * JSON Lines that are larger, wider, deeper or more than can be: each bound is reached and exceeded
 * by one, and the next line is read as if nothing had happened.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "records/jsonl_parts.h"
#include "support/jsonl_rig.h"

#define TEXT(literal) weir_str((literal), sizeof(literal) - 1)

static void repeat(struct weir_buf *buf, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        weir_buf_add_text(buf, text);
}

static struct weir_buf filled(const char *before, const char *text, size_t times,
                              const char *behind)
{
    struct weir_buf buf;
    weir_buf_init(&buf, (size_t)64 << 20);
    weir_buf_add_text(&buf, before);
    repeat(&buf, text, times);
    weir_buf_add_text(&buf, behind);
    return buf;
}

/* A line that is huge, and a good one. `raw_len` 0: all of it. */
static void must_keep(struct weir_buf buf, const struct weir_format_options *options,
                      enum weir_record_problem problem, size_t raw_len)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    weir_buf_add_text(&buf, "{\"ok\":1}\n");
    struct jsonl_list list = jsonl_read(weir_str(buf.ptr, buf.len), options, 100000, &rng);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_msg(list.records[0].problem == problem, "%s",
                  weir_record_problem_name(list.records[0].problem));
    ck_assert_int_eq(list.records[0].raw_cut, raw_len != 0);
    ck_assert_uint_eq(list.records[0].raw.len, raw_len ? raw_len : buf.len - 9);
    ck_assert_uint_eq(list.records[0].place.end, buf.len - 9);
    ck_assert_uint_eq(list.records[0].place.line, 1);
    ck_assert(weir_str_equal(list.records[1].raw, weir_str_from("{\"ok\":1}\n")));
    ck_assert_int_eq(list.records[1].problem, WEIR_RECORD_FINE);
    ck_assert_uint_eq(list.records[1].place.line, 2);
    jsonl_list_release(&list);
    weir_buf_release(&buf);
}

START_TEST(huge_texts_and_lines_meet_the_default_bounds)
{
    size_t field = WEIR_FIELD_BYTES_MAX;
    size_t record = WEIR_RECORD_BYTES_MAX;
    must_keep(filled("{\"a\":\"", "x", field, "\"}\n"), NULL, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"a\":\"", "x", field + 1, "\"}\n"), NULL, WEIR_RECORD_CELL_TOO_BIG, 0);
    must_keep(filled("{\"a\":\"", "\\n", field, "\"}\n"), NULL, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"a\":", "1", field, "}\r\n"), NULL, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"a\":", "1", field + 1, "}\r"), NULL, WEIR_RECORD_CELL_TOO_BIG, 0);
    must_keep(filled("{\"", "n", field, "\":1}\n"), NULL, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"", "n", field + 1, "\":1}\n"), NULL, WEIR_RECORD_CELL_TOO_BIG, 0);
    must_keep(filled("{\"a\":", " ", record - 7, "1}\n"), NULL, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"a\":", " ", record - 6, "1}\n"), NULL, WEIR_RECORD_TOO_BIG,
              WEIR_RECORD_CUT_BYTES);
    must_keep(filled("", " ", record + 1, "\n"), NULL, WEIR_RECORD_TOO_BIG, WEIR_RECORD_CUT_BYTES);
    must_keep(filled("{\"a\":\"", "x", 20 << 20, "\r\n"), NULL, WEIR_RECORD_TOO_BIG,
              WEIR_RECORD_CUT_BYTES);
}
END_TEST

/* Whether the last byte is known as such when it comes, or an empty piece says so. */
START_TEST(a_huge_line_may_be_the_last_one_and_need_not_end)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (int n = 0; n < 200; n++) {
        struct weir_format_options options = { .record_bytes_max = 8 };
        struct weir_str text = TEXT("{\"ok\":1}\n{\"a\":\"01234567890123456789");
        struct jsonl_list list = jsonl_read(text, &options, n < 40 ? n : -1, &rng);
        ck_assert_int_eq(list.ended, WEIR_STEP_END);
        ck_assert_uint_eq(list.count, 2);
        ck_assert_int_eq(list.records[1].problem, WEIR_RECORD_TOO_BIG);
        ck_assert_uint_eq(list.records[1].bad_at, 17);
        ck_assert_uint_eq(list.records[1].place.end, text.len);
        ck_assert(weir_str_equal(list.records[1].raw, TEXT("{\"a\":\"01")));
        jsonl_list_release(&list);
    }
}
END_TEST

START_TEST(nesting_ends_at_its_bound_however_deep_it_goes)
{
    static const struct weir_format_options raw = { .raw = true };
    struct weir_buf deepest = filled("{\"a\":", "[", WEIR_RECORD_DEPTH_MAX - 1, "");
    repeat(&deepest, "]", WEIR_RECORD_DEPTH_MAX - 1);
    weir_buf_add_text(&deepest, "}\n");
    must_keep(deepest, &raw, WEIR_RECORD_FINE, 0);
    must_keep(filled("{\"a\":", "[", WEIR_RECORD_DEPTH_MAX, "\n"), &raw, WEIR_RECORD_TOO_DEEP, 0);
    must_keep(filled("{\"a\":", "[", 100000, "\n"), &raw, WEIR_RECORD_TOO_DEEP, 0);
    must_keep(filled("", "{\"a\":", 100000, "\n"), &raw, WEIR_RECORD_TOO_DEEP, 0);
    must_keep(filled("{\"a\":", "[", 100000, "\n"), NULL, WEIR_RECORD_TOO_DEEP, 0);
    struct jsonl_list list =
        jsonl_read(TEXT("{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
                   &raw, 7, NULL);
    char got[512];
    weir_record_explain(&list.records[0], weir_str(NULL, 0), got, sizeof(got));
    ck_assert_str_eq(got, "has objects and arrays nested more than 64 deep");
    jsonl_list_release(&list);
}
END_TEST

static struct weir_buf wide(size_t members)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 1 << 20);
    for (size_t i = 0; i < members; i++)
        weir_buf_printf(&buf, "%c\"column number %zu\":%zu", i ? ',' : '{', i, i);
    weir_buf_add_text(&buf, "}\n");
    return buf;
}

START_TEST(ten_thousand_members_are_read_and_one_more_is_refused)
{
    must_keep(wide(WEIR_FIELDS_MAX), NULL, WEIR_RECORD_FINE, 0);
    must_keep(wide(WEIR_FIELDS_MAX + 1), NULL, WEIR_RECORD_TOO_MANY_MEMBERS, 0);
    struct weir_buf twice = wide(WEIR_FIELDS_MAX - 1);
    twice.len -= 2;
    weir_buf_add_text(&twice, ",\"column number 4711\":1}\n");
    must_keep(twice, NULL, WEIR_RECORD_TWICE, 0);
}
END_TEST

/* Four thousand million records later: the table of names cannot tell its turns apart any more. */
START_TEST(names_of_long_ago_are_no_repeats)
{
    struct weir_jsonl *jsonl = weir_jsonl_new(NULL);
    struct weir_arena *arena = weir_arena_new(1000);
    struct weir_record record;
    static const char text[] = "{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n{\"a\":1,\"a\":1}\n";
    weir_jsonl_feed(jsonl, 0, text, sizeof(text) - 1, true);
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            jsonl->turn = UINT32_MAX;
        ck_assert_int_eq(weir_jsonl_next(jsonl, arena, &record, NULL), WEIR_STEP_RECORD);
        ck_assert_int_eq(record.problem, i == 3 ? WEIR_RECORD_TWICE : WEIR_RECORD_FINE);
    }
    weir_arena_unref(arena);
    weir_jsonl_free(jsonl);
}
END_TEST

START_TEST(a_long_name_is_cut_at_a_character_where_it_is_told)
{
    struct weir_buf name = filled("x", "ß", 100, "");
    struct weir_buf text;
    weir_buf_init(&text, 4096);
    weir_buf_printf(&text, "{\"%s\":\"\\ud800\"}", name.ptr);
    struct jsonl_list list = jsonl_read(weir_str(text.ptr, text.len), NULL, 0, NULL);
    char got[512];
    char wanted[512];
    weir_record_explain(&list.records[0], weir_str(NULL, 0), got, sizeof(got));
    snprintf(wanted, sizeof(wanted),
             "member \"%.127s…\" has half a character, \"\\ud800\", at offset %zu; the other half "
             "must stand beside it",
             name.ptr, name.len + strlen("{\"\":\""));
    ck_assert_str_eq(got, wanted);
    jsonl_list_release(&list);
    weir_buf_release(&text);
    weir_buf_release(&name);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("jsonl_bounds");
    suite_add(&s, huge_texts_and_lines_meet_the_default_bounds);
    suite_add(&s, a_huge_line_may_be_the_last_one_and_need_not_end);
    suite_add(&s, nesting_ends_at_its_bound_however_deep_it_goes);
    suite_add(&s, ten_thousand_members_are_read_and_one_more_is_refused);
    suite_add(&s, names_of_long_ago_are_no_repeats);
    suite_add(&s, a_long_name_is_cut_at_a_character_where_it_is_told);
    return suite_run(&s);
}
