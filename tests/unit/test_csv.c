/* SPDX-License-Identifier: MIT */
/*
 * CSV as it should be: random tables, written in every style that means the same, come back cell
 * for cell and byte for byte, however the bytes are cut and wherever reading begins.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "support/csv_rig.h"

#define COLUMNS_MAX 8
#define ROWS_MAX    24
#define TABLES      1500
#define TEXT_MAX    ((size_t)1024 * 1024)

/* A table, how it was written, and where each row stands. */
struct table {
    struct weir_buf text;
    struct weir_buf pool; /* bytes of all cells */
    size_t columns;
    size_t rows;
    size_t cell_at[ROWS_MAX + 1][COLUMNS_MAX];
    size_t cell_len[ROWS_MAX + 1][COLUMNS_MAX];
    size_t offset[ROWS_MAX + 1];
    size_t end[ROWS_MAX + 1];
    size_t line[ROWS_MAX + 1];
};

struct style {
    char separator;
    const char *line_end;
    int quoting; /* 0: where needed, 1: always, 2: at random */
    bool mark;
    bool final_end;
    bool blank_lines;
};

static const char *const atoms[] = { "a",  "B",  "7", " ",  "",     "\"",    ",",    "\t",
                                     "\n", "\r", ";", "\"", "\r\n", "ß",     "€",    "😀",
                                     "x",  "'",  "-", "0",  "\"\"", "a b c", "null", "\\" };

static size_t pick(struct weir_rng *rng, size_t bound)
{
    return weir_rng_below(rng, bound);
}

static void make_cell(struct table *t, struct weir_rng *rng, size_t row, size_t column)
{
    t->cell_at[row][column] = t->pool.len;
    if (row == 0)
        weir_buf_printf(&t->pool, "c%zu", column); /* names must differ and be there */
    size_t len = pick(rng, 4) ? pick(rng, 6) : pick(rng, 90);
    bool tame = pick(rng, 2);
    for (size_t i = 0; i < len; i++)
        weir_buf_add_text(&t->pool, tame ? "x" : atoms[pick(rng, sizeof(atoms) / sizeof(*atoms))]);
    t->cell_len[row][column] = t->pool.len - t->cell_at[row][column];
}

static struct weir_str cell(const struct table *t, size_t row, size_t column)
{
    return weir_str(weir_buf_text(&t->pool) + t->cell_at[row][column], t->cell_len[row][column]);
}

static bool needs_quotes(struct weir_str text, const struct style *style, size_t columns)
{
    if (!text.len)
        return columns == 1;
    if (text.ptr[0] == '"')
        return true;
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\r\n", text.ptr[i]) || text.ptr[i] == style->separator)
            return true;
    }
    return false;
}

static void write_cell(struct table *t, struct weir_str text, const struct style *style,
                       struct weir_rng *rng)
{
    bool quoted = needs_quotes(text, style, t->columns) || style->quoting == 1 ||
                  (style->quoting == 2 && pick(rng, 2));
    if (quoted)
        weir_buf_add_char(&t->text, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (quoted && text.ptr[i] == '"')
            weir_buf_add_char(&t->text, '"');
        weir_buf_add_char(&t->text, text.ptr[i]);
    }
    if (quoted)
        weir_buf_add_char(&t->text, '"');
}

/* Counted here in another way than there: pairs first. */
static size_t count_lines(struct weir_str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            i++;
        lines += text.ptr[i] == '\r' || text.ptr[i] == '\n';
    }
    return lines;
}

static void write_row(struct table *t, size_t row, const struct style *style, struct weir_rng *rng)
{
    while (style->blank_lines && pick(rng, 4) == 0)
        weir_buf_add_text(&t->text, style->line_end);
    t->offset[row] = t->text.len;
    t->line[row] = 1 + count_lines(weir_str(t->text.ptr, t->text.len));
    for (size_t i = 0; i < t->columns; i++) {
        if (i)
            weir_buf_add_char(&t->text, style->separator);
        write_cell(t, cell(t, row, i), style, rng);
    }
    if (row < t->rows || style->final_end)
        weir_buf_add_text(&t->text, style->line_end);
    t->end[row] = t->text.len;
}

static void make_table(struct table *t, const struct style *style, struct weir_rng *rng)
{
    *t = (struct table){ .columns = 1 + pick(rng, COLUMNS_MAX), .rows = pick(rng, ROWS_MAX + 1) };
    weir_buf_init(&t->text, TEXT_MAX);
    weir_buf_init(&t->pool, TEXT_MAX);
    if (style->mark)
        weir_buf_add_text(&t->text, "\xEF\xBB\xBF");
    for (size_t row = 0; row <= t->rows; row++) {
        for (size_t i = 0; i < t->columns; i++)
            make_cell(t, rng, row, i);
        write_row(t, row, style, rng);
    }
}

static struct style make_style(struct weir_rng *rng)
{
    static const char *const line_ends[] = { "\n", "\r\n", "\r" };
    return (struct style){ .separator = ",\t;"[pick(rng, 3)],
                           .line_end = line_ends[pick(rng, 3)],
                           .quoting = (int)pick(rng, 3),
                           .mark = pick(rng, 3) == 0,
                           .final_end = pick(rng, 3) != 0,
                           .blank_lines = pick(rng, 2) };
}

static void must_be_row(const struct table *t, size_t row, const struct weir_record *record)
{
    must(record->problem == WEIR_RECORD_FINE && record->number == row);
    must(record->place.offset == t->offset[row] && record->place.end == t->end[row]);
    must(record->place.line == t->line[row]);
    must(record->cell_count == t->columns);
    for (size_t i = 0; i < t->columns; i++)
        must(weir_str_equal(record->cells[i], cell(t, row, i)));
}

static void must_be_table(const struct table *t, const struct csv_list *list)
{
    must(list->ended == WEIR_STEP_END);
    must(list->count == t->rows);
    for (size_t row = 1; row <= t->rows; row++)
        must_be_row(t, row, &list->records[row - 1]);
}

static void release_table(struct table *t)
{
    weir_buf_release(&t->text);
    weir_buf_release(&t->pool);
}

START_TEST(tables_come_back_cell_for_cell_in_every_style_and_every_piece)
{
    static const int pieces[] = { 0, 1, 2, 3, 7, 64, -1 };
    struct weir_rng rng;
    weir_rng_init(&rng, 11, (uint64_t)_i);
    for (int n = 0; n < TABLES / 10; n++) {
        struct style style = make_style(&rng);
        struct weir_format_options options = { .separator = style.separator };
        struct table t;
        make_table(&t, &style, &rng);
        struct weir_str text = weir_str(t.text.ptr, t.text.len);
        for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
            struct csv_list list = csv_read(text, &options, pieces[i], &rng);
            must_be_table(&t, &list);
            csv_must_tile(text, &list);
            csv_list_release(&list);
        }
        release_table(&t);
    }
}
END_TEST

START_TEST(entering_at_any_record_gives_the_rest_with_the_same_numbers)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 12, 0);
    for (int n = 0; n < TABLES / 10; n++) {
        struct style style = make_style(&rng);
        struct weir_format_options options = { .separator = style.separator };
        struct table t;
        make_table(&t, &style, &rng);
        struct weir_str text = weir_str(t.text.ptr, t.text.len);
        struct csv_list all = csv_read(text, &options, 0, &rng);
        for (size_t i = 0; i < all.count; i++) {
            struct csv_list rest =
                csv_read_from(text, &options, &all.records[i], pick(&rng, 2), -1, &rng);
            csv_must_match(&all, i, &rest);
            csv_list_release(&rest);
        }
        csv_list_release(&all);
        release_table(&t);
    }
}
END_TEST

START_TEST(a_file_cut_anywhere_keeps_the_records_before_the_cut)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 13, 0);
    for (int n = 0; n < 25; n++) {
        struct style style = make_style(&rng);
        struct weir_format_options options = { .separator = style.separator };
        struct table t;
        make_table(&t, &style, &rng);
        for (size_t len = 0; len < t.text.len; len++) {
            struct weir_str text = weir_str(t.text.ptr, len);
            struct csv_list list = csv_read(text, &options, -1, &rng);
            must((list.ended == WEIR_STEP_BROKEN) == (list.err.message[0] != '\0'));
            csv_must_tile(text, &list);
            for (size_t row = 1; row <= t.rows && t.end[row] <= len; row++)
                must_be_row(&t, row, &list.records[row - 1]);
            csv_list_release(&list);
        }
        release_table(&t);
    }
}
END_TEST

START_TEST(a_full_arena_loses_nothing)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 14, 0);
    for (int n = 0; n < 200; n++) {
        struct style style = make_style(&rng);
        struct weir_format_options options = { .separator = style.separator };
        struct table t;
        make_table(&t, &style, &rng);
        struct weir_csv *csv = weir_csv_new(&options);
        weir_csv_feed(csv, 0, t.text.ptr, t.text.len, true);
        struct weir_arena *arena = weir_arena_new(2500);
        struct weir_arena *large = weir_arena_new(TEXT_MAX);
        size_t row = 0;
        enum weir_step step;
        struct weir_record record;
        while ((step = weir_csv_next(csv, arena, &record, NULL)) != WEIR_STEP_END) {
            if (step == WEIR_STEP_FULL) {
                weir_arena_reset(arena);
                if (weir_csv_next(csv, arena, &record, NULL) == WEIR_STEP_FULL)
                    must(weir_csv_next(csv, large, &record, NULL) == WEIR_STEP_RECORD);
            }
            must_be_row(&t, ++row, &record);
        }
        must(row == t.rows);
        weir_arena_unref(arena);
        weir_arena_unref(large);
        weir_csv_free(csv);
        release_table(&t);
    }
}
END_TEST

static void must_have_cells(const char *text, size_t count, const char *const cells[])
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (int piece = 0; piece < 4; piece++) {
        struct csv_list list = csv_read(weir_str_from(text), NULL, piece, &rng);
        ck_assert_int_eq(list.ended, WEIR_STEP_END);
        ck_assert_uint_eq(list.count, 1);
        ck_assert_uint_eq(list.records[0].cell_count, count);
        ck_assert_int_eq(list.records[0].problem, WEIR_RECORD_FINE);
        for (size_t i = 0; i < count; i++)
            ck_assert_msg(weir_str_equal(list.records[0].cells[i], weir_str_from(cells[i])),
                          "%s: cell %zu is \"%.*s\"", text, i, (int)list.records[0].cells[i].len,
                          list.records[0].cells[i].ptr);
        csv_list_release(&list);
    }
}

START_TEST(what_the_rfc_leaves_open_is_read_as_documented)
{
    must_have_cells("a,b\n1,2", 2, (const char *const[]){ "1", "2" });
    must_have_cells("a,b\n,", 2, (const char *const[]){ "", "" });
    must_have_cells("a,b\n5\" pipe,x\"\"y\n", 2, (const char *const[]){ "5\" pipe", "x\"\"y" });
    must_have_cells("a,b\n \"x\", y \n", 2, (const char *const[]){ " \"x\"", " y " });
    must_have_cells("a,b\n\"\",\"\"\"\"\n", 2, (const char *const[]){ "", "\"" });
    must_have_cells("a\r\r\r\n\n1\r\n\r\n", 1, (const char *const[]){ "1" });
    must_have_cells("a\n\"\"", 1, (const char *const[]){ "" });
    must_have_cells("\n\r\n\"a\"\n\"1\n2\r3\"", 1, (const char *const[]){ "1\n2\r3" });
    must_have_cells("\xEF\xBB\xBF\"a\",b\n1,\xEF\xBB\xBF\n", 2,
                    (const char *const[]){ "1", "\xEF\xBB\xBF" });
}
END_TEST

START_TEST(a_header_alone_is_no_rows)
{
    static const char *const texts[] = { "a,b", "a,b\n", "\xEF\xBB\xBF\"a\",b\r\n\r\n", "\na,b\r" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct weir_csv *csv = weir_csv_new(NULL);
        weir_csv_feed(csv, 0, texts[i], strlen(texts[i]), true);
        struct weir_arena *arena = weir_arena_new(1000);
        struct weir_record record;
        ck_assert_int_eq(weir_csv_next(csv, arena, &record, NULL), WEIR_STEP_END);
        struct weir_columns columns = weir_csv_columns(csv);
        ck_assert_uint_eq(columns.count, 2);
        ck_assert(weir_str_equal(columns.names[0], weir_str_from("a")));
        ck_assert(weir_str_equal(columns.names[1], weir_str_from("b")));
        weir_arena_unref(arena);
        weir_csv_free(csv);
    }
}
END_TEST

/* Byte by byte: an LF may come after its CR. */
START_TEST(the_line_end_of_the_header_is_known)
{
    static const char *const texts[][2] = {
        { "a,b\n1,2\n", "\n" },          { "a,b\r\n1,2\n", "\r\n" },
        { "a,b\r1,2\n", "\r" },          { "a,b", "\n" },
        { "\n\r\n\"a\",b\r\n", "\r\n" }, { "\"a\r\n\",b\n1,2\r\n", "\n" },
        { "a,\"b\"\r\n", "\r\n" },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct weir_csv *csv = weir_csv_new(NULL);
        const char *text = texts[i][0];
        for (size_t at = 0; at < strlen(text); at++) {
            if (weir_csv_head(csv, NULL) == WEIR_STEP_MORE)
                weir_csv_feed(csv, at, text + at, 1, at + 1 == strlen(text));
        }
        ck_assert_int_eq(weir_csv_head(csv, NULL), WEIR_STEP_READY);
        ck_assert_str_eq(weir_csv_line_end(csv), texts[i][1]);
        weir_csv_free(csv);
    }
}
END_TEST

/* As long as a record may be, and every cell has to be copied because of a doubled quote. */
START_TEST(any_record_fits_into_an_arena_that_is_said_to_be_enough)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * WEIR_RECORD_BYTES_MAX);
    weir_buf_add_text(&text, "a,b,c,d\n");
    for (int i = 0; i < 4; i++) {
        weir_buf_add_text(&text, i ? ",\"\"\"" : "\"\"\"");
        for (size_t n = 0; n < WEIR_FIELD_BYTES_MAX - 6; n++)
            weir_buf_add_char(&text, 'x');
        weir_buf_add_char(&text, '"');
    }
    ck_assert_uint_eq(text.len - 8, WEIR_RECORD_BYTES_MAX - 5);
    struct weir_csv *csv = weir_csv_new(NULL);
    weir_csv_feed(csv, 0, text.ptr, text.len, true);
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    ck_assert_int_eq(weir_csv_next(csv, arena, &record, NULL), WEIR_STEP_RECORD);
    ck_assert_int_eq(record.problem, WEIR_RECORD_FINE);
    ck_assert_uint_eq(record.cells[3].len, WEIR_FIELD_BYTES_MAX - 5);
    ck_assert_uint_gt(weir_arena_used(arena), 2 * WEIR_RECORD_BYTES_MAX - 100);
    weir_arena_unref(arena);
    weir_csv_free(csv);
    weir_buf_release(&text);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("csv");
    suite_add_loop(&s, "tables_come_back_cell_for_cell_in_every_style_and_every_piece",
                   tables_come_back_cell_for_cell_in_every_style_and_every_piece, 10);
    suite_add(&s, entering_at_any_record_gives_the_rest_with_the_same_numbers);
    suite_add(&s, a_file_cut_anywhere_keeps_the_records_before_the_cut);
    suite_add(&s, a_full_arena_loses_nothing);
    suite_add(&s, what_the_rfc_leaves_open_is_read_as_documented);
    suite_add(&s, a_header_alone_is_no_rows);
    suite_add(&s, the_line_end_of_the_header_is_known);
    suite_add(&s, any_record_fits_into_an_arena_that_is_said_to_be_enough);
    return suite_run(&s);
}
