import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Acted, Listeners } from "../../src/triplane.ts";
import type { CommandRefusal } from "../../src/agent/actors/actor.ts";
import type { Result } from "../../src/lib/result.ts";
import { ArchiveAgentDocument } from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { calls, callsWith, hangsAfter, playedModel, says } from "../support/models.ts";
import { ACTORS, approvalOf, office } from "../support/office.ts";
import { ownTool } from "../support/tools.ts";
import { rowId } from "../../src/lib/global-id.ts";

type Answer = Result<Acted, CommandRefusal>;

/** Deliveries that are tried again soon. */
const SOON = { consumerTimes: { leaseMs: 30_000, sweepMs: 200, firstRetryMs: 10, lastRetryMs: 50 } };

/** A server with these listeners, whose model says something to each message. */
async function listening(on: Listeners, options: TestAppOptions = {}) {
  const app = await startTestApp({
    model: playedModel(() => says("Done.")),
    overrides: SOON,
    ...options,
    config: { on, ...options.config },
  });
  const client = connect(app.url);
  return { app, client, agent: await client.createAgent() };
}

const codeOf = (answer: Answer | undefined): string | null => (answer === undefined || answer.ok ? null : answer.refusal.code);

it("a listener of FILE_CHANGED reminds the agent to check types (S1 4.3, example 4)", async () => {
  const text = "检测到 TypeScript 文件变更，建议运行类型检查";
  const on: Listeners = {
    FILE_CHANGED: async ({ files }, { remind }) => {
      if (files.some(({ path }) => path?.endsWith(".ts"))) await remind({ as: "type-checker", text, category: "FILE" });
    },
  };
  const reminded = Promise.withResolvers<void>();
  const wait = ownTool("wait", async () => ({ output: String(await reminded.promise), details: null }));
  const model = playedModel(
    () => callsWith(["fs_read", { path: "a.ts" }], ["fs_read", { path: "b.md" }]),
    () => calls("wait"),
    () => says("I check them."),
  );
  const { app, client, agent } = await listening(on, {
    model,
    config: { tools: [wait] },
    template: { permission: { mode: "auto" } },
  });
  for (const name of ["a.ts", "b.md"]) await writeFile(join(app.workspace, name), "one");
  await client.send(agent.id, "go");
  await expect.poll(() => model.calls.length).toBe(2);
  await client.until(agent.id, "TOOL_EXECUTED");
  await promisify(execFile)("sh", ["-c", "echo two > b.md; echo two > a.ts"], { cwd: app.workspace });
  const [sent] = ofType(await client.until(agent.id, "REMINDER_SENT"), "ReminderSent");
  expect(sent).toMatchObject({
    content: text,
    category: "FILE",
    startsTurn: false,
    sentBy: { actorId: "type-checker", kind: "SERVICE" },
  });
  reminded.resolve();
  await client.until(agent.id, "DONE");
  expect(JSON.stringify(model.calls[2]?.request.messages)).toContain(`<system-reminder>\\n${text}\\n</system-reminder>`);
});

describe("a listener", () => {
  it("sends a message, once, however often the event is delivered", async () => {
    const answers: Answer[] = [];
    const on: Listeners = {
      AGENT_CREATED: async (_event, { send }) => {
        answers.push(await send({ as: "greeter", text: "Begin." }));
        if (answers.length < 3) throw new Error("the listener fails after its action");
      },
    };
    const { client, agent } = await listening(on);
    await expect.poll(() => answers.length, { timeout: 5_000 }).toBe(3);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "MessageReceived")).toMatchObject([{ text: "Begin.", sentBy: { actorId: "greeter" } }]);
    expect(new Set(answers.map((answer) => (answer.ok ? answer.value.messageId : null))).size).toBe(1);
  });

  it("takes one action for an event: another one, or one under another name, is refused", async () => {
    const answers = Promise.withResolvers<Answer[]>();
    const on: Listeners = {
      AGENT_CREATED: async (_event, { remind, send, interrupt }) =>
        answers.resolve([
          await remind({ as: "one", text: "Look." }),
          await remind({ as: "one", text: "Look." }),
          await remind({ as: "two", text: "Look." }),
          await remind({ as: "one", text: "Look again." }),
          await send({ as: "one", text: "Look." }),
          await interrupt({ as: "one" }),
        ]),
    };
    const { client, agent } = await listening(on);
    const reused = "IDEMPOTENCY_KEY_REUSED";
    expect((await answers.promise).map(codeOf)).toEqual([null, null, reused, reused, reused, reused]);
    expect(ofType(await client.events(agent.id), "ReminderSent")).toHaveLength(1);
  });

  it("interrupts the turn of the event, and no later one when the event is delivered again", async () => {
    const answers: Answer[] = [];
    const again = Promise.withResolvers<void>();
    const on: Listeners = {
      TEXT_CHUNK_START: async ({ step }, { interrupt }) => {
        if (step > 1) return;
        answers.push(await interrupt({ as: "guard", note: "Stop." }));
        if (answers.length === 1) {
          await again.promise;
          throw new Error("the listener fails after its action");
        }
      },
    };
    const model = playedModel(
      () => hangsAfter("I begin"),
      () => hangsAfter("I begin again"),
    );
    const { client, agent } = await listening(on, { model });
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(ofType(events, "InterruptRequested")).toMatchObject([
      { note: "Stop.", requestedBy: { actorId: "guard", kind: "SERVICE" } },
    ]);
    await client.send(agent.id, "again");
    await expect.poll(() => model.calls.length).toBe(2);
    again.resolve();
    await expect.poll(() => answers.length, { timeout: 5_000 }).toBe(2);
    expect(ofType(await client.events(agent.id), "InterruptRequested")).toHaveLength(1);
    expect((await client.agent(agent.id)).state).toBe("WORKING");
  });

  it("that interrupts an idle agent interrupts none of its later turns, either", async () => {
    let answers = 0;
    const turn = Promise.withResolvers<void>();
    const on: Listeners = {
      AGENT_CREATED: async (_event, { interrupt }) => {
        await interrupt({ as: "guard" });
        answers += 1;
        if (answers > 1) return;
        await turn.promise;
        throw new Error("the listener fails after its action");
      },
    };
    const { client, agent } = await listening(on, { model: playedModel(() => hangsAfter("I begin")) });
    await expect.poll(() => answers).toBe(1);
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK_START");
    turn.resolve();
    await expect.poll(() => answers, { timeout: 5_000 }).toBe(2);
    expect(ofType(await client.events(agent.id), "InterruptRequested")).toEqual([]);
  });

  it("acts on other agents of the tenant, but on none of another tenant, and on no archived one", async () => {
    const answers: Record<string, string | null> = {};
    const targets = { own: "", others: "", archived: "" };
    const on: Listeners = {
      AGENT_RENAMED: async ({ title }, { send }) => {
        for (const [name, agentId] of Object.entries(targets))
          if (name === title) answers[name] = codeOf(await send({ as: "bot", agentId, text: "Hello." }));
      },
    };
    const app = await startTestApp({ config: { ...NEIGHBOURS, on }, overrides: SOON });
    const anna = connect(app.url, "anna-token");
    const zoe = connect(app.url, "zoe-token");
    const [first, own, archived, others] = await Promise.all([anna, anna, anna, zoe].map(async (each) => each.createAgent()));
    await anna.get(ArchiveAgentDocument, { input: { agentId: archived?.id ?? "" } });
    const row = (id = ""): string => rowId("Agent", id);
    Object.assign(targets, { own: row(own?.id), others: row(others?.id), archived: row(archived?.id) });
    for (const title of Object.keys(targets))
      await anna.post({
        query: `mutation { renameAgent(input: { agentId: "${first?.id ?? ""}", title: "${title}" }) { userErrors { code } } }`,
      });
    await expect.poll(() => answers, { timeout: 5_000 }).toEqual({ own: null, others: "NOT_FOUND", archived: "ARCHIVED" });
    expect(textOf(await anna.until(own?.id ?? "", "DONE"))).toBe("Hello.");
    expect(ofType(await zoe.events(others?.id ?? ""), "MessageReceived")).toEqual([]);
  });

  it("counts as a requester: it does not decide on what its message asked for", async () => {
    const refused = Promise.withResolvers<string | null>();
    const on: Listeners = {
      AGENT_CREATED: async (_event, { send }) => void (await send({ as: "bot", text: "write a.txt" })),
      PERMISSION_REQUIRED: async ({ request: { approvalId, inputHash } }, { decide }) => {
        const decided = await decide({ as: "bot", approvalId, decision: "ALLOW", inputHash });
        refused.resolve(decided.ok ? null : decided.refusal.code);
      },
    };
    const { as } = await office({}, { config: { ...ACTORS, on }, overrides: SOON });
    const agent = await as("anna").createAgent();
    const [asked] = ofType(await as("anna").until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approval = await approvalOf(as("paul"), asked?.request.approvalId ?? "");
    expect(approval.requestedBy).toEqual([{ actorId: "bot" }]);
    expect(await refused.promise).toBe("SELF_APPROVAL");
  });

  it("acts under a name: without one it throws", async () => {
    const message = Promise.withResolvers<string>();
    const on: Listeners = {
      AGENT_CREATED: async (_event, { remind }) => {
        await remind({ as: " ", text: "Look." }).catch((error: unknown) => message.resolve(String(error)));
      },
    };
    await listening(on);
    expect(await message.promise).toContain("a listener acts under a name");
  });
});
