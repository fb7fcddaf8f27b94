/* SPDX-License-Identifier: MIT */
/*
 * The frame of every test program: one suite, run case by case in processes of their own, reported
 * as TAP on standard output. Time-outs are Meson's.
 *
 *     int main(void)
 *     {
 *         struct suite s = suite_new("tracker");
 *         suite_add(&s, record_blocks_until_expiry);
 *         return suite_run(&s);
 *     }
 */
#ifndef WEIR_TESTS_SUITE_H
#define WEIR_TESTS_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct suite {
    Suite *suite;
    const char *name;
};

static inline struct suite suite_new(const char *name)
{
    return (struct suite){ suite_create(name), name };
}

/* One case a test, named like its function, so that the report names what failed. */
#define suite_add(s, function) suite_add_named((s), #function, function)

static inline void suite_add_named(struct suite *s, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, test);
    suite_add_tcase(s->suite, tcase);
}

/* The same function for i = 0 .. count - 1, as a case each. */
static inline void suite_add_loop(struct suite *s, const char *name, const TTest *test, int count)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, test, 0, count);
    suite_add_tcase(s->suite, tcase);
}

/*
 * ck_assert() for hot loops: it writes to a pipe each time it passes, which with millions of checks
 * is most of the run.
 */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

/* For tests/torture, in the words of tests/faults/tally.py: what was judged, after how many faults.
 */
static inline void suite_tally(unsigned long jobs, unsigned long faults)
{
    printf("# tally {\"jobs\": %lu, \"faults\": %lu}\n", jobs, faults);
    fflush(stdout);
}

static inline int suite_run(struct suite *s)
{
    SRunner *runner = srunner_create(s->suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
