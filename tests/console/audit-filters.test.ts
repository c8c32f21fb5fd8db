import { expect, it } from "vitest";
import { callFilter, decisionFilter, exportFilter, searchOfView } from "../../console/src/audit/filters.ts";

it("the audit's address becomes the filter of calls, with whole days", () => {
  expect(callFilter({ tool: "bash_run", state: "FAILED", verdict: "ASK", from: "2026-03-01", to: "2026-03-01" })).toEqual({
    tools: ["bash_run"],
    templateIds: null,
    agentIds: null,
    decidedBy: null,
    models: null,
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

it("an export has the filters that its rows know, and no others", () => {
  const search = {
    tool: "bash_run",
    state: "FAILED",
    person: "paul",
    requester: "anna",
    template: "helper",
    model: "m",
    call: "c",
  };
  expect(exportFilter(search)).toMatchObject({
    tools: ["bash_run"],
    states: ["FAILED"],
    decidedBy: ["paul"],
    createdBy: ["anna"],
  });
  const ofAll = { templateIds: ["helper"], createdBy: ["anna"], states: null };
  expect(exportFilter({ ...search, what: "APPROVALS" })).toMatchObject({ ...ofAll, tools: ["bash_run"], decidedBy: ["paul"] });
  expect(exportFilter({ ...search, what: "DECISIONS" })).toMatchObject({ ...ofAll, tools: ["bash_run"], decidedBy: ["paul"] });
  for (const what of ["MESSAGES", "STEPS", "TURNS"])
    expect(exportFilter({ ...search, what })).toMatchObject({ ...ofAll, tools: null, decidedBy: null });
  expect(exportFilter({ ...search, what: "EVENTS" })).toMatchObject({ ...ofAll, tools: null, decidedBy: null });
});

it("another view of the audit keeps the filters that it knows, and its own address has none", () => {
  const search = { tool: "bash_run", state: "FAILED", place: "p", template: "helper", from: "2026-03-01", call: "c" };
  expect(searchOfView("exports", "calls", search)).toEqual({
    view: "exports",
    tool: "bash_run",
    state: "FAILED",
    place: "p",
    template: "helper",
    from: "2026-03-01",
  });
  expect(searchOfView("steps", "calls", search)).toEqual({ view: "steps", template: "helper", from: "2026-03-01" });
  expect(searchOfView("exports", "decisions", { state: "DENIED", requester: "anna" })).toEqual({
    view: "exports",
    requester: "anna",
    what: "APPROVALS",
  });
  expect(searchOfView("calls", "calls", search)).toEqual({});
});
