import { expect, it } from "vitest";
import type { CallView } from "../../../src/agent/calls/call.ts";
import { callStep, isFinal, TRANSITIONS } from "../../../src/agent/calls/states.ts";
import { ToolCallState } from "../../../src/db/generated/enums.ts";

const STATES = Object.values(ToolCallState);
const AT = new Date(0);

function callIn(state: ToolCallState): CallView {
  return {
    id: "c",
    ordinal: 0,
    providerId: "p",
    name: "look",
    state,
    attempt: 0,
    requestedInput: {},
    effectiveInput: null,
    ruleValues: null,
    inputHash: null,
    output: null,
    isError: false,
    error: null,
    stages: [],
    startedAt: null,
    completedAt: null,
    durationMs: null,
    approval: null,
    cancelRequested: null,
  };
}

it.each(STATES)("a call goes from %s only where the table of states leads, and from a final state nowhere", (from) => {
  for (const to of STATES) {
    const step = (): unknown => callStep(callIn(from), to, AT, {});
    if (TRANSITIONS[from].includes(to))
      expect(step()).toMatchObject({ transition: { from, set: { state: to } }, call: { state: to } });
    else expect(step).toThrow(`a call cannot go from ${from} to ${to}`);
  }
  expect(isFinal(from)).toBe(TRANSITIONS[from].length === 0);
});
