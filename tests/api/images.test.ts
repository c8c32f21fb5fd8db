import { describe, expect, it } from "vitest";
import { ForkAgentDocument, MessageImagesDocument, SendMessageDocument, type ImageInput } from "../generated/documents.ts";
import { imagesProblem } from "../../src/agent/commands/images.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { playedModel, says } from "../support/models.ts";

const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** A small image with so many bytes after it, which no reader of images minds. */
const png = (bytes: number, seed = 0): string => Buffer.concat([DOT, Buffer.alloc(bytes, seed)]).toString("base64");

it("an image is kept once, for forks too, and is shown to models and people as it was sent; an answer carries 15 MB of them", async () => {
  const model = playedModel(() => says("I see."));
  const app = await startTestApp({ model });
  const client = connect(app.url);
  const agent = await client.createAgent();
  const send = async (seed: number) => {
    const images = [{ mediaType: "PNG", data: png(3_000_000, seed) } as const];
    const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "look", images } });
    expect(sendMessage.userErrors).toEqual([]);
    await client.until(agent.id, "DONE", sendMessage.cursor);
  };
  for (const seed of [1, 2, 3, 4, 5, 6, 6]) await send(seed);

  const source = (seed: number) => ({ type: "base64", media_type: "image/png", data: png(3_000_000, seed) });
  expect(model.calls[0]?.request.messages[0]?.content[0]).toEqual({ type: "image", source: source(1) });

  const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: agent.id } });
  const shownBy = async (id: string): Promise<unknown[]> => {
    const { agent: shown } = await client.get(MessageImagesDocument, { id });
    return (shown?.messages.nodes ?? []).flatMap(({ content }) =>
      (content as { type: string; source?: unknown }[]).flatMap((block) => (block.type === "image" ? [block.source] : [])),
    );
  };
  const leftOut = { type: "left_out", media_type: "image/png", bytes: DOT.length + 3_000_000 };
  const shown = [source(1), source(2), source(3), source(4), source(5), leftOut, leftOut];
  expect(await shownBy(agent.id)).toEqual(shown);
  expect(await shownBy(forkAgent.agent?.id ?? "")).toEqual(shown);
  expect(await app.database.sql.query({ name: "images", text: "SELECT count(*)::int AS n FROM image" }, [])).toEqual([{ n: 6 }]);
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
