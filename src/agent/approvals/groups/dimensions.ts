import type { Dimension } from "../../../db/groups/grouped-rows.ts";

/** The properties of approvals by which groups are made, over a row `c` of `FOUND`; `u` is a decision, joined for DECIDER. */
export const APPROVAL_DIMENSIONS = {
  DECIDER: { sql: "u.actor_id", isNullable: true },
  TOOL: { sql: "c.tool", isNullable: true },
  HOST: { sql: "c.host", isNullable: true },
  KIND: { sql: "c.kind", isNullable: false },
  STATE: { sql: "c.state", isNullable: false },
  RISK: { sql: "c.risk", isNullable: false },
  TEMPLATE: { sql: "c.template_id", isNullable: false },
  AGENT: { sql: "c.agent_id", isNullable: false },
  ROOT_AGENT: { sql: "c.root_id", isNullable: false },
  REQUESTER: { sql: "c.created_by", isNullable: false },
  HOUR_OF_DAY: { sql: "c.hour", isNullable: false },
} as const satisfies Readonly<Record<string, Dimension>>;

export type ApprovalDimension = keyof typeof APPROVAL_DIMENSIONS;

/** Properties of the agent: an agent works without approvals, too, so only these have hours of work. */
export function isOfAgent(dimension: ApprovalDimension): boolean {
  switch (dimension) {
    case "TEMPLATE":
    case "AGENT":
    case "ROOT_AGENT":
    case "REQUESTER":
      return true;
    case "DECIDER":
    case "TOOL":
    case "HOST":
    case "KIND":
    case "STATE":
    case "RISK":
    case "HOUR_OF_DAY":
      return false;
  }
}
