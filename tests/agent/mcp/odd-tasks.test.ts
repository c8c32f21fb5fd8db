import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepTask, readTask, startedTask } from "../../../src/agent/mcp/tasks/task.ts";
import type { Json, JsonObject } from "../../../src/lib/json.ts";

const odd = fc.oneof(
  fc.constantFrom<Json | undefined>(undefined, null, "", 0, -1, 1e308, "x".repeat(300_000)),
  fc.constantFrom<Json>([], {}, "a\u0000b", "\uD800", true),
  fc.jsonValue() as fc.Arbitrary<Json>,
);

const TASK = { taskId: "t", status: "working", pollIntervalMs: 2_000, ttlMs: 5_000, statusMessage: "s", result: {}, error: {} };

const oddTask = fc
  .tuple(fc.constantFrom(...Object.keys(TASK)), odd)
  .map(([field, value]) => JSON.parse(JSON.stringify({ ...TASK, [field]: value })) as JsonObject);

/** The answer to a call with this task, as the reader of calls finds it. */
function answerWith(task: JsonObject, generation: "older" | "newer"): JsonObject {
  const message: JsonObject = { result: generation === "older" ? { task } : { ...task, resultType: "task" } };
  keepTask(message);
  return message["result"] as JsonObject;
}

describe("odd tasks of a server", () => {
  it("have a usable id and a time, or an error that says that the effect is unknown", () => {
    fc.assert(
      fc.property(oddTask, fc.constantFrom("older" as const, "newer" as const), (task, generation) => {
        try {
          const started = startedTask(answerWith(task, generation), null);
          expect(started?.taskId).toBe(task["taskId"]);
          expect(started?.pollMs).toBeGreaterThanOrEqual(1_000);
          expect(started?.pollMs).toBeLessThanOrEqual(300_000);
        } catch (error) {
          expect(String(error)).toContain("not known if the call had an effect");
        }
      }),
      { numRuns: 300 },
    );
  });

  it("have a state of a known form", () => {
    fc.assert(
      fc.property(oddTask, (task) => {
        const seen = readTask(task);
        expect(["working", "completed", "failed", "cancelled", "input_required", "unreadable"]).toContain(seen.kind);
        if (seen.kind === "working") expect(seen.pollMs >= 1_000 && seen.pollMs <= 300_000).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    [undefined, 5_000],
    [null, 5_000],
    ["1000", 5_000],
    [0, 1_000],
    [-1, 1_000],
    [0.5, 1_000],
    [30_000, 30_000],
    [1e308, 300_000],
  ])("with the interval %j are asked for after %i ms", (pollInterval, ms) => {
    expect(readTask({ status: "working", ...(pollInterval !== undefined && { pollInterval }) })).toMatchObject({ pollMs: ms });
  });

  it("are none where a result has content, or another type", () => {
    for (const result of [
      { content: [], task: { taskId: "t" } },
      { resultType: "complete", task: { taskId: "t" } },
      { task: "t" },
    ]) {
      const message: JsonObject = { result };
      keepTask(message);
      expect(startedTask(message["result"] as JsonObject, null)).toBeNull();
    }
  });
});
