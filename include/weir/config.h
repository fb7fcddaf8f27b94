/* SPDX-License-Identifier: MIT */
/*
 * Settings: plain data, and the reader that fills it.
 *
 * struct weir_options is what the pool and the policies work from. A program may fill one by hand
 * (start from weir_options_defaults()) or let a struct weir_config read it from the sources that
 * people use: an appsettings.json, the environment in the .NET form
 * (`Dataverse__AdaptiveRate__Preset=Conservative`) and single settings from a command line
 * (`Dataverse:Pool:MaxPoolSize=8`). A command line beats the environment, the environment beats the
 * file, the file beats the defaults, whatever the order in which they are read.
 *
 * Only keys below `Dataverse` are looked at. Keys and enumeration values are case-insensitive,
 * numbers and booleans may be written as strings, durations are `[d.]hh:mm:ss[.fff]` or a number
 * with a unit (`500ms`, `30s`, `2m`, `1h`). Whatever is wrong is an error that names where it
 * stands, the key, the value and what would be right.
 */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One application user. Texts are NULL where nothing was said. */
struct weir_connection_options {
    const char *name; /* the key everywhere; unique */
    const char *client_id;
    const char *client_secret;
    const char *client_secret_file;
    const char *client_secret_env;
    const char *client_secret_command;
    const char *certificate_file;      /* PEM: certificate and private key */
    const char *certificate_algorithm; /* PS256 | RS256 */
    bool managed_identity;             /* with a client_id: a user-assigned one */
    const char *federated_token_file;
    const char *token_command;     /* prints a token, or the JSON of a token answer */
    const char *access_token;      /* static: nobody renews it */
    const char *access_token_file; /* read again whenever a new token is wanted */
};

/* Dataverse:Pool */
struct weir_pool_options {
    const char *selection_strategy; /* Headroom | ThrottleAware | RoundRobin | LeastConnections */
    int max_pool_size;              /* 0: the sum of the connections' caps */
    int64_t acquire_timeout_us;     /* 2 min; runs only while waiting for a slot */
    int64_t max_retry_after_tolerance_us; /* -1: wait as long as it takes */
};

/* Dataverse:Resilience:CircuitBreaker */
struct weir_circuit_breaker_options {
    bool enabled;        /* true */
    int failures;        /* 10 in a row, none of them a throttle */
    int64_t open_for_us; /* 30 s, doubling … */
    int64_t open_max_us; /* … to 10 min (MaxOpenFor) */
};

/* Dataverse:Resilience */
struct weir_resilience_options {
    int max_throttle_retries;        /* 3: requests that one weir_execute() sends at most */
    bool enable_throttle_tracking;   /* true */
    int64_t fallback_retry_after_us; /* 30 s */
    int64_t retry_after_buffer_us;   /* 1 s */
    int64_t max_retry_time_us;       /* 10 min of failures that are not throttles */
    int max_throttles_per_window;    /* 0: any number of throttle episodes in five minutes */
    int64_t late_commit_time_us;     /* 5 min: so long a request may still be executed after its
                                        client has left without an answer */
    int64_t read_back_delay_us;      /* 10 s; its rows are looked for no earlier */
    struct weir_circuit_breaker_options circuit_breaker;
};

/* Dataverse:AdaptiveRate:Budget */
struct weir_budget_options {
    bool explore;      /* false; true: try more than the limits that are known */
    int64_t window_us; /* 5 min: the service's window, until it names another */
};

/*
 * Dataverse:AdaptiveRate. A preset gives the ceiling factor and the threshold that are not set.
 * Only Aimd knows the preset and what stands from the initial factor to the threshold: where no
 * policy is named, a struct weir_config takes whoever sets one of them for somebody who means Aimd,
 * with the strategy ThrottleAware. A program that sets them by hand names both itself.
 */
struct weir_adaptive_rate_options {
    bool enabled;                      /* true; false is the policy Dop */
    const char *policy;                /* Budget | Aimd | Dop | Fixed */
    const char *preset;                /* Balanced | Conservative | Aggressive */
    int fixed_parallelism;             /* of the policy Fixed; 0: not set */
    double initial_parallelism_factor; /* 0.5 */
    int min_parallelism;               /* 1 */
    int increase_rate;                 /* 2 */
    double decrease_factor;            /* 0.5 */
    int stabilization_batches;         /* 3 */
    int64_t min_increase_interval_us;  /* 5 s */
    double recovery_multiplier;        /* 2.0 */
    int64_t last_known_good_ttl_us;    /* 5 min */
    int64_t idle_reset_period_us;      /* 5 min */
    int execution_time_ceiling_factor; /* 140 | 200 | 320 by preset */
    int slow_batch_threshold_ms;       /* 6000 | 8000 | 11000 by preset */
    struct weir_budget_options budget;
};

/* Dataverse:BulkOperations */
struct weir_bulk_options {
    int max_parallel_batches; /* 0: no bound of its own on the total in flight */
};

/* Dataverse:Http */
struct weir_http_options {
    int64_t connect_timeout_us;    /* 10 s */
    int64_t first_byte_timeout_us; /* 4 min */
    int64_t request_timeout_us;    /* 5 min */
};

/* Dataverse */
struct weir_options {
    const char *url;
    const char *tenant_id;
    const char *cloud; /* Public | UsGov | UsGovHigh | UsGovDod | China */
    const char *authority;
    const char *scope;
    const char *proxy;
    const char *ca_file;
    const char *managed_identity_endpoint; /* http://169.254.169.254 */
    const struct weir_connection_options *connections;
    size_t connection_count;
    /* Environment variables that hold secrets, besides those that the connections name: commands do
       not see them. A struct weir_config names all ClientSecretEnv here, so that a program may use
       some of the connections only. */
    const char *const *secret_variables;
    size_t secret_variable_count;
    struct weir_pool_options pool;
    struct weir_resilience_options resilience;
    struct weir_adaptive_rate_options adaptive_rate;
    struct weir_bulk_options bulk;
    struct weir_http_options http;
};

/* Every default; no url and no connection. Any thread. */
WEIR_API void weir_options_defaults(struct weir_options *options);

struct weir_config;

/* Empty: all defaults. Free with weir_config_free(). One thread at a time. */
WEIR_API struct weir_config *weir_config_new(void);
WEIR_API void weir_config_free(struct weir_config *config);

/* Read an appsettings.json. It may be called for one file only. */
WEIR_API enum weir_status weir_config_read_file(struct weir_config *config, const char *path,
                                                struct weir_error *err);

/* The same from memory; `origin` names it in messages and in the dump. */
WEIR_API enum weir_status weir_config_read_text(struct weir_config *config, const char *origin,
                                                const char *text, size_t len,
                                                struct weir_error *err);

/* Read the variables `Dataverse__…` of a NULL-terminated list of `NAME=value` (environ). */
WEIR_API enum weir_status weir_config_read_environment(struct weir_config *config,
                                                       const char *const *variables,
                                                       struct weir_error *err);

/* One setting of a command line, `Dataverse:Path:Key=value`. Secrets are refused. */
WEIR_API enum weir_status weir_config_set(struct weir_config *config, const char *setting,
                                          struct weir_error *err);

/*
 * Judge the whole once everything has been read: presets, aliases, connections, what goes together
 * and what does not. The options are owned by the config and live as long as it.
 */
WEIR_API enum weir_status weir_config_finish(struct weir_config *config,
                                             const struct weir_options **ret,
                                             struct weir_error *err);

/*
 * After weir_config_finish(): every effective setting, a line each, `Key = value  (origin)`,
 * secrets as `***`. The caller frees the text.
 */
WEIR_API char *weir_config_dump(const struct weir_config *config);

#ifdef __cplusplus
}
#endif

#endif
