import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { createAgent, interrupt, send, type TrialAgent } from "../agents.ts";
import { until, type TrialRun } from "../trial.ts";

/** An agent with a program that writes to a file of its workspace without end: a background shell, or that of a running call. */
export type TrialProgram = { readonly kind: "shell" | "program"; readonly agent: TrialAgent; readonly file: string };

/** Whether others may go on with the agent of each. */
const OTHERS_MAY_GO_ON = {
  shell: "SELECT NOT EXISTS (SELECT FROM shell WHERE agent_id = $1 AND state = 'RUNNING') AS is_told",
  program: "SELECT NOT EXISTS (SELECT FROM tool_call WHERE agent_id = $1 AND state = 'EXECUTING') AS is_told",
} as const;

let started = 0;

/** The tries for a program on a certain server: another may be the first to claim the agent. */
const TRIES = 20;

/** Starts a background shell and a program of a call on the server that holds an agent, and waits until both write. */
export async function startPrograms(
  database: pg.Client,
  url: string,
  folder: string,
  held: string | undefined,
): Promise<readonly TrialProgram[]> {
  const server = await holderOf(database, held);
  const programs: TrialProgram[] = [];
  for (const kind of ["shell", "program"] as const) programs.push(await startProgram(kind));
  return programs;

  async function startProgram(kind: TrialProgram["kind"]): Promise<TrialProgram> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      started += 1;
      const file = join(folder, `${kind}-${started}`);
      const agent = await createAgent(url);
      await send(url, agent, `start ${kind}-${started}`);
      await until("a program writes", async () => (await sizeOf(file)) > 0, 10_000);
      if ((await holderOf(database, agent.row)) === server) return { kind, agent, file };
      await interrupt(url, agent);
    }
    throw new Error(`no ${kind} of ${TRIES} ran on the server that was asked for it`);
  }
}

/** The id of the server that holds an agent. */
async function holderOf(database: pg.Client, agent: string | undefined): Promise<string | null> {
  const { rows } = await database.query<{ owner: string | null }>("SELECT lease_owner AS owner FROM agent WHERE id = $1", [
    agent,
  ]);
  return rows[0]?.owner ?? null;
}

/** Waits until others may go on with the agents of programs whose server stands still, and checks that nothing of them runs by then. */
export async function checkProgramsEnded(
  database: pg.Client,
  programs: readonly TrialProgram[],
  fail: TrialRun["fail"],
): Promise<void> {
  for (const { kind, agent, file } of programs) {
    const isTold = async (): Promise<boolean> => {
      const { rows } = await database.query<{ is_told: boolean }>(OTHERS_MAY_GO_ON[kind], [agent.row]);
      return rows[0]?.is_told === true;
    };
    await until(`the end of a ${kind} is told`, isTold, 10_000);
    const before = await sizeOf(file);
    await delay(100);
    if ((await sizeOf(file)) > before) fail(`a ${kind} of a server that stands still runs on after it was called dead`);
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
