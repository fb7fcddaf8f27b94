/* SPDX-License-Identifier: MIT */
/*
 * Prints one client assertion, made as the library makes it, for verifiers that nobody here wrote.
 *
 *     assertion_make CERTIFICATE_FILE CLIENT_ID AUDIENCE PS256|RS256
 */
#include <stdio.h>

#include "auth/credential.h"
#include "base/clock.h"
#include "base/rng.h"

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: assertion_make CERTIFICATE_FILE CLIENT_ID AUDIENCE PS256|RS256\n");
        return 2;
    }
    const struct weir_connection_options connection = {
        .certificate_file = argv[1],
        .client_id = argv[2],
        .certificate_algorithm = argv[4],
    };
    const uint64_t chance[2] = { weir_rng_system_seed(), weir_rng_system_seed() };
    struct weir_secret assertion = { 0 };
    struct weir_error err;
    if (weir_credential_assert(&connection, argv[3], weir_clock_wall_us(), chance, &assertion,
                               &err)) {
        fprintf(stderr, "assertion_make: %s\n", err.message);
        return 1;
    }
    printf("%s\n", assertion.text);
    weir_secret_release(&assertion);
    return 0;
}
