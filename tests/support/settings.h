/* SPDX-License-Identifier: MIT */
/* Short words for tests that read a configuration which is meant to be good. */
#ifndef WEIR_TESTS_SETTINGS_H
#define WEIR_TESTS_SETTINGS_H

#include "base/clock.h"
#include "base/str.h"
#include "support/suite.h"
#include "weir/config.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline void read_text(struct weir_config *config, const char *text)
{
    struct weir_error err;
    enum weir_status status =
        weir_config_read_text(config, "appsettings.json", text, strlen(text), &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

static inline void read_variables(struct weir_config *config, const char *const *variables)
{
    struct weir_error err;
    enum weir_status status = weir_config_read_environment(config, variables, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

#define read_environment(config, ...)                                                              \
    read_variables((config), (const char *const[]){ __VA_ARGS__, NULL })

static inline void set(struct weir_config *config, const char *setting)
{
    struct weir_error err;
    enum weir_status status = weir_config_set(config, setting, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

static inline const struct weir_options *finish(struct weir_config *config)
{
    const struct weir_options *options = NULL;
    struct weir_error err;
    enum weir_status status = weir_config_finish(config, &options, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return options;
}

static inline void assert_finish_fails(struct weir_config *config, const char *message)
{
    const struct weir_options *options = NULL;
    struct weir_error err = { .message = "it was accepted" };
    weir_config_finish(config, &options, &err);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(options);
}

static inline void assert_dump_has(const struct weir_config *config, const char *line)
{
    char *dump = weir_config_dump(config);
    ck_assert_msg(strstr(dump, line) != NULL, "%s\nlacks %s", dump, line);
    free(dump);
}

/* Every option is as the design says when nothing was said. */
static inline void assert_defaults(const struct weir_options *options)
{
    ck_assert_ptr_null(options->url);
    ck_assert_ptr_null(options->tenant_id);
    ck_assert_str_eq(options->cloud, "Public");
    ck_assert_ptr_null(options->authority);
    ck_assert_ptr_null(options->scope);
    ck_assert_ptr_null(options->proxy);
    ck_assert_ptr_null(options->ca_file);
    ck_assert_str_eq(options->managed_identity_endpoint, "http://169.254.169.254");
    ck_assert_uint_eq(options->connection_count, 0);

    ck_assert_str_eq(options->pool.selection_strategy, "Headroom");
    ck_assert_int_eq(options->pool.max_pool_size, 0);
    ck_assert(options->pool.acquire_timeout_us == 2 * WEIR_US_PER_MINUTE);
    ck_assert(options->pool.max_retry_after_tolerance_us == -1);

    const struct weir_resilience_options *resilience = &options->resilience;
    ck_assert_int_eq(resilience->max_throttle_retries, 3);
    ck_assert(resilience->enable_throttle_tracking);
    ck_assert(resilience->fallback_retry_after_us == 30 * WEIR_US_PER_S);
    ck_assert(resilience->retry_after_buffer_us == WEIR_US_PER_S);
    ck_assert(resilience->max_retry_time_us == 10 * WEIR_US_PER_MINUTE);
    ck_assert_int_eq(resilience->max_throttles_per_window, 0);
    ck_assert(resilience->late_commit_time_us == 5 * WEIR_US_PER_MINUTE);
    ck_assert(resilience->read_back_delay_us == 10 * WEIR_US_PER_S);
    ck_assert(resilience->circuit_breaker.enabled);
    ck_assert_int_eq(resilience->circuit_breaker.failures, 10);
    ck_assert(resilience->circuit_breaker.open_for_us == 30 * WEIR_US_PER_S);
    ck_assert(resilience->circuit_breaker.open_max_us == 10 * WEIR_US_PER_MINUTE);

    const struct weir_adaptive_rate_options *rate = &options->adaptive_rate;
    ck_assert(rate->enabled);
    ck_assert_str_eq(rate->policy, "Budget");
    ck_assert_str_eq(rate->preset, "Balanced");
    ck_assert_int_eq(rate->fixed_parallelism, 0);
    ck_assert(rate->initial_parallelism_factor == 0.5);
    ck_assert_int_eq(rate->min_parallelism, 1);
    ck_assert_int_eq(rate->increase_rate, 2);
    ck_assert(rate->decrease_factor == 0.5);
    ck_assert_int_eq(rate->stabilization_batches, 3);
    ck_assert(rate->min_increase_interval_us == 5 * WEIR_US_PER_S);
    ck_assert(rate->recovery_multiplier == 2.0);
    ck_assert(rate->last_known_good_ttl_us == 5 * WEIR_US_PER_MINUTE);
    ck_assert(rate->idle_reset_period_us == 5 * WEIR_US_PER_MINUTE);
    ck_assert_int_eq(rate->execution_time_ceiling_factor, 200);
    ck_assert_int_eq(rate->slow_batch_threshold_ms, 8000);
    ck_assert(!rate->budget.explore);
    ck_assert(rate->budget.window_us == 5 * WEIR_US_PER_MINUTE);

    ck_assert_int_eq(options->bulk.max_parallel_batches, 0);
    ck_assert(options->http.connect_timeout_us == 10 * WEIR_US_PER_S);
    ck_assert(options->http.first_byte_timeout_us == 4 * WEIR_US_PER_MINUTE);
    ck_assert(options->http.request_timeout_us == 5 * WEIR_US_PER_MINUTE);
}

#endif
