/* SPDX-License-Identifier: MIT */
/* Reproducible randomness; see rng.h. The generators are published algorithms (Blackman, Vigna). */
#include "base/rng.h"

#include <sys/random.h>

#include "base/clock.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void weir_rng_init(struct weir_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t mixed_stream = stream;
    uint64_t state = seed ^ splitmix(&mixed_stream);
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t weir_rng_u64(struct weir_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t weir_rng_below(struct weir_rng *rng, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)weir_rng_u64(rng) * bound) >> 64);
}

double weir_rng_unit(struct weir_rng *rng)
{
    return (double)(weir_rng_u64(rng) >> 11) * 0x1.0p-53;
}

uint64_t weir_rng_system_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        seed = (uint64_t)weir_clock_now_us();
    return seed;
}
