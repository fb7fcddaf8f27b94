/* SPDX-License-Identifier: MIT */
/*
 * What policies keep over a restart: notes of the journal, from one core to the next. What is in
 * them is the policy's; whose they are, how old, and that anything else is passed over, is ours.
 */
#include "bulk/lessons.h"

#include <math.h>

#include "pool/core_parts.h"
#include "support/journal_rig.h"
#include "support/rig.h"

#define WALL      INT64_C(1700000000000000)
#define NOTES_MAX (2 * WEIR_LESSON_BYTES_MAX)

static struct weir_buf note;

static void open_rig(struct rig *rig, const char *policy, uint32_t connections)
{
    rig_init(rig, connections);
    rig->options.adaptive_rate.policy = policy;
    rig->options.adaptive_rate.fixed_parallelism = 4;
    for (uint32_t i = 0; i < connections; i++)
        rig->connections[i].client_id = i % 2 ? "second" : "first";
    rig_start(rig);
}

/* As much as the policy lets through in so many seconds, of requests that take two. */
static void work(struct rig *rig, int seconds)
{
    for (int i = 0; i < seconds; i += 2) {
        struct weir_lease leases[512];
        size_t count = 0;
        struct weir_grant grant;
        while (count < 512 && (grant = rig_try(rig)).status == WEIR_OK) {
            leases[count] = grant.lease;
            ck_assert_int_eq(weir_core_begin(&rig->core, &leases[count++], rig->now_us), WEIR_OK);
        }
        rig->now_us += SECONDS(2);
        while (count > 0)
            rig_settle(rig, leases[--count], answer_ok(SECONDS(2)));
    }
}

static double headroom(const struct rig *rig, uint32_t connection)
{
    return rig->core.policy->headroom(weir_core_policy_state(&rig->core, connection), rig->now_us);
}

static bool print(const struct rig *rig, uint32_t connection)
{
    weir_buf_release(&note);
    weir_buf_init(&note, NOTES_MAX);
    return weir_lesson_print(&rig->core, &rig->options, connection, rig->now_us, WALL, &note);
}

static bool parse(struct rig *rig, uint32_t connection, const char *text, int64_t wall_us)
{
    return weir_lesson_parse(&rig->core, &rig->options, connection, text, rig->now_us, wall_us);
}

/* Budget after it has used most of its window, as a note; and how much it had left. */
static double learn(void)
{
    struct rig rig;
    open_rig(&rig, "Budget", 1);
    work(&rig, 60);
    double left = headroom(&rig, 0);
    ck_assert(left < 0.9);
    ck_assert(print(&rig, 0));
    rig_release(&rig);
    return left;
}

/* What is left right after the note was read, so long after it was written. */
static double left_after(int64_t age_us)
{
    struct rig rig;
    open_rig(&rig, "Budget", 1);
    rig.now_us += SECONDS(12345); /* another boot */
    ck_assert(parse(&rig, 0, weir_buf_text(&note), WALL + age_us));
    double left = headroom(&rig, 0);
    rig_release(&rig);
    return left;
}

START_TEST(what_was_used_is_remembered_until_the_window_has_passed)
{
    double left = learn();
    double before = 0;
    ck_assert(fabs(left_after(0) - left) < 0.05);
    for (int seconds = 0; seconds <= 310; seconds += 10) {
        double now = left_after(SECONDS(seconds));
        ck_assert_msg(now >= before - 1e-9, "%d s: %f after %f", seconds, now, before);
        before = now;
    }
    ck_assert(before > 0.99);
    ck_assert(left_after(WEIR_US_PER_DAY) > 0.99);
}
END_TEST

START_TEST(a_clock_that_went_back_makes_nothing_older_or_younger)
{
    learn();
    double young = left_after(0);
    ck_assert_double_eq(left_after(-SECONDS(1)), young);
    ck_assert_double_eq(left_after(-10000 * WEIR_US_PER_DAY), young);
    ck_assert(left_after(INT64_MAX - WALL) > 0.99);
}
END_TEST

START_TEST(a_note_of_another_policy_or_user_is_passed_over)
{
    struct rig rig;
    learn();
    static const char *const others[] = { "Aimd", "Dop", "Fixed" };
    for (size_t i = 0; i < 3; i++) {
        open_rig(&rig, others[i], 1);
        ck_assert(!parse(&rig, 0, weir_buf_text(&note), WALL));
        ck_assert(!weir_lesson_print(&rig.core, &rig.options, 0, rig.now_us, WALL, &note));
        rig_release(&rig);
    }
    open_rig(&rig, "Budget", 2);
    ck_assert(!parse(&rig, 1, weir_buf_text(&note), WALL));
    ck_assert(parse(&rig, 0, weir_buf_text(&note), WALL));
    ck_assert(headroom(&rig, 0) < 0.9);
    ck_assert(headroom(&rig, 1) > 0.99);
    rig_release(&rig);
}
END_TEST

START_TEST(what_is_no_note_changes_nothing)
{
    static const char *const texts[] = { "",
                                         "Budget",
                                         "Budget 1",
                                         "Budget 1700000000000000 0",
                                         "Budget x y z",
                                         "Budget 1700000000000000 %s",
                                         "Budget 1700000000000000 %s ",
                                         "Budget 1700000000000000 %s !!!!",
                                         "Budget 1700000000000000 %s AAAA",
                                         "Budget 99999999999999999999999999 %s AAAA" };
    struct rig rig;
    learn();
    char id[17];
    snprintf(id, sizeof(id), "%.16s", weir_buf_text(&note) + strlen("Budget 1700000000000000 "));
    open_rig(&rig, "Budget", 1);
    size_t bytes = rig.core.policy->state_bytes;
    void *state = weir_core_policy_state(&rig.core, 0);
    void *before = weir_calloc(1, bytes);
    memcpy(before, state, bytes);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[200];
        const char *gap = strstr(texts[i], "%s");
        snprintf(text, sizeof(text), "%.*s%s%s", gap ? (int)(gap - texts[i]) : 199, texts[i],
                 gap ? id : "", gap ? gap + 2 : "");
        ck_assert(!parse(&rig, 0, text, WALL));
        ck_assert(memcmp(before, state, bytes) == 0);
    }
    free(before);
    rig_release(&rig);
}
END_TEST

/* --- in a journal ----------------------------------------------------------------------------- */

START_TEST(every_connection_finds_its_own_again)
{
    struct rig rig, next;
    make_scratch();
    open_rig(&rig, "Budget", 3);
    struct weir_journal *journal = make_job();
    work(&rig, 40);
    weir_lessons_note(&rig.core, &rig.options, journal, rig.now_us, WALL);
    work(&rig, 20);
    weir_lessons_note(&rig.core, &rig.options, journal, rig.now_us, WALL); /* replaces it */
    finish_job(journal);
    weir_journal_free(journal);
    journal = open_job();
    open_rig(&next, "Budget", 4);
    next.now_us = rig.now_us;
    weir_lessons_recall(&next.core, &next.options, journal, next.now_us, WALL);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(fabs(headroom(&next, i) - headroom(&rig, i)) < 0.05);
    ck_assert(headroom(&next, 3) > 0.99);
    weir_journal_free(journal);
    rig_release(&next);
    rig_release(&rig);
}
END_TEST

/* --- bounds ----------------------------------------------------------------------------------- */

static size_t hoard_bytes;
static size_t hoard_loaded;

static size_t hoard(const void *state, int64_t now_us, void *bytes, size_t bytes_max)
{
    (void)state;
    (void)now_us;
    if (hoard_bytes > bytes_max)
        return 0;
    memset(bytes, 'x', hoard_bytes);
    return hoard_bytes;
}

static bool unpack(void *state, const void *bytes, size_t len, int64_t age_us, int64_t now_us)
{
    (void)state;
    (void)bytes;
    (void)age_us;
    (void)now_us;
    hoard_loaded += len;
    return true;
}

/* A policy that keeps as much as it is told to. */
static void open_hoarder(struct rig *rig, uint32_t connections)
{
    static struct weir_policy hoarder;
    hoarder = weir_policy_fixed;
    hoarder.name = "Hoarder";
    hoarder.save = hoard;
    hoarder.load = unpack;
    rig_init(rig, connections);
    ck_assert_int_eq(weir_core_init(&rig->core, &rig->options, &hoarder, 1, false, NULL), WEIR_OK);
}

START_TEST(a_policy_keeps_no_more_than_the_bound)
{
    struct rig rig;
    open_hoarder(&rig, 1);
    hoard_bytes = WEIR_LESSON_BYTES_MAX;
    ck_assert(print(&rig, 0));
    ck_assert(!note.overflow);
    ck_assert(parse(&rig, 0, weir_buf_text(&note), WALL));
    ck_assert_uint_eq(hoard_loaded, WEIR_LESSON_BYTES_MAX);
    weir_buf_add_text(&note, "AAAA"); /* three bytes more */
    ck_assert(!parse(&rig, 0, weir_buf_text(&note), WALL));
    hoard_bytes = WEIR_LESSON_BYTES_MAX + 1;
    ck_assert(!print(&rig, 0));
    rig_release(&rig);
}
END_TEST

START_TEST(of_too_many_connections_the_first_are_kept)
{
    struct rig rig;
    make_scratch();
    open_hoarder(&rig, 100);
    struct weir_journal *journal = make_job();
    hoard_bytes = WEIR_LESSON_BYTES_MAX;
    weir_lessons_note(&rig.core, &rig.options, journal, rig.now_us, WALL);
    ck_assert_uint_le(weir_journal_pending(journal).bytes,
                      WEIR_LESSONS_BYTES_MAX + 100 * sizeof("policy AppUser100") + 100 * 200);
    finish_job(journal);
    weir_lessons_recall(&rig.core, &rig.options, journal, rig.now_us, WALL);
    ck_assert_uint_ge(hoard_loaded, WEIR_LESSONS_BYTES_MAX / 2);
    ck_assert_uint_le(hoard_loaded, WEIR_LESSONS_BYTES_MAX);
    weir_journal_free(journal);
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lessons");
    suite_add(&s, what_was_used_is_remembered_until_the_window_has_passed);
    suite_add(&s, a_clock_that_went_back_makes_nothing_older_or_younger);
    suite_add(&s, a_note_of_another_policy_or_user_is_passed_over);
    suite_add(&s, what_is_no_note_changes_nothing);
    suite_add(&s, every_connection_finds_its_own_again);
    suite_add(&s, a_policy_keeps_no_more_than_the_bound);
    suite_add(&s, of_too_many_connections_the_first_are_kept);
    return suite_run(&s);
}
