/* SPDX-License-Identifier: MIT */
/*
 * What Budget knows of one connection; shared by the policy_budget_*.c files, nobody else's.
 *
 *     lane 0 ── ledger (what the server has booked) ── quotas (how much is ours)
 *     lane 1 ── …                                           one lane per web server that answered
 *     flights: what is out, and how long it is expected to take
 *     charging, age, coarse: how servers charge and tell, learned from all lanes together
 *     guard: how many at a time on one server, one for all of them
 *
 * Vocabulary
 *   floor      requests in flight on a lane that just use its budget up, window after window
 *   horizon    within which what is free is to be spent: a part of a window
 *   haste      the horizon of a lane, and its tail
 *   tail       times the floor, that may be in flight until the last of a window is spent
 *   short      of a job: what is left of it fits into what is free, with some to spare
 *   rush       how many of a short job may go at once on each server: all that the service bears
 *   hurry      that number (weir_budget_rush), 0 if the job is not short; of the guard: it has more
 *              than usual for it
 *   finishing  of a short job: beside others it would not be, if they were taken at their worst
 *   crowded    of a lane: somebody else sends requests there
 *   uneven     of others: they come and go, whether in a rhythm or not
 *   foreseen   what is ours beside others whose rhythm is known; -1: it is not
 *   rho        share of the client's time that is charged
 *   pinned     of servers: requests get where they are meant to, because the cookie holds
 *   placed     it is known which server a request goes to: there is one, or they are pinned
 *   scattered  it has been tried, and they are not pinned: where requests land is chance
 *   apart      each server has an account of its own; shared: all have one
 *   elsewhere  requests of ours that may be missing on any server
 *   exact      placed, headers are trusted, the window slides and nobody else is there; settled:
 *              besides, nothing is in flight
 *   bears      requests at a time that a server takes
 *   ghost      use of others that a throttle, not a header, has told of
 *   caution    part of the budgets that is left alone after throttles
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_STATE_H
#define WEIR_THROTTLE_POLICY_BUDGET_STATE_H

#include "base/limits.h"
#include "throttle/policy.h"
#include "throttle/policy_budget_age.h"
#include "throttle/policy_budget_charging.h"
#include "throttle/policy_budget_guard.h"
#include "throttle/policy_budget_ledger.h"
#include "throttle/policy_budget_quota.h"

#define WEIR_BUDGET_FLIGHTS_MAX 1024 /* of one connection */
#define WEIR_BUDGET_KINDS       16
#define WEIR_BUDGET_ANY         UINT32_MAX
#define WEIR_BUDGET_AT_A_TIME   50 /* of the 52 that are published */
#define WEIR_BUDGET_TRIES       12 /* by which it is known whether servers can be chosen */
#define WEIR_BUDGET_APART       3  /* answers in a row that one account could not give */

/* The two budgets. */
enum {
    WEIR_BUDGET_REQUESTS,
    WEIR_BUDGET_EXECUTION,
    WEIR_BUDGET_COUNT
};

struct weir_budget_flight {
    uint64_t serial;
    int64_t sent_us;
    double expected_us; /* how long it was expected to take when it was leased */
    uint32_t kind;
    uint32_t lane;     /* that it was meant for; WEIR_BUDGET_ANY */
    uint32_t lanes;    /* that were known when it was leased */
    double beside;     /* in flight on one of them then, itself included, … */
    uint32_t together; /* … and on all of them */
};

/* What a server said of requests last, and our books then: requests to it, and to all servers. */
struct weir_requests_heard {
    bool known;
    double left;
    double draining; /* what was used before us, of any server, and is still to leave */
    double own;
    double total;
};

/* What a server did not say of requests that our books have: the most in this span and the last. */
struct weir_unseen {
    int64_t number;
    double most[2];
};

struct weir_budget_lane {
    uint64_t server_id; /* 0: not told */
    int64_t shut_us;    /* a request that was meant for another lane was throttled here: until */
    struct weir_ledger ledger;
    struct weir_quota quotas[WEIR_BUDGET_COUNT];
    struct weir_heard heard;
    struct weir_requests_heard requests_heard;
    struct weir_age_sample age_sample;
    struct weir_unseen unseen;
    uint32_t untold;                /* answers that told of requests only */
    double told_first;              /* the limit that the first of them told */
    bool told;                      /* what they tell goes by what we send */
    double left_out;                /* requests, of the limit, that may have been counted twice */
    bool moves;                     /* what headers say has been seen to change */
    bool whole;                     /* at the first of them nothing was missing */
    double said[WEIR_BUDGET_COUNT]; /* by the last of them; -1: nothing */
    int64_t heard_us;               /* the last budget headers; WEIR_NEVER */
    double heard_own;               /* what our use was taken for then */
    int64_t probe_us; /* a coarse window: no request before, while none is in flight */
    int64_t probe_gap_us;
    int64_t foreseen_no;                /* the pair of buckets in which it was foreseen: … */
    double foreseen[WEIR_BUDGET_COUNT]; /* … ours beside others in a rhythm; -1: in none */
};

enum weir_window {
    WEIR_WINDOW_UNKNOWN,
    WEIR_WINDOW_FINE,  /* it slides */
    WEIR_WINDOW_COARSE /* it moves in steps */
};

/* What left our window between headers, and how much of it had not left the server's: sums of
 * squares and products, old samples fading. */
struct weir_coarse {
    enum weir_window verdict;
    double xx;
    double xy;
    int64_t late_us; /* the longest that something was kept; 0: not known */
};

/* How long requests of one kind take, as the client sees it. */
struct weir_budget_kind {
    uint32_t kind;
    uint32_t samples; /* 0: free */
    double mean_us;
};

struct weir_budget {
    const struct weir_adaptive_rate_options *options;
    int64_t window_us;
    double concurrent;     /* requests at the same time that a server takes */
    int64_t concurrent_us; /* when a throttle said so */
    struct weir_charging charging;
    struct weir_age age;
    struct weir_coarse coarse;
    double blind_rho; /* instead of the charging's, without headers to learn it from */
    bool blind_failed;
    double caution; /* part of the budgets that is left alone after throttles */
    struct weir_guard guard;
    uint32_t unseen; /* answers since the last that the guard was shown */

    uint32_t lane_count;
    struct weir_budget_lane lanes[WEIR_LANES_MAX];
    int64_t found_us;   /* when the last new server answered */
    bool shared;        /* all servers draw on one account: one lane for all */
    double says_shared; /* times that requests to other servers moved what one of them said … */
    double says_alone;  /* … and that they did not; old ones fading */
    uint32_t blamed;    /* throttles that only all of them together explain, … */
    int64_t blamed_us;  /* … and the last of them */
    uint32_t apart;     /* answers in a row that one account for all of them could not give */
    double elsewhere;   /* requests of ours that may be missing on any of them; 0: none */
    bool pinned;        /* the affinity cookie holds: lanes can be chosen */
    double tries;       /* requests that were meant for a server, old ones fading */
    double hits;        /* of them, answered by it */
    bool finishing;     /* a short job, if others go on as they have begun */
    uint64_t leases;    /* granted */
    uint64_t search_lease; /* the last of them that was for any server */
    uint32_t searched;     /* requests for any server since the last new one was found */

    struct weir_budget_flight flights[WEIR_BUDGET_FLIGHTS_MAX];
    uint32_t flight_count;
    uint32_t any_count; /* of them, those that may be on any server */
    struct weir_budget_kind kinds[WEIR_BUDGET_KINDS];

    int64_t explored_us; /* when more than the known limits was tried last; WEIR_NEVER */
    int64_t tried_us;    /* when a smaller share was tried last; WEIR_NEVER */
    int64_t begun_us;    /* the first lease; WEIR_NEVER */
    int64_t clean_us;    /* since when no throttle, or the last window's end */
    bool was_bound;      /* since then, the execution budget has been what binds */
    uint64_t epoch;
    int level;
    int max;
    int hinted; /* degree of parallelism that the service recommends; 0: none */
    enum weir_bound bound_by;
    int successes;
    uint64_t throttle_events;
    int64_t throttled_us;
    int64_t reopens_us; /* the last Retry-After of any lane is over */
    int64_t activity_us;
    double average_us;
    double spread_us; /* mean deviation of durations, and … */
    double wide_us;   /* … the same, slow to fall */
};

/* Limits of a window, and windows, that a service may have and a server is believed to have, or an
 * earlier run to have heard of: anything else would stop us, or let everything pass. */
#define WEIR_BUDGET_EXECUTION_MAX_US INT64_C(1000000000000000) /* given to one without a limit */

static inline bool weir_budget_is_limit(int which, double limit)
{
    return which == WEIR_BUDGET_REQUESTS
               ? limit >= 20 && limit <= 1e8
               : limit >= 4e6 && limit <= (double)WEIR_BUDGET_EXECUTION_MAX_US;
}

static inline bool weir_budget_is_window(int64_t window_us)
{
    return window_us >= INT64_C(1000000) && window_us <= INT64_C(3600000000);
}

/* The share of the client's time that is charged. */
static inline double weir_budget_rho(const struct weir_budget *budget)
{
    return budget->charging.trusted ? budget->charging.rho : budget->blind_rho;
}

/* Each server has an account of its own. */
static inline bool weir_budget_is_apart(const struct weir_budget *budget)
{
    return budget->apart >= WEIR_BUDGET_APART;
}

/* In policy_budget_hear.c. Requests that a server may have in flight though they were meant for
 * another one, and those that our books have elsewhere for any reason. */
double weir_budget_missed(const struct weir_budget *budget);
double weir_budget_astray(const struct weir_budget *budget);

/* In policy_budget_forecast.c. More requests are missing than were at first, and than may be ours:
 * their number is known better than their time. */
bool weir_budget_sees_others(const struct weir_budget *budget, const struct weir_budget_lane *lane);

/* In policy_budget_hear.c. It has been tried, and requests land on any of several servers; they are
 * not long, and nobody else is seen there. What a server has more than its share of is chance. */
bool weir_budget_is_scattered(const struct weir_budget *budget,
                              const struct weir_budget_lane *lane);

/* The series of the ledger that is as the server charges. */
static inline enum weir_series weir_budget_series(const struct weir_budget *budget)
{
    return weir_charging_guess(budget->charging.best).series;
}

/* In policy_budget_coarse.c. The servers forget in steps, not as their window slides. */
bool weir_budget_is_coarse(const struct weir_budget *budget);
bool weir_budget_is_fine(const struct weir_budget *budget); /* known not to */
void weir_budget_learn_coarseness(struct weir_budget *budget, struct weir_budget_lane *lane,
                                  double foreign_before, int64_t now_us);
void weir_budget_plan_probe(struct weir_budget *budget, struct weir_budget_lane *lane,
                            int64_t now_us);

/* Nothing was heard for so long that what was kept then has gone: at most so much. */
double weir_budget_forgotten(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                             int which, int64_t now_us);

/* Since when what we used counts at `until_us`. `idle`: nothing is in flight to the server. */
int64_t weir_budget_tail_us(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                            bool idle, int64_t until_us, int64_t now_us);

/* What a request of this kind is expected to take. */
double weir_budget_expected_us(const struct weir_budget *budget, uint32_t kind, int64_t now_us);

/* How far a header sample of a budget may be off. */
double weir_budget_noise(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         int which);

/* An empty lane for a server. */
void weir_budget_lane_init(struct weir_budget *budget, struct weir_budget_lane *lane,
                           uint64_t server_id, double requests, double execution_us,
                           int64_t now_us);

/* Client's time of ours in the server's window, under one way of charging. */
double weir_budget_used_under(const struct weir_budget *budget, uint32_t lane,
                              struct weir_guess guess, int64_t now_us);

/* Requests of ours in the server's window. */
double weir_budget_requests_on(const struct weir_budget *budget, uint32_t lane, int64_t at_us);

/* What is used of one of the two budgets, by our books. */
double weir_budget_used(const struct weir_budget *budget, uint32_t lane, int which, int64_t now_us);

/* An answer of a lane's server, after it was booked. In policy_budget_hear.c. */
void weir_budget_listen(struct weir_budget *budget, uint32_t lane,
                        const struct weir_budget_headers *said, int64_t now_us);

/* In policy_budget_throttle.c. The throttles of one flight teach once. */
void weir_budget_throttled(struct weir_budget *budget, uint32_t lane,
                           const struct weir_budget_flight *flight,
                           const struct weir_policy_lease *lease,
                           const struct weir_verdict *verdict, int64_t now_us);

/* After every answer: whether it is time to try more, and whether a window was clean. */
void weir_budget_try(struct weir_budget *budget, int64_t now_us);

/* In policy_budget_forecast.c: members of struct weir_policy, and when the service would throttle
 * us if we went on as now; -1: never. */
double weir_budget_headroom(const void *state, int64_t now_us);
int64_t weir_budget_throttle_in_us(const struct weir_budget *budget, int64_t now_us);

/* Others share the budget (`shared` is of servers): foreign use has not been away for half a
 * window, while what a coarse window keeps of ours goes. In policy_budget_forecast.c. */
bool weir_budget_is_shared(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                           int which);

/* What looks like somebody else's is ours, and a coarse window has not forgotten it yet. In
 * policy_budget_forecast.c. */
bool weir_budget_keeps_ours(const struct weir_budget *budget, const struct weir_budget_lane *lane);

/* It has become known where requests go: what was counted before that was counted elsewhere, and
 * what seemed to come and go may have been ours. In policy_budget_forecast.c. */
void weir_budget_forget_counts(struct weir_budget *budget);

/* Foresee what is ours beside others whose rhythm is known, once in two buckets of the ledger: it
 * is too much work for every request that asks. In policy_budget_forecast.c. */
void weir_budget_foresee(struct weir_budget *budget, struct weir_budget_lane *lane, int64_t now_us);

/* What we may have in a window, now and for as long as what we have there stays: others may use
 * more by and by, but meanwhile ours leaves it. `waits`: nothing is in flight that would bring a
 * sample. In policy_budget_forecast.c. */
double weir_budget_beside(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                          int which, bool coarse, bool waits, int64_t now_us);

/* In policy_budget_keep.c: members of struct weir_policy. */
size_t weir_budget_save(const void *state, int64_t now_us, void *bytes, size_t bytes_max);
bool weir_budget_load(void *state, const void *bytes, size_t len, int64_t age_us, int64_t now_us);

/* May a request go now, and on which lane? In policy_budget_room.c. */
void weir_budget_admit(struct weir_budget *budget, const struct weir_policy_ask *ask,
                       int64_t now_us, struct weir_admission *ret);

#endif
