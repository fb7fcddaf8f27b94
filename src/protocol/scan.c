/* SPDX-License-Identifier: MIT */
/*
 * JSON without a tree; see scan.h.
 *
 * The check is a loop with two places, and a bit for each open container says whether it is an
 * object:
 *
 *         ┌───────────── "," (and a key) ────────────┐
 *         ▼                                          │
 *     value due ── scalar, or "{}" or "[]" ──▶ value done ── nothing open ──▶ end of the document
 *         ▲ │                                        ▲ │
 *         └─┘ "{" and a key, or "["                  └─┘ "}" or "]"
 *
 * The walk afterwards may rely on it: it looks for ends only, and stays inside of its bytes all the
 * same.
 */
#include "protocol/scan.h"

#include "base/limits.h"

#define REPLACEMENT 0xfffd

struct check {
    const char *at;
    const char *end;
    uint64_t objects; /* bit n: the container at depth n is an object */
    int depth;
};

_Static_assert(WEIR_SCAN_DEPTH_MAX <= 64, "a bit for each container");

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* ---- the check ---- */

static bool take_char(struct check *c, char wanted)
{
    c->at = skip_space(c->at, c->end);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* The four digits of a \u escape; -1: they are not. */
static int32_t hex_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = weir_str_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Bytes of the escape at `at`, which is a backslash; 0: it is none. */
static size_t escape_bytes(const char *at, const char *end)
{
    if (end - at < 2)
        return 0;
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return hex_unit(at + 2, end) < 0 ? 0 : 6;
    default:
        return 0;
    }
}

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS (ONES * 0x80)

/* Behind words in which no byte is a quote, a backslash or below 0x20. What a borrow does to bytes
 * above such a one does not matter: the word is left to be looked at byte by byte. */
static const char *skip_plain(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        uint64_t quote = (word ^ ONES * '"') - ONES;
        uint64_t backslash = (word ^ ONES * '\\') - ONES;
        if ((quote | backslash | (word - ONES * 0x20)) & ~word & HIGHS)
            break;
    }
    return at;
}

static bool take_string(struct check *c)
{
    if (!take_char(c, '"'))
        return false;
    c->at = skip_plain(c->at, c->end);
    while (c->at < c->end && *c->at != '"') {
        size_t bytes = 1;
        if (*c->at == '\\')
            bytes = escape_bytes(c->at, c->end);
        else if ((unsigned char)*c->at < 0x20)
            bytes = 0;
        if (bytes == 0)
            return false;
        c->at += bytes;
    }
    if (c->at == c->end)
        return false;
    c->at++;
    return true;
}

static bool take_digits(struct check *c)
{
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > start;
}

static bool take_one_of(struct check *c, char a, char b)
{
    if (c->at == c->end || (*c->at != a && *c->at != b))
        return false;
    c->at++;
    return true;
}

static bool take_number(struct check *c)
{
    take_one_of(c, '-', '-');
    const char *whole = c->at;
    if (!take_digits(c) || (*whole == '0' && c->at - whole > 1))
        return false;
    if (take_one_of(c, '.', '.') && !take_digits(c))
        return false;
    if (!take_one_of(c, 'e', 'E'))
        return true;
    take_one_of(c, '+', '-');
    return take_digits(c);
}

static bool take_word(struct check *c, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
        return false;
    c->at += len;
    return true;
}

static bool take_scalar(struct check *c)
{
    switch (*c->at) {
    case '"':
        return take_string(c);
    case 't':
        return take_word(c, "true");
    case 'f':
        return take_word(c, "false");
    case 'n':
        return take_word(c, "null");
    default:
        return take_number(c);
    }
}

static bool is_in_object(const struct check *c)
{
    return c->objects >> (c->depth - 1) & 1;
}

static bool take_close(struct check *c)
{
    if (!take_char(c, is_in_object(c) ? '}' : ']'))
        return false;
    c->depth--;
    return true;
}

/* In front of a value: of an object, its key. */
static bool take_key(struct check *c)
{
    return !is_in_object(c) || (take_string(c) && take_char(c, ':'));
}

enum step {
    STEP_BAD,
    STEP_DUE,
    STEP_DONE,
};

static enum step step_value(struct check *c)
{
    c->at = skip_space(c->at, c->end);
    if (c->at == c->end)
        return STEP_BAD;
    if (*c->at != '{' && *c->at != '[')
        return take_scalar(c) ? STEP_DONE : STEP_BAD;
    if (c->depth == WEIR_SCAN_DEPTH_MAX)
        return STEP_BAD;
    uint64_t bit = UINT64_C(1) << c->depth++;
    c->objects = *c->at == '{' ? c->objects | bit : c->objects & ~bit;
    c->at++;
    if (take_close(c))
        return STEP_DONE;
    return take_key(c) ? STEP_DUE : STEP_BAD;
}

/* Behind a value, inside of something. */
static enum step step_behind(struct check *c)
{
    if (take_close(c))
        return STEP_DONE;
    return take_char(c, ',') && take_key(c) ? STEP_DUE : STEP_BAD;
}

static bool take_document(struct check *c)
{
    enum step step = STEP_DUE;
    do {
        step = step == STEP_DUE ? step_value(c) : step_behind(c);
    } while (step == STEP_DUE || (step == STEP_DONE && c->depth));
    return step == STEP_DONE;
}

bool weir_scan_document(struct weir_str text, struct weir_str *ret_value)
{
    if (weir_str_starts_nocase(text, "\xef\xbb\xbf"))
        text = weir_str(text.ptr + 3, text.len - 3);
    if (text.len == 0)
        return false;
    const char *end = text.ptr + text.len;
    const char *start = skip_space(text.ptr, end);
    struct check c = { .at = start, .end = end };
    if (!take_document(&c))
        return false;
    *ret_value = weir_str(start, (size_t)(c.at - start));
    return skip_space(c.at, end) == end;
}

/* ---- the walk ---- */

static bool begins_with(struct weir_str value, char c)
{
    return value.len && value.ptr[0] == c;
}

bool weir_scan_is_object(struct weir_str value)
{
    return begins_with(value, '{');
}

bool weir_scan_is_array(struct weir_str value)
{
    return begins_with(value, '[');
}

bool weir_scan_is_string(struct weir_str value)
{
    return begins_with(value, '"');
}

bool weir_scan_is_number(struct weir_str value)
{
    return value.len && (value.ptr[0] == '-' || (value.ptr[0] >= '0' && value.ptr[0] <= '9'));
}

/* Behind the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
    }
    return at < end ? at + 1 : end;
}

static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at;
        if (c == '"') {
            at = skip_string(at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

static bool ends_scalar(char c)
{
    return is_space(c) || c == ',' || c == '}' || c == ']';
}

static const char *skip_value(const char *at, const char *end)
{
    if (*at == '"')
        return skip_string(at, end);
    if (*at == '{' || *at == '[')
        return skip_container(at, end);
    while (at < end && !ends_scalar(*at))
        at++;
    return at;
}

/* One value, and the space, commas and colons in front of it, taken off *rest. */
static bool take_value(struct weir_str *rest, struct weir_str *ret)
{
    const char *at = rest->ptr;
    const char *end = rest->ptr + rest->len;
    while (at < end && (is_space(*at) || *at == ',' || *at == ':'))
        at++;
    if (at == end || *at == '}' || *at == ']')
        return false;
    const char *behind = skip_value(at, end);
    *ret = weir_str(at, (size_t)(behind - at));
    *rest = weir_str(behind, (size_t)(end - behind));
    return true;
}

struct weir_scan weir_scan_open(struct weir_str container)
{
    bool object = weir_scan_is_object(container);
    if (!object && !weir_scan_is_array(container))
        return (struct weir_scan){ .rest = weir_str("", 0) };
    return (struct weir_scan){ .rest = weir_str(container.ptr + 1, container.len - 1),
                               .object = object };
}

bool weir_scan_next(struct weir_scan *scan, struct weir_str *ret_key, struct weir_str *ret_value)
{
    struct weir_str key = weir_str("", 0);
    struct weir_str value;
    if (scan->object && !take_value(&scan->rest, &key))
        return false;
    if (!take_value(&scan->rest, &value))
        return false;
    *ret_key = key;
    *ret_value = value;
    return true;
}

/* Room for any name that is looked for, escapes resolved. */
#define NAME_BYTES 128

bool weir_scan_find(struct weir_str object, const char *name, struct weir_str *ret_value)
{
    struct weir_scan scan = weir_scan_open(object);
    struct weir_str key, value;
    char text[NAME_BYTES];
    while (scan.object && weir_scan_next(&scan, &key, &value)) {
        weir_scan_text(key, text, sizeof(text));
        if (strcmp(text, name) == 0) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

/* ---- texts ---- */

/* Bytes of the UTF-8 sequence at `at`, which is not ASCII; 0: it is none. */
static size_t utf8_bytes(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char first, last, second_min, second_max;
        size_t len;
    } rows[] = {
        { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
        { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
        { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (at[0] < rows[i].first || at[0] > rows[i].last)
            continue;
        if (left < rows[i].len || at[1] < rows[i].second_min || at[1] > rows[i].second_max)
            return 0;
        for (size_t k = 2; k < rows[i].len; k++) {
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        }
        return rows[i].len;
    }
    return 0;
}

static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(leads[len] | code);
    return len;
}

static uint32_t short_escape(char c)
{
    switch (c) {
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
        return (unsigned char)c;
    }
}

/* The character of the escape that begins at *at, which is moved behind it. False: it is none. */
static bool take_escape(const char **at, const char *end, uint32_t *ret)
{
    const char *start = *at;
    size_t bytes = escape_bytes(start, end);
    if (bytes < 6) {
        *at = bytes ? start + 2 : end;
        *ret = bytes ? short_escape(start[1]) : 0;
        return bytes > 0;
    }
    *at = start + 6;
    uint32_t code = (uint32_t)hex_unit(start + 2, end);
    *ret = code;
    if (code < 0xd800 || code > 0xdfff)
        return code > 0;
    bool pair = code < 0xdc00 && end - *at >= 6 && start[6] == '\\' && start[7] == 'u';
    int32_t low = pair ? hex_unit(start + 8, end) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return false;
    *at = start + 12;
    *ret = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    return true;
}

/*
 * One character of a string as UTF-8 in `out` of four bytes; *at is moved behind it. False: it was
 * none, and its replacement stands there.
 */
static bool take_character(const char **at, const char *end, char *out, size_t *ret_len)
{
    const char *start = *at;
    unsigned char c = (unsigned char)*start;
    if (c == '\\') {
        uint32_t code;
        bool good = take_escape(at, end, &code);
        *ret_len = encode(good ? code : REPLACEMENT, out);
        return good;
    }
    size_t len =
        c >= 0x80 ? utf8_bytes((const unsigned char *)start, (size_t)(end - start)) : c > 0;
    *at += len ? len : 1;
    *ret_len = len ? len : encode(REPLACEMENT, out);
    if (len)
        memcpy(out, start, len);
    return len > 0;
}

/* What stands between the quotes; of a number, all of it; of anything else, nothing. */
static struct weir_str inside(struct weir_str value)
{
    if (weir_scan_is_string(value) && value.len >= 2)
        return weir_str(value.ptr + 1, value.len - 2);
    return weir_scan_is_number(value) ? value : weir_str("", 0);
}

size_t weir_scan_text(struct weir_str value, char *out, size_t out_bytes)
{
    struct weir_str raw = inside(value);
    const char *at = raw.ptr;
    const char *end = raw.ptr + raw.len;
    size_t used = 0;
    while (at < end) {
        char character[4];
        size_t len;
        take_character(&at, end, character, &len);
        if (len >= out_bytes - used)
            break;
        memcpy(out + used, character, len);
        used += len;
    }
    out[used] = '\0';
    return used;
}

/* Of the text behind `at`, in bytes. */
static size_t decoded_bytes(const char *at, const char *end)
{
    size_t bytes = 0;
    while (at < end) {
        char character[4];
        size_t len;
        take_character(&at, end, character, &len);
        bytes += len;
    }
    return bytes;
}

size_t weir_scan_text_ends(struct weir_str value, char *out, size_t out_bytes, size_t tail_bytes)
{
    struct weir_str raw = inside(value);
    const char *at = raw.ptr;
    const char *end = raw.ptr + raw.len;
    size_t left = decoded_bytes(at, end);
    if (left < out_bytes)
        return weir_scan_text(value, out, out_bytes);
    size_t used = weir_scan_text(value, out, out_bytes - tail_bytes - strlen(WEIR_SCAN_GAP));
    memcpy(out + used, WEIR_SCAN_GAP, strlen(WEIR_SCAN_GAP));
    used += strlen(WEIR_SCAN_GAP);
    while (at < end) {
        char character[4];
        size_t len;
        bool kept = left <= tail_bytes;
        take_character(&at, end, character, &len);
        left -= len;
        if (kept) {
            memcpy(out + used, character, len);
            used += len;
        }
    }
    out[used] = '\0';
    return used;
}

bool weir_scan_is_clean(struct weir_str value)
{
    struct weir_str raw = inside(value);
    const char *at = raw.ptr;
    bool clean = true;
    while (clean && at < raw.ptr + raw.len) {
        char character[4];
        size_t len;
        clean = take_character(&at, raw.ptr + raw.len, character, &len);
    }
    return clean;
}
