import { describe, expect, it } from "vitest";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import { taskServer } from "../../../src/agent/mcp/tasks/task-server.ts";
import { keepTask } from "../../../src/agent/mcp/tasks/task.ts";
import type { JsonObject } from "../../../src/lib/json.ts";

const SERVER: McpServer = {
  name: "own",
  way: { kind: "stdio", command: "x", args: [], env: {}, cwd: "/", sandbox: "none" },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: [],
  roots: "told",
  toolTimeoutMs: null,
};

const PROCESS = "p";

/** The tasks of one process, which answers questions by `request`. */
function world(request: () => Promise<JsonObject>) {
  const time = { ms: 0 };
  const session = { request, verdict: { era: "legacy", at: 0 } } as const;
  const tasks = taskServer({
    server: SERVER,
    monotonicMs: () => time.ms,
    session: (process) => (process === PROCESS ? session : null),
    structureCheck: () => null,
    plain: (text) => text,
    onAway: () => {},
    onEnded: () => {},
    warn: () => {},
  });
  const start = (taskId: string): void => {
    const message = { result: { task: { taskId, pollInterval: 5_000 } } };
    keepTask(message);
    tasks.started(message.result, PROCESS);
  };
  return { tasks, time, start };
}

describe("a process whose place is needed", () => {
  it("has no task any more once its server does not know it", async () => {
    const { tasks, time, start } = world(() =>
      Promise.reject(Object.assign(new Error("unknown task t"), { code: -32_602, data: null })),
    );
    start("t");
    expect(tasks.has(PROCESS)).toBe(true);
    time.ms = 5_000;
    expect(await tasks.look("t", PROCESS)).toMatchObject({ kind: "lost" });
    expect(tasks.has(PROCESS)).toBe(false);
  });

  it("has its task while its server does not answer", async () => {
    const { tasks, time, start } = world(() => Promise.reject(new Error("no answer")));
    start("t");
    for (let look = 0; look < 1_000; look += 1) {
      time.ms += 10_000;
      expect(await tasks.look("t", PROCESS)).toMatchObject({ kind: "away" });
      expect(tasks.has(PROCESS)).toBe(true);
    }
  });

  it("has no task that nobody asks for: its call was interrupted before it waited", () => {
    const { tasks, time, start } = world(() => Promise.resolve({}));
    start("t");
    time.ms = 10 * 60_000;
    expect(tasks.has(PROCESS)).toBe(true);
    time.ms = 2 * 60 * 60_000;
    expect(tasks.has(PROCESS)).toBe(false);
  });
});
