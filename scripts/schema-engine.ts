import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { PGlite } from "@electric-sql/pglite";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import { PrismaPGlite } from "pglite-prisma-adapter";

/** Where a comparison starts: an empty database, or the migrations as committed. */
export type From =
  | { readonly tag: "empty" }
  | { readonly tag: "migrations"; readonly sql: readonly { readonly name: string; readonly sql: string }[] };

/**
 * The SQL that leads from `from` to prisma/schema.prisma, by Prisma's own schema engine (its WebAssembly build, over
 * `empty`, an embedded database without any table). An empty script means that there is no drift in what Prisma describes.
 */
export async function schemaDifference(from: From, empty: PGlite): Promise<string> {
  const wasm = await readFile(
    createRequire(import.meta.url)
      .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
      .replace(/\.js$/, ".wasm"),
  );
  const { instance } = await WebAssembly.instantiate(wasm, { "./schema_engine_bg.js": bindings });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(empty));
  const schema = {
    path: "prisma/schema.prisma",
    content: await readFile(new URL("../prisma/schema.prisma", import.meta.url), "utf8"),
  };
  const engine = await bindings.SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, factory);
  const source =
    from.tag === "empty"
      ? { tag: "empty" as const }
      : {
          tag: "migrations" as const,
          baseDir: "prisma/migrations",
          lockfile: { path: "migration_lock.toml", content: 'provider = "postgresql"\n' },
          shadowDbInitScript: "",
          migrationDirectories: from.sql.map(({ name, sql }) => ({
            path: name,
            migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value: sql } },
          })),
        };
  const { stdout } = await engine.diff({
    from: source,
    to: { tag: "schemaDatamodel", files: [schema] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  return (stdout ?? "").replace("-- This is an empty migration.", "").trim();
}
