/* SPDX-License-Identifier: MIT */
/*
 * A TCP proxy that does harm; see toxic.h.
 *
 * One mutex is around all of it, and the thread holds it except while it polls. What poll() says is
 * used as an alarm clock only: afterwards every wire is tried, and a descriptor that has nothing
 * says so itself. So a test may change everything while the thread polls, and nothing is out of
 * date.
 *
 *     way:  from ─▶ buffer, with the time each piece came ─▶ allowed()? ─▶ to
 *
 * A wire that was closed cleanly *drains*: its ends have been told that nothing will follow, and
 * what still comes from them is thrown away. Closing a descriptor with unread bytes would be a
 * reset instead.
 */
#include "support/toxic.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "support/loopback.h"

#define BUFFER_BYTES 65536
#define PIECES_MAX   64
#define BACKLOG      512
#define WRITES_A_S   50 /* bandwidth is handed out in pieces of this many a second */

struct piece {
    size_t bytes;
    int64_t came_us;
};

/* One direction. */
struct way {
    struct toxic_way script;
    int from;
    int to;
    char *buffer;
    size_t len;
    struct piece pieces[PIECES_MAX]; /* of the buffer, oldest first */
    size_t piece_count;
    uint64_t forwarded;
    int64_t next_us; /* no write before */
    bool full;       /* `to` took less than it was given */
    bool ended;      /* `from` has ended */
    bool told;       /* and `to` has been told */
};

struct wire {
    struct way up;
    struct way down;
    int client;
    int server;
    bool drains;
    struct wire *next;
};

struct toxic {
    pthread_t thread;
    pthread_mutex_t lock;
    uint16_t port;
    uint16_t server_port;
    int alarm; /* eventfd: look at everything again */

    /* Below: only under the lock. */
    int listener; /* -1: refuses */
    int holder;   /* bound, never listens: keeps the port while nobody does */
    bool stop;
    struct toxic_script script;
    struct toxic_script *list;
    size_t list_count;
    size_t list_used;
    struct wire *wires;
    struct toxic_counts counts;
};

/* --- sockets ---------------------------------------------------------------------------------- */

/* To the server; at most a second. False: it is not there. */
static bool dial(int fd, uint16_t port)
{
    struct sockaddr_in address = loopback_address(port);
    struct pollfd polled = { .fd = fd, .events = POLLOUT };
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return true;
    int error = errno;
    socklen_t len = sizeof(error);
    if (error == EINPROGRESS && poll(&polled, 1, 1000) == 1)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
    return error == 0;
}

static void reset_socket(int fd)
{
    loopback_will_reset(fd);
    close(fd);
}

/* --- one way ---------------------------------------------------------------------------------- */

static bool at_end(const struct way *way)
{
    return way->script.end != TOXIC_PASS && way->forwarded >= way->script.end_at;
}

static size_t smaller(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

/* How many bytes may be written now. 0: none before *ret_us. */
static size_t allowed(const struct way *way, int64_t now_us, int64_t *ret_us)
{
    *ret_us = WEIR_FOREVER;
    if (!way->piece_count || at_end(way))
        return 0;
    int64_t due_us = way->pieces[0].came_us + way->script.latency_us;
    due_us = due_us < way->next_us ? way->next_us : due_us;
    if (due_us > now_us) {
        *ret_us = due_us;
        return 0;
    }
    size_t len = way->pieces[0].bytes;
    if (way->script.slice_bytes)
        len = smaller(len, way->script.slice_bytes);
    if (way->script.bytes_per_s)
        len = smaller(len, way->script.bytes_per_s / WRITES_A_S + 1);
    if (way->script.end != TOXIC_PASS)
        len = smaller(len, way->script.end_at - way->forwarded);
    return len;
}

static void forget(struct way *way, size_t len)
{
    way->len -= len;
    memmove(way->buffer, way->buffer + len, way->len);
    way->pieces[0].bytes -= len;
    if (way->pieces[0].bytes)
        return;
    way->piece_count--;
    memmove(way->pieces, way->pieces + 1, way->piece_count * sizeof(way->pieces[0]));
}

static void note_written(struct way *way, size_t len, int64_t now_us)
{
    way->forwarded += len;
    if (way->script.bytes_per_s)
        way->next_us = now_us + (int64_t)len * WEIR_US_PER_S / way->script.bytes_per_s;
    if (way->script.slice_bytes && way->next_us < now_us + way->script.slice_gap_us)
        way->next_us = now_us + way->script.slice_gap_us;
    forget(way, len);
}

/* Write what may be written. False: the reader is gone. */
static bool way_write(struct way *way, int64_t now_us, uint64_t *count)
{
    int64_t later_us;
    size_t len;
    way->full = false;
    while (!way->full && (len = allowed(way, now_us, &later_us)) > 0) {
        ssize_t sent = send(way->to, way->buffer, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN)
            return false;
        way->full = sent < (ssize_t)len;
        if (sent > 0) {
            *count += (uint64_t)sent;
            note_written(way, (size_t)sent, now_us);
        }
    }
    if (way->ended && !way->told && !way->len && !at_end(way)) {
        shutdown(way->to, SHUT_WR);
        way->told = true;
    }
    return true;
}

static bool may_read(const struct way *way)
{
    return !way->ended && way->len < BUFFER_BYTES && way->piece_count < PIECES_MAX && !at_end(way);
}

/* False: the writer has reset it. */
static bool way_read(struct way *way, int64_t now_us)
{
    while (may_read(way)) {
        ssize_t len =
            recv(way->from, way->buffer + way->len, BUFFER_BYTES - way->len, MSG_DONTWAIT);
        if (len < 0)
            return errno == EAGAIN;
        way->ended = len == 0;
        if (len == 0)
            break;
        way->pieces[way->piece_count++] = (struct piece){ (size_t)len, now_us };
        way->len += (size_t)len;
    }
    return true;
}

static void way_init(struct way *way, int from, int to, const struct toxic_way *script)
{
    *way = (struct way){ .script = *script, .from = from, .to = to };
    way->buffer = weir_calloc(1, BUFFER_BYTES);
}

/* --- one wire --------------------------------------------------------------------------------- */

static void wire_free(struct wire *wire)
{
    free(wire->up.buffer);
    free(wire->down.buffer);
    free(wire);
}

/* Both descriptors closed for good, by reset or because both sides have ended. */
static void wire_close(struct wire *wire, bool reset)
{
    if (wire->client < 0)
        return;
    if (reset) {
        reset_socket(wire->client);
        reset_socket(wire->server);
    } else {
        close(wire->client);
        close(wire->server);
    }
    wire->client = wire->server = -1;
}

static void wire_end(struct wire *wire, enum toxic_end end)
{
    if (end == TOXIC_RESET)
        wire_close(wire, true);
    if (end != TOXIC_CLOSE || wire->drains)
        return;
    shutdown(wire->client, SHUT_WR);
    shutdown(wire->server, SHUT_WR);
    wire->drains = true;
}

/* Throw away what comes. True: no more will. */
static bool drained(int fd)
{
    char thrown[4096];
    ssize_t len;
    while ((len = recv(fd, thrown, sizeof(thrown), MSG_DONTWAIT)) > 0)
        ;
    return len == 0 || errno != EAGAIN;
}

static void wire_drain(struct wire *wire)
{
    wire->up.ended |= drained(wire->client);
    wire->down.ended |= drained(wire->server);
    if (wire->up.ended && wire->down.ended)
        wire_close(wire, false);
}

static void wire_run(struct toxic *toxic, struct wire *wire, int64_t now_us)
{
    if (wire->drains) {
        wire_drain(wire);
        return;
    }
    bool alive = way_read(&wire->up, now_us) && way_read(&wire->down, now_us) &&
                 way_write(&wire->up, now_us, &toxic->counts.bytes_up) &&
                 way_write(&wire->down, now_us, &toxic->counts.bytes_down);
    if (!alive)
        wire_close(wire, true);
    else if (at_end(&wire->up) && wire->up.script.end != TOXIC_STALL)
        wire_end(wire, wire->up.script.end);
    else if (at_end(&wire->down) && wire->down.script.end != TOXIC_STALL)
        wire_end(wire, wire->down.script.end);
    else if (wire->up.told && wire->down.told)
        wire_close(wire, false);
}

/* --- all of them ------------------------------------------------------------------------------ */

static struct toxic_script next_script(struct toxic *toxic)
{
    return toxic->list_used < toxic->list_count ? toxic->list[toxic->list_used++] : toxic->script;
}

static void open_wire(struct toxic *toxic, int client)
{
    struct toxic_script script = next_script(toxic);
    int server = loopback_socket();
    toxic->counts.connections++;
    if (!dial(server, toxic->server_port)) {
        reset_socket(client);
        close(server);
        return;
    }
    loopback_no_delay(client);
    loopback_no_delay(server);
    struct wire *wire = weir_calloc(1, sizeof(*wire));
    wire->client = client;
    wire->server = server;
    way_init(&wire->up, client, server, &script.up);
    way_init(&wire->down, server, client, &script.down);
    wire->next = toxic->wires;
    toxic->wires = wire;
    toxic->counts.open++;
}

static void accept_all(struct toxic *toxic)
{
    while (toxic->listener >= 0 && toxic->counts.open < TOXIC_CONNECTIONS_MAX) {
        int client = accept4(toxic->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0)
            return;
        open_wire(toxic, client);
    }
}

static void remove_closed(struct toxic *toxic)
{
    for (struct wire **link = &toxic->wires; *link;) {
        struct wire *wire = *link;
        if (wire->client >= 0) {
            link = &wire->next;
            continue;
        }
        *link = wire->next;
        toxic->counts.open--;
        wire_free(wire);
    }
}

static void run_all(struct toxic *toxic)
{
    int64_t now_us = weir_clock_now_us();
    accept_all(toxic);
    for (struct wire *wire = toxic->wires; wire; wire = wire->next)
        wire_run(toxic, wire, now_us);
    remove_closed(toxic);
}

/* What to wait for. A descriptor that nothing is wanted of is left out: it would hang up forever.
 */
static void want(struct pollfd *polled, int fd, bool read, bool write)
{
    short events = (short)((read ? POLLIN : 0) | (write ? POLLOUT : 0));
    *polled = (struct pollfd){ .fd = events ? fd : -1, .events = events };
}

static void want_wire(const struct wire *wire, struct pollfd *polled)
{
    const struct way *up = &wire->up, *down = &wire->down;
    if (wire->drains) {
        want(&polled[0], wire->client, !up->ended, false);
        want(&polled[1], wire->server, !down->ended, false);
        return;
    }
    want(&polled[0], wire->client, may_read(up), down->full);
    want(&polled[1], wire->server, may_read(down), up->full);
}

/* When a way has something to do without anybody's saying so; what is due already is due now. */
static int64_t way_due_us(const struct way *way, int64_t now_us)
{
    int64_t due_us;
    return allowed(way, now_us, &due_us) && !way->full ? now_us : due_us;
}

static int64_t next_due_us(const struct toxic *toxic, int64_t now_us)
{
    int64_t first_us = WEIR_FOREVER;
    for (const struct wire *wire = toxic->wires; wire; wire = wire->next) {
        if (wire->drains)
            continue;
        int64_t up_us = way_due_us(&wire->up, now_us), down_us = way_due_us(&wire->down, now_us);
        first_us = up_us < first_us ? up_us : first_us;
        first_us = down_us < first_us ? down_us : first_us;
    }
    return first_us;
}

static size_t fill_polled(const struct toxic *toxic, struct pollfd *polled)
{
    size_t count = 2;
    want(&polled[0], toxic->alarm, true, false);
    want(&polled[1], toxic->listener,
         toxic->listener >= 0 && toxic->counts.open < TOXIC_CONNECTIONS_MAX, false);
    for (const struct wire *wire = toxic->wires; wire; wire = wire->next, count += 2)
        want_wire(wire, polled + count);
    return count;
}

static void *run(void *argument)
{
    static _Thread_local struct pollfd polled[2 + 2 * TOXIC_CONNECTIONS_MAX];
    struct toxic *toxic = argument;
    uint64_t rings;
    pthread_mutex_lock(&toxic->lock);
    while (!toxic->stop) {
        run_all(toxic);
        size_t count = fill_polled(toxic, polled);
        int64_t due_us = next_due_us(toxic, weir_clock_now_us());
        pthread_mutex_unlock(&toxic->lock);
        loopback_wait(polled, count, due_us);
        if (read(toxic->alarm, &rings, sizeof(rings)) < 0)
            rings = 0;
        pthread_mutex_lock(&toxic->lock);
    }
    pthread_mutex_unlock(&toxic->lock);
    return NULL;
}

/* --- from a test ------------------------------------------------------------------------------ */

/* Leave the lock, and have the thread look again. */
static void unlock_and_ring(struct toxic *toxic)
{
    uint64_t one = 1;
    pthread_mutex_unlock(&toxic->lock);
    must(write(toxic->alarm, &one, sizeof(one)) == sizeof(one));
}

struct toxic *toxic_new(uint16_t server_port)
{
    struct toxic *toxic = weir_calloc(1, sizeof(*toxic));
    pthread_mutex_init(&toxic->lock, NULL);
    toxic->server_port = server_port;
    toxic->holder = loopback_bound(0);
    toxic->port = loopback_port(toxic->holder);
    toxic->listener = loopback_listening(toxic->port, BACKLOG);
    toxic->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(toxic->alarm >= 0);
    toxic->thread = loopback_thread(run, toxic);
    return toxic;
}

void toxic_free(struct toxic *toxic)
{
    if (!toxic)
        return;
    pthread_mutex_lock(&toxic->lock);
    toxic->stop = true;
    unlock_and_ring(toxic);
    pthread_join(toxic->thread, NULL);
    for (struct wire *wire = toxic->wires; wire; wire = wire->next)
        wire_close(wire, true);
    remove_closed(toxic);
    if (toxic->listener >= 0)
        close(toxic->listener);
    close(toxic->holder);
    close(toxic->alarm);
    pthread_mutex_destroy(&toxic->lock);
    free(toxic->list);
    free(toxic);
}

uint16_t toxic_port(const struct toxic *toxic)
{
    return toxic->port;
}

void toxic_set(struct toxic *toxic, struct toxic_script script)
{
    pthread_mutex_lock(&toxic->lock);
    toxic->script = script;
    for (struct wire *wire = toxic->wires; wire; wire = wire->next) {
        wire->up.script = script.up;
        wire->down.script = script.down;
        wire->up.next_us = wire->down.next_us = 0;
    }
    unlock_and_ring(toxic);
}

void toxic_set_list(struct toxic *toxic, const struct toxic_script *scripts, size_t count)
{
    pthread_mutex_lock(&toxic->lock);
    free(toxic->list);
    toxic->list = weir_calloc(count ? count : 1, sizeof(*scripts));
    memcpy(toxic->list, scripts, count * sizeof(*scripts));
    toxic->list_count = count;
    toxic->list_used = 0;
    unlock_and_ring(toxic);
}

void toxic_refuse(struct toxic *toxic, bool refuse)
{
    pthread_mutex_lock(&toxic->lock);
    if (refuse && toxic->listener >= 0) {
        accept_all(toxic);
        shutdown(toxic->listener, SHUT_RD); /* at once; a poll() under way would keep it open */
        close(toxic->listener);
        toxic->listener = -1;
    } else if (!refuse && toxic->listener < 0) {
        toxic->listener = loopback_listening(toxic->port, BACKLOG);
    }
    unlock_and_ring(toxic);
}

void toxic_end(struct toxic *toxic, enum toxic_end end)
{
    pthread_mutex_lock(&toxic->lock);
    for (struct wire *wire = toxic->wires; wire; wire = wire->next) {
        if (end == TOXIC_STALL) {
            wire->up.script = wire->down.script = (struct toxic_way){ .end = TOXIC_STALL };
        } else {
            wire_end(wire, end);
        }
    }
    remove_closed(toxic);
    unlock_and_ring(toxic);
}

struct toxic_counts toxic_counts(struct toxic *toxic)
{
    pthread_mutex_lock(&toxic->lock);
    struct toxic_counts counts = toxic->counts;
    pthread_mutex_unlock(&toxic->lock);
    return counts;
}
