/* SPDX-License-Identifier: MIT */
/* Forms; see form.h. */
#include "auth/form.h"

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void weir_form_encode(struct weir_buf *form, struct weir_str value)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        char escaped[3] = { '%', digits[c >> 4], digits[c & 15] };
        if (is_plain(value.ptr[i]))
            weir_buf_add_char(form, value.ptr[i]);
        else
            weir_buf_add(form, escaped, sizeof(escaped));
    }
}

void weir_form_add(struct weir_buf *form, const char *name, struct weir_str value)
{
    if (form->len)
        weir_buf_add_char(form, '&');
    weir_buf_add_text(form, name);
    weir_buf_add_char(form, '=');
    weir_form_encode(form, value);
}
