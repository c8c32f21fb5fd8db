import { describe, expect, it } from "vitest";
import { ForkAgentDocument, MessageImagesDocument, ToolCallImagesDocument } from "../generated/documents.ts";
import type { Images } from "../../src/agent/conversation/images.ts";
import type { TestAppOptions } from "../support/app.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { DOT, png } from "../support/images.ts";
import { ownServer, referenceServer } from "../support/mcp.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const PNG = DOT.toString("base64");
const image = (data = PNG) => ({ mediaType: "image/png", data }) as const;

/** An agent whose tools `one` and `two` answer as given, and the content that its model reads after their calls. */
async function results(
  one: () => { readonly output: string; readonly images?: readonly ReturnType<typeof image>[] },
  template: TestAppOptions["template"] = {},
) {
  const model = playedModel(
    () => callsWith(["one", {}], ["two", {}]),
    () => says("I see."),
  );
  const tools = [ownTool("one", async () => one()), ownTool("two", async () => "plain")];
  const app = await startTestApp({ model, config: { tools }, template: { permission: { mode: "auto" }, ...template } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "look");
  return { app, client, id, model, content: model.calls[1]?.request.messages.at(-1)?.content ?? [] };
}

const source = (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } });

describe("images in the result of an own tool", () => {
  it("follow all results of the step, each under its call, and people see them in the message", async () => {
    const { client, id, content } = await results(() => ({ output: "two pictures", images: [image(), image(png(9))] }));
    expect(content).toMatchObject([
      { type: "tool_result", content: "two pictures" },
      { type: "tool_result", content: "plain" },
      { type: "text", text: "[images in the result of one, call call-one-0]" },
      source(PNG),
      source(png(9)),
    ]);
    const { agent } = await client.get(MessageImagesDocument, { id });
    const shown = (agent?.messages.nodes ?? []).flatMap(({ blocks }) => blocks ?? []).filter((block) => "viewerUrl" in block);
    expect(shown).toMatchObject([
      { mediaType: "PNG", bytes: DOT.length },
      { mediaType: "PNG", bytes: DOT.length + 9 },
    ]);
  });

  it("are those of their call, of which a fork has a copy", async () => {
    const { app, client, id } = await results(() => ({ output: "two pictures", images: [image(), image(png(9))] }));
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
    for (const agentId of [id, forkAgent.agent?.id ?? ""]) {
      const [pictures, plain] = (await client.agent(agentId)).toolCalls.nodes;
      const { toolCall } = await client.get(ToolCallImagesDocument, { callId: pictures?.callId ?? "" });
      expect(toolCall?.images).toMatchObject([
        { mediaType: "PNG", bytes: DOT.length },
        { mediaType: "PNG", bytes: DOT.length + 9 },
      ]);
      const shown = await fetch(new URL(toolCall?.images[0]?.viewerUrl ?? "", app.url));
      expect(Buffer.from(await shown.arrayBuffer())).toEqual(DOT);
      expect(await client.get(ToolCallImagesDocument, { callId: plain?.callId ?? "" })).toEqual({ toolCall: { images: [] } });
    }
  });

  it("are one row each, and a fork shows them", async () => {
    const { app, client, id } = await results(() => ({ output: "twice", images: [image(), image()] }));
    const rows = await app.database.sql.query({ name: "images", text: "SELECT count(*)::int AS n FROM image" }, []);
    expect(rows).toEqual([{ n: 1 }]);
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
    const { agent } = await client.get(MessageImagesDocument, { id: forkAgent.agent?.id ?? "" });
    expect(
      (agent?.messages.nodes ?? []).flatMap(({ blocks }) => blocks ?? []).filter((block) => "viewerUrl" in block),
    ).toHaveLength(2);
  });

  it.each([
    ["is no image", [{ mediaType: "image/png", data: "AAAA" }], /\[image 1 is left out: the image is not image\/png/],
    ["is not base64", [image("not base64")], /\[image 1 is left out: the image is not base64/],
    ["is too large", [image(png(4_000_000))], /\[image 1 is left out: the image has \d+ bytes/],
    ["is of a type that models do not read", [{ mediaType: "image/svg+xml", data: "AAAA" }], /models read no image\/svg\+xml/],
    [
      "exceeds the room of a result",
      [image(png(3_000_000)), image(png(3_000_000, 1))],
      /\[image 2 is left out: the images of a result/,
    ],
    ["are no list", "pictures", /the images of this result are left out: they are no list/],
    ["are no images", [null, 7, "x", {}], /\[image 4 is left out: it has no data in base64\]/],
    ["are thousands", Array.from({ length: 5_000 }, () => image()), /\[4960 more images are left out/],
  ])("one that %s is left out, and the model is told so", async (_name, images, told) => {
    const { content } = await results(() => ({ output: "seen", images: images as never }));
    expect(content[0]).toMatchObject({ is_error: false, content: expect.stringMatching(told) });
    expect(content.length).toBeLessThan(25);
  });

  it("may come without a text", async () => {
    const { content } = await results(() => ({ images: [image()] }) as never);
    expect(content[0]).toMatchObject({ is_error: false, content: "(no text)" });
    expect(content.at(-1)).toEqual(source(PNG));
  });

  it("go with a result that a hook updates, and not with one that it replaces", async () => {
    const seen: unknown[] = [];
    const update = await results(() => ({ output: "secret", images: [image()] }), {
      hooks: { postToolUse: [(_call, outcome) => (seen.push(outcome.images), { update: { output: "hidden" } })] },
    });
    // The second call has none.
    expect(seen).toEqual([[image()], []]);
    expect(update.content.map(({ type }) => type)).toEqual(["tool_result", "tool_result", "text", "image"]);
    const replace = await results(() => ({ output: "secret", images: [image()] }), {
      hooks: {
        postToolUse: [
          () => ({ replace: { output: "hidden", details: null } }),
          () => ({ update: { details: { by: "the second" } } }),
        ],
      },
    });
    expect(replace.content.map(({ type }) => type)).toEqual(["tool_result", "tool_result"]);
  });

  it("may come from a hook that answers in the place of a tool", async () => {
    const { content } = await results(() => ({ output: "not run" }), {
      hooks: {
        preToolUse: [() => ({ result: { output: "a copy", details: null, images: [image()] } })],
      },
    });
    expect(content).toMatchObject([
      { content: "a copy" },
      { content: "a copy" },
      { type: "text" },
      source(PNG),
      { type: "text" },
      source(PNG),
    ]);
  });
});

describe("images in the result of an MCP server", () => {
  const served = (...content: readonly object[]) => ({
    own: ownServer("plain.mjs", JSON.stringify({ "tools/call": { content } })),
  });
  const read = async (...content: readonly object[]) => {
    const { client, model } = await appWith(served(...content), ["mcp__own__work", {}], { template: allowed("own") });
    const call = await answerOf(client);
    const sent = model.calls[1]?.request.messages.at(-1)?.content ?? [];
    return { call, images: sent.filter(({ type }) => type === "image") };
  };

  it("everything: the model sees the picture of the reference server", async () => {
    const mcpServers = { all: referenceServer("everything") };
    const { client, model } = await appWith(mcpServers, ["mcp__all__get-tiny-image", {}], { template: allowed("all") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("[image image/png, ") });
    expect(model.calls[1]?.request.messages.at(-1)?.content.at(-1)).toMatchObject({
      type: "image",
      source: { type: "base64", media_type: "image/png" },
    });
  });

  it("are read as servers write them: in lines, with a type in capitals and with parameters, and in resources", async () => {
    const { images } = await read(
      { type: "image", mimeType: "IMAGE/PNG; charset=binary", data: PNG.replaceAll(/(.{20})/g, "$1\n") },
      { type: "resource", resource: { uri: "a:b", mimeType: "image/png", blob: PNG } },
    );
    expect(images).toEqual([source(PNG), source(PNG)]);
  });

  it("that models do not read keep their line, with the reason", async () => {
    const { call, images } = await read({ type: "image", mimeType: "image/svg+xml", data: PNG });
    expect(images).toEqual([]);
    expect(call).toMatchObject({ state: "COMPLETED", isError: false });
    expect(call?.output).toContain("[image image/svg+xml, ");
    expect(call?.output).toContain("[image 1 is left out: models read no image/svg+xml]");
  });

  it("may be a data URL, base64 for addresses, or without padding", async () => {
    const forAddresses = PNG.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const { images } = await read(
      { type: "image", mimeType: "image/jpg", data: forAddresses },
      { type: "image", mimeType: "image/png", data: forAddresses },
      { type: "image", mimeType: "image/png", data: `data:image/png;base64,${PNG}` },
    );
    expect(images).toEqual([source(PNG), source(PNG)]);
  });
});

it("a later request reads an image of a result from its row, and once", async () => {
  const { client, id, model, app } = await results(() => ({ output: "one", images: [image()] }));
  const images: Images | undefined = app.services.of("local").images;
  await client.turn(id, "again");
  expect(model.calls.at(-1)?.request.messages[2]?.content.at(-1)).toEqual(source(PNG));
  expect(images).toBeDefined();
});
