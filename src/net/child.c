/* SPDX-License-Identifier: MIT */
/*
 * A command whose output is wanted; see child.h.
 *
 *     run ──▶ started ──▶ its output ends ┐
 *                    └──▶ it ends ────────┴─▶ both have come: done ──▶ handles closed ──▶ freed
 *
 * The process leads a session of its own, so that one signal reaches all that it has started. A
 * child is freed only when it has ended, also after a cancel: nobody else would take its body away.
 */
#include "net/child.h"

#include <signal.h>
#include <stdio.h>
#include <uv.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/loop_parts.h"

extern char **environ;

struct weir_child {
    struct weir_loop *loop;
    uv_process_t process;
    uv_pipe_t output;
    struct weir_timer timer; /* the time-out; or that it could not be started */
    weir_child_done *done;   /* NULL: nobody wants to know any more */
    void *ctx;
    int64_t timeout_us;

    char *text; /* of its full size from the beginning: growing would leave copies behind */
    size_t len;
    size_t len_max;

    bool running; /* the process has not ended */
    bool open;    /* its output has not ended */
    int handles;  /* of libuv's, not closed yet */
    enum weir_status status;
    char detail[WEIR_DETAIL_MAX];
};

/* --- the environment -------------------------------------------------------------------------- */

static bool is_hidden(const char *variable, const struct weir_child_options *options)
{
    struct weir_str name = weir_str(variable, strcspn(variable, "="));
    if (weir_str_starts_nocase(name, "Dataverse__"))
        return true;
    for (size_t i = 0; i < options->hidden_count; i++) {
        if (weir_str_equal(name, weir_str_from(options->hidden[i])))
            return true;
    }
    return false;
}

/* Ours without what may hold a secret; the texts are borrowed. Free it. */
static char **make_environment(const struct weir_child_options *options)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **variables = weir_calloc(count + 1, sizeof(*variables));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_hidden(environ[i], options))
            variables[kept++] = environ[i];
    }
    return variables;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void wipe(struct weir_child *child)
{
    explicit_bzero(child->text, child->len);
    child->len = 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct weir_child *child = handle->data;
    if (--child->handles)
        return;
    wipe(child);
    free(child->text);
    free(child);
}

static void fail(struct weir_child *child, enum weir_status status, const char *detail)
{
    if (child->status)
        return;
    child->status = status;
    snprintf(child->detail, sizeof(child->detail), "%s", detail);
}

static void tell(struct weir_child *child)
{
    weir_child_done *done = child->done;
    struct weir_child_answer answer = {
        .status = child->status,
        .detail = child->detail,
        .output = weir_str("", 0),
    };
    if (!child->status)
        answer.output = weir_str(child->text, child->len);
    child->done = NULL;
    if (done)
        done(child->ctx, &answer);
    wipe(child);
}

/* Both the process and its output have come to an end: tell it, then let go. */
static void end(struct weir_child *child)
{
    if (child->running || child->open)
        return;
    weir_timer_release(&child->timer);
    tell(child);
    uv_close((uv_handle_t *)&child->process, on_closed);
    uv_close((uv_handle_t *)&child->output, on_closed);
}

/* All of its group; what has left the group may hold the output open, but we do not wait for it. */
static void put_down(struct weir_child *child)
{
    if (child->process.pid > 0)
        kill(-child->process.pid, SIGKILL);
    if (child->open)
        uv_read_stop((uv_stream_t *)&child->output);
    child->open = false;
}

/* --- libuv calls ------------------------------------------------------------------------------ */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct weir_child *child = handle->data;
    (void)suggested;
    /* One more than allowed, to see whether there is one. */
    *ret = uv_buf_init(child->text + child->len, (unsigned)(child->len_max + 1 - child->len));
}

static void on_output(uv_stream_t *stream, ssize_t len, const uv_buf_t *room)
{
    (void)room;
    struct weir_child *child = stream->data;
    weir_loop_wake(child->loop);
    if (len > 0) {
        child->len += (size_t)len;
        if (child->len <= child->len_max)
            return;
        fail(child, WEIR_E_TOO_BIG, "more output than allowed");
        put_down(child);
    } else if (len < 0) {
        child->open = false;
        uv_read_stop(stream);
    }
    end(child);
}

static void on_ended(uv_process_t *process, int64_t code, int signal)
{
    struct weir_child *child = process->data;
    char detail[64];
    weir_loop_wake(child->loop);
    child->running = false;
    if (signal)
        snprintf(detail, sizeof(detail), "killed by signal %d", signal);
    else
        snprintf(detail, sizeof(detail), "exit code %d", (int)code);
    if (signal || code)
        fail(child, WEIR_E_IO, detail);
    end(child);
}

/* Too late, or it was never started. */
static void on_timer(struct weir_timer *timer)
{
    struct weir_child *child = (void *)((char *)timer - offsetof(struct weir_child, timer));
    char detail[64];
    snprintf(detail, sizeof(detail), "no end after %g s", (double)child->timeout_us / 1e6);
    fail(child, WEIR_E_IO, detail);
    put_down(child);
    end(child);
}

/* --- the face --------------------------------------------------------------------------------- */

static int spawn(struct weir_child *child, const struct weir_child_options *options)
{
    char shell[] = "/bin/sh", flag[] = "-c";
    char *args[] = { shell, flag, (char *)options->command, NULL };
    char **environment = make_environment(options);
    uv_stdio_container_t stdio[] = {
        { .flags = UV_IGNORE },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
          .data.stream = (uv_stream_t *)&child->output },
        { .flags = UV_INHERIT_FD, .data.fd = 2 },
    };
    const uv_process_options_t uv_options = {
        .exit_cb = on_ended,
        .file = shell,
        .args = args,
        .env = environment,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };
    int rc = uv_spawn(weir_loop_uv(child->loop), &child->process, &uv_options);
    free(environment);
    return rc;
}

struct weir_child *weir_child_run(struct weir_loop *loop, const struct weir_child_options *options,
                                  weir_child_done *done, void *ctx)
{
    struct weir_child *child = weir_calloc(1, sizeof(*child));
    child->loop = loop;
    child->done = done;
    child->ctx = ctx;
    child->timeout_us = options->timeout_us;
    child->len_max = options->output_bytes_max;
    child->text = weir_calloc(child->len_max + 1, 1);
    child->handles = 2;
    weir_timer_init(&child->timer, loop, on_timer);
    uv_pipe_init(weir_loop_uv(loop), &child->output, 0);
    int rc = spawn(child, options);
    child->process.data = child->output.data = child;
    int64_t now_us = weir_loop_now_us(loop);
    if (rc) {
        child->process.pid = 0;
        fail(child, WEIR_E_IO, uv_strerror(rc));
        weir_timer_set(&child->timer, now_us);
        return child;
    }
    child->running = child->open = true;
    uv_read_start((uv_stream_t *)&child->output, on_room, on_output);
    weir_timer_set(&child->timer, weir_time_add(now_us, options->timeout_us));
    return child;
}

void weir_child_cancel(struct weir_child *child)
{
    child->done = NULL;
    put_down(child);
    weir_timer_release(&child->timer);
    end(child);
}
