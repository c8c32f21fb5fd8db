import { execFile, spawnSync } from "node:child_process";
import { mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import type { Sql } from "../../src/db/sql.ts";
import { ForkAgentDocument } from "../generated/documents.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { runUnwatching } from "../support/process.ts";
import { aroundWrites } from "../support/writes.ts";

type Made = readonly [name: string, input: object];

const read = (path: string): Made => ["fs_read", { path }];
const write = (path: string, content: string): Made => ["fs_write", { path, content }];
const LOOK: Made = ["fs_glob", { pattern: "nothing" }];

/** The model's answer in one step: a call, several, or null where the turn ends, when something has happened. */
type Answer = Made | { readonly all: readonly Made[] } | null;
type Step = Answer | ((app: TestApp) => Promise<Answer>);

/** A server whose model does these things, a step each, and the notes on files that the model had read at each of them. */
async function serverWith(steps: readonly Step[], options: TestAppOptions = {}) {
  const notes: string[][] = [];
  const running: { app: TestApp | null } = { app: null };
  const players = steps.map((step) => (request: ModelRequest): AsyncIterable<ModelEvent> => {
    notes.push(notesOf(request));
    return played(async () => (typeof step === "function" && running.app !== null ? step(running.app) : (step as Answer)));
  });
  const app = await startTestApp({
    model: playedModel(...players),
    ...options,
    template: { permission: { mode: "auto" }, ...options.template },
  });
  running.app = app;
  return { app, notes, client: connect(app.url), workspace: app.workspace };
}

async function* played(step: () => Promise<Answer>): AsyncIterable<ModelEvent> {
  const made = await step();
  yield* made === null ? says("Done.") : callsWith(...("all" in made ? made.all : [made]));
}

/** The notes on changed files in what a model was given. */
function notesOf({ messages }: ModelRequest): string[] {
  const texts = messages.flatMap(({ content }) => content).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.filter((text) => text.includes("not by your file tools"));
}

/** Changes files as another process does. */
async function elsewhere(folder: string, script: string): Promise<void> {
  await promisify(execFile)("sh", ["-c", script], { cwd: folder });
}

async function knownFilesOf(client: TestClient, agentId: string) {
  return (await client.agent(agentId)).knownFiles.nodes;
}

const noteOn = (names: string): RegExp =>
  new RegExp(
    `^\\[Th\\S+ files? w\\S+ changed since you last read or wrote \\S+, and not by your file tools: ${names}\\. Read a file again`,
  );

describe("FILE_CHANGED", () => {
  it("comes while a step is under way, and the model is told when its next step begins, once", async () => {
    const { app, notes, client, workspace } = await serverWith([
      read("a.txt"),
      async ({ workspace: folder }) => {
        await elsewhere(folder, "echo three > a.txt");
        await changed.promise;
        return LOOK;
      },
      LOOK,
      null,
    ]);
    const changed = Promise.withResolvers<void>();
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const [event] = ofType(await client.until(agent.id, "FILE_CHANGED"), "FileChanged");
    expect(event).toMatchObject({
      channel: "MONITOR",
      fileCount: 1,
      files: [{ path: "a.txt", change: "CHANGED", bytes: 6, modifiedAt: expect.stringMatching(/^\d{4}-/) }],
    });
    expect(await knownFilesOf(client, agent.id)).toMatchObject([{ path: "a.txt", change: "CHANGED", changeToldAt: null }]);
    changed.resolve();
    await client.until(agent.id, "DONE");
    expect(notes).toEqual([[], [], [expect.stringMatching(noteOn("a\\.txt"))], [expect.anything()]]);
    const [known] = await knownFilesOf(client, agent.id);
    expect(known).toMatchObject({ change: "CHANGED", changeToldAt: expect.stringMatching(/^\d{4}-/) });
    expect(ofType(await client.events(agent.id), "FileChanged")).toHaveLength(1);
    await app.close();
    expect(app.services.fileWatches.size).toBe(0);
  });

  it("is told once, as it is by then, where a file changes twice before the model is told", async () => {
    const { notes, client, workspace } = await serverWith([
      read("a.txt"),
      async ({ workspace: folder }) => {
        await elsewhere(folder, "echo three > a.txt");
        await client.until(agent.id, "FILE_CHANGED");
        await elsewhere(folder, "rm a.txt");
        await expect.poll(async () => ofType(await client.events(agent.id), "FileChanged").length).toBe(2);
        return LOOK;
      },
      LOOK,
      null,
    ]);
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(notes).toEqual([[], [], [expect.stringMatching(noteOn("a\\.txt \\(removed\\)"))], [expect.anything()]]);
    expect(await knownFilesOf(client, agent.id)).toMatchObject([{ change: "REMOVED", changeToldAt: expect.any(String) }]);
  });

  it("is told by a step that begins while the commit of the find is under way", async () => {
    const begun = Promise.withResolvers<void>();
    const waits = defineTool<Record<string, never>>({
      name: "waits",
      description: "Ends when a change is about to be stored.",
      readOnly: true,
      inputSchema: { type: "object", required: [], properties: {} },
      run: async () => {
        await begun.promise;
        return { output: "", details: null };
      },
    });
    const slowly = (sql: Sql): Sql =>
      aroundWrites(sql, async ({ change }, write) => {
        if (change === null || !("notices" in change)) return write();
        begun.resolve();
        await delay(300);
        return write();
      });
    const change = async ({ workspace: folder }: TestApp): Promise<Made> => {
      await elsewhere(folder, "echo three > a.txt");
      return ["waits", {}];
    };
    const { notes, client, workspace } = await serverWith([read("a.txt"), change, null], {
      config: { tools: [waits] },
      overrides: { sql: (sql, purpose) => (purpose === "commits" ? slowly(sql) : sql) },
    });
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(notes).toEqual([[], [], [expect.stringMatching(noteOn("a\\.txt"))]]);
  });

  it("is not told if the agent has read the file again before the model is told", async () => {
    const changes = "echo two > a.txt; while [ ! -e told ]; do sleep 0.05; done";
    const { app, notes, client, workspace } = await serverWith([
      { all: [read("a.txt"), read("b.txt")] },
      { all: [["bash_run", { command: `echo two > b.txt; ${changes}` }], read("a.txt")] },
      LOOK,
      null,
    ]);
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(workspace, name), "one");
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const changed = async (): Promise<number> =>
      ofType(await client.events(agent.id), "FileChanged").reduce((sum, { fileCount }) => sum + fileCount, 0);
    await expect.poll(changed, { timeout: 5_000 }).toBe(2);
    await writeFile(join(workspace, "told"), "");
    await client.until(agent.id, "DONE");
    expect(notes).toEqual([[], [], [expect.stringMatching(noteOn("b\\.txt"))], [expect.anything()]]);
    expect(await knownFilesOf(client, agent.id)).toMatchObject([
      { path: "a.txt", change: null, changeToldAt: null },
      { path: "b.txt", change: "CHANGED", changeToldAt: expect.any(String) },
    ]);
    const rows = { name: "notices", text: "SELECT ref, told_at_step FROM notice" };
    expect(await app.database.sql.query(rows, [])).toEqual([{ ref: "b.txt", told_at_step: 3 }]);
  });

  it("is not said of what the agent's own file tools write, nor of what is touched or changed back", async () => {
    const { notes, client, workspace } = await serverWith([
      read("a.txt"),
      write("a.txt", "two"),
      write("b/new.txt", "new"),
      ["fs_edit", { path: "a.txt", old_string: "two", new_string: "three" }],
      ["fs_multi_edit", { edits: [{ path: "b/new.txt", old_string: "new", new_string: "newer" }] }],
      async ({ workspace: folder }) => {
        await utimes(join(folder, "a.txt"), 1, 1);
        await elsewhere(folder, "echo other > b/new.txt; printf newer > b/new.txt");
        return LOOK;
      },
      null,
    ]);
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(notes.flat()).toEqual([]);
    expect(ofType(await client.events(agent.id), "FileChanged")).toEqual([]);
    expect(await knownFilesOf(client, agent.id)).toMatchObject([
      { path: "a.txt", access: "WRITTEN", isWhole: true, bytes: 5, change: null },
      { path: "b/new.txt", access: "WRITTEN", toolCall: { name: "fs_multi_edit" }, change: null },
    ]);
  });

  it("is not said of the agent's own writes while they are watched", async () => {
    const { client, workspace } = await serverWith([
      read("a.txt"),
      async ({ services }) => {
        await expect.poll(() => services.fileWatches.size).toBe(1);
        return write("a.txt", "two");
      },
      ["fs_edit", { path: "a.txt", old_string: "two", new_string: "three" }],
      write("b.txt", "new"),
      async ({ services, workspace: folder }) => {
        await expect.poll(() => services.fileWatches.size).toBe(2);
        await elsewhere(folder, "echo changed > b.txt");
        await changed.promise;
        return LOOK;
      },
      null,
    ]);
    const changed = Promise.withResolvers<void>();
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "FILE_CHANGED");
    changed.resolve();
    await client.until(agent.id, "DONE");
    const events = ofType(await client.events(agent.id), "FileChanged");
    expect(events.flatMap(({ files }) => files.map(({ path }) => path))).toEqual(["b.txt"]);
  });

  it("is found by the next step alone, if the template has its files watched never", async () => {
    const made = new Map<string, number>();
    const watched = Promise.withResolvers<void>();
    const players: Readonly<Record<string, readonly (() => Promise<Answer>)[]>> = {
      unwatched: [
        async () => read("a.txt"),
        async () => {
          await watched.promise;
          await elsewhere(workspace, "echo changed > a.txt");
          return LOOK;
        },
        async () => null,
      ],
      watched: [
        async () => read("b.txt"),
        async () => {
          // The watch of an agent that was taken earlier would have begun before.
          await expect.poll(() => app.services.fileWatches.size).toBeGreaterThan(0);
          sizes.push(app.services.fileWatches.size);
          watched.resolve();
          return null;
        },
      ],
    };
    const sizes: number[] = [];
    const model = {
      ...playedModel(),
      stream({ system }: ModelRequest) {
        const nth = made.get(system) ?? 0;
        made.set(system, nth + 1);
        return played(players[system]?.[nth] ?? (async () => null));
      },
    };
    const common = { model: "test", permission: { mode: "auto" } } as const;
    const templates = {
      assistant: { ...common, systemPrompt: "unwatched", watchFiles: "never" },
      other: { ...common, systemPrompt: "watched" },
    } as const;
    const app = await startTestApp({ model, config: { templates } });
    const { workspace } = app;
    const client = connect(app.url);
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(workspace, name), "one");
    const { id } = await client.createAgent();
    const { id: other } = await client.createAgent({ templateId: "other" });
    await client.send(id, "go");
    await expect.poll(() => made.get("unwatched")).toBe(2);
    await client.turn(other, "go");
    await client.until(id, "DONE");
    expect(sizes).toEqual([1]);
    const events = await client.events(id);
    expect(ofType(events, "FileChanged")).toHaveLength(1);
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.lastIndexOf("TOOL_END")).toBeLessThan(kinds.indexOf("FILE_CHANGED"));
  });

  it("is said of what a command of the agent's own changes, at once after it, and again only after the file was read again", async () => {
    const { notes, client, workspace } = await serverWith([
      read("a.txt"),
      ["bash_run", { command: "echo two > a.txt" }],
      ["bash_run", { command: "echo three > a.txt" }],
      read("a.txt"),
      ["bash_run", { command: "echo four > a.txt" }],
      null,
    ]);
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(notes.map((told) => told.length)).toEqual([0, 0, 1, 1, 1, 2]);
    expect(ofType(await client.events(agent.id), "FileChanged")).toHaveLength(2);
  });

  it("tells files that are removed and made again from others, and nothing of files that the agent does not know", async () => {
    const { notes, client, workspace } = await serverWith([
      read("a.txt"),
      read("b.txt"),
      read("folder/c.txt"),
      ["bash_run", { command: "rm -r a.txt folder; mv other.txt b.txt; echo new > unknown.txt" }],
      ["bash_run", { command: "echo again > a.txt" }],
      LOOK,
      ["bash_run", { command: "rm a.txt" }],
      null,
    ]);
    await mkdir(join(workspace, "folder"));
    for (const name of ["a.txt", "b.txt", "other.txt", "folder/c.txt"]) await writeFile(join(workspace, name), name);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(notes.at(-1)).toEqual([
      expect.stringMatching(noteOn("a\\.txt \\(removed\\), b\\.txt, folder/c\\.txt \\(removed\\)")),
      expect.stringMatching(noteOn("a\\.txt \\(removed, and made again\\)")),
      expect.stringMatching(noteOn("a\\.txt \\(removed\\)")),
    ]);
    const events = ofType(await client.events(agent.id), "FileChanged").flatMap(({ files }) => files);
    const changesOf = (path: string): string[] => events.filter((file) => file.path === path).map(({ change }) => change);
    expect(changesOf("a.txt")).toEqual(["REMOVED", "MADE_AGAIN", "REMOVED"]);
    expect(changesOf("b.txt")).toEqual(["CHANGED"]);
    expect(events.find(({ change }) => change === "REMOVED")).toMatchObject({ bytes: null, modifiedAt: null });
  });

  it("looks behind no link that was put in the place of a folder", async () => {
    const { client, workspace } = await serverWith([
      read("folder/passwd"),
      async ({ workspace: folder }) => {
        await rename(join(folder, "folder"), join(folder, "moved"));
        await symlink("/etc", join(folder, "folder"));
        return LOOK;
      },
      null,
    ]);
    await mkdir(join(workspace, "folder"));
    await writeFile(join(workspace, "folder/passwd"), "text");
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const [event] = ofType(await client.events(agent.id), "FileChanged");
    expect(event?.files).toEqual([{ path: "folder/passwd", change: "REMOVED", bytes: null, modifiedAt: null }]);
  });

  it(
    "is bounded: of 5,000 files that a checkout changes, the event names 50, the model is told of 20, and all are told",
    { timeout: 60_000 },
    async () => {
      const count = 5_000;
      const survey = defineTool<Record<string, never>>({
        name: "survey",
        description: "Reads everything.",
        readOnly: true,
        inputSchema: { type: "object", required: [], properties: {} },
        run: async (_input, { workspace, files }) => {
          for (let number = 0; number < count; number += 1) {
            const name = `many/${number}.txt`;
            const file = await workspace.openForReading(name);
            const { ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
            await file.close();
            const state = { inode: ino, bytes: size, modified: mtimeNs, changed: ctimeNs };
            files.read({ name, state, digest: "of another content", content: null }, true);
          }
          return { output: "read", details: null };
        },
      });
      const { notes, client, workspace } = await serverWith(
        [["survey", {}], ["bash_run", { command: 'for f in many/*; do echo "changed" > "$f"; done' }], LOOK, null],
        { config: { tools: [survey] } },
      );
      await elsewhere(workspace, `mkdir many; for n in $(seq 0 ${count - 1}); do echo one > many/$n.txt; done`);
      const agent = await client.createAgent();
      await client.turn(agent.id, "go");
      const events = ofType(await client.events(agent.id), "FileChanged");
      expect(events.map(({ fileCount }) => fileCount).reduce((sum, each) => sum + each, 0)).toBe(count);
      for (const { files } of events) expect(files.length).toBeLessThanOrEqual(50);
      const [note = "", ...others] = notes.at(-1) ?? [];
      expect(others).toEqual([]);
      expect(note).toMatch(noteOn("many/0\\.txt, .*, and 4980 more"));
      expect(note.length).toBeLessThan(1_000);
      const { knownFiles } = await client.agent(agent.id);
      expect(knownFiles.totalCount).toBe(count);
      expect(knownFiles.nodes.filter(({ changeToldAt }) => changeToldAt === null)).toEqual([]);
    },
  );
});

describe("what changes in known files while nobody holds the agent", () => {
  it("is found at the next step, on another server, and is told once", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const first = await serverWith([read("a.txt"), read("b.txt"), null], { database });
    const { workspace } = first;
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(workspace, name), "one");
    const agent = await first.client.createAgent();
    await first.client.turn(agent.id, "go");
    await first.app.close();
    await elsewhere(workspace, "echo changed > b.txt");
    const second = await serverWith([LOOK, null, null], {
      database,
      config: { workspaceRoots: [workspace], defaultWorkspace: workspace },
    });
    await second.client.turn(agent.id, "go on");
    await second.client.turn(agent.id, "and on");
    expect(second.notes.map((told) => told.length)).toEqual([1, 1, 1]);
    expect(second.notes[0]).toEqual([expect.stringMatching(noteOn("b\\.txt"))]);
    expect(ofType(await second.client.events(agent.id), "FileChanged")).toHaveLength(1);
  });

  it("is told once when owners die: before the model was told, and after", async () => {
    const ended: Promise<never> = new Promise(() => {});
    const { app, notes, client, workspace } = await serverWith(
      [
        read("a.txt"),
        async ({ workspace: folder }) => {
          await elsewhere(folder, "echo changed > a.txt");
          return ended;
        },
        async () => ended,
        LOOK,
        null,
      ],
      { overrides: { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } } },
    );
    const die = async (): Promise<void> => {
      const died =
        "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
      await app.database.sql.query({ name: "steal", text: died }, []);
    };
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "FILE_CHANGED");
    await die();
    await expect.poll(() => notes.length, { timeout: 20_000 }).toBe(3);
    await die();
    await client.until(agent.id, "DONE");
    expect(notes.map((told) => told.length)).toEqual([0, 0, 1, 1, 1]);
    expect(ofType(await client.events(agent.id), "FileChanged")).toHaveLength(1);
  });

  it("is told to a fork, too", async () => {
    const { notes, client, workspace } = await serverWith([read("a.txt"), null, LOOK, null, null]);
    await writeFile(join(workspace, "a.txt"), "one");
    const agent = await client.createAgent();
    await client.turn(agent.id, "read");
    const messageId = (await client.agent(agent.id)).messages.nodes.at(-1)?.id;
    await writeFile(join(workspace, "a.txt"), "changed");
    await client.turn(agent.id, "go on");
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: agent.id, messageId } });
    await client.turn(forkAgent.agent?.id ?? "", "go on");
    expect(notes.map((told) => told.length)).toEqual([0, 0, 1, 1, 1]);
  });
});

/** A machine whose users may not make namespaces cannot show what a server does that may watch nothing. */
const MAY_UNSHARE = spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0 || process.env["CI"] !== undefined;

describe.skipIf(!MAY_UNSHARE)("a server that the system lets watch nothing", () => {
  it("says so once, and tells what has changed at the next step", { timeout: 60_000 }, async () => {
    const folder = await temporaryFolder();
    const config = join(folder, "triplane.config.ts");
    const workspace = join(folder, "workspace");
    await mkdir(workspace);
    await writeFile(join(workspace, "a.txt"), "one");
    await writeFile(
      config,
      `import { defineConfig } from "triplane";
      export default defineConfig({
        models: { m: { provider: "scripted", script: { replies: [
          { when: { user: "read" }, call: [{ tool: "fs_read", input: { path: "a.txt" } }] },
          { when: { result: "fs_read" }, call: [{ tool: "bash_run", input: { command: "sleep 1; echo more >> a.txt" } }] },
          { when: {}, say: ["Done."] },
        ] } } },
        templates: { assistant: { model: "m", systemPrompt: "x", permission: { mode: "auto" } } },
        workspaceRoots: [${JSON.stringify(workspace)}], defaultWorkspace: ${JSON.stringify(workspace)},
      });`,
    );
    const server = runUnwatching("src/main.ts", {
      PORT: "0",
      ANTHROPIC_API_KEY: "",
      DATABASE_URL: await testDatabaseUrl(),
      TRIPLANE_DATA_DIR: join(folder, "data"),
      TRIPLANE_CONFIG: config,
    });
    const client = connect((await server.says(/http:\/\/127\.0\.0\.1:\d+\/graphql/)).trim());
    for (const turn of [1, 2]) {
      const agent = await client.createAgent();
      await client.turn(agent.id, `read ${turn}`);
      expect(ofType(await client.events(agent.id), "FileChanged")).toMatchObject([{ files: [{ path: "a.txt" }] }]);
      expect(await knownFilesOf(client, agent.id)).toMatchObject([{ changeToldAt: expect.any(String) }]);
    }
    expect(server.output().match(/cannot be watched/g)).toHaveLength(1);
    expect(server.output()).toContain("ENOSPC");
  });
});

describe("an agent that knows no file", () => {
  it("costs no statement for that", async () => {
    const names: string[] = [];
    const { client, workspace } = await serverWith([LOOK, LOOK, null], {
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: (statement, values) => {
            names.push(statement.name);
            return sql.query(statement, values);
          },
        }),
      },
    });
    await rm(join(workspace, "nothing"), { force: true });
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect(names).toContain("read_agent_view");
    expect(names.filter((name) => name.includes("known_file"))).toEqual([]);
  });
});
