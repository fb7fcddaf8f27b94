/* SPDX-License-Identifier: MIT */
/* The answers that are no success; see world.h. Codes and words are the service's own. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "sim/service/world.h"

#define DATE_BYTES 64

static const char *const limit_codes[SIM_THROTTLE_COUNT] = {
    [SIM_THROTTLE_NONE] = "",
    [SIM_THROTTLE_REQUESTS] = "0x80072322",
    [SIM_THROTTLE_EXECUTION_TIME] = "0x80072321",
    [SIM_THROTTLE_CONCURRENCY] = "0x80072326",
};

/* 1200000 as 1,200,000. */
static const char *group(int64_t number, char *text, size_t bytes)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%" PRId64, number);
    size_t len = 0;
    for (int i = 0; i < count && len + 2 < bytes; i++) {
        if (i && (count - i) % 3 == 0)
            text[len++] = ',';
        text[len++] = digits[i];
    }
    text[len] = '\0';
    return text;
}

static const char *http_date(int64_t wall_us, char text[DATE_BYTES])
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t seconds = (time_t)(wall_us / WEIR_US_PER_S);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    snprintf(text, DATE_BYTES, "%s, %02d %s %d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday,
             months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    return text;
}

static int64_t whole_seconds(int64_t us)
{
    return (us + WEIR_US_PER_S - 1) / WEIR_US_PER_S;
}

static void add_date(struct sim_answer *answer, int64_t wall_us, int64_t delay_us)
{
    char text[DATE_BYTES];
    sim_answer_header(answer, "Date", "%s", http_date(wall_us, text));
    /* Dates have no fractions: rounded up, they are not early. */
    wall_us += delay_us + WEIR_US_PER_S - 1;
    sim_answer_header(answer, "Retry-After", "%s", http_date(wall_us, text));
}

/* The words for a limit that was met. */
static void add_limit_error(struct sim_answer *answer, enum sim_throttle kind, int64_t limit,
                            int64_t window_us)
{
    char number[32];
    const char *code = limit_codes[kind];
    double window_s = (double)window_us / (double)WEIR_US_PER_S;
    if (kind == SIM_THROTTLE_EXECUTION_TIME)
        sim_answer_error(answer, 429, code,
                         "Combined execution time of incoming requests exceeded limit of %s "
                         "milliseconds over time window of %.10g seconds. Decrease number of "
                         "concurrent requests or reduce the duration of requests and try again "
                         "later.",
                         group(limit / WEIR_US_PER_MS, number, sizeof(number)), window_s);
    else if (kind == SIM_THROTTLE_CONCURRENCY)
        sim_answer_error(answer, 429, code,
                         "Number of concurrent requests exceeded the limit of %" PRId64 ".", limit);
    else
        sim_answer_error(answer, 429, code,
                         "Number of requests exceeded the limit of %" PRId64
                         " over time window of %.10g seconds.",
                         limit, window_s);
}

void sim_refuse_by_law(const struct sim_world *world, const struct sim_decision *decision,
                       int64_t wall_us, struct sim_answer *answer)
{
    switch (world->scenario.retry_after.form) {
    case SIM_RETRY_SECONDS:
        sim_answer_header(answer, "Retry-After", "%" PRId64,
                          whole_seconds(decision->retry_after_us));
        break;
    case SIM_RETRY_DATE:
        add_date(answer, wall_us, decision->retry_after_us);
        break;
    case SIM_RETRY_MISSING:
        break;
    }
    add_limit_error(answer, decision->kind, decision->limit, decision->window_us);
}

void sim_refuse_retry_after(const struct sim_fault_effect *effect, int64_t wall_us,
                            struct sim_answer *answer)
{
    switch (effect->retry) {
    case SIM_FAULT_RETRY_SECONDS:
        sim_answer_header(answer, "Retry-After", "%.10g",
                          (double)effect->retry_after_us / (double)WEIR_US_PER_S);
        break;
    case SIM_FAULT_RETRY_DATE:
        add_date(answer, wall_us, effect->retry_after_us);
        break;
    case SIM_FAULT_RETRY_TEXT:
        sim_answer_header(answer, "Retry-After", "%s", effect->retry_text);
        break;
    case SIM_FAULT_RETRY_MISSING:
        break;
    }
}

void sim_refuse_by_fault(const struct sim_world *world, const struct sim_fault_effect *effect,
                         int64_t wall_us, struct sim_answer *answer)
{
    static const struct sim_limits none = { .window_us = 5 * WEIR_US_PER_MINUTE };
    const struct sim_limits *limits = world->no_limits ? &none : &world->scenario.limits;
    /* A world without a limit names the published one: clients learn from the number. */
    const int64_t numbers[SIM_THROTTLE_COUNT] = {
        [SIM_THROTTLE_REQUESTS] = limits->requests ? limits->requests : 6000,
        [SIM_THROTTLE_EXECUTION_TIME] =
            limits->execution_us ? limits->execution_us : 1200 * WEIR_US_PER_S,
        [SIM_THROTTLE_CONCURRENCY] = limits->concurrent ? limits->concurrent : 52,
    };
    sim_refuse_retry_after(effect, wall_us, answer);
    for (int kind = SIM_THROTTLE_REQUESTS; kind < SIM_THROTTLE_COUNT; kind++) {
        if (!weir_str_equal_nocase(weir_str_from(effect->code), weir_str_from(limit_codes[kind])))
            continue;
        add_limit_error(answer, (enum sim_throttle)kind, numbers[kind], limits->window_us);
        return;
    }
    sim_answer_error(answer, 429, effect->code, "Too many requests.");
}

void sim_refuse_stranger(const struct sim_world *world, struct sim_answer *answer)
{
    sim_answer_header(answer, "WWW-Authenticate",
                      "Bearer authorization_uri=%s/" SIM_TENANT "/oauth2/authorize, "
                      "resource_id=%s/",
                      world->base_url, world->base_url);
    sim_answer_error(answer, 401, "0x8004A100",
                     "The ticket specified for authentication didn't pass validation");
}

void sim_refuse_page(struct sim_answer *answer, int status)
{
    const char *reason = sim_http_reason(status);
    answer->status = status;
    sim_answer_header(answer, "Content-Type", "text/html; charset=us-ascii");
    weir_buf_reset(&answer->body);
    weir_buf_printf(&answer->body,
                    "<!DOCTYPE HTML>\r\n<HTML><HEAD><TITLE>%s</TITLE></HEAD>\r\n"
                    "<BODY><h2>%s</h2>\r\n<hr><p>HTTP Error %d. %s.</p>\r\n</BODY></HTML>\r\n",
                    reason, reason, status, reason);
}

void sim_refuse_login(const struct sim_fault_effect *effect, int64_t wall_us,
                      struct sim_answer *answer)
{
    bool throttled = effect->kind == SIM_FAULT_THROTTLE;
    answer->status = throttled ? 429 : 401;
    if (throttled)
        sim_refuse_retry_after(effect, wall_us, answer);
    sim_answer_header(answer, "Content-Type", "application/json; charset=utf-8");
    weir_buf_add_text(&answer->body,
                      throttled ? "{\"error\":\"temporarily_unavailable\",\"error_description\":"
                                  "\"AADSTS90055: Tenant request is throttled.\","
                                  "\"error_codes\":[90055]}"
                                : "{\"error\":\"invalid_client\",\"error_description\":"
                                  "\"AADSTS7000215: Invalid client secret provided.\","
                                  "\"error_codes\":[7000215]}");
}

bool sim_refuse_execution(const struct sim_fault_effect *effect, int64_t wall_us,
                          struct sim_answer *answer)
{
    static const char sql[] = "Sql error: Generic SQL error. CRM ErrorCode: -2147204784 "
                              "Sql ErrorCode: -2146232060 Sql Number: ";
    switch (effect->kind) {
    case SIM_FAULT_DEADLOCK:
        sim_answer_error(answer, 400, "0x80044150",
                         "%s1205 Transaction was deadlocked on lock resources with another process "
                         "and has been chosen as the deadlock victim. Rerun the transaction.",
                         sql);
        return true;
    case SIM_FAULT_TVP_RACE:
        sim_answer_error(answer, 400, "0x80044150",
                         "%s3732 Cannot drop type because it is being referenced by object. There "
                         "may be other objects that reference this type.",
                         sql);
        return true;
    case SIM_FAULT_PLUGIN_ERROR:
        sim_answer_error(answer, 400, effect->code, "An unexpected error occurred from ISV code.");
        return true;
    case SIM_FAULT_SERVER_ERROR:
        sim_refuse_retry_after(effect, wall_us, answer);
        sim_answer_error(answer, effect->status, "0x80040216", "An unexpected error occurred.");
        return true;
    case SIM_FAULT_HTML_ERROR:
        sim_refuse_page(answer, 502);
        return true;
    default:
        return false;
    }
}
