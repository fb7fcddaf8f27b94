/* SPDX-License-Identifier: MIT */
/*
 * The command line of weir-sim. A flag is stronger than the scenario file, wherever it stands.
 */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "base/json.h"
#include "sim/certificates.h"
#include "sim/service/service.h"
#include "weir/log.h"

#define SIM_SCENARIO_BYTES_MAX ((size_t)16 * 1024 * 1024)

enum sim_wish {
    SIM_WISH_SERVE,
    SIM_WISH_PRINT_CONFIG,
    SIM_WISH_HELP,
    SIM_WISH_VERSION,
};

struct sim_options {
    enum sim_wish wish;
    int64_t port;
    int64_t connections_max;
    bool tls;
    const char *tls_dir;                            /* NULL: the default */
    const char *certificates[SIM_CERTIFICATES_MAX]; /* "app1=known.pem" */
    size_t certificate_count;
    enum weir_log_level log_level;
    const char *scenario_file;      /* NULL: none */
    struct sim_world_options world; /* without base_url */

    /* Owned: */
    char *scenario_text;
    struct weir_json *scenario_json;
};

/* WEIR_E_INVALID: the message names flag or key, value and what is allowed. Release in any case. */
enum weir_status sim_options_read(struct sim_options *options, int argc, char **argv,
                                  struct weir_error *err);
void sim_options_release(struct sim_options *options);

/* The text of --help; in help.c. */
extern const char sim_help[];

#endif
