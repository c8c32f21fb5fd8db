import type { Figure } from "./figure.ts";
import { append, appendBesideSnapshot } from "./append.ts";
import { audit } from "./audit.ts";
import { appendBesideReader } from "./reader.ts";
import { commandsParse } from "./commands-parse.ts";
import { commits } from "./commits.ts";
import { fanOut } from "./fan-out.ts";
import { fanOutMany } from "./fan-out-many.ts";
import { firstToken } from "./first-token.ts";
import { gate } from "./gate.ts";
import { idle, waiting } from "./idle.ts";
import { long } from "./long/long.ts";
import { machine } from "./machine.ts";
import { refused } from "./refused.ts";
import { replay } from "./replay.ts";
import { sandbox } from "./sandbox.ts";
import { simulation } from "./simulate.ts";
import { start } from "./start.ts";
import { tenant } from "./tenant.ts";
import { turn } from "./turn.ts";

/**
 * A bench: measures on a new database, whose URL it is given, or on none. One that takes many minutes runs only by its name; `turns`
 * makes it shorter.
 */
type Bench =
  | { readonly on: "postgres"; readonly isByName: boolean; readonly measure: Measure }
  | { readonly on: "nothing"; readonly isByName: false; readonly measure: () => Promise<Figure | Figure[]> };
type Measure = (url: string, turns?: number) => Promise<Figure | Figure[]>;

const onPostgres = (measure: (url: string) => Promise<Figure | Figure[]>): Bench => ({
  on: "postgres",
  isByName: false,
  measure: (url) => measure(url),
});
const byName = (measure: Measure): Bench => ({ on: "postgres", isByName: true, measure });
const onNothing = (measure: () => Promise<Figure | Figure[]>): Bench => ({ on: "nothing", isByName: false, measure });

/** All benches by name, in the order in which they are run. */
export const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["machine", onPostgres(machine)],
  ["append", onPostgres(append)],
  ["snapshot", onPostgres(appendBesideSnapshot)],
  ["reader", onPostgres(appendBesideReader)],
  ["replay", onPostgres(replay)],
  ["fan-out", onPostgres(fanOut)],
  ["fan-out-many", onPostgres(fanOutMany)],
  ["first-token", onPostgres(firstToken)],
  ["simulate", onPostgres(simulation)],
  ["turn", onPostgres(turn)],
  ["commits", onPostgres(commits)],
  ["refused", onPostgres(refused)],
  ["tenant", onPostgres(tenant)],
  ["idle", onPostgres(idle)],
  ["idle-waits", onPostgres(waiting)],
  ["audit", byName(audit)],
  ["gate", onNothing(gate)],
  ["commands-parse", onNothing(commandsParse)],
  ["sandbox", onNothing(sandbox)],
  ["start", onNothing(start)],
  ["long", byName((url, turns) => long(url, "keeps", turns))],
  ["long-forgetful", byName((url, turns) => long(url, "forgets", turns))],
]);
