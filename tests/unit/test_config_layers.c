/* SPDX-License-Identifier: MIT */
/* Which source wins, what presets and aliases do, and how the dump tells where a value comes from.
 */
#include <stdio.h>

#include "support/settings.h"

/* ---- precedence ---- */

START_TEST(the_command_line_beats_the_environment_beats_the_file_in_every_order)
{
    static const int orders[][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
    };
    struct weir_config *config = weir_config_new();
    for (int i = 0; i < 3; i++) {
        switch (orders[_i][i]) {
        case 0:
            read_text(config, "{\"Dataverse\": {\"Pool\": {\"MaxPoolSize\": 1}, \"Resilience\": {"
                              "\"MaxThrottleRetries\": 1}, \"AdaptiveRate\": {\"IncreaseRate\": 1},"
                              "\"Connections\": [{\"Name\": \"f0\", \"ClientId\": \"f\"},"
                              "{\"Name\": \"f1\", \"ClientId\": \"f\"}]}}");
            break;
        case 1:
            read_environment(config, "PATH=/bin", "Dataverse__Pool__MaxPoolSize=2",
                             "dataverse__resilience__maxthrottleretries=2",
                             "DATAVERSE__CONNECTIONS__1__NAME=e1",
                             "Dataverse__Connections__2__Name=e2", "DataverseX__Url=x",
                             "Dataverse_Url=x", "Dataverse__NoValue");
            break;
        default:
            set(config, "Dataverse:Pool:MaxPoolSize=3");
            set(config, "dataverse:connections:1:ClientId=c");
            break;
        }
    }
    const struct weir_options *options = finish(config);
    ck_assert_int_eq(options->pool.max_pool_size, 3);
    ck_assert_int_eq(options->resilience.max_throttle_retries, 2);
    ck_assert_int_eq(options->adaptive_rate.increase_rate, 1);
    ck_assert_int_eq(options->adaptive_rate.stabilization_batches, 3);
    ck_assert_uint_eq(options->connection_count, 3);
    ck_assert_str_eq(options->connections[0].name, "f0");
    ck_assert_str_eq(options->connections[0].client_id, "f");
    ck_assert_str_eq(options->connections[1].name, "e1");
    ck_assert_str_eq(options->connections[1].client_id, "c");
    ck_assert_str_eq(options->connections[2].name, "e2");
    ck_assert_ptr_null(options->connections[2].client_id);
    weir_config_free(config);
}
END_TEST

static void assert_ceiling(struct weir_config *config, int factor, int threshold_ms)
{
    const struct weir_options *options = finish(config);
    ck_assert_int_eq(options->adaptive_rate.execution_time_ceiling_factor, factor);
    ck_assert_int_eq(options->adaptive_rate.slow_batch_threshold_ms, threshold_ms);
    weir_config_free(config);
}

START_TEST(presets_set_the_factor_and_the_threshold)
{
    static const struct {
        const char *preset;
        int factor;
        int threshold_ms;
    } rows[] = { { "Conservative", 140, 6000 },
                 { "Balanced", 200, 8000 },
                 { "Aggressive", 320, 11000 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_config *config = weir_config_new();
        char setting[64];
        snprintf(setting, sizeof(setting), "Dataverse:AdaptiveRate:Preset=%s", rows[i].preset);
        set(config, setting);
        struct weir_options others = *finish(config);
        assert_ceiling(config, rows[i].factor, rows[i].threshold_ms);
        ck_assert_str_eq(others.adaptive_rate.policy, "Aimd");
        ck_assert_str_eq(others.pool.selection_strategy, "ThrottleAware");
        others.adaptive_rate.policy = "Budget";
        others.pool.selection_strategy = "Headroom";
        others.adaptive_rate.preset = "Balanced";
        others.adaptive_rate.execution_time_ceiling_factor = 200;
        others.adaptive_rate.slow_batch_threshold_ms = 8000;
        assert_defaults(&others); /* and nothing else */
    }
}
END_TEST

START_TEST(an_explicit_value_from_any_layer_beats_a_preset_from_any_layer)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"ExecutionTimeCeilingFactor\": 180}}}");
    read_environment(config, "Dataverse__AdaptiveRate__Preset=Conservative");
    assert_ceiling(config, 180, 6000);

    config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Threshold\": 7000}}}");
    set(config, "Dataverse:AdaptiveRate:Preset=Aggressive");
    assert_ceiling(config, 320, 7000);

    config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Preset\": \"Conservative\"}}}");
    set(config, "Dataverse:AdaptiveRate:Preset=Aggressive");
    read_environment(config, "Dataverse__AdaptiveRate__Threshold=0");
    assert_ceiling(config, 320, 0);
}
END_TEST

START_TEST(aliases_are_the_same_key)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Factor\": 150,"
                      "\"ExecutionTimeCeilingFactor\": null, \"Threshold\": null,"
                      "\"SlowBatchThresholdMs\": 7000}}}");
    set(config, "Dataverse:AdaptiveRate:Factor=160");
    assert_ceiling(config, 160, 7000);

    config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"AdaptiveRate\": {\"Factor\": 150}}}");
    read_environment(config, "Dataverse__AdaptiveRate__ExecutionTimeCeilingFactor=160");
    assert_finish_fails(config,
                        "file appsettings.json, line 1: \"Dataverse:AdaptiveRate:Factor\" and "
                        "\"Dataverse:AdaptiveRate:ExecutionTimeCeilingFactor\" (environment "
                        "Dataverse__AdaptiveRate__ExecutionTimeCeilingFactor) are both forms of "
                        "one setting; give one of them");
    weir_config_free(config);

    config = weir_config_new();
    set(config, "Dataverse:AdaptiveRate:Threshold=1");
    read_environment(config, "Dataverse__AdaptiveRate__SlowBatchThresholdMs=2");
    assert_finish_fails(config, "command line: \"Dataverse:AdaptiveRate:Threshold\" and "
                                "\"Dataverse:AdaptiveRate:SlowBatchThresholdMs\" (environment "
                                "Dataverse__AdaptiveRate__SlowBatchThresholdMs) are both forms of "
                                "one setting; give one of them");
    weir_config_free(config);
}
END_TEST

START_TEST(connections_come_from_the_environment_alone_too)
{
    struct weir_config *config = weir_config_new();
    read_environment(
        config, "Dataverse__Connections__1__Name=app2",
        "Dataverse__Connections__0__ClientSecret=a=b==", "Dataverse__Connections__0__Name=app1");
    const struct weir_options *options = finish(config);
    ck_assert_uint_eq(options->connection_count, 2);
    ck_assert_str_eq(options->connections[0].name, "app1");
    ck_assert_str_eq(options->connections[0].client_secret, "a=b==");
    ck_assert_str_eq(options->connections[1].name, "app2");
    weir_config_free(config);
}
END_TEST

START_TEST(a_null_connection_at_the_end_is_no_connection)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"a\"}, null ]}}");
    ck_assert_uint_eq(finish(config)->connection_count, 1);
    weir_config_free(config);
}
END_TEST

START_TEST(the_options_live_until_the_config_is_freed)
{
    struct weir_config *config = weir_config_new();
    read_text(config, "{\"Dataverse\": {\"Url\": \"https://a/\"}}");
    const struct weir_options *options = finish(config);
    ck_assert_ptr_eq(finish(config), options);
    struct weir_error err;
    ck_assert_int_eq(weir_config_set(config, "Dataverse:Scope=x", &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "command line: the configuration has been finished already");
    ck_assert_int_eq(weir_config_read_text(config, "b", "{}", 2, &err), WEIR_E_INVALID);
    ck_assert_str_eq(options->url, "https://a");
    weir_config_free(config);
}
END_TEST

/* ---- the dump ---- */

START_TEST(the_dump_shows_every_setting_and_where_it_comes_from)
{
    struct weir_config *config = weir_config_new();
    read_text(config,
              "{\"Dataverse\": {\"Url\": \"https://contoso.crm.dynamics.com/\","
              "\"Pool\": {\"AcquireTimeout\": \"90s\"}, \"AdaptiveRate\": {\"threshold\": 7000},"
              "\"Connections\": [{\"Name\": \"app1\", \"ClientId\": \"id 1\","
              "\"ClientSecret\": \"hunter2\"}, {\"Name\": \"app2\", \"ManagedIdentity\": false,"
              "\"TokenCommand\": \"az\\nlogin\"}]}}");
    read_environment(config, "DATAVERSE__POOL__MAXPOOLSIZE=8",
                     "Dataverse__AdaptiveRate__Preset=conservative",
                     "Dataverse__Proxy=http://me:hunter2@proxy:3128");
    set(config, "Dataverse:AdaptiveRate:RecoveryMultiplier=1.50");
    finish(config);
    char *dump = weir_config_dump(config);
    ck_assert_str_eq(
        dump, "Dataverse:Url = https://contoso.crm.dynamics.com  (file appsettings.json)\n"
              "Dataverse:TenantId = null  (default)\n"
              "Dataverse:Cloud = Public  (default)\n"
              "Dataverse:Authority = null  (default)\n"
              "Dataverse:Scope = null  (default)\n"
              "Dataverse:Proxy = http://me:***@proxy:3128  (environment Dataverse__Proxy)\n"
              "Dataverse:CaFile = null  (default)\n"
              "Dataverse:ManagedIdentityEndpoint = http://169.254.169.254  (default)\n"
              "Dataverse:Pool:SelectionStrategy = ThrottleAware  (policy Aimd)\n"
              "Dataverse:Pool:MaxPoolSize = 8  (environment DATAVERSE__POOL__MAXPOOLSIZE)\n"
              "Dataverse:Pool:AcquireTimeout = 00:01:30  (file appsettings.json)\n"
              "Dataverse:Pool:MaxRetryAfterTolerance = null  (default)\n"
              "Dataverse:Resilience:MaxThrottleRetries = 3  (default)\n"
              "Dataverse:Resilience:EnableThrottleTracking = true  (default)\n"
              "Dataverse:Resilience:FallbackRetryAfter = 00:00:30  (default)\n"
              "Dataverse:Resilience:RetryAfterBuffer = 00:00:01  (default)\n"
              "Dataverse:Resilience:MaxRetryTime = 00:10:00  (default)\n"
              "Dataverse:Resilience:MaxThrottlesPerWindow = null  (default)\n"
              "Dataverse:Resilience:LateCommitTime = 00:05:00  (default)\n"
              "Dataverse:Resilience:ReadBackDelay = 00:00:10  (default)\n"
              "Dataverse:Resilience:CircuitBreaker:Enabled = true  (default)\n"
              "Dataverse:Resilience:CircuitBreaker:Failures = 10  (default)\n"
              "Dataverse:Resilience:CircuitBreaker:OpenFor = 00:00:30  (default)\n"
              "Dataverse:Resilience:CircuitBreaker:MaxOpenFor = 00:10:00  (default)\n"
              "Dataverse:AdaptiveRate:Enabled = true  (default)\n"
              "Dataverse:AdaptiveRate:Policy = Aimd  (because of Dataverse:AdaptiveRate:Preset)\n"
              "Dataverse:AdaptiveRate:Preset = Conservative  (environment "
              "Dataverse__AdaptiveRate__Preset)\n"
              "Dataverse:AdaptiveRate:ExecutionTimeCeilingFactor = 140  (preset Conservative)\n"
              "Dataverse:AdaptiveRate:SlowBatchThresholdMs = 7000  (file appsettings.json)\n"
              "Dataverse:AdaptiveRate:FixedParallelism = null  (default)\n"
              "Dataverse:AdaptiveRate:InitialParallelismFactor = 0.5  (default)\n"
              "Dataverse:AdaptiveRate:MinParallelism = 1  (default)\n"
              "Dataverse:AdaptiveRate:IncreaseRate = 2  (default)\n"
              "Dataverse:AdaptiveRate:DecreaseFactor = 0.5  (default)\n"
              "Dataverse:AdaptiveRate:StabilizationBatches = 3  (default)\n"
              "Dataverse:AdaptiveRate:MinIncreaseInterval = 00:00:05  (default)\n"
              "Dataverse:AdaptiveRate:RecoveryMultiplier = 1.5  (command line)\n"
              "Dataverse:AdaptiveRate:LastKnownGoodTTL = 00:05:00  (default)\n"
              "Dataverse:AdaptiveRate:IdleResetPeriod = 00:05:00  (default)\n"
              "Dataverse:AdaptiveRate:Budget:Explore = false  (default)\n"
              "Dataverse:AdaptiveRate:Budget:Window = 00:05:00  (default)\n"
              "Dataverse:BulkOperations:MaxParallelBatches = null  (default)\n"
              "Dataverse:Http:ConnectTimeout = 00:00:10  (default)\n"
              "Dataverse:Http:FirstByteTimeout = 00:04:00  (default)\n"
              "Dataverse:Http:RequestTimeout = 00:05:00  (default)\n"
              "Dataverse:Connections:0:Name = app1  (file appsettings.json)\n"
              "Dataverse:Connections:0:ClientId = id 1  (file appsettings.json)\n"
              "Dataverse:Connections:0:ClientSecret = ***  (file appsettings.json)\n"
              "Dataverse:Connections:1:Name = app2  (file appsettings.json)\n"
              "Dataverse:Connections:1:ManagedIdentity = false  (file appsettings.json)\n"
              "Dataverse:Connections:1:TokenCommand = \"az\\nlogin\"  (file appsettings.json)\n");
    free(dump);
    weir_config_free(config);
}
END_TEST

START_TEST(passwords_in_addresses_do_not_show_in_the_dump)
{
    static const struct {
        const char *proxy;
        const char *shown;
    } rows[] = {
        { "http://proxy:3128", "http://proxy:3128" },
        { "http://me@proxy:3128", "http://me@proxy:3128" },
        { "http://me:hunter2@proxy:3128", "http://me:***@proxy:3128" },
        { "me:hunter2@proxy:3128", "me:***@proxy:3128" },
        { "http://me:h@u/n:t@proxy", "http://me:***@proxy" },
        { "http://me:hunter2\n@proxy", "http://me:***@proxy" },
        { " http://me:hunter2@proxy", "\" http://me:***@proxy\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_config *config = weir_config_new();
        char text[128];
        snprintf(text, sizeof(text), "Dataverse:Proxy=%s", rows[i].proxy);
        set(config, text);
        ck_assert_str_eq(finish(config)->proxy, rows[i].proxy);
        snprintf(text, sizeof(text), "Dataverse:Proxy = %s  (command line)\n", rows[i].shown);
        assert_dump_has(config, text);
        weir_config_free(config);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("config_layers");
    suite_add_loop(&s, "the_command_line_beats_the_environment_beats_the_file_in_every_order",
                   the_command_line_beats_the_environment_beats_the_file_in_every_order, 6);
    suite_add(&s, presets_set_the_factor_and_the_threshold);
    suite_add(&s, an_explicit_value_from_any_layer_beats_a_preset_from_any_layer);
    suite_add(&s, aliases_are_the_same_key);
    suite_add(&s, connections_come_from_the_environment_alone_too);
    suite_add(&s, a_null_connection_at_the_end_is_no_connection);
    suite_add(&s, the_options_live_until_the_config_is_freed);
    suite_add(&s, the_dump_shows_every_setting_and_where_it_comes_from);
    suite_add(&s, passwords_in_addresses_do_not_show_in_the_dump);
    return suite_run(&s);
}
