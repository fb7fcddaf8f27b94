/* SPDX-License-Identifier: MIT */
/*
 * A fast 64-bit hash; see hash.h. Four lanes take 16 bytes each of a stripe of 64; a lane folds its
 * 16 bytes and itself with one multiplication of 64 by 64 bits, whose halves are xored. What is
 * left at the end is padded with zeros to a stripe, and the length tells paddings apart.
 */
#include "records/hash.h"

#include <endian.h>
#include <string.h>

#define LANES        WEIR_HASH_LANES
#define STRIPE_BYTES (16 * LANES)

/* Any odd numbers with about as many ones as zeros will do. */
static const uint64_t keys[LANES + 1] = {
    UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1b54a32d192ed03), UINT64_C(0x8cb92ba72f3d8dd7),
    UINT64_C(0xaef17502108ef2d9), UINT64_C(0xf1357aea2e62a9c5),
};

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t word(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return le64toh(value);
}

/*
 * The lane is added outside of the product, too: were it a factor only, sixteen bytes that make the
 * other factor zero would wipe out all that was there before.
 */
static inline void take_stripe(uint64_t lanes[LANES], const unsigned char *bytes)
{
    for (int i = 0; i < LANES; i++) {
        uint64_t a = word(bytes + 16 * i) ^ keys[i];
        uint64_t b = word(bytes + 16 * i + 8) ^ lanes[i];
        lanes[i] = fold(a, b) + (lanes[i] << 1 | lanes[i] >> 63);
    }
}

void weir_hash_run_init(struct weir_hash_run *run)
{
    *run = (struct weir_hash_run){ .lanes = { keys[1], keys[2], keys[3], keys[4] } };
}

/* The lanes are copied: what is not a stripe yet may become one. */
static uint64_t end(struct weir_hash_run run, const unsigned char *bytes, size_t len)
{
    if (run.taken < len) {
        unsigned char rest[STRIPE_BYTES] = { 0 };
        memcpy(rest, bytes + run.taken, len - run.taken);
        take_stripe(run.lanes, rest);
    }
    uint64_t hash = fold(len ^ keys[0], keys[4]);
    for (int i = 0; i < LANES; i++)
        hash = fold(hash ^ run.lanes[i], keys[i]) ^ run.lanes[i];
    return fold(hash ^ keys[2], keys[0]);
}

uint64_t weir_hash_run_to(struct weir_hash_run *run, const void *bytes, size_t len)
{
    const unsigned char *first = bytes;
    for (; len - run->taken >= STRIPE_BYTES; run->taken += STRIPE_BYTES)
        take_stripe(run->lanes, first + run->taken);
    return end(*run, first, len);
}

uint64_t weir_hash64(const void *bytes, size_t len)
{
    struct weir_hash_run run;
    weir_hash_run_init(&run);
    return weir_hash_run_to(&run, bytes, len);
}
