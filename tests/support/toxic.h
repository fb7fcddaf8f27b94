/* SPDX-License-Identifier: MIT */
/*
 * A TCP proxy on loopback that does harm to bytes, in a thread of its own, scripted from a test.
 *
 *     client ──── up ────▶ toxic ──── up ────▶ server
 *            ◀─── down ───       ◀─── down ───
 *
 *     struct toxic *toxic = toxic_new(origin_port(origin));
 *     toxic_set(toxic, (struct toxic_script){ .down = { .end = TOXIC_RESET, .end_at = 40 } });
 *     … talk to 127.0.0.1:toxic_port(toxic): 40 bytes of the answer, then a reset …
 *     toxic_free(toxic);
 *
 * A *script* belongs to one connection and has a *way* for each direction. A zeroed script passes
 * everything on: bytes, ends, resets. What the ways can do:
 *
 *     latency      .latency_us = 50000            every byte leaves that long after it came
 *     bandwidth    .bytes_per_s = 1000            over any longer while
 *     slicing      .slice_bytes = 1               a write has that many bytes at most …
 *                  .slice_gap_us = 1000           … and the next comes that much later
 *     cut          .end = TOXIC_CLOSE, .end_at    exactly so many bytes pass this way, then both
 *                                                 sides see a clean end
 *     reset        .end = TOXIC_RESET, .end_at    the same, but both sides see a reset
 *     stall        .end = TOXIC_STALL, .end_at    the same, but both sides see nothing, ever
 *     half-open    .end = TOXIC_STALL, .end_at 0  of one way: that direction is dead, the other
 *                                                 lives; of both: accepted, and nothing passes
 *     refuse       toxic_refuse()                 nobody listens
 *
 * The server is dialled when a client has been accepted, whatever the script says; a client whose
 * server cannot be reached is reset.
 *
 * Nothing sleeps: waits are time-outs of ppoll(). At most TOXIC_CONNECTIONS_MAX connections at a
 * time; further ones wait in the backlog. Every function may be called from any thread until
 * toxic_free(); what it changes counts for whatever has not been forwarded when it returns. A test
 * that runs out of descriptors or threads is failed.
 */
#ifndef WEIR_TESTS_TOXIC_H
#define WEIR_TESTS_TOXIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOXIC_CONNECTIONS_MAX 512

enum toxic_end {
    TOXIC_PASS = 0,
    TOXIC_CLOSE,
    TOXIC_RESET,
    TOXIC_STALL,
};

/* One direction of one connection. */
struct toxic_way {
    int64_t latency_us;
    uint32_t bytes_per_s; /* 0: no bound */
    size_t slice_bytes;   /* 0: as they come */
    int64_t slice_gap_us;
    enum toxic_end end;
    uint64_t end_at; /* bytes that still pass; counted from the first of the connection */
};

struct toxic_script {
    struct toxic_way up;
    struct toxic_way down;
};

struct toxic_counts {
    uint64_t connections; /* accepted */
    uint64_t open;        /* and neither ended nor reset yet */
    uint64_t bytes_up;    /* forwarded */
    uint64_t bytes_down;
};

struct toxic;

/* Before a server on this port of 127.0.0.1; it need not listen yet. */
struct toxic *toxic_new(uint16_t server_port);

/* Open connections are reset. NULL is fine. */
void toxic_free(struct toxic *toxic);

/* Where to connect to; the same for its whole life. */
uint16_t toxic_port(const struct toxic *toxic);

/* One script for all: connections that are open, and those to come. */
void toxic_set(struct toxic *toxic, struct toxic_script script);

/*
 * The next connections that are accepted get a script each, in this order; those after them the one
 * of toxic_set(). Copied; replaces what is left of an earlier list.
 */
void toxic_set_list(struct toxic *toxic, const struct toxic_script *scripts, size_t count);

/* Whether connecting is refused. Open connections are left alone. */
void toxic_refuse(struct toxic *toxic, bool refuse);

/* End every open connection now. */
void toxic_end(struct toxic *toxic, enum toxic_end end);

struct toxic_counts toxic_counts(struct toxic *toxic);

#endif
