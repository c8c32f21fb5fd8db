import type { Sql } from "../../../db/sql.ts";
import { eachByTenant } from "../../../events/by-tenant.ts";
import type { EventLog } from "../../../events/log.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../telemetry/log.ts";
import { commitEnd } from "./ended.ts";
import type { ServerShells } from "./server-shells.ts";
import { lostShells, type StartedShell } from "./rows.ts";

/** The most shells that one sweep closes; the next goes on. */
const SWEEP = 100;

/**
 * Closes the shells whose server was not heard of until their lease ran out, and gives their agents, which may go on. Every
 * server sweeps: each shell is closed by a compare-and-set, so that of several sweeps one wins. A server closes its own by their ends: a
 * machine that slept has renewed nothing.
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
