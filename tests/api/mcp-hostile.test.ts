import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/telemetry/log.ts";
import { isAlive } from "../support/alive.ts";
import { ownServer, QUICK } from "../support/mcp.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { toolWithPrompt } from "../support/tools.ts";

const WORK = ["mcp__own__work", {}] as const;

const plain = (script: object) => ({ own: ownServer("plain.mjs", JSON.stringify(script)) });

const schema = (name: string, inputSchema: object) => ({ name, inputSchema });

const OBJECT = { type: "object" };

describe("a hostile server", () => {
  it("whose list has no end has the tools of its first pages", async () => {
    const page = { tools: [schema("work", OBJECT)], nextCursor: "again" };
    const { client } = await appWith(plain({ "tools/list": page }), WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "done" });
  });

  it("with two tools of one name has the first; odd and long names stay apart, and are names for models", async () => {
    const long = "a".repeat(100);
    const tools = [
      schema("work", OBJECT),
      schema("work", OBJECT),
      schema("a.b", OBJECT),
      schema("a b", OBJECT),
      schema(long, OBJECT),
      schema(`${long}b`, OBJECT),
    ];
    const { tools: registry } = await appWith(plain({ "tools/list": { tools } }), WORK);
    const names = [...registry.keys()].filter((name) => name.startsWith("mcp__"));
    expect(names.length).toBe(5);
    for (const name of names) expect(name).toMatch(/^mcp__own__[A-Za-z0-9_-]{1,54}$/);
  });

  it("takes no name of another tool", async () => {
    const own = toolWithPrompt("mcp__own__work", "The operator's.");
    const { tools } = await appWith(plain({}), WORK, { config: { tools: [own] } });
    expect(tools.get("mcp__own__work")).toMatchObject({ source: "REGISTERED" });
  });

  it.each([
    ["a reference to itself", { ...OBJECT, properties: { a: { $ref: "#/properties/a" } } }],
    ["a reference to the whole", { ...OBJECT, properties: { a: { $ref: "#" } } }],
    ["references that grow without bound", { ...OBJECT, properties: { a: { $ref: "#/$defs/d0" } }, $defs: doubling(40) }],
    ["a reference to elsewhere", { ...OBJECT, properties: { a: { $ref: "https://example.com/schema" } } }],
    ["a pattern without end", { ...OBJECT, properties: { a: { type: "string", pattern: "^(a+)+$" } } }],
    ["alternatives at its top", { ...OBJECT, oneOf: [{ required: ["a"] }, { required: ["b"] }], properties: { a: {} } }],
  ])("with a schema with %s holds up nobody", async (_what, inputSchema) => {
    const input = { a: "a".repeat(40) + "!" };
    const { client } = await appWith(
      plain({ "tools/list": { tools: [schema("work", inputSchema)] } }),
      ["mcp__own__work", input],
      {
        template: allowed("own"),
      },
    );
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED" });
  });

  it.each([
    ["no object", "text"],
    ["another type", { type: "string" }],
    ["an unknown type", { ...OBJECT, properties: { a: { type: "int" } } }],
    ["required at a wrong place", { ...OBJECT, properties: { a: {}, required: ["a"] } }],
    ["too many levels", nested(200)],
  ])("with a schema that is %s loses this tool alone", async (_what, inputSchema) => {
    const list = { tools: [{ name: "bad", inputSchema }, schema("work", OBJECT)] };
    const { tools } = await appWith(plain({ "tools/list": list }), WORK);
    expect([...tools.keys()].filter((name) => name.startsWith("mcp__"))).toEqual(["mcp__own__work"]);
  });

  it("hides no words in a description", async () => {
    const hidden = "Works.\u200b\u{e0041}\u202e\u0007 Well.";
    const list = {
      tools: [{ name: "work", description: hidden, inputSchema: { ...OBJECT, properties: { a: { description: hidden } } } }],
    };
    const { model, client } = await appWith(plain({ "tools/list": list }), WORK, { template: allowed("own") });
    await answerOf(client);
    const offered = model.calls[0]?.request.tools.find(({ name }) => name === "mcp__own__work");
    expect(offered).toMatchObject({
      description: "Works. Well.",
      inputSchema: { properties: { a: { description: "Works. Well." } } },
    });
  });

  it("that changes a definition while a person is asked is asked about again", async () => {
    const first = { tools: [schema("work", OBJECT)] };
    const second = { tools: [schema("work", { ...OBJECT, properties: { all: { type: "boolean" } } })] };
    const { client, tools } = await appWith(plain({ "tools/list": [first, second] }), WORK, {
      overrides: { mcpTimes: { ...QUICK, againMs: 1_500 } },
    });
    const before = tools.get("mcp__own__work");
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "PERMISSION_REQUIRED");
    const [asked] = (await client.agent(id)).pendingApprovals;
    await expect.poll(() => tools.get("mcp__own__work")).not.toBe(before);
    if (asked === undefined) throw new Error("nobody was asked");
    await client.decide({ approvalId: asked.id, decision: "ALLOW", inputHash: asked.inputHash });
    await expect.poll(async () => (await client.agent(id)).pendingApprovals[0]?.id ?? asked.id).not.toBe(asked.id);
    expect((await client.agent(id)).toolCalls.nodes[0]?.state).toBe("APPROVAL_REQUIRED");
  });

  it("that says again and again that its list changed is read with pauses", async () => {
    const notification = { method: "notifications/tools/list_changed" };
    const list = { first: [notification, notification], result: { tools: [schema("work", OBJECT)] } };
    const { client } = await appWith(plain({ "tools/list": list }), WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED" });
  });

  const beside = { type: "text", text: "beside" };
  it.each([
    [
      "content of an unknown type",
      { content: [{ type: "video", url: "x" }, beside] },
      "[content of the unknown type video]\nbeside",
    ],
    ["no content", {}, "(no content)"],
    ["null as its content", { content: null }, "(no content)"],
    ["a text that is a number", { content: [{ type: "text", text: 5 }, beside] }, "[unreadable text]\nbeside"],
    ["content that is a text", { content: "text" }, "text"],
    ["blocks that are none", { content: [null, 7, "x", []] }, `${"[unreadable content]\n".repeat(3)}[unreadable content]`],
    ["a link without a name", { content: [{ type: "resource_link", uri: "a:b" }] }, "[resource a:b]"],
    ["annotations that are none", { content: [{ ...beside, annotations: 5, _meta: 7 }] }, "beside"],
    ["structured content that is a list", { structuredContent: [1], content: [beside] }, "beside"],
    ["an error that is a word", { isError: "no", content: [beside] }, "beside"],
    [
      "an image that is not base64",
      { content: [{ type: "image", mimeType: "image/png", data: "%" }, beside] },
      expect.stringMatching(/^\[image image\/png, 0 bytes\]\nbeside\n\[image 1 is left out: the image is not base64/),
    ],
    [
      "an image without a type",
      { content: [{ type: "image", data: "AAAA" }, beside] },
      "[image unknown, 3 bytes]\nbeside\n[image 1 is left out: models read no image without a type]",
    ],
  ])("that answers %s completes the call with what can be read", async (_what, result, output) => {
    const { client, tools } = await appWith(plain({ "tools/call": { result } }), WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output });
    await expect.poll(() => tools.get("mcp__own__work")?.unavailable).toBeNull();
  });

  const done = { content: [beside] };
  const unreadable = /did not answer this call \(its answer is no object\): it is not known/;
  it.each([
    ["a number", { jsonrpc: "2.0", result: 5 }, unreadable],
    ["a text", { jsonrpc: "2.0", result: "x" }, unreadable],
    ["a list", { jsonrpc: "2.0", result: [1] }, unreadable],
    ["null", { jsonrpc: "2.0", result: null }, unreadable],
    ["missing", { jsonrpc: "2.0" }, unreadable],
    ["an error that is a text", { jsonrpc: "2.0", error: "no disk" }, /no disk/],
    ["an error without a code", { jsonrpc: "2.0", error: { message: "no disk" } }, /no disk/],
    ["an error with nothing", { jsonrpc: "2.0", error: {} }, /it gives no reason/],
    ["an error beside a result", { jsonrpc: "2.0", result: done, error: { code: 1, message: "no disk" } }, /no disk/],
    ["beside an error that is null", { jsonrpc: "2.0", result: done, error: null }, null],
    ["without a version", { result: done }, null],
    ["of another version", { jsonrpc: "1.0", result: done }, null],
  ])("whose answer is %s keeps no call waiting", async (_what, raw, problem) => {
    const { client } = await appWith(plain({ "tools/call": { raw } }), WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject(
      problem === null
        ? { state: "COMPLETED", output: "beside" }
        : { state: "FAILED", error: { message: expect.stringMatching(problem) } },
    );
  });

  it("whose structured content is not of its own form keeps its text, with a note", async () => {
    const outputSchema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
    };
    const list = { tools: [{ ...schema("work", OBJECT), outputSchema }] };
    const result = { content: [{ type: "text", text: "kept" }], structuredContent: { n: "five" } };
    const { client } = await appWith(plain({ "tools/list": list, "tools/call": { result } }), WORK, { template: allowed("own") });
    const call = await answerOf(client);
    expect(call).toMatchObject({
      state: "COMPLETED",
      output: expect.stringMatching(/^kept\n\(Its structured content is not of the form/),
    });
  });

  it("that reports an error fails the call with its text; one that refuses a call, with its message", async () => {
    const reported = await appWith(
      plain({ "tools/call": { result: { isError: true, content: [{ type: "text", text: "no such file" }] } } }),
      WORK,
      {
        template: allowed("own"),
      },
    );
    expect(await answerOf(reported.client)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringContaining("no such file") },
    });
    const refused = await appWith(plain({ "tools/call": { error: { code: -32602, message: "bad input" } } }), WORK, {
      template: allowed("own"),
    });
    const call = await answerOf(refused.client);
    expect(call).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("bad input") } });
    expect(call?.error?.message).not.toContain("not known");
  });
});

describe("a process", () => {
  it("that ends at the question for its generation is started again for the older one", async () => {
    const { client } = await appWith(plain({ "server/discover": "exit" }), WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED" });
  });

  it("that does not answer that question speaks the older one; one that never answers is unavailable", async () => {
    const times = { mcpTimes: { ...QUICK, connectMs: 3_000 } };
    const silent = await appWith(plain({ "server/discover": "silent" }), WORK, { template: allowed("own"), overrides: times });
    expect(await answerOf(silent.client)).toMatchObject({ state: "COMPLETED" });
    const mute = await appWith(plain({ "server/discover": "silent", initialize: "silent" }), WORK, { overrides: times });
    await expect.poll(() => mute.tools.serverReason("own")).toContain("did not answer within 3000 ms");
  });

  it("has its descendants ended with it", async () => {
    const script = { "tools/call": { fork: true } };
    const { app, client } = await appWith(plain(script), WORK, { template: allowed("own") });
    const pid = Number((await answerOf(client))?.output);
    expect(isAlive(pid)).toBe(true);
    await app.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("has no secret of its configuration in the log, in reasons and in answers", async () => {
    const secret = "a-very-secret-value";
    const lines: string[] = [];
    const logger = createLogger({ level: "debug", format: "json", server: "s", write: (line) => void lines.push(line) });
    const script = { stderr: `the token is ${secret}`, "tools/call": { error: { code: 1, message: `bad token ${secret}` } } };
    const own = { ...plain(script).own, env: { TOKEN: secret } };
    const { client } = await appWith({ own }, WORK, { template: allowed("own"), overrides: { logger } });
    expect((await answerOf(client))?.error?.message).toContain("bad token [hidden]");
    await expect.poll(() => lines.join("")).toContain("the token is [hidden]");
    expect(lines.join("")).not.toContain(secret);
  });
});

function doubling(count: number): object {
  const both = (next: number) => ({ anyOf: [{ $ref: `#/$defs/d${next}` }, { $ref: `#/$defs/d${next}` }] });
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`d${index}`, index === count - 1 ? {} : both(index + 1)]),
  );
}

function nested(levels: number): object {
  return levels === 0 ? OBJECT : { ...OBJECT, properties: { a: nested(levels - 1) } };
}
