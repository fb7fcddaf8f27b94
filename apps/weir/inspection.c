/* SPDX-License-Identifier: MIT */
/* What is to be known of the connections; see inspection.h. */
#include "inspection.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/credential.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/quote.h"
#include "exit_code.h"
#include "say.h"
#include "text_table.h"

/* First contact: whoever does not answer within this does not answer. */
#define PATIENCE_US (15 * WEIR_US_PER_S)

#define THREADS_MAX 8

/* --- asking ----------------------------------------------------------------------------------- */

static enum weir_status ask(struct weir_client *client, const char *path, struct weir_response *ret,
                            struct weir_error *err)
{
    struct weir_request request = { .method = "GET", .path = path };
    return weir_execute(client, &request, ret, err);
}

static void ask_who(struct weir_client *client, struct inspected *row)
{
    struct weir_response response;
    row->status = ask(client, "WhoAmI", &response, &row->err);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(client), &stats);
    row->answered = stats.requests_served > 0;
    if (!row->status) {
        row->answer = response.answer;
        row->status =
            weir_answer_whoami(weir_str(response.body, response.body_bytes), &row->who, &row->err);
    }
    weir_response_release(&response);
}

/* Roles are for information: a user who may not read them works all the same. */
static void ask_roles(struct weir_client *client, struct inspected *row)
{
    char path[160];
    char id[WEIR_GUID_TEXT];
    snprintf(path, sizeof(path), "systemusers(%s)/systemuserroles_association?$select=name",
             weir_guid_print(&row->who.user_id, id));
    struct weir_response response;
    if (ask(client, path, &response, NULL) == WEIR_OK)
        row->roles_known =
            role_set_read(&row->roles, weir_str(response.body, response.body_bytes)) == WEIR_OK;
    weir_response_release(&response);
}

static int64_t shorter(int64_t a_us, int64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

/* The options with one connection, and without patience: a throttle is shown, not waited for. */
static struct weir_options options_for(const struct weir_options *all, size_t connection)
{
    struct weir_options options = *all;
    options.connections = &all->connections[connection];
    options.connection_count = 1;
    options.pool.max_retry_after_tolerance_us = 0;
    options.resilience.max_throttle_retries = 1;
    options.http.connect_timeout_us = shorter(all->http.connect_timeout_us, PATIENCE_US);
    options.http.first_byte_timeout_us = shorter(all->http.first_byte_timeout_us, PATIENCE_US);
    options.http.request_timeout_us = shorter(all->http.request_timeout_us, PATIENCE_US);
    return options;
}

static void inspect(void *ctx, const struct inspection *it, size_t connection)
{
    struct weir_options options = options_for(it->settings->options, connection);
    struct inspected *row = &it->rows[connection];
    const struct weir_log_sink *sink = &it->settings->sink;
    struct weir_client *client;
    (void)ctx;
    if (sink->level <= WEIR_LOG_WARNING) /* what is wrong is said of the row, once */
        sink = NULL;
    row->name = it->settings->options->connections[connection].name;
    row->status = weir_client_new(&options, sink, &client, &row->err);
    if (row->status)
        return;
    ask_who(client, row);
    if (!row->status)
        ask_roles(client, row);
    weir_client_free(client);
}

/* --- several at once -------------------------------------------------------------------------- */

/* One task for each connection, and threads that take one after the other. */
struct crew {
    const struct inspection *it;
    void (*task)(void *ctx, const struct inspection *it, size_t connection);
    void *ctx;
    size_t next; /* atomic: whose turn it is */
};

static void *work(void *ctx)
{
    struct crew *crew = ctx;
    for (;;) {
        size_t i = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);
        if (i >= crew->it->count)
            return NULL;
        crew->task(crew->ctx, crew->it, i);
    }
}

/* A thread that cannot be had is not needed: this one works too. */
static void set_to_work(struct crew *crew)
{
    pthread_t threads[THREADS_MAX];
    size_t running = 0;
    while (running < THREADS_MAX && running + 1 < crew->it->count &&
           pthread_create(&threads[running], NULL, work, crew) == 0)
        running++;
    work(crew);
    while (running > 0)
        pthread_join(threads[--running], NULL);
}

struct visiting {
    inspection_visit *visit;
    void *ctx;
};

/* What has worked before may be refused now; then there is nothing to ask. What goes wrong is the
 * visitor's to say. */
static void visit(void *ctx, const struct inspection *it, size_t connection)
{
    const struct visiting *visiting = ctx;
    struct weir_options options = options_for(it->settings->options, connection);
    struct weir_client *client;
    if (it->rows[connection].status || weir_client_new(&options, NULL, &client, NULL))
        return;
    visiting->visit(visiting->ctx, client, connection);
    weir_client_free(client);
}

void inspection_each(const struct inspection *it, inspection_visit *fn, void *ctx)
{
    struct visiting visiting = { .visit = fn, .ctx = ctx };
    struct crew crew = { .it = it, .task = visit, .ctx = &visiting };
    set_to_work(&crew);
}

void inspection_init(struct inspection *it, const struct settings *settings)
{
    *it = (struct inspection){
        .settings = settings,
        .count = settings->options->connection_count,
    };
    it->rows = weir_calloc(it->count, sizeof(*it->rows));
    struct crew crew = { .it = it, .task = inspect };
    set_to_work(&crew);
}

void inspection_release(struct inspection *it)
{
    for (size_t i = 0; i < it->count; i++)
        role_set_release(&it->rows[i].roles);
    free(it->rows);
    *it = (struct inspection){ 0 };
}

size_t inspection_working(const struct inspection *it)
{
    size_t working = 0;
    for (size_t i = 0; i < it->count; i++)
        working += it->rows[i].status == WEIR_OK;
    return working;
}

/* --- showing ---------------------------------------------------------------------------------- */

static const char *state_of(const struct inspected *row)
{
    switch (row->status) {
    case WEIR_OK:
        return "ok";
    case WEIR_E_SERVICE_PROTECTION:
        return "throttled";
    case WEIR_E_CREDENTIALS:
        return row->answered ? "refused" : "no token";
    case WEIR_E_UNAVAILABLE:
        return "unreachable";
    case WEIR_E_REFUSED:
        return "refused";
    default:
        return "unusable";
    }
}

/* Whatever else is wrong with a connection is wrong with the configuration. */
static int code_of(const struct inspected *row)
{
    int code = row->status ? exit_code_of(&row->err) : EXIT_DONE;
    return code == EXIT_INTERNAL ? EXIT_USAGE : code;
}

/* "-": the service did not say. */
static void number_text(bool known, int64_t number, const char *unit, char *text, size_t text_bytes)
{
    if (known)
        snprintf(text, text_bytes, "%" PRId64 "%s", number, unit);
    else
        snprintf(text, text_bytes, "-");
}

static void add_row(const struct inspection *it, size_t i, struct text_table *table)
{
    const struct inspected *row = &it->rows[i];
    const struct weir_budget_headers *budget = &row->answer.budget;
    bool ok = row->status == WEIR_OK;
    char hint[16], requests[32], seconds[32], latency[32], user[WEIR_GUID_TEXT] = "-";
    if (ok)
        weir_guid_print(&row->who.user_id, user);
    number_text(ok && budget->dop_hint, budget->dop_hint, "", hint, sizeof(hint));
    number_text(ok && budget->requests_known, budget->requests_remaining, "", requests,
                sizeof(requests));
    number_text(ok && budget->execution_known, budget->execution_remaining_us / WEIR_US_PER_S, " s",
                seconds, sizeof(seconds));
    number_text(ok, row->answer.duration_us / WEIR_US_PER_MS, " ms", latency, sizeof(latency));
    const char *const cells[] = {
        row->name,     weir_credential_kind_name(&it->settings->options->connections[i]),
        state_of(row), user,
        hint,          requests,
        seconds,       latency,
    };
    for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
        text_table_add(table, cells[k]);
}

void inspection_print_table(const struct inspection *it)
{
    static const struct text_table_column columns[] = {
        { "CONNECTION", false, 0 }, { "CREDENTIAL", false, 0 }, { "STATE", false, 0 },
        { "USER", false, 0 },       { "HINT", true, 0 },        { "REQUESTS LEFT", true, 0 },
        { "TIME LEFT", true, 0 },   { "ANSWER", true, 0 },
    };
    struct text_table table;
    text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < it->count; i++)
        add_row(it, i, &table);
    text_table_print(&table, stdout);
    text_table_release(&table);
}

/* Users of different organisations would write into different databases. */
static bool same_organisation(const struct inspection *it)
{
    const struct weir_guid *first = NULL;
    for (size_t i = 0; i < it->count; i++) {
        const struct weir_guid *organisation = &it->rows[i].who.organization_id;
        if (it->rows[i].status != WEIR_OK)
            continue;
        if (first && !weir_guid_equal(first, organisation))
            return false;
        first = organisation;
    }
    return true;
}

/* Against the first other connection that has a role which this one lacks: that says enough. */
static void say_role_difference(const struct inspection *it, const struct inspected *row)
{
    bool found = false;
    for (size_t i = 0; i < it->count && !found; i++) {
        const struct inspected *other = &it->rows[i];
        const char *role;
        for (size_t at = 0; (role = role_set_lacking(&row->roles, &other->roles, &at)); at++) {
            say_wrapped("%s: lacks the role %s, which %s has", row->name,
                        weir_quote(weir_str_from(role)).text, other->name);
            found = true;
        }
    }
}

/* Some messages name the connection themselves. */
static void say_problem(const struct inspected *row)
{
    char named[WEIR_CONNECTION_NAME_MAX + 16];
    snprintf(named, sizeof(named), "connection \"%s\"", row->name);
    bool is_named = strncmp(row->err.message, named, strlen(named)) == 0;
    say_wrapped("%s%s%s", is_named ? "" : row->name, is_named ? "" : ": ", row->err.message);
}

static bool has_same_roles(const struct inspected *a, const struct inspected *b)
{
    size_t here = 0, there = 0;
    return !role_set_lacking(&a->roles, &b->roles, &here) &&
           !role_set_lacking(&b->roles, &a->roles, &there);
}

enum inspection_roles inspection_roles(const struct inspection *it)
{
    enum inspection_roles found = INSPECTION_ROLES_ALIKE;
    const struct inspected *first = NULL;
    for (size_t i = 0; i < it->count; i++) {
        const struct inspected *row = &it->rows[i];
        if (row->status)
            continue;
        if (!row->roles_known)
            return INSPECTION_ROLES_UNKNOWN;
        if (first && !has_same_roles(first, row))
            found = INSPECTION_ROLES_DIFFER;
        first = first ? first : row;
    }
    return found;
}

int inspection_say_findings(const struct inspection *it)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < it->count; i++) {
        const struct inspected *row = &it->rows[i];
        code = exit_code_worse(code, code_of(row));
        if (row->status)
            say_problem(row);
        else if (row->roles_known)
            say_role_difference(it, row);
        else
            say_wrapped("%s: its roles could not be read", row->name);
    }
    if (!same_organisation(it)) {
        say_wrapped("the connections belong to different organisations");
        code = exit_code_worse(code, EXIT_USAGE);
    }
    return code;
}
