/* SPDX-License-Identifier: MIT */
/*
 * A client of raw bytes on 127.0.0.1, for the tests of what other tests break transports with.
 * Every wait is a poll() with an end.
 */
#ifndef WEIR_TESTS_RAW_H
#define WEIR_TESTS_RAW_H

#include <errno.h>

#include "base/buf.h"
#include "support/loopback.h"

#define WAIT_MS   120000 /* only what hangs takes as long; a busy machine and a sanitizer do not */
#define SHORT_MS  100    /* in which nothing must happen */
#define BYTES_MAX ((size_t)16 * 1024 * 1024)

enum ending {
    OPEN,
    CLOSED,
    RESET,
};

/* Negative: what connect() said. */
static inline int dial(uint16_t port)
{
    struct sockaddr_in address = loopback_address(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = connect(fd, (struct sockaddr *)&address, sizeof(address));
    if (result < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

static inline bool readable(int fd, int ms)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    return poll(&polled, 1, ms) == 1;
}

static inline void say(int fd, const char *bytes, size_t len)
{
    while (len) {
        struct pollfd polled = { .fd = fd, .events = POLLOUT };
        must(poll(&polled, 1, WAIT_MS) == 1);
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        must(sent > 0 || errno == EAGAIN);
        bytes += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
    }
}

static inline enum ending hear(int fd, struct weir_buf *heard)
{
    char chunk[65536];
    must(readable(fd, WAIT_MS));
    ssize_t len = recv(fd, chunk, sizeof(chunk), 0);
    if (len > 0)
        weir_buf_add(heard, chunk, (size_t)len);
    must(len >= 0 || errno == ECONNRESET);
    return len > 0 ? OPEN : len == 0 ? CLOSED : RESET;
}

/* Until so many bytes are there, or it has ended. */
static inline enum ending hear_bytes(int fd, struct weir_buf *heard, size_t len)
{
    enum ending ending = OPEN;
    while (ending == OPEN && heard->len < len)
        ending = hear(fd, heard);
    return ending;
}

static inline enum ending hear_all(int fd, struct weir_buf *heard)
{
    return hear_bytes(fd, heard, SIZE_MAX);
}

/* Wait for something of the other threads'. */
#define eventually(condition)                                                                      \
    do {                                                                                           \
        int64_t until_us = weir_clock_now_us() + WAIT_MS * WEIR_US_PER_MS;                         \
        while (!(condition)) {                                                                     \
            must(weir_clock_now_us() < until_us);                                                  \
            poll(NULL, 0, 1);                                                                      \
        }                                                                                          \
    } while (0)

#endif
