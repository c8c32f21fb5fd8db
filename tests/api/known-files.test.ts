import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LeaseTimes } from "../../src/agent/loop/lease.ts";
import type { ModelEvent } from "../../src/agent/models/model.ts";
import { FileEditsDocument, ForkAgentDocument } from "../generated/documents.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";

type Made = readonly [name: string, input: object];

const read = (path: string, range: object = {}): Made => ["fs_read", { path, ...range }];
const write = (path: string, content: string): Made => ["fs_write", { path, content }];
const edit = (path: string, old_string: string, new_string: string): Made => ["fs_edit", { path, old_string, new_string }];

/** A server whose model makes these calls, a step each; a turn ends where null stands. */
async function serverWith(steps: readonly (Made | null)[], options: TestAppOptions = {}): Promise<TestApp> {
  const players = steps.map((made) => (): AsyncIterable<ModelEvent> => (made === null ? says("Done.") : callsWith(made)));
  return startTestApp({
    model: playedModel(...players),
    ...options,
    template: { permission: { mode: "auto" }, ...options.template },
  });
}

/** Runs one turn of a new agent, and gives what became of its calls. */
async function turnOf(app: TestApp): Promise<readonly { state: string; output: string | null }[]> {
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "go");
  return callsOf(app, agent.id);
}

async function callsOf(app: TestApp, agentId: string) {
  return (await connect(app.url).agent(agentId)).toolCalls.nodes.map(({ state, output, details }) => ({
    state,
    output,
    details,
  }));
}

/** A tool by which something else than the file tools changes a file of the workspace. */
const outside = (change: (folder: string) => Promise<void>) =>
  defineTool<Record<string, never>>({
    name: "outside",
    description: "Changes something.",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: async (_input, { workspace }) => {
      await change(workspace.root);
      return { output: "changed", details: null };
    },
  });

const OUTSIDE: Made = ["outside", {}];

describe("an existing file", () => {
  it.each([
    ["fs_write", write("a.txt", "mine")],
    ["fs_edit", edit("a.txt", "theirs", "mine")],
    ["fs_multi_edit", ["fs_multi_edit", { edits: [edit("a.txt", "theirs", "mine")[1]] }] as Made],
  ])("that the agent has not read is refused by %s, and taken once it was read", async (_name, change) => {
    const app = await serverWith([change, read("a.txt"), change, null]);
    await writeFile(join(app.workspace, "a.txt"), "theirs");
    const [refused, , changed] = await turnOf(app);
    expect(refused).toMatchObject({
      state: "FAILED",
      output: expect.stringContaining("a.txt exists, and you have not read it: read it first"),
    });
    expect(changed).toMatchObject({ state: "COMPLETED" });
    expect(await readFile(join(app.workspace, "a.txt"), "utf8")).toBe("mine");
  });

  it("is known by its own name, whatever name it was read by", async () => {
    const app = await serverWith([read("./sub/../a.txt"), write("a.txt", "mine"), null]);
    await writeFile(join(app.workspace, "a.txt"), "theirs");
    expect(await turnOf(app)).toMatchObject([{ state: "COMPLETED" }, { state: "COMPLETED" }]);
  });

  it("counts as read when a part of it was read, and the answer says so", async () => {
    const app = await serverWith([read("a.txt", { limit: 1 }), write("a.txt", "mine"), write("a.txt", "mine again"), null]);
    await writeFile(join(app.workspace, "a.txt"), "one\ntwo\n");
    const [, first, second] = await turnOf(app);
    expect(first).toMatchObject({
      state: "COMPLETED",
      output: expect.stringContaining("Only parts of what it had before were read."),
    });
    expect(second?.output).toBe("Wrote a.txt (1 line, 10 bytes).");
  });
});

describe("a file that something else has changed", () => {
  it("is left as it is, with what has changed, also if size and time are the same (coarse times)", async () => {
    const tool = outside(async (folder) => {
      const { atime, mtime } = await stat(join(folder, "a.txt"));
      await writeFile(join(folder, "a.txt"), "one\nTWO\n");
      await utimes(join(folder, "a.txt"), atime, mtime);
    });
    const app = await serverWith(
      [read("a.txt"), OUTSIDE, edit("a.txt", "one", "1"), write("a.txt", "mine"), read("a.txt"), edit("a.txt", "one", "1"), null],
      { config: { tools: [tool] } },
    );
    await writeFile(join(app.workspace, "a.txt"), "one\ntwo\n");
    const [, , edited, written, , again] = await turnOf(app);
    for (const refused of [edited, written])
      expect(refused).toMatchObject({
        state: "FAILED",
        output: expect.stringMatching(
          /a\.txt was changed by something else since you last read it.*read it again\.\nIt had 8 bytes, changed at .*; now it has 8 bytes.*\n--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1,2 \+1,2 @@\n one\n-two\n\+TWO\n/s,
        ),
      });
    expect(again).toMatchObject({ state: "COMPLETED" });
    expect(await readFile(join(app.workspace, "a.txt"), "utf8")).toBe("1\nTWO\n");
  });

  it("is known again once it is changed back, and may be made again once it was removed", async () => {
    const tool = outside(async (folder) => {
      await writeFile(join(folder, "a.txt"), "other");
      await writeFile(join(folder, "a.txt"), "theirs");
      await rm(join(folder, "b.txt"));
    });
    const app = await serverWith(
      [read("a.txt"), read("b.txt"), OUTSIDE, edit("a.txt", "theirs", "mine"), write("b.txt", "anew"), null],
      { config: { tools: [tool] } },
    );
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(app.workspace, name), "theirs");
    expect((await turnOf(app)).map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "COMPLETED"));
  });

  it("says how many lines have changed if they are too many, and only its size if it is large", async () => {
    const lines = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");
    const tool = outside(async (folder) => {
      await writeFile(join(folder, "many.txt"), lines("a new one", 300));
      await writeFile(join(folder, "large.txt"), lines("new", 50_000));
    });
    const app = await serverWith(
      [read("many.txt"), read("large.txt"), OUTSIDE, write("many.txt", ""), write("large.txt", ""), null],
      {
        config: { tools: [tool] },
      },
    );
    await writeFile(join(app.workspace, "many.txt"), lines("an old one", 300));
    await writeFile(join(app.workspace, "large.txt"), lines("old", 50_000));
    const [, , , many, large] = await turnOf(app);
    expect(many?.output).toMatch(/The change adds 300 lines and removes 300 lines\.$/);
    expect(large?.output).toMatch(/now it has 488890 bytes, changed at \S+\.$/);
  });
});

describe("what the agent has written itself", () => {
  it("is known: a new file is written twice, and edited (W15), with $& as it stands (W16)", async () => {
    const app = await serverWith([
      write("new/a.txt", "first $&"),
      write("new/a.txt", "second $&"),
      edit("new/a.txt", "second", "$& $1"),
      edit("new/a.txt", "$1", "third"),
      ["fs_multi_edit", { edits: [edit("new/a.txt", "third", "3")[1]] }],
      null,
    ]);
    const calls = await turnOf(app);
    expect(calls.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "COMPLETED"));
    expect(await readFile(join(app.workspace, "new/a.txt"), "utf8")).toBe("$& 3 $&");
  });

  it("is not known by another agent", async () => {
    const app = await serverWith([write("a.txt", "one"), null, write("a.txt", "two"), null]);
    expect(await turnOf(app)).toMatchObject([{ state: "COMPLETED" }]);
    expect(await turnOf(app)).toMatchObject([{ state: "FAILED", output: expect.stringContaining("you have not read it") }]);
  });
});

describe("the files that an agent knows", () => {
  it("are rows: another server goes on with them, and sees what has changed meanwhile", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const first = await serverWith([read("a.txt"), write("b.txt", "own"), read("c.txt"), null], { database });
    for (const name of ["a.txt", "c.txt"]) await writeFile(join(first.workspace, name), "theirs");
    const client = connect(first.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    await first.close();
    await writeFile(join(first.workspace, "c.txt"), "changed");
    const second = await serverWith(
      [edit("a.txt", "theirs", "mine"), edit("b.txt", "own", "mine"), write("c.txt", "mine"), null],
      {
        database,
        config: { workspaceRoots: [first.workspace], defaultWorkspace: first.workspace },
      },
    );
    await connect(second.url).turn(agent.id, "go on");
    const calls = (await callsOf(second, agent.id)).slice(-3);
    expect(calls).toMatchObject([{ state: "COMPLETED" }, { state: "COMPLETED" }, { state: "FAILED" }]);
    expect(calls[2]?.output).toMatch(/It had 6 bytes, changed at \S+; now it has 7 bytes, changed at \S+\.$/);
  });

  it("go with a fork as far as the fork has seen them", async () => {
    const app = await serverWith([
      read("a.txt"),
      null,
      read("b.txt"),
      null,
      edit("a.txt", "one", "two"),
      edit("b.txt", "one", "two"),
      null,
    ]);
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(app.workspace, name), "one");
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "read a");
    const messageId = (await client.agent(agent.id)).messages.nodes.at(-1)?.id;
    await client.turn(agent.id, "read b");
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: agent.id, messageId } });
    const forkId = forkAgent.agent?.id ?? "";
    await client.turn(forkId, "edit both");
    expect((await callsOf(app, forkId)).slice(-2)).toMatchObject([
      { state: "COMPLETED" },
      { state: "FAILED", output: expect.stringContaining("you have not read it") },
    ]);
  });

  it("are committed with the end of their call: after a crash between rename and commit nobody knows the file (invariants 3 and 5)", async () => {
    const SHORT: LeaseTimes = { ttlMs: 1_500, renewMs: 100, startMs: 1_000 };
    const renamed = Promise.withResolvers<void>();
    const app = await serverWith(
      [
        read("a.txt"),
        edit("a.txt", "one", "two"),
        edit("a.txt", "two", "three"),
        read("a.txt"),
        edit("a.txt", "two", "three"),
        null,
      ],
      {
        overrides: { leaseTimes: SHORT },
        template: {
          hooks: {
            around: [
              async (call, next) => {
                const result = await next();
                if (call.name !== "fs_edit" || (call.input as { old_string?: string }).old_string !== "one") return result;
                renamed.resolve();
                return new Promise(() => {});
              },
            ],
          },
        },
      },
    );
    await writeFile(join(app.workspace, "a.txt"), "one");
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await renamed.promise;
    expect(await readFile(join(app.workspace, "a.txt"), "utf8")).toBe("two");
    const died =
      "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
    await app.database.sql.query({ name: "steal", text: died }, []);
    await client.until(agent.id, "DONE");
    const [, unknown, refused, , edited] = await callsOf(app, agent.id);
    expect(unknown).toMatchObject({ state: "SEALED", details: { data: { files: ["a.txt"] } } });
    expect(refused).toMatchObject({ state: "FAILED", output: expect.stringContaining("-one\n") });
    expect(edited).toMatchObject({ state: "COMPLETED" });
  });

  it("are listed with the calls that wrote each, newest first, whatever name a call gave", async () => {
    const app = await serverWith([
      write("a.txt", "one"),
      ["fs_multi_edit", { edits: [edit("./sub/../a.txt", "one", "two")[1]] }],
      null,
      write("b.txt", "a.txt"),
      edit("./sub/../a.txt", "two", "three"),
      edit("a.txt", "missing", "four"),
      null,
    ]);
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    await client.turn(id, "go on");
    const edits = async (path: string, after: string | null = null, first = 10) =>
      (await client.get(FileEditsDocument, { id, path, first, after })).agent?.fileEdits;
    const all = await edits("a.txt");
    expect(all).toMatchObject({
      nodes: [
        { name: "fs_edit", turn: 2, details: { diff: expect.stringContaining("-two") } },
        { name: "fs_multi_edit", turn: 1, details: { files: [{ path: "a.txt", diff: expect.stringContaining("+two") }] } },
        { name: "fs_write", turn: 1 },
      ],
      totalCount: 3,
    });
    const [, second] = all?.nodes ?? [];
    const first = await edits("a.txt", null, 1);
    expect((await edits("a.txt", first?.pageInfo.endCursor ?? null, 1))?.nodes).toEqual([second]);
    expect((await edits("b.txt"))?.nodes).toHaveLength(1);
    expect((await edits("%"))?.nodes).toEqual([]);
  });

  it("are written by the composed statement of their call's end, with the results and the next step (ADR 24)", async () => {
    const functions: string[] = [];
    const statements: string[] = [];
    const app = await serverWith([read("a.txt"), write("a.txt", "two"), ["fs_nothing", {}], null], {
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: (statement, values) => {
            if (statement.name.endsWith("_files")) statements.push(statement.name);
            if (statement.name === "commit_change") functions.push(String(values[6]));
            return sql.query(statement, values);
          },
        }),
      },
    });
    await writeFile(join(app.workspace, "a.txt"), "one");
    expect(await turnOf(app)).toHaveLength(3);
    expect(statements).toEqual(Array.from({ length: 2 }, () => "commit_message_none_made_one_moved_start_files"));
    expect(functions.filter((change) => change.includes("knownFiles"))).toEqual([]);
    const text = "SELECT json_agg(k) AS rows FROM known_file k";
    const [known] = await app.database.sql.query<{ rows: unknown }>({ name: "known", text }, []);
    expect(known).toMatchObject({ rows: [{ path: "a.txt", access: "WRITTEN", is_whole: true, bytes: 3 }] });
  });
});
