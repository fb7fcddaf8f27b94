/* SPDX-License-Identifier: MIT */
/* Any bytes become a JSON string that says the same, or U+FFFD where they say nothing. */
#include "base/json.h"
#include "base/json_text.h"
#include "base/rng.h"
#include "records/utf8.h"
#include "support/suite.h"

#define BYTES 24

/* Bytes of the character that `text` begins with, as the reader of records sees it; 0: none. */
static size_t character(struct weir_str text)
{
    if (text.ptr[0] == '\0')
        return 1;
    for (size_t len = 1; len <= 4 && len <= text.len; len++)
        if (weir_utf8_check(weir_str(text.ptr, len)) == len)
            return len;
    return 0;
}

static void check(struct weir_str text)
{
    struct weir_buf written, should;
    struct weir_json *json = NULL;
    weir_buf_init(&written, 2 + 6 * text.len);
    weir_buf_init(&should, 3 * BYTES);
    weir_json_text_add(&written, text);
    must(!written.overflow);
    must(weir_json_parse(weir_str(written.ptr, written.len), &json, NULL) == WEIR_OK);
    while (text.len > 0) {
        size_t len = character(text);
        if (len)
            weir_buf_add(&should, text.ptr, len);
        else
            weir_buf_add_text(&should, "\xef\xbf\xbd");
        len = len ? len : 1;
        text = weir_str(text.ptr + len, text.len - len);
    }
    must(weir_str_equal(weir_json_root(json)->text, weir_str(should.ptr, should.len)));
    weir_json_free(json);
    weir_buf_release(&written);
    weir_buf_release(&should);
}

START_TEST(any_bytes_come_back_or_are_replaced_one_by_one)
{
    static const char telling[] = "\"\\\n\t\x01\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xed"
                                  "\xef\xf0\xf4\xf5\xff";
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i + 1, 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[BYTES];
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = weir_rng_below(&rng, 3) ? telling[weir_rng_below(&rng, sizeof(telling))]
                                               : (char)weir_rng_below(&rng, 256);
        check(weir_str(bytes, weir_rng_below(&rng, sizeof(bytes) + 1)));
    }
}
END_TEST

/* Whatever follows in memory is not part of it. */
START_TEST(a_character_that_is_cut_is_none)
{
    static const char *const whole[] = { "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
    for (int i = 0; i < 3; i++)
        for (size_t len = 0; len <= strlen(whole[i]); len++)
            check(weir_str(whole[i], len));
}
END_TEST

/* Every byte in every place of texts of every length around that of the steps that are taken. */
START_TEST(a_byte_that_is_no_text_is_found_wherever_it_stands)
{
    char text[72];
    for (size_t len = 1; len <= sizeof(text); len++) {
        memset(text, 'x', len);
        for (size_t at = 0; at < len; at++) {
            for (int byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                bool plain = byte >= 1 && byte <= 127;
                must(weir_utf8_check(weir_str(text, len)) == (plain ? len : at));
            }
            text[at] = 'x';
        }
        if (len >= 3) {
            memcpy(text + len - 3, "\xe2\x82\xac", 3);
            must(weir_utf8_check(weir_str(text, len)) == len);
            must(weir_utf8_check(weir_str(text, len - 1)) == len - 3);
        }
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("json text");
    suite_add_loop(&s, "any_bytes_come_back_or_are_replaced_one_by_one",
                   any_bytes_come_back_or_are_replaced_one_by_one, 4);
    suite_add(&s, a_character_that_is_cut_is_none);
    suite_add(&s, a_byte_that_is_no_text_is_found_wherever_it_stands);
    return suite_run(&s);
}
