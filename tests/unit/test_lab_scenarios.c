/* SPDX-License-Identifier: MIT */
/*
 * The scenarios of the repository: each is valid, says what it stands for and is called like its
 * file, and together they have every value of every axis of the format.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sim/law/scenario.h"
#include "support/suite.h"

#define SCENARIOS_MAX 1024
#define FILE_BYTES    65536
#define PURPOSE_MAX   400

static struct sim_scenario all[SCENARIOS_MAX];
static char purposes[SCENARIOS_MAX][PURPOSE_MAX + 1]; /* their first lines */
static int count;
static int held_out;
static int fresh;

/* The first line of the scenario that was read last: a comment of some words. */
static void keep_purpose(const char *path, struct weir_str text)
{
    char *purpose = purposes[count - 1];
    const char *end = memchr(text.ptr, '\n', text.len);
    size_t len = end ? (size_t)(end - text.ptr) : text.len;
    ck_assert_msg(len <= PURPOSE_MAX, "%s has a first line of %zu bytes", path, len);
    memcpy(purpose, text.ptr, len);
    purpose[len] = '\0';
    ck_assert_msg(strncmp(purpose, "// ", 3) == 0, "%s does not say what it stands for", path);
    const char *word = strchr(purpose + 3, ' ');
    ck_assert_msg(word && strchr(word + 1, ' '), "%s says hardly what it stands for: %s", path,
                  purpose);
}

static void read_one(const char *folder, const char *name)
{
    char path[1024];
    char text[FILE_BYTES];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    ck_assert_uint_lt(len, sizeof(text));
    struct weir_error err;
    ck_assert_int_lt(count, SCENARIOS_MAX);
    struct sim_scenario *scenario = &all[count++];
    ck_assert_msg(sim_scenario_read(scenario, weir_str(text, len), path, &err) == WEIR_OK, "%s",
                  err.message);
    keep_purpose(path, weir_str(text, len));
    ck_assert_msg(strlen(scenario->name) + 5 == strlen(name) &&
                      strncmp(scenario->name, name, strlen(scenario->name)) == 0,
                  "%s is called \"%s\" inside", path, scenario->name);
}

static void read_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        size_t len = strlen(entry->d_name);
        if (len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0)
            read_one(folder, entry->d_name);
    }
    closedir(directory);
}

static void read_all(void)
{
    count = 0;
    read_folder(SCENARIOS);
    held_out = count;
    read_folder(SCENARIOS "/held-out");
    fresh = count;
    read_folder(SCENARIOS "/fresh");
}

START_TEST(there_are_scenarios_to_tune_on_and_others_to_report_on)
{
    read_all();
    ck_assert_int_ge(held_out, 30);
    ck_assert_int_ge(fresh - held_out, 30);
    ck_assert_int_ge(count - fresh, 100);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(all[i].name, all[j].name);
            must(strcmp(purposes[i], purposes[j]) != 0);
        }
    }
}
END_TEST

/* Some scenario `s` for which the condition holds. */
#define SOME(condition)                                                                            \
    do {                                                                                           \
        bool found_ = false;                                                                       \
        for (int i_ = 0; i_ < count && !found_; i_++) {                                            \
            const struct sim_scenario *s = &all[i_];                                               \
            found_ = (condition);                                                                  \
        }                                                                                          \
        ck_assert_msg(found_, "no scenario has %s", #condition);                                   \
    } while (0)

static bool has_median(const struct sim_scenario *s, double median_s)
{
    for (uint32_t i = 0; i < s->service_count; i++) {
        if (s->services[i].median_s == median_s)
            return true;
    }
    return false;
}

static bool has_drift(const struct sim_scenario *s, enum sim_drift_kind kind)
{
    return s->services[0].drift.kind == kind;
}

/* Windows of work that a finite job has, by its medians; 0: it is endless. */
static double windows(const struct sim_scenario *s)
{
    if (s->work_items == SIM_NO_WORK_ITEMS)
        return 0;
    double a_window = (double)s->limits.execution_us / 1e6 / s->services[0].median_s;
    return (double)s->work_items / (a_window * s->connections * s->servers);
}

START_TEST(every_word_of_the_format_is_used)
{
    read_all();
    SOME(s->affinity == SIM_AFFINITY_NONE && s->servers > 1);
    SOME(s->affinity == SIM_AFFINITY_SOFT && s->servers > 1);
    SOME(s->affinity == SIM_AFFINITY_PINNED && s->servers > 1);
    SOME(s->limits.charge == SIM_CHARGE_COMPLETION);
    SOME(s->limits.charge == SIM_CHARGE_ARRIVAL);
    SOME(s->retry_after.form == SIM_RETRY_DATE);
    SOME(s->retry_after.form == SIM_RETRY_MISSING);
    SOME(s->headers == SIM_HEADERS_STALE);
    SOME(s->headers == SIM_HEADERS_ABSENT);
    SOME(s->headers == SIM_HEADERS_WRONG);
    SOME(has_drift(s, SIM_DRIFT_LINEAR));
    SOME(has_drift(s, SIM_DRIFT_STEP));
    SOME(has_drift(s, SIM_DRIFT_SINE));
    SOME(s->foreign.share > 0 && s->foreign.pattern == SIM_PATTERN_CONSTANT);
    SOME(s->foreign.share > 0 && s->foreign.pattern == SIM_PATTERN_ONOFF);
    SOME(s->foreign.share > 0 && s->foreign.pattern == SIM_PATTERN_BURSTY);
}
END_TEST

START_TEST(every_number_of_the_format_is_varied)
{
    read_all();
    const double medians[] = { 0.1, 0.5, 2, 8, 15 };
    for (int i = 0; i < 5; i++)
        SOME(has_median(s, medians[i]));
    const uint32_t servers[] = { 1, 2, 4, 12 };
    for (int i = 0; i < 4; i++)
        SOME(s->servers == servers[i]);
    const uint32_t connections[] = { 1, 2, 3, 8 };
    for (int i = 0; i < 4; i++)
        SOME(s->connections == connections[i]);
    const int64_t buckets[] = { 1, 10, 60 };
    for (int i = 0; i < 3; i++)
        SOME(s->limits.bucket_us == buckets[i] * WEIR_US_PER_S);
    const double foreign[] = { 0.1, 0.3, 0.6 };
    for (int i = 0; i < 3; i++)
        SOME(s->foreign.share == foreign[i]);
    const double work[] = { 0.3, 1.1, 4, 20 };
    for (int i = 0; i < 4; i++)
        SOME(windows(s) > work[i] * 0.99 && windows(s) < work[i] * 1.01);
    SOME(s->services[0].sigma == 1.0);
    SOME(s->service_count > 1);
    SOME(s->services[0].exec_share < SIM_WHOLE_SHARE);
    SOME(s->prefill == 0.5);
    SOME(s->prefill == 0.95);
    SOME(s->failures == 0.01);
    SOME(s->failures == 0.2);
}
END_TEST

START_TEST(every_key_has_a_value_that_is_not_its_default)
{
    read_all();
    struct sim_scenario plain;
    sim_scenario_init(&plain);
    const struct sim_retry_after *retry = &plain.retry_after;
    SOME(s->duration_us != plain.duration_us);
    SOME(s->dop_hint == 0);
    SOME(s->dop_hint == 52);
    SOME(s->limits.requests == plain.limits.requests / 2);
    SOME(s->limits.requests == plain.limits.requests * 2);
    SOME(s->limits.execution_us == 0);
    SOME(s->limits.concurrent == 0);
    SOME(s->limits.concurrent > 0 && s->limits.concurrent < s->dop_hint);
    SOME(s->limits.window_us != plain.limits.window_us);
    SOME(s->limits.shared && s->servers > 1);
    SOME(s->limits.count_throttled);
    SOME(s->change_count == 1 && s->changes[0].dop_hint == SIM_UNCHANGED);
    SOME(s->change_count == 1 && s->changes[0].dop_hint != SIM_UNCHANGED);
    SOME(s->change_count > 1);
    SOME(s->retry_after.base_us >= 60 * WEIR_US_PER_S);
    SOME(s->retry_after.growth > retry->growth);
    SOME(s->retry_after.growth == 1);
    SOME(s->retry_after.forget_us != retry->forget_us);
    SOME(s->retry_after.cap_us != retry->cap_us);
    SOME(s->retry_after.per_offence_us == 0);
    SOME(s->services[0].operation[0] != '\0');
    SOME(s->services[s->service_count - 1].rows != 100);
    SOME(s->services[0].overhead_us != 50 * WEIR_US_PER_MS);
    SOME(s->contention.knee > 0 && s->contention.kappa > 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab_scenarios");
    suite_add(&s, there_are_scenarios_to_tune_on_and_others_to_report_on);
    suite_add(&s, every_word_of_the_format_is_used);
    suite_add(&s, every_number_of_the_format_is_varied);
    suite_add(&s, every_key_has_a_value_that_is_not_its_default);
    return suite_run(&s);
}
