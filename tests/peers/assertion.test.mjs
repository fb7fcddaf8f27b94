// SPDX-License-Identifier: MIT
//
// jose verifies the assertions that the library makes: signature, header and claims, by either algorithm;
// and refuses them once anything in them is another. The program that prints one is named by the
// environment variable WEIR_ASSERTION_MAKE.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import * as jose from "jose";

const AUDIENCE = "https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token";
const CLIENT = "3f2504e0-4f89-11d3-9a0c-0305e82c3301";

function program() {
    const path = process.env.WEIR_ASSERTION_MAKE;
    assert.ok(path, "the environment variable WEIR_ASSERTION_MAKE must name the program");
    return path;
}

/** A self-signed certificate and its key, in one file that is ours alone. */
function makeIdentity(folder, name, bits) {
    const keyFile = join(folder, `${name}.key`);
    const certificateFile = join(folder, `${name}.crt`);
    execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", `rsa:${bits}`, "-nodes", "-days", "2", "-subj", `/CN=${name}`]
            .concat(["-keyout", keyFile, "-out", certificateFile]),
        { stdio: "pipe" },
    );
    const file = join(folder, `${name}.pem`);
    const certificate = readFileSync(certificateFile, "utf8");
    writeFileSync(file, readFileSync(keyFile, "utf8") + certificate);
    chmodSync(file, 0o600);
    return { file, certificate, der: new X509Certificate(certificate).raw };
}

function make(identity, algorithm, audience = AUDIENCE) {
    const args = [identity.file, CLIENT, audience, algorithm];
    return execFileSync(program(), args, { encoding: "utf8" }).trim();
}

/** As a token endpoint would: by the registered certificate, for itself, from this application. */
async function verify(assertion, identity, algorithm, audience = AUDIENCE) {
    const key = await jose.importX509(identity.certificate, algorithm);
    return jose.jwtVerify(assertion, key, {
        algorithms: [algorithm],
        issuer: CLIENT,
        subject: CLIENT,
        audience,
        typ: "JWT",
        clockTolerance: 30,
        maxTokenAge: "10m",
        requiredClaims: ["jti", "exp", "nbf", "iat"],
    });
}

for (const bits of [2048, 4096]) {
    describe(`jose and assertions of a key of ${bits} bits`, () => {
        let folder;
        let known;
        let stranger;

        before(() => {
            folder = mkdtempSync(join(tmpdir(), "weir-peers-assertion-"));
            known = makeIdentity(folder, "known", bits);
            stranger = makeIdentity(folder, "stranger", 2048);
        });
        after(() => rmSync(folder, { recursive: true, force: true }));

        for (const algorithm of ["PS256", "RS256"]) {
            test(`${algorithm} is accepted`, async () => {
                const { protectedHeader, payload } = await verify(
                    make(known, algorithm),
                    known,
                    algorithm,
                );
                const thumbprint = (hash) =>
                    createHash(hash).update(known.der).digest("base64url");
                assert.deepEqual(
                    protectedHeader,
                    algorithm === "PS256"
                        ? { alg: "PS256", typ: "JWT", "x5t#S256": thumbprint("sha256") }
                        : { alg: "RS256", typ: "JWT", x5t: thumbprint("sha1") },
                );
                assert.match(payload.jti, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
                assert.ok(payload.exp - payload.iat <= 600);
                assert.equal(payload.nbf, payload.iat);
            });

            test(`${algorithm} of another key, for another audience, or changed is refused`, async () => {
                const assertion = make(known, algorithm);
                const [header, claims, signature] = assertion.split(".");
                const failed = { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" };
                await assert.rejects(verify(assertion, stranger, algorithm), failed);
                await assert.rejects(
                    verify(assertion, known, algorithm, "https://login.example.com/"),
                    { code: "ERR_JWT_CLAIM_VALIDATION_FAILED" },
                );
                        const bent = { ...jose.decodeJwt(assertion), jti: "another" };
                const forged = jose.base64url.encode(JSON.stringify(bent));
                await assert.rejects(
                    verify(`${header}.${forged}.${signature}`, known, algorithm),
                    failed,
                );
                const flipped = signature[9] === "A" ? "B" : "A";
                const spoiled = signature.slice(0, 9) + flipped + signature.slice(10);
                await assert.rejects(
                    verify(`${header}.${claims}.${spoiled}`, known, algorithm),
                    failed,
                );
            });
        }

        test("no two assertions are the same", () => {
            const ids = new Set();
            for (let i = 0; i < 10; i++) ids.add(jose.decodeJwt(make(known, "RS256")).jti);
            assert.equal(ids.size, 10);
        });

        test("a file that others may read is refused, and its contents are not said", () => {
            chmodSync(known.file, 0o644);
            const args = [known.file, CLIENT, AUDIENCE, "PS256"];
            assert.throws(
                () => execFileSync(program(), args, { stdio: "pipe" }),
                (error) => /chmod 600/.test(error.stderr) && !/PRIVATE/.test(error.stderr),
            );
            chmodSync(known.file, 0o600);
        });
    });
}
