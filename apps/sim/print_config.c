/* SPDX-License-Identifier: MIT */
/* An appsettings.json for clients of the simulator; see print_config.h. */
#include "sim/print_config.h"

#include "sim/tokens/tokens.h"

#define TENANT "contoso"

static void add_connection(struct weir_buf *json, uint32_t user, bool last)
{
    char secret[128];
    weir_buf_printf(
        json, "      { \"Name\": \"app%u\", \"ClientId\": \"app%u\", \"ClientSecret\": ", user + 1,
        user + 1);
    weir_buf_add_json_string(json, weir_str_from(sim_tokens_secret(user, secret, sizeof(secret))));
    weir_buf_add_text(json, last ? " }\n" : " },\n");
}

void sim_print_config(struct weir_buf *json, const char *url, uint32_t users, const char *ca_file)
{
    weir_buf_add_text(json, "{\n  \"Dataverse\": {\n");
    weir_buf_printf(json, "    \"Url\": \"%s\",\n    \"TenantId\": \"" TENANT "\",\n", url);
    weir_buf_printf(json, "    \"Authority\": \"%s\",\n", url);
    if (ca_file) {
        weir_buf_add_text(json, "    \"CaFile\": ");
        weir_buf_add_json_string(json, weir_str_from(ca_file));
        weir_buf_add_text(json, ",\n");
    }
    weir_buf_add_text(json, "    \"Connections\": [\n");
    for (uint32_t user = 0; user < users; user++)
        add_connection(json, user, user + 1 == users);
    weir_buf_add_text(json, "    ]\n  }\n}\n");
}
