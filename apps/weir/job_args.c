/* SPDX-License-Identifier: MIT */
/* The command line of a job; see job_args.h. */
#include "job_args.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/duration.h"

/* Bounds of what can be asked for. */
#define PARALLEL_MAX (WEIR_PARALLELISM_MAX * (int64_t)WEIR_CONNECTIONS_MAX)
#define RATE_MAX     1e9
#define MEMORY_MIN   ((int64_t)WEIR_JOB_MEMORY_MIN)
#define MEMORY_MAX   ((int64_t)1024 * 1024 * 1024 * 1024)
#define NUMBER_CHARS 32 /* of a decimal number */

/* --- words ------------------------------------------------------------------------------------ */

/* The first option that shapes a job when it begins; NULL: none is given. */
static const char *first_fixed(const struct arg *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].fixed && arg_is_given(&table[i]))
            return table[i].name;
    }
    return NULL;
}

/* The first one that is none of the settings, which stand in front; NULL: none is given. */
static const char *first_of_job(const struct arg *table, size_t count)
{
    static struct settings_args none;
    const struct arg settings[] = { SETTINGS_ARGS(&none), SETTINGS_RATE_ARGS(&none) };
    for (size_t i = sizeof(settings) / sizeof(settings[0]); i < count; i++) {
        if (arg_is_given(&table[i]))
            return table[i].name;
    }
    return NULL;
}

static enum weir_status check_place(const struct arg *table, size_t count, enum job_args_use use,
                                    int operands, struct weir_error *err)
{
    const char *fixed = first_fixed(table, count);
    if (fixed && use == JOB_ARGS_RESUME)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s cannot be given again: the job has kept what it began with", fixed);
    const char *of_job = first_of_job(table, count);
    if (of_job && use == JOB_ARGS_CHECK && operands == 0)
        return weir_fail(err, WEIR_E_INVALID, "%s is about rows: give a table and a file, too",
                         of_job);
    return WEIR_OK;
}

/* What is only for weir check stands last. */
static size_t fill_table(struct job_args *args, enum job_args_use use, struct arg *ret)
{
    const struct arg table[] = {
        SETTINGS_ARGS(&args->settings),
        SETTINGS_RATE_ARGS(&args->settings),
        ROW_ARGS(&args->rows),
        { .name = "--job", .text = &args->job, .fixed = true },
        { .name = "--or-resume", .flag = &args->or_resume, .fixed = true },
        { .name = "--job-dir", .text = &args->job_dir, .fixed = true },
        { .name = "--batch-size", .text = &args->batch_size, .fixed = true },
        { .name = "--max-errors", .text = &args->max_errors },
        { .name = "--max-parallel", .text = &args->max_parallel },
        { .name = "--max-rate", .text = &args->max_rate },
        { .name = "--limit", .text = &args->limit },
        { .name = "--deadline", .text = &args->deadline },
        { .name = "--memory", .text = &args->memory },
        { .name = "--progress", .text = &args->progress },
        { .name = "--metrics-listen", .text = &args->metrics_listen },
        { .name = "--report", .text = &args->report },
        { .name = "--yes", .flag = &args->yes },
        { .name = "--operation", .text = &args->operation, .fixed = true }, /* check only */
    };
    _Static_assert(sizeof(table) / sizeof(table[0]) <= ARGS_MAX, "a table has room for all");
    memcpy(ret, table, sizeof(table));
    return sizeof(table) / sizeof(table[0]) - (use != JOB_ARGS_CHECK);
}

enum weir_status job_args_parse(struct job_args *args, enum job_args_use use, int argc, char **argv,
                                struct weir_error *err)
{
    struct arg table[ARGS_MAX];
    int operands = 0;
    *args = (struct job_args){ .operands = argv };
    size_t count = fill_table(args, use, table);
    enum weir_status status = args_parse(table, count, argc, argv, &operands, err);
    args->operand_count = (size_t)operands;
    return status ? status : check_place(table, count, use, operands, err);
}

/* --- what is not for an operation ------------------------------------------------------------- */

/* What has no meaning for it is not offered; what would mislead is refused. */
static const struct stranger {
    const char *name;
    enum weir_operation operation;
    const char *why; /* NULL: it does no harm */
} strangers[] = {
    { "--key", WEIR_OPERATION_CREATE,
      "a create takes no key; rows that may be there already are upserted" },
    { "--yes", WEIR_OPERATION_CREATE, NULL },   /* nothing is asked */
    { "--owner", WEIR_OPERATION_UPDATE, NULL }, /* caller says nothing; an id the mapping refuses */
    { "--owner", WEIR_OPERATION_DELETE, NULL },
};

static const struct stranger *find_stranger(enum weir_operation operation, const char *name)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        if (strangers[i].operation == operation && strcmp(strangers[i].name, name) == 0)
            return &strangers[i];
    }
    return NULL;
}

enum weir_status job_args_check(const struct job_args *args, enum weir_operation operation,
                                struct weir_error *err)
{
    struct job_args copy = *args;
    struct arg table[ARGS_MAX];
    size_t count = fill_table(&copy, JOB_ARGS_NEW, table);
    for (size_t i = 0; i < count; i++) {
        const struct stranger *it = find_stranger(operation, table[i].name);
        if (it && it->why && arg_is_given(&table[i]))
            return weir_fail(err, WEIR_E_INVALID, "%s", it->why);
    }
    return WEIR_OK;
}

static bool is_offered(const struct arg *arg, enum job_args_use use, enum weir_operation operation)
{
    if (use == JOB_ARGS_RESUME)
        return !arg->fixed && strcmp(arg->name, "--yes") != 0;
    return use != JOB_ARGS_NEW || !find_stranger(operation, arg->name);
}

size_t job_args_list(enum job_args_use use, enum weir_operation operation, struct arg *ret)
{
    static struct job_args none;
    size_t kept = 0;
    size_t count = fill_table(&none, use, ret);
    for (size_t i = 0; i < count; i++) {
        if (is_offered(&ret[i], use, operation))
            ret[kept++] = ret[i];
    }
    return kept;
}

/* --- values ----------------------------------------------------------------------------------- */

/* False: no whole number from `min` to `max`. */
static bool read_whole(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    int64_t number;
    if (!weir_str_to_int64(weir_str_from(text), &number) || number < min || number > max)
        return false;
    *ret = number;
    return true;
}

/* Digits with at most one point among them: no sign, no exponent, no "nan". */
static bool read_decimal(struct weir_str text, double *ret)
{
    char copy[NUMBER_CHARS];
    size_t points = 0;
    if (text.len == 0 || text.len >= sizeof(copy) || text.ptr[0] == '.' ||
        text.ptr[text.len - 1] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        points += text.ptr[i] == '.';
        if (text.ptr[i] != '.' && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return false;
    }
    if (points > 1)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret = strtod(copy, NULL);
    return true;
}

static enum weir_status read_errors(const char *text, struct weir_job_options *ret,
                                    struct weir_error *err)
{
    static const char right[] = "a number of rows from 0 on, or a share such as 2.5%, up to 100%";
    struct weir_str all = weir_str_from(text);
    int64_t rows;
    double percent;
    if (all.len > 0 && text[all.len - 1] == '%') {
        if (!read_decimal(weir_str(text, all.len - 1), &percent) || percent <= 0 || percent > 100)
            return args_refuse("--max-errors", text, right, err);
        ret->rejected_max = UINT64_MAX;
        ret->rejected_share_max = percent / 100;
        return WEIR_OK;
    }
    if (!read_whole(text, 0, INT64_MAX, &rows))
        return args_refuse("--max-errors", text, right, err);
    ret->rejected_max = (uint64_t)rows;
    return WEIR_OK;
}

/* Bytes, or with a unit: powers of 1024 whether it says so (MiB) or not (M). */
static bool read_size(const char *text, int64_t *ret)
{
    static const char units[] = "KMG";
    struct weir_str all = weir_str_from(text);
    size_t digits = strspn(text, "0123456789");
    struct weir_str unit = weir_str(text + digits, all.len - digits);
    int64_t number;
    int shift = 0;
    if (!weir_str_to_int64(weir_str(text, digits), &number) || number > MEMORY_MAX)
        return false;
    if (unit.len > 0) {
        char letter[2] = { unit.ptr[0], '\0' };
        const char *found = strpbrk(units, letter);
        if (!found || !(unit.len == 1 || strcmp(unit.ptr + 1, "iB") == 0))
            return false;
        shift = 10 * (int)(found - units + 1);
    }
    if (number > MEMORY_MAX >> shift)
        return false;
    *ret = number << shift;
    return true;
}

static enum weir_status read_memory(const char *text, size_t *ret, struct weir_error *err)
{
    int64_t bytes;
    if (!read_size(text, &bytes) || bytes < MEMORY_MIN)
        return args_refuse("--memory", text, "a size from 1MiB to 1024GiB, such as 24MiB", err);
    *ret = (size_t)bytes;
    return WEIR_OK;
}

static enum weir_status read_rate(const char *text, double *ret, struct weir_error *err)
{
    double rate;
    if (!read_decimal(weir_str_from(text), &rate) || rate <= 0 || rate > RATE_MAX)
        return args_refuse("--max-rate", text, "a number of rows a second above 0, such as 250",
                           err);
    *ret = rate;
    return WEIR_OK;
}

static enum weir_status read_deadline(const char *text, int64_t *ret, struct weir_error *err)
{
    int64_t deadline_us;
    if (!weir_duration_parse(weir_str_from(text), &deadline_us) || deadline_us <= 0)
        return args_refuse("--deadline", text, "a duration with a unit, such as 90s, 30m, 2h or 1d",
                           err);
    *ret = deadline_us;
    return WEIR_OK;
}

static enum weir_status read_batch_size(const char *text, uint32_t *ret, struct weir_error *err)
{
    int64_t number = WEIR_BATCH_SIZE_AUTO;
    if (strcmp(text, "auto") != 0 && !read_whole(text, 1, WEIR_TARGETS_MAX, &number))
        return args_refuse("--batch-size", text, "a whole number from 1 to 1000, or auto", err);
    *ret = (uint32_t)number;
    return WEIR_OK;
}

/* Whole numbers, each with its own bounds. */
static enum weir_status read_numbers(const struct job_args *args, struct weir_job_options *ret,
                                     struct weir_error *err)
{
    int64_t number;
    if (args->batch_size) {
        enum weir_status status = read_batch_size(args->batch_size, &ret->batch_size, err);
        if (status)
            return status;
    }
    if (args->max_parallel) {
        if (!read_whole(args->max_parallel, 1, PARALLEL_MAX, &number))
            return args_refuse("--max-parallel", args->max_parallel,
                               "a whole number from 1 to 520000", err);
        ret->parallel_batches_max = (uint32_t)number;
    }
    if (args->limit) {
        if (!read_whole(args->limit, 1, INT64_MAX, &number))
            return args_refuse("--limit", args->limit, "a number of rows from 1 on", err);
        ret->rows_max = (uint64_t)number;
    }
    return WEIR_OK;
}
_Static_assert(WEIR_TARGETS_MAX == 1000 && PARALLEL_MAX == 520000 && MEMORY_MIN == 1 << 20,
               "the messages say so");

enum weir_status job_args_options(const struct job_args *args, struct weir_job_options *ret,
                                  struct weir_error *err)
{
    enum weir_status status = read_numbers(args, ret, err);
    if (!status && args->max_errors)
        status = read_errors(args->max_errors, ret, err);
    if (!status && args->max_rate)
        status = read_rate(args->max_rate, &ret->rows_per_second_max, err);
    if (!status && args->deadline)
        status = read_deadline(args->deadline, &ret->deadline_us, err);
    if (!status && args->memory)
        status = read_memory(args->memory, &ret->memory_bytes_max, err);
    return status ? status : row_args_options(&args->rows, ret, err);
}

enum weir_status job_args_progress(const struct job_args *args, enum job_progress_form *ret,
                                   struct weir_error *err)
{
    const char *text = args->progress ? args->progress : "auto";
    if (strcmp(text, "none") == 0)
        *ret = JOB_PROGRESS_NONE;
    else if (strcmp(text, "plain") == 0)
        *ret = JOB_PROGRESS_PLAIN;
    else if (strcmp(text, "json") == 0)
        *ret = JOB_PROGRESS_JSON;
    else if (strcmp(text, "auto") == 0)
        *ret = JOB_PROGRESS_AUTO;
    else
        return args_refuse("--progress", text, "auto, plain, json or none", err);
    return WEIR_OK;
}
