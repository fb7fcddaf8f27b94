/* SPDX-License-Identifier: MIT */
/*
 * The grammar of a line; see jsonl.h and jsonl_parts.h.
 *
 * Flat, an object is a loop over names and values. Raw, it is the loop below, as is a value that is
 * an object or an array, and the open containers stand in a list of bounded length, so that no line
 * can make it run deep:
 *
 *         ┌───────────── "," (and a name) ───────────┐
 *         ▼                                          │
 *     value due ── scalar, or "{}" or "[]" ──▶ value done ── nothing open ──▶ end of the object
 *         ▲ │                                        ▲ │
 *         └─┘ "{" and a name, or "["                 └─┘ "}" or "]"
 */
#include "records/jsonl_parts.h"
#include "records/utf8.h"

_Static_assert(WEIR_RECORD_DEPTH_MAX <= WEIR_SCAN_DEPTH_MAX, "what is read can be scanned again");

/* ---- what is wrong ---- */

static bool is_of_member(enum weir_record_problem problem)
{
    return problem == WEIR_RECORD_NUL || problem == WEIR_RECORD_CELL_TOO_BIG ||
           problem == WEIR_RECORD_HALF_CHARACTER;
}

bool weir_jsonl_fail(struct weir_jsonl_scan *scan, enum weir_record_problem problem,
                     const char *bad, uint64_t bound)
{
    struct weir_jsonl *jsonl = scan->jsonl;
    jsonl->problem = problem;
    jsonl->bad_at = (size_t)(bad - jsonl->line.ptr);
    jsonl->bound = bound;
    jsonl->has_culprit = scan->top && is_of_member(problem);
    if (jsonl->has_culprit)
        jsonl->culprit = jsonl->members[scan->top - 1].name;
    return false;
}

bool weir_jsonl_fail_byte(struct weir_jsonl_scan *scan, const char *bad)
{
    return weir_jsonl_fail(scan, bad == scan->end ? WEIR_RECORD_CUT : WEIR_RECORD_NOT_JSON, bad, 0);
}

/* The name itself is wrong. */
static bool fail_name(struct weir_jsonl_scan *scan, struct weir_jsonl_text name,
                      enum weir_record_problem problem, const char *bad, uint64_t bound)
{
    weir_jsonl_fail(scan, problem, bad, bound);
    scan->jsonl->has_culprit = true;
    scan->jsonl->culprit = name;
    return false;
}

/* ---- pieces ---- */

static inline void skip_space(struct weir_jsonl_scan *scan)
{
    while (*scan->at == ' ' || *scan->at == '\t')
        scan->at++;
}

static inline bool take(struct weir_jsonl_scan *scan, char wanted)
{
    skip_space(scan);
    if (*scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

static inline bool must_take(struct weir_jsonl_scan *scan, char wanted)
{
    return take(scan, wanted) || weir_jsonl_fail_byte(scan, scan->at);
}

/* A name of that object and its colon, as one more member. */
static bool take_name(struct weir_jsonl_scan *scan, uint32_t object)
{
    struct weir_jsonl *jsonl = scan->jsonl;
    struct weir_jsonl_text name;
    skip_space(scan);
    const char *begin = scan->at;
    if (*begin != '"')
        return weir_jsonl_fail_byte(scan, begin);
    if (!weir_jsonl_take_string(scan, &name))
        return false;
    if (name.len > jsonl->options.field_bytes_max)
        return fail_name(scan, name, WEIR_RECORD_CELL_TOO_BIG, begin,
                         jsonl->options.field_bytes_max);
    if (jsonl->member_count == jsonl->options.fields_max)
        return weir_jsonl_fail(scan, WEIR_RECORD_TOO_MANY_MEMBERS, begin,
                               jsonl->options.fields_max);
    if (!weir_jsonl_names_add(jsonl, name, object))
        return fail_name(scan, name, WEIR_RECORD_TWICE, begin, 0);
    return must_take(scan, ':');
}

/* ---- scalars ---- */

static inline const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* One digit at least, from *at on. */
static bool take_digits(struct weir_jsonl_scan *scan, const char **at)
{
    const char *end = skip_digits(*at);
    if (end == *at)
        return weir_jsonl_fail_byte(scan, end);
    *at = end;
    return true;
}

static bool take_number(struct weir_jsonl_scan *scan)
{
    const char *at = scan->at;
    at += *at == '-';
    if (*at == '0')
        at++;
    else if (!take_digits(scan, &at))
        return false;
    if (*at == '.') {
        at++;
        if (!take_digits(scan, &at))
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        if (!take_digits(scan, &at))
            return false;
    }
    scan->at = at;
    return true;
}

static bool take_word(struct weir_jsonl_scan *scan, const char *word)
{
    const char *at = scan->at;
    for (; *word; word++, at++) {
        if (*at != *word)
            return weir_jsonl_fail_byte(scan, at);
    }
    scan->at = at;
    return true;
}

static bool take_bare(struct weir_jsonl_scan *scan, struct weir_jsonl_text *ret)
{
    const char *begin = scan->at;
    char first = *begin;
    const char *word = first == 't' ? "true" : first == 'f' ? "false" : "null";
    bool is_word = first == *word;
    if (!(is_word ? take_word(scan, word) : take_number(scan)))
        return false;
    *ret = (struct weir_jsonl_text){ (uint32_t)(begin - scan->jsonl->line.ptr),
                                     (uint32_t)(scan->at - begin),
                                     first == 'n' ? WEIR_JSONL_NULL : WEIR_JSONL_LINE };
    return true;
}

/* A string, a number, true, false or null. */
static bool take_scalar(struct weir_jsonl_scan *scan, struct weir_jsonl_text *ret)
{
    const char *begin = scan->at;
    uint64_t bytes_max = scan->jsonl->options.field_bytes_max;
    if (!(*begin == '"' ? weir_jsonl_take_string(scan, ret) : take_bare(scan, ret)))
        return false;
    if (ret->len > bytes_max && ret->where != WEIR_JSONL_NULL)
        return weir_jsonl_fail(scan, WEIR_RECORD_CELL_TOO_BIG, begin, bytes_max);
    return true;
}

/* ---- values in values ---- */

#define AN_ARRAY UINT32_MAX

/* The open containers: the numbers of objects, or AN_ARRAY. */
struct tree {
    struct weir_jsonl_scan *scan;
    uint32_t open[WEIR_RECORD_DEPTH_MAX];
    uint32_t depth;
    uint32_t object_count;
    bool unnoted; /* names are passed over: it is inside of a cell */
};

enum step {
    STEP_BAD,
    STEP_DUE,
    STEP_DONE,
};

static inline uint32_t innermost(const struct tree *tree)
{
    return tree->open[tree->depth - 1];
}

static bool take_close(struct tree *tree)
{
    if (!take(tree->scan, innermost(tree) == AN_ARRAY ? ']' : '}'))
        return false;
    tree->depth--;
    return true;
}

static bool pass_name(struct weir_jsonl_scan *scan)
{
    struct weir_jsonl_text ignored;
    skip_space(scan);
    if (*scan->at != '"')
        return weir_jsonl_fail_byte(scan, scan->at);
    return weir_jsonl_take_string(scan, &ignored) && must_take(scan, ':');
}

/* In front of a value: of an object, its name. */
static enum step step_name(struct tree *tree)
{
    struct weir_jsonl_scan *scan = tree->scan;
    bool outermost = tree->depth == 1;
    if (innermost(tree) == AN_ARRAY)
        return STEP_DUE;
    if (tree->unnoted)
        return pass_name(scan) ? STEP_DUE : STEP_BAD;
    if (outermost)
        scan->top = 0;
    if (!take_name(scan, innermost(tree)))
        return STEP_BAD;
    if (outermost)
        scan->top = scan->jsonl->member_count;
    return STEP_DUE;
}

static enum step step_value(struct tree *tree)
{
    struct weir_jsonl_scan *scan = tree->scan;
    skip_space(scan);
    char first = *scan->at;
    if (first != '{' && first != '[') {
        struct weir_jsonl_text ignored;
        return take_scalar(scan, &ignored) ? STEP_DONE : STEP_BAD;
    }
    if (tree->depth == WEIR_RECORD_DEPTH_MAX) {
        weir_jsonl_fail(scan, WEIR_RECORD_TOO_DEEP, scan->at, WEIR_RECORD_DEPTH_MAX);
        return STEP_BAD;
    }
    scan->at++;
    tree->open[tree->depth++] = first == '{' ? tree->object_count++ : AN_ARRAY;
    return take_close(tree) ? STEP_DONE : step_name(tree);
}

/* Behind a value, inside of something. */
static enum step step_behind(struct tree *tree)
{
    if (take_close(tree))
        return STEP_DONE;
    return must_take(tree->scan, ',') ? step_name(tree) : STEP_BAD;
}

/* One value, whatever is in it. */
static bool take_tree(struct tree *tree)
{
    uint32_t around = tree->depth;
    enum step step = STEP_DUE;
    do {
        step = step == STEP_DUE ? step_value(tree) : step_behind(tree);
    } while (step == STEP_DUE || (step == STEP_DONE && tree->depth > around));
    return step == STEP_DONE;
}

static bool take_raw(struct weir_jsonl_scan *scan)
{
    struct tree tree;
    tree.scan = scan;
    tree.depth = tree.object_count = 0;
    tree.unnoted = false;
    return take_tree(&tree);
}

/* ---- flat ---- */

/* An object or an array, as it is written. */
static bool take_nested(struct weir_jsonl_scan *scan, struct weir_jsonl_text *ret)
{
    const char *begin = scan->at;
    struct tree tree;
    tree.scan = scan;
    tree.open[0] = 0; /* the object around it */
    tree.depth = tree.object_count = 1;
    tree.unnoted = true;
    if (!take_tree(&tree))
        return false;
    *ret = (struct weir_jsonl_text){ (uint32_t)(begin - scan->jsonl->line.ptr),
                                     (uint32_t)(scan->at - begin), WEIR_JSONL_LINE };
    return true;
}

static bool take_cell(struct weir_jsonl_scan *scan)
{
    struct weir_jsonl_text *value = &scan->jsonl->members[scan->top - 1].value;
    skip_space(scan);
    bool nested = *scan->at == '{' || *scan->at == '[';
    return nested ? take_nested(scan, value) : take_scalar(scan, value);
}

static bool take_flat(struct weir_jsonl_scan *scan)
{
    scan->at++;
    if (take(scan, '}'))
        return true;
    do {
        scan->top = 0;
        if (!take_name(scan, 0))
            return false;
        scan->top = scan->jsonl->member_count;
        if (!take_cell(scan))
            return false;
    } while (take(scan, ','));
    return must_take(scan, '}');
}

/* ---- all of it ---- */

static bool read_object(struct weir_jsonl_scan *scan)
{
    skip_space(scan);
    if (*scan->at != '{')
        return weir_jsonl_fail(scan, WEIR_RECORD_NOT_OBJECT, scan->at, 0);
    if (!(scan->jsonl->options.raw ? take_raw(scan) : take_flat(scan)))
        return false;
    skip_space(scan);
    return scan->at == scan->end || weir_jsonl_fail(scan, WEIR_RECORD_BEHIND_OBJECT, scan->at, 0);
}

static bool check_text(struct weir_jsonl_scan *scan)
{
    struct weir_str line = scan->jsonl->line;
    size_t bad = weir_utf8_check(line);
    return bad == line.len ||
           weir_jsonl_fail(scan, line.ptr[bad] ? WEIR_RECORD_NOT_UTF8 : WEIR_RECORD_NUL,
                           line.ptr + bad, 0);
}

void weir_jsonl_read(struct weir_jsonl *jsonl, const struct weir_line *line)
{
    struct weir_jsonl_scan scan = { .jsonl = jsonl,
                                    .at = line->text.ptr,
                                    .end = line->text.ptr + line->text.len };
    jsonl->line = line->text;
    jsonl->problem = WEIR_RECORD_FINE;
    jsonl->has_culprit = false;
    jsonl->resolved_len = 0;
    weir_jsonl_names_reset(jsonl);
    if (line->too_long) {
        uint64_t bound = jsonl->options.record_bytes_max;
        weir_jsonl_fail(&scan, WEIR_RECORD_TOO_BIG, scan.at, bound);
        jsonl->bad_at = bound;
        return;
    }
    if (line->plain || check_text(&scan))
        read_object(&scan);
}
