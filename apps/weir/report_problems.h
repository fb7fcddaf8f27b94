/* SPDX-License-Identifier: MIT */
/*
 * Rejected rows, grouped by their cause: "37,210 rejects = 3 problems". Each problem has its count,
 * its first row as an example, what was said, and what to do. Memory is bounded, however many rows
 * and causes there are: causes beyond REPORT_PROBLEMS_MAX are counted together.
 *
 *     struct report_problems problems = { 0 };
 *     for each reject: report_problems_add(&problems, reject, path);
 *     report_problems_sort(&problems);
 *     ...
 *     report_problems_release(&problems);
 */
#ifndef WEIR_APP_REPORT_PROBLEMS_H
#define WEIR_APP_REPORT_PROBLEMS_H

#include "base/buf.h"
#include "bulk/job.h"

/* That are told apart, and that the last lines of a run name. */
#define REPORT_PROBLEMS_MAX  64
#define REPORT_PROBLEMS_SAID 5

/* Texts may be empty, never NULL. */
struct report_problem {
    char *key;
    uint64_t rows;
    uint64_t row; /* the example: the first of them … */
    uint64_t offset;
    char *file;
    char *column;
    char *value; /* that is wrong; as far as the message has it */
    char *line;  /* the row as it stood, cut */
    char *message;
    char *class_name;
    char *request_id;
    int http_status;
    uint32_t service_code;
    const char *name;   /* a few words for it */
    const char *advice; /* one sentence: what to do */
};

struct report_problems {
    struct report_problem list[REPORT_PROBLEMS_MAX];
    size_t count;
    uint64_t rejects;    /* all of them */
    uint64_t others;     /* of them, not in the list */
    uint64_t superseded; /* of all: a later row with the same key replaces them */
    uint64_t there;      /* of all: they are written, and a later pass was refused … */
    uint64_t withheld;   /* … of them, not for the rejects file, because they would be doubled */
};

void report_problems_add(struct report_problems *problems, const struct weir_reject *reject,
                         const char *path);

/* The most frequent first; alike: in the order of the input. */
void report_problems_sort(struct report_problems *problems);

void report_problems_release(struct report_problems *problems);

/* Of a job that was finished: added and sorted. What its journal cannot tell is missing. */
void report_problems_of(struct report_problems *problems, struct weir_job *job);

/*
 * As lines for people, each with its end: at most REPORT_PROBLEMS_SAID problems. `report`: where
 * more of them stand; NULL: nowhere. Adds nothing if there are none.
 */
void report_problems_print(const struct report_problems *problems, const char *report,
                           struct weir_buf *text);

#endif
