/* SPDX-License-Identifier: MIT */
/*
 * SQLite's calls fail one by one, each in turn, whatever it is called for. What was asked of the
 * journal is then an error and never a shorter answer; what it has said to be durable is there when
 * the calls work again. The linker leads the calls of our library to the test.
 */
#include <sqlite3.h>
#include <stdatomic.h>

#include "journal/jobs.h"
#include "journal/totals.h"
#include "support/journal_rig.h"

#define RECORDS 48

/* Which call fails, counted from 1 (0: none does), how, and how many there were. */
static atomic_int failing;
static atomic_int failing_with;
static atomic_int calls;

int __real_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs);
int __real_sqlite3_prepare_v3(sqlite3 *db, const char *text, int len, unsigned flags,
                              sqlite3_stmt **ret, const char **tail);
int __real_sqlite3_step(sqlite3_stmt *statement);
int __real_sqlite3_exec(sqlite3 *db, const char *text, int (*each)(void *, int, char **, char **),
                        void *ctx, char **ret_message);
int __real_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *ret_log,
                                     int *ret_done);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *text, int len, unsigned flags,
                              sqlite3_stmt **ret, const char **tail);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_exec(sqlite3 *db, const char *text, int (*each)(void *, int, char **, char **),
                        void *ctx, char **ret_message);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *ret_log,
                                     int *ret_done);

static bool fails(void)
{
    return atomic_fetch_add(&calls, 1) + 1 == failing;
}

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs)
{
    return fails() ? failing_with : __real_sqlite3_open_v2(path, ret, flags, vfs);
}

int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *text, int len, unsigned flags,
                              sqlite3_stmt **ret, const char **tail)
{
    return fails() ? failing_with : __real_sqlite3_prepare_v3(db, text, len, flags, ret, tail);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    return fails() ? failing_with : __real_sqlite3_step(statement);
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *text, int (*each)(void *, int, char **, char **),
                        void *ctx, char **ret_message)
{
    return fails() ? failing_with : __real_sqlite3_exec(db, text, each, ctx, ret_message);
}

int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *ret_log,
                                     int *ret_done)
{
    return fails() ? failing_with
                   : __real_sqlite3_wal_checkpoint_v2(db, name, mode, ret_log, ret_done);
}

/* From now on the call `number` fails. */
static void let_fail(int number, int with)
{
    atomic_store(&calls, 0);
    atomic_store(&failing_with, with);
    atomic_store(&failing, number);
}

/* Whether it was reached; nothing fails any more. */
static bool has_failed(void)
{
    bool failed = atomic_load(&calls) >= failing;
    atomic_store(&failing, 0);
    return failed;
}

static const int codes[] = { SQLITE_IOERR_READ, SQLITE_CORRUPT, SQLITE_FULL };

/* --- reading ---------------------------------------------------------------------------------- */

static enum weir_status tell_numbers(struct weir_journal *journal, struct weir_buf *text,
                                     struct weir_error *err)
{
    struct weir_totals totals = { 0 };
    uint64_t skipped = 0;
    uint64_t high_row = 0;
    enum weir_status status = weir_journal_totals(journal, &totals, err);
    if (!status)
        status = weir_totals_skipped(weir_journal_view(journal), 1, &skipped, err);
    if (!status)
        status = weir_journal_high_row(journal, &high_row, err);
    weir_buf_printf(text, "\nhigh %llu, skipped %llu", (unsigned long long)high_row,
                    (unsigned long long)skipped);
    for (int pass = 0; pass < WEIR_JOURNAL_PASSES; pass++)
        weir_buf_printf(text, "\npass %d: %llu %llu %llu %llu", pass,
                        (unsigned long long)totals.pass[pass].done,
                        (unsigned long long)totals.pass[pass].skipped,
                        (unsigned long long)totals.pass[pass].absent,
                        (unsigned long long)totals.pass[pass].rejected);
    return status;
}

static void tell_file(const char *name, struct weir_buf *text)
{
    struct weir_buf bytes;
    weir_buf_init(&bytes, TEXT_MAX);
    slurp(name, &bytes);
    weir_buf_printf(text, "\n%s:\n", name);
    weir_buf_add(text, bytes.ptr, bytes.len);
    weir_buf_release(&bytes);
}

/* All that can be asked of the job, as a text. */
static enum weir_status read_all(struct weir_buf *text, struct weir_error *err)
{
    struct weir_journal *journal = NULL;
    enum weir_status status = weir_journal_open(job_dir, &watch, NULL, &journal, err);
    weir_buf_reset(text);
    if (status)
        return status;
    status = tell(journal, text, err);
    if (!status)
        status = tell_numbers(journal, text, err);
    if (!status)
        status = weir_export_all(journal, err);
    weir_journal_free(journal);
    if (status)
        return status;
    tell_file("rejects.csv", text);
    tell_file("errors.jsonl", text);
    tell_file("ids.csv", text);
    return WEIR_OK;
}

static void make_numbered_job(void)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    ck_assert_int_eq(add_numbered(journal, 1, RECORDS, NULL), WEIR_OK);
    finish_job(journal);
    weir_journal_free(journal);
}

START_TEST(a_call_that_fails_is_an_error_and_never_a_shorter_answer)
{
    struct weir_buf whole;
    struct weir_buf text;
    struct weir_error err = { 0 };
    bool failed = true;
    int errors = 0;
    make_numbered_job();
    weir_buf_init(&whole, TEXT_MAX);
    weir_buf_init(&text, TEXT_MAX);
    ck_assert_msg(read_all(&whole, &err) == WEIR_OK, "%s", err.message);
    for (int call = 1; failed; call++) {
        forget_reports();
        err = (struct weir_error){ 0 };
        let_fail(call, codes[_i]);
        enum weir_status status = read_all(&text, &err);
        failed = has_failed();
        ck_assert_msg(!status || (failed && err.message[0]), "call %d: %d %s", call, (int)status,
                      err.message);
        ck_assert_msg(status || same_text(&text, &whole), "call %d fails, and it says\n%s", call,
                      weir_buf_text(&text));
        errors += status != WEIR_OK;
    }
    ck_assert_int_gt(errors, 100); /* calls there are, and hardly one is done without */
    ck_assert_uint_eq(check_numbered(), RECORDS);
    weir_buf_release(&text);
    weir_buf_release(&whole);
}
END_TEST

START_TEST(a_job_that_cannot_be_read_is_listed_with_what_is_wrong)
{
    bool failed = true;
    int wrong = 0;
    make_numbered_job();
    for (int call = 1; failed; call++) {
        struct weir_job_listing listing;
        struct weir_error err = { 0 };
        let_fail(call, codes[_i]);
        enum weir_status status = weir_job_listing_init(&listing, job_dir, &err);
        failed = has_failed();
        ck_assert(failed || !status);
        if (status) {
            ck_assert(err.message[0] != '\0');
            wrong++;
        } else {
            weir_job_listing_release(&listing);
        }
    }
    ck_assert_int_gt(wrong, 10);
}
END_TEST

/* More spans of finished rows than are read at once, and a rejected row behind all of them. */
#define SPANS 300

static void make_job_of_spans(void)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    for (uint64_t i = 1; i <= SPANS; i++) {
        struct weir_range range = { .first = i * 10, .last = i * 10 + 7, .behind = 1 };
        ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
    }
    struct weir_reject reject = { .row = SPANS * 10 + 9, .class_name = weir_str_from("bad rows") };
    ck_assert_int_eq(weir_journal_add_reject(journal, &reject, NULL, NULL), WEIR_OK);
    finish_job(journal);
    weir_journal_free(journal);
}

/* The rows that are rejected and not finished, added up. */
static enum weir_status read_rejects(const struct weir_journal_view *source, uint64_t *ret,
                                     struct weir_error *err)
{
    struct weir_rejects rejects;
    const struct weir_reject *reject = NULL;
    enum weir_status status = weir_rejects_init(&rejects, source, err);
    *ret = 0;
    if (status)
        return status;
    while ((status = weir_rejects_next(&rejects, &reject, err)) == WEIR_OK && reject)
        *ret += reject->row;
    weir_rejects_release(&rejects);
    return status;
}

START_TEST(a_rejected_row_is_not_given_before_all_finished_ones_were_looked_at)
{
    bool failed = true;
    int errors = 0;
    make_job_of_spans();
    struct weir_journal *journal = open_job();
    for (int call = 1; failed; call++) {
        uint64_t rows = 0;
        struct weir_error err = { 0 };
        let_fail(call, codes[_i]);
        enum weir_status status = read_rejects(weir_journal_view(journal), &rows, &err);
        failed = has_failed();
        ck_assert_msg(failed == (status != WEIR_OK), "call %d: %s", call, err.message);
        ck_assert_uint_eq(rows, failed ? 0 : SPANS * 10 + 9);
        errors += failed;
    }
    ck_assert_int_gt(errors, SPANS); /* each span has its call */
    weir_journal_free(journal);
}
END_TEST

/* --- writing ---------------------------------------------------------------------------------- */

/* Make a job, add records, close it; whatever becomes of it. */
static bool write_job(void)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    if (weir_journal_new(job_dir, &facts, &watch, NULL, &journal, &err)) {
        ck_assert(err.message[0] != '\0');
        return false;
    }
    enum weir_status status = add_numbered(journal, 1, RECORDS, &err);
    if (!status)
        status = weir_journal_finish(journal, &err);
    ck_assert(!status || err.message[0]);
    weir_journal_free(journal);
    return status == WEIR_OK;
}

START_TEST(what_was_durable_is_there_whichever_call_of_the_writer_failed)
{
    bool failed = true;
    int errors = 0;
    for (int call = 1; failed; call++) {
        make_scratch();
        let_fail(call, codes[_i]);
        bool written = write_job();
        failed = has_failed();
        ck_assert(failed || written);
        errors += !written;
        uint64_t durable = reports.durable;
        if (!has_file("journal.db")) {
            ck_assert(!written && !durable);
            continue;
        }
        forget_reports();
        uint64_t there = check_numbered();
        ck_assert_msg(there >= durable && there <= RECORDS, "call %d: %llu of %llu", call,
                      (unsigned long long)there, (unsigned long long)durable);
        ck_assert(!written || there == RECORDS);
    }
    ck_assert_int_gt(errors, 30);
}
END_TEST

static const struct weir_note first_notes[] = {
    { { "first", 5 }, { "said at the beginning", 21 } },
    { { "second", 6 }, { "said then", 9 } },
};

static void check_notes(void)
{
    struct weir_journal *journal = open_job();
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        ck_assert_int_eq(weir_journal_note(journal, first_notes[i].name.ptr, &text, NULL), WEIR_OK);
        ck_assert_str_eq(text, first_notes[i].text.ptr);
        free(text);
    }
    weir_journal_free(journal);
}

START_TEST(a_job_has_all_the_notes_it_was_made_with_or_is_not_there)
{
    struct weir_job_facts facts = sample_facts();
    bool failed = true;
    int absent = 0;
    facts.notes = first_notes;
    facts.note_count = 2;
    for (int call = 1; failed; call++) {
        struct weir_journal *journal = NULL;
        struct weir_error err = { 0 };
        make_scratch();
        let_fail(call, codes[_i]);
        enum weir_status status = weir_journal_new(job_dir, &facts, &watch, NULL, &journal, &err);
        failed = has_failed();
        weir_journal_free(journal);
        ck_assert_msg(status ? failed && err.message[0] : has_file("journal.db"), "call %d", call);
        if (has_file("journal.db"))
            check_notes();
        else
            absent++;
    }
    ck_assert_int_gt(absent, 10);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal_calls");
    int count = sizeof(codes) / sizeof(codes[0]);
    suite_add_loop(&s, "a_call_that_fails_is_an_error_and_never_a_shorter_answer",
                   a_call_that_fails_is_an_error_and_never_a_shorter_answer, count);
    suite_add_loop(&s, "a_job_that_cannot_be_read_is_listed_with_what_is_wrong",
                   a_job_that_cannot_be_read_is_listed_with_what_is_wrong, count);
    suite_add_loop(&s, "what_was_durable_is_there_whichever_call_of_the_writer_failed",
                   what_was_durable_is_there_whichever_call_of_the_writer_failed, count);
    suite_add_loop(&s, "a_rejected_row_is_not_given_before_all_finished_ones_were_looked_at",
                   a_rejected_row_is_not_given_before_all_finished_ones_were_looked_at, count);
    suite_add_loop(&s, "a_job_has_all_the_notes_it_was_made_with_or_is_not_there",
                   a_job_has_all_the_notes_it_was_made_with_or_is_not_there, count);
    return suite_run(&s);
}
