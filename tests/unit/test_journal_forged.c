/* SPDX-License-Identifier: MIT */
/*
 * Journals in which somebody has changed something and put the check sums right: what cannot be is
 * refused, and what could be but is not what was sealed as well.
 */
#include <sqlite3.h>

#include "journal/state.h"
#include "support/journal_rig.h"

static sqlite3 *db;

/* A job with twenty records, open for changes. */
static void open_for_forging(void)
{
    char path[400];
    make_scratch();
    struct weir_journal *journal = make_job();
    ck_assert_int_eq(add_numbered(journal, 1, 20, NULL), WEIR_OK);
    finish_job(journal);
    weir_journal_free(journal);
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void run_sql(const char *format, ...) WEIR_PRINTF(1, 2);
static void run_sql(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, &message) == SQLITE_OK, "%s: %s", text,
                  message);
}

static void expect_damaged(const char *words)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    sqlite3_close(db);
    forget_reports();
    ck_assert_int_eq(weir_journal_open(job_dir, &watch, NULL, &journal, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s, not: %s", err.message, words);
    ck_assert_ptr_null(journal);
    remove_scratch();
}

/* --- facts ------------------------------------------------------------------------------------ */

static void forge_fact(const char *name, const char *value)
{
    uint32_t crc = weir_crc_text(weir_crc_text(0, weir_str_from(name)), weir_str_from(value));
    run_sql("UPDATE facts SET value='%s', crc=%u WHERE name='%s'", value, crc, name);
    ck_assert_int_eq(sqlite3_changes(db), 1);
}

START_TEST(facts_that_cannot_be_are_refused_though_their_sums_are_right)
{
    static const struct {
        const char *name;
        const char *value;
        const char *words;
    } cases[] = {
        { "started_us", "yesterday", "a fact of the job is no number" },
        { "inputs", "many", "a fact of the job is no number" },
        { "inputs", "-1", "an impossible number of input files" },
        { "inputs", "10001", "an impossible number of input files" },
        { "inputs", "3", "an input file is missing" },
        { "id_bytes", "123456789", "id bytes are not ten" },
        { "table", "contact", "its facts are not those it was made with" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_for_forging();
        forge_fact(cases[i].name, cases[i].value);
        expect_damaged(cases[i].words);
    }
}
END_TEST

/* The second of two files is called the third, and its sum is right. */
START_TEST(an_input_file_out_of_its_place_is_refused_though_its_sum_is_right)
{
    open_for_forging();
    uint32_t crc = weir_crc_text(weir_crc_number(0, 2), weir_str_from(sample_inputs[1].path));
    for (int i = 0; i < 4; i++) /* all its numbers are 0 */
        crc = weir_crc_number(crc, 0);
    run_sql("UPDATE inputs SET file=2, crc=%u WHERE file=1", crc);
    ck_assert_int_eq(sqlite3_changes(db), 1);
    expect_damaged("an input file has a wrong checksum");
}
END_TEST

/* --- records ---------------------------------------------------------------------------------- */

static struct weir_state read_state(void)
{
    struct weir_state state;
    ck_assert_int_eq(weir_state_read(db, &state, NULL), WEIR_OK);
    return state;
}

static void write_state(const struct weir_state *state)
{
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_prepare_v2(db, weir_state_replace, -1, &statement, NULL), SQLITE_OK);
    weir_state_bind(statement, state);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
}

/* What was record `before` is `after` now, in the tally of its kind. */
static void recount(const struct weir_entry *before, const struct weir_entry *after)
{
    struct weir_state state = read_state();
    weir_tally_remove(&state.tally[before->kind], weir_entry_crc(before));
    weir_tally_add(&state.tally[after->kind], weir_entry_crc(after));
    write_state(&state);
}

START_TEST(a_record_that_cannot_be_is_refused_though_its_sum_is_right)
{
    open_for_forging();
    struct weir_entry before = numbered(1);
    struct weir_entry after = numbered(1);
    after.range.last = after.range.first - 1;
    run_sql("UPDATE ranges SET last_row=%llu, crc=%u WHERE serial=1",
            (unsigned long long)after.range.last, weir_entry_crc(&after));
    recount(&before, &after);
    expect_damaged("a record is impossible");
}
END_TEST

START_TEST(a_record_of_a_later_time_is_out_of_order)
{
    open_for_forging();
    struct weir_entry before = numbered(1);
    struct weir_entry after = numbered(1);
    after.serial = 1000;
    run_sql("UPDATE ranges SET serial=1000, crc=%u WHERE serial=1", weir_entry_crc(&after));
    recount(&before, &after);
    expect_damaged("a record is out of order");
}
END_TEST

/* One number stands for ids that are made; another one is not taken for it. */
START_TEST(a_number_in_place_of_ids_that_stands_for_nothing_is_refused)
{
    ck_assert(numbered(4).range.ids_made);
    open_for_forging();
    run_sql("UPDATE ranges SET ids=2 WHERE serial=4");
    ck_assert_int_eq(sqlite3_changes(db), 1);
    expect_damaged("a record has a wrong checksum");
}
END_TEST

START_TEST(a_record_in_place_of_another_is_missed)
{
    open_for_forging();
    struct weir_entry after = numbered(15);
    after.note.text = weir_str_from("said by somebody else");
    run_sql("UPDATE notes SET text='said by somebody else', crc=%u WHERE serial=15",
            weir_entry_crc(&after));
    expect_damaged("records are missing");
}
END_TEST

/* Everything in the database is as it should be: only the seal knows better. */
START_TEST(a_story_that_is_whole_but_another_is_not_what_was_sealed)
{
    open_for_forging();
    struct weir_entry before = numbered(15);
    struct weir_entry after = numbered(15);
    ck_assert_int_eq(before.kind, WEIR_ENTRY_NOTE);
    before.crc = weir_entry_crc(&before);
    struct weir_state state = read_state();
    weir_tally_remove(&state.tally[WEIR_ENTRY_NOTE], before.crc);
    after.note.text = weir_str_from("said by somebody else");
    weir_tally_add(&state.tally[WEIR_ENTRY_NOTE], weir_entry_crc(&after));
    run_sql("UPDATE notes SET text='said by somebody else', crc=%u WHERE serial=15",
            weir_entry_crc(&after));
    write_state(&state);
    expect_damaged("it is not what was sealed");
}
END_TEST

START_TEST(a_database_that_is_no_journal_is_refused)
{
    static const struct {
        const char *change;
        const char *words;
    } cases[] = {
        { "PRAGMA application_id=1", "not a journal of weir" },
        { "PRAGMA user_version=0", "not a journal of weir" },
        { "CREATE INDEX another ON notes(serial)", "its tables are not as they were made" },
        { "DROP INDEX rejects_by_row", "its tables are not as they were made" },
        { "DROP TABLE notes", "its tables are not as they were made" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_for_forging();
        run_sql("%s", cases[i].change);
        expect_damaged(cases[i].words);
    }
}
END_TEST

/* --- nobody's fault --------------------------------------------------------------------------- */

/* Its log is left to the next opening. */
START_TEST(whoever_reads_beside_it_keeps_no_journal_from_its_end)
{
    char path[400];
    make_scratch();
    struct weir_journal *journal = make_job();
    ck_assert_int_eq(add_numbered(journal, 1, 20, NULL), WEIR_OK);
    wait_durable(journal, 20);
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    run_sql("BEGIN; SELECT count(*) FROM ranges");
    ck_assert_int_eq(add_numbered(journal, 21, 5, NULL), WEIR_OK);
    finish_job(journal);
    weir_journal_free(journal);
    ck_assert_int_eq(access(strcat(path, "-wal"), F_OK), 0);
    sqlite3_close(db);
    journal = open_job();
    finish_job(journal);
    weir_journal_free(journal);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal_forged");
    suite_add(&s, facts_that_cannot_be_are_refused_though_their_sums_are_right);
    suite_add(&s, an_input_file_out_of_its_place_is_refused_though_its_sum_is_right);
    suite_add(&s, a_record_that_cannot_be_is_refused_though_its_sum_is_right);
    suite_add(&s, a_record_of_a_later_time_is_out_of_order);
    suite_add(&s, a_number_in_place_of_ids_that_stands_for_nothing_is_refused);
    suite_add(&s, a_record_in_place_of_another_is_missed);
    suite_add(&s, a_story_that_is_whole_but_another_is_not_what_was_sealed);
    suite_add(&s, a_database_that_is_no_journal_is_refused);
    suite_add(&s, whoever_reads_beside_it_keeps_no_journal_from_its_end);
    return suite_run(&s);
}
