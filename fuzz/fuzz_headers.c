/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the head of an answer: a line with the status, then lines "Name: value" up to an
 * empty one, then a body. What weir_answer_read() makes of it is within its bounds, whatever
 * Retry-After and the budgets say; and Budget, which is told of it twice, goes on: its numbers are
 * numbers, and within two hours it lets somebody through.
 */
#include <math.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/fault.h"
#include "throttle/policy.h"

#define HEADERS_MAX 32
#define FALLBACK_US (7 * WEIR_US_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line without its end, terminated, taken off *text. */
static char *take_line(char **text)
{
    char *line = *text;
    char *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    *end = '\0';
    return line;
}

static size_t take_headers(char **text, struct weir_http_header *headers)
{
    size_t count = 0;
    while (**text && count < HEADERS_MAX) {
        char *line = take_line(text);
        if (!*line)
            break;
        char *colon = strchr(line, ':');
        if (colon)
            *colon = '\0';
        headers[count++] = (struct weir_http_header){ line, colon ? colon + 1 : NULL };
    }
    return count;
}

static void check(const struct weir_answer *answer)
{
    const struct weir_verdict *verdict = &answer->verdict;
    const struct weir_budget_headers *budget = &answer->budget;
    bool throttled = verdict->class_ == WEIR_CLASS_THROTTLE;
    if ((unsigned)verdict->class_ >= WEIR_CLASS_COUNT ||
        throttled != (verdict->throttle != WEIR_THROTTLE_NONE))
        abort();
    if (verdict->retry_after_us != -1 && (verdict->retry_after_us < WEIR_RETRY_AFTER_MIN_US ||
                                          verdict->retry_after_us > WEIR_RETRY_AFTER_MAX_US))
        abort();
    if (throttled && verdict->retry_after_us < 0)
        abort();
    if (verdict->retry_after_fallback && verdict->retry_after_us != FALLBACK_US)
        abort();
    if (budget->dop_hint < 0 || budget->dop_hint > WEIR_PARALLELISM_MAX ||
        budget->requests_remaining < 0 || budget->execution_remaining_us < 0 ||
        verdict->limit.value < 0 || verdict->limit.window_us < 0)
        abort();
}

static void check_budget(const struct weir_answer *answer)
{
    static const struct weir_ask plain;
    const struct weir_policy *policy = &weir_policy_budget;
    const struct weir_policy_ask ask = { .ask = &plain };
    struct weir_options options;
    struct weir_admission admission = { 0 };
    int64_t now_us = 100 * WEIR_US_PER_HOUR;
    void *state = weir_calloc(1, policy->state_bytes);
    weir_options_defaults(&options);
    policy->init(state, &options.adaptive_rate);
    for (uint64_t serial = 1; serial <= 2; serial++) {
        struct weir_policy_lease lease = { .serial = serial, .epoch = policy->epoch(state) };
        lease.leased_us = lease.sent_us = now_us;
        policy->leased(state, &lease, now_us);
        now_us += WEIR_US_PER_S;
        policy->answered(state, &lease, answer, now_us, now_us);
    }
    for (int i = 0; i < 120 && !admission.ok; i++, now_us += WEIR_US_PER_MINUTE) {
        policy->admit(state, &ask, now_us, &admission);
        if (!isfinite(policy->headroom(state, now_us)))
            abort();
    }
    if (!admission.ok)
        abort();
    free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = weir_strndup((const char *)data, size);
    char *rest = bytes;
    struct weir_http_header headers[HEADERS_MAX];
    int64_t status = 0;
    weir_str_to_int64(weir_str_from(take_line(&rest)), &status);
    struct weir_http_answer http = { .status = (int)(status & 1023), .sent = true };
    http.header_count = take_headers(&rest, headers);
    http.headers = headers;
    struct weir_fault fault;
    weir_fault_read(weir_str_from(rest), &fault);
    weir_fault_tell(&fault, &http);
    struct weir_answer answer;
    weir_answer_read(&http, FALLBACK_US, &answer);
    check(&answer);
    check_budget(&answer);
    weir_fault_release(&fault);
    free(bytes);
    return 0;
}
