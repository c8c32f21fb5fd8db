import type { Sql, Statement } from "../db/sql.ts";
import type { EventLog } from "../events/log.ts";
import { SERVER } from "../events/snapshots.ts";
import type { ConfigurationChange } from "../events/tenant-event.ts";
import type { Clock } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import { digestOf, type ConfigurationParts } from "./configuration-parts.ts";

export type ConfigurationServices = {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Known = { readonly tenant: string; readonly digest: string | null; readonly parts: ConfigurationParts | null };

const READ: Statement<Known, []> = {
  name: "read_known_configurations",
  text: "SELECT l.tenant, k.digest, k.parts FROM tenant_log l LEFT JOIN known_configuration k ON k.tenant = l.tenant ORDER BY l.tenant",
};
const RECORD: Statement<object, [tenants: readonly string[], digests: readonly string[], parts: readonly string[], at: Date]> = {
  name: "record_configurations",
  text: `INSERT INTO known_configuration (tenant, digest, parts, known_at)
    SELECT k.tenant, k.digest, k.parts::json, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS k(tenant, digest, parts) ON CONFLICT DO NOTHING`,
};

const MOST_CHANGES = 300;

/**
 * Reports in the log of each tenant, once over all servers, how the configuration differs from the last known one
 * (invariant 15). The first configuration of a log is only recorded.
 */
export async function reportConfigurationChanges(
  services: ConfigurationServices,
  partsOf: (tenant: string) => ConfigurationParts,
): Promise<void> {
  const { sql, log, clock, logger } = services;
  log.onBegun((tenant) => {
    record(sql, [tenant], partsOf, clock.now()).catch((error: unknown) => {
      logger.error(`the configuration of tenant ${tenant} could not be recorded; the next start does it`, error);
    });
  });
  const known = await sql.query(READ, []);
  const unknown = known.filter(({ digest }) => digest === null).map(({ tenant }) => tenant);
  if (unknown.length > 0) await record(sql, unknown, partsOf, clock.now());
  for (const { tenant, digest, parts } of known) {
    const now = partsOf(tenant);
    if (digest === null || parts === null || digest === digestOf(now)) continue;
    // A log that lost commits, or is busy, does not stop a server's start.
    await report(services, tenant, { digest, parts }, now).catch((error: unknown) => {
      logger.error(`the change of the configuration could not be said to tenant ${tenant}; the next start does it`, error);
    });
  }
}

async function record(
  sql: Sql,
  tenants: readonly string[],
  partsOf: (tenant: string) => ConfigurationParts,
  at: Date,
): Promise<void> {
  const parts = tenants.map(partsOf);
  await sql.query(RECORD, [tenants, parts.map(digestOf), parts.map((of) => JSON.stringify(of)), at]);
}

/** Only one of several servers with the same report succeeds: the previous digest is compared. */
async function report(
  { log, clock }: ConfigurationServices,
  tenant: string,
  before: { readonly digest: string; readonly parts: ConfigurationParts },
  parts: ConfigurationParts,
): Promise<void> {
  const at = clock.now();
  const digest = digestOf(parts);
  const changes = changesOf(before.parts, parts);
  const body = {
    kind: "CONFIGURATION_CHANGED",
    previousDigest: before.digest,
    digest,
    changes: changes.slice(0, MOST_CHANGES),
    changeCount: changes.length,
    changedBy: SERVER,
  } as const;
  await log.commitTenant(tenant, [{ at, body }], {
    configuration: { previousDigest: before.digest, digest, parts, knownAt: at },
  });
}

export function changesOf(before: ConfigurationParts, now: ConfigurationParts): readonly ConfigurationChange[] {
  const places = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted();
  return places.flatMap((part): readonly ConfigurationChange[] => {
    const [was, is] = [before[part], now[part]];
    if (was === is) return [];
    return [{ part, change: was === undefined ? "ADDED" : is === undefined ? "REMOVED" : "CHANGED" }];
  });
}
