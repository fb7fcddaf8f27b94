/* SPDX-License-Identifier: MIT */
/* What the login service reads: forms and base64url. */
#include "base/buf.h"
#include "base/rng.h"
#include "sim/tokens/base64url.h"
#include "sim/tokens/form.h"
#include "support/suite.h"

START_TEST(forms_are_decoded_or_refused)
{
    static const struct {
        const char *text;
        enum weir_status status;
        const char *a; /* the value of "a b"; NULL: none */
    } cases[] = {
        { "", WEIR_OK, NULL },
        { "&&&", WEIR_OK, NULL },
        { "a+b=1", WEIR_OK, "1" },
        { "a%20b=1%26+%3d", WEIR_OK, "1& =" },
        { "x=1&a+b=2=3&y", WEIR_OK, "2=3" },
        { "a+b", WEIR_OK, NULL },
        { "a+b=", WEIR_OK, NULL },
        { "A+b=1", WEIR_OK, NULL },
        { "=1&a+b=%c3%BC", WEIR_OK, "ü" },
        { "a+b=1&a+b=1", WEIR_E_INVALID, NULL },
        { "a+b=%", WEIR_E_INVALID, NULL },
        { "a+b=%4", WEIR_E_INVALID, NULL },
        { "a+b=%4g", WEIR_E_INVALID, NULL },
        { "a+b=%00", WEIR_E_INVALID, NULL },
        { "%zz=1", WEIR_E_INVALID, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_form form;
        enum weir_status status = sim_form_parse(&form, weir_str_from(cases[i].text), NULL);
        ck_assert_msg(status == cases[i].status, "%s", cases[i].text);
        if (status == WEIR_OK) {
            struct weir_str value = sim_form_get(&form, "a b");
            ck_assert_msg(!value.ptr == !cases[i].a, "%s", cases[i].text);
            ck_assert(weir_str_equal(value, weir_str_from(cases[i].a)));
        }
        sim_form_release(&form);
    }
}
END_TEST

START_TEST(an_escape_never_reaches_behind_the_end)
{
    struct sim_form form;
    ck_assert_int_eq(sim_form_parse(&form, weir_str("a=%41", 5), NULL), WEIR_OK);
    sim_form_release(&form);
    for (size_t len = 3; len < 5; len++) {
        ck_assert_int_eq(sim_form_parse(&form, weir_str("a=%41", len), NULL), WEIR_E_INVALID);
        sim_form_release(&form);
    }
}
END_TEST

START_TEST(forms_end_at_their_bounds)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * SIM_FORM_BYTES_MAX);
    for (int i = 0; i < SIM_FORM_FIELDS_MAX; i++)
        weir_buf_printf(&text, "&f%d=1", i);
    struct sim_form form;
    ck_assert_int_eq(sim_form_parse(&form, weir_str(text.ptr, text.len), NULL), WEIR_OK);
    sim_form_release(&form);
    weir_buf_add_text(&text, "&one-more=1");
    ck_assert_int_eq(sim_form_parse(&form, weir_str(text.ptr, text.len), NULL), WEIR_E_TOO_BIG);
    sim_form_release(&form);

    weir_buf_reset(&text);
    weir_buf_add_text(&text, "a=");
    while (text.len < SIM_FORM_BYTES_MAX)
        weir_buf_add_char(&text, 'x');
    ck_assert_int_eq(sim_form_parse(&form, weir_str(text.ptr, text.len), NULL), WEIR_OK);
    ck_assert_uint_eq(sim_form_get(&form, "a").len, SIM_FORM_BYTES_MAX - 2);
    sim_form_release(&form);
    weir_buf_add_char(&text, 'x');
    ck_assert_int_eq(sim_form_parse(&form, weir_str(text.ptr, text.len), NULL), WEIR_E_TOO_BIG);
    sim_form_release(&form);
    weir_buf_release(&text);
}
END_TEST

START_TEST(base64url_returns_what_went_in)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 4, 0);
    for (int turn = 0; turn < 3000; turn++) {
        uint8_t bytes[64];
        uint8_t back[64];
        size_t len = weir_rng_below(&rng, 60);
        size_t back_len;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)weir_rng_u64(&rng);
        struct weir_buf text;
        weir_buf_init(&text, 128);
        sim_base64url_add(&text, bytes, len);
        must(text.len == (len * 4 + 2) / 3);
        struct weir_str coded = weir_str(weir_buf_text(&text), text.len);
        must(sim_base64url_decode(coded, back, len, &back_len));
        must(back_len == len && memcmp(back, bytes, len) == 0);
        must(!len || !sim_base64url_decode(coded, back, len - 1, &back_len));
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(base64url_refuses_what_is_not_canonical)
{
    static const char *const wrong[] = { "A",    "AAAAA", "AB",   "AAB", "AA==",
                                         "A+AA", "A/AA",  "A AA", "AA\n" };
    static const char *const right[] = { "", "AA", "AAA", "-_-_", "zg", "Zm8" };
    uint8_t bytes[16];
    size_t len;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!sim_base64url_decode(weir_str_from(wrong[i]), bytes, 16, &len), "%s",
                      wrong[i]);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_msg(sim_base64url_decode(weir_str_from(right[i]), bytes, 16, &len), "%s",
                      right[i]);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_form");
    suite_add(&s, forms_are_decoded_or_refused);
    suite_add(&s, an_escape_never_reaches_behind_the_end);
    suite_add(&s, forms_end_at_their_bounds);
    suite_add(&s, base64url_returns_what_went_in);
    suite_add(&s, base64url_refuses_what_is_not_canonical);
    return suite_run(&s);
}
