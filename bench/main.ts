import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { BENCHES } from "./benches.ts";
import type { Figure } from "./figure.ts";
import { withDatabase, withPostgres } from "./postgres.ts";
import { missed, unmeasured } from "./targets.ts";

/** A bench that takes longer waits for something that does not come. */
const LONGEST_MS = 25 * 60_000;
setTimeout(() => {
  console.error(`the bench has not ended after ${LONGEST_MS / 60_000} minutes: a server of it does not answer`);
  process.exit(1);
}, LONGEST_MS).unref();

/**
 * `npm run bench [-- NAME …]`: prints one JSON line a figure, and on stderr how long each bench took. `--judge` compares the figures
 * with their targets; `--turns N` makes the long conversations shorter.
 */
const { positionals: named, values: options } = parseArgs({
  allowPositionals: true,
  options: { judge: { type: "boolean", default: false }, turns: { type: "string" } },
});
const turns = options.turns === undefined ? [] : [options.turns];
if (turns.some((text) => !(Number(text) >= 50))) {
  console.error("--turns is a number from 50 on");
  process.exit(2);
}
const unknown = named.filter((name) => !BENCHES.has(name));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(", ")}: they are ${[...BENCHES.keys()].join(", ")}`);
  process.exit(2);
}
const wanted = [...BENCHES].filter(([name, { isByName }]) => (named.length === 0 ? !isByName : named.includes(name)));
const figures: Figure[] = [];
const isOnPostgres = wanted.some(([, { on }]) => on === "postgres");
await (isOnPostgres ? withPostgres(measureAll) : measureAll(""));

if (options.judge) {
  const misses = [...missed(figures), ...(named.length === 0 ? unmeasured(figures) : [])];
  for (const miss of misses) console.error(miss);
  process.exitCode = misses.length === 0 ? 0 : 1;
}

async function measureAll(server: string): Promise<void> {
  for (const [name, { on }] of wanted)
    await (on === "postgres" ? withDatabase(server, (url) => measure(name, url, ...turns)) : measure(name));
}

/** Runs a bench in a process of its own: what others left in memory, and how V8 compiled for them, is not in its figures. */
async function measure(name: string, ...rest: readonly string[]): Promise<void> {
  const began = performance.now();
  const child = fork(new URL("one.ts", import.meta.url), [name, ...rest]);
  const ended = once(child, "exit") as Promise<[number | null]>;
  child.on("message", (told: readonly Figure[]) => told.forEach(print));
  const [code] = await ended;
  if (code !== 0) throw new Error(`the bench ${name} failed`);
  console.error(`${name} took ${Math.round((performance.now() - began) / 1_000)} s`);
}

function print(figure: Figure): void {
  figures.push(figure);
  const round = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)));
  console.log(
    JSON.stringify({ ...figure, value: round(figure.value), baseline: round(figure.baseline), ratio: round(figure.ratio) }),
  );
}
