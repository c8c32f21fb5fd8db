import type { Dimension } from "../../../../db/groups/grouped-rows.ts";

/** The properties of tool calls by which groups are made, over a row `c` of `audit_call`. */
export const CALL_DIMENSIONS = {
  TOOL: { sql: "c.name", isNullable: false },
  TEMPLATE: { sql: "c.template_id", isNullable: false },
  AGENT: { sql: "c.agent_id", isNullable: false },
  ROOT_AGENT: { sql: "coalesce(c.root_id, c.agent_id)", isNullable: false },
  REQUESTER: { sql: "c.created_by", isNullable: false },
  STATE: { sql: "c.state::text", isNullable: false },
  ERROR_TYPE: { sql: "c.error_type", isNullable: true },
  VERDICT: { sql: "c.verdict", isNullable: true },
  RULE: { sql: "c.rule", isNullable: true },
  PLACE: { sql: "c.place", isNullable: true },
  RISK: { sql: "c.risk", isNullable: true },
  DECIDER: { sql: "u.decider", isNullable: true },
  EXIT_CODE: { sql: "c.exit_code::text", isNullable: true },
  HOST: { sql: "h.host", isNullable: true },
  MODEL: { sql: "c.model", isNullable: true },
} as const satisfies Readonly<Record<string, Dimension>>;

export type CallDimension = keyof typeof CALL_DIMENSIONS;
