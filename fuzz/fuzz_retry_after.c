/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what an answer says of waiting, a line each: Retry-After, Date, retry-after-ms,
 * x-ms-retry-after-ms. The wait is between a second and an hour whatever they say; a fallback is
 * used if none can be; it does not depend on what time it is here; and what is a date is one in
 * whichever form it is written.
 */
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "throttle/http_date.h"
#include "throttle/number.h"
#include "throttle/signal.h"

#define HEADERS     4
#define FALLBACK_US (7 * WEIR_US_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

static char *take_line(char **text)
{
    char *line = *text;
    char *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

static void check(const struct weir_http_header *headers, size_t count)
{
    struct weir_retry_after with = weir_signal_retry_after(headers, count, FALLBACK_US);
    struct weir_retry_after without = weir_signal_retry_after(headers, count, -1);
    need(with.us >= WEIR_RETRY_AFTER_MIN_US && with.us <= WEIR_RETRY_AFTER_MAX_US);
    need(!with.clamped || with.us == WEIR_RETRY_AFTER_MAX_US);
    need(with.fallback == (without.us == -1));
    need(with.fallback ? with.us == FALLBACK_US : with.us == without.us);
}

/* A date that was understood is understood again from the form that everybody writes, and the
   calendar of the system agrees. */
static void check_date(struct weir_str text)
{
    int64_t s;
    int64_t again;
    char printed[64];
    struct tm tm;
    if (!weir_signal_parse_http_date(text, &s))
        return;
    time_t t = (time_t)s;
    need(gmtime_r(&t, &tm) != NULL);
    need(strftime(printed, sizeof(printed), "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0);
    if (tm.tm_year + 1900 < 1000 || tm.tm_year + 1900 > 9999)
        return;
    need(weir_http_date_parse(weir_str_from(printed), s, &again) && again == s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[HEADERS] = { "Retry-After", "Date", "retry-after-ms",
                                                "x-ms-retry-after-ms" };
    char *bytes = weir_strndup((const char *)data, size);
    char *rest = bytes;
    struct weir_http_header headers[HEADERS];
    for (size_t i = 0; i < HEADERS; i++)
        headers[i] = (struct weir_http_header){ names[i], take_line(&rest) };
    for (size_t count = 1; count <= HEADERS; count++)
        check(headers, count);
    check_date(weir_str_from(headers[0].value));
    check_date(weir_str_from(headers[1].value));
    free(bytes);
    return 0;
}
