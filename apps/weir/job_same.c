/* SPDX-License-Identifier: MIT */
/* Whether a job is the one that is meant; see job_same.h. */
#include "job_same.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "journal/jobs.h"

/* What is compared: the job that is there, and what the command line says. */
struct pair {
    const char *name; /* of the job */
    const struct weir_job_facts *facts;
    const struct weir_json_node *root; /* of its options */
    const struct weir_job_options *options;
    const struct weir_job_files *files;
};

static enum weir_status refuse(const struct pair *pair, const char *what, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the job \"%.100s\" that is there has %s: it is not the one that this command "
                     "means; resume it by itself, or choose another name",
                     pair->name, what);
}

static enum weir_status refuse_text(const struct pair *pair, const char *what, const char *has,
                                    const char *said, struct weir_error *err)
{
    char text[512];
    if (has && said)
        snprintf(text, sizeof(text), "%s \"%.150s\", not \"%.150s\"", what, has, said);
    else if (has)
        snprintf(text, sizeof(text), "%s \"%.150s\", and the command has none", what, has);
    else
        snprintf(text, sizeof(text), "no %s, and the command has \"%.150s\"", what, said);
    return refuse(pair, text, err);
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* --- options ---------------------------------------------------------------------------------- */

/* NULL: it is not said. */
static const char *text_of(const struct pair *pair, const char *key)
{
    const struct weir_json_node *node = weir_json_find(pair->root, key);
    return node && node->type == WEIR_JSON_STRING ? node->text.ptr : NULL;
}

static enum weir_status check_texts(const struct pair *pair, struct weir_error *err)
{
    const struct weir_job_options *said = pair->options;
    const struct {
        const char *key;
        const char *name;
        const char *text;
    } texts[] = {
        { "key", "--key", said->key },
        { "owner", "--owner", said->owner },
        { "id_from", "--id-from", said->id_from },
        { "ignore_columns", "--ignore-columns", said->ignore_columns },
        { "timezone", "--timezone", said->timezone },
        { "as", "--as", said->as },
        { "bypass_logic", "--bypass-logic", said->bypass_logic },
        { "tag", "--tag", said->tag },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *has = text_of(pair, texts[i].key);
        if (!is_same(has, texts[i].text))
            return refuse_text(pair, texts[i].name, has, texts[i].text, err);
    }
    return WEIR_OK;
}

static enum weir_status check_flags(const struct pair *pair, struct weir_error *err)
{
    const struct {
        const char *key;
        const char *with;
        const char *without;
        bool said;
    } flags[] = {
        { "raw", "--raw", "no --raw", pair->options->raw },
        { "bypass_flows", "--bypass-flows", "no --bypass-flows", pair->options->bypass_flows },
        { "detect_duplicates", "--detect-duplicates", "no --detect-duplicates",
          pair->options->detect_duplicates },
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct weir_json_node *node = weir_json_find(pair->root, flags[i].key);
        bool has = node && weir_str_equal(node->text, weir_str_from("true"));
        if (has != flags[i].said)
            return refuse(pair, has ? flags[i].with : flags[i].without, err);
    }
    return WEIR_OK;
}

static int64_t number_of(const struct pair *pair, const char *key)
{
    const struct weir_json_node *node = weir_json_find(pair->root, key);
    int64_t number = 0;
    if (node && node->type == WEIR_JSON_NUMBER)
        weir_str_to_int64(node->text, &number);
    return number;
}

/* "auto" is journaled as that word, and is 0 among the options. */
static void name_batch_size(int64_t rows, char ret[24])
{
    if (rows == WEIR_BATCH_SIZE_AUTO)
        snprintf(ret, 24, "auto");
    else
        snprintf(ret, 24, "%lld", (long long)rows);
}

static enum weir_status check_numbers(const struct pair *pair, struct weir_error *err)
{
    char text[80], has[24], said[24];
    int64_t batch_size = number_of(pair, "batch_size");
    if (number_of(pair, "empty") != (int64_t)pair->options->empty)
        return refuse(pair, "another --empty", err);
    if (batch_size == (int64_t)pair->options->batch_size)
        return WEIR_OK;
    name_batch_size(batch_size, has);
    name_batch_size(pair->options->batch_size, said);
    snprintf(text, sizeof(text), "--batch-size %s, not %s", has, said);
    return refuse(pair, text, err);
}

/* In the same order: a later one beats an earlier one. */
static enum weir_status check_with(const struct pair *pair, struct weir_error *err)
{
    const struct weir_json_node *list = weir_json_find(pair->root, "with");
    const struct weir_json_node *node = list ? list->first : NULL;
    size_t i = 0;
    for (; node && i < pair->options->with_count; node = node->next, i++) {
        if (!weir_str_equal(node->text, weir_str_from(pair->options->with[i])))
            break;
    }
    if (!node && i == pair->options->with_count)
        return WEIR_OK;
    return refuse_text(pair, "--with", node ? node->text.ptr : NULL,
                       i < pair->options->with_count ? pair->options->with[i] : NULL, err);
}

/* The job has kept the text, not the name. */
static enum weir_status read_mapping(const char *path, struct weir_buf *text,
                                     struct weir_error *err)
{
    char piece[4096];
    size_t len;
    FILE *file = fopen(path, "re");
    if (!file)
        return weir_fail(err, errno == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                         "mapping file \"%.300s\" cannot be opened: %s", path, strerror(errno));
    while (!text->overflow && (len = fread(piece, 1, sizeof(piece), file)) > 0)
        weir_buf_add(text, piece, len);
    bool whole = !ferror(file);
    fclose(file);
    return whole ? WEIR_OK
                 : weir_fail(err, WEIR_E_IO, "mapping file \"%.300s\" cannot be read", path);
}

static enum weir_status check_mapping(const struct pair *pair, struct weir_error *err)
{
    const char *has = text_of(pair, "mapping");
    const char *path = pair->options->mapping;
    struct weir_buf text;
    if (!has || !path)
        return !has == !path ? WEIR_OK : refuse(pair, has ? "a --mapping" : "no --mapping", err);
    weir_buf_init(&text, WEIR_JOURNAL_FACT_MAX);
    enum weir_status status = read_mapping(path, &text, err);
    if (!status && strcmp(has, weir_buf_text(&text)) != 0)
        status = refuse(pair, "a --mapping with another text", err);
    weir_buf_release(&text);
    return status;
}

static enum weir_status check_options(struct pair *pair, struct weir_error *err)
{
    struct weir_json *json;
    enum weir_status status = weir_json_parse(weir_str_from(pair->facts->options), &json, err);
    if (status)
        return status;
    pair->root = weir_json_root(json);
    status = check_texts(pair, err);
    if (!status)
        status = check_flags(pair, err);
    if (!status)
        status = check_numbers(pair, err);
    if (!status)
        status = check_with(pair, err);
    if (!status)
        status = check_mapping(pair, err);
    weir_json_free(json);
    return status;
}

/* --- the rest --------------------------------------------------------------------------------- */

static enum weir_status check_work(const struct pair *pair, struct weir_error *err)
{
    const char *operation = weir_operation_name(pair->options->operation);
    const char *format = pair->options->format;
    if (!is_same(pair->facts->operation, operation))
        return refuse_text(pair, "the operation", pair->facts->operation, operation, err);
    if (!is_same(pair->facts->table, pair->options->table))
        return refuse_text(pair, "the table", pair->facts->table, pair->options->table, err);
    if (format && !is_same(pair->facts->suffix, format))
        return refuse_text(pair, "--format", pair->facts->suffix, format, err);
    return WEIR_OK;
}

/* A file that is not there is compared by the name that was given. */
static bool is_same_file(const char *has, const char *said)
{
    char real[PATH_MAX];
    if (strcmp(said, "-") == 0 || !realpath(said, real))
        return strcmp(has, said) == 0;
    return strcmp(has, real) == 0;
}

static enum weir_status check_files(const struct pair *pair, struct weir_error *err)
{
    const struct weir_job_facts *facts = pair->facts;
    char text[80];
    if (facts->input_count != pair->files->path_count) {
        snprintf(text, sizeof(text), "%zu input%s, not %zu", facts->input_count,
                 facts->input_count == 1 ? "" : "s", pair->files->path_count);
        return refuse(pair, text, err);
    }
    for (size_t i = 0; i < facts->input_count; i++) {
        if (!is_same_file(facts->inputs[i].path, pair->files->paths[i]))
            return refuse_text(pair, "the input", facts->inputs[i].path, pair->files->paths[i],
                               err);
    }
    return WEIR_OK;
}

enum weir_status job_same_check(const char *directory, const struct weir_job_options *options,
                                const struct weir_job_files *files, struct weir_error *err)
{
    struct weir_job_listing job;
    enum weir_status status = weir_job_listing_init(&job, directory, err);
    if (status)
        return status;
    struct pair pair = {
        .name = job.name, .facts = &job.facts, .options = options, .files = files
    };
    status = check_work(&pair, err);
    if (!status)
        status = check_files(&pair, err);
    if (!status)
        status = check_options(&pair, err);
    weir_job_listing_release(&job);
    return status;
}
