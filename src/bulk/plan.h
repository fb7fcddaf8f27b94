/* SPDX-License-Identifier: MIT */
/* What a job is to do, as far as the executor has to know it. Plain data. */
#ifndef WEIR_BULK_PLAN_H
#define WEIR_BULK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/mapping.h"
#include "weir/bulk.h"

/* Whose ids creates carry, which decides what finding one there means. */
enum weir_ids {
    WEIR_IDS_MADE = 0, /* for this job: who has one is ours */
    WEIR_IDS_GIVEN,    /* by the input: ours if it was created since the job began */
    WEIR_IDS_DERIVED,  /* from other columns: an older one is an earlier job's, and skipped */
};

struct weir_plan {
    enum weir_pass pass;
    enum weir_operation job_operation;
    enum weir_operation operation; /* of this pass: the job's in the first, then update */
    enum weir_ids ids;
    bool elastic;
    bool bulk;                 /* the table has the message, and rows may go by it */
    uint64_t tainted_through;  /* rows up to this one may have been sent by an earlier run */
    bool adaptive;             /* rows of a request by what requests take, not by the batch */
    uint32_t singles_max;      /* rows of a $batch where there is no bulk message; at least 1 */
    int64_t job_begun_wall_us; /* by the service's clock, as far as it is known */
    int64_t max_retry_time_us; /* of failures that are not throttles */
    int64_t late_us;           /* so long a request may be executed after its client has left */
    int64_t read_back_us; /* so long after an unknown attempt an id is read back at the earliest */
    uint64_t errors_max;  /* rejected rows; UINT64_MAX: any number */
    double errors_share_max;    /* of the rows that were read, once there are 100; 0: any */
    double rows_per_second_max; /* 0: any */
    size_t memory_bytes_max;    /* of batches on their way */
    uint32_t commit_wait_max;   /* results that may await their commit; at least 1 */
};

#endif
