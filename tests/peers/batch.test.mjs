// SPDX-License-Identifier: MIT
//
// dynamics-web-api sends $batch: with and without change sets, and past errors.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";

import { connect, failure, GUID, NOBODY } from "./dataverse.mjs";
import { startSimulator } from "./simulator.mjs";

describe("dynamics-web-api in batches", () => {
    let simulator;
    let client;
    let description; /* marks the rows of one test */

    before(async () => {
        simulator = await startSimulator(["--no-limits"]);
    });
    after(() => simulator.stop());
    beforeEach(async () => {
        client = await connect(simulator);
        description = randomUUID();
    });

    /** Inside a batch a call is only noted: its promise is for nobody. */
    const create = (name, more) =>
        void client.create({ collection: "accounts", data: { name, description }, ...more });
    const remove = (key, more) => void client.deleteRecord({ collection: "accounts", key, ...more });

    async function written() {
        const found = await client.retrieveMultiple({
            collection: "accounts",
            select: ["name"],
            filter: `description eq '${description}'`,
        });
        return found.value.map((row) => row.name).sort();
    }

    test("parts without a change set run in order, reads among them", async () => {
        const key = randomUUID();
        client.startBatch();
        void client.create({
            collection: "accounts",
            data: { accountid: key, name: "in batch", description },
            inChangeSet: false,
        });
        void client.retrieve({ collection: "accounts", key, select: ["name"] });
        void client.callFunction("WhoAmI");
        remove(key, { inChangeSet: false });
        const [id, row, me, gone] = await client.executeBatch();
        assert.equal(id, key);
        assert.equal(row.name, "in batch");
        assert.match(me.UserId, GUID);
        assert.equal(gone, true);
        assert.deepEqual(await written(), []);
    });

    test("a change set is written as a whole", async () => {
        client.startBatch();
        create("one");
        create("two");
        const ids = await client.executeBatch();
        assert.equal(ids.length, 2);
        for (const id of ids) assert.match(id, GUID);
        assert.deepEqual(await written(), ["one", "two"]);
    });

    test("a part refers to one before it by its content id", async () => {
        client.startBatch();
        create("parent", { contentId: "1" });
        void client.create({
            collection: "accounts",
            data: { name: "child", description, "parentaccountid@odata.bind": "$1" },
            contentId: "2",
        });
        const [parent, child] = await client.executeBatch();
        const row = await client.retrieve({ collection: "accounts", key: child });
        assert.equal(row._parentaccountid_value, parent);
    });

    test("a change set with one bad part leaves nothing behind", async () => {
        client.startBatch();
        create("good");
        remove(NOBODY);
        const errors = await failure(client.executeBatch());
        assert.equal([errors].flat().at(-1).status, 404);
        assert.deepEqual(await written(), []);
    });

    test("without continue-on-error nothing behind the error is executed", async () => {
        client.startBatch();
        create("before", { inChangeSet: false });
        remove(NOBODY, { inChangeSet: false });
        create("behind", { inChangeSet: false });
        const parts = await failure(client.executeBatch());
        assert.equal(parts.length, 2, "the answer ends with the error");
        assert.match(parts[0], GUID);
        assert.equal(parts[1].status, 404);
        assert.deepEqual(await written(), ["before"]);
    });

    test("with continue-on-error every part has its own result", async () => {
        client.startBatch();
        create("before", { inChangeSet: false });
        remove(NOBODY, { inChangeSet: false });
        create("behind", { inChangeSet: false });
        const parts = await client.executeBatch({ continueOnError: true });
        assert.equal(parts.length, 3);
        assert.match(parts[0], GUID);
        assert.equal(parts[1].status, 404);
        assert.equal(parts[1].error.code, "0x80040217");
        assert.match(parts[2], GUID);
        assert.deepEqual(await written(), ["before", "behind"]);
    });

    test("with continue-on-error a failed change set does not stop the next one", async () => {
        client.startBatch();
        create("rolled back");
        remove(NOBODY);
        void client.callFunction("WhoAmI");
        create("kept");
        const parts = await client.executeBatch({ continueOnError: true });
        assert.equal(parts.at(0).status, 404);
        assert.match(parts.at(-1), GUID);
        assert.deepEqual(await written(), ["kept"]);
    });

    test("a hundred parts come back in the order in which they went", async () => {
        const names = Array.from({ length: 100 }, (_, i) => `row ${i}`);
        client.startBatch();
        for (const name of names)
            create(name, { inChangeSet: false, returnRepresentation: true, select: ["name"] });
        const rows = await client.executeBatch();
        assert.deepEqual(rows.map((row) => row.name), names);
    });
});
