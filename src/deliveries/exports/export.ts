import type { AuditFilter } from "../../agent/calls/audit/rows.ts";
import type { ExportFormat, ExportSubject } from "../../db/commit/export-rows.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import type { JsonObject } from "../../lib/json.ts";
import { DAY_MS } from "../../lib/time.ts";

/** The most bytes of a part before its compression, but for one of a single row. */
export const PART_BYTES = 8_000_000;
/** The exports of a tenant that are made at a time; further ones are refused. */
export const MOST_RUNNING = 5;
/** Those of one actor: half of them, rounded up, as `commit_tenant_change` has it. */
export const MOST_OF_ACTOR = Math.ceil(MOST_RUNNING / 2);
/** The time from the end of an export to the removal of its file and row. */
export const KEPT_DAYS = 7;

/** The rows that an export has. `visible`: only those of agents that these actors created; null for all of the tenant. */
export type ExportFilter = Omit<AuditFilter, "tenant" | "haveRun">;

/**
 * The place after which the next part begins: a row's time and id, or a position of the log for an export `since` another.
 * `after` is the last row of that position, if it may have more.
 */
export type Place =
  | { readonly kind: "KEY"; readonly at: string; readonly id: string }
  | { readonly kind: "POSITION"; readonly position: number; readonly after: string | null };

/** An export whose file is being made. */
export type Export = {
  readonly id: string;
  readonly tenant: string;
  readonly what: ExportSubject;
  readonly format: ExportFormat;
  readonly hasTexts: boolean;
  readonly filter: ExportFilter;
  readonly since: number | null;
  readonly asOf: number;
  readonly place: Place | null;
  readonly parts: number;
  readonly rows: number;
  readonly createdBy: ActorRef;
};

export function removalTime(endedAt: Date): Date {
  return new Date(endedAt.getTime() + KEPT_DAYS * DAY_MS);
}

export function storedFilter({ from, to, ...rest }: ExportFilter): JsonObject {
  const { visible, agentIds, templateIds, tools, states, errorTypes, verdicts, rules, places, createdBy, decidedBy } = rest;
  const { exitCodes, hosts, models } = rest;
  const lists = {
    visible,
    agentIds,
    templateIds,
    tools,
    states,
    errorTypes,
    verdicts,
    rules,
    places,
    createdBy,
    decidedBy,
    hosts,
    models,
    exitCodes,
  };
  return {
    ...Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values === null ? null : [...values]])),
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    minDurationMs: rest.minDurationMs,
  };
}

/** The filter that `storedFilter` wrote. */
export function readFilter(stored: JsonObject): ExportFilter {
  const time = (value: unknown): Date | null => (typeof value === "string" ? new Date(value) : null);
  return {
    exitCodes: null,
    hosts: null,
    models: null,
    ...(stored as unknown as Omit<ExportFilter, "exitCodes" | "hosts" | "models">),
    from: time(stored["from"]),
    to: time(stored["to"]),
  };
}
