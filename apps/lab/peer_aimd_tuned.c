/* SPDX-License-Identifier: MIT */
/*
 * aimd-tuned: additive increase, multiplicative decrease, slowed down to the pace of the window.
 * It starts at four for each web server, adds a quarter for every minute without a throttle, and
 * cuts to 80 %, once in a window at the most. The best that could be done with this structure by
 * hand.
 *
 * Simplified: the number of web servers is guessed from the hint.
 */
#include "base/clock.h"
#include "lab/peer.h"
#include "lab/policies.h"

#define STEP        0.25
#define STEP_US     (60 * WEIR_US_PER_S)
#define CUT         0.8
#define CUT_ONCE_US (300 * WEIR_US_PER_S)

struct tuned {
    struct lab_peer peer;
    bool started;
    int64_t step_us; /* since the last step */
    int64_t cut_us;  /* WEIR_NEVER: never */
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct tuned *tuned = state;
    *tuned = (struct tuned){ .cut_us = WEIR_NEVER };
    lab_peer_init(&tuned->peer, 4);
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    struct tuned *tuned = state;
    if (!tuned->started) {
        tuned->started = true;
        tuned->peer.level = 4 * lab_peer_servers(&tuned->peer);
        tuned->step_us = now_us;
    }
    lab_peer_admit(state, ask, now_us, ret);
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct tuned *tuned = state;
    if (!lab_peer_count(&tuned->peer, answer, now_us)) {
        for (; now_us - tuned->step_us >= STEP_US; tuned->step_us += STEP_US)
            tuned->peer.level += STEP;
        return;
    }
    tuned->step_us = now_us;
    if (tuned->cut_us != WEIR_NEVER && now_us - tuned->cut_us < CUT_ONCE_US)
        return;
    tuned->cut_us = now_us;
    tuned->peer.epoch++;
    tuned->peer.level = tuned->peer.level * CUT > 1 ? tuned->peer.level * CUT : 1;
}

const struct weir_policy lab_policy_aimd_tuned = {
    .name = "aimd-tuned",
    .state_bytes = sizeof(struct tuned),
    .lanes_max = 1,
    .init = init,
    .admit = admit,
    .leased = lab_peer_leased,
    .answered = answered,
    .hint = lab_peer_hint,
    .reset = lab_peer_reset,
    .epoch = lab_peer_epoch,
    .level = lab_peer_level,
    .stats = lab_peer_stats,
};
