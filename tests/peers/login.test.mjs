// SPDX-License-Identifier: MIT
//
// @azure/msal-node logs in over TLS: by secret and by certificate, rightly and wrongly.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { startSimulator } from "./simulator.mjs";

const LOGIN = new URL("login.mjs", import.meta.url).pathname;

/** A self-signed certificate with its key, made by the openssl command. */
function makeIdentity(folder, name) {
    const keyFile = join(folder, `${name}.key`);
    const certificateFile = join(folder, `${name}.pem`);
    execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`]
            .concat(["-keyout", keyFile, "-out", certificateFile]),
        { stdio: "pipe" },
    );
    const certificate = readFileSync(certificateFile, "utf8");
    const der = new X509Certificate(certificate).raw;
    return {
        certificateFile,
        privateKey: readFileSync(keyFile, "utf8"),
        thumbprintSha256: createHash("sha256").update(der).digest("hex"),
        thumbprint: createHash("sha1").update(der).digest("hex"),
        x5c: certificate,
    };
}

/** Run login.mjs, which trusts the simulator's own authority. */
function login(simulator, auth, scope = `${simulator.url}/.default`) {
    const { host } = new URL(simulator.url);
    const ask = {
        auth: { authority: `${simulator.url}/contoso`, knownAuthorities: [host], ...auth },
        scope,
    };
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: simulator.config.CaFile };
    return new Promise((resolve, reject) => {
        const child = execFile(process.execPath, [LOGIN], { env }, (error, out, errors) =>
            error ? reject(new Error(`${error.message}\n${errors}`)) : resolve(JSON.parse(out)),
        );
        child.stdin.end(JSON.stringify(ask));
    });
}

/** WhoAmI with a token, over TLS. */
function whoAmI(simulator, token) {
    return new Promise((resolve, reject) => {
        const options = {
            ca: readFileSync(simulator.config.CaFile),
            headers: { Authorization: `Bearer ${token}` },
            agent: false,
        };
        https
            .get(`${simulator.url}/api/data/v9.2/WhoAmI`, options, (answer) => {
                answer.resume();
                answer.on("end", () => resolve(answer.statusCode));
            })
            .on("error", reject);
    });
}

function assertRefused(outcome, errorCode, number) {
    assert.ok(outcome.error, "the login should have failed");
    assert.equal(outcome.error.errorCode, errorCode);
    assert.match(outcome.error.errorMessage, new RegExp(`AADSTS${number}: `));
    assert.match(outcome.error.errorMessage, /Trace ID: \S{36} Correlation ID: \S{36} Timestamp: /);
    if (outcome.error.errorNo) assert.equal(Number(outcome.error.errorNo), number);
}

describe("@azure/msal-node over TLS", () => {
    let folder;
    let known;
    let stranger;
    let simulator;

    before(async () => {
        folder = mkdtempSync(join(tmpdir(), "weir-peers-keys-"));
        known = makeIdentity(folder, "known");
        stranger = makeIdentity(folder, "stranger");
        simulator = await startSimulator([
            "--tls",
            "--no-limits",
            "--users",
            "2",
            "--certificate",
            `app1=${known.certificateFile}`,
        ]);
    });
    after(async () => {
        rmSync(folder, { recursive: true, force: true });
        await simulator.stop();
    });

    const secretOf = (index) => {
        const { ClientId, ClientSecret } = simulator.config.Connections[index];
        return { clientId: ClientId, clientSecret: ClientSecret };
    };
    const certificateOf = (clientCertificate) => ({ clientId: "app1", clientCertificate });

    test("a secret opens the door, and the token the service", async () => {
        const outcome = await login(simulator, secretOf(1));
        assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
        assert.equal(outcome.type, "Bearer");
        const left_s = (Date.parse(outcome.expiresOn) - Date.now()) / 1000;
        assert.ok(left_s > 3000 && left_s <= 3600, `${left_s}`);
        assert.equal(await whoAmI(simulator, outcome.token), 200);
        assert.equal(await whoAmI(simulator, `${outcome.token}x`), 401);
    });

    test("a certificate with PS256 and x5t#S256 opens it", async () => {
        const { thumbprintSha256, privateKey } = known;
        const outcome = await login(simulator, certificateOf({ thumbprintSha256, privateKey }));
        assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
        assert.equal(await whoAmI(simulator, outcome.token), 200);
    });

    test("a certificate with RS256, x5t and its chain opens it", async () => {
        const { thumbprint, privateKey, x5c } = known;
        const outcome = await login(simulator, certificateOf({ thumbprint, privateKey, x5c }));
        assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
        assert.equal(await whoAmI(simulator, outcome.token), 200);
    });

    test("a wrong secret is refused with 7000215", async () => {
        const outcome = await login(simulator, { ...secretOf(0), clientSecret: "wrong" });
        assertRefused(outcome, "invalid_client", 7000215);
    });

    test("the secret of another application is refused with 7000215", async () => {
        const outcome = await login(simulator, { ...secretOf(0), clientId: "app2" });
        assertRefused(outcome, "invalid_client", 7000215);
    });

    test("a key that does not fit the certificate is refused with 700027", async () => {
        const { thumbprintSha256 } = known;
        const outcome = await login(
            simulator,
            certificateOf({ thumbprintSha256, privateKey: stranger.privateKey }),
        );
        assertRefused(outcome, "invalid_client", 700027);
    });

    test("a certificate that is not registered is refused with 700027", async () => {
        const { thumbprintSha256, privateKey } = stranger;
        const outcome = await login(simulator, certificateOf({ thumbprintSha256, privateKey }));
        assertRefused(outcome, "invalid_client", 700027);
    });

    test("an unknown application is refused with 700016", async () => {
        const outcome = await login(simulator, { ...secretOf(0), clientId: "app99" });
        assertRefused(outcome, "unauthorized_client", 700016);
    });

    test("an unknown resource is refused with 500011", async () => {
        const outcome = await login(
            simulator,
            secretOf(0),
            "https://fabrikam.crm.dynamics.com/.default",
        );
        assertRefused(outcome, "invalid_resource", 500011);
    });

    test("a scope that is not the default one is refused with 1002012", async () => {
        const scope = `${simulator.url}/user_impersonation`;
        assertRefused(await login(simulator, secretOf(0), scope), "invalid_scope", 1002012);
    });

    test("an unknown tenant is refused", async () => {
        const authority = `${simulator.url}/fabrikam`;
        const outcome = await login(simulator, { ...secretOf(0), authority });
        assert.ok(outcome.error);
        assert.equal(outcome.token, undefined);
    });
});
