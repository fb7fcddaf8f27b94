/* SPDX-License-Identifier: MIT */
/* Memory of things that end together. */
#include <stddef.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

#define PIECES 2000

START_TEST(pieces_are_aligned_and_do_not_overlap)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    struct weir_arena *arena = weir_arena_new((size_t)1 << 28);
    for (int round = 0; round < 20; round++) {
        static unsigned char *pieces[PIECES];
        static size_t lens[PIECES];
        for (int i = 0; i < PIECES; i++) {
            lens[i] = weir_rng_below(&rng, weir_rng_below(&rng, 50) ? 300 : 100000);
            pieces[i] = weir_arena_take(arena, lens[i]);
            must(pieces[i] && (uintptr_t)pieces[i] % _Alignof(max_align_t) == 0);
            memset(pieces[i], i & 255, lens[i]);
        }
        for (int i = 0; i < PIECES; i++) {
            for (size_t j = 0; j < lens[i]; j++)
                must(pieces[i][j] == (i & 255));
        }
        weir_arena_reset(arena);
        must(weir_arena_used(arena) == 0);
    }
    weir_arena_unref(arena);
}
END_TEST

START_TEST(the_maximum_is_kept_and_a_reset_gives_it_back)
{
    struct weir_arena *arena = weir_arena_new(1000);
    for (int round = 0; round < 3; round++) {
        ck_assert_ptr_null(weir_arena_take(arena, 1001));
        ck_assert(!weir_arena_fits(arena, SIZE_MAX));
        ck_assert_ptr_null(weir_arena_take(arena, SIZE_MAX));
        ck_assert_uint_eq(weir_arena_used(arena), 0);
        size_t taken = 0;
        while (weir_arena_fits(arena, 100)) {
            ck_assert_ptr_nonnull(weir_arena_take(arena, 100));
            taken++;
        }
        ck_assert_uint_eq(taken, 8); /* of 112 each */
        ck_assert_uint_eq(weir_arena_used(arena), 896);
        ck_assert_ptr_null(weir_arena_take(arena, 105));
        ck_assert_ptr_nonnull(weir_arena_take(arena, 96));
        weir_arena_reset(arena);
    }
    weir_arena_unref(arena);
}
END_TEST

/* The sanitizer and valgrind are the judges: freed once, and not before the last owner. */
START_TEST(the_memory_goes_with_its_last_owner)
{
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    char *piece = weir_arena_take(arena, 3 * WEIR_ARENA_BLOCK_BYTES);
    ck_assert_ptr_eq(weir_arena_ref(arena), arena);
    weir_arena_ref(arena);
    for (int i = 0; i < 3; i++) {
        piece[0] = 'x';
        piece[3 * WEIR_ARENA_BLOCK_BYTES - 1] = 'x';
        weir_arena_unref(arena);
    }
    weir_arena_unref(NULL);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("arena");
    suite_add(&s, pieces_are_aligned_and_do_not_overlap);
    suite_add(&s, the_maximum_is_kept_and_a_reset_gives_it_back);
    suite_add(&s, the_memory_goes_with_its_last_owner);
    return suite_run(&s);
}
