/* SPDX-License-Identifier: MIT */
/* Exponential, logarithm and cosine by their series; see number.h. */
#include "sim/law/number.h"

#include <string.h>

/* ln 2 in two parts: the first has so few digits that its multiples up to 1024 are exact. */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW  1.90821492927058770002e-10
#define PI       3.14159265358979323846
#define SQRT2    1.41421356237309504880

#define EXPONENT_BITS 52
#define EXPONENT_BIAS 1023

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double power_of_two(int64_t k)
{
    return from_bits((uint64_t)(k + EXPONENT_BIAS) << EXPONENT_BITS);
}

/* 1/n! and 1/(2n + 1): multiplying is quicker than dividing. */
static const double exp_terms[] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
    1.0 / 87178291200,
};
static const double log_terms[] = {
    1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
    1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
};

/* The sum of terms[i] times x to the power of i, i below `count`. */
static double series(const double *terms, int count, double x)
{
    double sum = 0;
    for (int i = count - 1; i >= 0; i--)
        sum = sum * x + terms[i];
    return sum;
}

#define SERIES(terms, x) series((terms), (int)(sizeof(terms) / sizeof(*(terms))), (x))

double sim_exp(double x)
{
    x = x > 700 ? 700 : x < -700 ? -700 : x;
    double twos = x / (LN2_HIGH + LN2_LOW);
    int64_t k = (int64_t)(twos < 0 ? twos - 0.5 : twos + 0.5);
    double rest = (x - (double)k * LN2_HIGH) - (double)k * LN2_LOW;
    return SERIES(exp_terms, rest) * power_of_two(k);
}

double sim_log(double x)
{
    uint64_t bits = to_bits(x);
    int64_t k = (int64_t)(bits >> EXPONENT_BITS) - EXPONENT_BIAS;
    double m = from_bits((bits & ((UINT64_C(1) << EXPONENT_BITS) - 1)) |
                         ((uint64_t)EXPONENT_BIAS << EXPONENT_BITS));
    if (m > SQRT2) {
        m /= 2;
        k++;
    }
    /* ln m = 2 artanh s */
    double s = (m - 1) / (m + 1);
    return (double)k * LN2_HIGH + (2 * s * SERIES(log_terms, s * s) + (double)k * LN2_LOW);
}

double sim_cos_turns(double turns)
{
    double part = turns - (double)(int64_t)turns;
    /* From half a turn away, where the sign is the other one: the angle stays within ±pi. */
    double angle = 2 * PI * (part - 0.5);
    double sum = 1;
    for (int n = 30; n > 0; n -= 2)
        sum = 1 - sum * angle * angle / (double)(n * (n - 1));
    return -sum;
}

int64_t sim_round(double x, int64_t max)
{
    if (!(x > 0))
        return 0;
    return x >= (double)max ? max : (int64_t)(x + 0.5);
}
