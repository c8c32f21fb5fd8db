import { lstat, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as macrotask } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyFolder, copyOpenFolder } from "../../../src/db/copies/folder-copy.ts";
import { obtainCopy } from "../../../src/db/copies/obtain-copy.ts";
import { KEPT_MS, removeOldCopies } from "../../../src/db/copies/private-copies.ts";
import { ServedCopies } from "../../../src/db/copies/served-copies.ts";
import { openEmbeddedDatabase } from "../../../src/db/initialised.ts";
import { lockFolder, tellAddress, toldAddress } from "../../../src/db/lock-file.ts";
import { temporaryFolder } from "../../support/app.ts";
import { embeddedFolder } from "../../support/embedded.ts";

const { signal } = new AbortController();

describe("a copy of an open embedded database", () => {
  it("is of one moment, whatever is committed meanwhile, and leaves the log of the past out", { timeout: 60_000 }, async () => {
    const folder = join(await embeddedFolder(), "pglite");
    const client = await openEmbeddedDatabase(folder);
    onTestFinished(() => client.close());
    await client.exec(
      "CREATE TABLE one (n int); CREATE TABLE two (n int); CREATE TABLE wide AS SELECT i, repeat(md5(i::text), 30) AS t FROM generate_series(1, 40000) i",
    );
    const to = join(await temporaryFolder(), "copy");
    const copied = new AbortController();
    const copying = copyOpenFolder(client, folder, to).finally(() => copied.abort());
    let pairs = 0;
    for (; !copied.signal.aborted; pairs += 1) {
      await client.transaction(async (transaction) => {
        await transaction.query("INSERT INTO one VALUES ($1)", [pairs]);
        await transaction.query("INSERT INTO two VALUES ($1)", [pairs]);
      });
      // The embedded database itself never lets files be read.
      await macrotask();
    }
    await copying;
    // The first waited for the copy.
    expect(pairs).toBeGreaterThan(0);
    expect(pairs).toBeLessThan(4);
    const segments = async (of: string) => (await readdir(join(of, "pg_wal"))).filter((name) => /^[0-9A-F]{24}$/.test(name));
    expect((await segments(folder)).length).toBeGreaterThan(2);
    expect((await segments(to)).length).toBeLessThanOrEqual(2);
    const copy = await openEmbeddedDatabase(to);
    onTestFinished(() => copy.close());
    const { rows } = await copy.query<{ one: number; two: number; wide: number }>(
      "SELECT (SELECT count(*)::int FROM one) AS one, (SELECT count(*)::int FROM two) AS two, (SELECT count(*)::int FROM wide) AS wide",
    );
    expect(rows).toEqual([{ one: 0, two: 0, wide: 40_000 }]);
  });

  it(
    "is refused above a size, and on a full disk, before anything is written, with what to do",
    { timeout: 60_000 },
    async () => {
      const folder = await embeddedFolder();
      const to = join(await temporaryFolder(), "copy");
      await expect(copyFolder(join(folder, "pglite"), to, { bytes: 1024 ** 2 })).rejects.toThrow(
        /at most 1 are copied.*DATABASE_URL/,
      );
      await expect(copyFolder(join(folder, "pglite"), to, { room: 80 * 1024 ** 2 })).rejects.toThrow(/has 80: make room/);
      await expect(stat(to)).rejects.toThrow("ENOENT");
    },
  );
});

it("a copy has linked folders and files as those of the folder itself, and refuses a link that leads in a circle", async () => {
  const [folder, other, to] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(folder, "base", "5"), { recursive: true });
  await writeFile(join(folder, "base", "5", "1259"), "table");
  await mkdir(join(other, "archive_status"));
  await writeFile(join(other, "000000010000000000000001"), "segment");
  await symlink(other, join(folder, "pg_wal"));
  await symlink(join(other, "000000010000000000000001"), join(folder, "linked"));
  await copyFolder(folder, join(to, "copy"));
  const copied = async (...path: readonly string[]) => readFile(join(to, "copy", ...path), "utf8");
  expect(await copied("base", "5", "1259")).toBe("table");
  expect(await copied("pg_wal", "000000010000000000000001")).toBe("segment");
  expect(await copied("linked")).toBe("segment");
  expect((await lstat(join(to, "copy", "pg_wal"))).isSymbolicLink()).toBe(false);
  expect((await stat(join(to, "copy", "pg_wal", "archive_status"))).isDirectory()).toBe(true);
  await symlink(folder, join(folder, "base", "circle"));
  await expect(copyFolder(folder, join(to, "second"))).rejects.toThrow("ELOOP");
});

describe("the copies of a data folder", () => {
  it("are for the user alone, at most four, and are removed when they are old", async () => {
    const folder = await temporaryFolder();
    const copies = await ServedCopies.open(folder, (to) => mkdir(to));
    onTestFinished(() => copies.close());
    const made = await Promise.all(Array.from({ length: 5 }, () => copies.make()));
    const kept = made.flatMap((copy) => (copy.ok ? [copy.value] : []));
    expect(kept).toHaveLength(4);
    expect(made.find((copy) => !copy.ok)).toMatchObject({ refusal: { kind: "TOO_MANY" } });
    for (const place of [join(folder, "copies"), ...kept]) expect((await stat(place)).mode & 0o777).toBe(0o700);
    const old = new Date(Date.now() - KEPT_MS);
    for (const copy of kept.slice(1)) await utimes(copy, old, old);
    const next = await ServedCopies.open(folder, (to) => mkdir(to));
    onTestFinished(() => next.close());
    expect(await readdir(join(folder, "copies"))).toEqual([kept[0]?.split("/").at(-1)]);
  });

  it("have none that could not be made", async () => {
    const folder = await temporaryFolder();
    const copies = await ServedCopies.open(folder, () => Promise.reject(new Error("the disk is full")));
    onTestFinished(() => copies.close());
    await expect(copies.make()).rejects.toThrow("full");
    expect(await removeOldCopies(folder)).toBe(0);
  });

  it("are made by the command where no server runs, and the folder is free again", { timeout: 60_000 }, async () => {
    const folder = await embeddedFolder();
    const copy = await obtainCopy({ dataFolder: folder, tenant: "local", token: null, signal });
    expect(await readdir(join(copy, "pglite"))).toContain("PG_VERSION");
    await (
      await lockFolder(folder)
    )();
  });

  it("are two of two commands at once", { timeout: 60_000 }, async () => {
    const folder = await embeddedFolder();
    const request = { dataFolder: folder, tenant: "local", token: null, signal };
    const [one, two] = await Promise.all([obtainCopy(request), obtainCopy(request)]);
    expect(one).not.toBe(two);
  });

  it(
    "are refused with what to do where there is no database, or its server listens for others only",
    { timeout: 60_000 },
    async () => {
      const empty = await temporaryFolder();
      await expect(obtainCopy({ dataFolder: empty, tenant: "local", token: null, signal })).rejects.toThrow(
        "start the server once",
      );
      expect(await readdir(empty)).toEqual([]);
      const folder = await embeddedFolder();
      const unlock = await lockFolder(folder);
      onTestFinished(unlock);
      await tellAddress(folder, "http://203.0.113.7:4000");
      expect(await toldAddress(folder)).toBe("http://203.0.113.7:4000");
      await expect(obtainCopy({ dataFolder: folder, tenant: "local", token: null, signal })).rejects.toThrow(
        /stop it for the statement/,
      );
    },
  );
});
