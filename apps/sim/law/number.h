/* SPDX-License-Identifier: MIT */
/*
 * The few functions of real numbers that the law needs, made of + - * / alone, so that a draw is
 * the same to the last bit with every compiler, C library and processor (a C library is free to
 * choose another variant of exp() on a newer processor). Relative error below 1e-13 where they are
 * used.
 */
#ifndef SIM_LAW_NUMBER_H
#define SIM_LAW_NUMBER_H

#include <stdint.h>

/* e to the power of x; x beyond ±700 is taken as ±700. */
double sim_exp(double x);

/* The natural logarithm of a normal number above 0. */
double sim_log(double x);

/* The cosine of an angle in full turns: 0 and 1 give 1, 0.5 gives -1; turns from 0 to 1e9. */
double sim_cos_turns(double turns);

/* Rounded to the nearest integer, halves up, kept within [0, max]. */
int64_t sim_round(double x, int64_t max);

#endif
