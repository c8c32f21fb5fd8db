import type { Sql } from "../../../db/sql.ts";
import { eachByTenant } from "../../../events/by-tenant.ts";
import type { EventLog } from "../../../events/log.ts";
import type { Clock } from "../../../lib/time.ts";
import type { Logger } from "../../../telemetry/log.ts";
import { commitEnd } from "./ended.ts";
import type { ServerShells } from "./server-shells.ts";
import { lostShells, type StartedShell } from "./rows.ts";

const SWEEP = 100;

/**
 * Closes the shells with an expired lease, and returns their agents, which may continue. Every server sweeps; a
 * compare-and-set lets one of them close each shell. A server closes its own shells by their ends: after a sleep of the
 * machine their leases are expired.
 */
export async function closeLostShells({
  sql,
  log,
  clock,
  logger,
  shells,
}: {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly shells: ServerShells;
}): Promise<readonly StartedShell[]> {
  const lost = (await lostShells(sql, SWEEP)).filter(({ id }) => !shells.holds(id));
  return eachByTenant(lost, async (shell) => {
    try {
      await commitEnd({ log, sql }, shell, { endReason: "SERVER_LOST", exitCode: null, signal: null }, null, clock.now());
    } catch (error) {
      logger.error(`shell ${shell.id} could not be closed; the next sweep tries again`, error);
    }
  });
}
