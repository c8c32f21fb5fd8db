import pg from "pg";
import { openDatabase } from "../src/db/database.ts";
import { EventLog } from "../src/events/log.ts";
import { insertAgent, type RowAgent } from "../tests/support/log.ts";
import type { Figure } from "./figure.ts";

const AGENTS = 1_000;
const COMMITS_A_SECOND = 250;
const SECONDS = 20;
/** A commit takes 2 ms more on the disk, while it has the lock of the tenant's log. */
const COMMIT_DELAY_US = 2_000;
const OWNER = "bench";
const TENANT = "one";

/**
 * The commits of one tenant, which wait for each other: 250 a second of 1,000 agents' owners, at even times whether those
 * before have been answered or not, on a disk that takes 2 ms a commit. p99 from when a commit was due, in ms.
 */
export async function tenant(url: string): Promise<Figure[]> {
  await slowDown(url);
  const database = await openDatabase({ kind: "postgres", url, connections: 10 });
  const log = new EventLog(database.commits);
  try {
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => insertAgent(log, TENANT)));
    await database.sql.query(
      { name: "hold", text: "UPDATE agent SET lease_owner = $1, lease_epoch = 1, lease_until = 'infinity', state = 'WORKING'" },
      [OWNER],
    );
    const times = (await paced(agents, (agent, turn) => commit(log, agent, turn))).toSorted((a, b) => a - b);
    const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? NaN;
    return [
      { name: "tenant, 250 commits/s, p50", value: at(0.5), unit: "ms", baseline: null, ratio: null },
      { name: "tenant, 250 commits/s, p99", value: at(0.99), unit: "ms", baseline: null, ratio: null },
    ];
  } finally {
    await database.close();
  }
}

/** Connections that are made from now on wait so long for the disk with each commit. */
async function slowDown(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const database = new URL(url).pathname.slice(1);
  await client.query(`ALTER DATABASE ${database} SET commit_delay = ${COMMIT_DELAY_US}`);
  await client.query(`ALTER DATABASE ${database} SET commit_siblings = 0`);
  await client.end();
}

/** The time of each commit from when it was due, in ms. */
async function paced(
  agents: readonly RowAgent[],
  make: (agent: RowAgent, turn: number) => Promise<unknown>,
): Promise<readonly number[]> {
  const began = performance.now();
  const made: Promise<number>[] = [];
  const wait = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    const due = Math.min(COMMITS_A_SECOND * SECONDS, Math.floor(((performance.now() - began) / 1_000) * COMMITS_A_SECOND));
    while (made.length < due) {
      const number = made.length;
      const agent = agents[number % agents.length];
      if (agent === undefined) throw new Error("there are agents");
      const dueAt = began + (number / COMMITS_A_SECOND) * 1_000;
      made.push(make(agent, Math.floor(number / agents.length)).then(() => performance.now() - dueAt));
    }
    if (made.length === COMMITS_A_SECOND * SECONDS) wait.resolve();
  }, 1);
  await wait.promise;
  clearInterval(timer);
  return Promise.all(made);
}

async function commit(log: EventLog, { agentId, createdBy }: RowAgent, turn: number): Promise<void> {
  const breakpoint = turn % 2 === 0 ? "PRE_MODEL" : "STREAMING_MODEL";
  const body = { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "a few words of text ".repeat(10) } as const;
  const part = { agentId, createdBy, fence: { owner: OWNER, epoch: 1 }, events: [{ at: new Date(), body }] };
  const { outcome } = await log.commitHeld(TENANT, part, { agent: { breakpoint } });
  if (outcome !== "COMMITTED") throw new Error(`a commit was ${outcome}`);
}
