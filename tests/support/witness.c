/* SPDX-License-Identifier: MIT */
/*
 * The witness: part of weir-fault, it stands where the command's requests leave and their answers
 * come home (the linker puts it before weir_link_send()), and counts what must not be. It believes
 * the answers as they stand and asks neither pool nor tracker.
 *
 *     WEIR_WITNESS=FILE   written at the end of the command:
 *                         {"sent":90,"throttled":3,"early":0,"after_failure":0,"after_look":0,
 *                          "disk_failed":false}
 *
 *     early           sent by a connection that had been told 429 and for how long to keep quiet,
 *                     before that time was over
 *     after_failure   sent when the journal's thread had told its first failure
 *     after_look      likewise, and told it before the loop's thread last looked
 *     disk_failed     a call failed as the environment had asked for
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bulk/driver.h"
#include "client/link.h"
#include "support/fault_hooks.h"

#define LINKS_MAX 64

/* The functions that it stands before, as the linker calls them. */
struct weir_call *__real_weir_link_send(struct weir_link *link, const struct weir_token *token,
                                        const struct weir_call_request *request,
                                        weir_call_done *done, void *ctx);
struct weir_call *__wrap_weir_link_send(struct weir_link *link, const struct weir_token *token,
                                        const struct weir_call_request *request,
                                        weir_call_done *done, void *ctx);
void __real_weir_driver_journal_failed(void *ctx, const struct weir_error *err);
void __wrap_weir_driver_journal_failed(void *ctx, const struct weir_error *err);
void __real_weir_driver_hear_failure(struct weir_driver *driver, int64_t now_us);
void __wrap_weir_driver_hear_failure(struct weir_driver *driver, int64_t now_us);

/* A request whose answer is waited for. */
struct seen {
    const struct weir_link *link;
    weir_call_done *done;
    void *ctx;
};

static struct {
    const struct weir_link *links[LINKS_MAX];
    int64_t quiet_until_us[LINKS_MAX];
    unsigned link_count;
    unsigned long sent;
    unsigned long throttled;
    unsigned long early;
    unsigned long after_failure;
    unsigned long after_look;
    bool failed_by_look;
    bool journal_failed; /* atomic: the journal's thread says so; all else is the loop thread's */
} witness;

static void testify(void)
{
    FILE *file = fopen(getenv("WEIR_WITNESS"), "w");
    if (!file)
        _Exit(99);
    fprintf(file,
            "{\"sent\":%lu,\"throttled\":%lu,\"early\":%lu,\"after_failure\":%lu,"
            "\"after_look\":%lu,\"disk_failed\":%s}\n",
            witness.sent, witness.throttled, witness.early, witness.after_failure,
            witness.after_look, fault_hooks_met() ? "true" : "false");
    fclose(file);
}

__attribute__((constructor)) static void swear_in(void)
{
    if (getenv("WEIR_WITNESS"))
        atexit(testify);
}

static int64_t *quiet_until(const struct weir_link *link)
{
    unsigned i = 0;
    while (i < witness.link_count && witness.links[i] != link)
        i++;
    if (i == LINKS_MAX)
        abort();
    if (i == witness.link_count)
        witness.links[witness.link_count++] = link;
    return &witness.quiet_until_us[i];
}

static int64_t told_us(const struct weir_exchange_answer *answer)
{
    for (size_t i = 0; i < answer->header_count; i++) {
        if (strcasecmp(answer->headers[i].name, "retry-after") == 0)
            return atoll(answer->headers[i].value) * WEIR_US_PER_S;
    }
    return 0;
}

static void hear(void *ctx, const struct weir_call_answer *answer)
{
    struct seen seen = *(struct seen *)ctx;
    free(ctx);
    if (answer->exchange->status == 429) {
        int64_t *until_us = quiet_until(seen.link);
        int64_t told = weir_clock_now_us() + told_us(answer->exchange);
        *until_us = told > *until_us ? told : *until_us;
        witness.throttled++;
    }
    seen.done(seen.ctx, answer);
}

struct weir_call *__wrap_weir_link_send(struct weir_link *link, const struct weir_token *token,
                                        const struct weir_call_request *request,
                                        weir_call_done *done, void *ctx)
{
    struct seen *seen = weir_calloc(1, sizeof(*seen));
    *seen = (struct seen){ .link = link, .done = done, .ctx = ctx };
    witness.sent++;
    witness.early += weir_clock_now_us() < *quiet_until(link);
    witness.after_failure += __atomic_load_n(&witness.journal_failed, __ATOMIC_SEQ_CST);
    witness.after_look += witness.failed_by_look;
    return __real_weir_link_send(link, token, request, hear, seen);
}

void __wrap_weir_driver_journal_failed(void *ctx, const struct weir_error *err)
{
    __real_weir_driver_journal_failed(ctx, err);
    __atomic_store_n(&witness.journal_failed, true, __ATOMIC_SEQ_CST);
}

/* The look before each request; that of each turn is a call within driver.c, which no linker sees.
 */
void __wrap_weir_driver_hear_failure(struct weir_driver *driver, int64_t now_us)
{
    witness.failed_by_look = __atomic_load_n(&witness.journal_failed, __ATOMIC_SEQ_CST);
    __real_weir_driver_hear_failure(driver, now_us);
}
