import type { Figure } from "./figure.ts";
import { append, appendBesideSnapshot } from "./append.ts";
import { audit } from "./audit.ts";
import { commandsParse } from "./commands-parse.ts";
import { commits } from "./commits.ts";
import { fanOut } from "./fan-out.ts";
import { fanOutMany } from "./fan-out-many.ts";
import { firstToken } from "./first-token.ts";
import { gate } from "./gate.ts";
import { idle } from "./idle.ts";
import { replay } from "./replay.ts";
import { sandbox } from "./sandbox.ts";
import { simulation } from "./simulate.ts";
import { start } from "./start.ts";
import { tenant } from "./tenant.ts";
import { turn } from "./turn.ts";
import { withDatabase, withPostgres } from "./postgres.ts";
import { missed } from "./targets.ts";

const wanted = process.argv.slice(2).filter((argument) => argument !== "--judge");
/** The benches that need a PostgreSQL, in the order in which they are run. */
const ON_POSTGRES: Readonly<Record<string, (url: string) => Promise<Figure | Figure[]>>> = {
  append,
  snapshot: appendBesideSnapshot,
  replay,
  "fan-out": fanOut,
  "fan-out-many": fanOutMany,
  "first-token": firstToken,
  simulate: simulation,
  turn,
  commits,
  tenant,
  idle,
  audit,
};
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);

/** A bench that takes longer waits for something that does not come. */
const LONGEST_MS = 25 * 60_000;
setTimeout(() => {
  console.error(`the bench has not ended after ${LONGEST_MS / 60_000} minutes: a server of it does not answer`);
  process.exit(1);
}, LONGEST_MS).unref();

const figures: Figure[] = [];

/** `npm run bench [-- append snapshot replay fan-out fan-out-many first-token simulate turn commits tenant idle audit gate commands-parse sandbox start]`: prints one JSON line a figure. `--judge` compares them with their targets. */
if (wanted.length === 0 || wanted.some((name) => name in ON_POSTGRES)) await withPostgres(measureOnPostgres);
if (isWanted("gate")) for (const figure of await gate()) print(figure);
if (isWanted("commands-parse")) for (const figure of await commandsParse()) print(figure);
if (isWanted("sandbox")) for (const figure of await sandbox()) print(figure);
if (isWanted("start")) for (const figure of await start()) print(figure);

if (process.argv.includes("--judge")) {
  const misses = missed(figures);
  for (const miss of misses) console.error(miss);
  process.exitCode = misses.length === 0 ? 0 : 1;
}

async function measureOnPostgres(server: string): Promise<void> {
  for (const [name, measure] of Object.entries(ON_POSTGRES))
    if (isWanted(name)) await withDatabase(server, async (url) => [await measure(url)].flat().forEach(print));
}

function print(figure: Figure): void {
  figures.push(figure);
  const round = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)));
  console.log(
    JSON.stringify({ ...figure, value: round(figure.value), baseline: round(figure.baseline), ratio: round(figure.ratio) }),
  );
}
