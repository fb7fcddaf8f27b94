/* SPDX-License-Identifier: MIT */
/* Rate and ETA in virtual time: against a list of everything that ended, and by what must hold. */
#include <math.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/rng.h"
#include "bulk/progress.h"
#include "support/suite.h"

#define S        WEIR_US_PER_S
#define BEGUN_US (INT64_C(123456789) * 1000)

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

/* --- the rate --------------------------------------------------------------------------------- */

#define EVENTS 20000

static struct {
    int64_t at_us;
    uint64_t rows;
} events[EVENTS];
static int event_count;

/* What ended in the window, counted one by one. */
static double rate_by_hand(int64_t now_us)
{
    int64_t slot = (now_us - BEGUN_US) / WEIR_PROGRESS_SLOT_US - (WEIR_PROGRESS_SLOTS - 1);
    int64_t from_us = BEGUN_US + (slot > 0 ? slot : 0) * WEIR_PROGRESS_SLOT_US;
    uint64_t rows = 0;
    for (int i = event_count - 1; i >= 0 && events[i].at_us >= from_us; i--)
        rows += events[i].rows;
    return now_us > from_us ? (double)rows * 1e6 / (double)(now_us - from_us) : 0;
}

/* Bursts, trickles, and gaps of up to some minutes. */
static int64_t random_gap(struct weir_rng *rng)
{
    static const uint64_t up_to_us[] = { 1, 1000, 250000, 2000000, 29000000, 31000000, 400000000 };
    return (int64_t)weir_rng_below(
        rng, up_to_us[weir_rng_below(rng, 200) < 197 ? weir_rng_below(rng, 4)
                                                     : 4 + weir_rng_below(rng, 3)]);
}

START_TEST(the_rate_is_what_ended_in_the_last_thirty_seconds)
{
    struct weir_progress progress;
    struct weir_rng rng;
    int64_t now_us = BEGUN_US;
    uint64_t rows = 0;
    weir_rng_init(&rng, (uint64_t)_i + 1, 0);
    weir_progress_init(&progress, now_us);
    for (event_count = 0; event_count < EVENTS;) {
        now_us += random_gap(&rng);
        if (weir_rng_below(&rng, 3) > 0) {
            uint64_t more = weir_rng_below(&rng, 1000);
            events[event_count].at_us = now_us;
            events[event_count++].rows = more;
            weir_progress_note(&progress, rows += more, now_us);
        }
        if (weir_rng_below(&rng, 4) == 0)
            must(near(weir_progress_rate(&progress, now_us), rate_by_hand(now_us), 1e-6));
    }
}
END_TEST

START_TEST(a_constant_rate_is_exact_from_the_first_second_on)
{
    struct weir_progress progress;
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 1);
    int64_t step_us = 1000 + (int64_t)weir_rng_below(&rng, 200000);
    uint64_t batch = 1 + weir_rng_below(&rng, 100);
    double rate = (double)batch * 1e6 / (double)step_us;
    weir_progress_init(&progress, BEGUN_US);
    uint64_t rows = 0;
    for (int64_t now_us = BEGUN_US + step_us; now_us < BEGUN_US + 90 * S; now_us += step_us) {
        weir_progress_note(&progress, rows += batch, now_us);
        /* A window holds a batch too many or too few at most, and none in the first 30 s. */
        double span_s = (double)(now_us - BEGUN_US) / 1e6;
        double slack = span_s < 29.7 ? 1e-6 : (double)batch / 29.75 + 1e-6;
        must(near(weir_progress_rate(&progress, now_us), rate, slack));
    }
}
END_TEST

START_TEST(after_a_gap_only_what_is_in_the_window_counts)
{
    struct weir_progress progress;
    weir_progress_init(&progress, BEGUN_US);
    ck_assert(weir_progress_rate(&progress, BEGUN_US) == 0);
    weir_progress_note(&progress, 3000, BEGUN_US + 10 * S);
    ck_assert(near(weir_progress_rate(&progress, BEGUN_US + 10 * S), 300, 1e-9));
    ck_assert(near(weir_progress_rate(&progress, BEGUN_US + 30 * S - 1), 100, 1e-3));
    ck_assert(weir_progress_rate(&progress, BEGUN_US + 41 * S) == 0);
    ck_assert(weir_progress_rate(&progress, BEGUN_US + 1000000 * S) == 0);
    weir_progress_note(&progress, 3030, BEGUN_US + 1000000 * S);
    double rate = weir_progress_rate(&progress, BEGUN_US + 1000000 * S);
    ck_assert(rate >= 30 / 30.0 && rate <= 30 / 29.7);
}
END_TEST

START_TEST(a_clock_that_goes_back_and_a_count_that_falls_do_no_harm)
{
    struct weir_progress progress;
    struct weir_progress_view view = { .rows_total = 1000, .rows_ended = 100 };
    weir_progress_init(&progress, BEGUN_US);
    weir_progress_note(&progress, 100, BEGUN_US + 10 * S);
    weir_progress_note(&progress, 50, BEGUN_US + 11 * S);
    weir_progress_note(&progress, 200, BEGUN_US + 5 * S);
    ck_assert(near(weir_progress_rate(&progress, BEGUN_US), 20, 1e-9));
    ck_assert(near(weir_progress_eta_s(&progress, &view, BEGUN_US - 7 * S), 45, 1e-9));
    view.throttled_for_us = -5 * S;
    ck_assert(near(weir_progress_eta_s(&progress, &view, BEGUN_US), 45, 1e-9));
}
END_TEST

/* --- the ETA ---------------------------------------------------------------------------------- */

/* A run at a constant speed through `total` rows, looked at every 100 ms; what is known of the rest
 * is the number of rows, or that all rows have the same length. */
struct run {
    struct weir_progress progress;
    struct weir_progress_view view;
    int64_t now_us;
    uint64_t rows_a_tick;
    uint64_t earlier; /* rows of an earlier run */
};

#define TICK_US (S / 10)

static double eta(struct run *run)
{
    return weir_progress_eta_s(&run->progress, &run->view, run->now_us);
}

static void begin(struct run *run, uint64_t total, uint64_t rows_a_tick, bool by_bytes)
{
    *run = (struct run){ .now_us = BEGUN_US, .rows_a_tick = rows_a_tick };
    weir_progress_init(&run->progress, run->now_us);
    if (by_bytes)
        run->view.bytes_total = total * 77;
    else
        run->view.rows_total = total;
}

static void tick(struct run *run)
{
    run->now_us += TICK_US;
    run->view.rows_ended += run->rows_a_tick;
    run->view.rows_read = run->view.rows_ended + 500;
    if (run->view.bytes_total > 0 && run->view.rows_read * 77 > run->view.bytes_total)
        run->view.rows_read = run->view.bytes_total / 77;
    run->view.bytes_read = run->view.rows_read * 77;
    weir_progress_note(&run->progress, run->view.rows_ended - run->earlier, run->now_us);
}

START_TEST(at_a_constant_rate_the_eta_is_right_and_only_falls)
{
    struct run run;
    uint64_t ticks = 2000, speed = 13;
    begin(&run, ticks * speed, speed, _i % 2);
    double before = INFINITY;
    for (uint64_t i = 1; i <= ticks; i++) {
        tick(&run);
        double now = eta(&run), should = (double)(ticks - i) / 10;
        /* A slot's end and a batch may fall together or not: one batch in 30 s. */
        must(near(now, should, should * 0.1 / 29 + 1e-6));
        must(now <= before + 1e-9 || now <= before * (1 + 0.1 / 29));
        before = now;
    }
    ck_assert(before == 0);
}
END_TEST

START_TEST(rows_of_earlier_runs_are_done_but_not_fast)
{
    struct run run;
    begin(&run, 100000, 10, _i % 2);
    run.earlier = run.view.rows_ended = 60000;
    for (int i = 0; i < 500; i++)
        tick(&run);
    ck_assert(near(weir_progress_rate(&run.progress, run.now_us), 100, 1));
    ck_assert(near(eta(&run), 350, 3));
}
END_TEST

/* The pause is as long as was said; its beginning is seen at once. */
START_TEST(a_wait_for_throttles_is_added_once)
{
    struct run run;
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 3);
    begin(&run, 100000, 10, false);
    for (int pause = 0; pause < 4; pause++) {
        for (uint64_t i = 100 + weir_rng_below(&rng, 400); i > 0; i--) {
            tick(&run);
            must(near(eta(&run), (double)(100000 - run.view.rows_ended) / 100, 20));
        }
        double before = eta(&run);
        int64_t wait_ticks = 1 + (int64_t)weir_rng_below(&rng, 3000);
        double last = INFINITY;
        for (; wait_ticks > 0; wait_ticks--) {
            run.view.throttled_for_us = wait_ticks * TICK_US;
            double now = eta(&run);
            must(near(now, before + (double)wait_ticks / 10, 1e-6));
            must(now < last);
            last = now;
            run.now_us += TICK_US;
        }
        run.view.throttled_for_us = 0;
        must(near(eta(&run), before, 1e-6)); /* as if nothing had been */
    }
}
END_TEST

START_TEST(people_see_the_rate_fall_while_all_are_throttled)
{
    struct run run;
    begin(&run, 100000, 10, false);
    for (int i = 0; i < 400; i++)
        tick(&run);
    run.view.throttled_for_us = 60 * S;
    eta(&run);
    run.now_us += 31 * S;
    ck_assert(weir_progress_rate(&run.progress, run.now_us) == 0);
    run.view.throttled_for_us = 29 * S;
    ck_assert(near(eta(&run), 960 + 29, 5));
    /* It ends before its time, and nobody looks until then. */
    run.view.throttled_for_us = 0;
    for (int i = 0; i < 20; i++) {
        tick(&run);
        must(near(eta(&run), (double)(100000 - run.view.rows_ended) / 100, 12));
    }
}
END_TEST

START_TEST(without_a_rate_or_an_end_there_is_no_eta)
{
    struct run run;
    begin(&run, 0, 10, false);
    ck_assert(eta(&run) < 0);
    for (int i = 0; i < 50; i++)
        tick(&run);
    ck_assert(eta(&run) < 0); /* standard input: nobody knows how much comes */
    run.view.bytes_total = 1000000;
    run.view.bytes_read = 0;
    ck_assert(eta(&run) < 0);
    run.view.rows_total = 1000;
    ck_assert(eta(&run) > 0);
    run.now_us += 31 * S;
    ck_assert(eta(&run) < 0); /* it hangs, and not for a throttle */
    run.view.rows_total = run.view.rows_ended;
    ck_assert(eta(&run) == 0);
    run.view.throttled_for_us = 5 * S;
    ck_assert(eta(&run) == 0); /* nothing waits for it */
    run.view.rows_total--;
    ck_assert(eta(&run) == 0);
}
END_TEST

START_TEST(input_that_was_read_to_its_end_leaves_what_is_open)
{
    struct run run;
    begin(&run, 0, 10, false);
    for (int i = 0; i < 100; i++)
        tick(&run);
    run.view.bytes_total = run.view.bytes_read;
    ck_assert(near(eta(&run), 5, 0.1));
    run.view.bytes_read++; /* it grew while it was read */
    ck_assert(near(eta(&run), 5, 0.1));
}
END_TEST

/* An earlier run has read far ahead of the place where this one begins, or behind it. */
START_TEST(how_long_rows_are_is_told_by_where_this_run_reads)
{
    struct run run;
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 4);
    uint64_t total = 10000 + weir_rng_below(&rng, 1000000);
    begin(&run, total, 10, true);
    run.earlier = run.view.rows_ended = weir_rng_below(&rng, 5000);
    run.view.rows_known = weir_rng_below(&rng, total + 1);
    for (int i = 0; i < 300; i++) {
        tick(&run);
        double should = (double)(total - run.view.rows_ended) / 100;
        must(near(eta(&run), should, should * 0.01 + 0.2));
    }
}
END_TEST

/* Whether it is known how many rows there are, or not. */
START_TEST(a_run_of_so_many_rows_takes_as_long_as_those_or_all_that_are_left)
{
    struct run run;
    begin(&run, 100000, 10, _i % 2);
    run.earlier = run.view.rows_ended = 60000;
    if (_i == 2)
        run.view.rows_total = 0; /* standard input */
    run.view.rows_max = _i == 3 ? 50000 : 2000;
    for (int i = 0; i < 150; i++) {
        tick(&run);
        run.view.rows_ended_now = run.view.rows_ended - run.earlier;
        double open = _i == 3 ? 40000 : 2000;
        must(near(eta(&run), (open - (double)run.view.rows_ended_now) / 100, 4));
    }
    run.view.rows_ended_now = run.view.rows_max;
    if (_i != 3)
        ck_assert(eta(&run) == 0);
}
END_TEST

START_TEST(passes_that_follow_count_unless_the_run_ends_before_them)
{
    struct run run;
    begin(&run, 10000, 10, _i % 2);
    run.view.passes_after = 2;
    for (int i = 0; i < 200; i++) {
        tick(&run);
        run.view.rows_ended_now = run.view.rows_ended;
        run.view.rows_max = 0;
        must(near(eta(&run), (30000 - (double)run.view.rows_ended) / 100, 2));
        run.view.rows_max = 12000; /* in each: more than there are */
        must(near(eta(&run), (30000 - (double)run.view.rows_ended) / 100, 2));
        run.view.rows_max = 9000;
        must(near(eta(&run), (9000 - (double)run.view.rows_ended) / 100, 1));
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("progress");
    suite_add_loop(&s, "the_rate_is_what_ended_in_the_last_thirty_seconds",
                   the_rate_is_what_ended_in_the_last_thirty_seconds, 10);
    suite_add_loop(&s, "a_constant_rate_is_exact_from_the_first_second_on",
                   a_constant_rate_is_exact_from_the_first_second_on, 50);
    suite_add(&s, after_a_gap_only_what_is_in_the_window_counts);
    suite_add(&s, a_clock_that_goes_back_and_a_count_that_falls_do_no_harm);
    suite_add_loop(&s, "at_a_constant_rate_the_eta_is_right_and_only_falls",
                   at_a_constant_rate_the_eta_is_right_and_only_falls, 2);
    suite_add_loop(&s, "rows_of_earlier_runs_are_done_but_not_fast",
                   rows_of_earlier_runs_are_done_but_not_fast, 2);
    suite_add_loop(&s, "a_wait_for_throttles_is_added_once", a_wait_for_throttles_is_added_once,
                   20);
    suite_add(&s, people_see_the_rate_fall_while_all_are_throttled);
    suite_add(&s, without_a_rate_or_an_end_there_is_no_eta);
    suite_add(&s, input_that_was_read_to_its_end_leaves_what_is_open);
    suite_add_loop(&s, "how_long_rows_are_is_told_by_where_this_run_reads",
                   how_long_rows_are_is_told_by_where_this_run_reads, 20);
    suite_add_loop(&s, "a_run_of_so_many_rows_takes_as_long_as_those_or_all_that_are_left",
                   a_run_of_so_many_rows_takes_as_long_as_those_or_all_that_are_left, 4);
    suite_add_loop(&s, "passes_that_follow_count_unless_the_run_ends_before_them",
                   passes_that_follow_count_unless_the_run_ends_before_them, 2);
    return suite_run(&s);
}
