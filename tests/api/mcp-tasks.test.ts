import { describe, expect, it } from "vitest";
import { setPolicyTime } from "../support/clock.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { seenAs, startedAs, taskServer, type Generation } from "../support/mcp-tasks.ts";
import { soonerTasks } from "../support/sooner-tasks.ts";

const WORK = ["mcp__own__work", {}] as const;
const GENERATIONS: readonly Generation[] = ["older", "newer"];

const content = (text: string): object => ({ content: [{ type: "text", text }] });

const countOf = (arrived: readonly { readonly method: string }[], method: string): number =>
  arrived.filter((each) => each.method === method).length;

/** A task of this generation that has ended with this result. */
const completed = (generation: Generation, result: object) =>
  seenAs(generation, { status: "completed", ...(generation === "newer" && { result }) });

describe.each(GENERATIONS)("a task of a server of the %s generation", (generation) => {
  it("gives its result to the call, which is made once", async () => {
    let looks = 0;
    const { url, arrived } = await taskServer(generation, ({ method }) => {
      if (method === "tasks/get") return (looks += 1) < 2 ? seenAs(generation, {}) : completed(generation, content("found"));
      return method === "tasks/result" ? { result: content("found") } : null;
    });
    const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "found" });
    expect(looks).toBe(2);
    expect(countOf(arrived, "tools/call")).toBe(1);
    expect(countOf(arrived, "tasks/cancel")).toBe(0);
  });

  it.each([
    ["fails", { status: "failed", statusMessage: "no disk", error: { code: -32_603, message: "no disk" } }, /failed: .*no disk/],
    ["is cancelled", { status: "cancelled", statusMessage: "by hand" }, /has cancelled the task: by hand/],
    ["asks for input", { status: "input_required", inputRequests: {} }, /asks for input, which people and models cannot give/],
    ["has an unknown status", { status: "odd" }, /without a valid form.*not known if the call had an effect/],
    ["has a list as its status", { status: [] }, /without a valid form.*not known if the call had an effect/],
  ])("that %s fails the call, with the reason", async (_name, fields, message) => {
    const { url, arrived } = await taskServer(generation, ({ method }) => {
      if (method === "tasks/result")
        return (response) => {
          const { id } = arrived.at(-1) ?? { id: 0 };
          const error = { code: -32_603, message: "no disk" };
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        };
      return method === "tasks/get" ? seenAs(generation, fields) : null;
    });
    const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { type: "EXECUTION_FAILED", message: expect.stringMatching(message) },
    });
    expect(countOf(arrived, "tools/call")).toBe(1);
    expect(countOf(arrived, "tasks/cancel")).toBe(fields.status === "input_required" ? 1 : 0);
  });

  it("that its server does not know any more fails the call, with an unknown effect", async () => {
    const { url } = await taskServer(generation, ({ method, id }) => {
      if (method !== "tasks/get") return null;
      const error = { code: -32_602, message: "Task not found" };
      return (response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
    });
    const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringMatching(/Task not found.*not known if the call had an effect/) },
    });
  });

  it.each([
    [-32_603, "the database host was not found, try again"],
    [-32_602, "Invalid request parameters"],
    [-32_601, "Method not found"],
    [-32_001, "Request timed out"],
    [-32_000, "the token of the backend has expired and is renewed"],
  ])(
    "that is asked for again after the error %s %s gives its result",
    async (code, message) => {
      let looks = 0;
      const { url } = await taskServer(generation, ({ method, id }) => {
        if (method === "tasks/result") return { result: content("found") };
        if (method !== "tasks/get") return null;
        if ((looks += 1) > 1) return completed(generation, content("found"));
        const error = { code, message };
        return (response) =>
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      });
      const overrides = { sql: soonerTasks };
      const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own"), overrides });
      expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "found" });
    },
    30_000,
  );

  it("is asked for after the time that its server names (Retry-After)", async () => {
    let looks = 0;
    const { url } = await taskServer(generation, ({ method }) => {
      if (method === "tasks/result") return { result: content("found") };
      if (method !== "tasks/get") return null;
      if ((looks += 1) > 1) return completed(generation, content("found"));
      return (response) => response.writeHead(429, { "retry-after": "120" }).end();
    });
    const { app, client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "TOOL_WAITING", cursor);
    const due = {
      name: "",
      text: "SELECT extract(epoch FROM due - policy_time())::float8 AS left FROM wait WHERE kind = 'MCP_TASK'",
    };
    const left = async () => (await app.database.sql.query<{ left: number }>(due, []))[0]?.left;
    await expect.poll(left, { timeout: 10_000 }).toBeGreaterThan(60);
    expect(await left()).toBeLessThanOrEqual(120);
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '121 s'");
    await client.until(id, "DONE", cursor);
    expect(looks).toBe(2);
  }, 30_000);

  it("whose time is over fails the call, and is cancelled", async () => {
    const { url, arrived } = await taskServer(generation, ({ method }) => {
      if (method === "tools/call") return startedAs(generation);
      return method === "tasks/get" ? seenAs(generation, { ttl: 1, ttlMs: 1, pollInterval: 1, pollIntervalMs: 1 }) : null;
    });
    const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringMatching(/time of 1 ms is over/) },
    });
    await expect.poll(() => countOf(arrived, "tasks/cancel")).toBe(1);
  });

  it.each([undefined, null, "", 7, [], {}, "x".repeat(2_000), "a\u0000b"])(
    "without a usable id (%j) fails the call, with an unknown effect",
    async (taskId) => {
      const { url, arrived } = await taskServer(generation, ({ method }) =>
        method === "tools/call" ? startedAs(generation, { taskId }) : null,
      );
      const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
      expect(await answerOf(client)).toMatchObject({
        state: "FAILED",
        error: { message: expect.stringMatching(/without a usable id: it is not known if the call had an effect/) },
      });
      expect(countOf(arrived, "tasks/get")).toBe(0);
    },
  );
});
