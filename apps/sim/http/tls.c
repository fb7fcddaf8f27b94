/* SPDX-License-Identifier: MIT */
/* Certificates for --tls; see tls.h. Elliptic keys (P-256), because they are made in no time. */
#include "sim/http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#define DAY_S        (24L * 3600)
#define AUTHORITY_S  (3650 * DAY_S)
#define SERVER_S     (365 * DAY_S)
#define PEM_FILE_MAX (64 * 1024)

struct identity {
    EVP_PKEY *key;
    X509 *certificate;
};

static void release(struct identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
    *identity = (struct identity){ NULL, NULL };
}

const char *sim_tls_default_dir(char path[SIM_TLS_PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state && state[0] == '/')
        snprintf(path, SIM_TLS_PATH_MAX, "%s/weir-sim", state);
    else if (home && home[0] == '/')
        snprintf(path, SIM_TLS_PATH_MAX, "%s/.local/state/weir-sim", home);
    else
        snprintf(path, SIM_TLS_PATH_MAX, "/tmp/weir-sim-%u", (unsigned)geteuid());
    return path;
}

/* Certificates. */

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_serial(X509 *certificate)
{
    unsigned char bytes[16];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] &= 0x7f;
    bytes[0] |= 0x40;
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return set;
}

static bool set_name(X509 *certificate, const char *common_name)
{
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"weir-sim",
                                      -1, -1, 0) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common_name,
                                      -1, -1, 0);
}

/* A new key and a certificate that is not signed yet. */
static bool draft(struct identity *identity, const char *common_name, long seconds)
{
    identity->key = EVP_EC_gen("P-256");
    identity->certificate = X509_new();
    X509 *certificate = identity->certificate;
    return identity->key && certificate && X509_set_version(certificate, 2) &&
           set_serial(certificate) && set_name(certificate, common_name) &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY_S) &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), seconds) &&
           X509_set_pubkey(certificate, identity->key);
}

static bool sign(X509 *certificate, const struct identity *issuer)
{
    return X509_set_issuer_name(certificate, X509_get_subject_name(issuer->certificate)) &&
           add_extension(certificate, issuer->certificate, NID_authority_key_identifier, "keyid") &&
           X509_sign(certificate, issuer->key, EVP_sha256());
}

static bool make_authority(struct identity *authority)
{
    return draft(authority, "weir-sim certificate authority", AUTHORITY_S) &&
           add_extension(authority->certificate, authority->certificate, NID_basic_constraints,
                         "critical,CA:TRUE,pathlen:0") &&
           add_extension(authority->certificate, authority->certificate, NID_key_usage,
                         "critical,keyCertSign,cRLSign") &&
           add_extension(authority->certificate, authority->certificate, NID_subject_key_identifier,
                         "hash") &&
           sign(authority->certificate, authority);
}

static bool make_server(struct identity *server, const struct identity *authority)
{
    return draft(server, "localhost", SERVER_S) &&
           add_extension(server->certificate, authority->certificate, NID_basic_constraints,
                         "critical,CA:FALSE") &&
           add_extension(server->certificate, authority->certificate, NID_key_usage,
                         "critical,digitalSignature") &&
           add_extension(server->certificate, authority->certificate, NID_ext_key_usage,
                         "serverAuth") &&
           add_extension(server->certificate, authority->certificate, NID_subject_alt_name,
                         "DNS:localhost,IP:127.0.0.1,IP:::1") &&
           sign(server->certificate, authority);
}

/* As PEM; either may be left out. NULL: it failed. */
static char *to_pem(EVP_PKEY *key, X509 *certificate)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    char *bytes;
    bool written = bio && (!key || PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)) &&
                   (!certificate || PEM_write_bio_X509(bio, certificate));
    long len = written ? BIO_get_mem_data(bio, &bytes) : 0;
    if (len > 0)
        text = weir_strndup(bytes, (size_t)len);
    BIO_free(bio);
    return text;
}

static bool from_pem(struct identity *identity, const char *text)
{
    BIO *bio = BIO_new_mem_buf(text, -1);
    if (bio)
        identity->key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    if (identity->key)
        identity->certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return identity->certificate && X509_check_private_key(identity->certificate, identity->key);
}

/* Files. */

static enum weir_status io_error(struct weir_error *err, const char *verb, const char *path)
{
    return weir_fail(err, WEIR_E_IO, "cannot %s \"%s\": %s", verb, path, strerror(errno));
}

/* The directory and all above it. */
static enum weir_status make_dir(const char *dir, struct weir_error *err)
{
    char path[SIM_TLS_PATH_MAX];
    struct stat info;
    snprintf(path, sizeof(path), "%s", dir);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* whatever is wrong shows at the last one */
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return io_error(err, "make the directory", path);
    if (lstat(path, &info) != 0)
        return io_error(err, "look at", path);
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022))
        return weir_fail(err, WEIR_E_INVALID,
                         "--tls-dir is \"%s\", must be a directory of our own that nobody else may "
                         "write to",
                         path);
    return WEIR_OK;
}

/* Write a file under a name of its own, then give it its right name: `replace` or only if there is
 * none. */
static enum weir_status write_file(const char *path, const char *text, mode_t mode, bool replace,
                                   struct weir_error *err)
{
    char temporary[SIM_TLS_PATH_MAX + 32];
    snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return io_error(err, "make", temporary);
    size_t len = strlen(text);
    bool written = write(fd, text, len) == (ssize_t)len;
    written = close(fd) == 0 && written;
    int named = !written ? -1 : replace ? rename(temporary, path) : link(temporary, path);
    if (named != 0 && !replace && errno == EEXIST)
        named = 0;
    enum weir_status status = named == 0 ? WEIR_OK : io_error(err, "write", path);
    unlink(temporary);
    return status;
}

/* The text of a small file; NULL: there is none, or it is too long. */
static char *read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = weir_calloc(PEM_FILE_MAX + 1, 1);
    ssize_t len = read(fd, text, PEM_FILE_MAX);
    close(fd);
    if (len > 0)
        return text;
    free(text);
    return NULL;
}

static void name_file(char *path, size_t bytes, const char *dir, const char *file)
{
    if (snprintf(path, bytes, "%s/%s", dir, file) >= (int)bytes)
        path[0] = '\0';
}

static enum weir_status load_authority(const char *dir, struct identity *ret,
                                       struct weir_error *err)
{
    char path[SIM_TLS_PATH_MAX];
    name_file(path, sizeof(path), dir, "authority.pem");
    char *text = read_file(path);
    if (!text)
        return io_error(err, "read", path);
    bool read = from_pem(ret, text);
    OPENSSL_cleanse(text, strlen(text));
    free(text);
    if (read)
        return WEIR_OK;
    release(ret);
    return weir_fail(err, WEIR_E_INVALID, "\"%s\" holds no key with its certificate; remove it",
                     path);
}

static enum weir_status save_authority(const char *dir, struct weir_error *err)
{
    struct identity authority = { NULL, NULL };
    char path[SIM_TLS_PATH_MAX];
    name_file(path, sizeof(path), dir, "authority.pem");
    char *text = make_authority(&authority) ? to_pem(authority.key, authority.certificate) : NULL;
    enum weir_status status =
        text ? write_file(path, text, 0600, false, err)
             : weir_fail(err, WEIR_E_IO, "cannot make a certificate authority");
    free(text);
    release(&authority);
    return status;
}

enum weir_status sim_tls_authority(const char *dir, char ret_ca_file[SIM_TLS_PATH_MAX],
                                   struct weir_error *err)
{
    char path[SIM_TLS_PATH_MAX];
    struct identity authority = { NULL, NULL };
    enum weir_status status = make_dir(dir, err);
    name_file(path, sizeof(path), dir, "authority.pem");
    if (status == WEIR_OK && access(path, F_OK) != 0)
        status = save_authority(dir, err);
    if (status == WEIR_OK)
        status = load_authority(dir, &authority, err);
    if (status != WEIR_OK)
        return status;
    name_file(path, sizeof(path), dir, "ca.pem");
    char *text = to_pem(NULL, authority.certificate);
    status = text ? write_file(path, text, 0644, true, err)
                  : weir_fail(err, WEIR_E_IO, "cannot write a certificate");
    free(text);
    release(&authority);
    if (status == WEIR_OK)
        memcpy(ret_ca_file, path, sizeof(path));
    return status;
}

enum weir_status sim_tls_certificate(const char *dir, char **ret_key, char **ret_certificate,
                                     struct weir_error *err)
{
    struct identity authority = { NULL, NULL };
    struct identity server = { NULL, NULL };
    enum weir_status status = load_authority(dir, &authority, err);
    if (status != WEIR_OK)
        return status;
    bool made = make_server(&server, &authority);
    char *key = made ? to_pem(server.key, NULL) : NULL;
    char *certificate = made ? to_pem(NULL, server.certificate) : NULL;
    release(&authority);
    release(&server);
    if (!key || !certificate) {
        free(key);
        free(certificate);
        return weir_fail(err, WEIR_E_IO, "cannot make a certificate for the server");
    }
    *ret_key = key;
    *ret_certificate = certificate;
    return WEIR_OK;
}
