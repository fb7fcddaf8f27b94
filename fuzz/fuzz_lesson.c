/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what the policy Budget is to have learned in an earlier run: a journal may have been
 * written by anybody. Eight bytes are its age in microseconds; the rest is the lesson. It must not
 * crash; what is refused changes nothing; what is taken leaves a policy whose numbers are numbers,
 * that lets somebody through within the time that a throttle can last, and that keeps itself again.
 */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "bulk/lessons.h"
#include "pool/core_parts.h"

#define NOW_US  (100 * WEIR_US_PER_HOUR)
#define WALL_US INT64_C(1700000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

static void check_headroom(const struct weir_core *core, int64_t now_us)
{
    double headroom = core->policy->headroom(weir_core_policy_state(core, 0), now_us);
    need(isfinite(headroom) && headroom >= 0 && headroom <= 1);
}

/* It goes on: within two hours, looked at once a minute, somebody is let through. */
static void check_progress(struct weir_core *core)
{
    struct weir_grant grant = { .status = WEIR_E_WOULD_WAIT };
    int64_t now_us = NOW_US;
    for (int i = 0; i < 120 && grant.status != WEIR_OK; i++, now_us += WEIR_US_PER_MINUTE) {
        check_headroom(core, now_us);
        weir_core_try(core, NULL, now_us, &grant);
    }
    need(grant.status == WEIR_OK);
}

static void check_note(const struct weir_core *core, const struct weir_options *settings)
{
    struct weir_buf note;
    weir_buf_init(&note, 2 * WEIR_LESSON_BYTES_MAX);
    if (weir_lesson_print(core, settings, 0, NOW_US, WALL_US, &note))
        need(!note.overflow && note.len > 0);
    weir_buf_release(&note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_connection_options connection = { .name = "A", .client_id = "a" };
    struct weir_options settings;
    struct weir_core core;
    uint64_t age_us = 0;
    if (size < sizeof(age_us))
        return 0;
    memcpy(&age_us, data, sizeof(age_us));
    age_us %= (uint64_t)WEIR_LESSON_AGE_MAX_US + 1;
    data += sizeof(age_us);
    size -= sizeof(age_us);
    weir_options_defaults(&settings);
    settings.connections = &connection;
    settings.connection_count = 1;
    settings.adaptive_rate.policy = "Budget";
    need(weir_core_init(&core, &settings, NULL, 1, false, NULL) == WEIR_OK);
    void *state = weir_core_policy_state(&core, 0);
    void *before = weir_calloc(1, core.policy->state_bytes);
    memcpy(before, state, core.policy->state_bytes);
    char *copy = weir_calloc(size ? size : 1, 1); /* of just this size */
    memcpy(copy, data, size);
    bool taken = core.policy->load(state, copy, size, (int64_t)age_us, NOW_US);
    need(taken || memcmp(before, state, core.policy->state_bytes) == 0);
    free(copy);
    free(before);
    check_note(&core, &settings);
    check_progress(&core);
    weir_core_release(&core);
    return 0;
}
