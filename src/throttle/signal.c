/* SPDX-License-Identifier: MIT */
/*
 * Recognising throttles and budgets in answers; see signal.h and weir/verdict.h.
 *
 * A complete answer whose body has a known code is judged by that code (catalogue.c), whatever its
 * HTTP status; the status decides only where no known code does. Retry-After is read last, because
 * the class decides whether a missing one matters.
 */
#include "throttle/signal.h"

#include "base/limits.h"
#include "throttle/catalogue.h"
#include "throttle/number.h"

/* Of a code in any form: "-2147015902". */
#define CODE_BYTES_MAX 11

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- codes ---- */

static bool parse_hex(struct weir_str digits, uint32_t *ret)
{
    if (digits.len < 1 || digits.len > 8)
        return false;
    uint32_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = weir_str_hex_digit(digits.ptr[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *ret = value;
    return true;
}

/*
 * Codes have their highest bit set, so an unsigned one is at least 2^31. That also tells a decimal
 * code from the eight digits of a hexadecimal one that lacks its 0x.
 */
static bool parse_decimal_code(struct weir_str text, uint32_t *ret)
{
    int64_t value;
    if (text.len == 0 || text.ptr[0] == '+' || !weir_str_to_int64(text, &value))
        return false;
    bool is_signed = value < 0 && value >= INT32_MIN;
    bool is_unsigned = value > INT32_MAX && value <= UINT32_MAX;
    if (!is_signed && !is_unsigned && value != 0)
        return false;
    *ret = (uint32_t)value;
    return true;
}

bool weir_signal_parse_code(struct weir_str text, uint32_t *ret)
{
    text = weir_str_trim(text);
    if (text.len > CODE_BYTES_MAX)
        return false;
    if (weir_str_starts_nocase(text, "0x"))
        return parse_hex(weir_str(text.ptr + 2, text.len - 2), ret);
    return parse_decimal_code(text, ret);
}

enum weir_throttle_kind weir_signal_kind(uint32_t code)
{
    switch (code) {
    case WEIR_CODE_REQUESTS:
        return WEIR_THROTTLE_REQUESTS;
    case WEIR_CODE_EXECUTION_TIME:
        return WEIR_THROTTLE_EXECUTION_TIME;
    case WEIR_CODE_CONCURRENCY:
        return WEIR_THROTTLE_CONCURRENCY;
    default:
        return WEIR_THROTTLE_NONE;
    }
}

bool weir_is_service_protection(uint32_t code)
{
    return weir_signal_kind(code) != WEIR_THROTTLE_NONE;
}

/* ---- numbers in texts ---- */

/* The number after the first `phrase` that has one, braces allowed, in millionths; 0: none. */
static int64_t number_after(struct weir_str text, const char *phrase)
{
    for (;;) {
        size_t at = weir_str_find_nocase(text, phrase);
        if (at == text.len)
            return 0;
        at += strlen(phrase);
        text = weir_str_trim(weir_str(text.ptr + at, text.len - at));
        size_t brace = text.len && text.ptr[0] == '{';
        int64_t value;
        if (weir_number_scan(weir_str(text.ptr + brace, text.len - brace), &value))
            return value;
    }
}

struct weir_named_limit weir_signal_parse_limit(struct weir_str message)
{
    return (struct weir_named_limit){
        .value = number_after(message, "limit of") / WEIR_US_PER_S,
        .window_us = number_after(message, "time window of"),
    };
}

bool weir_signal_parse_decimal_us(struct weir_str text, int64_t *ret_us)
{
    text = weir_str_trim(text);
    if (text.len == 0)
        return false;
    size_t sign = text.ptr[0] == '-';
    int64_t value;
    size_t len = weir_number_scan(weir_str(text.ptr + sign, text.len - sign), &value);
    if (len == 0 || sign + len != text.len)
        return false;
    *ret_us = sign ? -value : value;
    return true;
}

/* ---- headers ---- */

struct weir_str weir_signal_header(const struct weir_http_header *headers, size_t header_count,
                                   const char *name)
{
    struct weir_str wanted = weir_str_from(name);
    for (size_t i = header_count; i > 0; i--) {
        const struct weir_http_header *header = &headers[i - 1];
        /* Another case is another bit; most need no closer look. */
        if (header->name && ((header->name[0] ^ name[0]) & ~0x20) == 0 &&
            weir_str_equal_nocase(weir_str_from(header->name), wanted))
            return weir_str_trim(weir_str_from(header->value));
    }
    return weir_str(NULL, 0);
}

/* -1: not said; what is overdrawn is used up. */
static int64_t remaining_us(struct weir_str value)
{
    int64_t us;
    if (!weir_signal_parse_decimal_us(value, &us))
        return -1;
    return us < 0 ? 0 : us;
}

static int clamp_hint(struct weir_str value)
{
    int64_t hint;
    if (!weir_str_to_int64(value, &hint) || hint < 1)
        return 0;
    return hint > WEIR_PARALLELISM_MAX ? WEIR_PARALLELISM_MAX : (int)hint;
}

/* Its sibling ARRAffinitySameSite has another name. */
struct weir_str weir_signal_affinity(const struct weir_http_header *headers, size_t header_count)
{
    static const char name[] = "ARRAffinity=";
    for (size_t i = header_count; i > 0; i--) {
        struct weir_str cookie = weir_signal_header(&headers[i - 1], 1, "Set-Cookie");
        if (!weir_str_starts_nocase(cookie, name))
            continue;
        struct weir_str value = weir_str(cookie.ptr + strlen(name), cookie.len - strlen(name));
        const char *end = memchr(value.ptr, ';', value.len);
        return weir_str_trim(weir_str(value.ptr, end ? (size_t)(end - value.ptr) : value.len));
    }
    return weir_str(NULL, 0);
}

static uint64_t server_id(const struct weir_http_header *headers, size_t header_count)
{
    struct weir_str server = weir_signal_header(headers, header_count, "X-Source");
    if (server.len == 0)
        server = weir_signal_affinity(headers, header_count);
    if (server.len == 0)
        return 0;
    uint64_t hash = weir_str_hash(server);
    return hash ? hash : 1;
}

struct weir_budget_headers weir_signal_budget(const struct weir_http_header *headers,
                                              size_t header_count)
{
    int64_t requests = remaining_us(
        weir_signal_header(headers, header_count, "x-ms-ratelimit-burst-remaining-xrm-requests"));
    int64_t execution = remaining_us(
        weir_signal_header(headers, header_count, "x-ms-ratelimit-time-remaining-xrm-requests"));
    return (struct weir_budget_headers){
        .requests_known = requests >= 0,
        .requests_remaining = requests < 0 ? 0 : requests / WEIR_US_PER_S,
        .execution_known = execution >= 0,
        .execution_remaining_us = execution < 0 ? 0 : execution,
        .dop_hint = clamp_hint(weir_signal_header(headers, header_count, "x-ms-dop-hint")),
        .server_id = server_id(headers, header_count),
    };
}

/* ---- the whole answer ---- */

/* Where no code decides; the first that fits does. */
static const struct {
    int first;
    int last;
    enum weir_class class_;
    enum weir_outcome outcome;
} status_rules[] = {
    { 200, 299, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED },
    { 401, 401, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED },
    { 403, 403, WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED },
    { 408, 408, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
    { 413, 414, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED },
    { 421, 421, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED }, /* misdirected */
    { 425, 425, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED }, /* too early */
    { 429, 429, WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED },
    { 431, 431, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED },
    { 449, 449, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED }, /* retry with */
    { 400, 499, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
    { 500, 599, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
};

/* A refusal in which the service itself says nothing may be a gateway's: it blames no row. */
static void judge_by_status(struct weir_verdict *verdict, bool spoken)
{
    verdict->class_ = WEIR_CLASS_OTHER;
    verdict->outcome = WEIR_OUTCOME_UNKNOWN;
    for (size_t i = 0; i < COUNT(status_rules); i++) {
        if (verdict->http_status < status_rules[i].first ||
            verdict->http_status > status_rules[i].last)
            continue;
        verdict->class_ = status_rules[i].class_;
        verdict->outcome = status_rules[i].outcome;
        if (verdict->class_ == WEIR_CLASS_BAD_ROWS && !spoken)
            verdict->class_ = WEIR_CLASS_OTHER;
        return;
    }
}

static void judge_silence(bool sent, struct weir_verdict *verdict)
{
    verdict->class_ = WEIR_CLASS_TRANSIENT;
    verdict->outcome = sent ? WEIR_OUTCOME_UNKNOWN : WEIR_OUTCOME_NOT_EXECUTED;
}

static void judge_answer(struct weir_str code, struct weir_str message,
                         struct weir_verdict *verdict)
{
    bool is_code = weir_signal_parse_code(code, &verdict->code);
    const struct weir_catalogue_entry *entry =
        is_code ? weir_catalogue_find(verdict->code, message) : NULL;
    if (entry && !entry->by_status) {
        verdict->class_ = entry->class_;
        verdict->outcome = entry->outcome;
        return;
    }
    judge_by_status(verdict, code.ptr || message.ptr);
    /* A success that names an error is no success, and what it is nobody knows. */
    bool names_error = is_code ? verdict->code != 0 : weir_str_trim(code).len > 0;
    if (verdict->class_ == WEIR_CLASS_OK && names_error) {
        verdict->class_ = WEIR_CLASS_OTHER;
        verdict->outcome = WEIR_OUTCOME_UNKNOWN;
    }
}

static void read_throttle(const struct weir_http_answer *http, struct weir_verdict *verdict)
{
    enum weir_throttle_kind kind = weir_signal_kind(verdict->code);
    verdict->throttle = kind == WEIR_THROTTLE_NONE ? WEIR_THROTTLE_OTHER : kind;
    verdict->limit = weir_signal_parse_limit(weir_str_from(http->error_message));
}

static void read_retry_after(const struct weir_http_answer *http, int64_t fallback_us,
                             struct weir_verdict *verdict)
{
    struct weir_retry_after retry_after =
        weir_signal_retry_after(http->headers, http->header_count, fallback_us);
    verdict->retry_after_us = retry_after.us;
    verdict->retry_after_fallback = retry_after.fallback;
    verdict->retry_after_clamped = retry_after.clamped;
}

void weir_answer_read(const struct weir_http_answer *http, int64_t fallback_us,
                      struct weir_answer *ret)
{
    struct weir_verdict verdict = { .http_status = http->status, .retry_after_us = -1 };
    if (http->status == 0)
        judge_silence(http->sent, &verdict);
    else
        judge_answer(weir_str_from(http->error_code), weir_str_from(http->error_message), &verdict);
    if (http->partial && verdict.outcome == WEIR_OUTCOME_NOT_EXECUTED)
        verdict.outcome = WEIR_OUTCOME_UNKNOWN;

    if (verdict.class_ == WEIR_CLASS_THROTTLE) {
        read_throttle(http, &verdict);
        read_retry_after(http, fallback_us > 0 ? fallback_us : -1, &verdict);
        verdict.retry_after_fallback |= verdict.retry_after_us < 0;
    } else if (verdict.class_ == WEIR_CLASS_TRANSIENT) {
        read_retry_after(http, -1, &verdict);
    }
    *ret = (struct weir_answer){
        .verdict = verdict,
        .budget = weir_signal_budget(http->headers, http->header_count),
        .duration_us = http->duration_us,
        .ttfb_us = http->ttfb_us,
    };
}

/* ---- names ---- */

const char *weir_class_name(enum weir_class class_)
{
    static const char *const names[WEIR_CLASS_COUNT] = {
        [WEIR_CLASS_OK] = "ok",
        [WEIR_CLASS_THROTTLE] = "throttle",
        [WEIR_CLASS_TRANSIENT] = "transient",
        [WEIR_CLASS_RACE] = "race",
        [WEIR_CLASS_TOO_BIG] = "too big",
        [WEIR_CLASS_BAD_ROWS] = "bad rows",
        [WEIR_CLASS_BAD_CREDENTIALS] = "bad credentials",
        [WEIR_CLASS_PRIVILEGE] = "privilege",
        [WEIR_CLASS_OTHER] = "other",
        [WEIR_CLASS_UNSENT] = "unsent",
    };
    return (size_t)class_ < COUNT(names) ? names[class_] : "unknown class";
}

const char *weir_outcome_name(enum weir_outcome outcome)
{
    static const char *const names[] = {
        [WEIR_OUTCOME_NOT_EXECUTED] = "not executed",
        [WEIR_OUTCOME_EXECUTED] = "executed",
        [WEIR_OUTCOME_UNKNOWN] = "unknown",
    };
    return (size_t)outcome < COUNT(names) ? names[outcome] : "unknown outcome";
}

const char *weir_throttle_kind_name(enum weir_throttle_kind kind)
{
    static const char *const names[] = {
        [WEIR_THROTTLE_NONE] = "none",
        [WEIR_THROTTLE_REQUESTS] = "requests",
        [WEIR_THROTTLE_EXECUTION_TIME] = "execution time",
        [WEIR_THROTTLE_CONCURRENCY] = "concurrency",
        [WEIR_THROTTLE_OTHER] = "other",
    };
    return (size_t)kind < COUNT(names) ? names[kind] : "unknown kind";
}
