import type { Statement } from "../../db/sql.ts";
import { endDelegations, IS_OVER } from "../approvals/delegate.ts";
import { expireApprovals, IS_EXPIRED } from "../approvals/expire.ts";
import { closeLostShells } from "../calls/shells/lost.ts";
import { IS_LOST } from "../calls/shells/rows.ts";
import type { AgentOfTenant, Free } from "./lease.ts";
import type { ServerServices } from "./services.ts";

/** The kinds of things that were not done in time, each true if there are any: approvals that nobody decided, shells whose server is gone, delegations whose end nobody has said. */
type Overdue = { readonly approvals: boolean; readonly shells: boolean; readonly delegations: boolean };

/** One statement, since most looks find nothing. */
const OVERDUE: Statement<Overdue, []> = {
  name: "find_overdue",
  text: `SELECT EXISTS (SELECT FROM approval p WHERE ${IS_EXPIRED}) AS approvals, EXISTS (SELECT FROM shell s WHERE ${IS_LOST}) AS shells,
    EXISTS (SELECT FROM delegation d WHERE ${IS_OVER}) AS delegations`,
};

/**
 * Ends what is overdue, by the clock of the database. An approval of a kind that only newer servers know counts, too. Shells of
 * others are closed if leases that have run out are free: after an outage each server renews its own first. Where the clocks of the
 * machine and the database differ, nothing of people's is ended.
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
