/* SPDX-License-Identifier: MIT */
/*
 * How many rows a request should have: random worlds with a known law, against the choice that
 * somebody would make who knows it.
 *
 * A world has requests in flight; each is sized when it leaves and answered later, so what is
 * learned comes late, as it does in a run. Times are log-normal around a + b · rows.
 */
#include "bulk/sizing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/rng.h"
#include "bulk/sizes.h"
#include "support/suite.h"

#define IN_FLIGHT 8
#define WAITING   1000

static const struct weir_sizing_bounds usual = { WEIR_TARGETS_MAX, WEIR_SIZING_CROSSOVER_US,
                                                 WEIR_SIZING_LONGEST_US };

/* --- worlds ----------------------------------------------------------------------------------- */

struct world {
    struct weir_rng rng;
    double a_us;
    double b_us;
    double sigma;
    double slower; /* all that a request takes is so many times longer … */
    double swings; /* … and up to so many times longer again, by chance */
    struct weir_sizing sizing;
    struct weir_sizing_bounds bounds;
    uint32_t rows[IN_FLIGHT];
    int64_t us[IN_FLIGHT];
    uint64_t requests;
};

static double between(struct weir_rng *rng, double least, double most)
{
    return least * pow(most / least, weir_rng_unit(rng));
}

static double normal(struct weir_rng *rng)
{
    double radius = sqrt(-2 * log(1 - weir_rng_unit(rng)));
    return radius * cos(2 * M_PI * weir_rng_unit(rng));
}

static struct world make_world(uint64_t seed, double sigma)
{
    struct world world = { .sigma = sigma, .slower = 1, .swings = 1, .bounds = usual };
    weir_rng_init(&world.rng, seed, 1);
    world.a_us = between(&world.rng, 5e3, 4e6);
    world.b_us = between(&world.rng, 2e2, 2e5);
    world.sizing = (struct weir_sizing){ 0 };
    return world;
}

static int64_t duration_us(struct world *world, uint32_t rows)
{
    double chance = exp(world->sigma * normal(&world->rng));
    double swing = between(&world->rng, 1, world->swings);
    return 1 + (int64_t)((world->a_us + world->b_us * rows) * chance * swing * world->slower);
}

/* One request leaves; the one that left IN_FLIGHT requests ago comes back. */
static uint32_t step(struct world *world)
{
    uint32_t slot = world->requests % IN_FLIGHT;
    if (world->requests >= IN_FLIGHT)
        weir_sizing_answer(&world->sizing, world->rows[slot], world->us[slot], &world->bounds);
    uint32_t rows = weir_sizing_rows(&world->sizing, &world->bounds, WAITING);
    must(rows >= 1 && rows <= world->bounds.rows_max && rows <= WAITING);
    weir_sizing_sent(&world->sizing);
    world->rows[slot] = rows;
    world->us[slot] = duration_us(world, rows);
    world->requests++;
    return rows;
}

static void run(struct world *world, uint32_t requests)
{
    for (uint32_t i = 0; i < requests; i++)
        step(world);
}

static double choice(const struct world *world)
{
    return weir_sizing_choice(&world->sizing, &world->bounds);
}

/* By the rules in sizing.h, tried one number of rows after the other. */
static double ideal(const struct world *world)
{
    double swing = world->swings > 1 ? (world->swings - 1) / log(world->swings) : 1;
    double mean = exp(world->sigma * world->sigma / 2) * world->slower * swing;
    double a_us = world->a_us * mean;
    double b_us = world->b_us * mean;
    double longest_us = fmax((double)world->bounds.longest_us, 2 * a_us);
    uint32_t rows = 1;
    while (rows < world->bounds.rows_max && a_us + b_us * (rows + 1) <= longest_us &&
           (b_us * rows < WEIR_SIZING_SHARE * (a_us + b_us * rows) ||
            a_us + b_us * rows < (double)world->bounds.shortest_us))
        rows++;
    return rows;
}

static bool is_near(const struct world *world)
{
    double right = ideal(world);
    return fabs(choice(world) - right) <= 0.25 * right + 2;
}

/* What a row costs, compared with what it would if everything were known. */
static double cost(const struct world *world)
{
    double right = ideal(world);
    double chosen = choice(world);
    return (world->a_us / chosen + world->b_us) / (world->a_us / right + world->b_us);
}

/* --- the choice ------------------------------------------------------------------------------- */

START_TEST(the_choice_comes_near_to_the_ideal_and_stays_there)
{
    static const double sigmas[] = { 0, 0.05, 0.1 };
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct world world = make_world(1000 * (uint64_t)_i + seed, sigmas[_i]);
        run(&world, 400);
        for (int i = 0; i < 600; i++) {
            step(&world);
            ck_assert_msg(is_near(&world), "seed %d: %g, not %g, a %g b %g", (int)seed,
                          choice(&world), ideal(&world), world.a_us, world.b_us);
        }
    }
}
END_TEST

/* Where times scatter more it may be further off for a while; what that costs is little. */
START_TEST(scatter_costs_little)
{
    static const struct {
        double sigma;
        double near; /* the share of the time in which it is */
        double cost; /* at any time */
        double rows; /* as many times the ideal, at any time */
    } worlds[] = { { 0.2, 0.98, 1.02, 1.8 },
                   { 0.3, 0.97, 1.03, 2 },
                   { 0.5, 0.95, 1.05, 2 },
                   { 1.0, 0.8, 1.15, 8 } };
    uint32_t near = 0, looked = 0;
    double sum = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct world world = make_world(9000 + 1000 * (uint64_t)_i + seed, worlds[_i].sigma);
        run(&world, 800);
        for (int i = 0; i < 400; i++, looked++) {
            step(&world);
            near += is_near(&world);
            sum += cost(&world);
            must(choice(&world) <= worlds[_i].rows * ideal(&world) + 2);
            ck_assert_msg(cost(&world) <= worlds[_i].cost, "seed %d: %g times, %g, not %g",
                          (int)seed, cost(&world), choice(&world), ideal(&world));
        }
    }
    ck_assert_msg(near >= worlds[_i].near * looked, "%u of %u", near, looked);
    ck_assert_msg(sum / looked < 1.005, "%g", sum / looked);
}
END_TEST

START_TEST(contention_and_bad_hours_do_not_change_it)
{
    uint32_t near = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct world world = make_world(50000 + seed, 0.1);
        world.swings = 4;
        run(&world, 1000);
        world.slower = 3; /* both of them: only the bounds in seconds mean other numbers now */
        run(&world, 2000);
        near += cost(&world) < 1.03;
    }
    ck_assert_uint_ge(near, 98);
}
END_TEST

START_TEST(what_changes_is_learned_again)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct world world = make_world(60000 + seed, 0.1);
        world.a_us = 1e6;
        world.b_us = 5e3;
        run(&world, 1000);
        ck_assert(is_near(&world));
        world.a_us = 5e4; /* 1,000 rows before, 190 now … */
        run(&world, 2500);
        ck_assert_msg(is_near(&world), "%g, not %g", choice(&world), ideal(&world));
        world.a_us = 2e5; /* … and 760 */
        run(&world, 2500);
        ck_assert_msg(is_near(&world), "%g, not %g", choice(&world), ideal(&world));
    }
}
END_TEST

START_TEST(lines_that_are_none_lead_to_a_bound)
{
    struct world free_rows = make_world(1, 0.3);
    free_rows.b_us = 0;
    free_rows.a_us = 4e5;
    run(&free_rows, 300);
    ck_assert(choice(&free_rows) >= 900); /* chance may see a slope */

    struct world free_requests = make_world(2, 0.1);
    free_requests.a_us = 0;
    free_requests.b_us = 1e4;
    run(&free_requests, 300);
    ck_assert(choice(&free_requests) >= 15 && choice(&free_requests) <= 30); /* 0.2 s */

    struct weir_sizing falling;
    falling = (struct weir_sizing){ 0 };
    for (uint32_t rows = 1; rows <= 400; rows++)
        weir_sizing_answer(&falling, rows, 2000000 - 1000 * rows, &usual);
    ck_assert_uint_eq(weir_sizing_choice(&falling, &usual), 800);
}
END_TEST

/* A request that is long without rows has rows all the same. */
START_TEST(a_request_takes_ten_seconds_or_twice_its_own_time)
{
    struct world world = make_world(3, 0.1);
    world.a_us = 3e6;
    world.b_us = 1e5;
    run(&world, 500);
    ck_assert(choice(&world) >= 60 && choice(&world) <= 80);
    world.a_us = 2e7;
    run(&world, 4000);
    ck_assert(choice(&world) >= 160 && choice(&world) <= 240);
}
END_TEST

/* --- one request after the other -------------------------------------------------------------- */

START_TEST(the_first_requests_differ_and_none_is_larger_than_two_hundred)
{
    struct weir_sizing sizing;
    uint32_t smallest = UINT32_MAX, largest = 0;
    sizing = (struct weir_sizing){ 0 };
    for (int i = 0; i < 60; i++) { /* no answer yet */
        uint32_t rows = weir_sizing_rows(&sizing, &usual, WAITING);
        ck_assert_uint_eq(rows == WEIR_SIZING_START_ROWS, i % 4 == 0);
        smallest = rows < smallest ? rows : smallest;
        largest = rows > largest ? rows : largest;
        weir_sizing_sent(&sizing);
    }
    ck_assert_uint_eq(largest, 200);
    ck_assert_uint_eq(smallest, 25);
}
END_TEST

START_TEST(probes_are_few_and_cheap)
{
    struct world world = make_world(4, 0.1);
    world.a_us = 1e5;
    world.b_us = 1e4; /* 190 rows */
    run(&world, 500);
    double taken_us = 0, rows = 0;
    for (int i = 0; i < 1600; i++) {
        uint32_t now = step(&world);
        taken_us += world.a_us + world.b_us * now;
        rows += now;
    }
    double best = world.a_us / ideal(&world) + world.b_us;
    ck_assert_msg(taken_us / rows / best < 1.01, "%g", taken_us / rows / best);
}
END_TEST

START_TEST(rows_that_wait_together_are_shared_out_evenly)
{
    struct world world = make_world((uint64_t)_i, 0.05);
    run(&world, 200);
    while (world.sizing.sent % 16 != 4) /* no probe is due for a while */
        weir_sizing_sent(&world.sizing);
    uint32_t right = weir_sizing_choice(&world.sizing, &usual);
    for (uint32_t waiting = 1; waiting <= 1000; waiting++) {
        uint32_t rows = weir_sizing_rows(&world.sizing, &usual, waiting);
        uint32_t requests = (waiting + rows - 1) / rows;
        must(rows >= 1 && rows <= waiting);
        must(rows - waiting / requests <= 1); /* the last has about as many as the first */
        must(waiting < right || rows <= 1.5 * right + 1);
        must(waiting < right || rows >= right / 2);
    }
}
END_TEST

/* --- bounds ----------------------------------------------------------------------------------- */

/* Whatever is said, the next request is one that may be sent. */
START_TEST(no_answer_leads_beyond_the_bounds)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 2);
    struct weir_sizing sizing;
    struct weir_sizing_bounds bounds = usual;
    uint32_t too_many = UINT32_MAX;
    sizing = (struct weir_sizing){ 0 };
    bounds.rows_max = 1 + (uint32_t)weir_rng_below(&rng, 1000);
    for (int i = 0; i < 3000; i++) {
        uint32_t rows = 1 + (uint32_t)weir_rng_below(&rng, 1000);
        uint64_t what = weir_rng_below(&rng, 400);
        if (what == 0)
            weir_sizing_timed_out(&sizing, rows);
        else if (what == 1 && rows > 500)
            weir_sizing_too_big(&sizing, rows);
        else
            weir_sizing_answer(&sizing, rows, (int64_t)between(&rng, 1, 1e12), &bounds);
        if (what == 1 && rows > 500 && rows < too_many)
            too_many = rows;
        uint32_t waiting = 1 + (uint32_t)weir_rng_below(&rng, 1000);
        uint32_t next = weir_sizing_rows(&sizing, &bounds, waiting);
        uint32_t chosen = weir_sizing_choice(&sizing, &bounds);
        must(next >= 1 && next <= waiting && next <= bounds.rows_max && next < too_many);
        must(chosen >= 1 && chosen <= bounds.rows_max && chosen < too_many);
        if (what == 0)
            must(next <= (rows > 1 ? rows / 2 : 1));
        weir_sizing_sent(&sizing);
    }
}
END_TEST

START_TEST(what_was_too_big_stays_so_and_a_time_out_is_forgiven)
{
    struct world world = make_world(5, 0.1);
    world.a_us = 1e5;
    world.b_us = 1e3;
    run(&world, 300);
    ck_assert_uint_eq(weir_sizing_choice(&world.sizing, &usual), 1000);
    weir_sizing_timed_out(&world.sizing, 1000);
    ck_assert_uint_eq(weir_sizing_choice(&world.sizing, &usual), 500);
    weir_sizing_timed_out(&world.sizing, 500);
    ck_assert_uint_eq(weir_sizing_choice(&world.sizing, &usual), 250);
    run(&world, 60); /* some of them were sent before */
    ck_assert_uint_lt(weir_sizing_choice(&world.sizing, &usual), 400);
    run(&world, 1000);
    ck_assert_uint_eq(weir_sizing_choice(&world.sizing, &usual), 1000);
    weir_sizing_too_big(&world.sizing, 600);
    weir_sizing_too_big(&world.sizing, 900);
    run(&world, 1000);
    ck_assert_uint_eq(weir_sizing_choice(&world.sizing, &usual), 300);
}
END_TEST

START_TEST(the_crossover_is_the_one_that_is_given)
{
    for (int64_t shortest_us = 50000; shortest_us <= 800000; shortest_us *= 2) {
        struct world world = make_world(6, 0.05);
        world.a_us = 1e3;
        world.b_us = 1e4;
        world.bounds.shortest_us = shortest_us;
        run(&world, 500);
        ck_assert_msg(is_near(&world), "%g, not %g", choice(&world), ideal(&world));
    }
}
END_TEST

/* --- from one run to the next ----------------------------------------------------------------- */

START_TEST(a_later_run_begins_with_what_is_known)
{
    struct world world = make_world((uint64_t)_i, 0.05);
    char text[WEIR_SIZING_TEXT_MAX];
    struct weir_sizing later;
    later = (struct weir_sizing){ 0 };
    ck_assert(!weir_sizing_print(&later, text)); /* nothing is known */
    run(&world, 600);
    ck_assert(weir_sizing_print(&world.sizing, text));
    ck_assert(weir_sizing_parse(&later, text));
    ck_assert(!weir_sizing_parse(&later, text)); /* only once */
    double before = choice(&world);
    double after = weir_sizing_choice(&later, &usual);
    ck_assert_msg(fabs(after - before) <= 0.1 * before + 1, "%s: %g, not %g", text, after, before);
    world.sizing = later;
    world.requests = 0;
    for (int i = 0; i < 300; i++) {
        step(&world);
        ck_assert_msg(is_near(&world), "%g, not %g", choice(&world), ideal(&world));
    }
}
END_TEST

START_TEST(what_was_not_written_here_is_not_read)
{
    static const char *const texts[] = {
        "",
        "auto",
        "1 2",
        "-1 2 3",
        "1 -2 3",
        "1 2 0",
        "1 2 1001",
        "1 2 -3",
        "1000000001 1 100",
        "1 1000000000001 100",
        "nan 1 100",
        "99999999999999999999 1 100",
        "{}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct weir_sizing sizing, none;
        memset(&sizing, 0, sizeof(sizing));
        memset(&none, 0, sizeof(none));
        ck_assert_msg(!weir_sizing_parse(&sizing, texts[i]), "%s", texts[i]);
        ck_assert_mem_eq(&sizing, &none, sizeof(none));
    }
    struct weir_sizing sizing;
    sizing = (struct weir_sizing){ 0 };
    ck_assert(weir_sizing_parse(&sizing, "0 0 1"));
    ck_assert_uint_ge(weir_sizing_rows(&sizing, &usual, WAITING), 1);
    sizing = (struct weir_sizing){ 0 };
    ck_assert(weir_sizing_parse(&sizing, "1000000000 1000000000000 1000"));
    ck_assert_uint_ge(weir_sizing_rows(&sizing, &usual, WAITING), 1);
}
END_TEST

START_TEST(each_kind_of_request_has_a_line_of_its_own)
{
    static struct weir_sizes sizes, later;
    char text[WEIR_SIZES_TEXT_MAX];
    memset(&sizes, 0, sizeof(sizes));
    memset(&later, 0, sizeof(later));
    weir_sizes_print(&sizes, text);
    ck_assert_str_eq(text, "");
    for (int operation = 0; operation < WEIR_SIZES_OPERATIONS; operation++) {
        for (int way = 0; way < WEIR_SIZES_WAYS; way++) {
            struct world world = make_world((uint64_t)(10 * operation + way), 0);
            world.a_us = 1e5;
            world.b_us = 2e4 * (1 + operation) + 1e4 * way;
            run(&world, 100);
            sizes.of[operation][way] = world.sizing;
        }
    }
    weir_sizes_print(&sizes, text);
    weir_sizes_parse(&later, "create\nupdate bulk\n\nmerge bulk 1 2 3\n");
    weir_sizes_parse(&later, text);
    for (int operation = 0; operation < WEIR_SIZES_OPERATIONS; operation++) {
        for (int way = 0; way < WEIR_SIZES_WAYS; way++) {
            double before = weir_sizing_fit(&sizes.of[operation][way]).b_us;
            double after = weir_sizing_fit(&later.of[operation][way]).b_us;
            ck_assert_msg(fabs(after / before - 1) < 0.01, "%d %d: %g, not %g", operation, way,
                          after, before);
        }
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sizing");
    suite_add_loop(&s, "the_choice_comes_near_to_the_ideal_and_stays_there",
                   the_choice_comes_near_to_the_ideal_and_stays_there, 3);
    suite_add_loop(&s, "scatter_costs_little", scatter_costs_little, 4);
    suite_add(&s, contention_and_bad_hours_do_not_change_it);
    suite_add(&s, what_changes_is_learned_again);
    suite_add(&s, lines_that_are_none_lead_to_a_bound);
    suite_add(&s, a_request_takes_ten_seconds_or_twice_its_own_time);
    suite_add(&s, the_first_requests_differ_and_none_is_larger_than_two_hundred);
    suite_add(&s, probes_are_few_and_cheap);
    suite_add_loop(&s, "rows_that_wait_together_are_shared_out_evenly",
                   rows_that_wait_together_are_shared_out_evenly, 20);
    suite_add_loop(&s, "no_answer_leads_beyond_the_bounds", no_answer_leads_beyond_the_bounds, 20);
    suite_add(&s, what_was_too_big_stays_so_and_a_time_out_is_forgiven);
    suite_add(&s, the_crossover_is_the_one_that_is_given);
    suite_add_loop(&s, "a_later_run_begins_with_what_is_known",
                   a_later_run_begins_with_what_is_known, 30);
    suite_add(&s, what_was_not_written_here_is_not_read);
    suite_add(&s, each_kind_of_request_has_a_line_of_its_own);
    return suite_run(&s);
}
