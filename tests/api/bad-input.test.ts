import { createHash } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import {
  AgentDocument,
  AgentsDocument,
  CreateAgentDocument,
  DecideApprovalDocument,
  InterruptAgentDocument,
  NodeDocument,
  PollTimelineDocument,
  SendMessageDocument,
  type ImageInput,
  TimelineDocument,
  ToolCallsDocument,
} from "../generated/documents.ts";
import { imagesProblem } from "../../src/agent/commands/images.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { ownTool } from "../support/tools.ts";

const encode = (id: string): string => Buffer.from(id).toString("base64");
const hash = (token: string): string => createHash("sha256").update(token).digest("hex");

const ACTORS = {
  actors: [
    { id: "anna", tokenHash: hash("anna-token"), tenant: "one", roles: ["user"] },
    { id: "ben", tokenHash: hash("ben-token"), tenant: "one", roles: ["user"] },
    { id: "vera", tokenHash: hash("vera-token"), tenant: "one", roles: ["viewer"] },
    { id: "paul", tokenHash: hash("paul-token"), tenant: "one", roles: ["approver"] },
    { id: "zoe", tokenHash: hash("zoe-token"), tenant: "two", roles: ["admin"] },
  ],
} as const;

const ASKING = {
  replies: [
    { when: { user: "write" }, call: [{ tool: "fs_write", input: { path: "a.txt", content: "x" } }] },
    { when: { user: "hello" }, say: ["Hello."] },
    { when: { result: "fs_write" }, say: ["{{result}}"] },
  ],
};

describe("ids that name nothing", () => {
  it("are answered with NOT_FOUND, each at its field", async () => {
    const client = connect((await startTestApp()).url);
    const agentId = encode("Agent:11111111-1111-4111-8111-111111111111");
    expect((await client.get(CreateAgentDocument, { input: { templateId: "nobody" } })).createAgent).toMatchObject({
      agent: null,
      userErrors: [{ code: "NOT_FOUND", field: ["templateId"], message: expect.stringContaining("assistant") }],
    });
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", model: "gpt" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "NOT_FOUND", field: ["model"] }]);
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", workspace: "/etc" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["workspace"] }]);
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", toolTimeoutMs: 0 } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["toolTimeoutMs"] }]);
    for (const id of [
      agentId,
      "nonsense",
      "",
      encode("Approval:1"),
      encode("Agent:'; DROP TABLE agent; --"),
      encode("Agent:a\0b"),
    ]) {
      expect((await client.get(SendMessageDocument, { input: { agentId: id, text: "hi" } })).sendMessage).toMatchObject({
        message: null,
        userErrors: [{ code: "NOT_FOUND", field: ["agentId"] }],
      });
      expect((await client.get(InterruptAgentDocument, { input: { agentId: id } })).interruptAgent.userErrors).toMatchObject([
        { code: "NOT_FOUND" },
      ]);
      expect(
        (await client.get(DecideApprovalDocument, { input: { approvalId: id, decision: "DENY" } })).decideApproval.userErrors,
      ).toMatchObject([{ code: "NOT_FOUND", field: ["approvalId"] }]);
      expect((await client.get(AgentDocument, { id })).agent).toBeNull();
      expect((await client.ask(PollTimelineDocument, { agentId: id })).errors).toMatchObject([
        { extensions: { code: "NOT_FOUND" } },
      ]);
    }
    expect((await client.get(NodeDocument, { id: agentId })).node).toBeNull();
  });
});

describe("texts", () => {
  it("that are empty or too large are refused with a typed error, and nothing is lost", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    const send = async (text: string) =>
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text } })).sendMessage;
    expect((await send("")).userErrors).toMatchObject([{ code: "INVALID", field: ["text"] }]);
    expect((await send(" \n\t ")).userErrors).toMatchObject([{ code: "INVALID" }]);
    expect((await send("x".repeat(5 * 1024 * 1024))).userErrors).toMatchObject([{ code: "TOO_LARGE", field: ["text"] }]);
    expect((await client.post({ query: "{ x }", padding: "x".repeat(9 * 1024 * 1024) })).status).toBe(413);
    const large = "é".repeat(500_000);
    const events = await client.turn(agent.id, large);
    expect(ofType(events, "MessageReceived")).toEqual([]);
    const [received] = ofType(await client.until(agent.id, "MESSAGE_RECEIVED"), "MessageReceived");
    expect(received?.text).toBe(large);
  });

  it("keep NUL and lone surrogates visible, and the agent works on", async () => {
    const client = connect((await startTestApp({ script: { replies: [{ when: {}, say: ["{{user}}"] }] } })).url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "a\0b\ud800c");
    expect(textOf(events)).toBe("a\u2400b\ufffdc");
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
    const dot = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const png = (bytes: number): string => Buffer.concat([dot, Buffer.alloc(bytes)]).toString("base64");
    const wide = Buffer.from(dot);
    wide.writeUInt32BE(9_000, 16);
    const cases: readonly [readonly ImageInput[], string, readonly string[]][] = [
      [[{ mediaType: "PNG", data: "not base64!" }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "PNG", data: "" }], "INVALID", ["images", "0", "data"]],
      [[{ mediaType: "PNG", data: "iVBORw0KGgAAAAAA" }], "INVALID", ["images", "0", "data"]],
      // Its header ends before its size: what the reader of headers finds behind it would be the server's memory.
      [[{ mediaType: "PNG", data: dot.subarray(0, 16).toString("base64") }], "INVALID", ["images", "0", "data"]],
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

describe("cursors and pages", () => {
  it("that do not fit get a typed error before the stream starts, never silence", async () => {
    const app = await startTestApp({ config: ACTORS });
    const client = connect(app.url, "anna-token");
    const other = connect(app.url, "zoe-token");
    const agent = await client.createAgent();
    const foreign = await other.createAgent();
    const future = agent.cursor.replace(/.{4}$/, "ffff");
    const restored = agent.cursor.replace(/\.[0-9a-f]{8}\.([0-9a-f]{14})$/, ".00000000.$1");
    const cases: [string, string][] = [
      ["nonsense", "CURSOR_MALFORMED"],
      ["", "CURSOR_MALFORMED"],
      ["-1", "CURSOR_MALFORMED"],
      ["0x10", "CURSOR_MALFORMED"],
      ["1e309", "CURSOR_MALFORMED"],
      [`${agent.cursor}0`, "CURSOR_MALFORMED"],
      [future, "CURSOR_FUTURE"],
      [foreign.cursor, "CURSOR_FOREIGN"],
      [restored, "CURSOR_RESTORED"],
    ];
    for (const [since, code] of cases) {
      expect((await client.ask(PollTimelineDocument, { since })).errors, since).toMatchObject([{ extensions: { code } }]);
      const { value } = await client
        .subscribe(TimelineDocument, { since })
        .next()
        .catch((error: unknown) => ({ value: { errors: error } }));
      expect(JSON.stringify(value), since).toContain(code);
    }
    await app.database.sql.query(
      {
        name: "f",
        text: "UPDATE tenant_log SET floor = (SELECT max(position) FROM event WHERE tenant = 'one') + 5 WHERE tenant = 'one'",
      },
      [],
    );
    expect((await client.ask(PollTimelineDocument, { since: agent.cursor })).errors).toMatchObject([
      { extensions: { code: "CURSOR_EXPIRED" } },
    ]);
    expect((await client.ask(PollTimelineDocument, { since: "0" })).errors).toEqual([]);
  });

  it("of unknown kinds, and of sizes that make no sense, are refused", async () => {
    const client = connect((await startTestApp()).url);
    expect((await client.post({ query: "{ timeline(kinds: [NONSENSE]) { cursor } }" })).errors[0]?.message).toContain("NONSENSE");
    for (const first of [0, -1, 101, 2_147_483_647]) {
      expect((await client.ask(AgentsDocument, { first })).errors, String(first)).toMatchObject([
        { extensions: { code: "BAD_USER_INPUT" } },
      ]);
      expect((await client.ask(ToolCallsDocument, { first })).errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    }
    expect((await client.ask(PollTimelineDocument, { first: 501 })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect((await client.ask(AgentsDocument, { after: "nonsense" })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect((await client.ask(AgentsDocument, { first: 1 })).errors).toEqual([]);
  });
});

describe("actors", () => {
  it("without a token or with a wrong one are not admitted, over HTTP and WebSocket", async () => {
    const app = await startTestApp({ config: ACTORS });
    for (const token of [undefined, "wrong", ""]) {
      const answer = await connect(app.url, token).ask(AgentsDocument, {});
      expect(answer).toMatchObject({ status: 401, data: null, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
      await expect(connect(app.url, token).subscribe(TimelineDocument, {}).next()).rejects.toMatchObject({ code: 4403 });
    }
  });

  it("see, steer and decide only what their roles allow (invariant 12)", async () => {
    const app = await startTestApp({ config: ACTORS, script: ASKING, template: { selfApproval: false } });
    const [anna, ben, vera, paul, zoe] = ["anna", "ben", "vera", "paul", "zoe"].map((name) => connect(app.url, `${name}-token`));
    if (!anna || !ben || !vera || !paul || !zoe) throw new Error("five actors");
    const agent = await anna.createAgent();
    await anna.send(agent.id, "write");
    const [required] = ofType(await anna.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approvalId = required?.request.approvalId ?? "";
    const inputHash = required?.request.inputHash ?? "";

    for (const stranger of [ben, zoe]) {
      expect((await stranger.get(AgentDocument, { id: agent.id })).agent).toBeNull();
      for (const id of [agent.id, approvalId, encode(`ToolCall:${required?.request.call.callId ?? ""}`)])
        expect((await stranger.get(NodeDocument, { id })).node).toBeNull();
      expect((await stranger.get(ToolCallsDocument, {})).toolCalls.nodes).toEqual([]);
      expect((await stranger.ask(PollTimelineDocument, { agentId: agent.id })).errors).toMatchObject([
        { extensions: { code: "NOT_FOUND" } },
      ]);
      expect((await stranger.get(PollTimelineDocument, {})).timeline.events).toEqual([]);
      expect(
        (await stranger.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } })).sendMessage.userErrors,
      ).toMatchObject([{ code: "NOT_FOUND" }]);
      expect((await stranger.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([
        { code: "NOT_FOUND" },
      ]);
    }
    for (const reader of [vera, paul]) {
      expect((await reader.get(AgentDocument, { id: agent.id })).agent).not.toBeNull();
      expect(
        (await reader.get(CreateAgentDocument, { input: { templateId: "assistant" } })).createAgent.userErrors,
      ).toMatchObject([{ code: "FORBIDDEN" }]);
      expect(
        (await reader.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } })).sendMessage.userErrors,
      ).toMatchObject([{ code: "FORBIDDEN" }]);
    }
    expect((await vera.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    expect((await anna.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    expect((await paul.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toEqual([]);
    expect(ofType(await anna.until(agent.id, "PERMISSION_DECIDED"), "PermissionDecided")).toMatchObject([
      { decidedBy: { id: "paul", kind: "USER" } },
    ]);
  });

  it("decide on what they asked for only where the template says so", async () => {
    const admins = { actors: [{ id: "ada", tokenHash: hash("ada-token"), tenant: "one", roles: ["admin"] }] } as const;
    const app = await startTestApp({ config: admins, script: ASKING, template: { selfApproval: false } });
    const ada = connect(app.url, "ada-token");
    const agent = await ada.createAgent();
    await ada.send(agent.id, "write");
    const [required] = ofType(await ada.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    expect((await ada.decide({ approvalId: required?.request.approvalId ?? "", decision: "DENY" })).userErrors).toMatchObject([
      { code: "SELF_APPROVAL" },
    ]);
  });
});

describe("a person who asked", () => {
  it("may not decide, though another created the agent; the creator who asked nothing may", async () => {
    const actors = ["ada", "bea"].map((id) => ({ id, tokenHash: hash(id), tenant: "one", roles: ["admin"] as const }));
    const app = await startTestApp({ config: { actors }, script: ASKING, template: { selfApproval: false } });
    const ada = connect(app.url, "ada");
    const bea = connect(app.url, "bea");
    const agent = await bea.createAgent();
    await ada.send(agent.id, "write");
    const [required] = ofType(await ada.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const decision = {
      approvalId: required?.request.approvalId ?? "",
      inputHash: required?.request.inputHash ?? "",
      decision: "ALLOW",
    } as const;
    expect((await ada.decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect((await bea.decide(decision)).userErrors).toEqual([]);
  });
});

describe("messages that nobody takes", () => {
  it("are refused when too many wait, and none is lost", async () => {
    const release = Promise.withResolvers<void>();
    const app = await startTestApp({
      config: { tools: [ownTool("holds", async () => ({ output: String(await release.promise), details: null }))] },
      script: {
        replies: [
          { when: { user: "hold" }, call: [{ tool: "holds" }] },
          { when: {}, say: ["Hello."] },
        ],
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    // Also where they come all at once.
    const sent = await Promise.all(
      Array.from({ length: 120 }, async (_, index) => {
        const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: agent.id, text: `message ${index}` } });
        return sendMessage.userErrors.map(({ code }) => code);
      }),
    );
    expect(sent.filter((codes) => codes.length === 0)).toHaveLength(100);
    expect(new Set(sent.flat())).toEqual(new Set(["QUEUE_FULL"]));
    expect(
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "one more" } })).sendMessage.userErrors,
    ).toMatchObject([{ code: "QUEUE_FULL" }]);
    release.resolve();
    const [done] = ofType(await client.until(agent.id, "DONE"), "Done");
    expect(done?.messageIds).toHaveLength(101);
  });
});

describe("streams", () => {
  it("give each actor only the events that they may see, live as from the past (invariant 12)", async () => {
    const app = await startTestApp({ config: ACTORS });
    const anna = connect(app.url, "anna-token");
    const ben = connect(app.url, "ben-token");
    const own = await ben.createAgent();
    const seen: string[] = [];
    const stream = ben.timeline({ since: "0" });
    seen.push(...((await stream.next()).value?.events ?? []).map((event) => event.agent.id));
    const next = stream.next();
    const agent = await anna.createAgent();
    await anna.turn(agent.id, "hello");
    await ben.send(own.id, "hello");
    seen.push(...((await next).value?.events ?? []).map((event) => event.agent.id));
    expect(new Set(seen)).toEqual(new Set([own.id]));
  });

  it("end where their actor is no longer admitted, and say so", async () => {
    let isAdmitted = true;
    let time = Date.now();
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"] } as const;
    const app = await startTestApp({
      config: { authenticate: () => (isAdmitted ? actor : null) },
      overrides: { clock: { now: () => new Date(time) } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const stream = client.timeline({ agentId: agent.id, since: "0" });
    await stream.next();
    time += 6_000;
    const still = stream.next();
    await client.send(agent.id, "hello");
    expect((await still).done).toBe(false);
    await client.until(agent.id, "DONE");
    const [row] = await app.database.sql.query<{ id: string }>({ name: "i", text: "SELECT id FROM agent" }, []);
    isAdmitted = false;
    time += 6_000;
    const secret = { at: new Date(), body: { kind: "TEXT_CHUNK", step: 9, block: 0, delta: "not for anna" } } as const;
    await app.parts.log.append("one", [{ agentId: row?.id ?? "", createdBy: "anna", events: [secret] }]);
    const rest: unknown[] = [];
    const drained = (async () => {
      for await (const page of stream) rest.push(...page.events);
    })();
    await expect(drained).rejects.toMatchObject({ code: 4403 });
    expect(JSON.stringify(rest)).not.toContain("not for anna");
  });

  it("end also while nothing is said, where their actor is no longer admitted", async () => {
    let isAdmitted = true;
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"] } as const;
    const app = await startTestApp({
      config: { authenticate: () => (isAdmitted ? actor : null) },
      overrides: { admittedMs: 30 },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const stream = client.timeline({ agentId: agent.id, since: "0" });
    await stream.next();
    const waiting = stream.next();
    isAdmitted = false;
    await expect(waiting).rejects.toMatchObject({ code: 4403 });
  });

  it("that would never end are refused: until must be among what is asked for", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    for (const asked of [{ kinds: ["TEXT_CHUNK" as const] }, { channels: ["MONITOR" as const] }]) {
      const { value } = await client.subscribe(TimelineDocument, { agentId: agent.id, until: "DONE", ...asked }).next();
      expect(JSON.stringify(value)).toContain("BAD_USER_INPUT");
    }
  });
});

describe("NUL in any other text", () => {
  it("is refused or replaced, never an error of the server's own", async () => {
    const app = await startTestApp({ script: ASKING });
    const client = connect(app.url);
    const agent = await client.createAgent();
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", workspace: "a\0b" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["workspace"] }]);
    expect((await client.get(CreateAgentDocument, { input: { templateId: "a\0b" } })).createAgent.userErrors).toMatchObject([
      { code: "NOT_FOUND" },
    ]);
    expect(
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi", idempotencyKey: "a\0b" } })).sendMessage
        .userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["idempotencyKey"] }]);
    expect((await client.get(ToolCallsDocument, { filter: { names: ["a\0b"] } })).toolCalls.nodes).toEqual([]);
    expect((await client.ask(AgentsDocument, { after: encode("GPC:S:a\0b") })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect(
      (await client.ask(ToolCallsDocument, { filter: { createdAfter: "-271821-04-20T00:00:00Z" } })).errors[0]?.message,
    ).toContain("ISO 8601");
    await client.send(agent.id, "write");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const decided = await client.decide({ approvalId: required?.request.approvalId ?? "", decision: "DENY", note: "a\0b" });
    expect(decided.approval?.note).toBe("a\u2400b");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "a\0b" } });
  });
});

describe("a database that is away", () => {
  it("is STORAGE_UNAVAILABLE to every operation, and the server lives on", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const admin = new URL(inject("postgresUrl"));
    const name = new URL((app.database.config as { url: string }).url).pathname.slice(1);
    await administer(admin.href, `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await administer(admin.href, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    const answers = await Promise.all([
      client.ask(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } }),
      client.ask(PollTimelineDocument, {}),
      client.ask(DecideApprovalDocument, {
        input: { approvalId: encode("Approval:11111111-1111-4111-8111-111111111111"), decision: "DENY" },
      }),
    ]);
    for (const answer of answers) expect(answer.errors).toMatchObject([{ extensions: { code: "STORAGE_UNAVAILABLE" } }]);
    await administer(admin.href, `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });
});

describe("decisions", () => {
  it("are made once: again the same answers the same, another way names what stands", async () => {
    const app = await startTestApp({ script: ASKING });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approvalId = required?.request.approvalId ?? "";
    const inputHash = required?.request.inputHash ?? "";
    expect((await client.decide({ approvalId, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "INVALID", field: ["inputHash"] },
    ]);
    expect((await client.decide({ approvalId, decision: "ALLOW", inputHash: "0".repeat(64) })).userErrors).toMatchObject([
      { code: "HASH_MISMATCH" },
    ]);
    expect((await client.decide({ approvalId, decision: "RETRY" })).userErrors).toMatchObject([
      { code: "INVALID", field: ["decision"] },
    ]);
    expect((await client.decide({ approvalId, decision: "DENY", note: "x".repeat(5_000) })).userErrors).toMatchObject([
      { code: "TOO_LARGE", field: ["note"] },
    ]);
    const racing = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        client.decide({ approvalId, inputHash, decision: index % 2 === 0 ? "ALLOW" : "DENY" }),
      ),
    );
    const winner = racing.find((answer) => answer.userErrors.length === 0)?.approval?.decision;
    expect(racing.filter((answer) => answer.userErrors.length === 0)).toHaveLength(5);
    expect(racing.filter((answer) => answer.userErrors[0]?.code === "ALREADY_DECIDED")).toHaveLength(5);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "PermissionDecided")).toMatchObject([{ decision: winner }]);
    expect(await client.decide({ approvalId, inputHash, decision: winner ?? "ALLOW" })).toMatchObject({
      approval: { decision: winner },
      userErrors: [],
    });
    expect(
      (await client.decide({ approvalId, inputHash, decision: winner === "ALLOW" ? "DENY" : "ALLOW" })).userErrors,
    ).toMatchObject([{ code: "ALREADY_DECIDED" }]);
  });

  it("come too late once the turn was interrupted: the approval is sealed", async () => {
    const app = await startTestApp({ script: ASKING });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "never mind" } });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    const answer = await client.decide({
      approvalId: required?.request.approvalId ?? "",
      inputHash: required?.request.inputHash ?? "",
      decision: "ALLOW",
    });
    expect(answer).toMatchObject({ approval: { state: "SEALED" }, userErrors: [{ code: "SEALED" }] });
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });
});

describe("idempotency keys", () => {
  it("do the same request once, also at once, and refuse another body", async () => {
    const client = connect((await startTestApp()).url);
    const input = { templateId: "assistant", idempotencyKey: "k1" };
    const created = await Promise.all(Array.from({ length: 5 }, () => client.get(CreateAgentDocument, { input })));
    expect(new Set(created.map((answer) => answer.createAgent.agent?.id)).size).toBe(1);
    expect(
      (await client.get(CreateAgentDocument, { input: { ...input, toolTimeoutMs: 5 } })).createAgent.userErrors,
    ).toMatchObject([{ code: "IDEMPOTENCY_KEY_REUSED", field: ["idempotencyKey"] }]);
    const agentId = created[0]?.createAgent.agent?.id ?? "";
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => client.get(SendMessageDocument, { input: { agentId, text: "hi", idempotencyKey: "k1" } })),
    );
    expect(new Set(sent.map((answer) => answer.sendMessage.message?.id)).size).toBe(1);
    expect(
      (await client.get(SendMessageDocument, { input: { agentId, text: "ho", idempotencyKey: "k1" } })).sendMessage.userErrors,
    ).toMatchObject([{ code: "IDEMPOTENCY_KEY_REUSED" }]);
  });
});
