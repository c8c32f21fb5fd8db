import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  CreateScheduleDocument,
  DeleteScheduleDocument,
  ForkAgentDocument,
  PauseScheduleDocument,
  ResumeScheduleDocument,
  SchedulesDocument,
  UnarchiveAgentDocument,
  type CreateScheduleInput,
} from "../generated/documents.ts";
import type { Model } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { calls, callsWith, playedModel, says } from "../support/models.ts";
import { approvalOf, ask, inbox, office } from "../support/office.ts";
import { ownTool } from "../support/tools.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const create = async (client: TestClient, input: CreateScheduleInput) =>
  (await client.get(CreateScheduleDocument, { input })).createSchedule;

const schedulesOf = async (client: TestClient, id: string) =>
  (await client.get(SchedulesDocument, { id })).agent?.schedules ?? [];

/** The events of this kind of an agent, once there are so many. */
async function triggered(client: TestClient, agentId: string, count: number) {
  const read = async () => ofType(await client.events(agentId), "SchedulerTriggered");
  await expect.poll(async () => (await read()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  return read();
}

/** A server whose time of the database the test moves on, in ms from now. */
async function scheduling(options: TestAppOptions = {}) {
  const app = await startTestApp({ model: playedModel(() => says("Done.")), ...options });
  const client = connect(app.url);
  const agent = await client.createAgent();
  const pass = (ms: number): Promise<void> => setPolicyTime(app.database.sql, `statement_timestamp() + interval '${ms} ms'`);
  return { app, client, agent, pass };
}

const waitsOf = ({ database }: TestApp) =>
  database.sql.query<{ due: Date | null }, []>(
    { name: "", text: "SELECT due FROM wait WHERE kind = 'SCHEDULE' ORDER BY id" },
    [],
  );

describe("createSchedule", () => {
  it("sends a reminder at a time, which begins a turn, and is over", async () => {
    const model = playedModel(() => says("I looked."));
    const { app, client, agent, pass } = await scheduling({ model });
    const at = new Date(Date.now() + HOUR).toISOString();
    const made = await create(client, { agentId: agent.id, text: "Look at the tests.", trigger: { at } });
    expect(made).toMatchObject({
      userErrors: [],
      schedule: {
        trigger: "TIME",
        spec: `at ${at}`,
        nextAt: at,
        missed: "ONCE",
        createdBy: { actorId: "local" },
        triggerCount: 0,
      },
    });
    await pass(HOUR);
    const events = await client.until(agent.id, "DONE");
    const taskId = made.schedule?.id ?? "";
    expect(ofType(events, "SchedulerTriggered")).toMatchObject([
      { channel: "MONITOR", taskId, spec: `at ${at}`, trigger: "TIME", dueAt: at, missed: 0, schedule: null },
    ]);
    expect(ofType(events, "ReminderSent")).toMatchObject([
      { content: "Look at the tests.", startsTurn: true, sentBy: { actorId: "local" } },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ turn: 1, reason: "COMPLETED", messageIds: [] }]);
    expect(ofType(events, "ScheduleChanged")).toMatchObject([
      { scheduleChange: "CREATED", changedBy: { actorId: "local" } },
      { scheduleChange: "ENDED", changedBy: { kind: "SYSTEM" } },
    ]);
    expect(JSON.stringify(model.calls[0]?.request.messages)).toContain(
      "<system-reminder>\\nLook at the tests.\\n</system-reminder>",
    );
    expect(await schedulesOf(client, agent.id)).toEqual([]);
    expect(await waitsOf(app)).toEqual([]);
  });

  it("sends reminders each interval, and says once how many were missed while no server looked", async () => {
    const { client, agent, pass } = await scheduling();
    const { schedule } = await create(client, { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } });
    const first = Date.parse(String(schedule?.nextAt));
    await pass(HOUR);
    await triggered(client, agent.id, 1);
    await client.until(agent.id, "DONE");
    await pass(6 * HOUR + MINUTE);
    const [, late] = await triggered(client, agent.id, 2);
    expect(late).toMatchObject({ trigger: "INTERVAL", missed: 4, dueAt: new Date(first + 5 * HOUR).toISOString() });
    const events = await client.until(agent.id, "DONE", late?.cursor);
    expect(events.at(-1)).toMatchObject({ reason: "COMPLETED" });
    expect(ofType(await client.events(agent.id), "ReminderSent").map(({ content }) => content)).toEqual([
      "Look.",
      "Look.\n\n[4 earlier times of this schedule were missed.]",
    ]);
    expect(await schedulesOf(client, agent.id)).toMatchObject([
      { triggerCount: 2, nextAt: new Date(first + 6 * HOUR).toISOString() },
    ]);
  });

  it("by cron sends at the wall clock's time, and skips or makes up what was missed", async () => {
    const { client, agent, pass } = await scheduling();
    const cron = { cron: "0 9 * * *", timeZone: "Europe/Berlin" };
    const skip = await create(client, { agentId: agent.id, text: "skip", trigger: cron, missed: "SKIP" });
    const all = await create(client, { agentId: agent.id, text: "all", trigger: cron, missed: "ALL" });
    expect(skip.schedule).toMatchObject({ trigger: "CRON", spec: "0 9 * * * (Europe/Berlin)" });
    const next = Date.parse(String(skip.schedule?.nextAt));
    expect(new Date(next).toLocaleString("en", { timeZone: "Europe/Berlin", hour: "numeric", minute: "2-digit" })).toBe(
      "9:00 AM",
    );
    await pass(next - Date.now() + 3.5 * 24 * HOUR);
    const four = await triggered(client, agent.id, 4);
    expect(four.map(({ taskId }) => taskId)).toEqual(Array.from({ length: 4 }, () => all.schedule?.id));
    expect(four.map(({ missed }) => missed)).toEqual([0, 0, 0, 0]);
    expect(new Set(four.map(({ dueAt }) => dueAt)).size).toBe(4);
    await expect
      .poll(async () => (await schedulesOf(client, agent.id)).map(({ triggerCount, nextAt }) => [triggerCount, nextAt]))
      .toEqual([
        [0, expect.any(String)],
        [4, expect.any(String)],
      ]);
  });

  it("by steps joins the step, with no turn of its own", async () => {
    const look = ownTool("look", () => ({ output: "seen", details: null }));
    const model = playedModel(
      () => calls("look"),
      () => calls("look"),
      () => calls("look"),
      () => says("Done."),
    );
    const { client, agent } = await scheduling({ model, config: { tools: [look] } });
    const { schedule } = await create(client, { agentId: agent.id, text: "Take stock.", trigger: { everySteps: 2 } });
    expect(schedule).toMatchObject({ trigger: "STEPS", spec: "every 2 steps", nextAt: null, nextStep: 2 });
    const events = await client.turn(agent.id, "go");
    expect(ofType(events, "SchedulerTriggered")).toMatchObject([
      { trigger: "STEPS", dueAt: null, missed: 0 },
      { trigger: "STEPS", dueAt: null, missed: 0 },
    ]);
    const counts = model.calls.map(({ request }) => JSON.stringify(request.messages).split("Take stock.").length - 1);
    expect(counts).toEqual([0, 1, 1, 2]);
    expect(await schedulesOf(client, agent.id)).toMatchObject([{ triggerCount: 2, nextStep: 6 }]);
    expect(ofType(events, "Done")).toMatchObject([{ messageIds: [expect.any(String)] }]);
  });

  it("refuses wrong triggers, agents of others, archived agents, long texts and used keys", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    const refusal = async (client: TestClient, input: Partial<CreateScheduleInput>) => {
      const given = { agentId: agent.id, text: "text", trigger: { everySteps: 3 }, ...input };
      return (await create(client, given)).userErrors.map(({ code, field }) => [code, ...(field ?? [])].join(" "));
    };
    expect(await refusal(anna, { trigger: {} })).toEqual(["INVALID trigger"]);
    expect(await refusal(anna, { trigger: { everyMs: 1 } })).toEqual(["INVALID trigger everyMs"]);
    expect(await refusal(anna, { trigger: { everyMs: 1e300 } })).toEqual(["INVALID trigger everyMs"]);
    expect(await refusal(anna, { trigger: { at: "2020-01-01T00:00:00Z" } })).toEqual(["INVALID trigger at"]);
    expect(await refusal(anna, { trigger: { cron: "0 9 * * *" } })).toEqual(["INVALID trigger timeZone"]);
    expect(await refusal(anna, { trigger: { cron: "x", timeZone: "UTC" } })).toEqual(["INVALID trigger cron"]);
    expect(await refusal(anna, { text: " " })).toEqual(["INVALID text"]);
    expect(await refusal(anna, { text: "x".repeat(8 * 1024 + 1) })).toEqual(["TOO_LARGE text"]);
    for (const who of ["zoe", "ben"]) expect(await refusal(connect(app.url, `${who}-token`), {})).toEqual(["NOT_FOUND agentId"]);
    expect(await refusal(connect(app.url, "vera-token"), {})).toEqual(["FORBIDDEN agentId"]);
    for (const trigger of ["1", "[]", "null", `{ everySteps: "x" }`, `{ at: 5 }`, `{ cron: ["*"] }`]) {
      const query = `mutation { createSchedule(input: { agentId: "${agent.id}", text: "x", trigger: ${trigger} }) { userErrors { code } } }`;
      expect((await anna.post({ query })).errors).not.toEqual([]);
    }

    const given = { agentId: agent.id, text: "once", trigger: { everySteps: 3 }, idempotencyKey: "key" };
    const once = await create(anna, given);
    const again = await create(anna, given);
    expect(again.schedule?.id).toBe(once.schedule?.id);
    expect(await refusal(anna, { text: "other", idempotencyKey: "key" })).toEqual(["IDEMPOTENCY_KEY_REUSED idempotencyKey"]);
    const many = await Promise.all(Array.from({ length: 24 }, async () => refusal(anna, {})));
    expect(many.filter((codes) => codes.length === 0)).toHaveLength(19);
    expect(new Set(many.flat())).toEqual(new Set(["TOO_LARGE agentId"]));
    const input = { scheduleId: once.schedule?.id ?? "" };
    for (const who of ["zoe", "ben", "vera"]) {
      const other = connect(app.url, `${who}-token`);
      const code = who === "vera" ? "FORBIDDEN" : "NOT_FOUND";
      expect((await other.get(PauseScheduleDocument, { input })).pauseSchedule.userErrors).toMatchObject([{ code }]);
      expect((await other.get(ResumeScheduleDocument, { input })).resumeSchedule.userErrors).toMatchObject([{ code }]);
      expect((await other.get(DeleteScheduleDocument, { input })).deleteSchedule.userErrors).toMatchObject([{ code }]);
      const node = await other.post<{ node: object | null }>({ query: `{ node(id: "${input.scheduleId}") { id } }` });
      expect(node.data?.node === null).toBe(who !== "vera");
    }
    await anna.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    expect(await refusal(anna, {})).toEqual(["ARCHIVED agentId"]);
  });
});

describe("a paused schedule", () => {
  it("sends nothing, and after its resumption nothing for the times that have passed", async () => {
    const { app, client, agent, pass } = await scheduling();
    const { schedule } = await create(client, { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } });
    const input = { scheduleId: schedule?.id ?? "" };
    const paused = (await client.get(PauseScheduleDocument, { input })).pauseSchedule;
    expect(paused).toMatchObject({ userErrors: [], schedule: { pausedAt: expect.any(String), nextAt: null } });
    expect((await client.get(PauseScheduleDocument, { input })).pauseSchedule.userErrors).toEqual([]);
    expect(await waitsOf(app)).toEqual([{ due: null }]);
    await pass(10 * HOUR);
    const resumed = (await client.get(ResumeScheduleDocument, { input })).resumeSchedule;
    const nextAt = Date.parse(String(resumed.schedule?.nextAt));
    expect(nextAt - Date.now()).toBeGreaterThan(10.9 * HOUR);
    expect(ofType(await client.events(agent.id), "SchedulerTriggered")).toEqual([]);
    await pass(11 * HOUR + MINUTE / 2);
    expect(await triggered(client, agent.id, 1)).toMatchObject([{ missed: 0 }]);
    expect(ofType(await client.events(agent.id), "ScheduleChanged").map(({ scheduleChange }) => scheduleChange)).toEqual([
      "CREATED",
      "PAUSED",
      "RESUMED",
    ]);
  });

  it("of a time that has passed is not resumed, and of steps counts anew", async () => {
    const { client, agent, pass } = await scheduling();
    const at = new Date(Date.now() + HOUR).toISOString();
    const once = await create(client, { agentId: agent.id, text: "Look.", trigger: { at } });
    const steps = await create(client, { agentId: agent.id, text: "Look.", trigger: { everySteps: 2 } });
    const inputs = [once, steps].map(({ schedule }) => ({ scheduleId: schedule?.id ?? "" }));
    for (const input of inputs) await client.get(PauseScheduleDocument, { input });
    await pass(2 * HOUR);
    const results = await Promise.all(
      inputs.map(async (input) => (await client.get(ResumeScheduleDocument, { input })).resumeSchedule),
    );
    expect(results).toMatchObject([{ userErrors: [{ code: "INVALID", field: ["scheduleId"] }] }, { userErrors: [] }]);
    await client.turn(agent.id, "one step");
    expect(await schedulesOf(client, agent.id)).toMatchObject([{ nextStep: null }, { nextStep: 2, triggerCount: 0 }]);
  });
});

it("a deleted schedule sends nothing, and is not found again", async () => {
  const { app, client, agent, pass } = await scheduling();
  const { schedule } = await create(client, { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } });
  const input = { scheduleId: schedule?.id ?? "" };
  expect((await client.get(DeleteScheduleDocument, { input })).deleteSchedule).toMatchObject({ userErrors: [], schedule: null });
  expect((await client.get(DeleteScheduleDocument, { input })).deleteSchedule.userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
  expect(await waitsOf(app)).toEqual([]);
  await pass(2 * HOUR);
  const later = await create(client, { agentId: agent.id, text: "Later.", trigger: { everyMs: HOUR } });
  await pass(3 * HOUR + MINUTE / 2);
  expect(await triggered(client, agent.id, 1)).toMatchObject([{ taskId: later.schedule?.id }]);
});

describe("an agent with a schedule", () => {
  it("that is busy gets the reminder with its next step, and one only while it waits", async () => {
    const release = Promise.withResolvers<void>();
    const holds = ownTool("holds", async () => ({ output: String(await release.promise), details: null }));
    const model = playedModel(
      () => calls("holds"),
      () => says("Done."),
    );
    const { client, agent, pass } = await scheduling({ model, config: { tools: [holds] } });
    await create(client, { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } });
    await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    await pass(HOUR);
    await triggered(client, agent.id, 1);
    await pass(4 * HOUR + MINUTE / 2);
    await expect
      .poll(async () =>
        (await schedulesOf(client, agent.id)).map(({ nextAt }) => Date.parse(String(nextAt)) - Date.now() > 4 * HOUR),
      )
      .toEqual([true]);
    release.resolve();
    const done = await client.until(agent.id, "DONE");
    expect(ofType(done, "SchedulerTriggered")).toHaveLength(1);
    expect(ofType(done, "Done")).toMatchObject([{ turn: 1 }]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain("Look.");
    await pass(5 * HOUR + MINUTE / 2);
    expect((await triggered(client, agent.id, 2)).at(-1)).toMatchObject({ missed: 3 });
  });

  it("that waits for an approval reads the reminder after the decision; its maker is a requester", async () => {
    const { app, as } = await office();
    const { agent, approvalId } = await ask(as("anna"), "write a.txt");
    await create(as("ada"), { agentId: agent, text: "hello", trigger: { everyMs: HOUR } });
    await setPolicyTime(app.database.sql, `statement_timestamp() + interval '${HOUR} ms'`);
    await triggered(as("anna"), agent, 1);
    const { inputHash } = await approvalOf(as("paul"), approvalId);
    await as("paul").decide({ approvalId, decision: "ALLOW", inputHash });
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ turn: 1, messageIds: [expect.any(String)] }]);

    // The turn that a schedule begins was asked for by its maker.
    const other = await as("anna").createAgent();
    await create(as("ada"), { agentId: other.id, text: "write b.txt", trigger: { everyMs: HOUR } });
    await setPolicyTime(app.database.sql, `statement_timestamp() + interval '${2 * HOUR + MINUTE} ms'`);
    const [asked] = ofType(await as("anna").until(other.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approval = await approvalOf(as("ada"), asked?.request.approvalId ?? "");
    expect(approval.requestedBy.map(({ actorId }) => actorId)).toEqual(["ada"]);
    const decision = { approvalId: approval.id, decision: "ALLOW", inputHash: asked?.request.inputHash ?? "" } as const;
    expect((await as("ada").decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect((await as("anna").decide(decision)).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    expect((await as("paul").decide(decision)).userErrors).toEqual([]);
  });

  it("makes the maker of a schedule of steps a requester of the turn", async () => {
    const { as } = await office();
    const agent = await as("anna").createAgent();
    await create(as("ada"), { agentId: agent.id, text: "write a.txt", trigger: { everySteps: 1 } });
    const { approvalId, inputHash } = await ask(as("anna"), "Do it.", agent.id);
    const approval = await approvalOf(as("ada"), approvalId);
    expect(approval.requestedBy.map(({ actorId }) => actorId).toSorted()).toEqual(["ada", "anna"]);
    for (const person of ["ada", "anna"]) expect(await inbox(as("ada"), { requestedBy: [person] }), person).toHaveLength(1);
    // The rights of the reader hold with the filter, too.
    expect(await inbox(as("ulf"), { requestedBy: ["ada"] })).toEqual([]);
    const decision = { approvalId, decision: "ALLOW", inputHash } as const;
    expect((await as("ada").decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
  });

  it("that is archived gets nothing, and once it is back nothing for the times until then", async () => {
    const { app, client, agent, pass } = await scheduling();
    await create(client, { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } });
    await client.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    expect(await waitsOf(app)).toEqual([{ due: null }]);
    await pass(10 * HOUR + MINUTE);
    await client.get(UnarchiveAgentDocument, { input: { agentId: agent.id } });
    await expect
      .poll(async () =>
        (await schedulesOf(client, agent.id)).map(({ nextAt }) => Date.parse(String(nextAt)) - Date.now() > 10.5 * HOUR),
      )
      .toEqual([true]);
    expect(ofType(await client.events(agent.id), "SchedulerTriggered")).toEqual([]);
    await pass(11 * HOUR + MINUTE / 2);
    expect(await triggered(client, agent.id, 1)).toMatchObject([{ missed: 0 }]);
  });

  it("has a full queue: the time stays due until there is room", async () => {
    const release = Promise.withResolvers<void>();
    const holds = ownTool("holds", async () => ({ output: String(await release.promise), details: null }));
    const model = playedModel(
      () => calls("holds"),
      () => says("Done."),
    );
    const { app, client, agent, pass } = await scheduling({ model, config: { tools: [holds] } });
    const at = new Date(Date.now() + HOUR).toISOString();
    await create(client, { agentId: agent.id, text: "Look.", trigger: { at } });
    await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    const remind = `mutation { remindAgent(input: { agentId: "${agent.id}", text: "x", startsTurn: true }) { userErrors { code } } }`;
    for (let n = 0; n < 50; n += 1) await client.post({ query: remind });
    await pass(HOUR);
    // A look has found the queue full, and looks again in a minute.
    await expect.poll(async () => (await waitsOf(app))[0]?.due?.getTime()).toBeGreaterThan(Date.now() + HOUR + MINUTE / 2);
    expect(ofType(await client.events(agent.id), "SchedulerTriggered")).toEqual([]);
    release.resolve();
    await client.until(agent.id, "DONE");
    await pass(HOUR + 2 * MINUTE);
    expect(await triggered(client, agent.id, 1)).toMatchObject([{ dueAt: at }]);
  });

  it("is forked without it", async () => {
    const { client, agent } = await scheduling();
    await client.turn(agent.id, "go");
    await create(client, { agentId: agent.id, text: "Look.", trigger: { everySteps: 1 } });
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: agent.id } });
    expect(await schedulesOf(client, forkAgent.agent?.id ?? "")).toEqual([]);
  });
});

describe("the schedules of a template", () => {
  const schedules: TemplateConfig["schedules"] = [
    { text: "Look.", trigger: { everyMs: HOUR }, missed: "SKIP" },
    { text: "Take stock.", trigger: { everySteps: 5 } },
  ];

  it("are those with which its agents begin, made by the agent's creator", async () => {
    const { client, agent, pass } = await scheduling({ template: { schedules } });
    expect(await schedulesOf(client, agent.id)).toMatchObject([
      { text: "Look.", spec: `every ${HOUR} ms`, missed: "SKIP", isOfTemplate: true, createdBy: { actorId: "local" } },
      { text: "Take stock.", spec: "every 5 steps", missed: "ONCE", isOfTemplate: true, nextStep: 5 },
    ]);
    await pass(HOUR);
    await triggered(client, agent.id, 1);
  });

  it("are checked with the configuration", async () => {
    const wrong = [
      { text: "", trigger: { everySteps: 1 } },
      { text: "x", trigger: {} },
      { text: "x", trigger: { everyMs: 5 } },
      { text: "x", trigger: { cron: "0 9 * * *", timeZone: "Mars" } },
    ];
    for (const schedule of wrong)
      await expect(startTestApp({ template: { schedules: [schedule] } })).rejects.toThrow(/templates\.assistant\.schedules\.0/);
  });
});

it("a child that a call starts has no schedules of its template", async () => {
  const task = { description: "count", prompt: "Count.", agentTemplateId: "worker" };
  const lead = playedModel(
    () => callsWith(["task_run", task]),
    () => says("End."),
  );
  const model: Model = {
    ...lead,
    stream: (request, ...rest) => (request.system === "worker" ? says("Three.") : lead.stream(request, ...rest)),
  };
  const templates: Record<string, TemplateConfig> = {
    assistant: { systemPrompt: "lead", model: "test", subagents: { templates: ["worker"] } },
    worker: { systemPrompt: "worker", model: "test", schedules: [{ text: "Look.", trigger: { everySteps: 1 } }] },
  };
  const { app, client, agent } = await scheduling({ model, config: { templates } });
  const events = await client.turn(agent.id, "go");
  expect(ofType(events, "AgentReturned")).toHaveLength(1);
  expect(await app.database.sql.query({ name: "", text: "SELECT id FROM schedule" }, [])).toEqual([]);
});
