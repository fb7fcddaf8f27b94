/* SPDX-License-Identifier: MIT */
/* A small throttling service in virtual time; see service.h. */
#include "support/service.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

void service_init(struct service *service, uint32_t users, struct service_limits limits)
{
    service->limits = limits;
    service->user_count = users;
    service->users = weir_calloc(users, sizeof(*service->users));
    for (uint32_t i = 0; i < users; i++)
        service->users[i].penalty_until_us = INT64_MIN;
}

void service_release(struct service *service)
{
    for (uint32_t i = 0; i < service->user_count; i++)
        free(service->users[i].charges);
    free(service->users);
    *service = (struct service){ 0 };
}

static void forget_old(struct service_user *user, int64_t before_us)
{
    uint32_t old = 0;
    while (old < user->charge_count && user->charges[old].at_us <= before_us)
        old++;
    if (!old)
        return;
    user->charge_count -= old;
    memmove(user->charges, user->charges + old, user->charge_count * sizeof(*user->charges));
}

/* How long until at most `requests` charges with `execution_us` in all are left in the window. */
static int64_t time_until_room(const struct service *service, const struct service_user *user,
                               uint32_t requests, int64_t execution_us, int64_t now_us)
{
    int64_t execution = 0;
    for (uint32_t left = 0; left < user->charge_count; left++) {
        const struct service_charge *charge = &user->charges[user->charge_count - 1 - left];
        execution += charge->execution_us;
        if (left + 1 > requests || execution > execution_us)
            return charge->at_us + service->limits.window_us - now_us;
    }
    return 0;
}

static bool refuse(struct service_user *user, enum weir_throttle_kind kind, uint32_t code,
                   int64_t retry_after_us, int64_t now_us, struct weir_answer *ret)
{
    if (retry_after_us < WEIR_US_PER_S)
        retry_after_us = WEIR_US_PER_S;
    user->throttled++;
    if (now_us >= user->penalty_until_us)
        user->penalty_heard_us = now_us + SERVICE_REFUSAL_US;
    user->penalty_until_us = now_us + retry_after_us;
    *ret = (struct weir_answer){
        .verdict = { .class_ = WEIR_CLASS_THROTTLE,
                     .outcome = WEIR_OUTCOME_NOT_EXECUTED,
                     .throttle = kind,
                     .http_status = 429,
                     .code = code,
                     .retry_after_us = retry_after_us },
    };
    return false;
}

bool service_arrive(struct service *service, uint32_t index, int64_t now_us,
                    struct weir_answer *ret)
{
    const struct service_limits *limits = &service->limits;
    struct service_user *user = &service->users[index];
    forget_old(user, now_us - limits->window_us);
    if (now_us < user->penalty_until_us && now_us > user->penalty_heard_us)
        user->sent_while_throttled++;

    int64_t execution = 0;
    for (uint32_t i = 0; i < user->charge_count; i++)
        execution += user->charges[i].execution_us;
    if (user->running >= limits->concurrent)
        return refuse(user, WEIR_THROTTLE_CONCURRENCY, 0x80072326, 0, now_us, ret);
    if (user->charge_count + user->running >= limits->requests)
        return refuse(user, WEIR_THROTTLE_REQUESTS, 0x80072322,
                      time_until_room(service, user, limits->requests - 1, INT64_MAX, now_us),
                      now_us, ret);
    if (execution >= limits->execution_us)
        return refuse(
            user, WEIR_THROTTLE_EXECUTION_TIME, 0x80072321,
            time_until_room(service, user, UINT32_MAX - 1, limits->execution_us - 1, now_us),
            now_us, ret);
    user->accepted++;
    if (++user->running > user->running_max)
        user->running_max = user->running;
    return true;
}

void service_finish(struct service *service, uint32_t index, int64_t duration_us, int64_t now_us)
{
    struct service_user *user = &service->users[index];
    user->running--;
    if (user->charge_count == user->charge_capacity) {
        user->charge_capacity = user->charge_capacity ? user->charge_capacity * 2 : 64;
        user->charges = weir_realloc(user->charges, user->charge_capacity, sizeof(*user->charges));
    }
    user->charges[user->charge_count++] = (struct service_charge){ now_us, duration_us };
}
