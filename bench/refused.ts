import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../src/db/database.ts";
import { EventLog } from "../src/events/log.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";
import { newAgent, start } from "./turn-server.ts";

const ROUNDS = 15;
const WARM_ROUNDS = 3;
const BLOCK = 50;
const TENANT = "local";
const REQUESTED_BY = { kind: "USER", id: "local" } as const;

/**
 * A commit that PostgreSQL refuses, in ms: an interrupt of an agent that is idle, which any user may ask for again and again. In
 * turns with a commit of one event and one row, another title, on the same connections.
 */
export async function refused(url: string): Promise<Figure> {
  const agentId = await agentOf(url);
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  try {
    const log = new EventLog(database.commits);
    let title: string | null = null;
    const renamed = async (index: number): Promise<void> => {
      const body = { kind: "AGENT_RENAMED", previousTitle: title, title: `title ${index}`, changedBy: REQUESTED_BY } as const;
      const part = { agentId, createdBy: "local", events: [{ at: new Date(), body }] };
      const { outcome } = await log.commit(TENANT, part, { rename: { from: title, to: body.title } });
      if (outcome !== "COMMITTED") throw new Error(`a title was ${outcome}`);
      title = body.title;
    };
    const interrupted = async (): Promise<void> => {
      const at = new Date();
      const body = { kind: "INTERRUPT_REQUESTED", requestedBy: REQUESTED_BY, note: null } as const;
      const part = { agentId, createdBy: "local", events: [{ at, body }] };
      const { outcome } = await log.commit(TENANT, part, { wake: true, interrupt: { at: at.toISOString() } });
      if (outcome !== "CONFLICT") throw new Error(`an interrupt of an idle agent was ${outcome}`);
    };
    const rounds: { readonly refused: number; readonly commit: number }[] = [];
    for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
      const times = {
        commit: median(await timesOf((index) => renamed((round + WARM_ROUNDS) * BLOCK + index))),
        refused: median(await timesOf(interrupted)),
      };
      if (round >= 0) rounds.push(times);
    }
    const ratio = median(rounds.map((round) => round.refused / round.commit));
    const baseline = median(rounds.map(({ commit }) => commit));
    return { name: "refused", value: ratio * baseline, unit: "ms a refused commit", baseline, ratio };
  } finally {
    await database.close();
  }
}

async function timesOf(work: (index: number) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < BLOCK; index += 1) {
    const began = performance.now();
    await work(index);
    times.push(performance.now() - began);
  }
  return times;
}

/** A new agent of a server that has closed: nobody else writes meanwhile. */
async function agentOf(url: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-bench-"));
  const app = await start(url, folder);
  try {
    return await newAgent(app);
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
}
