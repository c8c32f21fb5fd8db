import { mkdirSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ControlGroups,
  groupLimits,
  type GroupLimit,
  BOX_LIMITS,
} from "../../../../src/agent/workspace/sandbox/control-groups.ts";
import { SandboxRefused } from "../../../../src/agent/workspace/sandbox/sandbox-refused.ts";
import { hasNoBox, testBox } from "../../../support/box.ts";
import { controlGroupOf, hasControllers, hasNoControlGroups, testControlGroup } from "../../../support/control-group.ts";

const MIB = 1024 ** 2;

/** The groups of boxes in a folder. */
function groupsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith("box-"));
}

/** The times that the programs of each group sleep. */
async function sleepersIn(folder: string): Promise<readonly (readonly string[])[]> {
  const held = groupsIn(folder).map(async (group) => {
    const ids = (await readFile(join(folder, group, "cgroup.procs"), "utf8")).trim().split("\n");
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return lines.filter((line) => line.startsWith("sleep")).map((line) => line.slice(6, -1));
  });
  return (await Promise.all(held)).toSorted(([one = ""], [other = ""]) => one.localeCompare(other));
}

describe.skipIf(hasNoBox || hasNoControlGroups)("the control group of a box", () => {
  it("has all of the box in it, also what left its process group, and nothing of another box", async () => {
    const folder = testControlGroup();
    const controlGroups = new ControlGroups(folder, []);
    await controlGroups.open();
    const { start } = await testBox({ controlGroups });
    const programs = await Promise.all(["7781.25", "7782.25"].map((mark) => start(`setsid sleep ${mark} & sleep ${mark}`)));
    // Each group has the programs of one box.
    await expect
      .poll(() => sleepersIn(folder))
      .toEqual([
        ["7781.25", "7781.25"],
        ["7782.25", "7782.25"],
      ]);
    expect(await controlGroupOf(process.pid)).not.toContain(folder);
    for (const program of programs) program.end();
    expect(await Promise.all(programs.map(({ ended: end }) => end))).toEqual([{ notes: [] }, { notes: [] }]);
    expect(groupsIn(folder)).toEqual([]);
  });

  it("is removed after a program that ends by itself, one that is never started, and a server that died", async () => {
    const folder = testControlGroup();
    mkdirSync(join(folder, "box-left"));
    const controlGroups = new ControlGroups(folder, []);
    await controlGroups.open();
    expect(groupsIn(folder)).toEqual([]);
    const { start, run } = await testBox({ controlGroups });
    expect(await run("echo done")).toMatchObject({ code: 0, out: "done\n", notes: [] });
    expect(groupsIn(folder)).toEqual([]);
    const aborted = new AbortController();
    const starting = start("sleep 100", {}, aborted.signal);
    aborted.abort();
    await expect(starting).rejects.toThrow(SandboxRefused);
    expect(groupsIn(folder)).toEqual([]);
  });

  it("ends what is in it, and tells an error of the system without throwing it", async () => {
    const folder = testControlGroup();
    const group = await new ControlGroups(folder, []).make();
    await expect(group.take(2 ** 22 + 1)).resolves.toBeUndefined();
    expect(await group.close()).toEqual([]);
    expect(await group.close()).toEqual([expect.stringContaining("the control group of this call could not be removed (ENOENT")]);
  });

  it("must be able to have its limits, or no box is made and the server does not start", async () => {
    const folder = testControlGroup();
    const limit: GroupLimit = { controller: "pids", file: "none.max", value: 1, events: ["none.events", "max"], said: "" };
    const controlGroups = new ControlGroups(folder, [limit]);
    await expect(controlGroups.open()).rejects.toThrow(`sandbox.cgroup: boxes cannot have control groups in ${folder} (E`);
    const { run } = await testBox({ controlGroups });
    await expect(run("true")).rejects.toThrow("none.max");
    expect(groupsIn(folder)).toEqual([]);
  });

  it.skipIf(!hasControllers)("bounds the memory and the processes of all programs of a box together, and says so", async () => {
    const folder = testControlGroup();
    const limits = { memory: 64 * MIB, processes: 20 };
    const controlGroups = new ControlGroups(folder, groupLimits(limits));
    await controlGroups.open();
    const { run } = await testBox({ controlGroups, limits: BOX_LIMITS });
    const forks = `perl -e 'for (1..40) { my $child = fork; if (defined $child && $child == 0) { sleep 2; exit } } print scalar(@{[glob "/proc/[0-9]*"]})'`;
    const { out, notes } = await run(forks);
    expect(Number(out)).toBeLessThanOrEqual(20);
    expect(notes).toEqual(["the programs of a call may have 20 processes and threads: further ones were refused"]);
    const part = `perl -e '$a = "x" x 30000000; sleep 5'`;
    const together = await run(`${part} & ${part} & ${part} & wait; echo survived`);
    expect(together).toMatchObject({ code: 137, out: "" });
    expect(together.notes).toEqual([expect.stringContaining("may use 64 MB of memory together")]);
    expect((await run("head -c 100000000 /dev/zero > /tmp/big; echo survived")).out).toBe("");
  });
});
