/* SPDX-License-Identifier: MIT */
/*
 * The command line of weir-sim; see options.h. One table of flags; two walks over the arguments:
 * the first looks for the scenario, the second puts the flags over it.
 */
#include "sim/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

#define VALUE_SHOWN 60

enum flag_type {
    FLAG_SWITCH,  /* bool */
    FLAG_WISH,    /* enum sim_wish, in `min` */
    FLAG_TEXT,    /* const char * */
    FLAG_INTEGER, /* int64_t */
    FLAG_COUNT,   /* uint32_t */
    FLAG_STATUS,  /* int */
    FLAG_SECONDS, /* int64_t, microseconds */
    FLAG_SERVICE_TIME,
    FLAG_SEED, /* uint64_t */
    FLAG_CERTIFICATE,
    FLAG_WORD, /* an enum, whose values are the places in `words` */
};

struct flag {
    const char *name;
    enum flag_type type;
    size_t offset;
    double min;
    double max;
    const char *const *words;
};

static const char *const affinity_words[] = { "none", "soft", "pinned", NULL };
static const char *const duplicate_words[] = { "primary", "alternate", NULL };
static const char *const careless_words[] = { "refuse", "accept", NULL };
static const char *const status_words[] = { "412", "500", NULL };
static const char *const level_words[] = { "error", "warning", "info", "debug", "trace", NULL };

#define AT(member)    offsetof(struct sim_options, member)
#define LIMIT(member) AT(world.scenario.limits.member)

static const struct flag flags[] = {
    { "--port", FLAG_INTEGER, AT(port), 0, 65535, NULL },
    { "--users", FLAG_COUNT, AT(world.scenario.connections), 1, WEIR_CONNECTIONS_MAX, NULL },
    { "--requests", FLAG_INTEGER, LIMIT(requests), 0, 1e9, NULL },
    { "--exec-time", FLAG_SECONDS, LIMIT(execution_us), 0, 1e6, NULL },
    { "--concurrent", FLAG_INTEGER, LIMIT(concurrent), 0, 1e6, NULL },
    { "--window", FLAG_SECONDS, LIMIT(window_us), 0.001, 86400, NULL },
    { "--servers", FLAG_COUNT, AT(world.scenario.servers), 1, SIM_SERVERS_MAX, NULL },
    { "--shared", FLAG_SWITCH, LIMIT(shared), 0, 0, NULL },
    { "--affinity", FLAG_WORD, AT(world.scenario.affinity), 0, 0, affinity_words },
    { "--dop", FLAG_INTEGER, AT(world.scenario.dop_hint), 0, 1e6, NULL },
    { "--service-time", FLAG_SERVICE_TIME, 0, 0, 3600000, NULL },
    { "--no-limits", FLAG_SWITCH, AT(world.no_limits), 0, 0, NULL },
    { "--scenario", FLAG_TEXT, AT(scenario_file), 0, 0, NULL },
    { "--duplicate-first", FLAG_WORD, AT(world.switches.duplicate_first), 0, 0, duplicate_words },
    { "--duplicate-status", FLAG_STATUS, AT(world.switches.duplicate_status), 0, 0, status_words },
    { "--careless", FLAG_WORD, AT(world.switches.careless), 0, 0, careless_words },
    { "--throttle-inside-batch", FLAG_SWITCH, AT(world.switches.throttle_inside_batch), 0, 0,
      NULL },
    { "--token-lifetime", FLAG_INTEGER, AT(world.token_lifetime_s), 1, 86400, NULL },
    { "--seed", FLAG_SEED, AT(world.seed), 0, 9e18, NULL },
    { "--connections-max", FLAG_INTEGER, AT(connections_max), 1, 100000, NULL },
    { "--tls", FLAG_SWITCH, AT(tls), 0, 0, NULL },
    { "--tls-dir", FLAG_TEXT, AT(tls_dir), 0, 0, NULL },
    { "--certificate", FLAG_CERTIFICATE, 0, 0, 0, NULL },
    { "--log-level", FLAG_WORD, AT(log_level), 0, 0, level_words },
    { "--print-config", FLAG_WISH, AT(wish), SIM_WISH_PRINT_CONFIG, 0, NULL },
    { "--help", FLAG_WISH, AT(wish), SIM_WISH_HELP, 0, NULL },
    { "--version", FLAG_WISH, AT(wish), SIM_WISH_VERSION, 0, NULL },
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

/* One argument, with its value if it has one. */
struct argument {
    const struct flag *flag;
    const char *value;
};

static bool takes_value(const struct flag *flag)
{
    return flag->type != FLAG_SWITCH && flag->type != FLAG_WISH;
}

static const struct flag *find_flag(struct weir_str name)
{
    for (size_t i = 0; i < FLAGS; i++) {
        if (weir_str_equal(name, weir_str_from(flags[i].name)))
            return &flags[i];
    }
    return NULL;
}

static void describe(char *text, size_t size, const struct flag *flag)
{
    size_t len = 0;
    if (flag->type == FLAG_TEXT) {
        snprintf(text, size, "a path");
        return;
    }
    if (flag->type == FLAG_CERTIFICATE) {
        snprintf(text, size, "appN=FILE, at most %d times", SIM_CERTIFICATES_MAX);
        return;
    }
    if (!flag->words) {
        bool real = flag->type == FLAG_SECONDS || flag->type == FLAG_SERVICE_TIME;
        snprintf(text, size, "%s from %.10g to %.10g", real ? "a number" : "an integer", flag->min,
                 flag->max);
        return;
    }
    for (int i = 0; flag->words[i] && len < size; i++) {
        const char *between = i == 0 ? "" : flag->words[i + 1] ? ", " : " or ";
        len += (size_t)snprintf(text + len, size - len, "%s%s", between, flag->words[i]);
    }
}

static enum weir_status refuse(const struct argument *argument, struct weir_error *err)
{
    char must_be[128];
    describe(must_be, sizeof(must_be), argument->flag);
    if (!argument->value)
        return weir_fail(err, WEIR_E_INVALID, "%s has no value, must be %s", argument->flag->name,
                         must_be);
    return weir_fail(err, WEIR_E_INVALID, "%s is \"%.*s\", must be %s", argument->flag->name,
                     VALUE_SHOWN, argument->value, must_be);
}

static enum weir_status refuse_unknown(struct weir_str name, struct weir_error *err)
{
    const char *names[sizeof(flags) / sizeof(flags[0])];
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        names[i] = flags[i].name;
    const char *nearest = weir_str_nearest(name, names, sizeof(names) / sizeof(names[0]));
    int len = name.len < VALUE_SHOWN ? (int)name.len : VALUE_SHOWN;
    if (nearest)
        return weir_fail(err, WEIR_E_INVALID, "unknown option \"%.*s\"; did you mean %s?", len,
                         name.ptr, nearest);
    return weir_fail(err, WEIR_E_INVALID, "unknown option \"%.*s\"; see weir-sim --help", len,
                     name.ptr);
}

/* The next argument of argv, from *at on. */
static enum weir_status next_argument(int argc, char **argv, int *at, struct argument *ret,
                                      struct weir_error *err)
{
    const char *text = argv[(*at)++];
    const char *equals = strchr(text, '=');
    struct weir_str name = weir_str(text, equals ? (size_t)(equals - text) : strlen(text));
    ret->flag = find_flag(name);
    ret->value = equals ? equals + 1 : NULL;
    if (!ret->flag)
        return refuse_unknown(name, err);
    if (!takes_value(ret->flag) && ret->value)
        return weir_fail(err, WEIR_E_INVALID, "%s is \"%.*s\", must be given without a value",
                         ret->flag->name, VALUE_SHOWN, ret->value);
    if (takes_value(ret->flag) && !ret->value && *at < argc)
        ret->value = argv[(*at)++];
    if (takes_value(ret->flag) && !ret->value)
        return refuse(ret, err);
    return WEIR_OK;
}

static bool read_real(const struct argument *argument, double *ret)
{
    char *end;
    double value = strtod(argument->value, &end);
    if (end == argument->value || *end || !strchr("0123456789.", argument->value[0]))
        return false;
    if (!(value >= argument->flag->min && value <= argument->flag->max))
        return false;
    *ret = value;
    return true;
}

static bool read_integer(const struct argument *argument, int64_t *ret)
{
    int64_t value;
    if (!weir_str_to_int64(weir_str_from(argument->value), &value) ||
        (double)value < argument->flag->min || (double)value > argument->flag->max)
        return false;
    *ret = value;
    return true;
}

/* The same for every request, whatever it carries. */
static bool read_service_time(struct sim_options *options, const struct argument *argument)
{
    double ms;
    if (!read_real(argument, &ms))
        return false;
    struct sim_scenario *scenario = &options->world.scenario;
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        scenario->services[i].median_s = ms / 1000;
        scenario->services[i].fixed_s = 0;
        scenario->services[i].sigma = 0;
        scenario->services[i].overhead_us = 0;
        scenario->services[i].drift = (struct sim_drift){ SIM_DRIFT_NONE, 1 };
    }
    options->world.flat_time = true;
    return true;
}

static bool read_word(const struct argument *argument, unsigned *ret)
{
    for (unsigned i = 0; argument->flag->words[i]; i++) {
        if (strcmp(argument->value, argument->flag->words[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool read_number(const struct argument *argument, void *at)
{
    int64_t integer;
    double real;
    if (argument->flag->type == FLAG_SECONDS) {
        if (!read_real(argument, &real))
            return false;
        *(int64_t *)at = (int64_t)(real * (double)WEIR_US_PER_S + 0.5);
        return true;
    }
    if (!read_integer(argument, &integer))
        return false;
    if (argument->flag->type == FLAG_COUNT)
        *(uint32_t *)at = (uint32_t)integer;
    else if (argument->flag->type == FLAG_SEED)
        *(uint64_t *)at = (uint64_t)integer;
    else
        *(int64_t *)at = integer;
    return true;
}

static bool add_certificate(struct sim_options *options, const char *text)
{
    if (!sim_certificates_well_formed(text) || options->certificate_count == SIM_CERTIFICATES_MAX)
        return false;
    options->certificates[options->certificate_count++] = text;
    return true;
}

static bool apply(struct sim_options *options, const struct argument *argument)
{
    const struct flag *flag = argument->flag;
    void *at = (char *)options + flag->offset;
    unsigned word;
    switch (flag->type) {
    case FLAG_SWITCH:
        *(bool *)at = true;
        return true;
    case FLAG_WISH:
        options->wish = (enum sim_wish)flag->min;
        return true;
    case FLAG_TEXT:
        *(const char **)at = argument->value;
        return argument->value[0] != '\0';
    case FLAG_WORD:
        return read_word(argument, at);
    case FLAG_STATUS:
        if (!read_word(argument, &word))
            return false;
        *(int *)at = word ? 500 : 412;
        return true;
    case FLAG_SERVICE_TIME:
        return read_service_time(options, argument);
    case FLAG_CERTIFICATE:
        return add_certificate(options, argument->value);
    default:
        return read_number(argument, at);
    }
}

/* The scenario file. */

static enum weir_status read_text(const char *file, struct weir_buf *text, struct weir_error *err)
{
    char chunk[16384];
    ssize_t len;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return weir_fail(err, WEIR_E_INVALID, "--scenario is \"%s\": %s", file, strerror(errno));
    while ((len = read(fd, chunk, sizeof(chunk))) > 0 && !text->overflow)
        weir_buf_add(text, chunk, (size_t)len);
    int cause = errno;
    close(fd);
    if (len < 0)
        return weir_fail(err, WEIR_E_INVALID, "--scenario is \"%s\": %s", file, strerror(cause));
    if (text->overflow)
        return weir_fail(err, WEIR_E_INVALID, "--scenario is \"%s\", must be at most %zu bytes",
                         file, text->bytes_max);
    return WEIR_OK;
}

static enum weir_status read_scenario(struct sim_options *options, struct weir_error *err)
{
    struct weir_buf text;
    const char *file = options->scenario_file;
    weir_buf_init(&text, SIM_SCENARIO_BYTES_MAX);
    enum weir_status status = read_text(file, &text, err);
    options->scenario_text = weir_buf_take(&text);
    if (status != WEIR_OK)
        return status;
    struct weir_str json = weir_str_from(options->scenario_text);
    status = sim_scenario_read(&options->world.scenario, json, file, err);
    if (status != WEIR_OK)
        return status;
    status = weir_json_parse(json, &options->scenario_json, err);
    options->world.scenario_json = options->scenario_json;
    options->world.scenario_file = file;
    return status;
}

static void set_defaults(struct sim_options *options)
{
    *options = (struct sim_options){
        .connections_max = 10240,
        .log_level = WEIR_LOG_WARNING,
        .world = {
            .switches = { .duplicate_status = 412 },
            .seed = 1,
            .token_lifetime_s = 3599,
        },
    };
    sim_scenario_calibrated(&options->world.scenario);
}

/* The first walk: is there a scenario? */
static enum weir_status find_scenario(struct sim_options *options, int argc, char **argv,
                                      struct weir_error *err)
{
    struct argument argument;
    for (int at = 1; at < argc;) {
        enum weir_status status = next_argument(argc, argv, &at, &argument, err);
        if (status != WEIR_OK)
            return status;
        if (argument.flag->offset == AT(scenario_file) && argument.flag->type == FLAG_TEXT)
            options->scenario_file = argument.value;
    }
    return options->scenario_file ? read_scenario(options, err) : WEIR_OK;
}

/* What no single value can get wrong. */
static enum weir_status check_whole(struct sim_options *options, bool timed, struct weir_error *err)
{
    const struct sim_limits *limits = &options->world.scenario.limits;
    bool scenario_times =
        options->scenario_json && weir_json_find(weir_json_root(options->scenario_json), "service");
    options->world.no_time = options->world.no_limits && !timed && !scenario_times;
    if (limits->bucket_us > limits->window_us)
        return weir_fail(err, WEIR_E_INVALID,
                         "--window is \"%.10g\", must be at least limits.bucket_s of the scenario, "
                         "which is %.10g",
                         (double)limits->window_us / 1e6, (double)limits->bucket_us / 1e6);
    return WEIR_OK;
}

enum weir_status sim_options_read(struct sim_options *options, int argc, char **argv,
                                  struct weir_error *err)
{
    struct argument argument;
    bool timed = false;
    set_defaults(options);
    enum weir_status status = find_scenario(options, argc, argv, err);
    for (int at = 1; status == WEIR_OK && at < argc;) {
        status = next_argument(argc, argv, &at, &argument, err);
        if (status == WEIR_OK && !apply(options, &argument))
            status = refuse(&argument, err);
        timed = timed || argument.flag->type == FLAG_SERVICE_TIME;
    }
    return status == WEIR_OK ? check_whole(options, timed, err) : status;
}

void sim_options_release(struct sim_options *options)
{
    weir_json_free(options->scenario_json);
    free(options->scenario_text);
    *options = (struct sim_options){ 0 };
}
