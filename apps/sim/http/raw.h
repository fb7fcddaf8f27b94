/* SPDX-License-Identifier: MIT */
/*
 * What libmicrohttpd cannot do, done to the descriptor itself: the first bytes of an answer and no
 * more, and a TCP reset. Loop thread.
 */
#ifndef SIM_HTTP_RAW_H
#define SIM_HTTP_RAW_H

#include "sim/service/http.h"

struct sim_raw {
    int fd;
    void *tls; /* gnutls_session_t; NULL: plain */
    struct weir_buf bytes;
    size_t sent;
};

enum sim_raw_state {
    SIM_RAW_DONE,
    SIM_RAW_MORE,   /* the other side does not read fast enough; again when it is writable */
    SIM_RAW_BROKEN, /* the other side has left */
};

/* An answer as it goes over the wire, cut after `byte` bytes. `date` is the Date header. */
void sim_raw_init(struct sim_raw *raw, int fd, void *tls, const struct sim_answer *answer,
                  const char *date, uint64_t byte);
void sim_raw_release(struct sim_raw *raw);

/* Write what can be written without waiting. */
enum sim_raw_state sim_raw_write(struct sim_raw *raw);

/* Closing the descriptor becomes a TCP reset. */
void sim_raw_arm_reset(int fd);

#endif
