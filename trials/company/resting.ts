import { setTimeout as delay } from "node:timers/promises";
import { until } from "../trial.ts";
import type { Working } from "./telling.ts";
import type { World } from "./world.ts";

/** The time after which the trial gives up. */
const TURNS_MS = 180_000;
const RESTING_MS = 60_000;
const LOOK_MS = 100;

/** Agents and all below them are at rest: their turns have ended, and each end of a child is told. */
export async function ended({ database, fail }: World, told: readonly Working[]): Promise<void> {
  const open = async (): Promise<readonly { id: string; state: string; turn: number }[]> =>
    (
      await database.query<{ id: string; state: string; turn: number }>(
        `SELECT id, state::text, turn FROM agent a WHERE (id = ANY ($1) OR root_id = ANY ($1)) AND (state <> 'READY' OR turn = 0
           OR EXISTS (SELECT FROM wait w WHERE w.agent_id = a.id AND w.settled_at IS NULL)
           OR EXISTS (SELECT FROM notice n WHERE n.agent_id = a.id AND n.source = 'CHILD' AND n.told_at_step IS NULL))`,
        [told.map(({ agent }) => agent.row)],
      )
    ).rows;
  await until("all turns end", async () => (await open()).length === 0, TURNS_MS, LOOK_MS).catch(async (error: unknown) =>
    fail(`${String(error)}: ${JSON.stringify((await open()).slice(0, 3))}`),
  );
}

/**
 * Agents that only wait, for an order or for a child, have no owner, and no server is to continue them. The turn of some has
 * ended, since servers died while their calls ran: the checks of calls say whether that is right.
 */
export async function checkOnlyWaiting({ database, fail }: World, patient: readonly Working[]): Promise<void> {
  const rows = patient.map(({ agent }) => agent.row);
  const busy = async () =>
    (
      await database.query<{ id: string; waiting: number }>(
        `SELECT a.id, a.state::text, a.lease_owner, a.runnable_at, (SELECT count(*)::int FROM tool_call t WHERE t.agent_id = a.id AND t.state = 'WAITING') AS waiting FROM agent a WHERE (a.id = ANY ($1) OR a.root_id = ANY ($1))
         AND NOT (a.state = 'READY' AND a.done_reason IS NOT NULL)
         AND NOT (a.state = 'PAUSED' AND a.lease_owner IS NULL AND a.runnable_at IS NULL AND EXISTS (SELECT FROM tool_call t WHERE t.agent_id = a.id AND t.state = 'WAITING'))`,
        [rows],
      )
    ).rows;
  await until("agents that wait have no owner", async () => (await busy()).length === 0, RESTING_MS, LOOK_MS).catch(
    async (error: unknown) => fail(`${String(error)}: ${JSON.stringify(await busy())}`),
  );
  // They stay so.
  await delay(300);
  for (const agent of await busy()) fail(`an agent that only waits does not rest: ${JSON.stringify(agent)}`);
}
