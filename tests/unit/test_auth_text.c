/* SPDX-License-Identifier: MIT */
/* Secrets and where they are read from, forms, base64url. */
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "auth/form.h"
#include "auth/secret_source.h"
#include "base/base64url.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CANARY       "canary~secret+value/=="

static char folder[64];
static char path[128];

static void setup_folder(void)
{
    snprintf(folder, sizeof(folder), "/tmp/weir-auth-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/secret", folder);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void write_file(const void *bytes, size_t len, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
}

static enum weir_status read_guarded(struct weir_secret *secret, struct weir_error *err)
{
    return weir_secret_read_file(path, WEIR_FILE_OURS_ALONE, secret, err);
}

/* --- files ------------------------------------------------------------------------------------ */

START_TEST(a_secret_file_must_be_ours_alone)
{
    setup_folder();
    for (mode_t mode = 0400; mode <= 0777; mode++) {
        struct weir_secret secret = { 0 };
        struct weir_error err = { 0 };
        write_file(CANARY "\n", sizeof(CANARY), mode);
        enum weir_status status = read_guarded(&secret, &err);
        if (!(mode & 0400) && geteuid() != 0) {
            must(status != WEIR_OK);
        } else if (mode & 077) {
            must(status == WEIR_E_INVALID);
            must(strstr(err.message, "chmod 600 /tmp/"));
            must(!strstr(err.message, "canary"));
            must(!secret.text);
        } else {
            must(status == WEIR_OK);
            must(strcmp(secret.text, CANARY) == 0);
        }
        weir_secret_release(&secret);
    }
    remove_folder();
}
END_TEST

START_TEST(a_file_of_an_orchestrator_may_have_any_mode)
{
    setup_folder();
    struct weir_secret secret = { 0 };
    write_file("token", 5, 0644);
    ck_assert_int_eq(weir_secret_read_file(path, WEIR_FILE_ANYBODYS, &secret, NULL), WEIR_OK);
    ck_assert_str_eq(secret.text, "token");
    weir_secret_release(&secret);
    remove_folder();
}
END_TEST

START_TEST(a_file_of_somebody_else_is_refused)
{
    if (geteuid() != 0)
        return; /* only root can make one; the mode is tested everywhere */
    setup_folder();
    struct weir_secret secret = { 0 };
    struct weir_error err;
    write_file("token", 5, 0600);
    ck_assert_int_eq(chown(path, 12345, 12345), 0);
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "belongs to somebody else"));
    remove_folder();
}
END_TEST

START_TEST(only_line_ends_behind_a_secret_are_cut_off)
{
    static const struct {
        const char *text;
        const char *secret; /* NULL: refused */
    } rows[] = {
        { "abc", "abc" },     { "abc\n", "abc" },   { "abc\r\n", "abc" },
        { "abc\n\n", "abc" }, { " abc ", " abc " }, { "a\nb\n", "a\nb" },
        { "", NULL },         { "\n", NULL },       { "\r\n\r\n", NULL },
    };
    setup_folder();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_secret secret = { 0 };
        struct weir_error err;
        write_file(rows[i].text, strlen(rows[i].text), 0600);
        enum weir_status status = read_guarded(&secret, &err);
        ck_assert_int_eq(status, rows[i].secret ? WEIR_OK : WEIR_E_INVALID);
        if (rows[i].secret)
            ck_assert_str_eq(secret.text, rows[i].secret);
        weir_secret_release(&secret);
    }
    remove_folder();
}
END_TEST

START_TEST(files_that_are_none_too_long_or_absent_are_refused)
{
    setup_folder();
    struct weir_secret secret = { 0 };
    struct weir_error err;
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, path));
    ck_assert_int_eq(weir_secret_read_file(folder, WEIR_FILE_OURS_ALONE, &secret, &err),
                     WEIR_E_INVALID);
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* nobody writes: it must not wait */
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_E_INVALID);
    write_file("a\0b", 3, 0600);
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_E_INVALID);

    char *big = weir_calloc(1, WEIR_SECRET_BYTES_MAX + 1);
    memset(big, 'x', WEIR_SECRET_BYTES_MAX + 1);
    write_file(big, WEIR_SECRET_BYTES_MAX, 0600);
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_OK);
    ck_assert_uint_eq(secret.len, WEIR_SECRET_BYTES_MAX);
    weir_secret_release(&secret);
    write_file(big, WEIR_SECRET_BYTES_MAX + 1, 0600);
    ck_assert_int_eq(read_guarded(&secret, &err), WEIR_E_TOO_BIG);
    ck_assert_ptr_null(secret.text);
    free(big);
    remove_folder();
}
END_TEST

START_TEST(a_variable_that_is_not_set_is_named)
{
    struct weir_secret secret = { 0 };
    struct weir_error err;
    unsetenv("WEIR_TEST_SECRET");
    ck_assert_int_eq(weir_secret_read_environment("WEIR_TEST_SECRET", &secret, &err),
                     WEIR_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "WEIR_TEST_SECRET"));
    setenv("WEIR_TEST_SECRET", "", 1);
    ck_assert_int_eq(weir_secret_read_environment("WEIR_TEST_SECRET", &secret, &err),
                     WEIR_E_NOT_FOUND);
    setenv("WEIR_TEST_SECRET", CANARY, 1);
    ck_assert_int_eq(weir_secret_read_environment("WEIR_TEST_SECRET", &secret, &err), WEIR_OK);
    ck_assert_str_eq(secret.text, CANARY);
    weir_secret_release(&secret);
}
END_TEST

/* --- wiping ----------------------------------------------------------------------------------- */

/* A secret buffer never moves, so it leaves nothing behind; and its memory is wiped in place. */
START_TEST(a_secret_buffer_stays_where_it_is)
{
    struct weir_buf buf;
    weir_secret_buf_init(&buf, 1000);
    const char *place = buf.ptr;
    for (int i = 0; i < 250; i++)
        weir_buf_add_text(&buf, "four");
    must(buf.ptr == place && buf.len == 1000 && !buf.overflow);
    weir_buf_add_char(&buf, 'x');
    must(buf.overflow && buf.ptr == place);
    weir_secret_buf_release(&buf);
    must(!buf.ptr);
}
END_TEST

/*
 * How often a text stands in the heap. It is given with each byte plus one, so that the question is
 * not found. 0 under tools that keep the heap elsewhere.
 */
static int count_in_heap(const char *shifted, size_t len)
{
    static char chunk[1 << 16];
    int found = 0;
    unsigned long from = 0;
    unsigned long to = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (fgets(chunk, sizeof(chunk), maps) && !strstr(chunk, "[heap]"))
        ;
    if (sscanf(chunk, "%lx-%lx", &from, &to) != 2 || !strstr(chunk, "[heap]"))
        to = from;
    fclose(maps);
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    for (unsigned long at = from; at < to; at += sizeof(chunk) - len + 1) {
        ssize_t got = pread(memory, chunk, sizeof(chunk), (off_t)at);
        for (size_t i = 0; got > 0 && i + len <= (size_t)got; i++) {
            size_t same = 0;
            while (same < len && (char)(chunk[i + same] + 1) == shifted[same])
                same++;
            found += same == len;
        }
    }
    memset(chunk, 0, sizeof(chunk));
    close(memory);
    return found;
}

START_TEST(what_was_released_is_nowhere_in_the_heap)
{
    static const char shifted[] = "xjqf.nf.bgufs.vtf"; /* "wipe-me-after-use" */
    size_t len = strlen(shifted);
    static char
        plain[256]; /* freed memory loses its first bytes in any case: it stands further on */
    memset(plain, 'x', 128);
    for (size_t i = 0; i < len; i++)
        plain[128 + i] = (char)(shifted[i] - 1);
    struct weir_secret secret = { 0 };
    struct weir_buf form;
    weir_secret_set(&secret, weir_str(plain, 128 + len));
    weir_secret_buf_init(&form, 4096);
    weir_form_add(&form, "client_secret", weir_secret_str(&secret));
    must(!weir_secret_occurs(weir_secret_str(&secret), weir_str_from("something else")));
    explicit_bzero(plain, sizeof(plain));
    int alive = count_in_heap(shifted, len);
    weir_secret_buf_release(&form);
    weir_secret_release(&secret);
    int dead = count_in_heap(shifted, len);
    ck_assert_msg(alive == 2 || alive == 0, "%d", alive);
    ck_assert_int_eq(dead, 0);
}
END_TEST

START_TEST(a_secret_is_recognised_in_what_others_say)
{
    struct weir_str secret = weir_str_from("a+b/c=~x");
    ck_assert(weir_secret_occurs(secret, weir_str_from("your a+b/c=~x is wrong")));
    ck_assert(weir_secret_occurs(secret, weir_str_from("client_secret=a%2Bb%2Fc%3D~x&")));
    ck_assert(!weir_secret_occurs(secret, weir_str_from("a+b/c=~y")));
    ck_assert(!weir_secret_occurs(secret, weir_str_from("")));
    ck_assert(!weir_secret_occurs(weir_str("", 0), weir_str_from("anything")));
}
END_TEST

/* --- forms and base64url ---------------------------------------------------------------------- */

static int hex(char c)
{
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

START_TEST(every_byte_survives_a_form)
{
    char all[255];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    struct weir_buf form;
    weir_buf_init(&form, 4096);
    weir_form_add(&form, "a", weir_str(all, sizeof(all)));
    weir_form_add(&form, "b", weir_str_from("1 2"));
    char *second = strchr(form.ptr, '&');
    ck_assert_str_eq(second, "&b=1%202");
    size_t count = 0;
    for (const char *at = form.ptr + 2; at < second; count++) {
        int value = *at == '%' ? hex(at[1]) * 16 + hex(at[2]) : *at;
        must(*at == '%' || (*at > ' ' && !strchr("&=+;%?#", *at)));
        must(value == (unsigned char)all[count]);
        at += *at == '%' ? 3 : 1;
    }
    ck_assert_uint_eq(count, sizeof(all));
    weir_buf_release(&form);
}
END_TEST

/* OpenSSL's base64 is the judge: another alphabet for two letters, and padding. */
static void check_against_openssl(const uint8_t *bytes, size_t len)
{
    char expected[256];
    EVP_EncodeBlock((unsigned char *)expected, bytes, (int)len);
    for (char *c = expected; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    expected[strcspn(expected, "=")] = '\0';
    struct weir_buf text;
    struct weir_buf back;
    weir_buf_init(&text, 256);
    weir_buf_init(&back, 256);
    weir_base64url_add(&text, bytes, len);
    must(strcmp(weir_buf_text(&text), expected) == 0);
    must(weir_base64url_decode(&back, weir_str(weir_buf_text(&text), text.len)));
    must(back.len == len && (len == 0 || memcmp(back.ptr, bytes, len) == 0));
    weir_buf_release(&text);
    weir_buf_release(&back);
}

START_TEST(base64url_agrees_with_openssl)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[128];
        size_t len = weir_rng_below(&rng, sizeof(bytes));
        for (size_t k = 0; k < len; k++)
            bytes[k] = (uint8_t)weir_rng_u64(&rng);
        check_against_openssl(bytes, len);
    }
}
END_TEST

START_TEST(what_is_not_base64url_is_refused)
{
    static const char *const rows[] = {
        "a", "abcde", "ab=", "ab==", "a+bc", "a/bc", "a bc", "ab\n"
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_buf out;
        weir_buf_init(&out, 64);
        ck_assert_msg(!weir_base64url_decode(&out, weir_str_from(rows[i])), "%s", rows[i]);
        weir_buf_release(&out);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("auth_text");
    suite_add(&s, a_secret_file_must_be_ours_alone);
    suite_add(&s, a_file_of_an_orchestrator_may_have_any_mode);
    suite_add(&s, a_file_of_somebody_else_is_refused);
    suite_add(&s, only_line_ends_behind_a_secret_are_cut_off);
    suite_add(&s, files_that_are_none_too_long_or_absent_are_refused);
    suite_add(&s, a_variable_that_is_not_set_is_named);
    suite_add(&s, a_secret_buffer_stays_where_it_is);
    suite_add(&s, what_was_released_is_nowhere_in_the_heap);
    suite_add(&s, a_secret_is_recognised_in_what_others_say);
    suite_add(&s, every_byte_survives_a_form);
    suite_add(&s, base64url_agrees_with_openssl);
    suite_add(&s, what_is_not_base64url_is_refused);
    return suite_run(&s);
}
