/* SPDX-License-Identifier: MIT */
/* The facts of a job; see facts.h. In the database they are names and values, for people too. */
#include "journal/facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

/* --- names and values ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at; /* a const char * in struct weir_job_facts */
} texts[] = {
    { "job", offsetof(struct weir_job_facts, job) },
    { "operation", offsetof(struct weir_job_facts, operation) },
    { "table", offsetof(struct weir_job_facts, table) },
    { "url", offsetof(struct weir_job_facts, url) },
    { "organisation", offsetof(struct weir_job_facts, organisation) },
    { "options", offsetof(struct weir_job_facts, options) },
    { "suffix", offsetof(struct weir_job_facts, suffix) },
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char **text_of(struct weir_job_facts *facts, size_t i)
{
    return (const char **)((char *)facts + texts[i].at);
}

static struct weir_str text_in(const struct weir_job_facts *facts, size_t i)
{
    return weir_str_from(*(const char *const *)((const char *)facts + texts[i].at));
}

static uint32_t fact_crc(struct weir_str name, struct weir_str value)
{
    return weir_crc_text(weir_crc_text(0, name), value);
}

static uint32_t input_crc(uint64_t file, struct weir_str path, const struct weir_job_input *input)
{
    uint32_t crc = weir_crc_text(weir_crc_number(0, file), path);
    crc = weir_crc_number(crc, input->on_disk);
    crc = weir_crc_number(crc, input->size_bytes);
    crc = weir_crc_number(crc, input->hash_first);
    return weir_crc_number(crc, input->hash_last);
}

struct weir_row_ids weir_job_facts_row_ids(const struct weir_job_facts *facts)
{
    struct weir_row_ids ids = { .started_s = facts->started_us / WEIR_US_PER_S };
    memcpy(ids.job, facts->id_bytes, sizeof(ids.job));
    return ids;
}

/* --- checking --------------------------------------------------------------------------------- */

/* The suffix becomes part of a file's name. */
static bool is_suffix(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            return false;
    }
    return text.len > 0 && text.len <= 16;
}

const char *weir_job_facts_line_end(const struct weir_job_facts *facts)
{
    struct weir_str header = facts->header;
    bool cr = header.len > 0 && header.ptr[header.len - 1] == '\r';
    bool crlf =
        header.len > 1 && header.ptr[header.len - 1] == '\n' && header.ptr[header.len - 2] == '\r';
    return cr ? "\r" : crlf ? "\r\n" : "\n";
}

enum weir_status weir_job_facts_check(const struct weir_job_facts *facts, struct weir_error *err)
{
    for (size_t i = 0; i < TEXTS; i++) {
        if (text_in(facts, i).len > WEIR_JOURNAL_FACT_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG, "fact \"%s\" has %zu bytes: at most %zu", //
                             texts[i].name, text_in(facts, i).len, WEIR_JOURNAL_FACT_MAX);
    }
    if (facts->header.len > WEIR_JOURNAL_FACT_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the header has %zu bytes: at most %zu",
                         facts->header.len, WEIR_JOURNAL_FACT_MAX);
    if (!is_suffix(weir_str_from(facts->suffix)))
        return weir_fail(err, WEIR_E_INVALID, "suffix \"%s\" must be a few letters such as csv",
                         facts->suffix ? facts->suffix : "");
    if (facts->input_count > WEIR_JOURNAL_INPUTS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%zu input files: at most %d", facts->input_count,
                         WEIR_JOURNAL_INPUTS_MAX);
    for (size_t i = 0; i < facts->input_count; i++) {
        if (weir_str_from(facts->inputs[i].path).len > WEIR_JOURNAL_PATH_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG, "the path of an input is longer than %d bytes",
                             WEIR_JOURNAL_PATH_MAX);
    }
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < facts->note_count && status == WEIR_OK; i++) {
        struct weir_entry note = { .kind = WEIR_ENTRY_NOTE, .note = facts->notes[i] };
        status = weir_entry_check(&note, err);
    }
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

static enum weir_status put(sqlite3_stmt *statement, const char *name, struct weir_str value,
                            bool text, uint32_t *crc, struct weir_error *err)
{
    uint32_t own = fact_crc(weir_str_from(name), value);
    weir_sql_bind_text(statement, 1, weir_str_from(name));
    if (text)
        weir_sql_bind_text(statement, 2, value);
    else
        weir_sql_bind_blob(statement, 2, value);
    weir_sql_bind_u64(statement, 3, own);
    *crc = weir_crc_number(*crc, own);
    return weir_sql_run(statement, err);
}

static enum weir_status put_number(sqlite3_stmt *statement, const char *name, int64_t number,
                                   uint32_t *crc, struct weir_error *err)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, number);
    return put(statement, name, weir_str_from(text), true, crc, err);
}

static enum weir_status put_all(sqlite3_stmt *statement, const struct weir_job_facts *facts,
                                uint32_t *crc, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < TEXTS && status == WEIR_OK; i++)
        status = put(statement, texts[i].name, text_in(facts, i), true, crc, err);
    if (status == WEIR_OK)
        status = put_number(statement, "started_us", facts->started_us, crc, err);
    if (status == WEIR_OK)
        status = put(statement, "id_bytes",
                     weir_str((const char *)facts->id_bytes, WEIR_JOB_ID_BYTES), false, crc, err);
    if (status == WEIR_OK)
        status = put(statement, "header", facts->header, false, crc, err);
    if (status == WEIR_OK)
        status = put_number(statement, "inputs", (int64_t)facts->input_count, crc, err);
    return status;
}

static enum weir_status put_inputs(sqlite3_stmt *statement, const struct weir_job_facts *facts,
                                   uint32_t *crc, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < facts->input_count && status == WEIR_OK; i++) {
        const struct weir_job_input *input = &facts->inputs[i];
        uint32_t own = input_crc(i, weir_str_from(input->path), input);
        weir_sql_bind_u64(statement, 1, i);
        weir_sql_bind_text(statement, 2, weir_str_from(input->path));
        weir_sql_bind_u64(statement, 3, input->on_disk);
        weir_sql_bind_u64(statement, 4, input->size_bytes);
        weir_sql_bind_u64(statement, 5, input->hash_first);
        weir_sql_bind_u64(statement, 6, input->hash_last);
        weir_sql_bind_u64(statement, 7, own);
        *crc = weir_crc_number(*crc, own);
        status = weir_sql_run(statement, err);
    }
    return status;
}

enum weir_status weir_job_facts_write(sqlite3 *db, const struct weir_job_facts *facts,
                                      uint32_t *ret_crc, struct weir_error *err)
{
    sqlite3_stmt *fact = NULL, *input = NULL;
    uint32_t crc = 0;
    enum weir_status status =
        weir_sql_prepare(db, "INSERT INTO facts VALUES(?1,?2,?3)", &fact, err);
    if (status == WEIR_OK)
        status =
            weir_sql_prepare(db, "INSERT INTO inputs VALUES(?1,?2,?3,?4,?5,?6,?7)", &input, err);
    if (status == WEIR_OK)
        status = put_all(fact, facts, &crc, err);
    if (status == WEIR_OK)
        status = put_inputs(input, facts, &crc, err);
    sqlite3_finalize(fact);
    sqlite3_finalize(input);
    if (status == WEIR_OK)
        *ret_crc = crc;
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The value lives until the statement is reset. */
static enum weir_status get(sqlite3_stmt *statement, const char *name, struct weir_str *ret,
                            uint32_t *crc, struct weir_error *err)
{
    bool more;
    sqlite3_reset(statement);
    weir_sql_bind_text(statement, 1, weir_str_from(name));
    enum weir_status status = weir_sql_step(statement, &more, err);
    if (status)
        return status;
    if (!more)
        return weir_sql_damaged(err, "a fact of the job is missing");
    *ret = weir_sql_text(statement, 0);
    uint32_t own = fact_crc(weir_str_from(name), *ret);
    if (weir_sql_u64(statement, 1) != own)
        return weir_sql_damaged(err, "a fact of the job has a wrong checksum");
    *crc = weir_crc_number(*crc, own);
    return WEIR_OK;
}

static enum weir_status get_number(sqlite3_stmt *statement, const char *name, int64_t *ret,
                                   uint32_t *crc, struct weir_error *err)
{
    struct weir_str text = { 0 };
    enum weir_status status = get(statement, name, &text, crc, err);
    if (status == WEIR_OK && !weir_str_to_int64(text, ret))
        status = weir_sql_damaged(err, "a fact of the job is no number");
    return status;
}

static enum weir_status get_bytes(sqlite3_stmt *statement, struct weir_job_facts *facts,
                                  uint32_t *crc, struct weir_error *err)
{
    struct weir_str bytes = { 0 };
    enum weir_status status = get(statement, "id_bytes", &bytes, crc, err);
    if (status)
        return status;
    if (bytes.len != WEIR_JOB_ID_BYTES)
        return weir_sql_damaged(err, "the job's id bytes are not ten");
    memcpy(facts->id_bytes, bytes.ptr, WEIR_JOB_ID_BYTES);
    status = get(statement, "header", &bytes, crc, err);
    if (status == WEIR_OK)
        facts->header = weir_str(weir_strndup(bytes.ptr, bytes.len), bytes.len);
    return status;
}

static enum weir_status get_all(sqlite3_stmt *statement, struct weir_job_facts *facts,
                                int64_t *inputs, uint32_t *crc, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < TEXTS && status == WEIR_OK; i++) {
        struct weir_str text = { 0 };
        status = get(statement, texts[i].name, &text, crc, err);
        if (status == WEIR_OK)
            *text_of(facts, i) = weir_strndup(text.ptr, text.len);
    }
    if (status == WEIR_OK)
        status = get_number(statement, "started_us", &facts->started_us, crc, err);
    if (status == WEIR_OK)
        status = get_bytes(statement, facts, crc, err);
    if (status == WEIR_OK)
        status = get_number(statement, "inputs", inputs, crc, err);
    return status;
}

static enum weir_status get_input(sqlite3_stmt *statement, uint64_t file,
                                  struct weir_job_input *ret, uint32_t *crc, struct weir_error *err)
{
    bool more;
    enum weir_status status = weir_sql_step(statement, &more, err);
    if (status)
        return status;
    if (!more)
        return weir_sql_damaged(err, "an input file is missing");
    struct weir_str path = weir_sql_text(statement, 1);
    struct weir_job_input input = { .on_disk = weir_sql_u64(statement, 2) != 0,
                                    .size_bytes = weir_sql_u64(statement, 3),
                                    .hash_first = weir_sql_u64(statement, 4),
                                    .hash_last = weir_sql_u64(statement, 5) };
    uint32_t own = input_crc(weir_sql_u64(statement, 0), path, &input);
    if (weir_sql_u64(statement, 0) != file || weir_sql_u64(statement, 6) != own)
        return weir_sql_damaged(err, "an input file has a wrong checksum");
    *crc = weir_crc_number(*crc, own);
    input.path = weir_strndup(path.ptr, path.len);
    *ret = input;
    return WEIR_OK;
}

static enum weir_status get_inputs(sqlite3_stmt *statement, struct weir_job_facts *facts,
                                   int64_t count, uint32_t *crc, struct weir_error *err)
{
    if (count < 0 || count > WEIR_JOURNAL_INPUTS_MAX)
        return weir_sql_damaged(err, "it names an impossible number of input files");
    struct weir_job_input *inputs = weir_calloc((size_t)count, sizeof(*inputs));
    facts->inputs = inputs;
    enum weir_status status = WEIR_OK;
    for (int64_t i = 0; i < count && status == WEIR_OK; i++) {
        status = get_input(statement, (uint64_t)i, &inputs[i], crc, err);
        facts->input_count += status == WEIR_OK;
    }
    return status;
}

enum weir_status weir_job_facts_read(sqlite3 *db, struct weir_job_facts *ret, uint32_t *ret_crc,
                                     struct weir_error *err)
{
    struct weir_job_facts facts = { 0 };
    sqlite3_stmt *fact = NULL, *input = NULL;
    int64_t count = 0;
    uint32_t crc = 0;
    enum weir_status status =
        weir_sql_prepare(db, "SELECT value, crc FROM facts WHERE name = ?1", &fact, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(db, "SELECT * FROM inputs ORDER BY file", &input, err);
    if (status == WEIR_OK)
        status = get_all(fact, &facts, &count, &crc, err);
    if (status == WEIR_OK)
        status = get_inputs(input, &facts, count, &crc, err);
    sqlite3_finalize(fact);
    sqlite3_finalize(input);
    if (status) {
        weir_job_facts_release(&facts);
        return status;
    }
    *ret = facts;
    *ret_crc = crc;
    return WEIR_OK;
}

static void drop(const char *text)
{
    free((void *)(uintptr_t)text);
}

void weir_job_facts_release(struct weir_job_facts *facts)
{
    for (size_t i = 0; i < TEXTS; i++)
        drop(*text_of(facts, i));
    drop(facts->header.ptr);
    for (size_t i = 0; i < facts->input_count; i++)
        drop(facts->inputs[i].path);
    free((void *)(uintptr_t)facts->inputs);
    *facts = (struct weir_job_facts){ 0 };
}
