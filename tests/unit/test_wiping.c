/* SPDX-License-Identifier: MIT */
/* The allocator for what secrets pass through: nothing is lost on the way, nothing is left behind.
 */
#include "base/wiping.h"

#include "base/rng.h"
#include "support/suite.h"

#define LARGE_BYTES 65536

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

START_TEST(what_grows_keeps_what_it_has)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 1);
    for (int round = 0; round < 500; round++) {
        char with = (char)round;
        size_t held = 1 + (size_t)weir_rng_below(&rng, 64);
        char *memory = weir_wiping_malloc(held);
        fill(memory, 0, held, with);
        while (held < (size_t)2 * LARGE_BYTES) {
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
    suite_add(&s, nothing_is_fine);
    return suite_run(&s);
}
