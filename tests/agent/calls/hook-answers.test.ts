import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPostToolUseAnswer, readPreToolUseAnswer } from "../../../src/agent/calls/hooks.ts";
import { readToolResult } from "../../../src/agent/tools/tool-result.ts";

const field = (value: fc.Arbitrary<unknown>): fc.Arbitrary<{ readonly is: boolean; readonly value: unknown }> =>
  fc.record({ is: fc.boolean(), value });
const anything = fc.anything({ withNullPrototype: false });
const result = fc.record({ output: fc.string(), details: fc.jsonValue() });

describe("what a preToolUse hook answers (it may only tighten)", () => {
  it("counts if it is exactly one documented form; deny and ask hold beside anything; everything else denies", () => {
    fc.assert(
      fc.property(
        field(fc.oneof(fc.constantFrom("deny", "ask", "allow", "Deny", ""), anything)),
        field(fc.oneof(fc.string(), anything)),
        field(fc.oneof(result, anything)),
        field(fc.oneof(fc.dictionary(fc.constantFrom("a", "b"), fc.jsonValue()), anything)),
        field(anything),
        (decision, reason, answered, input, other) => {
          const fields = { decision, reason, result: answered, input, other };
          const given = Object.entries(fields).filter(([, { is }]) => is);
          const answer = Object.fromEntries(given.map(([name, { value }]) => [name, value]));
          const { kind } = readPreToolUseAnswer(answer);
          const [only, ...more] = given.map(([name]) => name);
          const isObject = typeof input.value === "object" && input.value !== null && !Array.isArray(input.value);
          if (decision.is && (decision.value === "deny" || decision.value === "ask")) expect(kind).toBe(decision.value);
          else if (only === "result" && more.length === 0 && readToolResult(answered.value) !== null) expect(kind).toBe("result");
          else if (only === "input" && more.length === 0 && isObject) expect(["input", "unreadable"]).toContain(kind);
          else expect(kind).toBe("unreadable");
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [
      { decision: "deny", reason: "no", input: { what: "q" } },
      { kind: "deny", reason: "no", result: null },
    ],
    [
      { decision: "ask", input: { what: "q" } },
      { kind: "ask", reason: null, meta: null },
    ],
    [
      { decision: "ask", reason: "large", meta: { amount: 5, note: undefined } },
      { kind: "ask", reason: "large", meta: { amount: 5 } },
    ],
    [
      { decision: "ask", meta: "no object" },
      { kind: "ask", reason: null, meta: null },
    ],
    [
      { decision: "ask", meta: { text: "x".repeat(8 * 1024) } },
      { kind: "ask", reason: null, meta: null },
    ],
    [
      { decision: "deny", result: { output: "r", details: null } },
      { kind: "deny", reason: null, result: null },
    ],
    [
      { decision: "deny", toolResult: { output: "use the test account" } },
      { kind: "deny", reason: null, result: { output: "use the test account", details: null } },
    ],
    [
      { decision: "deny", reason: "no", result: undefined },
      { kind: "deny", reason: "no", result: null },
    ],
    [{ result: { output: "r", details: null } }, { kind: "result", result: { output: "r", details: null } }],
    [{ result: { output: "r" } }, { kind: "result", result: { output: "r", details: null } }],
    [{ input: { a: 1 } }, { kind: "input", input: { a: 1 } }],
    [undefined, { kind: "nothing" }],
  ])("%j", (answer, said) => {
    expect(readPreToolUseAnswer(answer)).toEqual(said);
  });

  it.each([
    [null],
    ["deny"],
    [{}],
    [{ reason: "no" }],
    [{ result: { output: 5 } }],
    [{ result: { output: "r", nope: 1 } }],
    [{ input: [] }],
    [{ input: { a: 1 }, result: { output: "r", details: null } }],
    [{ decision: "allow" }],
  ])("%j denies", (answer) => {
    expect(readPreToolUseAnswer(answer).kind).toBe("unreadable");
  });
});

describe("what a postToolUse hook answers (features.md A5)", () => {
  const before = { output: "before", details: { ok: true } };

  it.each([
    [undefined, { kind: "nothing" }],
    [{ update: { output: "after" } }, { kind: "result", result: { output: "after", details: { ok: true } } }],
    [{ update: { details: 1 } }, { kind: "result", result: { output: "before", details: 1 } }],
    [{ replace: { output: "after" } }, { kind: "result", result: { output: "after", details: null } }],
  ])("%j", (answer, said) => {
    expect(readPostToolUseAnswer(answer, before)).toEqual(said);
  });

  it.each([
    [null],
    ["after"],
    [{}],
    [{ output: "after", details: null }],
    [{ update: "after" }],
    [{ update: { output: 5 } }],
    [{ replace: { details: null } }],
    [{ update: {}, replace: before }],
  ])("%j is unreadable", (answer) => {
    expect(readPostToolUseAnswer(answer, before).kind).toBe("unreadable");
  });
});
