/** The tables that grow with what agents do. */
export const GROWING = [
  "access_token",
  "actor",
  "agent",
  "agent_image",
  "allow_rule",
  "approval",
  "audit_call",
  "audit_step",
  "audit_turn",
  "decision",
  "delegation",
  "event",
  "idempotency_key",
  "image",
  "known_file",
  "memory_entry",
  "memory_version",
  "message",
  "notice",
  "session",
  "shell",
  "step",
  "todo",
  "tool_call",
  "wait",
];

/** The indexes of what is so only now, whatever was before: they are read as a whole. */
const NOW = new Set([
  "agent_leased",
  "agent_waiting",
  "approval_one_pending",
  "audit_call_open",
  "message_waiting",
  "notice_untold",
  "shell_running",
  "shell_running_of_agent",
  "wait_due",
  "wait_open",
]);

/** A plan as PostgreSQL tells it. */
export type Plan = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
};

/** The places of a plan at which it goes through a growing table as a whole. */
export function scansOf(plan: Plan): readonly string[] {
  const { Plans: parts = [] } = plan;
  const table = plan["Relation Name"];
  const index = plan["Index Name"];
  const isWhole = index === undefined ? plan["Node Type"] === "Seq Scan" : plan["Index Cond"] === undefined && !NOW.has(index);
  const own = table !== undefined && GROWING.includes(table) && isWhole ? [`${plan["Node Type"]} of ${table}`] : [];
  return [...own, ...parts.flatMap(scansOf)];
}

/** The indexes that a plan reads. */
export function indexesOf({ "Index Name": own, Plans: parts = [] }: Plan): readonly string[] {
  return [...(own === undefined ? [] : [own]), ...parts.flatMap(indexesOf)];
}
