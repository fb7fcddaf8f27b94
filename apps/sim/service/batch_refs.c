/* SPDX-License-Identifier: MIT */
/* Content-ID references; what they are stands in batch_refs.h. */
#include "sim/service/batch_refs.h"

#include "base/mem.h"
#include "sim/service/url.h"

void sim_refs_init(struct sim_refs *refs)
{
    *refs = (struct sim_refs){ 0 };
    weir_buf_init(&refs->urls, SIM_ANSWER_BYTES_MAX);
}

void sim_refs_release(struct sim_refs *refs)
{
    free(refs->refs);
    weir_buf_release(&refs->urls);
    *refs = (struct sim_refs){ 0 };
}

static const struct sim_ref *find(const struct sim_refs *refs, struct weir_str id)
{
    for (uint32_t i = 0; i < refs->count; i++) {
        if (weir_str_equal(refs->refs[i].id, id))
            return &refs->refs[i];
    }
    return NULL;
}

bool sim_refs_add(struct sim_refs *refs, struct weir_str id, struct weir_str url)
{
    if (!id.len || find(refs, id))
        return false;
    if (refs->count == refs->capacity) {
        refs->capacity = refs->capacity ? 2 * refs->capacity : 16;
        refs->refs = weir_realloc(refs->refs, refs->capacity, sizeof(*refs->refs));
    }
    refs->refs[refs->count++] = (struct sim_ref){ id, refs->urls.len, url.len };
    weir_buf_add(&refs->urls, url.ptr, url.len);
    return true;
}

/* Append the address that "$1" stands for. */
static bool put(const struct sim_refs *refs, struct weir_str dollar, struct weir_buf *out,
                struct sim_answer *answer)
{
    const struct sim_ref *ref = find(refs, weir_str(dollar.ptr + 1, dollar.len - 1));
    if (!ref) {
        sim_answer_error(answer, 400, "0x80048d19",
                         "Content-ID Reference: '%.*s' does not exist in the batch context.",
                         (int)dollar.len, dollar.ptr);
        return false;
    }
    weir_buf_add(out, refs->urls.ptr + ref->at, ref->len);
    return true;
}

static bool resolve_target(const struct sim_refs *refs, struct sim_call *call,
                           struct weir_buf *target, struct sim_answer *answer)
{
    struct sim_url url;
    bool ok = true;
    if (sim_url_parse(call->target, &url) && url.kind == SIM_URL_REFERENCE) {
        ok = put(refs, url.set, target, answer);
        /* Behind "$1", as it came. */
        const char *rest = memchr(url.path.ptr, '/', url.path.len);
        if (rest)
            weir_buf_add(target, rest, url.path.len - (size_t)(rest - url.path.ptr));
        if (url.query.ptr)
            weir_buf_printf(target, "?%.*s", (int)url.query.len, url.query.ptr);
        call->target = weir_str(weir_buf_text(target), target->len);
    }
    sim_url_release(&url);
    return ok;
}

/* ---- bodies: enough of JSON to tell members from values ---- */

struct scan {
    struct weir_str json;
    size_t at;     /* where to go on */
    size_t copied; /* up to where it is in the new body */
    bool binds;    /* within the value of …@odata.bind */
};

static bool ends_with(struct weir_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && !memcmp(text.ptr + text.len - len, end, len);
}

/* "$1" or "/$1"; *ret is without the slash. */
static bool is_reference(struct weir_str text, struct weir_str *ret)
{
    if (text.len && text.ptr[0] == '/')
        text = weir_str(text.ptr + 1, text.len - 1);
    if (text.len < 2 || text.ptr[0] != '$')
        return false;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    *ret = text;
    return true;
}

/* The next string, without its quotes; scan->at is behind it. False: there is none. */
static bool next_string(struct scan *scan, struct weir_str *ret)
{
    size_t at = scan->at;
    while (at < scan->json.len && scan->json.ptr[at] != '"')
        at++;
    size_t start = ++at;
    while (at < scan->json.len && scan->json.ptr[at] != '"')
        at += scan->json.ptr[at] == '\\' ? 2 : 1;
    if (at >= scan->json.len)
        return false;
    *ret = weir_str(scan->json.ptr + start, at - start);
    scan->at = at + 1;
    return true;
}

static bool is_member(const struct scan *scan)
{
    struct weir_str rest = weir_str(scan->json.ptr + scan->at, scan->json.len - scan->at);
    rest = weir_str_trim(rest);
    return rest.len && rest.ptr[0] == ':';
}

static bool resolve_body(const struct sim_refs *refs, struct sim_call *call, struct weir_buf *body,
                         struct sim_answer *answer)
{
    struct scan scan = { .json = call->body };
    if (!call->body.len || !memchr(call->body.ptr, '$', call->body.len))
        return true;
    struct weir_str text, dollar;
    while (next_string(&scan, &text)) {
        if (is_member(&scan)) {
            scan.binds = ends_with(text, "@odata.bind") || ends_with(text, "@odata.id");
        } else if (scan.binds && is_reference(text, &dollar)) {
            size_t start = (size_t)(text.ptr - scan.json.ptr);
            weir_buf_add(body, scan.json.ptr + scan.copied, start - scan.copied);
            if (!put(refs, dollar, body, answer))
                return false;
            scan.copied = start + text.len;
        }
    }
    if (scan.copied) {
        weir_buf_add(body, scan.json.ptr + scan.copied, scan.json.len - scan.copied);
        call->body = weir_str(weir_buf_text(body), body->len);
    }
    return true;
}

bool sim_refs_resolve(const struct sim_refs *refs, struct sim_call *call, struct weir_buf *target,
                      struct weir_buf *body, struct sim_answer *answer)
{
    return resolve_target(refs, call, target, answer) && resolve_body(refs, call, body, answer);
}
