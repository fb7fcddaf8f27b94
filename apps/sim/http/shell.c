/* SPDX-License-Identifier: MIT */
/*
 * The HTTP shell; see shell.h.
 *
 *     request line ─▶ guest ─ head ─ body ─ whole ─▶ visit ─ due? ─▶ answer ─ delivery ─▶ wire
 *                                                     │ no               │ stall, slow raw write
 *                                                     ▼                  ▼
 *                                                 suspended: a place in the heap `due`
 *
 * One turn of the loop: late commits; everything that is due is finished and resumed; then one
 * MHD_run() for all of them (libmicrohttpd looks through all suspended connections whenever one was
 * resumed); then wait for a descriptor, the next due moment, or a signal, a second at most.
 *
 * A reset is SO_LINGER 0 and a close; that needs MHD_USE_TURBO, or libmicrohttpd ends the
 * connection politely first.
 */
#include "sim/http/shell.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sim/http/guest.h"

#define HEADER_BYTES_MAX ((size_t)40 * 1024) /* an address of 32 KiB and the rest of a head */
#define POOL_BYTES       HEADER_BYTES_MAX    /* of request and answer; cleared every time */
#define POOL_STEP        ((size_t)8 * 1024)
#define BODIES_BYTES_MAX ((size_t)1024 * 1024 * 1024)
#define BACKLOG          4096
#define RAW_WRITE_MAX_US (30 * WEIR_US_PER_S)
#define POLLED_MAX       1024
#define DATE_BYTES       64

struct sim_shell {
    struct MHD_Daemon *daemon;
    int epoll_fd;
    struct sim_world *world;
    const struct weir_log_sink *log;
    int64_t begun_us;
    bool stopping;

    struct sim_guests guests;
    struct sim_guest **suspended; /* by place; NULL: free */
    uint32_t places;
    uint32_t *free_places;
    uint32_t free_count;
    struct weir_heap due;
    size_t bodies_bytes; /* of all requests */

    struct pollfd polled[POLLED_MAX + 1]; /* the daemon's, then raw writers */
    uint32_t raw_count;                   /* guests that write raw */
};

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    (void)number;
    signalled = 1;
}

static int64_t now_of(const struct sim_shell *shell)
{
    return weir_clock_now_us() - shell->begun_us;
}

/* Suspended guests. */

static void grow_places(struct sim_shell *shell)
{
    uint32_t old = shell->places;
    shell->places = old ? 2 * old : 64;
    shell->suspended = weir_realloc(shell->suspended, shell->places, sizeof(*shell->suspended));
    shell->free_places =
        weir_realloc(shell->free_places, shell->places, sizeof(*shell->free_places));
    weir_heap_reserve(&shell->due, shell->places);
    for (uint32_t place = shell->places; place-- > old;) {
        shell->suspended[place] = NULL;
        shell->free_places[shell->free_count++] = place;
    }
}

static void suspend(struct sim_shell *shell, struct sim_guest *guest, int64_t due_us)
{
    if (guest->place == SIM_NO_PLACE) {
        if (!shell->free_count)
            grow_places(shell);
        guest->place = shell->free_places[--shell->free_count];
        shell->suspended[guest->place] = guest;
        MHD_suspend_connection(guest->connection);
    }
    weir_heap_set(&shell->due, guest->place, due_us);
}

static void resume(struct sim_shell *shell, struct sim_guest *guest)
{
    weir_heap_remove(&shell->due, guest->place);
    shell->suspended[guest->place] = NULL;
    shell->free_places[shell->free_count++] = guest->place;
    guest->place = SIM_NO_PLACE;
    MHD_resume_connection(guest->connection);
}

/* Answers. */

static void log_answer(const struct sim_shell *shell, const struct sim_guest *guest)
{
    if (!weir_log_wants(shell->log, WEIR_LOG_DEBUG))
        return;
    const struct weir_log_field fields[] = {
        { "Target", WEIR_LOG_TEXT, 0, weir_buf_text(&guest->target) },
        { "Status", WEIR_LOG_INTEGER, guest->answer.status, NULL },
        { "Delivery", WEIR_LOG_INTEGER, guest->delivery.kind, NULL },
    };
    weir_log(shell->log, WEIR_LOG_DEBUG, "answer", "request answered", fields,
             sizeof(fields) / sizeof(fields[0]));
}

static const char *date_now(char text[DATE_BYTES])
{
    time_t seconds = (time_t)(weir_clock_wall_us() / WEIR_US_PER_S);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, DATE_BYTES, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return text;
}

static enum MHD_Result reset_connection(struct sim_guest *guest)
{
    sim_raw_arm_reset(sim_guest_fd(guest));
    return MHD_NO;
}

/* The first bytes of the answer, past libmicrohttpd, then the end. */
static enum MHD_Result write_raw(struct sim_shell *shell, struct sim_guest *guest, uint64_t byte)
{
    char date[DATE_BYTES];
    sim_raw_init(&guest->raw, sim_guest_fd(guest), sim_guest_tls(guest), &guest->answer,
                 date_now(date), byte);
    if (sim_raw_write(&guest->raw) != SIM_RAW_MORE || shell->raw_count == POLLED_MAX)
        return MHD_NO;
    guest->stage = SIM_GUEST_RAW;
    shell->raw_count++;
    suspend(shell, guest, now_of(shell) + RAW_WRITE_MAX_US);
    return MHD_YES;
}

static enum MHD_Result deliver(struct sim_shell *shell, struct sim_guest *guest)
{
    log_answer(shell, guest);
    switch (guest->delivery.kind) {
    case SIM_RESET_BEFORE:
    case SIM_RESET_WITHIN:
    case SIM_RESET_AFTER:
        return reset_connection(guest);
    case SIM_CUT:
        return write_raw(shell, guest, guest->delivery.byte);
    case SIM_SILENCE:
        return MHD_NO;
    case SIM_DELIVER:
    case SIM_STALL:
        break;
    }
    return sim_guest_queue_answer(guest);
}

static bool is_held_back(const struct sim_delivery *delivery)
{
    return (delivery->kind == SIM_STALL || delivery->kind == SIM_SILENCE) && delivery->stall_us > 0;
}

/* The service has it done. The guest is ready, or it is held back. */
static void finish(struct sim_shell *shell, struct sim_guest *guest, int64_t now_us,
                   int64_t wall_us)
{
    sim_world_finish(shell->world, guest->visit, now_us, wall_us, &guest->answer, &guest->delivery);
    guest->visit = NULL;
    guest->stage = SIM_GUEST_READY;
    if (!is_held_back(&guest->delivery))
        return;
    guest->stage = SIM_GUEST_STALLED;
    suspend(shell, guest, weir_time_add(now_us, guest->delivery.stall_us));
}

/* Requests. */

/* An answer of the shell's own, before the body has been read. */
static enum MHD_Result refuse_head(struct sim_shell *shell, struct sim_guest *guest, int status,
                                   const char *message)
{
    sim_answer_error(&guest->answer, status, "0x0", "%s", message);
    guest->stage = SIM_GUEST_READY;
    log_answer(shell, guest);
    return sim_guest_queue_answer(guest);
}

static size_t header_bytes(const struct sim_guest *guest)
{
    size_t bytes = guest->target.len;
    for (size_t i = 0; i < guest->header_count; i++)
        bytes += guest->headers[i].name.len + guest->headers[i].value.len + 4;
    return bytes;
}

static bool has_body(const struct sim_guest *guest, int64_t *ret_length)
{
    struct weir_str length = sim_http_header(guest->headers, guest->header_count, "Content-Length");
    *ret_length = 0;
    if (length.ptr && !weir_str_to_int64(weir_str_trim(length), ret_length))
        *ret_length = INT64_MAX;
    return *ret_length > 0 ||
           sim_http_header(guest->headers, guest->header_count, "Transfer-Encoding").ptr;
}

static enum MHD_Result on_head(struct sim_shell *shell, struct sim_guest *guest, const char *method)
{
    int64_t length;
    sim_guest_read_headers(guest);
    bool body = has_body(guest, &length);
    if (guest->headers_overflow || guest->target.overflow || header_bytes(guest) > HEADER_BYTES_MAX)
        return refuse_head(shell, guest, 431,
                           "The headers are larger than 40960 bytes or more "
                           "than 128.");
    if (length > (int64_t)SIM_BODY_BYTES_MAX)
        return refuse_head(shell, guest, 413, "The request is larger than 134217728 bytes.");
    struct sim_http_request request = sim_guest_request(guest, method);
    guest->stage = SIM_GUEST_BODY;
    if (!sim_world_head(shell->world, &request, now_of(shell), &guest->delivery))
        return MHD_YES;
    guest->stage = SIM_GUEST_DOOMED;
    if (guest->delivery.kind == SIM_RESET_BEFORE || !body)
        return deliver(shell, guest);
    return MHD_YES;
}

/* Too much came without having been announced: the answer goes past libmicrohttpd, which accepts
 * none in the middle of a body. */
static enum MHD_Result refuse_body(struct sim_shell *shell, struct sim_guest *guest)
{
    sim_answer_error(&guest->answer, 413, "0x0", "The request is larger than 134217728 bytes.");
    sim_answer_header(&guest->answer, "Connection", "close");
    guest->delivery.kind = SIM_CUT;
    guest->delivery.byte = UINT64_MAX;
    return deliver(shell, guest);
}

static enum MHD_Result on_body(struct sim_shell *shell, struct sim_guest *guest, const char *bytes,
                               size_t *len)
{
    if (guest->stage == SIM_GUEST_DOOMED)
        return deliver(shell, guest);
    if (guest->stage != SIM_GUEST_BODY)
        return MHD_NO;
    if (*len > BODIES_BYTES_MAX - shell->bodies_bytes)
        return refuse_body(shell, guest);
    weir_buf_add(&guest->body, bytes, *len);
    if (guest->body.overflow)
        return refuse_body(shell, guest);
    shell->bodies_bytes += *len;
    *len = 0;
    return MHD_YES;
}

static enum MHD_Result on_whole(struct sim_shell *shell, struct sim_guest *guest,
                                const char *method)
{
    int64_t now_us = now_of(shell);
    int64_t wall_us = weir_clock_wall_us();
    if (guest->stage == SIM_GUEST_DOOMED)
        return deliver(shell, guest);
    struct sim_http_request request = sim_guest_request(guest, method);
    guest->visit = sim_world_arrive(shell->world, &request, now_us, wall_us);
    int64_t due_us = sim_visit_due_us(guest->visit);
    if (due_us > now_us) {
        guest->stage = SIM_GUEST_INSIDE;
        suspend(shell, guest, due_us);
        return MHD_YES;
    }
    finish(shell, guest, now_us, wall_us);
    return guest->stage == SIM_GUEST_READY ? deliver(shell, guest) : MHD_YES;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_len, void **con_cls)
{
    (void)url;
    (void)version;
    struct sim_shell *shell = ctx;
    struct sim_guest *guest = *con_cls;
    guest->connection = connection;
    if (shell->stopping)
        return MHD_NO;
    switch (guest->stage) {
    case SIM_GUEST_HEAD:
        return on_head(shell, guest, method);
    case SIM_GUEST_BODY:
    case SIM_GUEST_DOOMED:
        return *upload_len ? on_body(shell, guest, upload, upload_len)
                           : on_whole(shell, guest, method);
    case SIM_GUEST_READY:
        return deliver(shell, guest);
    default:
        return MHD_NO;
    }
}

/* The request line has come. The address is taken as it is, before anything is decoded. */
static void *on_request_line(void *ctx, const char *uri, struct MHD_Connection *connection)
{
    (void)connection;
    struct sim_shell *shell = ctx;
    return sim_guest_new(&shell->guests, uri);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    struct sim_shell *shell = ctx;
    struct sim_guest *guest = *con_cls;
    *con_cls = NULL;
    if (!guest)
        return;
    shell->bodies_bytes -= guest->body.len;
    sim_guest_free(&shell->guests, guest);
}

static size_t leave_escapes(void *ctx, struct MHD_Connection *connection, char *text)
{
    (void)ctx;
    (void)connection;
    return strlen(text);
}

WEIR_PRINTF(2, 0)
static void on_message(void *ctx, const char *format, va_list args)
{
    struct sim_shell *shell = ctx;
    char text[512];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    weir_log(shell->log, WEIR_LOG_DEBUG, "http", text, NULL, 0);
}

/* The loop. */

/* A suspended guest whose time has come. */
static void wake(struct sim_shell *shell, struct sim_guest *guest, int64_t now_us, int64_t wall_us)
{
    switch (guest->stage) {
    case SIM_GUEST_INSIDE:
        finish(shell, guest, now_us, wall_us);
        if (guest->stage == SIM_GUEST_STALLED)
            return;
        break;
    case SIM_GUEST_RAW:
        shell->raw_count--;
        guest->stage = SIM_GUEST_CLOSE;
        break;
    default:
        guest->stage = SIM_GUEST_READY;
        break;
    }
    resume(shell, guest);
}

static void wake_due(struct sim_shell *shell, int64_t now_us, int64_t wall_us)
{
    while (weir_heap_min(&shell->due) <= now_us)
        wake(shell, shell->suspended[weir_heap_top(&shell->due)], now_us, wall_us);
}

/* The descriptors of guests that write raw, behind the daemon's. */
static nfds_t gather(struct sim_shell *shell)
{
    nfds_t count = 1;
    shell->polled[0] = (struct pollfd){ .fd = shell->epoll_fd, .events = POLLIN };
    for (uint32_t place = 0; shell->raw_count && place < shell->places; place++) {
        const struct sim_guest *guest = shell->suspended[place];
        if (guest && guest->stage == SIM_GUEST_RAW && count <= POLLED_MAX)
            shell->polled[count++] = (struct pollfd){ .fd = guest->raw.fd, .events = POLLOUT };
    }
    return count;
}

static void write_on(struct sim_shell *shell)
{
    for (uint32_t place = 0; shell->raw_count && place < shell->places; place++) {
        struct sim_guest *guest = shell->suspended[place];
        if (guest && guest->stage == SIM_GUEST_RAW && sim_raw_write(&guest->raw) != SIM_RAW_MORE)
            wake(shell, guest, 0, 0);
    }
}

/* How long nothing will happen by itself. */
static int64_t idle_us(struct sim_shell *shell, int64_t world_us)
{
    MHD_UNSIGNED_LONG_LONG daemon_ms;
    int64_t next_us = weir_heap_min(&shell->due);
    if (MHD_get_timeout(shell->daemon, &daemon_ms) == MHD_YES && daemon_ms == 0)
        return 0;
    if (world_us < next_us)
        next_us = world_us;
    int64_t left_us = next_us - now_of(shell);
    if (left_us > WEIR_TIMER_MAX_US)
        return WEIR_TIMER_MAX_US;
    return left_us > 0 ? left_us : 0;
}

static void wait_for_more(struct sim_shell *shell, int64_t world_us, const sigset_t *mask)
{
    int64_t us = idle_us(shell, world_us);
    struct timespec span = { us / WEIR_US_PER_S, us % WEIR_US_PER_S * 1000 };
    ppoll(shell->polled, gather(shell), &span, mask);
}

static void serve(struct sim_shell *shell, const sigset_t *mask)
{
    while (!signalled) {
        int64_t now_us = now_of(shell);
        int64_t wall_us = weir_clock_wall_us();
        int64_t world_us = sim_world_turn(shell->world, now_us, wall_us);
        write_on(shell);
        wake_due(shell, now_us, wall_us);
        MHD_run(shell->daemon);
        wait_for_more(shell, world_us, mask);
    }
}

void sim_shell_run(struct sim_shell *shell)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t blocked, before;
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    serve(shell, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Begin and end. */

enum weir_status sim_shell_listen(uint16_t port, int *ret_fd, uint16_t *ret_port,
                                  struct weir_error *err)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return weir_fail(err, WEIR_E_IO, "cannot make a socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        weir_fail(err, WEIR_E_IO, "cannot listen on 127.0.0.1:%u: %s", port, strerror(errno));
        close(fd);
        return WEIR_E_IO;
    }
    *ret_fd = fd;
    *ret_port = ntohs(address.sin_port);
    return WEIR_OK;
}

static struct MHD_Daemon *start(struct sim_shell *shell, const struct sim_shell_options *options)
{
    unsigned flags = MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (options->tls_key ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key },
        { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_certificate },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handle, shell, MHD_OPTION_EXTERNAL_LOGGER, on_message, shell,
        MHD_OPTION_LISTEN_SOCKET, options->listen_fd, MHD_OPTION_URI_LOG_CALLBACK, on_request_line,
        shell, MHD_OPTION_NOTIFY_COMPLETED, on_completed, shell, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, shell, MHD_OPTION_CONNECTION_LIMIT, options->connections_max,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, POOL_BYTES, MHD_OPTION_CONNECTION_MEMORY_INCREMENT,
        POOL_STEP, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY,
        options->tls_key ? tls : none, MHD_OPTION_END);
}

enum weir_status sim_shell_new(const struct sim_shell_options *options, struct sim_shell **ret,
                               struct weir_error *err)
{
    struct sim_shell *shell = weir_calloc(1, sizeof(*shell));
    shell->world = options->world;
    shell->log = options->log;
    shell->begun_us = weir_clock_now_us();
    weir_heap_init(&shell->due, 1);
    shell->daemon = start(shell, options);
    if (!shell->daemon) {
        close(options->listen_fd);
        sim_shell_free(shell);
        return weir_fail(err, WEIR_E_IO, "cannot start the HTTP server");
    }
    shell->epoll_fd = MHD_get_daemon_info(shell->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    *ret = shell;
    return WEIR_OK;
}

/* Nobody may be suspended when the daemon stops. */
static void dismiss(struct sim_shell *shell)
{
    shell->stopping = true;
    for (uint32_t place = 0; place < shell->places; place++) {
        if (shell->suspended[place])
            resume(shell, shell->suspended[place]);
    }
    MHD_run(shell->daemon);
    MHD_stop_daemon(shell->daemon);
}

void sim_shell_free(struct sim_shell *shell)
{
    if (!shell)
        return;
    if (shell->daemon)
        dismiss(shell);
    sim_guests_release(&shell->guests);
    free(shell->suspended);
    free(shell->free_places);
    weir_heap_release(&shell->due);
    free(shell);
}
