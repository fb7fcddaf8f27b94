/* SPDX-License-Identifier: MIT */
/* An appsettings.json for clients of the simulator; see print_config.h. */
#include "sim/print_config.h"

#include "base/clock.h"
#include "sim/tokens/tokens.h"

#define TENANT          "contoso"
#define USUAL_WINDOW_US (5 * WEIR_US_PER_MINUTE)

static void add_connection(struct weir_buf *json, uint32_t user, bool last)
{
    char secret[128];
    weir_buf_printf(
        json, "      { \"Name\": \"app%u\", \"ClientId\": \"app%u\", \"ClientSecret\": ", user + 1,
        user + 1);
    weir_buf_add_json_string(json, weir_str_from(sim_tokens_secret(user, secret, sizeof(secret))));
    weir_buf_add_text(json, last ? " }\n" : " },\n");
}

/* weir takes whole milliseconds, of a second up to an hour. */
static void add_window(struct weir_buf *json, int64_t window_us)
{
    if (window_us == USUAL_WINDOW_US || window_us < WEIR_US_PER_S || window_us > WEIR_US_PER_HOUR)
        return;
    weir_buf_printf(json, "    \"AdaptiveRate\": { \"Budget\": { \"Window\": \"%lldms\" } },\n",
                    (long long)(window_us / WEIR_US_PER_MS));
}

void sim_print_config(struct weir_buf *json, const struct sim_config *client)
{
    weir_buf_add_text(json, "{\n  \"Dataverse\": {\n");
    weir_buf_printf(json, "    \"Url\": \"%s\",\n    \"TenantId\": \"" TENANT "\",\n", client->url);
    weir_buf_printf(json, "    \"Authority\": \"%s\",\n", client->url);
    if (client->ca_file) {
        weir_buf_add_text(json, "    \"CaFile\": ");
        weir_buf_add_json_string(json, weir_str_from(client->ca_file));
        weir_buf_add_text(json, ",\n");
    }
    add_window(json, client->window_us);
    weir_buf_add_text(json, "    \"Connections\": [\n");
    for (uint32_t user = 0; user < client->users; user++)
        add_connection(json, user, user + 1 == client->users);
    weir_buf_add_text(json, "    ]\n  }\n}\n");
}
