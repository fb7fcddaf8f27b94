/* SPDX-License-Identifier: MIT */
/* Reading a form; see form.h. Decoding only shrinks, so one copy of the text holds all the fields.
 */
#include "sim/tokens/form.h"

#include "base/error.h"
#include "base/mem.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode `raw` to `to` (room for raw.len bytes). False: broken. */
static bool decode(struct weir_str raw, char *to, size_t *ret_len)
{
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i] == '+' ? ' ' : raw.ptr[i];
        if (c == '%') {
            if (raw.len - i < 3 || hex(raw.ptr[i + 1]) < 0 || hex(raw.ptr[i + 2]) < 0)
                return false;
            c = (char)(hex(raw.ptr[i + 1]) * 16 + hex(raw.ptr[i + 2]));
            i += 2;
        }
        if (!c)
            return false;
        to[len++] = c;
    }
    *ret_len = len;
    return true;
}

/* One "name=value" to the form; its bytes go to `to`. Returns how many they are, or -1. */
static int64_t add_field(struct sim_form *form, struct weir_str pair, char *to)
{
    const char *equals = memchr(pair.ptr, '=', pair.len);
    size_t split = equals ? (size_t)(equals - pair.ptr) : pair.len;
    struct weir_str value = equals ? weir_str(equals + 1, pair.len - split - 1) : weir_str("", 0);

    struct sim_form_field field = { { to, 0 }, { NULL, 0 } };
    if (!decode(weir_str(pair.ptr, split), to, &field.name.len))
        return -1;
    field.value.ptr = to + field.name.len;
    if (!decode(value, to + field.name.len, &field.value.len))
        return -1;
    form->fields[form->count++] = field;
    return (int64_t)(field.name.len + field.value.len);
}

static bool repeats(const struct sim_form *form)
{
    struct weir_str last = form->fields[form->count - 1].name;
    for (size_t i = 0; i + 1 < form->count; i++) {
        if (weir_str_equal(form->fields[i].name, last))
            return true;
    }
    return false;
}

enum weir_status sim_form_parse(struct sim_form *form, struct weir_str text, struct weir_error *err)
{
    *form = (struct sim_form){ 0 };
    if (text.len > SIM_FORM_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the form is longer than %zu bytes",
                         SIM_FORM_BYTES_MAX);
    form->text = weir_calloc(text.len + 1, 1);
    char *to = form->text;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.ptr + at, '&', text.len - at);
        size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
        struct weir_str pair = weir_str(text.ptr + at, len);
        at += len + 1;
        if (!len)
            continue;
        if (form->count == SIM_FORM_FIELDS_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG, "the form has more than %d fields",
                             SIM_FORM_FIELDS_MAX);
        int64_t used = add_field(form, pair, to);
        if (used < 0)
            return weir_fail(err, WEIR_E_INVALID, "the form is not properly encoded");
        form->repeated = repeats(form);
        if (form->repeated)
            return weir_fail(err, WEIR_E_INVALID, "a parameter is duplicated");
        to += used;
    }
    return WEIR_OK;
}

void sim_form_release(struct sim_form *form)
{
    free(form->text);
    *form = (struct sim_form){ 0 };
}

struct weir_str sim_form_get(const struct sim_form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (weir_str_equal(form->fields[i].name, weir_str_from(name)))
            return form->fields[i].value.len ? form->fields[i].value : weir_str(NULL, 0);
    }
    return weir_str(NULL, 0);
}
