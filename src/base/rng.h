/* SPDX-License-Identifier: MIT */
/*
 * Reproducible randomness: xoshiro256** seeded through splitmix64. A generator is an argument like
 * the time; streams of one seed are independent, so that a new consumer does not shift the draws of
 * the others. Not for secrets.
 */
#ifndef WEIR_BASE_RNG_H
#define WEIR_BASE_RNG_H

#include <stdint.h>

struct weir_rng {
    uint64_t s[4];
};

void weir_rng_init(struct weir_rng *rng, uint64_t seed, uint64_t stream);

uint64_t weir_rng_u64(struct weir_rng *rng);

/* Uniform in [0, bound); 0 if bound is 0. */
uint64_t weir_rng_below(struct weir_rng *rng, uint64_t bound);

/* Uniform in [0, 1). */
double weir_rng_unit(struct weir_rng *rng);

/* A seed from the operating system; for the edge of the program only. */
uint64_t weir_rng_system_seed(void);

#endif
