/* SPDX-License-Identifier: MIT */
/*
 * What to do after one answer to a single request: hand it to the caller, try again at once on
 * another connection, wait, or give up. The decision only; weir_execute() and the engine act on it.
 *
 *   ok, bad rows, privilege, other …      hand over
 *   throttle                              another connection is open → again now
 *                                         none is → wait for the shortest reopening
 *                                         MaxThrottleRetries answers were throttles → give up
 *   transient, race                       wait with exponential back-off and jitter, each class
 *                                         counted by itself; give up after as many
 *   bad credentials                       hand over: a new token, or setting the connection aside,
 *                                         is the affair of whoever has the tokens (client/link.h)
 *   outcome unknown, request not repeatable   hand over, whatever the class
 *
 * Attempts are counted as the design documents' loop counts them: MaxThrottleRetries 3 means three
 * requests on the wire and at most two waits. It never waits after the last attempt. Classes do not
 * share their counts: throttles do not eat the budget of a deadlock.
 */
#ifndef WEIR_THROTTLE_ATTEMPT_H
#define WEIR_THROTTLE_ATTEMPT_H

#include "weir/config.h"
#include "weir/error.h"
#include "weir/verdict.h"

enum weir_attempt_action {
    WEIR_ATTEMPT_RETURN,    /* the answer is the caller's */
    WEIR_ATTEMPT_RETRY_NOW, /* another connection is open */
    WEIR_ATTEMPT_WAIT,      /* until until_us, holding no slot */
    WEIR_ATTEMPT_GIVE_UP,   /* err says why */
};

/* One request's history. Zeroed, with the options set, it is new. */
struct weir_attempt {
    const struct weir_resilience_options *options; /* borrowed */
    bool repeatable; /* sending it twice does no harm: it may be retried though the outcome of
                        an attempt is unknown */
    int throttles;
    int transients;
    int races;
    bool unknown; /* the outcome of some attempt is: the service may have executed it */
};

/* How things stand as the answer arrives. */
struct weir_attempt_scene {
    const char *connection_name;   /* that gave the answer */
    bool others_open;              /* a connection is neither throttled nor set aside */
    int64_t shortest_reopening_us; /* of the throttled ones; WEIR_FOREVER: none is */
    double chance;                 /* uniform in [0, 1), for the jitter */
};

struct weir_attempt_decision {
    enum weir_attempt_action action;
    int64_t until_us; /* action wait */
};

/* "0x80072322", or "HTTP 503" of an answer without a code, or "no answer", by value. */
struct weir_cause {
    char text[24];
};
struct weir_cause weir_verdict_cause(const struct weir_verdict *verdict);

/* Count the answer and decide. `err` is set on give-up only: connection, code, retry-after, cause.
 */
struct weir_attempt_decision weir_attempt_decide(struct weir_attempt *attempt,
                                                 const struct weir_verdict *verdict,
                                                 const struct weir_attempt_scene *scene,
                                                 int64_t now_us, struct weir_error *err);

#endif
