/* SPDX-License-Identifier: MIT */
/*
 * How a journal comes into being: whole, synced before it has its name, with notes; and how one of
 * an older version becomes one of this.
 */
#include <sqlite3.h>

#include "journal/sql.h"
#include "support/journal_rig.h"

/* --- a new one -------------------------------------------------------------------------------- */

static void expect_note(struct weir_journal *journal, const char *name, const char *text)
{
    char *is = NULL;
    ck_assert_int_eq(weir_journal_note(journal, name, &is, NULL), WEIR_OK);
    ck_assert_str_eq(is, text);
    free(is);
}

/* What was synced, in order: its path and what it had then. */
static struct {
    char path[400];
    struct weir_buf bytes;
} synced[8];
static int sync_count;

static void read_all(const char *path, struct weir_buf *bytes)
{
    char chunk[4096];
    FILE *file = fopen(path, "rb");
    weir_buf_init(bytes, TEXT_MAX);
    for (size_t len; file && (len = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        weir_buf_add(bytes, chunk, len);
    if (file)
        fclose(file);
}

static int note_fsync(void *ctx, int fd)
{
    char link[64];
    (void)ctx;
    must(sync_count < 8);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    must(readlink(link, synced[sync_count].path, sizeof(synced->path) - 1) > 0);
    read_all(synced[sync_count].path, &synced[sync_count].bytes);
    sync_count++;
    return fsync(fd);
}

/* Number `i` was the file of that name, and it is as it was then. */
static void expect_synced(int i, const char *directory, const char *name)
{
    struct weir_buf now;
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    ck_assert_str_eq(synced[i].path, path);
    read_all(path, &now);
    ck_assert_uint_gt(now.len, 0);
    ck_assert(same_text(&now, &synced[i].bytes));
    weir_buf_release(&now);
}

static int check_rename(void *ctx, const char *from, const char *to)
{
    (void)ctx;
    ck_assert_int_eq(sync_count, 3);
    expect_synced(0, from, "journal.db");
    expect_synced(1, from, "journal.seal");
    ck_assert_str_eq(synced[2].path, from);
    return rename(from, to);
}

/* Database, seal, directory; then, in its place, the parent: it is durable, with its notes. */
START_TEST(a_job_is_made_with_notes_and_four_syncs_and_nothing_is_committed_after_that)
{
    static const struct weir_note notes[] = { { { "reach", 5 }, { "20000", 5 } },
                                              { { "table account", 13 }, { "{}", 2 } } };
    struct weir_job_facts facts = sample_facts();
    struct weir_journal_io io = weir_journal_io_system;
    struct weir_journal_hooks hooks = { .io = &io };
    struct weir_journal *journal = NULL;
    uint64_t serial = 0;
    make_scratch();
    io.fsync = note_fsync;
    io.rename = check_rename;
    facts.notes = notes;
    facts.note_count = 2;
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, NULL), WEIR_OK);
    ck_assert_int_eq(sync_count, 4);
    ck_assert_str_eq(synced[3].path, scratch);
    ck_assert_uint_eq(weir_journal_runs(journal), 1);
    struct stat log;
    char path[400];
    snprintf(path, sizeof(path), "%s/journal.db-wal", job_dir);
    ck_assert_int_eq(stat(path, &log), 0);
    ck_assert_int_eq(log.st_size, 0);
    expect_note(journal, "reach", "20000");
    expect_note(journal, "table account", "{}");
    struct weir_note later = { weir_str_from("reach"), weir_str_from("30000") };
    ck_assert_int_eq(weir_journal_add_note(journal, &later, &serial, NULL), WEIR_OK);
    ck_assert_uint_eq(serial, 3);
    weir_journal_free(journal);
    journal = open_job();
    ck_assert_uint_eq(weir_journal_runs(journal), 2);
    expect_note(journal, "reach", "30000");
    expect_note(journal, "table account", "{}");
    weir_journal_free(journal);
    for (int i = 0; i < sync_count; i++)
        weir_buf_release(&synced[i].bytes);
    sync_count = 0;
}
END_TEST

/* --- an older one ----------------------------------------------------------------------------- */

static int64_t version_of(const char *path)
{
    sqlite3 *db;
    int64_t version = 0;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(weir_sql_number(db, "PRAGMA user_version", &version, NULL), WEIR_OK);
    sqlite3_close(db);
    return version;
}

/* Version 1 had the same tables, and all ids in them. */
START_TEST(a_journal_of_version_1_is_gone_on_with_and_is_of_version_2_from_then_on)
{
    struct weir_range range = { .first = 1, .last = 8 };
    struct weir_buf ids;
    char path[400];
    sqlite3 *db;
    make_scratch();
    struct weir_journal *journal = make_job();
    memset(numbered_ids, 0x5a, sizeof(numbered_ids));
    range.ids = weir_str(numbered_ids, sizeof(numbered_ids));
    ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
    weir_journal_free(journal);
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    ck_assert_int_eq(version_of(path), 2);
    sqlite3_open(path, &db);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version=1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    forget_reports();
    journal = open_job();
    range = (struct weir_range){ .first = 9, .last = 9, .ids_made = true };
    ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
    finish_job(journal);
    ck_assert_int_eq(weir_export_ids(journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    ck_assert_int_eq(version_of(path), 2);
    weir_buf_init(&ids, TEXT_MAX);
    slurp("ids.csv", &ids);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&ids), "\n8,5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a\n"
                                                      "9,01020304-0506-8708-890a-6553f1000009\n"));
    weir_buf_release(&ids);
    weir_journal_free(open_job());
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal made");
    suite_add(&s, a_job_is_made_with_notes_and_four_syncs_and_nothing_is_committed_after_that);
    suite_add(&s, a_journal_of_version_1_is_gone_on_with_and_is_of_version_2_from_then_on);
    return suite_run(&s);
}
