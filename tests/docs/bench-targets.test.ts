import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { missed, TARGETS, unmeasured } from "../../bench/targets.ts";

const figure = (name: string, value: number, ratio: number | null) => ({ name, value, unit: "", baseline: null, ratio });

it("each target of the bench stands in the page on performance, under the figure's name", async () => {
  const page = await readFile(new URL("../../docs/performance.md", import.meta.url), "utf8");
  // A name before a comma stands for all that begin with it.
  for (const { name } of TARGETS) expect(page, name).toMatch(new RegExp(`\`${name.split(",")[0] ?? ""}`));
});

it("a figure is judged by its ratio, or by its value where it has no baseline", () => {
  expect(missed([figure("turn", 2, 9.9), figure("replay", 1, 0.9), figure("gate mean", 0.1, null)])).toEqual([]);
  expect(missed([figure("turn", 2, 10.1), figure("append, batches of 1", 9_999, 0.69), figure("gate p99", 1.2, null)])).toEqual([
    "turn: its ratio is 10.1, and at most 10 is the target",
    "append, batches of 1: its ratio is 0.69, and at least 0.7 is the target",
    "gate p99: its value is 1.2, and at most 1 is the target",
  ]);
  expect(missed([figure("turn", 2, null)])).toHaveLength(1);
  expect(missed([figure("fan-out 10,000, p50", 1_000, null)])).toEqual([]);
});

it("a target of which a whole run has no figure is a miss", () => {
  expect(unmeasured(TARGETS.map(({ name }) => figure(name, 1, 1)))).toEqual([]);
  const without = TARGETS.filter(({ name }) => name !== "append beside a snapshot").map(({ name }) => figure(name, 1, 1));
  expect(unmeasured([...without, figure("append beside a snapshot of 60 s", 1, 1)])).toEqual([
    "append beside a snapshot: it has a target, and was not measured",
  ]);
});
