/* SPDX-License-Identifier: MIT */
/*
 * Bad configuration beyond single values: files, environments and command lines that are wrong as a
 * whole, keys that are not known or stand twice, and settings that do not go together.
 */
#include <stdio.h>

#include "base/limits.h"
#include "config/config.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- tools ---- */

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

static void assert_variables_fail(const char *const *variables, const char *message)
{
    struct weir_config *config = weir_config_new();
    const struct weir_options *options = NULL;
    struct weir_error err = { .message = "it was accepted" };
    if (weir_config_read_environment(config, variables, &err) == WEIR_OK)
        weir_config_finish(config, &options, &err);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(options);
    weir_config_free(config);
}

static void assert_setting_fails(const char *setting, const char *message)
{
    struct weir_config *config = weir_config_new();
    struct weir_error err = { .message = "it was accepted" };
    weir_config_set(config, setting, &err);
    ck_assert_str_eq(err.message, message);
    weir_config_free(config);
}

static void assert_contains(const char *message, const char *part)
{
    ck_assert_msg(strstr(message, part) != NULL, "%s\nlacks %s", message, part);
}

/* ---- the file as a whole ---- */

#define FILE_SAYS "file appsettings.json, line "

static const struct {
    const char *text;
    const char *message;
} files[] = {
    { "", FILE_SAYS "1, column 1: unexpected end of data" },
    { "[]", "file appsettings.json: the document is an array; it must be an object" },
    { "null", "file appsettings.json: the document is null; it must be an object" },
    { "{\n \"Dataverse\": { \"Url\": NaN } }",
      FILE_SAYS "2, column 24: neither a number nor true, false, null or a string in quotes" },
    { "{} {}", FILE_SAYS "1, column 4: something follows the end of the document" },
    { "{\"Dataverse\": {\"Url\": \"https://a\",\n\"Url\": \"https://b\"}}",
      FILE_SAYS "2, column 1: the object has the key \"Url\" twice" },

    { "{\"Dataverse\": 5}",
      FILE_SAYS "1: \"Dataverse\" is a number; it must be a section with keys below it" },
    { "{\"Dataverse\": []}",
      FILE_SAYS "1: \"Dataverse\" is an array; it must be a section with keys below it" },
    { "{\"Dataverse\": {\"Pool\": \"big\"}}",
      FILE_SAYS "1: \"Dataverse:Pool\" is a string; it must be a section with keys below it" },
    { "{\"Dataverse\": {\"Pool\": []}}",
      FILE_SAYS "1: \"Dataverse:Pool\" is an array; it must be a section with keys below it" },
    { "{\"Dataverse\": {\"Connections\": {}}}",
      FILE_SAYS "1: \"Dataverse:Connections\" is an object; it must be an array of connections" },
    { "{\"Dataverse\": {\"Connections\": {\"0\": {\"Name\": \"a\"}}}}",
      FILE_SAYS "1: \"Dataverse:Connections\" is an object; it must be an array of connections" },
    { "{\"Dataverse\": {\"Connections\": true}}", FILE_SAYS
      "1: \"Dataverse:Connections\" is true or false; it must be an array of connections" },
    { "{\"Dataverse\": {\"Connections\": [ \"a\" ]}}", FILE_SAYS
      "1: \"Dataverse:Connections:0\" is a string; it must be a section with keys below it" },
    { "{\"Dataverse\": {\"Connections\": [ [] ]}}", FILE_SAYS
      "1: \"Dataverse:Connections:0\" is an array; it must be a section with keys below it" },

    { "{\"Dataverse\": {\"Pool\": {\n\"MaxPolSize\": 8}}}",
      FILE_SAYS "2: \"Dataverse:Pool:MaxPolSize\" is not a known key; did you mean "
                "\"Dataverse:Pool:MaxPoolSize\"?" },
    { "{\"Dataverse\": {\"Pol\": {\"MaxPoolSize\": 8}}}",
      FILE_SAYS "1: \"Dataverse:Pol:MaxPoolSize\" is not a known key; did you mean "
                "\"Dataverse:Pool:MaxPoolSize\"?" },
    { "{\"Dataverse\": {\"MaxPoolSize\": 8}}",
      FILE_SAYS "1: \"Dataverse:MaxPoolSize\" is not a known key; did you mean "
                "\"Dataverse:Pool:MaxPoolSize\"?" },
    { "{\"Dataverse\": {\"AdaptiveRat\": {\"Enable\": true}}}",
      FILE_SAYS "1: \"Dataverse:AdaptiveRat:Enable\" is not a known key; did you mean "
                "\"Dataverse:AdaptiveRate:Enabled\"?" },
    { "{\"Dataverse\": {\"Connections\": [ {}, {\"Nmae\": \"a\"} ]}}",
      FILE_SAYS "1: \"Dataverse:Connections:1:Nmae\" is not a known key; did you mean "
                "\"Dataverse:Connections:1:Name\"?" },
    { "{\"Dataverse\": {\"Flavour\": \"blue\"}}",
      FILE_SAYS "1: \"Dataverse:Flavour\" is not a known key" },
    { "{\"Dataverse\": {\"Flavour\": null}}",
      FILE_SAYS "1: \"Dataverse:Flavour\" is not a known key" },
    { "{\"Dataverse\": {\"Flavour\": {}}}",
      FILE_SAYS "1: \"Dataverse:Flavour\" is not a known key" },
    { "{\"Dataverse\": {\"Flavour\": [{}]}}",
      FILE_SAYS "1: \"Dataverse:Flavour\" is not a known key" },
    { "{\"Dataverse\": {\"\": {\"Url\": \"https://a\"}}}",
      FILE_SAYS "1: \"Dataverse::Url\" is not a known key; did you mean \"Dataverse:Url\"?" },
    { "{\"Dataverse:\": 1}", FILE_SAYS "1: \"Dataverse:\" is not a known key" },
    { "{\"Dataverse\": {\"Pool\": {\"Max\\nPool\": 1}}}",
      FILE_SAYS "1: \"Dataverse:Pool:Max?Pool\" is not a known key" },

    { "{\"Dataverse\": {\"Url\": \"https://a\",\n\"url\": \"https://b\"}}", FILE_SAYS
      "2: \"Dataverse:Url\" is given twice, the first time by file appsettings.json, line 1" },
    { "{\"Dataverse\": {\"Url\": null, \"URL\": \"https://b\"}}", FILE_SAYS
      "1: \"Dataverse:Url\" is given twice, the first time by file appsettings.json, line 1" },
    { "{\"Dataverse\": {\"Pool\": {\"MaxPoolSize\": 1}}, \"dataverse:pool:maxpoolsize\": 1}",
      FILE_SAYS "1: \"Dataverse:Pool:MaxPoolSize\" is given twice, the first time by file "
                "appsettings.json, line 1" },
    { "{\"Dataverse\": {\"AdaptiveRate\": {\"Factor\": 1,\n\"ExecutionTimeCeilingFactor\": 1}}}",
      FILE_SAYS "2: \"Dataverse:AdaptiveRate:ExecutionTimeCeilingFactor\" and "
                "\"Dataverse:AdaptiveRate:Factor\" (file appsettings.json, line 1) are both forms "
                "of one setting; give one of them" },
    { "{\"Dataverse\": {\"AdaptiveRate\": {\"SlowBatchThresholdMs\": 1,\n\"Threshold\": 1}}}",
      FILE_SAYS "2: \"Dataverse:AdaptiveRate:Threshold\" and "
                "\"Dataverse:AdaptiveRate:SlowBatchThresholdMs\" (file appsettings.json, line 1) "
                "are both forms of one setting; give one of them" },
    { "{\"Dataverse\": {\"AdaptiveRate\": {\"Factor\": 0}}}",
      FILE_SAYS "1: \"Dataverse:AdaptiveRate:Factor\" is \"0\", which is too small; it must be a "
                "whole number from 1 to 10000" },

    /* What does not go together. */
    { "{\"Dataverse\": {\"AdaptiveRate\": {\"Policy\": \"fixed\"}}}",
      FILE_SAYS "1: \"Dataverse:AdaptiveRate:Policy\" is \"Fixed\", which needs "
                "\"Dataverse:AdaptiveRate:FixedParallelism\" to be a whole number from 1 to 52" },
    { "{\"Dataverse\": {\"Resilience\": {\"CircuitBreaker\": {\"OpenFor\": \"20m\"}}}}",
      "default: \"Dataverse:Resilience:CircuitBreaker:MaxOpenFor\" is \"00:10:00\", which is less "
      "than OpenFor; it must be at least \"00:20:00\" (file appsettings.json, line 1)" },
    { "{\"Dataverse\": {\"Resilience\": {\"CircuitBreaker\": {\"MaxOpenFor\": \"29s\"}}}}",
      FILE_SAYS "1: \"Dataverse:Resilience:CircuitBreaker:MaxOpenFor\" is \"00:00:29\", which is "
                "less than OpenFor; it must be at least \"00:00:30\" (default)" },

    /* Connections. */
    { "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"a\"}, {}, {\"Name\": \"b\"} ]}}",
      "\"Dataverse:Connections:1\" is missing or empty; connections are numbered from 0 without "
      "gaps" },
    { "{\"Dataverse\": {\"Connections\": [ null, {\"Name\": \"b\"} ]}}",
      "\"Dataverse:Connections:0\" is missing or empty; connections are numbered from 0 without "
      "gaps" },
    { "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"a\"}, {} ]}}",
      "\"Dataverse:Connections:1\" is missing or empty; connections are numbered from 0 without "
      "gaps" },
    { "{\"Dataverse\": {\"Connections\": [ {\"ClientId\": \"a\"} ]}}",
      FILE_SAYS "1: \"Dataverse:Connections:0:Name\" is missing; every connection has one" },
    { "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"a\"}, {\"Name\": \"A\"},\n"
      "{\"Name\": \"a\"} ]}}",
      FILE_SAYS "2: \"Dataverse:Connections:2:Name\" is \"a\", which is the name of connection 0 "
                "too; names must differ" },
};

START_TEST(a_wrong_file_is_refused_with_a_message_of_its_own)
{
    assert_file_fails(files[_i].text, WEIR_E_INVALID, files[_i].message);
}
END_TEST

/* ---- urls ---- */

#define URL_RIGHT                                                                                  \
    "; it must be https://host[:port] (http:// for this machine only), nothing after it"

static const struct {
    const char *url;
    const char *shown;
    const char *problem;
} urls[] = {
    { "contoso.crm.dynamics.com", NULL, "does not begin with https://" },
    { "ftp://contoso", NULL, "does not begin with https://" },
    { "https:/contoso", NULL, "does not begin with https://" },
    { "https://", NULL, "has no proper host or port" },
    { "https:///", NULL, "has no proper host or port" },
    { "https://a b", NULL, "has no proper host or port" },
    { "https://a\\\\b", "https://a\\b", "has no proper host or port" },
    { "https://a:", NULL, "has no proper host or port" },
    { "https://a:0", NULL, "has no proper host or port" },
    { "https://a:65536", NULL, "has no proper host or port" },
    { "https://a:+80", NULL, "has no proper host or port" },
    { "https://a:8x", NULL, "has no proper host or port" },
    { "https://[::1", NULL, "has no proper host or port" },
    { "https://[zz]", NULL, "has no proper host or port" },
    { "https://[::1]80", NULL, "has no proper host or port" },
    { "https://contoso/api", NULL, "goes on after the host" },
    { "https://contoso//", NULL, "goes on after the host" },
    { "https://contoso?x", NULL, "goes on after the host" },
    { "https://contoso/#x", NULL, "goes on after the host" },
    { "https://user@contoso", NULL, "names a user" },
    { "https://user:hunter2@contoso", "https://user:***@contoso", "names a user" },
    { "http://contoso", NULL, "is not encrypted and not on this machine" },
    { "http://localhost.evil.com", NULL, "is not encrypted and not on this machine" },
    { "http://127.0.0.1.evil.com", NULL, "is not encrypted and not on this machine" },
    { "http://128.0.0.1", NULL, "is not encrypted and not on this machine" },
    { "http://127.1", NULL, "is not encrypted and not on this machine" },
    { "http://[::2]", NULL, "is not encrypted and not on this machine" },
};

START_TEST(an_address_that_is_none_is_refused)
{
    char text[256];
    char message[WEIR_MESSAGE_MAX];
    snprintf(text, sizeof(text), "{\"Dataverse\": {\"Url\": \"%s\"}}", urls[_i].url);
    snprintf(message, sizeof(message),
             FILE_SAYS "1: \"Dataverse:Url\" is \"%s\", which %s" URL_RIGHT,
             urls[_i].shown ? urls[_i].shown : urls[_i].url, urls[_i].problem);
    assert_file_fails(text, WEIR_E_INVALID, message);
}
END_TEST

/* ---- credentials ---- */

START_TEST(two_credentials_of_one_connection_are_refused_in_every_pair)
{
    int pairs = 0;
    for (size_t a = weir_plain_key_count(); a < weir_key_count; a++) {
        for (size_t b = a + 1; b < weir_key_count; b++) {
            const char *first = strrchr(weir_keys[a].path, ':') + 1;
            const char *second = strrchr(weir_keys[b].path, ':') + 1;
            if (!weir_keys[a].is_credential || !weir_keys[b].is_credential)
                continue;
            char text[512];
            char message[WEIR_MESSAGE_MAX];
            snprintf(text, sizeof(text),
                     "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"app1\",\n"
                     "\"%s\": \"true\",\n\"%s\": \"true\"} ]}}",
                     second, first);
            snprintf(message, sizeof(message),
                     FILE_SAYS "3: connection \"app1\" has two credentials, "
                               "\"Dataverse:Connections:0:%s\" and \"Dataverse:Connections:0:%s\" "
                               "(file appsettings.json, line 2); it must have one",
                     first, second);
            assert_file_fails(text, WEIR_E_INVALID, message);
            pairs++;
        }
    }
    ck_assert_int_eq(pairs, 10 * 9 / 2);
}
END_TEST

START_TEST(an_error_of_a_connection_carries_its_name)
{
    static const char text[] = "{\"Dataverse\": {\"Connections\": [ {\"Name\": \"app1\","
                               "\"ManagedIdentity\": true, \"TokenCommand\": \"x\"} ]}}";
    struct weir_config *config = weir_config_new();
    const struct weir_options *options;
    struct weir_error err;
    ck_assert_int_eq(weir_config_read_text(config, "x", text, sizeof(text) - 1, &err), WEIR_OK);
    ck_assert_int_eq(weir_config_finish(config, &options, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.connection, "app1");
    weir_config_free(config);
}
END_TEST

/* ---- the environment and the command line ---- */

static const struct {
    const char *variables[3];
    const char *message;
} environments[] = {
    { { "Dataverse__Pool=5" },
      "environment Dataverse__Pool: \"Dataverse:Pool\" is a string; it must be a section with keys "
      "below it" },
    { { "Dataverse__Connections=a" },
      "environment Dataverse__Connections: \"Dataverse:Connections\" is a string; it must be an "
      "array of connections" },
    { { "Dataverse__Connections__0=a" },
      "environment Dataverse__Connections__0: \"Dataverse:Connections:0\" is a string; it must be "
      "a "
      "section with keys below it" },
    { { "Dataverse__Connections__x__Name=a" },
      "environment Dataverse__Connections__x__Name: \"Dataverse:Connections:x:Name\" is not a "
      "known "
      "key; did you mean \"Dataverse:Connections:0:Name\"?" },
    { { "Dataverse__Connections__01__Name=a" },
      "environment Dataverse__Connections__01__Name: \"Dataverse:Connections:01:Name\" is not a "
      "known key; did you mean \"Dataverse:Connections:0:Name\"?" },
    { { "DATAVERSE__=a" }, "environment DATAVERSE__: \"DATAVERSE:\" is not a known key" },
    { { "Dataverse__Ur=https://a" },
      "environment Dataverse__Ur: \"Dataverse:Ur\" is not a known key; did you mean "
      "\"Dataverse:Url\"?" },
    { { "Dataverse__Url=https://a", "DATAVERSE__URL=https://b" },
      "environment DATAVERSE__URL: \"Dataverse:Url\" is given twice, the first time by environment "
      "Dataverse__Url" },
    { { "Dataverse__AdaptiveRate__Factor=1",
        "Dataverse__AdaptiveRate__ExecutionTimeCeilingFactor=1" },
      "environment Dataverse__AdaptiveRate__ExecutionTimeCeilingFactor: "
      "\"Dataverse:AdaptiveRate:ExecutionTimeCeilingFactor\" and \"Dataverse:AdaptiveRate:Factor\" "
      "(environment Dataverse__AdaptiveRate__Factor) are both forms of one setting; give one of "
      "them" },
    { { "Dataverse__Connections__1__Name=a" },
      "\"Dataverse:Connections:0\" is missing or empty; connections are numbered from 0 without "
      "gaps" },
    { { "Dataverse__Connections__9999__Name=a" },
      "\"Dataverse:Connections:0\" is missing or empty; connections are numbered from 0 without "
      "gaps" },
    { { "Dataverse__Connections__10000__Name=a" },
      "environment Dataverse__Connections__10000__Name: \"Dataverse:Connections:10000:Name\" is "
      "one "
      "too many; there can be 10000 connections" },
    { { "Dataverse__Connections__99999999999999999999__Name=a" },
      "environment Dataverse__Connections__99999999999999999999__Name: "
      "\"Dataverse:Connections:99999999999999999999:Name\" is one too many; there can be 10000 "
      "connections" },
    { { "Dataverse__Connections__0__ClientSecrett=hunter2" },
      "environment Dataverse__Connections__0__ClientSecrett: "
      "\"Dataverse:Connections:0:ClientSecrett\" is not a known key; did you mean "
      "\"Dataverse:Connections:0:ClientSecret\"?" },
};

START_TEST(a_wrong_environment_is_refused_with_a_message_of_its_own)
{
    assert_variables_fail(environments[_i].variables, environments[_i].message);
}
END_TEST

#define NO_FORM " is not of the form Dataverse:Path:Key=value"

static const struct {
    const char *setting;
    const char *message;
} settings[] = {
    { "", "command line: \"\"" NO_FORM },
    { "Dataverse:Url", "command line: \"Dataverse:Url\"" NO_FORM },
    { "Pool:MaxPoolSize=5", "command line: \"Pool:MaxPoolSize\"" NO_FORM },
    { "Dataverse=5", "command line: \"Dataverse\"" NO_FORM },
    { "Dataverse:=5", "command line: \"Dataverse:\" is not a known key" },
    { "Dataverse:Pool=5",
      "command line: \"Dataverse:Pool\" is a string; it must be a section with keys below it" },
    { "dataverse:connections:0:clientsecret=hunter2",
      "command line: \"Dataverse:Connections:0:ClientSecret\" is a secret, which other users of "
      "the "
      "machine could see here; use ClientSecretFile, ClientSecretEnv or ClientSecretCommand" },
    { "Dataverse:Connections:10000:Name=a",
      "command line: \"Dataverse:Connections:10000:Name\" is one too many; there can be 10000 "
      "connections" },
};

START_TEST(a_wrong_command_line_is_refused_with_a_message_of_its_own)
{
    assert_setting_fails(settings[_i].setting, settings[_i].message);
}
END_TEST

START_TEST(a_setting_that_the_command_line_repeats_is_refused)
{
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_set(config, "Dataverse:Pool:MaxPoolSize=1", &err), WEIR_OK);
    ck_assert_int_eq(weir_config_set(config, "Dataverse:pool:MaxPoolSize=1", &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message,
                     "command line: \"Dataverse:Pool:MaxPoolSize\" is given twice, the "
                     "first time by command line");
    weir_config_free(config);
}
END_TEST

START_TEST(passwords_in_addresses_do_not_show_in_messages)
{
    char long_proxy[WEIR_CONFIG_TEXT_MAX + 128];
    memset(long_proxy, 'x', sizeof(long_proxy));
    memcpy(long_proxy, "Dataverse:Proxy=http://me:hunter2@", 34);
    long_proxy[sizeof(long_proxy) - 1] = '\0';
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_set(config, long_proxy, &err), WEIR_E_INVALID);
    ck_assert_ptr_null(strstr(err.message, "hunter2"));
    assert_contains(err.message, "is \"http://me:***@xxx");
    assert_contains(err.message, ", which is too long; it must be text of 1 to 4096 bytes");
    weir_config_free(config);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("config_wrong");
    suite_add_loop(&s, "a_wrong_file_is_refused_with_a_message_of_its_own",
                   a_wrong_file_is_refused_with_a_message_of_its_own, (int)COUNT(files));
    suite_add_loop(&s, "an_address_that_is_none_is_refused", an_address_that_is_none_is_refused,
                   (int)COUNT(urls));
    suite_add(&s, two_credentials_of_one_connection_are_refused_in_every_pair);
    suite_add(&s, an_error_of_a_connection_carries_its_name);
    suite_add_loop(&s, "a_wrong_environment_is_refused_with_a_message_of_its_own",
                   a_wrong_environment_is_refused_with_a_message_of_its_own,
                   (int)COUNT(environments));
    suite_add_loop(&s, "a_wrong_command_line_is_refused_with_a_message_of_its_own",
                   a_wrong_command_line_is_refused_with_a_message_of_its_own, (int)COUNT(settings));
    suite_add(&s, a_setting_that_the_command_line_repeats_is_refused);
    suite_add(&s, passwords_in_addresses_do_not_show_in_messages);
    return suite_run(&s);
}
