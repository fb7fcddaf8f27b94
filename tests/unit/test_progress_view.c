/* SPDX-License-Identifier: MIT */
/*
 * The view of a running job, as text: golden views at the widths that terminals have, and what
 * holds at every width and height whatever the snapshot says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "progress_view.h"
#include "records/utf8.h"
#include "support/suite.h"

#define CONNECTIONS 4

static struct progress_connection connections[CONNECTIONS];

/* Three minutes past two in the afternoon; TZ is UTC. */
static struct progress_snapshot usual(void)
{
    const struct weir_job_budget silent = { .remaining = -1 };
    connections[0].now = (struct weir_job_connection){
        .name = "app1",
        .rows_done = 9000,
        .in_flight = 5,
        .level = 8,
        .bound_by = WEIR_BOUND_AIMD,
        .requests_budget = { 5120, 6000 },
        .execution_budget = { 150.4, 1200 },
    };
    connections[1].now = (struct weir_job_connection){
        .name = "app2",
        .rows_done = 3300,
        .throttles = 1203,
        .throttled_for_s = 24.2,
        .level = 4,
        .bound_by = WEIR_BOUND_THROTTLE_CEILING,
        .requests_budget = { 0, 6000 },
        .execution_budget = { 1200, 1200 },
    };
    connections[2].now = (struct weir_job_connection){
        .name = "app3",
        .set_aside = true,
        .requests_budget = silent,
        .execution_budget = silent,
    };
    connections[3].now = (struct weir_job_connection){
        .name = "app-for-the-nightly-load",
        .broken_for_s = 65,
        .level = 52,
        .in_flight = 52,
        .bound_by = WEIR_BOUND_MAX,
        .requests_budget = silent,
        .execution_budget = silent,
    };
    return (struct progress_snapshot){
        .wall_us = INT64_C(1794837780) * 1000000,
        .job = { .pass = 1,
                 .passes = 1,
                 .pass_ended = 12310,
                 .read = 12400,
                 .done = 12300,
                 .rejected = 10,
                 .rows_per_second = 1234,
                 .eta_s = 201,
                 .read_share = 0.415 },
        .connections = connections,
        .connection_count = CONNECTIONS,
    };
}

static char *draw(const struct progress_snapshot *snapshot, unsigned columns, unsigned lines,
                  bool colour, bool utf8)
{
    struct progress_view_options options = { columns, lines, colour, utf8 };
    struct weir_buf buf;
    weir_buf_init(&buf, PROGRESS_VIEW_MAX);
    progress_view_draw(snapshot, &options, &buf);
    ck_assert(!buf.overflow);
    return weir_buf_take(&buf);
}

static void check_view(const struct progress_snapshot *snapshot, unsigned columns, unsigned lines,
                       bool utf8, const char *expected)
{
    char *view = draw(snapshot, columns, lines, false, utf8);
    ck_assert_str_eq(view, expected);
    free(view);
}

START_TEST(at_a_hundred_columns_every_reason_is_there)
{
    struct progress_snapshot it = usual();
    check_view(
        &it, 100, 16, false,
        "[########............]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n"
        "connection   state                            in flight     bound by          req    exec "
        "  thr\n"
        "app1         ok                               ####.. 5/8    aimd              ####.  "
        "#....  0\n"
        "app2         throttled until 14:03:25, 0:25   ...... 0/4    throttle ceiling  .....  "
        "#####  1,203\n"
        "app3         set aside                        ...... 0/0    -                 -      -    "
        "  0\n"
        "app-for-the  breaker open 1:05                ###### 52/52  max               -      -    "
        "  0\n");
}
END_TEST

START_TEST(a_wide_terminal_has_the_figures_of_the_budgets)
{
    struct progress_snapshot it = usual();
    check_view(
        &it, 140, 16, true,
        "[████████░░░░░░░░░░░░]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n"
        "connection      state                            in flight         bound by          "
        "requests     exec time    throttles\n"
        "app1            ok                               ██████░░░░ 5/8    aimd              ███░ "
        "5120    █░░░ 150 s   0\n"
        "app2            throttled until 14:03:25, 0:25   ░░░░░░░░░░ 0/4    throttle ceiling  ░░░░ "
        "0       ████ 1200 s  1,203\n"
        "app3            set aside                        ░░░░░░░░░░ 0/0    -                 -    "
        "        -            0\n"
        "app-for-the-ni  breaker open 1:05                ██████████ 52/52  max               -    "
        "        -            0\n");
}
END_TEST

START_TEST(at_eighty_columns_the_moment_goes_and_the_countdown_stays)
{
    struct progress_snapshot it = usual();
    check_view(&it, 80, 16, false,
               "[####......]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n"
               "connection  state              in flight    bound by          req   exec  thr\n"
               "app1        ok                 ###.. 5/8    aimd              ###.  #...  0\n"
               "app2        throttled 0:25     ..... 0/4    throttle ceiling  ....  ####  1,203\n"
               "app3        set aside          ..... 0/0    -                 -     -     0\n"
               "app-for-th  breaker open 1:05  ##### 52/52  max               -     -     0\n");
}
END_TEST

START_TEST(rate_and_time_keep_their_order_at_every_width)
{
    struct progress_snapshot it = usual();
    check_view(&it, 64, 1, false,
               " 41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n");
    check_view(&it, 60, 1, false, " 41 %  12,300 done, 10 rejected, 3 min 21 s left\n");
}
END_TEST

START_TEST(at_sixty_columns_the_budgets_go)
{
    struct progress_snapshot it = usual();
    check_view(&it, 60, 16, false,
               " 41 %  12,300 done, 10 rejected, 3 min 21 s left\n"
               "connection  state              in flight   bound by\n"
               "app1        ok                 ###. 5/8    aimd\n"
               "app2        throttled 0:25     .... 0/4    throttle ceiling\n"
               "app3        set aside          .... 0/0    -\n"
               "app-for-th  breaker open 1:05  #### 52/52  max\n");
}
END_TEST

START_TEST(at_forty_columns_names_states_and_flights_are_left)
{
    struct progress_snapshot it = usual();
    check_view(&it, 40, 16, false,
               " 41 %  12,300 done, 10 rejected\n"
               "connection   state              flight\n"
               "app1         ok                 5/8\n"
               "app2         throttled 0:25     0/4\n"
               "app3         set aside          0/0\n"
               "app-for-the  breaker open 1:05  52/52\n");
}
END_TEST

START_TEST(a_low_terminal_shows_the_busiest_and_counts_the_rest)
{
    struct progress_snapshot it = usual();
    connections[3].now.rows_done = 8000;
    check_view(&it, 80, 5, false,
               "[####......]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n"
               "connection  state              in flight    bound by          req   exec  thr\n"
               "app1        ok                 ###.. 5/8    aimd              ###.  #...  0\n"
               "app-for-th  breaker open 1:05  ##### 52/52  max               -     -     0\n"
               "and 2 more: 1 throttled, 1 set aside\n");
    check_view(&it, 80, 1, false,
               "[####......]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left\n");
}
END_TEST

START_TEST(what_is_in_the_way_has_a_line_of_its_own)
{
    struct progress_snapshot it = usual();
    it.connection_count = 1;
    it.job.pass = 2;
    it.job.passes = 3;
    it.job.done = 0;
    it.job.throttled_for_s = 6130;
    check_view(&it, 80, 16, false,
               " 66 %  pass 2 of 3: 12,310 rows, 10 rejected, 1,234 rows/s, 3 min 21 s left\n"
               "all throttled, the first for 1 h\n"
               "connection  state              in flight    bound by          req   exec  thr\n"
               "app1        ok                 ###.. 5/8    aimd              ###.  #...  0\n");
    it.job.stopping = true;
    it.job.requests_in_flight = 1;
    it.job.eta_s = -1;
    snprintf(it.job.trouble, sizeof(it.job.trouble), "no route to \033[31mhost");
    check_view(&it, 80, 16, false,
               " 66 %  pass 2 of 3: 12,310 rows, 10 rejected, 1,234 rows/s\n"
               "stopping, 1 request on its way; no route to ?[31mhost\n"
               "connection  state              in flight    bound by          req   exec  thr\n"
               "app1        ok                 ###.. 5/8    aimd              ###.  #...  0\n");
}
END_TEST

START_TEST(all_of_it_is_said_only_when_it_is_over)
{
    struct progress_snapshot it = usual();
    it.connection_count = 1;
    it.job.read_share = 1;
    it.job.pass_ended = it.job.read;
    check_view(&it, 60, 1, false, " 99 %  12,300 done, 10 rejected, 3 min 21 s left\n");
    it.job.over = true;
    check_view(&it, 60, 1, false, "100 %  12,300 done, 10 rejected\n");
    it.job.pass_ended = it.job.read / 2;
    check_view(&it, 60, 1, false, " 50 %  12,300 done, 10 rejected\n");
    it.job.read_share = -1; /* a stream has no size */
    check_view(&it, 60, 1, false, "12,300 done, 10 rejected\n");
}
END_TEST

START_TEST(names_steer_no_terminal_and_take_one_column_a_character)
{
    struct progress_snapshot it = usual();
    it.connection_count = 1;
    connections[0].now.name = "a\033[2J\u00fc\u4e2d\xff";
    char *ascii = draw(&it, 40, 16, false, false);
    char *utf8 = draw(&it, 40, 16, false, true);
    ck_assert_ptr_nonnull(strstr(ascii, "\na?[2J???     ok "));
    ck_assert_ptr_nonnull(strstr(utf8, "\na?[2J\u00fc??     ok "));
    free(ascii);
    free(utf8);
}
END_TEST

START_TEST(colours_are_all_that_colours_add)
{
    struct progress_snapshot it = usual();
    char *plain = draw(&it, 100, 16, false, true);
    char *coloured = draw(&it, 100, 16, true, true);
    size_t out = 0;
    ck_assert_ptr_nonnull(strchr(coloured, '\033'));
    for (size_t i = 0; coloured[i]; i++) {
        if (coloured[i] == '\033')
            i += strcspn(coloured + i, "m");
        else
            coloured[out++] = coloured[i];
    }
    coloured[out] = '\0';
    ck_assert_str_eq(coloured, plain);
    free(plain);
    free(coloured);
}
END_TEST

/* --- whatever comes --------------------------------------------------------------------------- */

static double any_number(struct weir_rng *rng)
{
    static const double numbers[] = { -1, 0, 0.001, 1, 59.9, 3599, 1e7, 1e18, -1e18 };
    return numbers[weir_rng_below(rng, sizeof(numbers) / sizeof(numbers[0]))];
}

static void any_connection(struct weir_rng *rng, struct progress_connection *ret)
{
    static const char *const names[] = { "", "app", "\u4e2d\u4e2d\u4e2d\u4e2d", "\r\n\t\033c",
                                         "a name that is much longer than any column is" };
    *ret = (struct progress_connection){
        .now = { .name = names[weir_rng_below(rng, 5)],
                 .throttles = weir_rng_u64(rng) >> weir_rng_below(rng, 64),
                 .rows_done = weir_rng_below(rng, 3),
                 .throttled_for_s = any_number(rng),
                 .broken_for_s = any_number(rng),
                 .set_aside = weir_rng_below(rng, 4) == 0,
                 .requests_budget = { any_number(rng), any_number(rng) },
                 .execution_budget = { any_number(rng), any_number(rng) },
                 .in_flight = (uint32_t)weir_rng_below(rng, 60),
                 .level = (uint32_t)weir_rng_below(rng, 53),
                 .bound_by = (enum weir_bound)weir_rng_below(rng, WEIR_BOUND_COUNT) },
    };
}

static void any_job(struct weir_rng *rng, struct weir_job_progress *ret)
{
    *ret = (struct weir_job_progress){
        .pass = 1 + (unsigned)weir_rng_below(rng, 3),
        .passes = 3,
        .pass_ended = weir_rng_u64(rng) >> weir_rng_below(rng, 64),
        .read = weir_rng_u64(rng) >> weir_rng_below(rng, 64),
        .done = weir_rng_u64(rng) >> weir_rng_below(rng, 64),
        .rejected = weir_rng_below(rng, 3),
        .skipped = weir_rng_below(rng, 3),
        .rows_per_second = any_number(rng),
        .eta_s = any_number(rng),
        .read_share = any_number(rng),
        .throttled_for_s = any_number(rng),
        .stopping = weir_rng_below(rng, 2),
        .over = weir_rng_below(rng, 4) == 0,
    };
    snprintf(ret->trouble, sizeof(ret->trouble), "%s", weir_rng_below(rng, 2) ? "b\xc3\n\033" : "");
}

/* Lines that fit, of harmless characters, and no more of them than were asked for. */
static void check_fits(const char *view, unsigned columns, unsigned lines)
{
    ck_assert_uint_eq(weir_utf8_check(weir_str_from(view)), strlen(view));
    unsigned at = 0, ends = 0;
    for (; *view; view++) {
        unsigned char c = (unsigned char)*view;
        must(c == '\n' || (c >= ' ' && c != 0x7f));
        at = c == '\n' ? 0 : at + ((c & 0xc0) != 0x80);
        ends += c == '\n';
        must(at < columns);
    }
    ck_assert_uint_eq(at, 0);
    ck_assert_uint_le(ends, lines);
}

START_TEST(no_view_is_wider_or_higher_than_its_terminal)
{
    struct weir_rng rng;
    struct progress_connection many[30];
    weir_rng_init(&rng, 7, 0);
    for (int round = 0; round < 3000; round++) {
        struct progress_snapshot it = { .connections = many };
        it.connection_count = weir_rng_below(&rng, 31);
        for (size_t i = 0; i < it.connection_count; i++)
            any_connection(&rng, &many[i]);
        any_job(&rng, &it.job);
        unsigned columns = 2 + (unsigned)weir_rng_below(&rng, 500);
        unsigned lines = (unsigned)weir_rng_below(&rng, 40);
        char *view = draw(&it, columns, lines, false, round & 1);
        check_fits(view, columns, lines);
        free(view);
    }
}
END_TEST

/* Each reason in its column, with the gap behind it. */
START_TEST(every_bound_has_room)
{
    static const unsigned widths[] = { 60, 80, 100, 120 };
    struct progress_connection connection = { .now = { .name = "app1", .level = 5 } };
    struct progress_snapshot it = { .connections = &connection, .connection_count = 1 };
    connection.now.requests_budget = connection.now.execution_budget =
        (struct weir_job_budget){ 1, 2 };
    for (int bound = 0; bound < WEIR_BOUND_COUNT; bound++) {
        connection.now.bound_by = (enum weir_bound)bound;
        const char *name = weir_bound_name((enum weir_bound)bound);
        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
            char *view = draw(&it, widths[i], 20, false, false);
            const char *heading = strstr(view, "bound by");
            const char *at = strstr(strchr(heading, '\n'), name);
            ck_assert_msg(at, "%s: %s", name, view);
            const char *behind = at + strlen(name);
            ck_assert_msg(*behind == '\n' || strncmp(behind, "  ", 2) == 0, "%s: %s", name, view);
            free(view);
        }
    }
}
END_TEST

/* Ten thousand connections on the highest terminal, with colours, have room. */
START_TEST(the_longest_view_has_room)
{
    struct progress_connection *many = weir_calloc(10000, sizeof(*many));
    struct progress_snapshot it = { .connections = many, .connection_count = 10000 };
    struct weir_rng rng;
    weir_rng_init(&rng, 8, 0);
    for (size_t i = 0; i < it.connection_count; i++)
        any_connection(&rng, &many[i]);
    any_job(&rng, &it.job);
    char *view = draw(&it, 10000, 10000, true, true);
    unsigned lines = 0;
    for (const char *at = view; *at; at++)
        lines += *at == '\n';
    ck_assert_uint_eq(lines, PROGRESS_VIEW_LINES);
    free(view);
    free(many);
}
END_TEST

int main(void)
{
    setenv("TZ", "UTC", 1);
    struct suite s = suite_new("progress_view");
    suite_add(&s, at_a_hundred_columns_every_reason_is_there);
    suite_add(&s, a_wide_terminal_has_the_figures_of_the_budgets);
    suite_add(&s, at_eighty_columns_the_moment_goes_and_the_countdown_stays);
    suite_add(&s, at_sixty_columns_the_budgets_go);
    suite_add(&s, rate_and_time_keep_their_order_at_every_width);
    suite_add(&s, at_forty_columns_names_states_and_flights_are_left);
    suite_add(&s, a_low_terminal_shows_the_busiest_and_counts_the_rest);
    suite_add(&s, what_is_in_the_way_has_a_line_of_its_own);
    suite_add(&s, all_of_it_is_said_only_when_it_is_over);
    suite_add(&s, names_steer_no_terminal_and_take_one_column_a_character);
    suite_add(&s, colours_are_all_that_colours_add);
    suite_add(&s, no_view_is_wider_or_higher_than_its_terminal);
    suite_add(&s, every_bound_has_room);
    suite_add(&s, the_longest_view_has_room);
    return suite_run(&s);
}
