import type { AuditFilter, Parameters } from "./filter.ts";
import { OPEN } from "./rows.ts";

const HOUR_MS = 3_600_000;
/** The last hour that begins in a year that PostgreSQL and ISO 8601 agree on. */
const LAST_HOUR = new Date("9999-12-31T23:00:00Z");

/** True if the counters tell apart what the filter does. */
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

/** The whole hours of the span: from the first moment on, up to the second; null for an end that is open. Null if there are none. */
function hoursOf({ from, to }: AuditFilter): { readonly from: Date | null; readonly to: Date | null } | null {
  const first = from === null ? null : new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const last = to === null ? null : new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  if (first !== null && first > LAST_HOUR) return null;
  return first !== null && last !== null && first >= last ? null : { from: first, to: last };
}

/** The rows of `audit_call` that the counters of `countersOf` do not have, as a condition: of a span without a whole hour, all of them. */
export function uncounted(filter: AuditFilter, parameters: Parameters): string {
  const hours = hoursOf(filter);
  if (!isCounted(filter) || hours === null) return "true";
  return [
    OPEN,
    ...(hours.from === null ? [] : [`created_at < ${parameters.add(hours.from)}::timestamptz`]),
    ...(hours.to === null ? [] : [`created_at >= ${parameters.add(hours.to)}::timestamptz`]),
  ].join(" OR ");
}

/** The counters of the whole hours of the filter, as a condition on `audit_count`; null if they do not tell its calls apart. */
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
