import { describe, expect, it } from "vitest";
import type { Budget } from "../../../src/agent/budgets/budget.ts";
import { chainOf, needsReading, type Spender } from "../../../src/agent/budgets/chain.ts";
import { expectedCost, RecentOutputs } from "../../../src/agent/budgets/expected.ts";

const CHILD: Spender = {
  id: "child",
  turn: 3,
  templateId: "worker",
  above: [
    { id: "root", templateId: "lead" },
    { id: "middle", templateId: "worker" },
  ],
  requester: "anna",
};

const budget = (of: Pick<Budget, "per"> & Partial<Budget>): Budget => ({
  id: of.per,
  templateId: null,
  subject: null,
  millionths: 1,
  tokens: null,
  window: "NONE",
  timeZone: "UTC",
  warnAt: 0.8,
  action: "ASK",
  origin: { kind: "CONFIGURATION" },
  ...of,
});

const refs = (of: Parameters<typeof budget>[0], spender: Spender = CHILD): readonly string[] =>
  chainOf([budget(of)], spender).map(({ ref }) => ref);

describe("the budgets on which an agent spends", () => {
  it("are those of its turn, of itself, and of the first agent of its tree", () => {
    expect(refs({ per: "TURN" })).toEqual(["child#3"]);
    expect(refs({ per: "AGENT" })).toEqual(["child"]);
    expect(refs({ per: "TREE" })).toEqual(["root"]);
  });

  it("are those of each agent of its path that has the template of a tree's budget", () => {
    expect(refs({ per: "TREE", templateId: "worker" })).toEqual(["middle", "child"]);
    expect(refs({ per: "TREE", templateId: "lead" })).toEqual(["root"]);
    expect(refs({ per: "TREE", subject: "middle" })).toEqual(["middle"]);
    expect(refs({ per: "TREE", subject: "other" })).toEqual([]);
  });

  it("are those of its template, its tenant, and the person who asked", () => {
    expect(refs({ per: "TEMPLATE", subject: "worker", templateId: "worker" })).toEqual(["worker"]);
    expect(refs({ per: "TEMPLATE", subject: "lead" })).toEqual([]);
    expect(refs({ per: "TENANT" })).toEqual([""]);
    expect(refs({ per: "REQUESTER" })).toEqual(["anna"]);
    expect(refs({ per: "REQUESTER", subject: "ben" })).toEqual([]);
    expect(refs({ per: "REQUESTER" }, { ...CHILD, requester: null })).toEqual([]);
  });

  it("are not those of another template", () => {
    for (const per of ["TURN", "AGENT", "REQUESTER"] as const) expect(refs({ per, templateId: "lead" })).toEqual([]);
  });

  it("are known without a read, unless they ask for the tree of a child or for a person", () => {
    expect(needsReading(budget({ per: "TREE" }), { depth: 0 })).toBe(false);
    expect(needsReading(budget({ per: "TREE" }), { depth: 1 })).toBe(true);
    expect(needsReading(budget({ per: "REQUESTER" }), { depth: 0 })).toBe(true);
    expect(needsReading(budget({ per: "TENANT" }), { depth: 5 })).toBe(false);
  });
});

describe("the expected cost of a step", () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

  it("takes the last step's input from the cache, if it went there", () => {
    const none = { inputTokens: 10_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(expectedCost({ inputTokens: 11_000, outputTokens: 100, last: none }, price).millionths).toBe(34_500);
    const cached = { inputTokens: 10, cacheReadTokens: 9_000, cacheWriteTokens: 1_000 };
    expect(expectedCost({ inputTokens: 11_000, outputTokens: 100, last: cached }, price).millionths).toBe(3_000 + 3_750 + 1_500);
    expect(expectedCost({ inputTokens: 11_000, outputTokens: 100, last: null }, null)).toEqual({
      millionths: null,
      tokens: 11_100,
    });
  });

  it("expects the median output of the template, not the most that the model may say", () => {
    const outputs = new RecentOutputs();
    expect(outputs.expected("acme", "worker")).toBe(500);
    for (const output of [100, 90_000, 120]) outputs.record("acme", "worker", output);
    expect(outputs.expected("acme", "worker")).toBe(120);
    expect(outputs.expected("other", "worker")).toBe(500);
  });
});
