/* SPDX-License-Identifier: MIT */
/*
 * Taking an address apart, from the outside in:
 *
 *     target = [scheme://host] [/api/data/v9.x] path [?query] [#…]
 *     path   = segment *( "/" segment )        decoded first: a quote may have come as %27
 *     segment = name [ "(" predicate ")" ]     slashes within quotes do not end it
 *
 * Entity sets are written in lower case, functions and the sets of the metadata begin with a
 * capital: this is how they are told apart without a schema.
 */
#include "sim/service/url.h"

#include "base/mem.h"

#define NAMESPACE "Microsoft.Dynamics.CRM."

static const char *const option_names[SIM_OPTIONS] = {
    [SIM_OPTION_SELECT] = "$select",
    [SIM_OPTION_FILTER] = "$filter",
    [SIM_OPTION_TOP] = "$top",
    [SIM_OPTION_COUNT] = "$count",
    [SIM_OPTION_EXPAND] = "$expand",
    [SIM_OPTION_ORDERBY] = "$orderby",
    [SIM_OPTION_SKIPTOKEN] = "$skiptoken",
    [SIM_OPTION_SKIP] = "$skip",
    [SIM_OPTION_APPLY] = "$apply",
    [SIM_OPTION_FORMAT] = "$format",
    [SIM_OPTION_FETCHXML] = "fetchXml",
    [SIM_OPTION_TAG] = "tag",
    [SIM_OPTION_PARTITION_ID] = "partitionId",
};

static struct weir_str tail(struct weir_str text, size_t from)
{
    return weir_str(text.ptr + from, text.len - from);
}

static size_t find_char(struct weir_str text, char c)
{
    const char *at = text.len ? memchr(text.ptr, c, text.len) : NULL;
    return at ? (size_t)(at - text.ptr) : text.len;
}

static bool fail(struct sim_url *url, enum sim_url_problem problem)
{
    url->problem = problem;
    return false;
}

/* ---- percent-decoding ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* How many bytes the UTF-8 character at `at` has; 0: it is none, or a control character. */
static size_t character(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80)
        return at[0] >= 0x20 && at[0] != 0x7f ? 1 : 0;
    size_t len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool outside = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

static bool is_text(struct weir_str text)
{
    for (size_t i = 0, len; i < text.len; i += len) {
        len = character((const unsigned char *)text.ptr + i, text.len - i);
        if (!len)
            return false;
    }
    return true;
}

/* Room for `len` more decoded bytes; the memory never moves, as slices point into it. */
static char *room(struct sim_url *url, size_t len)
{
    if (!url->text)
        url->text = weir_calloc(url->text_capacity, 1);
    return url->text_len + len <= url->text_capacity ? url->text + url->text_len : NULL;
}

static bool needs_decoding(struct weir_str raw, bool query)
{
    return find_char(raw, '%') < raw.len || (query && find_char(raw, '+') < raw.len);
}

static bool unescape(struct weir_str raw, bool query, char *out, size_t *ret_len)
{
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i];
        if (c == '%') {
            int high = raw.len - i > 2 ? hex_digit(raw.ptr[i + 1]) : -1;
            int low = raw.len - i > 2 ? hex_digit(raw.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        out[len++] = c;
    }
    *ret_len = len;
    return true;
}

static bool decode(struct sim_url *url, struct weir_str raw, bool query, struct weir_str *ret)
{
    struct weir_str text = raw;
    if (needs_decoding(raw, query)) {
        char *out = room(url, raw.len);
        if (!out || !unescape(raw, query, out, &text.len))
            return fail(url, SIM_URL_BAD_ENCODING);
        text.ptr = out;
        url->text_len += text.len;
    }
    if (!is_text(text))
        return fail(url, SIM_URL_BAD_ENCODING);
    *ret = text;
    return true;
}

/* ---- key predicates ---- */

struct key_reader {
    struct weir_str raw;
    size_t at;
    char *text;
    size_t text_len;
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_name(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_name_char(text.ptr[i]))
            return false;
    }
    return text.len > 0;
}

static void skip_blanks(struct key_reader *r)
{
    while (r->at < r->raw.len && r->raw.ptr[r->at] == ' ')
        r->at++;
}

static bool read_quoted(struct key_reader *r, struct sim_url_key *key)
{
    char *out = r->text + r->text_len;
    size_t len = 0;
    for (r->at++; r->at < r->raw.len; r->at++) {
        char c = r->raw.ptr[r->at];
        if (c == '\'') {
            r->at++;
            if (r->at == r->raw.len || r->raw.ptr[r->at] != '\'') {
                key->value = weir_str(out, len);
                key->quoted = true;
                r->text_len += len;
                return true;
            }
        }
        out[len++] = c;
    }
    return false;
}

static bool read_bare(struct key_reader *r, struct sim_url_key *key)
{
    size_t start = r->at;
    while (r->at < r->raw.len && r->raw.ptr[r->at] != ',' && r->raw.ptr[r->at] != ' ') {
        if (memchr("'()=@/", r->raw.ptr[r->at], 6))
            return false;
        r->at++;
    }
    key->value = weir_str(r->raw.ptr + start, r->at - start);
    return key->value.len > 0;
}

/* "name=" if there is one; a bare value has none. */
static bool read_name(struct key_reader *r, struct sim_url_key *key)
{
    size_t end = r->at;
    while (end < r->raw.len && is_name_char(r->raw.ptr[end]))
        end++;
    size_t equals = end;
    while (equals < r->raw.len && r->raw.ptr[equals] == ' ')
        equals++;
    if (equals == r->raw.len || r->raw.ptr[equals] != '=')
        return true;
    key->name = weir_str(r->raw.ptr + r->at, end - r->at);
    r->at = equals + 1;
    skip_blanks(r);
    return key->name.len > 0;
}

static bool read_key(struct key_reader *r, struct sim_url_key *key)
{
    *key = (struct sim_url_key){ .name = { "", 0 } };
    skip_blanks(r);
    if (!read_name(r, key) || r->at == r->raw.len)
        return false;
    bool ok = r->raw.ptr[r->at] == '\'' ? read_quoted(r, key) : read_bare(r, key);
    skip_blanks(r);
    return ok;
}

bool sim_url_keys_parse(struct weir_str raw, char *text, struct sim_url_key *keys, uint32_t max,
                        uint32_t *ret_count)
{
    struct key_reader r = { raw, 0, text, 0 };
    uint32_t count = 0;
    for (bool more = true; more; r.at++) {
        if (count == max || !read_key(&r, &keys[count]))
            return false;
        count++;
        more = r.at < raw.len;
        if (more && raw.ptr[r.at] != ',')
            return false;
        /* A bare value stands alone. */
        if (!keys[count - 1].name.len && (more || count > 1))
            return false;
    }
    *ret_count = count;
    return true;
}

/* ---- the path ---- */

struct segment {
    struct weir_str name;
    struct weir_str predicate; /* ptr NULL: no parentheses */
};

/* The first segment of *path, which loses it and the slash behind it. */
static struct weir_str take_segment(struct weir_str *path)
{
    bool quoted = false;
    size_t end = 0;
    while (end < path->len && (quoted || path->ptr[end] != '/'))
        quoted ^= path->ptr[end++] == '\'';
    struct weir_str segment = weir_str(path->ptr, end);
    *path = tail(*path, end < path->len ? end + 1 : end);
    return segment;
}

static bool split_segment(struct weir_str text, struct segment *ret)
{
    size_t open = find_char(text, '(');
    ret->name = weir_str(text.ptr, open);
    ret->predicate = weir_str(NULL, 0);
    if (open == text.len)
        return true;
    if (text.ptr[text.len - 1] != ')')
        return false;
    ret->predicate = weir_str(text.ptr + open + 1, text.len - open - 2);
    return true;
}

static bool take_keys(struct sim_url *url, struct weir_str predicate)
{
    if (!predicate.ptr)
        return true;
    char *text = room(url, predicate.len);
    if (!text || !sim_url_keys_parse(predicate, text, url->keys, SIM_URL_KEYS_MAX, &url->key_count))
        return fail(url, SIM_URL_BAD_KEY);
    url->text_len += predicate.len;
    return true;
}

static struct weir_str without_namespace(struct weir_str name)
{
    size_t len = sizeof(NAMESPACE) - 1;
    return name.len > len && !memcmp(name.ptr, NAMESPACE, len) ? tail(name, len) : name;
}

static bool is_metadata(struct weir_str name)
{
    static const char *const sets[] = { "EntityDefinitions", "GlobalOptionSetDefinitions",
                                        "RelationshipDefinitions", "ManagedPropertyDefinitions" };
    for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
        if (weir_str_equal(name, weir_str_from(sets[i])))
            return true;
    }
    return false;
}

static void take_function(struct sim_url *url, const struct segment *segment)
{
    url->action = without_namespace(segment->name);
    url->arguments = segment->predicate.ptr ? segment->predicate : weir_str("", 0);
    if (url->rest.len || !is_name(url->action))
        return;
    bool whoami = weir_str_equal(url->action, weir_str_from("WhoAmI"));
    url->kind = whoami && !url->arguments.len ? SIM_URL_WHOAMI : SIM_URL_FUNCTION;
}

static void take_action(struct sim_url *url, struct weir_str name, struct weir_str more)
{
    struct segment segment;
    if (more.len || !split_segment(name, &segment))
        return;
    url->action = without_namespace(segment.name);
    url->arguments = segment.predicate.ptr ? segment.predicate : weir_str("", 0);
    if (is_name(url->action))
        url->kind = SIM_URL_ACTION;
}

/* accounts… or accounts(…)…: what is it that follows? */
static void classify_set(struct sim_url *url)
{
    if (!is_name(url->set))
        return;
    if (!url->rest.len) {
        url->kind = url->key_count ? SIM_URL_RECORD : SIM_URL_SET;
        return;
    }
    struct weir_str more = url->rest;
    struct weir_str next = take_segment(&more);
    if (without_namespace(next).len < next.len)
        take_action(url, next, more);
    else if (url->key_count)
        url->kind = SIM_URL_PROPERTY;
    else if (weir_str_equal(next, weir_str_from("$count")) && !more.len)
        url->kind = SIM_URL_COUNT;
}

static bool take_dollar(struct sim_url *url)
{
    int64_t number;
    if (weir_str_equal(url->set, weir_str_from("$metadata")) && !url->rest.len)
        url->kind = SIM_URL_DOCUMENT;
    else if (weir_str_equal(url->set, weir_str_from("$batch")) && !url->rest.len)
        url->kind = SIM_URL_BATCH;
    else if (url->set.ptr[1] != '-' && url->set.ptr[1] != '+' &&
             weir_str_to_int64(tail(url->set, 1), &number))
        url->kind = SIM_URL_REFERENCE;
    return true;
}

static bool take_path(struct sim_url *url, struct weir_str path)
{
    struct segment segment;
    if (!split_segment(take_segment(&path), &segment))
        return fail(url, SIM_URL_BAD_KEY);
    url->set = segment.name;
    url->rest = path;
    if (!segment.name.len) {
        url->kind = path.len || segment.predicate.ptr ? SIM_URL_UNKNOWN : SIM_URL_ROOT;
        return true;
    }
    char first = segment.name.ptr[0];
    if (first == '$')
        return segment.name.len < 2 || segment.predicate.ptr || take_dollar(url);
    if (is_metadata(segment.name)) {
        url->kind = SIM_URL_METADATA;
        return take_keys(url, segment.predicate);
    }
    if (first >= 'A' && first <= 'Z') {
        take_function(url, &segment);
        return true;
    }
    if (!take_keys(url, segment.predicate))
        return false;
    classify_set(url);
    return true;
}

/* What the checks of the outer address want to know of the decoded path. */
static void inspect_path(struct sim_url *url, struct weir_str path)
{
    bool quoted = false;
    uint32_t chars = 0;
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        quoted ^= c == '\'';
        url->unsafe_path |= memchr("<>*%&:\\?", c, 8) || (quoted && (c == '/' || c == '+'));
        chars = c == '/' && !quoted ? 0 : chars + ((c & 0xc0) != 0x80);
        if (chars > url->segment_chars)
            url->segment_chars = chars;
    }
}

/* ---- the query ---- */

static bool is_fetch(struct weir_str name)
{
    return weir_str_equal_nocase(name, weir_str_from("savedQuery")) ||
           weir_str_equal_nocase(name, weir_str_from("userQuery"));
}

static int find_option(struct weir_str name)
{
    for (int i = 0; i < SIM_OPTIONS; i++) {
        if (weir_str_equal_nocase(name, weir_str_from(option_names[i])))
            return i;
    }
    return is_fetch(name) ? SIM_OPTION_FETCHXML : -1;
}

static bool take_alias(struct sim_url *url, struct weir_str name, struct weir_str value)
{
    if (url->alias_count == SIM_URL_ALIASES_MAX || sim_url_alias(url, name).ptr)
        return fail(url, SIM_URL_BAD_QUERY);
    url->aliases[url->alias_count++] = (struct sim_url_alias){ name, value };
    return true;
}

static bool take_option(struct sim_url *url, struct weir_str raw)
{
    size_t equals = find_char(raw, '=');
    struct weir_str name, value;
    if (!decode(url, weir_str(raw.ptr, equals), true, &name) ||
        !decode(url, tail(raw, equals < raw.len ? equals + 1 : equals), true, &value))
        return false;
    if (name.len && name.ptr[0] == '@')
        return take_alias(url, name, value);
    int option = find_option(name);
    if (option >= 0) {
        if (url->options[option].ptr)
            return fail(url, SIM_URL_BAD_QUERY);
        url->options[option] = value;
    } else if (name.len && name.ptr[0] == '$' && !url->unknown_option.ptr) {
        url->unknown_option = name;
    }
    return true;
}

static bool take_query(struct sim_url *url, struct weir_str query)
{
    while (query.len) {
        size_t end = find_char(query, '&');
        if (end && !take_option(url, weir_str(query.ptr, end)))
            return false;
        query = tail(query, end < query.len ? end + 1 : end);
    }
    return true;
}

/* ---- the whole ---- */

/* Without scheme and host. */
static struct weir_str strip_host(struct weir_str target, bool *ret_absolute)
{
    *ret_absolute =
        weir_str_starts_nocase(target, "http://") || weir_str_starts_nocase(target, "https://");
    if (!*ret_absolute)
        return target;
    target = tail(target, find_char(target, ':') + 3);
    return tail(target, find_char(target, '/'));
}

/* Behind "/api/data/v9.x". False: it stands elsewhere. */
static bool strip_root(struct sim_url *url, struct weir_str *path)
{
    static const char root[] = "/api/data/v9.";
    size_t len = sizeof(root) - 1;
    if (!weir_str_starts_nocase(*path, root) || path->len == len)
        return false;
    char minor = path->ptr[len];
    bool ends = path->len == len + 1 || path->ptr[len + 1] == '/';
    if (minor < '0' || minor > '2' || !ends)
        return false;
    url->version = weir_str(path->ptr + len - 3, 4);
    *path = tail(*path, len + 1);
    return true;
}

static void drop_slash(struct weir_str *path)
{
    if (path->len && path->ptr[0] == '/')
        *path = tail(*path, 1);
}

/* One slash at the end means nothing. */
static void drop_last_slash(struct weir_str *path)
{
    if (path->len && path->ptr[path->len - 1] == '/')
        path->len--;
}

bool sim_url_parse(struct weir_str target, struct sim_url *ret)
{
    *ret = (struct sim_url){ .version = { "v9.2", 4 }, .text_capacity = 2 * target.len + 1 };
    if (target.len > SIM_URL_BATCH_BYTES_MAX)
        return fail(ret, SIM_URL_TOO_LONG);
    if (!target.ptr)
        target.ptr = "";
    bool absolute;
    target.len = find_char(target, '#');
    struct weir_str path = strip_host(target, &absolute);
    size_t mark = find_char(path, '?');
    if (mark < path.len)
        ret->query = tail(path, mark + 1);
    path.len = mark;
    ret->rooted = strip_root(ret, &path);
    drop_slash(&path);
    ret->path = path;
    struct weir_str decoded;
    if (!decode(ret, path, false, &decoded) || !take_query(ret, ret->query))
        return false;
    inspect_path(ret, decoded);
    drop_last_slash(&decoded);
    bool elsewhere = !ret->rooted && (absolute || weir_str_starts_nocase(decoded, "api/data/"));
    return elsewhere || take_path(ret, decoded);
}

void sim_url_release(struct sim_url *url)
{
    free(url->text);
    *url = (struct sim_url){ 0 };
}

struct weir_str sim_url_alias(const struct sim_url *url, struct weir_str name)
{
    for (uint32_t i = 0; i < url->alias_count; i++) {
        if (weir_str_equal(url->aliases[i].name, name))
            return url->aliases[i].value;
    }
    return weir_str(NULL, 0);
}

bool sim_url_refuse(const struct sim_url *url, struct sim_answer *answer)
{
    const char *message = "Bad Request - Error in query syntax.";
    if (url->problem == SIM_URL_TOO_LONG)
        message = "Invalid URI: The Uri string is too long.";
    else if (url->problem == SIM_URL_BAD_ENCODING)
        message = "Bad Request - Invalid URL";
    else if (url->problem == SIM_URL_BAD_QUERY)
        message = "Bad Request - A query option must be specified at most once.";
    sim_answer_error(answer, 400, "0x80060888", "%s", message);
    return false;
}

bool sim_url_check_outer(const struct sim_url *url, size_t target_bytes, struct sim_answer *answer)
{
    if (target_bytes > SIM_URL_BYTES_MAX)
        sim_answer_error(answer, 400, "0x80060888", "Invalid URI: The Uri string is too long.");
    else if (url->segment_chars > SIM_URL_SEGMENT_MAX)
        sim_answer_error(answer, 400, "0x80060888", "Bad Request - Invalid URL");
    else if (url->unsafe_path)
        sim_answer_error(
            answer, 400, "0x80060888",
            "A potentially dangerous Request.Path value was detected from the client.");
    else
        return true;
    return false;
}
