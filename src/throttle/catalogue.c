/* SPDX-License-Identifier: MIT */
/*
 * The catalogue itself; see catalogue.h.
 *
 * Order: a row with a condition on the message stands before the row of the same code without one.
 * The first that fits is taken.
 *
 * Outcomes. *Not executed* is said only of what the service refuses before it begins, or rolls back
 * as a whole:
 *
 *   service protection, query limits    checked before the request runs
 *   credentials, user, privilege,       found before a row is written, or the transaction is
 *   rows, plug-ins, SQL errors          rolled back with the error
 *   deadlock 1205                       the database rolls its victim back
 *   first-use race                      type and procedure were not there: no row was touched
 *   cascade                             refused because another one holds the rows
 *
 * *Unknown* is everything that may have begun and whose end nobody saw:
 *
 *   a busy or absent database           it may go away between the commit and the answer
 *   SQL time-out                        whoever gave up waiting does not know what it did
 *   0x80040255                          by its own words the transaction was "rolled back or
 *                                       committed"
 *
 * Elastic tables have no transaction: an error of the whole answer is the error of some of its
 * rows, and the details, item by item, speak for themselves.
 *
 * Rows marked `by_status` decide nothing. 0x0 is the service's way of giving no code, and
 * 0x80040216 stands for a wrong body (400) as well as for a crash (500): there the status knows
 * more than the code.
 */
#include "throttle/catalogue.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Advice that several codes share. */
#define WAIT_IT_OUT                                                                                \
    "weir waits for the time the service asks for and lets the other connections work meanwhile; " \
    "add application users or ask for less at a time if it happens often"
#define TRY_LATER                                                                                  \
    "a part of the service is overloaded; weir tries again by itself, and less parallelism helps " \
    "if it stays"
#define NARROW_IT                                                                                  \
    "the service refuses expensive queries for a while; ask for fewer rows or columns, or filter " \
    "by an indexed column"
#define DATABASE_GONE                                                                              \
    "the database could not be reached or was changing over; weir tries again by itself, and "     \
    "only if it lasts is it a matter for Microsoft's support"
#define FIRST_USE                                                                                  \
    "several bulk requests met while the service was preparing the table for its first one; weir " \
    "tries again after a short wait"
#define MEND_THE_ROW                                                                               \
    "a value does not fit its column; correct the row and send it again from the rejects file"
#define PLUGIN                                                                                     \
    "business logic in the environment refused the row; its message says why, and who owns the "   \
    "plug-in can tell more"
#define ASK_FOR_ROLE                                                                               \
    "the application user lacks a privilege on this table; give it a security role that has it"
#define LOG_IN_AGAIN                                                                               \
    "the token was not accepted; weir asks for a new one once, and if that is refused too the "    \
    "connection's credentials have to be checked"

static const struct weir_catalogue_entry entries[] = {
    /* service protection */
    { WEIR_CODE_REQUESTS, 0, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE,
      WEIR_OUTCOME_NOT_EXECUTED, false, "requests limit",
      "this application user has sent too many requests within five minutes; " WAIT_IT_OUT },
    { WEIR_CODE_EXECUTION_TIME, 0, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE,
      WEIR_OUTCOME_NOT_EXECUTED, false, "execution time limit",
      "the requests of this application user took too much time within five "
      "minutes; " WAIT_IT_OUT },
    { WEIR_CODE_CONCURRENCY, 0, NULL, WEIR_FAULT_THROTTLE, WEIR_CLASS_THROTTLE,
      WEIR_OUTCOME_NOT_EXECUTED, false, "concurrency limit",
      "this application user has too many requests in flight; " WAIT_IT_OUT },

    /* a resource behind the service is busy: worth another try, but it may have begun */
    { 0x80072323, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database resource limit", TRY_LATER },
    { 0x80072324, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database worker limit", TRY_LATER },
    { 0x80072327, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "storage concurrency limit", TRY_LATER },
    { 0x80072329, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "application rate limit", TRY_LATER },
    { 0x80072330, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "cache load limit", TRY_LATER },
    { 0x8005F103, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "too many requests", TRY_LATER },
    { 0x8004A001, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "server busy", TRY_LATER },
    { 0x80048559, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database circuit breaker", TRY_LATER },
    { 0x80060308, 0, NULL, WEIR_FAULT_BUSY, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "search rate limit", TRY_LATER },

    /* goes by the shape of the query: another try seldom helps */
    { 0x80048544, 0, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "query throttled", NARROW_IT },
    { 0x80050544, 0, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "query throttled", NARROW_IT },
    { 0x80048644, 0, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "query throttled", NARROW_IT },
    { 0x80048744, 0, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "query throttled", NARROW_IT },
    { 0x80048745, 0, NULL, WEIR_FAULT_QUERY, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "query throttled", NARROW_IT },

    /* errors of the database, told apart by its own number */
    { 0x80044150, 1205, NULL, WEIR_FAULT_DEADLOCK, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "deadlock",
      "two requests held rows that the other one wanted; weir tries again after a short wait, and "
      "smaller batches or fewer of them at a time make it rarer" },
    { 0x80044150, 3732, NULL, WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "first-use race", FIRST_USE },
    { 0x80044150, 2766, NULL, WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "first-use race", FIRST_USE },
    { 0x80044150, 2812, NULL, WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "first-use race", FIRST_USE },
    { 0x80044150, -2, NULL, WEIR_FAULT_SQL_TIMEOUT, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_UNKNOWN, false,
      "database time-out",
      "the database did not finish in time; weir sends the same rows in smaller batches" },
    { 0x80044150, 0, NULL, WEIR_FAULT_SQL, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, false,
      "database error",
      "the database refused the rows; the number in the message says why, and 2627 or 2601 is a "
      "duplicate" },
    { 0x80044151, 0, NULL, WEIR_FAULT_SQL_TIMEOUT, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_UNKNOWN, false,
      "database time-out",
      "the database did not finish in time; weir sends the same rows in smaller batches" },
    { 0x80040255, 0, NULL, WEIR_FAULT_DEADLOCK, WEIR_CLASS_RACE, WEIR_OUTCOME_UNKNOWN, false,
      "swallowed deadlock",
      "a plug-in went on after a deadlock had ended its transaction; weir tries again, and the "
      "plug-in should not catch errors of the database" },
    { 0x8004419D, 0, NULL, WEIR_FAULT_TVP_RACE, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED, false,
      "bulk metadata not ready", FIRST_USE },

    /* the database is away: a failover, a move, a lock that was not to be had */
    { 0x80048554, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80048560, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80048561, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80072031, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80097622, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80098019, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x8004ED47, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "database unavailable", DATABASE_GONE },
    { 0x80044339, 0, NULL, WEIR_FAULT_DATABASE, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, false,
      "lock not obtained",
      "somebody else held a lock that the request needed; weir tries again by itself" },

    { 0x80048105, 0, NULL, WEIR_FAULT_CASCADE, WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED, false,
      "cascade under way",
      "another change that cascades to the same rows is running; weir tries again after a short "
      "wait" },

    /* rows */
    { 0x80060882, 0, NULL, WEIR_FAULT_MISMATCH, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "version mismatch",
      "the row was changed by somebody else since it was read; read it again before it is "
      "changed" },
    { 0x80040237, 0, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "duplicate record",
      "a record with this id exists already; use upsert to change what is there" },
    { 0x80060892, 0, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "duplicate key",
      "a record with the same alternate key exists already; use upsert with --key to change what "
      "is there" },
    { 0x80040333, 0, NULL, WEIR_FAULT_DUPLICATE, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "duplicate detected",
      "a duplicate detection rule found a record like this one; leave out --detect-duplicates to "
      "create it all the same" },
    { 0x80040217, 0, NULL, WEIR_FAULT_NOT_FOUND, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "record not found",
      "no record has this id, or the application user may not see it; check the id and what it "
      "refers to" },
    { 0x80060891, 0, NULL, WEIR_FAULT_NOT_FOUND, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "key not found",
      "no record has this alternate key; check its value, or use upsert to create the record" },
    { 0x80044331, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "text too long", MEND_THE_ROW },
    { 0x80044330, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "value out of range", MEND_THE_ROW },
    { 0x80090429, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "value does not fit", MEND_THE_ROW },
    { 0x80048408, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "status does not belong to state",
      "this statuscode cannot stand with this statecode; weir describe lists the pairs" },
    { 0x80048D19, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "payload not understood",
      "a column or a value is not as the service expects it; names of lookups are case-sensitive, "
      "and weir describe lists the columns" },
    { 0x80040203, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "invalid argument", MEND_THE_ROW },
    { 0x80040265, 0, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, false,
      "plug-in refused", PLUGIN },
    { 0x80048D0B, 0, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, false,
      "plug-in refused", PLUGIN },
    { 0x80048D02, 0, NULL, WEIR_FAULT_PLUGIN, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, false,
      "plug-in refused", PLUGIN },

    /* who asks */
    { 0x80040220, 0, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "privilege missing", ASK_FOR_ROLE },
    { 0x80048306, 0, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "privilege missing", ASK_FOR_ROLE },
    { 0x80040299, 0, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "owner lacks privilege",
      "the user or team that is to own the row lacks a privilege on this table; give it a security "
      "role that has it, or name another owner" },
    { 0x80040231, 0, NULL, WEIR_FAULT_PRIVILEGE, WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED,
      false, "access denied", ASK_FOR_ROLE },
    { 0x80040225, 0, NULL, WEIR_FAULT_USER, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "user disabled",
      "the application user is disabled in this environment; enable it in the admin centre" },
    { 0x80072560, 0, NULL, WEIR_FAULT_USER, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "user not a member",
      "the application has no application user in this environment; add one in the admin centre "
      "and give it a security role" },
    { 0x8004A100, 0, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "token refused", LOG_IN_AGAIN },
    { 0x8004A101, 0, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "token expired", LOG_IN_AGAIN },
    { 0x8004A102, 0, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "token malformed", LOG_IN_AGAIN },
    { 0x8004A103, 0, NULL, WEIR_FAULT_AUTH, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED,
      false, "token insufficient", LOG_IN_AGAIN },

    /*
     * Documented for addresses that are too long, and sent for addresses that are wrong in other
     * ways too: splitting would not mend those.
     */
    { 0x80060888, 0, "not found for the segment", WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER,
      WEIR_OUTCOME_NOT_EXECUTED, false, "unknown resource",
      "the environment has no table or message of this name; names of entity sets are "
      "case-sensitive" },
    { 0x80060888, 0, "could not find a property", WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS,
      WEIR_OUTCOME_NOT_EXECUTED, false, "unknown column",
      "the table has no column of this name; weir describe lists the columns" },
    { 0x80060888, 0, "query syntax", WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER,
      WEIR_OUTCOME_NOT_EXECUTED, false, "malformed query",
      "the service could not read the query; its message says where" },
    { 0x80060888, 0, NULL, WEIR_FAULT_TOO_BIG, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED, false,
      "request too long",
      "the address of a request is longer than the service takes; weir sends less at a time" },

    /* messages and headers */
    { 0x80048D2D, 0, NULL, WEIR_FAULT_BULK_DISABLED, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED,
      false, "bulk messages disabled",
      "bulk messages are switched off in this environment; weir uses $batch instead" },
    { 0x80040216, 0, "not yet been implemented", WEIR_FAULT_UNSUPPORTED, WEIR_CLASS_OTHER,
      WEIR_OUTCOME_NOT_EXECUTED, false, "message not supported",
      "the table has no such message; weir uses $batch instead" },
    { 0x80040216, 0, "not yet implemented", WEIR_FAULT_UNSUPPORTED, WEIR_CLASS_OTHER,
      WEIR_OUTCOME_NOT_EXECUTED, false, "message not supported",
      "the table has no such message; weir uses $batch instead" },
    { 0x80097628, 0, NULL, WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "too many steps to bypass",
      "fewer plug-in steps can be bypassed in one request; leave some of them out" },
    { 0x80097303, 0, NULL, WEIR_FAULT_REQUEST, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, false,
      "malformed preference",
      "the service could not read the header Prefer; it is a fault of the sending program" },

    /* for people */
    { 0x80040216, 0, NULL, WEIR_FAULT_UNEXPECTED, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, true,
      "unexpected error",
      "the service does not say what went wrong; with status 400 look at the row (an upsert whose "
      "key column is in the body as well ends so), otherwise weir tries again" },
    { 0x8006088A, 0, NULL, WEIR_FAULT_REQUEST, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, true,
      "unknown resource",
      "the environment has no table or message of this name; names of entity sets are "
      "case-sensitive" },
    { 0, 0, NULL, WEIR_FAULT_VALIDATION, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, true,
      "no code",
      "the service gave no code; with status 400 it is most often a column that the table does not "
      "have, and weir describe lists those it has" },
};

size_t weir_catalogue_count(void)
{
    return COUNT(entries);
}

const struct weir_catalogue_entry *weir_catalogue_at(size_t place)
{
    return place < COUNT(entries) ? &entries[place] : NULL;
}

/* A sign and digits at the beginning of `text`, as many as there are. */
static bool parse_leading(struct weir_str text, int32_t *ret)
{
    size_t len = text.len && text.ptr[0] == '-';
    int64_t value;
    while (len < text.len && text.ptr[len] >= '0' && text.ptr[len] <= '9')
        len++;
    if (!weir_str_to_int64(weir_str(text.ptr, len), &value) || value < INT32_MIN ||
        value > INT32_MAX)
        return false;
    *ret = (int32_t)value;
    return true;
}

bool weir_catalogue_parse_sql_number(struct weir_str message, int32_t *ret)
{
    static const char label[] = "Sql Number:";
    bool found = false;
    for (;;) {
        size_t at = weir_str_find_nocase(message, label);
        if (at == message.len)
            return found;
        at += sizeof(label) - 1;
        message = weir_str_trim(weir_str(message.ptr + at, message.len - at));
        found |= parse_leading(message, ret);
    }
}

static bool has_phrase(struct weir_str message, const char *phrase)
{
    return !phrase || weir_str_find_nocase(message, phrase) < message.len;
}

const struct weir_catalogue_entry *weir_catalogue_find(uint32_t code, struct weir_str message)
{
    int32_t sql_number = 0;
    weir_catalogue_parse_sql_number(message, &sql_number);
    for (size_t i = 0; i < COUNT(entries); i++) {
        const struct weir_catalogue_entry *entry = &entries[i];
        if (entry->code == code && (!entry->sql_number || entry->sql_number == sql_number) &&
            has_phrase(message, entry->phrase))
            return entry;
    }
    return NULL;
}

enum weir_fault_kind weir_catalogue_kind(uint32_t code, const char *message)
{
    /* In verdicts 0 stands for no code at all. */
    const struct weir_catalogue_entry *entry =
        code ? weir_catalogue_find(code, weir_str_from(message)) : NULL;
    return entry ? entry->kind : WEIR_FAULT_NONE;
}

const char *weir_fault_kind_name(enum weir_fault_kind kind)
{
    static const char *const names[WEIR_FAULT_KIND_COUNT] = {
        [WEIR_FAULT_NONE] = "none",
        [WEIR_FAULT_THROTTLE] = "throttle",
        [WEIR_FAULT_BUSY] = "busy",
        [WEIR_FAULT_QUERY] = "query",
        [WEIR_FAULT_DEADLOCK] = "deadlock",
        [WEIR_FAULT_SQL_TIMEOUT] = "sql time-out",
        [WEIR_FAULT_TVP_RACE] = "first-use race",
        [WEIR_FAULT_SQL] = "sql",
        [WEIR_FAULT_DATABASE] = "database",
        [WEIR_FAULT_CASCADE] = "cascade",
        [WEIR_FAULT_MISMATCH] = "mismatch",
        [WEIR_FAULT_DUPLICATE] = "duplicate",
        [WEIR_FAULT_NOT_FOUND] = "not found",
        [WEIR_FAULT_VALIDATION] = "validation",
        [WEIR_FAULT_PLUGIN] = "plug-in",
        [WEIR_FAULT_PRIVILEGE] = "privilege",
        [WEIR_FAULT_USER] = "user",
        [WEIR_FAULT_AUTH] = "auth",
        [WEIR_FAULT_TOO_BIG] = "too big",
        [WEIR_FAULT_BULK_DISABLED] = "bulk disabled",
        [WEIR_FAULT_UNSUPPORTED] = "unsupported",
        [WEIR_FAULT_REQUEST] = "request",
        [WEIR_FAULT_UNEXPECTED] = "unexpected",
    };
    return (size_t)kind < COUNT(names) ? names[kind] : "unknown kind";
}
