import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { copyInitialised, initialisedFolder, makeInitialised } from "../../src/db/initialised.ts";
import { temporaryFolder } from "../support/app.ts";

const silent = (message: string): never => expect.fail(message);

/** A folder that stands for an initialised one, and the place of a new database. */
async function places() {
  const folder = await temporaryFolder();
  const initialised = join(folder, "initialised");
  await mkdir(join(initialised, "base"), { recursive: true });
  await writeFile(join(initialised, "base/1"), "a table");
  return { folder, initialised, database: join(folder, "pglite") };
}

it("the embedded database is compiled once: what runs often is not compiled again, which takes 600 MB", async () => {
  const { database } = await places();
  await copyInitialised(await initialisedFolder(), database, silent);
  const program = `
    const { openEmbeddedDatabase } = await import(${JSON.stringify(new URL("../../src/db/initialised.ts", import.meta.url).href)});
    const database = await openEmbeddedDatabase(${JSON.stringify(database)});
    await database.query("SELECT sum(hashtext(n::text)) FROM generate_series(1, 10000) n");
    await database.close();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--trace-wasm-compilation-times", "--input-type=module", "--eval", program],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const compiled = [...stdout.matchAll(/Compiled function (\w+)#(\d+) using (\w+)/g)];
  // Node has modules of its own, such as the one that strips types: PostgreSQL is the one with the most functions.
  const largest = compiled.toSorted(([, , one], [, , other]) => Number(other) - Number(one))[0]?.[1];
  const ofPostgres = compiled.filter(([, module]) => module === largest);
  expect(ofPostgres.length).toBeGreaterThan(1_000);
  expect(new Set(ofPostgres.map(([, , , compiler]) => compiler))).toEqual(new Set(["Liftoff"]));
});

describe("the folder that was initialised at install", () => {
  it("is copied for a new database, whether its place is there or not, and nothing else is left", async () => {
    const { folder, initialised, database } = await places();
    await copyInitialised(initialised, database, silent);
    expect(await readFile(join(database, "base/1"), "utf8")).toBe("a table");
    await mkdir(join(folder, "empty"));
    await copyInitialised(initialised, join(folder, "empty"), silent);
    expect(await readFile(join(folder, "empty/base/1"), "utf8")).toBe("a table");
    expect(await readdir(folder)).toEqual(["empty", "initialised", "pglite"]);
  });

  it("never takes the place of a database", async () => {
    const { initialised, database } = await places();
    await mkdir(database);
    await writeFile(join(database, "PG_VERSION"), "18");
    await copyInitialised(initialised, database, silent);
    expect(await readdir(database)).toEqual(["PG_VERSION"]);
  });

  it("is copied anew if a process died while it copied: no half copy is ever opened", async () => {
    const { folder, initialised, database } = await places();
    await mkdir(`${database}.new`);
    await writeFile(join(`${database}.new`, "half"), "a");
    await copyInitialised(initialised, database, silent);
    expect(await readdir(database)).toEqual(["base"]);
    expect(await readdir(folder)).toEqual(["initialised", "pglite"]);
  });

  it("that cannot be copied is told of, and leaves the place free", async () => {
    const { folder, initialised, database } = await places();
    await symlink("nowhere", join(initialised, "base/2"));
    const told: string[] = [];
    await copyInitialised(initialised, database, (message) => told.push(message));
    expect(told).toEqual([expect.stringContaining(`${initialised} could not be copied`)]);
    expect(await readdir(folder)).toEqual(["initialised"]);
  });

  it("need not be there", async () => {
    const { folder, database } = await places();
    await copyInitialised(join(folder, "none"), database, silent);
    expect(await readdir(folder)).toEqual(["initialised"]);
  });

  it("has nothing that two databases must not share: each signs with a key of its own", async () => {
    const folder = await temporaryFolder();
    const initialised = join(folder, "initialised/pglite-1");
    await mkdir(join(folder, "initialised/pglite-0"), { recursive: true });
    await makeInitialised(initialised);
    expect(await readdir(join(folder, "initialised"))).toEqual(["pglite-1"]);
    const keyOf = async (name: string): Promise<string | undefined> => {
      await mkdir(join(folder, name));
      await copyInitialised(initialised, join(folder, name, "pglite"), silent);
      const database = await openDatabase({ kind: "embedded", folder: join(folder, name) });
      const statement = { name: "key", text: "SELECT encode(key, 'hex') AS key FROM signing_key WHERE name = 'images'" };
      const [row] = await database.sql.query<{ readonly key: string }>(statement, []);
      await database.close();
      return row?.key;
    };
    const [one, two] = [await keyOf("one"), await keyOf("two")];
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(two).toMatch(/^[0-9a-f]{64}$/);
    expect(two).not.toBe(one);
  }, 120_000);
});
