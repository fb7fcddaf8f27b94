/* SPDX-License-Identifier: MIT */
/* The journal when nothing breaks: making, holding, refusing, resuming, adding. */
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/journal_rig.h"

static mode_t mode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* --- making and resuming ---------------------------------------------------------------------- */

START_TEST(what_was_added_is_there_when_the_job_is_resumed)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    ck_assert_uint_eq(weir_journal_runs(journal), 1);
    ck_assert_int_eq(add_numbered(journal, 1, 1000, NULL), WEIR_OK);
    finish_job(journal);
    ck_assert_uint_eq(reports.durable, 1000);
    ck_assert_uint_eq(weir_journal_pending(journal).records, 0);
    ck_assert_uint_eq(weir_journal_pending(journal).bytes, 0);
    weir_journal_free(journal);
    ck_assert_uint_eq(check_numbered(), 1000);
    forget_reports();
    journal = open_job();
    ck_assert_uint_eq(weir_journal_runs(journal), 3);
    ck_assert_int_eq(add_numbered(journal, 1001, 500, NULL), WEIR_OK);
    weir_journal_free(journal); /* a clean close commits too */
    ck_assert_uint_eq(check_numbered(), 1500);
}
END_TEST

START_TEST(a_job_is_private_and_leaves_one_database_file_when_it_is_closed)
{
    make_scratch();
    umask(0);
    struct weir_journal *journal = make_job();
    add_numbered(journal, 1, 100, NULL);
    wait_durable(journal, 100);
    char path[400];
    static const char *const files[] = { "journal.db", "journal.db-wal", "journal.seal", "lock" };
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", job_dir, files[i]);
        ck_assert_int_eq(mode_of(path), 0600);
    }
    ck_assert_int_eq(mode_of(job_dir), 0700);
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    ck_assert(!has_file("journal.db-wal") && !has_file("journal.db-shm"));
    snprintf(path, sizeof(path), "%s/rejects.csv", job_dir);
    ck_assert_int_eq(mode_of(path), 0600);
}
END_TEST

static void expect_new(const char *directory, enum weir_status want, const char *message)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_new(directory, &facts, NULL, NULL, &journal, &err);
    ck_assert_msg(status == want && strstr(err.message, message), "%d: %s", (int)status,
                  err.message);
    ck_assert_ptr_null(journal);
}

static void expect_open(enum weir_status want, const char *message)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_open(job_dir, NULL, NULL, &journal, &err);
    ck_assert_msg(status == want && strstr(err.message, message), "%d: %s", (int)status,
                  err.message);
    ck_assert_ptr_null(journal);
}

static int entries(const char *directory)
{
    char command[400];
    int count = -1;
    snprintf(command, sizeof(command), "ls -A '%s' | wc -l", directory);
    FILE *pipe = popen(command, "r");
    ck_assert_int_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

START_TEST(a_directory_that_is_taken_is_refused_and_left_as_it_was)
{
    char path[400];
    make_scratch();
    weir_journal_free(make_job());
    expect_new(job_dir, WEIR_E_INVALID, "there is a job in");
    snprintf(path, sizeof(path), "%s/other", scratch);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/other/thing", scratch);
    fclose(fopen(path, "w"));
    expect_new(path, WEIR_E_INVALID, "");
    snprintf(path, sizeof(path), "%s/other", scratch);
    expect_new(path, WEIR_E_INVALID, "is not empty");
    ck_assert_int_eq(entries(path), 1);
    ck_assert_int_eq(entries(scratch), 2);
}
END_TEST

START_TEST(an_empty_directory_is_taken_and_missing_parents_are_made)
{
    make_scratch();
    ck_assert_int_eq(mkdir(job_dir, 0755), 0);
    weir_journal_free(make_job());
    ck_assert_int_eq(mode_of(job_dir), 0700);
    snprintf(job_dir, sizeof(job_dir), "%s/a/b//c/", scratch);
    weir_journal_free(make_job());
    ck_assert_uint_eq(check_numbered(), 0);
    ck_assert_int_eq(chdir(scratch), 0);
    snprintf(job_dir, sizeof(job_dir), "plain");
    struct weir_journal *journal = make_job();
    ck_assert_int_eq(chdir("/"), 0);
    add_numbered(journal, 1, 10, NULL);
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    ck_assert_int_eq(chdir(scratch), 0);
    ck_assert_uint_eq(check_numbered(), 10);
}
END_TEST

START_TEST(where_there_is_no_job_none_is_resumed)
{
    make_scratch();
    expect_open(WEIR_E_NOT_FOUND, "there is no job in");
    ck_assert_int_eq(mkdir(job_dir, 0700), 0);
    expect_open(WEIR_E_NOT_FOUND, "there is no job in");
    ck_assert_int_eq(entries(job_dir), 0);
}
END_TEST

START_TEST(a_second_process_is_refused_and_told_who_holds_the_job)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    char who[64];
    snprintf(who, sizeof(who), "in use by process %d", (int)getpid());
    pid_t child = fork();
    if (child == 0) {
        struct weir_journal *other = NULL;
        struct weir_error err = { 0 };
        enum weir_status status = weir_journal_open(job_dir, NULL, NULL, &other, &err);
        _exit(status == WEIR_E_INVALID && strstr(err.message, who) ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    /* Deleting the lock does not unlock. */
    char path[400];
    snprintf(path, sizeof(path), "%s/lock", job_dir);
    unlink(path);
    expect_open(WEIR_E_INVALID, "another process works on the job");
    weir_journal_free(journal);
    weir_journal_free(open_job());
}
END_TEST

START_TEST(an_older_program_refuses_a_newer_schema_and_what_is_no_journal)
{
    char path[400];
    sqlite3 *db;
    make_scratch();
    weir_journal_free(make_job());
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    sqlite3_open(path, &db);
    sqlite3_exec(db, "PRAGMA user_version=3", NULL, NULL, NULL);
    sqlite3_close(db);
    expect_open(WEIR_E_INVALID, "the journal has version \"3\"");
    sqlite3_open(path, &db);
    sqlite3_exec(db, "PRAGMA user_version=1; PRAGMA application_id=7", NULL, NULL, NULL);
    sqlite3_close(db);
    expect_open(WEIR_E_INVALID, "not a journal of weir");
    FILE *file = fopen(path, "w");
    fputs("this is a text", file);
    fclose(file);
    expect_open(WEIR_E_INVALID, "the journal is damaged");
    file = fopen(path, "w");
    fclose(file);
    expect_open(WEIR_E_INVALID, "the journal is damaged");
}
END_TEST

/* Put in by hand, with a checksum that fits: only the account of the whole can tell. */
START_TEST(a_record_that_was_removed_or_added_by_hand_is_missed)
{
    static const char *const changes[] = {
        "DELETE FROM ranges WHERE serial=1",
        "DELETE FROM rejects WHERE serial=3",
        "DELETE FROM blocks WHERE serial=5",
        "DELETE FROM notes WHERE serial=7",
        "DELETE FROM inputs WHERE file=1",
        "UPDATE inputs SET on_disk=1 WHERE file=1",
        "DELETE FROM facts WHERE name='table'",
        "DELETE FROM state",
        "UPDATE ranges SET last_row=last_row+1 WHERE serial=1",
        "UPDATE ranges SET file=1 WHERE serial=1",
        "UPDATE rejects SET file=1 WHERE serial=3",
        "UPDATE rejects SET key_hash=key_hash+1 WHERE serial=3",
        "UPDATE blocks SET bytes=bytes+1 WHERE serial=5",
        "UPDATE blocks SET last=NOT last WHERE serial=5",
        "UPDATE rejects SET message='other' WHERE serial=3",
        "UPDATE facts SET value='contact' WHERE name='table'",
        "UPDATE state SET serial=serial-1",
        "CREATE TABLE more(x)",
        "DROP INDEX ranges_by_row",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char path[400];
        sqlite3 *db;
        make_scratch();
        struct weir_journal *journal = make_job();
        forget_reports();
        add_numbered(journal, 1, 20, NULL);
        weir_journal_free(journal);
        snprintf(path, sizeof(path), "%s/journal.db", job_dir);
        sqlite3_open(path, &db);
        ck_assert_int_eq(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        expect_open(WEIR_E_INVALID, "the journal is damaged");
        remove_scratch();
    }
}
END_TEST

/* --- adding ----------------------------------------------------------------------------------- */

static void expect_refused(struct weir_journal *journal, struct weir_entry record,
                           enum weir_status want)
{
    struct weir_error err = { 0 };
    enum weir_status status = add_record(journal, &record, NULL, &err);
    ck_assert_msg(status == want && err.message[0], "%d: %s", (int)status, err.message);
}

START_TEST(impossible_records_are_refused_and_cost_no_serial)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    struct weir_entry range = { .kind = WEIR_ENTRY_RANGE, .range = { .first = 5, .last = 9 } };
    struct weir_entry wrong = range;
    wrong.range.last = 4;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = range;
    wrong.range.pass = WEIR_JOURNAL_PASSES;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = range;
    wrong.range.file = WEIR_JOURNAL_INPUTS_MAX;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = (struct weir_entry){ .kind = WEIR_ENTRY_BLOCK };
    wrong.block.file = WEIR_JOURNAL_INPUTS_MAX;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = (struct weir_entry){ .kind = WEIR_ENTRY_REJECT };
    wrong.reject.file = WEIR_JOURNAL_INPUTS_MAX;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = range;
    wrong.range.outcome = WEIR_RANGE_OUTCOMES;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = range;
    wrong.range.ids = weir_str(numbered_ids, 16 * 4);
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong.range.ids = weir_str(numbered_ids, 16 * 5 + 1);
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong.range.ids = weir_str(numbered_ids, 16 * 5);
    wrong.range.ids_made = true;
    expect_refused(journal, wrong, WEIR_E_INVALID);
    wrong = range;
    wrong.range.last = WEIR_JOURNAL_ROW_MAX + 1;
    expect_refused(journal, wrong, WEIR_E_TOO_BIG);
    char *big = weir_calloc(WEIR_JOURNAL_RECORD_MAX + 1, 1);
    wrong = (struct weir_entry){ .kind = WEIR_ENTRY_REJECT };
    wrong.reject.bytes = weir_str(big, WEIR_JOURNAL_RECORD_MAX + 1);
    expect_refused(journal, wrong, WEIR_E_TOO_BIG);
    wrong.reject.bytes.len = 0;
    wrong.reject.message = weir_str(big, WEIR_JOURNAL_TEXT_MAX + 1);
    expect_refused(journal, wrong, WEIR_E_TOO_BIG);
    wrong = (struct weir_entry){ .kind = WEIR_ENTRY_NOTE };
    wrong.note.name = weir_str(big, WEIR_JOURNAL_NAME_MAX + 1);
    expect_refused(journal, wrong, WEIR_E_TOO_BIG);
    wrong.note =
        (struct weir_note){ weir_str_from("n"), weir_str(big, WEIR_JOURNAL_RECORD_MAX + 1) };
    expect_refused(journal, wrong, WEIR_E_TOO_BIG);
    ck_assert_int_eq(add_numbered(journal, 1, 1, NULL), WEIR_OK);
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *other = NULL;
    facts.header = weir_str(big, WEIR_JOURNAL_FACT_MAX + 1);
    ck_assert_int_eq(weir_journal_new("x", &facts, NULL, NULL, &other, NULL), WEIR_E_TOO_BIG);
    facts = sample_facts();
    facts.suffix = "../x";
    ck_assert_int_eq(weir_journal_new("x", &facts, NULL, NULL, &other, NULL), WEIR_E_INVALID);
    facts = sample_facts();
    facts.input_count = WEIR_JOURNAL_INPUTS_MAX + 1;
    ck_assert_int_eq(weir_journal_new("x", &facts, NULL, NULL, &other, NULL), WEIR_E_TOO_BIG);
    facts = sample_facts();
    facts.notes = &wrong.note;
    facts.note_count = 1;
    ck_assert_int_eq(weir_journal_new("x", &facts, NULL, NULL, &other, NULL), WEIR_E_TOO_BIG);
    free(big);
    weir_journal_free(journal);
}
END_TEST

/* The thread is held at a fault point, so that nothing leaves the queue. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void hold_commits(void *ctx, enum weir_point point)
{
    (void)ctx;
    if (point == WEIR_POINT_BEFORE_INSERT) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
}

START_TEST(the_queue_is_bounded_in_bytes_and_says_what_awaits_commit)
{
    make_scratch();
    struct weir_job_facts facts = sample_facts();
    struct weir_journal_hooks hooks = { .at = hold_commits };
    struct weir_journal *journal = NULL;
    struct weir_error err;
    char *bytes = weir_calloc(WEIR_JOURNAL_RECORD_MAX, 1);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, NULL), WEIR_OK);
    pthread_mutex_lock(&gate);
    struct weir_entry record = { .kind = WEIR_ENTRY_REJECT };
    record.reject.bytes = weir_str(bytes, (size_t)1024 * 1024);
    uint64_t count = 0;
    enum weir_status status;
    while ((status = add_record(journal, &record, NULL, &err)) == WEIR_OK) {
        record.reject.row = ++count;
        must(weir_journal_pending(journal).records == count);
        must(weir_journal_pending(journal).bytes <= WEIR_JOURNAL_QUEUE_BYTES_MAX);
    }
    ck_assert_int_eq(status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_eq(count, WEIR_JOURNAL_QUEUE_BYTES_MAX / (1024 * 1024) - 1);
    pthread_mutex_unlock(&gate);
    wait_durable(journal, count);
    ck_assert_uint_eq(weir_journal_pending(journal).bytes, 0);
    record.reject.bytes = weir_str(bytes, WEIR_JOURNAL_RECORD_MAX); /* the largest there may be */
    ck_assert_int_eq(add_record(journal, &record, NULL, NULL), WEIR_OK);
    finish_job(journal);
    ck_assert_int_eq(add_record(journal, &record, NULL, NULL), WEIR_E_SHUTDOWN);
    weir_journal_free(journal);
    weir_journal_free(open_job());
    free(bytes);
}
END_TEST

static void look_at_signals(void *ctx, enum weir_point point)
{
    sigset_t *blocked = ctx;
    if (point == WEIR_POINT_AFTER_COMMIT)
        pthread_sigmask(SIG_SETMASK, NULL, blocked);
}

/* A handler of the program runs in a thread of the program. */
START_TEST(no_signal_is_handled_in_the_journals_thread)
{
    make_scratch();
    struct weir_job_facts facts = sample_facts();
    sigset_t before, blocked;
    sigemptyset(&blocked);
    struct weir_journal_hooks hooks = { .at = look_at_signals, .ctx = &blocked };
    struct weir_journal *journal = NULL;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, NULL), WEIR_OK);
    ck_assert_int_eq(add_numbered(journal, 1, 1, NULL), WEIR_OK);
    finish_job(journal);
    weir_journal_free(journal);
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE };
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        ck_assert_int_eq(sigismember(&before, signals[i]), 0);
        ck_assert_int_eq(sigismember(&blocked, signals[i]), 1);
    }
}
END_TEST

START_TEST(records_are_committed_in_groups_and_also_when_no_more_come)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    add_numbered(journal, 1, 6400, NULL);
    finish_job(journal);
    ck_assert_uint_le(reports.commits, 101);
    weir_journal_free(journal);
    forget_reports();
    journal = open_job();
    add_numbered(journal, 6401, 1, NULL);
    int64_t until_us = weir_clock_now_us() + 60 * WEIR_US_PER_S;
    while (weir_journal_pending(journal).records > 0) {
        must(weir_clock_now_us() < until_us);
        poll(NULL, 0, 5);
    }
    weir_journal_free(journal);
    ck_assert_uint_eq(check_numbered(), 6401);
}
END_TEST

START_TEST(the_last_note_counts)
{
    make_scratch();
    struct weir_journal *journal = make_job();
    char *text = NULL;
    for (int i = 0; i < 300; i++) {
        snprintf(numbered_texts[0], sizeof(numbered_texts[0]), "%d", i);
        struct weir_note note = { weir_str_from("level"), weir_str_from(numbered_texts[0]) };
        ck_assert_int_eq(weir_journal_add_note(journal, &note, NULL, NULL), WEIR_OK);
    }
    finish_job(journal);
    weir_journal_free(journal);
    journal = open_job();
    ck_assert_int_eq(weir_journal_note(journal, "level", &text, NULL), WEIR_OK);
    ck_assert_str_eq(text, "299");
    free(text);
    ck_assert_int_eq(weir_journal_note(journal, "nothing", &text, NULL), WEIR_E_NOT_FOUND);
    weir_journal_free(journal);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal");
    suite_add(&s, what_was_added_is_there_when_the_job_is_resumed);
    suite_add(&s, a_job_is_private_and_leaves_one_database_file_when_it_is_closed);
    suite_add(&s, a_directory_that_is_taken_is_refused_and_left_as_it_was);
    suite_add(&s, an_empty_directory_is_taken_and_missing_parents_are_made);
    suite_add(&s, where_there_is_no_job_none_is_resumed);
    suite_add(&s, a_second_process_is_refused_and_told_who_holds_the_job);
    suite_add(&s, an_older_program_refuses_a_newer_schema_and_what_is_no_journal);
    suite_add(&s, a_record_that_was_removed_or_added_by_hand_is_missed);
    suite_add(&s, impossible_records_are_refused_and_cost_no_serial);
    suite_add(&s, the_queue_is_bounded_in_bytes_and_says_what_awaits_commit);
    suite_add(&s, no_signal_is_handled_in_the_journals_thread);
    suite_add(&s, records_are_committed_in_groups_and_also_when_no_more_come);
    suite_add(&s, the_last_note_counts);
    return suite_run(&s);
}
