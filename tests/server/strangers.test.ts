import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect as tcp } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { SendMessageDocument } from "../generated/documents.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { startServerProcess } from "../support/server-process.ts";

const TOKEN_HASH = createHash("sha256").update("secret").digest("hex");
const MEGABYTE = 1024 * 1024;

async function memoryOf(url: string): Promise<number> {
  const metrics = await (await fetch(url.replace("/graphql", "/metrics"))).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]);
}

async function post(
  url: string,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, text: await response.text() };
}

describe("strangers (invariant 13)", () => {
  it("are refused before anything of theirs is read, parsed or kept", { timeout: 60_000 }, async () => {
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, "triplane.config.ts"),
      `export default { models: { m: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
        templates: { assistant: { model: "m", systemPrompt: "x" } }, workspaceRoots: ["."],
        actors: [{ id: "anna", tokenHash: "${TOKEN_HASH}", tenant: "one", roles: ["admin"] }] };`,
    );
    const server = await startServerProcess({
      DATABASE_URL: await testDatabaseUrl(),
      TRIPLANE_DATA_DIR: join(folder, "data"),
      TRIPLANE_CONFIG: join(folder, "triplane.config.ts"),
    });
    const fields = "__typename ".repeat((4 * MEGABYTE) / 11);
    const postMany = async (): Promise<void> => {
      for (let index = 0; index < 20; index += 1) {
        const { status, text } = await post(server.url, `{ a${index}: __typename ${fields} }`);
        expect(status).toBe(401);
        expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
      }
    };
    // Whoever is admitted fills what the process reserves for what passes through it; nothing of a stranger came before.
    for (let index = 0; index < 20; index += 1) await post(server.url, `{ ${fields} }`, { authorization: "Bearer secret" });
    const before = await memoryOf(server.url);
    await postMany();
    expect((await memoryOf(server.url)) - before).toBeLessThan(50 * MEGABYTE);
    const get = await fetch(`${server.url}?query=${encodeURIComponent("{ __typename }")}`);
    expect(get.status).toBe(401);
    // The page of GraphiQL asks nothing by itself.
    expect((await fetch(server.url, { headers: { accept: "text/html" } })).status).toBe(200);
  });
});

describe("documents", () => {
  it("are bounded in bytes and in tokens, on every transport", async () => {
    const app = await startTestApp();
    const large = `{ ${"__typename ".repeat(20_000)} }`;
    const many = `{ ${"a ".repeat(6_000)} }`;
    for (const query of [large, many]) {
      const { status, text } = await post(app.url, query);
      expect(status, text).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: "DOCUMENT_TOO_LARGE" } }] });
    }
    const nested = (levels: number, first: string): string =>
      `{ agents(first: ${first}) { nodes { ${`toolCalls(first: ${first}) { nodes { agent { `.repeat(levels)} id ${"} } } ".repeat(levels)} } } }`;
    const spread = Array.from({ length: 40 }, (_, index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`);
    const bomb = `{ ...f0 } ${spread.join(" ")} fragment f40 on Query { rateLimit { cost } }`;
    for (const query of [nested(2, "100"), nested(30, "1"), nested(200, "1"), bomb]) {
      const answered = await post(app.url, query);
      expect(JSON.parse(answered.text), query.slice(0, 100)).toMatchObject({
        errors: [{ extensions: { code: "DOCUMENT_TOO_LARGE" } }],
      });
    }
    expect(JSON.parse((await post(app.url, nested(2, "20"))).text)).toMatchObject({ data: { agents: { nodes: [] } } });
    const next = connect(app.url).iterate(large).next();
    await expect(next.catch((error: unknown) => JSON.stringify(error))).resolves.toContain("DOCUMENT_TOO_LARGE");
  });
});

describe("what subscribes (invariant 13)", () => {
  it("is kept for as long as its subscription is open, and is bounded as a document is, on every transport", async () => {
    const { url } = await startTestApp();
    const query = "subscription { control { cursor } }";
    const long = "x".repeat(200_000);
    const socket = new WebSocket(url.replace(/^http/, "ws"), "graphql-transport-ws");
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const answer = async (message: object): Promise<string> => {
      socket.send(JSON.stringify(message));
      for (;;) {
        const [answered] = (await once(socket, "message")) as [Buffer];
        if (!answered.includes('"complete"')) return String(answered);
      }
    };
    await answer({ type: "connection_init" });
    for (const [index, given] of [{ extensions: { long } }, { variables: { long } }, { long }].entries())
      expect(await answer({ id: `${index}`, type: "subscribe", payload: { query, ...given } })).toContain("DOCUMENT_TOO_LARGE");
    expect(await answer({ id: long, type: "subscribe", payload: { query } })).toContain("DOCUMENT_TOO_LARGE");
    expect(await answer({ id: "last", type: "subscribe", payload: { query } })).toContain('"cursor"');
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    /** What comes first over SSE. */
    const firstWith = async (extensions: string): Promise<string> => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: `{"query":"${query}","extensions":{"given":${extensions}}}`,
        signal: leave.signal,
      });
      let said = "";
      for await (const piece of response.body ?? []) {
        said += Buffer.from(piece).toString();
        if (/"cursor"|"errors"/.test(said)) break;
      }
      return said;
    };
    expect(await firstWith(JSON.stringify(long))).toContain("DOCUMENT_TOO_LARGE");
    // As many bytes count as were sent, however they are nested, and whatever they are.
    expect(await firstWith(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)).toContain('"cursor"');
    expect(await firstWith(`[${"1,".repeat(20_000)}1]`)).toContain('"cursor"');
  });
});

describe("pages of other sites", () => {
  it("run no operation by what carries no Origin; the page of GraphiQL may be opened from them", async () => {
    const app = await startTestApp();
    const query = `${app.url}?query=${encodeURIComponent("{ __typename }")}`;
    const status = async (url: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(url, { headers: { accept: "*/*", ...headers } })).status;
    expect(await status(query, { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await status(query, { "sec-fetch-site": "same-site" })).toBe(403);
    expect(await status(query.replace("?", "?a=?&"), { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await status(query, { referer: "https://evil.example/page" })).toBe(403);
    expect(await status(query, { "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await status(query, {})).toBe(200);
    expect(await status(app.url, { "sec-fetch-site": "cross-site", accept: "text/html" })).toBe(200);
  });
});

describe("strangers with WebSockets", () => {
  it("send no more than a token before they said who they are", async () => {
    const app = await startTestApp();
    const socket = tcp(app.port, "127.0.0.1");
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await once(socket, "connect");
    const key = randomBytes(16).toString("base64");
    socket.write(
      `GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await once(socket, "data");
    // The first fragment of a message of 8 MB, of which nothing more comes.
    const header = Buffer.alloc(14);
    header[0] = 0x01;
    header[1] = 0x80 | 127;
    header.writeBigUInt64BE(BigInt(8 * MEGABYTE - 16), 2);
    socket.write(header);
    const told: Buffer[] = [];
    socket.on("data", (chunk) => told.push(chunk));
    socket.write(Buffer.alloc(100 * 1024, "x"));
    await closed;
    // It is cut at once, not told that it took too long to say who it is.
    expect(told).toEqual([]);
  });

  it("send what they like once they did", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    const text = "x".repeat(500_000);
    const mutation = `mutation { sendMessage(input: { agentId: "${agent.id}", text: ${JSON.stringify("y")} }) { userErrors { code } } }`;
    await client.iterate(mutation).next();
    const { value } = await client.subscribe(SendMessageDocument, { input: { agentId: agent.id, text } }).next();
    expect(value?.data?.sendMessage.userErrors).toEqual([]);
  });
});
