// SPDX-License-Identifier: MIT
//
// One login with @azure/msal-node, in a process of its own, because Node reads NODE_EXTRA_CA_CERTS only
// when it starts. Standard input: { auth, scope } as JSON. Standard output: what came of it, as JSON.
import { ConfidentialClientApplication } from "@azure/msal-node";
import { text } from "node:stream/consumers";

const { auth, scope } = JSON.parse(await text(process.stdin));
let outcome;
try {
    const client = new ConfidentialClientApplication({ auth });
    const result = await client.acquireTokenByClientCredential({ scopes: [scope] });
    outcome = { token: result.accessToken, type: result.tokenType, expiresOn: result.expiresOn };
} catch (error) {
    const { name, errorCode, errorMessage, errorNo, message } = error;
    outcome = { error: { name, errorCode, errorMessage, errorNo, message } };
}
process.stdout.write(JSON.stringify(outcome));
