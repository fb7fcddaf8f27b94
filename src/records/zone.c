/* SPDX-License-Identifier: MIT */
/*
 * A time zone; see zone.h. Its time is cut into spans in which one offset holds: those between the
 * transitions that the file lists, then those of the rule at its end.
 *
 *     ─ first type ─┤ t₀ ├────┤ t₁ ├────┤ … ├────┤ tₙ ├─ the rule; none: as it was last ─
 *
 * The file, of which only the second half is used:
 *
 *     head, data with times of 32 bits ┊ head, data with times of 64 bits ┊ \n rule \n
 *     data: times, a type for each ┊ types: offset, summer, name ┊ names ┊ leaps ┊ two kinds of
 * flags
 */
#include "records/zone.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/zone_rule.h"

#define HEAD_BYTES 44
#define TYPE_BYTES 6
#define AHEAD_MAX  (26 * 3600 - 1) /* seconds, by RFC 8536 */
#define BEHIND_MAX (25 * 3600 - 1)
#define REACH_S    (26 * 3600) /* no clock is further from UTC */

struct transition {
    int64_t at_s;
    int32_t offset_s; /* from then on */
};

struct weir_zone {
    char *name;
    int32_t first_offset_s;
    struct transition *transitions; /* in their order */
    uint32_t transition_count;
    bool has_rule;
    struct weir_zone_rule rule;
};

/* ---- reading ---- */

static uint64_t big_endian(const char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* What a head announces. */
struct counts {
    uint64_t utc_flags;
    uint64_t standard_flags;
    uint64_t leaps;
    uint64_t times;
    uint64_t types;
    uint64_t name_bytes;
};

/* Counts have 32 bits each, so that sums do not overflow 64. */
static uint64_t data_bytes(const struct counts *counts, size_t time_bytes)
{
    return counts->times * (time_bytes + 1) + counts->types * TYPE_BYTES + counts->name_bytes +
           counts->leaps * (time_bytes + 4) + counts->standard_flags + counts->utc_flags;
}

static bool take_head(struct weir_str *rest, size_t time_bytes, struct counts *ret)
{
    if (rest->len < HEAD_BYTES || memcmp(rest->ptr, "TZif", 4) != 0 || rest->ptr[4] < '2')
        return false;
    const char *at = rest->ptr + 20;
    ret->utc_flags = big_endian(at, 4);
    ret->standard_flags = big_endian(at + 4, 4);
    ret->leaps = big_endian(at + 8, 4);
    ret->times = big_endian(at + 12, 4);
    ret->types = big_endian(at + 16, 4);
    ret->name_bytes = big_endian(at + 20, 4);
    *rest = weir_str(rest->ptr + HEAD_BYTES, rest->len - HEAD_BYTES);
    return ret->types > 0 && data_bytes(ret, time_bytes) <= rest->len;
}

static bool read_offset(const char *types, size_t type, int32_t *ret_s)
{
    *ret_s = (int32_t)big_endian(types + type * TYPE_BYTES, 4);
    return *ret_s >= -BEHIND_MAX && *ret_s <= AHEAD_MAX;
}

static bool read_transitions(struct weir_zone *zone, const struct counts *counts, const char *data)
{
    const char *type_of = data + counts->times * 8;
    const char *types = type_of + counts->times;
    if (!read_offset(types, 0, &zone->first_offset_s))
        return false;
    zone->transitions = weir_calloc(counts->times, sizeof(*zone->transitions));
    zone->transition_count = (uint32_t)counts->times;
    for (size_t i = 0; i < counts->times; i++) {
        struct transition *transition = &zone->transitions[i];
        size_t type = (unsigned char)type_of[i];
        transition->at_s = (int64_t)big_endian(data + i * 8, 8);
        if (type >= counts->types || !read_offset(types, type, &transition->offset_s) ||
            (i && transition->at_s <= transition[-1].at_s))
            return false;
    }
    return true;
}

/* `\nCET-1CEST,M3.5.0,M10.5.0/3\n`; nothing between: there is no rule. */
static bool read_rule(struct weir_zone *zone, struct weir_str rest)
{
    if (rest.len < 2 || rest.ptr[0] != '\n')
        return false;
    const char *text = rest.ptr + 1;
    const char *end = memchr(text, '\n', rest.len - 1);
    if (!end)
        return false;
    zone->has_rule = end > text;
    return !zone->has_rule ||
           weir_zone_rule_parse(weir_str(text, (size_t)(end - text)), &zone->rule);
}

static bool read_all(struct weir_zone *zone, struct weir_str rest)
{
    struct counts counts;
    if (!take_head(&rest, 4, &counts))
        return false;
    uint64_t old_bytes = data_bytes(&counts, 4);
    rest = weir_str(rest.ptr + old_bytes, rest.len - old_bytes);
    if (!take_head(&rest, 8, &counts) || counts.leaps)
        return false;
    uint64_t bytes = data_bytes(&counts, 8);
    return read_transitions(zone, &counts, rest.ptr) &&
           read_rule(zone, weir_str(rest.ptr + bytes, rest.len - bytes));
}

/* ---- life ---- */

enum weir_status weir_zone_new(const char *name, struct weir_str bytes, struct weir_zone **ret,
                               struct weir_error *err)
{
    if (bytes.len > WEIR_ZONE_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG,
                         "the file of the time zone \"%s\" has more than %zu bytes", name,
                         WEIR_ZONE_BYTES_MAX);
    struct weir_zone *zone = weir_calloc(1, sizeof(*zone));
    zone->name = weir_strdup(name);
    if (!read_all(zone, bytes)) {
        weir_zone_free(zone);
        return weir_fail(err, WEIR_E_INVALID,
                         "the file of the time zone \"%s\" makes no sense; it must be a TZif file "
                         "of version 2 or later without leap seconds",
                         name);
    }
    *ret = zone;
    return WEIR_OK;
}

void weir_zone_free(struct weir_zone *zone)
{
    if (!zone)
        return;
    free(zone->transitions);
    free(zone->name);
    free(zone);
}

const char *weir_zone_name(const struct weir_zone *zone)
{
    return zone->name;
}

/* ---- asking ---- */

/* How many transitions have been at that moment. */
static uint32_t count_past(const struct weir_zone *zone, int64_t utc_s)
{
    uint32_t from = 0;
    uint32_t end = zone->transition_count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (zone->transitions[middle].at_s <= utc_s)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* The offset at a moment, and until when it holds. */
static int32_t span_at(const struct weir_zone *zone, int64_t utc_s, int64_t *ret_until_s)
{
    uint32_t past = count_past(zone, utc_s);
    if (past == zone->transition_count && zone->has_rule)
        return weir_zone_rule_offset_s(&zone->rule, utc_s, ret_until_s);
    *ret_until_s = past < zone->transition_count ? zone->transitions[past].at_s : INT64_MAX;
    return past ? zone->transitions[past - 1].offset_s : zone->first_offset_s;
}

int32_t weir_zone_offset_s(const struct weir_zone *zone, int64_t utc_s)
{
    int64_t until_s;
    return span_at(zone, utc_s, &until_s);
}

enum weir_clock weir_zone_moment(const struct weir_zone *zone, int64_t local_s, int64_t *ret_s)
{
    enum weir_clock clock = WEIR_CLOCK_NEVER;
    int64_t until_s;
    for (int64_t from_s = local_s - REACH_S; from_s <= local_s + REACH_S; from_s = until_s) {
        int64_t utc_s = local_s - span_at(zone, from_s, &until_s);
        if (utc_s < from_s || utc_s >= until_s)
            continue;
        if (clock == WEIR_CLOCK_ONCE)
            return WEIR_CLOCK_TWICE;
        clock = WEIR_CLOCK_ONCE;
        *ret_s = utc_s;
    }
    return clock;
}
