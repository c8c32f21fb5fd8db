import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Homes } from "../../src/agent/workspace/homes.ts";
import type { Sql } from "../../src/db/sql.ts";
import { NO_SKEW } from "../../src/db/database-clock.ts";
import { systemClock } from "../../src/lib/time.ts";
import { HomesSweep } from "../../src/sweeps/sweeps.ts";
import { temporaryFolder } from "../support/app.ts";
import { testDatabase } from "../support/database.ts";
import { silentLogger } from "../support/silent-logger.ts";

const AGENT = `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
  SELECT id, 't', 'assistant', 'scripted', '/w', 'anna', 'USER', now(), now() FROM unnest($1::text[]) AS id`;

/** HOMEs in a folder, and a database with the rows of some agents. */
async function homesOf(present: readonly string[]) {
  const { sql } = await testDatabase();
  await sql.query({ name: "agents", text: AGENT }, [present]);
  const folder = await temporaryFolder();
  return { sql, folder, homes: new Homes(join(folder, "homes")) };
}

function sweepOf(sql: Sql, homes: Homes, everyMs?: number, warn: (message: string) => void = () => {}): HomesSweep {
  const sweep = new HomesSweep(
    { sql, homes, clock: systemClock, clockSkew: () => NO_SKEW, logger: { ...silentLogger, warn } },
    null,
    everyMs,
  );
  onTestFinished(() => sweep.close());
  return sweep;
}

describe("the HOMEs of a server", () => {
  it("go with all that lies in them once the agent's row is gone, and what a link in them leads to stays", async () => {
    const { sql, folder, homes } = await homesOf(["kept"]);
    await writeFile(join(folder, "outside"), "stays");
    await mkdir(join(folder, "other"));
    for (const agent of ["kept", "gone"]) {
      const { path: home } = await homes.of(agent);
      await mkdir(join(home, ".cache", "deep"), { recursive: true });
      await writeFile(join(home, ".cache", "deep", "file"), agent);
      await symlink(join(folder, "outside"), join(home, "link"));
      await symlink(join(folder, "other"), join(home, ".cache", "folder"));
    }
    await symlink(join(folder, "other"), join(folder, "homes", "gone-too"));
    await writeFile(join(folder, "other", "file"), "stays");
    await sweepOf(sql, homes).tidy();
    expect(await readdir(join(folder, "homes"))).toEqual(["kept"]);
    expect(await readFile(join((await homes.of("kept")).path, ".cache", "deep", "file"), "utf8")).toBe("kept");
    expect(await readFile(join(folder, "outside"), "utf8")).toBe("stays");
    expect(await readdir(join(folder, "other"))).toEqual(["file"]);
  });

  it("stay beside another database, which has none of their agents: a server with a wrong DATABASE_URL removes none", async () => {
    const [{ sql }, { sql: other }] = [await testDatabase(), await testDatabase()];
    await other.query({ name: "key", text: "UPDATE signing_key SET key = sha256('another')" }, []);
    await sql.query({ name: "agents", text: AGENT }, [["kept"]]);
    const folder = await temporaryFolder();
    const own = await Homes.open(sql, folder);
    for (const agent of ["kept", "gone"]) await own.of(agent);
    const others = await Homes.open(other, folder);
    await others.of("another");
    await sweepOf(other, others).tidy();
    expect(await others.agents()).toEqual([]);
    expect((await own.agents()).toSorted()).toEqual(["gone", "kept"]);
    await sweepOf(sql, await Homes.open(sql, folder)).tidy();
    expect(await own.agents()).toEqual(["kept"]);
  });

  it("go also if their folders lie deeper than a path can be long, and if another one cannot be removed", async () => {
    const { sql, folder } = await homesOf([]);
    class Stuck extends Homes {
      override async remove(agentId: string): Promise<void> {
        if (agentId === "a") throw new Error("it is stuck");
        await super.remove(agentId);
      }
    }
    const homes = new Stuck(join(folder, "homes"));
    for (const agent of ["a", "b"]) await homes.of(agent);
    const name = "d".repeat(200);
    const deep = `for i in $(seq 25); do touch file; mkdir ${name} other; ln -s /etc link; cd -P ${name}; done`;
    execFileSync("sh", ["-c", deep], { cwd: (await homes.of("b")).path });
    await expect(sweepOf(sql, homes).tidy()).rejects.toMatchObject({ message: "1 of them", cause: new Error("it is stuck") });
    expect(await readdir(join(folder, "homes"))).toEqual(["a"]);
  });

  it("are looked at a thousand at a time, each once", async () => {
    const agents = Array.from({ length: 2_100 }, (_none, index) => `a${index}`);
    const { sql, folder, homes } = await homesOf(agents.filter((_agent, index) => index % 7 === 0));
    await Promise.all(agents.map((agent) => mkdir(join(folder, "homes", agent), { recursive: true })));
    const asked: number[] = [];
    const counting: Sql = {
      ...sql,
      query: (statement, values) => {
        asked.push((values[0] as readonly string[]).length);
        return sql.query(statement, values);
      },
    };
    await sweepOf(counting, homes).tidy();
    expect(asked).toEqual([1_000, 1_000, 100]);
    expect(await readdir(join(folder, "homes"))).toHaveLength(300);
  });

  it("stay while the database does not answer, and go when it does again; a server without any has nothing to do", async () => {
    const { sql, folder, homes } = await homesOf([]);
    await homes.of("gone");
    let isAway = true;
    const away: Sql = {
      ...sql,
      query: async (statement, values) => {
        if (isAway) throw new Error("the database is away");
        return sql.query(statement, values);
      },
    };
    const warnings: string[] = [];
    sweepOf(away, homes, 5, (message) => warnings.push(message));
    await expect.poll(() => warnings.length).toBeGreaterThan(1);
    expect(warnings[0]).toContain("could not be removed (the database is away); trying again later");
    expect(existsSync(join(folder, "homes", "gone"))).toBe(true);
    isAway = false;
    await expect.poll(() => existsSync(join(folder, "homes", "gone"))).toBe(false);
    await sweepOf(sql, new Homes(join(folder, "none"))).tidy();
  });

  it("are emptied before the next program, which says so, once they have more than may be kept", async () => {
    const { sql, folder } = await homesOf(["large", "small"]);
    const homes = new Homes(join(folder, "homes"), 1_000);
    for (const [agent, bytes] of [
      ["large", 2_000],
      ["small", 500],
    ] as const) {
      const { path } = await homes.of(agent);
      await mkdir(join(path, ".cache"));
      await writeFile(join(path, ".cache/file"), "x".repeat(bytes));
    }
    expect((await homes.of("large")).notes).toEqual([]);
    await sweepOf(sql, homes).tidy();
    const { path, notes } = await homes.of("large");
    expect(await readdir(path)).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/^HOME had more than .* GB in it and was emptied/)]);
    expect((await homes.of("large")).notes).toEqual([]);
    expect(await readdir((await homes.of("small")).path)).toEqual([".cache"]);
  });
});
