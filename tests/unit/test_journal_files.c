/* SPDX-License-Identifier: MIT */
/*
 * What a journal knows of a job's files: every field of every record comes back and is guarded,
 * blocks grow, rows of different files stay apart, and names of files are written as JSON whatever
 * they are.
 */
#include "base/json.h"
#include "base/rng.h"
#include "journal/spans.h"
#include "support/journal_rig.h"

/* --- fields ----------------------------------------------------------------------------------- */

static struct weir_entry full_range(void)
{
    return (
        struct weir_entry){ .kind = WEIR_ENTRY_RANGE,
                            .serial = 1,
                            .range = { .pass = 1,
                                       .file = 9999,
                                       .outcome = WEIR_RANGE_ABSENT,
                                       .first = 101,
                                       .last = 102,
                                       .offset = 103,
                                       .behind = 104,
                                       .connection = 105,
                                       .ids = weir_str("0123456789abcdefghijklmnopqrstuv", 32) } };
}

static struct weir_entry range_without_ids(void)
{
    struct weir_entry record = full_range();
    record.range.ids.len = 0;
    return record;
}

static struct weir_entry full_reject(void)
{
    return (struct weir_entry){ .kind = WEIR_ENTRY_REJECT,
                                .serial = 1,
                                .reject = { .pass = 2,
                                            .file = 17,
                                            .row = 201,
                                            .offset = 202,
                                            .key_hash = UINT64_C(0xfedcba9876543210),
                                            .superseded = true,
                                            .http_status = 412,
                                            .service_code = 0x80040265,
                                            .attempts = 203,
                                            .column = weir_str_from("column"),
                                            .class_name = weir_str_from("class"),
                                            .message = weir_str_from("message"),
                                            .request_id = weir_str_from("request"),
                                            .connection = weir_str_from("connection"),
                                            .bytes = weir_str("a\0b\n", 4) } };
}

static struct weir_entry full_block(void)
{
    return (struct weir_entry){ .kind = WEIR_ENTRY_BLOCK,
                                .serial = 1,
                                .block = { .file = 5,
                                           .number = 301,
                                           .bytes = UINT32_MAX,
                                           .last = true,
                                           .hash = UINT64_C(0xdeadbeefcafebabe) } };
}

/* The first record of its kind; it is in *queue. */
static const struct weir_entry *first_of(struct weir_journal *journal, enum weir_cursor_order order,
                                         uint64_t of, struct weir_queue *queue)
{
    struct weir_cursor cursor;
    const struct weir_entry *record;
    ck_assert_int_eq(weir_cursor_init(&cursor, weir_journal_view(journal), order, of, NULL),
                     WEIR_OK);
    ck_assert_int_eq(weir_cursor_next(&cursor, &record, NULL), WEIR_OK);
    ck_assert_ptr_nonnull(record);
    weir_queue_add(queue, record);
    ck_assert_int_eq(weir_cursor_next(&cursor, &record, NULL), WEIR_OK);
    ck_assert_ptr_null(record);
    weir_cursor_release(&cursor);
    return &queue->first->record;
}

static void check_range(const struct weir_range *is)
{
    struct weir_range should = full_range().range;
    ck_assert_uint_eq(is->pass, should.pass);
    ck_assert_uint_eq(is->file, should.file);
    ck_assert_int_eq(is->outcome, should.outcome);
    ck_assert_uint_eq(is->first, should.first);
    ck_assert_uint_eq(is->last, should.last);
    ck_assert_uint_eq(is->offset, should.offset);
    ck_assert_uint_eq(is->behind, should.behind);
    ck_assert_uint_eq(is->connection, should.connection);
    ck_assert(weir_str_equal(is->ids, should.ids));
}

static void check_reject(const struct weir_reject *is)
{
    struct weir_reject should = full_reject().reject;
    ck_assert_uint_eq(is->pass, should.pass);
    ck_assert_uint_eq(is->file, should.file);
    ck_assert_uint_eq(is->row, should.row);
    ck_assert_uint_eq(is->offset, should.offset);
    ck_assert_uint_eq(is->key_hash, should.key_hash);
    ck_assert(is->superseded);
    ck_assert_int_eq(is->http_status, should.http_status);
    ck_assert_uint_eq(is->service_code, should.service_code);
    ck_assert_uint_eq(is->attempts, should.attempts);
    ck_assert(weir_str_equal(is->column, should.column));
    ck_assert(weir_str_equal(is->class_name, should.class_name));
    ck_assert(weir_str_equal(is->message, should.message));
    ck_assert(weir_str_equal(is->request_id, should.request_id));
    ck_assert(weir_str_equal(is->connection, should.connection));
    ck_assert(weir_str_equal(is->bytes, should.bytes));
}

static void check_block(const struct weir_input_block *is)
{
    struct weir_input_block should = full_block().block;
    ck_assert_uint_eq(is->file, should.file);
    ck_assert_uint_eq(is->number, should.number);
    ck_assert_uint_eq(is->bytes, should.bytes);
    ck_assert(is->last);
    ck_assert_uint_eq(is->hash, should.hash);
}

START_TEST(every_field_comes_back)
{
    struct weir_entry records[] = { full_range(), full_reject(), full_block() };
    struct weir_queue queues[3] = { { 0 } };
    make_scratch();
    struct weir_journal *journal = make_job();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(add_record(journal, &records[i], NULL, NULL), WEIR_OK);
    weir_journal_free(journal);
    journal = open_job();
    check_range(&first_of(journal, WEIR_CURSOR_RANGES_WITH_IDS, 1, &queues[0])->range);
    check_reject(&first_of(journal, WEIR_CURSOR_REJECTS, 0, &queues[1])->reject);
    check_block(&first_of(journal, WEIR_CURSOR_BLOCKS, 5, &queues[2])->block);
    const struct weir_job_facts *facts = weir_journal_facts(journal);
    ck_assert_uint_eq(facts->input_count, 2);
    ck_assert(facts->inputs[0].on_disk && !facts->inputs[1].on_disk);
    ck_assert_uint_eq(facts->inputs[0].size_bytes, sample_inputs[0].size_bytes);
    ck_assert_uint_eq(facts->inputs[0].hash_first, sample_inputs[0].hash_first);
    ck_assert_uint_eq(facts->inputs[0].hash_last, sample_inputs[0].hash_last);
    for (int i = 0; i < 3; i++)
        weir_queue_release(&queues[i]);
    weir_journal_free(journal);
}
END_TEST

#define DIFFERS(make, change)                                                                      \
    do {                                                                                           \
        struct weir_entry as_it_was = make(), changed = make();                                    \
        change;                                                                                    \
        ck_assert_msg(weir_entry_crc(&as_it_was) != weir_entry_crc(&changed), "%s", #change);      \
    } while (0)

START_TEST(every_field_is_under_the_checksum)
{
    DIFFERS(full_range, changed.serial++);
    DIFFERS(full_range, changed.kind = WEIR_ENTRY_BLOCK);
    DIFFERS(full_range, changed.range.pass++);
    DIFFERS(full_range, changed.range.file++);
    DIFFERS(full_range, changed.range.outcome--);
    DIFFERS(full_range, changed.range.first++);
    DIFFERS(full_range, changed.range.last++);
    DIFFERS(full_range, changed.range.offset++);
    DIFFERS(full_range, changed.range.behind++);
    DIFFERS(full_range, changed.range.connection++);
    DIFFERS(full_range, changed.range.ids.len--);
    DIFFERS(range_without_ids, changed.range.ids_made = true);
    DIFFERS(full_reject, changed.reject.pass++);
    DIFFERS(full_reject, changed.reject.file++);
    DIFFERS(full_reject, changed.reject.row++);
    DIFFERS(full_reject, changed.reject.offset++);
    DIFFERS(full_reject, changed.reject.key_hash++);
    DIFFERS(full_reject, changed.reject.superseded = false);
    DIFFERS(full_reject, changed.reject.http_status++);
    DIFFERS(full_reject, changed.reject.service_code++);
    DIFFERS(full_reject, changed.reject.attempts++);
    DIFFERS(full_reject, changed.reject.column.len--);
    DIFFERS(full_reject, changed.reject.class_name.len--);
    DIFFERS(full_reject, changed.reject.message.len--);
    DIFFERS(full_reject, changed.reject.request_id.len--);
    DIFFERS(full_reject, changed.reject.connection.len--);
    DIFFERS(full_reject, changed.reject.bytes.len--);
    DIFFERS(full_block, changed.block.file++);
    DIFFERS(full_block, changed.block.number++);
    DIFFERS(full_block, changed.block.bytes--);
    DIFFERS(full_block, changed.block.last = false);
    DIFFERS(full_block, changed.block.hash++);
}
END_TEST

/* --- blocks ----------------------------------------------------------------------------------- */

#define FILES  3
#define BLOCKS 400 /* of each: more than a cursor asks for at once */

static struct weir_input_block known[FILES][BLOCKS];
static bool is_known[FILES][BLOCKS];

static bool says_more(const struct weir_input_block *now, const struct weir_input_block *then)
{
    if (then->last)
        return false;
    return now->bytes > then->bytes || (now->bytes == then->bytes && now->last);
}

static void add_random_block(struct weir_journal *journal, struct weir_rng *rng, uint64_t hash)
{
    struct weir_input_block block = { .file = (uint32_t)weir_rng_below(rng, FILES),
                                      .number = weir_rng_below(rng, BLOCKS),
                                      .bytes = (uint32_t)weir_rng_below(rng, 4),
                                      .last = weir_rng_below(rng, 4) == 0,
                                      .hash = hash };
    bool *there = &is_known[block.file][block.number];
    struct weir_input_block *then = &known[block.file][block.number];
    if (!*there || says_more(&block, then))
        *then = block;
    *there = true;
    must(weir_journal_add_block(journal, &block, NULL, NULL) == WEIR_OK);
}

static void check_blocks(const struct weir_journal_view *view, uint32_t file)
{
    struct weir_cursor cursor;
    const struct weir_entry *record;
    must(weir_cursor_init(&cursor, view, WEIR_CURSOR_BLOCKS, file, NULL) == WEIR_OK);
    for (uint64_t number = 0; number < BLOCKS; number++) {
        const struct weir_input_block *should = &known[file][number];
        if (!is_known[file][number])
            continue;
        must(weir_cursor_next(&cursor, &record, NULL) == WEIR_OK && record);
        must(record->block.file == file && record->block.number == number);
        must(record->block.bytes == should->bytes && record->block.last == should->last);
        must(record->block.hash == should->hash);
    }
    must(weir_cursor_next(&cursor, &record, NULL) == WEIR_OK && !record);
    weir_cursor_release(&cursor);
}

/* Opening it again verifies the account of what was replaced and of what was not. */
START_TEST(a_block_is_replaced_by_one_that_says_more_and_by_no_other)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 7);
    memset(is_known, 0, sizeof(is_known));
    make_scratch();
    struct weir_journal *journal = make_job();
    for (int run = 0; run < 4; run++) {
        for (uint64_t i = 0; i < 1500; i++)
            add_random_block(journal, &rng, (uint64_t)run * 10000 + i);
        weir_journal_free(journal);
        forget_reports();
        journal = open_job();
        for (uint32_t file = 0; file < FILES; file++)
            check_blocks(weir_journal_view(journal), file);
    }
    weir_journal_free(journal);
}
END_TEST

START_TEST(a_block_that_grew_since_the_job_was_opened_is_still_seen)
{
    memset(is_known, 0, sizeof(is_known));
    make_scratch();
    struct weir_journal *journal = make_job();
    struct weir_input_block block = { .file = 1, .number = 3, .bytes = 10, .hash = 1 };
    weir_journal_add_block(journal, &block, NULL, NULL);
    weir_journal_free(journal);
    forget_reports();
    journal = open_job();
    block.bytes = 20;
    block.hash = 2;
    weir_journal_add_block(journal, &block, NULL, NULL);
    wait_durable(journal, 2);
    known[1][3] = block;
    is_known[1][3] = true;
    check_blocks(weir_journal_view(journal), 1);
    weir_journal_free(journal);
}
END_TEST

/* --- rows ------------------------------------------------------------------------------------- */

START_TEST(rows_that_follow_on_one_another_in_different_files_are_two_spans)
{
    struct weir_range ranges[] = {
        { .file = 0, .first = 1, .last = 5, .offset = 10, .behind = 60 },
        { .file = 0, .first = 6, .last = 9, .offset = 60, .behind = 100 },
        { .file = 1, .first = 10, .last = 12, .offset = 7, .behind = 30 },
        { .file = 3, .first = 13, .last = 13, .offset = 0, .behind = 0 },
    };
    struct weir_spans spans;
    struct weir_span span = { 0 };
    bool more;
    make_scratch();
    struct weir_journal *journal = make_job();
    for (int i = 3; i >= 0; i--)
        ck_assert_int_eq(weir_journal_add_range(journal, &ranges[i], NULL, NULL), WEIR_OK);
    weir_journal_free(journal);
    journal = open_job();
    ck_assert_int_eq(weir_spans_init(&spans, weir_journal_view(journal), 0, NULL), WEIR_OK);
    ck_assert_int_eq(weir_spans_next(&spans, &span, &more, NULL), WEIR_OK);
    ck_assert(more && span.first == 1 && span.last == 9 && span.file == 0);
    ck_assert(span.offset == 10 && span.behind == 100);
    ck_assert_int_eq(weir_spans_next(&spans, &span, &more, NULL), WEIR_OK);
    ck_assert(more && span.first == 10 && span.last == 12 && span.file == 1);
    ck_assert(span.offset == 7 && span.behind == 30);
    ck_assert_int_eq(weir_spans_next(&spans, &span, &more, NULL), WEIR_OK);
    ck_assert(more && span.first == 13 && span.last == 13 && span.file == 3);
    ck_assert_int_eq(weir_spans_next(&spans, &span, &more, NULL), WEIR_OK);
    ck_assert(!more);
    weir_spans_release(&spans);
    weir_journal_free(journal);
}
END_TEST

/* Where the second of them would have to be cut is in neither file. */
START_TEST(a_row_in_two_files_is_refused_rather_than_guessed)
{
    struct weir_range range = { .file = 0, .first = 1, .last = 5, .behind = 50 };
    struct weir_spans spans;
    struct weir_span span;
    struct weir_error err = { 0 };
    bool more;
    make_scratch();
    struct weir_journal *journal = make_job();
    weir_journal_add_range(journal, &range, NULL, NULL);
    range = (struct weir_range){ .file = 1, .first = 5, .last = 9, .behind = 50 };
    weir_journal_add_range(journal, &range, NULL, NULL);
    weir_journal_free(journal);
    journal = open_job();
    ck_assert_int_eq(weir_spans_init(&spans, weir_journal_view(journal), 0, NULL), WEIR_OK);
    ck_assert_int_eq(weir_spans_next(&spans, &span, &more, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, "in two files"), "%s", err.message);
    weir_spans_release(&spans);
    weir_journal_free(journal);
}
END_TEST

static uint64_t high_row(struct weir_journal *journal)
{
    uint64_t row = 12345;
    ck_assert_int_eq(weir_journal_high_row(journal, &row, NULL), WEIR_OK);
    return row;
}

START_TEST(the_highest_row_is_that_of_any_durable_range_or_reject)
{
    struct weir_range range = { .first = 100, .last = 900 };
    struct weir_reject reject = { .row = 500 };
    make_scratch();
    struct weir_journal *journal = make_job();
    ck_assert_uint_eq(high_row(journal), 0);
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    wait_durable(journal, 1);
    ck_assert_uint_eq(high_row(journal), 500);
    weir_journal_add_range(journal, &range, NULL, NULL);
    range = (struct weir_range){ .pass = 2, .first = 200, .last = 300 }; /* begins later */
    weir_journal_add_range(journal, &range, NULL, NULL);
    wait_durable(journal, 3);
    ck_assert_uint_eq(high_row(journal), 900);
    reject = (struct weir_reject){ .pass = 1, .file = 4, .row = 901 };
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    wait_durable(journal, 4);
    ck_assert_uint_eq(high_row(journal), 901);
    range = (struct weir_range){ .pass = 1, .first = 901, .last = 902 };
    weir_journal_add_range(journal, &range, NULL, NULL);
    weir_journal_free(journal);
    journal = open_job();
    ck_assert_uint_eq(high_row(journal), 902);
    weir_journal_free(journal);
}
END_TEST

/* --- names ------------------------------------------------------------------------------------ */

/* The line of errors.jsonl for a reject in file `number` of `count`; parsed. */
static struct weir_json *line_for(const struct weir_job_input *inputs, size_t count,
                                  uint32_t number, struct weir_str message, struct weir_buf *file)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_reject reject = { .file = number, .row = 1, .message = message };
    struct weir_journal *journal = NULL;
    struct weir_json *json = NULL;
    struct weir_error err = { 0 };
    facts.inputs = inputs;
    facts.input_count = count;
    make_scratch();
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, NULL, NULL, &journal, NULL), WEIR_OK);
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    finish_job(journal);
    ck_assert_int_eq(weir_export_errors(journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    slurp("errors.jsonl", file);
    ck_assert_msg(weir_json_parse(weir_str(file->ptr, file->len), &json, &err) == WEIR_OK, "%s\n%s",
                  err.message, file->ptr);
    ck_assert_ptr_eq(strchr(file->ptr, '\n'), file->ptr + file->len - 1);
    return json;
}

START_TEST(errors_name_files_whatever_they_are_called)
{
    static const struct {
        const char *path;
        const char *says;
    } names[] = {
        { "/data/a b.csv", "/data/a b.csv" },
        { "say \"hi\"\\\n\t\x01.csv", "say \"hi\"\\\n\t\x01.csv" },
        { "Gr\xc3\xbc\xc3\x9f"
          "e\xf0\x9f\x98\x80.csv",
          "Gr\xc3\xbc\xc3\x9f"
          "e\xf0\x9f\x98\x80.csv" },
        { "latin-\xfc.csv", "latin-\xef\xbf\xbd.csv" },
        { "\xc3", "\xef\xbf\xbd" },
        { "a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" }, /* half of a pair */
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },                     /* an overlong slash */
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xe2\x82z", "\xef\xbf\xbd\xef\xbf\xbdz" },
    };
    struct weir_buf file;
    weir_buf_init(&file, TEXT_MAX);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct weir_job_input input = { .path = names[i].path };
        struct weir_json *json = line_for(&input, 1, 0, weir_str_from(names[i].path), &file);
        const struct weir_json_node *root = weir_json_root(json);
        ck_assert(weir_str_equal(weir_json_find(root, "file")->text, weir_str_from(names[i].says)));
        ck_assert(
            weir_str_equal(weir_json_find(root, "message")->text, weir_str_from(names[i].says)));
        weir_json_free(json);
    }
    weir_buf_release(&file);
}
END_TEST

START_TEST(rows_from_memory_have_no_file_and_the_longest_line_fits)
{
    static char name[WEIR_JOURNAL_PATH_MAX + 1], message[WEIR_JOURNAL_TEXT_MAX];
    struct weir_job_input input = { .path = name };
    struct weir_buf file;
    weir_buf_init(&file, TEXT_MAX);
    memset(name, '\x01', WEIR_JOURNAL_PATH_MAX);
    memset(message, '\x02', sizeof(message));
    struct weir_json *json = line_for(NULL, 0, 0, weir_str_from(""), &file);
    ck_assert_int_eq(weir_json_find(weir_json_root(json), "file")->type, WEIR_JSON_NULL);
    weir_json_free(json);
    json = line_for(&input, 1, 1, weir_str_from(""), &file); /* there is no such file */
    ck_assert_int_eq(weir_json_find(weir_json_root(json), "file")->type, WEIR_JSON_NULL);
    weir_json_free(json);
    json = line_for(&input, 1, 0, weir_str(message, sizeof(message)), &file);
    const struct weir_json_node *root = weir_json_root(json);
    ck_assert_uint_eq(weir_json_find(root, "file")->text.len, WEIR_JOURNAL_PATH_MAX);
    ck_assert_uint_eq(weir_json_find(root, "message")->text.len, sizeof(message));
    weir_json_free(json);
    weir_buf_release(&file);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal files");
    suite_add(&s, every_field_comes_back);
    suite_add(&s, every_field_is_under_the_checksum);
    suite_add_loop(&s, "a_block_is_replaced_by_one_that_says_more_and_by_no_other",
                   a_block_is_replaced_by_one_that_says_more_and_by_no_other, 4);
    suite_add(&s, a_block_that_grew_since_the_job_was_opened_is_still_seen);
    suite_add(&s, rows_that_follow_on_one_another_in_different_files_are_two_spans);
    suite_add(&s, a_row_in_two_files_is_refused_rather_than_guessed);
    suite_add(&s, the_highest_row_is_that_of_any_durable_range_or_reject);
    suite_add(&s, errors_name_files_whatever_they_are_called);
    suite_add(&s, rows_from_memory_have_no_file_and_the_longest_line_fits);
    return suite_run(&s);
}
