import { mkdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { readSegments } from "../../../src/agent/workspace/output/segments.ts";
import { temporaryFolder } from "../../support/app.ts";

it("a piece of an output is read from what is kept behind it, if its segment is removed between the list and the read", async () => {
  const parent = await temporaryFolder();
  // The segment goes later and later: before it is listed, before it is opened, and after it was read.
  for (let turns = 0; turns < 60; turns += 1) {
    const folder = join(parent, String(turns));
    await mkdir(folder);
    for (const start of [0, 10, 20, 30]) await writeFile(join(folder, String(start)), `from ${start}`.padEnd(10));
    const reading = readSegments(folder, { since: 20, bytes: 10, lines: 10, isOpen: true });
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    await unlink(join(folder, "20"));
    const piece = await reading;
    const found = `${piece?.from} ${piece?.text.trim()} ${piece?.total}`;
    expect(["20 from 20 40", "30 from 30 40"]).toContain(found);
  }
});

it("a piece of what has no text is as long as its text may be", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "0"), Buffer.alloc(1_000));
  const piece = await readSegments(folder, { since: 0, bytes: 600, lines: 10, isOpen: false });
  expect(piece).toMatchObject({ from: 0, to: 200, total: 1_000 });
});
