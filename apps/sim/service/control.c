/* SPDX-License-Identifier: MIT */
/*
 * /sim/: what the simulator says about itself and what can be done to it. Never faulted, throttled,
 * authenticated or counted; see world.h.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "sim/service/tables.h"
#include "sim/service/world.h"
#include "sim/tokens/form.h"

static void answer_json(struct sim_answer *answer, int status)
{
    answer->status = status;
    sim_answer_header(answer, "Content-Type", "application/json; charset=utf-8");
}

static void complain(struct sim_answer *answer, int status, const char *message)
{
    sim_answer_error(answer, status, "0x0", "%s", message);
}

static void ledger(struct sim_world *world, const struct sim_http_request *request,
                   struct weir_str query, int64_t now_us, struct sim_answer *answer)
{
    (void)request;
    (void)now_us;
    struct sim_form form;
    struct weir_error err;
    bool parsed = sim_form_parse(&form, query, &err) == WEIR_OK;
    struct weir_str table = parsed ? sim_form_get(&form, "table") : weir_str(NULL, 0);
    if (!table.ptr)
        complain(answer, 400,
                 parsed ? "table is missing, must be /sim/ledger?table=T[&by=COLUMN]"
                        : err.message);
    else if (sim_api_ledger_json(world->api, table, sim_form_get(&form, "by"), &answer->body, &err))
        answer_json(answer, 200);
    else
        complain(answer, 404, err.message);
    sim_form_release(&form);
}

static void stats(struct sim_world *world, const struct sim_http_request *request,
                  struct weir_str query, int64_t now_us, struct sim_answer *answer)
{
    (void)request;
    (void)query;
    sim_world_settle(world, now_us);
    sim_world_stats_json(world, &answer->body);
    answer_json(answer, 200);
}

static void reset(struct sim_world *world, const struct sim_http_request *request,
                  struct weir_str query, int64_t now_us, struct sim_answer *answer)
{
    (void)request;
    (void)query;
    sim_world_reset(world, now_us);
    answer->status = 204;
}

/* The list inside {"faults": […]}, which has nothing else. */
static enum weir_status read_faults(struct sim_world *world, const struct weir_json_node *root,
                                    struct weir_error *err)
{
    const struct weir_json_node *list = weir_json_find(root, "faults");
    if (!list || root->count != 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "body: the only key must be \"faults\", an array of 0 to %d objects",
                         SIM_FAULTS_MAX);
    return sim_faults_read(&world->faults, list, "body", err);
}

static void faults(struct sim_world *world, const struct sim_http_request *request,
                   struct weir_str query, int64_t now_us, struct sim_answer *answer)
{
    (void)query;
    (void)now_us;
    struct weir_json *json = NULL;
    struct weir_error err;
    enum weir_status status = weir_json_parse(request->body, &json, &err);
    if (status == WEIR_OK)
        status = read_faults(world, weir_json_root(json), &err);
    weir_json_free(json);
    if (status != WEIR_OK) {
        complain(answer, 400, err.message);
        return;
    }
    weir_buf_printf(&answer->body, "{\"faults\":%u}", (unsigned)world->faults.fault_count);
    answer_json(answer, 200);
}

struct endpoint {
    const char *path;
    const char *method;
    void (*answer)(struct sim_world *world, const struct sim_http_request *request,
                   struct weir_str query, int64_t now_us, struct sim_answer *answer);
};

static const struct endpoint endpoints[] = {
    { "/sim/ledger", "GET", ledger },
    { "/sim/stats", "GET", stats },
    { "/sim/reset", "POST", reset },
    { "/sim/faults", "POST", faults },
};

void sim_control_answer(struct sim_world *world, const struct sim_http_request *request,
                        int64_t now_us, struct sim_answer *answer)
{
    struct weir_str path = request->target;
    const char *mark = memchr(path.ptr, '?', path.len);
    struct weir_str query = weir_str(NULL, 0);
    if (mark) {
        path.len = (size_t)(mark - path.ptr);
        query = weir_str(mark + 1, request->target.len - path.len - 1);
    }
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
        const struct endpoint *endpoint = &endpoints[i];
        if (!weir_str_equal(path, weir_str_from(endpoint->path)))
            continue;
        if (weir_str_equal(request->method, weir_str_from(endpoint->method))) {
            endpoint->answer(world, request, query, now_us, answer);
            return;
        }
        sim_answer_header(answer, "Allow", "%s", endpoint->method);
        complain(answer, 405, "the method is not allowed here");
        return;
    }
    complain(answer, 404,
             "no such path: there are GET /sim/ledger, GET /sim/stats, "
             "POST /sim/reset and POST /sim/faults");
}

static void add_connection(const struct sim_world *world, uint32_t user, struct weir_buf *json)
{
    const struct sim_stats *counted = sim_law_stats(&world->law, user);
    const struct sim_caller *caller = &world->callers[user];
    weir_buf_printf(json,
                    "%s{\"name\":\"%s\",\"requests\":%" PRIu64 ",\"accepted\":%" PRIu64
                    ",\"throttled\":{\"requests\":%" PRIu64 ",\"execution_time\":%" PRIu64
                    ",\"concurrency\":%" PRIu64 "},\"execution_s\":%" PRId64 ".%06" PRId64
                    ",\"sent_while_throttled\":%" PRIu64 ",\"max_concurrent\":%" PRIu32 "}",
                    user ? "," : "", caller->name, counted->requests + caller->turned_off,
                    counted->accepted, counted->throttled[SIM_THROTTLE_REQUESTS],
                    counted->throttled[SIM_THROTTLE_EXECUTION_TIME],
                    counted->throttled[SIM_THROTTLE_CONCURRENCY],
                    counted->execution_us / WEIR_US_PER_S, counted->execution_us % WEIR_US_PER_S,
                    counted->sent_while_throttled, counted->max_concurrent);
}

static void add_server(const struct sim_world *world, uint32_t server, struct weir_buf *json)
{
    const struct sim_node *node = &world->nodes[server];
    weir_buf_printf(json, "%s{\"requests\":%" PRIu64 ",\"asked\":%" PRIu64 "}", server ? "," : "",
                    node->requests, node->asked);
}

void sim_world_stats_json(struct sim_world *world, struct weir_buf *json)
{
    weir_buf_add_text(json, "{\"connections\":[");
    for (uint32_t user = 0; user < world->scenario.connections; user++)
        add_connection(world, user, json);
    weir_buf_add_text(json, "],\"servers\":[");
    for (uint32_t server = 0; server < world->scenario.servers; server++)
        add_server(world, server, json);
    weir_buf_add_text(json, "],\"faults\":");
    sim_faults_counts_json(&world->faults, json);
    weir_buf_add_text(json, ",\"events\":");
    sim_api_events_json(world->api, json);
    weir_buf_add_text(json, ",\"headers\":");
    sim_api_headers_json(world->api, json);
    weir_buf_add_char(json, '}');
}

static void summarise_user(const struct sim_world *world, uint32_t user, struct weir_buf *text)
{
    const struct sim_stats *counted = sim_law_stats(&world->law, user);
    const struct sim_caller *caller = &world->callers[user];
    weir_buf_printf(text,
                    "%s: %" PRIu64 " requests, %" PRIu64 " accepted, throttled by requests %" PRIu64
                    ", execution time %" PRIu64 ", concurrency %" PRIu64 "\n",
                    caller->name, counted->requests + caller->turned_off, counted->accepted,
                    counted->throttled[SIM_THROTTLE_REQUESTS],
                    counted->throttled[SIM_THROTTLE_EXECUTION_TIME],
                    counted->throttled[SIM_THROTTLE_CONCURRENCY]);
}

/* The number of rows that a table's ledger tells of. */
static int64_t rows_of(struct sim_world *world, const char *table)
{
    int64_t rows = 0;
    struct weir_buf buf;
    struct weir_json *json = NULL;
    weir_buf_init(&buf, SIM_ANSWER_BYTES_MAX);
    if (sim_api_ledger_json(world->api, weir_str_from(table), weir_str(NULL, 0), &buf, NULL) &&
        weir_json_parse(weir_str(buf.ptr, buf.len), &json, NULL) == WEIR_OK) {
        const struct weir_json_node *node = weir_json_find(weir_json_root(json), "rows");
        if (!node || !weir_str_to_int64(node->text, &rows))
            rows = 0;
    }
    weir_json_free(json);
    weir_buf_release(&buf);
    return rows;
}

void sim_world_summary(struct sim_world *world, struct weir_buf *text)
{
    for (uint32_t user = 0; user < world->scenario.connections; user++) {
        if (sim_law_stats(&world->law, user)->requests || world->callers[user].turned_off)
            summarise_user(world, user, text);
    }
    for (uint32_t place = 0; place < sim_tables_count(world->api); place++) {
        const char *table = sim_tables_name(world->api, place);
        int64_t rows = rows_of(world, table);
        if (rows)
            weir_buf_printf(text, "%s: %" PRId64 " rows\n", table, rows);
    }
}
