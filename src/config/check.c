/* SPDX-License-Identifier: MIT */
/* What goes together and what does not, once everything has been read. */
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/duration.h"
#include "config/url.h"

/* Where a setting stands, for the middle of a sentence. */
static struct weir_place_name place_of(const struct weir_setting *setting)
{
    if (setting)
        return weir_place_name(setting->place);
    return (struct weir_place_name){ "default" };
}

static const struct weir_setting *strongest(const struct weir_config *config, const char *path)
{
    return weir_config_strongest(config, (struct weir_key_ref){ .key = weir_key_named(path) });
}

/* ---- plain keys ---- */

/* One source may use the alias and another one the long name: then neither can be meant to win. */
static enum weir_status check_alias(const struct weir_config *config, const struct weir_key *key,
                                    struct weir_error *err)
{
    const struct weir_setting *forms[2] = { NULL, NULL };
    for (int source = 0; source < WEIR_SOURCE_COUNT; source++) {
        struct weir_key_ref ref = { .key = key };
        const struct weir_setting *setting = weir_layer_find(&config->layers[source], ref);
        if (setting)
            forms[setting->by_alias] = setting;
    }
    if (!forms[0] || !forms[1])
        return WEIR_OK;
    struct weir_key_name names[2] = {
        weir_key_name((struct weir_key_ref){ key, 0, false }),
        weir_key_name((struct weir_key_ref){ key, 0, true }),
    };
    return weir_fail(err, WEIR_E_INVALID,
                     "%s: \"%s\" and \"%s\" (%s) are both forms of one setting; give one of them",
                     place_of(forms[1]).text, names[1].text, names[0].text,
                     place_of(forms[0]).text);
}

static enum weir_status check_aliases(const struct weir_config *config, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < weir_plain_key_count() && status == WEIR_OK; i++) {
        if (weir_keys[i].alias)
            status = check_alias(config, &weir_keys[i], err);
    }
    return status;
}

static enum weir_status check_policy(const struct weir_config *config, struct weir_error *err)
{
    const struct weir_adaptive_rate_options *rate = &config->options.adaptive_rate;
    if (strcmp(rate->policy, "Fixed") != 0 || rate->fixed_parallelism)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "%s: \"Dataverse:AdaptiveRate:Policy\" is \"Fixed\", which needs "
                     "\"Dataverse:AdaptiveRate:FixedParallelism\" to be %s",
                     place_of(strongest(config, "AdaptiveRate:Policy")).text,
                     weir_value_right(weir_key_named("AdaptiveRate:FixedParallelism")).text);
}

static enum weir_status check_breaker(const struct weir_config *config, struct weir_error *err)
{
    const struct weir_circuit_breaker_options *breaker =
        &config->options.resilience.circuit_breaker;
    if (breaker->open_max_us >= breaker->open_for_us)
        return WEIR_OK;
    char most[WEIR_DURATION_TEXT_MAX];
    char least[WEIR_DURATION_TEXT_MAX];
    weir_duration_print(breaker->open_max_us, most);
    weir_duration_print(breaker->open_for_us, least);
    return weir_fail(err, WEIR_E_INVALID,
                     "%s: \"Dataverse:Resilience:CircuitBreaker:MaxOpenFor\" is \"%s\", which is "
                     "less than OpenFor; it must be at least \"%s\" (%s)",
                     place_of(strongest(config, "Resilience:CircuitBreaker:MaxOpenFor")).text, most,
                     least, place_of(strongest(config, "Resilience:CircuitBreaker:OpenFor")).text);
}

/* The slash at the end goes: whatever is appended brings its own. */
static enum weir_status check_url(struct weir_config *config, struct weir_error *err)
{
    const struct weir_setting *setting = strongest(config, "Url");
    if (!setting)
        return WEIR_OK;
    struct weir_str url = weir_str(setting->text, setting->text_len);
    const char *problem = weir_url_problem(url);
    if (problem)
        return weir_fail(
            err, WEIR_E_INVALID, "%s: \"Dataverse:Url\" is %s%s; it must be " WEIR_URL_RIGHT,
            place_of(setting).text, weir_setting_quote(weir_key_named("Url"), url).text, problem);
    free(config->url);
    config->url = weir_strndup(url.ptr, url.len - (url.ptr[url.len - 1] == '/'));
    config->options.url = config->url;
    return WEIR_OK;
}

/* ---- connections ---- */

/* Anything that was said of a connection; NULL: nothing. */
static const struct weir_setting *any_setting(const struct weir_config *config, size_t connection)
{
    const struct weir_setting *setting = NULL;
    for (size_t i = weir_plain_key_count(); i < weir_key_count && !setting; i++)
        setting = weir_config_strongest(config,
                                        (struct weir_key_ref){ &weir_keys[i], connection, false });
    return setting;
}

static enum weir_status check_named(const struct weir_config *config, size_t connection,
                                    struct weir_error *err)
{
    if (config->connections[connection].name)
        return WEIR_OK;
    const struct weir_setting *setting = any_setting(config, connection);
    if (!setting)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"Dataverse:Connections:%zu\" is missing or empty; connections are "
                         "numbered from 0 without gaps",
                         connection);
    return weir_fail(err, WEIR_E_INVALID,
                     "%s: \"Dataverse:Connections:%zu:Name\" is missing; every connection has one",
                     place_of(setting).text, connection);
}

static bool gives_credential(const struct weir_key *key, const struct weir_setting *setting)
{
    return key->is_credential && setting && (key->type != WEIR_KEY_BOOL || setting->value.flag);
}

static enum weir_status refuse_credentials(const struct weir_config *config,
                                           struct weir_key_ref first, struct weir_key_ref second,
                                           struct weir_error *err)
{
    const char *name = config->connections[first.connection].name;
    enum weir_status status =
        weir_fail(err, WEIR_E_INVALID,
                  "%s: connection %s has two credentials, \"%s\" and \"%s\" (%s); it must have one",
                  place_of(weir_config_strongest(config, first)).text,
                  weir_quote(weir_str_from(name)).text, weir_key_name(first).text,
                  weir_key_name(second).text, place_of(weir_config_strongest(config, second)).text);
    weir_error_set_connection(err, name);
    return status;
}

static enum weir_status check_credential(const struct weir_config *config, size_t connection,
                                         struct weir_error *err)
{
    struct weir_key_ref first = { 0 };
    for (size_t i = weir_plain_key_count(); i < weir_key_count; i++) {
        struct weir_key_ref ref = { &weir_keys[i], connection, false };
        if (!gives_credential(ref.key, weir_config_strongest(config, ref)))
            continue;
        if (first.key)
            return refuse_credentials(config, first, ref, err);
        first = ref;
    }
    return WEIR_OK;
}

static enum weir_status check_unique(const struct weir_config *config, struct weir_map *names,
                                     size_t connection, struct weir_error *err)
{
    struct weir_str name = weir_str_from(config->connections[connection].name);
    uint32_t other;
    if (weir_map_add(names, name, (uint32_t)connection) || !weir_map_find(names, name, &other))
        return WEIR_OK;
    struct weir_key_ref ref = { weir_key_named("Connections:#:Name"), connection, false };
    enum weir_status status =
        weir_fail(err, WEIR_E_INVALID,
                  "%s: \"%s\" is %s, which is the name of connection %u too; names must differ",
                  place_of(weir_config_strongest(config, ref)).text, weir_key_name(ref).text,
                  weir_quote(name).text, other);
    weir_error_set_connection(err, name.ptr);
    return status;
}

static enum weir_status check_connections(const struct weir_config *config, struct weir_error *err)
{
    struct weir_map names;
    weir_map_init(&names);
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < config->options.connection_count && status == WEIR_OK; i++) {
        status = check_named(config, i, err);
        if (status == WEIR_OK)
            status = check_credential(config, i, err);
        if (status == WEIR_OK)
            status = check_unique(config, &names, i, err);
    }
    weir_map_release(&names);
    return status;
}

enum weir_status weir_config_check(struct weir_config *config, struct weir_error *err)
{
    enum weir_status status = check_aliases(config, err);
    if (status == WEIR_OK)
        status = check_policy(config, err);
    if (status == WEIR_OK)
        status = check_breaker(config, err);
    if (status == WEIR_OK)
        status = check_url(config, err);
    if (status == WEIR_OK)
        status = check_connections(config, err);
    return status;
}
