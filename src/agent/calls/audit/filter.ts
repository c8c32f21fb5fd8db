import { createHash } from "node:crypto";
import type { ToolCallState } from "../../../db/generated/enums.ts";
import type { ToolCallErrorType } from "../../../events/snapshots.ts";

/** The tool calls that are asked for: all conditions hold that are not null. */
export type AuditFilter = {
  readonly tenant: string;
  /** The creators of the agents that may be seen; null for all. */
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  /** Not in the span. */
  readonly to: Date | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly states: readonly ToolCallState[] | null;
  readonly errorTypes: readonly ToolCallErrorType[] | null;
  readonly verdicts: readonly string[] | null;
  /** The rules that decided, and their places, as explanations have them. */
  readonly rules: readonly string[] | null;
  readonly places: readonly string[] | null;
  readonly createdBy: readonly string[] | null;
  readonly decidedBy: readonly string[] | null;
  readonly minDurationMs: number | null;
  /** True for those alone that ran and have ended. */
  readonly haveRun: boolean;
};

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** The parameters of a statement that is composed: `$1` is the tenant. */
export class Parameters {
  readonly values: unknown[];

  constructor(tenant: string) {
    this.values = [tenant];
  }

  /** The place of one more value. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** The filter as conditions on the columns of `audit_call`, joined by AND. One value is compared by `=`, so that an index keeps its order. */
export function conditions(filter: AuditFilter, parameters: Parameters): string {
  const among = (column: string, values: readonly string[] | null, type = "text"): string[] => {
    if (values === null) return [];
    const [only] = values;
    return only !== undefined && values.length === 1
      ? [`${column} = ${parameters.add(only)}::${type}`]
      : [`${column} = ANY (${parameters.add(values)}::${type}[])`];
  };
  return [
    "tenant = $1",
    ...among("created_by", filter.visible),
    ...(filter.from === null ? [] : [`created_at >= ${parameters.add(filter.from)}::timestamptz`]),
    ...(filter.to === null ? [] : [`created_at < ${parameters.add(filter.to)}::timestamptz`]),
    ...among("agent_id", filter.agentIds),
    ...among("template_id", filter.templateIds),
    ...among("name", filter.tools),
    ...among("state", filter.states, "tool_call_state"),
    ...among("error_type", filter.errorTypes),
    ...among("verdict", filter.verdicts),
    // Rules may be longer than an entry of an index.
    ...(filter.rules === null ? [] : ["rule IS NOT NULL", ...among("md5(rule)", filter.rules.map(md5))]),
    ...among("place", filter.places),
    ...among("created_by", filter.createdBy),
    ...(filter.decidedBy === null ? [] : [`deciders && ${parameters.add(filter.decidedBy)}::text[]`]),
    ...(filter.minDurationMs === null ? [] : [`duration_ms >= ${parameters.add(filter.minDurationMs)}::float8`]),
    ...(filter.haveRun ? ["has_run", "duration_ms IS NOT NULL"] : []),
  ].join(" AND ");
}
