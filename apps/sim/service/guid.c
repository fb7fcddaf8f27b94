/* SPDX-License-Identifier: MIT */
/* GUIDs; see guid.h. */
#include "sim/service/guid.h"

/* The value of a hexadecimal digit; -1: it is none. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_dash_place(size_t place)
{
    return place == 8 || place == 13 || place == 18 || place == 23;
}

static struct weir_str without_brackets(struct weir_str text)
{
    if (text.len != 38)
        return text;
    bool braces = text.ptr[0] == '{' && text.ptr[37] == '}';
    bool parentheses = text.ptr[0] == '(' && text.ptr[37] == ')';
    return braces || parentheses ? weir_str(text.ptr + 1, 36) : text;
}

bool sim_guid_parse(struct weir_str text, struct sim_guid *ret)
{
    text = without_brackets(text);
    bool dashes = text.len == 36;
    if (!dashes && text.len != 32)
        return false;
    struct sim_guid guid = { 0 };
    size_t byte = 0;
    for (size_t at = 0; at < text.len; at += 2) {
        if (dashes && is_dash_place(at)) {
            if (text.ptr[at] != '-')
                return false;
            at++;
        }
        int high = digit(text.ptr[at]);
        int low = digit(text.ptr[at + 1]);
        if (high < 0 || low < 0)
            return false;
        guid.bytes[byte++] = (uint8_t)(high << 4 | low);
    }
    *ret = guid;
    return true;
}

char *sim_guid_print(struct sim_guid guid, char text[SIM_GUID_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    char *at = text;
    for (size_t i = 0; i < sizeof(guid.bytes); i++) {
        if (is_dash_place((size_t)(at - text)))
            *at++ = '-';
        *at++ = digits[guid.bytes[i] >> 4];
        *at++ = digits[guid.bytes[i] & 15];
    }
    *at = '\0';
    return text;
}

struct sim_guid sim_guid_make(struct weir_rng *rng)
{
    struct sim_guid guid;
    uint64_t halves[2] = { weir_rng_u64(rng), weir_rng_u64(rng) };
    memcpy(guid.bytes, halves, sizeof(guid.bytes));
    guid.bytes[6] = (uint8_t)((guid.bytes[6] & 0x0f) | 0x40);
    guid.bytes[8] = (uint8_t)((guid.bytes[8] & 0x3f) | 0x80);
    return guid;
}

struct sim_guid sim_guid_of(const char *name, uint64_t number)
{
    struct weir_rng rng;
    weir_rng_init(&rng, weir_str_hash(weir_str_from(name)), number);
    return sim_guid_make(&rng);
}

uint64_t sim_guid_hash(struct sim_guid guid)
{
    /* Ids that clients make differ in few bits, often in the last bytes alone, which are the top
     * ones of a half: these reach the bottom, where slots are chosen, only by a second round. */
    uint64_t halves[2];
    memcpy(halves, guid.bytes, sizeof(halves));
    uint64_t hash = (halves[0] ^ 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29;
    hash = (hash ^ halves[1]) * 0x94d049bb133111ebULL;
    hash = (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ hash >> 32;
}
