// SPDX-License-Identifier: MIT
//
// dynamics-web-api, logged in to a simulator.
import { DynamicsWebApi } from "dynamics-web-api";

import { fetchToken } from "./simulator.mjs";

export const NOBODY = "00000000-0000-4000-8000-000000000bad";
export const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A client of the simulator. Errors reach the caller as they come unless `config` says otherwise. */
export async function connect(simulator, config = {}) {
    const token = await fetchToken(simulator);
    return new DynamicsWebApi({
        serverUrl: simulator.url,
        dataApi: { version: "9.2" },
        propagateErrors: true,
        onTokenRefresh: async () => token,
        ...config,
    });
}

/** What a promise was rejected with. */
export async function failure(promise) {
    const [result] = await Promise.allSettled([promise]);
    if (result.status !== "rejected")
        throw new Error(`expected a failure, got ${JSON.stringify(result.value)}`);
    return result.reason;
}

/** "CreateMultiple" and the like, bound to a table. */
export function callMultiple(client, message, collection, targets) {
    return client.callAction({
        collection,
        actionName: `Microsoft.Dynamics.CRM.${message}`,
        action: { Targets: targets },
    });
}
