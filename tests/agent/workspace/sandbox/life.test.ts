import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../support/app.ts";
import { boxServer } from "../../../support/box-server.ts";
import { ended, hasNoBox, testBox } from "../../../support/box.ts";

/** The processes of the machine whose command line has this mark. */
function marked(mark: string): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

/** Of these, those that sleep already. */
function sleeping(mark: string): readonly string[] {
  return marked(mark).filter((id) => readFileSync(`/proc/${id}/comm`, "utf8") === "sleep\n");
}

/** A time to sleep that no other program of the machine has, in s. */
const newMark = (): string => `${randomInt(1_000_000, 1_000_000_000)}.25`;

/** Leaves its group, and goes on. */
const leaves = (mark: string): string => `setsid sleep ${mark} & sleep ${mark} & disown -a`;

describe.skipIf(hasNoBox)("a program of a box", () => {
  it("has its streams, its exit code, and what is said of one that does not exist", async () => {
    const { start, run } = await testBox();
    const program = await start('read line; echo "out $line"; echo err >&2; exit 3');
    program.process.stdin.write("hello\n");
    expect(await ended(program)).toEqual({ code: 3, out: "out hello\n", err: "err\n", notes: [] });
    const { code } = await run("", { argv: ["/no/such/program"] });
    expect(code).toBe(127);
    expect((await run("kill -9 $$")).code).toBe(137);
  });

  it("gets exactly its words and its variables, whatever stands in them", async () => {
    const { run, workspace } = await testBox();
    const value = `a'b"c\n$HOME \`id\` \\ é`;
    const argv = ["perl", "-e", "print join('|', @ARGV, map { qq($_=$ENV{$_}) } sort keys %ENV)", "--", value, "", "-x"] as const;
    const { out } = await run("", { argv, env: { PATH: "/usr/bin", "odd-name": value, LD_PRELOAD: "", TMPDIR: "/var/tmp" } });
    expect(out).toBe(
      [
        value,
        "",
        "-x",
        "LD_PRELOAD=",
        "PATH=/usr/bin",
        `PWD=${workspace}`,
        "TMPDIR=/tmp",
        "npm_config_update_notifier=false",
        `odd-name=${value}`,
      ].join("|"),
    );
    const { out: least } = await run("", { argv: ["/usr/bin/env"], env: {} });
    expect(least).toBe(`PWD=${workspace}\nnpm_config_update_notifier=false\n`);
  });

  it("takes with it what it started when it ends, also what left its group", async () => {
    const mark = newMark();
    const { run, workspace } = await testBox();
    const late = join(workspace, "late");
    await run(`(setsid sh -c 'sleep 0.2; touch late' &); ${leaves(mark)}`);
    expect(marked(mark)).toEqual([]);
    expect(existsSync(late)).toBe(false);
  });

  it("is killed with all that left its group, and has ended only when nothing runs", async () => {
    const mark = newMark();
    const { start, groups } = await testBox();
    const program = await start(`${leaves(mark)}; sleep 100`);
    await expect.poll(() => sleeping(mark)).toHaveLength(2);
    program.end();
    await program.ended;
    expect(marked(mark)).toEqual([]);
    expect(groups.size).toBe(0);
  });

  it("is killed with all that left its group when its server is killed", async () => {
    const mark = newMark();
    const folder = await temporaryFolder();
    const script = await boxServer(folder, `mkdir .husky; ${leaves(mark)}; sleep 100`);
    const server = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    await expect.poll(() => sleeping(mark)).toHaveLength(2);
    server.kill("SIGKILL");
    await once(server, "exit");
    await expect.poll(() => marked(mark)).toEqual([]);
    const [left = ""] = readdirSync(join(folder, "box", "running"));
    expect(await readFile(join(folder, "box", "running", left), "utf8")).toContain(".husky");
  });

  it("is not started once its call has ended, and no box is left of one that ends meanwhile", async () => {
    const mark = newMark();
    const { start, groups } = await testBox();
    const call = new AbortController();
    const starting = start(`sleep ${mark}`, {}, call.signal);
    call.abort();
    await expect(starting).rejects.toThrow("the call ended before its program was started");
    await expect.poll(() => marked(mark)).toEqual([]);
    await expect.poll(() => groups.size).toBe(0);
  });

  it("starts also after a server before has used the same folder, whose files nobody may write", async () => {
    const folder = join(await temporaryFolder(), "box");
    await testBox({ folder });
    const { mtimeMs } = await stat(join(folder, "empty"));
    const { run } = await testBox({ folder });
    expect((await run("echo again")).out).toBe("again\n");
    expect((await stat(join(folder, "empty"))).mtimeMs).toBe(mtimeMs);
  });

  it("is refused with bubblewrap's own words if its box cannot be made", async () => {
    const { start, workspace, groups } = await testBox();
    await expect(start("true", { folder: join(workspace, "gone") })).rejects.toThrow(/the box could not be made \(bwrap: .*gone/);
    await expect.poll(() => groups.size).toBe(0);
  });
});
