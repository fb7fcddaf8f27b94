/* SPDX-License-Identifier: MIT */
/*
 * The JSON scanner; see scan.h. The kind of each open container is one bit of `objects`, so depth
 * is bounded by its width and nothing recurses.
 */
#include "sim/service/scan.h"

#include <endian.h>

static enum sim_scan_type bad(struct sim_scan *scan, const char *problem)
{
    if (!scan->problem)
        scan->problem = problem;
    scan->at = scan->end;
    return SIM_SCAN_BAD;
}

void sim_scan_init(struct sim_scan *scan, struct weir_str text)
{
    if (!text.ptr)
        text = weir_str("", 0);
    *scan = (struct sim_scan){ .start = text.ptr, .at = text.ptr, .end = text.ptr + text.len };
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        scan->at += 3;
}

static void skip_space(struct sim_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    scan->at = at;
}

/* Bytes of one UTF-8 sequence at `at`, which is not ASCII; 0: it is none. */
static size_t sequence(const unsigned char *at, size_t left)
{
    size_t len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] > 0x9f;
    bool beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : len;
}

/*
 * How many of the eight bytes of a word, in the order of memory, come before the first that is a
 * quote, a backslash, a control character or not ASCII. A borrow can only flag bytes behind one
 * that is flagged rightly, so the first flag is always right.
 */
static size_t plain_bytes(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101ULL;
    const uint64_t highs = 0x8080808080808080ULL;
    uint64_t quote = word ^ (ones * '"');
    uint64_t slash = word ^ (ones * '\\');
    uint64_t found = ((word - ones * 0x20) | (quote - ones) | (slash - ones) | word) & highs;
    return found ? (size_t)__builtin_ctzll(found) / 8 : 8;
}

/* The first byte at or behind `at` that is not plain, or a little before it near the end. */
static const char *skip_plain(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        word = le64toh(word);
        size_t plain = plain_bytes(word);
        at += plain;
        if (plain < 8)
            break;
    }
    return at;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind "\u"; -1: they are not. */
static int32_t unit(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex(at[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static bool is_high(int32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low(int32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/* Bytes of the escape at `at`, which is a backslash; 0: it is none. A surrogate pair is one escape.
 */
static size_t escape(const char *at, const char *end)
{
    if (end - at < 2)
        return 0;
    if (at[1] != 'u')
        return at[1] && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    int32_t code = unit(at + 2, end);
    if (code < 0 || is_low(code))
        return 0;
    if (!is_high(code))
        return 6;
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u')
        return 0;
    return is_low(unit(at + 8, end)) ? 12 : 0;
}

/* A string whose opening quote is at scan->at. */
static bool string(struct sim_scan *scan, struct weir_str *ret, bool *ret_escaped)
{
    const char *start = scan->at + 1;
    const char *at = start;
    const char *end = scan->end;
    *ret_escaped = false;
    for (;;) {
        at = skip_plain(at, end);
        if (at >= end)
            return bad(scan, "a string has no end") != SIM_SCAN_BAD;
        unsigned char c = (unsigned char)*at;
        if (c == '"')
            break;
        size_t len = 1;
        if (c == '\\') {
            len = escape(at, end);
            *ret_escaped = true;
        } else if (c < 0x20) {
            len = 0;
        } else if (c >= 0x80) {
            len = sequence((const unsigned char *)at, (size_t)(end - at));
        }
        if (len == 0)
            return bad(scan, "a string has a bad character") != SIM_SCAN_BAD;
        at += len;
    }
    *ret = weir_str(start, (size_t)(at - start));
    scan->at = at + 1;
    return true;
}

static const char *digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static enum sim_scan_type number(struct sim_scan *scan, struct sim_token *ret)
{
    const char *start = scan->at;
    const char *end = scan->end;
    const char *at = start + (*start == '-');
    const char *whole = at;
    at = digits(at, end);
    if (at == whole || (*whole == '0' && at - whole > 1))
        return bad(scan, "a number is malformed");
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = digits(at, end);
        if (at == fraction)
            return bad(scan, "a number is malformed");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        const char *exponent = at;
        at = digits(at, end);
        if (at == exponent)
            return bad(scan, "a number is malformed");
    }
    ret->text = weir_str(start, (size_t)(at - start));
    scan->at = at;
    return SIM_SCAN_NUMBER;
}

static enum sim_scan_type word(struct sim_scan *scan, struct sim_token *ret, const char *text,
                               enum sim_scan_type type)
{
    size_t len = strlen(text);
    if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, text, len) != 0)
        return bad(scan, "a value is malformed");
    ret->text = weir_str(scan->at, len);
    scan->at += len;
    return type;
}

static enum sim_scan_type open_container(struct sim_scan *scan, bool object)
{
    if (scan->depth == SIM_SCAN_DEPTH_MAX)
        return bad(scan, "it is nested too deep");
    uint64_t bit = 1ULL << scan->depth++;
    scan->objects = object ? scan->objects | bit : scan->objects & ~bit;
    scan->first = true;
    scan->at++;
    return object ? SIM_SCAN_OBJECT : SIM_SCAN_ARRAY;
}

static enum sim_scan_type value(struct sim_scan *scan, struct sim_token *ret)
{
    skip_space(scan);
    if (scan->at == scan->end)
        return bad(scan, "it ends too early");
    switch (*scan->at) {
    case '{':
        return open_container(scan, true);
    case '[':
        return open_container(scan, false);
    case '"':
        return string(scan, &ret->text, &ret->escaped) ? SIM_SCAN_STRING : SIM_SCAN_BAD;
    case 't':
        return word(scan, ret, "true", SIM_SCAN_TRUE);
    case 'f':
        return word(scan, ret, "false", SIM_SCAN_FALSE);
    case 'n':
        return word(scan, ret, "null", SIM_SCAN_NULL);
    default:
        return number(scan, ret);
    }
}

static bool key(struct sim_scan *scan, struct sim_token *ret)
{
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != '"')
        return bad(scan, "a key is missing") != SIM_SCAN_BAD;
    if (!string(scan, &ret->key, &ret->key_escaped))
        return false;
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != ':')
        return bad(scan, "a colon is missing") != SIM_SCAN_BAD;
    scan->at++;
    return true;
}

/* The next member or element, or the end of the container. */
static enum sim_scan_type inside(struct sim_scan *scan, struct sim_token *ret)
{
    bool object = scan->objects >> (scan->depth - 1) & 1;
    skip_space(scan);
    if (scan->at == scan->end)
        return bad(scan, "it ends too early");
    if (*scan->at == (object ? '}' : ']')) {
        scan->at++;
        scan->depth--;
        scan->first = false;
        return object ? SIM_SCAN_OBJECT_END : SIM_SCAN_ARRAY_END;
    }
    if (!scan->first) {
        if (*scan->at != ',')
            return bad(scan, "a comma is missing");
        scan->at++;
    }
    scan->first = false;
    if (object && !key(scan, ret))
        return SIM_SCAN_BAD;
    return value(scan, ret);
}

static enum sim_scan_type outside(struct sim_scan *scan, struct sim_token *ret)
{
    if (!scan->done) {
        scan->done = true;
        return value(scan, ret);
    }
    skip_space(scan);
    return scan->at == scan->end ? SIM_SCAN_END : bad(scan, "something follows its end");
}

enum sim_scan_type sim_scan_next(struct sim_scan *scan, struct sim_token *ret)
{
    *ret = (struct sim_token){ .type = SIM_SCAN_BAD };
    if (!scan->problem)
        ret->type = scan->depth ? inside(scan, ret) : outside(scan, ret);
    return ret->type;
}

bool sim_scan_skip(struct sim_scan *scan)
{
    uint32_t depth = scan->depth;
    struct sim_token token;
    while (scan->depth >= depth) {
        if (sim_scan_next(scan, &token) <= SIM_SCAN_END)
            return false;
    }
    return true;
}

bool sim_scan_check(struct weir_str text, struct sim_scan *ret)
{
    struct sim_token token;
    sim_scan_init(ret, text);
    while (sim_scan_next(ret, &token) > SIM_SCAN_END)
        ;
    return token.type == SIM_SCAN_END;
}

static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* The character that a checked escape of `len` bytes stands for. */
static uint32_t escaped_code(const char *at, size_t len)
{
    if (len == 6)
        return (uint32_t)unit(at + 2, at + 6);
    if (len == 12) {
        uint32_t high = (uint32_t)unit(at + 2, at + 6) - 0xd800;
        uint32_t low = (uint32_t)unit(at + 8, at + 12) - 0xdc00;
        return 0x10000 + (high << 10 | low);
    }
    switch (at[1]) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return (uint32_t)at[1];
    }
}

size_t sim_scan_decode(struct weir_str raw, char *out)
{
    const char *at = raw.ptr;
    const char *end = raw.ptr + raw.len;
    size_t len = 0;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(out + len, at, plain);
        len += plain;
        at += plain;
        if (slash) {
            size_t taken = escape(at, end);
            len += encode(escaped_code(at, taken), out + len);
            at += taken;
        }
    }
    return len;
}
