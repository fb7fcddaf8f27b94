/* SPDX-License-Identifier: MIT */
/*
 * Bits are flipped and files cut short, byte by byte, in a journal that was closed and in one whose
 * process was killed: it is refused, or it says exactly what it said before. A journal that is
 * accepted is also written to and opened again, for damage that only bites then.
 *
 * By default bytes are drawn at random, those that are zero (mostly unused room) more rarely than
 * the others; WEIR_SEEDS of 100000 in the environment, as ./test --full has it, makes it every
 * byte. WEIR_PIECE=2/8 tries every eighth byte, from number 2 on, each as the whole would have it;
 * WEIR_TURN=N takes other bits.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "support/journal_rig.h"

#define RECORDS 48

/* One in so many is tried. */
#define FLIPS      8  /* of bytes that say something */
#define ZERO_FLIPS 60 /* of those that do not */
#define CUTS       40

enum {
    DATABASE,
    LOG,
    SEAL,
    FILES
};

static const char *const names[FILES] = { "journal.db", "journal.db-wal", "journal.seal" };

static struct weir_buf files[FILES]; /* as they should be; empty: not there */
static struct weir_buf truth, says;

static void die(void *ctx, enum weir_point point)
{
    uint64_t *left = ctx;
    if (point == WEIR_POINT_AFTER_SEAL && --*left == 0)
        kill(getpid(), SIGKILL);
}

/* In a process that is killed after its last commit: the log is left behind. */
static void make_killed(void)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        uint64_t left = 1;
        struct weir_job_facts facts = sample_facts();
        struct weir_journal_hooks hooks = { .at = die, .ctx = &left };
        struct weir_journal *journal = NULL;
        if (weir_journal_new(job_dir, &facts, NULL, NULL, &journal, NULL) ||
            add_numbered(journal, 1, RECORDS / 2, NULL))
            _exit(1);
        weir_journal_free(journal);
        if (weir_journal_open(job_dir, NULL, &hooks, &journal, NULL) ||
            add_numbered(journal, RECORDS / 2 + 1, RECORDS / 2, NULL))
            _exit(1);
        weir_journal_free(journal);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
}

static void make_closed(void)
{
    struct weir_journal *journal = make_job();
    ck_assert_int_eq(add_numbered(journal, 1, RECORDS, NULL), WEIR_OK);
    weir_journal_free(journal);
}

static void keep_files(void)
{
    for (int i = 0; i < FILES; i++) {
        weir_buf_init(&files[i], TEXT_MAX);
        if (has_file(names[i]))
            slurp(names[i], &files[i]);
    }
    weir_buf_init(&truth, TEXT_MAX);
    weir_buf_init(&says, TEXT_MAX);
    tell_expected(&truth, RECORDS);
}

static void put_file(const char *name, const char *bytes, size_t len)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", job_dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

static void restore(void)
{
    char path[400];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "%s/%s", job_dir, names[i]);
        unlink(path);
        if (files[i].len > 0)
            put_file(names[i], files[i].ptr, files[i].len);
    }
    snprintf(path, sizeof(path), "%s/journal.db-shm", job_dir);
    unlink(path);
}

struct piece {
    unsigned number; /* from 0 */
    unsigned of;
};

static struct piece our_piece(void)
{
    struct piece piece = { 0, 1 };
    const char *text = getenv("WEIR_PIECE");
    if (text && (sscanf(text, "%u/%u", &piece.number, &piece.of) != 2 || piece.number >= piece.of))
        ck_abort_msg("\"%s\" is no piece", text);
    return piece;
}

struct tally {
    int refused;
    int accepted;
};

/* The damage has been done; true: it was refused. */
static bool judge(const char *what, size_t at, bool go_on)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_open(job_dir, NULL, NULL, &journal, &err);
    if (status) {
        /* A bit in the header makes SQLite think that it may only read: that is refused too. */
        if ((status != WEIR_E_INVALID && status != WEIR_E_IO) || !err.message[0])
            ck_abort_msg("%s at %zu: status %d, %s", what, at, (int)status, err.message);
        return true;
    }
    if (tell(journal, &says, &err) || !same_text(&says, &truth))
        ck_abort_msg("%s at %zu was not noticed: %s", what, at, err.message);
    if (go_on)
        must(add_numbered(journal, RECORDS + 1, 16, NULL) == WEIR_OK);
    if (go_on && weir_journal_finish(journal, &err))
        ck_abort_msg("%s at %zu: accepted, and then %s", what, at, err.message);
    weir_journal_free(journal);
    if (go_on && check_numbered() != RECORDS + 16)
        ck_abort_msg("%s at %zu: accepted, then spoilt", what, at);
    return false;
}

static bool drawn(struct weir_rng *rng, uint64_t one_in)
{
    const char *seeds = getenv("WEIR_SEEDS");
    return weir_rng_below(rng, one_in) == 0 || (seeds && strtol(seeds, NULL, 10) >= 100000);
}

static struct tally flip_all(int file, struct weir_rng *rng)
{
    struct tally tally = { 0 };
    struct piece piece = our_piece();
    for (size_t at = 0; at < files[file].len; at++) {
        if (!drawn(rng, files[file].ptr[at] ? FLIPS : ZERO_FLIPS))
            continue;
        char bit = (char)(1 << weir_rng_below(rng, 8));
        bool go_on = weir_rng_below(rng, 4) == 0;
        if (at % piece.of != piece.number)
            continue;
        files[file].ptr[at] ^= bit;
        restore();
        files[file].ptr[at] ^= bit;
        bool refused = judge(names[file], at, go_on);
        tally.refused += refused;
        tally.accepted += !refused;
    }
    return tally;
}

static struct tally cut_all(int file, struct weir_rng *rng)
{
    struct tally tally = { 0 };
    struct piece piece = our_piece();
    for (size_t len = 0; len < files[file].len; len++) {
        if (len % 4096 > 1 && !drawn(rng, CUTS))
            continue;
        bool go_on = weir_rng_below(rng, 4) == 0;
        if (len % piece.of != piece.number)
            continue;
        restore();
        put_file(names[file], files[file].ptr, len);
        bool refused = judge(names[file], len, go_on);
        tally.refused += refused;
        tally.accepted += !refused;
    }
    return tally;
}

/* A test that finds nothing looks at the wrong place; a piece finds its share. */
static void check_refused(const struct tally *tally, int least)
{
    unsigned long judged = (unsigned long)(tally->refused + tally->accepted);
    suite_tally(judged, judged);
    ck_assert_int_ge(tally->refused, least / (int)our_piece().of);
}

/* Loop: closed or killed, by file. */
static bool prepare(int i, struct weir_rng *rng, int *ret_file)
{
    *ret_file = i / 2;
    const char *turn = getenv("WEIR_TURN");
    weir_rng_init(rng, (uint64_t)i + 1, 5 + (turn ? strtoull(turn, NULL, 10) : 0));
    make_scratch();
    if (i % 2)
        make_killed();
    else
        make_closed();
    keep_files();
    restore();
    must(!judge("nothing", 0, true)); /* as it is, it is fine */
    return files[*ret_file].len > 0;
}

START_TEST(a_flipped_bit_is_found_or_changes_nothing)
{
    struct weir_rng rng;
    int file;
    if (!prepare(_i, &rng, &file))
        return;
    struct tally tally = flip_all(file, &rng);
    check_refused(&tally, file == SEAL ? 0 : 51);
}
END_TEST

START_TEST(a_file_that_was_cut_short_is_found_or_nothing_is_missing)
{
    struct weir_rng rng;
    int file;
    if (!prepare(_i, &rng, &file))
        return;
    struct tally tally = cut_all(file, &rng);
    check_refused(&tally, file == SEAL ? 1 : 11);
}
END_TEST

START_TEST(a_file_that_is_gone_is_found)
{
    struct weir_rng rng;
    int file;
    char path[400];
    if (!prepare(_i, &rng, &file))
        return;
    restore();
    snprintf(path, sizeof(path), "%s/%s", job_dir, names[file]);
    unlink(path);
    struct weir_journal *journal = NULL;
    enum weir_status status = weir_journal_open(job_dir, NULL, NULL, &journal, NULL);
    ck_assert_int_eq(status, file == DATABASE ? WEIR_E_NOT_FOUND : WEIR_E_INVALID);
}
END_TEST

/* An older copy of the database beside a newer seal, and another job's seal. */
START_TEST(files_that_do_not_belong_together_are_refused)
{
    struct weir_rng rng;
    int file;
    struct weir_error err = { 0 };
    struct weir_journal *journal = NULL;
    prepare(0, &rng, &file);
    restore();
    journal = open_job();
    add_numbered(journal, RECORDS + 1, 100, NULL);
    weir_journal_free(journal);
    put_file(names[DATABASE], files[DATABASE].ptr, files[DATABASE].len);
    ck_assert_int_eq(weir_journal_open(job_dir, NULL, NULL, &journal, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, "behind its seal"), "%s", err.message);
    restore();
    struct weir_job_facts facts = sample_facts();
    facts.table = "contact";
    char first[300];
    snprintf(first, sizeof(first), "%s", job_dir);
    snprintf(job_dir, sizeof(job_dir), "%s/other", scratch);
    ck_assert_int_eq(weir_journal_new(job_dir, &facts, NULL, NULL, &journal, NULL), WEIR_OK);
    weir_journal_free(journal);
    slurp(names[SEAL], &files[SEAL]);
    snprintf(job_dir, sizeof(job_dir), "%s", first);
    put_file(names[SEAL], files[SEAL].ptr, files[SEAL].len);
    ck_assert_int_eq(weir_journal_open(job_dir, NULL, NULL, &journal, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, "another job's"), "%s", err.message);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("journal damage");
    suite_add_loop(&s, "a_flipped_bit_is_found_or_changes_nothing",
                   a_flipped_bit_is_found_or_changes_nothing, 2 * FILES);
    suite_add_loop(&s, "a_file_that_was_cut_short_is_found_or_nothing_is_missing",
                   a_file_that_was_cut_short_is_found_or_nothing_is_missing, 2 * FILES);
    suite_add_loop(&s, "a_file_that_is_gone_is_found", a_file_that_is_gone_is_found, 2 * FILES);
    suite_add(&s, files_that_do_not_belong_together_are_refused);
    return suite_run(&s);
}
