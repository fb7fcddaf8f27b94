/* SPDX-License-Identifier: MIT */
/*
 * Rows cost no memory of their own: from a file to drafts, twice as many rows are not one more call
 * of the allocator. The linker hands every call of this program to us (--wrap); records and drafts
 * lie in arenas of one block, which is used again.
 */
#include "records/mapping.h"
#include "support/allocator_calls.h"
#include "support/input_rig.h"
#include "support/ledger.h"

#define ROWS 100000

START_TEST(calls_are_counted)
{
    uint64_t before = allocator_calls;
    free(weir_calloc(1, 1));
    free(weir_realloc(NULL, 1, 1));
    free(weir_strdup("a"));
    ck_assert_uint_eq(allocator_calls - before, 3);
}
END_TEST

/* ---- rows ---- */

enum shape {
    CSV,
    TSV,
    GZIP,
    OBJECTS, /* JSON Lines, from here on */
    RAW,
    SHAPES
};

static const char *const files[SHAPES] = { "a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.jsonl" };

static struct input_rig rig;
static struct weir_table *account;
static struct weir_table *contact;

static void begin(void)
{
    input_rig_init(&rig);
    ck_assert_int_eq(weir_table_parse(weir_str_from(ledger_account), &account, NULL), WEIR_OK);
    ck_assert_int_eq(weir_table_parse(weir_str_from(ledger_contact), &contact, NULL), WEIR_OK);
}

static void end(void)
{
    weir_table_free(account);
    weir_table_free(contact);
    input_rig_release(&rig);
}

static const char *write_rows(enum shape shape, unsigned rows)
{
    struct weir_buf text;
    bool objects = shape >= OBJECTS;
    char separator = shape == TSV ? '\t' : ',';
    weir_buf_init(&text, (size_t)256 << 20);
    if (!objects)
        ledger_add_header(&text, separator);
    for (unsigned i = 0; i < rows; i++) {
        if (objects)
            ledger_add_object(&text, i + 1);
        else
            ledger_add_cells(&text, separator, i + 1);
    }
    struct weir_str bytes = weir_str(text.ptr, text.len);
    const char *path = shape == GZIP ? input_rig_gzip(&rig, files[shape], bytes, 1)
                                     : input_rig_write(&rig, files[shape], bytes);
    weir_buf_release(&text);
    return path;
}

static struct weir_reader *open_file(const char *path, enum shape shape)
{
    struct weir_reader *reader;
    struct weir_error err;
    struct weir_reader_options options = { .paths = &path,
                                           .path_count = 1,
                                           .format = shape >= OBJECTS ? &weir_format_jsonl : NULL,
                                           .format_options = { .raw = shape == RAW } };
    enum weir_status status = weir_reader_new(&options, &reader, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return reader;
}

static struct weir_mapping *open_mapping(const struct weir_reader *reader, enum shape shape)
{
    struct weir_mapping *mapping;
    struct weir_error err;
    struct weir_mapping_options options = {
        .table = account,
        .others = (const struct weir_table *const *)&contact,
        .other_count = 1,
        .operation = WEIR_OPERATION_CREATE,
        .connections = 1,
        .raw = shape == RAW,
        .named = shape == OBJECTS,
        .columns = weir_reader_columns(reader),
    };
    enum weir_status status = weir_mapping_new(&options, &mapping, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return mapping;
}

static void map(const struct weir_mapping *mapping, const struct weir_record *record,
                struct weir_arena *arena)
{
    struct weir_draft draft;
    weir_arena_reset(arena);
    must(weir_mapping_record(mapping, WEIR_PASS_ROWS, record, arena, &draft));
    if (draft.refusal.len)
        ck_abort_msg("%.*s", (int)draft.refusal.len, draft.refusal.ptr);
}

/* How often memory is asked for, from opening the file to its end. */
static uint64_t count_calls(enum shape shape, unsigned rows)
{
    const char *path = write_rows(shape, rows);
    uint64_t before = allocator_calls;
    struct weir_reader *reader = open_file(path, shape);
    struct weir_mapping *mapping = open_mapping(reader, shape);
    struct weir_arena *arena = weir_arena_new(WEIR_ARENA_BLOCK_BYTES);
    struct weir_arena *drafts = weir_arena_new(WEIR_ARENA_BLOCK_BYTES);
    struct weir_record record;
    struct weir_block block;
    enum weir_step step;
    unsigned seen = 0;
    while ((step = weir_reader_next(reader, arena, &record, NULL)) != WEIR_STEP_END) {
        must(step == WEIR_STEP_RECORD || step == WEIR_STEP_FULL);
        if (step == WEIR_STEP_FULL) {
            weir_arena_reset(arena);
            while (weir_reader_take_block(reader, &block))
                ;
            continue;
        }
        map(mapping, &record, drafts);
        seen++;
    }
    ck_assert_uint_eq(seen, rows);
    weir_arena_unref(drafts);
    weir_arena_unref(arena);
    weir_mapping_free(mapping);
    weir_reader_free(reader);
    return allocator_calls - before;
}

START_TEST(rows_ask_for_no_memory_of_their_own)
{
    enum shape shape = (enum shape)_i;
    begin();
    uint64_t once = count_calls(shape, ROWS);
    uint64_t twice = count_calls(shape, 2 * ROWS);
    ck_assert_uint_gt(once, 0);
    ck_assert_msg(twice == once, "%s: %llu calls for %d rows, %llu for twice as many", files[shape],
                  (unsigned long long)once, ROWS, (unsigned long long)twice);
    end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("allocations");
    suite_add(&s, calls_are_counted);
    suite_add_loop(&s, "rows_ask_for_no_memory_of_their_own", rows_ask_for_no_memory_of_their_own,
                   SHAPES);
    return suite_run(&s);
}
