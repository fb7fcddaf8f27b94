/* SPDX-License-Identifier: MIT */
/*
 * The smallest program on libweir: reads an appsettings.json, asks Dataverse who we are, and
 * creates an account. Throttles, tokens and the choice of a connection are the library's.
 *
 *     cc whoami.c $(pkg-config --cflags --libs weir) && ./a.out appsettings.json
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

static int fail(const char *what, const struct weir_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    if (!err->outcome_known)
        fprintf(stderr, "%s: it may have been executed all the same\n", what);
    return 1;
}

static int show(struct weir_client *client, const struct weir_request *request)
{
    struct weir_response response;
    struct weir_error err;
    if (weir_execute(client, request, &response, &err) != WEIR_OK)
        return fail(request->path, &err);
    printf("%s %s: HTTP %d through %s after %d request%s\n%s\n", request->method, request->path,
           response.status, response.connection, response.requests,
           response.requests == 1 ? "" : "s", response.body);
    weir_response_release(&response);
    return 0;
}

int main(int argc, char **argv)
{
    static const char account[] = "{\"name\": \"Contoso\"}";
    struct weir_request who = { .method = "GET", .path = "WhoAmI" };
    struct weir_request create = {
        .method = "POST", .path = "accounts", .body = account, .body_bytes = strlen(account)
    };
    struct weir_config *config = weir_config_new();
    const struct weir_options *options;
    struct weir_client *client = NULL;
    struct weir_error err;
    int code = 1;

    if (weir_config_read_file(config, argc > 1 ? argv[1] : "appsettings.json", &err) != WEIR_OK ||
        weir_config_finish(config, &options, &err) != WEIR_OK ||
        weir_client_new(options, NULL, &client, &err) != WEIR_OK)
        fail("settings", &err);
    else
        code = show(client, &who) || show(client, &create);

    weir_client_free(client);
    weir_config_free(config);
    return code;
}
