import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
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

it("what a background shell says is as old as its last words, and stays for as long as the shell runs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "triplane-outputs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const outputs = new ToolOutputs(folder);
  const began = new Date("2026-01-01T00:00:00Z");
  const before = new Date("2026-01-03T00:00:00Z");
  const spoke = async (shellId: string, at: Date): Promise<string> => {
    const path = outputs.shell(shellId);
    await mkdir(path);
    await writeFile(join(path, "0"), "words");
    await utimes(join(path, "0"), at, at);
    await utimes(path, began, began);
    return path;
  };
  await spoke("ended", began);
  await spoke("spoke", new Date("2026-01-04T00:00:00Z"));
  const ended = Promise.withResolvers<void>();
  outputs.leaveAlone(await spoke("silent", began), ended.promise);
  expect(await outputs.countOlder(before)).toBe(1);
  expect(await outputs.removeOlder(before)).toBe(1);
  expect((await readdir(folder)).toSorted()).toEqual(["silent.shell", "spoke.shell"]);
  ended.resolve();
  await ended.promise;
  expect(await outputs.removeOlder(before)).toBe(1);
  expect(await readdir(folder)).toEqual(["spoke.shell"]);
});
