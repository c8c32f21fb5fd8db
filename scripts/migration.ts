import { mkdir, writeFile } from "node:fs/promises";
import { PGlite } from "@electric-sql/pglite";
import { readMigrations } from "../src/db/migrate.ts";
import { definitionOf, functionMark, newestDefinition, readFunctions } from "./functions.ts";
import { schemaDifference } from "./schema-engine.ts";

/**
 * `npm run migration -- NAME`: writes what leads from the committed migrations to prisma/schema.prisma, and the texts of
 * the functions that have changed. Where the newest migration has that name already, the texts of its functions are
 * written anew and the rest of it stays. What else it needs is written by hand, above the functions.
 */
const [name = ""] = process.argv.slice(2);
if (!/^[a-z_]+$/.test(name)) throw new Error("name the migration in letters and _: npm run migration -- NAME");
const migrations = await readMigrations();
const newest = migrations.at(-1);
const isAgain = newest?.name.endsWith(`_${name}`) === true;
const before = isAgain ? migrations.slice(0, -1) : migrations;
const changed = (await readFunctions()).filter((source) => newestDefinition(source.name, before) !== definitionOf(source.text));
const texts = changed.map((source) => `${functionMark(source.name)}\n${source.text}`);
const head = isAgain
  ? (newest.sql.split(functionMark("").slice(0, 30), 1)[0] ?? "").trimEnd()
  : [
      "-- Servers of the version before may run beside it.",
      await schemaDifference({ tag: "migrations", sql: migrations }, await PGlite.create()),
    ]
      .join("\n\n")
      .trimEnd();
/** Later than the newest, whatever the clock says. */
const stamp = [
  new Date().toISOString().replace(/\D/g, "").slice(0, 14),
  String(Number(newest?.name.slice(0, 14) ?? 0) + 1).padStart(14, "0"),
]
  .sort()
  .at(-1);
const folder = `prisma/migrations/${isAgain ? newest.name : `${stamp}_${name}`}`;
await mkdir(folder, { recursive: true });
await writeFile(`${folder}/migration.sql`, `${[head, ...texts].join("\n\n").trimEnd()}\n`);
console.log(`wrote ${folder}: ${changed.map((source) => source.name).join(", ") || "no function has changed"}`);
console.log("Read it, say in its first line whether servers of the version before may run beside it, and run `npm run codegen`.");
