/* SPDX-License-Identifier: MIT */
/*
 * CSV as it should not be: each mistake has its own sentence, rejects its own row and no other, and
 * on any bytes the reader agrees with one that was written the slow way.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "records/utf8.h"
#include "support/csv_model.h"
#include "support/csv_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- any bytes ---- */

static const char *const atoms[] = { "\"", "\"", "\"", "\"", ",", ",",  ",",      "\n", "\n",
                                     "\r", "x",  "x",  "yz", "ß", "\t", "\"\"\"", " ",  "\r\n" };

static size_t add_noise(struct weir_rng *rng, char *text, size_t room)
{
    size_t len = 0;
    size_t wanted = weir_rng_below(rng, room - 8);
    while (len < wanted) {
        if (weir_rng_below(rng, 150) == 0) {
            text[len++] = weir_rng_below(rng, 2) ? '\0' : '\xFF';
            continue;
        }
        const char *atom = atoms[weir_rng_below(rng, COUNT(atoms))];
        memcpy(text + len, atom, strlen(atom));
        len += strlen(atom);
    }
    return len;
}

static struct weir_format_options make_bounds(struct weir_rng *rng)
{
    struct weir_format_options options = {
        .separator = ',', .field_bytes_max = 1 << 20, .record_bytes_max = 1 << 20, .fields_max = 60
    };
    if (weir_rng_below(rng, 2))
        options.field_bytes_max = 2 + weir_rng_below(rng, 20);
    if (weir_rng_below(rng, 2))
        options.record_bytes_max = 4 + weir_rng_below(rng, 60); /* the header must fit */
    if (weir_rng_below(rng, 3) == 0)
        options.fields_max = 2 + (uint32_t)weir_rng_below(rng, 6);
    return options;
}

static void must_be(const struct weir_record *record, const struct model_record *r)
{
    must(record->problem == r->problem);
    must(record->place.offset == r->begin && record->place.end == r->end);
    must(record->column == r->column);
    must(record->cell_count == r->cell_count);
    for (uint32_t i = 0; i < r->cell_count; i++)
        must(weir_str_equal(record->cells[i], weir_str(r->cells[i], r->cell_len[i])));
}

START_TEST(any_bytes_are_read_as_the_slow_reader_reads_them)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 21, (uint64_t)_i);
    static struct model_record r;
    size_t seen[WEIR_RECORD_PROBLEM_COUNT] = { 0 };
    for (int n = 0; n < 4000; n++) {
        char bytes[400] = "a,b\n";
        struct weir_format_options options = make_bounds(&rng);
        size_t len = 4 + add_noise(&rng, bytes + 4, n % 3 ? 60 : sizeof(bytes) - 4);
        struct weir_str text = weir_str(bytes, len);
        struct csv_list list = csv_read(text, &options, n % 2 ? -1 : 0, &rng);
        struct model m = { .text = text, .options = options, .columns = 2, .i = 4 };
        csv_must_tile(text, &list);
        for (size_t i = 0; i < list.count; i++) {
            must(model_next(&m, &r));
            must_be(&list.records[i], &r);
            seen[r.problem]++;
        }
        must(!model_next(&m, &r));
        csv_list_release(&list);
    }
    for (int i = 0; i <= WEIR_RECORD_TOO_MANY_CELLS; i++)
        ck_assert_msg(seen[i] > 20, "%s: %zu", weir_record_problem_name((unsigned)i), seen[i]);
}
END_TEST

START_TEST(any_bytes_are_the_same_in_any_pieces_and_from_any_record)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 22, (uint64_t)_i);
    for (int n = 0; n < 600; n++) {
        char bytes[300] = "a,b\n";
        size_t header = n % 4 ? 4 : 0;
        struct weir_format_options options = make_bounds(&rng);
        size_t len = header + add_noise(&rng, bytes + header, sizeof(bytes) - header);
        struct weir_str text = weir_str(bytes, len);
        struct csv_list all = csv_read(text, &options, 0, &rng);
        for (int piece = -1; piece < 4; piece++) {
            struct csv_list list = csv_read(text, &options, piece, &rng);
            csv_must_match(&all, 0, &list);
            csv_list_release(&list);
        }
        for (size_t i = 0; i < all.count; i += 1 + i / 4) {
            struct csv_list rest =
                csv_read_from(text, &options, &all.records[i], n % 2, n % 5 - 1, &rng);
            csv_must_match(&all, i, &rest);
            csv_list_release(&rest);
        }
        csv_list_release(&all);
    }
}
END_TEST

/* ---- rows ---- */

/* `text` has a header of a and b, good rows that begin with "ok", and one that is bad. */
static void must_reject(struct weir_str text, const struct weir_format_options *options,
                        struct weir_str raw, const char *sentence)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (int piece = 0; piece < 3; piece++) {
        struct csv_list list = csv_read(text, options, piece, &rng);
        ck_assert_int_eq(list.ended, WEIR_STEP_END);
        size_t bad = 0;
        for (size_t i = 0; i < list.count; i++) {
            const struct weir_record *record = &list.records[i];
            if (!record->problem) {
                ck_assert(weir_str_starts_nocase(record->raw, "ok"));
                continue;
            }
            char got[512];
            bad++;
            weir_record_explain(record, weir_str_from(record->column == 2 ? "b" : ""), got,
                                sizeof(got));
            ck_assert_str_eq(got, sentence);
            ck_assert(weir_str_equal(record->raw, raw));
        }
        ck_assert_uint_eq(bad, 1);
        ck_assert_uint_eq(list.count, 3);
        csv_list_release(&list);
    }
}

#define TEXT(literal) weir_str((literal), sizeof(literal) - 1)

START_TEST(every_mistake_in_a_row_rejects_that_row_and_says_why)
{
    static const struct {
        const char *bad;
        size_t len;
        const char *sentence;
    } rows[] = {
#define ROW(bad, sentence) { (bad), sizeof(bad) - 1, (sentence) }
        ROW("1\n", "has 1 cell where the header names 2"),
        ROW("1,2,3\n", "has 3 cells where the header names 2"),
        ROW("\"1\n2\"\r", "has 1 cell where the header names 2"),
        ROW("1,\0002\n", "column 2 (\"b\") has a NUL byte at offset 12, which no text may have"),
        ROW("M\xFCller,2\n",
            "column 1 is not UTF-8: the byte \"0xFC\" at offset 11 does not belong there"),
        ROW("1,\xED\xA0\x80\n",
            "column 2 (\"b\") is not UTF-8: the byte \"0xED\" at offset 12 does not belong there"),
        ROW("1,\"x\"y\n",
            "column 2 (\"b\") has \"y\" behind its closing quote at offset 15; a quote inside of a "
            "quoted cell is written twice"),
        ROW("1,\"x\n", "column 2 (\"b\") opens a quote at offset 12 that is not closed before the "
                       "end of the file"),
        ROW("1,\"x\r\n", "column 2 (\"b\") opens a quote at offset 12 that is not closed before "
                         "the end of the file"),
#undef ROW
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[100];
        size_t len = (size_t)snprintf(text, sizeof(text), "a,b\nok,1\n\n");
        memcpy(text + len, rows[i].bad, rows[i].len);
        memcpy(text + len + rows[i].len, "ok,2", 4);
        must_reject(weir_str(text, len + rows[i].len + 4), NULL, weir_str(rows[i].bad, rows[i].len),
                    rows[i].sentence);
    }
}
END_TEST

START_TEST(an_unclosed_quote_takes_one_line_and_not_the_file)
{
    struct weir_format_options options = { .field_bytes_max = 8 };
    must_reject(TEXT("a,b\nok,1\n1,\"x\nok,2\n"), &options, TEXT("1,\"x\n"),
                "column 2 (\"b\") opens a quote at offset 11 that is not closed before the end of "
                "the file");
    must_reject(TEXT("a,b\nok,1\n1,\"xxxxx\nok,2\n"), &options, TEXT("1,\"xxxxx\n"),
                "column 2 (\"b\") opens a quote that is not closed within 8 bytes");
    must_reject(TEXT("a,b\n1,\"x\nok,2\nok,\"3\"\n"), NULL, TEXT("1,\"x\n"),
                "column 2 (\"b\") has text behind its closing quote at offset 18; a quote inside "
                "of a quoted cell is written twice");
}
END_TEST

START_TEST(bounds_reject_what_exceeds_them_and_nothing_that_reaches_them)
{
    struct weir_format_options field = { .field_bytes_max = 4 };
    struct weir_format_options record = { .record_bytes_max = 6 };
    struct weir_format_options fields = { .fields_max = 2 };
    must_reject(TEXT("a,b\nokay,\"o\"\"ay\"\n1,12345\nok,1"), &field, TEXT("1,12345\n"),
                "column 2 (\"b\") is longer than 4 bytes");
    must_reject(TEXT("a,b\nok,123\r\n1,12345\nok,1"), &record, TEXT("1,1234"),
                "is longer than 6 bytes");
    must_reject(TEXT("a,b\nok,1\n1,2,3\nok,1"), &fields, TEXT("1,2,3\n"), "has more than 2 cells");
}
END_TEST

static struct weir_buf filled(const char *before, char c, size_t len, const char *behind)
{
    struct weir_buf buf;
    weir_buf_init(&buf, (size_t)64 << 20);
    weir_buf_add_text(&buf, before);
    for (size_t i = 0; i < len; i++)
        weir_buf_add_char(&buf, c);
    weir_buf_add_text(&buf, behind);
    return buf;
}

static void must_keep(struct weir_buf buf, size_t raw_len, enum weir_record_problem problem,
                      bool cut)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    struct csv_list list = csv_read(weir_str(buf.ptr, buf.len), NULL, 100000, &rng);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_eq(list.records[0].problem, problem);
    ck_assert_int_eq(list.records[0].raw_cut, cut);
    ck_assert_uint_eq(list.records[0].raw.len, raw_len);
    ck_assert_uint_eq(list.records[0].place.end, buf.len - 3);
    ck_assert_uint_eq(list.records[0].place.line, 2);
    ck_assert(weir_str_equal(list.records[1].raw, weir_str_from("ok\n")));
    ck_assert_int_eq(list.records[1].problem, WEIR_RECORD_FINE);
    ck_assert_uint_eq(list.records[1].place.line, 3);
    csv_list_release(&list);
    weir_buf_release(&buf);
}

START_TEST(huge_cells_and_lines_meet_the_default_bounds)
{
    size_t field = WEIR_FIELD_BYTES_MAX;
    size_t record = WEIR_RECORD_BYTES_MAX;
    must_keep(filled("a\n", 'x', field, "\nok\n"), field + 1, WEIR_RECORD_FINE, false);
    must_keep(filled("a\n", 'x', field + 1, "\nok\n"), field + 2, WEIR_RECORD_CELL_TOO_BIG, false);
    must_keep(filled("a\n\"", 'x', field, "\"\nok\n"), field + 3, WEIR_RECORD_FINE, false);
    must_keep(filled("a\n\"", 'x', field + 1, "\"\nok\n"), field + 4, WEIR_RECORD_UNCLOSED, false);
    must_keep(filled("a\n", 'x', 20 << 20, "\r\nok\n"), WEIR_RECORD_CUT_BYTES,
              WEIR_RECORD_CELL_TOO_BIG, true);
    must_keep(filled("a\n", ',', record + 1, "\nok\n"), WEIR_RECORD_CUT_BYTES,
              WEIR_RECORD_TOO_MANY_CELLS, true);
}
END_TEST

/* Names c0 … and one row of as many cells, all empty. */
static struct weir_buf wide(size_t names, size_t cells)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 1 << 20);
    for (size_t i = 0; i < names; i++)
        weir_buf_printf(&buf, "%sc%zu", i ? "," : "", i);
    weir_buf_add_char(&buf, '\n');
    for (size_t i = 1; i < cells; i++)
        weir_buf_add_char(&buf, ',');
    return buf;
}

static void must_be_wide(size_t names, size_t cells, enum weir_step ended,
                         enum weir_record_problem problem)
{
    struct weir_buf buf = wide(names, cells);
    struct csv_list list = csv_read(weir_str(buf.ptr, buf.len), NULL, 0, NULL);
    ck_assert_int_eq(list.ended, ended);
    if (ended == WEIR_STEP_END)
        ck_assert_int_eq(list.records[0].problem, problem);
    else
        ck_assert_str_eq(list.err.message,
                         "has a header that cannot be read: has more than 10000 cells");
    csv_list_release(&list);
    weir_buf_release(&buf);
}

START_TEST(ten_thousand_columns_are_read_and_one_more_is_refused)
{
    must_be_wide(WEIR_FIELDS_MAX, WEIR_FIELDS_MAX, WEIR_STEP_END, WEIR_RECORD_FINE);
    must_be_wide(WEIR_FIELDS_MAX, WEIR_FIELDS_MAX + 1, WEIR_STEP_END, WEIR_RECORD_TOO_MANY_CELLS);
    must_be_wide(WEIR_FIELDS_MAX + 1, 1, WEIR_STEP_BROKEN, WEIR_RECORD_FINE);
}
END_TEST

/* ---- headers ---- */

START_TEST(every_mistake_in_a_header_refuses_the_file_and_says_why)
{
    static const struct {
        const char *text;
        size_t len;
        const char *sentence;
    } rows[] = {
#define ROW(text, sentence) { (text), sizeof(text) - 1, (sentence) }
        ROW("", "has no header; its first line must name the columns"),
        ROW("\n\r\n\r", "has no header; its first line must name the columns"),
        ROW("\xEF\xBB\xBF", "has no header; its first line must name the columns"),
        ROW("a,b,a\n",
            "has a header that names column 1 and column 3 both \"a\"; a name may stand there "
            "once"),
        ROW("a,,c\n", "has a header without a name for column 2; every column needs one"),
        ROW("a,b, ", "has a header without a name for column 3; every column needs one"),
        ROW("\"\"\n", "has a header without a name for column 1; every column needs one"),
        ROW("\xFF\xFE"
            "a\0,\0",
            "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFE\xFF\0a", "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFF\xFE", "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFF\xFE\0\0a\0\0\0", "is encoded as \"UTF-32\"; it must be UTF-8"),
        ROW("\0\0\xFE\xFF\0\0\0a", "is encoded as \"UTF-32\"; it must be UTF-8"),
        ROW("a\0,\0b\0\n\0",
            "has a header that cannot be read: column 1 has a NUL byte at offset 1, which no text "
            "may have; perhaps the file is UTF-16"),
        ROW("a,Stra\xDF"
            "e\n",
            "has a header that cannot be read: column 2 is not UTF-8: the byte \"0xDF\" at offset "
            "6 "
            "does not belong there"),
        ROW("a,\"b\n1,2\n",
            "has a header that cannot be read: column 2 opens a quote at offset 2 that is not "
            "closed before the "
            "end of the file"),
        ROW("a,\"b\"c\n", "has a header that cannot be read: column 2 has text behind its closing "
                          "quote at offset "
                          "5; a quote inside of a quoted cell is written twice"),
#undef ROW
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int piece = -1; piece < 3; piece++) {
            struct csv_list list = csv_read(weir_str(rows[i].text, rows[i].len), NULL, piece, &rng);
            ck_assert_int_eq(list.ended, WEIR_STEP_BROKEN);
            ck_assert_str_eq(list.err.message, rows[i].sentence);
            ck_assert_int_eq(list.err.status, WEIR_E_INVALID);
            csv_list_release(&list);
        }
    }
}
END_TEST

START_TEST(a_broken_reader_stays_broken)
{
    struct weir_csv *csv = weir_csv_new(NULL);
    weir_csv_feed(csv, 0, "a,a\n1,2\n", 8, true);
    struct weir_arena *arena = weir_arena_new(100);
    struct weir_record record;
    for (int i = 0; i < 3; i++) {
        struct weir_error err = { 0 };
        ck_assert_int_eq(weir_csv_next(csv, arena, &record, &err), WEIR_STEP_BROKEN);
        ck_assert_int_eq(err.status, WEIR_E_INVALID);
        ck_assert_int_eq(weir_csv_head(csv, NULL), WEIR_STEP_BROKEN);
    }
    weir_arena_unref(arena);
    weir_csv_free(csv);
}
END_TEST

START_TEST(entering_where_no_row_can_be_is_refused)
{
    static const struct {
        uint64_t offset;
        const char *sentence;
    } rows[] = {
        { 2, "has no row at byte 2; its header ends at byte 4" },
        { 99, "ends at byte 8, before byte 99, where the next row should begin" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_record from = { .number = 1, .place.offset = rows[i].offset };
        struct csv_list list = csv_read_from(TEXT("a,b\n1,2\n"), NULL, &from, false, 3, NULL);
        ck_assert_int_eq(list.ended, WEIR_STEP_BROKEN);
        ck_assert_str_eq(list.err.message, rows[i].sentence);
        csv_list_release(&list);
    }
}
END_TEST

/* ---- UTF-8 ---- */

static size_t encode(uint32_t c, char *to)
{
    static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(leads[len] | c);
    return len;
}

START_TEST(every_character_is_text_and_nothing_else_is)
{
    for (uint32_t c = 1; c < 0x110000; c++) {
        char text[24] = "abcdefghijkl";
        size_t at = c % 12;
        size_t len = encode(c, text + at);
        bool surrogate = c >= 0xD800 && c < 0xE000;
        must(weir_utf8_check(weir_str(text, at + len)) == (surrogate ? at : at + len));
        if (len > 1)
            must(weir_utf8_check(weir_str(text, at + len - 1)) == at);
    }
    static const char *const wrong[] = { "\x80",
                                         "\xC0\x80",
                                         "\xC1\xBF",
                                         "\xE0\x9F\xBF",
                                         "\xF0\x8F\xBF\xBF",
                                         "\xF4\x90\x80\x80",
                                         "\xF5\x80\x80\x80",
                                         "\xFF",
                                         "\xE2\x82",
                                         "\xE2\x28\xA1" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        ck_assert_uint_eq(weir_utf8_check(weir_str_from(wrong[i])), 0);
    for (size_t i = 0; i < 40; i++) {
        char text[40];
        memset(text, i % 2 ? 'x' : 1, sizeof(text));
        text[i] = '\0';
        ck_assert_uint_eq(weir_utf8_check(weir_str(text, sizeof(text))), i);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("csv_wrong");
    suite_add_loop(&s, "any_bytes_are_read_as_the_slow_reader_reads_them",
                   any_bytes_are_read_as_the_slow_reader_reads_them, 5);
    suite_add_loop(&s, "any_bytes_are_the_same_in_any_pieces_and_from_any_record",
                   any_bytes_are_the_same_in_any_pieces_and_from_any_record, 5);
    suite_add(&s, every_mistake_in_a_row_rejects_that_row_and_says_why);
    suite_add(&s, an_unclosed_quote_takes_one_line_and_not_the_file);
    suite_add(&s, bounds_reject_what_exceeds_them_and_nothing_that_reaches_them);
    suite_add(&s, huge_cells_and_lines_meet_the_default_bounds);
    suite_add(&s, ten_thousand_columns_are_read_and_one_more_is_refused);
    suite_add(&s, every_mistake_in_a_header_refuses_the_file_and_says_why);
    suite_add(&s, a_broken_reader_stays_broken);
    suite_add(&s, entering_where_no_row_can_be_is_refused);
    suite_add(&s, every_character_is_text_and_nothing_else_is);
    return suite_run(&s);
}
