/* SPDX-License-Identifier: MIT */
/* What to do about rejected rows; see report_advice.h. */
#include "report_advice.h"

#include <string.h>

#include "bulk/report.h"
#include "throttle/catalogue.h"

/* What a message of our own has, and what that asks for. The first that is found counts. */
struct own {
    const char *phrase;
    const char *name;
    const char *advice;
};

#define MEND_AND_FEED "mend the cells in the rejects file and load that file"

static const struct own owns[] = {
    { "where the header names", "too many or too few cells",
      "put cells that have a separator, a quote or a line end in them into double quotes" },
    { "is no choice", "no choice of the column",
      "give the number or the label of a choice (weir describe lists them), or translate the "
      "values with \"values\" in a mapping file (weir map writes one)" },
    { "of several choices", "ambiguous choice", "give the number of the choice, not its label" },
    { "is no date", "no date", "write dates as 2026-11-16 and times as 2026-11-16T09:30:00Z" },
    { "says no zone", "time without a zone",
      "give --timezone, as in Europe/Berlin, or write times with an offset" },
    { "is no whole number", "no whole number",
      "write digits only, without separators or units; " MEND_AND_FEED },
    { "is no number", "no number",
      "write digits with a point, without separators or a currency; " MEND_AND_FEED },
    { "is out of range", "out of range",
      "check the unit and the column; weir describe shows the range" },
    { "neither true nor false", "neither true nor false",
      "write true or false, or translate the values with \"values\" in a mapping file" },
    { "is no GUID", "no id", "check that the column of the file holds ids" },
    { "is no id", "no id", "check that the column of the file holds ids" },
    { "cell is empty", "empty cell", "fill the cells, or choose --empty omit or null" },
    { "has no value for", "missing key", "fill the columns that name the row" },
    { "has no owner", "no owner", "give --owner, or a column ownerid" },
    { "no row of the table", "what a lookup names is not there",
      "load the rows that it refers to first, or mend the value" },
    { "control characters", "a control character",
      "take it out of the text: only tabs and line ends may stand there" },
    { "characters", "text too long",
      "shorten the text, or have the column made longer; weir describe shows its length" },
};

static bool has(struct weir_str text, const char *phrase)
{
    return text.len > 0 && memmem(text.ptr, text.len, phrase, strlen(phrase)) != NULL;
}

/* NULL: it was sent, or nothing is known of it. */
static const struct own *find_own(const struct weir_reject *reject)
{
    for (size_t i = 0; !reject->http_status && i < sizeof(owns) / sizeof(owns[0]); i++) {
        if (has(reject->message, owns[i].phrase))
            return &owns[i];
    }
    return NULL;
}

/* Rows of an elastic table that failed together. */
static bool has_status_only(const struct weir_reject *reject)
{
    return reject->http_status && has(reject->message, WEIR_REPORT_STATUS_ONLY);
}

static const struct weir_catalogue_entry *find_code(const struct weir_reject *reject)
{
    return reject->service_code ? weir_catalogue_find(reject->service_code, reject->message) : NULL;
}

const char *report_advice_name(const struct weir_reject *reject)
{
    const struct weir_catalogue_entry *entry = find_code(reject);
    const struct own *own = find_own(reject);
    if (entry)
        return entry->name;
    if (own)
        return own->name;
    if (has_status_only(reject))
        return "refused by the elastic table";
    return reject->http_status ? "refused by the service" : "refused before it was sent";
}

const char *report_advice(const struct weir_reject *reject)
{
    const struct weir_catalogue_entry *entry = find_code(reject);
    const struct own *own = find_own(reject);
    if (entry)
        return entry->advice;
    if (own)
        return own->advice;
    if (has_status_only(reject))
        return "load the rejects file with --batch-size 1: then each row is told what is wrong "
               "with it";
    if (reject->http_status)
        return "the message is the service's own; plug-ins and business rules of the table write "
               "such ones";
    return MEND_AND_FEED;
}
