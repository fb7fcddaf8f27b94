/* SPDX-License-Identifier: MIT */
/*
 * A scripted HTTP server; see origin.h.
 *
 *     handshake ─▶ reads ─▶ (head and body there) script ─▶ answers ─▶ keeps: reads again
 *                                                               ├────▶ drains: told that no more
 *                                                               │      comes; requests are counted
 *                                                               ├────▶ stalls
 *                                                               └────▶ gone: reset
 *
 * One mutex is around everything, held except while polling. Connections belong to the thread
 * alone; tests look at counters and records.
 */
#include "support/origin.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "support/loopback.h"

#define TARGET_MAX 512
#define BACKLOG    1024
#define CHUNK      65536

enum state {
    HANDSHAKE,
    READS,
    ANSWERS,
    DRAINS,
    STALLS,
    GONE,
};

struct guest {
    int fd;
    SSL *ssl;
    enum state state;
    uint32_t number;
    uint32_t requests;
    struct weir_buf input; /* from the first byte of a head that was not answered yet */
    size_t head_len;       /* of the request at its beginning; 0: not whole yet */
    size_t body_len;       /* announced */
    size_t skip;           /* of a body that was answered early */
    struct origin_answer answer;
    size_t sent;
    bool paused;
    int64_t next_us; /* no byte before */
    bool ended;      /* the other side has */
    bool wants_write;
    bool ready; /* something happened to its descriptor */
};

struct origin {
    pthread_t thread;
    pthread_mutex_t lock;
    struct origin_options options;
    SSL_CTX *tls;
    uint16_t port;
    char url[64];
    int listener;
    int alarm;

    /* Below: only under the lock. */
    bool stop;
    struct guest *guests[ORIGIN_CONNECTIONS_MAX];
    size_t guest_count;
    struct origin_record *records;
    size_t record_count;
    struct origin_counts counts;
};

/* --- bytes, with TLS or without --------------------------------------------------------------- */

/* > 0: so many; 0: the end; -1: not now; -2: broken. */
static ssize_t tls_result(struct guest *guest, int result)
{
    int error = SSL_get_error(guest->ssl, result);
    ERR_clear_error();
    if (result > 0)
        return result;
    guest->wants_write = error == SSL_ERROR_WANT_WRITE;
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return -1;
    return error == SSL_ERROR_ZERO_RETURN ? 0 : -2;
}

static ssize_t plain_result(ssize_t result)
{
    return result >= 0 ? result : errno == EAGAIN ? -1 : -2;
}

static ssize_t receive(struct guest *guest, char *bytes, size_t len)
{
    if (guest->ssl)
        return tls_result(guest, SSL_read(guest->ssl, bytes, (int)len));
    return plain_result(recv(guest->fd, bytes, len, MSG_DONTWAIT));
}

static ssize_t transmit(struct guest *guest, const char *bytes, size_t len)
{
    if (guest->ssl)
        return tls_result(guest, SSL_write(guest->ssl, bytes, (int)len));
    return plain_result(send(guest->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* --- the end of a guest ----------------------------------------------------------------------- */

static void guest_gone(struct guest *guest, bool reset)
{
    if (guest->state == GONE)
        return;
    if (reset)
        loopback_will_reset(guest->fd);
    SSL_free(guest->ssl);
    guest->ssl = NULL;
    close(guest->fd);
    guest->state = GONE;
}

static void guest_free(struct guest *guest)
{
    weir_buf_release(&guest->input);
    weir_buf_release(&guest->answer.bytes);
    free(guest);
}

static void say_end(struct guest *guest)
{
    if (guest->ssl)
        tls_result(guest, SSL_shutdown(guest->ssl));
    shutdown(guest->fd, SHUT_WR);
    guest->state = DRAINS;
}

/* --- requests --------------------------------------------------------------------------------- */

struct weir_str origin_header(const char *head, const char *name)
{
    size_t name_len = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (weir_str_starts_nocase(weir_str_from(line), name) && line[name_len] == ':') {
            const char *value = line + name_len + 1;
            return weir_str_trim(weir_str(value, strcspn(value, "\r")));
        }
    }
    return weir_str(NULL, 0);
}

static void record(struct origin *origin, const struct guest *guest)
{
    if (origin->record_count >= origin->options.record_max ||
        origin->record_count != origin->counts.requests - 1)
        return;
    origin->records[origin->record_count++] =
        (struct origin_record){ weir_strndup(guest->input.ptr, guest->head_len), guest->number,
                                guest->requests };
}

/* The length of the body. False: nothing that we understand. */
static bool read_length(const struct guest *guest, size_t *ret)
{
    char *head = weir_strndup(guest->input.ptr, guest->head_len);
    struct weir_str length = origin_header(head, "Content-Length");
    int64_t value = 0;
    bool ok = !origin_header(head, "Transfer-Encoding").len && strstr(head, " HTTP/1.1\r\n") &&
              (!length.len || weir_str_to_int64(length, &value)) && value >= 0 &&
              value < (int64_t)ORIGIN_BYTES_MAX;
    free(head);
    *ret = ok ? (size_t)value : 0;
    return ok;
}

/* Whether the head of the next request is there; counts it once. */
static bool has_head(struct origin *origin, struct guest *guest)
{
    if (guest->head_len)
        return true;
    const char *blank =
        guest->input.len ? memmem(guest->input.ptr, guest->input.len, "\r\n\r\n", 4) : NULL;
    if (!blank)
        return false;
    guest->head_len = (size_t)(blank + 4 - guest->input.ptr);
    if (!read_length(guest, &guest->body_len)) {
        origin->counts.malformed++;
        guest_gone(guest, true);
        return false;
    }
    origin->counts.requests++;
    record(origin, guest);
    guest->requests++;
    return true;
}

static size_t body_there(const struct guest *guest)
{
    size_t there = guest->input.len - guest->head_len;
    return there < guest->body_len ? there : guest->body_len;
}

static void drop_input(struct guest *guest, size_t len)
{
    guest->input.len -= len;
    memmove(guest->input.ptr, guest->input.ptr + len, guest->input.len);
    guest->input.ptr[guest->input.len] = '\0';
}

/* The request at the beginning is done with; what is missing of its body is skipped. */
static void drop_request(struct guest *guest)
{
    size_t there = body_there(guest);
    guest->skip = guest->body_len - there;
    drop_input(guest, guest->head_len + there);
    guest->head_len = 0;
}

static void copy_target(const struct guest *guest, char target[TARGET_MAX])
{
    const char *begin = memchr(guest->input.ptr, ' ', guest->head_len);
    size_t len = strcspn(begin + 1, " \r");
    snprintf(target, TARGET_MAX, "%.*s", (int)len, begin + 1);
}

static void ask_script(struct origin *origin, struct guest *guest, uint64_t index)
{
    char target[TARGET_MAX];
    const struct origin_options *options = &origin->options;
    copy_target(guest, target);
    struct origin_request request = {
        .index = index,
        .connection = guest->number,
        .before = guest->requests - 1,
        .target = target,
        .head = guest->input.ptr,
        .head_len = guest->head_len,
        .body = guest->input.ptr + guest->head_len,
        .body_len = body_there(guest),
    };
    if (options->script) {
        options->script(options->ctx, &request, &guest->answer);
    } else if (options->answer_count) {
        size_t last = options->answer_count - 1;
        weir_buf_add_text(&guest->answer.bytes, options->answers[index < last ? index : last]);
    }
}

static void begin_answer(struct origin *origin, struct guest *guest, int64_t now_us)
{
    struct weir_buf bytes = guest->answer.bytes;
    weir_buf_reset(&bytes);
    guest->answer = (struct origin_answer){ .bytes = bytes };
    ask_script(origin, guest, origin->counts.requests - 1);
    must(!guest->answer.bytes.overflow);
    guest->sent = 0;
    guest->paused = guest->answer.pause_us == 0;
    guest->next_us = now_us + guest->answer.delay_us;
    guest->state = ANSWERS;
}

/* Take the next request up, if it is there. False: it is not. */
static bool serve(struct origin *origin, struct guest *guest, int64_t now_us)
{
    if (!has_head(origin, guest))
        return false;
    size_t there = body_there(guest);
    bool whole = there == guest->body_len;
    bool early = origin->options.early && there >= origin->options.early_body_bytes;
    if (!whole && !early)
        return false;
    origin->counts.whole += whole;
    if (guest->state == READS)
        begin_answer(origin, guest, now_us);
    drop_request(guest);
    return true;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void end_answer(struct guest *guest)
{
    switch (guest->answer.then) {
    case ORIGIN_KEEP:
        guest->state = READS;
        break;
    case ORIGIN_CLOSE:
        say_end(guest);
        break;
    case ORIGIN_RESET:
        guest_gone(guest, true);
        break;
    case ORIGIN_STALL:
        guest->state = STALLS;
        break;
    }
}

/* How many bytes may be sent now; 0: none before next_us. */
static size_t allowed(struct guest *guest, int64_t now_us)
{
    const struct origin_answer *answer = &guest->answer;
    if (!guest->paused && guest->sent == answer->pause_at) {
        guest->paused = true;
        guest->next_us = now_us + answer->pause_us;
    }
    if (guest->next_us > now_us)
        return 0;
    size_t len = answer->bytes.len - guest->sent;
    if (!guest->paused && answer->pause_at - guest->sent < len)
        len = answer->pause_at - guest->sent;
    return answer->slice_bytes && answer->slice_bytes < len ? answer->slice_bytes : len;
}

static void answer_more(struct origin *origin, struct guest *guest, int64_t now_us)
{
    size_t len;
    guest->wants_write = false;
    while ((len = allowed(guest, now_us)) > 0) {
        ssize_t sent = transmit(guest, guest->answer.bytes.ptr + guest->sent, len);
        if (sent == -2 || sent == 0) {
            guest_gone(guest, true);
            return;
        }
        if (sent < 0) {
            guest->wants_write = true;
            return;
        }
        guest->sent += (size_t)sent;
        origin->counts.said += (uint64_t)sent;
        if (guest->answer.slice_bytes)
            guest->next_us = now_us + guest->answer.slice_gap_us;
    }
    if (guest->sent == guest->answer.bytes.len && guest->next_us <= now_us)
        end_answer(guest);
}

/* --- one guest -------------------------------------------------------------------------------- */

static void shake_hands(struct origin *origin, struct guest *guest)
{
    ssize_t result = tls_result(guest, SSL_accept(guest->ssl));
    if (result == -1)
        return;
    if (result <= 0) {
        origin->counts.refused++;
        guest_gone(guest, false);
        return;
    }
    origin->counts.handshakes++;
    origin->counts.resumed += SSL_session_reused(guest->ssl) == 1;
    guest->state = READS;
}

static void take_input(struct guest *guest, const char *bytes, size_t len)
{
    size_t skip = guest->skip < len ? guest->skip : len;
    guest->skip -= skip;
    weir_buf_add(&guest->input, bytes + skip, len - skip);
    if (guest->input.overflow)
        guest_gone(guest, true);
}

static bool may_read(const struct guest *guest)
{
    return !guest->ended && (guest->state == READS || guest->state == DRAINS ||
                             guest->state == ANSWERS || guest->state == STALLS);
}

static void read_more(struct origin *origin, struct guest *guest)
{
    static _Thread_local char chunk[CHUNK];
    ssize_t len = 1;
    /* What is to be answered early is looked at after each piece. */
    for (bool more = true; more && len > 0 && may_read(guest);) {
        more = !origin->options.early || guest->ssl || guest->state != READS;
        len = receive(guest, chunk, sizeof(chunk));
        if (len > 0) {
            origin->counts.bytes += (uint64_t)len;
            take_input(guest, chunk, (size_t)len);
        }
    }
    if (len == -2)
        guest_gone(guest, true);
    guest->ended |= len == 0;
}

static bool waits_for_requests(const struct guest *guest)
{
    return guest->state == READS || guest->state == DRAINS || guest->state == STALLS;
}

static void guest_run(struct origin *origin, struct guest *guest, int64_t now_us)
{
    if (guest->state == HANDSHAKE)
        shake_hands(origin, guest);
    if (guest->state == HANDSHAKE || guest->state == GONE)
        return;
    read_more(origin, guest);
    do {
        if (guest->state == ANSWERS)
            answer_more(origin, guest, now_us);
    } while (waits_for_requests(guest) && serve(origin, guest, now_us));
    if (guest->ended && waits_for_requests(guest))
        guest_gone(guest, false);
}

/* --- all of them ------------------------------------------------------------------------------ */

static struct guest *guest_new(struct origin *origin, int fd)
{
    struct guest *guest = weir_calloc(1, sizeof(*guest));
    loopback_no_delay(fd);
    guest->fd = fd;
    guest->ready = true;
    guest->number = (uint32_t)origin->counts.connections++;
    guest->state = origin->tls ? HANDSHAKE : READS;
    weir_buf_init(&guest->input, ORIGIN_BYTES_MAX);
    weir_buf_init(&guest->answer.bytes, ORIGIN_BYTES_MAX);
    if (origin->tls) {
        guest->ssl = SSL_new(origin->tls);
        SSL_set_fd(guest->ssl, fd);
    }
    return guest;
}

static void accept_all(struct origin *origin)
{
    while (origin->guest_count < ORIGIN_CONNECTIONS_MAX) {
        int fd = accept4(origin->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        origin->guests[origin->guest_count++] = guest_new(origin, fd);
    }
}

static void remove_gone(struct origin *origin)
{
    size_t kept = 0;
    for (size_t i = 0; i < origin->guest_count; i++) {
        if (origin->guests[i]->state == GONE)
            guest_free(origin->guests[i]);
        else
            origin->guests[kept++] = origin->guests[i];
    }
    origin->guest_count = kept;
    origin->counts.open = kept;
}

/* Also says when something is to be done without anybody's saying so. */
static int64_t run_all(struct origin *origin)
{
    int64_t now_us = weir_clock_now_us(), due_us = WEIR_FOREVER;
    accept_all(origin);
    for (size_t i = 0; i < origin->guest_count; i++) {
        struct guest *guest = origin->guests[i];
        if (guest->ready || (guest->state == ANSWERS && guest->next_us <= now_us))
            guest_run(origin, guest, now_us);
        if (guest->state == ANSWERS && !guest->wants_write && guest->next_us < due_us)
            due_us = guest->next_us;
    }
    remove_gone(origin);
    return due_us;
}

static size_t fill_polled(const struct origin *origin, struct pollfd *polled)
{
    polled[0] = (struct pollfd){ .fd = origin->alarm, .events = POLLIN };
    bool room = origin->guest_count < ORIGIN_CONNECTIONS_MAX;
    polled[1] = (struct pollfd){ .fd = room ? origin->listener : -1, .events = POLLIN };
    for (size_t i = 0; i < origin->guest_count; i++) {
        const struct guest *guest = origin->guests[i];
        bool read = guest->state == HANDSHAKE || may_read(guest);
        short events = (short)((read ? POLLIN : 0) | (guest->wants_write ? POLLOUT : 0));
        polled[2 + i] = (struct pollfd){ .fd = events ? guest->fd : -1, .events = events };
    }
    return 2 + origin->guest_count;
}

static void note_ready(struct origin *origin, const struct pollfd *polled)
{
    for (size_t i = 0; i < origin->guest_count; i++)
        origin->guests[i]->ready = polled[2 + i].revents != 0;
}

static void *run(void *argument)
{
    static _Thread_local struct pollfd polled[2 + ORIGIN_CONNECTIONS_MAX];
    struct origin *origin = argument;
    pthread_mutex_lock(&origin->lock);
    while (!origin->stop) {
        int64_t due_us = run_all(origin);
        size_t count = fill_polled(origin, polled);
        pthread_mutex_unlock(&origin->lock);
        loopback_wait(polled, count, due_us);
        pthread_mutex_lock(&origin->lock);
        note_ready(origin, polled);
    }
    pthread_mutex_unlock(&origin->lock);
    return NULL;
}

/* --- from a test ------------------------------------------------------------------------------ */

/* Old versions are spoken only at security level 0. */
static SSL_CTX *tls_new(const struct origin_tls *tls)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    must(context != NULL);
    must(SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0") == 1);
    must(SSL_CTX_use_certificate(context, tls->certificate) == 1);
    must(SSL_CTX_use_PrivateKey(context, tls->key) == 1);
    must(!tls->issuer || SSL_CTX_add1_chain_cert(context, tls->issuer) == 1);
    must(SSL_CTX_set_min_proto_version(context, tls->version_min) == 1);
    must(SSL_CTX_set_max_proto_version(context, tls->version_max) == 1);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"origin", 6);
    return context;
}

struct origin *origin_new(const struct origin_options *options)
{
    struct origin *origin = weir_calloc(1, sizeof(*origin));
    origin->options = *options;
    origin->records =
        weir_calloc(options->record_max ? options->record_max : 1, sizeof(*origin->records));
    origin->tls = options->tls ? tls_new(options->tls) : NULL;
    origin->listener = loopback_listening(0, BACKLOG);
    origin->port = loopback_port(origin->listener);
    snprintf(origin->url, sizeof(origin->url), "%s://127.0.0.1:%u", origin->tls ? "https" : "http",
             origin->port);
    origin->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(origin->alarm >= 0);
    pthread_mutex_init(&origin->lock, NULL);
    origin->thread = loopback_thread(run, origin);
    return origin;
}

static void stop_thread(struct origin *origin)
{
    uint64_t one = 1;
    pthread_mutex_lock(&origin->lock);
    origin->stop = true;
    pthread_mutex_unlock(&origin->lock);
    must(write(origin->alarm, &one, sizeof(one)) == sizeof(one));
    pthread_join(origin->thread, NULL);
}

void origin_free(struct origin *origin)
{
    if (!origin)
        return;
    stop_thread(origin);
    for (size_t i = 0; i < origin->guest_count; i++)
        guest_gone(origin->guests[i], true);
    remove_gone(origin);
    for (size_t i = 0; i < origin->record_count; i++)
        free((void *)(uintptr_t)origin->records[i].head);
    free(origin->records);
    SSL_CTX_free(origin->tls);
    close(origin->listener);
    close(origin->alarm);
    pthread_mutex_destroy(&origin->lock);
    free(origin);
}

uint16_t origin_port(const struct origin *origin)
{
    return origin->port;
}

const char *origin_url(const struct origin *origin)
{
    return origin->url;
}

struct origin_counts origin_counts(struct origin *origin)
{
    pthread_mutex_lock(&origin->lock);
    struct origin_counts counts = origin->counts;
    pthread_mutex_unlock(&origin->lock);
    return counts;
}

bool origin_record(struct origin *origin, uint64_t index, struct origin_record *ret)
{
    pthread_mutex_lock(&origin->lock);
    bool kept = index < origin->record_count;
    if (kept)
        *ret = origin->records[index];
    pthread_mutex_unlock(&origin->lock);
    return kept;
}
