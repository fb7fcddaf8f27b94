/* SPDX-License-Identifier: MIT */
/*
 * What the journal's tests share: a directory that vanishes, a job's facts, records that follow
 * from their serial, and everything a journal says as one text, so that two journals can be
 * compared.
 */
#ifndef WEIR_TESTS_JOURNAL_RIG_H
#define WEIR_TESTS_JOURNAL_RIG_H

#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "journal/export.h"
#include "journal/journal.h"
#include "journal/rejects.h"
#include "support/suite.h"

#define TEXT_MAX ((size_t)64 * 1024 * 1024)

static char scratch[256]; /* the directory of this test */
static char job_dir[300]; /* a job in it */

static inline int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static pid_t scratch_owner; /* children leave it alone */

static inline void remove_scratch(void)
{
    if (scratch[0] && getpid() == scratch_owner)
        remove_tree(scratch);
}

static inline void forget_reports(void);

/* In memory where there is such a place: the tests open thousands of journals. Without forks one
 * case follows on another in the same process: what the last one left is cleared away. */
static inline void make_scratch(void)
{
    remove_scratch();
    forget_reports();
    const char *root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(scratch, sizeof(scratch), "%s/weir-journal-XXXXXX", root);
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    snprintf(job_dir, sizeof(job_dir), "%s/job", scratch);
    scratch_owner = getpid();
    atexit(remove_scratch);
}

static const struct weir_job_input sample_inputs[] = {
    { "/data/a.csv", true, 123456789, 0x0123456789abcdef, 0xfedcba9876543210 },
    { "-", false, 0, 0, 0 },
};

static inline struct weir_job_facts sample_facts(void)
{
    return (struct weir_job_facts){
        .job = "k7f3q2",
        .operation = "create",
        .table = "account",
        .url = "https://contoso.crm.dynamics.com",
        .organisation = "7e3c0e0a-0000-4000-8000-000000000001",
        .options = "{\"batch_size\":100}",
        .suffix = "csv",
        .started_us = INT64_C(1700000000123456),
        .id_bytes = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
        .header = weir_str("name,\0city\r\n", 12),
        .inputs = sample_inputs,
        .input_count = 2,
    };
}

/* --- what was reported ------------------------------------------------------------------------ */

struct reports {
    pthread_mutex_t lock;
    uint64_t durable;
    uint64_t commits;
    int failures;
    struct weir_error failure;
};

static struct reports reports = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void on_durable(void *ctx, uint64_t serial)
{
    struct reports *to = ctx;
    pthread_mutex_lock(&to->lock);
    if (to->failures || serial <= to->durable)
        abort(); /* out of order, or after the end */
    to->durable = serial;
    to->commits++;
    pthread_mutex_unlock(&to->lock);
}

static inline void on_failed(void *ctx, const struct weir_error *err)
{
    struct reports *to = ctx;
    pthread_mutex_lock(&to->lock);
    to->failures++;
    to->failure = *err;
    pthread_mutex_unlock(&to->lock);
}

static const struct weir_journal_watch watch = { on_durable, on_failed, &reports };

static inline void forget_reports(void)
{
    reports.durable = reports.commits = 0;
    reports.failures = 0;
    reports.failure = (struct weir_error){ 0 };
}

/* --- opening ---------------------------------------------------------------------------------- */

static inline struct weir_journal *make_job(void)
{
    struct weir_job_facts facts = sample_facts();
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_new(job_dir, &facts, &watch, NULL, &journal, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return journal;
}

static inline struct weir_journal *open_job(void)
{
    struct weir_journal *journal = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_open(job_dir, &watch, NULL, &journal, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return journal;
}

static inline void finish_job(struct weir_journal *journal)
{
    struct weir_error err = { 0 };
    enum weir_status status = weir_journal_finish(journal, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

/* Until everything added is durable; nothing takes as long. */
static inline void wait_durable(struct weir_journal *journal, uint64_t serial)
{
    int64_t until_us = weir_clock_now_us() + 60 * WEIR_US_PER_S;
    weir_journal_hurry(journal);
    for (uint64_t durable = 0; durable < serial;) {
        pthread_mutex_lock(&reports.lock);
        durable = reports.durable;
        pthread_mutex_unlock(&reports.lock);
        must(weir_clock_now_us() < until_us);
        poll(NULL, 0, 1);
    }
}

/* --- records that follow from their serial ---------------------------------------------------- */

#define NUMBERED_FILES 2 /* that have blocks */

static char numbered_ids[16 * 8];
static char numbered_texts[4][96];

/* Ranges do not overlap, rejects are of other rows, notes replace one another. */
static inline struct weir_entry numbered(uint64_t serial)
{
    struct weir_entry record = { .serial = serial };
    uint64_t row = serial * 10;
    switch (serial % 8) {
    case 3:
        record.kind = WEIR_ENTRY_REJECT;
        for (int i = 0; i < 4; i++)
            snprintf(numbered_texts[i], sizeof(numbered_texts[i]), "%d text \"of\" %llu\n", i,
                     (unsigned long long)serial);
        record.reject = (struct weir_reject){
            .pass = (uint32_t)(serial / 8 % 3),
            .file = (uint32_t)(serial / 100),
            .row = row,
            .offset = row * 7,
            .key_hash = serial * 0x9e3779b97f4a7c15u,
            .superseded = serial % 16 == 3,
            .http_status = 400,
            .service_code = 0x80040265,
            .attempts = (uint32_t)serial % 5,
            .column = weir_str_from("name"),
            .class_name = weir_str_from("bad rows"),
            .message = weir_str_from(numbered_texts[0]),
            .request_id = weir_str_from(numbered_texts[1]),
            .connection = weir_str_from("AppUser1"),
            .bytes = weir_str_from(numbered_texts[3]),
        };
        return record;
    case 5:
        record.kind = WEIR_ENTRY_BLOCK;
        record.block = (struct weir_input_block){ .file = (uint32_t)(serial / 8 % NUMBERED_FILES),
                                                  .number = serial,
                                                  .bytes = (uint32_t)serial * 1000,
                                                  .last = serial % 3 == 0,
                                                  .hash = serial * 0x9e3779b97f4a7c15u };
        return record;
    case 7:
        record.kind = WEIR_ENTRY_NOTE;
        snprintf(numbered_texts[0], sizeof(numbered_texts[0]), "note %llu",
                 (unsigned long long)(serial / 8 % 3));
        snprintf(numbered_texts[1], sizeof(numbered_texts[1]), "said at %llu",
                 (unsigned long long)serial);
        record.note = (struct weir_note){ weir_str_from(numbered_texts[0]),
                                          weir_str_from(numbered_texts[1]) };
        return record;
    default:
        record.kind = WEIR_ENTRY_RANGE;
        memset(numbered_ids, (int)serial, sizeof(numbered_ids));
        record.range = (struct weir_range){
            .pass = (uint32_t)(serial / 8 % 3),
            .file = (uint32_t)(serial / 100),
            .first = row,
            .last = row + 7,
            .offset = row * 7,
            .behind = row * 7 + 50,
            .outcome = (enum weir_range_outcome)(serial / 3 % 3),
            .connection = (uint32_t)(serial % 2),
            .ids = weir_str(numbered_ids, serial % 2 ? sizeof(numbered_ids) : 0),
            .ids_made = serial % 8 == 4,
        };
        return record;
    }
}

static inline enum weir_status add_record(struct weir_journal *journal,
                                          const struct weir_entry *record, uint64_t *serial,
                                          struct weir_error *err)
{
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        return weir_journal_add_range(journal, &record->range, serial, err);
    case WEIR_ENTRY_REJECT:
        return weir_journal_add_reject(journal, &record->reject, serial, err);
    case WEIR_ENTRY_BLOCK:
        return weir_journal_add_block(journal, &record->block, serial, err);
    case WEIR_ENTRY_NOTE:
        return weir_journal_add_note(journal, &record->note, serial, err);
    case WEIR_ENTRY_KINDS:
        break;
    }
    return WEIR_E_INVALID;
}

/* Add those from `first` on until `count` were added, or one was refused. */
static inline enum weir_status add_numbered(struct weir_journal *journal, uint64_t first,
                                            uint64_t count, struct weir_error *err)
{
    for (uint64_t i = first; i < first + count; i++) {
        struct weir_entry record = numbered(i);
        uint64_t serial = 0;
        enum weir_status status = add_record(journal, &record, &serial, err);
        if (status)
            return status;
        must(serial == i);
    }
    return WEIR_OK;
}

/* --- everything a journal says ---------------------------------------------------------------- */

static inline void tell_facts(struct weir_buf *text, const struct weir_job_facts *facts)
{
    weir_buf_printf(text, "%s|%s|%s|%s|%s|%s|%s|%lld|", facts->job, facts->operation, facts->table,
                    facts->url, facts->organisation, facts->options, facts->suffix,
                    (long long)facts->started_us);
    weir_buf_add(text, facts->id_bytes, WEIR_JOB_ID_BYTES);
    weir_buf_add(text, facts->header.ptr, facts->header.len);
    for (size_t i = 0; i < facts->input_count; i++)
        weir_buf_printf(text, "|%s %d %llx %llx %llx", facts->inputs[i].path,
                        facts->inputs[i].on_disk, (unsigned long long)facts->inputs[i].size_bytes,
                        (unsigned long long)facts->inputs[i].hash_first,
                        (unsigned long long)facts->inputs[i].hash_last);
}

static inline void tell_text(struct weir_buf *text, struct weir_str part)
{
    weir_buf_printf(text, " %zu:", part.len);
    weir_buf_add(text, part.ptr, part.len);
}

static inline void tell_record(struct weir_buf *text, const struct weir_entry *record)
{
    weir_buf_printf(text, "\n%d #%llu crc %08x", (int)record->kind,
                    (unsigned long long)record->serial, record->crc);
    if (record->kind == WEIR_ENTRY_RANGE) {
        tell_text(text, record->range.ids);
        weir_buf_add_text(text, record->range.ids_made ? " made" : "");
    }
    if (record->kind == WEIR_ENTRY_REJECT)
        tell_text(text, record->reject.bytes);
}

static inline enum weir_status tell_cursor(struct weir_buf *text,
                                           const struct weir_journal_view *source,
                                           enum weir_cursor_order order, uint64_t of,
                                           struct weir_error *err)
{
    struct weir_cursor cursor;
    const struct weir_entry *record;
    enum weir_status status = weir_cursor_init(&cursor, source, order, of, err);
    if (status)
        return status;
    while ((status = weir_cursor_next(&cursor, &record, err)) == WEIR_OK && record)
        tell_record(text, record);
    weir_cursor_release(&cursor);
    return status;
}

/* Every record by its checksum, which covers all of it. */
static inline enum weir_status tell(struct weir_journal *journal, struct weir_buf *text,
                                    struct weir_error *err)
{
    struct weir_journal_view source = weir_journal_view_now(journal);
    enum weir_status status = WEIR_OK;
    weir_buf_reset(text);
    tell_facts(text, weir_journal_facts(journal));
    for (uint64_t pass = 0; pass < WEIR_JOURNAL_PASSES && status == WEIR_OK; pass++) {
        status = tell_cursor(text, &source, WEIR_CURSOR_RANGES, pass, err);
        if (status == WEIR_OK)
            status = tell_cursor(text, &source, WEIR_CURSOR_RANGES_WITH_IDS, pass, err);
    }
    if (status == WEIR_OK)
        status = tell_cursor(text, &source, WEIR_CURSOR_REJECTS, 0, err);
    for (uint64_t file = 0; file < NUMBERED_FILES && status == WEIR_OK; file++)
        status = tell_cursor(text, &source, WEIR_CURSOR_BLOCKS, file, err);
    for (int i = 0; i < 3 && status == WEIR_OK; i++) {
        char name[32], *note = NULL;
        snprintf(name, sizeof(name), "note %d", i);
        status = weir_journal_note(journal, name, &note, err);
        weir_buf_printf(text, "\n%s: %s", name, note ? note : "(none)");
        free(note);
        status = status == WEIR_E_NOT_FOUND ? WEIR_OK : status;
    }
    return status;
}

/* What tell() must say of a journal with the numbered records 1 … `last`. */
static inline void tell_expected(struct weir_buf *text, uint64_t last)
{
    struct weir_job_facts facts = sample_facts();
    weir_buf_reset(text);
    tell_facts(text, &facts);
    for (uint32_t turn = 0; turn < 2 * WEIR_JOURNAL_PASSES; turn++) {
        for (uint64_t serial = 1; serial <= last; serial++) {
            struct weir_entry record = numbered(serial);
            record.crc = weir_entry_crc(&record);
            if (record.kind != WEIR_ENTRY_RANGE || record.range.pass != turn / 2)
                continue;
            if (turn % 2 && record.range.ids.len == 0 && !record.range.ids_made)
                continue;
            record.range.ids.len = turn % 2 ? record.range.ids.len : 0;
            record.range.ids_made = turn % 2 && record.range.ids_made;
            tell_record(text, &record);
        }
    }
    for (uint32_t turn = 0; turn < 1 + NUMBERED_FILES; turn++) {
        for (uint64_t serial = 1; serial <= last; serial++) {
            struct weir_entry record = numbered(serial);
            record.crc = weir_entry_crc(&record);
            if (record.kind == WEIR_ENTRY_REJECT && turn == 0)
                tell_record(text, &record);
            if (record.kind == WEIR_ENTRY_BLOCK && record.block.file + 1 == turn)
                tell_record(text, &record);
        }
    }
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t said = 0;
        for (uint64_t serial = 7; serial <= last; serial += 8)
            said = serial / 8 % 3 == i ? serial : said;
        weir_buf_printf(text, "\nnote %llu: ", (unsigned long long)i);
        if (said)
            weir_buf_printf(text, "said at %llu", (unsigned long long)said);
        else
            weir_buf_add_text(text, "(none)");
    }
}

static inline bool same_text(const struct weir_buf *a, const struct weir_buf *b)
{
    return a->len == b->len && memcmp(a->ptr, b->ptr, a->len) == 0;
}

/*
 * The journal in job_dir opens and holds exactly the numbered records 1 … n for some n; that n.
 */
static inline uint64_t check_numbered(void)
{
    struct weir_journal *journal = open_job();
    struct weir_buf is, should;
    struct weir_error err = { 0 };
    weir_buf_init(&is, TEXT_MAX);
    weir_buf_init(&should, TEXT_MAX);
    uint64_t last = weir_journal_view(journal)->serial_max;
    ck_assert_msg(tell(journal, &is, &err) == WEIR_OK, "%s", err.message);
    tell_expected(&should, last);
    ck_assert_msg(same_text(&is, &should), "is:\n%s\nshould be:\n%s", weir_buf_text(&is),
                  weir_buf_text(&should));
    weir_buf_release(&is);
    weir_buf_release(&should);
    weir_journal_free(journal);
    return last;
}

/* --- files ------------------------------------------------------------------------------------ */

static inline void slurp(const char *name, struct weir_buf *bytes)
{
    char path[400], chunk[65536];
    snprintf(path, sizeof(path), "%s/%s", job_dir, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file, "%s is missing", path);
    weir_buf_reset(bytes);
    for (size_t len; (len = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        weir_buf_add(bytes, chunk, len);
    fclose(file);
}

static inline bool has_file(const char *name)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", job_dir, name);
    return access(path, F_OK) == 0;
}

#endif
