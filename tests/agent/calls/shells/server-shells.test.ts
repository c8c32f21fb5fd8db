import { mkdir, readdir } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { ServerShells, type ShellCall } from "../../../../src/agent/calls/shells/server-shells.ts";
import { Homes } from "../../../../src/agent/workspace/homes.ts";
import { ProcessGroups } from "../../../../src/agent/workspace/process-groups.ts";
import { unboxed } from "../../../../src/agent/workspace/sandbox/unboxed.ts";
import { Waits } from "../../../../src/agent/workspace/sandbox/waits.ts";
import { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { ToolOutputs } from "../../../../src/agent/calls/outputs.ts";
import { temporaryFolder } from "../../../support/app.ts";
import { testDatabase } from "../../../support/database.ts";
import { playedModel } from "../../../support/models.ts";
import { testServices } from "../../../support/services.ts";

function callIn(folder: string, groups: ProcessGroups): ShellCall {
  return {
    agentId: "agent",
    tenant: "tenant",
    createdBy: "anna",
    callId: "call",
    ended: new AbortController().signal,
    most: 8,
    mostMs: 60_000,
    workspace: new Workspace(folder),
    sandbox: unboxed(groups),
    coverRule: () => Promise.reject(new Error("nothing is covered")),
    mayReach: async () => false,
    waits: new Waits(),
    commit: async () => true,
  };
}

it("a shell whose start took as long as its lease does not run: others may have gone on with its agent", async () => {
  const { sql } = await testDatabase();
  const folder = await temporaryFolder();
  const data = await temporaryFolder();
  const groups = new ProcessGroups();
  const shells = new ServerShells({
    ...testServices(sql, playedModel()),
    homes: new Homes(data),
    outputs: new ToolOutputs(data),
    // The lease has run out by the time when the shell could run; the rhythm of looks comes much later.
    leaseTimes: { ttlMs: 0, renewMs: 60_000 },
  });
  onTestFinished(() => groups.close());
  const ended = new Promise((resolve) => shells.onEnded(resolve));
  await shells.start(callIn(folder, groups), "touch began", ["bash", "-c", "touch began"], { timeoutMs: null });
  await ended;
  expect(await readdir(folder)).toEqual([]);
  await shells.close();
});

it("what a shell says is not removed while the shell runs, however long ago it began", async () => {
  const { sql } = await testDatabase();
  const folder = await temporaryFolder();
  const groups = new ProcessGroups();
  const outputs = new ToolOutputs(await temporaryFolder());
  const shells = new ServerShells({
    ...testServices(sql, playedModel()),
    homes: new Homes(folder),
    outputs,
    // Nothing but the test ends the shell.
    leases: { ...sql, query: () => Promise.reject(new Error("leases are not renewed here")) },
    leaseTimes: { ttlMs: 600_000, renewMs: 60_000 },
  });
  onTestFinished(() => groups.close());
  const shellId = await shells.start(callIn(folder, groups), "sleep 60", ["bash", "-c", "sleep 60"], { timeoutMs: null });
  const later = new Date(Date.now() + 60_000);
  await mkdir(outputs.shell(shellId), { recursive: true });
  expect(await outputs.countOlder(later)).toBe(0);
  await shells.close();
  expect(await outputs.countOlder(later)).toBe(1);
});
