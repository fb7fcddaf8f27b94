/* SPDX-License-Identifier: MIT */
/* Commands whose output is wanted: what comes back, what they see, and that nothing is left over.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/child.h"
#include "support/suite.h"

#define GUARD_US (60 * WEIR_US_PER_S) /* nothing takes as long */

struct heard {
    int count;
    enum weir_status status;
    char detail[128];
    char output[8192];
    size_t len;
};

static struct weir_loop *loop;

static void setup(void)
{
    ck_assert_int_eq(weir_loop_new(&loop, NULL), WEIR_OK);
}

/* All are gone, and no body is left lying. */
static void teardown(void)
{
    weir_loop_free(loop);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

static void hear(void *ctx, const struct weir_child_answer *answer)
{
    struct heard *heard = ctx;
    heard->count++;
    heard->status = answer->status;
    heard->len = answer->output.len;
    snprintf(heard->detail, sizeof(heard->detail), "%s", answer->detail);
    must(answer->output.len < sizeof(heard->output));
    memcpy(heard->output, answer->output.ptr, answer->output.len);
    heard->output[answer->output.len] = '\0';
}

static void wait_for(const struct heard *heard)
{
    int64_t guard_us = weir_clock_now_us() + GUARD_US;
    while (!heard->count) {
        weir_loop_turn(loop, WEIR_US_PER_S);
        must(weir_clock_now_us() < guard_us);
    }
}

static struct heard run_with(struct weir_child_options options)
{
    struct heard heard = { 0 };
    if (!options.timeout_us)
        options.timeout_us = GUARD_US;
    if (!options.output_bytes_max)
        options.output_bytes_max = 4096;
    weir_child_run(loop, &options, hear, &heard);
    must(heard.count == 0);
    wait_for(&heard);
    weir_loop_turn(loop, 0);
    must(heard.count == 1);
    return heard;
}

static struct heard run(const char *command)
{
    return run_with((struct weir_child_options){ .command = command });
}

START_TEST(the_output_comes_back_and_nothing_else)
{
    setup();
    struct heard heard = run("printf 'a\\0b\\n'; echo wrong >/dev/null");
    ck_assert_int_eq(heard.status, WEIR_OK);
    ck_assert_str_eq(heard.detail, "");
    ck_assert_uint_eq(heard.len, 4);
    ck_assert(memcmp(heard.output, "a\0b\n", 4) == 0);
    ck_assert_uint_eq(run(":").len, 0);
    ck_assert_str_eq(run("cat; echo end").output, "end\n"); /* its input is empty */
    teardown();
}
END_TEST

START_TEST(a_bad_end_is_an_error_and_gives_no_output)
{
    static const struct {
        const char *command;
        const char *detail;
    } rows[] = {
        { "echo secret; exit 3", "exit code 3" },
        { "echo secret; kill -9 $$", "killed by signal 9" },
        { "no-such-command-at-all 2>/dev/null", "exit code 127" },
    };
    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct heard heard = run(rows[i].command);
        ck_assert_int_eq(heard.status, WEIR_E_IO);
        ck_assert_str_eq(heard.detail, rows[i].detail);
        ck_assert_uint_eq(heard.len, 0);
    }
    teardown();
}
END_TEST

START_TEST(output_has_a_bound)
{
    setup();
    struct weir_child_options options = { .command = "printf 12345678", .output_bytes_max = 8 };
    ck_assert_str_eq(run_with(options).output, "12345678");
    options.command = "printf 123456789";
    struct heard heard = run_with(options);
    ck_assert_int_eq(heard.status, WEIR_E_TOO_BIG);
    ck_assert_uint_eq(heard.len, 0);
    options.command = "yes";
    options.output_bytes_max = 65536;
    ck_assert_int_eq(run_with(options).status, WEIR_E_TOO_BIG);
    teardown();
}
END_TEST

/* A pipe with a name; its reader sees the end when the last of the command's family is gone. */
static int make_witness(char path[64])
{
    snprintf(path, 64, "/tmp/weir-test-child-%d", (int)getpid());
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* A byte says that somebody has it open, the end that nobody has any more. */
static void await(int witness, ssize_t expected)
{
    char byte;
    struct pollfd polled = { .fd = witness, .events = POLLIN };
    int rc;
    do /* the end of a child interrupts it */
        rc = poll(&polled, 1, 60000);
    while (rc < 0 && errno == EINTR);
    must(rc == 1);
    must(read(witness, &byte, 1) == expected);
}

START_TEST(a_command_that_does_not_end_is_killed_with_its_family)
{
    char path[64], command[256];
    setup();
    int witness = make_witness(path);
    snprintf(command, sizeof(command), "exec 3>%s; printf x >&3; sleep 600 & sleep 600 & wait",
             path);
    struct heard heard =
        run_with((struct weir_child_options){ .command = command, .timeout_us = WEIR_US_PER_S });
    ck_assert_int_eq(heard.status, WEIR_E_IO);
    ck_assert_str_eq(heard.detail, "no end after 1 s");
    await(witness, 1);
    await(witness, 0);
    close(witness);
    unlink(path);
    teardown();
}
END_TEST

/* The shell is gone at once, but its output has not ended: there might be more. */
START_TEST(who_holds_the_output_open_is_waited_for_and_then_killed)
{
    setup();
    ck_assert_uint_eq(run("{ cat /dev/null; echo late; } & echo early").len, 11);
    struct heard heard = run_with((struct weir_child_options){ .command = "sleep 600 & echo early",
                                                               .timeout_us = WEIR_US_PER_S / 4 });
    ck_assert_int_eq(heard.status, WEIR_E_IO);
    ck_assert_str_eq(heard.detail, "no end after 0.25 s");
    teardown();
}
END_TEST

START_TEST(a_cancelled_command_is_killed_and_says_nothing)
{
    char path[64], command[256];
    struct heard heard = { 0 };
    setup();
    int witness = make_witness(path);
    snprintf(command, sizeof(command), "exec 3>%s; printf x >&3; sleep 600", path);
    struct weir_child_options options = { .command = command,
                                          .timeout_us = GUARD_US,
                                          .output_bytes_max = 10 };
    struct weir_child *child = weir_child_run(loop, &options, hear, &heard);
    await(witness, 1);
    weir_child_cancel(child);
    await(witness, 0);
    for (int i = 0; i < 10; i++)
        weir_child_cancel(weir_child_run(loop, &options, hear, &heard)); /* at once */
    close(witness);
    unlink(path);
    teardown();
    ck_assert_int_eq(heard.count, 0);
}
END_TEST

START_TEST(secrets_are_not_in_its_environment)
{
    static const char *const hidden[] = { "MY_SECRET", "OTHER" };
    setup();
    setenv("Dataverse__ClientSecret", "canary", 1);
    setenv("DATAVERSE__connections__0__ClientSecret", "canary", 1);
    setenv("MY_SECRET", "canary", 1);
    setenv("OTHER", "canary", 1);
    setenv("MY_SECRETS", "seen", 1); /* another name */
    struct heard heard = run_with((struct weir_child_options){
        .command = "env | grep -c canary; echo $MY_SECRETS; test -n \"$PATH\" && echo path",
        .hidden = hidden,
        .hidden_count = 2 });
    ck_assert_str_eq(heard.output, "0\nseen\npath\n");
    teardown();
}
END_TEST

/* --- from within the loop --------------------------------------------------------------------- */

static struct heard second;

static void run_in_turn(struct weir_task *task)
{
    (void)task;
    weir_child_run(loop,
                   &(struct weir_child_options){ .command = "grep SigBlk /proc/self/status",
                                                 .timeout_us = GUARD_US,
                                                 .output_bytes_max = 100 },
                   hear, &second);
}

START_TEST(no_signal_is_blocked_in_it)
{
    struct weir_task task = { .run = run_in_turn };
    setup();
    weir_loop_post(loop, &task);
    wait_for(&second);
    ck_assert_str_eq(second.output, "SigBlk:\t0000000000000000\n");
    teardown();
}
END_TEST

#define CHAIN 20

static int links;

static void run_another(void *ctx, const struct weir_child_answer *answer)
{
    struct heard *heard = ctx;
    must(answer->status == WEIR_OK);
    if (++links == CHAIN)
        heard->count = 1;
    else
        weir_child_run(loop,
                       &(struct weir_child_options){
                           .command = "echo", .timeout_us = GUARD_US, .output_bytes_max = 10 },
                       run_another, heard);
}

START_TEST(the_end_of_one_may_begin_another)
{
    struct heard heard = { 0 };
    setup();
    weir_child_run(loop,
                   &(struct weir_child_options){
                       .command = "echo", .timeout_us = GUARD_US, .output_bytes_max = 10 },
                   run_another, &heard);
    wait_for(&heard);
    ck_assert_int_eq(links, CHAIN);
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("child");
    suite_add(&s, the_output_comes_back_and_nothing_else);
    suite_add(&s, a_bad_end_is_an_error_and_gives_no_output);
    suite_add(&s, output_has_a_bound);
    suite_add(&s, a_command_that_does_not_end_is_killed_with_its_family);
    suite_add(&s, who_holds_the_output_open_is_waited_for_and_then_killed);
    suite_add(&s, a_cancelled_command_is_killed_and_says_nothing);
    suite_add(&s, secrets_are_not_in_its_environment);
    suite_add(&s, no_signal_is_blocked_in_it);
    suite_add(&s, the_end_of_one_may_begin_another);
    return suite_run(&s);
}
