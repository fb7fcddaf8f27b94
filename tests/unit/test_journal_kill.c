/* SPDX-License-Identifier: MIT */
/*
 * A process that keeps a journal is killed, at every fault point and at random moments, and the
 * journal is opened again: what was reported durable is there, whole groups and nothing else, and
 * the job goes on. The child tells its parent through a pipe what was reported; what stands in the
 * pipe when it dies is what anybody can have believed.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "support/journal_rig.h"

#define GROUPS     8
#define GROUP_SIZE 40

/* When the child dies. */
struct death {
    enum weir_point point; /* WEIR_POINT_COUNT: any */
    uint64_t nth;          /* visit; 0: never */
};

static struct death death;
static uint64_t visits;
static int out = -1; /* the child's end of the pipe */

static void maybe_die(void *ctx, enum weir_point point)
{
    (void)ctx;
    if (death.point != WEIR_POINT_COUNT && death.point != point)
        return;
    if (__atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED) == death.nth)
        kill(getpid(), SIGKILL);
}

static void tell_parent(void *ctx, uint64_t serial)
{
    (void)ctx;
    if (write(out, &serial, sizeof(serial)) != sizeof(serial))
        _exit(3);
}

/* Start or resume the job, add groups, finish, export. */
static int child(void)
{
    struct weir_journal_hooks hooks = { .at = maybe_die };
    struct weir_journal_watch tell_watch = { .durable = tell_parent };
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    enum weir_status status =
        has_file("journal.db")
            ? weir_journal_open(job_dir, &tell_watch, &hooks, &journal, NULL)
            : weir_journal_new(job_dir, &facts, &tell_watch, &hooks, &journal, NULL);
    if (status)
        return 1;
    uint64_t next = weir_journal_view(journal)->serial_max + 1;
    for (int i = 0; i < GROUPS; i++, next += GROUP_SIZE) {
        if (add_numbered(journal, next, GROUP_SIZE, NULL))
            return 2;
        weir_journal_hurry(journal);
    }
    if (weir_journal_finish(journal, NULL) || weir_export_all(journal, NULL) ||
        weir_export_summary(journal, weir_str_from("{}"), NULL))
        return 2;
    weir_journal_free(journal);
    return 0;
}

struct ending {
    bool killed;
    uint64_t durable;
    uint64_t reports;
};

/* The parent kills after `kill_after` reports, if that is not 0. */
static struct ending run_child(struct death when, uint64_t kill_after)
{
    struct ending ending = { 0 };
    int pipes[2], status;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        death = when;
        visits = 0;
        out = pipes[1];
        _exit(child());
    }
    close(pipes[1]);
    uint64_t serial;
    while (read(pipes[0], &serial, sizeof(serial)) == sizeof(serial)) {
        ending.durable = serial;
        if (++ending.reports == kill_after)
            kill(pid, SIGKILL);
    }
    close(pipes[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ending.killed = WIFSIGNALED(status);
    ck_assert_msg(ending.killed || WEXITSTATUS(status) == 0, "exit %d", WEXITSTATUS(status));
    return ending;
}

/* Exports are there whole, if they are there. */
static void check_export_files(uint64_t last)
{
    struct weir_buf file;
    weir_buf_init(&file, TEXT_MAX);
    if (has_file("rejects.csv")) {
        slurp("rejects.csv", &file);
        ck_assert(file.len >= 12 && file.ptr[file.len - 1] == '\n');
    }
    if (has_file("summary.json")) {
        slurp("summary.json", &file);
        ck_assert_str_eq(weir_buf_text(&file), "{}\n");
        slurp("ids.csv", &file);
        ck_assert_uint_gt(last, 0);
    }
    weir_buf_release(&file);
}

/* After a death: all that was reported is there; what is there is a prefix of what was added. */
static uint64_t check_after(struct ending ending, uint64_t before)
{
    if (!has_file("journal.db")) {
        ck_assert_uint_eq(ending.durable, 0);
        ck_assert_uint_eq(before, 0);
        ck_assert(access(job_dir, F_OK) != 0);
        return 0;
    }
    uint64_t last = check_numbered();
    ck_assert_uint_ge(last, ending.durable);
    ck_assert_uint_ge(last, before);
    check_export_files(last);
    return last;
}

START_TEST(a_kill_at_every_fault_point_loses_nothing_that_was_reported)
{
    struct death when = { .point = (enum weir_point)_i };
    int deaths = 0;
    make_scratch();
    for (when.nth = 1; when.nth <= 3; when.nth++) {
        uint64_t before = 0;
        snprintf(job_dir, sizeof(job_dir), "%s/job%d", scratch, (int)when.nth);
        for (int run = 0; run < 2; run++) {
            struct ending ending = run_child(when, 0);
            deaths += ending.killed;
            before = check_after(ending, before);
        }
        struct ending ending = run_child((struct death){ 0 }, 0);
        ck_assert(!ending.killed);
        ck_assert_uint_eq(check_after(ending, before), before + GROUPS * GROUP_SIZE);
    }
    suite_tally(3, (unsigned)deaths);
    ck_assert_msg(deaths > 0, "%s was never visited", weir_point_name(when.point));
}
END_TEST

START_TEST(a_kill_at_any_moment_loses_nothing_that_was_reported)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 7);
    make_scratch();
    for (int job = 0; job < 6; job++) {
        uint64_t before = 0;
        snprintf(job_dir, sizeof(job_dir), "%s/job%d", scratch, job);
        for (int run = 0; run < 5; run++) {
            struct death when = { WEIR_POINT_COUNT, weir_rng_below(&rng, 60) };
            bool outside = weir_rng_below(&rng, 2);
            struct ending ending = run_child(outside ? (struct death){ 0 } : when,
                                             outside ? 1 + weir_rng_below(&rng, GROUPS) : 0);
            before = check_after(ending, before);
        }
        before = check_after(run_child((struct death){ 0 }, 0), before);
        ck_assert_uint_ge(before, GROUPS * GROUP_SIZE);
    }
}
END_TEST

START_TEST(every_fault_point_has_a_name_of_its_own)
{
    for (int i = 0; i < WEIR_POINT_COUNT; i++) {
        ck_assert_ptr_nonnull(weir_point_name((enum weir_point)i));
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(weir_point_name((enum weir_point)i),
                             weir_point_name((enum weir_point)j));
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal kill");
    suite_add(&s, every_fault_point_has_a_name_of_its_own);
    suite_add_loop(&s, "a_kill_at_every_fault_point_loses_nothing_that_was_reported",
                   a_kill_at_every_fault_point_loses_nothing_that_was_reported, WEIR_POINT_COUNT);
    suite_add_loop(&s, "a_kill_at_any_moment_loses_nothing_that_was_reported",
                   a_kill_at_any_moment_loses_nothing_that_was_reported, 10);
    return suite_run(&s);
}
