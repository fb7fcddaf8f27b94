/* SPDX-License-Identifier: MIT */
/* CRC-32C: published values, the two ways of computing it against each other, and what it finds. */
#include "base/crc32c.h"
#include "base/rng.h"
#include "support/suite.h"

#include <string.h>

START_TEST(published_checksums_come_out)
{
    unsigned char bytes[32];
    ck_assert_uint_eq(weir_crc32c(0, "", 0), 0);
    ck_assert_uint_eq(weir_crc32c(0, "123456789", 9), 0xe3069283);
    memset(bytes, 0, sizeof(bytes));
    ck_assert_uint_eq(weir_crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof(bytes));
    ck_assert_uint_eq(weir_crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    ck_assert_uint_eq(weir_crc32c(0, bytes, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(31 - i);
    ck_assert_uint_eq(weir_crc32c(0, bytes, 32), 0x113fdb5c);
}
END_TEST

static void fill(struct weir_rng *rng, unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)weir_rng_u64(rng);
}

START_TEST(instruction_and_table_agree_at_every_length_and_alignment_and_in_pieces)
{
    struct weir_rng rng;
    unsigned char bytes[400];
    weir_rng_init(&rng, 1, 0);
    fill(&rng, bytes, sizeof(bytes));
    for (size_t from = 0; from < 16; from++) {
        for (size_t len = 0; len < 300; len++) {
            uint32_t whole = weir_crc32c(0, bytes + from, len);
            size_t cut = weir_rng_below(&rng, len + 1);
            must(whole == weir_crc32c_by_table(0, bytes + from, len));
            uint32_t first = weir_crc32c(0, bytes + from, cut);
            must(whole == weir_crc32c(first, bytes + from + cut, len - cut));
        }
    }
}
END_TEST

START_TEST(every_flipped_bit_is_found)
{
    struct weir_rng rng;
    unsigned char bytes[1700];
    weir_rng_init(&rng, 2, 0);
    fill(&rng, bytes, sizeof(bytes));
    uint32_t right = weir_crc32c(0, bytes, sizeof(bytes));
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        must(weir_crc32c(0, bytes, sizeof(bytes)) != right);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("crc32c");
    suite_add(&s, published_checksums_come_out);
    suite_add(&s, instruction_and_table_agree_at_every_length_and_alignment_and_in_pieces);
    suite_add(&s, every_flipped_bit_is_found);
    return suite_run(&s);
}
