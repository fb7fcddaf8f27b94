/* SPDX-License-Identifier: MIT */
/*
 * One HTTP request on its way through the shell, from its first line to its last byte. Guests are
 * used again: the list of the free ones keeps their memory. Loop thread.
 */
#ifndef SIM_HTTP_GUEST_H
#define SIM_HTTP_GUEST_H

#include <microhttpd.h>

#include "sim/http/raw.h"
#include "sim/service/service.h"

#define SIM_HEADERS_MAX    128
#define SIM_BODY_BYTES_MAX ((size_t)128 * 1024 * 1024)
#define SIM_BODY_KEPT_MAX  ((size_t)256 * 1024) /* memory that a free guest holds on to */

enum sim_guest_stage {
    SIM_GUEST_HEAD,    /* its head is being read */
    SIM_GUEST_BODY,    /* its body is */
    SIM_GUEST_DOOMED,  /* its body is, until a reset */
    SIM_GUEST_INSIDE,  /* the service has it; suspended */
    SIM_GUEST_STALLED, /* the answer is there but held back; suspended */
    SIM_GUEST_RAW,     /* bytes are being written past libmicrohttpd; suspended */
    SIM_GUEST_READY,   /* its answer can go */
    SIM_GUEST_CLOSE,   /* nothing more is sent */
};

struct sim_guest {
    enum sim_guest_stage stage;
    struct MHD_Connection *connection;
    struct weir_buf target;
    struct weir_buf body;
    struct sim_header headers[SIM_HEADERS_MAX];
    size_t header_count;
    bool headers_overflow;
    struct sim_visit *visit;
    struct sim_answer answer;
    struct sim_delivery delivery;
    struct sim_raw raw;
    uint32_t place;         /* among the suspended; SIM_NO_PLACE: not suspended */
    struct sim_guest *next; /* free */
};

#define SIM_NO_PLACE UINT32_MAX

struct sim_guests {
    struct sim_guest *free;
};

struct sim_guest *sim_guest_new(struct sim_guests *guests, const char *target);

/* Give it back. */
void sim_guest_free(struct sim_guests *guests, struct sim_guest *guest);

void sim_guests_release(struct sim_guests *guests);

/* Take the headers of the connection; borrowed from it. */
void sim_guest_read_headers(struct sim_guest *guest);

/* The request as the service wants it; borrowed from the guest. */
struct sim_http_request sim_guest_request(const struct sim_guest *guest, const char *method);

/* Hand the answer to libmicrohttpd, which borrows the body until the request is completed. */
enum MHD_Result sim_guest_queue_answer(struct sim_guest *guest);

/* The descriptor of the connection, and its TLS session or NULL. */
int sim_guest_fd(const struct sim_guest *guest);
void *sim_guest_tls(const struct sim_guest *guest);

#endif
