/* SPDX-License-Identifier: MIT */
/*
 * journal.db as its writer sees it; see store.h.
 *
 *     commit      BEGIN ─ insert … insert ─ state ─ COMMIT (writes the log, fsync)
 *     checkpoint  log ─ fsync ─▶ database ─ fsync        ours, because SQLite's own one at commit
 *                                                        keeps its failures to itself
 *
 * SQLite would also checkpoint when the last connection closes. That is switched off: after a
 * failure nothing may be written any more, and closing must not be an exception.
 */
#include "journal/store.h"

#include "base/error.h"
#include "journal/rows.h"
#include "journal/schema.h"

#define CHECKPOINT_PAGES 1000

/* --- opening ---------------------------------------------------------------------------------- */

static int on_wal(void *ctx, sqlite3 *db, const char *name, int pages)
{
    struct weir_store *store = ctx;
    (void)db;
    (void)name;
    store->wal_pages = pages;
    return SQLITE_OK;
}

/* The answer comes before the change is committed: its end has to be waited for too. */
static enum weir_status set_wal(sqlite3 *db, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool more = false, wal = false;
    enum weir_status status = weir_sql_prepare(db, "PRAGMA journal_mode=WAL", &statement, err);
    if (status == WEIR_OK)
        status = weir_sql_step(statement, &more, err);
    if (status == WEIR_OK && more) {
        wal = weir_str_equal(weir_sql_text(statement, 0), weir_str_from("wal"));
        status = weir_sql_step(statement, &more, err);
    }
    if (status == WEIR_OK && !wal)
        status = weir_fail(err, WEIR_E_IO,
                           "the journal's directory allows no write-ahead log: "
                           "choose a job directory on a local disk");
    sqlite3_finalize(statement);
    return status == WEIR_OK ? weir_sql_exec(db, "PRAGMA synchronous=FULL", err) : status;
}

static enum weir_status open_for_writing(const char *path, const struct weir_journal_hooks *hooks,
                                         sqlite3 **ret, struct weir_error *err)
{
    sqlite3 *db = NULL;
    enum weir_status status = weir_sql_open(path, hooks->vfs, WEIR_SQL_WRITE, &db, err);
    if (status)
        return status;
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_wal_autocheckpoint(db, 0);
    *ret = db;
    return WEIR_OK;
}

static enum weir_status prepare(struct weir_store *store, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (int kind = 0; kind < WEIR_ENTRY_KINDS && status == WEIR_OK; kind++)
        status = weir_sql_prepare(store->db, weir_row_inserts[kind], &store->insert[kind], err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(store->db, "SELECT crc FROM notes WHERE name=?1",
                                  &store->note_crc, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(store->db, "SELECT crc FROM blocks WHERE file=?1 AND number=?2",
                                  &store->block_crc, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(store->db, weir_state_replace, &store->save, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(store->db, "BEGIN IMMEDIATE", &store->begin, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(store->db, "COMMIT", &store->commit, err);
    return status;
}

/*
 * A page that could not be read says nothing of what stands in it. SQLite reports it among the
 * defects, with the code of the failure.
 */
static enum weir_status judge_pages(struct weir_str report, struct weir_error *err)
{
    static const char words[] = "error code=";
    size_t at = weir_str_find_nocase(report, words) + sizeof(words) - 1;
    if (weir_str_equal(report, weir_str_from("ok")))
        return WEIR_OK;
    int64_t code = 0;
    if (at < report.len)
        weir_str_to_int64(weir_str(report.ptr + at, report.len - at), &code);
    if ((code & 0xff) == SQLITE_IOERR)
        return weir_sql_fail(NULL, (int)code, err);
    return weir_sql_damaged(err, "its pages do not fit together");
}

static enum weir_status check_pages(sqlite3 *db, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool more = false;
    enum weir_status status = weir_sql_prepare(db, "PRAGMA integrity_check(1)", &statement, err);
    if (status == WEIR_OK)
        status = weir_sql_step(statement, &more, err);
    if (status == WEIR_OK)
        status = judge_pages(more ? weir_sql_text(statement, 0) : weir_str_from(""), err);
    sqlite3_finalize(statement);
    return status;
}

static enum weir_status look(struct weir_store *store, struct weir_error *err)
{
    enum weir_status status = weir_schema_check(store->db, err);
    if (status == WEIR_OK)
        status = check_pages(store->db, err);
    if (status == WEIR_OK)
        status = weir_state_read(store->db, &store->state, err);
    if (status == WEIR_OK)
        status = weir_store_verify(store->db, &store->state, err);
    return status;
}

enum weir_status weir_store_init(struct weir_store *store, const char *path,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    *store = (struct weir_store){ .hooks = hooks };
    enum weir_status status = open_for_writing(path, hooks, &store->db, err);
    if (status == WEIR_OK)
        status = look(store, err);
    if (status == WEIR_OK)
        status = set_wal(store->db, err);
    if (status == WEIR_OK)
        status = prepare(store, err);
    if (status)
        weir_store_release(store);
    else
        sqlite3_wal_hook(store->db, on_wal, store);
    return status;
}

void weir_store_release(struct weir_store *store)
{
    for (int kind = 0; kind < WEIR_ENTRY_KINDS; kind++)
        sqlite3_finalize(store->insert[kind]);
    sqlite3_finalize(store->note_crc);
    sqlite3_finalize(store->block_crc);
    sqlite3_finalize(store->save);
    sqlite3_finalize(store->begin);
    sqlite3_finalize(store->commit);
    sqlite3_close(store->db);
    *store = (struct weir_store){ 0 };
}

/* --- a group ---------------------------------------------------------------------------------- */

/* What stands where a record will go: notes and blocks have names. */
struct former {
    bool there;
    uint32_t crc;
};

static enum weir_status find(sqlite3_stmt *statement, struct former *ret, struct weir_error *err)
{
    enum weir_status status = weir_sql_step(statement, &ret->there, err);
    if (status == WEIR_OK && ret->there)
        ret->crc = (uint32_t)weir_sql_u64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

static enum weir_status find_former(struct weir_store *store, const struct weir_entry *record,
                                    struct former *ret, struct weir_error *err)
{
    switch (record->kind) {
    case WEIR_ENTRY_NOTE:
        weir_sql_bind_text(store->note_crc, 1, record->note.name);
        return find(store->note_crc, ret, err);
    case WEIR_ENTRY_BLOCK:
        weir_sql_bind_u64(store->block_crc, 1, record->block.file);
        weir_sql_bind_u64(store->block_crc, 2, record->block.number);
        return find(store->block_crc, ret, err);
    case WEIR_ENTRY_RANGE:
    case WEIR_ENTRY_REJECT:
    case WEIR_ENTRY_KINDS:
        break;
    }
    return WEIR_OK;
}

/* What is replaced leaves the tally; a record that changed nothing never enters it. */
static enum weir_status insert(struct weir_store *store, const struct weir_entry *record,
                               struct weir_state *state, struct weir_error *err)
{
    struct weir_tally *tally = &state->tally[record->kind];
    struct former former = { 0 };
    enum weir_status status = find_former(store, record, &former, err);
    if (status)
        return status;
    weir_row_bind(store->insert[record->kind], record);
    status = weir_sql_run(store->insert[record->kind], err);
    if (status == WEIR_OK && sqlite3_changes(store->db) > 0) {
        weir_tally_add(tally, record->crc);
        if (former.there)
            weir_tally_remove(tally, former.crc);
    }
    state->serial = record->serial;
    return status;
}

static enum weir_status insert_all(struct weir_store *store, const struct weir_queue *group,
                                   struct weir_state *state, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    weir_hooks_at(store->hooks, WEIR_POINT_BEFORE_INSERT);
    for (struct weir_queued *it = group->first; it && status == WEIR_OK; it = it->next)
        status = insert(store, &it->record, state, err);
    weir_hooks_at(store->hooks, WEIR_POINT_AFTER_INSERT);
    return status;
}

static enum weir_status save(struct weir_store *store, const struct weir_state *state,
                             struct weir_error *err)
{
    weir_state_bind(store->save, state);
    return weir_sql_run(store->save, err);
}

enum weir_status weir_store_commit(struct weir_store *store, const struct weir_queue *group,
                                   struct weir_error *err)
{
    struct weir_state state = store->state;
    enum weir_status status = weir_sql_run(store->begin, err);
    state.opened += group->count == 0;
    if (status == WEIR_OK)
        status = group->count > 0 ? insert_all(store, group, &state, err)
                                  : weir_schema_renew(store->db, err);
    if (status == WEIR_OK)
        status = save(store, &state, err);
    if (status)
        return status;
    weir_hooks_at(store->hooks, WEIR_POINT_BEFORE_COMMIT);
    status = weir_sql_run(store->commit, err);
    if (status)
        return status;
    store->state = state;
    weir_hooks_at(store->hooks, WEIR_POINT_AFTER_COMMIT);
    return WEIR_OK;
}

/* --- making ----------------------------------------------------------------------------------- */

static enum weir_status put_notes(struct weir_store *store, const struct weir_job_facts *facts,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < facts->note_count && status == WEIR_OK; i++) {
        struct weir_entry record = { .kind = WEIR_ENTRY_NOTE,
                                     .serial = store->state.serial + 1,
                                     .note = facts->notes[i] };
        record.crc = weir_entry_crc(&record);
        status = insert(store, &record, &store->state, err);
    }
    return status;
}

/*
 * Nobody sees the file before it is synced as a whole and its directory renamed, and one that
 * could not be filled is removed: SQLite need neither sync it nor be able to take anything back.
 * It is left in the mode in which it will be used, for changing that later is a transaction too.
 */
static enum weir_status fill(struct weir_store *store, const struct weir_job_facts *facts,
                             struct weir_error *err)
{
    enum weir_status status = weir_sql_exec(
        store->db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN IMMEDIATE", err);
    if (status == WEIR_OK)
        status = weir_schema_make(store->db, err);
    if (status == WEIR_OK)
        status = prepare(store, err);
    if (status == WEIR_OK)
        status = weir_job_facts_write(store->db, facts, &store->state.facts, err);
    if (status == WEIR_OK)
        status = put_notes(store, facts, err);
    store->state.opened = 1;
    if (status == WEIR_OK)
        status = save(store, &store->state, err);
    if (status == WEIR_OK)
        status = weir_sql_exec(store->db, "COMMIT", err);
    return status == WEIR_OK ? set_wal(store->db, err) : status;
}

enum weir_status weir_store_make(const char *path, const struct weir_job_facts *facts,
                                 const struct weir_journal_hooks *hooks, struct weir_state *ret,
                                 struct weir_error *err)
{
    struct weir_store store = { .hooks = hooks };
    enum weir_status status = open_for_writing(path, hooks, &store.db, err);
    if (status == WEIR_OK)
        status = fill(&store, facts, err);
    struct weir_state state = store.state;
    weir_store_release(&store);
    if (status)
        return status;
    weir_hooks_at(hooks, WEIR_POINT_FACTS_COMMITTED);
    *ret = state;
    return WEIR_OK;
}

/* --- checkpoints ------------------------------------------------------------------------------ */

static enum weir_status checkpoint(struct weir_store *store, int mode, struct weir_error *err)
{
    weir_hooks_at(store->hooks, WEIR_POINT_BEFORE_CHECKPOINT);
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, mode, NULL, NULL);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
        return weir_sql_fail(store->db, rc, err);
    weir_hooks_at(store->hooks, WEIR_POINT_AFTER_CHECKPOINT);
    return WEIR_OK;
}

enum weir_status weir_store_checkpoint(struct weir_store *store, struct weir_error *err)
{
    if (store->wal_pages < CHECKPOINT_PAGES)
        return WEIR_OK;
    store->wal_pages = 0;
    return checkpoint(store, SQLITE_CHECKPOINT_PASSIVE, err);
}

/* Whoever lists jobs beside us may read for a moment: wait a little, then leave the log to the
 * next opening. */
enum weir_status weir_store_finish(struct weir_store *store, struct weir_error *err)
{
    sqlite3_busy_timeout(store->db, 200);
    enum weir_status status = checkpoint(store, SQLITE_CHECKPOINT_TRUNCATE, err);
    if (status == WEIR_OK)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return status;
}
