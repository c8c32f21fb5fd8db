import { createHash } from "node:crypto";
import { globalId } from "../src/lib/global-id.ts";

/** A page of the audit, by its name and its arguments. */
export type AuditPage = { readonly name: string; readonly args: string };

/** The id of a row of `fillAudit`, as clients have it. */
function agentId(index: number): string {
  const hex = createHash("md5").update(`agent${index}`).digest("hex");
  return JSON.stringify(globalId("Agent", hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")));
}

const DAY_MS = 86_400_000;
const ago = (days: number): string => JSON.stringify(new Date(Date.now() - days * DAY_MS).toISOString());

/** For each field of the filter: what many calls have, what few have, and some that no call has. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  created: [`{ from: ${ago(10)} }`, `{ from: ${ago(29)}, to: ${ago(28.9)} }`],
  agentIds: [`[${agentId(107)}]`, `[${agentId(7)}, ${agentId(8)}, ${agentId(50_000)}]`],
  templateIds: ['["assistant"]', '["writer-rare"]', '["none"]'],
  tools: ['["tool_0"]', '["tool_12"]', '["tool_2", "tool_7"]', '["none"]'],
  states: ["[COMPLETED]", "[DENIED]", "[FAILED, SEALED]", "[EXECUTING]", "[APPROVED]", "[APPROVAL_REQUIRED]"],
  errorTypes: ["[EXECUTION_FAILED]", "[TIMEOUT]", "[TOOL_BUSY, APPROVAL_EXPIRED]", "[DISABLED]"],
  verdicts: ["[ALLOW]", "[ASK]", "[DENY]"],
  createdBy: ['["user-7"]', '["user-1", "user-2"]', '["none"]'],
  decidedBy: ['["chief"]', '["stand-in"]', '["none"]'],
  minDurationMs: ["100", "1000", "30500"],
};
const PAIRED = new Set(["states", "tools", "agentIds"]);
const ORDERS = ["CREATED_AT", "DURATION"].flatMap((field) =>
  ["DESC", "ASC"].map((direction) => `{ field: ${field}, direction: ${direction} }`),
);

const MEAN = "sum(sum_ms) / nullif(sum(timed), 0)";
const QUARTER_MS = 900_000;
/** The start of a quarter of an hour: counters alone have all calls since then that have ended. */
const SINCE = new Date(Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS - 30 * DAY_MS).toISOString();

/** Counters have the calls that have ended, rows the others. */
function statementOf(keys: string, figure: string): string {
  return `SELECT ${keys}, sum(calls)::int AS calls, sum(calls) FILTER (WHERE state = 'FAILED'), ${figure} FROM (
      SELECT name, template_id, state, verdict, quarter, calls, sum_ms, timed, durations FROM audit_quarter WHERE tenant = 'local' AND quarter >= '${SINCE}'
      UNION ALL SELECT name, template_id, state, coalesce(verdict, ''), created_at, 1, NULL, 0, NULL FROM audit_call
        WHERE tenant = 'local' AND created_at >= '${SINCE}' AND state IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING')
    ) c GROUP BY ${keys}`;
}

/** Every filter alone, each pair with the state, the tool or the agent, and each order of them. */
export function auditPages(): readonly AuditPage[] {
  const alone = Object.entries(CONDITIONS).flatMap(([field, values]) =>
    values.map((value) => ({ field, text: `${field}: ${value}` })),
  );
  const pairs = alone
    .filter(({ field }) => PAIRED.has(field))
    .flatMap((one) => alone.filter(({ field }) => field !== one.field).map((other) => `${one.text}, ${other.text}`));
  const filters = ["", ...alone.map(({ text }) => text), ...new Set(pairs)];
  return filters.flatMap((filter) =>
    ORDERS.map((order) => ({ name: `${filter} ${order}`, args: `filter: { ${filter} }, orderBy: ${order}` })),
  );
}

/** Groups over 30 days that counters answer, each with one statement over the same tables that has the same figures. */
export const GROUPS: readonly { readonly query: string; readonly statement: string }[] = [
  {
    query: `{ toolCallGroups(by: [TOOL], from: "${SINCE}", bucket: { unit: DAY, timeZone: "Asia/Kathmandu" }) { groups { tool series { calls failureRate durationMs { mean } } } total { calls } } }`,
    statement: statementOf("name, date_trunc('day', quarter, 'Asia/Kathmandu')", MEAN),
  },
  {
    query: `{ toolCallGroups(by: [TOOL], from: "${SINCE}", bucket: { unit: DAY, timeZone: "Asia/Kathmandu" }) { groups { tool series { calls failureRate durationMs { p50 p95 } } } total { calls } } }`,
    statement: statementOf("name, date_trunc('day', quarter, 'Asia/Kathmandu')", "numeric_send(sum(durations))"),
  },
  {
    query: `{ toolCallGroups(by: [TOOL, TEMPLATE, VERDICT], from: "${SINCE}") { groups { tool templateId verdict figures { calls failureRate } } total { calls } } }`,
    statement: statementOf("name, template_id, verdict", "count(*)"),
  },
];

/** Statistics of all, of a span that begins and ends within hours, of a tool, and of what no counter tells apart. */
export const STATISTICS: readonly string[] = [
  "",
  `created: { from: ${ago(20.3)}, to: ${ago(1.1)} }`,
  'tools: ["tool_1"]',
  "states: [FAILED]",
  `created: { from: ${ago(0.02)} }`,
];
