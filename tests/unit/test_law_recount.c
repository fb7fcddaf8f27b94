/* SPDX-License-Identifier: MIT */
/*
 * The whole law against a naive recount on random traffic: a model that keeps every request for
 * ever and makes each sum anew, request by request and bucket by bucket. It decides for itself
 * whether a request is refused, for which reason and for how long, and what the headers say.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "sim/law/law.h"
#include "sim/law/service_time.h"
#include "support/suite.h"

#define S           WEIR_US_PER_S
#define STEPS       300
#define RECORDS_MAX 2000
#define ACCOUNTS    6
#define USERS       2
#define OPEN        (-1)

/* Something that was used: a request, or the prefill. */
struct record {
    uint32_t account;
    uint32_t server;
    uint32_t ticket;
    bool counts;   /* as a request */
    bool executes; /* is charged by the scenario's rule */
    bool drains;   /* is charged as it passes, whatever the rule: the prefill */
    int64_t begun_us;
    int64_t planned_us;
    int64_t ended_us;
    int64_t share;
};

struct jail {
    enum sim_throttle kind;
    int64_t until_us;
    int64_t offences_us;
    int64_t last_us;
    double factor; /* of the next violation */
    bool violated;
};

struct model {
    struct sim_scenario scenario;
    struct record records[RECORDS_MAX];
    int count;
    struct jail jails[ACCOUNTS];
    int64_t now_us;
};

static int64_t rounded_up(const struct model *model, int64_t at_us)
{
    int64_t b = model->scenario.limits.bucket_us;
    if (!b)
        return at_us;
    int64_t k = at_us / b - 1;
    while (k * b < at_us)
        k++;
    return k * b;
}

static bool inside(const struct model *model, int64_t at_us, int64_t t_us)
{
    return at_us <= t_us && rounded_up(model, at_us) > t_us - model->scenario.limits.window_us;
}

/* How much of (from, to] is inside the window at t, cell by cell. */
static int64_t overlap(const struct model *model, int64_t from_us, int64_t to_us, int64_t t_us)
{
    int64_t sum = 0;
    to_us = to_us < t_us ? to_us : t_us;
    if (!model->scenario.limits.bucket_us) {
        int64_t begin_us = t_us - model->scenario.limits.window_us;
        from_us = from_us > begin_us ? from_us : begin_us;
        return to_us > from_us ? to_us - from_us : 0;
    }
    while (from_us < to_us) {
        int64_t cell_end_us = rounded_up(model, from_us + 1);
        int64_t end_us = cell_end_us < to_us ? cell_end_us : to_us;
        sum += inside(model, end_us, t_us) ? end_us - from_us : 0;
        from_us = end_us;
    }
    return sum;
}

static int64_t end_of(const struct model *model, const struct record *r)
{
    if (r->ended_us != OPEN)
        return r->ended_us;
    return r->planned_us > model->now_us ? r->planned_us : model->now_us;
}

static int64_t charge_at(const struct model *model, const struct record *r, int64_t t_us)
{
    int64_t end_us = end_of(model, r);
    enum sim_charge charge = model->scenario.limits.charge;
    if (r->drains || charge == SIM_CHARGE_ACCRUAL)
        return r->share * overlap(model, r->begun_us, end_us, t_us);
    if (charge == SIM_CHARGE_ARRIVAL)
        return inside(model, r->begun_us, t_us) ? r->share * (r->planned_us - r->begun_us) : 0;
    if (r->ended_us == OPEN && t_us <= model->now_us)
        return 0;
    return inside(model, end_us, t_us) ? r->share * (end_us - r->begun_us) : 0;
}

static bool long_gone(const struct model *model, const struct record *r, int64_t t_us)
{
    const struct sim_limits *limits = &model->scenario.limits;
    return end_of(model, r) < t_us - limits->window_us - 2 * limits->bucket_us;
}

/* What the account used of requests or of execution, in the window at t. */
static int64_t used(const struct model *model, uint32_t account, enum sim_throttle kind,
                    int64_t t_us)
{
    int64_t sum = 0;
    for (int i = 0; i < model->count; i++) {
        const struct record *r = &model->records[i];
        if (r->account != account || long_gone(model, r, t_us))
            continue;
        if (kind == SIM_THROTTLE_REQUESTS)
            sum += r->counts && inside(model, r->begun_us, t_us);
        else
            sum += r->executes || r->drains ? charge_at(model, r, t_us) : 0;
    }
    return sum;
}

static int64_t executing(const struct model *model, uint32_t account, uint32_t server)
{
    int64_t sum = 0;
    for (int i = 0; i < model->count; i++) {
        const struct record *r = &model->records[i];
        if (r->executes && r->ended_us == OPEN)
            sum += account != UINT32_MAX ? r->account == account : r->server == server;
    }
    return sum;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* All moments after now when a sum of the account may jump or bend, ascending. */
static int bends(const struct model *model, uint32_t account, int64_t *ret)
{
    const struct sim_limits *limits = &model->scenario.limits;
    int64_t last_us = model->now_us;
    int count = 0;
    ret[count++] = model->now_us;
    for (int i = 0; i < model->count; i++) {
        const struct record *r = &model->records[i];
        if (r->account != account || long_gone(model, r, model->now_us))
            continue;
        int64_t end_us = end_of(model, r);
        ret[count++] = end_us;
        ret[count++] = rounded_up(model, end_us) + limits->window_us;
        ret[count++] = rounded_up(model, r->begun_us) + limits->window_us;
        last_us = end_us > last_us ? end_us : last_us;
    }
    int64_t b = limits->bucket_us;
    for (int64_t t = rounded_up(model, model->now_us); b && t <= last_us; t += b)
        ret[count++] = t + limits->window_us;
    for (int64_t t = rounded_up(model, model->now_us - limits->window_us); b && t <= model->now_us;
         t += b)
        ret[count++] = t + limits->window_us;
    qsort(ret, (size_t)count, sizeof(*ret), ascending);
    return count;
}

/* The first moment from now on when `used` is at most the target. */
static int64_t clears(const struct model *model, uint32_t account, enum sim_throttle kind,
                      int64_t target)
{
    static int64_t at[4 * RECORDS_MAX];
    int count = bends(model, account, at);
    for (int i = 0; i < count; i++) {
        if (at[i] < model->now_us)
            continue;
        if (used(model, account, kind, at[i]) <= target)
            return at[i];
        if (i + 1 == count || at[i + 1] - at[i] < 2)
            continue;
        int64_t above = at[i], below = at[i + 1] - 1;
        if (used(model, account, kind, below) > target)
            continue;
        while (below - above > 1) {
            int64_t middle = above + (below - above) / 2;
            if (used(model, account, kind, middle) <= target)
                below = middle;
            else
                above = middle;
        }
        return below;
    }
    ck_abort_msg("it never clears");
}

static enum sim_throttle met(const struct model *model, uint32_t account,
                             const struct sim_budget *budget)
{
    if (executing(model, account, 0) + 1 > model->scenario.limits.concurrent)
        return SIM_THROTTLE_CONCURRENCY;
    if (used(model, account, SIM_THROTTLE_REQUESTS, model->now_us) + 1 > budget->requests)
        return SIM_THROTTLE_REQUESTS;
    if (used(model, account, SIM_THROTTLE_EXECUTION_TIME, model->now_us) >=
        budget->execution_us * SIM_WHOLE_SHARE)
        return SIM_THROTTLE_EXECUTION_TIME;
    return SIM_THROTTLE_NONE;
}

static double clear_time(const struct model *model, uint32_t account, enum sim_throttle kind,
                         const struct sim_budget *budget)
{
    if (kind == SIM_THROTTLE_CONCURRENCY)
        return 2e6;
    int64_t target = kind == SIM_THROTTLE_REQUESTS
                         ? budget->requests * 98 / 100
                         : budget->execution_us * SIM_WHOLE_SHARE / 100 * 98;
    double wait = (double)(clears(model, account, kind, target) - model->now_us);
    double base = (double)model->scenario.retry_after.base_us;
    return wait > base ? wait : base;
}

static int64_t begin_penalty(struct model *model, uint32_t account, enum sim_throttle kind,
                             const struct sim_budget *budget)
{
    const struct sim_retry_after *rules = &model->scenario.retry_after;
    struct jail *jail = &model->jails[account];
    if (!jail->violated || model->now_us - jail->last_us >= rules->forget_us)
        jail->factor = 1;
    double wait = clear_time(model, account, kind, budget) * jail->factor;
    wait = wait > (double)rules->cap_us ? (double)rules->cap_us : wait;
    jail->kind = kind;
    jail->violated = true;
    jail->last_us = model->now_us;
    jail->offences_us = 0;
    jail->factor *= rules->growth;
    return (int64_t)(wait + 0.5);
}

static int64_t lengthen_penalty(struct model *model, struct jail *jail)
{
    int64_t more_us = model->scenario.retry_after.per_offence_us;
    if (jail->offences_us + more_us > 60 * S)
        more_us = 60 * S - jail->offences_us;
    jail->offences_us += more_us;
    return jail->until_us + more_us - model->now_us;
}

static struct record *add_record(struct model *model, struct record record)
{
    ck_assert_int_lt(model->count, RECORDS_MAX);
    model->records[model->count] = record;
    return &model->records[model->count++];
}

/* The model's own judgement on a request; it must be the law's. */
static void judge(struct model *model, uint32_t account, const struct sim_decision *decision)
{
    struct sim_budget budget = sim_scenario_budget(&model->scenario, model->now_us);
    struct jail *jail = &model->jails[account];
    bool jailed = jail->violated && model->now_us < jail->until_us;
    enum sim_throttle kind = jailed ? jail->kind : met(model, account, &budget);
    ck_assert_int_eq(decision->kind, kind);
    ck_assert_int_eq(decision->accepted, kind == SIM_THROTTLE_NONE);
    if (kind == SIM_THROTTLE_NONE)
        return;
    if (model->scenario.limits.count_throttled)
        add_record(model, (struct record){ .account = account,
                                           .counts = true,
                                           .begun_us = model->now_us,
                                           .ended_us = model->now_us });
    int64_t wait_us =
        jailed ? lengthen_penalty(model, jail) : begin_penalty(model, account, kind, &budget);
    jail->until_us = model->now_us + wait_us;
    ck_assert_int_eq(decision->retry_after_us, wait_us);
}

static void enter(struct model *model, uint32_t account, uint64_t seed, uint32_t user,
                  const struct sim_request *request, const struct sim_decision *decision)
{
    const struct sim_service *service = &model->scenario.services[decision->service];
    struct sim_draw draw = sim_draw(sim_draw_key(seed, user, SIM_DRAWER_CLIENT), request->number);
    double n = (double)executing(model, UINT32_MAX, decision->server) + 1;
    double knee = model->scenario.contention.knee;
    double factor = n > knee ? 1 + model->scenario.contention.kappa * (n - knee) / knee : 1;
    ck_assert_int_eq(decision->service_us,
                     sim_service_time_us(service, draw.normal, request->rows, factor));
    ck_assert_int_eq(decision->ends_us, model->now_us + decision->service_us);
    add_record(model, (struct record){
                          .account = account,
                          .server = decision->server,
                          .ticket = decision->ticket,
                          .counts = true,
                          .executes = true,
                          .begun_us = model->now_us,
                          .planned_us = decision->ends_us,
                          .ended_us = OPEN,
                          .share = service->exec_share,
                      });
}

static void check_headers(const struct model *model, struct sim_law *law, uint32_t account,
                          uint32_t user, uint32_t server)
{
    bool stale = model->scenario.headers == SIM_HEADERS_STALE;
    int64_t t_us = model->now_us - (stale ? 5 * S : 0);
    struct sim_budget budget = sim_scenario_budget(&model->scenario, t_us);
    int64_t requests = budget.requests - used(model, account, SIM_THROTTLE_REQUESTS, t_us);
    int64_t units = budget.execution_us * SIM_WHOLE_SHARE -
                    used(model, account, SIM_THROTTLE_EXECUTION_TIME, t_us);
    struct sim_headers headers = sim_law_headers(law, user, server, model->now_us);
    ck_assert_int_eq(headers.requests_remaining, requests < 0 ? 0 : requests);
    ck_assert_int_eq(headers.execution_remaining_us, units < 0 ? 0 : units / SIM_WHOLE_SHARE);
}

/* End what is over, most of it in time, some late, now and then something early. */
static void end_some(struct model *model, struct sim_law *law, struct weir_rng *rng, int64_t now_us)
{
    for (;;) {
        struct record *next = NULL;
        for (int i = 0; i < model->count; i++) {
            struct record *r = &model->records[i];
            if (r->executes && r->ended_us == OPEN && r->planned_us <= now_us &&
                (!next || r->planned_us < next->planned_us))
                next = r;
        }
        if (!next || weir_rng_below(rng, 50) == 0)
            break;
        model->now_us = next->planned_us > model->now_us ? next->planned_us : model->now_us;
        next->ended_us = model->now_us;
        sim_law_finish(law, next->ticket, model->now_us);
    }
    model->now_us = now_us;
    struct record *any = &model->records[weir_rng_below(rng, (uint64_t)model->count + 1)];
    if (any < &model->records[model->count] && any->executes && any->ended_us == OPEN &&
        weir_rng_below(rng, 3) == 0) {
        any->ended_us = now_us;
        sim_law_finish(law, any->ticket, now_us);
    }
}

static int64_t pick(struct weir_rng *rng, int64_t min, int64_t max)
{
    return min + (int64_t)weir_rng_below(rng, (uint64_t)(max - min + 1));
}

static void random_limits(struct sim_scenario *scenario, struct weir_rng *rng, int which)
{
    struct sim_limits *limits = &scenario->limits;
    limits->requests = pick(rng, 15, 60);
    limits->execution_us = pick(rng, 10, 50) * S;
    limits->concurrent = pick(rng, 3, 12);
    limits->window_us = 30 * S;
    limits->bucket_us = (int64_t[]){ 0, 1, 10 }[which % 3] * S;
    limits->charge = (enum sim_charge)(which / 3 % 3);
    limits->shared = which / 9 % 2;
    limits->count_throttled = pick(rng, 0, 1);
    scenario->change_count = (uint32_t)pick(rng, 0, 1);
    scenario->changes[0] = (struct sim_change){ pick(rng, 10, 100) * S, pick(rng, 10, 90),
                                                pick(rng, 5, 90) * S, SIM_UNCHANGED };
}

static void random_scenario(struct sim_scenario *scenario, struct weir_rng *rng, int which)
{
    sim_scenario_init(scenario);
    random_limits(scenario, rng, which);
    scenario->connections = USERS;
    scenario->servers = (uint32_t)pick(rng, 1, ACCOUNTS / USERS);
    scenario->affinity = (enum sim_affinity)pick(rng, 0, 2);
    scenario->headers = pick(rng, 0, 1) ? SIM_HEADERS_EXACT : SIM_HEADERS_STALE;
    scenario->prefill = pick(rng, 0, 1) ? 0 : (double)pick(rng, 1, 10) / 10;
    scenario->contention = (struct sim_contention){ 3, 0.5 };
    struct sim_retry_after *rules = &scenario->retry_after;
    rules->base_us = pick(rng, 0, 3) * S;
    rules->forget_us = pick(rng, 5, 60) * S;
    rules->cap_us = pick(rng, 10, 60) * S;
    rules->per_offence_us = pick(rng, 0, 9) * S / 4;
    scenario->service_count = 2;
    scenario->services[0].median_s = 0.6;
    scenario->services[1] = scenario->services[0];
    scenario->services[1].median_s = 3;
    scenario->services[1].exec_share = 7200;
}

static void add_prefill(struct model *model, uint32_t account)
{
    const struct sim_limits *limits = &model->scenario.limits;
    int64_t window_us = limits->window_us;
    int64_t count = (int64_t)(model->scenario.prefill * (double)limits->requests + 0.5);
    for (int64_t i = 1; i <= count; i++) {
        double at = (double)window_us * (double)i / (double)count;
        int64_t at_us = (int64_t)(at + 0.5) - window_us;
        add_record(model,
                   (struct record){
                       .account = account, .counts = true, .begun_us = at_us, .ended_us = at_us });
    }
    double rate = model->scenario.prefill * (double)limits->execution_us / (double)window_us;
    add_record(model, (struct record){ .account = account,
                                       .drains = true,
                                       .begun_us = -window_us,
                                       .share = (int64_t)(rate * SIM_WHOLE_SHARE + 0.5) });
}

static uint32_t account_of(const struct model *model, uint32_t user, uint32_t server)
{
    return model->scenario.limits.shared ? user : user * model->scenario.servers + server;
}

START_TEST(law_equals_a_naive_recount_on_random_traffic)
{
    uint64_t seed = (uint64_t)_i;
    struct weir_rng rng;
    weir_rng_init(&rng, seed, 3);
    static struct model model;
    memset(&model, 0, sizeof(model));
    random_scenario(&model.scenario, &rng, _i);
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        add_prefill(&model, account);
    struct sim_law law;
    sim_law_init(&law, &model.scenario, seed);

    /* Busy and quiet times take turns, so that limits are hit and strikes forgotten. */
    for (uint64_t step = 0; step < STEPS; step++) {
        int64_t gap_us = pick(&rng, 0, step / 40 % 2 ? 2 * S : S / 3);
        end_some(&model, &law, &rng, model.now_us + gap_us);
        uint32_t user = (uint32_t)pick(&rng, 0, USERS - 1);
        uint32_t wanted = pick(&rng, 0, 1) ? 0 : SIM_ANY_SERVER;
        struct sim_request request = { .service = SIM_ANY_SERVICE,
                                       .number = step,
                                       .rows = (uint32_t)pick(&rng, 0, 200) };
        struct sim_decision decision = sim_law_arrive(&law, user, wanted, &request, model.now_us);
        uint32_t account = account_of(&model, user, decision.server);
        judge(&model, account, &decision);
        if (decision.accepted)
            enter(&model, account, seed, user, &request, &decision);
        check_headers(&model, &law, account, user, decision.server);
    }
    sim_law_release(&law);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_recount");
    suite_add_loop(&s, "law_equals_a_naive_recount_on_random_traffic",
                   law_equals_a_naive_recount_on_random_traffic, 216);
    return suite_run(&s);
}
