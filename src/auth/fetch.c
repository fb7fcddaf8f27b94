/* SPDX-License-Identifier: MIT */
/* Getting one token; see fetch.h. */
#include "auth/fetch.h"

#include <stdio.h>

#include "auth/authority.h"
#include "auth/challenge.h"
#include "auth/form.h"
#include "auth/secret_source.h"
#include "auth/token_verdict.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/quote.h"
#include "net/child.h"
#include "net/transport.h"

#define FORM_BYTES_MAX   (4 * WEIR_SECRET_BYTES_MAX) /* escaped: three bytes for one */
#define TARGET_BYTES_MAX (4 * WEIR_CONFIG_TEXT_MAX)
#define PROBE_TARGET     "/api/data/v9.2/WhoAmI"
#define IDENTITY_TARGET  "/metadata/identity/oauth2/token?api-version=2018-02-01&"
#define ASSERTION_TYPE   "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef void step(struct weir_fetch *fetch);

struct weir_fetch {
    struct weir_loop *loop;
    struct weir_fetch_options options;
    const struct weir_connection_options *connection;
    weir_fetch_done *done;
    void *ctx;
    int64_t begun_us;
    int64_t deadline_us;
    struct weir_timer turn; /* runs the next step */
    step *next;
    bool closing; /* what net calls back from now on is not for us */

    /* What the steps are using. */
    struct weir_transport *transport;
    struct weir_child *child;
    char *tenant;
    char *origin;             /* of whoever is asked */
    struct weir_quoted who;   /* the same, for messages */
    struct weir_buf target;   /* path and query */
    struct weir_secret proof; /* client secret or assertion */
    struct weir_buf form;
    struct weir_str body;

    /* How it ended. */
    enum weir_status status;
    struct weir_token_grant grant;
    int64_t number;
    struct weir_error err;
};

/* --- from step to step ------------------------------------------------------------------------ */

static void go(struct weir_fetch *fetch, step *next)
{
    fetch->next = next;
    weir_timer_set(&fetch->turn, weir_loop_now_us(fetch->loop));
}

static void on_turn(struct weir_timer *turn)
{
    struct weir_fetch *fetch =
        (struct weir_fetch *)((char *)turn - offsetof(struct weir_fetch, turn));
    weir_transport_free(fetch->transport);
    fetch->transport = NULL;
    fetch->next(fetch);
}

static void tell(struct weir_fetch *fetch)
{
    const struct weir_fetch_answer answer = {
        .status = fetch->status,
        .grant = &fetch->grant,
        .err = &fetch->err,
        .number = fetch->number,
        .tenant = fetch->tenant,
        .begun_us = fetch->begun_us,
    };
    fetch->done(fetch->ctx, &answer);
}

/* fetch->err says why if the status is not WEIR_OK. */
static void end(struct weir_fetch *fetch, enum weir_status status)
{
    fetch->status = status;
    go(fetch, tell);
}

/*
 * What is wrong on our side of the wire (a file, a variable, a setting) does not mend itself by
 * asking again soon: it is an unusable credential, whatever else it is.
 */
static void end_unusable(struct weir_fetch *fetch)
{
    fetch->err.status = WEIR_E_CREDENTIALS;
    end(fetch, WEIR_E_CREDENTIALS);
}

static int64_t left_us(const struct weir_fetch *fetch)
{
    int64_t left = fetch->deadline_us - weir_loop_now_us(fetch->loop);
    return left > 1 ? left : 1;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Send to fetch->origin; false: it cannot be, and the fetch is ending. */
static bool send(struct weir_fetch *fetch, const struct weir_exchange_request *request,
                 weir_exchange_done *done)
{
    const struct weir_options *options = fetch->options.options;
    int64_t left = left_us(fetch);
    int64_t connect_us = options->http.connect_timeout_us;
    struct weir_transport_options transport = {
        .origin = fetch->origin,
        .connection_name = fetch->connection->name,
        .proxy = options->proxy,
        .ca_file = options->ca_file,
        .link_local = fetch->options.kind == WEIR_CREDENTIAL_MANAGED_IDENTITY,
        .http = { .connect_timeout_us = connect_us > 0 && connect_us < left ? connect_us : left,
                  .first_byte_timeout_us = left,
                  .request_timeout_us = left },
        .answer_bytes_max = WEIR_TOKEN_ANSWER_BYTES_MAX,
        .sink = fetch->options.sink,
    };
    if (weir_transport_new(fetch->loop, &transport, &fetch->transport, &fetch->err)) {
        end_unusable(fetch);
        return false;
    }
    weir_transport_send(fetch->transport, request, done, fetch);
    return true;
}

static void set_origin(struct weir_fetch *fetch, struct weir_str url)
{
    size_t slash = url.len && url.ptr[url.len - 1] == '/';
    free(fetch->origin);
    fetch->origin = weir_strndup(url.ptr, url.len - slash);
    fetch->who = weir_quote(weir_str_from(fetch->origin));
}

/* Names that must not be seen by a command: those of all connections, and what else is said. */
static const char **hidden_names(const struct weir_options *options, size_t *ret_count)
{
    const char **names =
        weir_calloc(options->connection_count + options->secret_variable_count, sizeof(*names));
    for (size_t i = 0; i < options->secret_variable_count; i++)
        names[i] = options->secret_variables[i];
    *ret_count = options->secret_variable_count;
    for (size_t i = 0; i < options->connection_count; i++) {
        if (options->connections[i].client_secret_env)
            names[(*ret_count)++] = options->connections[i].client_secret_env;
    }
    return names;
}

static void run(struct weir_fetch *fetch, const char *command, weir_child_done *done)
{
    struct weir_child_options options = {
        .command = command,
        .timeout_us = left_us(fetch),
        .output_bytes_max = WEIR_SECRET_BYTES_MAX,
    };
    const char **hidden = hidden_names(fetch->options.options, &options.hidden_count);
    options.hidden = hidden;
    fetch->child = weir_child_run(fetch->loop, &options, done, fetch);
    free(hidden);
}

/* A command may fail because something that it asks is down: that passes. */
static void end_command(struct weir_fetch *fetch, const char *which, const char *why)
{
    weir_fail(&fetch->err, WEIR_E_UNAVAILABLE, "the %s failed: %s", which, why);
    fetch->err.retryable = true;
    end(fetch, WEIR_E_UNAVAILABLE);
}

/* The answer's bytes are net's, but only until we return: what is in them is ours to wipe. */
static void judge(struct weir_fetch *fetch, const struct weir_exchange_answer *answer,
                  const char *whose)
{
    char who[sizeof(fetch->who.text) + 32];
    snprintf(who, sizeof(who), "the %s %s", whose, fetch->who.text);
    const struct weir_token_verdict_ask ask = {
        .who = who,
        .secret = weir_secret_str(&fetch->proof),
        .machine = fetch->options.kind == WEIR_CREDENTIAL_MANAGED_IDENTITY,
        .wall_us = weir_clock_wall_us(),
    };
    enum weir_status status =
        weir_token_verdict(answer, &ask, &fetch->grant, &fetch->number, &fetch->err);
    explicit_bzero((char *)(uintptr_t)answer->body.ptr, answer->body.len);
    end(fetch, status);
}

/* --- logging in ------------------------------------------------------------------------------- */

static void on_login(void *ctx, const struct weir_exchange_answer *answer)
{
    struct weir_fetch *fetch = ctx;
    if (!fetch->closing)
        judge(fetch, answer, "login service");
}

static void fill_form(struct weir_fetch *fetch)
{
    struct weir_buf scope;
    weir_buf_init(&scope, TARGET_BYTES_MAX);
    weir_authority_add_scope(&scope, fetch->options.options);
    weir_secret_buf_init(&fetch->form, FORM_BYTES_MAX);
    weir_form_add(&fetch->form, "client_id", weir_str_from(fetch->connection->client_id));
    weir_form_add(&fetch->form, "scope", weir_str(scope.ptr, scope.len));
    weir_form_add(&fetch->form, "grant_type", weir_str_from("client_credentials"));
    weir_buf_release(&scope);
    if (fetch->options.kind == WEIR_CREDENTIAL_SECRET) {
        weir_form_add(&fetch->form, "client_secret", weir_secret_str(&fetch->proof));
        return;
    }
    weir_form_add(&fetch->form, "client_assertion_type", weir_str_from(ASSERTION_TYPE));
    weir_form_add(&fetch->form, "client_assertion", weir_secret_str(&fetch->proof));
}

static void log_in(struct weir_fetch *fetch)
{
    static const char *const headers[] = {
        "Content-Type: application/x-www-form-urlencoded",
        "Accept: application/json",
    };
    fill_form(fetch);
    if (fetch->form.overflow) {
        weir_fail(&fetch->err, WEIR_E_TOO_BIG, "the credential is too long to be sent");
        end_unusable(fetch);
        return;
    }
    fetch->body = weir_str(fetch->form.ptr, fetch->form.len);
    struct weir_exchange_request request = {
        .method = "POST",
        .target = weir_buf_text(&fetch->target),
        .headers = headers,
        .header_count = COUNT(headers),
        .body = &fetch->body,
        .body_count = 1,
    };
    send(fetch, &request, on_login);
}

/* --- gathering -------------------------------------------------------------------------------- */

static void on_secret(void *ctx, const struct weir_child_answer *answer)
{
    struct weir_fetch *fetch = ctx;
    fetch->child = NULL;
    if (answer->status) {
        end_command(fetch, "ClientSecretCommand", answer->detail);
        return;
    }
    if (weir_secret_read_text("what the ClientSecretCommand printed", answer->output, &fetch->proof,
                              &fetch->err))
        end_unusable(fetch);
    else
        go(fetch, log_in);
}

static enum weir_status make_assertion(struct weir_fetch *fetch)
{
    struct weir_buf audience;
    weir_buf_init(&audience, TARGET_BYTES_MAX);
    weir_buf_printf(&audience, "%s%s", fetch->origin, weir_buf_text(&fetch->target));
    enum weir_status status =
        weir_credential_assert(fetch->connection, weir_buf_text(&audience), weir_clock_wall_us(),
                               fetch->options.chance, &fetch->proof, &fetch->err);
    weir_buf_release(&audience);
    return status;
}

static enum weir_status make_proof(struct weir_fetch *fetch)
{
    switch (fetch->options.kind) {
    case WEIR_CREDENTIAL_SECRET:
        return weir_credential_read_secret(fetch->connection, &fetch->proof, &fetch->err);
    case WEIR_CREDENTIAL_CERTIFICATE:
        return make_assertion(fetch);
    default:
        return weir_secret_read_file(fetch->connection->federated_token_file, WEIR_FILE_ANYBODYS,
                                     &fetch->proof, &fetch->err);
    }
}

static void gather(struct weir_fetch *fetch)
{
    char *origin;
    if (weir_authority_origin(fetch->options.options, &origin, &fetch->err)) {
        end_unusable(fetch);
        return;
    }
    set_origin(fetch, weir_str_from(origin));
    free(origin);
    weir_buf_reset(&fetch->target);
    weir_authority_add_target(&fetch->target, fetch->tenant);
    if (fetch->connection->client_secret_command)
        run(fetch, fetch->connection->client_secret_command, on_secret);
    else if (make_proof(fetch))
        end_unusable(fetch);
    else
        log_in(fetch);
}

/* --- discovering the tenant ------------------------------------------------------------------- */

static void on_challenge(void *ctx, const struct weir_exchange_answer *answer)
{
    struct weir_fetch *fetch = ctx;
    if (fetch->closing)
        return;
    char who[sizeof(fetch->who.text) + 32];
    snprintf(who, sizeof(who), "the service %s", fetch->who.text);
    if (answer->ending != WEIR_ENDING_COMPLETE || weir_token_passing(answer->status)) {
        end(fetch, weir_token_unavailable(answer, who, &fetch->err));
        return;
    }
    if (answer->status != 401) {
        weir_fail(&fetch->err, WEIR_E_CREDENTIALS,
                  "%s answered %d instead of naming its tenant; give \"Dataverse:TenantId\"", who,
                  answer->status);
        fetch->err.http_status = answer->status;
        end_unusable(fetch);
        return;
    }
    if (weir_challenge_tenant(answer->headers, answer->header_count, fetch->options.options,
                              &fetch->tenant, &fetch->err))
        end_unusable(fetch);
    else
        go(fetch, gather);
}

/* Without a token: the service says no, and where to get one. */
static void discover(struct weir_fetch *fetch)
{
    static const char *const headers[] = { "Accept: application/json" };
    static const struct weir_exchange_request request = {
        .method = "GET",
        .target = PROBE_TARGET,
        .headers = headers,
        .header_count = COUNT(headers),
    };
    set_origin(fetch, weir_str_from(fetch->options.options->url));
    send(fetch, &request, on_challenge);
}

/* --- other ways ------------------------------------------------------------------------------- */

static void on_identity(void *ctx, const struct weir_exchange_answer *answer)
{
    struct weir_fetch *fetch = ctx;
    if (!fetch->closing)
        judge(fetch, answer, "managed identity endpoint");
}

static void ask_machine(struct weir_fetch *fetch)
{
    static const char *const headers[] = { "Metadata: true" };
    const struct weir_options *options = fetch->options.options;
    struct weir_str url = weir_str_from(options->url);
    struct weir_buf resource;
    weir_buf_init(&resource, TARGET_BYTES_MAX);
    weir_buf_add(&resource, url.ptr, url.len - (url.ptr[url.len - 1] == '/'));
    weir_buf_add_char(&resource, '/');
    weir_buf_add_text(&fetch->target, IDENTITY_TARGET "resource=");
    weir_form_encode(&fetch->target, weir_str(resource.ptr, resource.len));
    weir_buf_release(&resource);
    if (fetch->connection->client_id)
        weir_form_add(&fetch->target, "client_id", weir_str_from(fetch->connection->client_id));
    set_origin(fetch, weir_str_from(options->managed_identity_endpoint));
    struct weir_exchange_request request = {
        .method = "GET",
        .target = weir_buf_text(&fetch->target),
        .headers = headers,
        .header_count = COUNT(headers),
    };
    send(fetch, &request, on_identity);
}

static void on_token(void *ctx, const struct weir_child_answer *answer)
{
    struct weir_fetch *fetch = ctx;
    struct weir_error why;
    fetch->child = NULL;
    if (answer->status)
        end_command(fetch, "TokenCommand", answer->detail);
    else if (weir_token_text_read(answer->output, weir_clock_wall_us(), &fetch->grant, &why))
        end_command(fetch, "TokenCommand", why.message);
    else
        end(fetch, WEIR_OK);
}

static void ask_command(struct weir_fetch *fetch)
{
    run(fetch, fetch->connection->token_command, on_token);
}

static void read_token(struct weir_fetch *fetch)
{
    struct weir_secret text = { 0 };
    enum weir_status status = weir_credential_read_token(fetch->connection, &text, &fetch->err);
    if (status == WEIR_OK)
        status = weir_token_text_read(weir_secret_str(&text), weir_clock_wall_us(), &fetch->grant,
                                      &fetch->err);
    weir_secret_release(&text);
    if (status)
        end_unusable(fetch);
    else
        end(fetch, WEIR_OK);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static step *first_step(const struct weir_fetch *fetch)
{
    switch (fetch->options.kind) {
    case WEIR_CREDENTIAL_MANAGED_IDENTITY:
        return ask_machine;
    case WEIR_CREDENTIAL_COMMAND:
        return ask_command;
    case WEIR_CREDENTIAL_STATIC:
        return read_token;
    default:
        return fetch->tenant ? gather : discover;
    }
}

struct weir_fetch *weir_fetch_begin(struct weir_loop *loop,
                                    const struct weir_fetch_options *options, weir_fetch_done *done,
                                    void *ctx)
{
    struct weir_fetch *fetch = weir_calloc(1, sizeof(*fetch));
    int64_t most_us = options->options->http.request_timeout_us;
    if (most_us <= 0 || most_us > WEIR_TOKEN_FETCH_MAX_US)
        most_us = WEIR_TOKEN_FETCH_MAX_US;
    fetch->loop = loop;
    fetch->options = *options;
    fetch->connection = &options->options->connections[options->connection];
    fetch->done = done;
    fetch->ctx = ctx;
    fetch->begun_us = weir_loop_now_us(loop);
    fetch->deadline_us = weir_time_add(fetch->begun_us, most_us);
    fetch->tenant = options->tenant ? weir_strdup(options->tenant) : NULL;
    weir_buf_init(&fetch->target, TARGET_BYTES_MAX);
    weir_timer_init(&fetch->turn, loop, on_turn);
    go(fetch, first_step(fetch));
    return fetch;
}

void weir_fetch_free(struct weir_fetch *fetch)
{
    if (!fetch)
        return;
    fetch->closing = true;
    weir_timer_release(&fetch->turn);
    weir_transport_free(fetch->transport);
    if (fetch->child)
        weir_child_cancel(fetch->child);
    weir_secret_release(&fetch->proof);
    weir_secret_buf_release(&fetch->form);
    weir_buf_release(&fetch->target);
    weir_token_grant_release(&fetch->grant);
    free(fetch->tenant);
    free(fetch->origin);
    free(fetch);
}
