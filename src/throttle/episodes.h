/* SPDX-License-Identifier: MIT */
/*
 * Throttle episodes: throttles of one connection less than 30 s apart are one. Too many of them
 * within five minutes (MaxThrottlesPerWindow) mean that going on makes no sense. Pure.
 */
#ifndef WEIR_THROTTLE_EPISODES_H
#define WEIR_THROTTLE_EPISODES_H

#include <stdbool.h>
#include <stdint.h>

struct weir_episodes {
    int64_t *starts_us; /* ring of the last `max` + 1 episodes; NULL: any number is allowed */
    uint32_t max;
    uint64_t count; /* since the beginning */
};

/* `max` 0: any number. */
void weir_episodes_init(struct weir_episodes *episodes, int max);
void weir_episodes_release(struct weir_episodes *episodes);

/* A throttle came; `previous_us` is the one before on the same connection, or WEIR_NEVER. */
void weir_episodes_record(struct weir_episodes *episodes, int64_t previous_us, int64_t now_us);

/* More than `max` episodes began within the last five minutes. */
bool weir_episodes_exceeded(const struct weir_episodes *episodes, int64_t now_us);

#endif
