import { expect, it } from "vitest";
import { callFilter, decisionFilter } from "../../console/src/audit/filters.ts";

it("the audit's address becomes the filter of calls, with whole days", () => {
  expect(callFilter({ tool: "bash_run", state: "FAILED", verdict: "ASK", from: "2026-03-01", to: "2026-03-01" })).toEqual({
    tools: ["bash_run"],
    templateIds: null,
    agentIds: null,
    decidedBy: null,
    states: ["FAILED"],
    places: null,
    verdicts: ["ASK"],
    errorTypes: null,
    created: { from: new Date(2026, 2, 1).toISOString(), to: new Date(2026, 2, 2).toISOString() },
  });
});

it("values that the API does not know filter nothing", () => {
  expect(callFilter({ state: "ODD", verdict: "ODD", error: "ODD", from: "soon" })).toMatchObject({
    states: null,
    verdicts: null,
    errorTypes: null,
    created: null,
  });
});

it("decisions are closed approvals only", () => {
  expect(decisionFilter({ state: "PENDING", person: "paul" })).toMatchObject({
    states: ["ALLOWED", "DENIED", "EXPIRED", "RESOLVED", "SEALED", "STALE"],
    decidedBy: ["paul"],
  });
});
