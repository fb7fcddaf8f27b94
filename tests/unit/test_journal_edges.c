/* SPDX-License-Identifier: MIT */
/* What a journal will not have, what it says of it, and what lies about in its directory. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "journal/jobs.h"
#include "journal/outfile.h"
#include "journal/place.h"
#include "support/journal_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- facts and records ------------------------------------------------------------------------ */

START_TEST(facts_that_cannot_be_journaled_are_refused)
{
    static const char *const suffixes[] = {
        NULL, "", "CSV", "../x", "c v", "{", "abcdefghijklmnopq"
    };
    static const char *const good[] = { "csv", "jsonl", "z9", "0", "abcdefghijklmnop" };
    struct weir_error err = { 0 };
    struct weir_job_facts facts = sample_facts();
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        facts.suffix = suffixes[i];
        ck_assert_int_eq(weir_job_facts_check(&facts, &err), WEIR_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.message, suffixes[i] ? suffixes[i] : "\"\""));
    }
    for (size_t i = 0; i < COUNT(good); i++) {
        facts.suffix = good[i];
        ck_assert_int_eq(weir_job_facts_check(&facts, &err), WEIR_OK);
    }
}
END_TEST

START_TEST(facts_that_are_too_long_are_refused)
{
    static char text[WEIR_JOURNAL_FACT_MAX + 2];
    static char path[WEIR_JOURNAL_PATH_MAX + 2];
    memset(text, 'x', sizeof(text) - 1);
    memset(path, 'x', sizeof(path) - 1);
    struct weir_job_facts facts = sample_facts();
    facts.options = text;
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_E_TOO_BIG);
    text[WEIR_JOURNAL_FACT_MAX] = '\0';
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_OK);
    facts.header = weir_str(text, WEIR_JOURNAL_FACT_MAX + 1);
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_E_TOO_BIG);
    facts = sample_facts();
    struct weir_job_input input = { .path = path };
    facts.inputs = &input;
    facts.input_count = 1;
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_E_TOO_BIG);
    path[WEIR_JOURNAL_PATH_MAX] = '\0';
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_OK);
    facts.input_count = WEIR_JOURNAL_INPUTS_MAX + 1;
    ck_assert_int_eq(weir_job_facts_check(&facts, NULL), WEIR_E_TOO_BIG);
}
END_TEST

START_TEST(lines_of_the_rejects_end_as_the_header_does)
{
    static const struct {
        const char *header;
        const char *line_end;
    } cases[] = { { "", "\n" },    { "a", "\n" },  { "\n", "\n" },      { "a,b\n", "\n" },
                  { "a\r", "\r" }, { "\r", "\r" }, { "a\r\n", "\r\n" }, { "\r\n", "\r\n" } };
    struct weir_job_facts facts = sample_facts();
    for (size_t i = 0; i < COUNT(cases); i++) {
        facts.header = weir_str_from(cases[i].header);
        ck_assert_str_eq(weir_job_facts_line_end(&facts), cases[i].line_end);
    }
}
END_TEST

START_TEST(a_range_ends_behind_its_beginning_in_rows_and_in_bytes)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_RANGE,
                                 .range = { .first = 5, .last = 5, .offset = 50, .behind = 50 } };
    ck_assert_int_eq(weir_entry_check(&record, NULL), WEIR_OK);
    record.range.last = 4;
    ck_assert_int_eq(weir_entry_check(&record, NULL), WEIR_E_INVALID);
    record.range.last = 5;
    record.range.behind = 49;
    ck_assert_int_eq(weir_entry_check(&record, NULL), WEIR_E_INVALID);
    record.range.behind = 50;
    record.range.file = WEIR_JOURNAL_INPUTS_MAX;
    ck_assert_int_ne(weir_entry_check(&record, NULL), WEIR_OK);
}
END_TEST

START_TEST(a_reject_of_a_file_that_cannot_be_is_refused)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_REJECT, .reject = { .row = 1 } };
    ck_assert_int_eq(weir_entry_check(&record, NULL), WEIR_OK);
    record.reject.file = UINT32_MAX;
    ck_assert_int_ne(weir_entry_check(&record, NULL), WEIR_OK);
    record.reject.pass = WEIR_JOURNAL_PASSES; /* the first thing that is wrong is told */
    struct weir_error err = { 0 };
    ck_assert_int_eq(weir_entry_check(&record, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "pass"));
}
END_TEST

START_TEST(a_point_that_is_none_has_a_name)
{
    ck_assert_str_eq(weir_point_name(WEIR_POINT_COUNT), "unknown point");
    ck_assert_str_ne(weir_point_name((enum weir_point)0), "unknown point");
}
END_TEST

/* --- writing ---------------------------------------------------------------------------------- */

/* Interrupted twice, then a byte at a time; or nothing at all. */
static int interruptions;
static char written[64];

static ssize_t drip(void *ctx, int fd, const void *bytes, size_t len, off_t at)
{
    (void)fd;
    must(len > 0);
    if (interruptions-- > 0) {
        errno = EINTR;
        return -1;
    }
    if (ctx)
        return 0;
    written[at] = *(const char *)bytes;
    return 1;
}

START_TEST(a_write_that_is_interrupted_or_short_goes_on_and_one_of_nothing_is_a_full_disk)
{
    struct weir_journal_io io = weir_journal_io_system;
    io.pwrite = drip;
    struct weir_journal_hooks hooks = { .io = &io };
    interruptions = 2;
    ck_assert_int_eq(weir_hooks_pwrite(&hooks, 0, "all of it", 9, 3), 0);
    ck_assert(memcmp(written + 3, "all of it", 9) == 0);
    hooks.ctx = &io;
    errno = 0;
    ck_assert_int_eq(weir_hooks_pwrite(&hooks, 0, "none of it", 10, 0), -1);
    ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

static int writes;

static ssize_t refuse_write(void *ctx, int fd, const void *bytes, size_t len, off_t at)
{
    (void)ctx;
    (void)fd;
    (void)bytes;
    (void)len;
    (void)at;
    errno = writes++ ? EIO : ENOSPC;
    return -1;
}

START_TEST(a_file_that_could_not_be_written_is_not_written_on_and_says_the_first_reason)
{
    static char bytes[200 * 1024];
    struct weir_journal_io io = weir_journal_io_system;
    struct weir_journal_hooks hooks = { .io = &io };
    struct weir_outfile file;
    struct weir_error err = { 0 };
    io.pwrite = refuse_write;
    make_scratch();
    writes = 0;
    ck_assert_int_eq(weir_outfile_init(&file, scratch, "ids.csv", &hooks, &err), WEIR_OK);
    weir_outfile_add(&file, weir_str(bytes, sizeof(bytes)));
    ck_assert_int_eq(
        weir_outfile_commit(&file, WEIR_POINT_IDS_BEFORE_RENAME, WEIR_POINT_IDS_AFTER_RENAME, &err),
        WEIR_E_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "disk full"));
    ck_assert_int_eq(writes, 1);
    weir_outfile_release(&file);
    ck_assert_int_eq(rmdir(scratch), 0); /* and nothing is left of it */
}
END_TEST

START_TEST(a_reason_is_said_in_words)
{
    ck_assert_str_eq(weir_hooks_reason(ENOSPC), "disk full");
    ck_assert_str_eq(weir_hooks_reason(EDQUOT), "disk full");
    ck_assert_str_eq(weir_hooks_reason(EACCES), "Permission denied");
    ck_assert_str_eq(weir_hooks_reason(99999), "unknown reason");
}
END_TEST

/* --- jobs and their places -------------------------------------------------------------------- */

static void count_job(void *ctx, const struct weir_job_listing *job)
{
    ck_assert_int_eq(job->error.status, WEIR_OK);
    ++*(int *)ctx;
}

START_TEST(a_root_that_is_not_there_has_no_jobs_and_one_that_is_no_directory_is_an_error)
{
    struct weir_error err = { 0 };
    char path[400];
    int jobs = 0;
    make_scratch();
    snprintf(path, sizeof(path), "%s/none", scratch);
    ck_assert_int_eq(weir_jobs_each(path, count_job, &jobs, &err), WEIR_OK);
    struct weir_journal *journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    snprintf(path, sizeof(path), "%s/empty", scratch); /* no job: passed over */
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(weir_jobs_each(scratch, count_job, &jobs, &err), WEIR_OK);
    ck_assert_int_eq(jobs, 1);
    snprintf(path, sizeof(path), "%s/journal.db", job_dir);
    ck_assert_int_eq(weir_jobs_each(path, count_job, &jobs, &err), WEIR_E_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "Not a directory"));
    ck_assert_int_eq(jobs, 1);
}
END_TEST

START_TEST(a_job_is_named_by_its_directory_however_it_is_reached)
{
    struct weir_job_listing listing;
    make_scratch();
    struct weir_journal *journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    ck_assert_int_eq(weir_job_listing_init(&listing, job_dir, NULL), WEIR_OK);
    ck_assert_str_eq(listing.name, "job");
    weir_job_listing_release(&listing);
    ck_assert_int_eq(chdir(scratch), 0);
    ck_assert_int_eq(weir_job_listing_init(&listing, "job", NULL), WEIR_OK);
    ck_assert_str_eq(listing.name, "job");
    weir_job_listing_release(&listing);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

static void write_lock(const char *text)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/lock", job_dir);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* What stands in a lock is for people: whatever it is, nobody is taken for its holder wrongly. */
START_TEST(who_holds_a_job_is_a_process_that_there_is)
{
    char text[32];
    make_scratch();
    struct weir_journal *journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    static const char *const nobody[] = { "", "nonsense\n", "-5\n", "0\n", "2147483646\n" };
    for (size_t i = 0; i < COUNT(nobody); i++) {
        write_lock(nobody[i]);
        ck_assert_int_eq(weir_place_holder(job_dir), 0);
    }
    snprintf(text, sizeof(text), "%d\n", (int)getpid());
    write_lock(text);
    ck_assert_int_eq(weir_place_holder(job_dir), getpid());
    ck_assert_int_eq(weir_place_holder(scratch), 0); /* no lock there */
}
END_TEST

/* The first process of the machine belongs to root: to ask after it is not allowed, and it is
 * there. */
START_TEST(a_holder_of_another_user_is_a_holder)
{
    char path[400];
    make_scratch();
    struct weir_journal *journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    write_lock("1\n");
    snprintf(path, sizeof(path), "%s/lock", job_dir);
    ck_assert_int_eq(chmod(scratch, 0755) | chmod(job_dir, 0755) | chmod(path, 0644), 0);
    bool root = geteuid() == 0;
    ck_assert_int_eq(root ? setresuid(65534, 65534, 0) : 0, 0);
    int64_t holder = weir_place_holder(job_dir);
    bool asked = kill(1, 0) == 0;
    ck_assert_int_eq(root ? setresuid(0, 0, 0) : 0, 0);
    ck_assert_int_eq(holder, 1);
    ck_assert(!root || !asked);
}
END_TEST

START_TEST(a_lock_that_somebody_holds_without_a_word_is_a_lock)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    char path[400];
    make_scratch();
    journal = make_job();
    finish_job(journal);
    weir_journal_free(journal);
    write_lock("");
    snprintf(path, sizeof(path), "%s/lock", job_dir);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(flock(fileno(file), LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(weir_journal_open(job_dir, &watch, NULL, &journal, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "in use by another process"));
    fclose(file);
}
END_TEST

START_TEST(a_directory_with_a_name_that_is_too_long_is_refused)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    static char path[WEIR_JOURNAL_PATH_MAX];
    make_scratch();
    /* Directories that can be entered, up to where the names of files no longer fit. */
    size_t len = (size_t)snprintf(path, sizeof(path), "%s", scratch);
    while (len < WEIR_JOURNAL_PATH_MAX - 300) {
        memset(path + len, 'd', 200);
        path[len] = '/';
        path[len + 200] = '\0';
        len += 200;
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    memset(path + len, 'j', WEIR_JOURNAL_PATH_MAX - 1 - len);
    path[len] = '/';
    path[WEIR_JOURNAL_PATH_MAX - 70] = '\0';
    ck_assert_int_ne(weir_journal_new(path, &facts, &watch, NULL, &journal, &err), WEIR_OK);
    ck_assert_ptr_null(journal);
    ck_assert(err.message[0] != '\0');
}
END_TEST

START_TEST(no_job_is_looked_for_where_the_path_is_longer_than_any)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    static char path[WEIR_JOURNAL_PATH_MAX + 2];
    memset(path, 'j', sizeof(path) - 1);
    path[0] = '/';
    ck_assert_int_eq(weir_journal_open(path, &watch, NULL, &journal, &err), WEIR_E_NOT_FOUND);
    ck_assert_int_eq(weir_journal_open("", &watch, NULL, &journal, &err), WEIR_E_NOT_FOUND);
    ck_assert_ptr_null(journal);
}
END_TEST

/* In a root of its own if that is allowed; else the true one lets nobody in. */
static void make_job_below_the_root(void)
{
    const struct weir_journal_hooks hooks = { .io = &weir_journal_io_system };
    struct weir_job_place place;
    struct weir_error err = { 0 };
    int before = open("/", O_RDONLY | O_DIRECTORY);
    must(before >= 0 && chdir(scratch) == 0);
    bool rooted = chroot(".") == 0;
    enum weir_status status = weir_place_make(&place, "/job", &hooks, &err);
    if (rooted) {
        must(status == WEIR_OK && strcmp(place.directory, "/job") == 0);
        must(strncmp(place.temporary, "/.job.new-", 10) == 0);
        must(weir_place_settle(&place, &err) == WEIR_OK && access("/job/lock", F_OK) == 0);
        weir_place_release(&place);
        must(fchdir(before) == 0 && chroot(".") == 0);
    } else {
        must(status == WEIR_E_IO && strstr(err.message, "\"/.job.new-"));
    }
    close(before);
}

START_TEST(a_job_may_be_directly_below_the_root)
{
    int status;
    make_scratch();
    pid_t child = fork();
    if (child == 0) {
        make_job_below_the_root();
        exit(0);
    }
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal_edges");
    suite_add(&s, facts_that_cannot_be_journaled_are_refused);
    suite_add(&s, facts_that_are_too_long_are_refused);
    suite_add(&s, lines_of_the_rejects_end_as_the_header_does);
    suite_add(&s, a_range_ends_behind_its_beginning_in_rows_and_in_bytes);
    suite_add(&s, a_reject_of_a_file_that_cannot_be_is_refused);
    suite_add(&s, a_point_that_is_none_has_a_name);
    suite_add(&s, a_write_that_is_interrupted_or_short_goes_on_and_one_of_nothing_is_a_full_disk);
    suite_add(&s, a_file_that_could_not_be_written_is_not_written_on_and_says_the_first_reason);
    suite_add(&s, a_reason_is_said_in_words);
    suite_add(&s, a_root_that_is_not_there_has_no_jobs_and_one_that_is_no_directory_is_an_error);
    suite_add(&s, a_job_is_named_by_its_directory_however_it_is_reached);
    suite_add(&s, who_holds_a_job_is_a_process_that_there_is);
    suite_add(&s, a_holder_of_another_user_is_a_holder);
    suite_add(&s, a_lock_that_somebody_holds_without_a_word_is_a_lock);
    suite_add(&s, a_directory_with_a_name_that_is_too_long_is_refused);
    suite_add(&s, no_job_is_looked_for_where_the_path_is_longer_than_any);
    suite_add(&s, a_job_may_be_directly_below_the_root);
    return suite_run(&s);
}
