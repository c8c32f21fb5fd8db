import type { CallRecord } from "./call-record.ts";
import type { McpTool } from "./plan.ts";

type Fail = (problem: string) => void;

/** Checks the call of a tool of an MCP server: its tool ran once if it has a result, and at most once if its outcome is unknown. */
export function checkMcp(record: CallRecord & { readonly tool: McpTool }, fail: Fail): void {
  const { row, counts } = record;
  if (counts.ran > 1) fail(`the MCP server ran it ${counts.ran} times`);
  if (counts.asked > 1) fail(`the MCP server was called ${counts.asked} times before an answer`);
  if (counts.cancelled > 0) fail("its task was cancelled");
  if (!row.passed.includes("EXECUTING") && counts.asked + counts.ran > 0) fail("the MCP server ran it before it began");
  if (row.state !== "COMPLETED") return;
  if (counts.ran + counts.refused !== 1)
    fail(`the MCP server ran it ${counts.ran} times, and was refused ${counts.refused} times`);
  const expected = outputOf(record);
  if (row.output?.includes(expected) !== true) fail(`its output is ${row.output}, without ${expected}`);
}

function outputOf({ planned: { job }, tool, counts }: CallRecord & { readonly tool: McpTool }): string {
  switch (tool) {
    case "measures":
      return `measured ${job}`;
    case "works":
      return `worked ${job}`;
    case "fills":
      return `filled ${job}: accept ${job} one`;
    case "talks":
      return counts.refused > 0 ? `talked ${job}: refused` : `talked ${job}: accept ${job} one`;
  }
}

/** Checks the question of a call, and the answers of people to it. */
export function checkQuestion({ planned, row, events, decided, counts }: CallRecord, fail: Fail): void {
  const { approvals, state } = row;
  const asked = events.filter(({ kind }) => kind === "PERMISSION_REQUIRED").length;
  if (approvals.length > 1 || asked !== approvals.length) fail(`${approvals.length} questions, of which ${asked} are told`);
  const [approval] = approvals;
  const isAnswered = approval?.state === "ALLOWED";
  if (state === "COMPLETED" && !isAnswered && counts.refused === 0) fail("it has a result without an answer");
  if (counts.ran > 0 && !isAnswered) fail("its tool ran without an answer");
  if (approval !== undefined && !["ALLOWED", ...(state === "SEALED" ? ["SEALED"] : [])].includes(approval.state))
    fail(`its question is ${approval.state}`);
  for (const { value, outcome } of decided) {
    const isFirst = value === `${planned.job} one`;
    if (outcome === "LOST" || (isFirst && isAnswered && outcome === "ACCEPTED")) continue;
    const expected = isAnswered && !isFirst ? "ALREADY_DECIDED" : "SEALED";
    if (outcome !== expected) fail(`the answer ${value} was told ${outcome}, and its question is ${approval?.state}`);
  }
  if (isAnswered && !decided.some(({ value, outcome }) => value === `${planned.job} one` && outcome !== "SEALED"))
    fail("nobody has answered its question");
}
