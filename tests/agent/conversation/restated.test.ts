import { expect, it } from "vitest";
import { restatedText } from "../../../src/agent/conversation/restated.ts";

const NOTHING = { todos: [], approvals: [], decisions: [], files: [], children: [], shells: [], schedules: [], notices: [] };

it("an agent without rows has no state to restate", () => {
  expect(restatedText(NOTHING)).toBeNull();
});

it("each kind of approval says its subject", () => {
  const of = { tool: "bash_run", host: null, call: "c1" };
  const text = restatedText({
    ...NOTHING,
    approvals: [
      { ...of, kind: "TOOL_CALL" },
      { ...of, kind: "OUTCOME_UNKNOWN" },
      { ...of, kind: "TOOL_INPUT" },
      { kind: "NETWORK_HOST", tool: null, host: "example.org", call: null },
      { kind: "BUDGET", tool: null, host: null, call: null },
    ],
    decisions: [{ ...of, kind: "TOOL_CALL", decision: "DENY", note: "not\ntoday" }],
  });
  expect(text?.split("\n").filter((line) => line.startsWith("- "))).toEqual([
    "- bash_run (call c1)",
    "- the unknown outcome of bash_run (call c1)",
    "- a question of bash_run (call c1)",
    "- the host example.org",
    "- the limit of a budget",
    "- bash_run (call c1): deny (not today)",
  ]);
});
