/* SPDX-License-Identifier: MIT */
/* Which rows a resumed run passes over, and where it begins: against a plain list of rows. */
#include "base/rng.h"
#include "bulk/skipper.h"
#include "support/journal_rig.h"

#define ROWS      400
#define ROW_BYTES 10

/* Rows 1 … ROWS, the first `first_file` of them in file 0, the others in file 1. */
static bool finished[ROWS + 2];
static uint64_t first_file;

static uint32_t file_of(uint64_t row)
{
    return row > first_file;
}

static uint64_t offset_of(uint64_t row)
{
    return ROW_BYTES * (row > first_file ? row - first_file - 1 : row - 1);
}

static void finish_range(struct weir_journal *journal, uint64_t first, uint64_t last)
{
    struct weir_range range = {
        .outcome = (enum weir_range_outcome)(first % WEIR_RANGE_OUTCOMES),
        .file = file_of(first),
        .first = first,
        .last = last,
        .offset = offset_of(first),
        .behind = offset_of(last) + ROW_BYTES,
    };
    ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
    for (uint64_t row = first; row <= last; row++)
        finished[row] = true;
}

static void reject_row(struct weir_journal *journal, uint64_t row)
{
    struct weir_reject reject = {
        .file = file_of(row),
        .row = row,
        .offset = offset_of(row),
        .class_name = weir_str_from("bad rows"),
        .bytes = weir_str_from("x"),
    };
    ck_assert_int_eq(weir_journal_add_reject(journal, &reject, NULL, NULL), WEIR_OK);
    finished[row] = true;
}

/* A journal in which some rows are finished, many of them at the beginning. */
static struct weir_journal *make_history(struct weir_rng *rng)
{
    struct weir_journal *journal = make_job();
    memset(finished, 0, sizeof(finished));
    first_file = weir_rng_below(rng, ROWS + 1);
    uint64_t gap = weir_rng_below(rng, 4) ? 1 + weir_rng_below(rng, ROWS) : ROWS + 1;
    for (uint64_t row = 1; row <= ROWS;) {
        uint64_t last = row + weir_rng_below(rng, 9);
        last = last > ROWS ? ROWS : last;
        last = file_of(row) != file_of(last) ? first_file : last;
        bool kept = row >= gap && weir_rng_below(rng, 2);
        if (!kept && weir_rng_below(rng, 4))
            finish_range(journal, row, last);
        else if (!kept)
            for (uint64_t i = row; i <= last; i++)
                reject_row(journal, i);
        row = last + 1;
    }
    finish_job(journal);
    weir_journal_free(journal);
    return open_job();
}

/* Row 1 done in both, 2 in the first, 3 rejected in the first, 4 in the second, 5 in neither. */
START_TEST(a_pass_passes_over_what_is_finished_in_it_or_rejected_in_any)
{
    static const bool expected[2][6] = { { 0, true, true, true, true, false },
                                         { 0, true, false, true, true, false } };
    make_scratch();
    struct weir_journal *journal = make_job();
    first_file = ROWS;
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct weir_range range = { .pass = pass, .first = 1, .last = 2 - pass, .behind = 9 };
        struct weir_reject reject = { .pass = pass,
                                      .row = 3 + pass,
                                      .class_name = weir_str_from("bad rows"),
                                      .bytes = weir_str_from("x") };
        ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
        ck_assert_int_eq(weir_journal_add_reject(journal, &reject, NULL, NULL), WEIR_OK);
    }
    finish_job(journal);
    weir_journal_free(journal);
    journal = open_job();
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct weir_skipper skipper;
        ck_assert_int_eq(weir_skipper_init(&skipper, weir_journal_view(journal), pass, NULL),
                         WEIR_OK);
        for (uint64_t row = 1; row <= 5; row++) {
            bool answer;
            ck_assert_int_eq(weir_skipper_ask(&skipper, row, &answer, NULL), WEIR_OK);
            ck_assert_int_eq(answer, expected[pass][row]);
        }
        weir_skipper_release(&skipper);
    }
    weir_journal_free(journal);
}
END_TEST

/* Row 1 done in the first pass, 2 and 3 skipped, 4 done, 5 skipped, 6 in none. */
START_TEST(what_the_first_pass_skipped_is_known_in_every_later_one)
{
    static const struct {
        uint64_t first, last;
        enum weir_range_outcome outcome;
    } ranges[] = { { 1, 1, WEIR_RANGE_DONE },
                   { 2, 3, WEIR_RANGE_SKIPPED },
                   { 4, 4, WEIR_RANGE_DONE },
                   { 5, 5, WEIR_RANGE_SKIPPED } };
    static const bool expected[7] = { 0, false, true, true, false, true, false };
    make_scratch();
    struct weir_journal *journal = make_job();
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct weir_range range = { .first = ranges[i].first,
                                    .last = ranges[i].last,
                                    .outcome = ranges[i].outcome,
                                    .behind = 9 };
        ck_assert_int_eq(weir_journal_add_range(journal, &range, NULL, NULL), WEIR_OK);
    }
    finish_job(journal);
    weir_journal_free(journal);
    journal = open_job();
    for (uint32_t pass = 0; pass < 3; pass++) {
        struct weir_skipper skipper;
        ck_assert_int_eq(weir_skipper_init(&skipper, weir_journal_view(journal), pass, NULL),
                         WEIR_OK);
        for (uint64_t row = 1; row <= 6; row++) {
            bool answer;
            ck_assert_int_eq(weir_skipper_ask_skipped(&skipper, row, &answer, NULL), WEIR_OK);
            ck_assert_int_eq(answer, pass > 0 && expected[row]);
        }
        weir_skipper_release(&skipper);
    }
    weir_journal_free(journal);
}
END_TEST

START_TEST(exactly_the_finished_rows_are_passed_over)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 21);
    make_scratch();
    struct weir_journal *journal = make_history(&rng);
    struct weir_skipper skipper;
    ck_assert_int_eq(weir_skipper_init(&skipper, weir_journal_view(journal), 0, NULL), WEIR_OK);
    for (uint64_t row = 1 + weir_rng_below(&rng, 3); row <= ROWS + 1;
         row += 1 + weir_rng_below(&rng, 2)) {
        bool answer;
        ck_assert_int_eq(weir_skipper_ask(&skipper, row, &answer, NULL), WEIR_OK);
        must(answer == finished[row]);
    }
    weir_skipper_release(&skipper);
    weir_journal_free(journal);
}
END_TEST

START_TEST(a_reader_that_begins_at_the_entrance_meets_every_unfinished_row)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 22);
    make_scratch();
    struct weir_journal *journal = make_history(&rng);
    struct weir_skipper skipper;
    struct weir_entrance entrance;
    uint64_t first = 1;
    while (first <= ROWS && finished[first])
        first++;
    ck_assert_int_eq(weir_skipper_init(&skipper, weir_journal_view(journal), 0, NULL), WEIR_OK);
    ck_assert_int_eq(weir_skipper_entrance(&skipper, &entrance, NULL), WEIR_OK);
    ck_assert_uint_le(entrance.number, first);
    ck_assert_uint_ge(entrance.number + 1, first); /* and not much else */
    if (entrance.number > 1) {
        bool at_end = entrance.number == first_file + 1 && entrance.file == 0; /* of its file */
        must(at_end ? entrance.offset == first_file * ROW_BYTES
                    : entrance.file == file_of(entrance.number) || entrance.number == ROWS + 1);
        must(at_end || entrance.number == ROWS + 1 ||
             entrance.offset == offset_of(entrance.number));
    }
    weir_skipper_release(&skipper);
    weir_journal_free(journal);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("skipper");
    suite_add(&s, a_pass_passes_over_what_is_finished_in_it_or_rejected_in_any);
    suite_add(&s, what_the_first_pass_skipped_is_known_in_every_later_one);
    suite_add_loop(&s, "exactly_the_finished_rows_are_passed_over",
                   exactly_the_finished_rows_are_passed_over, 40);
    suite_add_loop(&s, "a_reader_that_begins_at_the_entrance_meets_every_unfinished_row",
                   a_reader_that_begins_at_the_entrance_meets_every_unfinished_row, 40);
    return suite_run(&s);
}
