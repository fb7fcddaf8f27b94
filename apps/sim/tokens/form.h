/* SPDX-License-Identifier: MIT */
/*
 * A form as HTML sends it (application/x-www-form-urlencoded), and the query of a URL, which looks
 * the same: name=value pairs between ampersands, blanks as plus signs, anything else as %XX.
 *
 * Bounded in bytes and in fields. A name that comes twice, a broken escape and a NUL are refused.
 */
#ifndef SIM_FORM_H
#define SIM_FORM_H

#include "base/str.h"
#include "weir/error.h"

#define SIM_FORM_BYTES_MAX  ((size_t)64 * 1024)
#define SIM_FORM_FIELDS_MAX 32

struct sim_form_field {
    struct weir_str name; /* both decoded, in the form's own memory */
    struct weir_str value;
};

struct sim_form {
    char *text;
    size_t count;
    bool repeated; /* refused because the last field's name was there already */
    struct sim_form_field fields[SIM_FORM_FIELDS_MAX];
};

/*
 * Release it afterwards in any case.
 *   WEIR_E_TOO_BIG  more bytes or fields than the bounds
 *   WEIR_E_INVALID  a broken escape, a NUL, or a name that comes twice
 */
enum weir_status sim_form_parse(struct sim_form *form, struct weir_str text,
                                struct weir_error *err);
void sim_form_release(struct sim_form *form);

/* The value of a field, exactly by name; ptr NULL: there is none. An empty value is as none. */
struct weir_str sim_form_get(const struct sim_form *form, const char *name);

#endif
