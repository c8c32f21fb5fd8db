import { describe, expect, it } from "vitest";
import { ForkAgentDocument, MessageImagesDocument, SendMessageDocument, type ImageInput } from "../generated/documents.ts";
import { imagesProblem } from "../../src/agent/commands/messages.ts";
import { startTestApp } from "../support/app.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { stillClock } from "../support/clock.ts";
import { connect, type TestClient } from "../support/client.ts";
import { DOT, png } from "../support/images.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { playedModel, says } from "../support/models.ts";

/** The images of an agent's messages, as their reader is told of them. */
async function imagesOf(client: TestClient, id: string) {
  const { agent } = await client.get(MessageImagesDocument, { id });
  return (agent?.messages.nodes ?? []).flatMap(({ blocks }) =>
    (blocks ?? []).flatMap((block) => ("viewerUrl" in block ? [block] : [])),
  );
}

const sendImage = async (client: TestClient, agentId: string, data: string): Promise<void> => {
  const images = [{ mediaType: "PNG", data } as const];
  const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId, text: "look", images } });
  expect(sendMessage.userErrors).toEqual([]);
  await client.until(agentId, "DONE", sendMessage.cursor);
};

it("an image is kept once, for forks too, and is shown to models and people as it was sent", async () => {
  const model = playedModel(() => says("I see."));
  const app = await startTestApp({ model });
  const client = connect(app.url);
  const agent = await client.createAgent();
  for (const seed of [1, 2, 2]) await sendImage(client, agent.id, png(3_000_000, seed));

  const source = (seed: number) => ({ type: "base64", media_type: "image/png", data: png(3_000_000, seed) });
  expect(model.calls[0]?.request.messages[0]?.content[0]).toEqual({ type: "image", source: source(1) });

  const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: agent.id } });
  for (const id of [agent.id, forkAgent.agent?.id ?? ""]) {
    const shown = await imagesOf(client, id);
    expect(shown).toMatchObject(Array.from({ length: 3 }, () => ({ mediaType: "PNG", bytes: DOT.length + 3_000_000 })));
    const seen = await Promise.all(
      shown.map(async ({ viewerUrl }) => Buffer.from(await (await fetch(new URL(viewerUrl, app.url))).arrayBuffer())),
    );
    expect(seen.map((bytes) => bytes.toString("base64"))).toEqual([png(3_000_000, 1), png(3_000_000, 2), png(3_000_000, 2)]);
  }
  expect(await app.database.sql.query({ name: "images", text: "SELECT count(*)::int AS n FROM image" }, [])).toEqual([{ n: 2 }]);
});

describe("the address of an image", () => {
  it("is good for 5 minutes and on every server of the database, and is answered as an image and nothing else", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const clock = stillClock();
    const app = await startTestApp({ database, overrides: { clock } });
    const other = await startTestApp({ database, overrides: { clock } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await sendImage(client, agent.id, png(10));
    const [first] = await imagesOf(client, agent.id);
    const url = new URL(first?.viewerUrl ?? "", other.url);
    const answered = await fetch(url);
    expect(answered.status).toBe(200);
    expect(Object.fromEntries(answered.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(DOT.length + 10),
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, max-age=280, immutable",
    });
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe(String(DOT.length + 10));
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
    clock.passMs(279_999);
    expect((await fetch(url)).status).toBe(200);
    clock.passMs(1);
    expect((await fetch(url)).status).toBe(404);
    const [again] = await imagesOf(client, agent.id);
    expect((await fetch(new URL(again?.viewerUrl ?? "", app.url))).status).toBe(200);
  });

  it("that nobody gave is not answered, whatever stands in it", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await sendImage(client, agent.id, png(10));
    const [image] = await imagesOf(client, agent.id);
    const path = image?.viewerUrl ?? "";
    const [claim = "", signature = ""] = path.split(".");
    const forged = Buffer.from(JSON.stringify(["other", "zoe", "0".repeat(64), "image/png", 9e15])).toString("base64url");
    for (const tried of [
      "/images/",
      "/images/x",
      claim,
      `${claim}.`,
      `${claim}.${signature.slice(1)}`,
      `${path}.x`,
      `/images/${forged}.${signature}`,
      `/images/${forged}`,
      "/images/../images/%00",
    ])
      expect([tried, (await fetch(new URL(tried, app.url))).status]).toEqual([tried, 404]);
  });

  it("is of the actor's own tenant, and differs between actors", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const [anna, vera, zoe] = ["anna", "vera", "zoe"].map((who) => connect(app.url, `${who}-token`)) as [
      TestClient,
      TestClient,
      TestClient,
    ];
    const agent = await anna.createAgent();
    await sendImage(anna, agent.id, png(10));
    const [own] = await imagesOf(anna, agent.id);
    const [others] = await imagesOf(vera, agent.id);
    expect(own?.viewerUrl).not.toBe(others?.viewerUrl);
    expect(await imagesOf(zoe, agent.id)).toEqual([]);
  });
});

describe("images", () => {
  it("are read by bytes of their own: a header that is too short says nothing of the server's memory", () => {
    const cut = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(16)]);
    const problems = [16, 20, 23].map((length) =>
      imagesProblem([{ mediaType: "image/png", data: cut.subarray(0, length).toString("base64") }]),
    );
    for (const problem of problems) expect(problem?.message).not.toMatch(/\d{2,} ×/);
  });

  it("that are no images of their type, too large or too many are refused, each at its field", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    const wide = Buffer.from(DOT);
    wide.writeUInt32BE(9_000, 16);
    const cases: readonly [readonly ImageInput[], string, readonly string[]][] = [
      [[{ mediaType: "PNG", data: "not base64!" }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "PNG", data: "" }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "PNG", data: "iVBORw0KGgAAAAAA" }], "INVALID", ["images", "0", "data"]],
      // Its header ends before its size: what the reader of headers finds behind it would be the server's memory.
      [[{ mediaType: "PNG", data: DOT.subarray(0, 16).toString("base64") }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "GIF", data: Buffer.from("GIF89a").toString("base64") }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "PNG", data: wide.toString("base64") }], "INVALID", ["images", "0", "data"]],
      [
        [
          { mediaType: "PNG", data: png(0) },
          { mediaType: "JPEG", data: png(0) },
        ],
        "INVALID",
        ["images", "1", "data"],
      ],
      [[{ mediaType: "PNG", data: png(4_500_000) }], "TOO_LARGE", ["images", "0", "data"]],
      [Array.from({ length: 3 }, () => ({ mediaType: "PNG", data: png(1_800_000) })), "TOO_LARGE", ["images"]],
      [Array.from({ length: 21 }, () => ({ mediaType: "PNG", data: png(0) })), "TOO_LARGE", ["images"]],
    ];
    for (const [images, code, field] of cases) {
      const { sendMessage } = await client.get(SendMessageDocument, {
        input: { agentId: agent.id, text: "look", images: [...images] },
      });
      expect(sendMessage.userErrors).toMatchObject([{ code, field }]);
    }
    expect((await client.agent(agent.id)).messages.nodes).toEqual([]);
  });
});
