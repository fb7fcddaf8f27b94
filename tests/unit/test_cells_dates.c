/* SPDX-License-Identifier: MIT */
/* Cells of dates, by the behaviour of their column, and of GUIDs: a table; see test_cells.c. */
#include "support/cell_rig.h"

#define GUID "0123abcd-4567-89ab-cdef-0123456789ab"

/* ---- columns ---- */

static struct weir_column day = { .name = "day",
                                  .type = WEIR_COLUMN_DATETIME,
                                  .behavior = WEIR_DATE_ONLY };
static struct weir_column opening = { .name = "opening",
                                      .type = WEIR_COLUMN_DATETIME,
                                      .behavior = WEIR_DATE_ZONE_INDEPENDENT };
static struct weir_column seen = { .name = "seen", .type = WEIR_COLUMN_DATETIME };
static struct weir_column id = { .name = "id", .type = WEIR_COLUMN_ID };

/* ---- the table ---- */

#define YEARS                       "dates from 1753-01-01 to 9999-12-31"
#define NO_DATE(cell, column, form) "\"" cell "\" is no date; \"" column "\" takes " form
#define IMPOSSIBLE(cell, column, form)                                                             \
    "\"" cell "\" is in no calendar or on no clock; \"" column "\" takes " form
#define DAY    "YYYY-MM-DD"
#define CLOCK  "YYYY-MM-DDTHH:MM:SS"
#define MOMENT "YYYY-MM-DDTHH:MM:SS and an offset"
#define NO_GUID(cell)                                                                              \
    "\"" cell "\" is no GUID; \"id\" takes 32 hexadecimal digits in groups of 8-4-4-4-12"

static const struct row days[] = {
    { &day, "2024-02-29", "\"2024-02-29\"", NULL },
    { &day, " 2000-02-29 ", "\"2000-02-29\"", NULL },
    { &day, "1753-01-01", "\"1753-01-01\"", NULL },
    { &day, "9999-12-31", "\"9999-12-31\"", NULL },
    { &day, "2024-02-29 00:00:00", "\"2024-02-29\"", NULL },
    { &day, "2024-02-29T00:00:00.000", "\"2024-02-29\"", NULL },
    { &day, "2023-02-29", NULL, IMPOSSIBLE("2023-02-29", "day", DAY) },
    { &day, "1900-02-29", NULL, IMPOSSIBLE("1900-02-29", "day", DAY) },
    { &day, "2024-13-01", NULL, IMPOSSIBLE("2024-13-01", "day", DAY) },
    { &day, "2024-00-10", NULL, IMPOSSIBLE("2024-00-10", "day", DAY) },
    { &day, "2024-04-31", NULL, IMPOSSIBLE("2024-04-31", "day", DAY) },
    { &day, "0000-01-01", NULL, RANGE("0000-01-01", "day", YEARS) },
    { &day, "1752-12-31", NULL, RANGE("1752-12-31", "day", YEARS) },
    { &day, "29.02.2024", NULL, NO_DATE("29.02.2024", "day", DAY) },
    { &day, "02/29/2024", NULL, NO_DATE("02/29/2024", "day", DAY) },
    { &day, "20240229", NULL, NO_DATE("20240229", "day", DAY) },
    { &day, "2024-2-29", NULL, NO_DATE("2024-2-29", "day", DAY) },
    { &day, "10000-01-01", NULL, NO_DATE("10000-01-01", "day", DAY) },
    { &day, "2024-02-29x", NULL, NO_DATE("2024-02-29x", "day", DAY) },
    { &day, "2024-02-29T09:30", NULL,
      "\"2024-02-29T09:30\" is more than a day; \"day\" takes YYYY-MM-DD and no time" },
    { &day, "2024-02-29T00:00:00.5", NULL,
      "\"2024-02-29T00:00:00.5\" is more than a day; \"day\" takes YYYY-MM-DD and no time" },
    { &day, "2024-02-29T00:00:00Z", NULL,
      "\"2024-02-29T00:00:00Z\" is more than a day; \"day\" takes YYYY-MM-DD and no time" },
};

static const struct row clocks[] = {
    { &opening, "2024-02-29T09:30:15", "\"2024-02-29T09:30:15Z\"", NULL },
    { &opening, "2024-02-29 09:30", "\"2024-02-29T09:30:00Z\"", NULL },
    { &opening, "2024-02-29t23:59:59.1234567", "\"2024-02-29T23:59:59.1234567Z\"", NULL },
    { &opening, "2024-02-29", "\"2024-02-29T00:00:00Z\"", NULL },
    { &opening, "2024-02-29T09:30:15Z", "\"2024-02-29T09:30:15Z\"", NULL },
    { &opening, "2024-02-29 09:30 +00:00", "\"2024-02-29T09:30:00Z\"", NULL },
    { &opening, "2024-03-31 02:30", "\"2024-03-31T02:30:00Z\"", NULL },
    { &opening, "1753-01-01 00:00", "\"1753-01-01T00:00:00Z\"", NULL },
    { &opening, "2024-02-29T09:30+02:00", NULL,
      "\"2024-02-29T09:30+02:00\" has an offset; \"opening\" is the same in every zone and takes "
      "none" },
    { &opening, "1752-12-31T23:59:59", NULL, RANGE("1752-12-31T23:59:59", "opening", YEARS) },
    { &opening, "2024-02-29T24:00", NULL, IMPOSSIBLE("2024-02-29T24:00", "opening", CLOCK) },
    { &opening, "2024-02-29T09:60", NULL, IMPOSSIBLE("2024-02-29T09:60", "opening", CLOCK) },
    { &opening, "2016-12-31T23:59:60", NULL, IMPOSSIBLE("2016-12-31T23:59:60", "opening", CLOCK) },
    { &opening, "2024-02-29T9:30", NULL, NO_DATE("2024-02-29T9:30", "opening", CLOCK) },
    { &opening, "2024-02-29T", NULL, NO_DATE("2024-02-29T", "opening", CLOCK) },
    { &opening, "2024-02-29 09:30:15.", NULL, NO_DATE("2024-02-29 09:30:15.", "opening", CLOCK) },
    { &opening, "2024-02-29 09:30 PM", NULL, NO_DATE("2024-02-29 09:30 PM", "opening", CLOCK) },
    { &opening, "now", NULL, NO_DATE("now", "opening", CLOCK) },
};

/* Without a zone. */
static const struct row moments[] = {
    { &seen, "2024-02-29T09:30:15Z", "\"2024-02-29T09:30:15Z\"", NULL },
    { &seen, "2024-02-29 09:30:15z", "\"2024-02-29T09:30:15Z\"", NULL },
    { &seen, "2024-03-01T00:30+01:00", "\"2024-02-29T23:30:00Z\"", NULL },
    { &seen, "2024-12-31T23:30:00-0530", "\"2025-01-01T05:00:00Z\"", NULL },
    { &seen, "2024-02-29 09:30:00+00", "\"2024-02-29T09:30:00Z\"", NULL },
    { &seen, "2024-02-29 09:30:00.1200000 -08:00", "\"2024-02-29T17:30:00.1200000Z\"", NULL },
    { &seen, "2024-02-29T09:30:00.123456789Z", "\"2024-02-29T09:30:00.1234567Z\"", NULL },
    { &seen, "1969-12-31T23:59:59.9Z", "\"1969-12-31T23:59:59.9Z\"", NULL },
    { &seen, "1752-12-31T23:00:00-01:00", "\"1753-01-01T00:00:00Z\"", NULL },
    { &seen, "2024-01-01T00:00+14:00", "\"2023-12-31T10:00:00Z\"", NULL },
    { &seen, "9999-12-31T23:59:59Z", "\"9999-12-31T23:59:59Z\"", NULL },
    { &seen, "1753-01-01T00:30+01:00", NULL,
      "\"1753-01-01T00:30+01:00\" is in UTC before 1753-01-01T00:00:00Z, the first moment that "
      "\"seen\" takes" },
    { &seen, "9999-12-31T23:30-01:00", NULL,
      "\"9999-12-31T23:30-01:00\" is in UTC after 9999-12-31T23:59:59Z, the last moment that "
      "\"seen\" takes" },
    { &seen, "2024-02-29T09:30", NULL,
      "\"2024-02-29T09:30\" says no zone; \"seen\" takes an offset such as +01:00 or Z, or a time "
      "zone for the whole input" },
    { &seen, "2024-02-29", NULL,
      "\"2024-02-29\" says no zone; \"seen\" takes an offset such as +01:00 or Z, or a time zone "
      "for the whole input" },
    { &seen, "2024-02-30T09:30Z", NULL, IMPOSSIBLE("2024-02-30T09:30Z", "seen", MOMENT) },
    { &seen, "2024-01-01T00:00+14:01", NULL, NO_DATE("2024-01-01T00:00+14:01", "seen", MOMENT) },
    { &seen, "2024-01-01T00:00+01:60", NULL, NO_DATE("2024-01-01T00:00+01:60", "seen", MOMENT) },
    { &seen, "2024-01-01T00:00+1", NULL, NO_DATE("2024-01-01T00:00+1", "seen", MOMENT) },
    { &seen, "2024-01-01T00:00 CET", NULL, NO_DATE("2024-01-01T00:00 CET", "seen", MOMENT) },
    { &seen, "2024-01-01Z", NULL, NO_DATE("2024-01-01Z", "seen", MOMENT) },
};

/* In Europe/Berlin. */
static const struct row moments_in_berlin[] = {
    { &seen, "2024-01-15 12:00", "\"2024-01-15T11:00:00Z\"", NULL },
    { &seen, "2024-07-15 12:00:00.25", "\"2024-07-15T10:00:00.25Z\"", NULL },
    { &seen, "2024-07-15", "\"2024-07-14T22:00:00Z\"", NULL },
    { &seen, "2024-07-15 12:00Z", "\"2024-07-15T12:00:00Z\"", NULL },
    { &seen, "2024-03-31 01:59:59", "\"2024-03-31T00:59:59Z\"", NULL },
    { &seen, "2024-03-31 03:00", "\"2024-03-31T01:00:00Z\"", NULL },
    { &seen, "2024-03-31 02:30", NULL,
      "\"2024-03-31 02:30\" was never on the clocks of Europe/Berlin, which were changed then; "
      "\"seen\" takes it with an offset such as +01:00" },
    { &seen, "2024-10-27 02:30", NULL,
      "\"2024-10-27 02:30\" was twice on the clocks of Europe/Berlin, which were changed then; "
      "\"seen\" takes it with an offset such as +01:00" },
    { &seen, "2024-10-27 02:30 +01:00", "\"2024-10-27T01:30:00Z\"", NULL },
    { &seen, "2024-10-27 01:59:59", "\"2024-10-26T23:59:59Z\"", NULL },
    { &seen, "2024-10-27 03:00:00", "\"2024-10-27T02:00:00Z\"", NULL },
    { &seen, "2099-07-01 12:00", "\"2099-07-01T10:00:00Z\"", NULL },
    { &seen, "1890-01-01 12:00", "\"1890-01-01T11:06:32Z\"", NULL },
    { &seen, "1753-01-01 00:53:28", "\"1753-01-01T00:00:00Z\"", NULL },
    { &seen, "1753-01-01 00:53:27", NULL,
      "\"1753-01-01 00:53:27\" is in UTC before 1753-01-01T00:00:00Z, the first moment that "
      "\"seen\" takes" },
    { &opening, "2024-03-31 02:30", "\"2024-03-31T02:30:00Z\"", NULL },
    { &day, "2024-03-31", "\"2024-03-31\"", NULL },
};

static const struct row guids[] = {
    { &id, GUID, "\"" GUID "\"", NULL },
    { &id, "{0123ABCD-4567-89AB-CDEF-0123456789AB}", "\"" GUID "\"", NULL },
    { &id, "(" GUID ")", "\"" GUID "\"", NULL },
    { &id, "0123ABCD456789abcdef0123456789ab", "\"" GUID "\"", NULL },
    { &id, " " GUID "\t", "\"" GUID "\"", NULL },
    { &id, "00000000-0000-0000-0000-000000000000", "\"00000000-0000-0000-0000-000000000000\"",
      NULL },
    { &id, "0123abcd-4567-89ab-cdef-0123456789a", NULL,
      NO_GUID("0123abcd-4567-89ab-cdef-0123456789a") },
    { &id, "0123abcd-4567-89ab-cdef-0123456789ag", NULL,
      NO_GUID("0123abcd-4567-89ab-cdef-0123456789ag") },
    { &id, "{" GUID ")", NULL, NO_GUID("{" GUID ")") },
    { &id, "(" GUID "}", NULL, NO_GUID("(" GUID "}") },
    { &id, "0123abcd4567-89ab-cdef-0123456789ab0", NULL,
      NO_GUID("0123abcd4567-89ab-cdef-0123456789ab0") },
    { &id, "0123abcd456789abcdef0123456789ax", NULL, NO_GUID("0123abcd456789abcdef0123456789ax") },
    { &id, "Contoso", NULL, NO_GUID("Contoso") },
};

/* ---- tests ---- */

START_TEST(dates_follow_the_behaviour_of_their_column_or_are_refused)
{
    TRY(days);
    TRY(clocks);
    TRY(moments);
}
END_TEST

START_TEST(dates_without_an_offset_are_in_the_zone_of_the_rule)
{
    struct weir_zone *zone;
    struct weir_error err;
    ck_assert_int_eq(weir_zone_load("Europe/Berlin", &zone, &err), WEIR_OK);
    for (size_t i = 0; i < COUNT(moments_in_berlin); i++)
        try_row(&moments_in_berlin[i], zone);
    weir_zone_free(zone);
}
END_TEST

START_TEST(guids_come_in_every_form)
{
    TRY(guids);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("cells_dates");
    suite_add(&s, dates_follow_the_behaviour_of_their_column_or_are_refused);
    suite_add(&s, dates_without_an_offset_are_in_the_zone_of_the_rule);
    suite_add(&s, guids_come_in_every_form);
    return suite_run(&s);
}
