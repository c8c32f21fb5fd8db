import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ToolOutputs } from "../../../src/agent/calls/outputs.ts";

it("kept outputs are removed when they are older than the policy keeps them, and no others", async () => {
  const folder = await mkdtemp(join(tmpdir(), "triplane-outputs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const outputs = new ToolOutputs(folder);
  expect(await new ToolOutputs(join(folder, "nowhere")).removeOlder(new Date())).toBe(0);
  await outputs.keep("old", "the old output");
  await outputs.keep("new", "the new output");
  const old = new Date("2026-01-01T00:00:00Z");
  await utimes(join(folder, "old.txt"), old, old);
  expect(await outputs.countOlder(new Date("2026-01-02T00:00:00Z"))).toBe(1);
  expect(await outputs.removeOlder(new Date("2026-01-02T00:00:00Z"))).toBe(1);
  expect(await readdir(folder)).toEqual(["new.txt"]);
  expect(await outputs.read("old", 0, 100)).toBeNull();
  expect(await outputs.read("new", 0, 100)).toEqual({ text: "the new output", nextOffset: null });
});
