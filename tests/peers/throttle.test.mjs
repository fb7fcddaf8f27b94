// SPDX-License-Identifier: MIT
//
// dynamics-web-api runs into the three limits, each in a world so small that it is soon reached.
import assert from "node:assert/strict";
import { test } from "node:test";

import { connect, failure } from "./dataverse.mjs";
import { fetchToken, startFor } from "./simulator.mjs";

const whoAmI = (client) => client.callFunction("WhoAmI");

/** Status, code, text and Retry-After of a refusal, as this client shows them. */
function assertThrottled(error, code, message) {
    assert.equal(error.status, 429);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.match(error.headers["retry-after"], /^[1-9]\d*$/);
}

/** Call one after the other until one is refused; how many were not, and the refusal. */
async function untilRefused(client, attempts_max) {
    for (let accepted = 0; accepted < attempts_max; accepted++) {
        const [result] = await Promise.allSettled([whoAmI(client)]);
        if (result.status === "rejected") return { accepted, error: result.reason };
    }
    throw new Error(`${attempts_max} requests and no throttle`);
}

async function stats(simulator) {
    const answer = await fetch(`${simulator.url}/sim/stats`);
    return (await answer.json()).connections[0];
}

test("the request over the number of requests is refused with 0x80072322", async (t) => {
    const flags = ["--requests", "3", "--window", "300", "--service-time", "1"];
    const simulator = await startFor(t, flags);
    const { accepted, error } = await untilRefused(await connect(simulator), 10);
    assert.equal(accepted, 3);
    assertThrottled(
        error,
        "0x80072322",
        /^Number of requests exceeded the limit of 3 over time window of 300 seconds\.$/,
    );
    const counted = await stats(simulator);
    assert.equal(counted.throttled.requests, 1);
    assert.equal(counted.accepted, 3);
});

test("requests that took too long together are refused with 0x80072321", async (t) => {
    const flags = ["--exec-time", "1", "--window", "300", "--service-time", "400"];
    const simulator = await startFor(t, flags);
    const { accepted, error } = await untilRefused(await connect(simulator), 30);
    assert.ok(accepted >= 2, `${accepted} accepted`);
    assertThrottled(
        error,
        "0x80072321",
        /^Combined execution time of incoming requests exceeded limit of 1,?000 milliseconds over time window of 300 seconds\. Decrease number of concurrent requests or reduce the duration of requests and try again later\.$/,
    );
    assert.equal((await stats(simulator)).throttled.execution_time, 1);
});

test("one request too many at a time is refused with 0x80072326", async (t) => {
    const flags = ["--concurrent", "1", "--service-time", "1500"];
    const simulator = await startFor(t, flags);
    const client = await connect(simulator);
    const results = await Promise.allSettled([whoAmI(client), whoAmI(client), whoAmI(client)]);
    const refused = results.filter((result) => result.status === "rejected");
    assert.equal(refused.length, 2);
    for (const { reason } of refused)
        assertThrottled(
            reason,
            "0x80072326",
            /^Number of concurrent requests exceeded the limit of 1\.$/,
        );
    assert.equal((await stats(simulator)).throttled.concurrency, 2);
});

test("a throttle that was asked for comes with the Retry-After that was asked for", async (t) => {
    const simulator = await startFor(t, ["--no-limits"]);
    const client = await connect(simulator);
    for (const code of ["0x80072321", "0x80072322", "0x80072326"]) {
        const faults = [{ kind: "throttle", code, retry_after: 17, count: 1 }];
        const answer = await fetch(`${simulator.url}/sim/faults`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ faults }),
        });
        assert.ok(answer.ok, await answer.text());
        const error = await failure(whoAmI(client));
        assert.equal(error.status, 429);
        assert.equal(error.code, code);
        assert.equal(error.headers["retry-after"], "17");
        assert.ok((await whoAmI(client)).UserId);
    }
});

test("the answers say what is left", async (t) => {
    const simulator = await startFor(t, ["--requests", "100", "--service-time", "1"]);
    const token = await fetchToken(simulator);
    const left = [];
    for (let i = 0; i < 3; i++) {
        const answer = await fetch(`${simulator.url}/api/data/v9.2/WhoAmI`, {
            headers: { Authorization: `Bearer ${token}` },
        });
        assert.equal(answer.status, 200);
        left.push(Number(answer.headers.get("x-ms-ratelimit-burst-remaining-xrm-requests")));
        assert.match(
            answer.headers.get("x-ms-ratelimit-time-remaining-xrm-requests"),
            /^[\d,]+\.\d\d$/,
        );
        assert.match(answer.headers.get("x-ms-dop-hint"), /^\d+$/);
    }
    assert.deepEqual([left[0] - left[1], left[1] - left[2]], [1, 1]);
    assert.ok(left[2] < 100);
});
