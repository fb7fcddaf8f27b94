/* SPDX-License-Identifier: MIT */
/*
 * The built weir-sim (environment variable WEIR_SIM) as a process on a free port, and raw sockets
 * to it. Every wait is a poll() with an end; nothing sleeps. The child is killed when the test
 * ends.
 */
#ifndef WEIR_TESTS_SIM_PROCESS_H
#define WEIR_TESTS_SIM_PROCESS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "support/suite.h"

#define API       "/api/data/v9.2/"
#define WAIT_MS   120000 /* only what hangs takes as long; a busy machine and a sanitizer do not */
#define SHORT_MS  100    /* in which nothing must happen */
#define BYTES_MAX ((size_t)16 * 1024 * 1024)
#define ARGS_MAX  24

enum ending {
    OPEN, /* it is not over yet */
    CLOSED,
    RESET,
};

/* The program under test. */
struct sim {
    pid_t pid;
    int out; /* its standard output */
    int err;
    uint16_t port;
    char url[64];
    char token[2048];
};

static struct sim sim;

/* The program. */

static inline void run_child(const char *const *args, int out, int err)
{
    const char *argv[ARGS_MAX + 2] = { getenv("WEIR_SIM") };
    for (int i = 0; args[i] && i < ARGS_MAX; i++)
        argv[i + 1] = args[i];
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

static inline void spawn(const char *const *args)
{
    int out[2], err[2];
    ck_assert_msg(getenv("WEIR_SIM"), "WEIR_SIM is not set");
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
    sim.pid = fork();
    ck_assert_int_ge(sim.pid, 0);
    if (sim.pid == 0)
        run_child(args, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    sim.out = out[0];
    sim.err = err[0];
}

static inline bool readable(int fd, int ms)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    return poll(&polled, 1, ms) == 1;
}

/* All that comes until the other side closes, or until `stop` stands in it. */
static inline void read_text(int fd, const char *stop, struct weir_buf *text)
{
    char chunk[4096];
    ssize_t len = 1;
    while (len > 0 && !(stop && strstr(weir_buf_text(text), stop))) {
        ck_assert(readable(fd, WAIT_MS));
        len = read(fd, chunk, sizeof(chunk));
        if (len > 0)
            weir_buf_add(text, chunk, (size_t)len);
    }
}

static inline int reap(void)
{
    int status;
    ck_assert_int_eq(waitpid(sim.pid, &status, 0), sim.pid);
    sim.pid = 0;
    close(sim.out);
    close(sim.err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void kill_child(void)
{
    if (sim.pid > 0)
        kill(sim.pid, SIGKILL);
}

static inline void log_in(void);

static inline void start(const char *first, ...)
{
    const char *args[ARGS_MAX + 1] = { "--port", "0", first };
    struct weir_buf text;
    va_list more;
    va_start(more, first);
    for (int i = 3; first && i < ARGS_MAX && (args[i] = va_arg(more, const char *)); i++)
        ;
    va_end(more);
    signal(SIGPIPE, SIG_IGN);
    spawn(args);
    atexit(kill_child);
    weir_buf_init(&text, 65536);
    read_text(sim.out, "\n", &text);
    ck_assert_int_eq(sscanf(weir_buf_text(&text), "listening %63s", sim.url), 1);
    sim.port = (uint16_t)strtol(strrchr(sim.url, ':') + 1, NULL, 10);
    weir_buf_release(&text);
    if (strncmp(sim.url, "http:", 5) == 0)
        log_in();
}

/* SIGTERM: a summary, and a clean end. */
static inline void stop(void)
{
    struct weir_buf text;
    weir_buf_init(&text, 1024 * 1024);
    kill(sim.pid, SIGTERM);
    read_text(sim.err, NULL, &text);
    int code = reap();
    ck_assert_msg(code == 0, "exit code %d: %s", code, weir_buf_text(&text));
    ck_assert_msg(strstr(weir_buf_text(&text), "ended by a signal"), "%s", weir_buf_text(&text));
    weir_buf_release(&text);
}

/* Connections. */

static inline int dial(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(sim.port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* False: the other side is gone. */
static inline bool send_bytes(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        struct pollfd polled = { .fd = fd, .events = POLLOUT };
        ck_assert_int_eq(poll(&polled, 1, WAIT_MS), 1);
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN)
            return false;
        at += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static inline bool send_text(int fd, const char *text)
{
    return send_bytes(fd, text, strlen(text));
}

/* Read more; how it ended, if it did. */
static inline enum ending receive(int fd, struct weir_buf *bytes)
{
    char chunk[65536];
    ck_assert_msg(readable(fd, WAIT_MS), "nothing came");
    ssize_t len = recv(fd, chunk, sizeof(chunk), 0);
    if (len > 0)
        weir_buf_add(bytes, chunk, (size_t)len);
    if (len < 0)
        ck_assert_int_eq(errno, ECONNRESET);
    return len > 0 ? OPEN : len == 0 ? CLOSED : RESET;
}

static inline enum ending receive_all(int fd, struct weir_buf *bytes)
{
    enum ending ending = OPEN;
    while (ending == OPEN)
        ending = receive(fd, bytes);
    return ending;
}

/* The length of the first answer in the bytes, 0: it is not there whole. */
static inline size_t answer_len(const struct weir_buf *bytes)
{
    const char *text = weir_buf_text(bytes);
    const char *blank = strstr(text, "\r\n\r\n");
    if (!blank)
        return 0;
    const char *length = strcasestr(text, "\r\nContent-Length:");
    size_t body = length && length < blank ? (size_t)strtol(length + 17, NULL, 10) : 0;
    size_t whole = (size_t)(blank + 4 - text) + body;
    return whole <= bytes->len ? whole : 0;
}

/* One whole answer, taken from a connection that stays open. */
static inline int receive_answer(int fd, struct weir_buf *bytes)
{
    weir_buf_reset(bytes);
    while (!answer_len(bytes))
        ck_assert_msg(receive(fd, bytes) == OPEN, "cut: %s", weir_buf_text(bytes));
    ck_assert_uint_eq(answer_len(bytes), bytes->len);
    ck_assert_int_eq(strncmp(bytes->ptr, "HTTP/1.1 ", 9), 0);
    return (int)strtol(bytes->ptr + 9, NULL, 10);
}

static inline const char *body_of(const struct weir_buf *bytes)
{
    const char *blank = strstr(weir_buf_text(bytes), "\r\n\r\n");
    return blank ? blank + 4 : "";
}

static inline bool has(const struct weir_buf *bytes, const char *text)
{
    return strstr(weir_buf_text(bytes), text) != NULL;
}

/* Requests. */

static struct weir_buf bytes; /* of the last answer */

static inline void print_request(struct weir_buf *text, const char *method, const char *target,
                                 const char *body)
{
    weir_buf_printf(text, "%s %s HTTP/1.1\r\nHost: sim\r\n", method, target);
    if (sim.token[0])
        weir_buf_printf(text, "Authorization: Bearer %s\r\n", sim.token);
    if (body)
        weir_buf_printf(text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                        strlen(body));
    weir_buf_printf(text, "\r\n%s", body ? body : "");
}

static inline void send_request(int fd, const char *method, const char *target, const char *body)
{
    struct weir_buf text;
    weir_buf_init(&text, BYTES_MAX);
    print_request(&text, method, target, body);
    ck_assert(send_bytes(fd, text.ptr, text.len));
    weir_buf_release(&text);
}

/* A request on a connection of its own. */
static inline int ask(const char *method, const char *target, const char *body)
{
    int fd = dial();
    send_request(fd, method, target, body);
    int status = receive_answer(fd, &bytes);
    close(fd);
    return status;
}

/* The same, but the connection ends. */
static inline enum ending ask_until_end(const char *method, const char *target, const char *body)
{
    int fd = dial();
    send_request(fd, method, target, body);
    weir_buf_reset(&bytes);
    enum ending ending = receive_all(fd, &bytes);
    close(fd);
    return ending;
}

static inline void log_in(void)
{
    char form[512];
    int fd = dial();
    snprintf(form, sizeof(form),
             "client_id=app1&client_secret=app1~simulated.client-secret&grant_type="
             "client_credentials&scope=%s/.default",
             sim.url);
    char text[1024];
    snprintf(text, sizeof(text),
             "POST /contoso/oauth2/v2.0/token HTTP/1.1\r\nHost: sim\r\nContent-Length: %zu\r\n"
             "Content-Type: application/x-www-form-urlencoded\r\n\r\n%s",
             strlen(form), form);
    weir_buf_init(&bytes, BYTES_MAX);
    send_text(fd, text);
    ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    const char *token = strstr(bytes.ptr, "\"access_token\":\"");
    ck_assert_ptr_nonnull(token);
    token += strlen("\"access_token\":\"");
    snprintf(sim.token, sizeof(sim.token), "%.*s", (int)strcspn(token, "\""), token);
    close(fd);
}

static inline void fault(const char *fault_text)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", fault_text);
    int status = ask("POST", "/sim/faults", body);
    ck_assert_msg(status == 200, "%s", weir_buf_text(&bytes));
}

static inline long rows(void)
{
    ck_assert_int_eq(ask("GET", "/sim/ledger?table=account", NULL), 200);
    return strtol(strstr(bytes.ptr, "\"rows\":") + 7, NULL, 10);
}

static inline int create(void)
{
    return ask("POST", API "accounts", "{\"name\":\"a\"}");
}

static inline enum ending create_until_end(void)
{
    return ask_until_end("POST", API "accounts", "{\"name\":\"a\"}");
}

#endif
