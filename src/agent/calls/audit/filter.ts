import { createHash } from "node:crypto";
import type { ToolCallState } from "../../../db/generated/enums.ts";
import type { ToolCallErrorType } from "../../../events/snapshots.ts";

export type AuditFilter = {
  readonly tenant: string;
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly states: readonly ToolCallState[] | null;
  readonly errorTypes: readonly ToolCallErrorType[] | null;
  readonly verdicts: readonly string[] | null;
  readonly rules: readonly string[] | null;
  readonly places: readonly string[] | null;
  readonly createdBy: readonly string[] | null;
  readonly decidedBy: readonly string[] | null;
  readonly minDurationMs: number | null;
  readonly haveRun: boolean;
};

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

export class Parameters {
  readonly values: unknown[];

  constructor(tenant: string) {
    this.values = [tenant];
  }

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

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
    // Rules may be longer than an index entry.
    ...(filter.rules === null ? [] : ["rule IS NOT NULL", ...among("md5(rule)", filter.rules.map(md5))]),
    ...among("place", filter.places),
    ...among("created_by", filter.createdBy),
    ...(filter.decidedBy === null ? [] : [`deciders && ${parameters.add(filter.decidedBy)}::text[]`]),
    ...(filter.minDurationMs === null ? [] : [`duration_ms >= ${parameters.add(filter.minDurationMs)}::float8`]),
    ...(filter.haveRun ? ["has_run", "duration_ms IS NOT NULL"] : []),
  ].join(" AND ");
}
