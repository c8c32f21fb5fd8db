import { expect, it } from "vitest";
import { callStep, isFinal, TRANSITIONS } from "../../../src/agent/calls/call.ts";
import { ToolCallState } from "../../../src/db/generated/enums.ts";
import { callView } from "../../support/call-view.ts";

const STATES = Object.values(ToolCallState);
const AT = new Date(0);

it.each(STATES)("a call goes from %s only where the table of states leads, and from a final state nowhere", (from) => {
  for (const to of STATES) {
    const step = (): unknown => callStep(callView({ state: from }), to, AT, {});
    if (TRANSITIONS[from].includes(to))
      expect(step()).toMatchObject({ transition: { from, set: { state: to } }, call: { state: to } });
    else expect(step).toThrow(`a call cannot go from ${from} to ${to}`);
  }
  expect(isFinal(from)).toBe(TRANSITIONS[from].length === 0);
});
