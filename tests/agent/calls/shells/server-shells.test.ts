import { mkdir, readdir } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { ServerShells, type ShellCall } from "../../../../src/agent/calls/shells/server-shells.ts";
import type { Sql, Statement } from "../../../../src/db/sql.ts";
import { Homes } from "../../../../src/agent/workspace/homes.ts";
import { ProcessGroups } from "../../../../src/agent/workspace/process-groups.ts";
import { unboxed } from "../../../../src/agent/workspace/sandbox/unboxed.ts";
import { Waits } from "../../../../src/agent/workspace/sandbox/sandbox.ts";
import { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { ToolOutputs } from "../../../../src/agent/calls/outputs.ts";
import { temporaryFolder } from "../../../support/app.ts";
import { testDatabase } from "../../../support/database.ts";
import { playedModel } from "../../../support/models.ts";
import { aroundStatements } from "../../../support/statements.ts";
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

/** The rows of shells as others leave them: `renewed` says whether a lease is still the server's. */
function leasesOf(sql: Sql, renewed: () => boolean): Sql {
  return aroundStatements(sql, async <Row>({ name }: Statement<Row>, run: () => Promise<Row[]>, values: readonly unknown[]) => {
    const ids = (given: unknown): Row[] => (renewed() ? (given as string[]).map((id) => ({ id, endWanted: null }) as Row) : []);
    if (name === "renew_shells") return ids(values[2]);
    return name === "look_at_shells" ? ids(values[1]) : run();
  });
}

it("a shell that others have closed before it started does not run, and its call is told so", async () => {
  const { sql } = await testDatabase();
  const folder = await temporaryFolder();
  const data = await temporaryFolder();
  const groups = new ProcessGroups();
  const shells = new ServerShells({
    ...testServices(sql, playedModel()),
    homes: new Homes(data),
    outputs: new ToolOutputs(data),
    leases: leasesOf(sql, () => false),
  });
  onTestFinished(() => groups.close());
  const starting = shells.start(callIn(folder, groups), "touch began", ["bash", "-c", "touch began"], { timeoutMs: null });
  await expect(starting).rejects.toThrow("the shell was not started");
  expect(await readdir(folder)).toEqual([]);
  expect(groups.size).toBe(0);
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
    leases: leasesOf(sql, () => true),
  });
  onTestFinished(() => groups.close());
  const shellId = await shells.start(callIn(folder, groups), "sleep 60", ["bash", "-c", "sleep 60"], { timeoutMs: null });
  const later = new Date(Date.now() + 60_000);
  await mkdir(outputs.shell(shellId), { recursive: true });
  expect(await outputs.countOlder(later)).toBe(0);
  await shells.close();
  expect(await outputs.countOlder(later)).toBe(1);
});
