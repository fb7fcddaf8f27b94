/* SPDX-License-Identifier: MIT */
/*
 * Bad configuration, key by key: each key wrong in each way has its own message.
 *
 * The rows spell messages and ranges out, independently of the table of keys. A second set of tests
 * goes over the table itself, so that no key can be added without being tried.
 */
#include <stdio.h>

#include "base/limits.h"
#include "config/config.h"
#include "config/duration.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- tools ---- */

/* Append `raw` as the value at `path`, nested: objects, and an array for the connections. */
static void nest(struct weir_buf *buf, const char *path, const char *raw)
{
    const char *colon = strchr(path, ':');
    bool number = path[0] >= '0' && path[0] <= '9';
    size_t len = colon ? (size_t)(colon - path) : strlen(path);
    if (number)
        weir_buf_add_text(buf, "[ ");
    else
        weir_buf_printf(buf, "{ \"%.*s\": ", (int)len, path);
    if (colon)
        nest(buf, colon + 1, raw);
    else
        weir_buf_add_text(buf, raw);
    weir_buf_add_text(buf, number ? " ]" : " }");
}

static void assert_file_fails(const char *text, enum weir_status status, const char *message)
{
    struct weir_config *config = weir_config_new();
    const struct weir_options *options = NULL;
    struct weir_error err = { .message = "it was accepted" };
    enum weir_status got =
        weir_config_read_text(config, "appsettings.json", text, strlen(text), &err);
    if (got == WEIR_OK)
        got = weir_config_finish(config, &options, &err);
    ck_assert_str_eq(err.message, message);
    ck_assert_int_eq(got, status);
    ck_assert_int_eq(err.status, status);
    ck_assert_ptr_null(options);
    weir_config_free(config);
}

/* ---- every key by itself ---- */

/* path below the root, value as JSON, what the message says after `is ` */
struct row {
    const char *path;
    const char *raw;
    const char *says;
};

/* clang-format off */
#define ROWS(path, right, ...) \
    { path, "{}", "an object; it must be " right }, \
    { path, "{ \"x\": 1 }", "an object; it must be " right }, \
    { path, "[]", "an array; it must be " right }, \
    { path, "\"\"", "\"\", which is empty; it must be " right }, \
    __VA_ARGS__

#define BOOL_RIGHT "true or false"
#define BOOL(path) ROWS(path, BOOL_RIGHT, \
    { path, "1", "\"1\"; it must be " BOOL_RIGHT }, \
    { path, "\"yes\"", "\"yes\"; it must be " BOOL_RIGHT })

#define INT_RIGHT(min, max) "a whole number from " min " to " max
#define INT(path, min, max, low, high) ROWS(path, INT_RIGHT(min, max), \
    { path, low, "\"" low "\", which is too small; it must be " INT_RIGHT(min, max) }, \
    { path, high, "\"" high "\", which is too large; it must be " INT_RIGHT(min, max) }, \
    { path, "\"" high "\"", \
      "\"" high "\", which is too large; it must be " INT_RIGHT(min, max) }, \
    { path, "99999999999999999999", \
      "\"99999999999999999999\", which is too large; it must be " INT_RIGHT(min, max) }, \
    { path, "-99999999999999999999", \
      "\"-99999999999999999999\", which is too small; it must be " INT_RIGHT(min, max) }, \
    { path, "true", "\"true\", which is not a whole number; it must be " INT_RIGHT(min, max) }, \
    { path, "1.5", "\"1.5\", which is not a whole number; it must be " INT_RIGHT(min, max) }, \
    { path, "1e1", "\"1e1\", which is not a whole number; it must be " INT_RIGHT(min, max) }, \
    { path, "\"5x\"", "\"5x\", which is not a whole number; it must be " INT_RIGHT(min, max) })

#define REAL_RIGHT(min, max) "a number from " min " to " max
#define REAL(path, min, max, low, high) ROWS(path, REAL_RIGHT(min, max), \
    { path, low, "\"" low "\", which is too small; it must be " REAL_RIGHT(min, max) }, \
    { path, high, "\"" high "\", which is too large; it must be " REAL_RIGHT(min, max) }, \
    { path, "-1e999", "\"-1e999\", which is too small; it must be " REAL_RIGHT(min, max) }, \
    { path, "1e999", "\"1e999\", which is too large; it must be " REAL_RIGHT(min, max) }, \
    { path, "false", "\"false\", which is not a number; it must be " REAL_RIGHT(min, max) }, \
    { path, "\"NaN\"", "\"NaN\", which is not a number; it must be " REAL_RIGHT(min, max) }, \
    { path, "\"0x1\"", "\"0x1\", which is not a number; it must be " REAL_RIGHT(min, max) }, \
    { path, "\"0,5\"", "\"0,5\", which is not a number; it must be " REAL_RIGHT(min, max) }, \
    { path, "\" 1\"", "\" 1\", which is not a number; it must be " REAL_RIGHT(min, max) })

#define BARE ", a number without a unit (.NET would read days); it must be "
#define DURATION_RIGHT(min, max) \
    "a duration from " min " to " max ", such as \"00:00:05\" or \"5s\""
#define DURATION(path, min, max, low, high) ROWS(path, DURATION_RIGHT(min, max), \
    { path, "\"" low "\"", \
      "\"" low "\", which is too small; it must be " DURATION_RIGHT(min, max) }, \
    { path, "\"" high "\"", \
      "\"" high "\", which is too large; it must be " DURATION_RIGHT(min, max) }, \
    { path, "\"-00:00:30\"", \
      "\"-00:00:30\", which is too small; it must be " DURATION_RIGHT(min, max) }, \
    { path, "5", "\"5\"" BARE DURATION_RIGHT(min, max) }, \
    { path, "1e1", "\"1e1\"" BARE DURATION_RIGHT(min, max) }, \
    { path, "\"5\"", "\"5\"" BARE DURATION_RIGHT(min, max) }, \
    { path, "\"-0.5\"", "\"-0.5\"" BARE DURATION_RIGHT(min, max) }, \
    { path, "true", "\"true\", which is not a duration; it must be " DURATION_RIGHT(min, max) }, \
    { path, "\"00:01\"", \
      "\"00:01\", which is not a duration; it must be " DURATION_RIGHT(min, max) }, \
    { path, "\"5 weeks\"", \
      "\"5 weeks\", which is not a duration; it must be " DURATION_RIGHT(min, max) })

#define CHOICE(path, choices) ROWS(path, "one of " choices, \
    { path, "\"Best\"", "\"Best\", which is not known; it must be one of " choices }, \
    { path, "true", "\"true\", which is not known; it must be one of " choices }, \
    { path, "3", "\"3\", which is not known; it must be one of " choices })

#define TEXT_RIGHT "text of 1 to 4096 bytes"
#define TEXT(path) ROWS(path, TEXT_RIGHT, \
    { path, "5", "\"5\", which is not in quotes; it must be " TEXT_RIGHT }, \
    { path, "true", "\"true\", which is not in quotes; it must be " TEXT_RIGHT }, \
    { path, "\"a\\u0000b\"", "\"a?b\", which contains a zero byte; it must be " TEXT_RIGHT })

#define NAME_RIGHT "text of 1 to 128 bytes without control characters"
#define CONTROL ", which contains a control character; it must be " NAME_RIGHT

static const struct row rows[] = {
    TEXT("Url"),
    TEXT("TenantId"),
    CHOICE("Cloud", "Public, UsGov, UsGovHigh, UsGovDod, China"),
    TEXT("Authority"),
    TEXT("Scope"),
    TEXT("Proxy"),
    TEXT("CaFile"),
    TEXT("ManagedIdentityEndpoint"),
    CHOICE("Pool:SelectionStrategy", "ThrottleAware, RoundRobin, LeastConnections, Headroom"),
    INT("Pool:MaxPoolSize", "0", "520000", "-1", "520001"),
    DURATION("Pool:AcquireTimeout", "1ms", "24h", "999us", "1.00:00:00.000001"),
    DURATION("Pool:MaxRetryAfterTolerance", "0s", "24h", "-1us", "1.00:00:01"),
    INT("Resilience:MaxThrottleRetries", "1", "100", "0", "101"),
    BOOL("Resilience:EnableThrottleTracking"),
    DURATION("Resilience:FallbackRetryAfter", "1s", "1h", "00:00:00.999", "01:00:01"),
    DURATION("Resilience:RetryAfterBuffer", "0s", "10s", "-1ms", "00:00:10.001"),
    DURATION("Resilience:MaxRetryTime", "1s", "24h", "0s", "25h"),
    INT("Resilience:MaxThrottlesPerWindow", "1", "1000", "0", "1001"),
    DURATION("Resilience:LateCommitTime", "1s", "1h", "0s", "01:00:00.001"),
    DURATION("Resilience:ReadBackDelay", "0s", "10m", "-1s", "00:10:00.001"),
    BOOL("Resilience:CircuitBreaker:Enabled"),
    INT("Resilience:CircuitBreaker:Failures", "1", "1000", "0", "1001"),
    DURATION("Resilience:CircuitBreaker:OpenFor", "1s", "1h", "0.9s", "61m"),
    DURATION("Resilience:CircuitBreaker:MaxOpenFor", "1s", "24h", "999ms", "2d"),
    BOOL("AdaptiveRate:Enabled"),
    CHOICE("AdaptiveRate:Policy", "Aimd, Budget, Dop, Fixed"),
    CHOICE("AdaptiveRate:Preset", "Conservative, Balanced, Aggressive"),
    INT("AdaptiveRate:ExecutionTimeCeilingFactor", "1", "10000", "0", "10001"),
    INT("AdaptiveRate:SlowBatchThresholdMs", "0", "600000", "-1", "600001"),
    INT("AdaptiveRate:FixedParallelism", "1", "52", "0", "53"),
    REAL("AdaptiveRate:InitialParallelismFactor", "0.1", "1.0", "0.09", "1.01"),
    INT("AdaptiveRate:MinParallelism", "1", "52", "0", "53"),
    INT("AdaptiveRate:IncreaseRate", "1", "52", "0", "53"),
    REAL("AdaptiveRate:DecreaseFactor", "0.1", "0.9", "0.0999", "0.9001"),
    INT("AdaptiveRate:StabilizationBatches", "1", "1000", "0", "1001"),
    DURATION("AdaptiveRate:MinIncreaseInterval", "0s", "1h", "-1s", "01:00:00.001"),
    REAL("AdaptiveRate:RecoveryMultiplier", "1", "10", "0.99", "10.01"),
    DURATION("AdaptiveRate:LastKnownGoodTTL", "1s", "24h", "0s", "1.00:00:00.001"),
    DURATION("AdaptiveRate:IdleResetPeriod", "1s", "24h", "999999us", "1441m"),
    BOOL("AdaptiveRate:Budget:Explore"),
    DURATION("AdaptiveRate:Budget:Window", "1s", "1h", "999ms", "61m"),
    INT("BulkOperations:MaxParallelBatches", "1", "520000", "0", "520001"),
    DURATION("Http:ConnectTimeout", "1ms", "10m", "0s", "601s"),
    DURATION("Http:FirstByteTimeout", "1ms", "1h", "0s", "3601s"),
    DURATION("Http:RequestTimeout", "1ms", "1h", "0s", "99999999999999999999d"),
    ROWS("Connections:0:Name", NAME_RIGHT,
        { "Connections:0:Name", "7", "\"7\", which is not in quotes; it must be " NAME_RIGHT },
        { "Connections:0:Name", "\"a\\nb\"", "\"a?b\"" CONTROL },
        { "Connections:0:Name", "\"a\\u007f\"", "\"a?\"" CONTROL },
        { "Connections:0:Name", "\"\\u0085a\"", "\"??a\"" CONTROL }),
    TEXT("Connections:0:ClientId"),
    ROWS("Connections:0:ClientSecret", TEXT_RIGHT,
        { "Connections:0:ClientSecret", "123456",
          "\"***\", which is not in quotes; it must be " TEXT_RIGHT },
        { "Connections:0:ClientSecret", "\"hunter\\u00002\"",
          "\"***\", which contains a zero byte; it must be " TEXT_RIGHT }),
    TEXT("Connections:0:ClientSecretFile"),
    TEXT("Connections:0:ClientSecretEnv"),
    TEXT("Connections:0:ClientSecretCommand"),
    TEXT("Connections:0:CertificateFile"),
    CHOICE("Connections:0:CertificateAlgorithm", "PS256, RS256"),
    BOOL("Connections:0:ManagedIdentity"),
    TEXT("Connections:0:FederatedTokenFile"),
    TEXT("Connections:0:TokenCommand"),
    ROWS("Connections:0:AccessToken", TEXT_RIGHT,
        { "Connections:0:AccessToken", "123456",
          "\"***\", which is not in quotes; it must be " TEXT_RIGHT },
        { "Connections:0:AccessToken", "\"a\\u0000b\"",
          "\"***\", which contains a zero byte; it must be " TEXT_RIGHT }),
    TEXT("Connections:0:AccessTokenFile"),
};
/* clang-format on */

START_TEST(each_key_wrong_in_each_way_has_its_own_message)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_buf text;
        weir_buf_init(&text, 4096);
        weir_buf_add_text(&text, "{ \"Logging\": 1, \"Dataverse\":\n");
        nest(&text, rows[i].path, rows[i].raw);
        weir_buf_add_text(&text, " }");
        char message[WEIR_MESSAGE_MAX];
        snprintf(message, sizeof(message), "file appsettings.json, line 2: \"Dataverse:%s\" is %s",
                 rows[i].path, rows[i].says);
        assert_file_fails(text.ptr, WEIR_E_INVALID, message);
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(no_key_is_forgotten_in_the_rows)
{
    for (size_t k = 0; k < weir_key_count; k++) {
        struct weir_key_name name = weir_key_name((struct weir_key_ref){ .key = &weir_keys[k] });
        size_t found = 0;
        for (size_t i = 0; i < COUNT(rows); i++)
            found += strcmp(rows[i].path, name.text + strlen("Dataverse:")) == 0;
        ck_assert_msg(found >= 6, "%s has %zu rows", name.text, found);
    }
}
END_TEST

/* ---- the table itself ---- */

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    ck_assert_int_ge(len, 0);
    return text;
}

#define WRONGS_MAX 8

/* Wrong values of a key, made from its row; the caller frees them. */
static size_t wrong_values(const struct weir_key *key, char *wrongs[WRONGS_MAX])
{
    size_t count = 0;
    int64_t min = 0;
    int64_t max = 0;
    wrongs[count++] = print("%s", "");
    switch (key->type) {
    case WEIR_KEY_BOOL:
        wrongs[count++] = print("maybe");
        wrongs[count++] = print("0");
        break;
    case WEIR_KEY_INT:
        ck_assert(weir_str_to_int64(weir_str_from(key->min), &min));
        ck_assert(weir_str_to_int64(weir_str_from(key->max), &max));
        wrongs[count++] = print("%lld", (long long)min - 1);
        wrongs[count++] = print("%lld", (long long)max + 1);
        wrongs[count++] = print("%lld.5", (long long)min);
        wrongs[count++] = print("many");
        break;
    case WEIR_KEY_REAL:
        wrongs[count++] = print("%.15g", strtod(key->min, NULL) - 1e-9);
        wrongs[count++] = print("%.15g", strtod(key->max, NULL) + 1e-9);
        wrongs[count++] = print("half");
        break;
    case WEIR_KEY_DURATION:
        ck_assert(weir_duration_parse(weir_str_from(key->min), &min));
        ck_assert(weir_duration_parse(weir_str_from(key->max), &max));
        wrongs[count++] = print("%lldus", (long long)min - 1);
        wrongs[count++] = print("%lldus", (long long)max + 1);
        wrongs[count++] = print("%lld", (long long)min);
        wrongs[count++] = print("soon");
        break;
    case WEIR_KEY_CHOICE:
        wrongs[count++] = print("%sx", key->choices[0]);
        wrongs[count++] = print("%.*s", (int)strlen(key->choices[0]) - 1, key->choices[0]);
        break;
    case WEIR_KEY_TEXT:
        wrongs[count++] = print("%0*d", (key->max ? atoi(key->max) : WEIR_CONFIG_TEXT_MAX) + 1, 7);
        break;
    }
    return count;
}

static void assert_contains(const char *message, const char *part)
{
    ck_assert_msg(strstr(message, part) != NULL, "%s\nlacks %s", message, part);
}

static void assert_explains(const struct weir_key *key, const char *message, const char *place,
                            const char *name, const char *wrong)
{
    char quoted[128];
    if (key->sight == WEIR_SIGHT_NOTHING && wrong[0])
        snprintf(quoted, sizeof(quoted), "\"***\"");
    else
        snprintf(quoted, sizeof(quoted), "\"%.80s%s\"", wrong, strlen(wrong) > 80 ? "…" : "");
    ck_assert_msg(strncmp(message, place, strlen(place)) == 0, "%s\nlacks %s", message, place);
    char key_is[256];
    snprintf(key_is, sizeof(key_is), ": \"%s\" is %s", name, quoted);
    assert_contains(message, key_is);
    if (key->min)
        assert_contains(message, key->min);
    if (key->max)
        assert_contains(message, key->max);
    for (const char *const *choice = key->choices; choice && *choice; choice++)
        assert_contains(message, *choice);
    ck_assert(message[strlen(message) - 1] != '.');
}

/* `Dataverse:Pool:X` → `Dataverse__Pool__X` */
static void variable_of(const char *name, char *variable)
{
    for (; *name; name++) {
        *variable++ = *name;
        if (*name == ':') {
            variable[-1] = '_';
            *variable++ = '_';
        }
    }
    *variable = '\0';
}

static void try_wrong(const struct weir_key *key, const char *wrong)
{
    struct weir_key_ref ref = { .key = key };
    struct weir_key_name name = weir_key_name(ref);
    struct weir_error err = { .message = "" };

    char *raw = print("\"%s\"", wrong);
    struct weir_buf text;
    weir_buf_init(&text, 8192);
    nest(&text, name.text, raw);
    struct weir_config *config = weir_config_new();
    ck_assert_int_eq(weir_config_read_text(config, "a.json", text.ptr, text.len, &err),
                     WEIR_E_INVALID);
    assert_explains(key, err.message, "file a.json, line 1", name.text, wrong);
    weir_buf_release(&text);
    free(raw);

    char variable[128];
    variable_of(name.text, variable);
    char *place = print("environment %s", variable);
    char *line = print("%s=%s", variable, wrong);
    ck_assert_int_eq(
        weir_config_read_environment(config, (const char *const[]){ line, NULL }, &err),
        WEIR_E_INVALID);
    assert_explains(key, err.message, place, name.text, wrong);
    free(place);
    free(line);

    line = print("%s=%s", name.text, wrong);
    ck_assert_int_eq(weir_config_set(config, line, &err), WEIR_E_INVALID);
    if (key->sight != WEIR_SIGHT_NOTHING)
        assert_explains(key, err.message, "command line", name.text, wrong);
    free(line);
    weir_config_free(config);
}

START_TEST(every_key_of_the_table_explains_its_wrong_values_from_every_source)
{
    const struct weir_key *key = &weir_keys[_i];
    char *wrongs[WRONGS_MAX];
    size_t count = wrong_values(key, wrongs);
    for (size_t i = 0; i < count; i++) {
        try_wrong(key, wrongs[i]);
        free(wrongs[i]);
    }
}
END_TEST

static void assert_accepts(const struct weir_key *key, const char *value)
{
    struct weir_config *config = weir_config_new();
    char *line = print("%s=%s", weir_key_name((struct weir_key_ref){ .key = key }).text, value);
    struct weir_error err = { .message = "" };
    enum weir_status status = weir_config_set(config, line, &err);
    ck_assert_msg(status == WEIR_OK, "%s: %s", line, err.message);
    free(line);
    weir_config_free(config);
}

START_TEST(every_bound_of_the_table_is_itself_allowed)
{
    const struct weir_key *key = &weir_keys[_i];
    if (key->min)
        assert_accepts(key, key->min);
    if (key->type == WEIR_KEY_TEXT && key->sight != WEIR_SIGHT_NOTHING) {
        char *longest = print("%0*d", key->max ? atoi(key->max) : WEIR_CONFIG_TEXT_MAX, 7);
        assert_accepts(key, longest);
        free(longest);
    } else if (key->max) {
        assert_accepts(key, key->max);
    }
    for (const char *const *choice = key->choices; choice && *choice; choice++)
        assert_accepts(key, *choice);
}
END_TEST

START_TEST(the_keys_of_connections_are_the_last_of_the_table)
{
    for (size_t i = 0; i < weir_key_count; i++) {
        bool of_connection = strncmp(weir_keys[i].path, "Connections:#:", 14) == 0;
        ck_assert(weir_key_of_connection(&weir_keys[i]) == of_connection);
        ck_assert_ptr_nonnull(weir_keys[i].path);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("config_keys");
    suite_add(&s, each_key_wrong_in_each_way_has_its_own_message);
    suite_add(&s, no_key_is_forgotten_in_the_rows);
    suite_add_loop(&s, "every_key_of_the_table_explains_its_wrong_values_from_every_source",
                   every_key_of_the_table_explains_its_wrong_values_from_every_source,
                   (int)weir_key_count);
    suite_add_loop(&s, "every_bound_of_the_table_is_itself_allowed",
                   every_bound_of_the_table_is_itself_allowed, (int)weir_key_count);
    suite_add(&s, the_keys_of_connections_are_the_last_of_the_table);
    return suite_run(&s);
}
