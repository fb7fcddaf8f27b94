/* SPDX-License-Identifier: MIT */
/*
 * Choices by value and label; see choice_index.h. Two sorted lists. Labels are sorted by the hash
 * of what they are compared as, so that this need not be kept; equal hashes are looked at in full.
 */
#include "records/choice_index.h"

#include "base/mem.h"
#include "records/fold.h"

/* So many labels are looked through for one that is the same before a hash is made. */
#define FEW 12

/* ---- labels as they are compared ---- */

struct folding {
    struct weir_str rest;
    char bytes[WEIR_FOLD_BYTES];
    size_t len;
    size_t at;
};

static struct folding fold(struct weir_str label)
{
    return (struct folding){ .rest = weir_str_trim(label) };
}

/* The next byte; -1: there is none. */
static int next_byte(struct folding *folding)
{
    while (folding->at == folding->len) {
        if (!folding->rest.len)
            return -1;
        folding->len = weir_fold_next(&folding->rest, folding->bytes);
        folding->at = 0;
    }
    return (unsigned char)folding->bytes[folding->at++];
}

/* FNV-1a of the bytes. */
static uint64_t hash_label(struct weir_str label)
{
    struct weir_str rest = weir_str_trim(label);
    char bytes[WEIR_FOLD_BYTES];
    uint64_t hash = UINT64_C(14695981039346656037);
    while (rest.len) {
        size_t len = weir_fold_next(&rest, bytes);
        for (size_t i = 0; i < len; i++)
            hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool is_alike(struct weir_str a, struct weir_str b)
{
    struct folding folding_a = fold(a);
    struct folding folding_b = fold(b);
    int byte;
    do {
        byte = next_byte(&folding_a);
        if (byte != next_byte(&folding_b))
            return false;
    } while (byte >= 0);
    return true;
}

/* ---- life ---- */

static int order_values(const void *a, const void *b)
{
    int32_t value_a = (*(const struct weir_choice *const *)a)->value;
    int32_t value_b = (*(const struct weir_choice *const *)b)->value;
    return (value_a > value_b) - (value_a < value_b);
}

static int order_labels(const void *a, const void *b)
{
    const struct weir_label_entry *entry_a = a;
    const struct weir_label_entry *entry_b = b;
    if (entry_a->hash != entry_b->hash)
        return entry_a->hash < entry_b->hash ? -1 : 1;
    return (entry_a->choice > entry_b->choice) - (entry_a->choice < entry_b->choice);
}

void weir_choice_index_init(struct weir_choice_index *index, const struct weir_choice *choices,
                            uint32_t count)
{
    *index = (struct weir_choice_index){ 0 };
    if (!count)
        return;
    index->by_value = weir_calloc(count, sizeof(const struct weir_choice *));
    index->by_label = weir_calloc(count, sizeof(*index->by_label));
    for (uint32_t i = 0; i < count; i++) {
        struct weir_str label = weir_str_trim(weir_str_from(choices[i].label));
        index->by_value[index->value_count++] = &choices[i];
        if (label.len)
            index->by_label[index->label_count++] =
                (struct weir_label_entry){ hash_label(label), label, &choices[i] };
    }
    qsort(index->by_value, index->value_count, sizeof(const struct weir_choice *), order_values);
    qsort(index->by_label, index->label_count, sizeof(*index->by_label), order_labels);
}

void weir_choice_index_release(struct weir_choice_index *index)
{
    free(index->by_value);
    free(index->by_label);
    *index = (struct weir_choice_index){ 0 };
}

/* ---- finding ---- */

const struct weir_choice *weir_choice_index_value(const struct weir_choice_index *index,
                                                  int64_t value)
{
    uint32_t from = 0;
    uint32_t end = index->value_count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        const struct weir_choice *choice = index->by_value[middle];
        if (choice->value == value)
            return choice;
        if (choice->value < value)
            from = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* The first entry whose hash is not less. */
static uint32_t first_of(const struct weir_choice_index *index, uint64_t hash)
{
    uint32_t from = 0;
    uint32_t end = index->label_count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (index->by_label[middle].hash < hash)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* Choices that a label may mean: how many, and the first of them. */
struct meant {
    int count;
    const struct weir_choice *first;
};

static void add_meant(struct meant *meant, const struct weir_choice *choice)
{
    if (!meant->count++)
        meant->first = choice;
}

/* Those that are the same to the byte, one by one. */
static struct meant find_same(const struct weir_choice_index *index, struct weir_str label)
{
    struct meant same = { 0 };
    for (uint32_t i = 0; i < index->label_count; i++) {
        struct weir_str own = index->by_label[i].label;
        if (own.len == label.len && memcmp(own.ptr, label.ptr, own.len) == 0)
            add_meant(&same, index->by_label[i].choice);
    }
    return same;
}

/* Those that are the same if there are any, else those that are compared as the same. */
static struct meant find_alike(const struct weir_choice_index *index, struct weir_str label)
{
    struct meant same = { 0 };
    struct meant alike = { 0 };
    uint64_t hash = hash_label(label);
    for (uint32_t i = first_of(index, hash);
         i < index->label_count && index->by_label[i].hash == hash; i++) {
        const struct weir_label_entry *entry = &index->by_label[i];
        if (weir_str_equal(entry->label, label))
            add_meant(&same, entry->choice);
        else if (is_alike(entry->label, label))
            add_meant(&alike, entry->choice);
    }
    return same.count ? same : alike;
}

int weir_choice_index_label(const struct weir_choice_index *index, struct weir_str label,
                            const struct weir_choice **ret)
{
    struct meant meant = { 0 };
    label = weir_str_trim(label);
    if (!label.len)
        return 0;
    if (index->label_count <= FEW)
        meant = find_same(index, label);
    if (!meant.count)
        meant = find_alike(index, label);
    if (meant.count)
        *ret = meant.first;
    return meant.count < 2 ? meant.count : 2;
}
