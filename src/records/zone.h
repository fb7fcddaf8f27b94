/* SPDX-License-Identifier: MIT */
/*
 * A time zone: what the clocks of a place show, and which moment it is when they show it.
 *
 *     struct weir_zone *zone;
 *     weir_zone_load("Europe/Berlin", &zone, err)
 *     weir_zone_moment(zone, local_s, &utc_s)  ──▶  WEIR_CLOCK_ONCE
 *     weir_zone_free(zone)
 *
 *     clocks go forward          a gap: 02:30 is never shown         WEIR_CLOCK_NEVER
 *     clocks go back             02:30 is shown at two moments       WEIR_CLOCK_TWICE
 *
 * A local time is seconds since 1970 as if it were UTC. Years 1 to 9999.
 *
 * A zone is constant once it is made: any thread.
 */
#ifndef WEIR_RECORDS_ZONE_H
#define WEIR_RECORDS_ZONE_H

#include "base/str.h"
#include "weir/error.h"

struct weir_zone;

enum weir_clock {
    WEIR_CLOCK_ONCE = 0,
    WEIR_CLOCK_NEVER,
    WEIR_CLOCK_TWICE,
};

/*
 * From the bytes of a TZif file (RFC 8536) of version 2 or later. Pure; nothing is borrowed.
 *   WEIR_E_INVALID   they are no such file, contradict themselves, or count leap seconds
 *   WEIR_E_TOO_BIG   more than WEIR_ZONE_BYTES_MAX
 */
enum weir_status weir_zone_new(const char *name, struct weir_str bytes, struct weir_zone **ret,
                               struct weir_error *err);

/* NULL is fine. */
void weir_zone_free(struct weir_zone *zone);

/*
 * By its IANA name, from the files of this system: below $TZDIR if that is set.
 *   WEIR_E_INVALID   no name of a zone can be like this, or its file is not as it must be
 *   WEIR_E_NOT_FOUND, WEIR_E_IO, WEIR_E_TOO_BIG   there is no such zone, its file cannot be read
 */
enum weir_status weir_zone_load(const char *name, struct weir_zone **ret, struct weir_error *err);

const char *weir_zone_name(const struct weir_zone *zone);

/* How far its clocks are ahead of UTC at a moment. */
int32_t weir_zone_offset_s(const struct weir_zone *zone, int64_t utc_s);

/*
 * When its clocks show `local_s`. Once: *ret_s is the moment; twice: the first one; never: *ret_s
 * stays as it is.
 */
enum weir_clock weir_zone_moment(const struct weir_zone *zone, int64_t local_s, int64_t *ret_s);

#endif
