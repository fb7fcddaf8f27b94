/* SPDX-License-Identifier: MIT */
/*
 * Cells of numbers; see cell_kinds.h. Digits are sent as they were written: no number goes through
 * a machine's own. Left out is only what says nothing: a plus, zeros in front, zeros behind the
 * last digit that the column keeps.
 *
 *                 exponent    digits behind the point
 *     whole       refused     zeros
 *     decimal     refused     as many as the column keeps, then zeros
 *     floating    fine        any: the service keeps as many as fit
 *
 * Spreadsheets write long numbers with an exponent, and then digits have been lost: where the
 * column would keep them, the cell is refused.
 */
#include "base/error.h"
#include "records/cell_kinds.h"

/* ---- bounds ---- */

/* What the types themselves can hold. Decimals and money are of a type of 96 bits. */
static const char *const highest[WEIR_COLUMN_TYPES] = {
    [WEIR_COLUMN_INTEGER] = "2147483647",
    [WEIR_COLUMN_BIGINT] = "9223372036854775807",
    [WEIR_COLUMN_DECIMAL] = "79228162514264337593543950335",
    [WEIR_COLUMN_MONEY] = "79228162514264337593543950335",
    [WEIR_COLUMN_DOUBLE] = "1.7976931348623157e308",
};

static const char *const lowest[WEIR_COLUMN_TYPES] = {
    [WEIR_COLUMN_INTEGER] = "-2147483648",
    [WEIR_COLUMN_BIGINT] = "-9223372036854775808",
    [WEIR_COLUMN_DECIMAL] = "-79228162514264337593543950335",
    [WEIR_COLUMN_MONEY] = "-79228162514264337593543950335",
    [WEIR_COLUMN_DOUBLE] = "-1.7976931348623157e308",
};

/* Anything that is not zero, but nearer to it, would be taken for zero. */
#define LEAST_FLOATING "4.9406564584124654e-324"

/* The bound of the column, unless it has none or the type's is tighter; `sign`: 1 for a highest. */
static void choose_bound(const char *of_column, const char *of_type, int sign,
                         struct weir_decimal *ret, const char **ret_text)
{
    struct weir_decimal own;
    weir_decimal_parse(weir_str_from(of_type), ret);
    *ret_text = of_type;
    if (!of_column || !weir_decimal_parse(weir_str_from(of_column), &own) ||
        weir_decimal_compare(&own, ret) * sign >= 0)
        return;
    *ret = own;
    *ret_text = of_column;
}

void weir_cell_rule_set_range(struct weir_cell_rule *rule)
{
    const struct weir_column *column = rule->column;
    if (!highest[column->type])
        return;
    choose_bound(column->min, lowest[column->type], -1, &rule->low, &rule->low_text);
    choose_bound(column->max, highest[column->type], 1, &rule->high, &rule->high_text);
}

static enum weir_status check_range(const struct weir_cell_rule *rule, struct weir_str cell,
                                    const struct weir_decimal *number, struct weir_error *err)
{
    if (weir_decimal_compare(number, &rule->low) >= 0 &&
        weir_decimal_compare(number, &rule->high) <= 0)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is out of range; \"%s\" takes %s to %s",
                     WEIR_CELL_QUOTED(cell), rule->column->name, rule->low_text, rule->high_text);
}

/* ---- whole numbers ---- */

static enum weir_status fail_exponent(const struct weir_cell_rule *rule, struct weir_str cell,
                                      struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" has an exponent, behind which digits may have been lost; \"%s\" "
                     "takes the number in full",
                     WEIR_CELL_QUOTED(cell), rule->column->name);
}

static enum weir_status read_whole(const struct weir_cell_rule *rule, struct weir_str cell,
                                   struct weir_decimal *ret, struct weir_error *err)
{
    struct weir_decimal number;
    bool parsed = weir_decimal_parse(weir_str_trim(cell), &number);
    if (parsed && number.exponent.len)
        return fail_exponent(rule, cell, err);
    if (!parsed || weir_decimal_places(&number))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no whole number; \"%s\" takes digits without separators",
                         WEIR_CELL_QUOTED(cell), rule->column->name);
    enum weir_status status = check_range(rule, cell, &number, err);
    if (status)
        return status;
    number.fraction.len = 0;
    number.negative = number.negative && !weir_decimal_is_zero(&number);
    *ret = number;
    return WEIR_OK;
}

/* ---- decimals ---- */

static enum weir_status fail_number(const struct weir_cell_rule *rule, struct weir_str cell,
                                    struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" is no number; \"%s\" takes digits without separators, and a point "
                     "before decimals",
                     WEIR_CELL_QUOTED(cell), rule->column->name);
}

static enum weir_status read_decimal(const struct weir_cell_rule *rule, struct weir_str cell,
                                     struct weir_decimal *ret, struct weir_error *err)
{
    struct weir_decimal number;
    int kept = rule->column->precision;
    if (!weir_decimal_parse(weir_str_trim(cell), &number))
        return fail_number(rule, cell, err);
    if (number.exponent.len)
        return fail_exponent(rule, cell, err);
    size_t places = weir_decimal_places(&number);
    if (kept >= 0 && places > (size_t)kept)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" has %zu digits behind the point; \"%s\" takes up to %d",
                         WEIR_CELL_QUOTED(cell), places, rule->column->name, kept);
    enum weir_status status = check_range(rule, cell, &number, err);
    if (status)
        return status;
    if (kept >= 0 && number.fraction.len > (size_t)kept)
        number.fraction.len = (size_t)kept;
    *ret = number;
    return WEIR_OK;
}

/* ---- floating point ---- */

static bool vanishes(const struct weir_decimal *number)
{
    struct weir_decimal least;
    struct weir_decimal size = *number;
    size.negative = false;
    weir_decimal_parse(weir_str_from(LEAST_FLOATING), &least);
    return !weir_decimal_is_zero(number) && weir_decimal_compare(&size, &least) < 0;
}

static enum weir_status read_floating(const struct weir_cell_rule *rule, struct weir_str cell,
                                      struct weir_decimal *ret, struct weir_error *err)
{
    struct weir_decimal number;
    if (!weir_decimal_parse(weir_str_trim(cell), &number))
        return fail_number(rule, cell, err);
    if (vanishes(&number))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is too near to zero; \"%s\" takes 0, or %s and more",
                         WEIR_CELL_QUOTED(cell), rule->column->name, LEAST_FLOATING);
    enum weir_status status = check_range(rule, cell, &number, err);
    if (!status)
        *ret = number;
    return status;
}

/* ---- kinds ---- */

typedef enum weir_status read_fn(const struct weir_cell_rule *rule, struct weir_str cell,
                                 struct weir_decimal *ret, struct weir_error *err);

static enum weir_status measure(read_fn *read, const struct weir_cell_rule *rule,
                                struct weir_str cell, size_t *ret_bytes, struct weir_error *err)
{
    struct weir_decimal number;
    enum weir_status status = read(rule, cell, &number, err);
    if (!status)
        *ret_bytes = weir_decimal_bytes(&number);
    return status;
}

static char *write_number(read_fn *read, const struct weir_cell_rule *rule, struct weir_str cell,
                          char *to)
{
    struct weir_decimal number;
    return read(rule, cell, &number, NULL) ? to : weir_decimal_write(&number, to);
}

#define KIND(name)                                                                                 \
    static enum weir_status measure_##name(const struct weir_cell_rule *rule,                      \
                                           struct weir_str cell, size_t *ret_bytes,                \
                                           struct weir_error *err)                                 \
    {                                                                                              \
        return measure(read_##name, rule, cell, ret_bytes, err);                                   \
    }                                                                                              \
    static char *write_##name(const struct weir_cell_rule *rule, struct weir_str cell, char *to)   \
    {                                                                                              \
        return write_number(read_##name, rule, cell, to);                                          \
    }                                                                                              \
    const struct weir_typed_kind weir_kind_##name = { measure_##name, write_##name }

KIND(whole);
KIND(decimal);
KIND(floating);
