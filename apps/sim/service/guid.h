/* SPDX-License-Identifier: MIT */
/*
 * A GUID by value, its bytes in the order of its text: what prints first compares first. Any
 * thread.
 */
#ifndef SIM_SERVICE_GUID_H
#define SIM_SERVICE_GUID_H

#include "base/rng.h"
#include "base/str.h"

#define SIM_GUID_TEXT 37 /* bytes of the text with its terminator */

struct sim_guid {
    uint8_t bytes[16];
};

/*
 * Any case, the whole of `text`: 8-4-4-4-12 digits, the same in braces or parentheses, or 32 digits
 * without dashes. False, and *ret untouched, for anything else.
 */
bool sim_guid_parse(struct weir_str text, struct sim_guid *ret);

/* Lower case, 8-4-4-4-12, terminated. Returns `text`. */
char *sim_guid_print(struct sim_guid guid, char text[SIM_GUID_TEXT]);

/* A random one, version 4. */
struct sim_guid sim_guid_make(struct weir_rng *rng);

/* The same one for the same name and number, for what must be stable over runs. */
struct sim_guid sim_guid_of(const char *name, uint64_t number);

uint64_t sim_guid_hash(struct sim_guid guid);

static inline bool sim_guid_equal(struct sim_guid a, struct sim_guid b)
{
    return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

static inline bool sim_guid_is_empty(struct sim_guid guid)
{
    return sim_guid_equal(guid, (struct sim_guid){ { 0 } });
}

#endif
