/* SPDX-License-Identifier: MIT */
/*
 * JSON Lines as they should not be: each mistake has its own sentence, rejects its own line and no
 * other, and on any bytes the reader agrees with one that was written the slow way.
 */
#include <stdio.h>

#include "base/limits.h"
#include "support/jsonl_make.h"
#include "support/jsonl_model.h"
#include "support/jsonl_rig.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define TEXT(literal) weir_str((literal), sizeof(literal) - 1)

/* ---- any bytes ---- */

static const char *const atoms[] = {
    "{",       "}",       "[",       "]",    ":",        ",",       "\"",   "\\",
    "\"a\"",   "\"a\":",  "\n",      "\r",   "\r\n",     "1",       "0",    "-",
    ".",       "e",       "true",    "null", "\\u",      "\\n",     "\\x",  "\\ud83d",
    "\\ude00", "\\u0000", "\\u0041", "\t",   " ",        "x",       "\x01", "\xFF",
    "ß",       "😀",       "{\"",     "\":",  ",\"a\":1", "{\"a\":", "[[",   "\\\\",
};

/* Change `text` in a few places: a byte taken out, an atom put in or over others, a NUL. */
static void damage(struct weir_rng *rng, struct weir_buf *text, struct weir_buf *spare)
{
    size_t changes = 1 + weir_rng_below(rng, 6);
    for (size_t n = 0; n < changes; n++) {
        size_t at = weir_rng_below(rng, text->len + 1);
        size_t skipped = weir_rng_below(rng, 3);
        if (at + skipped > text->len)
            skipped = text->len - at;
        weir_buf_reset(spare);
        weir_buf_add(spare, weir_buf_text(text), at);
        if (weir_rng_below(rng, 40) == 0)
            weir_buf_add_char(spare, '\0');
        else if (weir_rng_below(rng, 3))
            weir_buf_add_text(spare, atoms[weir_rng_below(rng, COUNT(atoms))]);
        weir_buf_add(spare, weir_buf_text(text) + at + skipped, text->len - at - skipped);
        weir_buf_reset(text);
        weir_buf_add(text, weir_buf_text(spare), spare->len);
    }
}

/* Put two members of one name behind one of the braces, if there is any. */
static void double_member(struct weir_rng *rng, struct weir_buf *text, struct weir_buf *spare)
{
    size_t at = weir_rng_below(rng, text->len + 1);
    while (at < text->len && text->ptr[at] != '{')
        at++;
    if (at == text->len)
        return;
    weir_buf_reset(spare);
    weir_buf_add(spare, text->ptr, at + 1);
    weir_buf_add_text(spare, weir_rng_below(rng, 2) ? "\"k\":0,\"\\u006b\":1," : "\"\":0,\"\":1,");
    weir_buf_add(spare, text->ptr + at + 1, text->len - at - 1);
    weir_buf_reset(text);
    weir_buf_add(text, weir_buf_text(spare), spare->len);
}

/* A few lines: good ones that were damaged, and sometimes nothing but atoms. */
static void make_noise(struct weir_rng *rng, struct weir_buf *text, bool nested)
{
    struct weir_buf line, spare;
    weir_buf_init(&line, MAKE_BYTES_MAX);
    weir_buf_init(&spare, MAKE_BYTES_MAX);
    weir_buf_reset(text);
    for (size_t n = weir_rng_below(rng, 5); n > 0; n--) {
        struct made m;
        make_jsonl(&m, rng, nested);
        size_t row = m.rows ? weir_rng_below(rng, m.rows) : 0;
        weir_buf_reset(&line);
        if (m.rows)
            weir_buf_add(&line, m.text.ptr + m.row[row].offset, m.row[row].end - m.row[row].offset);
        if (weir_rng_below(rng, 5) == 0 || line.len > 600)
            weir_buf_reset(&line);
        if (weir_rng_below(rng, 8))
            damage(rng, &line, &spare);
        if (weir_rng_below(rng, 8) == 0)
            double_member(rng, &line, &spare);
        for (size_t i = weir_rng_below(rng, 8) ? 0 : weir_rng_below(rng, 40); i > 0; i--)
            weir_buf_add_text(&line, atoms[weir_rng_below(rng, COUNT(atoms))]);
        weir_buf_add(text, weir_buf_text(&line), line.len);
        if (n > 1 || weir_rng_below(rng, 2))
            weir_buf_add_text(text, "\n");
        made_release(&m);
    }
    weir_buf_release(&line);
    weir_buf_release(&spare);
}

static struct weir_format_options make_bounds(struct weir_rng *rng)
{
    struct weir_format_options options = { .raw = weir_rng_below(rng, 2),
                                           .field_bytes_max = 1 << 20,
                                           .record_bytes_max = 1 << 20,
                                           .fields_max = MODEL_MEMBERS_MAX - 1 };
    if (weir_rng_below(rng, 3) == 0)
        options.field_bytes_max = 1 + weir_rng_below(rng, 40);
    if (weir_rng_below(rng, 4) == 0)
        options.record_bytes_max = 1 + weir_rng_below(rng, 400);
    if (weir_rng_below(rng, 4) == 0)
        options.fields_max = 1 + (uint32_t)weir_rng_below(rng, 8);
    return options;
}

static bool is_text(struct weir_str got, const struct model_text *wanted)
{
    return weir_str_equal(got, weir_str(wanted->bytes, wanted->len));
}

static void must_be(const struct weir_record *record, const struct model_record *r, bool cells)
{
    must(record->problem == r->problem);
    must(record->place.offset == r->begin && record->place.end == r->end);
    must(record->bound == r->bound && record->bad_at == r->bad_at);
    must(!record->member.ptr == !r->culprit);
    if (r->culprit)
        must(is_text(record->member, r->culprit));
    must(record->cell_count == (cells && !r->problem ? r->member_count : 0));
    for (uint32_t i = 0; i < record->cell_count; i++) {
        const struct model_member *member = &r->members[i];
        must(is_text(record->names[i], &member->name));
        must(!record->cells[i].ptr == member->value.null);
        must(member->value.null ? !record->cells[i].len
                                : is_text(record->cells[i], &member->value));
    }
}

START_TEST(any_bytes_are_read_as_the_slow_reader_reads_them)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 41, (uint64_t)_i);
    static struct model_record r;
    static struct model m;
    struct weir_buf noise;
    weir_buf_init(&noise, MAKE_BYTES_MAX);
    size_t seen[WEIR_RECORD_PROBLEM_COUNT] = { 0 };
    for (int n = 0; n < 6000; n++) {
        struct weir_format_options options = make_bounds(&rng);
        make_noise(&rng, &noise, options.raw || n % 5 == 0);
        struct weir_str text = weir_str(weir_buf_text(&noise), noise.len);
        struct jsonl_list list = jsonl_read(text, &options, n % 2 ? -1 : 0, &rng);
        if (list.ended == WEIR_STEP_BROKEN) { /* it looks like UTF-16 */
            jsonl_list_release(&list);
            continue;
        }
        m = (struct model){ .text = text, .options = options };
        m.i = weir_str_starts_nocase(text, "\xEF\xBB\xBF") ? 3 : 0; /* it may come to that */
        jsonl_must_tile(text, &list);
        for (size_t i = 0; i < list.count; i++) {
            must(model_next(&m, &r));
            must_be(&list.records[i], &r, !options.raw);
            seen[r.problem]++;
        }
        must(!model_next(&m, &r));
        jsonl_list_release(&list);
    }
    weir_buf_release(&noise);
    for (int i = 0; i < WEIR_RECORD_PROBLEM_COUNT; i++) {
        bool of_csv = i == WEIR_RECORD_RAGGED || i == WEIR_RECORD_BEHIND_QUOTE ||
                      i == WEIR_RECORD_UNCLOSED || i == WEIR_RECORD_TOO_MANY_CELLS;
        if (i != WEIR_RECORD_TOO_DEEP)
            ck_assert_msg(of_csv ? !seen[i] : seen[i] > 20, "%s: %zu",
                          weir_record_problem_name((unsigned)i), seen[i]);
    }
}
END_TEST

START_TEST(any_bytes_are_the_same_in_any_pieces_and_from_any_record)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 42, (uint64_t)_i);
    struct weir_buf noise;
    weir_buf_init(&noise, MAKE_BYTES_MAX);
    for (int n = 0; n < 600; n++) {
        struct weir_format_options options = make_bounds(&rng);
        make_noise(&rng, &noise, options.raw || n % 5 == 0);
        struct weir_str text = weir_str(weir_buf_text(&noise), noise.len);
        struct jsonl_list all = jsonl_read(text, &options, 0, &rng);
        for (int piece = -1; piece < 4; piece++) {
            struct jsonl_list list = jsonl_read(text, &options, piece, &rng);
            jsonl_must_match(&all, 0, &list);
            jsonl_list_release(&list);
        }
        for (size_t i = 0; i < all.count; i++) {
            struct jsonl_list rest =
                jsonl_read_from(text, &options, &all.records[i], n % 2, n % 5 - 1, &rng);
            jsonl_must_match(&all, i, &rest);
            jsonl_list_release(&rest);
        }
        jsonl_list_release(&all);
    }
    weir_buf_release(&noise);
}
END_TEST

/* ---- lines ---- */

/* `text` has good lines {"ok":…}, and one that is bad. */
static void must_reject(struct weir_str text, const struct weir_format_options *options,
                        struct weir_str raw, const char *sentence)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (int piece = 0; piece < 3; piece++) {
        struct jsonl_list list = jsonl_read(text, options, piece, &rng);
        ck_assert_int_eq(list.ended, WEIR_STEP_END);
        size_t bad = 0;
        for (size_t i = 0; i < list.count; i++) {
            const struct weir_record *record = &list.records[i];
            if (!record->problem) {
                ck_assert(weir_str_starts_nocase(record->raw, "{\"ok\""));
                continue;
            }
            char got[512];
            bad++;
            weir_record_explain(record, weir_str(NULL, 0), got, sizeof(got));
            ck_assert_str_eq(got, sentence);
            ck_assert(weir_str_equal(record->raw, raw));
            ck_assert_uint_eq(record->cell_count, 0);
        }
        ck_assert_uint_eq(bad, 1);
        ck_assert_uint_eq(list.count, 3);
        jsonl_list_release(&list);
    }
}

struct bad_line {
    const char *bad;
    size_t len;
    const char *sentence;
};

#define ROW(bad, sentence)                                                                         \
    {                                                                                              \
        (bad), sizeof(bad) - 1, (sentence)                                                         \
    }

static void must_reject_each(const struct bad_line *rows, size_t count,
                             const struct weir_format_options *options)
{
    static const char *const ends[] = { "\n", "\r\n", "\r" };
    for (size_t i = 0; i < count; i++) {
        char text[200];
        size_t end = strlen(ends[i % 3]);
        size_t len = (size_t)snprintf(text, sizeof(text), "{\"ok\":1}\n");
        ck_assert_uint_eq(len, 9);
        memcpy(text + len, rows[i].bad, rows[i].len);
        memcpy(text + len + rows[i].len, ends[i % 3], end);
        struct weir_str raw = weir_str(text + len, rows[i].len + end);
        memcpy(text + len + raw.len, "{\"ok\":2}", 8);
        must_reject(weir_str(text, len + raw.len + 8), options, raw, rows[i].sentence);
    }
}

/* The bad line begins at offset 9. */
START_TEST(every_mistake_in_a_line_rejects_that_line_and_says_why)
{
    static const struct bad_line rows[] = {
        ROW("[1,2]", "is no JSON object: it begins with \"[\"; every line must be an object, from "
                     "\"{\" to \"}\""),
        ROW("\"x\"", "is no JSON object: it begins with '\"'; every line must be an object, "
                     "from \"{\" to \"}\""),
        ROW(" name,x", "is no JSON object: it begins with \"n\"; every line must be an object, "
                       "from \"{\" to \"}\""),
        ROW("{\"a\":\"x\0y\"}", "has a NUL byte at offset 16, which no text may have"),
        ROW("{\"a\":\"M\xFCller\"}",
            "is not UTF-8: the byte \"0xFC\" at offset 16 does not belong there"),
        ROW("{\"a\":\"\xED\xA0\x80\"}",
            "is not UTF-8: the byte \"0xED\" at offset 15 does not belong there"),
        ROW("{", "ends before its object does; an object must stand on one line"),
        ROW("{\"a", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":\"x\\", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":\"\\u00", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":tru", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":1, ", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":1,}", "is not JSON: the byte \"}\" at offset 16 does not belong there"),
        ROW("{'a':1}", "is not JSON: the byte \"'\" at offset 10 does not belong there"),
        ROW("{\"a\" 1}", "is not JSON: the byte \"1\" at offset 14 does not belong there"),
        ROW("{\"a\":01}", "is not JSON: the byte \"1\" at offset 15 does not belong there"),
        ROW("{\"a\":1.}", "is not JSON: the byte \"}\" at offset 16 does not belong there"),
        ROW("{\"a\":+1}", "is not JSON: the byte \"+\" at offset 14 does not belong there"),
        ROW("{\"a\":1e}", "is not JSON: the byte \"}\" at offset 16 does not belong there"),
        ROW("{\"a\":NaN}", "is not JSON: the byte \"N\" at offset 14 does not belong there"),
        ROW("{\"a\":True}", "is not JSON: the byte \"T\" at offset 14 does not belong there"),
        ROW("{\"a\":trueish}", "is not JSON: the byte \"i\" at offset 18 does not belong there"),
        ROW("{\"a\":\"x\ty\"}",
            "is not JSON: the byte \"0x09\" at offset 16 does not belong there"),
        ROW("{\"a\":\"\\x\"}", "is not JSON: the byte \"x\" at offset 16 does not belong there"),
        ROW("{\"a\":\"\\u00g0\"}",
            "is not JSON: the byte \"g\" at offset 19 does not belong there"),
        ROW("{\"a\":1} x", "has text behind its object at offset 17; a line may hold one object "
                           "only"),
        ROW("{\"a\":1}{\"b\":2}",
            "has text behind its object at offset 16; a line may hold one object only"),
        ROW("{\"a\":1},", "has text behind its object at offset 16; a line may hold one object "
                          "only"),
        ROW("{\"a\":1,\"b\":2,\"a\":1}",
            "member \"a\" stands there again at offset 22; an object may have a member once"),
        ROW("{\"a\":1,\"\\u0061\":1}",
            "member \"a\" stands there again at offset 16; an object may have a member once"),
        ROW("{\"\":1,\"\":1}",
            "member \"\" stands there again at offset 15; an object may have a member once"),
        ROW("{\"a\":1,\"b\":{\"c\"}}",
            "is not JSON: the byte \"}\" at offset 24 does not belong there"),
        ROW("{\"a\":[1}", "is not JSON: the byte \"}\" at offset 16 does not belong there"),
        ROW("{\"a\":[{\"b\":\"\\ud83d\"}]}",
            "member \"a\" has half a character, \"\\ud83d\", at offset 21; the other half must "
            "stand beside it"),
        ROW("{\"a\":\"\\ud83d\"}", "member \"a\" has half a character, \"\\ud83d\", at offset 15; "
                                   "the other half must stand beside it"),
        ROW("{\"a\":\"\\uDE00\\uD83D\"}",
            "member \"a\" has half a character, \"\\uDE00\", at offset 15; the other half must "
            "stand beside it"),
        ROW("{\"a\":\"x\\uD83D\\u0041\"}",
            "member \"a\" has half a character, \"\\uD83D\", at offset 16; the other half must "
            "stand beside it"),
        ROW("{\"a\":\"\\udc00\\udc00\"}",
            "member \"a\" has half a character, \"\\udc00\", at offset 15; the other half must "
            "stand beside it"),
        ROW("{\"a\":\"\\ud83d\\ue000\"}",
            "member \"a\" has half a character, \"\\ud83d\", at offset 15; the other half must "
            "stand beside it"),
        ROW("{\"\\ud83d\":1}", "has half a character, \"\\ud83d\", at offset 11; the other half "
                               "must stand beside it"),
        ROW("{\"a\":\"\\u0000\"}",
            "member \"a\" has an escaped NUL at offset 15, which no text may have"),
        ROW("{\"b\\u0000\":1}", "has an escaped NUL at offset 12, which no text may have"),
    };
    must_reject_each(rows, COUNT(rows), NULL);
}
END_TEST

START_TEST(control_characters_must_be_escaped_and_no_others)
{
    for (int c = 1; c < 0x80; c++) {
        for (int at = 0; at < 20; at++) {
            char text[64];
            size_t len =
                (size_t)snprintf(text, sizeof(text), "{\"a\":\"%0*d%c%020d\"}", at + 1, 0, c, 0);
            struct jsonl_list list = jsonl_read(weir_str(text, len), NULL, 0, NULL);
            bool line_end = c == '\n' || c == '\r';
            enum weir_record_problem problem = list.records[0].problem;
            must(list.count == (line_end ? 2 : 1));
            if (line_end)
                must(problem == WEIR_RECORD_CUT);
            else if (c < ' ' || c == '"' || c == '\\')
                must(problem == WEIR_RECORD_NOT_JSON);
            else
                must(problem == WEIR_RECORD_FINE &&
                     list.records[0].cells[0].len == (size_t)at + 22);
            jsonl_list_release(&list);
        }
    }
}
END_TEST

START_TEST(raw_objects_may_be_nested_but_not_be_wrong)
{
    static const struct weir_format_options raw = { .raw = true };
    static const struct bad_line rows[] = {
        ROW("[{\"a\":1}]", "is no JSON object: it begins with \"[\"; every line must be an object, "
                           "from \"{\" to \"}\""),
        ROW("{\"a\":[1,2}", "is not JSON: the byte \"}\" at offset 18 does not belong there"),
        ROW("{\"a\":[1,]}", "is not JSON: the byte \"]\" at offset 17 does not belong there"),
        ROW("{\"a\":{\"b\":[", "ends before its object does; an object must stand on one line"),
        ROW("{\"a\":{\"b\":1,\"c\":2,\"b\":3}}",
            "member \"b\" stands there again at offset 27; an object may have a member once"),
        ROW("{\"a\":[{\"a\":1},{\"a\":1,\"a\":1}]}",
            "member \"a\" stands there again at offset 30; an object may have a member once"),
        ROW("{\"a\":[{\"b\":1},\"\\udc00\"]}",
            "member \"a\" has half a character, \"\\udc00\", at offset 24; the other half must "
            "stand beside it"),
        ROW("{\"a\":[{\"b\\u0000\":1}]}",
            "member \"a\" has an escaped NUL at offset 18, which no text may have"),
        ROW("{\"a\":1}}", "has text behind its object at offset 16; a line may hold one object "
                          "only"),
    };
    must_reject_each(rows, COUNT(rows), &raw);
}
END_TEST

START_TEST(bounds_reject_what_exceeds_them_and_nothing_that_reaches_them)
{
    struct weir_format_options field = { .field_bytes_max = 4 };
    struct weir_format_options record = { .record_bytes_max = 10 };
    struct weir_format_options fields = { .fields_max = 2 };
    struct weir_format_options nested = { .fields_max = 3, .raw = true };
    must_reject(TEXT("{\"ok\":\"\\u20ac\\n\"}\n{\"a\":\"12345\"}\n{\"ok\":1234}"), &field,
                TEXT("{\"a\":\"12345\"}\n"), "member \"a\" is longer than 4 bytes");
    must_reject(TEXT("{\"ok\":1234}\n{\"abcde\":1}\n{\"ok\":null,\"okay\":1}"), &field,
                TEXT("{\"abcde\":1}\n"), "member \"abcde\" has a name longer than 4 bytes");
    must_reject(TEXT("{\"ok\":123}\r\n{\"a\":12345}\n{\"ok\":1}"), &record, TEXT("{\"a\":12345"),
                "is longer than 10 bytes");
    must_reject(TEXT("{\"ok\":1,\"a\":2}\n{\"a\":1,\"b\":2,\"c\":3}\n{\"ok\":1}"), &fields,
                TEXT("{\"a\":1,\"b\":2,\"c\":3}\n"), "has more than 2 members");
    must_reject(
        TEXT("{\"ok\":[{\"a\":1},{\"a\":2}]}\n{\"a\":[{\"a\":{\"a\":{\"a\":2}}}]}\n{\"ok\":1}"),
        &nested, TEXT("{\"a\":[{\"a\":{\"a\":{\"a\":2}}}]}\n"), "has more than 3 members");
}
END_TEST

/* ---- files ---- */

START_TEST(other_encodings_are_refused_for_good)
{
    static const struct bad_line rows[] = {
        ROW("\xFF\xFE{\0}\0", "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFE\xFF\0{\0}", "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFF\xFE", "is encoded as \"UTF-16\"; it must be UTF-8"),
        ROW("\xFF\xFE\0\0{\0\0\0", "is encoded as \"UTF-32\"; it must be UTF-8"),
        ROW("\0\0\xFE\xFF\0\0\0{", "is encoded as \"UTF-32\"; it must be UTF-8"),
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int piece = -1; piece < 3; piece++) {
            struct weir_str text = weir_str(rows[i].bad, rows[i].len);
            struct jsonl_list list = jsonl_read(text, NULL, piece, &rng);
            ck_assert_int_eq(list.ended, WEIR_STEP_BROKEN);
            ck_assert_str_eq(list.err.message, rows[i].sentence);
            ck_assert_int_eq(list.err.status, WEIR_E_INVALID);
            jsonl_list_release(&list);
        }
    }
    struct weir_jsonl *jsonl = weir_jsonl_new(NULL);
    struct weir_arena *arena = weir_arena_new(100);
    struct weir_record record;
    weir_jsonl_feed(jsonl, 0, rows[0].bad, rows[0].len, true);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(weir_jsonl_next(jsonl, arena, &record, NULL), WEIR_STEP_BROKEN);
        ck_assert_int_eq(weir_jsonl_head(jsonl, NULL), WEIR_STEP_BROKEN);
    }
    weir_arena_unref(arena);
    weir_jsonl_free(jsonl);
}
END_TEST

START_TEST(entering_where_no_row_can_be_is_refused)
{
    static const struct {
        uint64_t offset;
        const char *sentence;
    } rows[] = {
        { 2, "has no row at byte 2; its first line begins at byte 3" },
        { 99, "ends at byte 14, before byte 99, where the next row should begin" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_record from = { .number = 1, .place.offset = rows[i].offset };
        struct jsonl_list list =
            jsonl_read_from(TEXT("\xEF\xBB\xBF{\"a\":1}\n{}\n"), NULL, &from, false, 3, NULL);
        ck_assert_int_eq(list.ended, WEIR_STEP_BROKEN);
        ck_assert_str_eq(list.err.message, rows[i].sentence);
        jsonl_list_release(&list);
    }
}
END_TEST

START_TEST(a_line_that_is_not_known_stays_so)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 1);
    struct weir_record from = { .number = 7, .place.offset = 8 };
    struct jsonl_list list =
        jsonl_read_from(TEXT("{\"a\":1}\n{}\n\n[]"), NULL, &from, true, 1, &rng);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.records[0].place.line, 0);
    ck_assert_uint_eq(list.records[1].place.line, 0);
    ck_assert_uint_eq(list.records[1].number, 8);
    jsonl_list_release(&list);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("jsonl_wrong");
    suite_add_loop(&s, "any_bytes_are_read_as_the_slow_reader_reads_them",
                   any_bytes_are_read_as_the_slow_reader_reads_them, 4);
    suite_add_loop(&s, "any_bytes_are_the_same_in_any_pieces_and_from_any_record",
                   any_bytes_are_the_same_in_any_pieces_and_from_any_record, 4);
    suite_add(&s, every_mistake_in_a_line_rejects_that_line_and_says_why);
    suite_add(&s, control_characters_must_be_escaped_and_no_others);
    suite_add(&s, raw_objects_may_be_nested_but_not_be_wrong);
    suite_add(&s, bounds_reject_what_exceeds_them_and_nothing_that_reaches_them);
    suite_add(&s, other_encodings_are_refused_for_good);
    suite_add(&s, entering_where_no_row_can_be_is_refused);
    suite_add(&s, a_line_that_is_not_known_stays_so);
    return suite_run(&s);
}
