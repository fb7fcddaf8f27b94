/* SPDX-License-Identifier: MIT */
/*
 * The catalogue of the service's error codes: what each means, whether the request was executed,
 * and what a person can do about it.
 *
 *     const struct weir_catalogue_entry *entry = weir_catalogue_find(code, message);
 *     if (entry && !entry->by_status)
 *         ... entry->class_, entry->outcome ...
 *
 * Most codes mean one thing. Of a few the message has to say which: 0x80044150 is any error of the
 * database, and its text names the database's own number ("Sql Number: 1205"). Pure; the table is
 * constant, and so are all texts. Any thread.
 */
#ifndef WEIR_THROTTLE_CATALOGUE_H
#define WEIR_THROTTLE_CATALOGUE_H

#include "base/str.h"
#include "weir/verdict.h"

#define WEIR_CODE_REQUESTS       UINT32_C(0x80072322)
#define WEIR_CODE_EXECUTION_TIME UINT32_C(0x80072321)
#define WEIR_CODE_CONCURRENCY    UINT32_C(0x80072326)
#define WEIR_CODE_NOT_A_MEMBER   UINT32_C(0x80072560) /* of the organisation */

enum weir_fault_kind {
    WEIR_FAULT_NONE = 0, /* not in the catalogue */
    WEIR_FAULT_THROTTLE, /* one of the three service protection limits */
    WEIR_FAULT_BUSY,     /* a resource behind the service is at its limit */
    WEIR_FAULT_QUERY,    /* a query of a shape that the service slows down */
    WEIR_FAULT_DEADLOCK,
    WEIR_FAULT_SQL_TIMEOUT,
    WEIR_FAULT_TVP_RACE, /* the first bulk calls on a table, all at once */
    WEIR_FAULT_SQL,      /* any other error of the database */
    WEIR_FAULT_DATABASE, /* the database is not there at the moment */
    WEIR_FAULT_CASCADE,  /* another cascading change is at the same rows */
    WEIR_FAULT_MISMATCH, /* the row was changed since it was read */
    WEIR_FAULT_DUPLICATE,
    WEIR_FAULT_NOT_FOUND,
    WEIR_FAULT_VALIDATION,
    WEIR_FAULT_PLUGIN,
    WEIR_FAULT_PRIVILEGE,
    WEIR_FAULT_USER, /* the application user itself: a new token does not help */
    WEIR_FAULT_AUTH,
    WEIR_FAULT_TOO_BIG,
    WEIR_FAULT_BULK_DISABLED,
    WEIR_FAULT_UNSUPPORTED, /* the table has no such message */
    WEIR_FAULT_REQUEST,     /* address or headers, whatever the rows */
    WEIR_FAULT_UNEXPECTED,  /* the service does not say what it was */
    WEIR_FAULT_KIND_COUNT
};

struct weir_catalogue_entry {
    uint32_t code;
    int32_t sql_number; /* that the message must name; 0: any, or none */
    const char *phrase; /* that must stand in the message, any case; NULL: none */
    enum weir_fault_kind kind;
    enum weir_class class_;
    enum weir_outcome outcome;
    bool by_status;     /* listed for people: the HTTP status decides, not the code */
    const char *name;   /* "duplicate record" */
    const char *advice; /* one sentence: what it means, and what to do */
};

/* What a code means, given its message (ptr NULL: none); NULL: not in the catalogue. */
const struct weir_catalogue_entry *weir_catalogue_find(uint32_t code, struct weir_str message);

/* The same, but only its kind; `message` NULL: none. The code 0 is none: as in a verdict. */
enum weir_fault_kind weir_catalogue_kind(uint32_t code, const char *message);

/* The whole table, in the order in which it is searched. */
size_t weir_catalogue_count(void);
const struct weir_catalogue_entry *weir_catalogue_at(size_t place);

/*
 * The number after the last "Sql Number:" of a message. The last, because the text of the database
 * comes before it and may quote what a row contains. False: there is none.
 */
bool weir_catalogue_parse_sql_number(struct weir_str message, int32_t *ret);

/* "deadlock", "sql time-out". */
const char *weir_fault_kind_name(enum weir_fault_kind kind);

#endif
