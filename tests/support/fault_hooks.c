/* SPDX-License-Identifier: MIT */
/*
 * The hooks of weir-fault, the command that dies or whose disk fails when the environment says so.
 * It is linked with this file where weir has apps/weir/hooks.c.
 *
 *     WEIR_KILL_AT=before-commit:3            SIGKILL when that point is passed the third time
 *     WEIR_FAIL_IO=fsync:2:EIO                the journal's own calls: from the second one on
 *     WEIR_FAIL_IO=fsync:2:EIO:once           only that one
 *     WEIR_FAIL_VFS=write:5                   SQLite's calls: the fifth, once, with an I/O error
 *     WEIR_FAIL_VFS=write:5:full              or with a full disk, or (short) half written
 *
 * Points are named as weir_point_name() does; calls are open, pwrite, ftruncate, fsync and rename;
 * SQLite's are open, read, write, truncate, sync and delete. Whatever cannot be understood ends the
 * command with 99: a test that says nothing would prove nothing.
 */
#include "hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "support/fault_hooks.h"
#include "support/flaky_vfs.h"

enum call {
    CALL_OPEN,
    CALL_PWRITE,
    CALL_FTRUNCATE,
    CALL_FSYNC,
    CALL_RENAME,
    CALL_COUNT
};

static const char *const call_names[CALL_COUNT] = { "open", "pwrite", "ftruncate", "fsync",
                                                    "rename" };

static const struct {
    const char *name;
    int number;
} reasons[] = {
    { "EACCES", EACCES }, { "EDQUOT", EDQUOT }, { "EIO", EIO },
    { "EMFILE", EMFILE }, { "ENOSPC", ENOSPC }, { "EROFS", EROFS },
};

/* A signal that the process gets when a fault point is passed for the n-th time. */
struct blow {
    int number;
    int point; /* -1: none */
    uint64_t nth;
    uint64_t passed; /* atomic */
};

/* Set once, before the threads. */
static struct blow death = { .number = SIGKILL, .point = -1 };
static struct blow interrupt = { .number = SIGINT, .point = -1 };
static int fail_call = -1;
static uint64_t fail_nth;
static int fail_reason;
static bool fail_once;

static uint64_t called; /* atomic */
static bool failed;     /* atomic: a call of the journal's own did */

static void misunderstood(const char *variable)
{
    fprintf(stderr, "weir-fault: %s is \"%s\", which is not understood\n", variable,
            getenv(variable));
    _exit(99);
}

/* --- dying ------------------------------------------------------------------------------------ */

static void strike(struct blow *blow, enum weir_point point)
{
    if ((int)point == blow->point &&
        __atomic_add_fetch(&blow->passed, 1, __ATOMIC_SEQ_CST) == blow->nth)
        kill(getpid(), blow->number);
}

static void at(void *ctx, enum weir_point point)
{
    (void)ctx;
    strike(&death, point);
    strike(&interrupt, point);
}

/* --- a disk that fails ------------------------------------------------------------------------ */

/* True, and errno: this call fails. */
static bool fails(enum call call)
{
    if ((int)call != fail_call)
        return false;
    uint64_t nth = __atomic_add_fetch(&called, 1, __ATOMIC_SEQ_CST);
    if (nth < fail_nth || (fail_once && nth > fail_nth))
        return false;
    errno = fail_reason;
    __atomic_store_n(&failed, true, __ATOMIC_SEQ_CST);
    return true;
}

bool fault_hooks_met(void)
{
    return __atomic_load_n(&failed, __ATOMIC_SEQ_CST) || flaky_has_failed();
}

static int flaky_open(void *ctx, const char *path, int flags, mode_t mode)
{
    return fails(CALL_OPEN) ? -1 : weir_journal_io_system.open(ctx, path, flags, mode);
}

static ssize_t flaky_pwrite(void *ctx, int fd, const void *bytes, size_t len, off_t offset)
{
    return fails(CALL_PWRITE) ? -1 : weir_journal_io_system.pwrite(ctx, fd, bytes, len, offset);
}

static int flaky_ftruncate(void *ctx, int fd, off_t len)
{
    return fails(CALL_FTRUNCATE) ? -1 : weir_journal_io_system.ftruncate(ctx, fd, len);
}

static int flaky_fsync(void *ctx, int fd)
{
    return fails(CALL_FSYNC) ? -1 : weir_journal_io_system.fsync(ctx, fd);
}

static int flaky_rename(void *ctx, const char *from, const char *to)
{
    return fails(CALL_RENAME) ? -1 : weir_journal_io_system.rename(ctx, from, to);
}

static const struct weir_journal_io flaky_io = {
    .open = flaky_open,
    .pwrite = flaky_pwrite,
    .ftruncate = flaky_ftruncate,
    .fsync = flaky_fsync,
    .rename = flaky_rename,
};

/* --- what the environment says ---------------------------------------------------------------- */

/* The next of the words between colons; empty behind the last. */
static struct weir_str next_word(const char **text)
{
    size_t len = strcspn(*text, ":");
    struct weir_str word = weir_str(*text, len);
    *text += len + ((*text)[len] == ':');
    return word;
}

static bool read_nth(struct weir_str word, uint64_t *ret)
{
    int64_t number;
    if (!weir_str_to_int64(word, &number) || number < 1)
        return false;
    *ret = (uint64_t)number;
    return true;
}

static bool is(struct weir_str word, const char *text)
{
    return weir_str_equal(word, weir_str_from(text));
}

static bool read_blow(const char *text, struct blow *blow)
{
    struct weir_str name = next_word(&text);
    for (int point = 0; point < WEIR_POINT_COUNT; point++) {
        if (is(name, weir_point_name((enum weir_point)point)))
            blow->point = point;
    }
    return blow->point >= 0 && read_nth(next_word(&text), &blow->nth) && !*text;
}

static bool read_kill(const char *text)
{
    return read_blow(text, &death);
}

static bool read_interrupt(const char *text)
{
    return read_blow(text, &interrupt);
}

static bool read_io(const char *text)
{
    struct weir_str name = next_word(&text);
    for (int call = 0; call < CALL_COUNT; call++) {
        if (is(name, call_names[call]))
            fail_call = call;
    }
    bool counted = read_nth(next_word(&text), &fail_nth);
    struct weir_str reason = next_word(&text);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (is(reason, reasons[i].name))
            fail_reason = reasons[i].number;
    }
    struct weir_str how = next_word(&text);
    fail_once = is(how, "once");
    return fail_call >= 0 && counted && fail_reason && (fail_once || how.len == 0) && !*text;
}

static bool read_vfs(const char *text)
{
    struct weir_str name = next_word(&text);
    uint64_t nth = 0;
    int op = 0;
    while (op < FLAKY_OPS && !is(name, flaky_op_name((enum flaky_op)op)))
        op++;
    bool counted = read_nth(next_word(&text), &nth);
    struct weir_str how = next_word(&text);
    enum flaky_how chosen = is(how, "full")    ? FLAKY_FULL
                            : is(how, "short") ? FLAKY_SHORT
                                               : FLAKY_ERROR;
    if (op == FLAKY_OPS || !counted || *text || (how.len > 0 && chosen == FLAKY_ERROR))
        return false;
    flaky_register();
    flaky_fail((enum flaky_op)op, chosen, nth);
    return true;
}

static bool read_variable(const char *variable, bool (*read_text)(const char *text))
{
    const char *text = getenv(variable);
    if (text && !read_text(text))
        misunderstood(variable);
    return text != NULL;
}

const struct weir_journal_hooks *job_hooks(void)
{
    static struct weir_journal_hooks hooks;
    if (read_variable("WEIR_KILL_AT", read_kill))
        hooks.at = at;
    if (read_variable("WEIR_INTERRUPT_AT", read_interrupt))
        hooks.at = at;
    if (read_variable("WEIR_FAIL_IO", read_io))
        hooks.io = &flaky_io;
    if (read_variable("WEIR_FAIL_VFS", read_vfs))
        hooks.vfs = FLAKY_VFS;
    return &hooks;
}
