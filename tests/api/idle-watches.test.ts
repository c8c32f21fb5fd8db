import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  CreateScheduleDocument,
  DeleteScheduleDocument,
  PauseScheduleDocument,
  ResumeScheduleDocument,
  UnarchiveAgentDocument,
} from "../generated/documents.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

/** A model that reads the files in its first turn, the first of them in its second, and then only says something. */
const reads = (...paths: readonly string[]) =>
  playedModel(
    () => callsWith(...paths.map((path) => ["fs_read", { path }] as const)),
    () => says("Done."),
    () => callsWith(["fs_read", { path: paths[0] ?? "" }]),
    () => says("Done."),
  );

const TEMPLATE = { permission: { mode: "auto" }, watchFiles: "always" } as const;

const changesOf = async (client: TestClient, id: string) =>
  ofType(await client.events(id), "FileChanged").flatMap(({ files }) => files.map(({ path, change }) => `${path} ${change}`));

/** Changes files as another process does. */
const elsewhere = (folder: string, script: string) => promisify(execFile)("sh", ["-c", script], { cwd: folder });

const watched = ({ services }: TestApp): number => services.fileWatches.size;

/** An agent that has read these files, and is idle. */
async function idle(options: TestAppOptions = {}) {
  const model = reads("a.txt", "b.txt");
  const app = await startTestApp({ model, ...options, template: { ...TEMPLATE, ...options.template } });
  for (const name of ["a.txt", "b.txt"]) await writeFile(join(app.workspace, name), "one");
  const client = connect(app.url);
  const agent = await client.createAgent({ workspace: app.workspace });
  await client.turn(agent.id, "go");
  return { app, model, client, agent };
}

it("FILE_CHANGED comes within 2 s for an idle agent whose template always watches, once, and the next step tells the model", async () => {
  const { app, model, client, agent } = await idle();
  await expect.poll(() => watched(app), { timeout: 5_000 }).toBe(2);
  const began = performance.now();
  await elsewhere(app.workspace, "echo two > a.txt");
  await expect.poll(() => changesOf(client, agent.id), { timeout: 5_000, interval: 20 }).toEqual(["a.txt CHANGED"]);
  expect(performance.now() - began).toBeLessThan(2_000);
  await elsewhere(app.workspace, "rm b.txt");
  await expect.poll(() => changesOf(client, agent.id), { timeout: 5_000 }).toEqual(["a.txt CHANGED", "b.txt REMOVED"]);
  expect(model.calls).toHaveLength(2);
  await client.turn(agent.id, "go on");
  expect(JSON.stringify(model.calls[2]?.request.messages)).toContain("not by your file tools: a.txt, b.txt (removed)");
  expect(await changesOf(client, agent.id)).toHaveLength(2);
  // The watch follows the turn, and begins again after it.
  await elsewhere(app.workspace, "echo three > a.txt");
  const three = ["a.txt CHANGED", "b.txt REMOVED", "a.txt CHANGED"];
  await expect.poll(() => changesOf(client, agent.id), { timeout: 5_000 }).toEqual(three);
});

it("an idle agent of another template is not watched", async () => {
  const { app } = await idle({ template: { watchFiles: "atWork" } });
  expect(await app.database.sql.query({ name: "", text: "SELECT id FROM wait" }, [])).toEqual([]);
  await expect.poll(() => watched(app)).toBe(0);
});

it("one server watches, and another one takes over when it closes", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const { app: one, client, agent } = await idle({ database });
  const other = await startTestApp({
    database,
    model: reads("a.txt"),
    template: TEMPLATE,
    config: { workspaceRoots: [one.workspace], defaultWorkspace: one.workspace },
  });
  await expect.poll(() => watched(one) + watched(other), { timeout: 5_000 }).toBe(2);
  await elsewhere(one.workspace, "echo two > a.txt");
  await expect.poll(() => changesOf(client, agent.id), { timeout: 5_000 }).toEqual(["a.txt CHANGED"]);
  const [watching, waiting] = watched(one) > 0 ? [one, other] : [other, one];
  const asks = connect(waiting.url);
  await watching.close();
  await expect.poll(() => watched(waiting), { timeout: 5_000 }).toBe(2);
  await elsewhere(one.workspace, "echo two > b.txt");
  await expect.poll(() => changesOf(asks, agent.id), { timeout: 5_000 }).toEqual(["a.txt CHANGED", "b.txt CHANGED"]);
});

it("an archived agent is not watched until it is back", async () => {
  const { app, client, agent } = await idle();
  await expect.poll(() => watched(app), { timeout: 5_000 }).toBe(2);
  await client.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
  await expect.poll(() => watched(app), { timeout: 10_000 }).toBe(0);
  await client.get(UnarchiveAgentDocument, { input: { agentId: agent.id } });
  await expect.poll(() => watched(app), { timeout: 5_000 }).toBe(2);
});

it("a template that watches no more ends the watch, and a listener may begin a turn for a change", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const { app, client, agent, model } = await idle({
    database,
    config: {
      on: {
        FILE_CHANGED: async (_event, { remind }) => void (await remind({ as: "watcher", text: "Look.", startsTurn: true })),
      },
    },
  });
  await expect.poll(() => watched(app), { timeout: 5_000 }).toBe(2);
  await elsewhere(app.workspace, "echo two > a.txt");
  await expect.poll(() => model.calls.length, { timeout: 5_000 }).toBe(4);
  await client.until(agent.id, "REMINDER_SENT");
  await expect.poll(async () => (await client.agent(agent.id)).state).toBe("READY");
  await app.close();
  const later = await startTestApp({ database, model: reads("a.txt"), template: { ...TEMPLATE, watchFiles: "atWork" } });
  const waits = () => later.database.sql.query({ name: "", text: "SELECT id FROM wait" }, []);
  await expect.poll(waits, { timeout: 5_000 }).toEqual([]);
});

it("a server that does not have the template leaves the watch to those that have it", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const { app: one } = await idle({ database });
  await expect.poll(() => watched(one), { timeout: 5_000 }).toBe(2);
  const folders = { workspaceRoots: [one.workspace], defaultWorkspace: one.workspace };
  const templates = { another: { model: "test", systemPrompt: "x" } };
  const other = await startTestApp({ database, model: reads("a.txt"), config: { ...folders, templates } });
  const { sql } = other.database;
  await one.close();
  // The other one has looked at it, and looks again in 10 s.
  const left = {
    name: "",
    text: "SELECT due BETWEEN policy_time() + interval '7 s' AND policy_time() + interval '10 s' AS \"isLeft\" FROM wait",
  };
  await expect.poll(() => sql.query(left, []), { timeout: 5_000 }).toEqual([{ isLeft: true }]);
  const third = await startTestApp({ database, model: reads("a.txt"), template: TEMPLATE, config: folders });
  await other.close();
  await third.database.sql.query({ name: "", text: "UPDATE wait SET due = policy_time()" }, []);
  await expect.poll(() => watched(third), { timeout: 5_000 }).toBe(2);
});

describe("a schedule of files", () => {
  const create = async (client: TestClient, agentId: string, files: string) =>
    (await client.get(CreateScheduleDocument, { input: { agentId, text: "Check them.", trigger: { files } } })).createSchedule;

  /** The waits of watches that a server keeps. */
  const kept = async ({ database }: TestApp) =>
    (
      await database.sql.query<{ kept: boolean }, []>(
        { name: "", text: "SELECT due > policy_time() + interval '10 s' AS kept FROM wait WHERE kind = 'WATCH'" },
        [],
      )
    ).map((row) => row.kept);

  it("begins a turn of an idle agent when a file that its pattern matches changes, once for several, and once a minute", async () => {
    const model = playedModel(() => says("Checked."));
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await elsewhere(app.workspace, "mkdir -p src/deep node_modules && echo one > src/a.ts");
    const { schedule, userErrors } = await create(client, agent.id, "src/**/*.ts");
    expect(userErrors).toEqual([]);
    expect(schedule).toMatchObject({ trigger: "FILES", spec: "files src/**/*.ts", nextAt: null, nextStep: null });
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([true]);
    await client.until(agent.id, "SCHEDULE_CHANGED");
    await elsewhere(app.workspace, "echo two > src/b.md; echo two > node_modules/c.ts");
    await expect
      .poll(
        async () => {
          await elsewhere(app.workspace, "date +%N > src/a.ts; date +%N > src/deep/d.ts");
          return ofType(await client.events(agent.id), "SchedulerTriggered").length;
        },
        { timeout: 5_000, interval: 500 },
      )
      .toBe(1);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "SchedulerTriggered")).toMatchObject([
      { trigger: "FILES", spec: "files src/**/*.ts", dueAt: null, missed: 0 },
    ]);
    const [sent] = ofType(events, "ReminderSent");
    expect(sent).toMatchObject({ category: "FILE", startsTurn: true, sentBy: { actorId: "local" } });
    expect(sent?.content).toMatch(/^Check them\.\n\n\[Changed files: src\/(a|deep\/d)\.ts(, src\/deep\/d\.ts)?\]$/);

    // The next change is within the minute: it waits.
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([true]);
    await expect.poll(async () => (await client.agent(agent.id)).state).toBe("READY");
    await elsewhere(app.workspace, "echo four > src/a.ts");
    await client.turn(agent.id, "go on");
    expect(ofType(await client.events(agent.id), "SchedulerTriggered")).toHaveLength(1);
    expect(model.calls).toHaveLength(2);
  });

  it("is watched no more when it is paused, and again when it is resumed", async () => {
    const app = await startTestApp({ model: playedModel(() => says("Checked.")) });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const { schedule } = await create(client, agent.id, "*.txt");
    const input = { scheduleId: schedule?.id ?? "" };
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([true]);
    await client.get(PauseScheduleDocument, { input });
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([]);
    expect((await client.get(ResumeScheduleDocument, { input })).resumeSchedule.userErrors).toEqual([]);
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([true]);
    await client.get(DeleteScheduleDocument, { input });
    await expect.poll(() => kept(app), { timeout: 5_000 }).toEqual([]);
  });

  it("triggers once if two servers have the folder", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const model = playedModel(() => says("Checked."));
    const one = await startTestApp({ database, model });
    await startTestApp({ database, model, config: { workspaceRoots: [one.workspace], defaultWorkspace: one.workspace } });
    const client = connect(one.url);
    const agent = await client.createAgent({ workspace: one.workspace });
    await create(client, agent.id, "*.txt");
    await expect.poll(() => kept(one), { timeout: 5_000 }).toEqual([true]);
    const count = async () => ofType(await client.events(agent.id), "SchedulerTriggered").length;
    await expect
      .poll(
        async () => {
          await elsewhere(one.workspace, "date +%N > a.txt");
          return count();
        },
        { timeout: 5_000, interval: 500 },
      )
      .toBe(1);
    await client.until(agent.id, "DONE");
    expect(await count()).toBe(1);
  });
});
