/* SPDX-License-Identifier: MIT */
/*
 * One request on its way through the service; see service.h for the two steps, and faults.h for the
 * stages at which a fault can hit it.
 *
 *     /sim/…        answered at once
 *     login         DOOR and INSIDE faults, then answered at once
 *     /api/data/…   token ─ DOOR ─ law ─ INSIDE ─▶ due at the end of its service time, then
 * executed the rest      404
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sim/service/world.h"
#include "sim/tokens/form.h"

#define API_ROOT     "/api/data/"
#define CONTROL_ROOT "/sim/"
#define TEXT_BYTES_MAX                                                                             \
    ((size_t)512 * 1024 * 1024) /* of a request, whose parts have bounds of their own */
#define SPARE_MAX       256
#define SPARE_BYTES_MAX ((size_t)16 * 1024)
#define PASS_TAIL       16 /* bytes of a signature that tell tokens apart */

static struct sim_visit *new_visit(struct sim_world *world, int64_t now_us)
{
    struct sim_visit *visit = world->spare;
    if (visit) {
        world->spare = visit->next;
        world->spare_count--;
    } else {
        visit = weir_calloc(1, sizeof(*visit));
        weir_buf_init(&visit->text, TEXT_BYTES_MAX);
        sim_answer_init(&visit->answer);
    }
    visit->world = world;
    visit->kind = SIM_VISIT_ANSWERED;
    visit->delivery = (struct sim_delivery){ .kind = SIM_DELIVER };
    visit->due_us = now_us;
    visit->user = SIM_NOBODY;
    return visit;
}

static void drop(struct sim_visit *visit)
{
    sim_answer_release(&visit->answer);
    weir_buf_release(&visit->text);
    free(visit);
}

/* Small ones are used again. */
void sim_visit_free(struct sim_visit *visit)
{
    if (!visit)
        return;
    struct sim_world *world = visit->world;
    free(visit->effect);
    visit->effect = NULL;
    if (world->spare_count == SPARE_MAX || visit->text.capacity > SPARE_BYTES_MAX ||
        visit->answer.body.capacity > SPARE_BYTES_MAX) {
        drop(visit);
        return;
    }
    weir_buf_reset(&visit->text);
    sim_answer_reset(&visit->answer);
    visit->next = world->spare;
    world->spare = visit;
    world->spare_count++;
}

void sim_visits_release(struct sim_world *world)
{
    while (world->spare) {
        struct sim_visit *visit = world->spare;
        world->spare = visit->next;
        drop(visit);
    }
}

int64_t sim_visit_due_us(const struct sim_visit *visit)
{
    return visit->due_us;
}

static struct weir_str put(struct weir_buf *to, struct weir_str text)
{
    size_t begin = to->len;
    weir_buf_add(to, text.ptr, text.len);
    return weir_str(to->ptr + begin, text.len);
}

/* Room for a whole request, so that nothing moves while it is put together. */
static void reserve_text(struct sim_visit *visit, const struct sim_http_request *request)
{
    size_t bytes = request->header_count * sizeof(struct sim_header) + request->method.len +
                   request->target.len + request->body.len + 1;
    for (size_t i = 0; i < request->header_count; i++)
        bytes += request->headers[i].name.len + request->headers[i].value.len;
    if (visit->text.capacity >= bytes)
        return;
    weir_buf_release(&visit->text);
    visit->text.ptr = weir_realloc(NULL, bytes, 1);
    visit->text.capacity = bytes;
}

/* Copy a request whole, in one piece of memory: the headers' table, then all texts. */
static void keep_request(struct sim_visit *visit, const struct sim_http_request *request)
{
    struct weir_buf *text = &visit->text;
    reserve_text(visit, request);
    weir_buf_add(text, request->headers, request->header_count * sizeof(struct sim_header));
    struct sim_header *headers = (struct sim_header *)(void *)text->ptr;
    for (size_t i = 0; i < request->header_count; i++)
        headers[i] = (struct sim_header){ put(text, request->headers[i].name),
                                          put(text, request->headers[i].value) };
    visit->request = (struct sim_http_request){
        .method = put(text, request->method),
        .target = put(text, request->target),
        .headers = headers,
        .header_count = request->header_count,
        .body = put(text, request->body),
    };
}

/* "http://host/path" is "/path". */
static struct weir_str local_target(struct weir_str target)
{
    if (!weir_str_starts_nocase(target, "http://") && !weir_str_starts_nocase(target, "https://"))
        return target;
    const char *host = (const char *)memchr(target.ptr, '/', target.len) + 2;
    size_t left = target.len - (size_t)(host - target.ptr);
    const char *path = memchr(host, '/', left);
    return path ? weir_str(path, target.len - (size_t)(path - target.ptr)) : weir_str("/", 1);
}

static bool is_below(struct weir_str target, const char *root)
{
    return weir_str_starts_nocase(target, root);
}

/* Where tokens are handed out; the login service's other pages are never hit by faults. */
static bool is_token(struct weir_str target)
{
    static const char tail[] = "/token";
    const char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    size_t len = query ? (size_t)(query - target.ptr) : target.len;
    size_t tail_len = sizeof(tail) - 1;
    return !is_below(target, API_ROOT) && !is_below(target, CONTROL_ROOT) && len > tail_len &&
           memcmp(target.ptr + len - tail_len, tail, tail_len) == 0;
}

/* The place of a token among those that were checked. */
static struct sim_pass *pass_of(struct sim_world *world, struct weir_str token)
{
    size_t tail = token.len < PASS_TAIL ? token.len : PASS_TAIL;
    uint64_t hash = weir_str_hash(weir_str(token.ptr + token.len - tail, tail));
    return &world->passes[hash % SIM_PASSES];
}

/* A token that was good a moment ago is good: checking its signature again costs more than an
 * answer. */
static uint32_t check_token(struct sim_world *world, struct weir_str token, int64_t wall_us)
{
    struct sim_pass *pass = pass_of(world, token);
    uint32_t user = SIM_NOBODY;
    int64_t wall_s = wall_us / WEIR_US_PER_S;
    if (pass->token.len && pass->wall_s == wall_s &&
        weir_str_equal(token, weir_str(pass->token.ptr, pass->token.len)))
        return pass->user;
    if (sim_tokens_check(world->tokens, token, wall_us, &user) != WEIR_OK ||
        user >= world->scenario.connections)
        return SIM_NOBODY;
    weir_buf_reset(&pass->token);
    weir_buf_add(&pass->token, token.ptr, token.len);
    pass->wall_s = wall_s;
    pass->user = user;
    return user;
}

static uint32_t user_of(struct sim_world *world, const struct sim_http_request *request,
                        int64_t wall_us)
{
    struct weir_str token =
        sim_http_header(request->headers, request->header_count, "Authorization");
    return token.len ? check_token(world, token, wall_us) : SIM_NOBODY;
}

static const char *name_of(const struct sim_world *world, uint32_t user)
{
    return user == SIM_NOBODY ? "" : world->callers[user].name;
}

static struct sim_delivery delivery_of(const struct sim_visit *visit,
                                       const struct sim_answer *answer)
{
    const struct sim_fault_effect *effect = visit->effect;
    if (!effect)
        return visit->delivery;
    switch (effect->kind) {
    case SIM_FAULT_RESET_AFTER:
        return (struct sim_delivery){ .kind = SIM_RESET_AFTER };
    case SIM_FAULT_CUT:
        return (struct sim_delivery){
            .kind = SIM_CUT,
            .byte = effect->byte == UINT64_MAX ? (answer->headers.len + answer->body.len) / 2
                                               : effect->byte,
        };
    case SIM_FAULT_STALL:
        return (struct sim_delivery){ .kind = SIM_STALL, .stall_us = effect->stall_us };
    case SIM_FAULT_COMMIT_THEN_SILENCE:
        return (struct sim_delivery){ .kind = SIM_SILENCE, .stall_us = effect->stall_us };
    case SIM_FAULT_LATENCY_COLLAPSE:
        return (struct sim_delivery){
            .kind = SIM_STALL,
            .stall_us =
                effect->stall_us + (int64_t)((double)visit->service_us * (effect->factor - 1)),
        };
    default:
        return visit->delivery;
    }
}

static void hit(struct sim_visit *visit, const struct sim_fault_effect *effect)
{
    if (!effect)
        return;
    visit->effect = weir_calloc(1, sizeof(*visit->effect));
    *visit->effect = *effect;
}

/* The login service. */

/* "client_id" of a request for a token, if it is one of the world's users. */
static const char *token_user(const struct sim_world *world, const struct sim_http_request *request)
{
    const char *name = "";
    struct sim_form form;
    if (!world->faults.fault_count)
        return name;
    if (sim_form_parse(&form, request->body, NULL) == WEIR_OK) {
        struct weir_str id = sim_form_get(&form, "client_id");
        for (uint32_t i = 0; id.ptr && i < world->scenario.connections; i++) {
            if (weir_str_equal(id, weir_str_from(world->callers[i].name)))
                name = world->callers[i].name;
        }
    }
    sim_form_release(&form);
    return name;
}

static void arrive_login(struct sim_world *world, const struct sim_http_request *request,
                         int64_t wall_us, struct sim_visit *visit)
{
    struct sim_occasion occasion = {
        .request = request,
        .token = true,
        .connection = token_user(world, request),
    };
    const struct sim_fault_effect *effect =
        sim_faults_decide(&world->faults, SIM_STAGE_DOOR, &occasion);
    if (effect) {
        sim_refuse_login(effect, wall_us, &visit->answer);
        return;
    }
    hit(visit, sim_faults_decide(&world->faults, SIM_STAGE_INSIDE, &occasion));
    if (visit->effect && sim_refuse_execution(visit->effect, wall_us, &visit->answer))
        return;
    if (!sim_tokens_answer(world->tokens, request, wall_us, &visit->answer))
        sim_refuse_page(&visit->answer, 404);
}

/* The Web API. */

static struct sim_call call_of(const struct sim_http_request *request, uint32_t user,
                               int64_t wall_us)
{
    return (struct sim_call){
        .method = request->method,
        .target = request->target,
        .headers = request->headers,
        .header_count = request->header_count,
        .body = request->body,
        .user = user,
        .wall_us = wall_us,
    };
}

static struct sim_decision ask_law(struct sim_world *world, uint32_t user, uint32_t wanted,
                                   const struct sim_measure *measure, int64_t law_us)
{
    uint32_t rows = measure->rows ? measure->rows : 1;
    struct sim_request request = {
        .service = SIM_ANY_SERVICE,
        .operation = weir_str_from(measure->operation),
        .rows = world->flat_time ? 0 : rows,
        .number = world->callers[user].number++,
    };
    return sim_law_arrive(&world->law, user, wanted, &request, law_us);
}

/* The connection breaks now; what it asked for is done later. */
static struct sim_visit *break_off(struct sim_world *world, struct sim_visit *visit, int64_t now_us)
{
    int64_t at_us = now_us + visit->effect->stall_us;
    struct sim_visit *front = new_visit(world, now_us);
    front->delivery = (struct sim_delivery){ .kind = SIM_RESET_AFTER };
    sim_world_keep_late(world, visit, at_us > visit->due_us ? at_us : visit->due_us);
    return front;
}

static struct sim_visit *admit(struct sim_world *world, const struct sim_occasion *occasion,
                               const struct sim_decision *decision, struct sim_visit *visit,
                               int64_t now_us)
{
    visit->kind = SIM_VISIT_CALL;
    visit->epoch = world->epoch;
    visit->server = decision->server;
    visit->fails = decision->fails;
    visit->service_us = decision->service_us;
    visit->due_us = now_us + decision->service_us + decision->overhead_us;
    keep_request(visit, occasion->request);
    hit(visit, sim_faults_decide(&world->faults, SIM_STAGE_INSIDE, occasion));
    if (visit->effect && visit->effect->kind == SIM_FAULT_LATE_COMMIT &&
        world->late_due.count < SIM_LATE_MAX)
        return break_off(world, visit, now_us);
    return visit;
}

/* A fault that stands before the limits. */
static bool stop_at_door(struct sim_world *world, const struct sim_occasion *occasion,
                         uint32_t wanted, struct sim_visit *visit, int64_t now_us, int64_t wall_us)
{
    const struct sim_fault_effect *effect =
        sim_faults_decide(&world->faults, SIM_STAGE_DOOR, occasion);
    if (!effect)
        return false;
    world->callers[visit->user].turned_off++;
    if (effect->kind == SIM_FAULT_UNAUTHORIZED)
        sim_refuse_stranger(world, &visit->answer);
    else
        sim_refuse_by_fault(world, effect, wall_us, &visit->answer);
    sim_world_add_headers(world, visit->user, wanted == SIM_ANY_SERVER ? 0 : wanted, now_us,
                          &visit->answer);
    return true;
}

static struct sim_visit *arrive_api(struct sim_world *world, const struct sim_http_request *request,
                                    int64_t now_us, int64_t wall_us, struct sim_visit *visit)
{
    visit->user = user_of(world, request, wall_us);
    if (visit->user == SIM_NOBODY) {
        sim_refuse_stranger(world, &visit->answer);
        sim_world_add_headers(world, SIM_NOBODY, 0, now_us, &visit->answer);
        return visit;
    }
    struct sim_occasion occasion = { .request = request,
                                     .connection = name_of(world, visit->user) };
    if (sim_faults_ask_elastic(&world->faults))
        occasion.elastic = sim_partial_possible(world->api, request->target);
    uint32_t wanted = sim_world_wanted_server(world, request);
    if (stop_at_door(world, &occasion, wanted, visit, now_us, wall_us))
        return visit;
    struct sim_call call = call_of(request, visit->user, wall_us);
    struct sim_measure measure = sim_api_measure(world->api, &call);
    struct sim_decision decision =
        ask_law(world, visit->user, wanted, &measure, sim_world_settle(world, now_us));
    world->nodes[decision.server].requests++;
    if (wanted != SIM_ANY_SERVER)
        world->nodes[wanted].asked++;
    if (decision.accepted)
        return admit(world, &occasion, &decision, visit, now_us);
    sim_refuse_by_law(world, &decision, wall_us, &visit->answer);
    sim_world_add_headers(world, visit->user, decision.server, now_us, &visit->answer);
    return visit;
}

struct sim_visit *sim_world_arrive(struct sim_world *world, const struct sim_http_request *request,
                                   int64_t now_us, int64_t wall_us)
{
    struct sim_http_request local = *request;
    struct sim_visit *visit = new_visit(world, now_us);
    local.target = local_target(request->target);
    world->wall_ahead_us = wall_us - now_us;
    if (is_below(local.target, CONTROL_ROOT))
        sim_control_answer(world, &local, now_us, &visit->answer);
    else if (is_below(local.target, API_ROOT))
        return arrive_api(world, &local, now_us, wall_us, visit);
    else if (is_token(local.target))
        arrive_login(world, &local, wall_us, visit);
    else if (!sim_tokens_answer(world->tokens, &local, wall_us, &visit->answer))
        sim_refuse_page(&visit->answer, 404);
    return visit;
}

bool sim_world_head(struct sim_world *world, const struct sim_http_request *request, int64_t now_us,
                    struct sim_delivery *ret)
{
    if (!world->faults.stages[SIM_STAGE_HEAD])
        return false;
    struct sim_http_request local = *request;
    local.target = local_target(request->target);
    bool api = is_below(local.target, API_ROOT);
    bool token = is_token(local.target);
    if (!api && !token)
        return false;
    uint32_t user = api ? user_of(world, &local, now_us + world->wall_ahead_us) : SIM_NOBODY;
    struct sim_occasion occasion = { &local, token, name_of(world, user), false };
    const struct sim_fault_effect *effect =
        sim_faults_decide(&world->faults, SIM_STAGE_HEAD, &occasion);
    if (!effect)
        return false;
    if (user != SIM_NOBODY)
        world->callers[user].turned_off++;
    ret->kind = effect->kind == SIM_FAULT_RESET_BEFORE ? SIM_RESET_BEFORE : SIM_RESET_WITHIN;
    return true;
}

/* The parts of a $batch. */
struct gate {
    struct sim_world *world;
    const struct sim_visit *visit;
    int64_t now_us;
    int64_t wall_us;
    uint32_t part;
};

static bool pass_part(void *ctx, const struct sim_call *part, struct sim_answer *answer)
{
    struct gate *gate = ctx;
    const struct sim_fault_effect *effect = gate->visit->effect;
    uint32_t index = gate->part++;
    if (effect && effect->kind == SIM_FAULT_THROTTLE && effect->where == SIM_FAULT_IN_PART &&
        effect->index == index) {
        sim_refuse_by_fault(gate->world, effect, gate->wall_us, answer);
        return false;
    }
    if (!gate->world->switches.throttle_inside_batch)
        return true;
    struct sim_measure measure = sim_api_measure(gate->world->api, part);
    int64_t law_us = sim_world_settle(gate->world, gate->now_us);
    struct sim_decision decision =
        ask_law(gate->world, gate->visit->user, gate->visit->server, &measure, law_us);
    /* Its time is that of the whole $batch, which has been charged. */
    if (decision.accepted)
        sim_law_finish(&gate->world->law, decision.ticket, law_us);
    else
        sim_refuse_by_law(gate->world, &decision, gate->wall_us, answer);
    return decision.accepted;
}

static void execute_hit(struct sim_world *world, const struct sim_visit *visit,
                        const struct sim_call *call, struct gate *gate, struct sim_answer *answer)
{
    const struct sim_fault_effect *effect = visit->effect;
    bool part = effect->kind == SIM_FAULT_THROTTLE && effect->where == SIM_FAULT_IN_PART;
    bool detail = effect->kind == SIM_FAULT_THROTTLE && effect->where == SIM_FAULT_IN_DETAIL;
    if (sim_refuse_execution(effect, call->wall_us, answer))
        return;
    if (effect->kind == SIM_FAULT_PARTIAL_FAILURE || detail) {
        sim_partial_execute(world, call, effect, answer);
        return;
    }
    if (effect->kind == SIM_FAULT_BAD_ROW)
        sim_api_set_bad_row(world->api, effect->column, effect->value);
    bool gated = part || world->switches.throttle_inside_batch;
    sim_api_execute(world->api, call, gated ? pass_part : NULL, gate, answer);
    if (effect->kind == SIM_FAULT_BAD_ROW)
        sim_api_set_bad_row(world->api, NULL, NULL);
}

void sim_visit_execute(struct sim_world *world, struct sim_visit *visit, int64_t now_us,
                       int64_t wall_us, struct sim_answer *answer)
{
    struct gate gate = { world, visit, now_us, wall_us, 0 };
    if (visit->epoch != world->epoch || visit->fails) {
        sim_refuse_page(answer, 503);
        return;
    }
    struct sim_call call = call_of(&visit->request, visit->user, wall_us);
    if (visit->effect)
        execute_hit(world, visit, &call, &gate, answer);
    else
        sim_api_execute(world->api, &call, world->switches.throttle_inside_batch ? pass_part : NULL,
                        &gate, answer);
}

static void swap_answers(struct sim_answer *a, struct sim_answer *b)
{
    struct sim_answer kept = *a;
    *a = *b;
    *b = kept;
}

void sim_world_finish(struct sim_world *world, struct sim_visit *visit, int64_t now_us,
                      int64_t wall_us, struct sim_answer *answer, struct sim_delivery *delivery)
{
    if (visit->kind == SIM_VISIT_CALL) {
        sim_answer_reset(answer);
        sim_visit_execute(world, visit, now_us, wall_us, answer);
        sim_world_add_headers(world, visit->user, visit->server, now_us, answer);
    } else {
        swap_answers(answer, &visit->answer);
    }
    *delivery = delivery_of(visit, answer);
    sim_visit_free(visit);
}
