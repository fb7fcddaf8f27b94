/* SPDX-License-Identifier: MIT */
/*
 * Why rows would be rejected, counted: messages that differ in nothing but the value (what stands
 * in quotes, and numbers) are one reason. Pure.
 */
#ifndef WEIR_APP_REASONS_H
#define WEIR_APP_REASONS_H

#include "bulk/job_check.h"

/* Reasons that are told apart; what comes later is counted together. */
#define REASONS_MAX 64

struct reason {
    const struct weir_check_refusal *first; /* the first row that has it */
    uint64_t rows;
    char *key;
};

/* Released with reasons_release(). */
struct reasons {
    struct reason list[REASONS_MAX]; /* the most frequent first; alike: in the order of the input */
    size_t count;
    uint64_t others; /* rows with a reason that is not in the list */
};

/*
 * What rows that are refused for the same reason have in common: the column, and the message
 * without what differs from row to row: values in quotes, numbers, ids, and guesses of what was
 * meant. The caller frees it.
 */
char *reasons_key(struct weir_str column, struct weir_str message);

/* The refusals are borrowed. */
void reasons_init(struct reasons *reasons, const struct weir_check_refusal *refusals, size_t count);
void reasons_release(struct reasons *reasons);

#endif
