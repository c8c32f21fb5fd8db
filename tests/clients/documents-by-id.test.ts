import { ApolloClient, ApolloLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { parse, print } from "graphql";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { ResumeLink } from "../../clients/src/apollo.ts";
import { iterate, type Request, type Result, type Transport } from "../../clients/src/index.ts";
import { overSse } from "../../clients/src/sse.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";

const WATCH = print(
  parse(`subscription Watch($agentId: ID!, $since: Cursor) {
    timeline(agentIds: [$agentId], since: $since, until: AGENT_CREATED) { cursor caughtUp events { __typename } } }`),
);
const HASH = createHash("sha256").update(WATCH).digest("hex");

/** A server on which viewers send trusted documents only, an agent there, and a transport of each kind for one of them. */
async function trusting() {
  const trustedDocuments = join(await temporaryFolder(), "documents.json");
  await writeFile(trustedDocuments, JSON.stringify({ watch: WATCH, [HASH]: WATCH }));
  const config = { ...NEIGHBOURS, actors: [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor] };
  const app = await startTestApp({ config: { ...config, trustedDocuments, operations: { viewer: "trusted" } } });
  const { id: agentId } = await connect(app.url, "ada-token").createAgent();
  const authorization = "Bearer vera-token";
  const transports: readonly Transport[] = [
    overWebSocket({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: { authorization } }),
    overSse({ url: app.url, headers: { authorization } }),
  ];
  onTestFinished(() => transports.forEach((transport) => transport.dispose()));
  return { variables: { agentId, since: "0" }, transports };
}

async function resultsOf(transport: Transport, request: Request): Promise<Result<unknown>[]> {
  const results: Result<unknown>[] = [];
  for await (const result of iterate(transport, request)) results.push(result);
  return results;
}

const PAGE = { data: { timeline: { cursor: expect.any(String), events: [{ __typename: "AgentCreated" }] } } };

it("a subscription by a trusted document's id comes over WebSocket and SSE, and its text is refused", async () => {
  const { variables, transports } = await trusting();
  for (const transport of transports) {
    expect(await resultsOf(transport, { query: WATCH, variables })).toMatchObject([
      { errors: [{ extensions: { code: "UNTRUSTED_DOCUMENT" } }] },
    ]);
    expect(await resultsOf(transport, { documentId: "watch", variables })).toMatchObject([PAGE]);
    expect(await resultsOf(transport, { documentId: "none", variables })).toMatchObject([
      { errors: [{ extensions: { code: "UNKNOWN_DOCUMENT" } }] },
    ]);
  }
});

it("Apollo's own link for persisted queries sends subscriptions by their hashes", async () => {
  const { variables, transports } = await trusting();
  for (const transport of transports) {
    const persisted = new PersistedQueryLink({ generateHash: () => HASH });
    const client = new ApolloClient({
      link: ApolloLink.from([persisted, new ResumeLink(transport)]),
      cache: new InMemoryCache(),
    });
    const first = await new Promise<unknown>((next, error) => {
      client.subscribe({ query: parse(WATCH), variables }).subscribe({ next, error });
    });
    expect(first).toMatchObject(PAGE);
  }
});
