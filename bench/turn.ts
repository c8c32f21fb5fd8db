import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";
import { insertion } from "./insertion.ts";
import { newAgent, run, start } from "./turn-server.ts";

/** Turns of so many calls, in rounds: each is compared with INSERTs right after it. The first turns meet a process that is cold. */
const LONG = { calls: 20, warm: 60, rounds: 5, turns: 12 };
/** Turns of one call each, of which those after WARM are compared with those after MANY. */
const MANY = 10_000;
const WARM = 10;
const COMPARED = 50;

/**
 * A full turn with the durable log on PostgreSQL, by a model and a tool that take no time, with a window of 200 messages:
 * ms a tool call, with its model call, of turns of 20 calls, beside one durable INSERT; and how much longer a turn takes
 * after 10,000 of them.
 */
export async function turn(url: string): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-bench-"));
  const app = await start(url, folder);
  try {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const agent = await newAgent(app);
    const perCall = async (turns: number): Promise<number> => {
      const times: number[] = [];
      for (let index = 0; index < turns; index += 1) times.push((await run(app, agent, String(LONG.calls))) / LONG.calls);
      return median(times);
    };
    await perCall(LONG.warm);
    const rounds: { readonly call: number; readonly insert: number }[] = [];
    for (let round = 0; round < LONG.rounds; round += 1)
      rounds.push({ call: await perCall(LONG.turns), insert: await insertion(client) });
    await client.end();
    const old = await newAgent(app);
    for (let index = 0; index < MANY; index += 1) await run(app, old, "1");
    const fresh = await newAgent(app);
    for (let index = 0; index < WARM; index += 1) await run(app, fresh, "1");
    // In turn, so that both meet the same machine.
    const times: { early: number; late: number }[] = [];
    for (let index = 0; index < COMPARED; index += 1)
      times.push({ early: await run(app, fresh, "1"), late: await run(app, old, "1") });
    const [early, late] = [median(times.map((pair) => pair.early)), median(times.map((pair) => pair.late))];
    return [
      {
        name: "turn",
        value: median(rounds.map(({ call }) => call)),
        unit: "ms a tool call",
        baseline: median(rounds.map(({ insert }) => insert)),
        ratio: median(rounds.map(({ call, insert }) => call / insert)),
      },
      { name: "turn 10,000", value: late, unit: "ms a turn of one call", baseline: early, ratio: late / early },
    ];
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
}
