/* SPDX-License-Identifier: MIT */
/* Ids that are made for rows. */
#include "protocol/row_id.h"

#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

static struct weir_row_ids random_ids(struct weir_rng *rng)
{
    struct weir_row_ids ids = { .started_s =
                                    1700000000 + (int64_t)weir_rng_below(rng, 2000000000) };
    for (size_t i = 0; i < sizeof(ids.job); i++)
        ids.job[i] = (uint8_t)weir_rng_below(rng, 256);
    return ids;
}

/*
 * As SQL Server compares: the last group first, then the fourth, and the other three from behind,
 * each by its value; the bytes of those lie the other way round in its memory.
 */
static int compare(const struct weir_guid *a, const struct weir_guid *b)
{
    static const int order[] = { 10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0 };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        int difference = (int)a->bytes[order[i]] - (int)b->bytes[order[i]];
        if (difference)
            return difference;
    }
    return 0;
}

static uint64_t count_of(const struct weir_guid *id)
{
    uint64_t count = 0;
    for (int i = 10; i < 16; i++)
        count = count << 8 | id->bytes[i];
    return count;
}

START_TEST(an_id_looks_as_it_is_written_down)
{
    struct weir_row_ids ids = { { 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0xff, 0xee, 0xff, 0xee },
                                0x65000000 };
    struct weir_guid id = weir_row_ids_make(&ids, 0x12345);
    char text[WEIR_GUID_TEXT];
    ck_assert_str_eq(weir_guid_print(&id, text), "ffeeddcc-bbaa-8fee-bfee-650000012345");
}
END_TEST

START_TEST(every_id_has_version_8_and_the_variant_and_the_bytes_of_its_job)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    for (int i = 0; i < 100000; i++) {
        struct weir_row_ids ids = random_ids(&rng);
        uint64_t row = weir_rng_below(&rng, UINT64_C(1) << (1 + weir_rng_below(&rng, 40)));
        struct weir_guid id = weir_row_ids_make(&ids, row);
        must(id.bytes[6] >> 4 == 8);
        must(id.bytes[8] >> 6 == 2);
        for (size_t k = 0; k < sizeof(ids.job); k++)
            must(((id.bytes[k] ^ ids.job[k]) & (k == 6 ? 0x0f : k == 8 ? 0x3f : 0xff)) == 0);
        must(count_of(&id) - ((uint64_t)ids.started_s << 16) == row);
    }
}
END_TEST

START_TEST(ids_of_a_job_ascend_as_sql_server_compares_them)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 2, 0);
    for (int job = 0; job < 50; job++) {
        struct weir_row_ids ids = random_ids(&rng);
        uint64_t row = 1;
        struct weir_guid before = weir_row_ids_make(&ids, row);
        while (row < UINT64_C(1) << 40) {
            row += 1 + weir_rng_below(&rng, row);
            struct weir_guid id = weir_row_ids_make(&ids, row);
            must(compare(&before, &id) < 0);
            before = id;
        }
    }
}
END_TEST

/* Also over the borders of the six bytes: 2^8, 2^16, 2^32, 2^40. */
START_TEST(neighbours_ascend)
{
    struct weir_row_ids ids = { { 0 }, 1763270000 };
    for (int bits = 0; bits <= 40; bits++) {
        for (uint64_t d = 0; d < 4; d++) {
            uint64_t row = (UINT64_C(1) << bits) + d;
            struct weir_guid a = weir_row_ids_make(&ids, row - 1);
            struct weir_guid b = weir_row_ids_make(&ids, row);
            ck_assert_int_lt(compare(&a, &b), 0);
            ck_assert(!weir_guid_equal(&a, &b));
        }
    }
}
END_TEST

static int compare_counts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

START_TEST(a_million_rows_have_a_million_ids_and_again_the_same_ones)
{
    enum {
        ROWS = 1000000
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    struct weir_row_ids ids = random_ids(&rng);
    struct weir_row_ids same = ids;
    uint64_t *counts = weir_calloc(ROWS, sizeof(*counts));
    for (uint64_t row = 0; row < ROWS; row++) {
        struct weir_guid id = weir_row_ids_make(&ids, row * 1048573 + 1);
        struct weir_guid again = weir_row_ids_make(&same, row * 1048573 + 1);
        must(weir_guid_equal(&id, &again));
        counts[row] = count_of(&id);
    }
    qsort(counts, ROWS, sizeof(*counts), compare_counts);
    for (size_t i = 1; i < ROWS; i++)
        must(counts[i] != counts[i - 1]);
    free(counts);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("row_id");
    suite_add(&s, an_id_looks_as_it_is_written_down);
    suite_add(&s, every_id_has_version_8_and_the_variant_and_the_bytes_of_its_job);
    suite_add(&s, ids_of_a_job_ascend_as_sql_server_compares_them);
    suite_add(&s, neighbours_ascend);
    suite_add(&s, a_million_rows_have_a_million_ids_and_again_the_same_ones);
    return suite_run(&s);
}
