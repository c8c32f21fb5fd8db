import type pg from "pg";
import type { TrialProcess } from "../processes.ts";
import type { TrialRun } from "../trial.ts";
import type { Deciding } from "./deciding.ts";
import type { Fleet } from "./fleet.ts";
import type { Giving } from "./giving.ts";

/** The processes of a trial, and the people in it. */
export type World = {
  readonly fleet: Fleet;
  readonly queue: TrialProcess;
  readonly database: pg.Client;
  /** People who give the results of calls. */
  readonly people: Giving;
  /** People who answer the questions of MCP servers. */
  readonly deciding: Deciding;
  readonly fail: TrialRun["fail"];
};

/** The requests that the trial has under way at a time, where it makes many. */
const AT_ONCE = 6;

/** Does something for each item, for a few at a time. */
export async function eachOf<Item, Made>(
  items: readonly Item[],
  act: (item: Item, place: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [place, item] of left) made[place] = await act(item, place);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}
