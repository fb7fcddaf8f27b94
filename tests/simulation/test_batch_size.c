/* SPDX-License-Identifier: MIT */
/*
 * What --batch-size auto is worth: the executor and its pool against the simulator's law with the
 * published limits, in virtual time, once with batches of a hundred rows and once with requests
 * that are sized by what they take. WEIR_FIGURES=1 prints what docs/batch-size.md shows.
 */
#include <stdio.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "bulk/executor.h"
#include "sim/law/law.h"
#include "support/rig.h"
#include "support/suite.h"

#define CONNECTIONS 2
#define FLIGHTS_MAX 128

/* --- a world ---------------------------------------------------------------------------------- */

struct out {
    struct weir_load *load; /* NULL: nobody */
    uint32_t ticket;
    struct sim_decision decision;
};

struct run {
    struct rig rig;
    struct sim_law law;
    struct weir_executor executor;
    struct out out[FLIGHTS_MAX];
    uint64_t rows_left;
    uint32_t batch_rows;
    uint64_t serial;
    uint64_t row;
    uint64_t number;
    uint64_t receipt;
    uint64_t throttles;
    uint32_t largest; /* request */
    bool over;
};

struct service_law {
    double fixed_s;
    double row_s;
    double sigma;
};

static struct run run;

static void set_up(const struct service_law *law, uint64_t rows, bool adaptive, uint64_t seed)
{
    struct sim_scenario scenario;
    memset(&run, 0, sizeof(run));
    sim_scenario_init(&scenario);
    scenario.connections = CONNECTIONS;
    scenario.services[0].rows = 100;
    scenario.services[0].median_s = 100 * law->row_s;
    scenario.services[0].fixed_s = law->fixed_s;
    scenario.services[0].sigma = law->sigma;
    sim_law_init(&run.law, &scenario, seed);
    rig_init(&run.rig, CONNECTIONS);
    run.rig.options.adaptive_rate.policy = "Fixed";
    run.rig.options.adaptive_rate.fixed_parallelism = 4; /* as much as can go on for ever */
    rig_start(&run.rig);
    struct weir_plan plan = {
        .bulk = true,
        .adaptive = adaptive,
        .singles_max = 20,
        .max_retry_time_us = MINUTES(10),
        .late_us = MINUTES(5),
        .read_back_us = SECONDS(10),
        .errors_max = UINT64_MAX,
        .memory_bytes_max = 24 * 1024,
        .commit_wait_max = 64,
    };
    weir_executor_init(&run.executor, &plan, &run.rig.core, seed, run.rig.now_us);
    run.rows_left = rows;
    run.batch_rows = adaptive ? 1000 : 100;
}

static void tear_down(void)
{
    weir_executor_release(&run.executor);
    rig_release(&run.rig);
    sim_law_release(&run.law);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void feed(void)
{
    while (run.rows_left && weir_executor_wants(&run.executor)) {
        uint32_t count = run.rows_left < run.batch_rows ? (uint32_t)run.rows_left : run.batch_rows;
        struct weir_batch *batch = weir_calloc(1, sizeof(*batch));
        batch->serial = ++run.serial;
        batch->rows = weir_calloc(count, sizeof(*batch->rows));
        batch->row_count = count;
        batch->bytes = count;
        for (uint32_t i = 0; i < count; i++)
            batch->rows[i].number = ++run.row;
        run.rows_left -= count;
        weir_executor_offer(&run.executor, batch, run.rig.now_us);
        if (!run.rows_left)
            weir_executor_end_of_input(&run.executor, run.rig.now_us);
    }
}

static struct weir_report report_of(const struct sim_decision *decision, uint32_t connection)
{
    struct sim_headers headers =
        sim_law_headers(&run.law, connection, decision->server, run.rig.now_us);
    struct weir_report report = { .answer = answer_ok(decision->service_us) };
    if (!decision->accepted) {
        report.answer = answer_throttle(decision->retry_after_us);
        run.throttles++;
    }
    report.answer.ttfb_us = decision->service_us;
    report.answer.budget = (struct weir_budget_headers){
        .requests_known = true,
        .execution_known = true,
        .requests_remaining = headers.requests_remaining,
        .execution_remaining_us = headers.execution_remaining_us,
    };
    return report;
}

static void tell(struct weir_load *load, const struct sim_decision *decision)
{
    struct weir_report report = report_of(decision, load->lease.connection);
    weir_executor_answered(&run.executor, load, &report, run.rig.now_us);
}

static void send(struct weir_load *load)
{
    uint32_t slot = 0;
    if (weir_executor_begin(&run.executor, load, run.rig.now_us) != WEIR_OK)
        return;
    struct sim_request request = { .service = SIM_ANY_SERVICE,
                                   .rows = load->row_count,
                                   .number = ++run.number };
    struct sim_decision decision =
        sim_law_arrive(&run.law, load->lease.connection, SIM_ANY_SERVER, &request, run.rig.now_us);
    run.largest = load->row_count > run.largest ? load->row_count : run.largest;
    if (!decision.accepted) {
        tell(load, &decision);
        return;
    }
    while (run.out[slot].load)
        slot++;
    must(slot < FLIGHTS_MAX);
    run.out[slot] = (struct out){ load, decision.ticket, decision };
}

static bool act(void)
{
    struct weir_action action;
    weir_executor_next(&run.executor, run.rig.now_us, &action);
    if (action.kind == WEIR_ACTION_SEND) {
        send(action.flight);
    } else if (action.kind == WEIR_ACTION_RECORD) {
        run.receipt = action.receipt->serial;
    } else if (action.kind == WEIR_ACTION_RETURN) {
        free(action.batch->rows);
        free(action.batch);
    } else if (action.kind == WEIR_ACTION_OVER) {
        run.over = true;
    }
    return action.kind != WEIR_ACTION_NONE;
}

/* The request that ends first; NULL: none is out. */
static struct out *next_end(void)
{
    struct out *first = NULL;
    for (uint32_t i = 0; i < FLIGHTS_MAX; i++) {
        struct out *it = &run.out[i];
        if (it->load && (!first || it->decision.ends_us < first->decision.ends_us))
            first = it;
    }
    return first;
}

static void let_time_pass(void)
{
    struct out *end = next_end();
    int64_t next_us = weir_executor_next_us(&run.executor);
    if (!end || next_us < end->decision.ends_us) {
        must(next_us != WEIR_FOREVER && next_us > run.rig.now_us);
        run.rig.now_us = next_us;
        return;
    }
    struct out it = *end;
    run.rig.now_us = it.decision.ends_us;
    sim_law_finish(&run.law, it.ticket, run.rig.now_us);
    end->load = NULL;
    tell(it.load, &it.decision);
}

/* Rows a second. */
static double work(const struct service_law *law, uint64_t rows, bool adaptive, uint64_t seed)
{
    set_up(law, rows, adaptive, seed);
    int64_t begun_us = run.rig.now_us;
    while (!run.over) {
        feed();
        while (act())
            continue;
        weir_executor_committed(&run.executor, run.receipt, run.rig.now_us);
        while (act())
            continue;
        if (!run.over)
            let_time_pass();
    }
    must(run.executor.result.fates[WEIR_FATE_DONE] == rows);
    return (double)rows / ((double)(run.rig.now_us - begun_us) / 1e6);
}

/* --- what it is worth ------------------------------------------------------------------------- */

static const struct {
    const char *what;
    struct service_law law;
    uint64_t rows;
    double least; /* times as fast */
    double most;
} worlds[] = {
    { "dear requests", { 0.5, 0.002, 0.3 }, 400000, 2, 3 },
    { "very dear requests", { 4, 0.004, 0.3 }, 200000, 3, 7 },
    { "in between", { 0.1, 0.01, 0.3 }, 200000, 1, 1.06 },
    { "cheap requests", { 0.01, 0.02, 0.3 }, 100000, 0.92, 1 },
    { "quick rows", { 0.02, 0.0002, 0.3 }, 1000000, 1.5, 2.5 },
};

START_TEST(it_is_worth_most_where_requests_are_dear)
{
    const struct service_law *law = &worlds[_i].law;
    double hundred = work(law, worlds[_i].rows, false, 7);
    uint64_t requests = run.executor.result.requests, throttles = run.throttles;
    tear_down();
    double sized = work(law, worlds[_i].rows, true, 7);
    uint32_t rows = weir_executor_rows_chosen(&run.executor);
    if (getenv("WEIR_FIGURES"))
        fprintf(stderr,
                "| %s | %g + %g · rows | %.0f | %llu | %llu | %.0f | %llu | %llu | %u | %.2f |\n",
                worlds[_i].what, law->fixed_s, law->row_s, hundred, (unsigned long long)requests,
                (unsigned long long)throttles, sized,
                (unsigned long long)run.executor.result.requests, (unsigned long long)run.throttles,
                rows, sized / hundred);
    tear_down();
    ck_assert_msg(sized / hundred >= worlds[_i].least && sized / hundred <= worlds[_i].most,
                  "%s: %g and %g rows a second", worlds[_i].what, hundred, sized);
}
END_TEST

/* Requests never become longer than they should, whatever was learned on the way. */
START_TEST(no_request_is_larger_than_its_time_allows)
{
    static const struct service_law law = { 0.5, 0.2, 0.3 }; /* 10 s: 47 rows, 200 at the start */
    work(&law, 20000, true, (uint64_t)_i);
    ck_assert_uint_le(run.largest, 200);
    ck_assert_uint_le(weir_executor_rows_chosen(&run.executor), 60);
    tear_down();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("batch_size");
    suite_add_loop(&s, "it_is_worth_most_where_requests_are_dear",
                   it_is_worth_most_where_requests_are_dear, sizeof(worlds) / sizeof(worlds[0]));
    suite_add_loop(&s, "no_request_is_larger_than_its_time_allows",
                   no_request_is_larger_than_its_time_allows, 10);
    return suite_run(&s);
}
