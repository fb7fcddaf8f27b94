/* SPDX-License-Identifier: MIT */
/* The bounds of the configuration, each of them hit, and files that cannot be read. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/suite.h"
#include "weir/config.h"

/* ---- tools ---- */

static const size_t bytes_max = (size_t)WEIR_CONFIG_BYTES_MAX;

static char directory[256];
static char path[512];

static void set_up(const void *bytes, size_t len)
{
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%s/weir-XXXXXX", parent ? parent : P_tmpdir);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/appsettings.json", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(directory);
}

static void assert_read_fails(const char *name, enum weir_status status, const char *says)
{
    struct weir_config *config = weir_config_new();
    struct weir_error err = { .message = "it was accepted" };
    char message[WEIR_MESSAGE_MAX];
    snprintf(message, sizeof(message), "file %s: %s", name, says);
    enum weir_status got = weir_config_read_file(config, name, &err);
    ck_assert_str_eq(err.message, message);
    ck_assert_int_eq(got, status);
    ck_assert_int_eq(weir_config_read_file(config, name, NULL), status);
    weir_config_free(config);
}

static enum weir_status read_buf(const struct weir_buf *buf, const struct weir_options **options,
                                 struct weir_config **config, struct weir_error *err)
{
    *config = weir_config_new();
    *err = (struct weir_error){ .message = "" };
    enum weir_status status = weir_config_read_text(*config, "a.json", buf->ptr, buf->len, err);
    return status == WEIR_OK ? weir_config_finish(*config, options, err) : status;
}

/* ---- files ---- */

START_TEST(a_file_is_read_and_named)
{
    static const char text[] = "{\"Dataverse\": {\"Scope\": \"x\"}}";
    set_up(text, sizeof(text) - 1);
    struct weir_config *config = weir_config_new();
    const struct weir_options *options;
    ck_assert_int_eq(weir_config_read_file(config, path, NULL), WEIR_OK);
    ck_assert_int_eq(weir_config_finish(config, &options, NULL), WEIR_OK);
    ck_assert_str_eq(options->scope, "x");
    char line[600];
    snprintf(line, sizeof(line), "Dataverse:Scope = x  (file %s)\n", path);
    char *dump = weir_config_dump(config);
    ck_assert_ptr_nonnull(strstr(dump, line));
    free(dump);
    weir_config_free(config);
    tear_down();
}
END_TEST

START_TEST(only_one_file_is_read)
{
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_read_text(config, "a.json", "{}", 2, &err), WEIR_OK);
    ck_assert_int_eq(weir_config_read_text(config, "b.json", "{}", 2, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "file b.json: only one file can be read, and before the end");
    weir_config_free(config);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_said_to_be_so)
{
    set_up("{}", 2);
    char other[600];
    snprintf(other, sizeof(other), "%s/none.json", directory);
    assert_read_fails(other, WEIR_E_NOT_FOUND, "there is no such file");
    snprintf(other, sizeof(other), "%s/appsettings.json/x", directory);
    assert_read_fails(other, WEIR_E_NOT_FOUND, "there is no such file");
    assert_read_fails(directory, WEIR_E_IO, "it is a directory");
    assert_read_fails("/proc/self/mem", WEIR_E_IO, "cannot be read: Input/output error");

    ck_assert_int_eq(chmod(path, 0), 0);
    bool root = geteuid() == 0; /* who may read everything */
    if (root)
        ck_assert_int_eq(seteuid(65534), 0);
    assert_read_fails(path, WEIR_E_IO, "there is no permission to read it");
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    tear_down();
}
END_TEST

static const char with_secret[] = "{\"Dataverse\": {\"Connections\": [{\"Name\": \"a\",\n"
                                  " \"ClientSecret\": \"hunter2\"}]}}";

START_TEST(a_secret_in_a_file_that_others_may_read_is_refused)
{
    static const mode_t modes[] = { 0640, 0604, 0644, 0660, 0620, 0777 };
    char says[1400];
    set_up(with_secret, sizeof(with_secret) - 1);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        struct weir_config *config = weir_config_new();
        struct weir_error err;
        ck_assert_int_eq(weir_config_read_file(config, path, &err), WEIR_E_INVALID);
        snprintf(says, sizeof(says),
                 "file %s, line 2: \"Dataverse:Connections:0:ClientSecret\" is a secret in a file "
                 "that others may read; make the file yours alone: chmod 600 \"%s\"",
                 path, path);
        ck_assert_str_eq(err.message, says);
        weir_config_free(config);
    }
    tear_down();
}
END_TEST

START_TEST(a_secret_in_a_file_of_ones_own_is_accepted)
{
    static const mode_t modes[] = { 0600, 0400, 0700 };
    set_up(with_secret, sizeof(with_secret) - 1);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        struct weir_config *config = weir_config_new();
        ck_assert_int_eq(weir_config_read_file(config, path, NULL), WEIR_OK);
        weir_config_free(config);
    }
    tear_down();
}
END_TEST

START_TEST(a_secret_in_a_file_of_somebody_else_is_refused)
{
    if (geteuid() != 0)
        return; /* nobody else can give a file away */
    set_up(with_secret, sizeof(with_secret) - 1);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(chown(path, 65534, 65534), 0);
    struct weir_config *config = weir_config_new();
    ck_assert_int_eq(weir_config_read_file(config, path, NULL), WEIR_E_INVALID);
    weir_config_free(config);
    tear_down();
}
END_TEST

START_TEST(files_that_a_file_names_lie_beside_it)
{
    static const char text[] =
        "{\"Dataverse\": {\"CaFile\": \"/etc/ca.pem\", \"Scope\": \"x\", \"Connections\": ["
        "{\"Name\": \"a\", \"ClientSecretFile\": \"a.secret\"},"
        "{\"Name\": \"b\", \"CertificateFile\": \"keys/b.pem\"},"
        "{\"Name\": \"c\", \"TokenCommand\": \"print-token\"}]}}";
    static const char *const variables[] = { "Dataverse__Connections__3__Name=d",
                                             "Dataverse__Connections__3__AccessTokenFile=d.token",
                                             NULL };
    char expected[600];
    set_up(text, sizeof(text) - 1);
    struct weir_config *config = weir_config_new();
    const struct weir_options *options;
    ck_assert_int_eq(weir_config_read_file(config, path, NULL), WEIR_OK);
    ck_assert_int_eq(weir_config_read_environment(config, variables, NULL), WEIR_OK);
    ck_assert_int_eq(weir_config_finish(config, &options, NULL), WEIR_OK);
    ck_assert_str_eq(options->ca_file, "/etc/ca.pem");
    ck_assert_str_eq(options->scope, "x");
    snprintf(expected, sizeof(expected), "%s/a.secret", directory);
    ck_assert_str_eq(options->connections[0].client_secret_file, expected);
    snprintf(expected, sizeof(expected), "%s/keys/b.pem", directory);
    ck_assert_str_eq(options->connections[1].certificate_file, expected);
    ck_assert_str_eq(options->connections[2].token_command, "print-token");
    ck_assert_str_eq(options->connections[3].access_token_file, "d.token");
    weir_config_free(config);
    tear_down();
}
END_TEST

START_TEST(a_file_may_have_so_many_bytes_and_not_one_more)
{
    char *text = weir_calloc(bytes_max + 1, 1);
    memset(text, ' ', bytes_max + 1);
    text[0] = '{';
    text[1] = '}';
    set_up(text, bytes_max);
    struct weir_config *config = weir_config_new();
    ck_assert_int_eq(weir_config_read_file(config, path, NULL), WEIR_OK);
    weir_config_free(config);
    tear_down();

    set_up(text, bytes_max + 1);
    assert_read_fails(path, WEIR_E_TOO_BIG, "larger than 1048576 bytes");
    tear_down();
    free(text);
}
END_TEST

START_TEST(the_name_of_a_file_is_cut_in_messages_but_not_in_the_dump)
{
    char name[400];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i + 2 < sizeof(name); i += 2)
        memcpy(name + i, "\u00e9", 2);
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_read_text(config, name, "{", 1, &err), WEIR_E_INVALID);
    char message[WEIR_MESSAGE_MAX];
    snprintf(message, sizeof(message), "file …%s, line 1, column 2: unexpected end of data",
             name + sizeof(name) - 1 - 119);
    ck_assert_str_eq(err.message, message);
    weir_config_free(config);

    static const char text[] = "{\"Dataverse\": {\"Scope\": \"x\"}}";
    config = weir_config_new();
    const struct weir_options *options;
    ck_assert_int_eq(weir_config_read_text(config, name, text, sizeof(text) - 1, &err), WEIR_OK);
    ck_assert_int_eq(weir_config_finish(config, &options, &err), WEIR_OK);
    char *dump = weir_config_dump(config);
    ck_assert_ptr_nonnull(strstr(dump, name));
    free(dump);
    weir_config_free(config);
}
END_TEST

/* ---- within a file ---- */

START_TEST(nesting_is_bounded_outside_of_our_section_too)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 1024);
    weir_buf_add_text(&buf, "{\"Logging\": ");
    for (int i = 0; i < WEIR_JSON_DEPTH_MAX; i++)
        weir_buf_add_char(&buf, '[');
    struct weir_config *config;
    const struct weir_options *options;
    struct weir_error err;
    ck_assert_int_eq(read_buf(&buf, &options, &config, &err), WEIR_E_TOO_BIG);
    ck_assert_str_eq(err.message, "file a.json, line 1, column 44: nested too deep");
    weir_config_free(config);
    weir_buf_release(&buf);
}
END_TEST

/* A file with one text of `len` bytes as the value of `key`. */
static void write_text(struct weir_buf *buf, const char *key, size_t len)
{
    weir_buf_init(buf, bytes_max);
    weir_buf_printf(buf, "{\"Dataverse\": {\"%s\": \"", key);
    for (size_t i = 0; i < len; i++)
        weir_buf_add_char(buf, 'x');
    weir_buf_add_text(buf, "\"}}");
}

static void assert_text_bound(const char *key, size_t most, const char *right)
{
    struct weir_buf buf;
    struct weir_config *config;
    const struct weir_options *options;
    struct weir_error err;
    write_text(&buf, key, most);
    ck_assert_msg(read_buf(&buf, &options, &config, &err) == WEIR_OK, "%s", err.message);
    weir_config_free(config);
    weir_buf_release(&buf);

    write_text(&buf, key, most + 1);
    ck_assert_int_eq(read_buf(&buf, &options, &config, &err), WEIR_E_INVALID);
    char message[WEIR_MESSAGE_MAX];
    snprintf(
        message, sizeof(message),
        "file a.json, line 1: \"Dataverse:%s\" is \"%.80s…\", which is too long; it must be %s",
        key, strstr(buf.ptr, "xxx"), right);
    ck_assert_str_eq(err.message, message);
    weir_config_free(config);
    weir_buf_release(&buf);
}

START_TEST(a_text_and_a_name_may_have_so_many_bytes_and_not_one_more)
{
    assert_text_bound("Scope", WEIR_CONFIG_TEXT_MAX, "text of 1 to 4096 bytes");
    assert_text_bound("Connections:0:Name", WEIR_CONNECTION_NAME_MAX,
                      "text of 1 to 128 bytes without control characters");
}
END_TEST

static void write_connections(struct weir_buf *buf, int count)
{
    weir_buf_init(buf, bytes_max);
    weir_buf_add_text(buf, "{\"Dataverse\": {\"Connections\": [");
    for (int i = 0; i < count; i++)
        weir_buf_printf(buf, "{\"Name\": \"app%d\", \"ClientSecret\": \"s%d\"},\n", i, i);
    weir_buf_add_text(buf, "]}}");
}

START_TEST(there_may_be_so_many_connections_and_not_one_more)
{
    struct weir_buf buf;
    struct weir_config *config;
    const struct weir_options *options;
    struct weir_error err;
    write_connections(&buf, WEIR_CONNECTIONS_MAX);
    ck_assert_msg(read_buf(&buf, &options, &config, &err) == WEIR_OK, "%s", err.message);
    ck_assert_uint_eq(options->connection_count, WEIR_CONNECTIONS_MAX);
    ck_assert_str_eq(options->connections[WEIR_CONNECTIONS_MAX - 1].name, "app9999");
    ck_assert_str_eq(options->connections[WEIR_CONNECTIONS_MAX - 1].client_secret, "s9999");
    char *dump = weir_config_dump(config);
    ck_assert_ptr_nonnull(strstr(dump, "Dataverse:Connections:9999:ClientSecret = ***  ("));
    free(dump);
    weir_config_free(config);
    weir_buf_release(&buf);

    write_connections(&buf, WEIR_CONNECTIONS_MAX + 1);
    ck_assert_int_eq(read_buf(&buf, &options, &config, &err), WEIR_E_TOO_BIG);
    ck_assert_str_eq(err.message, "file a.json, line 10001: \"Dataverse:Connections:10000\" is one "
                                  "too many; there can be 10000 connections");
    weir_config_free(config);
    weir_buf_release(&buf);
}
END_TEST

START_TEST(a_key_longer_than_any_is_refused)
{
    for (int below = 0; below < 2; below++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 8192);
        weir_buf_printf(&buf, "{\"Dataverse%s", below ? "\": {\"" : ":");
        for (int i = 0; i < 2000; i++)
            weir_buf_add_char(&buf, 'k');
        weir_buf_add_text(&buf, below ? "\": 1}}" : "\": 1}");
        struct weir_config *config;
        const struct weir_options *options;
        struct weir_error err;
        ck_assert_int_eq(read_buf(&buf, &options, &config, &err), WEIR_E_INVALID);
        ck_assert_str_eq(err.message, "file a.json, line 1: a key longer than any that is known");
        weir_config_free(config);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(a_long_unknown_key_is_cut_in_the_message)
{
    char setting[300];
    snprintf(setting, sizeof(setting), "Dataverse:%0*d=1", 280, 0);
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_set(config, setting, &err), WEIR_E_INVALID);
    char message[WEIR_MESSAGE_MAX];
    snprintf(message, sizeof(message), "command line: \"%.80s…\" is not a known key", setting);
    ck_assert_str_eq(err.message, message);
    weir_config_free(config);
}
END_TEST

START_TEST(a_value_is_cut_between_characters)
{
    struct weir_buf setting;
    weir_buf_init(&setting, 1024);
    weir_buf_add_text(&setting, "Dataverse:Cloud=x");
    for (int i = 0; i < 60; i++)
        weir_buf_add_text(&setting, "\u00e9");
    struct weir_config *config = weir_config_new();
    struct weir_error err;
    ck_assert_int_eq(weir_config_set(config, setting.ptr, &err), WEIR_E_INVALID);
    char message[WEIR_MESSAGE_MAX];
    snprintf(message, sizeof(message),
             "command line: \"Dataverse:Cloud\" is \"%.79s…\", which is not known; it must be one "
             "of Public, UsGov, UsGovHigh, UsGovDod, China",
             strchr(setting.ptr, '=') + 1);
    ck_assert_str_eq(err.message, message);
    weir_config_free(config);
    weir_buf_release(&setting);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("config_limits");
    suite_add(&s, a_file_is_read_and_named);
    suite_add(&s, only_one_file_is_read);
    suite_add(&s, a_secret_in_a_file_that_others_may_read_is_refused);
    suite_add(&s, a_secret_in_a_file_of_ones_own_is_accepted);
    suite_add(&s, a_secret_in_a_file_of_somebody_else_is_refused);
    suite_add(&s, files_that_a_file_names_lie_beside_it);
    suite_add(&s, a_file_that_cannot_be_read_is_said_to_be_so);
    suite_add(&s, a_file_may_have_so_many_bytes_and_not_one_more);
    suite_add(&s, the_name_of_a_file_is_cut_in_messages_but_not_in_the_dump);
    suite_add(&s, nesting_is_bounded_outside_of_our_section_too);
    suite_add(&s, a_text_and_a_name_may_have_so_many_bytes_and_not_one_more);
    suite_add(&s, there_may_be_so_many_connections_and_not_one_more);
    suite_add(&s, a_key_longer_than_any_is_refused);
    suite_add(&s, a_long_unknown_key_is_cut_in_the_message);
    suite_add(&s, a_value_is_cut_between_characters);
    return suite_run(&s);
}
