/* SPDX-License-Identifier: MIT */
/* The programs of weir demo; see demo_process.h. */
#include "demo_process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

#define END_COUNT (sizeof(ends) / sizeof(ends[0]))

static void all_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGCHLD);
    for (size_t i = 0; i < END_COUNT; i++)
        sigaddset(ret, ends[i]);
}

void demo_signals_begin(void)
{
    sigset_t all;
    all_signals(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* --- a beginning ------------------------------------------------------------------------------ */

/* In the child. Whoever was started in the background ignores Ctrl-C; the commands must not. */
static _Noreturn void become(const struct demo_start *start, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < END_COUNT; i++)
        signal(ends[i], SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTOU, SIG_IGN); /* it writes to the terminal all the same */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || (start->folder && chdir(start->folder))) /* it is gone already */
        _exit(127);
    dup2(start->out_fd, STDOUT_FILENO);
    dup2(start->err_fd, STDERR_FILENO);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execv(start->path, (char *const *)start->words);
    _exit(127);
}

enum weir_status demo_process_start(struct demo_process *process, const struct demo_start *start,
                                    struct weir_error *err)
{
    pid_t self = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return weir_fail(err, WEIR_E_IO, "no process can be started: %s", strerror(errno));
    if (pid == 0)
        become(start, self);
    *process = (struct demo_process){ .pid = pid };
    return WEIR_OK;
}

/* --- waiting, and an end ---------------------------------------------------------------------- */

static bool is_over(struct demo_process *process)
{
    int state;
    if (process->pid && waitpid(process->pid, &state, WNOHANG) == process->pid) {
        process->code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
        process->pid = 0;
    }
    return process->pid == 0;
}

/* The next signal; 0: none came in time. */
static int next_signal(int64_t until_us)
{
    sigset_t all;
    int64_t rest_us = until_us - weir_clock_now_us();
    if (rest_us < 0)
        rest_us = 0;
    struct timespec rest = { .tv_sec = rest_us / WEIR_US_PER_S,
                             .tv_nsec = rest_us % WEIR_US_PER_S * 1000 };
    all_signals(&all);
    int number = sigtimedwait(&all, NULL, &rest);
    return number > 0 ? number : 0;
}

enum weir_status demo_process_wait(struct demo_process *process, int64_t wait_us)
{
    int64_t until_us = weir_time_add(weir_clock_now_us(), wait_us);
    while (!is_over(process)) {
        int number = next_signal(until_us);
        if (number && number != SIGCHLD)
            return WEIR_E_CANCELLED;
        if (!number && weir_clock_now_us() >= until_us)
            return is_over(process) ? WEIR_OK : WEIR_E_WOULD_WAIT;
    }
    return WEIR_OK;
}

void demo_process_interrupt(const struct demo_process *process)
{
    if (process->pid)
        kill(process->pid, SIGINT);
}

void demo_process_kill(struct demo_process *process)
{
    if (process->pid)
        kill(process->pid, SIGKILL);
    while (!is_over(process))
        next_signal(weir_clock_now_us() + WEIR_US_PER_S / 10);
}

void demo_process_end(struct demo_process *process, int64_t grace_us)
{
    int64_t until_us = weir_time_add(weir_clock_now_us(), grace_us);
    if (is_over(process))
        return;
    kill(process->pid, SIGTERM);
    while (!is_over(process)) {
        if (weir_clock_now_us() >= until_us)
            kill(process->pid, SIGKILL);
        next_signal(weir_clock_now_us() + WEIR_US_PER_S / 10);
    }
}

/* --- finding ---------------------------------------------------------------------------------- */

char *demo_process_self(void)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
    return len > 0 && (size_t)len < sizeof(path) ? weir_strndup(path, (size_t)len) : NULL;
}

static char *try_folder(const char *folder, size_t len, const char *name)
{
    struct weir_buf path;
    weir_buf_init(&path, PATH_MAX);
    weir_buf_add(&path, len ? folder : ".", len ? len : 1);
    weir_buf_printf(&path, "/%s", name);
    if (!path.overflow && access(weir_buf_text(&path), X_OK) == 0)
        return weir_buf_take(&path);
    weir_buf_release(&path);
    return NULL;
}

char *demo_process_find(const char *self, const char *name)
{
    const char *slash = strrchr(self, '/');
    char *found = try_folder(self, slash ? (size_t)(slash - self) : 0, name);
    const char *at = getenv("PATH");
    while (!found && at && *at) {
        size_t len = strcspn(at, ":");
        found = try_folder(at, len, name);
        at += len + (at[len] == ':');
    }
    return found;
}
