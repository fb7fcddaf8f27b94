/* SPDX-License-Identifier: MIT */
/*
 * What a journal says of a job: spans, totals, exports and the list of jobs, against a model that
 * knows every row.
 */
#include "base/limits.h"
#include "base/rng.h"
#include "journal/jobs.h"
#include "support/journal_rig.h"

/* --- views against a model -------------------------------------------------------------------- */

#define ROWS      3000
#define FILE_ROWS 700 /* rows of each of the job's files */

static uint32_t file_of(uint64_t row)
{
    return (uint32_t)(row / FILE_ROWS);
}

/* Rows are 10 bytes long. */
static uint64_t offset_of(uint64_t row)
{
    return row % FILE_ROWS * 10;
}

static uint64_t last_of_file(uint64_t row)
{
    return (file_of(row) + 1) * (uint64_t)FILE_ROWS - 1;
}

/* What the model knows of a row in a pass. */
struct fate {
    bool finished;
    uint64_t from; /* first row and serial of the range that has it */
    uint64_t serial;
    enum weir_range_outcome outcome;
    uint64_t rejected; /* serial of the last reject; 0: none */
    bool superseded;
    uint64_t id; /* serial of the range whose id it has; 0: none */
    uint64_t id_from;
    bool id_made;
};

static struct fate fates[WEIR_JOURNAL_PASSES][ROWS];

static void model_range(const struct weir_range *range, uint64_t serial)
{
    for (uint64_t row = range->first; row <= range->last; row++) {
        struct fate *fate = &fates[range->pass][row];
        if (!fate->finished || range->first < fate->from) {
            fate->finished = true;
            fate->from = range->first;
            fate->serial = serial;
            fate->outcome = range->outcome;
        }
        bool has_ids = range->ids.len > 0 || range->ids_made;
        if (has_ids && (!fate->id || range->first < fate->id_from)) {
            fate->id = serial;
            fate->id_made = range->ids_made;
            fate->id_from = range->first;
        }
    }
}

static void add_random(struct weir_journal *journal, struct weir_rng *rng, uint64_t serial)
{
    static char ids[16 * 128];
    if (weir_rng_below(rng, 4) > 0) {
        uint64_t first = weir_rng_below(rng, ROWS - 100);
        uint64_t last = first + weir_rng_below(rng, 100);
        last = last < last_of_file(first) ? last : last_of_file(first);
        memset(ids, (int)serial, sizeof(ids));
        memcpy(ids, &serial, sizeof(serial));
        struct weir_range range = {
            .pass = (uint32_t)weir_rng_below(rng, WEIR_JOURNAL_PASSES),
            .file = file_of(first),
            .first = first,
            .last = last,
            .offset = offset_of(first),
            .behind = offset_of(last) + 10,
            .outcome = (enum weir_range_outcome)weir_rng_below(rng, WEIR_RANGE_OUTCOMES),
        };
        uint64_t kind = weir_rng_below(rng, 3);
        if (kind == 0)
            range.ids = weir_str(ids, 16 * (last - first + 1));
        range.ids_made = kind == 1;
        must(weir_journal_add_range(journal, &range, NULL, NULL) == WEIR_OK);
        model_range(&range, serial);
        return;
    }
    struct weir_reject reject = {
        .pass = (uint32_t)weir_rng_below(rng, WEIR_JOURNAL_PASSES),
        .row = weir_rng_below(rng, ROWS),
        .key_hash = serial,
        .superseded = weir_rng_below(rng, 3) == 0,
        .attempts = (uint32_t)serial,
    };
    snprintf(numbered_texts[0], sizeof(numbered_texts[0]), "%llu\n", (unsigned long long)serial);
    reject.bytes = weir_str_from(numbered_texts[0]);
    must(weir_journal_add_reject(journal, &reject, NULL, NULL) == WEIR_OK);
    fates[reject.pass][reject.row].rejected = serial;
    fates[reject.pass][reject.row].superseded = reject.superseded;
}

static void check_spans(struct weir_journal *journal, uint32_t pass)
{
    struct weir_spans spans;
    struct weir_span span, before = { 0 };
    bool more, first = true;
    uint64_t next = 0;
    ck_assert_int_eq(weir_spans_init(&spans, weir_journal_view(journal), pass, NULL), WEIR_OK);
    while (weir_spans_next(&spans, &span, &more, NULL) == WEIR_OK && more) {
        must(span.first >= next && span.last >= span.first);
        must(span.file == file_of(span.first) && span.file == file_of(span.last));
        must(first || span.first > next || span.outcome != before.outcome ||
             span.file != before.file); /* else one span */
        must(span.offset == offset_of(span.first) && span.behind == offset_of(span.last) + 10);
        for (; next < span.first; next++)
            must(!fates[pass][next].finished);
        for (; next <= span.last; next++)
            must(fates[pass][next].finished && fates[pass][next].outcome == span.outcome);
        before = span;
        first = false;
    }
    for (; next < ROWS; next++)
        must(!fates[pass][next].finished);
    weir_spans_release(&spans);
}

static void check_totals(struct weir_journal *journal)
{
    struct weir_totals is, should = { 0 };
    ck_assert_int_eq(weir_journal_totals(journal, &is, NULL), WEIR_OK);
    for (int pass = 0; pass < WEIR_JOURNAL_PASSES; pass++) {
        struct weir_pass_totals *totals = &should.pass[pass];
        for (int row = 0; row < ROWS; row++) {
            const struct fate *fate = &fates[pass][row];
            totals->done += fate->finished && fate->outcome == WEIR_RANGE_DONE;
            totals->skipped += fate->finished && fate->outcome == WEIR_RANGE_SKIPPED;
            totals->absent += fate->finished && fate->outcome == WEIR_RANGE_ABSENT;
            totals->rejected += !fate->finished && fate->rejected;
        }
    }
    ck_assert(memcmp(&is, &should, sizeof(is)) == 0);
}

/* As rules and facts say, not as the code does: ten bytes of the job, then start and row. */
static void made_id(uint64_t row, uint8_t id[16])
{
    struct weir_job_facts facts = sample_facts();
    uint64_t count = ((uint64_t)(facts.started_us / 1000000) << 16) + row;
    memcpy(id, facts.id_bytes, 10);
    id[6] = (uint8_t)(0x80 | (id[6] & 0x0f));
    id[8] = (uint8_t)(0x80 | (id[8] & 0x3f));
    for (int i = 0; i < 6; i++)
        id[15 - i] = (uint8_t)(count >> (8 * i));
}

/* The three files, as the model would write them. */
static void check_exports(struct weir_journal *journal)
{
    struct weir_buf rejects, ids, file;
    size_t errors = 0, lines = 0;
    weir_buf_init(&rejects, TEXT_MAX);
    weir_buf_init(&ids, TEXT_MAX);
    weir_buf_init(&file, TEXT_MAX);
    weir_buf_add(&rejects, "name,\0city\r\n", 12);
    weir_buf_add_text(&ids, "row,id\n");
    for (int row = 0; row < ROWS; row++) {
        bool written = false;
        for (int pass = 0; pass < WEIR_JOURNAL_PASSES; pass++) {
            const struct fate *fate = &fates[pass][row];
            bool listed = fate->rejected && !fate->finished;
            errors += listed;
            if (!listed || fate->superseded || written)
                continue;
            weir_buf_printf(&rejects, "%llu\n", (unsigned long long)fate->rejected);
            written = true;
        }
        const struct fate *fate = &fates[0][row];
        if (!fate->id)
            continue;
        uint8_t id[16];
        memset(id, (int)fate->id, sizeof(id));
        if (fate->id_from == (uint64_t)row)
            memcpy(id, &fate->id, sizeof(fate->id));
        if (fate->id_made)
            made_id((uint64_t)row, id);
        weir_buf_printf(&ids, "%d,", row);
        for (int i = 0; i < 16; i++)
            weir_buf_printf(&ids, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            id[i]);
        weir_buf_add_char(&ids, '\n');
    }
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    slurp("rejects.csv", &file);
    ck_assert(same_text(&file, &rejects));
    slurp("ids.csv", &file);
    ck_assert(same_text(&file, &ids));
    slurp("errors.jsonl", &file);
    for (size_t i = 0; i < file.len; i++)
        lines += file.ptr[i] == '\n';
    ck_assert_uint_eq(lines, errors);
    weir_buf_release(&rejects);
    weir_buf_release(&ids);
    weir_buf_release(&file);
}

START_TEST(overlapping_ranges_and_repeated_rejects_count_each_row_once)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 0);
    memset(fates, 0, sizeof(fates));
    make_scratch();
    struct weir_journal *journal = make_job();
    uint64_t count = 1 + weir_rng_below(&rng, _i % 2 ? 60 : 900);
    for (uint64_t serial = 1; serial <= count; serial++)
        add_random(journal, &rng, serial);
    weir_journal_free(journal);
    journal = open_job();
    for (uint32_t pass = 0; pass < WEIR_JOURNAL_PASSES; pass++)
        check_spans(journal, pass);
    check_totals(journal);
    check_exports(journal);
    weir_journal_free(journal);
}
END_TEST

START_TEST(a_cursor_walks_beside_a_running_job_and_sees_what_was_there_when_it_was_opened)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    struct weir_spans spans;
    struct weir_span span;
    bool more;
    uint64_t rows = 0;
    struct weir_range range = { .first = 0, .last = 1, .outcome = WEIR_RANGE_DONE };
    for (uint64_t i = 0; i < 1000; i++, range.first += 4, range.last += 4)
        must(weir_journal_add_range(journal, &range, NULL, NULL) == WEIR_OK);
    weir_journal_free(journal);
    forget_reports();
    journal = open_job();
    must(weir_spans_init(&spans, weir_journal_view(journal), 0, NULL) == WEIR_OK);
    while (weir_spans_next(&spans, &span, &more, NULL) == WEIR_OK && more) {
        range.first = span.first + 2; /* the gap behind it */
        range.last = span.first + 3;
        must(weir_journal_add_range(journal, &range, NULL, NULL) == WEIR_OK);
        weir_journal_hurry(journal);
        rows += span.last - span.first + 1;
    }
    ck_assert_uint_eq(rows, 2000);
    weir_spans_release(&spans);
    finish_job(journal);
    struct weir_totals totals;
    ck_assert_int_eq(weir_journal_totals(journal, &totals, NULL), WEIR_OK);
    ck_assert_uint_eq(totals.pass[0].done, 4000);
    weir_journal_free(journal);
}
END_TEST

/* --- exports and listing ---------------------------------------------------------------------- */

START_TEST(exported_files_say_what_the_journal_says)
{
    struct weir_buf file;
    make_scratch();
    weir_buf_init(&file, TEXT_MAX);
    struct weir_journal *journal = make_job();
    struct weir_reject reject = {
        .file = 1,
        .row = 7,
        .offset = 70,
        .http_status = 400,
        .service_code = 0x80040265,
        .attempts = 2,
        .column = weir_str_from("name"),
        .class_name = weir_str_from("bad rows"),
        .message = weir_str_from("a \"b\"\n"),
        .request_id = weir_str_from("r1"),
        .connection = weir_str_from("AppUser1"),
        .bytes = weir_str_from("last line without end"),
    };
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    reject = (struct weir_reject){ .row = 3, .superseded = true, .bytes = weir_str_from("gone\n") };
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    reject = (struct weir_reject){ .row = 9, .bytes = weir_str_from("x\n") };
    weir_journal_add_reject(journal, &reject, NULL, NULL);
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    ck_assert_int_eq(weir_export_summary(journal, weir_str_from("{}"), NULL), WEIR_OK);
    slurp("rejects.csv", &file);
    ck_assert_uint_eq(file.len, 12 + 23 + 2);
    ck_assert_int_eq(memcmp(file.ptr, "name,\0city\r\nlast line without end\r\nx\n", file.len), 0);
    slurp("errors.jsonl", &file);
    ck_assert_str_eq(
        weir_buf_text(&file),
        "{\"row\":3,\"file\":\"/data/"
        "a.csv\",\"byte_offset\":0,\"column\":null,\"class\":null,\"http_status\":null,"
        "\"service_code\":null,\"message\":null,\"request_id\":null,\"connection\":null,"
        "\"attempts\":0,\"superseded\":true}\n"
        "{\"row\":7,\"file\":\"-\",\"byte_offset\":70,\"column\":\"name\",\"class\":\"bad rows\","
        "\"http_status\":400,\"service_code\":\"0x80040265\",\"message\":\"a \\\"b\\\"\\n\","
        "\"request_id\":\"r1\",\"connection\":\"AppUser1\",\"attempts\":2,"
        "\"superseded\":false}\n"
        "{\"row\":9,\"file\":\"/data/"
        "a.csv\",\"byte_offset\":0,\"column\":null,\"class\":null,\"http_status\":null,"
        "\"service_code\":null,\"message\":null,\"request_id\":null,\"connection\":null,"
        "\"attempts\":0,\"superseded\":false}\n");
    slurp("ids.csv", &file);
    ck_assert_str_eq(weir_buf_text(&file), "row,id\n");
    slurp("summary.json", &file);
    ck_assert_str_eq(weir_buf_text(&file), "{}\n");
    weir_buf_release(&file);
    weir_journal_free(journal);
}
END_TEST

START_TEST(a_row_that_two_passes_rejected_is_fed_in_again_once)
{
    struct weir_buf file;
    make_scratch();
    weir_buf_init(&file, TEXT_MAX);
    struct weir_journal *journal = make_job();
    for (uint8_t pass = 0; pass < 2; pass++) {
        for (uint64_t row = 3; row <= 4; row++) {
            struct weir_reject reject = { .row = row,
                                          .pass = pass,
                                          .bytes = weir_str_from(row == 3 ? "three\n" : "four\n") };
            weir_journal_add_reject(journal, &reject, NULL, NULL);
        }
    }
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    slurp("rejects.csv", &file);
    ck_assert_ptr_nonnull(memmem(file.ptr, file.len, "\r\nthree\nfour\n", 13));
    ck_assert_uint_eq(file.len, 12 + 6 + 5);
    weir_buf_release(&file);
    weir_journal_free(journal);
}
END_TEST

START_TEST(of_a_summary_that_is_too_long_no_more_is_read_than_is_wanted)
{
    static char text[16 * 1024];
    struct weir_buf read;
    make_scratch();
    struct weir_journal *journal = make_job();
    finish_job(journal);
    memset(text, ' ', sizeof(text));
    ck_assert_int_eq(weir_export_summary(journal, weir_str(text, sizeof(text)), NULL), WEIR_OK);
    weir_buf_init(&read, sizeof(text) + 2);
    weir_export_read_summary(journal, &read);
    ck_assert_uint_eq(read.len, sizeof(text) + 1);
    weir_buf_release(&read);
    weir_buf_init(&read, 5000);
    weir_export_read_summary(journal, &read);
    ck_assert(read.overflow);
    weir_buf_release(&read);
    weir_journal_free(journal);
}
END_TEST

START_TEST(a_mark_leaves_out_a_row_that_was_rejected_and_nothing_else)
{
    struct weir_buf file;
    make_scratch();
    weir_buf_init(&file, TEXT_MAX);
    struct weir_journal *journal = make_job();
    for (uint64_t row = 3; row <= 5; row++) {
        struct weir_reject reject = {
            .row = row,
            .class_name = weir_str_from("bad rows"),
            .bytes = weir_str_from(row == 4 ? "four\n" : "odd\n"),
        };
        weir_journal_add_reject(journal, &reject, NULL, NULL);
    }
    weir_journal_add_mark(journal, 0, 4, NULL, NULL);
    weir_journal_add_mark(journal, 0, 9, NULL, NULL); /* which was never rejected */
    finish_job(journal);
    struct weir_totals totals;
    ck_assert_int_eq(weir_journal_totals(journal, &totals, NULL), WEIR_OK);
    ck_assert_uint_eq(totals.pass[0].rejected, 3);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    slurp("rejects.csv", &file);
    ck_assert_int_eq(memcmp(file.ptr + file.len - 8, "odd\nodd\n", 8), 0);
    slurp("errors.jsonl", &file);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&file), "\"row\":4"));
    ck_assert_ptr_null(strstr(weir_buf_text(&file), "\"row\":9"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&file), "\"superseded\":true"));
    weir_buf_release(&file);
    weir_journal_free(journal);
}
END_TEST

/* A row that is rejected in two passes has a mark in one of them. */
START_TEST(a_mark_is_for_one_pass)
{
    struct weir_buf file;
    make_scratch();
    weir_buf_init(&file, TEXT_MAX);
    struct weir_journal *journal = make_job();
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct weir_reject reject = {
            .pass = pass,
            .row = 3,
            .class_name = weir_str_from("bad rows"),
            .bytes = weir_str_from("three\n"),
        };
        weir_journal_add_reject(journal, &reject, NULL, NULL);
    }
    weir_journal_add_mark(journal, 1, 3, NULL, NULL);
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    slurp("errors.jsonl", &file);
    const char *first = strstr(weir_buf_text(&file), "\"superseded\":false");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first, "\"superseded\":true"));
    weir_buf_release(&file);
    weir_journal_free(journal);
}
END_TEST

/* Random spans in two passes, and a model that has every row. */
START_TEST(skipped_rows_that_went_through_a_later_pass_are_counted)
{
    enum {
        LAST = 300
    };
    bool skipped[LAST + 1] = { false };
    uint64_t expected = 0, counted;
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 23);
    make_scratch();
    struct weir_journal *journal = make_job();
    for (uint32_t pass = 0; pass < 3; pass += 2) {
        for (uint64_t row = 1; row <= LAST;) {
            uint64_t last = row + weir_rng_below(&rng, 12);
            last = last > LAST ? LAST : last;
            bool skip = weir_rng_below(&rng, 2);
            struct weir_range range = { .pass = pass,
                                        .outcome =
                                            skip && !pass ? WEIR_RANGE_SKIPPED : WEIR_RANGE_DONE,
                                        .first = row,
                                        .last = last,
                                        .offset = row,
                                        .behind = last + 1 };
            bool there = weir_rng_below(&rng, 4) > 0;
            if (there)
                weir_journal_add_range(journal, &range, NULL, NULL);
            for (; row <= last; row++) {
                if (!pass)
                    skipped[row] = there && skip;
                else
                    expected += there && skipped[row];
            }
        }
    }
    finish_job(journal);
    struct weir_journal_view view = weir_journal_view_now(journal);
    ck_assert_int_eq(weir_totals_skipped(&view, 2, &counted, NULL), WEIR_OK);
    ck_assert_uint_eq(counted, expected);
    weir_journal_free(journal);
}
END_TEST

struct listing {
    int count;
    int damaged;
    int held;
    uint64_t done;
    char names[200];
};

static void list_job(void *ctx, const struct weir_job_listing *job)
{
    struct listing *listing = ctx;
    listing->count++;
    listing->damaged += job->error.status != WEIR_OK;
    listing->held += job->holder == getpid();
    listing->done += job->totals.pass[0].done;
    size_t len = strlen(listing->names);
    snprintf(listing->names + len, sizeof(listing->names) - len, "%s ", job->name);
    must(job->error.status || strcmp(job->facts.table, "account") == 0);
}

START_TEST(jobs_are_listed_while_they_run_and_damaged_ones_are_named)
{
    struct weir_range range = { .first = 10, .last = 19 };
    struct listing listing = { 0 };
    char path[400];
    make_scratch();
    ck_assert_int_eq(weir_jobs_each("/nowhere/at/all", list_job, &listing, NULL), WEIR_OK);
    snprintf(job_dir, sizeof(job_dir), "%s/c-closed", scratch);
    struct weir_journal *closed = make_job();
    weir_journal_add_range(closed, &range, NULL, NULL);
    weir_journal_free(closed);
    forget_reports();
    snprintf(job_dir, sizeof(job_dir), "%s/b-broken", scratch);
    weir_journal_free(make_job());
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    ck_assert_int_eq(truncate(path, 3000), 0);
    snprintf(path, sizeof(path), "%s/.hidden", scratch);
    mkdir(path, 0700);
    snprintf(job_dir, sizeof(job_dir), "%s/a-running", scratch);
    struct weir_journal *running = make_job();
    weir_journal_add_range(running, &range, NULL, NULL);
    wait_durable(running, 1);
    ck_assert_int_eq(weir_jobs_each(scratch, list_job, &listing, NULL), WEIR_OK);
    ck_assert_int_eq(listing.count, 3);
    ck_assert_int_eq(listing.damaged, 1);
    ck_assert_int_eq(listing.held, 1);
    ck_assert_uint_eq(listing.done, 20);
    ck_assert_str_eq(listing.names, "a-running b-broken c-closed ");
    range.first += 10;
    range.last += 10;
    weir_journal_add_range(running, &range, NULL, NULL);
    finish_job(running);
    weir_journal_free(running);
    weir_journal_free(open_job());
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal views");
    suite_add_loop(&s, "overlapping_ranges_and_repeated_rejects_count_each_row_once",
                   overlapping_ranges_and_repeated_rejects_count_each_row_once, 12);
    suite_add(&s, a_cursor_walks_beside_a_running_job_and_sees_what_was_there_when_it_was_opened);
    suite_add(&s, exported_files_say_what_the_journal_says);
    suite_add(&s, a_row_that_two_passes_rejected_is_fed_in_again_once);
    suite_add(&s, of_a_summary_that_is_too_long_no_more_is_read_than_is_wanted);
    suite_add(&s, a_mark_leaves_out_a_row_that_was_rejected_and_nothing_else);
    suite_add(&s, a_mark_is_for_one_pass);
    suite_add_loop(&s, "skipped_rows_that_went_through_a_later_pass_are_counted",
                   skipped_rows_that_went_through_a_later_pass_are_counted, 20);
    suite_add(&s, jobs_are_listed_while_they_run_and_damaged_ones_are_named);
    return suite_run(&s);
}
