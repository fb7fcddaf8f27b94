/* SPDX-License-Identifier: MIT */
/*
 * The inside of a struct weir_client (weir/execute.h): the pool, a link for each connection, and
 * the thread that the links belong to.
 *
 *     any thread                                  loop thread
 *     ──────────                                  ───────────
 *     weir_execute   acquire a lease
 *                    hand the execution over ───▶ token ─ begin the lease ─ send
 *                    sleep                        answer, copied
 *                    woken                 ◀───── finished
 *                    give the lease back, decide
 *
 * An *execution* is one weir_execute() that is under way. It lives on the stack of its thread and
 * stands in the client's list, where weir_client_cancel() and weir_client_free() find it. Fields
 * are grouped by who may touch them.
 */
#ifndef WEIR_CLIENT_CLIENT_H
#define WEIR_CLIENT_CLIENT_H

#include <pthread.h>

#include "base/buf.h"
#include "base/rng.h"
#include "client/link.h"
#include "protocol/request_options.h"
#include "weir/execute.h"

/* The head of a request that has been checked: the usual lines, and the caller's instead of them.
 */
struct weir_request_head {
    struct weir_request_lines usual;
    struct weir_buf own; /* the caller's lines, with a 0 after each */
    const char *lines[WEIR_CALL_LINES_MAX];
    size_t line_count;
    char *target;
};
void weir_request_head_init(struct weir_request_head *head, const struct weir_request *request);
void weir_request_head_release(struct weir_request_head *head);

/* How one try ended. */
enum weir_try {
    WEIR_TRY_ANSWERED, /* answer, fault, response; also when no complete answer came */
    WEIR_TRY_STALE,    /* the lease was no longer good; nothing was sent */
    WEIR_TRY_NO_TOKEN, /* nothing was sent; err says why */
};

struct weir_execution {
    struct weir_task task;
    struct weir_client *client;
    const struct weir_request *request;
    struct weir_request_head head;

    /* Handed to the loop thread and back with the task. */
    struct weir_lease lease;
    struct weir_token_ask ask;
    struct weir_call *call; /* NULL: nothing is in flight */
    struct weir_str body;
    enum weir_try ended;
    struct weir_answer answer;
    char fault[WEIR_FAULT_MESSAGE_MAX]; /* the service's words, or what broke */
    bool broken;                        /* the connection's credentials are of no use */
    bool broken_off;                    /* the request was in flight when it was cancelled */
    struct weir_response response;
    struct weir_error err;

    /* Under the client's lock. */
    bool finished;
    struct weir_execution *next;
    struct weir_execution *previous;
    pthread_cond_t woken;

    bool cancelled; /* atomic; set under the client's lock */
};

struct weir_client {
    const struct weir_options *options;
    struct weir_log_sink sink;
    struct weir_pool *pool;
    struct weir_loop *loop;
    pthread_t thread;
    bool thread_runs;

    /* Loop thread. */
    struct weir_link *links;
    size_t link_count;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t all_outside;
    struct weir_execution *first;
    struct weir_task sweep; /* breaks off what has been cancelled */
    bool sweep_posted;
    bool shut_down;
    struct weir_error lost; /* why the last connection was set aside; status 0: none was */
    char **losses;          /* the same of each, in words; NULL: it was not */
    struct weir_rng rng;
};

/* Why the client has set a connection aside. The caller frees it; NULL: it has not. Any thread. */
char *weir_client_loss(struct weir_client *client, uint32_t connection);

/* Put an execution into the list. False: the client is shutting down. Any thread. */
bool weir_client_enter(struct weir_client *client, struct weir_execution *execution);
void weir_client_leave(struct weir_client *client, struct weir_execution *execution);

/* Hand one try to the loop thread and wait until it has ended. Any thread. */
void weir_execution_try(struct weir_execution *execution);

/* Wait until then, or until the execution is cancelled. Any thread. */
void weir_execution_wait(struct weir_execution *execution, int64_t until_us);

/*
 * WEIR_E_INVALID, WEIR_E_TOO_BIG: it cannot be sent, and err says why. Before its head is made, and
 * after that. Any thread.
 */
enum weir_status weir_request_check(const struct weir_request *request, struct weir_error *err);
enum weir_status weir_request_head_check(const struct weir_request_head *head,
                                         const struct weir_request *request,
                                         struct weir_error *err);

/* A copy of a complete answer, in one piece of memory. */
void weir_response_copy(const struct weir_exchange_answer *exchange, struct weir_response *ret);

#endif
