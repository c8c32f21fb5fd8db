import type { AuditFilter, Parameters } from "./filter.ts";
import { OPEN } from "./rows.ts";

const HOUR_MS = 3_600_000;
/** The last hour in a year that PostgreSQL and ISO 8601 write alike. */
const LAST_HOUR = new Date("9999-12-31T23:00:00Z");

function isCounted({
  visible,
  agentIds,
  templateIds,
  errorTypes,
  verdicts,
  rules,
  places,
  createdBy,
  decidedBy,
  minDurationMs,
  haveRun,
}: AuditFilter): boolean {
  const others = [visible, agentIds, templateIds, errorTypes, verdicts, rules, places, createdBy, decidedBy, minDurationMs];
  return !haveRun && others.every((condition) => condition === null);
}

function hoursOf({ from, to }: AuditFilter): { readonly from: Date | null; readonly to: Date | null } | null {
  const first = from === null ? null : new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const last = to === null ? null : new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  if (first !== null && first > LAST_HOUR) return null;
  return first !== null && last !== null && first >= last ? null : { from: first, to: last };
}

/** A condition for the rows of `audit_call` that the counters of `countersOf` omit: all of them if the span has no whole hour. */
export function uncounted(filter: AuditFilter, parameters: Parameters): string {
  const hours = hoursOf(filter);
  if (!isCounted(filter) || hours === null) return "true";
  return [
    OPEN,
    ...(hours.from === null ? [] : [`created_at < ${parameters.add(hours.from)}::timestamptz`]),
    ...(hours.to === null ? [] : [`created_at >= ${parameters.add(hours.to)}::timestamptz`]),
  ].join(" OR ");
}

/** A condition on `audit_count` for the whole hours of the filter; null if the counters do not distinguish its calls. */
export function countersOf(filter: AuditFilter, parameters: Parameters): string | null {
  const hours = hoursOf(filter);
  if (!isCounted(filter) || hours === null) return null;
  const { tools, states } = filter;
  return [
    "tenant = $1",
    ...(hours.from === null ? [] : [`hour >= ${parameters.add(hours.from)}::timestamptz`]),
    ...(hours.to === null ? [] : [`hour < ${parameters.add(hours.to)}::timestamptz`]),
    ...(tools === null ? [] : [`name = ANY (${parameters.add(tools)}::text[])`]),
    ...(states === null ? [] : [`state = ANY (${parameters.add(states)}::tool_call_state[])`]),
  ].join(" AND ");
}
