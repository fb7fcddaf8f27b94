/* SPDX-License-Identifier: MIT */
/* Every setting there is; see keys.h. */
#include "config/keys.h"

#include <assert.h>
#include <stdio.h>

#include "base/limits.h"
#include "weir/config.h"

#define DIGITS_OF(number) #number
#define DIGITS(number)    DIGITS_OF(number)

/* clang-format off */
#define ROW(path_, type_, offset_, ...) \
    { .path = (path_), .type = WEIR_KEY_##type_, .offset = (offset_), __VA_ARGS__ }
#define PLAIN(path, type, member, ...) \
    ROW(path, type, offsetof(struct weir_options, member), __VA_ARGS__)
#define OF_CONNECTION(name, type, member, ...) \
    ROW("Connections:#:" name, type, offsetof(struct weir_connection_options, member), __VA_ARGS__)

#define OF_AIMD(name, type, member, ...) \
    ROW("AdaptiveRate:" name, type, offsetof(struct weir_options, adaptive_rate.member), \
        __VA_ARGS__, .is_of_aimd = true)

#define RANGE(value_, min_, max_) .value = (value_), .min = (min_), .max = (max_)
#define CHOICES(value_, ...) \
    .value = (value_), .choices = (const char *const[]){ __VA_ARGS__, NULL }
#define NO_PASSWORD .sight = WEIR_SIGHT_NO_PASSWORD
#define CREDENTIAL  .is_credential = true
#define FILE_NAME   .is_file = true

/* path, member of the options, default, least, most */
#define BOOL(path, member, value_)       PLAIN(path, BOOL, member, .value = (value_))
#define INT(path, member, ...)           PLAIN(path, INT, member, RANGE(__VA_ARGS__))
#define REAL(path, member, ...)          PLAIN(path, REAL, member, RANGE(__VA_ARGS__))
#define DURATION(path, member, ...)      PLAIN(path, DURATION, member, RANGE(__VA_ARGS__))
#define CHOICE(path, member, value, ...) PLAIN(path, CHOICE, member, CHOICES(value, __VA_ARGS__))
#define TEXT(path, member, ...)          PLAIN(path, TEXT, member, __VA_ARGS__)

#define PARALLEL_MAX  DIGITS(WEIR_PARALLELISM_MAX)
#define IN_FLIGHT_MAX "520000" /* every connection at the service's limit */
_Static_assert(WEIR_PARALLELISM_MAX * WEIR_CONNECTIONS_MAX == 520000, "IN_FLIGHT_MAX says so");

const struct weir_key weir_keys[] = {
    TEXT("Url", url, NO_PASSWORD),
    TEXT("TenantId", tenant_id),
    CHOICE("Cloud", cloud, "Public", "Public", "UsGov", "UsGovHigh", "UsGovDod", "China"),
    TEXT("Authority", authority, NO_PASSWORD),
    TEXT("Scope", scope),
    TEXT("Proxy", proxy, NO_PASSWORD),
    TEXT("CaFile", ca_file, FILE_NAME),
    TEXT("ManagedIdentityEndpoint", managed_identity_endpoint,
         .value = "http://169.254.169.254", NO_PASSWORD),

    CHOICE("Pool:SelectionStrategy", pool.selection_strategy, "Headroom",
           "ThrottleAware", "RoundRobin", "LeastConnections", "Headroom"),
    INT("Pool:MaxPoolSize", pool.max_pool_size, "0", "0", IN_FLIGHT_MAX),
    DURATION("Pool:AcquireTimeout", pool.acquire_timeout_us, "2m", "1ms", "24h"),
    DURATION("Pool:MaxRetryAfterTolerance", pool.max_retry_after_tolerance_us, NULL, "0s", "24h"),

    INT("Resilience:MaxThrottleRetries", resilience.max_throttle_retries, "3", "1", "100"),
    BOOL("Resilience:EnableThrottleTracking", resilience.enable_throttle_tracking, "true"),
    DURATION("Resilience:FallbackRetryAfter", resilience.fallback_retry_after_us,
             "30s", "1s", "1h"),
    DURATION("Resilience:RetryAfterBuffer", resilience.retry_after_buffer_us, "1s", "0s", "10s"),
    DURATION("Resilience:MaxRetryTime", resilience.max_retry_time_us, "10m", "1s", "24h"),
    INT("Resilience:MaxThrottlesPerWindow", resilience.max_throttles_per_window,
        NULL, "1", "1000"),
    DURATION("Resilience:LateCommitTime", resilience.late_commit_time_us, "5m", "1s", "1h"),
    DURATION("Resilience:ReadBackDelay", resilience.read_back_delay_us, "10s", "0s", "10m"),
    BOOL("Resilience:CircuitBreaker:Enabled", resilience.circuit_breaker.enabled, "true"),
    INT("Resilience:CircuitBreaker:Failures", resilience.circuit_breaker.failures,
        "10", "1", "1000"),
    DURATION("Resilience:CircuitBreaker:OpenFor", resilience.circuit_breaker.open_for_us,
             "30s", "1s", "1h"),
    DURATION("Resilience:CircuitBreaker:MaxOpenFor", resilience.circuit_breaker.open_max_us,
             "10m", "1s", "24h"),

    BOOL("AdaptiveRate:Enabled", adaptive_rate.enabled, "true"),
    CHOICE("AdaptiveRate:Policy", adaptive_rate.policy, "Budget",
           "Aimd", "Budget", "Dop", "Fixed"),
    OF_AIMD("Preset", CHOICE, preset,
            CHOICES("Balanced", "Conservative", "Balanced", "Aggressive")),
    /* When nothing was said, these two come from the preset. */
    OF_AIMD("ExecutionTimeCeilingFactor", INT, execution_time_ceiling_factor,
            RANGE(NULL, "1", "10000"), .alias = "Factor"),
    OF_AIMD("SlowBatchThresholdMs", INT, slow_batch_threshold_ms,
            RANGE(NULL, "0", "600000"), .alias = "Threshold"),
    INT("AdaptiveRate:FixedParallelism", adaptive_rate.fixed_parallelism, NULL, "1", PARALLEL_MAX),
    OF_AIMD("InitialParallelismFactor", REAL, initial_parallelism_factor,
            RANGE("0.5", "0.1", "1.0")),
    OF_AIMD("MinParallelism", INT, min_parallelism, RANGE("1", "1", PARALLEL_MAX)),
    OF_AIMD("IncreaseRate", INT, increase_rate, RANGE("2", "1", PARALLEL_MAX)),
    OF_AIMD("DecreaseFactor", REAL, decrease_factor, RANGE("0.5", "0.1", "0.9")),
    OF_AIMD("StabilizationBatches", INT, stabilization_batches, RANGE("3", "1", "1000")),
    OF_AIMD("MinIncreaseInterval", DURATION, min_increase_interval_us, RANGE("5s", "0s", "1h")),
    OF_AIMD("RecoveryMultiplier", REAL, recovery_multiplier, RANGE("2", "1", "10")),
    OF_AIMD("LastKnownGoodTTL", DURATION, last_known_good_ttl_us, RANGE("5m", "1s", "24h")),
    OF_AIMD("IdleResetPeriod", DURATION, idle_reset_period_us, RANGE("5m", "1s", "24h")),
    BOOL("AdaptiveRate:Budget:Explore", adaptive_rate.budget.explore, "false"),
    DURATION("AdaptiveRate:Budget:Window", adaptive_rate.budget.window_us, "5m", "1s", "1h"),

    INT("BulkOperations:MaxParallelBatches", bulk.max_parallel_batches, NULL, "1", IN_FLIGHT_MAX),

    DURATION("Http:ConnectTimeout", http.connect_timeout_us, "10s", "1ms", "10m"),
    DURATION("Http:FirstByteTimeout", http.first_byte_timeout_us, "4m", "1ms", "1h"),
    DURATION("Http:RequestTimeout", http.request_timeout_us, "5m", "1ms", "1h"),

    OF_CONNECTION("Name", TEXT, name, .max = DIGITS(WEIR_CONNECTION_NAME_MAX), .is_name = true),
    OF_CONNECTION("ClientId", TEXT, client_id),
    OF_CONNECTION("ClientSecret", TEXT, client_secret, CREDENTIAL, .sight = WEIR_SIGHT_NOTHING),
    OF_CONNECTION("ClientSecretFile", TEXT, client_secret_file, CREDENTIAL, FILE_NAME),
    OF_CONNECTION("ClientSecretEnv", TEXT, client_secret_env, CREDENTIAL),
    OF_CONNECTION("ClientSecretCommand", TEXT, client_secret_command, CREDENTIAL),
    OF_CONNECTION("CertificateFile", TEXT, certificate_file, CREDENTIAL, FILE_NAME),
    OF_CONNECTION("CertificateAlgorithm", CHOICE, certificate_algorithm,
                  CHOICES("PS256", "PS256", "RS256")),
    OF_CONNECTION("ManagedIdentity", BOOL, managed_identity, .value = "false", CREDENTIAL),
    OF_CONNECTION("FederatedTokenFile", TEXT, federated_token_file,
                  CREDENTIAL, FILE_NAME),
    OF_CONNECTION("TokenCommand", TEXT, token_command, CREDENTIAL),
    OF_CONNECTION("AccessToken", TEXT, access_token, CREDENTIAL, .sight = WEIR_SIGHT_NOTHING),
    OF_CONNECTION("AccessTokenFile", TEXT, access_token_file, CREDENTIAL, FILE_NAME),
};
/* clang-format on */

const size_t weir_key_count = sizeof(weir_keys) / sizeof(weir_keys[0]);

/* ---- paths ---- */

/* The first segment of *rest, which is moved behind its colon; ptr NULL: there was no more. */
static struct weir_str next_segment(struct weir_str *rest)
{
    if (!rest->ptr)
        return *rest;
    const char *colon = memchr(rest->ptr, ':', rest->len);
    struct weir_str segment = weir_str(rest->ptr, colon ? (size_t)(colon - rest->ptr) : rest->len);
    *rest = colon ? weir_str(colon + 1, rest->len - segment.len - 1) : weir_str(NULL, 0);
    return segment;
}

/* What comes before the last segment, and the last segment. */
static void split_last(struct weir_str path, struct weir_str *ret_before, struct weir_str *ret_last)
{
    const char *colon = path.len ? memrchr(path.ptr, ':', path.len) : NULL;
    size_t before = colon ? (size_t)(colon - path.ptr) : 0;
    *ret_before = weir_str(path.ptr, before);
    *ret_last = colon ? weir_str(colon + 1, path.len - before - 1) : path;
}

/* `0`, `17`, but not `017`: a number can be spelled in one way only. */
static bool is_number(struct weir_str segment)
{
    for (size_t i = 0; i < segment.len; i++) {
        if (segment.ptr[i] < '0' || segment.ptr[i] > '9')
            return false;
    }
    return segment.len && (segment.ptr[0] != '0' || segment.len == 1);
}

static bool match_segment(struct weir_str pattern, struct weir_str segment, size_t *connection)
{
    if (!weir_str_equal(pattern, weir_str("#", 1)))
        return weir_str_equal_nocase(pattern, segment);
    if (!is_number(segment))
        return false;
    int64_t number;
    bool fits = weir_str_to_int64(segment, &number) && number < WEIR_CONNECTIONS_MAX;
    *connection = fits ? (size_t)number : WEIR_CONNECTIONS_MAX;
    return true;
}

/* How `path`, below the root, relates to one key. */
static enum weir_key_shape match(const struct weir_key *key, struct weir_str path,
                                 struct weir_key_ref *ref)
{
    *ref = (struct weir_key_ref){ .key = key };
    struct weir_str pattern = weir_str_from(key->path);
    for (;;) {
        struct weir_str want = next_segment(&pattern);
        struct weir_str have = next_segment(&path);
        ref->by_alias =
            !pattern.ptr && key->alias && weir_str_equal_nocase(have, weir_str_from(key->alias));
        if (!ref->by_alias && !match_segment(want, have, &ref->connection))
            return WEIR_SHAPE_UNKNOWN;
        if (ref->connection == WEIR_CONNECTIONS_MAX)
            return WEIR_SHAPE_TOO_MANY;
        if (!pattern.ptr)
            return path.ptr ? WEIR_SHAPE_UNKNOWN : WEIR_SHAPE_VALUE;
        if (!path.ptr)
            break;
    }
    return pattern.ptr && pattern.ptr[0] == '#' ? WEIR_SHAPE_LIST : WEIR_SHAPE_SECTION;
}

enum weir_key_shape weir_key_look(struct weir_str path, struct weir_key_ref *ret)
{
    if (!weir_str_equal_nocase(next_segment(&path), weir_str_from(WEIR_KEY_ROOT)))
        return WEIR_SHAPE_UNKNOWN;
    if (!path.ptr)
        return WEIR_SHAPE_SECTION;
    for (size_t i = 0; i < weir_key_count; i++) {
        struct weir_key_ref ref;
        enum weir_key_shape shape = match(&weir_keys[i], path, &ref);
        if (shape == WEIR_SHAPE_VALUE)
            *ret = ref;
        if (shape != WEIR_SHAPE_UNKNOWN)
            return shape;
    }
    return WEIR_SHAPE_UNKNOWN;
}

struct weir_key_name weir_key_name(struct weir_key_ref ref)
{
    struct weir_str section;
    struct weir_str last;
    split_last(weir_str_from(ref.key->path), &section, &last);
    if (ref.by_alias)
        last = weir_str_from(ref.key->alias);

    struct weir_key_name name;
    if (weir_key_of_connection(ref.key))
        snprintf(name.text, sizeof(name.text), "%s:Connections:%zu:%.*s", WEIR_KEY_ROOT,
                 ref.connection, (int)last.len, last.ptr);
    else
        snprintf(name.text, sizeof(name.text), "%s:%.*s%s%.*s", WEIR_KEY_ROOT, (int)section.len,
                 section.ptr, section.len ? ":" : "", (int)last.len, last.ptr);
    return name;
}

const struct weir_key *weir_key_named(const char *path)
{
    for (size_t i = 0; i < weir_key_count; i++) {
        if (strcmp(weir_keys[i].path, path) == 0)
            return &weir_keys[i];
    }
    assert(false && "a key of the table");
    return NULL;
}

/* ---- the nearest key ---- */

/* The section counts little: the right key in the wrong place is worth a hint. SIZE_MAX: not close.
 */
static size_t remoteness(struct weir_str path, struct weir_str pattern)
{
    struct weir_str section[2];
    struct weir_str last[2];
    split_last(path, &section[0], &last[0]);
    split_last(pattern, &section[1], &last[1]);
    size_t wrong = weir_str_distance(last[0], last[1]);
    if (wrong > weir_str_tolerance(last[1]))
        return SIZE_MAX;
    size_t elsewhere = weir_str_distance(section[0], section[1]);
    return wrong + (elsewhere < 2 ? elsewhere : 2);
}

/* The number of the connection that a path speaks of, if it does. */
static size_t connection_of(struct weir_str path)
{
    for (;;) {
        struct weir_str segment = next_segment(&path);
        size_t connection = 0;
        if (!segment.ptr)
            return 0;
        if (match_segment(weir_str("#", 1), segment, &connection))
            return connection;
    }
}

bool weir_key_nearest(struct weir_str path, struct weir_key_ref *ret)
{
    next_segment(&path);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < weir_key_count; i++) {
        size_t remote = remoteness(path, weir_str_from(weir_keys[i].path));
        if (remote < best) {
            best = remote;
            *ret = (struct weir_key_ref){ .key = &weir_keys[i] };
        }
    }
    if (best == SIZE_MAX)
        return false;
    if (weir_key_of_connection(ret->key))
        ret->connection = connection_of(path);
    return true;
}
