import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { ProcessGroups, ProgramLease, type ProgramsOf } from "../../../src/agent/workspace/process-groups.ts";
import { startGuard, type ProcessGuard } from "../../../src/agent/workspace/process-guard.ts";
import { Deadline } from "../../../src/lib/time.ts";
import { temporaryFolder } from "../../support/app.ts";

/** A guard, and the groups that it has said back. */
function testGuard(): { readonly guard: ProcessGuard; readonly known: number[] } {
  const known: number[] = [];
  const guard = startGuard(
    50,
    (group) => known.push(group),
    () => {},
  );
  onTestFinished(() => guard.end());
  return { guard, known };
}

/** A program in a group of its own, which runs until it is killed. */
function program(): { readonly group: number; readonly child: ChildProcess; readonly ended: Promise<unknown[]> } {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  const { pid } = child;
  if (pid === undefined) throw new Error("sleep could not be started");
  onTestFinished(() => void child.kill("SIGKILL"));
  return { group: pid, child, ended: once(child, "exit") };
}

const runs = ({ child }: { readonly child: ChildProcess }): boolean => child.exitCode === null && child.signalCode === null;

describe("the guard", () => {
  it("kills a group whose time is over, and none that is renewed, has no bound, or was dropped", async () => {
    const { guard, known } = testGuard();
    const [cut, renewed, unbounded, dropped] = [program(), program(), program(), program()];
    guard.hold(unbounded.group, Infinity);
    guard.hold(renewed.group, 600);
    guard.hold(dropped.group, 600);
    guard.hold(cut.group, 600);
    const renewing = setInterval(() => guard.renew(renewed.group, 600), 100);
    onTestFinished(() => clearInterval(renewing));
    guard.drop(dropped.group);
    expect(await cut.ended).toEqual([null, "SIGKILL"]);
    expect([renewed, unbounded, dropped].map(runs)).toEqual([true, true, true]);
    expect(known).toEqual([unbounded, renewed, dropped, cut].map(({ group }) => group));
    guard.end();
    await Promise.all([renewed.ended, unbounded.ended]);
    expect(runs(dropped)).toBe(true);
  });

  it("does not begin to hold a group again that it has killed, or that has ended", async () => {
    const { guard } = testGuard();
    const [stranger, last] = [program(), program()];
    guard.renew(stranger.group, 1);
    guard.hold(last.group, 1);
    await last.ended;
    guard.renew(last.group, 1);
    const end = program();
    guard.hold(end.group, Infinity);
    guard.end();
    await end.ended;
    expect(runs(stranger)).toBe(true);
  });

  it("takes hundreds of groups at once", async () => {
    const { guard, known } = testGuard();
    const held = program();
    // Ids that no process can have.
    const strangers = Array.from({ length: 2_000 }, (_none, index) => 2 ** 30 + index);
    for (const group of strangers) guard.hold(group, Infinity);
    guard.hold(held.group, Infinity);
    for (const group of strangers) guard.drop(group);
    await expect.poll(() => known.length).toBe(2_001);
    expect(runs(held)).toBe(true);
    guard.end();
    await held.ended;
  });
});

it("a program whose lease is not renewed is killed, and says so; one whose lease is renewed runs on", async () => {
  const folder = await temporaryFolder();
  const cutOff: ProgramsOf[] = [];
  const groups = new ProcessGroups(50, (of) => cutOff.push(of));
  onTestFinished(() => groups.close());
  const lost = new ProgramLease(new Deadline(500), { tenant: "one", agent: "a" });
  const kept = new ProgramLease(new Deadline(500), { tenant: "one", agent: "a" });
  const renewing = setInterval(() => kept.renew(new Deadline(500)), 100);
  onTestFinished(() => clearInterval(renewing));
  const [cut, running] = [lost, kept].map((lease) => groups.start("sleep", ["600"], { folder, env: {}, lease }));
  expect((await cut?.ended)?.notes).toEqual([expect.stringContaining("could not renew its lease in time")]);
  expect(running?.process.exitCode).toBe(null);
  expect(cutOff).toEqual([{ tenant: "one", agent: "a" }]);
  running?.end();
  expect((await running?.ended)?.notes).toEqual([]);
});
