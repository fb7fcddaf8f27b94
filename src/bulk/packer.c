/* SPDX-License-Identifier: MIT */
/*
 * Packs drafts into batches; see packer.h.
 *
 * Vocabulary
 *   serial   number of a batch, given when it is opened
 *   last     of a key: the serial of the unfinished batch that its last row went into
 *   kept     the keys of a closed batch, until it is finished
 *   behind   serials of older batches that have a refused row with a key of this one
 *
 * Invariants
 *   - a row goes into a batch whose serial is above its key's last, so no batch has a key twice,
 *     refused rows apart, and a batch names only smaller serials: there is no circle;
 *   - open[] ascends by serial, and so by the number of the first row: the oldest names nobody who
 *     is open, and closing it never has to close another one first;
 *   - last[key] is the serial of an open batch or of one whose keys are kept.
 *
 *         key A   key B           row 1 of A goes into 1, row 2 of A into 2, after 1;
 *     1   ■───────■               row 3 of B, of another shape, into 3, after 1.
 *     2   ■───────┊               3 is full first: 1 is closed, then 3; 2 stays open.
 *     3           ■
 *
 * What a batch is made of while it is open, and how it changes hands: packing.h.
 */
#include "bulk/packer.h"

#include "base/mem.h"
#include "base/table64.h"
#include "bulk/packing.h"

/* Should another shape have the same number, its rows only get company. */
#define IDLE_SHAPE UINT64_C(0x9d1eaf0e5a3c7b21)

struct open {
    uint64_t serial;
    uint64_t shape;
    bool has_shape;   /* it has a row that is not refused */
    size_t weight;    /* in a request, of those that are to be sent */
    size_t bytes;     /* of its rows and their texts */
    uint64_t *after;  /* room for rows_max: one for each row that has a predecessor; repeats */
    uint64_t *behind; /* likewise */
    uint32_t after_count;
    uint32_t behind_count;
    struct weir_packing packing;
};

struct kept {
    uint32_t count;
    uint64_t keys[];
};

struct weir_packer {
    struct weir_packer_options options;
    struct weir_bulk_writer writer;
    uint64_t serial;                         /* of the batch that was opened last */
    struct open slots[WEIR_PACKER_OPEN_MAX]; /* what open[] points to */
    struct open *open[WEIR_PACKER_OPEN_MAX]; /* the open ones by age, then those that are free */
    uint32_t open_count;
    size_t open_bytes;
    struct weir_table64 last;    /* key → serial */
    struct weir_table64 refused; /* key → serial; of refused rows in open batches */
    struct weir_table64 kept;    /* serial → struct kept *; of batches that have keys */

    struct weir_batch *first; /* closed, not taken */
    struct weir_batch **end;
    size_t closed_bytes;
};

/* --- beginning and end ------------------------------------------------------------------------ */

static void init_slot(struct open *slot, const struct weir_packer *packer)
{
    uint32_t rows_max = packer->options.rows_max;
    slot->after = weir_calloc(rows_max, sizeof(*slot->after));
    slot->behind = weir_calloc(rows_max, sizeof(*slot->behind));
    weir_packing_init(&slot->packing, &packer->writer, rows_max);
}

struct weir_packer *weir_packer_new(const struct weir_packer_options *options)
{
    struct weir_packer *packer = weir_calloc(1, sizeof(*packer));
    packer->options = *options;
    packer->end = &packer->first;
    weir_bulk_writer_init(&packer->writer, options->message, options->table);
    weir_table64_init(&packer->last);
    weir_table64_init(&packer->refused);
    weir_table64_init(&packer->kept);
    for (uint32_t i = 0; i < WEIR_PACKER_OPEN_MAX; i++) {
        init_slot(&packer->slots[i], packer);
        packer->open[i] = &packer->slots[i];
    }
    return packer;
}

static void free_kept(struct weir_table64 *kept)
{
    uint64_t serial, keys;
    for (size_t at = 0; weir_table64_next(kept, &at, &serial, &keys);)
        free((struct kept *)(uintptr_t)keys);
    weir_table64_release(kept);
}

void weir_packer_free(struct weir_packer *packer)
{
    struct weir_batch *batch;
    if (!packer)
        return;
    while ((batch = weir_packer_take(packer)))
        weir_packer_batch_free(batch);
    for (uint32_t i = 0; i < WEIR_PACKER_OPEN_MAX; i++) {
        free(packer->slots[i].after);
        free(packer->slots[i].behind);
        weir_packing_release(&packer->slots[i].packing);
    }
    weir_bulk_writer_release(&packer->writer);
    free_kept(&packer->kept);
    weir_table64_release(&packer->last);
    weir_table64_release(&packer->refused);
    free(packer);
}

/* --- closing ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Those that are not finished, each once. All of them are closed. */
static void tidy_after(const struct weir_packer *packer, struct open *open)
{
    uint32_t count = 0;
    qsort(open->after, open->after_count, sizeof(*open->after), ascending);
    for (uint32_t i = 0; i < open->after_count; i++) {
        uint64_t serial = open->after[i];
        bool repeated = count && open->after[count - 1] == serial;
        if (!repeated && weir_table64_find(&packer->kept, serial, NULL))
            open->after[count++] = serial;
    }
    open->after_count = count;
}

static void keep_keys(struct weir_packer *packer, const struct open *open)
{
    uint32_t row_count = open->packing.row_count;
    struct kept *kept = weir_calloc(1, sizeof(*kept) + row_count * sizeof(uint64_t));
    for (uint32_t i = 0; i < row_count; i++) {
        const struct weir_row *row = &open->packing.rows[i];
        if (row->key_hash && !row->refusal.len)
            kept->keys[kept->count++] = row->key_hash;
    }
    if (kept->count)
        weir_table64_set(&packer->kept, open->serial, (uint64_t)(uintptr_t)kept);
    else
        free(kept);
}

/* The place of an open batch; open_count: it is not open. */
static uint32_t place_of(const struct weir_packer *packer, uint64_t serial)
{
    uint32_t at = 0;
    while (at < packer->open_count && packer->open[at]->serial != serial)
        at++;
    return at;
}

/* Its slot goes behind those that are open. */
static void delist(struct weir_packer *packer, struct open *open)
{
    uint32_t at = place_of(packer, open->serial);
    packer->open_count--;
    packer->open_bytes -= open->bytes;
    memmove(&packer->open[at], &packer->open[at + 1],
            (packer->open_count - at) * sizeof(packer->open[0]));
    packer->open[packer->open_count] = open;
}

static void forget_refused(struct weir_packer *packer, const struct open *open)
{
    for (uint32_t i = 0; i < open->packing.row_count && packer->refused.count; i++) {
        const struct weir_row *row = &open->packing.rows[i];
        uint64_t serial;
        if (row->refusal.len && weir_table64_find(&packer->refused, row->key_hash, &serial) &&
            serial == open->serial)
            weir_table64_remove(&packer->refused, row->key_hash);
    }
}

static void close_batch(struct weir_packer *packer, struct open *open);

static void close_those(struct weir_packer *packer, const uint64_t *serials, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = place_of(packer, serials[i]);
        if (at < packer->open_count)
            close_batch(packer, packer->open[at]);
    }
}

/* Those that come before it first; as they are older, this ends. */
static void close_batch(struct weir_packer *packer, struct open *open)
{
    close_those(packer, open->after, open->after_count);
    close_those(packer, open->behind, open->behind_count);
    tidy_after(packer, open);
    delist(packer, open);
    keep_keys(packer, open);
    forget_refused(packer, open);
    struct weir_batch *batch =
        weir_packing_close(&open->packing, open->serial, open->after, open->after_count);
    packer->closed_bytes += batch->bytes;
    *packer->end = batch;
    packer->end = &batch->next;
}

static void close_oldest(struct weir_packer *packer)
{
    close_batch(packer, packer->open[0]);
}

static void close_aged(struct weir_packer *packer, uint64_t number)
{
    while (packer->open_count &&
           number - packer->open[0]->packing.rows[0].number >= WEIR_PACKER_AGE_ROWS_MAX)
        close_oldest(packer);
}

void weir_packer_flush(struct weir_packer *packer)
{
    while (packer->open_count)
        close_oldest(packer);
}

/* --- finding a place -------------------------------------------------------------------------- */

static struct open *open_batch(struct weir_packer *packer)
{
    if (packer->open_count == WEIR_PACKER_OPEN_MAX)
        close_oldest(packer);
    struct open *open = packer->open[packer->open_count++];
    open->serial = ++packer->serial;
    open->has_shape = false;
    open->weight = open->bytes = 0;
    open->after_count = open->behind_count = 0;
    return open;
}

/* What a row adds to a request, as a target of a bulk message or as a part of a $batch: the address
 * may have its name once more, percent-encoded. */
static size_t weigh(const struct weir_packer *packer, const struct weir_target *target)
{
    const struct weir_table_names *table = packer->options.table;
    return weir_bulk_target_bytes(table, target) + weir_target_address_bytes(table, target) +
           WEIR_PACKER_PART_BYTES + packer->options.part_bytes_more;
}

/* A row that is too heavy for any request gets one, too. */
static bool has_room(const struct weir_packer *packer, const struct open *open, size_t weight)
{
    return !open->weight ||
           WEIR_PACKER_FRAME_BYTES + open->weight + weight <= packer->options.body_bytes_max;
}

/* Rows with nothing to do keep to themselves, so that the others fill their requests. */
static uint64_t shape_of(const struct weir_draft *draft)
{
    return draft->idle ? IDLE_SHAPE : draft->shape;
}

static bool has_shape(const struct open *open, const struct weir_draft *draft)
{
    return !open->has_shape || open->shape == shape_of(draft);
}

/* The first open batch behind `last` of that shape. One without room is full, and closed. */
static struct open *find_place(struct weir_packer *packer, const struct weir_draft *draft,
                               uint64_t last, size_t weight)
{
    uint32_t at = 0;
    while (at < packer->open_count) {
        struct open *open = packer->open[at];
        if (open->serial <= last || !has_shape(open, draft)) {
            at++;
        } else if (has_room(packer, open, weight)) {
            return open;
        } else {
            close_batch(packer, open);
            at = 0; /* older ones may have gone with it */
        }
    }
    return NULL;
}

/* --- adding ----------------------------------------------------------------------------------- */

static void append(struct weir_packer *packer, struct open *open, const struct weir_draft *draft)
{
    size_t bytes = weir_packing_add(&open->packing, draft);
    open->bytes += bytes;
    packer->open_bytes += bytes;
}

static struct open *add_refused(struct weir_packer *packer, const struct weir_draft *draft)
{
    struct open *open = packer->open_count ? packer->open[0] : open_batch(packer);
    append(packer, open, draft);
    if (draft->key_hash)
        weir_table64_set(&packer->refused, draft->key_hash, open->serial);
    return open;
}

/* A refused row of that key, in an open batch, which is this one or an older one. */
static void come_behind(const struct weir_packer *packer, struct open *open, uint64_t key_hash)
{
    uint64_t serial;
    if (key_hash && weir_table64_find(&packer->refused, key_hash, &serial) &&
        serial != open->serial)
        open->behind[open->behind_count++] = serial;
}

static struct open *add_row(struct weir_packer *packer, const struct weir_draft *draft)
{
    uint64_t last = 0;
    size_t weight = draft->idle ? 0 : weigh(packer, &draft->target);
    weir_table64_find(&packer->last, draft->key_hash, &last);
    struct open *open = find_place(packer, draft, last, weight);
    if (!open)
        open = open_batch(packer);
    append(packer, open, draft);
    open->shape = shape_of(draft);
    open->has_shape = true;
    open->weight += weight;
    if (last)
        open->after[open->after_count++] = last;
    come_behind(packer, open, draft->key_hash);
    if (draft->key_hash)
        weir_table64_set(&packer->last, draft->key_hash, open->serial);
    return open;
}

void weir_packer_add(struct weir_packer *packer, const struct weir_draft *draft)
{
    close_aged(packer, draft->number);
    struct open *open = draft->refusal.len ? add_refused(packer, draft) : add_row(packer, draft);
    if (open->packing.row_count >= packer->options.rows_max)
        close_batch(packer, open);
    while (packer->open_bytes > WEIR_PACKER_OPEN_BYTES_MAX)
        close_oldest(packer);
}

void weir_packer_batch_free(struct weir_batch *batch)
{
    weir_packing_free_batch(batch);
}

/* --- taking, and what is over ----------------------------------------------------------------- */

struct weir_batch *weir_packer_take(struct weir_packer *packer)
{
    struct weir_batch *batch = packer->first;
    if (!batch)
        return NULL;
    packer->first = batch->next;
    if (!packer->first)
        packer->end = &packer->first;
    packer->closed_bytes -= batch->bytes;
    batch->next = NULL;
    return batch;
}

void weir_packer_finished(struct weir_packer *packer, uint64_t serial)
{
    uint64_t found;
    if (!weir_table64_find(&packer->kept, serial, &found))
        return;
    struct kept *kept = (struct kept *)(uintptr_t)found;
    for (uint32_t i = 0; i < kept->count; i++) {
        uint64_t last;
        if (weir_table64_find(&packer->last, kept->keys[i], &last) && last == serial)
            weir_table64_remove(&packer->last, kept->keys[i]);
    }
    weir_table64_remove(&packer->kept, serial);
    free(kept);
}

size_t weir_packer_keys(const struct weir_packer *packer)
{
    return packer->last.count;
}

size_t weir_packer_bytes(const struct weir_packer *packer)
{
    return packer->open_bytes + packer->closed_bytes;
}
