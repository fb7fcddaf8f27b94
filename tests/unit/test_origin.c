/* SPDX-License-Identifier: MIT */
/* What an origin is, and where plain http may go. */
#include <string.h>

#include "net/origin.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(plain_http_stays_on_this_machine)
{
    static const struct {
        const char *text;
        bool good;
        bool link_local; /* good only if that is allowed */
    } rows[] = {
        { "https://org.crm4.dynamics.com", true, false },
        { "HTTPS://ORG.crm4.dynamics.com:8443", true, false },
        { "https://[2001:db8::1]:443", true, false },
        { "http://localhost:1234", true, false },
        { "http://LocalHost", true, false },
        { "http://127.0.0.1:80", true, false },
        { "http://127.255.255.254", true, false },
        { "http://[::1]:80", true, false },
        { "https://169.254.169.254", true, false },
        { "http://169.254.169.254", false, true },
        { "http://169.255.0.1", false, false },
        { "http://org.crm4.dynamics.com", false, false },
        { "http://128.0.0.1", false, false },
        { "http://126.255.255.255", false, false },
        { "http://0.0.0.0", false, false },
        { "http://[::2]", false, false },
        { "http://[::ffff:127.0.0.1]", false, false },
        { "http://localhost.evil.example", false, false },
        { "http://127.0.0.1.evil.example", false, false },
        { "http://127.1", false, false },
        { "http://2130706433", false, false },
        { "http://0x7f000001", false, false },
        { "http://localhost@evil.example", false, false },
        { "https://user:password@host", false, false },
        { "https://host/", false, false },
        { "https://host/path", false, false },
        { "https://host?query", false, false },
        { "https://host#fragment", false, false },
        { "https://host:0x50", false, false },
        { "https://host:99999", false, false },
        { "https://host:", false, false },
        { "https://ho st", false, false },
        { "https://ho\nst", false, false },
        { "https://h%6fst", false, false },
        { "https://[fe80::1%25eth0]", false, false },
        { "https://", false, false },
        { "https:///path", false, false },
        { "ftp://localhost", false, false },
        { "file:///etc/passwd", false, false },
        { "localhost", false, false },
        { "", false, false },
        { NULL, false, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int link_local = 0; link_local < 2; link_local++) {
            struct weir_origin read;
            struct weir_error err = { 0 };
            bool good = rows[i].good || (rows[i].link_local && link_local);
            enum weir_status status = weir_origin_read(rows[i].text, link_local, &read, &err);
            ck_assert_msg(status == (good ? WEIR_OK : WEIR_E_INVALID), "%s", rows[i].text);
            ck_assert_ptr_null(strstr(err.message, "password"));
        }
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("origin");
    suite_add(&s, plain_http_stays_on_this_machine);
    return suite_run(&s);
}
