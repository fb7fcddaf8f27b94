/* SPDX-License-Identifier: MIT */
/* Faults on purpose: which one happens to a request; see faults.h. */
#include "sim/service/faults.h"

#include <inttypes.h>

#include "base/mem.h"

#define NAMESPACE "Microsoft.Dynamics.CRM."

static const char *const kind_names[SIM_FAULT_KINDS] = {
    [SIM_FAULT_RESET_BEFORE] = "reset_before",
    [SIM_FAULT_RESET_WITHIN] = "reset_within",
    [SIM_FAULT_RESET_AFTER] = "reset_after",
    [SIM_FAULT_CUT] = "cut",
    [SIM_FAULT_STALL] = "stall",
    [SIM_FAULT_UNAUTHORIZED] = "unauthorized",
    [SIM_FAULT_SERVER_ERROR] = "server_error",
    [SIM_FAULT_HTML_ERROR] = "html_error",
    [SIM_FAULT_THROTTLE] = "throttle",
    [SIM_FAULT_COMMIT_THEN_SILENCE] = "commit_then_silence",
    [SIM_FAULT_LATE_COMMIT] = "late_commit",
    [SIM_FAULT_DEADLOCK] = "deadlock",
    [SIM_FAULT_TVP_RACE] = "tvp_race",
    [SIM_FAULT_LATENCY_COLLAPSE] = "latency_collapse",
    [SIM_FAULT_BAD_ROW] = "bad_row",
    [SIM_FAULT_PARTIAL_FAILURE] = "partial_failure",
    [SIM_FAULT_PLUGIN_ERROR] = "plugin_error",
};

const char *const sim_fault_operations[] = {
    "CreateMultiple",
    "UpdateMultiple",
    "UpsertMultiple",
    "DeleteMultiple",
    "WhoAmI",
    "Create",
    "Update",
    "Upsert",
    "Delete",
    "Retrieve",
    "RetrieveMultiple",
    "$batch",
    "token",
    "GET",
    "POST",
    "PATCH",
    "PUT",
    "DELETE",
    NULL,
};

const char *sim_fault_kind_name(enum sim_fault_kind kind)
{
    return kind_names[kind];
}

enum sim_fault_stage sim_fault_stage_of(const struct sim_fault_effect *effect)
{
    switch (effect->kind) {
    case SIM_FAULT_RESET_BEFORE:
    case SIM_FAULT_RESET_WITHIN:
        return SIM_STAGE_HEAD;
    case SIM_FAULT_UNAUTHORIZED:
        return SIM_STAGE_DOOR;
    case SIM_FAULT_THROTTLE:
        return effect->where == SIM_FAULT_IN_ANSWER ? SIM_STAGE_DOOR : SIM_STAGE_INSIDE;
    default:
        return SIM_STAGE_INSIDE;
    }
}

void sim_faults_init(struct sim_faults *faults, uint64_t seed)
{
    *faults = (struct sim_faults){ .seed = seed };
}

void sim_faults_release(struct sim_faults *faults)
{
    free(faults->list);
    free(faults->kept);
    sim_faults_init(faults, faults->seed);
}

void sim_faults_adopt(struct sim_faults *faults, struct sim_fault *list, uint32_t count)
{
    free(faults->list);
    faults->list = list;
    faults->fault_count = count;
    memset(faults->stages, 0, sizeof(faults->stages));
    for (uint32_t i = 0; i < count; i++)
        faults->stages[sim_fault_stage_of(&list[i].effect)] = true;
}

static struct sim_fault *copy(const struct sim_fault *list, uint32_t count)
{
    struct sim_fault *made = weir_calloc(count + 1, sizeof(*made));
    if (count)
        memcpy(made, list, count * sizeof(*made));
    return made;
}

void sim_faults_keep(struct sim_faults *faults)
{
    free(faults->kept);
    faults->kept = copy(faults->list, faults->fault_count);
    faults->kept_count = faults->fault_count;
}

void sim_faults_reset(struct sim_faults *faults)
{
    memset(faults->counts, 0, sizeof(faults->counts));
    sim_faults_adopt(faults, copy(faults->kept, faults->kept_count), faults->kept_count);
}

void sim_faults_counts_json(const struct sim_faults *faults, struct weir_buf *json)
{
    for (int kind = 0; kind < SIM_FAULT_KINDS; kind++)
        weir_buf_printf(json, "%s\"%s\":%" PRIu64, kind ? "," : "{", kind_names[kind],
                        faults->counts[kind]);
    weir_buf_add_char(json, '}');
}

static struct weir_str path_of(struct weir_str target)
{
    const char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    if (query)
        target.len = (size_t)(query - target.ptr);
    while (target.len && target.ptr[target.len - 1] == '/')
        target.len--;
    return target;
}

struct weir_str sim_target_name(struct weir_str target)
{
    struct weir_str path = path_of(target);
    size_t begin = path.len;
    /* A slash within parentheses belongs to a key. */
    for (int depth = 0; begin > 0; begin--) {
        char c = path.ptr[begin - 1];
        depth += (c == ')') - (c == '(');
        if (c == '/' && depth <= 0)
            break;
    }
    struct weir_str name = weir_str(path.ptr + begin, path.len - begin);
    if (weir_str_starts_nocase(name, NAMESPACE))
        name = weir_str(name.ptr + strlen(NAMESPACE), name.len - strlen(NAMESPACE));
    if (name.len > 2 && memcmp(name.ptr + name.len - 2, "()", 2) == 0)
        name.len -= 2;
    return name;
}

static bool is(struct weir_str text, const char *word)
{
    return weir_str_equal(text, weir_str_from(word));
}

static bool is_bulk(struct weir_str name)
{
    return is(name, "CreateMultiple") || is(name, "UpdateMultiple") || is(name, "UpsertMultiple") ||
           is(name, "DeleteMultiple");
}

/* A request on a row or a table, not a message with a name of its own. */
static bool is_plain(const struct sim_http_request *request, struct weir_str name)
{
    return !is(name, "$batch") && !is(name, "WhoAmI") && !is_bulk(name) &&
           weir_str_find_nocase(request->target, "/EntityDefinitions") == request->target.len;
}

/* What the SDK would call a plain request; NULL: nothing. */
static const char *message_of(const struct sim_http_request *request, struct weir_str name)
{
    if (!is_plain(request, name))
        return NULL;
    bool match = sim_http_header(request->headers, request->header_count, "If-Match").ptr;
    bool keyed = name.len && memchr(name.ptr, '(', name.len);
    if (is(request->method, "POST"))
        return "Create";
    if (is(request->method, "PATCH"))
        return match ? "Update" : "Upsert";
    if (is(request->method, "PUT"))
        return "Update";
    if (is(request->method, "DELETE"))
        return "Delete";
    if (is(request->method, "GET"))
        return keyed ? "Retrieve" : "RetrieveMultiple";
    return NULL;
}

bool sim_occasion_is(const struct sim_occasion *occasion, struct weir_str operation)
{
    const struct sim_http_request *request = occasion->request;
    if (!operation.len)
        return true;
    if (occasion->token || is(operation, "token"))
        return occasion->token && is(operation, "token");
    struct weir_str name = sim_target_name(request->target);
    const char *message = message_of(request, name);
    return weir_str_equal(operation, request->method) || weir_str_equal(operation, name) ||
           (message && is(operation, message));
}

/* A value that JSON writes in only one way can be looked for in the text. */
static bool is_simple(const char *value)
{
    for (const char *c = value; *c; c++) {
        if (*c < 0x20 || *c > 0x7e || strchr("\"\\/<>&'+", *c))
            return false;
    }
    return true;
}

static bool may_hold(struct weir_str body, const char *value)
{
    return !is_simple(value) || (body.len && memmem(body.ptr, body.len, value, strlen(value)));
}

/* Requests for tokens are hit by what is meant for them, and by what can happen to any transfer. */
static bool fits_token(const struct sim_fault *fault)
{
    switch (fault->effect.kind) {
    case SIM_FAULT_UNAUTHORIZED:
    case SIM_FAULT_THROTTLE:
        return fault->operation[0] && fault->effect.where == SIM_FAULT_IN_ANSWER;
    case SIM_FAULT_LATE_COMMIT:
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_TVP_RACE:
    case SIM_FAULT_BAD_ROW:
    case SIM_FAULT_PARTIAL_FAILURE:
    case SIM_FAULT_PLUGIN_ERROR:
        return false;
    default:
        return true;
    }
}

/* Whether the kind makes sense for the request. */
static bool fits(const struct sim_fault *fault, const struct sim_occasion *occasion)
{
    const struct sim_fault_effect *effect = &fault->effect;
    if (occasion->token)
        return fits_token(fault);
    switch (effect->kind) {
    case SIM_FAULT_TVP_RACE:
        return is_bulk(sim_target_name(occasion->request->target));
    case SIM_FAULT_PARTIAL_FAILURE:
        return occasion->elastic;
    case SIM_FAULT_BAD_ROW:
        return may_hold(occasion->request->body, effect->column) &&
               may_hold(occasion->request->body, effect->value);
    case SIM_FAULT_THROTTLE:
        if (effect->where == SIM_FAULT_IN_PART)
            return is(sim_target_name(occasion->request->target), "$batch");
        return effect->where != SIM_FAULT_IN_DETAIL || occasion->elastic;
    default:
        return true;
    }
}

static bool looks_at(const struct sim_fault *fault, const struct sim_occasion *occasion)
{
    if (fault->connection[0] && strcmp(fault->connection, occasion->connection) != 0)
        return false;
    return fits(fault, occasion) && sim_occasion_is(occasion, weir_str_from(fault->operation));
}

/* The draw is made in any case, so that no other condition shifts the ones that follow. */
static bool ripe(struct sim_fault *fault)
{
    double draw = weir_rng_unit(&fault->rng);
    if (fault->passed < fault->after) {
        fault->passed++;
        return false;
    }
    fault->seen++;
    return draw < fault->probability && (!fault->nth || fault->seen == fault->nth) &&
           (!fault->every || fault->seen % fault->every == 0) &&
           (!fault->count || fault->happened < fault->count);
}

const struct sim_fault_effect *sim_faults_decide(struct sim_faults *faults,
                                                 enum sim_fault_stage stage,
                                                 const struct sim_occasion *occasion)
{
    struct sim_fault *chosen = NULL;
    if (!faults->stages[stage])
        return NULL;
    for (uint32_t i = 0; i < faults->fault_count; i++) {
        struct sim_fault *fault = &faults->list[i];
        if (sim_fault_stage_of(&fault->effect) != stage || !looks_at(fault, occasion))
            continue;
        if (ripe(fault) && !chosen)
            chosen = fault;
    }
    if (!chosen)
        return NULL;
    chosen->happened++;
    faults->counts[chosen->effect.kind]++;
    return &chosen->effect;
}

bool sim_faults_ask_elastic(const struct sim_faults *faults)
{
    for (uint32_t i = 0; i < faults->fault_count; i++) {
        const struct sim_fault_effect *effect = &faults->list[i].effect;
        if (effect->kind == SIM_FAULT_PARTIAL_FAILURE ||
            (effect->kind == SIM_FAULT_THROTTLE && effect->where == SIM_FAULT_IN_DETAIL))
            return true;
    }
    return false;
}
