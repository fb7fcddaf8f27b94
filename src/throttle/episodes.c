/* SPDX-License-Identifier: MIT */
/* Throttle episodes; see episodes.h. */
#include "throttle/episodes.h"

#include "base/clock.h"
#include "base/mem.h"
#include "weir/stats.h"

#define EPISODE_GAP_US (30 * WEIR_US_PER_S)
#define WINDOW_US      (5 * WEIR_US_PER_MINUTE)

void weir_episodes_init(struct weir_episodes *episodes, int max)
{
    *episodes = (struct weir_episodes){ .max = (uint32_t)max };
    if (max)
        episodes->starts_us = weir_calloc((size_t)max + 1, sizeof(*episodes->starts_us));
}

void weir_episodes_release(struct weir_episodes *episodes)
{
    free(episodes->starts_us);
    *episodes = (struct weir_episodes){ 0 };
}

void weir_episodes_record(struct weir_episodes *episodes, int64_t previous_us, int64_t now_us)
{
    if (previous_us != WEIR_NEVER && now_us - previous_us < EPISODE_GAP_US)
        return;
    if (episodes->starts_us)
        episodes->starts_us[episodes->count % (episodes->max + 1)] = now_us;
    episodes->count++;
}

bool weir_episodes_exceeded(const struct weir_episodes *episodes, int64_t now_us)
{
    if (!episodes->starts_us || episodes->count <= episodes->max)
        return false;
    /* The ring is full, and its next place holds the oldest of the last max + 1. */
    int64_t oldest = episodes->starts_us[episodes->count % (episodes->max + 1)];
    return now_us - oldest < WINDOW_US;
}
