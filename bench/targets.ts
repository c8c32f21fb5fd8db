import type { Figure } from "./figure.ts";

/** The bound of a figure: of its ratio to the baseline of the same run, or of its value where it has none. `isByName`: no whole run has it. */
export type Target = { readonly name: string; readonly of: "ratio" | "value"; readonly isByName?: true } & (
  { readonly most: number } | { readonly least: number }
);

/** The figures to reach, as docs/performance.md has them. A figure without a target is only told. */
export const TARGETS: readonly Target[] = [
  { name: "append, batches of 1", of: "ratio", least: 0.7 },
  { name: "append, batches of 10", of: "ratio", least: 0.75 },
  { name: "append, batches of 100", of: "ratio", least: 0.83 },
  { name: "append beside a snapshot", of: "ratio", least: 0.9 },
  { name: "append during scans", of: "ratio", most: 2 },
  { name: "replay", of: "ratio", least: 0.9 },
  { name: "fan-out", of: "ratio", most: 1.6 },
  { name: "fan-out, own agent", of: "ratio", most: 1.6 },
  { name: "fan-out, 1,000 subscribers", of: "ratio", most: 1.3 },
  { name: "fan-out, one more subscriber", of: "ratio", most: 1.3 },
  { name: "fan-out 10,000", of: "value", most: 30 },
  { name: "fan-out 10,000, p99", of: "value", most: 80 },
  { name: "fan-out 10,000, subscriber", of: "value", most: 30 },
  { name: "first token", of: "ratio", most: 2.5 },
  { name: "first token, budget", of: "ratio", most: 3 },
  { name: "turn", of: "ratio", most: 10 },
  { name: "turn 10,000", of: "ratio", most: 1.1 },
  { name: "commits", of: "ratio", most: 4.5 },
  { name: "refused", of: "ratio", most: 1.5 },
  { name: "log of a call", of: "value", most: 4.5 },
  { name: "tenant, 250 commits/s, p99", of: "value", most: 50 },
  { name: "idle subscription", of: "value", most: 20 },
  { name: "parked agent", of: "value", most: 1 },
  { name: "waiting agent", of: "value", most: 1 },
  { name: "gate mean", of: "value", most: 0.1 },
  { name: "gate p99", of: "value", most: 1 },
  { name: "command line", of: "value", most: 0.2 },
  { name: "command line, heaviest", of: "value", most: 50 },
  { name: "sandbox", of: "value", most: 15 },
  { name: "sandbox, 20,000 files", of: "value", most: 15 },
  { name: "audit page, admin", of: "value", most: 50, isByName: true },
  { name: "audit page, user", of: "value", most: 50, isByName: true },
  { name: "audit statistics", of: "value", most: 50, isByName: true },
  { name: "audit statistics, user", of: "value", most: 50, isByName: true },
  { name: "audit groups", of: "value", most: 300, isByName: true },
  { name: "audit groups, ratio", of: "value", most: 1.2, isByName: true },
  { name: "audit fold", of: "value", most: 500, isByName: true },
  { name: "agents page", of: "value", most: 20, isByName: true },
  { name: "inbox page", of: "value", most: 20, isByName: true },
  { name: "simulate 100,000 calls", of: "value", most: 5 },
  { name: "start", of: "value", most: 1_500 },
  { name: "first start", of: "value", most: 4_500 },
  { name: "start, memory after queries", of: "value", most: 350 },
  ...["long", "long-forgetful"].flatMap((name): Target[] => [
    { name: `${name}, faults`, of: "value", most: 0, isByName: true },
    { name: `${name}, broken cache`, of: "ratio", most: 1, isByName: true },
    { name: `${name}, heap, half`, of: "ratio", most: 1.1, isByName: true },
    { name: `${name}, heap`, of: "ratio", most: 1.1, isByName: true },
    { name: `${name}, resident, half`, of: "ratio", most: 1.1, isByName: true },
    { name: `${name}, resident`, of: "ratio", most: 1.1, isByName: true },
  ]),
];

/** The figures that miss their targets, each in words. */
export function missed(figures: readonly Figure[]): readonly string[] {
  return figures.flatMap((figure) => {
    const target = TARGETS.find(({ name }) => name === figure.name);
    if (target === undefined) return [];
    const reached = figure[target.of] ?? NaN;
    const isReached = "most" in target ? reached <= target.most : reached >= target.least;
    const bound = "most" in target ? `at most ${target.most}` : `at least ${target.least}`;
    return isReached ? [] : [`${figure.name}: its ${target.of} is ${Number(reached.toPrecision(3))}, and ${bound} is the target`];
  });
}

/** The targets of which nothing was measured, each in words: a whole run has a figure for each. */
export function unmeasured(figures: readonly Figure[]): readonly string[] {
  const measured = new Set(figures.map(({ name }) => name));
  return TARGETS.filter(({ name, isByName }) => isByName !== true && !measured.has(name)).map(
    ({ name }) => `${name}: it has a target, and was not measured`,
  );
}
