/* SPDX-License-Identifier: MIT */
/*
 * Whether every connection may do what the rows need: asked once the rows are known, of each
 * connection by itself, and of the user who is acted for. Whoever lacks something is an error; what
 * could not be read is said, and the dry run goes on.
 */
#include <string.h>

#include "base/mem.h"
#include "dry_run.h"
#include "exit_code.h"
#include "privilege.h"
#include "say.h"
#include "weir/execute.h"

#define PATH_BYTES_MAX (32 * 1024) /* of an address */

/* A connection, or behind them all the user who is acted for. */
struct subject {
    const char *name;
    bool asked;
    bool refused; /* nobody may act for him, or there is no such user */
    struct weir_error err;
    struct privilege_set held;
};

struct comparison {
    const struct inspection *inspection;
    const char *as; /* NULL: nobody is acted for */
    bool acted_for; /* atomic: somebody asks about him */
    struct privilege_needs needs;
    struct subject *subjects;
    size_t count;
};

/* --- asking ----------------------------------------------------------------------------------- */

static enum weir_status get(struct weir_client *client, const char *path, const char *as,
                            struct weir_response *ret, struct weir_error *err)
{
    const struct weir_http_header caller = { .name = "CallerObjectId", .value = as };
    const struct weir_request request = {
        .method = "GET", .path = path, .headers = &caller, .header_count = as != NULL
    };
    return weir_execute(client, &request, ret, err);
}

static void ask_held(struct weir_client *client, const struct privilege_needs *needs,
                     const struct weir_guid *user, struct subject *subject)
{
    struct weir_buf path;
    struct weir_response response = { 0 };
    weir_buf_init(&path, PATH_BYTES_MAX);
    privilege_set_path(needs, user, &path);
    enum weir_status status = get(client, weir_buf_text(&path), NULL, &response, &subject->err);
    if (!status)
        status = privilege_set_read(&subject->held, needs,
                                    weir_str(response.body, response.body_bytes), &subject->err);
    subject->asked = status == WEIR_OK;
    weir_response_release(&response);
    weir_buf_release(&path);
}

/* Who that is in the service is told by whoever may act for him. */
static void ask_acted_for(struct weir_client *client, struct comparison *it)
{
    struct subject *subject = &it->subjects[it->count - 1];
    struct weir_response response = { 0 };
    struct weir_whoami who;
    enum weir_status status = get(client, "WhoAmI", it->as, &response, &subject->err);
    if (!status)
        status =
            weir_answer_whoami(weir_str(response.body, response.body_bytes), &who, &subject->err);
    weir_response_release(&response);
    if (!status)
        ask_held(client, &it->needs, &who.user_id, subject);
    else
        subject->refused = subject->err.http_status == 403;
}

static bool may_act(const struct comparison *it, const struct subject *subject)
{
    for (size_t i = 0; i < it->needs.count; i++) {
        if (strcmp(it->needs.list[i].name, PRIVILEGE_ACT) == 0)
            return subject->held.depths[i] != PRIVILEGE_LACKING;
    }
    return false;
}

/* The first one that may act for him asks about him. */
static void visit(void *ctx, struct weir_client *client, size_t row)
{
    struct comparison *it = ctx;
    struct subject *subject = &it->subjects[row];
    ask_held(client, &it->needs, &it->inspection->rows[row].who.user_id, subject);
    if (it->as && subject->asked && may_act(it, subject) &&
        !__atomic_exchange_n(&it->acted_for, true, __ATOMIC_RELAXED))
        ask_acted_for(client, it);
}

static enum weir_status ask_needs(struct comparison *it, const struct dry_run_job *job,
                                  struct weir_error *err)
{
    struct weir_buf path;
    struct weir_response response = { 0 };
    weir_buf_init(&path, PATH_BYTES_MAX);
    privilege_needs_path(job->table, job->check, &path);
    enum weir_status status = get(job->client, weir_buf_text(&path), NULL, &response, err);
    if (!status)
        status = privilege_needs_read(&it->needs, weir_str(response.body, response.body_bytes),
                                      job->options, job->table, job->check, err);
    weir_response_release(&response);
    weir_buf_release(&path);
    return status;
}

/* --- saying ----------------------------------------------------------------------------------- */

static bool is_needed(const struct comparison *it, size_t subject, size_t need)
{
    return !it->needs.list[need].of_caller || subject < it->inspection->count;
}

static size_t count_lacking(const struct comparison *it, size_t subject)
{
    size_t lacking = 0;
    for (size_t i = 0; it->subjects[subject].asked && i < it->needs.count; i++)
        lacking +=
            is_needed(it, subject, i) && it->subjects[subject].held.depths[i] == PRIVILEGE_LACKING;
    return lacking;
}

static void say_lacking(const struct comparison *it, size_t subject)
{
    const struct subject *who = &it->subjects[subject];
    for (size_t i = 0; who->asked && i < it->needs.count; i++) {
        const struct privilege_need *need = &it->needs.list[i];
        if (is_needed(it, subject, i) && who->held.depths[i] == PRIVILEGE_LACKING)
            say_wrapped("%s may not %s (%s): give one of its security roles this privilege",
                        who->name, need->what, need->name);
    }
}

/* The furthest that any connection reaches. */
static enum privilege_depth deepest(const struct comparison *it, size_t need)
{
    enum privilege_depth found = PRIVILEGE_LACKING;
    for (size_t i = 0; i < it->inspection->count; i++) {
        enum privilege_depth depth = it->subjects[i].held.depths[need];
        found = depth > found ? depth : found;
    }
    return found;
}

static void say_depths(const struct comparison *it, const struct subject *who)
{
    struct weir_buf list;
    weir_buf_init(&list, SAY_LINE_MAX);
    for (size_t i = 0; i < it->needs.count; i++) {
        enum privilege_depth depth = who->held.depths[i], most = deepest(it, i);
        if (depth != PRIVILEGE_LACKING && depth < most)
            weir_buf_printf(&list, "%s %s at depth %s, not %s", list.len ? ";" : "",
                            it->needs.list[i].name, privilege_depth_name(depth),
                            privilege_depth_name(most));
    }
    if (list.len)
        say_wrapped("%s reaches less far than others:%s", who->name, weir_buf_text(&list));
    weir_buf_release(&list);
}

static void say_unread(const struct subject *subject)
{
    if (subject->refused)
        say_wrapped("nobody may act for the user %s (--as): %s", subject->name,
                    subject->err.message);
    else
        say_wrapped("the privileges of %s could not be read: %s", subject->name,
                    subject->err.message[0] ? subject->err.message
                                            : "no connection may act for him");
}

/* What stands in the report: how many of them may do it all. */
static void print_line(const struct comparison *it, size_t able, size_t asked)
{
    size_t of = inspection_working(it->inspection) + (it->as != NULL);
    const char *whose = it->as ? "user" : "connection";
    if (asked == 0)
        puts("privileges     could not be read");
    else if (able == of)
        printf("privileges     %zu needed: %s %s has %s\n", it->needs.count,
               of > 1 ? "every" : "the", whose, it->needs.count == 1 ? "it" : "them");
    else
        printf("privileges     %zu needed: %zu of %zu %ss %s all of them%s\n", it->needs.count,
               able, of, whose, able == 1 ? "has" : "have",
               asked < of ? "; not all could be asked" : "");
}

static int conclude(const struct comparison *it)
{
    size_t able = 0, asked = 0;
    bool lacking = false;
    for (size_t i = 0; i < it->count; i++) {
        bool works = i >= it->inspection->count || it->inspection->rows[i].status == WEIR_OK;
        say_lacking(it, i);
        if (works && !it->subjects[i].asked)
            say_unread(&it->subjects[i]);
        lacking |= count_lacking(it, i) > 0 || it->subjects[i].refused;
        able += it->subjects[i].asked && count_lacking(it, i) == 0;
        asked += it->subjects[i].asked;
    }
    for (size_t i = 0; i < it->inspection->count; i++)
        say_depths(it, &it->subjects[i]);
    print_line(it, able, asked);
    return lacking ? EXIT_CREDENTIALS : EXIT_DONE;
}

int dry_run_compare_privileges(const struct dry_run_job *job, const struct inspection *inspection)
{
    struct comparison it = { .inspection = inspection, .as = job->options->as };
    struct weir_error err = { 0 };
    if (ask_needs(&it, job, &err)) {
        say_wrapped("the privileges that the rows need could not be read: %s", err.message);
        puts("privileges     could not be read");
        return EXIT_DONE;
    }
    it.count = inspection->count + (it.as != NULL);
    it.subjects = weir_calloc(it.count, sizeof(*it.subjects));
    for (size_t i = 0; i < it.count; i++)
        it.subjects[i].name = i < inspection->count ? inspection->rows[i].name : it.as;
    if (job->check->view.links_forgotten)
        say_wrapped(
            "rows point to more than %d tables; whether they may is looked at for the first of "
            "them",
            WEIR_CHECK_LINKS_MAX);
    inspection_each(inspection, visit, &it);
    int code = conclude(&it);
    free(it.subjects);
    return code;
}
