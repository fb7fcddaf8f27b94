/* SPDX-License-Identifier: MIT */
/*
 * What a decision of Budget costs: may a request go now, and on which lane? And what it costs to
 * learn from an answer with budget headers. Of a hundred lanes and of a thousand, which are as
 * many connections with one web server, or a quarter with four; alone, or beside another client
 * who comes for two minutes and goes for two. Each lane is asked twenty times a second, which is
 * as often as the published limits allow. Processor time; medians of rounds.
 *
 *     build/release/bench/bench_decide
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "measure.h"
#include "throttle/policy_budget_state.h"

#define WINDOW_S  300
#define WINDOWS   4  /* that are lived through before it is measured */
#define TURN_S    2  /* between two requests to a lane in that time */
#define ASKED     20 /* times a second, of a lane */
#define DECISIONS 200000

struct contest {
    uint32_t connections;
    uint32_t servers;
    bool beside;
};

/* What each web server has booked, of us and of somebody else, second by second. */
struct books {
    double requests[WINDOW_S];
    double sum;
};

static struct weir_adaptive_rate_options options;

static void book(struct books *books, int now_s, double requests)
{
    double *second = &books->requests[now_s % WINDOW_S];
    books->sum += requests - *second;
    *second = requests;
}

/* One request to a lane, which takes half a second, and what others send until the next one. */
static void send(struct weir_budget *budget, uint32_t server, struct books *books, bool beside,
                 int now_s, uint64_t serial)
{
    bool there = beside && now_s % 240 < 120;
    book(books, now_s, 1 + (there ? 6 * TURN_S : 0));
    struct weir_policy_lease lease = {
        .serial = serial,
        .server_id = 1 + server,
        .lane = server < budget->lane_count ? server : 0,
        .epoch = weir_policy_budget.epoch(budget),
        .leased_us = now_s * WEIR_US_PER_S,
        .sent_us = now_s * WEIR_US_PER_S,
    };
    weir_policy_budget.leased(budget, &lease, lease.leased_us);
    weir_policy_budget.sent(budget, &lease, lease.sent_us);
    struct weir_answer answer = {
        .verdict = { .retry_after_us = -1 },
        .duration_us = WEIR_US_PER_S / 2,
        .budget = { .requests_known = true,
                    .requests_remaining = (int64_t)(6000 - books->sum),
                    .execution_known = true,
                    .execution_remaining_us = (int64_t)((1200 - books->sum / 2) * 1e6),
                    .server_id = 1 + server },
    };
    weir_policy_budget.answered(budget, &lease, &answer, WEIR_NEVER,
                                lease.sent_us + answer.duration_us);
}

static bool may_go(struct weir_budget *budget, int64_t now_us)
{
    static const struct weir_ask any;
    struct weir_admission ret;
    weir_policy_budget.admit(budget, &(struct weir_policy_ask){ .ask = &any }, now_us, &ret);
    return ret.ok;
}

/* So many windows of work; returns what an answer took. */
static double live(struct weir_budget *budgets, struct books *books, const struct contest *contest)
{
    uint64_t serial = 0;
    double learned_s = 0;
    for (int now_s = 0; now_s < WINDOWS * WINDOW_S; now_s += TURN_S) {
        for (uint32_t i = 0; i < contest->connections; i++)
            may_go(&budgets[i], now_s * WEIR_US_PER_S);
        double begun_s = processor_s();
        for (uint32_t i = 0; i < contest->connections * contest->servers; i++)
            send(&budgets[i / contest->servers], i % contest->servers, &books[i], contest->beside,
                 now_s, ++serial);
        learned_s += processor_s() - begun_s;
    }
    return learned_s * 1e9 / (double)serial;
}

static double decide(struct weir_budget *budgets, const struct contest *contest)
{
    uint64_t lanes = (uint64_t)contest->connections * contest->servers;
    int64_t begin_us = WINDOWS * WINDOW_S * WEIR_US_PER_S;
    uint32_t granted = 0;
    double begun_s = processor_s();
    for (uint64_t i = 0; i < DECISIONS; i++) {
        int64_t now_us = begin_us + (int64_t)(i * 1000000 / (ASKED * lanes));
        granted += may_go(&budgets[i % contest->connections], now_us);
    }
    double ns = (processor_s() - begun_s) * 1e9 / DECISIONS;
    if (!granted) /* it was not the usual way through */
        abort();
    return ns;
}

static void run(const struct contest *contest)
{
    size_t lanes = (size_t)contest->connections * contest->servers;
    double decided[ROUNDS], learned[ROUNDS];
    struct weir_budget *budgets = weir_calloc(contest->connections, sizeof(*budgets));
    struct books *books = weir_calloc(lanes, sizeof(*books));
    for (int round = 0; round < ROUNDS; round++) {
        memset(books, 0, lanes * sizeof(*books));
        for (uint32_t i = 0; i < contest->connections; i++)
            weir_policy_budget.init(&budgets[i], &options);
        learned[round] = live(budgets, books, contest);
        decided[round] = decide(budgets, contest);
    }
    printf("%zu lanes, %u connections, %s: %.0f ns a decision, %.0f an answer\n", lanes,
           contest->connections, contest->beside ? "beside" : "alone", median_of(decided, ROUNDS),
           median_of(learned, ROUNDS));
    free(books);
    free(budgets);
}

int main(void)
{
    struct weir_options all;
    weir_options_defaults(&all);
    options = all.adaptive_rate;
    for (uint32_t lanes = 100; lanes <= 1000; lanes *= 10) {
        for (uint32_t servers = 1; servers <= 4; servers += 3) {
            run(&(struct contest){ lanes / servers, servers, false });
            run(&(struct contest){ lanes / servers, servers, true });
        }
    }
    return 0;
}
