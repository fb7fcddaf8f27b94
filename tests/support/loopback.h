/* SPDX-License-Identifier: MIT */
/*
 * What toxic.c and origin.c share: sockets on 127.0.0.1, a wait with an end, and a thread that no
 * signal reaches. Whatever the machine refuses fails the test.
 */
#ifndef WEIR_TESTS_LOOPBACK_H
#define WEIR_TESTS_LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/suite.h"

static inline struct sockaddr_in loopback_address(uint16_t port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* Not blocking. */
static inline int loopback_socket(void)
{
    int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(fd >= 0);
    must(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
    return fd;
}

/* Port 0: one that is free. */
static inline int loopback_bound(uint16_t port)
{
    struct sockaddr_in address = loopback_address(port);
    int fd = loopback_socket();
    must(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

static inline int loopback_listening(uint16_t port, int backlog)
{
    int fd = loopback_bound(port);
    must(listen(fd, backlog) == 0);
    return fd;
}

static inline uint16_t loopback_port(int fd)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);
    must(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}

/* What is written leaves at once, in a piece of its own if the reader keeps up. */
static inline void loopback_no_delay(int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

/* The next close() is a reset. */
static inline void loopback_will_reset(int fd)
{
    struct linger linger = { .l_onoff = 1 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

/* WEIR_FOREVER: until something happens. */
static inline void loopback_wait(struct pollfd *polled, size_t count, int64_t due_us)
{
    int64_t wait_us = due_us - weir_clock_now_us();
    wait_us = wait_us < 0 ? 0 : wait_us;
    struct timespec timeout = { wait_us / WEIR_US_PER_S, wait_us % WEIR_US_PER_S * 1000 };
    ppoll(polled, (nfds_t)count, due_us == WEIR_FOREVER ? NULL : &timeout, NULL);
}

/* With every signal blocked, so that a broken pipe of ours cannot stand in for one of theirs. */
static inline pthread_t loopback_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&thread, NULL, run, argument) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

#endif
