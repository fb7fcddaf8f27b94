/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as settings. Up to a line `=env` they are an appsettings.json; up to a line `=set`,
 * variables of the environment, a line each; the rest, settings of a command line, a line each. It
 * must not crash; there are options or an error and never both; no option is beyond its bounds; and
 * the dump says nothing of a secret.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/duration.h"
#include "config/url.h"

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

/* What stands before a line of that text, taken off *text; the whole of it if there is no such. */
static struct weir_str take_part(struct weir_str *text, const char *line)
{
    const char *found = text->len ? memmem(text->ptr, text->len, line, strlen(line)) : NULL;
    size_t len = found ? (size_t)(found - text->ptr) : text->len;
    struct weir_str part = weir_str(text->ptr, len);
    len += found ? strlen(line) : 0;
    *text = weir_str(text->ptr + len, text->len - len);
    return part;
}

/* Lines as texts of their own; what holds a 0 ends there. */
static size_t split_lines(struct weir_str text, char *lines[LINES_MAX + 1])
{
    size_t count = 0;
    while (text.len && count < LINES_MAX) {
        struct weir_str line = take_part(&text, "\n");
        lines[count++] = weir_strndup(line.ptr, line.len);
    }
    lines[count] = NULL;
    return count;
}

static void free_lines(char **lines, size_t count)
{
    while (count > 0)
        free(lines[--count]);
}

static enum weir_status read_environment(struct weir_config *config, struct weir_str text,
                                         struct weir_error *err)
{
    char *lines[LINES_MAX + 1];
    size_t count = split_lines(text, lines);
    enum weir_status status = weir_config_read_environment(config, (const char *const *)lines, err);
    free_lines(lines, count);
    return status;
}

static enum weir_status read_settings(struct weir_config *config, struct weir_str text,
                                      struct weir_error *err)
{
    char *lines[LINES_MAX + 1];
    size_t count = split_lines(text, lines);
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < count && status == WEIR_OK; i++)
        status = weir_config_set(config, lines[i], err);
    free_lines(lines, count);
    return status;
}

static enum weir_status read_all(struct weir_config *config, struct weir_str text,
                                 struct weir_error *err)
{
    struct weir_str file = take_part(&text, "\n=env\n");
    struct weir_str environment = take_part(&text, "\n=set\n");
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *copy = weir_calloc(file.len ? file.len : 1, 1);
    memcpy(copy, file.ptr, file.len);
    enum weir_status status = weir_config_read_text(config, "fuzz.json", copy, file.len, err);
    free(copy);
    if (status == WEIR_OK)
        status = read_environment(config, environment, err);
    if (status == WEIR_OK)
        status = read_settings(config, text, err);
    return status;
}

static void check_options(const struct weir_options *options)
{
    const struct weir_adaptive_rate_options *rate = &options->adaptive_rate;
    need(options->connection_count <= WEIR_CONNECTIONS_MAX);
    need(!options->url || !weir_url_problem(weir_str_from(options->url)));
    need(options->pool.max_pool_size >= 0 && options->pool.acquire_timeout_us >= 0);
    need(options->resilience.max_throttle_retries >= 1);
    need(options->resilience.max_throttle_retries <= 100);
    need(options->resilience.fallback_retry_after_us >= WEIR_RETRY_AFTER_MIN_US);
    need(options->resilience.fallback_retry_after_us <= WEIR_RETRY_AFTER_MAX_US);
    need(rate->decrease_factor >= 0.1 && rate->decrease_factor <= 0.9);
    need(rate->initial_parallelism_factor >= 0.1 && rate->initial_parallelism_factor <= 1.0);
    need(rate->recovery_multiplier >= 1 && rate->recovery_multiplier <= 10);
    need(rate->min_parallelism >= 1 && rate->min_parallelism <= WEIR_PARALLELISM_MAX);
    for (size_t i = 0; i < options->connection_count; i++)
        need(options->connections[i].name && options->connections[i].name[0]);
}

/* It stands in the settings once: no text that is not secret says the same. */
static bool stands_once(struct weir_str text, const char *secret)
{
    size_t len = strlen(secret);
    const char *first = memmem(text.ptr, text.len, secret, len);
    size_t rest = first ? text.len - (size_t)(first + 1 - text.ptr) : 0;
    return first && !memmem(first + 1, rest, secret, len) && !memchr(text.ptr, '\\', text.len);
}

/* Whatever a text of the options that is secret says, the dump does not. Short ones may occur in it
   by chance. */
static void check_secret(const char *dump, const char *secret, struct weir_str text)
{
    if (secret && strncmp(secret, "canary", 6) == 0 && stands_once(text, secret))
        need(!strstr(dump, secret));
}

static void check_dump(const struct weir_config *config, const struct weir_options *options,
                       struct weir_str text)
{
    char *dump = weir_config_dump(config);
    need(dump && strlen(dump) > 0);
    for (size_t i = 0; i < options->connection_count; i++) {
        check_secret(dump, options->connections[i].client_secret, text);
        check_secret(dump, options->connections[i].access_token, text);
    }
    free(dump);
}

/* What a duration is printed as is read as the same again. */
static void check_duration(struct weir_str text)
{
    int64_t us;
    int64_t again;
    char printed[WEIR_DURATION_TEXT_MAX];
    if (!weir_duration_parse(text, &us) || us < 0)
        return;
    weir_duration_print(us, printed);
    need(weir_duration_parse(weir_str_from(printed), &again) && again == us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_str text = weir_str((const char *)data, size);
    struct weir_config *config = weir_config_new();
    const struct weir_options *options = NULL;
    struct weir_error err = { .status = WEIR_OK };
    enum weir_status status = read_all(config, text, &err);
    if (status == WEIR_OK)
        status = weir_config_finish(config, &options, &err);
    need((status == WEIR_OK) == (options != NULL));
    need(status == WEIR_OK || (err.status == status && err.message[0]));
    if (options) {
        check_options(options);
        check_dump(config, options, text);
    }
    weir_config_free(config);
    check_duration(text);
    return 0;
}
