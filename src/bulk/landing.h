/* SPDX-License-Identifier: MIT */
/*
 * A landing: one answer while it is taken apart. Inside of the executor; see executor_parts.h.
 *
 *     answer of the whole ─┐
 *                          ├─▶ a course for every row ─▶ the load is cut up by courses: a new load
 *     answer of a row ─────┘                             for each that leads on
 *
 *     landing.c   from the answer to the new loads, and what the job learns on the way
 *     outcome.c   the courses after a write
 *     denial.c    … where it was forbidden
 *     verify.c    … and after a read-back
 */
#ifndef WEIR_BULK_LANDING_H
#define WEIR_BULK_LANDING_H

#include "bulk/executor_parts.h"

/* What becomes of a row after an answer. */
enum weir_course {
    WEIR_COURSE_OVER = 0,  /* it has a fate */
    WEIR_COURSE_AGAIN,     /* the same, at once */
    WEIR_COURSE_LATER,     /* the same, after the back-off of the load */
    WEIR_COURSE_ELSEWHERE, /* the same, on another connection */
    WEIR_COURSE_HALVES,    /* the same, half as many at a time */
    WEIR_COURSE_SINGLES,
    WEIR_COURSE_READ_BACK,
    WEIR_COURSE_WHEN_CLEAR, /* the same, once nothing of an earlier attempt can be executed */
    WEIR_COURSE_COUNT
};

struct weir_landing {
    struct weir_executor *executor;
    struct weir_load *load;
    const struct weir_report *report;
    int64_t now_us;
    uint8_t *courses; /* enum weir_course, by row */
    uint32_t counts[WEIR_COURSE_COUNT];
    bool transient; /* what the failures that are tried again were */
    bool race;
    bool refusal;
    uint32_t done_rows;   /* of a write: by this answer … */
    uint32_t denied_rows; /* … and forbidden by it */
    bool denied;          /* by this connection, some of it */
    bool convicted;       /* nobody may do it */
    bool bad_row;         /* a row is to blame */
    bool whole_bad;       /* it failed as a whole for a row in it */
    bool foreign_id;      /* a row was created under another id than its own */
};

/* --- landing.c --- */

void weir_landing_steer(struct weir_landing *landing, uint32_t i, enum weir_course course);
void weir_landing_steer_all(struct weir_landing *landing, enum weir_course course);

/* The row has come to its end. */
void weir_landing_end(struct weir_landing *landing, uint32_t i, enum weir_fate fate);
void weir_landing_end_all(struct weir_landing *landing, enum weir_fate fate);

/* The same after a back-off that goes by the class of the failure. */
void weir_landing_later(struct weir_landing *landing, uint32_t i, enum weir_class class_);
void weir_landing_all_later(struct weir_landing *landing, enum weir_class class_);

/* Half as many at a time; a single row later. */
void weir_landing_halve(struct weir_landing *landing, enum weir_class class_);

/* The credentials were refused. */
void weir_landing_refused(struct weir_landing *landing);

/* --- outcome.c --- */

void weir_landing_read_write(struct weir_landing *landing);

/* What stands against a row that is there already says so before the service's own words. */
void weir_landing_say_existing(struct weir_row_state *state);

/* The row itself is to blame. */
void weir_landing_fail(struct weir_landing *landing, uint32_t i,
                       const struct weir_report_item *item);

/* --- denial.c --- */

/* One connection forbids all of it, or a row of it. */
void weir_landing_deny_all(struct weir_landing *landing);
void weir_landing_deny(struct weir_landing *landing, uint32_t i,
                       const struct weir_report_item *item);

/* It goes on in another way: what was forbidden so far says nothing of that. */
void weir_landing_forget_refusers(struct weir_landing *landing);

/* After the courses of a write: those who forbade what this connection has done are set aside. */
void weir_landing_learn_of_denials(struct weir_landing *landing);

/* --- verify.c --- */

void weir_landing_read_back(struct weir_landing *landing);

static inline bool weir_landing_is_create(const struct weir_landing *landing)
{
    return landing->executor->plan.operation == WEIR_OPERATION_CREATE;
}

#endif
