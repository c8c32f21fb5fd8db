import { readFile, stat, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AnswerKept, NeedsInput } from "../../src/agent/tools/question.ts";
import { describe, expect, it } from "vitest";
import { ForkAgentDocument, InterruptAgentDocument } from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import type { ToolContext } from "../../src/agent/tools/tool-context.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { callsOf, type MadeCall } from "../support/bash.ts";
import { connect, ofType, type EventOf, type TestClient } from "../support/client.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

type Input = { path: string | null; say?: string };

const INPUT_SCHEMA = {
  type: "object",
  required: [],
  properties: { path: { type: "string", nullable: true }, say: { type: "string", default: "" } },
  additionalProperties: false,
} as const;

/** A cacheable tool that counts its runs, and says the content of its file. */
class Reader {
  runs = 0;
  /** The work that it does besides, each time when it runs. */
  besides: (context: ToolContext) => Promise<void> = async () => {};
  readonly tool: Tool = defineTool<Input>({
    name: "reader",
    description: "The test's tool.",
    readOnly: true,
    cacheable: true,
    paths: { path: "read" },
    inputSchema: INPUT_SCHEMA as never,
    run: async ({ path, say }, context) => {
      this.runs += 1;
      await this.besides(context);
      const content = await readFile(join(context.workspace.root, path ?? "a.txt"), "utf8").catch(() => "nothing");
      return { output: `${say}${content}`, details: { run: this.runs } };
    },
  });
}

const reads = (path: string | null = "a.txt", more: object = {}): MadeCall => ["reader", { path, ...more }];

/** A server whose model makes the calls of these steps in one turn, the calls of each together. */
async function serverWith(
  steps: readonly (readonly MadeCall[])[],
  tools: readonly Tool[],
  template: Partial<TemplateConfig> = {},
  options: TestAppOptions = {},
) {
  const app = await startTestApp({
    model: playedModel(...steps.map((step) => () => (step.length === 0 ? says("Done.") : callsWith(...step))), () =>
      says("Done."),
    ),
    ...options,
    config: { tools: [...tools], ...options.config },
    template: { permission: { mode: "auto" }, ...template },
  });
  await writeFile(join(app.workspace, "a.txt"), "one");
  const client = connect(app.url);
  const { id } = await client.createAgent();
  return { app, client, id };
}

/** The calls of a turn of the steps, by the numbers of the calls whose results they were given; null for those that ran. */
async function givenIn(...given: Parameters<typeof serverWith>): Promise<readonly (number | null)[]> {
  const { client, id } = await serverWith(...given);
  await client.turn(id, "go");
  return givenTo(client, id);
}

async function givenTo(client: TestClient, id: string): Promise<readonly (number | null)[]> {
  const calls = await callsOf(client, id);
  return calls.map(({ cachedFrom }) =>
    cachedFrom === null ? null : calls.findIndex(({ callId }) => callId === cachedFrom.callId),
  );
}

/** A read-only tool by which something else than the agent's tools changes a file. */
const outside = (change: (folder: string) => Promise<void>): Tool =>
  ownTool("outside", async (_input, { workspace }) => {
    await change(workspace.root);
    return { output: "changed", details: null };
  });
const OUTSIDE: MadeCall = ["outside", {}];

const writes = ownTool("writes", () => ({ output: "written", details: null }), false);
const WRITES: MadeCall = ["writes", {}];

describe("a call of a cacheable tool", () => {
  it("is given the result of the same call before, and says so on its row, in its events and in the figures", async () => {
    const reader = new Reader();
    const { app, client, id } = await serverWith([[reads()], [reads()], [["reader", { say: "", path: "a.txt" }]]], [reader.tool]);
    const events = await client.turn(id, "go");
    expect(reader.runs).toBe(1);
    expect(await givenTo(client, id)).toEqual([null, 0, 0]);
    const [first, second] = await callsOf(client, id);
    expect(second).toMatchObject({
      state: "COMPLETED",
      attempt: 1,
      output: "one",
      details: { run: 1 },
      cachedFrom: { callId: first?.callId, state: "COMPLETED" },
      auditTrail: [{ state: "PENDING" }, { state: "EXECUTING" }, { state: "COMPLETED" }],
      explanation: { verdict: "ALLOW" },
    });
    expect(second?.stages.map(({ stage }) => stage)).toEqual(first?.stages.map(({ stage }) => stage));
    const ends = ofType(events, "ToolEnd").map(({ call }) => call.cachedFrom);
    expect(ends).toEqual([null, first?.callId, first?.callId]);
    const starts: EventOf<"ToolStart">[] = ofType(events, "ToolStart");
    expect(starts.map(({ call }) => call.cachedFrom)).toEqual([null, null, null]);
    const figures = await (await fetch(new URL("/metrics", app.url))).text();
    expect(figures).toMatch(/^triplane_cached_results_total 2$/m);
    expect(figures).toMatch(/^triplane_cached_result_bytes \d+$/m);
  });

  it("runs for another input", async () => {
    const reader = new Reader();
    expect(await givenIn([[reads()], [reads("a.txt", { say: "x" })], [reads("./a.txt")]], [reader.tool])).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("runs if its file has changed, also if size and time are the same, and is given the first result once it is changed back", async () => {
    const reader = new Reader();
    let times = 0;
    const tool = outside(async (folder) => {
      const path = join(folder, "a.txt");
      const { atime, mtime } = await stat(path);
      await writeFile(path, (times += 1) === 1 ? "two" : "one");
      await utimes(path, atime, mtime);
    });
    const { client, id } = await serverWith([[reads()], [OUTSIDE], [reads()], [OUTSIDE], [reads()]], [reader.tool, tool]);
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, null, null, null, 0]);
    expect((await callsOf(client, id)).map(({ output }) => output)).toEqual(["one", "changed", "two", "changed", "one"]);
  });

  it("runs if a file has come that was not there, and if its path leads elsewhere", async () => {
    const reader = new Reader();
    let times = 0;
    const tool = outside(async (folder) => {
      times += 1;
      if (times === 1) return writeFile(join(folder, "b.txt"), "new");
      await unlink(join(folder, "b.txt"));
      return symlink("a.txt", join(folder, "b.txt"));
    });
    const steps = [[reads("b.txt")], [reads("b.txt")], [OUTSIDE], [reads("b.txt")], [OUTSIDE], [reads("b.txt")]];
    const { client, id } = await serverWith(steps, [reader.tool, tool]);
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, 0, null, null, null, null]);
    expect((await callsOf(client, id)).map(({ output }) => output).at(-1)).toBe("one");
  });

  it("runs if its file changed while the tool ran, and was changed back since: nobody knows which content was read", async () => {
    const reader = new Reader();
    reader.besides = async ({ workspace }) => {
      if (reader.runs === 1) await writeFile(join(workspace.root, "a.txt"), "two");
    };
    const back = outside(async (folder) => writeFile(join(folder, "a.txt"), "one"));
    const { client, id } = await serverWith([[reads()], [OUTSIDE], [reads()], [reads()]], [reader.tool, back]);
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, null, null, 2]);
    expect((await callsOf(client, id)).map(({ output }) => output)).toEqual(["two", "changed", "one", "one"]);
  });

  it("runs if its file changed while the tool ran and had the same content again at its end", async () => {
    const reader = new Reader();
    reader.besides = async ({ workspace }) => {
      if (reader.runs > 1) return;
      await writeFile(join(workspace.root, "a.txt"), "two");
      await writeFile(join(workspace.root, "a.txt"), "one");
    };
    expect(await givenIn([[reads()], [reads()], [reads()]], [reader.tool])).toEqual([null, null, 1]);
  });

  it("runs again after each call that is not read-only, whatever became of that, and after a refused one does not", async () => {
    const reader = new Reader();
    const failing = ownTool(
      "fails",
      () => {
        throw new Error("no");
      },
      false,
    );
    const steps: MadeCall[][] = [[reads()], [WRITES], [reads()], [["fails", {}]], [reads()], [["nowhere", {}]], [reads()]];
    expect(await givenIn(steps, [reader.tool, writes, failing])).toEqual([null, null, null, null, null, null, 4]);
  });

  it("runs while the tool of a call that has ended at its timeout goes on, and is forgotten when that ends", async () => {
    const reader = new Reader();
    const late = Promise.withResolvers<void>();
    const slow = defineTool<Record<string, never>>({
      name: "slow",
      description: "Does not obey.",
      readOnly: false,
      timeoutMs: 20,
      inputSchema: { type: "object", required: [], properties: {} },
      run: async () => {
        await late.promise;
        return { output: "late", details: null };
      },
    });
    const ends = ownTool("ends", async () => {
      late.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      return { output: "ended", details: null };
    });
    const steps: MadeCall[][] = [[["slow", {}]], [reads()], [reads()], [["ends", {}]], [reads()], [reads()]];
    expect(await givenIn(steps, [reader.tool, slow, ends])).toEqual([null, null, null, null, null, 4]);
  });

  it("runs while a background shell of the agent does", async () => {
    const reader = new Reader();
    const background: MadeCall = ["bash_run", { command: "sleep 300", background: true }];
    const { client, id } = await serverWith([[background], [reads()], [reads()]], [reader.tool]);
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, null, null]);
  });

  it("runs together with the same call, and the next one is given a result of theirs", async () => {
    const reader = new Reader();
    const both = Promise.withResolvers<void>();
    reader.besides = async () => {
      if (reader.runs === 2) both.resolve();
      await both.promise;
    };
    const [first, second, third] = await givenIn([[reads(), reads()], [reads()]], [reader.tool]);
    expect([first, second]).toEqual([null, null]);
    expect([0, 1]).toContain(third);
  });

  it("runs under another lease, and for another agent", async () => {
    const reader = new Reader();
    const { client, id } = await serverWith([[reads()], [], [reads()], [], [reads()], []], [reader.tool]);
    await client.turn(id, "go");
    await client.turn(id, "again");
    const other = await client.createAgent();
    await client.turn(other.id, "go");
    expect(await givenTo(client, id)).toEqual([null, null]);
    expect(await givenTo(client, other.id)).toEqual([null]);
    expect(reader.runs).toBe(3);
  });
});

describe("a result that is not kept", () => {
  const twice = async (besides: Reader["besides"], call = reads(), template: Partial<TemplateConfig> = {}) => {
    const reader = new Reader();
    reader.besides = besides;
    return givenIn([[call], [call]], [reader.tool], template);
  };

  it("is one of a call that failed", async () => {
    expect(await twice(async () => Promise.reject(new Error("not now")))).toEqual([null, null]);
  });

  it("is one that the model reads in part", async () => {
    expect(await twice(async () => {}, reads("a.txt", { say: "x".repeat(60_000) }))).toEqual([null, null]);
  });

  it("is one of a call that asked about a host: that is asked at each connection", async () => {
    const allow = ["network(host:example.org)"];
    const ask = async ({ mayReach }: ToolContext) => void (await mayReach("example.org", 443));
    expect(await twice(ask, reads(), { permission: { mode: "auto", allow } })).toEqual([null, null]);
  });

  it("is one of a call that is interrupted while a hook looks at it: the call has its result, and its server keeps the agent", async () => {
    const reader = new Reader();
    const looking = Promise.withResolvers<void>();
    const hook = async (): Promise<undefined> => {
      looking.resolve();
      await new Promise<never>(() => {});
    };
    const { client, id } = await serverWith([[reads()]], [reader.tool], { hooks: { postToolUse: [hook] } });
    await client.send(id, "go");
    await looking.promise;
    await client.get(InterruptAgentDocument, { input: { agentId: id } });
    const events = await client.until(id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(await callsOf(client, id)).toMatchObject([{ state: "COMPLETED", output: "one" }]);
    expect(ofType(events, "AgentResumed")).toEqual([]);
  });

  it("is one of a call that leaves out where it reads, and one of what is no file", async () => {
    expect(await twice(async () => {}, reads(null))).toEqual([null, null]);
    expect(await twice(async () => {}, reads("."))).toEqual([null, null]);
  });

  it("is one of a call that says that it has read another file", async () => {
    const seen = async ({ workspace, files }: ToolContext) => {
      const file = await workspace.openForReading("b.txt").catch(() => null);
      const state = { inode: 1n, bytes: 1n, modified: 1n, changed: 1n };
      files.read({ name: "b.txt", state, digest: "d", content: null }, true);
      await file?.close();
    };
    expect(await twice(seen)).toEqual([null, null]);
  });
});

describe("a call that could be given a result", () => {
  it("is asked about by itself, and the input that a person makes of it is the one that counts", async () => {
    const reader = new Reader();
    const held = Promise.withResolvers<void>();
    const holds = ownTool("holds", async () => {
      await held.promise;
      return { output: "held", details: null };
    });
    // The lease is held meanwhile: an agent that waits for a person alone gives it back, and forgets.
    const { client, id } = await serverWith([[reads()], [["holds", {}], reads("a.txt", { say: "ask" })]], [reader.tool, holds], {
      permission: { mode: "auto", ask: ["reader(say:ask)"] },
    });
    await client.send(id, "go");
    const [asked] = ofType(await client.until(id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const { approvalId, inputHash } = asked?.request ?? { approvalId: "", inputHash: "" };
    await client.decide({ approvalId, decision: "ALLOW", inputHash, input: { path: "a.txt", say: "" } });
    await expect.poll(async () => (await callsOf(client, id)).at(-1)?.state).toBe("COMPLETED");
    held.resolve();
    await client.until(id, "DONE");
    expect(await givenTo(client, id)).toEqual([null, null, 0]);
    expect((await callsOf(client, id)).at(-1)).toMatchObject({
      output: "one",
      // Of the input that ran, about which nobody had to be asked.
      explanation: { verdict: "ALLOW" },
      auditTrail: [
        { state: "PENDING" },
        { state: "APPROVAL_REQUIRED" },
        { state: "APPROVED" },
        { state: "EXECUTING" },
        { state: "COMPLETED" },
      ],
    });
  });

  it("is given the result of the input that a hook makes, and none that a hook denies", async () => {
    const reader = new Reader();
    let isDenied = false;
    const { client, id } = await serverWith(
      [[reads()], [reads("a.txt", { say: "edit me" })], [OUTSIDE], [reads()]],
      [reader.tool, outside(async () => void (isDenied = true))],
      {
        hooks: {
          preToolUse: [
            ({ name, input }) => {
              if (name !== "reader") return undefined;
              if (isDenied) return { decision: "deny", reason: "by now" };
              return JSON.stringify(input).includes("edit me") ? { input: { path: "a.txt" } } : undefined;
            },
          ],
        },
      },
    );
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, 0, null, null]);
    expect((await callsOf(client, id)).map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED", "DENIED"]);
  });

  it("goes through wrappers and post hooks, which see the tool's own answer each time", async () => {
    const reader = new Reader();
    let times = 0;
    const { client, id } = await serverWith([[reads()], [reads()]], [reader.tool], {
      hooks: {
        around: [
          async (_call, next) => {
            const { output, details } = await next();
            return { output: `${output}, wrapped`, details };
          },
        ],
        postToolUse: [(_call, { output }) => ({ update: { output: `${output}, ${String((times += 1))} times` } })],
      },
    });
    await client.turn(id, "go");
    expect(reader.runs).toBe(1);
    expect((await callsOf(client, id)).map(({ output }) => output)).toEqual(["one, wrapped, 1 times", "one, wrapped, 2 times"]);
  });

  it("notes again what the first one has read, so that the agent may replace that file", async () => {
    const look = defineTool<{ path: string }>({
      name: "look",
      description: "Notes what it reads.",
      readOnly: true,
      cacheable: true,
      paths: { path: "read" },
      inputSchema: { type: "object", required: ["path"], properties: { path: { type: "string" } } },
      run: async ({ path }, context) => {
        const { fsRead } = await import("../../src/agent/tools/fs/read.ts");
        const bound = fsRead.bind({ path });
        if (!bound.ok) throw new Error("fs_read takes a path");
        const answer = await bound.value.run(context);
        if (answer instanceof NeedsInput || answer instanceof AnswerKept) throw new Error("fs_read asks nobody");
        return answer;
      },
    });
    let content = "one";
    const tool = outside(async (folder) => writeFile(join(folder, "a.txt"), (content = content === "one" ? "two" : "one")));
    const path = { path: "a.txt" };
    const { client, id } = await serverWith(
      [
        [["look", path]],
        [OUTSIDE],
        [["fs_read", path]],
        [OUTSIDE],
        [["look", path]],
        [["fs_write", { ...path, content: "mine" }]],
      ],
      [look, tool],
    );
    await client.turn(id, "go");
    expect(await givenTo(client, id)).toEqual([null, null, null, null, 0, null]);
    expect((await callsOf(client, id)).at(-1)).toMatchObject({ state: "COMPLETED" });
  });

  it("is copied with the call that it names by a fork", async () => {
    const reader = new Reader();
    const { client, id } = await serverWith([[reads()], [reads()]], [reader.tool]);
    await client.turn(id, "go");
    const fork = async (of: string): Promise<string> =>
      (await client.get(ForkAgentDocument, { input: { agentId: of } })).forkAgent.agent?.id ?? "";
    const child = await fork(id);
    expect(await givenTo(client, child)).toEqual([null, 0]);
    expect(await givenTo(client, await fork(child))).toEqual([null, 0]);
  });
});

/** The tools that the server has of itself. */
it("no built-in tool is cacheable: comparing a file costs what reading it does, and a search depends on every file", async () => {
  const app: TestApp = await startTestApp();
  const builtin = [...app.services.of("local").tools.values()];
  expect(builtin.filter(({ cacheable }) => cacheable)).toEqual([]);
});
