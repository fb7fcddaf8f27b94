/* SPDX-License-Identifier: MIT */
/*
 * $filter as a tree in one array: a node is made after its children, the last one is the root.
 *
 *     a eq 1 and (b eq 2 or not c eq 3)
 *     [0] a eq 1  [1] b eq 2  [2] c eq 3  [3] not 2  [4] or 1 3  [5] and 0 4
 *
 * Values of all nodes stand in one array too; a node has a slice of it.
 */
#include "sim/service/filter.h"

#include "base/mem.h"
#include "sim/service/literal.h"

enum op {
    OP_EQ,
    OP_NE,
    OP_GT,
    OP_GE,
    OP_LT,
    OP_LE,
    OP_CONTAINS,
    OP_STARTS,
    OP_ENDS,
    OP_IN,
    OP_NOT_IN,
    OP_AND, /* of two nodes, as the next */
    OP_OR,
    OP_NOT,
};

struct node {
    enum op op;
    uint32_t slot;
    uint32_t value; /* the first of them … */
    uint32_t value_count;
    uint32_t left; /* … or the children */
    uint32_t right;
};

struct sim_filter {
    const struct sim_filter_names *names;
    struct node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    struct sim_value *values;
    uint32_t value_count;
    uint32_t value_capacity;
    char *text; /* of literals with doubled quotes */
    size_t text_len;
    size_t text_capacity;
};

struct reader {
    struct sim_filter *filter;
    const struct sim_url *url;
    struct sim_answer *answer;
    struct weir_str text;
    size_t at;
    uint32_t depth;
    uint32_t conditions;
};

/* ---- building ---- */

static uint32_t add_node(struct sim_filter *f, struct node node)
{
    if (f->node_count == f->node_capacity) {
        f->node_capacity = f->node_capacity ? 2 * f->node_capacity : 16;
        f->nodes = weir_realloc(f->nodes, f->node_capacity, sizeof(*f->nodes));
    }
    f->nodes[f->node_count] = node;
    return f->node_count++;
}

static void add_value(struct sim_filter *f, struct sim_value value)
{
    if (f->value_count == f->value_capacity) {
        f->value_capacity = f->value_capacity ? 2 * f->value_capacity : 16;
        f->values = weir_realloc(f->values, f->value_capacity, sizeof(*f->values));
    }
    f->values[f->value_count++] = value;
}

/* Not longer than a message should be, and no half characters. */
static int cut(struct weir_str text)
{
    size_t len = text.len < 500 ? text.len : 500;
    while (len && len < text.len && (text.ptr[len] & 0xc0) == 0x80)
        len--;
    return (int)len;
}

static bool refuse(struct reader *r, const char *message)
{
    sim_answer_error(r->answer, 400, "0x80060888", "%s at position %zu in '%.*s'.", message, r->at,
                     cut(r->text), r->text.ptr);
    return false;
}

/* ---- words ---- */

static void skip_blanks(struct reader *r)
{
    while (r->at < r->text.len && r->text.ptr[r->at] == ' ')
        r->at++;
}

static bool take_char(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->text.len || r->text.ptr[r->at] != c)
        return false;
    r->at++;
    return true;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_./@-+:", c)) || (c & 0x80);
}

/* The next word, which is left where it is. */
static struct weir_str peek_word(struct reader *r)
{
    skip_blanks(r);
    size_t end = r->at;
    while (end < r->text.len && is_word_char(r->text.ptr[end]))
        end++;
    return weir_str(r->text.ptr + r->at, end - r->at);
}

static struct weir_str take_word(struct reader *r)
{
    struct weir_str word = peek_word(r);
    r->at += word.len;
    return word;
}

static bool is(struct weir_str word, const char *text)
{
    return weir_str_equal(word, weir_str_from(text));
}

static bool take_keyword(struct reader *r, const char *keyword)
{
    struct weir_str word = peek_word(r);
    if (!is(word, keyword))
        return false;
    r->at += word.len;
    return true;
}

/* ---- literals ---- */

struct literal {
    struct weir_str text; /* without quotes */
    bool quoted;
};

/* A quoted text in `raw` from *at on; doubled quotes become one. */
static bool unquote(struct sim_filter *f, struct weir_str raw, size_t *at, struct weir_str *ret)
{
    char *out = f->text + f->text_len;
    size_t len = 0;
    for (size_t i = *at + 1; i < raw.len; i++) {
        if (raw.ptr[i] == '\'' && (i + 1 == raw.len || raw.ptr[i + 1] != '\'')) {
            *at = i + 1;
            *ret = weir_str(out, len);
            f->text_len += len;
            return true;
        }
        i += raw.ptr[i] == '\'';
        out[len++] = raw.ptr[i];
    }
    return false;
}

/* An alias stands for a whole literal. */
static bool take_alias(struct reader *r, struct weir_str name, struct literal *ret)
{
    struct weir_str raw = sim_url_alias(r->url, name);
    if (!raw.ptr)
        return refuse(r, "A parameter alias is not defined");
    raw = weir_str_trim(raw);
    ret->text = raw;
    ret->quoted = raw.len && raw.ptr[0] == '\'';
    size_t at = 0;
    /* Used twice it is copied twice, for which there may be no room. */
    if (ret->quoted && r->filter->text_len + raw.len > r->filter->text_capacity)
        return refuse(r, "A parameter alias is used too often");
    if (ret->quoted && (!unquote(r->filter, raw, &at, &ret->text) || at != raw.len))
        return refuse(r, "A parameter alias is no literal");
    return true;
}

static bool take_literal(struct reader *r, struct literal *ret)
{
    skip_blanks(r);
    ret->quoted = r->at < r->text.len && r->text.ptr[r->at] == '\'';
    if (ret->quoted) {
        if (unquote(r->filter, r->text, &r->at, &ret->text))
            return true;
        return refuse(r, "There is an unterminated string literal");
    }
    ret->text = take_word(r);
    if (!ret->text.len)
        return refuse(r, "Expression expected");
    return ret->text.ptr[0] != '@' || take_alias(r, ret->text, ret);
}

static bool is_text_type(enum sim_type type)
{
    return type == SIM_TYPE_STRING || type == SIM_TYPE_MEMO || type == SIM_TYPE_MULTI_PICKLIST;
}

/* `loose`: values of In are all quoted, whatever the type. */
static bool add_literal(struct reader *r, const struct sim_column *column, struct literal literal,
                        bool loose)
{
    struct sim_value value = { .kind = SIM_NULL };
    bool null = !literal.quoted && is(literal.text, "null");
    bool text = is_text_type(column->type);
    bool id = column->type == SIM_TYPE_UNIQUEIDENTIFIER || sim_type_is_lookup(column->type);
    bool fits = loose || text == literal.quoted || (id && literal.quoted);
    if (!null && (!fits || !sim_literal_parse(column, literal.text, &value)))
        return refuse(r, "A binary operator with incompatible types was detected");
    add_value(r->filter, value);
    return true;
}

/* ---- conditions ---- */

static const struct sim_column *find_column(struct reader *r, struct weir_str path, uint32_t *slot)
{
    const struct sim_filter_names *names = r->filter->names;
    const struct sim_column *column = names->find(names->ctx, path, slot);
    if (!column)
        sim_answer_error(r->answer, 400, "0x0",
                         "Could not find a property named '%.*s' on type "
                         "'Microsoft.Dynamics.CRM.%s'.",
                         cut(path), path.ptr, names->type);
    return column;
}

static bool count_condition(struct reader *r)
{
    if (++r->conditions <= SIM_FILTER_CONDITIONS_MAX)
        return true;
    return refuse(r, "Number of conditions in query exceeded maximum limit");
}

static bool find_op(struct weir_str word, enum op *ret)
{
    static const char *const names[] = { "eq", "ne", "gt", "ge", "lt", "le" };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is(word, names[i])) {
            *ret = (enum op)i;
            return true;
        }
    }
    return false;
}

static bool read_comparison(struct reader *r, uint32_t *ret)
{
    struct node node = { .value = r->filter->value_count, .value_count = 1 };
    struct weir_str path = take_word(r);
    if (!path.len)
        return refuse(r, "Expression expected");
    const struct sim_column *column = find_column(r, path, &node.slot);
    if (!column)
        return false;
    struct weir_str op = take_word(r);
    struct literal literal;
    if (!find_op(op, &node.op))
        return refuse(r, "Syntax error: an operator was expected");
    if (!take_literal(r, &literal) || !add_literal(r, column, literal, false))
        return false;
    *ret = add_node(r->filter, node);
    return true;
}

/* contains(path,'x'), startswith(…), endswith(…) */
static bool read_text_function(struct reader *r, enum op op, uint32_t *ret)
{
    struct node node = { .op = op, .value = r->filter->value_count, .value_count = 1 };
    const struct sim_column *column = find_column(r, take_word(r), &node.slot);
    struct literal literal;
    if (!column)
        return false;
    if (!take_char(r, ','))
        return refuse(r, "Syntax error: ',' expected");
    if (!take_literal(r, &literal))
        return false;
    if (!literal.quoted || !is_text_type(column->type))
        return refuse(r, "No function signature matches the specified arguments");
    if (!add_literal(r, column, literal, false))
        return false;
    if (!take_char(r, ')'))
        return refuse(r, "Syntax error: ')' expected");
    *ret = add_node(r->filter, node);
    return true;
}

static bool read_list(struct reader *r, const struct sim_column *column)
{
    if (!take_char(r, '['))
        return refuse(r, "Syntax error: '[' expected");
    do {
        struct literal literal;
        /* Double quotes are as good as single ones here. */
        if (take_char(r, '"')) {
            const char *end = memchr(r->text.ptr + r->at, '"', r->text.len - r->at);
            if (!end)
                return refuse(r, "There is an unterminated string literal");
            size_t stop = (size_t)(end - r->text.ptr);
            literal = (struct literal){ weir_str(r->text.ptr + r->at, stop - r->at), true };
            r->at = stop + 1;
        } else if (!take_literal(r, &literal)) {
            return false;
        }
        if (!add_literal(r, column, literal, true))
            return false;
    } while (take_char(r, ','));
    return take_char(r, ']') || refuse(r, "Syntax error: ']' expected");
}

/* PropertyName='x',PropertyValues=[…]) */
static bool read_in(struct reader *r, enum op op, uint32_t *ret)
{
    struct node node = { .op = op };
    struct literal name;
    if (!take_keyword(r, "PropertyName") || !take_char(r, '=') || !take_literal(r, &name) ||
        !name.quoted)
        return refuse(r, "PropertyName='…' expected");
    const struct sim_column *column = find_column(r, name.text, &node.slot);
    if (!column)
        return false;
    if (!take_char(r, ',') || !take_keyword(r, "PropertyValues") || !take_char(r, '='))
        return refuse(r, "PropertyValues=[…] expected");
    node.value = r->filter->value_count;
    if (!read_list(r, column))
        return false;
    if (!take_char(r, ')'))
        return refuse(r, "Syntax error: ')' expected");
    node.value_count = r->filter->value_count - node.value;
    *ret = add_node(r->filter, node);
    return true;
}

static bool read_condition(struct reader *r, uint32_t *ret)
{
    static const struct {
        const char *name;
        enum op op;
    } functions[] = {
        { "contains", OP_CONTAINS },
        { "startswith", OP_STARTS },
        { "endswith", OP_ENDS },
        { "Microsoft.Dynamics.CRM.In", OP_IN },
        { "Microsoft.Dynamics.CRM.NotIn", OP_NOT_IN },
    };
    struct weir_str word = peek_word(r);
    size_t behind = r->at + word.len;
    if (!count_condition(r))
        return false;
    if (behind == r->text.len || r->text.ptr[behind] != '(')
        return read_comparison(r, ret);
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        if (!is(word, functions[i].name))
            continue;
        r->at = behind + 1;
        return functions[i].op >= OP_IN ? read_in(r, functions[i].op, ret)
                                        : read_text_function(r, functions[i].op, ret);
    }
    return refuse(r, "An unknown function was found");
}

/* ---- expressions ---- */

static bool read_or(struct reader *r, uint32_t *ret);

static bool read_unary(struct reader *r, uint32_t *ret)
{
    if (++r->depth > SIM_FILTER_DEPTH_MAX)
        return refuse(r, "The node count limit has been exceeded");
    bool ok;
    if (take_keyword(r, "not")) {
        ok = read_unary(r, ret);
        if (ok)
            *ret = add_node(r->filter, (struct node){ .op = OP_NOT, .left = *ret });
    } else if (take_char(r, '(')) {
        ok = read_or(r, ret) && (take_char(r, ')') || refuse(r, "Syntax error: ')' expected"));
    } else {
        ok = read_condition(r, ret);
    }
    r->depth--;
    return ok;
}

static bool read_and(struct reader *r, uint32_t *ret)
{
    bool ok = read_unary(r, ret);
    while (ok && take_keyword(r, "and")) {
        uint32_t right = 0;
        ok = read_unary(r, &right);
        *ret = add_node(r->filter, (struct node){ .op = OP_AND, .left = *ret, .right = right });
    }
    return ok;
}

static bool read_or(struct reader *r, uint32_t *ret)
{
    bool ok = read_and(r, ret);
    while (ok && take_keyword(r, "or")) {
        uint32_t right = 0;
        ok = read_and(r, &right);
        *ret = add_node(r->filter, (struct node){ .op = OP_OR, .left = *ret, .right = right });
    }
    return ok;
}

/* Literals are copied at most once, but for aliases. */
static size_t room_for(struct weir_str text, const struct sim_url *url)
{
    size_t bytes = text.len + 1;
    for (uint32_t i = 0; i < url->alias_count; i++)
        bytes += 4 * url->aliases[i].value.len;
    return bytes;
}

bool sim_filter_parse(struct weir_str text, const struct sim_filter_names *names,
                      const struct sim_url *url, struct sim_filter **ret, struct sim_answer *answer)
{
    struct sim_filter *filter = weir_calloc(1, sizeof(*filter));
    filter->names = names;
    filter->text_capacity = room_for(text, url);
    filter->text = weir_calloc(filter->text_capacity, 1);
    struct reader r = { .filter = filter, .url = url, .answer = answer, .text = text };
    uint32_t root;
    bool ok = !weir_str_trim(text).len || read_or(&r, &root);
    skip_blanks(&r);
    if (ok && r.at < text.len)
        ok = refuse(&r, "Syntax error");
    if (!ok) {
        sim_filter_free(filter);
        return false;
    }
    *ret = filter;
    return true;
}

void sim_filter_free(struct sim_filter *filter)
{
    if (!filter)
        return;
    free(filter->nodes);
    free(filter->values);
    free(filter->text);
    free(filter);
}

/* ---- asking ---- */

static size_t find_text(struct weir_str text, struct weir_str needle)
{
    for (size_t at = 0; at + needle.len <= text.len; at++) {
        if (weir_str_equal_nocase(weir_str(text.ptr + at, needle.len), needle))
            return at;
    }
    return SIZE_MAX;
}

static bool match_text(enum op op, const struct sim_value *value, struct weir_str needle)
{
    if (value->kind != SIM_TEXT || value->text.len < needle.len)
        return false;
    struct weir_str text = value->text;
    if (op == OP_CONTAINS)
        return find_text(text, needle) != SIZE_MAX;
    if (op == OP_ENDS)
        text.ptr += text.len - needle.len;
    return weir_str_equal_nocase(weir_str(text.ptr, needle.len), needle);
}

static bool match_any(const struct sim_value *value, const struct sim_value *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sim_value_equal(value, &list[i]))
            return true;
    }
    return false;
}

static bool match_condition(const struct sim_filter *f, const struct node *node, const void *row)
{
    struct sim_value value = f->names->get(f->names->ctx, row, node->slot);
    const struct sim_value *other = &f->values[node->value];
    /* Which table a lookup points to is not what is asked for. */
    value.target = 0;
    if (node->op == OP_IN || node->op == OP_NOT_IN)
        return match_any(&value, other, node->value_count) == (node->op == OP_IN);
    if (node->op >= OP_CONTAINS)
        return other->kind == SIM_TEXT && match_text(node->op, &value, other->text);
    if (node->op <= OP_NE)
        return sim_value_equal(&value, other) == (node->op == OP_EQ);
    if (value.kind == SIM_NULL || other->kind == SIM_NULL)
        return false;
    int order = sim_value_compare(&value, other);
    switch (node->op) {
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    case OP_LT:
        return order < 0;
    default:
        return order <= 0;
    }
}

static bool match(const struct sim_filter *f, uint32_t at, const void *row)
{
    const struct node *node = &f->nodes[at];
    switch (node->op) {
    case OP_AND:
        return match(f, node->left, row) && match(f, node->right, row);
    case OP_OR:
        return match(f, node->left, row) || match(f, node->right, row);
    case OP_NOT:
        return !match(f, node->left, row);
    default:
        return match_condition(f, node, row);
    }
}

bool sim_filter_match(const struct sim_filter *filter, const void *row)
{
    return !filter->node_count || match(filter, filter->node_count - 1, row);
}

/* Counts down the candidates under `and`, left to right. */
static const struct node *find_values(const struct sim_filter *f, uint32_t at, uint32_t *nth)
{
    const struct node *node = &f->nodes[at];
    if (node->op == OP_EQ || node->op == OP_IN)
        return (*nth)-- == 0 ? node : NULL;
    if (node->op != OP_AND)
        return NULL;
    const struct node *left = find_values(f, node->left, nth);
    return left ? left : find_values(f, node->right, nth);
}

bool sim_filter_values(const struct sim_filter *filter, uint32_t *ret_slot,
                       const struct sim_value **ret_values, uint32_t *ret_count, uint32_t nth)
{
    const struct node *node =
        filter->node_count ? find_values(filter, filter->node_count - 1, &nth) : NULL;
    if (!node)
        return false;
    *ret_slot = node->slot;
    *ret_values = &filter->values[node->value];
    *ret_count = node->value_count;
    return true;
}
