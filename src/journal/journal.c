/* SPDX-License-Identifier: MIT */
/*
 * The job's memory; see journal.h. The loop thread queues copies under the lock; the journal's
 * thread takes the whole queue, and everything that touches the disk happens outside the lock.
 *
 *     thread   wait for a group ─ take it ─ commit ─ seal ─ durable() ─ checkpoint ─ again
 *                                             └─ any failure ─▶ latch ─ failed() ─ end
 *
 * The store belongs to the thread while it runs, to the caller before and after.
 */
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "journal/place.h"
#include "journal/rows.h"
#include "journal/seal.h"
#include "journal/store.h"

struct weir_journal {
    struct weir_journal_watch watch;
    struct weir_journal_hooks hooks;
    struct weir_job_place place;
    struct weir_path path; /* of the database */
    struct weir_journal_view source;
    struct weir_job_facts facts;
    uint64_t runs;
    pthread_t thread;
    bool running;  /* the thread is; loop thread only */
    bool finished; /* loop thread only */

    /* The thread's, while it runs. */
    struct weir_store store;
    struct weir_seal seal;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* Below: only under the lock. */
    struct weir_queue queue;
    struct weir_journal_pending pending; /* queued, or being committed */
    uint64_t serial;                     /* the last one given out */
    uint64_t durable;
    int64_t due_us; /* when the group must be committed; of the first in the queue */
    bool hurry;
    bool closing;
    struct weir_error failure; /* status WEIR_OK: none */
};

/* --- the thread ------------------------------------------------------------------------------- */

static bool must_commit(const struct weir_journal *journal, int64_t now_us)
{
    if (journal->queue.count == 0)
        return false;
    return journal->queue.count >= WEIR_JOURNAL_GROUP_RECORDS || journal->hurry ||
           journal->closing || now_us >= journal->due_us;
}

/* Under the lock: sleep until there is a group. False: there will be none any more. */
static bool wait_for_group(struct weir_journal *journal)
{
    int64_t now_us;
    while (!must_commit(journal, now_us = weir_clock_now_us())) {
        if (journal->queue.count == 0 && journal->closing)
            return false;
        if (journal->queue.count == 0) {
            pthread_cond_wait(&journal->wake, &journal->lock);
            continue;
        }
        struct timespec deadline;
        weir_clock_deadline(journal->due_us - now_us, &deadline);
        pthread_cond_timedwait(&journal->wake, &journal->lock, &deadline);
    }
    return true;
}

static bool take_group(struct weir_journal *journal, struct weir_queue *group)
{
    pthread_mutex_lock(&journal->lock);
    bool more = wait_for_group(journal);
    *group = weir_queue_take(&journal->queue);
    journal->hurry = false;
    pthread_mutex_unlock(&journal->lock);
    return more;
}

static enum weir_status write_group(struct weir_journal *journal, const struct weir_queue *group,
                                    struct weir_error *err)
{
    enum weir_status status = weir_store_commit(&journal->store, group, err);
    if (status == WEIR_OK)
        status = weir_seal_write(&journal->seal, &journal->store.state, err);
    if (status == WEIR_OK)
        weir_hooks_at(&journal->hooks, WEIR_POINT_AFTER_SEAL);
    return status;
}

static void report_durable(struct weir_journal *journal, const struct weir_queue *group)
{
    uint64_t serial = journal->store.state.serial;
    pthread_mutex_lock(&journal->lock);
    journal->pending.records -= group->count;
    journal->pending.bytes -= group->bytes;
    journal->durable = serial;
    pthread_mutex_unlock(&journal->lock);
    if (journal->watch.durable)
        journal->watch.durable(journal->watch.ctx, serial);
}

static void latch(struct weir_journal *journal, const struct weir_error *err)
{
    pthread_mutex_lock(&journal->lock);
    journal->failure = *err;
    weir_queue_release(&journal->queue);
    pthread_mutex_unlock(&journal->lock);
    if (journal->watch.failed)
        journal->watch.failed(journal->watch.ctx, err);
}

static void *run(void *ctx)
{
    struct weir_journal *journal = ctx;
    struct weir_error err = { 0 };
    struct weir_queue group;
    while (take_group(journal, &group)) {
        enum weir_status status = write_group(journal, &group, &err);
        if (status == WEIR_OK) {
            report_durable(journal, &group);
            status = weir_store_checkpoint(&journal->store, &err);
        }
        weir_queue_release(&group);
        if (status) {
            latch(journal, &err);
            break;
        }
    }
    return NULL;
}

static enum weir_status start(struct weir_journal *journal, struct weir_error *err)
{
    enum weir_status status = weir_thread_start(&journal->thread, run, journal, err);
    journal->running = status == WEIR_OK;
    return status;
}

/* --- beginning -------------------------------------------------------------------------------- */

static struct weir_journal *new_journal(const struct weir_journal_watch *watch,
                                        const struct weir_journal_hooks *hooks)
{
    struct weir_journal *journal = weir_calloc(1, sizeof(*journal));
    pthread_condattr_t attributes;
    if (watch)
        journal->watch = *watch;
    if (hooks)
        journal->hooks = *hooks;
    journal->seal.fd = -1;
    journal->place.lock_fd = -1;
    pthread_mutex_init(&journal->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&journal->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return journal;
}

/* An empty file that only we may read, for SQLite to fill: its own would follow the umask. */
static enum weir_status make_file(const struct weir_journal *journal, const char *path, int *ret_fd,
                                  struct weir_error *err)
{
    *ret_fd = weir_hooks_open(&journal->hooks, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (*ret_fd < 0)
        return weir_fail(err, WEIR_E_IO, "the journal \"%s\" cannot be made: %s", path,
                         weir_hooks_reason(errno));
    return WEIR_OK;
}

static enum weir_status sync_file(const struct weir_journal *journal, const char *path, int fd,
                                  struct weir_error *err)
{
    if (weir_hooks_fsync(&journal->hooks, fd) == 0)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_IO, "the journal \"%s\" cannot be written: %s", path,
                     weir_hooks_reason(errno));
}

/* The file is ours as long as SQLite has it open: closing it before would drop SQLite's locks. */
static enum weir_status make_database(const struct weir_journal *journal, const char *path,
                                      const struct weir_job_facts *facts, struct weir_state *ret,
                                      struct weir_error *err)
{
    int fd;
    enum weir_status status = make_file(journal, path, &fd, err);
    if (status)
        return status;
    status = weir_store_make(path, facts, &journal->hooks, ret, err);
    if (status == WEIR_OK)
        status = sync_file(journal, path, fd, err);
    close(fd);
    return status;
}

static enum weir_status make_files(struct weir_journal *journal, const struct weir_job_facts *facts,
                                   struct weir_error *err)
{
    struct weir_path database = weir_place_path(&journal->place, WEIR_PLACE_DATABASE);
    struct weir_path seal = weir_place_path(&journal->place, WEIR_PLACE_SEAL);
    struct weir_state state;
    enum weir_status status = make_database(journal, database.text, facts, &state, err);
    if (status == WEIR_OK)
        status = weir_seal_make(&journal->seal, seal.text, &state, &journal->hooks, err);
    if (status == WEIR_OK)
        status = weir_seal_sync(&journal->seal, err);
    weir_seal_release(&journal->seal);
    return status;
}

/* In a directory that is ours: look at what is there. */
static enum weir_status look(struct weir_journal *journal, struct weir_error *err)
{
    struct weir_path seal = weir_place_path(&journal->place, WEIR_PLACE_SEAL);
    uint32_t facts_crc = 0;
    journal->path = weir_place_path(&journal->place, WEIR_PLACE_DATABASE);
    enum weir_status status = weir_seal_init(&journal->seal, seal.text, &journal->hooks, err);
    if (status == WEIR_OK)
        status = weir_store_init(&journal->store, journal->path.text, &journal->hooks, err);
    if (status == WEIR_OK)
        status = weir_seal_check(&journal->seal, &journal->store.state, err);
    if (status == WEIR_OK)
        status = weir_job_facts_read(journal->store.db, &journal->facts, &facts_crc, err);
    if (status == WEIR_OK && facts_crc != journal->store.state.facts)
        status = weir_sql_damaged(err, "its facts are not those it was made with");
    if (status == WEIR_OK)
        weir_hooks_at(&journal->hooks, WEIR_POINT_VERIFIED);
    return status;
}

/* A first commit: whoever cannot write should learn it before anything is sent. */
static enum weir_status count_opening(struct weir_journal *journal, struct weir_error *err)
{
    struct weir_queue nothing = { 0 };
    enum weir_status status = weir_store_commit(&journal->store, &nothing, err);
    if (status == WEIR_OK)
        status = weir_seal_write(&journal->seal, &journal->store.state, err);
    return status;
}

/* A job that was just made could be written, and says that it was opened. */
static enum weir_status enter(struct weir_journal *journal, bool made, struct weir_error *err)
{
    enum weir_status status = look(journal, err);
    if (status == WEIR_OK && !made)
        status = count_opening(journal, err);
    if (status)
        return status;
    weir_hooks_at(&journal->hooks, WEIR_POINT_OPENED);
    journal->serial = journal->durable = journal->store.state.serial;
    journal->runs = journal->store.state.opened;
    journal->source =
        (struct weir_journal_view){ journal->path.text, journal->hooks.vfs, journal->durable };
    return start(journal, err);
}

static enum weir_status conclude(struct weir_journal *journal, enum weir_status status,
                                 struct weir_journal **ret)
{
    if (status == WEIR_OK)
        *ret = journal;
    else
        weir_journal_free(journal);
    return status;
}

enum weir_status weir_journal_new(const char *directory, const struct weir_job_facts *facts,
                                  const struct weir_journal_watch *watch,
                                  const struct weir_journal_hooks *hooks, struct weir_journal **ret,
                                  struct weir_error *err)
{
    enum weir_status status = weir_job_facts_check(facts, err);
    if (status)
        return status;
    struct weir_journal *journal = new_journal(watch, hooks);
    status = weir_place_make(&journal->place, directory, &journal->hooks, err);
    if (status == WEIR_OK)
        status = make_files(journal, facts, err);
    if (status == WEIR_OK)
        status = weir_place_settle(&journal->place, err);
    if (status == WEIR_OK) {
        weir_hooks_at(&journal->hooks, WEIR_POINT_JOB_CREATED);
        status = enter(journal, true, err);
    }
    return conclude(journal, status, ret);
}

enum weir_status weir_journal_open(const char *directory, const struct weir_journal_watch *watch,
                                   const struct weir_journal_hooks *hooks,
                                   struct weir_journal **ret, struct weir_error *err)
{
    struct weir_journal *journal = new_journal(watch, hooks);
    enum weir_status status = weir_place_init(&journal->place, directory, &journal->hooks, err);
    if (status == WEIR_OK)
        status = enter(journal, false, err);
    return conclude(journal, status, ret);
}

/* --- end -------------------------------------------------------------------------------------- */

static void stop(struct weir_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    journal->closing = true;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
    pthread_join(journal->thread, NULL);
    journal->running = false;
}

static enum weir_status tidy(struct weir_journal *journal, struct weir_error *err)
{
    weir_hooks_at(&journal->hooks, WEIR_POINT_BEFORE_FINISH);
    enum weir_status status = weir_store_finish(&journal->store, err);
    if (status == WEIR_OK)
        status = weir_seal_sync(&journal->seal, err);
    weir_hooks_at(&journal->hooks, WEIR_POINT_AFTER_FINISH);
    return status;
}

enum weir_status weir_journal_finish(struct weir_journal *journal, struct weir_error *err)
{
    if (journal->running)
        stop(journal);
    if (!journal->finished && journal->failure.status == WEIR_OK) {
        struct weir_error failure;
        if (tidy(journal, &failure))
            journal->failure = failure;
    }
    journal->finished = true;
    if (journal->failure.status && err)
        *err = journal->failure;
    return journal->failure.status;
}

void weir_journal_free(struct weir_journal *journal)
{
    if (!journal)
        return;
    if (journal->running)
        weir_journal_finish(journal, NULL);
    weir_queue_release(&journal->queue);
    weir_store_release(&journal->store);
    weir_seal_release(&journal->seal);
    weir_job_facts_release(&journal->facts);
    weir_hooks_at(&journal->hooks, WEIR_POINT_CLOSED);
    weir_place_release(&journal->place);
    pthread_cond_destroy(&journal->wake);
    pthread_mutex_destroy(&journal->lock);
    free(journal);
}

/* --- adding ----------------------------------------------------------------------------------- */

static enum weir_status admit(const struct weir_journal *journal, size_t bytes,
                              struct weir_error *err)
{
    if (journal->failure.status) {
        if (err)
            *err = journal->failure;
        return journal->failure.status;
    }
    if (journal->closing)
        return weir_fail(err, WEIR_E_SHUTDOWN, "the journal is finished");
    if (journal->pending.bytes > 0 && journal->pending.bytes + bytes > WEIR_JOURNAL_QUEUE_BYTES_MAX)
        return weir_fail(err, WEIR_E_WOULD_WAIT, "the journal's queue is full");
    return WEIR_OK;
}

/* Under the lock. Only a first or a full group is worth waking the thread for. */
static void queue(struct weir_journal *journal, struct weir_entry *record)
{
    size_t before = journal->queue.bytes;
    record->serial = ++journal->serial;
    record->crc = weir_entry_crc(record);
    if (journal->queue.count == 0)
        journal->due_us = weir_clock_now_us() + WEIR_JOURNAL_GROUP_US;
    weir_queue_add(&journal->queue, record);
    journal->pending.records++;
    journal->pending.bytes += journal->queue.bytes - before;
    if (journal->queue.count == 1 || journal->queue.count == WEIR_JOURNAL_GROUP_RECORDS)
        pthread_cond_signal(&journal->wake);
}

static enum weir_status add(struct weir_journal *journal, struct weir_entry *record,
                            uint64_t *ret_serial, struct weir_error *err)
{
    enum weir_status status = weir_entry_check(record, err);
    if (status)
        return status;
    pthread_mutex_lock(&journal->lock);
    status = admit(journal, sizeof(struct weir_queued) + weir_entry_bytes(record), err);
    if (status == WEIR_OK)
        queue(journal, record);
    pthread_mutex_unlock(&journal->lock);
    if (status == WEIR_OK && ret_serial)
        *ret_serial = record->serial;
    return status;
}

enum weir_status weir_journal_add_range(struct weir_journal *journal,
                                        const struct weir_range *range, uint64_t *ret_serial,
                                        struct weir_error *err)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_RANGE, .range = *range };
    return add(journal, &record, ret_serial, err);
}

enum weir_status weir_journal_add_reject(struct weir_journal *journal,
                                         const struct weir_reject *reject, uint64_t *ret_serial,
                                         struct weir_error *err)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_REJECT, .reject = *reject };
    return add(journal, &record, ret_serial, err);
}

enum weir_status weir_journal_add_mark(struct weir_journal *journal, uint32_t pass, uint64_t row,
                                       uint64_t *ret_serial, struct weir_error *err)
{
    struct weir_reject mark = { .pass = pass, .row = row, .superseded = true };
    return weir_journal_add_reject(journal, &mark, ret_serial, err);
}

enum weir_status weir_journal_add_block(struct weir_journal *journal,
                                        const struct weir_input_block *block, uint64_t *ret_serial,
                                        struct weir_error *err)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_BLOCK, .block = *block };
    return add(journal, &record, ret_serial, err);
}

enum weir_status weir_journal_add_note(struct weir_journal *journal, const struct weir_note *note,
                                       uint64_t *ret_serial, struct weir_error *err)
{
    struct weir_entry record = { .kind = WEIR_ENTRY_NOTE, .note = *note };
    return add(journal, &record, ret_serial, err);
}

struct weir_journal_pending weir_journal_pending(struct weir_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    struct weir_journal_pending pending = journal->pending;
    pthread_mutex_unlock(&journal->lock);
    return pending;
}

void weir_journal_hurry(struct weir_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    journal->hurry = journal->queue.count > 0;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct weir_job_facts *weir_journal_facts(const struct weir_journal *journal)
{
    return &journal->facts;
}

const char *weir_journal_directory(const struct weir_journal *journal)
{
    return journal->place.directory;
}

const struct weir_journal_hooks *weir_journal_hooks(const struct weir_journal *journal)
{
    return &journal->hooks;
}

uint64_t weir_journal_runs(const struct weir_journal *journal)
{
    return journal->runs;
}

const struct weir_journal_view *weir_journal_view(const struct weir_journal *journal)
{
    return &journal->source;
}

struct weir_journal_view weir_journal_view_now(struct weir_journal *journal)
{
    struct weir_journal_view source = journal->source;
    pthread_mutex_lock(&journal->lock);
    source.serial_max = journal->durable;
    pthread_mutex_unlock(&journal->lock);
    return source;
}

enum weir_status weir_journal_totals(struct weir_journal *journal, struct weir_totals *ret,
                                     struct weir_error *err)
{
    struct weir_journal_view source = weir_journal_view_now(journal);
    return weir_totals_read(&source, ret, err);
}

static enum weir_status find_note(sqlite3_stmt *statement, const char *name, char **ret,
                                  struct weir_error *err)
{
    struct weir_entry record;
    bool more;
    weir_sql_bind_text(statement, 1, weir_str_from(name));
    enum weir_status status = weir_sql_step(statement, &more, err);
    if (status)
        return status;
    if (!more)
        return weir_fail(err, WEIR_E_NOT_FOUND, "the journal has no note \"%.100s\"", name);
    status = weir_row_read(statement, WEIR_ENTRY_NOTE, &record, err);
    if (status == WEIR_OK)
        *ret = weir_strndup(record.note.text.ptr, record.note.text.len);
    return status;
}

enum weir_status weir_journal_note(struct weir_journal *journal, const char *name, char **ret,
                                   struct weir_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    enum weir_status status =
        weir_sql_open(journal->path.text, journal->hooks.vfs, WEIR_SQL_READ, &db, err);
    if (status)
        return status;
    status =
        weir_sql_prepare(db, "SELECT " WEIR_ROW_NOTE " FROM notes WHERE name=?1", &statement, err);
    if (status == WEIR_OK)
        status = find_note(statement, name, ret, err);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return status;
}

enum weir_status weir_journal_high_row(struct weir_journal *journal, uint64_t *ret,
                                       struct weir_error *err)
{
    sqlite3 *db = NULL;
    int64_t row;
    enum weir_status status =
        weir_sql_open(journal->path.text, journal->hooks.vfs, WEIR_SQL_READ, &db, err);
    if (status)
        return status;
    status = weir_sql_number(db,
                             "SELECT max(ifnull((SELECT max(last_row) FROM ranges), 0),"
                             " ifnull((SELECT max(row) FROM rejects), 0))",
                             &row, err);
    sqlite3_close(db);
    if (status == WEIR_OK)
        *ret = (uint64_t)row;
    return status;
}
