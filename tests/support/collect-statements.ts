import { readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { SHAPES, commitText, shapeName } from "../../src/db/commit/commit-text.ts";
import type { Statement } from "../../src/db/sql.ts";

/**
 * `node tests/support/collect-statements.ts`: prints all statements of the server as JSON: those that a module keeps as a
 * constant, and those that are composed. Each module is loaded with one more line, which gives its statements away.
 */
const SOURCES = new URL("../../src/", import.meta.url);
const statements: Statement[] = SHAPES.map((shape) => ({ name: shapeName(shape), text: commitText(shape) }));
Object.assign(globalThis, { collectStatement: (statement: Statement) => statements.push(statement) });

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(SOURCES.href) || loaded.source === undefined || loaded.source === null) return loaded;
    const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    const names = [...source.matchAll(/^(?:export )?const (\w+): Statement\b/gm)].map(([, name]) => name);
    return { ...loaded, source: `${source}\n${names.map((name) => `globalThis.collectStatement(${name});`).join("\n")}` };
  },
});
/** Modules that are started as they are loaded. */
const STARTS = /^(main|triplane)\.ts$|worker|guard|generated/;
for (const file of readdirSync(SOURCES, { recursive: true, encoding: "utf8" }))
  if (file.endsWith(".ts") && !STARTS.test(file)) await import(new URL(file, SOURCES).href);
process.stdout.write(JSON.stringify(statements));
