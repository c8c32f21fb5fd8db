import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { RunningShell } from "../../../../src/agent/calls/shells/server-shells.ts";
import { Deadline } from "../../../../src/lib/time.ts";
import { ProgramLease, ProcessGroups } from "../../../../src/agent/workspace/process-groups.ts";
import { temporaryFolder } from "../../../support/app.ts";

// What a process has open is seen in /proc, which is Linux's.
it.skipIf(process.platform !== "linux")("a shell that ends before its output was begun leaves no file open", async () => {
  const folder = await temporaryFolder();
  const groups = new ProcessGroups();
  onTestFinished(() => groups.close());
  const ends = Array.from({ length: 20 }, async (_none, number) => {
    const id = String(number);
    const row = {
      id,
      tenant: "tenant",
      agentId: "agent",
      createdBy: "anna",
      callId: id,
      command: "true",
      startedAt: new Date(0),
    };
    const group = groups.start("true", [], { folder, env: {} });
    await group.ended;
    const options = {
      folder: join(folder, id),
      mostMs: 60_000,
      lease: new ProgramLease(new Deadline(60_000), { tenant: "one", agent: "a" }),
    };
    return new RunningShell(row, group, options).ended;
  });
  await Promise.all(ends);
  expect((await openFiles()).filter((path) => path.startsWith(folder))).toEqual([]);
});

async function openFiles(): Promise<string[]> {
  const descriptors = await readdir("/proc/self/fd");
  return Promise.all(descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => "")));
}
