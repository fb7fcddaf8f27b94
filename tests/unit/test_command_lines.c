/* SPDX-License-Identifier: MIT */
/*
 * What the command says: figures, lines of progress, words quoted for a shell, where jobs live and
 * which exit code stands. Linked with the files of apps/weir that make them.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "exit_code.h"
#include "figures.h"
#include "job_place.h"
#include "log_echo.h"
#include "printable.h"
#include "program_path.h"
#include "progress_plain.h"
#include "records/utf8.h"
#include "resume_line.h"
#include "signal_meaning.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(counts_are_read_in_groups_of_three)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 999, "999" },
        { 1000, "1,000" },
        { 123456, "123,456" },
        { 1234567, "1,234,567" },
        { UINT64_MAX, "18,446,744,073,709,551,615" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        ck_assert_str_eq(figure_count(cases[i].count).text, cases[i].text);
}
END_TEST

START_TEST(spans_and_rates_never_show_sixty_seconds_or_nonsense)
{
    static const struct {
        double seconds;
        const char *text;
    } spans[] = {
        { -1, "0.0 s" },          { 0.04, "0.0 s" },        { 9.94, "9.9 s" },
        { 9.96, "10 s" },         { 59.4, "59 s" },         { 59.6, "1 min 00 s" },
        { 201, "3 min 21 s" },    { 3599.6, "1 h 00 min" }, { 7380, "2 h 03 min" },
        { 86399, "23 h 59 min" }, { 273600, "3 d 4 h" },    { INFINITY, "36500 d 0 h" },
    };
    for (size_t i = 0; i < COUNT(spans); i++)
        ck_assert_str_eq(figure_span(spans[i].seconds).text, spans[i].text);
    ck_assert_str_eq(figure_span(NAN).text, "0.0 s");
    ck_assert_str_eq(figure_rate(0.44).text, "0.4");
    ck_assert_str_eq(figure_rate(99.94).text, "99.9");
    ck_assert_str_eq(figure_rate(99.96).text, "100");
    ck_assert_str_eq(figure_rate(1234.5).text, "1,235");
    ck_assert_str_eq(figure_rate(-1).text, "0.0");
    ck_assert_str_eq(figure_rate(NAN).text, "0.0");
    ck_assert_uint_eq(strlen(figure_clock(DBL_MAX).text), 8);
}
END_TEST

START_TEST(a_line_of_progress_says_who_is_throttled_and_who_is_set_aside)
{
    struct progress_plain it = {
        .job = { .done = 12300,
                 .rejected = 10,
                 .rows_per_second = 1234,
                 .elapsed_s = 65,
                 .eta_s = 201,
                 .read_share = 0.5 },
        .throttled = 2,
        .first_throttled = { .name = "app2", .throttled_for_s = 25 },
        .set_aside = 1,
        .first_set_aside = { .name = "ap\033p4" },
    };
    char line[PROGRESS_PLAIN_COLUMNS + 1];
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:01:05  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left; "
                           "app2 +1 throttled for 25 s; ap?p4 set aside");
    it.job.throttled_for_s = 40;
    it.job.eta_s = -1;
    it.set_aside = 0;
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:01:05  12,300 done, 10 rejected, 1,234 rows/s, 50 % read; "
                           "all throttled for 40 s");
}
END_TEST

START_TEST(a_line_of_progress_says_whose_budget_is_used_up)
{
    struct progress_plain it = {
        .job = { .done = 590900, .elapsed_s = 80, .eta_s = -1, .read_share = 0.41 },
        .spent = 2,
        .first_spent = { .name = "app1", .bound_by = WEIR_BOUND_BUDGET_REQUESTS },
    };
    char line[PROGRESS_PLAIN_COLUMNS + 1];
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:01:20  590,900 done, 0.0 rows/s, 41 % read; "
                           "app1 +1 bound by budget requests");
    it.job.stopping = true;
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:01:20  590,900 done, 0.0 rows/s, 41 % read; "
                           "stopping, 0 requests on their way");
}
END_TEST

START_TEST(a_line_that_is_too_long_ends_with_a_whole_word)
{
    struct progress_plain it = {
        .job = { .stopping = true,
                 .requests_in_flight = 1,
                 .eta_s = -1,
                 .read_share = -1,
                 .trouble = "the name of the service cannot be resolved: nobody knows the host of "
                            "this environment" },
    };
    char line[PROGRESS_PLAIN_COLUMNS + 1];
    progress_plain_line(&it, line);
    ck_assert_str_eq(line,
                     "0:00:00  0 done, 0.0 rows/s; stopping, 1 request on its way; the name of "
                     "the service cannot be resolved: nobody knows\u2026");
}
END_TEST

START_TEST(a_job_of_several_passes_says_in_which_it_is)
{
    struct progress_plain it = {
        .job = { .pass = 2,
                 .passes = 3,
                 .pass_ended = 4100,
                 .rows_per_second = 820,
                 .eta_s = -1,
                 .elapsed_s = 5,
                 .read_share = -1 },
    };
    char line[PROGRESS_PLAIN_COLUMNS + 1];
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:00:05  pass 2 of 3: 4,100 rows; 0 done, 820 rows/s");
    it.job.pass = it.job.passes = 1;
    progress_plain_line(&it, line);
    ck_assert_str_eq(line, "0:00:05  0 done, 820 rows/s");
}
END_TEST

/* Any of the values that a double may have, the odd ones often. */
static double any_number(struct weir_rng *rng)
{
    static const double odd[] = { 0, -1, 0.5, 1, 59.99, 1e9, 1e300, INFINITY, -INFINITY, NAN };
    uint64_t pick = weir_rng_below(rng, 2 * COUNT(odd));
    return pick < COUNT(odd) ? odd[pick] : weir_rng_unit(rng) * 1e7;
}

static uint64_t any_count(struct weir_rng *rng)
{
    return weir_rng_u64(rng) >> weir_rng_below(rng, 64);
}

START_TEST(whatever_the_job_says_a_line_fits_120_columns_and_is_one_line)
{
    struct weir_rng rng;
    char name[WEIR_CONNECTION_NAME_MAX + 1];
    weir_rng_init(&rng, 7, 0);
    size_t longest = 0;
    for (int i = 0; i < 20000; i++) {
        size_t len = weir_rng_below(&rng, sizeof(name));
        for (size_t at = 0; at < len; at++)
            name[at] = (char)(1 + weir_rng_below(&rng, 255));
        for (size_t at = 0; at < len; at++) /* "nan" and "inf" must not come from here */
            name[at] = name[at] == 'n' ? 'x' : name[at];
        name[len] = '\0';
        struct progress_plain it = {
            .job = { .pass = 1 + (unsigned)weir_rng_below(&rng, 3),
                     .passes = 1 + (unsigned)weir_rng_below(&rng, 3),
                     .pass_ended = any_count(&rng),
                     .done = any_count(&rng),
                     .rejected = any_count(&rng),
                     .skipped = any_count(&rng),
                     .rows_per_second = any_number(&rng),
                     .elapsed_s = any_number(&rng),
                     .eta_s = any_number(&rng),
                     .read_share = any_number(&rng),
                     .throttled_for_s = any_number(&rng) },
            .throttled = (uint32_t)any_count(&rng),
            .first_throttled = { .name = name, .throttled_for_s = any_number(&rng) },
            .spent = (uint32_t)any_count(&rng),
            .first_spent = { .name = name,
                             .bound_by = (enum weir_bound)weir_rng_below(&rng, WEIR_BOUND_COUNT) },
            .set_aside = (uint32_t)any_count(&rng),
            .first_set_aside = { .name = name },
        };
        char line[PROGRESS_PLAIN_COLUMNS + 1];
        progress_plain_line(&it, line);
        must(strlen(line) <= PROGRESS_PLAIN_COLUMNS);
        for (const char *at = line; *at; at++)
            must((unsigned char)*at >= ' ' && *at != 0x7f);
        must(!strstr(line, "nan") && !strstr(line, "inf"));
        longest = strlen(line) > longest ? strlen(line) : longest;
    }
    ck_assert_uint_gt(longest, PROGRESS_PLAIN_COLUMNS - 4);
}
END_TEST

#define WORDS 300

/* A shell is the judge: it prints what it made of the words, a line each. */
START_TEST(a_quoted_word_is_the_same_word_to_a_shell)
{
    static const char odd[] = "'\"\\ $`!*?[]{}()<>|&;#~=%^a-\t";
    struct weir_rng rng;
    struct weir_buf script, expected;
    weir_rng_init(&rng, 3, 0);
    weir_buf_init(&script, 1024 * 1024);
    weir_buf_init(&expected, 1024 * 1024);
    weir_buf_add_text(&script, "printf '%s\\n'");
    for (int i = 0; i < WORDS; i++) {
        char word[24] = "";
        size_t len = weir_rng_below(&rng, sizeof(word));
        for (size_t at = 0; at < len; at++)
            word[at] = odd[weir_rng_below(&rng, sizeof(odd) - 1)];
        weir_buf_add_char(&script, ' ');
        resume_line_quote(&script, word);
        weir_buf_printf(&expected, "%s\n", word);
    }
    FILE *shell = popen(weir_buf_text(&script), "r");
    char *said = weir_calloc(1, expected.len + 2);
    ck_assert_uint_eq(fread(said, 1, expected.len + 1, shell), expected.len);
    ck_assert_int_eq(pclose(shell), 0);
    ck_assert_str_eq(said, weir_buf_text(&expected));
    free(said);
    weir_buf_release(&script);
    weir_buf_release(&expected);
}
END_TEST

START_TEST(a_word_that_needs_no_quotes_has_none)
{
    struct weir_buf line;
    weir_buf_init(&line, 1000);
    resume_line_quote(&line, "/home/me/.local/state/20261116-054512-account-create-7f3a");
    ck_assert_str_eq(weir_buf_text(&line),
                     "/home/me/.local/state/20261116-054512-account-create-7f3a");
    weir_buf_release(&line);
}
END_TEST

/* In the place of jobs, and nowhere else, whatever the table is called. */
START_TEST(a_job_has_a_place_of_its_own_and_is_found_by_its_name)
{
    static const char *const tables[] = { "account",
                                          "../../etc",
                                          "a/b",
                                          "",
                                          ".",
                                          "a b'c",
                                          "a_table_with_a_name_that_is_longer_than_any_name_of_a_"
                                          "table_could_ever_be_in_this_world_or_another" };
    setenv("XDG_STATE_HOME", "/state", 1);
    for (size_t i = 0; i < COUNT(tables); i++) {
        static const char root[] = "/state/weir/jobs/";
        char *directory;
        ck_assert_int_eq(job_place_new(tables[i], "create", &directory, NULL), WEIR_OK);
        ck_assert_int_eq(strncmp(directory, root, strlen(root)), 0);
        char *name = job_place_name(directory);
        ck_assert_str_eq(name, directory + strlen(root));
        ck_assert(!strpbrk(name, "/. '") && strlen(name) < 128 && strstr(name, "-create-"));
        free(name);
        free(directory);
    }
}
END_TEST

START_TEST(a_job_that_lies_elsewhere_is_named_by_its_directory)
{
    static const char *const elsewhere[] = { "/tmp/job",
                                             "/state/weir/jobsx/a",
                                             "/state/weir/jobs/a/b",
                                             "/state/weir/jobs/-a",
                                             "/state/weir/jobs/.a",
                                             "/state/weir/jobs/" };
    setenv("XDG_STATE_HOME", "/state", 1);
    for (size_t i = 0; i < COUNT(elsewhere); i++) {
        char *name = job_place_name(elsewhere[i]);
        ck_assert_str_eq(name, elsewhere[i]);
        free(name);
    }
}
END_TEST

START_TEST(without_a_home_there_is_no_place_for_jobs)
{
    char *directory = NULL;
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", "/home/me", 1);
    ck_assert_int_eq(job_place_new("account", "create", &directory, NULL), WEIR_OK);
    ck_assert_int_eq(strncmp(directory, "/home/me/.local/state/weir/jobs/", 32), 0);
    free(directory);
    unsetenv("HOME");
    struct weir_error err;
    ck_assert_int_eq(job_place_new("account", "create", &directory, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "--job-dir"));
}
END_TEST

START_TEST(of_two_exit_codes_the_graver_one_stands)
{
    static const int order[] = { 70, 7, 4, 10, 8, 3, 6, 5, 2, 1, 0 };
    for (size_t a = 0; a < COUNT(order); a++) {
        for (size_t b = 0; b < COUNT(order); b++)
            ck_assert_int_eq(exit_code_worse(order[a], order[b]), order[a < b ? a : b]);
    }
}
END_TEST

static bool hears(struct log_echo *echo, const char *event, const char *connection, int64_t now_us)
{
    const struct weir_log_field field = { "Connection", WEIR_LOG_TEXT, 0, connection };
    const struct weir_log_record record = { WEIR_LOG_WARNING, event, "words", &field, 1 };
    return log_echo_hears(echo, &record, now_us);
}

START_TEST(on_a_terminal_a_connection_is_warned_of_once_in_half_a_minute)
{
    static struct log_echo echo;
    echo = (struct log_echo){ 0 };
    ck_assert(!hears(&echo, "throttle", "app1", 5));
    ck_assert(hears(&echo, "throttle", "app1", 5 + LOG_ECHO_US - 1));
    ck_assert(!hears(&echo, "throttle", "app2", 5 + LOG_ECHO_US - 1));
    ck_assert(!hears(&echo, "fallback", "app1", 5 + LOG_ECHO_US - 1));
    ck_assert(!hears(&echo, "throttle", "app1", 5 + LOG_ECHO_US));
    for (int i = 0; i < LOG_ECHO_MAX; i++) { /* those that come push out who has been quiet */
        char name[16];
        snprintf(name, sizeof(name), "other%d", i);
        ck_assert(!hears(&echo, "throttle", name, 6 + LOG_ECHO_US));
    }
    ck_assert(!hears(&echo, "throttle", "app1", 7 + LOG_ECHO_US));
}
END_TEST

START_TEST(every_status_has_its_exit_code)
{
    static const int codes[WEIR_STATUS_COUNT] = {
        [WEIR_OK] = 0,
        [WEIR_E_INVALID] = 2,
        [WEIR_E_NOT_FOUND] = 2,
        [WEIR_E_TOO_BIG] = 2,
        [WEIR_E_DAMAGED] = 2,
        [WEIR_E_IO] = 7,
        [WEIR_E_POOL_EXHAUSTED] = 6,
        [WEIR_E_SERVICE_PROTECTION] = 6,
        [WEIR_E_NO_CONNECTION] = 4,
        [WEIR_E_CANCELLED] = 5,
        [WEIR_E_SHUTDOWN] = 70,
        [WEIR_E_STALE_LEASE] = 70,
        [WEIR_E_WOULD_WAIT] = 70,
        [WEIR_E_UNAVAILABLE] = 10,
        [WEIR_E_REFUSED] = 2,
        [WEIR_E_CREDENTIALS] = 4,
    };
    for (int status = 0; status < WEIR_STATUS_COUNT; status++) {
        struct weir_error err = { .status = (enum weir_status)status, .http_status = 404 };
        ck_assert_int_eq(exit_code_of(&err), codes[status]);
    }
    for (int http_status = 401; http_status <= 403; http_status += 2) {
        struct weir_error err = { .status = WEIR_E_REFUSED, .http_status = http_status };
        ck_assert_int_eq(exit_code_of(&err), 4);
    }
}
END_TEST

START_TEST(words_of_others_cannot_steer_a_terminal)
{
    static const struct {
        const char *text;
        const char *shown;
        size_t columns;
    } cases[] = {
        { "", "", 0 },
        { "Caf\u00e9 \U0001f600", "Caf\u00e9 \U0001f600", 6 },
        { "\033[31m\r\n\t\177", "?[31m????", 9 },
        { "\xc2\x9b"
          "2J \u00a0",
          "?2J \u00a0", 5 }, /* CSI as one character */
        { "\xc3", "?", 1 },
        { "\xc3(", "?(", 2 },
        { "\xed\xa0\x80", "???", 3 }, /* half of a pair */
        { "\xf8\x88\x80\x80\x80", "?????", 5 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weir_buf buf;
        struct weir_str text = weir_str_from(cases[i].text);
        weir_buf_init(&buf, 100);
        printable_add(&buf, text);
        ck_assert_str_eq(weir_buf_text(&buf), cases[i].shown);
        ck_assert_uint_eq(printable_columns(text), cases[i].columns);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(whatever_bytes_come_what_is_shown_is_text_without_controls)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, 0);
    for (int round = 0; round < 20000; round++) {
        char bytes[12];
        struct weir_buf buf;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)weir_rng_below(&rng, 256);
        weir_buf_init(&buf, sizeof(bytes)); /* never more than came */
        printable_add(&buf, weir_str(bytes, sizeof(bytes)));
        struct weir_str shown = weir_str(weir_buf_text(&buf), buf.len);
        ck_assert(!buf.overflow);
        ck_assert_uint_eq(weir_utf8_check(shown), shown.len);
        ck_assert_uint_eq(printable_columns(shown),
                          printable_columns(weir_str(bytes, sizeof(bytes))));
        for (size_t i = 0; i < shown.len; i++) {
            unsigned char c = (unsigned char)shown.ptr[i];
            ck_assert(c >= ' ' && c != 0x7f);
            ck_assert(c != 0xc2 || (unsigned char)shown.ptr[i + 1] >= 0xa0);
        }
        weir_buf_release(&buf);
    }
}
END_TEST

/* However many come, and whenever the first one did: only time tells them apart. */
START_TEST(a_second_signal_counts_only_a_second_after_the_first)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, 0);
    for (int round = 0; round < 1000; round++) {
        int64_t first_us = (int64_t)weir_rng_below(&rng, 1000000000);
        int64_t after_us = (int64_t)weir_rng_below(&rng, 2 * SIGNAL_APART_US);
        ck_assert_int_eq(signal_meaning(WEIR_NEVER, first_us), SIGNAL_STOP);
        ck_assert_int_eq(signal_meaning(first_us, first_us + after_us),
                         after_us < SIGNAL_APART_US ? SIGNAL_ECHO : SIGNAL_LEAVE);
    }
    ck_assert_int_eq(signal_meaning(5, 5 + SIGNAL_APART_US - 1), SIGNAL_ECHO);
    ck_assert_int_eq(signal_meaning(5, 5 + SIGNAL_APART_US), SIGNAL_LEAVE);
}
END_TEST

/* Two programs that are called weir, each in a directory of its own. */
static void make_program(const char *folder, const char *below, char *ret, size_t bytes)
{
    snprintf(ret, bytes, "%s/%s", folder, below);
    ck_assert_int_eq(mkdir(ret, 0700), 0);
    snprintf(ret, bytes, "%s/%s/weir", folder, below);
    FILE *file = fopen(ret, "we");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_int_eq(chmod(ret, 0700), 0);
}

static void must_be_found_by(const char *called, const char *search, const char *itself,
                             const char *word)
{
    char *found = program_path_of(called, search, itself);
    ck_assert_str_eq(found, word);
    free(found);
}

START_TEST(the_program_is_named_so_that_a_shell_finds_this_one)
{
    char folder[] = "/tmp/weir-lines-XXXXXX";
    char mine[128], other[128], search[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_program(folder, "mine", mine, sizeof(mine));
    make_program(folder, "other", other, sizeof(other));
    snprintf(search, sizeof(search), "/nowhere::.:%s/mine:%s/other", folder, folder);
    must_be_found_by("weir", search, mine, "weir");
    must_be_found_by(mine, search, mine, "weir");
    must_be_found_by("weir", search, other, other); /* another one comes first */
    must_be_found_by(other, search, other, other);
    must_be_found_by(mine, "/nowhere", mine, mine);
    must_be_found_by(mine, "", mine, mine);
    must_be_found_by("weir", NULL, mine, mine);
    ck_assert_int_eq(chdir(folder), 0);
    must_be_found_by("./mine/weir", "/nowhere", mine, mine);
    must_be_found_by("mine/weir", "mine:", mine, mine); /* as long as one stands here */
    must_be_found_by("weir", "/nowhere", "gone", "weir");
    ck_assert_int_eq(chdir("/"), 0);
    must_be_found_by(mine + 1, "/nowhere", mine, mine);
    unlink(mine);
    unlink(other);
    *strrchr(mine, '/') = '\0';
    *strrchr(other, '/') = '\0';
    rmdir(mine);
    rmdir(other);
    rmdir(folder);
}
END_TEST

START_TEST(a_job_is_named_by_its_directory_where_the_name_depends_on_the_environment)
{
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/home/somebody", 1);
    char *word = job_place_word("/home/somebody/.local/state/weir/jobs/nightly");
    ck_assert_str_eq(word, "nightly");
    free(word);
    setenv("XDG_STATE_HOME", "/elsewhere", 1);
    word = job_place_word("/elsewhere/weir/jobs/nightly");
    ck_assert_str_eq(word, "/elsewhere/weir/jobs/nightly");
    free(word);
}
END_TEST

/* Dates and numbers that people give are theirs. */
START_TEST(the_report_of_the_next_run_lies_beside_the_one_before)
{
    static const char *const names[][2] = {
        { "load.html", "/nowhere/load-run2.html" },
        { "load-run2.html", "/nowhere/load-run3.html" },
        { "load-run99.json", "/nowhere/load-run100.json" },
        { "2026-11-16.html", "/nowhere/2026-11-16-run2.html" },
        { "-run7.html", "/nowhere/-run7-run2.html" },
        { "a-run.html", "/nowhere/a-run-run2.html" },
        { "a-run123456.html", "/nowhere/a-run123456-run2.html" },
        { "a.b.html", "/nowhere/a.b-run2.html" },
    };
    struct weir_buf path;
    weir_buf_init(&path, 4096);
    for (size_t i = 0; i < COUNT(names); i++) {
        resume_line_next_report(&path, "/nowhere", names[i][0]);
        ck_assert_str_eq(weir_buf_text(&path), names[i][1]);
    }
    char folder[] = "/tmp/weir-lines-XXXXXX", there[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(there, sizeof(there), "%s/load-run2.html", folder);
    fclose(fopen(there, "we"));
    resume_line_next_report(&path, folder, "load.html");
    ck_assert_str_eq(weir_buf_text(&path) + strlen(folder), "/load-run3.html");
    weir_buf_release(&path);
    unlink(there);
    rmdir(folder);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_lines");
    suite_add(&s, counts_are_read_in_groups_of_three);
    suite_add(&s, spans_and_rates_never_show_sixty_seconds_or_nonsense);
    suite_add(&s, a_line_of_progress_says_who_is_throttled_and_who_is_set_aside);
    suite_add(&s, a_line_of_progress_says_whose_budget_is_used_up);
    suite_add(&s, a_line_that_is_too_long_ends_with_a_whole_word);
    suite_add(&s, a_job_of_several_passes_says_in_which_it_is);
    suite_add(&s, whatever_the_job_says_a_line_fits_120_columns_and_is_one_line);
    suite_add(&s, a_quoted_word_is_the_same_word_to_a_shell);
    suite_add(&s, a_word_that_needs_no_quotes_has_none);
    suite_add(&s, a_job_has_a_place_of_its_own_and_is_found_by_its_name);
    suite_add(&s, a_job_that_lies_elsewhere_is_named_by_its_directory);
    suite_add(&s, without_a_home_there_is_no_place_for_jobs);
    suite_add(&s, a_second_signal_counts_only_a_second_after_the_first);
    suite_add(&s, the_program_is_named_so_that_a_shell_finds_this_one);
    suite_add(&s, a_job_is_named_by_its_directory_where_the_name_depends_on_the_environment);
    suite_add(&s, the_report_of_the_next_run_lies_beside_the_one_before);
    suite_add(&s, of_two_exit_codes_the_graver_one_stands);
    suite_add(&s, on_a_terminal_a_connection_is_warned_of_once_in_half_a_minute);
    suite_add(&s, every_status_has_its_exit_code);
    suite_add(&s, words_of_others_cannot_steer_a_terminal);
    suite_add(&s, whatever_bytes_come_what_is_shown_is_text_without_controls);
    return suite_run(&s);
}
