/* SPDX-License-Identifier: MIT */
/* summary.json; see summary.h. An object is a list of members, each on a line of its own. */
#include "bulk/summary.h"

#include <math.h>

#include "base/json.h"
#include "base/json_text.h"

/* Where the next member goes. */
struct object {
    struct weir_buf *text;
    int indent;
    bool filled; /* it has a member already */
};

static struct object begin(struct weir_buf *text, int indent)
{
    weir_buf_add_char(text, '{');
    return (struct object){ .text = text, .indent = indent };
}

static void new_line(struct weir_buf *text, int indent)
{
    weir_buf_printf(text, "\n%*s", indent, "");
}

static void end(struct object *object)
{
    new_line(object->text, object->indent - 2);
    weir_buf_add_char(object->text, '}');
}

static void add_key(struct object *object, const char *key)
{
    if (object->filled)
        weir_buf_add_char(object->text, ',');
    object->filled = true;
    new_line(object->text, object->indent);
    weir_buf_printf(object->text, "\"%s\": ", key);
}

static void add_name(struct object *object, const char *key, const char *name)
{
    add_key(object, key);
    if (name)
        weir_json_text_add(object->text, weir_str_from(name));
    else
        weir_buf_add_text(object->text, "null");
}

static void add_count(struct object *object, const char *key, uint64_t count)
{
    add_key(object, key);
    weir_buf_printf(object->text, "%llu", (unsigned long long)count);
}

/* In whole milliseconds: printf's decimal point is the locale's. */
static void add_seconds(struct object *object, const char *key, double seconds)
{
    double ms = isfinite(seconds) && seconds > 0 ? seconds * 1000 + 0.5 : 0;
    uint64_t whole = ms < 1e15 ? (uint64_t)ms : UINT64_C(1000000000000000);
    add_key(object, key);
    weir_buf_printf(object->text, "%llu.%03llu", (unsigned long long)(whole / 1000),
                    (unsigned long long)(whole % 1000));
}

static void add_connection(struct weir_buf *text, const struct weir_summary_connection *connection)
{
    struct object object = begin(text, 6);
    add_name(&object, "name", connection->name);
    add_count(&object, "requests", connection->requests);
    add_count(&object, "done_rows", connection->done_rows);
    add_count(&object, "throttles", connection->throttles);
    add_seconds(&object, "throttle_wait_s", connection->throttle_wait_s);
    add_count(&object, "level", connection->level);
    add_name(&object, "bound_by", weir_bound_name(connection->bound_by));
    end(&object);
}

static void add_connections(struct object *object, const struct weir_summary *summary)
{
    add_key(object, "connections");
    weir_buf_add_char(object->text, '[');
    for (size_t i = 0; i < summary->connection_count; i++) {
        if (i > 0)
            weir_buf_add_char(object->text, ',');
        new_line(object->text, 4);
        add_connection(object->text, &summary->connections[i]);
    }
    if (summary->connection_count > 0)
        new_line(object->text, 2);
    weir_buf_add_char(object->text, ']');
}

void weir_summary_write(const struct weir_summary *summary, struct weir_buf *text)
{
    struct object object = begin(text, 2);
    add_name(&object, "job", summary->job);
    add_name(&object, "operation", summary->operation);
    add_name(&object, "table", summary->table);
    add_count(&object, "read", summary->read);
    add_count(&object, "done", summary->done);
    add_count(&object, "rejected", summary->rejected);
    add_count(&object, "skipped", summary->skipped);
    add_count(&object, "unknown", summary->unknown);
    add_count(&object, "not_sent", summary->not_sent);
    add_key(&object, "read_to_end");
    weir_buf_add_text(text, summary->read_to_end ? "true" : "false");
    add_seconds(&object, "elapsed_s", summary->elapsed_s);
    add_seconds(&object, "cpu_user_s", summary->cpu_user_s);
    add_seconds(&object, "cpu_system_s", summary->cpu_system_s);
    add_count(&object, "peak_rss_kib", summary->peak_rss_kib);
    add_count(&object, "requests", summary->requests);
    add_count(&object, "bytes_sent", summary->bytes_sent);
    add_count(&object, "throttles", summary->throttles);
    add_seconds(&object, "throttle_wait_s", summary->throttle_wait_s);
    add_count(&object, "batch_rows", summary->batch_rows);
    add_key(&object, "exit_code");
    weir_buf_printf(text, "%d", summary->exit_code);
    add_connections(&object, summary);
    end(&object);
    weir_buf_add_char(text, '\n');
}

bool weir_summary_read_exit_code(struct weir_str text, int *ret)
{
    struct weir_json *json;
    int64_t code;
    if (weir_json_parse(text, &json, NULL) != WEIR_OK)
        return false;
    const struct weir_json_node *node = weir_json_find(weir_json_root(json), "exit_code");
    bool found = node && node->type == WEIR_JSON_NUMBER && weir_str_to_int64(node->text, &code) &&
                 code >= 0 && code <= 255;
    if (found)
        *ret = (int)code;
    weir_json_free(json);
    return found;
}
