import { setTimeout as delay } from "node:timers/promises";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StopReason } from "../../src/agent/models/model.ts";
import type { ScriptCall } from "../../src/agent/models/script.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type PageEvent } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";

/** Lets the model make these calls and answer with what the first tool said. */
async function turnWith(calls: readonly ScriptCall[], options: TestAppOptions = {}, stop?: StopReason) {
  const [first] = calls;
  const script = {
    replies: [
      { when: { user: "go" }, call: calls, ...(stop === undefined ? {} : { stop }) },
      { when: { result: first?.tool ?? "" }, say: ["{{result}}"] },
      { when: {}, say: ["Hello."] },
    ],
  };
  const app = await startTestApp({ ...options, script, template: { permission: { mode: "auto" }, ...options.template } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  const events = await client.turn(agent.id, "go");
  const { toolCalls, messages } = await client.agent(agent.id);
  return { app, client, agent, events, calls: toolCalls.nodes, messages: messages.nodes };
}

/** Every call has one TOOL_START, one TOOL_END and one TOOL_EXECUTED, and its start comes first (invariant 6). */
function expectPairs(events: readonly PageEvent[], count: number): void {
  for (const name of ["ToolStart", "ToolEnd", "ToolExecuted"] as const)
    expect(new Set(ofType(events, name).map((event) => event.call.callId)).size, name).toBe(count);
  expect(ofType(events, "ToolStart")).toHaveLength(count);
  expect(ofType(events, "ToolEnd")).toHaveLength(count);
  for (const end of ofType(events, "ToolEnd")) {
    const start = ofType(events, "ToolStart").find((event) => event.call.callId === end.call.callId);
    expect(start?.seq).toBeLessThan(end.seq);
  }
}

describe("arguments that are wrong", () => {
  it.each([
    ["missing", { tool: "fs_read", input: {} }, "must have required property 'path'"],
    ["of the wrong type", { tool: "fs_read", input: { path: 7 } }, "/path: must be string; received 7"],
    ["extra", { tool: "fs_read", input: { path: "a", depth: 3 } }, 'has no parameter "depth"'],
    ["not JSON", { tool: "fs_read", arguments: '{"path": "a' }, "is not JSON"],
    ["no object", { tool: "fs_read", arguments: "[1]" }, "must be an object"],
    ["null", { tool: "fs_read", arguments: "null" }, "must be an object"],
    [
      "nested too deeply",
      { tool: "fs_read", arguments: `{"path": ${"[".repeat(5_000)}${"]".repeat(5_000)}}` },
      "must not be nested more than 100",
    ],
    ["with NUL", { tool: "fs_read", arguments: '{"path": "a\\u0000b"}' }, "must not contain NUL"],
  ])("%s: FAILED with invalid_params, never run, and the model reads why", async (_name, call, message) => {
    const { events, calls, client, agent } = await turnWith([call]);
    expect(calls).toMatchObject([
      { state: "FAILED", attempt: 0, isError: true, error: { type: "INVALID_PARAMS", stage: "VALIDATION" } },
    ]);
    expect(textOf(events)).toContain(message);
    expectPairs(events, 1);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });

  it("an unknown tool is not_found, one that the template does not list is disabled", async () => {
    const { calls, events } = await turnWith(
      [
        { tool: "rm_rf", input: {} },
        { tool: "fs_write", input: {} },
      ],
      { template: { tools: ["fs_read"] } },
    );
    expect(calls).toMatchObject([
      { state: "FAILED", error: { type: "NOT_FOUND", stage: "DISCOVERY" } },
      { state: "FAILED", error: { type: "DISABLED", stage: "DISCOVERY" } },
    ]);
    expect(calls[0]?.output).toContain("fs_read");
    expectPairs(events, 2);
  });

  it("complete arguments of an answer that was cut are never executed (max_tokens)", async () => {
    const { calls, events } = await turnWith([{ tool: "fs_write", input: { path: "a", content: "b" } }], {}, "max_tokens");
    expect(calls).toMatchObject([{ state: "FAILED", attempt: 0, error: { type: "ABORTED", stage: "DISCOVERY" } }]);
    expectPairs(events, 1);
  });

  it("lone surrogates in arguments are replaced, and the call runs", async () => {
    const { calls } = await turnWith([{ tool: "fs_write", arguments: '{"path": "a.txt", "content": "x\\ud800y"}' }]);
    expect(calls).toMatchObject([{ state: "COMPLETED", input: { path: "a.txt", content: "x\ufffdy" } }]);
  });
});

describe("what a program can read of a call that came to nothing (features.md T11)", () => {
  it("wrong arguments: each problem with its place, what came, and what is expected", async () => {
    const { calls } = await turnWith([{ tool: "fs_read", input: { path: 7, depth: 3 } }]);
    expect(calls[0]?.details).toMatchObject({
      errorType: "invalid_params",
      retryable: false,
      recommendations: [expect.any(String)],
      validationErrors: expect.arrayContaining([expect.objectContaining({ path: "/path", value: 7 })]),
      receivedParams: { path: 7, depth: 3 },
      expectedSchema: { required: ["path"] },
    });
  });

  it("wrong arguments that are large are cut, with a mark", async () => {
    const { calls } = await turnWith([{ tool: "fs_read", input: { path: ["x".repeat(20_000)] } }]);
    expect(calls[0]?.details).toMatchObject({ receivedParams: expect.stringContaining("the input has the whole") });
    expect(JSON.stringify(calls[0]?.details).length).toBeLessThan(16_000);
  });

  it("a tool that is not there, or not for this agent: the ones that are", async () => {
    const { calls } = await turnWith([{ tool: "rm_rf" }, { tool: "fs_write" }], { template: { tools: ["fs_read"] } });
    expect(calls.map(({ details }) => details)).toMatchObject([
      { errorType: "not_found", requestedTool: "rm_rf", availableTools: ["fs_read"] },
      { errorType: "disabled", requestedTool: "fs_write", availableTools: ["fs_read"] },
    ]);
  });

  it("a file that is not there: the system's code, and the file's name in the workspace, in words", async () => {
    const { calls, app } = await turnWith([{ tool: "fs_read", input: { path: "docs/missing.md" } }]);
    expect(calls).toMatchObject([
      {
        error: {
          type: "EXECUTION_FAILED",
          message: "The tool failed: docs/missing.md does not exist: fs_glob finds files, and fs_write makes new ones",
        },
        details: { errorType: "execution_failed", retryable: true, code: "ENOENT", errno: -2, path: "docs/missing.md" },
      },
    ]);
    expect(JSON.stringify(calls)).not.toContain(app.workspace);
  });
});

describe("alarms on tools (features.md, S2)", () => {
  it("one that failed and one that took too long raise an ERROR of phase TOOL; one that was denied does not", async () => {
    const tools = [
      ownTool("breaks", () => {
        throw new Error("the pipe burst");
      }),
      ownTool("hangs", () => new Promise<never>(() => {})),
      ownTool("fine", () => ({ output: "fine", details: null })),
    ];
    const { events } = await turnWith(
      tools.map(({ name }) => ({ tool: name })),
      { config: { tools }, template: { toolTimeoutMs: 50, permission: { mode: "auto", deny: ["fine"] } } },
    );
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "WARN", phase: "TOOL", detail: "execution_failed", message: expect.stringContaining("the pipe burst") },
      { severity: "WARN", phase: "TOOL", detail: "timeout", message: expect.stringContaining("hangs") },
    ]);
  });
});

describe("tools that misbehave (invariant 9)", () => {
  it("one that throws is FAILED with execution_failed", async () => {
    const tool = ownTool("breaks", () => {
      throw new Error("the pipe burst");
    });
    const { calls, events } = await turnWith([{ tool: "breaks", input: {} }], { config: { tools: [tool] } });
    expect(calls).toMatchObject([
      { state: "FAILED", error: { type: "EXECUTION_FAILED", stage: "EXECUTION", message: "The tool failed: the pipe burst" } },
    ]);
    expect(calls[0]?.durationMs).toBeGreaterThan(0);
    expect(ofType(events, "ToolError")).toHaveLength(1);
    expectPairs(events, 1);
  });

  it("one that throws something that is no Error is FAILED as well", async () => {
    const tool = ownTool("breaks", () => Promise.reject("plain text"));
    expect((await turnWith([{ tool: "breaks", input: {} }], { config: { tools: [tool] } })).calls).toMatchObject([
      { state: "FAILED", error: { message: "The tool failed: plain text" } },
    ]);
  });

  it("one that answers nothing, or something of another form, is COMPLETED with what can be told", async () => {
    const nothing = ownTool("nothing", () => undefined as never);
    const text = ownTool("text", () => "just text");
    const cyclic = ownTool("cyclic", () => {
      const details: Record<string, unknown> = {};
      details["self"] = details;
      return { output: "looped", details: details as never };
    });
    const { calls } = await turnWith([{ tool: "nothing" }, { tool: "text" }, { tool: "cyclic" }], {
      config: { tools: [nothing, text, cyclic] },
    });
    expect(calls).toMatchObject([
      { state: "COMPLETED", output: "(the tool answered nothing)", details: null },
      { state: "COMPLETED", output: "just text", details: null },
      { state: "COMPLETED", output: "looped", details: { truncated: true } },
    ]);
  });

  it("one that answers 50 MB is cut with a mark, and its details are left out with one", async () => {
    const big = "0123456789".repeat(5_000_000);
    const tool = ownTool("floods", () => ({ output: big, details: { big } }));
    const { calls, events, messages } = await turnWith([{ tool: "floods" }], { config: { tools: [tool] } });
    expect(calls[0]?.output?.length).toBeLessThan(52_000);
    expect(calls[0]?.output).toMatch(/\[truncated: the first 51200 of 50000000 bytes\]$/);
    expect(calls[0]?.details).toMatchObject({ truncated: true });
    expect(ofType(events, "ToolEnd")[0]?.call.output?.length).toBeLessThan(5_000);
    expect(messages).toHaveLength(4);
  });

  it("one whose result holds NUL is stored with a visible replacement", async () => {
    const tool = ownTool("nul", () => ({ output: "a\0b", details: { "k\0": "v\ud800" } }));
    expect((await turnWith([{ tool: "nul" }], { config: { tools: [tool] } })).calls).toMatchObject([
      { output: "a\u2400b", details: { "k\u2400": "v\ufffd" } },
    ]);
  });

  it("one that obeys its signal at its timeout is FAILED, and no late result is counted", async () => {
    const ended = Promise.withResolvers<void>();
    const tool = ownTool("obeys", (_input, { signal }) => {
      const run = new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      run.catch(() => ended.resolve());
      return run;
    });
    const { app, calls } = await turnWith([{ tool: "obeys" }], { config: { tools: [tool] }, template: { toolTimeoutMs: 60 } });
    expect(calls).toMatchObject([{ state: "FAILED", error: { type: "TIMEOUT" } }]);
    await ended.promise;
    expect(app.services.lateResults.count).toBe(0);
  });

  it("one that never ends and ignores its signal is FAILED with timeout at once, and its late result is dropped and counted (features.md A3)", async () => {
    const late = Promise.withResolvers<{ output: string; details: null }>();
    const tool = ownTool("hangs", () => late.promise);
    const { app, calls, events, client, agent } = await turnWith([{ tool: "hangs" }], {
      config: { tools: [tool] },
      template: { toolTimeoutMs: 60 },
    });
    const lateResults = async () =>
      /^triplane_late_tool_results_total (\d+)$/m.exec(await (await fetch(new URL("/metrics", app.url))).text())?.[1];
    expect(await lateResults()).toBe("0");
    expect(calls).toMatchObject([{ state: "FAILED", error: { type: "TIMEOUT", stage: "EXECUTION" } }]);
    expectPairs(events, 1);
    late.resolve({ output: "too late", details: null });
    await expect.poll(lateResults).toBe("1");
    await client.turn(agent.id, "and on");
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([{ state: "FAILED" }]);
  });

  it("one with more time of its own than its agent has gets the agent's, one with less its own (features.md A3)", async () => {
    const hangs = (name: string, timeoutMs: number) => ({ ...ownTool(name, () => new Promise<never>(() => {})), timeoutMs });
    const script = {
      replies: [
        { when: { user: "go" }, call: [{ tool: "long" }, { tool: "short" }] },
        { when: {}, say: ["."] },
      ],
    };
    const app = await startTestApp({
      script,
      config: { tools: [hangs("long", 3_600_000), hangs("short", 20)] },
      template: { permission: { mode: "auto" }, toolTimeoutMs: 3_600_000 },
    });
    const client = connect(app.url);
    const agent = await client.createAgent({ toolTimeoutMs: 60 });
    await client.turn(agent.id, "go");
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([
      { error: { type: "TIMEOUT" }, details: { afterMs: 60 } },
      { error: { type: "TIMEOUT" }, details: { afterMs: 20 } },
    ]);
  });

  it("one that heeds its signal is FAILED with timeout as well", async () => {
    const tool = ownTool("heeds", async (_input, { signal }) => {
      await delay(60_000, undefined, { signal });
      return { output: "", details: null };
    });
    expect(
      (await turnWith([{ tool: "heeds" }], { config: { tools: [tool] }, template: { toolTimeoutMs: 50 } })).calls,
    ).toMatchObject([{ state: "FAILED", error: { type: "TIMEOUT" } }]);
  });

  it("ones whose answers cannot be told, or that throw what has no text, end as calls all the same", async () => {
    const deep = (): unknown => Array.from({ length: 5_000 }).reduce<unknown>((inner) => [inner], "x");
    const tools = [
      ownTool("bigint", () => ({ details: 5n }) as never),
      ownTool("looped", () => {
        const value: Record<string, unknown> = {};
        value["self"] = value;
        return value as never;
      }),
      ownTool("deep", () => ({ output: "deep", details: deep() }) as never),
      ownTool("textless", () => Promise.reject(Object.create(null))),
    ];
    const { calls, events } = await turnWith(
      tools.map((tool) => ({ tool: tool.name })),
      { config: { tools } },
    );
    expect(calls).toMatchObject([
      { state: "COMPLETED", output: expect.stringContaining("cannot be told") },
      { state: "COMPLETED", output: expect.stringContaining("cannot be told") },
      { state: "COMPLETED", output: "deep", details: { truncated: true } },
      { state: "FAILED", error: { message: expect.stringContaining("no text") } },
    ]);
    expectPairs(events, 4);
  });

  it("one with a name longer than any index is not_found", async () => {
    const { calls } = await turnWith([{ tool: "x".repeat(5_000), input: {} }]);
    expect(calls).toMatchObject([{ state: "FAILED", error: { type: "NOT_FOUND" } }]);
  });

  it("one that emits reports its own events, also such that are too large", async () => {
    const tool = ownTool("emits", async (_input, context) => {
      await context.emit("progress", { percent: 50 });
      await context.emit("huge", "x".repeat(100_000));
      return { output: "ok", details: null };
    });
    const { events } = await turnWith([{ tool: "emits" }], { config: { tools: [tool] } });
    expect(ofType(events, "ToolCustomEvent")).toMatchObject([
      { tool: "emits", eventType: "progress", eventData: { percent: 50 } },
      { eventType: "huge", eventData: { truncated: true } },
    ]);
  });
});

describe("calls of one step", () => {
  it("run reads together and writes alone, in source order, and keep the results' order (invariant 6)", async () => {
    const log: string[] = [];
    let running = 0;
    let most = 0;
    const three = Promise.withResolvers<void>();
    const fourth = Promise.withResolvers<void>();
    const ends = (name: string, when: () => Promise<void>, readOnly: boolean) =>
      ownTool(
        name,
        async () => {
          running += 1;
          most = Math.max(most, running);
          log.push(`${name} starts at ${running}`);
          if (running === 3) three.resolve();
          await when();
          running -= 1;
          if (name === "r4") fourth.resolve();
          return { output: name, details: null };
        },
        readOnly,
      );
    const tools = [
      ends("r1", () => fourth.promise, true),
      ends("r2", () => three.promise, true),
      ends("r3", () => three.promise, true),
      ends("r4", () => delay(10), true),
      ends("w1", () => delay(10), false),
      ends("r5", () => delay(10), true),
    ];
    const { calls, messages } = await turnWith(
      tools.map((tool) => ({ tool: tool.name })),
      { config: { tools } },
    );
    expect(most).toBe(3);
    expect(log.indexOf("w1 starts at 1")).toBe(4);
    expect(log[5]).toBe("r5 starts at 1");
    expect(calls.map((call) => call.output)).toEqual(["r1", "r2", "r3", "r4", "w1", "r5"]);
    // Each message names the rows of its calls, in the order in which the model made them.
    const outputs = ["r1", "r2", "r3", "r4", "w1", "r5"];
    expect(messages[1]?.blocks).toMatchObject(
      calls.map(({ callId, name }) => ({ __typename: "ToolCallBlock", name, toolCall: { callId, state: "COMPLETED" } })),
    );
    expect(messages[2]?.blocks).toMatchObject(
      calls.map(({ callId }, index) => ({
        __typename: "ToolResultBlock",
        output: outputs[index],
        isError: false,
        toolCall: { callId },
      })),
    );
  });

  it("pass one that waits for a person with reads, and hold later writes", async () => {
    const order: string[] = [];
    const noting = (name: string, readOnly: boolean) =>
      ownTool(
        name,
        () => {
          order.push(name);
          return { output: name, details: null };
        },
        readOnly,
      );
    const tools = [noting("asked", false), noting("reads", true), noting("writes", false)];
    const app = await startTestApp({
      script: {
        replies: [
          { when: { user: "go" }, call: tools.map((tool) => ({ tool: tool.name })) },
          { when: {}, say: ["done"] },
        ],
      },
      config: { tools },
      template: { permission: { mode: "auto", requireApprovalTools: ["asked"] } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const waiting = await client.until(agent.id, "TOOL_END");
    const [required] = ofType(waiting, "PermissionRequired");
    expect(order).toEqual(["reads"]);
    await client.decide({
      approvalId: required?.request.approvalId ?? "",
      decision: "ALLOW",
      inputHash: required?.request.inputHash ?? "",
    });
    await client.until(agent.id, "DONE");
    expect(order).toEqual(["reads", "asked", "writes"]);
  });
});

describe("permission by lists and modes", () => {
  const cases: [string, NonNullable<TestAppOptions["template"]>["permission"], string, string, string][] = [
    ["no block runs reads", undefined, "fs_read", "COMPLETED", "mode default"],
    ["auto runs all", { mode: "auto" }, "fs_write", "COMPLETED", "mode auto"],
    ["readonly denies writes", { mode: "readonly" }, "fs_write", "DENIED", "mode readonly"],
    [
      "readonly denies even what is auto-allowed",
      { mode: "readonly", autoAllowTools: ["fs_write"] },
      "fs_write",
      "DENIED",
      "mode readonly",
    ],
    ["readonly runs reads", { mode: "readonly" }, "fs_read", "COMPLETED", "mode readonly"],
    ["deny denies reads", { mode: "deny" }, "fs_read", "DENIED", "mode deny"],
    [
      "denyTools beats autoAllowTools",
      { mode: "auto", denyTools: ["fs_read"], autoAllowTools: ["fs_read"] },
      "fs_read",
      "DENIED",
      "denyTools",
    ],
    ["outside allowTools is denied", { mode: "auto", allowTools: ["fs_write"] }, "fs_read", "DENIED", "allowTools"],
    [
      "autoAllowTools beats requireApprovalTools",
      { mode: "approval", autoAllowTools: ["fs_write"], requireApprovalTools: ["fs_write"] },
      "fs_write",
      "COMPLETED",
      "autoAllowTools",
    ],
  ];
  it.each(cases)("%s", async (_name, permission, tool, state, rule) => {
    const input = tool === "fs_read" ? { path: "a.txt" } : { path: "b.txt", content: "b" };
    const script = {
      replies: [
        { when: { user: "go" }, call: [{ tool, input }] },
        { when: {}, say: ["done"] },
      ],
    };
    const app = await startTestApp({ script, template: permission === undefined ? {} : { permission } });
    await writeFile(join(app.workspace, "a.txt"), "a");
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "go");
    expectPairs(events, 1);
    const { toolCalls } = await client.agent(agent.id);
    expect(toolCalls.nodes).toMatchObject([{ state, explanation: { rule } }]);
    if (state === "DENIED")
      expect(toolCalls.nodes).toMatchObject([{ error: { type: "PERMISSION_DENIED", stage: "PERMISSION" } }]);
  });

  it.each([
    ["approval", { mode: "approval" }, "fs_read"],
    ["its alias ask", { mode: "ask" }, "fs_read"],
    ["requireApprovalTools", { mode: "auto", requireApprovalTools: ["fs_read"] }, "fs_read"],
    ["no block, for a write", undefined, "fs_write"],
  ] as const)("%s asks", async (_name, permission, tool) => {
    const input = tool === "fs_read" ? { path: "a.txt" } : { path: "b.txt", content: "b" };
    const app = await startTestApp({
      script: { replies: [{ when: {}, call: [{ tool, input }] }] },
      template: permission === undefined ? {} : { permission },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    expect(ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired")).toMatchObject([
      { request: { call: { name: tool, state: "APPROVAL_REQUIRED" } } },
    ]);
  });
});

describe("hooks", () => {
  it("may ask, deny and answer; one that throws denies; none may loosen", async () => {
    const input = { path: "a.txt" };
    const run = async (
      preToolUse: NonNullable<NonNullable<TestAppOptions["template"]>["hooks"]>["preToolUse"],
      mode: "auto" | "deny" = "auto",
    ) =>
      (
        await turnWith([{ tool: "fs_read", input }], {
          template: { hooks: preToolUse ? { preToolUse } : {}, permission: { mode } },
        })
      ).calls;
    expect(await run([() => ({ decision: "deny", reason: "not on Sundays" })])).toMatchObject([
      { state: "DENIED", error: { message: expect.stringContaining("not on Sundays") } },
    ]);
    expect(
      await run([
        () => {
          throw new Error("hook bug");
        },
      ]),
    ).toMatchObject([{ state: "DENIED", error: { type: "PERMISSION_DENIED", message: expect.stringContaining("hook bug") } }]);
    expect(await run([() => ({ result: { output: "from the hook", details: { cached: true } } })])).toMatchObject([
      { state: "COMPLETED", attempt: 0, output: "from the hook", details: { cached: true } },
    ]);
    expect(await run([(call) => void Object.assign(call.input as object, { path: "elsewhere.txt" })])).toMatchObject([
      { input: { path: "a.txt" } },
    ]);
    expect(await run([() => ({ result: { output: 5n, details: null } as never })])).toMatchObject([
      { state: "DENIED", error: { message: expect.stringContaining("its result is not") } },
    ]);
    expect(await run([() => ({ decision: "deny", reason: "no", input: { path: "b.txt" } }) as never])).toMatchObject([
      { state: "DENIED", startedAt: null, error: { message: expect.stringContaining("no") } },
    ]);
    expect(await run([() => ({ result: { output: "from the hook", details: null } })], "deny")).toMatchObject([
      { state: "DENIED" },
    ]);
  });
});
