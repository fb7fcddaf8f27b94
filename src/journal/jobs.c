/* SPDX-License-Identifier: MIT */
/* Jobs from outside; see jobs.h. */
#include "journal/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "journal/place.h"
#include "journal/schema.h"
#include "journal/state.h"

static enum weir_status read_job(sqlite3 *db, struct weir_job_listing *job, uint64_t *ret_serial,
                                 struct weir_error *err)
{
    struct weir_state state;
    uint32_t crc;
    enum weir_status status = weir_schema_check(db, err);
    if (status == WEIR_OK)
        status = weir_state_read(db, &state, err);
    if (status == WEIR_OK)
        status = weir_job_facts_read(db, &job->facts, &crc, err);
    if (status)
        return status;
    job->runs = state.opened;
    *ret_serial = state.serial;
    return WEIR_OK;
}

static enum weir_status look(struct weir_job_listing *job, const char *database,
                             struct weir_error *err)
{
    sqlite3 *db = NULL;
    struct weir_journal_view source = { .path = database };
    enum weir_status status = weir_sql_open(database, NULL, WEIR_SQL_READ, &db, err);
    if (status)
        return status;
    status = read_job(db, job, &source.serial_max, err);
    sqlite3_close(db);
    return status ? status : weir_totals_read(&source, &job->totals, err);
}

enum weir_status weir_job_listing_init(struct weir_job_listing *job, const char *path,
                                       struct weir_error *err)
{
    struct weir_path database = weir_path_join(path, WEIR_PLACE_DATABASE);
    const char *slash = strrchr(path, '/');
    *job = (struct weir_job_listing){ .name = slash ? slash + 1 : path, .path = path };
    if (access(database.text, F_OK))
        return weir_fail(err, WEIR_E_NOT_FOUND, "there is no job in \"%.300s\"", path);
    job->holder = weir_place_holder(path);
    enum weir_status status = look(job, database.text, err);
    if (status)
        weir_job_listing_release(job);
    return status;
}

void weir_job_listing_release(struct weir_job_listing *job)
{
    weir_job_facts_release(&job->facts);
    job->totals = (struct weir_totals){ 0 };
}

static int is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void show(const char *path, void (*fn)(void *ctx, const struct weir_job_listing *job),
                 void *ctx)
{
    struct weir_job_listing job;
    struct weir_error error = { 0 };
    if (weir_job_listing_init(&job, path, &error) == WEIR_E_NOT_FOUND)
        return;
    job.error = error;
    fn(ctx, &job);
    weir_job_listing_release(&job);
}

enum weir_status weir_jobs_each(const char *root,
                                void (*fn)(void *ctx, const struct weir_job_listing *job),
                                void *ctx, struct weir_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(root, &entries, is_listed, alphasort);
    if (count < 0 && errno == ENOENT)
        return WEIR_OK;
    if (count < 0)
        return weir_fail(err, WEIR_E_IO, "the jobs in \"%.300s\" cannot be listed: %s", root,
                         weir_hooks_reason(errno));
    for (int i = 0; i < count; i++) {
        struct weir_path path = weir_path_join(root, entries[i]->d_name);
        if (count <= WEIR_JOBS_MAX)
            show(path.text, fn, ctx);
        free(entries[i]);
    }
    free(entries);
    if (count > WEIR_JOBS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "there are %d entries in \"%.300s\": at most %d",
                         count, root, WEIR_JOBS_MAX);
    return WEIR_OK;
}
