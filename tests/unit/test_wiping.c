/* SPDX-License-Identifier: MIT */
/* The allocator for what secrets pass through: nothing is lost on the way, nothing is left behind.
 */
#include "base/wiping.h"

#include "base/rng.h"
#include "support/suite.h"

#define SPARE_BYTES 65536

static void fill(char *memory, size_t from, size_t to, char with)
{
    for (size_t i = from; i < to; i++)
        memory[i] = (char)(with + (char)(i % 61));
}

static void must_hold(const char *memory, size_t to, char with)
{
    for (size_t i = 0; i < to; i++)
        must(memory[i] == (char)(with + (char)(i % 61)));
}

/* As libcurl puts a request together: doubled from 32 bytes on, then as large as it takes. */
START_TEST(what_grows_keeps_what_it_has)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 1);
    for (int round = 0; round < 500; round++) {
        char with = (char)round;
        size_t held = 1 + (size_t)weir_rng_below(&rng, 64);
        char *memory = weir_wiping_malloc(held);
        fill(memory, 0, held, with);
        while (held < (size_t)2 * SPARE_BYTES) {
            size_t more = held + (size_t)weir_rng_below(&rng, 2 * held) + 1;
            memory = weir_wiping_realloc(memory, more);
            ck_assert_ptr_nonnull(memory);
            must_hold(memory, held, with);
            fill(memory, held, more, with);
            held = more;
        }
        memory = weir_wiping_realloc(memory, 100);
        must_hold(memory, 100, with);
        weir_wiping_free(memory);
    }
}
END_TEST

/* The block that is kept is given to the next who asks for about so much, and is clean. */
START_TEST(a_block_that_is_kept_was_wiped)
{
    for (int round = 0; round < 3; round++) {
        char *memory = weir_wiping_realloc(weir_wiping_calloc(1, 10), SPARE_BYTES - 1000);
        if (round) {
            for (size_t i = 32; i < SPARE_BYTES - 1000; i++)
                must(memory[i] == 0);
        }
        memory = weir_wiping_realloc(memory, SPARE_BYTES);
        memset(memory, 'x', SPARE_BYTES);
        weir_wiping_free(memory);
    }
}
END_TEST

START_TEST(two_at_a_time_are_two)
{
    char *one = weir_wiping_realloc(NULL, SPARE_BYTES);
    char *two = weir_wiping_realloc(NULL, SPARE_BYTES);
    ck_assert_ptr_ne(one, two);
    weir_wiping_free(one);
    weir_wiping_free(two);
    one = weir_wiping_realloc(NULL, SPARE_BYTES);
    two = weir_wiping_realloc(NULL, SPARE_BYTES);
    ck_assert_ptr_ne(one, two);
    memset(one, 1, SPARE_BYTES);
    memset(two, 2, SPARE_BYTES);
    must(one[SPARE_BYTES - 1] == 1 && two[0] == 2);
    weir_wiping_free(one);
    weir_wiping_free(two);
}
END_TEST

START_TEST(nothing_is_fine)
{
    weir_wiping_free(NULL);
    char *text = weir_wiping_strdup("text");
    ck_assert_str_eq(text, "text");
    weir_wiping_free(text);
    char *zeros = weir_wiping_calloc(10, 10);
    for (int i = 0; i < 100; i++)
        must(zeros[i] == 0);
    weir_wiping_free(zeros);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("wiping");
    suite_add(&s, what_grows_keeps_what_it_has);
    suite_add(&s, a_block_that_is_kept_was_wiped);
    suite_add(&s, two_at_a_time_are_two);
    suite_add(&s, nothing_is_fine);
    return suite_run(&s);
}
