/* SPDX-License-Identifier: MIT */
/* What was written; see ledger.h. Entries stand in an open-addressing table and are never removed.
 */
#include "sim/service/ledger.h"

#include "base/mem.h"

#define FIRST_SLOTS 64u

void sim_ledger_init(struct sim_ledger *ledger)
{
    *ledger = (struct sim_ledger){ 0 };
}

void sim_ledger_release(struct sim_ledger *ledger)
{
    free(ledger->entries);
    *ledger = (struct sim_ledger){ 0 };
}

static bool is_empty(const struct sim_entry *entry)
{
    return entry->writes == 0 && entry->plugin_runs == 0;
}

/* The entry of a row, or the empty one where it belongs. */
static struct sim_entry *probe(const struct sim_ledger *ledger, struct sim_guid id)
{
    uint32_t mask = ledger->slot_count - 1;
    uint32_t at = (uint32_t)sim_guid_hash(id) & mask;
    while (!is_empty(&ledger->entries[at]) && !sim_guid_equal(ledger->entries[at].id, id))
        at = (at + 1) & mask;
    return &ledger->entries[at];
}

static void grow(struct sim_ledger *ledger)
{
    struct sim_entry *old = ledger->entries;
    uint32_t old_count = ledger->slot_count;
    ledger->slot_count = old_count ? old_count * 2 : FIRST_SLOTS;
    ledger->entries = weir_calloc(ledger->slot_count, sizeof(*ledger->entries));
    for (uint32_t i = 0; i < old_count; i++) {
        if (!is_empty(&old[i]))
            *probe(ledger, old[i].id) = old[i];
    }
    free(old);
}

static struct sim_entry *entry_of(struct sim_ledger *ledger, struct sim_guid id)
{
    if (ledger->entry_count + 1 > ledger->slot_count / 3 * 2)
        grow(ledger);
    struct sim_entry *entry = probe(ledger, id);
    if (is_empty(entry)) {
        entry->id = id;
        ledger->entry_count++;
    }
    return entry;
}

static void raise_to(uint32_t *max, uint32_t value)
{
    if (value > *max)
        *max = value;
}

void sim_ledger_write(struct sim_ledger *ledger, enum sim_event event, struct sim_guid id)
{
    struct sim_entry *entry = entry_of(ledger, id);
    ledger->events[event]++;
    ledger->writes++;
    raise_to(&ledger->writes_max, ++entry->writes);
    if (event == SIM_EVENT_CREATE)
        raise_to(&ledger->creates_max, ++entry->creates);
}

void sim_ledger_plugin(struct sim_ledger *ledger, struct sim_guid id)
{
    struct sim_entry *entry = entry_of(ledger, id);
    ledger->plugin_runs++;
    raise_to(&ledger->plugin_runs_max, ++entry->plugin_runs);
}

struct sim_guid sim_ledger_id(struct sim_guid id, struct weir_str partition)
{
    if (!partition.len)
        return id;
    uint64_t hash = weir_str_hash(partition);
    for (size_t i = 0; i < sizeof(hash); i++)
        id.bytes[i] ^= (uint8_t)(hash >> 8 * i);
    return id;
}

struct sim_entry sim_ledger_entry(const struct sim_ledger *ledger, struct sim_guid id)
{
    return ledger->slot_count ? *probe(ledger, id) : (struct sim_entry){ .writes = 0 };
}
