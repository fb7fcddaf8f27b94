// SPDX-License-Identifier: MIT
//
// dynamics-web-api reads and writes single records, and many with one action.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import { callMultiple, connect, failure, GUID, NOBODY } from "./dataverse.mjs";
import { startSimulator } from "./simulator.mjs";

const ACCOUNT = "Microsoft.Dynamics.CRM.account";

describe("dynamics-web-api on records", () => {
    let simulator;
    let client;

    before(async () => {
        simulator = await startSimulator(["--no-limits"]);
        client = await connect(simulator);
    });
    after(() => simulator.stop());

    test("WhoAmI names user, business unit and organization", async () => {
        const me = await client.callFunction("WhoAmI");
        assert.match(me.UserId, GUID);
        assert.match(me.BusinessUnitId, GUID);
        assert.match(me.OrganizationId, GUID);
    });

    test("a token that is not ours is refused with 401", async () => {
        const stranger = await connect(simulator, { onTokenRefresh: async () => "eyJ0.eyJ9.abcd" });
        const error = await failure(stranger.callFunction("WhoAmI"));
        assert.equal(error.status, 401);
        assert.match(error.headers["www-authenticate"], /^Bearer authorization_uri=.*resource_id=/);
    });

    test("create answers with the id, and retrieve reads what was written", async () => {
        const data = { name: "Zoë & Söhne", revenue: 1234.5, numberofemployees: 7, donotemail: true };
        const id = await client.create({ collection: "accounts", data });
        assert.match(id, GUID);
        const row = await client.retrieve({
            collection: "accounts",
            key: id,
            select: ["accountid", "name", "revenue", "numberofemployees", "donotemail"],
        });
        assert.equal(row.accountid, id);
        assert.match(row["@odata.etag"], /^W\/"\d+"$/);
        for (const [column, value] of Object.entries(data)) assert.deepEqual(row[column], value, column);
    });

    test("create returns the whole row when asked to", async () => {
        const row = await client.create({
            collection: "accounts",
            data: { name: "representation" },
            returnRepresentation: true,
            select: ["name", "statecode", "createdon"],
        });
        assert.equal(row.name, "representation");
        assert.equal(row.statecode, 0);
        assert.ok(row.createdon instanceof Date);
        assert.match(row.accountid, GUID);
    });

    test("create with an id that is there already is a duplicate", async () => {
        const data = { accountid: randomUUID(), name: "once" };
        assert.equal(await client.create({ collection: "accounts", data }), data.accountid);
        const error = await failure(client.create({ collection: "accounts", data }));
        assert.equal(error.status, 412);
        assert.equal(error.code, "0x80040237");
    });

    test("a column that does not exist is refused, and nothing is written", async () => {
        const name = randomUUID();
        const data = { name, no_such_column: 1 };
        const error = await failure(client.create({ collection: "accounts", data }));
        assert.equal(error.status, 400);
        const found = await client.retrieveMultiple({
            collection: "accounts",
            filter: `name eq '${name}'`,
        });
        assert.equal(found.value.length, 0);
    });

    test("a lookup is bound by its navigation property", async () => {
        const parent = await client.create({ collection: "accounts", data: { name: "parent" } });
        const child = await client.create({
            collection: "accounts",
            data: { name: "child", "parentaccountid@odata.bind": `accounts(${parent})` },
        });
        const row = await client.retrieve({ collection: "accounts", key: child });
        assert.equal(row._parentaccountid_value, parent);
    });

    test("retrieveMultiple turns pages until there are no more", async () => {
        const description = randomUUID();
        const names = ["a", "b", "c", "d", "e", "f", "g"];
        for (const name of names)
            await client.create({ collection: "accounts", data: { name, description } });
        const ask = {
            collection: "accounts",
            select: ["name"],
            filter: `description eq '${description}'`,
            maxPageSize: 3,
        };
        const sizes = [];
        const seen = [];
        let page = await client.retrieveMultiple(ask);
        for (;;) {
            sizes.push(page.value.length);
            seen.push(...page.value.map((row) => row.name));
            if (!page.oDataNextLink) break;
            assert.ok(page.oDataNextLink.startsWith(simulator.url));
            page = await client.retrieveMultiple(ask, page.oDataNextLink);
        }
        assert.deepEqual(sizes, [3, 3, 1]);
        assert.deepEqual(seen.sort(), names);
        const all = await client.retrieveAll(ask);
        assert.equal(all.value.length, names.length);
        const counted = await client.retrieveMultiple({ ...ask, count: true });
        assert.equal(counted.oDataCount, names.length);
        const top = await client.retrieveMultiple({ ...ask, maxPageSize: undefined, top: 2 });
        assert.equal(top.value.length, 2);
        assert.equal(top.oDataNextLink, undefined);
    });

    test("retrieve of what is not there is 404", async () => {
        const error = await failure(client.retrieve({ collection: "accounts", key: NOBODY }));
        assert.equal(error.status, 404);
        assert.equal(error.code, "0x80040217");
    });

    test("update changes what it names and nothing else", async () => {
        const data = { name: "before", telephone1: "1" };
        const key = await client.create({ collection: "accounts", data });
        assert.equal(
            await client.update({ collection: "accounts", key, data: { name: "after" } }),
            true,
        );
        const row = await client.retrieve({ collection: "accounts", key });
        assert.equal(row.name, "after");
        assert.equal(row.telephone1, "1");
    });

    test("update never creates", async () => {
        const error = await failure(
            client.update({ collection: "accounts", key: NOBODY, data: { name: "x" } }),
        );
        assert.equal(error.status, 404);
    });

    test("update with an old version is 412", async () => {
        const key = await client.create({ collection: "accounts", data: { name: "v1" } });
        const { "@odata.etag": ifmatch } = await client.retrieve({ collection: "accounts", key });
        await client.update({ collection: "accounts", key, ifmatch, data: { name: "v2" } });
        const error = await failure(
            client.update({ collection: "accounts", key, ifmatch, data: { name: "v3" } }),
        );
        assert.equal(error.status, 412);
        assert.equal(error.code, "0x80060882");
        assert.equal((await client.retrieve({ collection: "accounts", key })).name, "v2");
    });

    test("upsert creates, then updates", async () => {
        const key = randomUUID();
        const upsert = (name, more) =>
            client.upsert({ collection: "accounts", key, data: { name }, ...more });
        await upsert("created");
        assert.equal((await client.retrieve({ collection: "accounts", key })).name, "created");
        const row = await upsert("updated", { returnRepresentation: true });
        assert.equal(row.name, "updated");
        const error = await failure(upsert("no", { ifnonematch: "*" }));
        assert.equal(error.status, 412);
        const missing = await failure(
            client.upsert({ collection: "accounts", key: NOBODY, data: {}, ifmatch: "*" }),
        );
        assert.equal(missing.status, 404);
    });

    test("delete deletes once", async () => {
        const key = await client.create({ collection: "accounts", data: { name: "gone" } });
        assert.equal(await client.deleteRecord({ collection: "accounts", key }), true);
        const again = await failure(client.deleteRecord({ collection: "accounts", key }));
        assert.equal(again.status, 404);
    });

    test("alternate keys find, create, change and delete", async () => {
        const key = `accountnumber='O''Neill ${randomUUID().slice(0, 8)}'`;
        await client.upsert({ collection: "accounts", key, data: { name: "by key" } });
        const row = await client.retrieve({ collection: "accounts", key });
        assert.equal(row.name, "by key");
        assert.match(row.accountnumber, /^O'Neill /);
        await client.update({ collection: "accounts", key, data: { name: "again" } });
        assert.equal(
            (await client.retrieve({ collection: "accounts", key: row.accountid })).name,
            "again",
        );
        const twin = { name: "twin", accountnumber: row.accountnumber };
        const error = await failure(client.create({ collection: "accounts", data: twin }));
        assert.equal(error.status, 412);
        assert.equal(error.code, "0x80060892");
        assert.equal(await client.deleteRecord({ collection: "accounts", key }), true);
        assert.equal((await failure(client.retrieve({ collection: "accounts", key }))).status, 404);
    });

    test("CreateMultiple answers with the ids in the order of the rows", async () => {
        const own = randomUUID();
        const targets = ["first", "second", "third"].map((name) => ({ "@odata.type": ACCOUNT, name }));
        targets[1].accountid = own;
        const answer = await callMultiple(client, "CreateMultiple", "accounts", targets);
        assert.equal(answer.Ids.length, 3);
        assert.equal(answer.Ids[1], own);
        for (const [i, key] of answer.Ids.entries()) {
            const row = await client.retrieve({ collection: "accounts", key, select: ["name"] });
            assert.equal(row.name, targets[i].name);
        }
    });

    test("CreateMultiple is all or nothing", async () => {
        const description = randomUUID();
        const accountid = randomUUID();
        const targets = [1, 2, 3].map((n) => ({
            "@odata.type": ACCOUNT,
            name: `n${n}`,
            description,
            accountid: n === 2 ? randomUUID() : accountid,
        }));
        const error = await failure(callMultiple(client, "CreateMultiple", "accounts", targets));
        assert.equal(error.status, 412);
        const found = await client.retrieveMultiple({
            collection: "accounts",
            filter: `description eq '${description}'`,
        });
        assert.equal(found.value.length, 0);
    });

    test("CreateMultiple refuses a row without its type", async () => {
        const targets = [{ "@odata.type": ACCOUNT, name: "typed" }, { name: "untyped" }];
        const error = await failure(callMultiple(client, "CreateMultiple", "accounts", targets));
        assert.equal(error.status, 400);
    });

    test("UpsertMultiple creates and updates by alternate key and answers nothing", async () => {
        const number = randomUUID();
        const target = (name, n) => ({
            "@odata.type": ACCOUNT,
            "@odata.id": `accounts(accountnumber='${number}-${n}')`,
            name,
        });
        const upsert = (...targets) => callMultiple(client, "UpsertMultiple", "accounts", targets);
        assert.equal(await upsert(target("one", 1)), undefined);
        assert.equal(await upsert(target("one again", 1), target("two", 2)), undefined);
        for (const [n, name] of [[1, "one again"], [2, "two"]]) {
            const key = `accountnumber='${number}-${n}'`;
            assert.equal((await client.retrieve({ collection: "accounts", key })).name, name);
        }
    });

    test("UpdateMultiple changes rows by id", async () => {
        const key = await client.create({ collection: "accounts", data: { name: "old" } });
        const target = { "@odata.type": ACCOUNT, accountid: key, name: "new" };
        assert.equal(await callMultiple(client, "UpdateMultiple", "accounts", [target]), undefined);
        assert.equal((await client.retrieve({ collection: "accounts", key })).name, "new");
    });

    test("DeleteMultiple is for elastic tables only", async () => {
        const key = await client.create({ collection: "accounts", data: { name: "stays" } });
        const target = { "@odata.type": ACCOUNT, accountid: key };
        const error = await failure(callMultiple(client, "DeleteMultiple", "accounts", [target]));
        assert.match(error.message, /DeleteMultiple has not yet been implemented/);
        assert.equal((await client.retrieve({ collection: "accounts", key })).name, "stays");
    });

    test("the definition of a table names its keys and columns", async () => {
        const table = await client.retrieveEntity({
            key: "LogicalName='account'",
            select: ["LogicalName", "EntitySetName", "PrimaryIdAttribute", "TableType"],
            expand: [{ property: "Attributes", select: ["LogicalName", "AttributeType"] }],
        });
        assert.equal(table.EntitySetName, "accounts");
        assert.equal(table.PrimaryIdAttribute, "accountid");
        const columns = table.Attributes.map((attribute) => attribute.LogicalName);
        for (const column of ["accountid", "name", "accountnumber", "statecode"])
            assert.ok(columns.includes(column), column);
    });

    test("the ledger has every row once", async () => {
        const answer = await fetch(`${simulator.url}/sim/ledger?table=account&by=accountid`);
        const ledger = await answer.json();
        assert.equal(ledger.table, "account");
        assert.ok(ledger.rows > 20);
        assert.equal(ledger.duplicates, 0);
        assert.equal(ledger.distinct, ledger.rows);
    });
});
