// SPDX-License-Identifier: MIT
//
// A weir-sim of one's own: started on a free port, ended with the test that started it. The binary is
// named by the environment variable WEIR_SIM.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_MS = 20_000;
const END_MS = 20_000;

function binary() {
    const path = process.env.WEIR_SIM;
    assert.ok(path, "the environment variable WEIR_SIM must name the simulator");
    return path;
}

/** The URL of the line "listening URL", or a rejection if the program ends or stays silent. */
function listening(child) {
    return new Promise((resolve, reject) => {
        let errors = "";
        const fail = (why) => {
            clearTimeout(timer);
            reject(new Error(`${why}\n${errors}`));
        };
        const timer = setTimeout(() => fail("weir-sim does not say where it listens"), START_MS);
        child.stderr.on("data", (text) => (errors += text));
        child.on("error", (error) => fail(error.message));
        child.on("exit", (code) => fail(`weir-sim ended with ${code}`));
        createInterface({ input: child.stdout }).on("line", (line) => {
            const match = /^listening (\S+)$/.exec(line);
            if (match) {
                clearTimeout(timer);
                resolve(match[1].replace(/\/$/, ""));
            }
        });
    });
}

/** End it by SIGTERM; how it ended. */
async function terminate(child, exited) {
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    child.kill("SIGTERM");
    const [code, signal] = await exited;
    clearTimeout(timer);
    return { code, signal };
}

/**
 * Start the simulator with these flags. Returns its URL, the configuration that it prints for its
 * clients, and stop(), which must be called in the end.
 */
export async function startSimulator(flags = []) {
    const home = mkdtempSync(join(tmpdir(), "weir-peers-"));
    const env = { ...process.env, XDG_STATE_HOME: home };
    const child = spawn(binary(), ["--port", "0", ...flags], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    const stop = async () => {
        const how = await terminate(child, exited);
        rmSync(home, { recursive: true, force: true });
        assert.deepEqual(how, { code: 0, signal: null }, "SIGTERM is a clean end");
    };
    const url = await listening(child);
    const { port } = new URL(url);
    const printed = execFileSync(binary(), ["--print-config", "--port", port, ...flags], { env });
    return { url, config: JSON.parse(printed).Dataverse, stop };
}

/** The same for the length of one test. */
export async function startFor(t, flags) {
    const simulator = await startSimulator(flags);
    t.after(simulator.stop);
    return simulator;
}

/** A token for one of the configured connections, by the plainest of requests. */
export async function fetchToken(simulator, index = 0) {
    const connection = simulator.config.Connections[index];
    const answer = await fetch(`${simulator.url}/contoso/oauth2/v2.0/token`, {
        method: "POST",
        body: new URLSearchParams({
            grant_type: "client_credentials",
            client_id: connection.ClientId,
            client_secret: connection.ClientSecret,
            scope: `${simulator.url}/.default`,
        }),
    });
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body.access_token;
}
