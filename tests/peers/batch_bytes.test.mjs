// SPDX-License-Identifier: MIT
//
// The bytes of weir's $batch beside those that dynamics-web-api sends for the same operations, and
// what the simulator makes of weir's. The program named by WEIR_BATCH_MAKE writes weir's.
//
// The two differ on purpose in what normalise() takes away, and in nothing else:
//   - the name of the boundary;
//   - absolute addresses there, paths here; a path here is percent-encoded;
//   - an empty line before the first boundary there, and between a body and the next boundary;
//   - no empty line behind the headers of a part without body there: its end is the boundary's;
//   - a Content-Type on a DELETE there, which has no body;
//   - the order of headers within a part.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";

import { DynamicsWebApi } from "dynamics-web-api";

import { connect, GUID } from "./dataverse.mjs";
import { fetchToken, startSimulator } from "./simulator.mjs";

const ACCOUNT = { logicalName: "account", setName: "accounts", primaryId: "accountid" };
const SOMEBODY = "0f8fad5b-d9cb-469f-a165-70867728950e";

/** JSON as dynamics-web-api writes it: ASCII. */
const ascii = (value) =>
    JSON.stringify(value).replace(
        /[\u0080-\uffff]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );

/** An operation is a kind, an id or a key, and data. */
const members = (operation) => ascii(operation.data ?? {}).slice(1, -1);

function predicate({ id, key }) {
    if (id) return id;
    return key
        .map(({ name, text, literal }) =>
            text === undefined ? `${name}=${literal}` : `${name}='${text.replaceAll("'", "''")}'`,
        )
        .join(",");
}

/* ---- weir ---- */

function weirBatch(operations, options = {}) {
    const program = process.env.WEIR_BATCH_MAKE;
    assert.ok(program, "the environment variable WEIR_BATCH_MAKE must name the program");
    const parts = operations.map(({ kind, id, key, path, ...operation }) => ({
        kind,
        ...(kind === "read" ? { path } : { id, key, members: members(operation) }),
    }));
    const boundary = `batch_${randomUUID()}`;
    const input = JSON.stringify({ boundary, options, table: ACCOUNT, parts });
    const bytes = execFileSync(program, { input, maxBuffer: 64 * 1024 * 1024 });
    const end = bytes.indexOf("\r\n\r\n");
    const headers = bytes
        .subarray(0, end)
        .toString()
        .split("\r\n")
        .map((line) => /^([^:]+): (.*)$/.exec(line).slice(1, 3));
    return { boundary, headers: Object.fromEntries(headers), body: bytes.subarray(end + 4) };
}

/* ---- dynamics-web-api ---- */

/** Its requests, as they arrive at a server that answers every batch with an empty one. */
async function startListener() {
    const requests = [];
    const server = createServer(async (request, response) => {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        requests.push({ headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(200, { "Content-Type": "multipart/mixed; boundary=b" });
        response.end("--b--\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const stop = () => new Promise((resolve) => server.close(resolve));
    return { url: `http://127.0.0.1:${server.address().port}`, requests, stop };
}

function callPeer(client, operation, options) {
    const { kind, data } = operation;
    const common = {
        collection: "accounts",
        inChangeSet: false,
        ...(options.tag && { tag: options.tag }),
        ...(options.impersonate && { impersonateAAD: options.impersonate }),
    };
    const detect = options.detectDuplicates ? { duplicateDetection: true } : {};
    const row = () => ({ ...common, ...detect, key: predicate(operation), data });
    if (kind === "create") {
        const id = operation.id ? { accountid: operation.id } : {};
        void client.create({ ...common, ...detect, data: { ...id, ...data } });
    } else if (kind === "update") void client.update(row());
    else if (kind === "upsert") void client.upsert(row());
    else if (kind === "delete") void client.deleteRecord({ ...common, key: predicate(operation) });
    else void client.retrieve({ ...common, key: operation.id, select: ["name", "createdon"] });
}

async function peerBatch(listener, operations, options = {}) {
    const client = new DynamicsWebApi({
        serverUrl: listener.url,
        dataApi: { version: "9.2" },
        onTokenRefresh: async () => "token",
    });
    client.startBatch();
    for (const operation of operations) callPeer(client, operation, options);
    await client.executeBatch({ continueOnError: Boolean(options.continueOnError) }).catch(() => {});
    const { headers, body } = listener.requests.pop();
    const [, boundary] = /^multipart\/mixed; ?boundary=(\S+)$/.exec(headers["content-type"]);
    return { boundary, headers, body };
}

/* ---- side by side ---- */

function normalisePart(part, origin) {
    const [outer, ...rest] = part.replace(/(\r\n)+$/, "").split("\r\n\r\n");
    const [requestLine, ...headers] = rest[0].split("\r\n");
    const [, method, target] = /^(\S+) (.*) HTTP\/1\.1$/.exec(requestLine);
    const path = decodeURIComponent(target.replace(origin, ""));
    const kept = headers.filter((line) => method !== "DELETE" || !/^content-type:/i.test(line));
    return [outer, `${method} ${path} HTTP/1.1`, kept.sort(), rest.slice(1)];
}

/** Every line end is CR LF, the last one is there, and between the delimiters stand the parts. */
function normalise({ boundary, body }, origin) {
    const text = body.toString();
    assert.doesNotMatch(text, /[^\r]\n|\r[^\n]/);
    const delimiter = `--${boundary}`;
    const pieces = text.split(new RegExp(`(?:^|\r\n)${delimiter}`));
    assert.equal(pieces.shift(), "");
    assert.equal(pieces.pop(), "--\r\n");
    return pieces.map((piece) => {
        assert.ok(piece.startsWith("\r\n"));
        return normalisePart(piece.slice(2), origin);
    });
}

function randomOperation(random) {
    const kinds = ["create", "update", "upsert", "delete", "read"];
    const kind = kinds[Math.floor(random() * kinds.length)];
    const id = `00000000-0000-4000-8000-${Math.floor(random() * 1e12).toString().padStart(12, "0")}`;
    const texts = ["A1", "O'Brien", "Zoë & <Söhne> 😀", 'say "--" \\ \r\n--batch', "", "%20?#/+"];
    const text = texts[Math.floor(random() * texts.length)];
    const data = [{ name: text }, { revenue: 12.5, donotemail: null }, { name: "a", description: text }];
    /* Plain: the peer takes no commas here, and counts characters for its Content-Length. */
    const keys = [
        [{ name: "accountnumber", text: "A1" }],
        [{ name: "accountnumber", text: "O'Brien Son" }],
        [{ name: "accountnumber", text: "x" }, { name: "numberofemployees", literal: "5" }],
    ];
    const byKey = kind !== "create" && kind !== "read" && random() < 0.5;
    return {
        kind,
        ...(byKey ? { key: keys[Math.floor(random() * keys.length)] } : { id }),
        ...(kind === "read" && { path: `accounts(${id})?$select=name,createdon` }),
        ...(kind !== "read" && kind !== "delete" && { data: data[Math.floor(random() * data.length)] }),
    };
}

/** A generator that replays: the round is its seed. */
function generator(seed) {
    let state = seed + 1;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}

describe("weir's $batch", () => {
    let listener;
    let simulator;

    before(async () => {
        listener = await startListener();
        simulator = await startSimulator(["--no-limits"]);
    });
    after(async () => {
        await listener.stop();
        await simulator.stop();
    });

    async function compare(operations, options) {
        const ours = weirBatch(operations, options);
        const theirs = await peerBatch(listener, operations, options);
        assert.deepEqual(normalise(ours, listener.url), normalise(theirs, listener.url));
        return [ours, theirs];
    }

    test("is, operation by operation, what dynamics-web-api sends", async () => {
        for (let round = 0; round < 40; round++) {
            const random = generator(round);
            const count = 1 + Math.floor(random() * 12);
            const operations = Array.from({ length: count }, () => randomOperation(random));
            await compare(operations);
        }
    });

    test("asks for the same options in every part", async () => {
        const options = {
            tag: "nightly",
            impersonate: SOMEBODY,
            detectDuplicates: true,
            continueOnError: true,
        };
        const random = generator(4711);
        const operations = Array.from({ length: 20 }, () => randomOperation(random));
        const [ours, theirs] = await compare(operations, options);
        for (const name of ["Accept", "OData-Version", "OData-MaxVersion", "Prefer"])
            assert.equal(ours.headers[name], theirs.headers[name.toLowerCase()], name);
        assert.equal(ours.headers["Content-Type"], `multipart/mixed; boundary=${ours.boundary}`);
    });

    async function execute(operations, options) {
        const { headers, body } = weirBatch(operations, options);
        const token = await fetchToken(simulator);
        const answer = await fetch(`${simulator.url}/api/data/v9.2/$batch`, {
            method: "POST",
            headers: { ...headers, Authorization: `Bearer ${token}` },
            body,
        });
        const text = await answer.text();
        const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map((match) => Number(match[1]));
        return { status: answer.status, statuses, text };
    }

    test("is executed by the simulator as it was meant", async () => {
        const [a, b] = [randomUUID(), randomUUID()];
        const key = [{ name: "accountnumber", text: `O'Brien ${a}` }];
        const { status, statuses, text } = await execute([
            { kind: "create", id: a, data: { name: "one" } },
            { kind: "update", id: a, data: { name: "two" } },
            { kind: "upsert", id: b, data: { name: "Zoë" } },
            { kind: "upsert", key, data: { name: "by key" } },
            { kind: "update", key, data: { telephone1: "123" } },
            { kind: "read", path: `accounts(${a})?$select=name` },
            { kind: "delete", id: b },
        ]);
        assert.equal(status, 200);
        assert.deepEqual(statuses, [204, 204, 204, 204, 204, 200, 204], text);
        assert.match(text, /"name":"two"/);
        const client = await connect(simulator);
        const row = await client.retrieve({ collection: "accounts", key: predicate({ key }) });
        assert.match(row.accountid, GUID);
        assert.equal(row.name, "by key");
        assert.equal(row.telephone1, "123");
        const gone = await client.retrieveMultiple({
            collection: "accounts",
            filter: `accountid eq ${b}`,
        });
        assert.equal(gone.value.length, 0);
    });

    test("goes on behind an error, or stops there", async () => {
        const nobody = randomUUID();
        const operations = [
            { kind: "update", id: nobody, data: { name: "x" } },
            { kind: "create", id: randomUUID(), data: { name: "y" } },
        ];
        const stopped = await execute(operations);
        assert.equal(stopped.status, 404);
        assert.deepEqual(stopped.statuses, [404]);
        const finished = await execute(operations, { continueOnError: true });
        assert.equal(finished.status, 200);
        assert.deepEqual(finished.statuses, [404, 204]);
    });

    test("of a thousand parts is executed whole", async () => {
        const operations = Array.from({ length: 1000 }, (_, i) => ({
            kind: "create",
            id: randomUUID(),
            data: { name: `row ${i}` },
        }));
        const { status, statuses } = await execute(operations, { continueOnError: true });
        assert.equal(status, 200);
        assert.equal(statuses.length, 1000);
        assert.ok(statuses.every((one) => one === 204));
    });
});
