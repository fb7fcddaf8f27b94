/* SPDX-License-Identifier: MIT */
/*
 * Every call that reaches the disk fails once: SQLite's through a file system that does so on
 * demand, the journal's own through its table of calls. Whatever fails, the failure is reported
 * once and clearly, nothing is written after it, nothing was called durable that is not there, and
 * the job can be resumed once the disk works again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "journal/jobs.h"
#include "support/flaky_vfs.h"
#include "support/journal_rig.h"

#define GROUPS     6
#define GROUP_SIZE 30

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

/* Until nothing awaits commit, or it never will. */
static void settle_group(struct weir_journal *journal)
{
    int64_t until_us = weir_clock_now_us() + 60 * WEIR_US_PER_S;
    weir_journal_hurry(journal);
    for (bool waiting = true; waiting;) {
        pthread_mutex_lock(&reports.lock);
        waiting = reports.failures == 0;
        pthread_mutex_unlock(&reports.lock);
        waiting = waiting && weir_journal_pending(journal).records > 0;
        must(weir_clock_now_us() < until_us);
        sched_yield();
    }
}

/* A whole job, from its making to its exports; the first failure ends it. */
static enum weir_status scenario(const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    enum weir_status status = weir_journal_new(job_dir, &facts, &watch, hooks, &journal, err);
    for (uint64_t i = 0; i < GROUPS && status == WEIR_OK; i++) {
        status = add_numbered(journal, 1 + i * GROUP_SIZE, GROUP_SIZE, err);
        if (status == WEIR_OK)
            settle_group(journal);
    }
    if (journal && status == WEIR_OK)
        status = weir_journal_finish(journal, err);
    if (journal && status == WEIR_OK)
        status = weir_export_all(journal, err);
    if (journal && status == WEIR_OK)
        status = weir_export_summary(journal, weir_str_from("{}"), err);
    if (journal && reports.failures) { /* latched: it says the same again, and again */
        struct weir_error again = { 0 };
        must(add_numbered(journal, 999, 1, &again) == reports.failure.status);
        must(strcmp(again.message, reports.failure.message) == 0);
        must(weir_journal_finish(journal, NULL) == reports.failure.status);
    }
    weir_journal_free(journal);
    return status;
}

/* With the disk as it should be: what was reported is there, and the job goes on. */
static void check_afterwards(void)
{
    if (!has_file("journal.db")) {
        ck_assert_uint_eq(reports.durable, 0);
        ck_assert_int_eq(entries(scratch), 0);
        return;
    }
    uint64_t last = check_numbered();
    ck_assert_uint_ge(last, reports.durable);
    forget_reports();
    struct weir_journal *journal = open_job();
    ck_assert_int_eq(add_numbered(journal, last + 1, 50, NULL), WEIR_OK);
    finish_job(journal);
    ck_assert_int_eq(weir_export_all(journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    ck_assert_uint_eq(check_numbered(), last + 50);
}

/* --- SQLite's calls --------------------------------------------------------------------------- */

static void check_message(enum flaky_how how, enum flaky_op op, const struct weir_error *err)
{
    ck_assert_msg(err->status == WEIR_E_IO, "%s: %s", flaky_op_name(op), err->message);
    if (how != FLAKY_ERROR && op == FLAKY_WRITE)
        ck_assert_msg(strstr(err->message, "disk full"), "%s", err->message);
}

/* False: the call did not come that often. */
static bool fail_once(enum flaky_op op, enum flaky_how how, uint64_t nth)
{
    struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    struct weir_error err = { 0 };
    forget_reports();
    flaky_fail(op, how, nth);
    enum weir_status status = scenario(&hooks, &err);
    bool failed = flaky_has_failed();
    uint64_t after = flaky_changes_after();
    bool latched = reports.failures > 0;
    flaky_fail(op, how, 0);
    ck_assert_msg(failed || status == WEIR_OK, "%s", err.message);
    ck_assert_int_le(reports.failures, 1);
    if (status)
        check_message(how, op, &err);
    if (failed && (op == FLAKY_WRITE || op == FLAKY_SYNC))
        ck_assert_msg(status, "%s %d failed and nobody said so", flaky_op_name(op), (int)nth);
    if (latched)
        ck_assert_msg(after == 0, "%s %d: %llu changes after the failure", flaky_op_name(op),
                      (int)nth, (unsigned long long)after);
    check_afterwards();
    remove_tree(job_dir);
    return failed;
}

START_TEST(every_call_of_sqlite_fails_once_and_nothing_is_lost)
{
    enum flaky_op op = (enum flaky_op)(_i / 3);
    enum flaky_how how = (enum flaky_how)(_i % 3);
    const char *seeds = getenv("WEIR_SEEDS");
    bool each = seeds && strtol(seeds, NULL, 10) >= 100000; /* as ./test --full has it */
    uint64_t nth = 1, failed = 0;
    make_scratch();
    flaky_register();
    for (; nth < 2000 && fail_once(op, how, nth); failed++)
        nth += op == FLAKY_READ && !each ? 5 : 1;
    suite_tally(failed, failed);
    ck_assert_uint_gt(nth, op == FLAKY_TRUNCATE || op == FLAKY_DELETE ? 1 : 5);
    ck_assert_uint_lt(nth, 2000);
}
END_TEST

/* --- the journal's own calls ------------------------------------------------------------------ */

enum own {
    OWN_OPEN,
    OWN_PWRITE,
    OWN_FTRUNCATE,
    OWN_FSYNC,
    OWN_RENAME,
    OWN_CALLS
};

static enum own own_failing;
static int own_errno; /* 0: a write is cut short, which is no failure */
static uint64_t own_left;

static bool own_fails(enum own call)
{
    if (call != own_failing || own_left == 0 ||
        __atomic_sub_fetch(&own_left, 1, __ATOMIC_RELAXED) > 0)
        return false;
    errno = own_errno;
    return true;
}

static int own_open(void *ctx, const char *path, int flags, mode_t mode)
{
    return own_fails(OWN_OPEN) ? -1 : weir_journal_io_system.open(ctx, path, flags, mode);
}

static ssize_t own_pwrite(void *ctx, int fd, const void *bytes, size_t len, off_t at)
{
    if (!own_fails(OWN_PWRITE))
        return weir_journal_io_system.pwrite(ctx, fd, bytes, len, at);
    if (own_errno)
        return -1;
    return len > 1 ? weir_journal_io_system.pwrite(ctx, fd, bytes, len / 2, at) : 0;
}

static int own_ftruncate(void *ctx, int fd, off_t len)
{
    return own_fails(OWN_FTRUNCATE) ? -1 : weir_journal_io_system.ftruncate(ctx, fd, len);
}

static int own_fsync(void *ctx, int fd)
{
    return own_fails(OWN_FSYNC) ? -1 : weir_journal_io_system.fsync(ctx, fd);
}

static int own_rename(void *ctx, const char *from, const char *to)
{
    return own_fails(OWN_RENAME) ? -1 : weir_journal_io_system.rename(ctx, from, to);
}

static const struct weir_journal_io own_io = { own_open, own_pwrite, own_ftruncate, own_fsync,
                                               own_rename };

START_TEST(every_call_of_the_journal_itself_fails_once_and_nothing_is_lost)
{
    static const int reasons[] = { EIO, ENOSPC, 0 };
    struct weir_journal_hooks hooks = { .io = &own_io };
    int seen = 0;
    make_scratch();
    own_failing = (enum own)(_i / 3);
    own_errno = reasons[_i % 3];
    if (own_errno == 0 && own_failing != OWN_PWRITE)
        return;
    for (uint64_t nth = 1; nth < 200; nth++) {
        struct weir_error err = { 0 };
        own_left = nth;
        forget_reports();
        enum weir_status status = scenario(&hooks, &err);
        bool came = own_left == 0;
        own_left = 0;
        seen += status != WEIR_OK;
        ck_assert(status == WEIR_OK || status == WEIR_E_IO);
        ck_assert_msg(status == WEIR_OK || own_errno, "a short write is continued: %s",
                      err.message);
        ck_assert_msg(status == WEIR_OK || own_errno != ENOSPC || strstr(err.message, "disk full"),
                      "%s", err.message);
        check_afterwards();
        remove_tree(job_dir);
        if (!came) {
            ck_assert_int_eq(status, WEIR_OK);
            suite_tally(nth, nth - 1);
            ck_assert_int_ge(seen, own_errno && own_failing != OWN_FTRUNCATE ? 4 : 0);
            return;
        }
    }
    ck_abort_msg("there is no end to it");
}
END_TEST

/* --- power ------------------------------------------------------------------------------------ */

static struct weir_journal *start_flaky(uint64_t first)
{
    struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    forget_reports();
    flaky_register();
    flaky_fail(FLAKY_OPEN, FLAKY_ERROR, 0);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, NULL), WEIR_OK);
    ck_assert_int_eq(add_numbered(journal, first, GROUP_SIZE, NULL), WEIR_OK);
    settle_group(journal);
    return journal;
}

START_TEST(a_disk_that_lied_about_fsync_is_found_out)
{
    make_scratch();
    struct weir_journal *journal = start_flaky(1);
    flaky_lie();
    add_numbered(journal, GROUP_SIZE + 1, GROUP_SIZE, NULL);
    settle_group(journal);
    ck_assert_uint_eq(reports.durable, 2 * GROUP_SIZE);
    flaky_cut_power();
    weir_journal_free(journal);
    flaky_forget();
    struct weir_error err = { 0 };
    ck_assert_int_eq(weir_journal_open(job_dir, NULL, NULL, &journal, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, "behind its seal"), "%s", err.message);
}
END_TEST

/* Everything that was not fsynced is lost, at each change in turn. Rows are large, so that the log
 * is moved into the database meanwhile. */
static bool cut_power_at(uint64_t nth)
{
    static char bytes[400 * 1024];
    struct weir_journal *journal = start_flaky(1);
    struct weir_reject reject = { .row = UINT64_C(1) << 40 };
    flaky_watch_power(nth);
    memset(bytes, 'x', sizeof(bytes));
    reject.bytes = weir_str(bytes, sizeof(bytes));
    for (uint64_t i = 0; i < 14; i++, reject.row++) {
        if (weir_journal_add_reject(journal, &reject, NULL, NULL))
            break;
        settle_group(journal);
    }
    bool cut = weir_journal_finish(journal, NULL) != WEIR_OK;
    weir_journal_free(journal);
    flaky_forget();
    journal = open_job();
    ck_assert_uint_ge(weir_journal_view(journal)->serial_max, reports.durable);
    weir_journal_free(journal);
    remove_tree(job_dir);
    return cut;
}

START_TEST(a_power_cut_at_any_change_takes_nothing_that_was_reported)
{
    struct weir_rng rng;
    uint64_t nth = 1, tries = 0;
    weir_rng_init(&rng, 3, 0);
    make_scratch();
    for (; cut_power_at(nth); nth += 1 + weir_rng_below(&rng, 60))
        tries++;
    suite_tally(tries, tries);
    ck_assert_uint_gt(tries, 50);
}
END_TEST

/* --- places that cannot be written ------------------------------------------------------------ */

START_TEST(a_directory_that_allows_no_write_ahead_log_is_refused)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    make_scratch();
    flaky_register();
    flaky_fail(FLAKY_OPEN, FLAKY_ERROR, 0);
    flaky_share(false);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, &err), WEIR_E_IO);
    flaky_share(true);
    ck_assert_ptr_null(journal);
    ck_assert_ptr_nonnull(strstr(err.message, "choose a job directory on a local disk"));
}
END_TEST

/* Whoever does not watch is told when he asks. */
START_TEST(a_failure_that_nobody_watches_for_is_said_to_whoever_asks)
{
    static const struct weir_journal_watch nobody;
    struct weir_job_facts facts = sample_facts();
    struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    make_scratch();
    flaky_register();
    flaky_fail(FLAKY_SYNC, FLAKY_ERROR, 0);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &nobody, &hooks, &journal, &err), WEIR_OK);
    flaky_fail(FLAKY_SYNC, FLAKY_ERROR, 1);
    ck_assert_int_eq(add_numbered(journal, 1, 1, &err), WEIR_OK);
    for (int i = 0; i < 2; i++) {
        err = (struct weir_error){ 0 };
        ck_assert_int_eq(weir_journal_finish(journal, &err), WEIR_E_IO);
        ck_assert(flaky_has_failed() && err.message[0]);
    }
    weir_journal_free(journal);
    flaky_fail(FLAKY_SYNC, FLAKY_ERROR, 0);
}
END_TEST

static int exceed_quota(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                        int *ret_flags)
{
    (void)vfs;
    (void)path;
    (void)flags;
    (void)ret_flags;
    file->pMethods = NULL;
    return SQLITE_IOERR;
}

static int blame_quota(sqlite3_vfs *vfs, int len, char *text)
{
    (void)vfs;
    (void)len;
    (void)text;
    return EDQUOT;
}

START_TEST(a_quota_that_is_used_up_is_a_full_disk)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal_hooks hooks = { .vfs = "quota" };
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    sqlite3_vfs quota = *sqlite3_vfs_find(NULL);
    quota.zName = "quota";
    quota.xOpen = exceed_quota;
    quota.xGetLastError = blame_quota;
    ck_assert_int_eq(sqlite3_vfs_register(&quota, 0), SQLITE_OK);
    make_scratch();
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, &watch, &hooks, &journal, &err), WEIR_E_IO);
    sqlite3_vfs_unregister(&quota);
    ck_assert_str_eq(err.message, "the journal cannot be written: disk full");
    ck_assert_int_eq(entries(scratch), 0);
}
END_TEST

static void count_job(void *ctx, const struct weir_job_listing *job)
{
    (void)job;
    ++*(int *)ctx;
}

/* Empty files, of which many are made faster if they are one. */
static void add_entries(int first, int last)
{
    char path[400];
    char other[400];
    snprintf(path, sizeof(path), "%s/.empty", scratch);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (int i = first; i <= last; i++) {
        snprintf(other, sizeof(other), "%s/%06d", scratch, i);
        must(link(path, other) == 0);
    }
}

START_TEST(of_more_jobs_than_can_be_listed_none_is)
{
    struct weir_error err = { 0 };
    int jobs = 0;
    make_scratch();
    struct weir_journal *journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    add_entries(2, WEIR_JOBS_MAX);
    ck_assert_int_eq(weir_jobs_each(scratch, count_job, &jobs, &err), WEIR_OK);
    ck_assert_int_eq(jobs, 1);
    add_entries(WEIR_JOBS_MAX + 1, WEIR_JOBS_MAX + 1);
    ck_assert_int_eq(weir_jobs_each(scratch, count_job, &jobs, &err), WEIR_E_TOO_BIG);
    ck_assert_int_eq(jobs, 1);
    ck_assert_ptr_nonnull(strstr(err.message, "there are 100001 entries in"));
}
END_TEST

START_TEST(a_job_that_cannot_be_made_leaves_nothing_behind)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    make_scratch();
    ck_assert_int_eq(weir_journal_new("/proc/nowhere/job", &facts, NULL, NULL, &journal, &err),
                     WEIR_E_IO);
    ck_assert(strstr(err.message, "cannot make the directory"));
    ck_assert_int_eq(weir_journal_new("", &facts, NULL, NULL, &journal, &err), WEIR_E_INVALID);
    char *deep = weir_calloc(8000, 1);
    memset(deep, 'x', 7999);
    ck_assert_int_eq(weir_journal_new(deep, &facts, NULL, NULL, &journal, &err), WEIR_E_INVALID);
    free(deep);
    ck_assert_int_eq(entries(scratch), 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal faults");
    suite_add_loop(&s, "every_call_of_sqlite_fails_once_and_nothing_is_lost",
                   every_call_of_sqlite_fails_once_and_nothing_is_lost, 3 * FLAKY_OPS);
    suite_add_loop(&s, "every_call_of_the_journal_itself_fails_once_and_nothing_is_lost",
                   every_call_of_the_journal_itself_fails_once_and_nothing_is_lost, 3 * OWN_CALLS);
    suite_add(&s, a_disk_that_lied_about_fsync_is_found_out);
    suite_add(&s, a_power_cut_at_any_change_takes_nothing_that_was_reported);
    suite_add(&s, a_directory_that_allows_no_write_ahead_log_is_refused);
    suite_add(&s, a_failure_that_nobody_watches_for_is_said_to_whoever_asks);
    suite_add(&s, a_quota_that_is_used_up_is_a_full_disk);
    suite_add(&s, of_more_jobs_than_can_be_listed_none_is);
    suite_add(&s, a_job_that_cannot_be_made_leaves_nothing_behind);
    return suite_run(&s);
}
