/* SPDX-License-Identifier: MIT */
/*
 * weir-sim: a Dataverse that fits on a laptop.
 *
 *     main.c           from the command line to the end
 *     options.c        the command line; help.c its text
 *     print_config.c   an appsettings.json for clients
 *     http/            the shell: sockets, TLS, resets; everything that waits
 *     service/         the service: visits, faults, the Web API, its store and ledger; pure
 *     tokens/          the login service; pure
 *     law/             limits and service times; pure
 *
 * Exit codes: 0 ended by a signal, 1 it cannot serve (the port is taken, no certificate), 2 usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sim/http/shell.h"
#include "sim/http/tls.h"
#include "sim/options.h"
#include "sim/print_config.h"

#ifndef WEIR_VERSION
#define WEIR_VERSION "unknown"
#endif

#define EXIT_USAGE  2
#define URL_BYTES   64
#define CONFIG_MAX  ((size_t)16 * 1024 * 1024)
#define SPARE_FILES 64 /* descriptors that are no connection */

/* All that lives as long as the program. */
struct program {
    struct weir_log_sink log; /* the shell writes to it until its end */
    struct sim_options options;
    struct sim_world *world;
    struct sim_shell *shell;
    char tls_dir[SIM_TLS_PATH_MAX];
    char ca_file[SIM_TLS_PATH_MAX];
    char *tls_key;
    char *tls_certificate;
    char url[URL_BYTES];
};

static void write_log(void *ctx, const struct weir_log_record *record)
{
    (void)ctx;
    char line[WEIR_LOG_LINE_MAX];
    weir_log_format_text(record, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
}

static int complain(const struct weir_error *err, int code)
{
    fprintf(stderr, "weir-sim: %s\n", err->message);
    return code;
}

static void set_url(struct program *program, unsigned port)
{
    snprintf(program->url, sizeof(program->url), "%s://127.0.0.1:%u",
             program->options.tls ? "https" : "http", port);
}

static enum weir_status prepare_tls(struct program *program, struct weir_error *err)
{
    if (!program->options.tls)
        return WEIR_OK;
    const char *dir = program->options.tls_dir;
    if (dir && dir[0] != '/') {
        /* The path is told to others, who may stand elsewhere. */
        char here[SIM_TLS_PATH_MAX / 2];
        snprintf(program->tls_dir, sizeof(program->tls_dir), "%s/%.2000s",
                 getcwd(here, sizeof(here)) ? here : ".", dir);
    } else if (dir) {
        snprintf(program->tls_dir, sizeof(program->tls_dir), "%s", dir);
    } else {
        sim_tls_default_dir(program->tls_dir);
    }
    return sim_tls_authority(program->tls_dir, program->ca_file, err);
}

static int print_config(struct program *program)
{
    struct weir_error err;
    struct weir_buf json;
    if (prepare_tls(program, &err) != WEIR_OK)
        return complain(&err, EXIT_FAILURE);
    if (!program->options.port)
        fprintf(stderr,
                "weir-sim: --port is \"0\", so the URL has no port that a client can use\n");
    set_url(program, (unsigned)program->options.port);
    weir_buf_init(&json, CONFIG_MAX);
    sim_print_config(&json, program->url, program->options.world.scenario.connections,
                     program->options.tls ? program->ca_file : NULL);
    fputs(weir_buf_text(&json), stdout);
    weir_buf_release(&json);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* As many descriptors as there may be connections, if we are allowed to. */
static void raise_file_limit(int64_t connections_max)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections_max + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    if (limit.rlim_max < wanted)
        limit.rlim_max = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int summarise(struct program *program)
{
    struct weir_buf text;
    weir_buf_init(&text, CONFIG_MAX);
    sim_world_summary(program->world, &text);
    fprintf(stderr, "weir-sim: ended by a signal\n%s", weir_buf_text(&text));
    weir_buf_release(&text);
    return EXIT_SUCCESS;
}

static int serve(struct program *program)
{
    struct weir_error err;
    struct sim_shell_options shell = {
        .connections_max = (uint32_t)program->options.connections_max,
        .log = &program->log,
    };
    uint16_t port;
    raise_file_limit(program->options.connections_max);
    if (prepare_tls(program, &err) != WEIR_OK ||
        (program->options.tls && sim_tls_certificate(program->tls_dir, &program->tls_key,
                                                     &program->tls_certificate, &err) != WEIR_OK) ||
        sim_shell_listen((uint16_t)program->options.port, &shell.listen_fd, &port, &err) != WEIR_OK)
        return complain(&err, EXIT_FAILURE);
    set_url(program, port);
    program->options.world.base_url = program->url;
    if (sim_world_new(&program->options.world, &program->world, &err) != WEIR_OK ||
        sim_certificates_load(sim_world_tokens(program->world), program->options.certificates,
                              program->options.certificate_count, &err) != WEIR_OK) {
        close(shell.listen_fd);
        return complain(&err, EXIT_USAGE);
    }
    shell.world = program->world;
    shell.tls_key = program->tls_key;
    shell.tls_certificate = program->tls_certificate;
    if (sim_shell_new(&shell, &program->shell, &err) != WEIR_OK)
        return complain(&err, EXIT_FAILURE);
    printf("listening %s\n", program->url);
    fflush(stdout);
    sim_shell_run(program->shell);
    return summarise(program);
}

static int run(struct program *program)
{
    program->log = (struct weir_log_sink){ program->options.log_level, write_log, NULL };
    switch (program->options.wish) {
    case SIM_WISH_HELP:
        fputs(sim_help, stdout);
        return EXIT_SUCCESS;
    case SIM_WISH_VERSION:
        printf("weir-sim %s\n", WEIR_VERSION);
        return EXIT_SUCCESS;
    case SIM_WISH_PRINT_CONFIG:
        return print_config(program);
    case SIM_WISH_SERVE:
        break;
    }
    return serve(program);
}

int main(int argc, char **argv)
{
    static struct program program;
    struct weir_error err;
    int code = sim_options_read(&program.options, argc, argv, &err) == WEIR_OK
                   ? run(&program)
                   : complain(&err, EXIT_USAGE);
    sim_shell_free(program.shell);
    sim_world_free(program.world);
    free(program.tls_key);
    free(program.tls_certificate);
    sim_options_release(&program.options);
    return code;
}
