/* SPDX-License-Identifier: MIT */
/*
 * The witness: part of weir-fault, it stands where the command's requests leave and their answers
 * come home (the linker puts it before weir_link_send()), and counts what must not be. It believes
 * the answers as they stand and asks neither pool nor tracker.
 *
 *     WEIR_WITNESS=FILE           written at the end of the command:
 *                                 {"sent":90,"throttled":3,"longest_s":5,"early":0,"probes":1,
 *                                  "after_failure":0,"after_look":0,"disk_failed":false}
 *     WEIR_WITNESS_BUFFER_MS=N    the command has promised to keep quiet for so much longer than it
 *                                 is told to (0)
 *
 *     longest_s       the longest that a 429 has told anybody to keep quiet: what the witness
 *                     could not read is 0, so a test can see that it was not blind
 *     early           sent by a connection that had been told 429 and for how long to keep quiet,
 *                     before that time, and the buffer, was over
 *     probes          the most that a connection sent after a 429 before one of them was answered
 *     after_failure   sent when the journal's thread had told its first failure
 *     after_look      likewise, and told it before the loop's thread last looked
 *     disk_failed     a call failed as the environment had asked for
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* A connection. */
struct suspect {
    const struct weir_link *link;
    int64_t quiet_until_us;
    bool closed;          /* told 429, and nothing that it sent afterwards has succeeded */
    unsigned long probes; /* on their way, sent while it was closed */
};

/* A request whose answer is waited for. */
struct seen {
    struct suspect *suspect;
    bool probe;
    weir_call_done *done;
    void *ctx;
};

static struct {
    struct suspect suspects[LINKS_MAX];
    unsigned suspect_count;
    int64_t buffer_us;
    int64_t longest_s;
    unsigned long sent;
    unsigned long throttled;
    unsigned long early;
    unsigned long probes;
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
            "{\"sent\":%lu,\"throttled\":%lu,\"longest_s\":%" PRId64
            ",\"early\":%lu,\"probes\":%lu,"
            "\"after_failure\":%lu,\"after_look\":%lu,\"disk_failed\":%s}\n",
            witness.sent, witness.throttled, witness.longest_s, witness.early, witness.probes,
            witness.after_failure, witness.after_look, fault_hooks_met() ? "true" : "false");
    fclose(file);
}

__attribute__((constructor)) static void swear_in(void)
{
    const char *buffer = getenv("WEIR_WITNESS_BUFFER_MS");
    witness.buffer_us = buffer ? atoll(buffer) * WEIR_US_PER_MS : 0;
    if (getenv("WEIR_WITNESS"))
        atexit(testify);
}

static struct suspect *suspect_of(const struct weir_link *link)
{
    unsigned i = 0;
    while (i < witness.suspect_count && witness.suspects[i].link != link)
        i++;
    if (i == LINKS_MAX)
        abort();
    if (i == witness.suspect_count)
        witness.suspects[witness.suspect_count++].link = link;
    return &witness.suspects[i];
}

static const char *header(const struct weir_exchange_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->header_count; i++) {
        if (strcasecmp(answer->headers[i].name, name) == 0)
            return answer->headers[i].value;
    }
    return "";
}

/* As the simulator writes it. Read by the system, not by the function that is on trial. */
static bool read_date(const char *text, int64_t *ret_s)
{
    struct tm tm = { 0 };
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (!end || *end)
        return false;
    *ret_s = timegm(&tm);
    return true;
}

/* Seconds, or a date by the service's own clock: that of the command may be a day off. */
static int64_t told_s(const struct weir_exchange_answer *answer)
{
    const char *value = header(answer, "retry-after");
    int64_t until_s;
    int64_t now_s;
    if (read_date(value, &until_s) && read_date(header(answer, "date"), &now_s))
        return until_s - now_s;
    return atoll(value);
}

static void hear_throttle(struct suspect *suspect, const struct weir_exchange_answer *answer)
{
    int64_t told = told_s(answer);
    int64_t until_us = weir_clock_now_us() + told * WEIR_US_PER_S + witness.buffer_us;
    if (until_us > suspect->quiet_until_us)
        suspect->quiet_until_us = until_us;
    if (told > witness.longest_s)
        witness.longest_s = told;
    suspect->closed = true;
    witness.throttled++;
}

static void hear(void *ctx, const struct weir_call_answer *answer)
{
    struct seen seen = *(struct seen *)ctx;
    free(ctx);
    if (seen.probe) {
        seen.suspect->probes = 0;
        seen.suspect->closed = false;
    }
    if (answer->exchange->status == 429)
        hear_throttle(seen.suspect, answer->exchange);
    seen.done(seen.ctx, answer);
}

static void watch(struct seen *seen)
{
    struct suspect *suspect = seen->suspect;
    witness.sent++;
    witness.early += weir_clock_now_us() < suspect->quiet_until_us;
    witness.after_failure += __atomic_load_n(&witness.journal_failed, __ATOMIC_SEQ_CST);
    witness.after_look += witness.failed_by_look;
    seen->probe = suspect->closed;
    suspect->probes += seen->probe;
    if (suspect->probes > witness.probes)
        witness.probes = suspect->probes;
}

struct weir_call *__wrap_weir_link_send(struct weir_link *link, const struct weir_token *token,
                                        const struct weir_call_request *request,
                                        weir_call_done *done, void *ctx)
{
    struct seen *seen = weir_calloc(1, sizeof(*seen));
    *seen = (struct seen){ .suspect = suspect_of(link), .done = done, .ctx = ctx };
    watch(seen);
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
