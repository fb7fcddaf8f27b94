/* SPDX-License-Identifier: MIT */
/*
 * One value; see value.h.
 *
 * Numbers are read and written in the C locale, whatever the program's is: a decimal comma has no
 * place in a configuration.
 */
#include "config/value.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "config/duration.h"
#include "config/quote.h"

#define TOO_SMALL ", which is too small"
#define TOO_LARGE ", which is too large"
#define TOO_LONG  ", which is too long"

/* ---- reading ---- */

static const char *parse_bool(struct weir_str text, struct weir_value *ret)
{
    ret->flag = weir_str_equal_nocase(text, weir_str_from("true"));
    bool known = ret->flag || weir_str_equal_nocase(text, weir_str_from("false"));
    return known ? NULL : "";
}

/* A sign, or none, and digits. */
static bool is_whole(struct weir_str text)
{
    size_t at = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    size_t digits = at;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    return at == text.len && at > digits;
}

static int64_t whole_of(const char *text)
{
    int64_t value = 0;
    bool known = weir_str_to_int64(weir_str_from(text), &value);
    assert(known);
    (void)known;
    return value;
}

static const char *parse_int(const struct weir_key *key, struct weir_str text,
                             struct weir_value *ret)
{
    if (!is_whole(text))
        return ", which is not a whole number";
    int64_t value;
    if (!weir_str_to_int64(text, &value))
        return text.ptr[0] == '-' ? TOO_SMALL : TOO_LARGE;
    if (value < whole_of(key->min))
        return TOO_SMALL;
    if (value > whole_of(key->max))
        return TOO_LARGE;
    ret->number = value;
    return NULL;
}

/* strtod() without the locale, hexadecimals, names of infinities and blanks. */
static bool real_of(struct weir_str text, double *ret)
{
    size_t start = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    if (start == text.len || text.ptr[start] < '0' || text.ptr[start] > '9' ||
        memchr(text.ptr, 'x', text.len) || memchr(text.ptr, 'X', text.len))
        return false;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    *ret = strtod_l(text.ptr, &end, c);
    freelocale(c);
    return end == text.ptr + text.len;
}

static double bound_of(const char *text)
{
    double value = NAN;
    bool known = real_of(weir_str_from(text), &value);
    assert(known);
    (void)known;
    return value;
}

static const char *parse_real(const struct weir_key *key, struct weir_str text,
                              struct weir_value *ret)
{
    double value;
    if (!real_of(text, &value))
        return ", which is not a number";
    if (value < bound_of(key->min))
        return TOO_SMALL;
    if (value > bound_of(key->max))
        return TOO_LARGE;
    ret->real = value;
    return NULL;
}

static int64_t duration_of(const char *text)
{
    int64_t us = 0;
    bool known = weir_duration_parse(weir_str_from(text), &us);
    assert(known);
    (void)known;
    return us;
}

static const char *parse_duration(const struct weir_key *key, enum weir_json_type type,
                                  struct weir_str text, struct weir_value *ret)
{
    int64_t us;
    if (type == WEIR_JSON_NUMBER || weir_duration_lacks_unit(text))
        return ", a number without a unit (.NET would read days)";
    if (!weir_duration_parse(text, &us))
        return ", which is not a duration";
    if (us < duration_of(key->min))
        return TOO_SMALL;
    if (us > duration_of(key->max))
        return TOO_LARGE;
    ret->number = us;
    return NULL;
}

static const char *parse_choice(const struct weir_key *key, struct weir_str text,
                                struct weir_value *ret)
{
    for (const char *const *choice = key->choices; *choice; choice++) {
        if (weir_str_equal_nocase(text, weir_str_from(*choice))) {
            ret->text = *choice;
            return NULL;
        }
    }
    return ", which is not known";
}

static bool has_control(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (weir_control_bytes(text, i))
            return true;
    }
    return false;
}

static size_t text_bytes_max(const struct weir_key *key)
{
    return key->max ? (size_t)whole_of(key->max) : WEIR_CONFIG_TEXT_MAX;
}

static const char *parse_text(const struct weir_key *key, enum weir_json_type type,
                              struct weir_str text, struct weir_value *ret)
{
    if (type != WEIR_JSON_STRING)
        return ", which is not in quotes";
    if (text.len > text_bytes_max(key))
        return TOO_LONG;
    if (memchr(text.ptr, '\0', text.len))
        return ", which contains a zero byte";
    if (key->is_name && has_control(text))
        return ", which contains a control character";
    ret->text = text.ptr;
    return NULL;
}

const char *weir_value_parse(const struct weir_key *key, enum weir_json_type type,
                             struct weir_str text, struct weir_value *ret)
{
    if (!text.len)
        return ", which is empty";
    switch (key->type) {
    case WEIR_KEY_BOOL:
        return parse_bool(text, ret);
    case WEIR_KEY_INT:
        return parse_int(key, text, ret);
    case WEIR_KEY_REAL:
        return parse_real(key, text, ret);
    case WEIR_KEY_DURATION:
        return parse_duration(key, type, text, ret);
    case WEIR_KEY_CHOICE:
        return parse_choice(key, text, ret);
    case WEIR_KEY_TEXT:
        return parse_text(key, type, text, ret);
    }
    abort();
}

/* ---- saying what would be right ---- */

static void list_choices(const struct weir_key *key, struct weir_value_right *right)
{
    int len = snprintf(right->text, sizeof(right->text), "one of ");
    for (const char *const *choice = key->choices; *choice; choice++)
        len += snprintf(right->text + len, sizeof(right->text) - (size_t)len, "%s%s", *choice,
                        choice[1] ? ", " : "");
}

struct weir_value_right weir_value_right(const struct weir_key *key)
{
    struct weir_value_right right = { 0 };
    size_t size = sizeof(right.text);
    switch (key->type) {
    case WEIR_KEY_BOOL:
        snprintf(right.text, size, "true or false");
        break;
    case WEIR_KEY_INT:
        snprintf(right.text, size, "a whole number from %s to %s", key->min, key->max);
        break;
    case WEIR_KEY_REAL:
        snprintf(right.text, size, "a number from %s to %s", key->min, key->max);
        break;
    case WEIR_KEY_DURATION:
        snprintf(right.text, size, "a duration from %s to %s, such as \"00:00:05\" or \"5s\"",
                 key->min, key->max);
        break;
    case WEIR_KEY_CHOICE:
        list_choices(key, &right);
        break;
    case WEIR_KEY_TEXT:
        snprintf(right.text, size, "text of 1 to %zu bytes%s", text_bytes_max(key),
                 key->is_name ? " without control characters" : "");
        break;
    }
    return right;
}

/* ---- the options ---- */

void weir_value_store(const struct weir_key *key, struct weir_value value, void *options)
{
    void *place = (char *)options + key->offset;
    switch (key->type) {
    case WEIR_KEY_BOOL:
        *(bool *)place = value.flag;
        break;
    case WEIR_KEY_INT:
        *(int *)place = (int)value.number;
        break;
    case WEIR_KEY_REAL:
        *(double *)place = value.real;
        break;
    case WEIR_KEY_DURATION:
        *(int64_t *)place = value.number;
        break;
    case WEIR_KEY_CHOICE:
    case WEIR_KEY_TEXT:
        *(const char **)place = value.text;
        break;
    }
}

void weir_value_store_default(const struct weir_key *key, void *options)
{
    struct weir_value value = { .number = 0 };
    if (key->value) {
        const char *wrong =
            weir_value_parse(key, WEIR_JSON_STRING, weir_str_from(key->value), &value);
        assert(!wrong);
        (void)wrong;
    } else if (key->type == WEIR_KEY_DURATION) {
        value.number = -1;
    } else if (key->type == WEIR_KEY_TEXT) {
        value.text = NULL;
    }
    weir_value_store(key, value, options);
}

/* ---- showing ---- */

static void print_real(double value, struct weir_buf *buf)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);
    weir_buf_printf(buf, "%.15g", value);
    uselocale(before);
    freelocale(c);
}

static void print_duration(int64_t us, struct weir_buf *buf)
{
    char text[WEIR_DURATION_TEXT_MAX];
    weir_duration_print(us, text);
    weir_buf_add_text(buf, text);
}

/* As it is, unless that would be hard to read on a line. */
static void print_text(const struct weir_key *key, struct weir_str text, struct weir_buf *buf)
{
    struct weir_buf seen;
    weir_buf_init(&seen, text.len + strlen(WEIR_MASK));
    weir_value_mask(key, text, &seen);
    struct weir_str shown = weir_str(seen.ptr, seen.len);
    if (has_control(shown) || weir_str_trim(shown).len < shown.len || shown.ptr[0] == '"')
        weir_buf_add_json_string(buf, shown);
    else
        weir_buf_add(buf, shown.ptr, shown.len);
    weir_buf_release(&seen);
}

void weir_value_mask(const struct weir_key *key, struct weir_str text, struct weir_buf *buf)
{
    if (key->sight == WEIR_SIGHT_NOTHING && text.len)
        weir_buf_add_text(buf, WEIR_MASK);
    else if (key->sight == WEIR_SIGHT_NO_PASSWORD)
        weir_buf_add_masked(buf, text);
    else
        weir_buf_add(buf, text.ptr, text.len);
}

void weir_value_print(const struct weir_key *key, const void *options, struct weir_buf *buf)
{
    const void *place = (const char *)options + key->offset;
    switch (key->type) {
    case WEIR_KEY_BOOL:
        weir_buf_add_text(buf, *(const bool *)place ? "true" : "false");
        break;
    case WEIR_KEY_INT:
        weir_buf_printf(buf, "%d", *(const int *)place);
        break;
    case WEIR_KEY_REAL:
        print_real(*(const double *)place, buf);
        break;
    case WEIR_KEY_DURATION:
        print_duration(*(const int64_t *)place, buf);
        break;
    case WEIR_KEY_CHOICE:
    case WEIR_KEY_TEXT:
        print_text(key, weir_str_from(*(const char *const *)place), buf);
        break;
    }
}
