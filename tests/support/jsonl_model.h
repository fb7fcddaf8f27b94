/* SPDX-License-Identifier: MIT */
/*
 * JSON Lines as jsonl.h describes it, read the slow way: a byte at a time, by functions that call
 * each other, over a text that is there whole. It shares nothing with the reader but the words for
 * its problems and the check for UTF-8, which has a test of its own.
 */
#ifndef WEIR_TESTS_JSONL_MODEL_H
#define WEIR_TESTS_JSONL_MODEL_H

#include <ctype.h>

#include "base/limits.h"
#include "records/format.h"
#include "records/utf8.h"
#include "support/suite.h"

#define MODEL_MEMBERS_MAX 128
#define MODEL_TEXT_MAX    4096

struct model_text {
    char bytes[MODEL_TEXT_MAX];
    size_t len;
    bool null;
};

struct model_member {
    unsigned object;
    struct model_text name;
    struct model_text value;
};

struct model_record {
    size_t begin;
    size_t end;
    enum weir_record_problem problem;
    size_t bad_at; /* in the text */
    uint64_t bound;
    const struct model_text *culprit;
    struct model_member members[MODEL_MEMBERS_MAX];
    size_t member_count;
};

struct model {
    struct weir_str text;
    struct weir_format_options options;
    size_t i;
    size_t line_end; /* of the line at hand, without what ends it */
    unsigned objects;
    size_t top;   /* index of the outermost member at hand, plus 1 */
    bool unnoted; /* inside of a cell: names are passed over */
    struct model_record *r;
    struct model_text scratch;
};

static inline bool model_fail(struct model *m, enum weir_record_problem problem, size_t at,
                              uint64_t bound, const struct model_text *culprit)
{
    m->r->problem = problem;
    m->r->bad_at = at;
    m->r->bound = bound;
    m->r->culprit = culprit;
    return false;
}

static inline const struct model_text *model_top(const struct model *m)
{
    return m->top ? &m->r->members[m->top - 1].name : NULL;
}

/* The byte at `at` is none of those that may stand there. */
static inline bool model_unexpected(struct model *m, size_t at)
{
    return model_fail(m, at == m->line_end ? WEIR_RECORD_CUT : WEIR_RECORD_NOT_JSON, at, 0, NULL);
}

/* '\n': the line is over. */
static inline char model_at(const struct model *m, size_t at)
{
    return at < m->line_end ? m->text.ptr[at] : '\n';
}

static inline void model_space(struct model *m)
{
    while (model_at(m, m->i) == ' ' || model_at(m, m->i) == '\t')
        m->i++;
}

static inline bool model_expect(struct model *m, char c)
{
    model_space(m);
    if (model_at(m, m->i) != c)
        return model_unexpected(m, m->i);
    m->i++;
    return true;
}

static inline void model_put(struct model_text *to, unsigned c)
{
    must(to->len < MODEL_TEXT_MAX);
    to->bytes[to->len++] = (char)c;
}

static inline void model_encode(struct model_text *to, unsigned code)
{
    if (code < 0x80) {
        model_put(to, code);
    } else if (code < 0x800) {
        model_put(to, 0xC0 + code / 64);
        model_put(to, 0x80 + code % 64);
    } else if (code < 0x10000) {
        model_put(to, 0xE0 + code / 4096);
        model_put(to, 0x80 + code / 64 % 64);
        model_put(to, 0x80 + code % 64);
    } else {
        model_put(to, 0xF0 + code / 262144);
        model_put(to, 0x80 + code / 4096 % 64);
        model_put(to, 0x80 + code / 64 % 64);
        model_put(to, 0x80 + code % 64);
    }
}

static inline bool model_hex(struct model *m, size_t at, unsigned *ret)
{
    *ret = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = model_at(m, i);
        if (!isxdigit((unsigned char)c))
            return model_unexpected(m, i);
        char digit[] = { c, '\0' };
        *ret = 16 * *ret + (unsigned)strtoul(digit, NULL, 16);
    }
    return true;
}

static inline bool model_unicode(struct model *m, struct model_text *to)
{
    size_t begin = m->i;
    unsigned high, low;
    if (!model_hex(m, m->i + 2, &high))
        return false;
    m->i += 6;
    if (high == 0)
        return model_fail(m, WEIR_RECORD_NUL, begin, 0, model_top(m));
    if (high / 0x800 != 0x1B) {
        model_encode(to, high);
        return true;
    }
    if (high >= 0xDC00 || model_at(m, m->i) != '\\' || model_at(m, m->i + 1) != 'u')
        return model_fail(m, WEIR_RECORD_HALF_CHARACTER, begin, 0, model_top(m));
    if (!model_hex(m, m->i + 2, &low))
        return false;
    m->i += 6;
    if (low / 0x400 != 0x37)
        return model_fail(m, WEIR_RECORD_HALF_CHARACTER, begin, 0, model_top(m));
    model_encode(to, 0x10000 + high % 0x400 * 0x400 + low % 0x400);
    return true;
}

static inline bool model_string(struct model *m, struct model_text *to)
{
    to->len = 0;
    to->null = false;
    for (m->i++; model_at(m, m->i) != '"';) {
        char c = model_at(m, m->i);
        if ((unsigned char)c < 0x20)
            return model_unexpected(m, m->i);
        if (c != '\\') {
            model_put(to, (unsigned char)c);
            m->i++;
            continue;
        }
        char letter = model_at(m, m->i + 1);
        if (letter == 'u') {
            if (!model_unicode(m, to))
                return false;
            continue;
        }
        static const char letters[] = "\"\\/bfnrt";
        const char *at = strchr(letters, letter);
        if (!at || !*at)
            return model_unexpected(m, m->i + 1);
        model_put(to, (unsigned char)"\"\\/\b\f\n\r\t"[at - letters]);
        m->i += 2;
    }
    m->i++;
    return true;
}

static inline bool model_digits(struct model *m)
{
    if (!isdigit((unsigned char)model_at(m, m->i)))
        return model_unexpected(m, m->i);
    while (isdigit((unsigned char)model_at(m, m->i)))
        m->i++;
    return true;
}

static inline bool model_number(struct model *m)
{
    if (model_at(m, m->i) == '-')
        m->i++;
    if (model_at(m, m->i) == '0')
        m->i++;
    else if (!model_digits(m))
        return false;
    if (model_at(m, m->i) == '.' && (m->i++, !model_digits(m)))
        return false;
    if (tolower((unsigned char)model_at(m, m->i)) != 'e')
        return true;
    m->i++;
    if (model_at(m, m->i) == '+' || model_at(m, m->i) == '-')
        m->i++;
    return model_digits(m);
}

static inline bool model_bare(struct model *m, struct model_text *to)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t begin = m->i;
    to->null = model_at(m, begin) == 'n';
    const char *word = "";
    for (int i = 0; i < 3; i++) {
        if (words[i][0] == model_at(m, begin))
            word = words[i];
    }
    if (!*word && !model_number(m))
        return false;
    for (; *word; word++, m->i++) {
        if (model_at(m, m->i) != *word)
            return model_unexpected(m, m->i);
    }
    to->len = 0;
    for (size_t i = begin; i < m->i; i++)
        model_put(to, (unsigned char)m->text.ptr[i]);
    return true;
}

static inline bool model_value(struct model *m, struct model_text *to, int depth);

static inline bool model_name(struct model *m, unsigned object, size_t *ret)
{
    struct model_record *r = m->r;
    model_space(m);
    size_t begin = m->i;
    if (model_at(m, begin) != '"')
        return model_unexpected(m, begin);
    must(r->member_count < MODEL_MEMBERS_MAX);
    if (m->unnoted)
        return model_string(m, &m->scratch) && model_expect(m, ':');
    struct model_member *member = &r->members[r->member_count];
    if (!model_string(m, &member->name))
        return false;
    if (member->name.len > m->options.field_bytes_max)
        return model_fail(m, WEIR_RECORD_CELL_TOO_BIG, begin, m->options.field_bytes_max,
                          &member->name);
    if (r->member_count == m->options.fields_max)
        return model_fail(m, WEIR_RECORD_TOO_MANY_MEMBERS, begin, m->options.fields_max, NULL);
    for (size_t i = 0; i < r->member_count; i++) {
        if (r->members[i].object == object && r->members[i].name.len == member->name.len &&
            !memcmp(r->members[i].name.bytes, member->name.bytes, member->name.len))
            return model_fail(m, WEIR_RECORD_TWICE, begin, 0, &member->name);
    }
    member->object = object;
    *ret = r->member_count++;
    return model_expect(m, ':');
}

static inline bool model_object(struct model *m, int depth)
{
    unsigned object = m->objects++;
    m->i++;
    model_space(m);
    if (model_at(m, m->i) == '}') {
        m->i++;
        return true;
    }
    for (;;) {
        size_t member = 0;
        if (depth == 1)
            m->top = 0;
        if (!model_name(m, object, &member))
            return false;
        if (depth == 1)
            m->top = member + 1;
        if (!model_value(m, depth == 1 ? &m->r->members[member].value : &m->scratch, depth))
            return false;
        model_space(m);
        if (model_at(m, m->i) != ',')
            return model_expect(m, '}');
        m->i++;
    }
}

static inline bool model_array(struct model *m, int depth)
{
    m->i++;
    model_space(m);
    if (model_at(m, m->i) == ']') {
        m->i++;
        return true;
    }
    for (;;) {
        if (!model_value(m, &m->scratch, depth))
            return false;
        model_space(m);
        if (model_at(m, m->i) == ']') {
            m->i++;
            return true;
        }
        if (!model_expect(m, ','))
            return false;
    }
}

/* A value inside of `depth` objects and arrays. */
static inline bool model_value(struct model *m, struct model_text *to, int depth)
{
    model_space(m);
    size_t begin = m->i;
    char c = model_at(m, begin);
    if (c == '{' || c == '[') {
        if (depth == WEIR_RECORD_DEPTH_MAX)
            return model_fail(m, WEIR_RECORD_TOO_DEEP, begin, WEIR_RECORD_DEPTH_MAX, NULL);
        bool cell = !m->options.raw && depth == 1;
        m->unnoted = m->unnoted || cell;
        bool fine = c == '{' ? model_object(m, depth + 1) : model_array(m, depth + 1);
        m->unnoted = m->unnoted && !cell;
        to->null = false;
        to->len = 0;
        for (size_t i = begin; cell && fine && i < m->i; i++)
            model_put(to, (unsigned char)m->text.ptr[i]);
        return fine;
    }
    if (!(c == '"' ? model_string(m, to) : model_bare(m, to)))
        return false;
    if (!to->null && to->len > m->options.field_bytes_max)
        return model_fail(m, WEIR_RECORD_CELL_TOO_BIG, begin, m->options.field_bytes_max,
                          model_top(m));
    return true;
}

static inline bool model_line(struct model *m)
{
    size_t len = m->line_end - m->i;
    size_t max = m->options.record_bytes_max;
    if (len > max)
        return model_fail(m, WEIR_RECORD_TOO_BIG, m->i + max, max, NULL);
    size_t bad = weir_utf8_check(weir_str(m->text.ptr + m->i, len));
    if (bad < len)
        return model_fail(m, m->text.ptr[m->i + bad] ? WEIR_RECORD_NOT_UTF8 : WEIR_RECORD_NUL,
                          m->i + bad, 0, NULL);
    model_space(m);
    if (model_at(m, m->i) != '{')
        return model_fail(m, WEIR_RECORD_NOT_OBJECT, m->i, 0, NULL);
    if (!model_object(m, 1))
        return false;
    model_space(m);
    return m->i == m->line_end || model_fail(m, WEIR_RECORD_BEHIND_OBJECT, m->i, 0, NULL);
}

static inline bool model_is_blank(const struct model *m)
{
    for (size_t i = m->i; i < m->line_end; i++) {
        if (m->text.ptr[i] != ' ' && m->text.ptr[i] != '\t')
            return false;
    }
    return m->line_end - m->i <= m->options.record_bytes_max;
}

/* The next record; false: the end. */
static inline bool model_next(struct model *m, struct model_record *r)
{
    while (m->i < m->text.len) {
        m->line_end = m->i;
        while (m->line_end < m->text.len && m->text.ptr[m->line_end] != '\n' &&
               m->text.ptr[m->line_end] != '\r')
            m->line_end++;
        size_t end = m->line_end + (m->line_end < m->text.len);
        if (end < m->text.len && m->text.ptr[end - 1] == '\r' && m->text.ptr[end] == '\n')
            end++;
        bool blank = model_is_blank(m);
        if (!blank) {
            r->begin = m->i;
            r->end = end;
            r->problem = WEIR_RECORD_FINE;
            r->bad_at = r->bound = r->member_count = 0;
            r->culprit = NULL;
            m->r = r;
            m->objects = 0;
            m->top = 0;
            model_line(m);
        }
        m->i = end;
        if (!blank)
            return true;
    }
    return false;
}

#endif
