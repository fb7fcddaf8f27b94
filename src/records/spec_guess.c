/* SPDX-License-Identifier: MIT */
/*
 * Which column of the table a name of the input means; see spec_parts.h.
 *
 *     accountnumber            its logical name
 *     AccountNumber            the same without case, blanks and signs
 *     Account Number           what people call it, or its name without the publisher's prefix
 *     accountnumbr             none of these, but near: never mapped, only suggested
 *
 * What fits two columns equally well is none, and both are suggested.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "records/mapping_parts.h"
#include "records/spec_parts.h"

/* The letters and digits of a name in lower case; all bytes beyond ASCII count. */
struct bare {
    char text[WEIR_NAME_BYTES_MAX];
    size_t len; /* 0: nothing of it is left, or it is too long for a name */
};

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
}

static struct bare make_bare(struct weir_str name)
{
    struct bare bare = { .len = 0 };
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        c = c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
        if (!is_letter(c))
            continue;
        if (bare.len == sizeof(bare.text))
            return (struct bare){ .len = 0 };
        bare.text[bare.len++] = (char)c;
    }
    return bare;
}

static bool is_bare(const struct bare *bare, struct weir_str name)
{
    struct bare other = make_bare(name);
    return bare->len && bare->len == other.len && memcmp(bare->text, other.text, bare->len) == 0;
}

/* Behind the publisher's prefix, `cr1a2_`; empty: it has none. */
static struct weir_str without_prefix(const char *name)
{
    const char *sign = strchr(name, '_');
    size_t len = sign ? (size_t)(sign - name) : 0;
    return weir_str_from(len >= 2 && len <= 8 ? sign + 1 : "");
}

static enum weir_guess_kind compare(const struct weir_column *column, struct weir_str name,
                                    const struct bare *bare)
{
    if (weir_str_equal(name, weir_str_from(column->name)))
        return WEIR_GUESS_NAME;
    if (column->part_of)
        return WEIR_GUESS_NONE;
    if (is_bare(bare, weir_str_from(column->name)))
        return WEIR_GUESS_SPELLING;
    if (is_bare(bare, weir_str_from(column->label)))
        return WEIR_GUESS_LABEL;
    return is_bare(bare, without_prefix(column->name)) ? WEIR_GUESS_PREFIX : WEIR_GUESS_NONE;
}

/* What people call it, and its name without a prefix, are as good as each other. */
static int rank_of(enum weir_guess_kind kind)
{
    return kind == WEIR_GUESS_PREFIX ? WEIR_GUESS_LABEL : (int)kind;
}

static void find_near(const struct weir_table *table, struct weir_str name,
                      struct weir_guess *guess)
{
    size_t best = weir_str_tolerance(name) + 1;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct weir_column *column = &table->columns[i];
        size_t one = weir_str_distance(name, weir_str_from(column->name));
        size_t other = column->label ? weir_str_distance(name, weir_str_from(column->label)) : one;
        size_t distance = one < other ? one : other;
        if (distance < best && !column->part_of) {
            best = distance;
            *guess = (struct weir_guess){ WEIR_GUESS_NEAR, column, NULL };
        }
    }
}

struct weir_guess weir_spec_guess(const struct weir_table *table, struct weir_str name)
{
    struct weir_guess best = { WEIR_GUESS_NONE, NULL, NULL };
    struct bare bare = make_bare(name);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct weir_column *column = &table->columns[i];
        enum weir_guess_kind kind = compare(column, name, &bare);
        bool id = strcmp(column->name, table->primary_id) == 0; /* it has the name of the table */
        if (kind == WEIR_GUESS_NONE || (id && kind >= WEIR_GUESS_LABEL))
            continue;
        bool first = best.kind == WEIR_GUESS_NONE || rank_of(kind) < rank_of(best.kind);
        if (first)
            best = (struct weir_guess){ kind, column, NULL };
        else if (rank_of(kind) == rank_of(best.kind))
            best.other = column;
    }
    if (best.kind == WEIR_GUESS_NONE)
        find_near(table, weir_str_trim(name), &best);
    if (best.other)
        best.kind = WEIR_GUESS_NEAR;
    return best;
}

/* ---- all of them ---- */

static uint32_t place_of(const struct weir_table *table, const struct weir_guess *guess)
{
    return (uint32_t)(guess->column - table->columns);
}

/* The better guess has the column; of two that are as good, the first. */
static void settle(const struct weir_table *table, struct weir_guess *guesses, uint32_t count)
{
    uint32_t *takers = weir_calloc(table->column_count + 1, sizeof(*takers));
    for (uint32_t i = 0; i < count; i++) {
        if (guesses[i].kind == WEIR_GUESS_NONE || guesses[i].kind == WEIR_GUESS_NEAR)
            continue;
        uint32_t *taker = &takers[place_of(table, &guesses[i])];
        bool better = !*taker || rank_of(guesses[i].kind) < rank_of(guesses[*taker - 1].kind);
        if (*taker)
            guesses[better ? *taker - 1 : i].kind = WEIR_GUESS_TAKEN;
        if (better)
            *taker = i + 1;
    }
    free(takers);
}

struct weir_guess *weir_spec_guess_all(const struct weir_table *table, struct weir_columns columns)
{
    struct weir_guess *guesses = weir_calloc(columns.count + 1, sizeof(*guesses));
    for (uint32_t i = 0; i < columns.count; i++)
        guesses[i] = weir_spec_guess(table, columns.names[i]);
    settle(table, guesses, columns.count);
    return guesses;
}
