/* SPDX-License-Identifier: MIT */
/*
 * Cells of choices and booleans; see cell_kinds.h. A choice is named by its value or by its label
 * (choice_index.h says when that is the label), a boolean by its labels or one of
 *
 *     true  yes  1        false  no  0        in any case
 *
 * If a cell can be read in two ways that mean different things, it is refused: a column whose
 * values and labels are both 1 to 5, but in other orders, is taken at its word only where they
 * agree.
 *
 * Several choices are separated by commas, or by semicolons if there is one, as the service itself
 * shows them. Labels may have commas: a cell that is one label as a whole is that choice, and with
 * semicolons commas do not count. One that is named twice is sent once.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "records/cell_kinds.h"

#define LISTED_MAX     6   /* choices in a message */
#define LIST_BYTES_MAX 300 /* of all of them */
#define LABEL_MAX      40  /* of one */

/* ---- one choice ---- */

static struct weir_str label_of(const struct weir_choice *choice)
{
    return weir_str_cut(weir_str_from(choice->label), LABEL_MAX);
}

/* What stands behind a label that was cut. */
static const char *mark_of(const struct weir_choice *choice)
{
    return weir_str_from(choice->label).len > label_of(choice).len ? "…" : "";
}

/* "1 (Red), 2 (Green)", as many as have room. */
static void list_choices(const struct weir_column *column, struct weir_buf *list)
{
    weir_buf_init(list, LIST_BYTES_MAX);
    for (uint32_t i = 0; i < column->choice_count && i < LISTED_MAX; i++) {
        const struct weir_choice *choice = &column->choices[i];
        struct weir_str label = label_of(choice);
        weir_buf_printf(list, "%s%d", i ? ", " : "", (int)choice->value);
        if (label.len)
            weir_buf_printf(list, " (%.*s%s)", (int)label.len, label.ptr, mark_of(choice));
    }
    if (column->choice_count > LISTED_MAX)
        weir_buf_printf(list, " and %u more", column->choice_count - LISTED_MAX);
}

/* The label that is nearest to a misspelt one; NULL: none is near. */
static const struct weir_choice *nearest(const struct weir_column *column, struct weir_str text)
{
    size_t best = weir_str_tolerance(text) + 1;
    const struct weir_choice *found = NULL;
    for (uint32_t i = 0; i < column->choice_count; i++) {
        struct weir_str label = weir_str_from(column->choices[i].label);
        size_t distance = weir_str_distance(text, label);
        if (!label.len || distance >= best)
            continue;
        best = distance;
        found = &column->choices[i];
    }
    return found;
}

static enum weir_status fail_unknown(const struct weir_cell_rule *rule, struct weir_str text,
                                     struct weir_error *err)
{
    const struct weir_column *column = rule->column;
    const struct weir_choice *near = nearest(column, text);
    if (near)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no choice of \"%s\"; did you mean %d (%.*s%s)?",
                         WEIR_CELL_QUOTED(text), column->name, (int)near->value,
                         (int)label_of(near).len, near->label, mark_of(near));
    struct weir_buf list;
    list_choices(column, &list);
    weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is no choice; \"%s\" takes %s", WEIR_CELL_QUOTED(text),
              column->name, column->choice_count ? weir_buf_text(&list) : "the value of one");
    weir_buf_release(&list);
    return WEIR_E_INVALID;
}

/* The choices of the column are not known: any value may be one. */
static enum weir_status find_unchecked(const struct weir_cell_rule *rule, struct weir_str text,
                                       int32_t *ret, struct weir_error *err)
{
    int64_t value;
    if (!weir_str_to_int64(text, &value) || value < INT32_MIN || value > INT32_MAX)
        return fail_unknown(rule, text, err);
    *ret = (int32_t)value;
    return WEIR_OK;
}

static enum weir_status find(const struct weir_cell_rule *rule, struct weir_str text, int32_t *ret,
                             struct weir_error *err)
{
    const struct weir_choice *labelled = NULL;
    const struct weir_choice *valued = NULL;
    int64_t value;
    if (!rule->choices.value_count)
        return find_unchecked(rule, text, ret, err);
    if (weir_str_to_int64(text, &value))
        valued = weir_choice_index_value(&rule->choices, value);
    int labels = weir_choice_index_label(&rule->choices, text, &labelled);
    if (valued && (labels > 1 || (labels == 1 && labelled != valued)))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is the value of one choice and the label of another; \"%s\" "
                         "takes what can only mean one",
                         WEIR_CELL_QUOTED(text), rule->column->name);
    if (!valued && labels > 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is the label of several choices; \"%s\" takes the value of one, "
                         "such as %d",
                         WEIR_CELL_QUOTED(text), rule->column->name, (int)labelled->value);
    if (!valued && !labels)
        return fail_unknown(rule, text, err);
    *ret = valued ? valued->value : labelled->value;
    return WEIR_OK;
}

/* As it is written: digits, with a sign before those of a negative one. */
static size_t value_bytes(int32_t value)
{
    size_t bytes = 1 + (value < 0);
    while (value /= 10)
        bytes++;
    return bytes;
}

static char *write_value(int32_t value, char *to)
{
    char *end = to + value_bytes(value);
    char *at = end;
    uint32_t rest = value < 0 ? 0 - (uint32_t)value : (uint32_t)value;
    do {
        *--at = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (value < 0)
        *--at = '-';
    return end;
}

enum weir_status weir_cell_choice_measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                          int32_t *ret, size_t *ret_bytes, struct weir_error *err)
{
    enum weir_status status = find(rule, weir_str_trim(cell), ret, err);
    if (!status)
        *ret_bytes = value_bytes(*ret);
    return status;
}

char *weir_cell_choice_write(int32_t value, char *to)
{
    return write_value(value, to);
}

static enum weir_status measure_choice(const struct weir_cell_rule *rule, struct weir_str cell,
                                       size_t *ret_bytes, struct weir_error *err)
{
    int32_t value = 0;
    return weir_cell_choice_measure(rule, cell, &value, ret_bytes, err);
}

static char *write_choice(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    int32_t value = 0;
    return find(rule, weir_str_trim(cell), &value, NULL) ? to : write_value(value, to);
}

int32_t weir_cell_choice(const struct weir_cell_rule *rule, struct weir_str cell)
{
    int32_t value = 0;
    find(rule, weir_str_trim(cell), &value, NULL);
    return value;
}

const struct weir_typed_kind weir_kind_choice = { measure_choice, write_choice };

/* ---- several choices ---- */

struct chosen {
    int32_t values[WEIR_MULTI_CHOICES_MAX];
    uint32_t count;
};

static enum weir_status choose(const struct weir_cell_rule *rule, int32_t value,
                               struct chosen *chosen, struct weir_error *err)
{
    for (uint32_t i = 0; i < chosen->count; i++) {
        if (chosen->values[i] == value)
            return WEIR_OK;
    }
    if (chosen->count == WEIR_MULTI_CHOICES_MAX)
        return weir_fail(err, WEIR_E_INVALID,
                         "the cell has more choices than the service allows; \"%s\" takes up to %d",
                         rule->column->name, WEIR_MULTI_CHOICES_MAX);
    chosen->values[chosen->count++] = value;
    return WEIR_OK;
}

static enum weir_status fail_gap(const struct weir_cell_rule *rule, struct weir_str cell,
                                 struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" has an empty place in its list; \"%s\" takes choices with one comma "
                     "or semicolon between them",
                     WEIR_CELL_QUOTED(cell), rule->column->name);
}

/* The first of a list, taken off `rest`; *more: there is another one. */
static struct weir_str take_item(struct weir_str *rest, char separator, bool *more)
{
    const char *end = memchr(rest->ptr, separator, rest->len);
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    struct weir_str item = weir_str_trim(weir_str(rest->ptr, len));
    *more = end;
    *rest = weir_str(rest->ptr + len + *more, rest->len - len - *more);
    return item;
}

static enum weir_status read_list(const struct weir_cell_rule *rule, struct weir_str cell,
                                  struct chosen *chosen, struct weir_error *err)
{
    char separator = memchr(cell.ptr, ';', cell.len) ? ';' : ',';
    struct weir_str rest = cell;
    bool more = true;
    enum weir_status status = WEIR_OK;
    chosen->count = 0;
    while (more && !status) {
        int32_t value = 0;
        struct weir_str item = take_item(&rest, separator, &more);
        status = item.len ? find(rule, item, &value, err) : fail_gap(rule, cell, err);
        if (!status)
            status = choose(rule, value, chosen, err);
    }
    return status;
}

static enum weir_status read_choices(const struct weir_cell_rule *rule, struct weir_str cell,
                                     struct chosen *chosen, struct weir_error *err)
{
    const struct weir_choice *whole;
    cell = weir_str_trim(cell);
    if (!memchr(cell.ptr, ',', cell.len) ||
        weir_choice_index_label(&rule->choices, cell, &whole) != 1)
        return read_list(rule, cell, chosen, err);
    chosen->values[0] = whole->value;
    chosen->count = 1;
    return WEIR_OK;
}

static enum weir_status measure_choices(const struct weir_cell_rule *rule, struct weir_str cell,
                                        size_t *ret_bytes, struct weir_error *err)
{
    struct chosen chosen;
    enum weir_status status = read_choices(rule, cell, &chosen, err);
    if (status)
        return status;
    size_t bytes = 2 + chosen.count - 1;
    for (uint32_t i = 0; i < chosen.count; i++)
        bytes += value_bytes(chosen.values[i]);
    *ret_bytes = bytes;
    return WEIR_OK;
}

static char *write_choices(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    struct chosen chosen;
    if (read_choices(rule, cell, &chosen, NULL))
        return to;
    *to++ = '"';
    for (uint32_t i = 0; i < chosen.count; i++) {
        if (i)
            *to++ = ',';
        to = write_value(chosen.values[i], to);
    }
    *to++ = '"';
    return to;
}

const struct weir_typed_kind weir_kind_choices = { measure_choices, write_choices };

/* ---- booleans ---- */

/* 1, 0, or -1: none of the words. */
static int read_word(struct weir_str text)
{
    static const struct weir_str words[] = { { "false", 5 }, { "true", 4 }, { "no", 2 },
                                             { "yes", 3 },   { "0", 1 },    { "1", 1 } };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (text.len == words[i].len && weir_str_equal_nocase(text, words[i]))
            return i % 2;
    }
    return -1;
}

/* 1, 0, or -1: not the label of one of them. */
static int read_label(const struct weir_cell_rule *rule, struct weir_str text)
{
    const struct weir_choice *choice;
    return weir_choice_index_label(&rule->choices, text, &choice) == 1 ? choice->value != 0 : -1;
}

static enum weir_status fail_boolean(const struct weir_cell_rule *rule, struct weir_str cell,
                                     struct weir_error *err)
{
    const struct weir_choice *yes = weir_choice_index_value(&rule->choices, 1);
    const struct weir_choice *no = weir_choice_index_value(&rule->choices, 0);
    if (!yes || !no || !yes->label || !no->label)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is neither true nor false; \"%s\" takes true or false, yes or "
                         "no, 1 or 0",
                         WEIR_CELL_QUOTED(cell), rule->column->name);
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" is neither true nor false; \"%s\" takes true (%.*s) or false "
                     "(%.*s), yes or no, 1 or 0",
                     WEIR_CELL_QUOTED(cell), rule->column->name, (int)label_of(yes).len, yes->label,
                     (int)label_of(no).len, no->label);
}

static enum weir_status read_boolean(const struct weir_cell_rule *rule, struct weir_str cell,
                                     bool *ret, struct weir_error *err)
{
    struct weir_str text = weir_str_trim(cell);
    int word = read_word(text);
    int label = read_label(rule, text);
    if (word < 0 && label < 0)
        return fail_boolean(rule, cell, err);
    if (word >= 0 && label >= 0 && word != label)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is a word for %s and the label of %s; \"%s\" takes what can "
                         "only mean one",
                         WEIR_CELL_QUOTED(cell), word ? "true" : "false", label ? "true" : "false",
                         rule->column->name);
    *ret = word >= 0 ? word : label;
    return WEIR_OK;
}

static struct weir_str word_of(bool value)
{
    return value ? weir_str("true", 4) : weir_str("false", 5);
}

static enum weir_status measure_boolean(const struct weir_cell_rule *rule, struct weir_str cell,
                                        size_t *ret_bytes, struct weir_error *err)
{
    bool value;
    enum weir_status status = read_boolean(rule, cell, &value, err);
    if (!status)
        *ret_bytes = word_of(value).len;
    return status;
}

static char *write_boolean(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    bool value;
    if (read_boolean(rule, cell, &value, NULL))
        return to;
    memcpy(to, word_of(value).ptr, word_of(value).len);
    return to + word_of(value).len;
}

const struct weir_typed_kind weir_kind_boolean = { measure_boolean, write_boolean };
