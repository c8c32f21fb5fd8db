import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ToolOutputs } from "../../../../src/agent/calls/outputs.ts";
import { CallOutput } from "../../../../src/agent/calls/programs/call-output.ts";
import { temporaryFolder } from "../../../support/app.ts";

it("an output that is closed while its program talks is kept as far as it was taken, and takes nothing more", async () => {
  const outputs = new ToolOutputs(join(await temporaryFolder(), "outputs"));
  const output = new CallOutput(outputs.collecting("call"));
  const program = output.begin();
  await output.take(program, Buffer.alloc(100_000, "a"));
  const last = output.take(program, Buffer.from("last"));
  const closing = output.close();
  const late = output.take(program, Buffer.from("late"));
  expect(await closing).toBe(true);
  await Promise.all([last, late]);
  expect(await outputs.keepCollected("call")).toBe(100_004);
  expect(await outputs.read("call", 99_999, 100)).toEqual({ text: "alast", nextOffset: null });
});

it("what comes after the close of an output that was small makes no file", async () => {
  const folder = await temporaryFolder();
  const output = new CallOutput(new ToolOutputs(folder).collecting("call"));
  const program = output.begin();
  await output.take(program, Buffer.from("small"));
  expect(await output.close()).toBe(false);
  await output.take(program, Buffer.alloc(100_000));
  expect(output.isOnDisk).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});
