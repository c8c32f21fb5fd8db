import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import WebSocket from "ws";
import { iterate, type ResumeStatus, type Transport } from "../../clients/src/index.ts";
import { overSse } from "../../clients/src/sse.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { hasNoNginx, startNginx } from "../support/nginx.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";

const WATCH = `subscription ($agentId: ID!, $since: Cursor) {
  timeline(agentIds: [$agentId], since: $since) { cursor caughtUp events { __typename seq ... on Done { reason } } } }`;

type Page = { readonly timeline: { readonly events: readonly { __typename: string; seq: number; reason?: string }[] } };

/** Words that take some seconds: a turn is under way while servers come and go. */
const SCRIPT = {
  pace: { characters: 6, delayMs: 120 },
  replies: [
    { when: { user: "long" }, say: Array.from({ length: 12 }, (_none, line) => `This is line ${line} of a long answer.`) },
    { when: {}, say: ["Hello."] },
  ],
};

/** Writes the configuration of all servers, with these templates. */
async function configure(path: string, workspace: string, templates: readonly string[]): Promise<void> {
  const template = { model: "script", systemPrompt: "You are tested." };
  const config = {
    models: { script: { provider: "scripted", script: join(workspace, "script.json") } },
    templates: Object.fromEntries(templates.map((name) => [name, template])),
    tenants: { acme: { workspaceRoots: [workspace] }, other: { workspaceRoots: [workspace] } },
    ...NEIGHBOURS,
  };
  await writeFile(path, `export default ${JSON.stringify(config)};`);
}

it.skipIf(hasNoNginx)(
  "the nginx of docs/nginx gives out no figures, holds no event back, and hides a configuration that is rolled over two servers",
  { timeout: 40_000 },
  async () => {
    const folder = await temporaryFolder();
    const workspace = join(folder, "work");
    await mkdir(workspace);
    await writeFile(join(workspace, "script.json"), JSON.stringify(SCRIPT));
    const config = join(folder, "triplane.config.mjs");
    await configure(config, workspace, ["assistant"]);
    const database = await testDatabaseUrl();
    const ports = [await freePort(), await freePort()] as const;
    const begin = (place: 0 | 1): Promise<ServerProcess> =>
      startServerProcess({
        DATABASE_URL: database,
        TRIPLANE_CONFIG: config,
        TRIPLANE_DATA_DIR: join(folder, `data-${place}`),
        PORT: String(ports[place]),
      });
    const servers = [await begin(0), await begin(1)];
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const address = await startNginx(folder, ports);
    const client = connect(`${address}/graphql`, "anna-token");

    expect(await (await fetch(`${address}/healthz`)).text()).toMatch(/^ok, Triplane/);
    for (const path of [
      "/metrics",
      "/metrics/",
      "//metrics",
      "/%6detrics",
      "/metrics;x",
      "/metrics?x",
      "/graphql/../metrics",
      "/./metrics",
    ]) {
      const answer = await fetch(address + path);
      expect([path, answer.ok, await answer.text()]).toEqual([path, false, expect.not.stringContaining("triplane_")]);
    }

    const options = { authorization: "Bearer anna-token" };
    const transports: readonly Transport[] = [
      overWebSocket({ url: `${address.replace("http", "ws")}/graphql`, webSocketImpl: WebSocket, connectionParams: options }),
      overSse({ url: `${address}/graphql`, headers: options }),
    ];
    onTestFinished(() => transports.forEach((transport) => transport.dispose()));
    let working = 0;
    const begun = Promise.withResolvers<void>();
    const lost: ResumeStatus[] = [];
    /** Follows a long turn to its end: the events in order, and what the agent did when the first word came. */
    const follow = async (transport: Transport) => {
      const { id } = await client.createAgent();
      await client.send(id, "a long one");
      const seqs: number[] = [];
      let stateAtFirstWord: string | null = null;
      const request = { query: WATCH, variables: { agentId: id, since: "0" } };
      const onStatus = (status: ResumeStatus): void => void (status.kind === "lost" && lost.push(status));
      for await (const { data, errors } of iterate<Page>(transport, request, { onStatus })) {
        if (errors !== undefined) throw new Error(JSON.stringify(errors));

        for (const event of data?.timeline.events ?? []) {
          seqs.push(event.seq);
          if (event.__typename === "TextChunk" && stateAtFirstWord === null) {
            stateAtFirstWord = "asked";
            stateAtFirstWord = (await client.agent(id)).state;
            if ((working += 1) === 6) begun.resolve();
          }
          if (event.__typename === "Done") return { id, seqs, stateAtFirstWord, reason: event.reason };
        }
      }
      throw new Error("the stream has ended");
    };
    const turns = Promise.all([0, 1, 0, 1, 0, 1].map((index) => follow(transports[index] as Transport)));
    await Promise.race([begun.promise, turns]);

    await configure(config, workspace, ["assistant", "newbie"]);
    for (const place of [0, 1] as const) {
      servers[place]?.child.kill("SIGTERM");
      await servers[place]?.exited;
      // The other one serves alone: also what changes something.
      expect((await client.createAgent()).id).not.toBe("");
      servers[place] = await begin(place);
    }
    for (const { seqs, stateAtFirstWord, reason } of await turns) {
      expect(seqs).toEqual(seqs.map((_seq, index) => index + 1));
      expect([stateAtFirstWord, reason]).toEqual(["WORKING", "COMPLETED"]);
    }
    expect(lost.length).toBeGreaterThan(0);
    expect(servers.map((server) => server.output()).join("")).toContain('"event":"configuration"');
    const { id } = await client.createAgent({ templateId: "newbie" });
    expect((await client.turn(id, "hello")).at(-1)).toMatchObject({ __typename: "Done", reason: "COMPLETED" });
  },
);
