/* SPDX-License-Identifier: MIT */
/*
 * What came back for a load, as the executor wants to know it: what the pool learns, and what each
 * row is told. Made from bytes; pure.
 *
 *     no items    what `answer` says goes for every row, and is no row's own; of a success there
 *                 are the ids, if rows were created
 *     items       one for each row, in its order: a $batch, or an elastic table that says which
 *                 rows failed. `answer` is then what the pool learns of it, a throttle if any row
 *                 met one
 */
#ifndef WEIR_BULK_REPORT_H
#define WEIR_BULK_REPORT_H

#include "bulk/load.h"

/* One request as the transport saw it end. Borrowed during the call. */
struct weir_report_exchange {
    int status;     /* 0: no complete answer arrived */
    bool sent;      /* a byte of the body may have reached the service */
    bool timed_out; /* that is why there is none */
    const struct weir_http_header *headers;
    size_t header_count;
    struct weir_str body;
    int64_t duration_us;
    int64_t ttfb_us;
};

/* Part of what is said of a row of which the service has said nothing but its status. */
#define WEIR_REPORT_STATUS_ONLY "an elastic table says no more of a single row"

/* Of a row that was read back. */
enum weir_presence {
    WEIR_PRESENCE_NOT_SAID = 0,
    WEIR_PRESENCE_PRESENT,
    WEIR_PRESENCE_ABSENT,
    WEIR_PRESENCE_FORBIDDEN,
};

struct weir_report_item {
    struct weir_verdict verdict;
    enum weir_fault_kind fault;
    enum weir_presence presence;
    int64_t created_wall_us; /* of a row that is present; INT64_MIN: not said */
    bool id_known;
    struct weir_guid id; /* that the service gave or confirmed */
    char *message;       /* NULL: none */
    char *request_id;    /* NULL: none of its own */
};

struct weir_report {
    struct weir_answer answer; /* for the pool */
    enum weir_fault_kind fault;
    bool timed_out;
    bool broken;      /* the connection's credentials are of no use; the caller sets it */
    char *message;    /* NULL: none */
    char *request_id; /* NULL: none */
    struct weir_report_item *items; /* NULL: none */
    uint32_t item_count;
    struct weir_guid *ids; /* that the service gave or confirmed, one for each row; NULL: none */
};

/* Of a load of `row_count` rows of a table; `is_create`: they were to be created. Release it
 * afterwards. */
void weir_report_read(const struct weir_report_exchange *exchange, enum weir_load_mode mode,
                      const struct weir_table_names *table, bool is_create, uint32_t row_count,
                      struct weir_report *ret);

void weir_report_release(struct weir_report *report);

/* Nothing reached the service: it, or the way to it, is not there. */
static inline bool weir_report_is_unreachable(const struct weir_report *report)
{
    return report->answer.verdict.http_status == 0 &&
           report->answer.verdict.outcome == WEIR_OUTCOME_NOT_EXECUTED;
}

#endif
