/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks of readers share: processor time, so that others who use the machine count
 * little, texts in memory that are read as a file is, and contestants that take turns, so that
 * what noise there is hits all of them.
 */
#ifndef WEIR_BENCH_MEASURE_H
#define WEIR_BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "records/format.h"

#define BYTES  ((size_t)64 * 1024 * 1024)
#define ROUNDS 7
#define PIECE  WEIR_INPUT_READ_BYTES

/* In which any row of a benchmark fits; a job empties its arenas row by row, too. */
#define ARENA_BYTES WEIR_ARENA_BLOCK_BYTES

/* Of this thread. */
static inline double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), by_value);
    return values[count / 2];
}

/* How much was read, in which time. */
struct haul {
    double seconds;
    size_t bytes;
    uint64_t rows; /* without a problem */
    uint64_t cells;
};

/* What is read, and how. */
struct matter {
    const char *name;
    struct weir_buf text;
    const struct weir_format *format;
    struct weir_format_options options;
};

struct contestant {
    const char *name;
    struct haul (*run)(const struct matter *matter);
};

static inline struct haul copy_all(const struct matter *matter)
{
    static char to[PIECE];
    struct haul haul = { .bytes = matter->text.len };
    double begun_s = processor_s();
    for (size_t at = 0; at < haul.bytes; at += PIECE) {
        memcpy(to, matter->text.ptr + at, haul.bytes - at < PIECE ? haul.bytes - at : PIECE);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* A text in pieces. */
struct feeder {
    const struct weir_format *format;
    void *state;
    const struct weir_buf *text;
    size_t at;
};

static inline void feed_piece(struct feeder *it)
{
    size_t left = it->text->len - it->at;
    size_t len = left < PIECE ? left : PIECE;
    it->format->feed(it->state, it->at, it->text->ptr + it->at, len, len == left);
    it->at += len;
}

/* The next record; false: there is none. */
static inline bool feed_next(struct feeder *it, struct weir_arena *arena, struct weir_record *ret)
{
    enum weir_step step;
    while ((step = it->format->next(it->state, arena, ret, NULL)) == WEIR_STEP_MORE)
        feed_piece(it);
    return step == WEIR_STEP_RECORD;
}

static inline void feed_head(struct feeder *it)
{
    while (it->format->head(it->state, NULL) == WEIR_STEP_MORE)
        feed_piece(it);
}

/* As weir reads it: every record into an arena. */
static inline struct haul read_matter(const struct matter *matter)
{
    double begun_s = processor_s();
    const struct weir_format *format = matter->format;
    struct haul haul = { .bytes = matter->text.len };
    struct feeder feeder = { format, format->open(&matter->options), &matter->text, 0 };
    struct weir_arena *arena = weir_arena_new(ARENA_BYTES);
    struct weir_record record;
    format->begin(feeder.state);
    feed_head(&feeder);
    while (feed_next(&feeder, arena, &record)) {
        haul.rows += record.problem == WEIR_RECORD_FINE;
        haul.cells += record.cell_count;
        weir_arena_reset(arena);
    }
    weir_arena_unref(arena);
    format->free(feeder.state);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static inline double megabytes_s(const struct haul *haul)
{
    return (double)haul->bytes / 1e6 / haul->seconds;
}

/*
 * All contestants over the matter, in turn, and a line with the median of each. The first is ours,
 * the second what it is compared with: returns the median of the ratios. `ret_ours`: the last of
 * ours; `ret_theirs`: likewise.
 */
#define CONTESTANTS_MAX 4

static inline double compete(const struct matter *matter, const struct contestant *contestants,
                             size_t count, struct haul *ret_ours, struct haul *ret_theirs)
{
    double speeds[CONTESTANTS_MAX][ROUNDS];
    double ratios[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            struct haul haul = contestants[i].run(matter);
            speeds[i][round] = megabytes_s(&haul);
            *(i == 0 ? ret_ours : i == 1 ? ret_theirs : &haul) = haul;
        }
        ratios[round] = speeds[0][round] / speeds[1][round];
    }
    printf("%-14s", matter->name);
    for (size_t i = 0; i < count; i++)
        printf("  %s %6.0f MB/s", contestants[i].name, median_of(speeds[i], ROUNDS));
    double ratio = median_of(ratios, ROUNDS);
    printf("  %5.2f M rows/s  %.1f times %s\n", (double)ret_ours->rows / 1e6 / ret_ours->seconds,
           ratio, contestants[1].name);
    return ratio;
}

static inline void must_have(const char *who, uint64_t what, uint64_t wanted)
{
    if (what == wanted)
        return;
    fprintf(stderr, "%s read %llu where %llu is right\n", who, (unsigned long long)what,
            (unsigned long long)wanted);
    exit(EXIT_FAILURE);
}

#endif
