/* SPDX-License-Identifier: MIT */
/* Where the settings come from; see settings.h. */
#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "log_echo.h"
#include "screen.h"

#define FILE_NAME "appsettings.json"

/* --- the log ---------------------------------------------------------------------------------- */

/* Any thread: records come from several. */
static bool is_echo(struct settings *settings, const struct weir_log_record *record)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!settings->echo)
        return false;
    pthread_mutex_lock(&lock);
    bool echo = log_echo_hears(settings->echo, record, weir_clock_now_us());
    pthread_mutex_unlock(&lock);
    return echo;
}

/* At once: threads do not tear each other's. */
static void write_line(void *ctx, const struct weir_log_record *record)
{
    struct settings *settings = ctx;
    char line[WEIR_LOG_LINE_MAX + 1];
    if (is_echo(settings, record))
        return;
    size_t len = settings->log_json ? weir_log_format_json(record, line, WEIR_LOG_LINE_MAX)
                                    : weir_log_format_text(record, line, WEIR_LOG_LINE_MAX);
    line[len++] = '\n';
    screen_write(line, len);
}

static enum weir_status read_level(struct settings *settings, const char *text,
                                   struct weir_error *err)
{
    settings->sink = (struct weir_log_sink){ WEIR_LOG_WARNING, write_line, settings };
    if (!text)
        return WEIR_OK;
    for (int level = WEIR_LOG_ERROR; level <= WEIR_LOG_TRACE; level++) {
        if (strcasecmp(text, weir_log_level_name((enum weir_log_level)level)) != 0)
            continue;
        settings->sink.level = (enum weir_log_level)level;
        return WEIR_OK;
    }
    return weir_fail(err, WEIR_E_INVALID,
                     "--log-level is \"%s\"; it must be error, warning, info, debug or trace",
                     text);
}

/* Whoever gives no level looks at the terminal, and not for every single record. */
static enum weir_status read_format(struct settings *settings, const char *text, const char *level,
                                    struct weir_error *err)
{
    settings->log_json = text && strcasecmp(text, "json") == 0;
    if (!settings->log_json && !level && screen_is_possible())
        settings->echo = weir_calloc(1, sizeof(*settings->echo));
    if (text && !settings->log_json && strcasecmp(text, "text") != 0)
        return weir_fail(err, WEIR_E_INVALID, "--log-format is \"%s\"; it must be text or json",
                         text);
    return WEIR_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The caller frees it. NULL: there is none. */
static char *find_file(const struct settings_args *args)
{
    if (args->config)
        return weir_strdup(args->config);
    if (access(FILE_NAME, F_OK) == 0)
        return weir_strdup(FILE_NAME);
    const char *folder = getenv("XDG_CONFIG_HOME");
    const char *below = folder && folder[0] ? "" : "/.config";
    if (!folder || !folder[0])
        folder = getenv("HOME");
    if (!folder || !folder[0])
        return NULL;
    struct weir_buf path;
    weir_buf_init(&path, 4096);
    weir_buf_printf(&path, "%s%s/weir/%s", folder, below, FILE_NAME);
    char *text = weir_buf_take(&path);
    if (access(text, F_OK) == 0)
        return text;
    free(text);
    return NULL;
}

static enum weir_status read_file(struct settings *settings, const struct settings_args *args,
                                  struct weir_error *err)
{
    settings->file = find_file(args);
    if (!settings->file)
        return WEIR_OK;
    return weir_config_read_file(settings->config, settings->file, err);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* KEY=text, if there is a text. */
static enum weir_status set(struct weir_config *config, const char *key, const char *text,
                            struct weir_error *err)
{
    struct weir_buf setting;
    if (!text)
        return WEIR_OK;
    weir_buf_init(&setting, WEIR_CONFIG_TEXT_MAX * 2);
    weir_buf_printf(&setting, "%s=%s", key, text);
    enum weir_status status = weir_config_set(config, weir_buf_text(&setting), err);
    weir_buf_release(&setting);
    return status;
}

static enum weir_status read_command_line(struct weir_config *config,
                                          const struct settings_args *args, struct weir_error *err)
{
    const char *const short_forms[][2] = {
        { "Dataverse:Url", args->url },
        { "Dataverse:AdaptiveRate:Policy", args->policy },
        { "Dataverse:AdaptiveRate:Preset", args->preset },
        { "Dataverse:Pool:SelectionStrategy", args->strategy },
        { "Dataverse:Pool:MaxRetryAfterTolerance", args->max_retry_after },
    };
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < sizeof(short_forms) / sizeof(short_forms[0]) && !status; i++)
        status = set(config, short_forms[i][0], short_forms[i][1], err);
    for (size_t i = 0; i < args->sets.count && !status; i++)
        status = weir_config_set(config, args->sets.texts[i], err);
    return status;
}

static enum weir_status require(const struct settings *settings, struct weir_error *err)
{
    const char *file = settings->file ? settings->file : "no " FILE_NAME " was found";
    if (!settings->options->url)
        return weir_fail(err, WEIR_E_INVALID,
                         "no environment: give Dataverse:Url in the configuration (%s) or --url",
                         file);
    if (settings->options->connection_count == 0)
        return weir_fail(err, WEIR_E_INVALID,
                         "no connections: give Dataverse:Connections in the configuration (%s)",
                         file);
    return WEIR_OK;
}

enum weir_status settings_gather(struct settings *settings, const struct settings_args *args,
                                 struct weir_error *err)
{
    *settings = (struct settings){ .config = weir_config_new() };
    enum weir_status status = read_level(settings, args->log_level, err);
    if (!status)
        status = read_format(settings, args->log_format, args->log_level, err);
    if (!status)
        status = read_file(settings, args, err);
    if (!status)
        status = weir_config_read_environment(settings->config, (const char *const *)environ, err);
    if (!status)
        status = read_command_line(settings->config, args, err);
    if (!status)
        status = weir_config_finish(settings->config, &settings->options, err);
    return status;
}

enum weir_status settings_read(struct settings *settings, const struct settings_args *args,
                               struct weir_error *err)
{
    enum weir_status status = settings_gather(settings, args, err);
    return status ? status : require(settings, err);
}

void settings_release(struct settings *settings)
{
    weir_config_free(settings->config);
    free(settings->file);
    free(settings->echo);
    *settings = (struct settings){ 0 };
}
