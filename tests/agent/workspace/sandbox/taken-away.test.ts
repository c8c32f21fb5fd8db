import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TakenAway } from "../../../../src/agent/workspace/sandbox/taken-away.ts";
import { temporaryFolder } from "../../../support/app.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

it("what was taken away is kept for 30 days, and the newest of it as far as there is room", async () => {
  const folder = await temporaryFolder();
  const takenAway = new TakenAway(folder);
  const now = new Date("2026-11-28T12:00:00Z");
  await takenAway.sweep(now);
  for (const [name, days] of [
    ["a", 31],
    ["b", 29],
    ["c", 2],
    ["d", 1],
  ] as const) {
    const place = join(folder, "taken-away", name);
    await mkdir(join(place, ".husky"), { recursive: true });
    await writeFile(join(place, ".husky/pre-commit"), "x".repeat(1_000));
    const at = new Date(now.getTime() - days * DAY_MS);
    await utimes(place, at, at);
  }
  await takenAway.sweep(now);
  expect((await readdir(join(folder, "taken-away"))).toSorted()).toEqual(["b", "c", "d"]);
  await takenAway.sweep(now, 2_500);
  expect((await readdir(join(folder, "taken-away"))).toSorted()).toEqual(["c", "d"]);
});
