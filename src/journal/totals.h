/* SPDX-License-Identifier: MIT */
/* How many rows a journal accounts for: each once in a pass. Any thread. */
#ifndef WEIR_JOURNAL_TOTALS_H
#define WEIR_JOURNAL_TOTALS_H

#include "base/limits.h"
#include "journal/cursor.h"

struct weir_pass_totals {
    uint64_t done;
    uint64_t skipped;
    uint64_t absent;
    uint64_t rejected; /* superseded ones included */
};

struct weir_totals {
    struct weir_pass_totals pass[WEIR_JOURNAL_PASSES];
};

/* Rows that were skipped in the first pass and have been through another one since. */
enum weir_status weir_totals_skipped(const struct weir_journal_view *source, uint32_t pass,
                                     uint64_t *ret, struct weir_error *err);

enum weir_status weir_totals_read(const struct weir_journal_view *source, struct weir_totals *ret,
                                  struct weir_error *err);

#endif
