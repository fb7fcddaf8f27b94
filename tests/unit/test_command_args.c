/* SPDX-License-Identifier: MIT */
/*
 * What the command line of a job means. Linked with args.c and job_args.c of apps/weir. What is
 * wrong and how it is said stands in tests/cli/job.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/rng.h"
#include "job_args.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The last one that was given; texts are borrowed from the words. */
static struct weir_job_options options;
static struct job_args args;
static char words[2][64];

/* One option with its value, as argv has it; the rest has its defaults. */
static enum weir_status give(const char *name, const char *value)
{
    char *argv[] = { words[0], words[1] };
    snprintf(words[0], sizeof(words[0]), "%s", name);
    snprintf(words[1], sizeof(words[1]), "%s", value);
    weir_job_options_defaults(&options);
    enum weir_status status = job_args_parse(&args, JOB_ARGS_NEW, 2, argv, NULL);
    return status ? status : job_args_options(&args, &options, NULL);
}

START_TEST(sizes_count_in_powers_of_1024_whatever_the_unit_is_called)
{
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        { "1048576", 1048576 },         { "1024K", 1048576 },          { "1024KiB", 1048576 },
        { "24M", (size_t)24 << 20 },    { "24MiB", (size_t)24 << 20 }, { "2G", (size_t)2 << 30 },
        { "1024GiB", (size_t)1 << 40 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ck_assert_int_eq(give("--memory", cases[i].text), WEIR_OK);
        ck_assert_uint_eq(options.memory_bytes_max, cases[i].bytes);
    }
    static const char *const wrong[] = { "1048575", "1025GiB", "24MB", "24m", "24 M",
                                         "-24M",    "24Mi",    "MiB",  "",    "1.5G" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        ck_assert_int_eq(give("--memory", wrong[i]), WEIR_E_INVALID);
}
END_TEST

START_TEST(errors_are_a_number_or_a_share_and_one_takes_the_place_of_the_other)
{
    ck_assert_int_eq(give("--limit", "1"), WEIR_OK);
    ck_assert_uint_eq(options.rejected_max, 100);
    ck_assert_double_eq(options.rejected_share_max, 0);
    ck_assert_int_eq(give("--max-errors", "0"), WEIR_OK);
    ck_assert_uint_eq(options.rejected_max, 0);
    ck_assert_int_eq(give("--max-errors", "2.5%"), WEIR_OK);
    ck_assert_uint_eq(options.rejected_max, UINT64_MAX);
    ck_assert_double_eq_tol(options.rejected_share_max, 0.025, 1e-9);
    ck_assert_int_eq(give("--max-errors", "100%"), WEIR_OK);
    ck_assert_double_eq_tol(options.rejected_share_max, 1, 1e-9);
}
END_TEST

START_TEST(every_option_reaches_its_field)
{
    ck_assert_int_eq(give("--batch-size", "250"), WEIR_OK);
    ck_assert_uint_eq(options.batch_size, 250);
    ck_assert_int_eq(give("--batch-size", "auto"), WEIR_OK);
    ck_assert_uint_eq(options.batch_size, WEIR_BATCH_SIZE_AUTO);
    ck_assert_int_eq(give("--max-parallel", "7"), WEIR_OK);
    ck_assert_uint_eq(options.parallel_batches_max, 7);
    ck_assert_int_eq(give("--max-rate", "12.5"), WEIR_OK);
    ck_assert_double_eq(options.rows_per_second_max, 12.5);
    ck_assert_int_eq(give("--limit", "1000000"), WEIR_OK);
    ck_assert_uint_eq(options.rows_max, 1000000);
    ck_assert_int_eq(give("--deadline", "90m"), WEIR_OK);
    ck_assert_int_eq(options.deadline_us, 90 * WEIR_US_PER_MINUTE);
    ck_assert_int_eq(give("--key", "a,b"), WEIR_OK);
    ck_assert_str_eq(options.key, "a,b");
    ck_assert_int_eq(give("--owner", "team:01234567-89ab-cdef-0123-456789abcdef"), WEIR_OK);
    ck_assert_str_eq(options.owner, "team:01234567-89ab-cdef-0123-456789abcdef");
    ck_assert_int_eq(give("--owner", "caller"), WEIR_OK);
    ck_assert_int_eq(give("--id-from", "a,b"), WEIR_OK);
    ck_assert_str_eq(options.id_from, "a,b");
    ck_assert_int_eq(give("--mapping", "m.json"), WEIR_OK);
    ck_assert_str_eq(options.mapping, "m.json");
    ck_assert_int_eq(give("--ignore-columns", "a,b"), WEIR_OK);
    ck_assert_str_eq(options.ignore_columns, "a,b");
    ck_assert_int_eq(give("--timezone", "Europe/Berlin"), WEIR_OK);
    ck_assert_str_eq(options.timezone, "Europe/Berlin");
    ck_assert_int_eq(give("--as", "01234567-89ab-cdef-0123-456789abcdef"), WEIR_OK);
    ck_assert_str_eq(options.as, "01234567-89ab-cdef-0123-456789abcdef");
    ck_assert_int_eq(give("--bypass-logic", "async"), WEIR_OK);
    ck_assert_str_eq(options.bypass_logic, "async");
    ck_assert_int_eq(give("--format", "jsonl"), WEIR_OK);
    ck_assert_str_eq(options.format, "jsonl");
    ck_assert_int_eq(give("--tag", "load"), WEIR_OK);
    ck_assert_str_eq(options.tag, "load");
}
END_TEST

START_TEST(what_an_empty_cell_means_is_one_of_three_words)
{
    ck_assert_int_eq(give("--limit", "1"), WEIR_OK);
    ck_assert_int_eq(options.empty, WEIR_EMPTY_OMIT);
    ck_assert_int_eq(give("--empty", "omit"), WEIR_OK);
    ck_assert_int_eq(options.empty, WEIR_EMPTY_OMIT);
    ck_assert_int_eq(give("--empty", "null"), WEIR_OK);
    ck_assert_int_eq(options.empty, WEIR_EMPTY_NULL);
    ck_assert_int_eq(give("--empty", "reject"), WEIR_OK);
    ck_assert_int_eq(options.empty, WEIR_EMPTY_REJECT);
    ck_assert_int_eq(give("--empty", "Null"), WEIR_E_INVALID);
}
END_TEST

START_TEST(switches_are_off_until_given_and_constants_come_in_their_order)
{
    char texts[][24] = {
        "--with",       "a=1",   "--raw",    "--bypass-flows", "--detect-duplicates",
        "--with=b=c=d", "table", "--with=c="
    };
    char *argv[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++)
        argv[i] = texts[i];
    ck_assert_int_eq(give("--limit", "1"), WEIR_OK);
    ck_assert(!options.raw && !options.bypass_flows && !options.detect_duplicates);
    ck_assert_uint_eq(options.with_count, 0);
    weir_job_options_defaults(&options);
    ck_assert_int_eq(job_args_parse(&args, JOB_ARGS_NEW, COUNT(texts), argv, NULL), WEIR_OK);
    ck_assert_int_eq(job_args_options(&args, &options, NULL), WEIR_OK);
    ck_assert(options.raw && options.bypass_flows && options.detect_duplicates);
    ck_assert_uint_eq(options.with_count, 3);
    ck_assert_str_eq(options.with[0], "a=1");
    ck_assert_str_eq(options.with[1], "b=c=d");
    ck_assert_str_eq(options.with[2], "c=");
    ck_assert_uint_eq(args.operand_count, 1);
}
END_TEST

/* Texts that are nearly right, most of them. */
static void random_value(struct weir_rng *rng, char *text, size_t bytes)
{
    static const char letters[] = "0123456789..%KMGiBsmhd:-+ exn";
    size_t len = weir_rng_below(rng, bytes);
    for (size_t i = 0; i < len; i++)
        text[i] = letters[weir_rng_below(rng, sizeof(letters) - 1)];
    text[len] = '\0';
}

START_TEST(whatever_is_given_is_refused_or_within_its_bounds)
{
    static const char *const names[] = { "--batch-size", "--max-errors", "--max-parallel",
                                         "--max-rate",   "--limit",      "--deadline",
                                         "--memory" };
    struct weir_rng rng;
    int accepted = 0;
    weir_rng_init(&rng, 11, 0);
    for (int i = 0; i < 50000; i++) {
        char value[12];
        random_value(&rng, value, sizeof(value));
        if (give(names[weir_rng_below(&rng, COUNT(names))], value))
            continue;
        accepted++;
        must(options.batch_size >= 1 && options.batch_size <= WEIR_TARGETS_MAX);
        must(options.rejected_share_max >= 0 && options.rejected_share_max <= 1);
        must(options.rows_per_second_max >= 0 && options.rows_per_second_max <= 1e9);
        must(options.parallel_batches_max <= 520000);
        must(options.deadline_us >= 0);
        must(options.memory_bytes_max >= WEIR_JOB_MEMORY_MIN);
        must(options.memory_bytes_max <= (size_t)1 << 40);
    }
    ck_assert_int_gt(accepted, 500);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_args");
    suite_add(&s, sizes_count_in_powers_of_1024_whatever_the_unit_is_called);
    suite_add(&s, errors_are_a_number_or_a_share_and_one_takes_the_place_of_the_other);
    suite_add(&s, every_option_reaches_its_field);
    suite_add(&s, what_an_empty_cell_means_is_one_of_three_words);
    suite_add(&s, switches_are_off_until_given_and_constants_come_in_their_order);
    suite_add(&s, whatever_is_given_is_refused_or_within_its_bounds);
    return suite_run(&s);
}
