import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptCall } from "../../src/agent/models/script.ts";
import {
  CreateAgentDocument,
  ExplainPermissionDocument,
  InterruptAgentDocument,
  type EventKind,
} from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";

/** Lets the model make these calls, and gives what happened up to an event of the kind. */
async function turnWith(calls: readonly ScriptCall[], options: TestAppOptions, until: EventKind = "DONE") {
  const script = {
    replies: [
      { when: { user: "go" }, call: calls },
      { when: {}, say: ["Done."] },
    ],
  };
  const client = connect((await startTestApp({ script, ...options })).url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  const events = await client.until(agent.id, until);
  return { events, calls: (await client.agent(agent.id)).toolCalls.nodes };
}

describe("hooks", () => {
  it("preToolUse is told whose call it is; an ask may carry what people need and a risk, a deny what the model reads", async () => {
    const seen: unknown[] = [];
    const meta = { risk: "HIGH", ticket: "T-1" };
    const asked = await turnWith(
      [{ tool: "fs_write", input: { path: "a.txt", content: "a" } }],
      {
        template: {
          hooks: {
            preToolUse: [
              (call) => {
                seen.push(call);
                return { decision: "ask", reason: "look twice", meta };
              },
            ],
          },
          permission: { mode: "auto" },
        },
      },
      "PERMISSION_REQUIRED",
    );
    expect(seen).toMatchObject([{ tenant: "local", createdBy: "local", templateId: "assistant", name: "fs_write" }]);
    expect(ofType(asked.events, "PermissionRequired")).toMatchObject([{ request: { reason: "look twice", risk: "HIGH", meta } }]);
    const toolResult = { output: "Try the staging folder.", details: { folder: "staging" } };
    const denied = await turnWith([{ tool: "fs_write", input: { path: "a.txt", content: "a" } }], {
      template: {
        hooks: { preToolUse: [() => ({ decision: "deny", reason: "not here", toolResult })] },
        permission: { mode: "auto" },
      },
    });
    expect(denied.calls).toMatchObject([
      {
        state: "DENIED",
        isError: true,
        output: "Try the staging folder.",
        error: { type: "PERMISSION_DENIED" },
        details: { errorType: "permission_denied", reason: "not here", result: { folder: "staging" } },
      },
    ]);
  });

  it.for([
    ["high", "HIGH"],
    ["Low", "MEDIUM"],
  ] as const)("takes the risk of a meta in any case: %s", async ([risk, expected]) => {
    const { events } = await turnWith(
      [{ tool: "fs_write", input: { path: "a.txt", content: "a" } }],
      {
        template: {
          hooks: { preToolUse: [() => ({ decision: "ask", meta: { risk } })] },
          permission: { mode: "auto" },
        },
      },
      "PERMISSION_REQUIRED",
    );
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { risk: expected, meta: { risk } } }]);
  });

  it("denies a call of which a meta says a risk that there is none of", async () => {
    const { calls, events } = await turnWith([{ tool: "fs_write", input: { path: "a.txt", content: "a" } }], {
      template: {
        hooks: { preToolUse: [() => ({ decision: "ask", meta: { risk: "severe" } })] },
        permission: { mode: "auto" },
      },
    });
    expect(calls).toMatchObject([{ state: "DENIED" }]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { detail: "hook_failed", message: expect.stringContaining("LOW, MEDIUM and HIGH") },
    ]);
  });

  it("what a denial tells programs is bounded as a result is", async () => {
    const toolResult = { output: "no", details: { large: "x".repeat(2 * 1024 * 1024) } };
    const { calls } = await turnWith([{ tool: "fs_read", input: { path: "a.txt" } }], {
      template: { hooks: { preToolUse: [() => ({ decision: "deny", toolResult })] }, permission: { mode: "auto" } },
    });
    expect(calls).toMatchObject([{ state: "DENIED", output: "no", details: { truncated: true } }]);
  });

  it("a preToolUse that throws denies its call, and raises an ERROR of phase TOOL", async () => {
    const failing = (): never => {
      throw new Error("hook bug");
    };
    const { calls, events } = await turnWith([{ tool: "fs_read", input: { path: "a.txt" } }], {
      template: { hooks: { preToolUse: [failing] }, permission: { mode: "auto" } },
    });
    expect(calls).toMatchObject([{ state: "DENIED" }]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "WARN", phase: "TOOL", detail: "hook_failed", message: expect.stringContaining("hook bug") },
    ]);
  });

  describe("postToolUse", () => {
    type PostToolUse = NonNullable<NonNullable<NonNullable<TestAppOptions["template"]>["hooks"]>["postToolUse"]>;
    const plain = ownTool("plain", () => ({ output: "plain", details: { a: 1 } }));
    const fails = ownTool("fails", () => {
      throw new Error("broken");
    });
    const hangs = ownTool("hangs", () => new Promise<never>(() => {}));
    const run = (tool: string, postToolUse: PostToolUse) =>
      turnWith([{ tool }], {
        config: { tools: [plain, fails, hangs] },
        template: { hooks: { postToolUse }, permission: { mode: "auto" }, toolTimeoutMs: 50 },
      });

    it("may change a part of a result, or replace it; each sees what the one before it made", async () => {
      const seen: unknown[] = [];
      const { calls } = await run("plain", [
        (_call, outcome) => {
          seen.push(outcome);
          return { update: { output: `${outcome.output}, updated` } };
        },
        (_call, outcome) => {
          seen.push(outcome);
          return { replace: { output: `${outcome.output}, replaced`, details: null } };
        },
        () => undefined,
      ]);
      expect(calls).toMatchObject([{ state: "COMPLETED", output: "plain, updated, replaced", details: null }]);
      expect(seen).toMatchObject([
        { ok: true, output: "plain", details: { a: 1 }, error: null, durationMs: expect.any(Number) },
        { ok: true, output: "plain, updated", details: { a: 1 } },
      ]);
    });

    it("sees failed calls and those that did not end in time, and may say more of them; they stay FAILED", async () => {
      const say: PostToolUse = [(_call, { ok, error }) => ({ update: { output: `${ok} ${error?.type}` } })];
      expect((await run("fails", say)).calls).toMatchObject([
        { state: "FAILED", output: "false execution_failed", error: { type: "EXECUTION_FAILED" } },
      ]);
      expect((await run("hangs", say)).calls).toMatchObject([
        { state: "FAILED", output: "false timeout", error: { type: "TIMEOUT" } },
      ]);
    });

    it("leaves nothing of the failure that it replaces: in the call, in its events, in the alarm (invariant 11)", async () => {
      const leaks = ownTool("leaks", () => {
        throw Object.assign(new Error("SECRET42"), { code: "SECRET43" });
      });
      const { calls, events } = await turnWith([{ tool: "leaks" }], {
        config: { tools: [leaks] },
        template: {
          hooks: { postToolUse: [() => ({ replace: { output: "redacted", details: null } })] },
          permission: { mode: "auto" },
          trace: true,
        },
      });
      expect(calls).toMatchObject([
        { state: "FAILED", output: "redacted", details: null, error: { type: "EXECUTION_FAILED", message: "redacted" } },
      ]);
      expect(JSON.stringify({ calls, events })).not.toMatch(/SECRET4/);
      expect(ofType(events, "ErrorRaised")).toMatchObject([{ detail: "execution_failed", message: "leaks: redacted" }]);
    });

    const secret = ownTool("secret", () => ({ output: "password=SECRET44", details: { password: "SECRET44" } }));
    const meter = (): never => {
      throw new Error("the meter is broken");
    };
    const redact = (_call: unknown, { output }: { readonly output: string }) => ({
      replace: { output: output.replace("SECRET44", "…"), details: null },
    });

    it("is reported if it throws, and the next ones see the result: a redactor behind a broken meter redacts", async () => {
      const { calls, events } = await turnWith([{ tool: "secret" }], {
        config: { tools: [secret] },
        template: { hooks: { postToolUse: [meter, redact, meter] }, permission: { mode: "auto" } },
      });
      expect(calls).toMatchObject([{ state: "COMPLETED", output: "password=…", details: null }]);
      expect(ofType(events, "ErrorRaised").map(({ detail }) => detail)).toEqual(["hook_failed", "hook_failed"]);
      expect(JSON.stringify({ calls, events })).not.toContain("SECRET44");
    });

    it("that says `withhold` keeps the result from the model and from events if it fails; people read it as the kept output", async () => {
      const { calls, events } = await turnWith([{ tool: "secret" }], {
        config: { tools: [secret] },
        template: {
          hooks: { postToolUse: [{ run: meter, ifItFails: "withhold" }, redact] },
          permission: { mode: "auto" },
        },
      });
      expect(calls).toMatchObject([
        {
          state: "FAILED",
          error: { type: "EXECUTION_FAILED", message: expect.stringContaining("templates.assistant.hooks.postToolUse.0") },
        },
      ]);
      expect(JSON.stringify({ calls, events })).not.toContain("SECRET44");
      expect(ofType(events, "ErrorRaised").map(({ detail }) => detail)).toContain("hook_failed");
    });

    it("that says `withhold` and is not asked, since the turn was interrupted, keeps the result all the same", async () => {
      const hanging = Promise.withResolvers<void>();
      const hangs = (): Promise<never> => {
        hanging.resolve();
        return new Promise(() => {});
      };
      const app = await startTestApp({
        script: {
          replies: [
            {
              when: { user: "run" },
              call: [{ tool: "bash_run", input: { command: 'a=SECRET; echo password=$a""44; touch said; sleep 60' } }],
            },
            { when: { user: "go" }, call: [{ tool: "secret" }] },
          ],
        },
        config: { tools: [secret] },
        template: {
          hooks: { postToolUse: [hangs, { run: redact, ifItFails: "withhold" }] },
          permission: { mode: "auto" },
        },
      });
      const client = connect(app.url);
      const interrupted = async (message: string, begun: () => Promise<unknown>) => {
        const agent = await client.createAgent();
        await client.send(agent.id, message);
        await begun();
        await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: null } });
        const events = await client.until(agent.id, "DONE");
        return { events, calls: (await client.agent(agent.id)).toolCalls.nodes };
      };
      const inHook = await interrupted("go", () => hanging.promise);
      const inTool = await interrupted("run", () =>
        expect.poll(() => stat(join(app.workspace, "said")).catch(() => null)).not.toBeNull(),
      );
      expect(inHook.calls).toMatchObject([{ state: "FAILED", error: { type: "EXECUTION_FAILED" } }]);
      expect(inTool.calls).toMatchObject([{ state: "FAILED", error: { type: "ABORTED" } }]);
      expect(JSON.stringify({ inHook, inTool })).not.toContain("=SECRET44");
    });

    it("is reported if it throws or answers something else, and the result stays", async () => {
      for (const hook of [() => ({ output: "plain form", details: null }), () => ({ update: { output: 5 } })] as never[])
        expect(await run("plain", [hook])).toMatchObject({
          calls: [{ state: "COMPLETED", output: "plain" }],
          events: expect.arrayContaining([expect.objectContaining({ __typename: "ErrorRaised", detail: "hook_failed" })]),
        });
    });
  });

  it("of a single agent are named when it is created, run after its template's, and are missed if the configuration loses them", async () => {
    const order: string[] = [];
    const app = await startTestApp({
      script: {
        replies: [
          { when: { user: "go" }, call: [{ tool: "fs_read", input: { path: "a.txt" } }] },
          { when: {}, say: ["Done."] },
        ],
      },
      template: { hooks: { preToolUse: [() => void order.push("template")] } },
      config: { agentHooks: { careful: { preToolUse: [() => (order.push("agent"), { decision: "deny", reason: "careful" })] } } },
    });
    const client = connect(app.url);
    const { userErrors } = (await client.get(CreateAgentDocument, { input: { templateId: "assistant", hooks: ["careless"] } }))
      .createAgent;
    expect(userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["hooks"], message: expect.stringContaining("careful") }]);
    const agent = await client.createAgent({ hooks: ["careful"] });
    expect(ofType(await client.until(agent.id, "AGENT_CREATED"), "AgentCreated")).toMatchObject([
      { hooks: ["careful"], workspace: app.workspace, permission: null },
    ]);
    const asked = { agentId: agent.id, tool: "fs_read", input: { path: "a.txt" } };
    expect((await client.get(ExplainPermissionDocument, asked)).explainPermission.explanation?.hooks).toEqual([
      "templates.assistant.hooks.preToolUse.0",
      "agentHooks.careful.preToolUse.0",
    ]);
    expect(ofType(await client.turn(agent.id, "go"), "ToolEnd")).toMatchObject([{ call: { state: "DENIED" } }]);
    expect(order).toEqual(["template", "agent"]);
    await client.turn((await client.createAgent()).id, "go");
    expect(order).toEqual(["template", "agent", "template"]);
    await app.database.sql.query({ name: "h", text: `UPDATE agent SET hooks = '["gone"]'` }, []);
    // No call runs unguarded: the agent waits for a server that has them.
    await client.send(agent.id, "go");
    const waitingFor = async (): Promise<unknown> =>
      (await client.post<{ agent: unknown }>({ query: `{ agent(id: "${agent.id}") { waitingFor } }` })).data?.agent;
    await expect.poll(waitingFor).toEqual({
      waitingFor: "a server that has the set of hooks gone (agentHooks) in its configuration: the one that was asked has not",
    });
    expect(order).toEqual(["template", "agent", "template"]);
  });
});
