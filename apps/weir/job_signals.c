/* SPDX-License-Identifier: MIT */
/* Signals; see job_signals.h. */
#include "job_signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "exit_code.h"
#include "say.h"
#include "screen.h"
#include "signal_meaning.h"

enum stage {
    STAGE_BEFORE,
    STAGE_BEGINNING,
    STAGE_RUNNING,
    STAGE_OVER,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static enum stage stage;
static int64_t first_us = WEIR_NEVER; /* when one came */
static struct weir_job *watched;
static const char *resume;

/* Constant once the thread runs. */
static const char *name;
static sigset_t taken;

/* The journal makes it safe: whatever is half done is found out by the next run. */
static _Noreturn void leave(void)
{
    screen_end();
    if (say_has_room() && stage == STAGE_BEFORE)
        say("weir %s: interrupted; nothing has been sent", name);
    else if (say_has_room())
        say("weir %s: left at once; go on with\n  %s", name, resume);
    _exit(EXIT_INTERRUPTED);
}

static void stop(int64_t now_us)
{
    first_us = now_us;
    if (stage == STAGE_RUNNING)
        weir_job_stop(watched);
    if (say_has_room())
        say("weir %s: stopping: nothing more is sent, and what is on its way may take 29 s to come "
            "home; once more leaves at once",
            name);
}

static void heed(void)
{
    int64_t now_us = weir_clock_now_us();
    pthread_mutex_lock(&lock);
    enum signal_meaning meaning = signal_meaning(first_us, now_us);
    if (stage == STAGE_BEFORE || (stage != STAGE_OVER && meaning == SIGNAL_LEAVE))
        leave();
    if (stage != STAGE_OVER && meaning == SIGNAL_STOP)
        stop(now_us);
    pthread_mutex_unlock(&lock);
}

static void *wait_for_signals(void *ctx)
{
    int number;
    (void)ctx;
    for (;;) {
        if (sigwait(&taken, &number) == 0)
            heed();
    }
    return NULL;
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Without the thread the signals do what they do to everybody: the journal copes with that too. */
void job_signals_begin(const char *command)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    pthread_t thread;
    name = command;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!is_ignored(numbers[i]))
            sigaddset(&taken, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
}

void job_signals_hold(const char *resume_line)
{
    pthread_mutex_lock(&lock);
    stage = STAGE_BEGINNING;
    resume = resume_line;
    pthread_mutex_unlock(&lock);
}

void job_signals_watch(struct weir_job *job)
{
    pthread_mutex_lock(&lock);
    stage = STAGE_RUNNING;
    watched = job;
    if (first_us != WEIR_NEVER)
        weir_job_stop(job);
    pthread_mutex_unlock(&lock);
}

void job_signals_over(void)
{
    pthread_mutex_lock(&lock);
    stage = STAGE_OVER;
    watched = NULL;
    resume = NULL;
    pthread_mutex_unlock(&lock);
}
