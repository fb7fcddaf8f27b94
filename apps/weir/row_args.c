/* SPDX-License-Identifier: MIT */
/* What the rows of a job are, on a command line; see row_args.h. */
#include "row_args.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "protocol/guid.h"

/* caller, or systemuser:ID or team:ID. */
static enum weir_status check_owner(const char *text, struct weir_error *err)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    struct weir_guid id;
    if (!text || strcmp(text, "caller") == 0)
        return WEIR_OK;
    struct weir_str kind = weir_str(text, colon ? (size_t)(colon - text) : strlen(text));
    bool user = weir_str_equal(kind, weir_str_from("systemuser"));
    bool team = weir_str_equal(kind, weir_str_from("team"));
    if (colon && (user || team) && weir_guid_parse(weir_str_from(colon + 1), &id))
        return WEIR_OK;
    return args_refuse("--owner", text, "systemuser:ID, team:ID with the id of one, or caller",
                       err);
}

/* Which columns the table or the files have is for others to say. */
static enum weir_status check_names(const char *name, const char *text, struct weir_error *err)
{
    size_t len = text ? strlen(text) : 1;
    if (!text || (len > 0 && text[0] != ',' && text[len - 1] != ',' && !strstr(text, ",,")))
        return WEIR_OK;
    return args_refuse(name, text, "the names of columns, with commas between them", err);
}

static enum weir_status check_texts(const char *name, const char *text, const char *right,
                                    struct weir_error *err)
{
    return !text || text[0] ? WEIR_OK : args_refuse(name, text, right, err);
}

static enum weir_status check_with(const struct arg_values *with, struct weir_error *err)
{
    for (size_t i = 0; i < with->count; i++) {
        const char *equals = strchr(with->texts[i], '=');
        if (!equals || equals == with->texts[i])
            return args_refuse("--with", with->texts[i],
                               "COLUMN=VALUE, such as donotemail=true or description=", err);
    }
    return WEIR_OK;
}

static enum weir_status check_as(const char *text, struct weir_error *err)
{
    struct weir_guid id;
    if (!text || weir_guid_parse(weir_str_from(text), &id))
        return WEIR_OK;
    return args_refuse("--as", text, "the Entra object id of a user: a GUID", err);
}

/* One of three words; `right` says which. */
static enum weir_status check_word(const char *name, const char *text, const char *const words[3],
                                   const char *right, struct weir_error *err)
{
    for (size_t i = 0; text && i < 3; i++) {
        if (strcmp(text, words[i]) == 0)
            return WEIR_OK;
    }
    return text ? args_refuse(name, text, right, err) : WEIR_OK;
}

static enum weir_status read_empty(const char *text, enum weir_empty *ret, struct weir_error *err)
{
    static const char *const words[] = {
        [WEIR_EMPTY_OMIT] = "omit", [WEIR_EMPTY_NULL] = "null", [WEIR_EMPTY_REJECT] = "reject"
    };
    if (!text)
        return WEIR_OK;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = (enum weir_empty)i;
            return WEIR_OK;
        }
    }
    return args_refuse("--empty", text, "omit, null or reject", err);
}

static enum weir_status check_all(const struct row_args *args, struct weir_error *err)
{
    static const char *const bypasses[] = { "sync", "async", "all" };
    static const char *const formats[] = { "csv", "tsv", "jsonl" };
    enum weir_status status = check_names("--key", args->key, err);
    if (!status)
        status = check_names("--id-from", args->id_from, err);
    if (!status)
        status = check_names("--ignore-columns", args->ignore_columns, err);
    if (!status)
        status = check_owner(args->owner, err);
    if (!status)
        status = check_texts("--mapping", args->mapping, "a file", err);
    if (!status)
        status = check_texts("--timezone", args->timezone,
                             "an IANA name, such as Europe/Berlin or UTC", err);
    if (!status)
        status = check_with(&args->with, err);
    if (!status)
        status = check_as(args->as, err);
    if (!status)
        status =
            check_word("--bypass-logic", args->bypass_logic, bypasses, "sync, async or all", err);
    if (!status)
        status = check_word("--format", args->format, formats, "csv, tsv or jsonl", err);
    if (!status && args->key && args->id_from)
        status = weir_fail(err, WEIR_E_INVALID,
                           "--key and --id-from both say which row is meant: give one of them");
    return status ? status : check_texts("--tag", args->tag, "a word for plug-ins to read", err);
}

enum weir_status row_args_options(const struct row_args *args, struct weir_job_options *ret,
                                  struct weir_error *err)
{
    enum weir_status status = check_all(args, err);
    if (!status)
        status = read_empty(args->empty, &ret->empty, err);
    ret->key = args->key;
    ret->id_from = args->id_from;
    ret->owner = args->owner;
    ret->mapping = args->mapping;
    ret->with = args->with.texts;
    ret->with_count = args->with.count;
    ret->ignore_columns = args->ignore_columns;
    ret->timezone = args->timezone;
    ret->format = args->format;
    ret->raw = args->raw;
    ret->as = args->as;
    ret->bypass_logic = args->bypass_logic;
    ret->bypass_flows = args->bypass_flows;
    ret->detect_duplicates = args->detect_duplicates;
    ret->tag = args->tag;
    return status;
}
