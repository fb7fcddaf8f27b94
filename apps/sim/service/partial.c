/* SPDX-License-Identifier: MIT */
/*
 * A bulk message on an elastic table of which some rows fail on purpose; see world.h. The rows that
 * are to fail are taken out of the body, the rest is executed, and the answer tells of the rows
 * that are missing.
 */
#include <inttypes.h>

#include "sim/service/guid.h"
#include "sim/service/render.h"
#include "sim/service/tables.h"
#include "sim/service/world.h"

#define DETAILS "@Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails"

/* What is being taken apart. */
struct split {
    const struct sim_fault_effect *effect;
    const char *id_column;
    struct weir_buf body;    /* of the rows that stay */
    struct weir_buf details; /* of those that go, as JSON */
    uint32_t stay;
    uint32_t go;
};

static bool is_to_fail(const struct sim_fault_effect *effect, uint32_t index)
{
    if (effect->kind == SIM_FAULT_THROTTLE)
        return index == effect->index;
    for (uint32_t i = 0; i < effect->row_count; i++) {
        if (effect->rows[i] == index)
            return true;
    }
    return false;
}

/* A throttle inside is told as such only by its own row: the call as a whole was executed. */
static bool is_throttle(const struct sim_fault_effect *effect)
{
    return effect->kind == SIM_FAULT_THROTTLE;
}

static void add_detail(struct split *split, const struct weir_json_node *row, uint32_t index)
{
    char id[SIM_GUID_TEXT];
    struct sim_guid guid = { { 0 } };
    const struct weir_json_node *node = weir_json_find(row, split->id_column);
    if (node && node->type == WEIR_JSON_STRING)
        sim_guid_parse(node->text, &guid);
    weir_buf_printf(&split->details, "%s{\"RequestIndex\":%" PRIu32 ",\"Id\":\"%s\"",
                    split->go++ ? "," : "", index, sim_guid_print(guid, id));
    if (is_throttle(split->effect))
        weir_buf_printf(&split->details, ",\"StatusCode\":429,\"ErrorCode\":\"%s\"}",
                        split->effect->code);
    else
        weir_buf_printf(&split->details, ",\"StatusCode\":%d}", split->effect->status);
}

static void split_rows(struct split *split, const struct weir_json_node *targets)
{
    uint32_t index = 0;
    weir_buf_add_text(&split->body, "{\"Targets\":[");
    for (const struct weir_json_node *row = targets->first; row; row = row->next, index++) {
        if (is_to_fail(split->effect, index)) {
            add_detail(split, row, index);
            continue;
        }
        if (split->stay++)
            weir_buf_add_char(&split->body, ',');
        weir_buf_add(&split->body, row->text.ptr, row->text.len);
    }
    weir_buf_add_text(&split->body, "]}");
}

/* The list of rows that failed, at the end of the error. */
static void add_details(const struct split *split, struct weir_buf *body)
{
    struct weir_buf text;
    weir_buf_init(&text, SIM_ANSWER_BYTES_MAX);
    weir_buf_printf(&text, "[%s]", weir_buf_text(&split->details));
    body->len -= 2; /* before the two braces */
    weir_buf_add_text(body, ",\"" DETAILS "\":");
    weir_buf_add_json_string(body, weir_str(text.ptr, text.len));
    weir_buf_add_text(body, "}}");
    weir_buf_release(&text);
}

/* The answer of a call that succeeded in part. */
static void tell(const struct split *split, const struct sim_call *call, struct sim_answer *answer)
{
    struct sim_prefer prefer;
    bool throttle = is_throttle(split->effect);
    sim_answer_reset(answer);
    if (!sim_prefer_parse(call->headers, call->header_count, &prefer, answer))
        return;
    if (throttle)
        sim_refuse_retry_after(split->effect, call->wall_us, answer);
    sim_answer_error(answer, throttle ? 500 : split->effect->status,
                     throttle ? "0x80040216" : split->effect->code,
                     "One or more of the rows could not be processed.");
    if (prefer.error_details)
        add_details(split, &answer->body);
}

static void execute_split(struct sim_world *world, const struct sim_call *call,
                          const struct weir_json_node *targets, struct split *split,
                          struct sim_answer *answer)
{
    split_rows(split, targets);
    struct sim_call rest = *call;
    rest.body = weir_str(split->body.ptr, split->body.len);
    if (!split->go || split->stay)
        sim_api_execute(world->api, split->go ? &rest : call, NULL, NULL, answer);
    /* A row that is bad by itself speaks for the whole: its own answer stands. */
    if (split->go && (!split->stay || answer->status < 300))
        tell(split, call, answer);
}

bool sim_partial_possible(const struct sim_api *api, struct weir_str target)
{
    return sim_tables_elastic_id(api, target) != NULL;
}

void sim_partial_execute(struct sim_world *world, const struct sim_call *call,
                         const struct sim_fault_effect *effect, struct sim_answer *answer)
{
    struct weir_json *json = NULL;
    struct split split = { .effect = effect,
                           .id_column = sim_tables_elastic_id(world->api, call->target) };
    weir_buf_init(&split.body, SIM_ANSWER_BYTES_MAX);
    weir_buf_init(&split.details, SIM_ANSWER_BYTES_MAX);
    const struct weir_json_node *targets = NULL;
    if (weir_json_parse(call->body, &json, NULL) == WEIR_OK)
        targets = weir_json_find(weir_json_root(json), "Targets");
    if (targets && targets->type == WEIR_JSON_ARRAY)
        execute_split(world, call, targets, &split, answer);
    else
        sim_api_execute(world->api, call, NULL, NULL, answer);
    weir_json_free(json);
    weir_buf_release(&split.body);
    weir_buf_release(&split.details);
}
