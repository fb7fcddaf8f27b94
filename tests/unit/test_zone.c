/* SPDX-License-Identifier: MIT */
/*
 * Time zones, against the C library: what its localtime_r() says of a zone, this must say too, and
 * what clocks show must lead back to the moment. Each zone is a process of its own.
 */
#include "records/zone.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "records/calendar.h"
#include "records/zone_rule.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define YEAR_1900_S (-INT64_C(2208988800))
#define YEAR_2100_S INT64_C(4102444800)
#define HOUR_S      3600

/* ---- the C library ---- */

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static int32_t theirs(int64_t utc_s)
{
    struct tm tm;
    time_t time = utc_s;
    must(localtime_r(&time, &tm));
    return (int32_t)tm.tm_gmtoff;
}

/* The first moment in (from, to] at which their offset is that of `to`. */
static int64_t find_change(int64_t from_s, int64_t to_s)
{
    int32_t after = theirs(to_s);
    while (to_s - from_s > 1) {
        int64_t middle_s = from_s + (to_s - from_s) / 2;
        if (theirs(middle_s) == after)
            to_s = middle_s;
        else
            from_s = middle_s;
    }
    return to_s;
}

/* How often clocks show it, by trying the offsets of the days around; the first moment, too. */
static int count_theirs(int64_t local_s, int64_t *ret_s)
{
    int32_t tried[16];
    int count = 0;
    int found = 0;
    for (int64_t near_s = local_s - 27 * HOUR_S; near_s <= local_s + 27 * HOUR_S;
         near_s += HOUR_S) {
        int32_t offset = theirs(near_s);
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || tried[i] == offset;
        if (known)
            continue;
        must(count < (int)COUNT(tried));
        tried[count++] = offset;
        int64_t utc_s = local_s - offset;
        if (theirs(utc_s) != offset)
            continue;
        if (!found || utc_s < *ret_s)
            *ret_s = utc_s;
        found++;
    }
    return found;
}

/* ---- comparing ---- */

static void is_same_offset(const struct weir_zone *zone, int64_t utc_s)
{
    if (weir_zone_offset_s(zone, utc_s) != theirs(utc_s))
        ck_abort_msg("%s at %lld: %d, not %d", weir_zone_name(zone), (long long)utc_s,
                     (int)weir_zone_offset_s(zone, utc_s), (int)theirs(utc_s));
}

static enum weir_clock is_same_moment(const struct weir_zone *zone, int64_t local_s)
{
    int64_t utc_s = 0;
    int64_t theirs_s = 0;
    int count = count_theirs(local_s, &theirs_s);
    enum weir_clock clock = weir_zone_moment(zone, local_s, &utc_s);
    enum weir_clock right = count > 1 ? WEIR_CLOCK_TWICE
                            : count   ? WEIR_CLOCK_ONCE
                                      : WEIR_CLOCK_NEVER;
    if (clock != right || utc_s != theirs_s)
        ck_abort_msg("%s shows %lld: %d at %lld, not %d at %lld", weir_zone_name(zone),
                     (long long)local_s, clock, (long long)utc_s, right, (long long)theirs_s);
    return clock;
}

/* All around a change, to the second. Returns the kinds of clocks that were seen, as bits. */
static unsigned look_at_change(const struct weir_zone *zone, int64_t at_s)
{
    int32_t before = theirs(at_s - 1);
    int32_t after = theirs(at_s);
    unsigned kinds = 0;
    for (int64_t near_s = at_s - 2; near_s <= at_s + 2; near_s++) {
        is_same_offset(zone, near_s);
        kinds |= 1U << is_same_moment(zone, near_s + before);
        kinds |= 1U << is_same_moment(zone, near_s + after);
    }
    kinds |= 1U << is_same_moment(zone, at_s + before + (after - before) / 2);
    return kinds;
}

/* From one moment to another in steps; each change between them is found and looked at. */
static int walk(const struct weir_zone *zone, int64_t from_s, int64_t to_s, int64_t step_s)
{
    int changes = 0;
    unsigned kinds = 0;
    for (int64_t utc_s = from_s; utc_s < to_s; utc_s += step_s) {
        int64_t moment_s;
        is_same_offset(zone, utc_s);
        if (weir_zone_moment(zone, utc_s + theirs(utc_s), &moment_s) == WEIR_CLOCK_ONCE)
            must(moment_s == utc_s);
        if (theirs(utc_s) == theirs(utc_s + step_s))
            continue;
        kinds |= look_at_change(zone, find_change(utc_s, utc_s + step_s));
        changes++;
    }
    must(changes < 2 || kinds == 7);
    return changes;
}

static struct weir_zone *load(const char *name)
{
    struct weir_zone *zone = NULL;
    struct weir_error err;
    ck_assert_msg(weir_zone_load(name, &zone, &err) == WEIR_OK, "%s", err.message);
    return zone;
}

static const struct {
    const char *name;
    int changes_min; /* between 1900 and 2100 */
} zones[] = {
    { "Europe/Berlin", 200 },       { "Europe/London", 200 },
    { "Europe/Dublin", 200 },       { "America/New_York", 200 },
    { "America/St_Johns", 200 },    { "America/Sao_Paulo", 50 },
    { "America/Nuuk", 100 },        { "Asia/Kolkata", 3 },
    { "Asia/Kathmandu", 2 },        { "Asia/Jerusalem", 150 },
    { "Australia/Lord_Howe", 100 }, { "Pacific/Apia", 10 },
    { "Pacific/Chatham", 150 },     { "Africa/Casablanca", 100 },
    { "Antarctica/Troll", 150 },    { "Etc/UTC", 0 },
};

START_TEST(a_zone_is_what_the_c_library_says)
{
    struct weir_zone *zone = load(zones[_i].name);
    set_zone(zones[_i].name);
    int changes = walk(zone, YEAR_1900_S, YEAR_2100_S, 71 * HOUR_S + 7);
    ck_assert_int_ge(changes, zones[_i].changes_min);
    weir_zone_free(zone);
}
END_TEST

START_TEST(a_day_that_was_left_out_was_never_on_the_clocks)
{
    struct weir_zone *zone = load("Pacific/Apia");
    struct weir_date left_out = { 2011, 12, 30 };
    int64_t day_s = weir_calendar_days(&left_out) * WEIR_DAY_S;
    int64_t utc_s = 77;
    for (int64_t second = 0; second < WEIR_DAY_S; second += 60)
        must(weir_zone_moment(zone, day_s + second, &utc_s) == WEIR_CLOCK_NEVER && utc_s == 77);
    ck_assert_int_eq(weir_zone_moment(zone, day_s - 1, &utc_s), WEIR_CLOCK_ONCE);
    int64_t before_s = utc_s;
    ck_assert_int_eq(weir_zone_moment(zone, day_s + WEIR_DAY_S, &utc_s), WEIR_CLOCK_ONCE);
    ck_assert_int_eq(utc_s, before_s + 1);
    weir_zone_free(zone);
}
END_TEST

/* ---- files made here ---- */

static void add_number(struct weir_buf *file, int64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        weir_buf_add_char(file, (char)(uint64_t)(value >> (8 * i)));
}

static void add_head(struct weir_buf *file, char version, int leaps, int times, int types)
{
    const int counts[] = { 0, 0, leaps, times, types, 4 };
    weir_buf_add_text(file, "TZif");
    weir_buf_add_char(file, version);
    for (int i = 0; i < 15; i++)
        weir_buf_add_char(file, 0);
    for (size_t i = 0; i < COUNT(counts); i++)
        add_number(file, counts[i], 4);
}

static void add_type(struct weir_buf *file, int32_t offset_s)
{
    add_number(file, offset_s, 4);
    weir_buf_add(file, "\0\0", 2);
}

/* One type before, and `times` transitions to an hour more, a day apart; then a rule. */
static void make_file(struct weir_buf *file, int32_t offset_s, int times, const char *rule)
{
    weir_buf_init(file, 100000);
    add_head(file, '2', 0, 0, 1);
    add_type(file, 0);
    weir_buf_add(file, "UTC\0", 4);
    add_head(file, '2', 0, times, 2);
    for (int i = 0; i < times; i++)
        add_number(file, i * WEIR_DAY_S, 8);
    for (int i = 0; i < times; i++)
        weir_buf_add_char(file, 1);
    add_type(file, offset_s);
    add_type(file, offset_s + HOUR_S);
    weir_buf_add(file, "\0\0\0\0", 4);
    weir_buf_printf(file, "\n%s\n", rule);
}

static enum weir_status read_file(const struct weir_buf *file, struct weir_zone **ret,
                                  struct weir_error *err)
{
    return weir_zone_new("Test/Zone", weir_str(file->ptr, file->len), ret, err);
}

static struct weir_zone *zone_of(const char *rule)
{
    struct weir_buf file;
    struct weir_zone *zone = NULL;
    make_file(&file, 0, 0, rule);
    ck_assert_msg(read_file(&file, &zone, NULL) == WEIR_OK, "%s", rule);
    weir_buf_release(&file);
    return zone;
}

static const char *const rules[] = {
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "EST5EDT,M3.2.0,M11.1.0",
    "NZST-12NZDT,M9.5.0,M4.1.0/3",
    "IST-1GMT0,M10.5.0,M3.5.0/1",
    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    "IST-2IDT,M3.4.4/26,M10.5.0",
    "EET-2EEST,M3.4.4/50,M10.4.4/50",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "AAA3BBB,J60/0,J300/0",
    "AAA-3BBB,59/0,299/23:59:59",
    "AAA3BBB,J2/0,J200/0",
    "UTC0",
    "<-0330>3:30:15",
};

START_TEST(a_zone_without_transitions_follows_its_rule)
{
    struct weir_zone *zone = zone_of(rules[_i]);
    set_zone(rules[_i]);
    walk(zone, 0, YEAR_2100_S, 71 * HOUR_S + 7);
    weir_zone_free(zone);
}
END_TEST

/* Changes far from the turn of the year, where the C library looks at one year only. */
START_TEST(rules_are_what_the_c_library_says)
{
    struct weir_rng rng;
    char rule[100];
    weir_rng_init(&rng, 42, 3);
    for (int i = 0; i < 60; i++) {
        int spring = 3 + (int)weir_rng_below(&rng, 2);
        int autumn = 9 + (int)weir_rng_below(&rng, 2);
        bool south = weir_rng_below(&rng, 2);
        snprintf(rule, sizeof(rule), "AAA%d:%02dBBB,M%d.%d.%d/%d,M%d.%d.%d/%d:%02d",
                 (int)weir_rng_below(&rng, 25) - 12, (int)weir_rng_below(&rng, 4) * 15,
                 south ? autumn : spring, 1 + (int)weir_rng_below(&rng, 5),
                 (int)weir_rng_below(&rng, 7), (int)weir_rng_below(&rng, 48) - 12,
                 south ? spring : autumn, 1 + (int)weir_rng_below(&rng, 5),
                 (int)weir_rng_below(&rng, 7), (int)weir_rng_below(&rng, 24),
                 (int)weir_rng_below(&rng, 60));
        struct weir_zone *zone = zone_of(rule);
        set_zone(rule);
        int64_t from_s = (int64_t)weir_rng_below(&rng, YEAR_2100_S);
        walk(zone, from_s, from_s + 3 * 366 * WEIR_DAY_S, 71 * HOUR_S + 7);
        weir_zone_free(zone);
    }
}
END_TEST

/* RFC 8536 writes it so: clocks go back and forward at the same moment. */
START_TEST(a_summer_may_last_all_year)
{
    struct weir_zone_rule rule;
    int64_t until_s;
    ck_assert(weir_zone_rule_parse(weir_str_from("EST5EDT,0/0,J365/25"), &rule));
    for (int64_t utc_s = 0; utc_s < 3 * 366 * WEIR_DAY_S; utc_s += HOUR_S)
        must(weir_zone_rule_offset_s(&rule, utc_s, &until_s) == -4 * HOUR_S && until_s > utc_s);
}
END_TEST

START_TEST(a_zone_without_a_rule_stays_as_it_was)
{
    struct weir_buf file;
    struct weir_zone *zone;
    make_file(&file, -HOUR_S, 3, "");
    ck_assert_int_eq(read_file(&file, &zone, NULL), WEIR_OK);
    ck_assert_int_eq(weir_zone_offset_s(zone, -1), -HOUR_S);
    ck_assert_int_eq(weir_zone_offset_s(zone, 0), 0);
    ck_assert_int_eq(weir_zone_offset_s(zone, YEAR_2100_S), 0);
    weir_zone_free(zone);
    weir_buf_release(&file);
}
END_TEST

START_TEST(clocks_may_be_more_than_a_day_away)
{
    static const int32_t offsets[] = { 25 * HOUR_S - 1, -25 * HOUR_S + 1 };
    for (size_t i = 0; i < COUNT(offsets); i++) {
        struct weir_buf file;
        struct weir_zone *zone;
        int64_t utc_s = 0;
        make_file(&file, offsets[i], 0, "");
        ck_assert_int_eq(read_file(&file, &zone, NULL), WEIR_OK);
        ck_assert_int_eq(weir_zone_moment(zone, 1000, &utc_s), WEIR_CLOCK_ONCE);
        ck_assert_int_eq(utc_s, 1000 - offsets[i]);
        weir_zone_free(zone);
        weir_buf_release(&file);
    }
}
END_TEST

/* ---- files that are wrong ---- */

static void is_refused(const struct weir_buf *file, const char *why)
{
    struct weir_zone *zone = NULL;
    struct weir_error err;
    ck_assert_msg(read_file(file, &zone, &err) == WEIR_E_INVALID, "%s", why);
    ck_assert_str_eq(err.message,
                     "the file of the time zone \"Test/Zone\" makes no sense; it must be a TZif "
                     "file of version 2 or later without leap seconds");
}

START_TEST(rules_that_are_wrong_are_refused)
{
    static const char *const wrong[] = {
        "C",
        "CET",
        "CET-25",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1C",
        "<+1-1",
        "CET-1x",
        "CET-1:60",
        "CET-1CEST,M3.5.0,M13.5.0",
        "CET--1",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J300",
        "CET-1CEST,366,30",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-1CEST,M3.5.0,M10.5.0/",
        "CET1234",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct weir_buf file;
        make_file(&file, 0, 0, wrong[i]);
        is_refused(&file, wrong[i]);
        weir_buf_release(&file);
    }
}
END_TEST

/* What is at which place, from the end: "\n\n" 2, names 4, types 12, types of times 2, times 16. */
START_TEST(files_that_contradict_themselves_are_refused)
{
    static const struct {
        const char *why;
        size_t from_end;
        char byte;
    } changes[] = {
        { "no line end behind the rule", 1, 'x' },
        { "no line end before the rule", 2, 'x' },
        { "an offset of days", 17, 9 },
        { "a type that is not there", 19, 2 },
        { "a transition that is not later", 28, (char)0x80 },
        { "more names than bytes", 40, 1 },
        { "no types", 41, 0 },
        { "more types than bytes", 44, (char)0xff },
        { "more times than bytes", 48, 1 },
        { "version 1 again", 76, '\0' },
        { "another kind of file", 80, 'U' },
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct weir_buf file;
        struct weir_zone *zone;
        make_file(&file, 0, 2, "");
        ck_assert_int_eq(read_file(&file, &zone, NULL), WEIR_OK);
        weir_zone_free(zone);
        file.ptr[file.len - changes[i].from_end] = changes[i].byte;
        is_refused(&file, changes[i].why);
        weir_buf_release(&file);
    }
}
END_TEST

START_TEST(a_transition_is_later_than_the_one_before)
{
    struct weir_buf file;
    make_file(&file, 0, 2, "");
    memset(file.ptr + file.len - 28, 0, 8);
    is_refused(&file, "two transitions at one moment");
    weir_buf_release(&file);
}
END_TEST

START_TEST(leap_seconds_are_refused)
{
    struct weir_buf file;
    struct weir_zone *zone;
    make_file(&file, 0, 2, "");
    file.ptr[file.len - 49] = 1;
    file.len -= 2;
    weir_buf_add(&file, "\0\0\0\0\0\0\0\0\0\0\0\1\n\n", 14);
    is_refused(&file, "a leap second");
    file.ptr[file.len - 49 - 12] = 0;
    memmove(file.ptr + file.len - 14, "\n\n", 2);
    ck_assert_int_eq(read_file(&file, &zone, NULL), WEIR_OK);
    weir_zone_free(zone);
    weir_buf_release(&file);
}
END_TEST

/* Every beginning of a real file, and every byte of it changed, in memory of just that size. */
START_TEST(damaged_files_are_refused_or_read_but_never_overrun)
{
    struct weir_buf file;
    struct weir_rng rng;
    make_file(&file, 0, 5, "CET-1CEST,M3.5.0,M10.5.0/3");
    weir_rng_init(&rng, 42, 4);
    for (size_t i = 0; i < 4 * file.len; i++) {
        size_t len = i < file.len ? i : file.len;
        struct weir_zone *zone = NULL;
        char *copy = weir_calloc(len, 1);
        memcpy(copy, file.ptr, len);
        if (i >= file.len)
            copy[i % file.len] = (char)weir_rng_u64(&rng);
        enum weir_status status = weir_zone_new("x", weir_str(copy, len), &zone, NULL);
        must(status == WEIR_OK || status == WEIR_E_INVALID);
        must(i >= file.len || status == WEIR_E_INVALID);
        int64_t moment_s;
        if (!status)
            weir_zone_moment(zone, (int64_t)weir_rng_below(&rng, YEAR_2100_S), &moment_s);
        weir_zone_free(zone);
        free(copy);
    }
    weir_buf_release(&file);
}
END_TEST

START_TEST(a_file_has_so_many_bytes_at_most)
{
    struct weir_buf file;
    struct weir_zone *zone;
    struct weir_error err;
    make_file(&file, 0, 1, "UTC0");
    while (file.len < WEIR_ZONE_BYTES_MAX)
        weir_buf_add_char(&file, 'x');
    ck_assert_int_eq(read_file(&file, &zone, &err), WEIR_OK);
    weir_zone_free(zone);
    weir_buf_add_char(&file, 'x');
    ck_assert_int_eq(read_file(&file, &zone, &err), WEIR_E_TOO_BIG);
    weir_buf_release(&file);
}
END_TEST

/* ---- names ---- */

START_TEST(names_that_are_no_zones_are_refused)
{
    static const struct {
        const char *name;
        enum weir_status status;
    } rows[] = {
        { "", WEIR_E_INVALID },
        { "/etc/passwd", WEIR_E_INVALID },
        { "../../../etc/passwd", WEIR_E_INVALID },
        { "Europe/../Europe/Berlin", WEIR_E_INVALID },
        { "Europe//Berlin", WEIR_E_INVALID },
        { "Europe/", WEIR_E_INVALID },
        { "Europe/Berlin ", WEIR_E_INVALID },
        { "CET-1CEST,M3.5.0", WEIR_E_INVALID },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", WEIR_E_INVALID },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", WEIR_E_NOT_FOUND },
        { "Europe/Atlantis", WEIR_E_NOT_FOUND },
        { "Europe/Berlin/Mitte", WEIR_E_NOT_FOUND },
        { "Europe", WEIR_E_NOT_FOUND },
        { "tzdata.zi", WEIR_E_TOO_BIG },
        { "zone.tab", WEIR_E_INVALID },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_zone *zone;
        struct weir_error err;
        enum weir_status status = weir_zone_load(rows[i].name, &zone, &err);
        ck_assert_msg(status == rows[i].status, "\"%s\": %d", rows[i].name, status);
        ck_assert_int_eq(err.status, status);
    }
}
END_TEST

START_TEST(another_directory_of_zones_can_be_named)
{
    char directory[] = "/tmp/weir-zones-XXXXXX";
    char path[64];
    struct weir_buf file;
    struct weir_zone *zone;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/Mine", directory);
    make_file(&file, 0, 0, "<-07>7");
    FILE *out = fopen(path, "w");
    ck_assert_uint_eq(fwrite(file.ptr, 1, file.len, out), file.len);
    fclose(out);
    setenv("TZDIR", directory, 1);
    ck_assert_int_eq(weir_zone_load("Mine", &zone, NULL), WEIR_OK);
    ck_assert_int_eq(weir_zone_offset_s(zone, 0), -7 * HOUR_S);
    ck_assert_str_eq(weir_zone_name(zone), "Mine");
    weir_zone_free(zone);
    ck_assert_int_eq(weir_zone_load("Europe/Berlin", &zone, NULL), WEIR_E_NOT_FOUND);
    weir_buf_release(&file);
    unlink(path);
    rmdir(directory);
}
END_TEST

/* ---- the calendar ---- */

START_TEST(days_and_dates_lead_to_each_other)
{
    struct weir_date date = { 0, 1, 1 };
    int64_t first = weir_calendar_days(&date);
    for (int64_t days = first; date.year <= 9999; days++) {
        struct weir_date got = weir_calendar_date(days);
        must(weir_calendar_days(&date) == days && weir_calendar_has(&date));
        must(got.year == date.year && got.month == date.month && got.day == date.day);
        if (date.day++ < weir_calendar_days_of(date.year, date.month))
            continue;
        date = (struct weir_date){ date.year + (date.month == 12), date.month % 12 + 1, 1 };
    }
    date = (struct weir_date){ 1970, 1, 1 };
    ck_assert_int_eq(weir_calendar_days(&date), 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("zone");
    suite_add_loop(&s, "a_zone_is_what_the_c_library_says", a_zone_is_what_the_c_library_says,
                   (int)COUNT(zones));
    suite_add(&s, a_day_that_was_left_out_was_never_on_the_clocks);
    suite_add_loop(&s, "a_zone_without_transitions_follows_its_rule",
                   a_zone_without_transitions_follows_its_rule, (int)COUNT(rules));
    suite_add(&s, rules_are_what_the_c_library_says);
    suite_add(&s, a_summer_may_last_all_year);
    suite_add(&s, a_zone_without_a_rule_stays_as_it_was);
    suite_add(&s, clocks_may_be_more_than_a_day_away);
    suite_add(&s, rules_that_are_wrong_are_refused);
    suite_add(&s, files_that_contradict_themselves_are_refused);
    suite_add(&s, a_transition_is_later_than_the_one_before);
    suite_add(&s, leap_seconds_are_refused);
    suite_add(&s, damaged_files_are_refused_or_read_but_never_overrun);
    suite_add(&s, a_file_has_so_many_bytes_at_most);
    suite_add(&s, names_that_are_no_zones_are_refused);
    suite_add(&s, another_directory_of_zones_can_be_named);
    suite_add(&s, days_and_dates_lead_to_each_other);
    return suite_run(&s);
}
