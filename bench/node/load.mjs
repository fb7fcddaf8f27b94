// SPDX-License-Identifier: MIT
//
// CreateMultiple by dynamics-web-api, a hundred rows a request. With a .json file one body, read once, is
// sent again and again, so that neither reading nor conversion is counted; with a .csv file its rows are
// read and converted in the plainest way (no quotes, no checks) and sent.
//
//     node load.mjs URL TOKEN FILE IN-FLIGHT REQUESTS
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { DynamicsWebApi } from "dynamics-web-api";

const BATCH = 100;
const [url, token, file, inFlight, requests] = process.argv.slice(2);
const client = new DynamicsWebApi({
    serverUrl: url,
    dataApi: { version: "9.2" },
    onTokenRefresh: async () => token,
});

function* repeat(action) {
    for (let left = Number(requests); left > 0; left--)
        yield action;
}

const numbers = new Set(["revenue", "numberofemployees", "industrycode"]);

function convert(column, cell) {
    if (column === "donotemail")
        return cell === "true";
    return numbers.has(column) ? Number(cell) : cell;
}

function rowOf(columns, line) {
    const row = { "@odata.type": "Microsoft.Dynamics.CRM.account" };
    line.split(",").forEach((cell, i) => (row[columns[i]] = convert(columns[i], cell)));
    return row;
}

async function* actionsOf(path) {
    let columns, left = Number(requests), rows = [];
    for await (const line of createInterface({ input: createReadStream(path) })) {
        if (!columns) {
            columns = line.split(",");
            continue;
        }
        rows.push(rowOf(columns, line));
        if (rows.length < BATCH)
            continue;
        yield { Targets: rows };
        rows = [];
        if (--left === 0)
            return;
    }
}

const actions = file.endsWith(".csv") ? actionsOf(file) : repeat(JSON.parse(readFileSync(file, "utf8")));

async function work() {
    for (;;) {
        const { value: action, done } = await actions.next();
        if (done)
            return;
        const answer = await client.callAction({
            collection: "accounts",
            actionName: "Microsoft.Dynamics.CRM.CreateMultiple",
            action,
        });
        if (answer.Ids.length < 1)
            throw new Error("no ids");
    }
}

await Promise.all(Array.from({ length: Number(inFlight) }, work));
