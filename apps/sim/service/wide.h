/* SPDX-License-Identifier: MIT */
/*
 * Numbers of up to 38 digits: decimals times a power of ten, and the bounds of columns. Aligned
 * like any other member of a value, so that values stay small.
 */
#ifndef SIM_SERVICE_WIDE_H
#define SIM_SERVICE_WIDE_H

typedef __int128 sim_wide __attribute__((aligned(8)));

#define SIM_WIDE_MAX ((sim_wide)(((unsigned __int128)1 << 127) - 1))

/* 10^digits; at most 38 fit. */
static inline sim_wide sim_wide_power(unsigned digits)
{
    sim_wide power = 1;
    while (digits--)
        power *= 10;
    return power;
}

#endif
