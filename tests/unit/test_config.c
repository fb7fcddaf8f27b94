/* SPDX-License-Identifier: MIT */
/* Good configuration: what is read and what becomes of it. The bad is in the other test_config_*.
 */
#include <locale.h>
#include <stdio.h>

#include "config/keys.h"
#include "support/settings.h"

/* ---- defaults ---- */

START_TEST(defaults_are_those_of_the_design)
{
    struct weir_options options;
    memset(&options, 0xAA, sizeof(options));
    weir_options_defaults(&options);
    assert_defaults(&options);
    ck_assert_ptr_null(options.connections);
}
END_TEST

START_TEST(an_empty_config_is_all_defaults)
{
    struct weir_config *config = weir_config_new();
    assert_defaults(finish(config));
    weir_config_free(config);
    weir_config_free(NULL);
}
END_TEST

START_TEST(null_is_the_same_as_not_said)
{
    struct weir_config *config = weir_config_new();
    read_text(config,
              "{\"Dataverse\": {\"Url\": null, \"Cloud\": null, \"Connections\": null, \"Pool\":"
              "{\"MaxPoolSize\": null, \"AcquireTimeout\": null, \"MaxRetryAfterTolerance\": null},"
              "\"Resilience\": null, \"AdaptiveRate\": {\"Enabled\": null, \"Preset\": null,"
              "\"DecreaseFactor\": null, \"Factor\": null}, \"Http\": {}}}");
    assert_defaults(finish(config));
    weir_config_free(config);

    config = weir_config_new();
    read_text(config, "{\"Dataverse\": null}");
    assert_defaults(finish(config));
    weir_config_free(config);
}
END_TEST

/* ---- files ---- */

/* The example of the design's section on configuration. */
static const char example[] =
    "{ \"Dataverse\": {\n"
    "    \"Url\": \"https://contoso.crm.dynamics.com\", \"TenantId\": \"…\",\n"
    "    \"Connections\": [ { \"Name\": \"AppUser1\", \"ClientId\": \"…\", \"ClientSecretFile\": "
    "\"app1.secret\" },\n"
    "                     { \"Name\": \"AppUser2\", \"ClientId\": \"…\", \"CertificateFile\": "
    "\"app2.pem\" },\n"
    "                     { \"Name\": \"AppUser3\", \"ManagedIdentity\": true } ],\n"
    "    \"Pool\":         { \"SelectionStrategy\": \"ThrottleAware\", \"MaxPoolSize\": 0, "
    "\"AcquireTimeout\": \"00:02:00\", \"MaxRetryAfterTolerance\": null },\n"
    "    \"Resilience\":   { \"MaxThrottleRetries\": 3, \"EnableThrottleTracking\": true, "
    "\"FallbackRetryAfter\": \"00:00:30\" },\n"
    "    \"AdaptiveRate\": { \"Enabled\": true, \"Policy\": \"Aimd\", \"Preset\": \"Balanced\" } } "
    "}   // overrides: \"ExecutionTimeCeilingFactor\": 180, \"SlowBatchThresholdMs\": 7000\n";

START_TEST(the_example_of_the_design_loads)
{
    struct weir_config *config = weir_config_new();
    read_text(config, example);
    const struct weir_options *options = finish(config);
    ck_assert_str_eq(options->url, "https://contoso.crm.dynamics.com");
    ck_assert_str_eq(options->tenant_id, "…");
    ck_assert_uint_eq(options->connection_count, 3);
    const struct weir_connection_options *connections = options->connections;
    ck_assert_str_eq(connections[0].name, "AppUser1");
    ck_assert_str_eq(connections[0].client_id, "…");
    ck_assert_str_eq(connections[0].client_secret_file, "app1.secret");
    ck_assert_ptr_null(connections[0].certificate_file);
    ck_assert(!connections[0].managed_identity);
    ck_assert_str_eq(connections[1].name, "AppUser2");
    ck_assert_str_eq(connections[1].certificate_file, "app2.pem");
    ck_assert_ptr_null(connections[1].client_secret_file);
    ck_assert_str_eq(connections[2].name, "AppUser3");
    ck_assert_ptr_null(connections[2].client_id);
    ck_assert(connections[2].managed_identity);

    ck_assert_str_eq(options->adaptive_rate.policy, "Aimd"); /* it says so */
    ck_assert_str_eq(options->pool.selection_strategy, "ThrottleAware");
    struct weir_options others = *options;
    others.adaptive_rate.policy = "Budget";
    others.pool.selection_strategy = "Headroom";
    others.url = NULL;
    others.tenant_id = NULL;
    others.connection_count = 0;
    assert_defaults(&others);
    weir_config_free(config);
}
END_TEST

START_TEST(every_key_reaches_its_own_option)
{
    struct weir_config *config = weir_config_new();
    read_text(config,
              "{\"Dataverse\": {\"Url\": \"https://u\", \"TenantId\": \"t\", \"Cloud\": \"China\","
              "\"Authority\": \"a\", \"Scope\": \"s\", \"Proxy\": \"p\", \"CaFile\": \"c\","
              "\"ManagedIdentityEndpoint\": \"http://m\","
              "\"Pool\": {\"SelectionStrategy\": \"RoundRobin\", \"MaxPoolSize\": 11,"
              "\"AcquireTimeout\": \"12s\", \"MaxRetryAfterTolerance\": \"13s\"},"
              "\"Resilience\": {\"MaxThrottleRetries\": 14, \"EnableThrottleTracking\": false,"
              "\"FallbackRetryAfter\": \"15s\", \"RetryAfterBuffer\": \"6s\","
              "\"MaxRetryTime\": \"17s\", \"MaxThrottlesPerWindow\": 18,"
              "\"LateCommitTime\": \"38s\", \"ReadBackDelay\": \"39s\", \"CircuitBreaker\":"
              "{\"Enabled\": false, \"Failures\": 19, \"OpenFor\": \"20s\","
              "\"MaxOpenFor\": \"21s\"}}, \"AdaptiveRate\": {\"Enabled\": false,"
              "\"Policy\": \"Fixed\", \"Preset\": \"Aggressive\","
              "\"ExecutionTimeCeilingFactor\": 22, \"SlowBatchThresholdMs\": 23,"
              "\"FixedParallelism\": 24, \"InitialParallelismFactor\": 0.25,"
              "\"MinParallelism\": 26, \"IncreaseRate\": 27, \"DecreaseFactor\": 0.28,"
              "\"StabilizationBatches\": 29, \"MinIncreaseInterval\": \"30s\","
              "\"RecoveryMultiplier\": 3.1, \"LastKnownGoodTTL\": \"32s\","
              "\"IdleResetPeriod\": \"33s\"}, \"BulkOperations\": {\"MaxParallelBatches\": 34},"
              "\"Http\": {\"ConnectTimeout\": \"35s\", \"FirstByteTimeout\": \"36s\","
              "\"RequestTimeout\": \"37s\"}, \"Connections\": ["
              "{\"Name\": \"n0\", \"ClientId\": \"id\", \"ClientSecret\": \"secret\"},"
              "{\"Name\": \"n1\", \"ClientSecretFile\": \"file\"},"
              "{\"Name\": \"n2\", \"ClientSecretEnv\": \"env\"},"
              "{\"Name\": \"n3\", \"ClientSecretCommand\": \"command\"},"
              "{\"Name\": \"n4\", \"CertificateFile\": \"pem\", \"ManagedIdentity\": false},"
              "{\"Name\": \"n5\", \"ManagedIdentity\": \"TRUE\"},"
              "{\"Name\": \"n6\", \"FederatedTokenFile\": \"federated\"},"
              "{\"Name\": \"n7\", \"TokenCommand\": \"token\"},"
              "{\"Name\": \"n8\", \"CertificateFile\": \"p\","
              "\"CertificateAlgorithm\": \"rs256\"},"
              "{\"Name\": \"n9\", \"AccessToken\": \"static\"},"
              "{\"Name\": \"n10\", \"AccessTokenFile\": \"tokenfile\"}]}}");
    const struct weir_options *o = finish(config);
    ck_assert_str_eq(o->url, "https://u");
    ck_assert_str_eq(o->tenant_id, "t");
    ck_assert_str_eq(o->cloud, "China");
    ck_assert_str_eq(o->authority, "a");
    ck_assert_str_eq(o->scope, "s");
    ck_assert_str_eq(o->proxy, "p");
    ck_assert_str_eq(o->ca_file, "c");
    ck_assert_str_eq(o->managed_identity_endpoint, "http://m");
    ck_assert_str_eq(o->pool.selection_strategy, "RoundRobin");
    ck_assert_int_eq(o->pool.max_pool_size, 11);
    ck_assert(o->pool.acquire_timeout_us == 12 * WEIR_US_PER_S);
    ck_assert(o->pool.max_retry_after_tolerance_us == 13 * WEIR_US_PER_S);
    ck_assert_int_eq(o->resilience.max_throttle_retries, 14);
    ck_assert(!o->resilience.enable_throttle_tracking);
    ck_assert(o->resilience.fallback_retry_after_us == 15 * WEIR_US_PER_S);
    ck_assert(o->resilience.retry_after_buffer_us == 6 * WEIR_US_PER_S);
    ck_assert(o->resilience.max_retry_time_us == 17 * WEIR_US_PER_S);
    ck_assert_int_eq(o->resilience.max_throttles_per_window, 18);
    ck_assert(o->resilience.late_commit_time_us == 38 * WEIR_US_PER_S);
    ck_assert(o->resilience.read_back_delay_us == 39 * WEIR_US_PER_S);
    ck_assert(!o->resilience.circuit_breaker.enabled);
    ck_assert_int_eq(o->resilience.circuit_breaker.failures, 19);
    ck_assert(o->resilience.circuit_breaker.open_for_us == 20 * WEIR_US_PER_S);
    ck_assert(o->resilience.circuit_breaker.open_max_us == 21 * WEIR_US_PER_S);
    ck_assert(!o->adaptive_rate.enabled);
    ck_assert_str_eq(o->adaptive_rate.policy, "Fixed");
    ck_assert_str_eq(o->adaptive_rate.preset, "Aggressive");
    ck_assert_int_eq(o->adaptive_rate.execution_time_ceiling_factor, 22);
    ck_assert_int_eq(o->adaptive_rate.slow_batch_threshold_ms, 23);
    ck_assert_int_eq(o->adaptive_rate.fixed_parallelism, 24);
    ck_assert(o->adaptive_rate.initial_parallelism_factor == 0.25);
    ck_assert_int_eq(o->adaptive_rate.min_parallelism, 26);
    ck_assert_int_eq(o->adaptive_rate.increase_rate, 27);
    ck_assert(o->adaptive_rate.decrease_factor == 0.28);
    ck_assert_int_eq(o->adaptive_rate.stabilization_batches, 29);
    ck_assert(o->adaptive_rate.min_increase_interval_us == 30 * WEIR_US_PER_S);
    ck_assert(o->adaptive_rate.recovery_multiplier == 3.1);
    ck_assert(o->adaptive_rate.last_known_good_ttl_us == 32 * WEIR_US_PER_S);
    ck_assert(o->adaptive_rate.idle_reset_period_us == 33 * WEIR_US_PER_S);
    ck_assert_int_eq(o->bulk.max_parallel_batches, 34);
    ck_assert(o->http.connect_timeout_us == 35 * WEIR_US_PER_S);
    ck_assert(o->http.first_byte_timeout_us == 36 * WEIR_US_PER_S);
    ck_assert(o->http.request_timeout_us == 37 * WEIR_US_PER_S);
    ck_assert_uint_eq(o->connection_count, 11);
    ck_assert_str_eq(o->connections[0].name, "n0");
    ck_assert_str_eq(o->connections[0].client_id, "id");
    ck_assert_str_eq(o->connections[0].client_secret, "secret");
    ck_assert_str_eq(o->connections[1].client_secret_file, "file");
    ck_assert_str_eq(o->connections[2].client_secret_env, "env");
    ck_assert_str_eq(o->connections[3].client_secret_command, "command");
    ck_assert_str_eq(o->connections[4].certificate_file, "pem");
    ck_assert(!o->connections[4].managed_identity);
    ck_assert(o->connections[5].managed_identity);
    ck_assert_str_eq(o->connections[6].federated_token_file, "federated");
    ck_assert_str_eq(o->connections[7].token_command, "token");
    ck_assert_str_eq(o->connections[7].certificate_algorithm, "PS256");
    ck_assert_str_eq(o->connections[8].certificate_algorithm, "RS256");
    ck_assert_str_eq(o->connections[9].access_token, "static");
    ck_assert_str_eq(o->connections[10].access_token_file, "tokenfile");
    weir_config_free(config);
}
END_TEST

START_TEST(a_dotnet_file_with_other_sections_is_accepted)
{
    struct weir_config *config = weir_config_new();
    read_text(
        config,
        "\xEF\xBB\xBF{\n  // of the other program\n"
        "  \"Logging\": { \"LogLevel\": { \"Default\": \"Information\" } },\r\n"
        "  \"AllowedHosts\": \"*\",\n"
        "  \"ConnectionStrings\": { \"Dataverse\": \"AuthType=ClientSecret\" },\n"
        "  \"Pool\": { \"MaxPoolSize\": \"not ours\" }, \"DataverseX\": 1, \"Dataver\": [1],\n"
        "  \"Dataverse\": { \"Pool\": { \"MaxPoolSize\": 8, }, }, /* ours */\n"
        "}\n");
    ck_assert_int_eq(finish(config)->pool.max_pool_size, 8);
    weir_config_free(config);

    config = weir_config_new();
    read_text(config, "{\"Logging\": {}}");
    assert_defaults(finish(config));
    weir_config_free(config);
}
END_TEST

static void assert_chosen(struct weir_config *config, const char *policy, const char *strategy)
{
    const struct weir_options *options = finish(config);
    ck_assert_str_eq(options->adaptive_rate.policy, policy);
    ck_assert_str_eq(options->pool.selection_strategy, strategy);
    weir_config_free(config);
}

START_TEST(a_policy_brings_its_strategy_unless_another_is_asked_for)
{
    static const char *const rows[][2] = { { "Budget", "Headroom" },
                                           { "Aimd", "ThrottleAware" },
                                           { "Dop", "ThrottleAware" },
                                           { "Fixed", "ThrottleAware" } };
    static const char *const strategies[] = { "ThrottleAware", "RoundRobin", "LeastConnections",
                                              "Headroom" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        for (size_t j = 0; j <= COUNT(strategies); j++) {
            struct weir_config *config = weir_config_new();
            snprintf(text, sizeof(text),
                     "{\"Dataverse\": {\"AdaptiveRate\": {\"Policy\": \"%s\","
                     "\"FixedParallelism\": 1}}}",
                     rows[i][0]);
            read_text(config, text);
            bool asked = j < COUNT(strategies);
            snprintf(text, sizeof(text), "Dataverse:Pool:SelectionStrategy=%s",
                     asked ? strategies[j] : "");
            if (asked)
                set(config, text);
            assert_chosen(config, rows[i][0], asked ? strategies[j] : rows[i][1]);
        }
    }
}
END_TEST

START_TEST(headroom_does_not_come_with_a_budget_that_is_switched_off)
{
    struct weir_config *config = weir_config_new();
    set(config, "Dataverse:AdaptiveRate:Enabled=false");
    assert_chosen(config, "Budget", "ThrottleAware");
}
END_TEST

/* The keys of the design's controller, and a value of each that is not its default. */
static const char *const of_aimd[][2] = {
    { "Preset", "Aggressive" },
    { "ExecutionTimeCeilingFactor", "180" },
    { "Factor", "180" },
    { "SlowBatchThresholdMs", "7000" },
    { "Threshold", "7000" },
    { "InitialParallelismFactor", "0.4" },
    { "MinParallelism", "3" },
    { "IncreaseRate", "4" },
    { "DecreaseFactor", "0.6" },
    { "StabilizationBatches", "5" },
    { "MinIncreaseInterval", "00:00:06" },
    { "RecoveryMultiplier", "3" },
    { "LastKnownGoodTTL", "00:01:00" },
    { "IdleResetPeriod", "00:01:00" },
};

START_TEST(a_key_that_only_aimd_knows_means_aimd_from_every_source)
{
    char text[256];
    for (size_t i = 0; i < COUNT(of_aimd); i++) {
        struct weir_config *config = weir_config_new();
        snprintf(text, sizeof(text), "{\"Dataverse\": {\"AdaptiveRate\": {\"%s\": \"%s\"}}}",
                 of_aimd[i][0], of_aimd[i][1]);
        read_text(config, text);
        assert_chosen(config, "Aimd", "ThrottleAware");

        config = weir_config_new();
        snprintf(text, sizeof(text), "Dataverse__AdaptiveRate__%s=%s", of_aimd[i][0],
                 of_aimd[i][1]);
        read_environment(config, text);
        assert_chosen(config, "Aimd", "ThrottleAware");

        config = weir_config_new();
        snprintf(text, sizeof(text), "Dataverse:AdaptiveRate:%s=%s", of_aimd[i][0], of_aimd[i][1]);
        set(config, text);
        set(config, "Dataverse:Pool:SelectionStrategy=Headroom");
        assert_chosen(config, "Aimd", "Headroom");
    }
}
END_TEST

START_TEST(a_policy_that_is_named_stays_whatever_key_is_set)
{
    char text[256];
    for (size_t i = 0; i < COUNT(of_aimd); i++) {
        struct weir_config *config = weir_config_new();
        read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Policy\": \"Budget\"}}}");
        snprintf(text, sizeof(text), "Dataverse:AdaptiveRate:%s=%s", of_aimd[i][0], of_aimd[i][1]);
        set(config, text);
        assert_chosen(config, "Budget", "Headroom");
    }
}
END_TEST

/* The table knows what the policies read: all keys of AdaptiveRate but these are Aimd's alone. */
START_TEST(a_key_that_others_know_too_does_not_mean_aimd)
{
    static const char *const others[][2] = {
        { "Enabled", "true" },
        { "FixedParallelism", "4" },
        { "Budget:Explore", "true" },
        { "Budget:Window", "00:01:00" },
    };
    char text[256];
    size_t rate_keys = 0;
    struct weir_config *config = weir_config_new();
    for (size_t i = 0; i < weir_key_count; i++)
        rate_keys += strncmp(weir_keys[i].path, "AdaptiveRate:", 13) == 0;
    ck_assert_uint_eq(rate_keys, 1 + COUNT(others) + COUNT(of_aimd) - 2); /* Policy; two aliases */
    for (size_t i = 0; i < COUNT(others); i++) {
        snprintf(text, sizeof(text), "Dataverse:AdaptiveRate:%s=%s", others[i][0], others[i][1]);
        set(config, text);
    }
    set(config, "Dataverse:Pool:MaxPoolSize=8");
    set(config, "Dataverse:Resilience:MaxThrottleRetries=9");
    assert_chosen(config, "Budget", "Headroom");
}
END_TEST

START_TEST(a_null_means_nobody)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Policy\": null,"
                      "\"IncreaseRate\": 3}, \"Pool\": {\"SelectionStrategy\": null}}}");
    assert_chosen(config, "Aimd", "ThrottleAware");
}
END_TEST

START_TEST(case_does_not_matter_and_scalars_may_be_strings)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"DATAVERSE\": {\"pool\": {\"selectionSTRATEGY\": \"leastconnections\","
                      "\"MAXPOOLSIZE\": \"7\"}, \"resilience\": {\"enablethrottletracking\": "
                      "\"False\"}, \"adaptiverate\": {\"decreasefactor\": \"0.25\","
                      "\"PRESET\": \"conservative\", \"FACTOR\": \"150\"}}}");
    const struct weir_options *options = finish(config);
    ck_assert_str_eq(options->pool.selection_strategy, "LeastConnections");
    ck_assert_int_eq(options->pool.max_pool_size, 7);
    ck_assert(!options->resilience.enable_throttle_tracking);
    ck_assert(options->adaptive_rate.decrease_factor == 0.25);
    ck_assert_str_eq(options->adaptive_rate.preset, "Conservative");
    ck_assert_int_eq(options->adaptive_rate.execution_time_ceiling_factor, 150);
    weir_config_free(config);
}
END_TEST

START_TEST(keys_may_be_written_with_colons_as_in_dotnet)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse:Pool\": {\"MaxPoolSize\": 3}, \"Dataverse\": {"
                      "\"AdaptiveRate:Preset\": \"Aggressive\", \"Connections:0:Name\": \"a\"}}");
    const struct weir_options *options = finish(config);
    ck_assert_int_eq(options->pool.max_pool_size, 3);
    ck_assert_int_eq(options->adaptive_rate.execution_time_ceiling_factor, 320);
    ck_assert_str_eq(options->connections[0].name, "a");
    weir_config_free(config);
}
END_TEST

START_TEST(a_decimal_comma_of_the_locale_changes_nothing)
{
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE" };
    for (size_t i = 0; i < COUNT(locales); i++)
        setlocale(LC_ALL, locales[i]); /* whichever there is */
    struct weir_config *config = weir_config_new();
    set(config, "Dataverse:AdaptiveRate:DecreaseFactor=0.75");
    ck_assert(finish(config)->adaptive_rate.decrease_factor == 0.75);
    assert_dump_has(config, "Dataverse:AdaptiveRate:DecreaseFactor = 0.75  (command line)\n");
    weir_config_free(config);
}
END_TEST

/* ---- addresses ---- */

START_TEST(an_address_is_https_or_on_this_machine_and_loses_its_slash)
{
    static const struct {
        const char *given;
        const char *kept;
    } rows[] = {
        { "https://contoso.crm.dynamics.com/", "https://contoso.crm.dynamics.com" },
        { "HTTPS://Contoso.crm4.dynamics.com:443", "HTTPS://Contoso.crm4.dynamics.com:443" },
        { "https://10.0.0.1:65535/", "https://10.0.0.1:65535" },
        { "https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443" },
        { "http://localhost:8080/", "http://localhost:8080" },
        { "http://LOCALHOST", "http://LOCALHOST" },
        { "http://127.0.0.1:1", "http://127.0.0.1:1" },
        { "http://127.255.3.4", "http://127.255.3.4" },
        { "http://[::1]:8080", "http://[::1]:8080" },
        { "http://[0:0::1]/", "http://[0:0::1]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_config *config = weir_config_new();
        char setting[128];
        snprintf(setting, sizeof(setting), "Dataverse:Url=%s", rows[i].given);
        set(config, setting);
        ck_assert_str_eq(finish(config)->url, rows[i].kept);
        weir_config_free(config);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("config");
    suite_add(&s, defaults_are_those_of_the_design);
    suite_add(&s, an_empty_config_is_all_defaults);
    suite_add(&s, null_is_the_same_as_not_said);
    suite_add(&s, the_example_of_the_design_loads);
    suite_add(&s, every_key_reaches_its_own_option);
    suite_add(&s, a_dotnet_file_with_other_sections_is_accepted);
    suite_add(&s, a_policy_brings_its_strategy_unless_another_is_asked_for);
    suite_add(&s, headroom_does_not_come_with_a_budget_that_is_switched_off);
    suite_add(&s, a_key_that_only_aimd_knows_means_aimd_from_every_source);
    suite_add(&s, a_policy_that_is_named_stays_whatever_key_is_set);
    suite_add(&s, a_key_that_others_know_too_does_not_mean_aimd);
    suite_add(&s, a_null_means_nobody);
    suite_add(&s, case_does_not_matter_and_scalars_may_be_strings);
    suite_add(&s, keys_may_be_written_with_colons_as_in_dotnet);
    suite_add(&s, a_decimal_comma_of_the_locale_changes_nothing);
    suite_add(&s, an_address_is_https_or_on_this_machine_and_loses_its_slash);
    return suite_run(&s);
}
