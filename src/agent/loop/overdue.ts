import type { Statement } from "../../db/sql.ts";
import { endDelegations, IS_OVER } from "../approvals/delegate.ts";
import { expireApprovals, IS_EXPIRED } from "../approvals/expire.ts";
import { closeLostShells } from "../calls/shells/lost.ts";
import { IS_LOST } from "../calls/shells/rows.ts";
import type { AgentOfTenant, Free } from "./lease.ts";
import type { ServerServices } from "./scope.ts";

type Overdue = { readonly approvals: boolean; readonly shells: boolean; readonly delegations: boolean };

/** One statement, since most sweeps find nothing. */
const OVERDUE: Statement<Overdue, []> = {
  name: "find_overdue",
  text: `SELECT EXISTS (SELECT FROM approval p WHERE ${IS_EXPIRED}) AS approvals, EXISTS (SELECT FROM shell s WHERE ${IS_LOST}) AS shells,
    EXISTS (SELECT FROM delegation d WHERE ${IS_OVER}) AS delegations`,
};

/**
 * Ends overdue work, by the database's clock. Approvals of kinds that only newer servers know count as well. Shells of
 * others are closed only if expired leases are free: after an outage each server renews its own first. If the clocks of
 * this machine and the database differ, nothing that concerns people is ended.
 */
export async function endOverdue(
  services: ServerServices,
  free: Free,
  wake: (agent: AgentOfTenant) => Promise<void>,
): Promise<void> {
  const wakeEach = async (agents: readonly AgentOfTenant[]): Promise<void> => {
    for (const agent of new Map(agents.map((one) => [one.agentId, one])).values()) await wake(agent);
  };
  const [overdue] = await services.sql.query(OVERDUE, []);
  if (overdue?.shells === true && free === "RUN_OUT") await wakeEach(await closeLostShells(services));
  if (services.clockSkew().isLarge) return;
  if (overdue?.approvals === true) await wakeEach(await expireApprovals(services));
  if (overdue?.delegations === true) await endDelegations(services);
}
