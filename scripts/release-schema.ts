import { readFile, writeFile } from "node:fs/promises";
import { buildSchema } from "graphql";
import { breakingChanges, RELEASED, releasedSchema } from "./schema-changes.ts";

/**
 * `npm run release:schema`: what schema.graphql says is the contract from now on. Refuses what breaks clients of the one before;
 * `--breaking` does it all the same, for a new major version.
 */
const text = await readFile("schema.graphql", "utf8");
const before = await releasedSchema();
const changes = before === null ? [] : breakingChanges(before, buildSchema(text));
for (const { description } of changes) console.error(description);
if (changes.length > 0 && !process.argv.includes("--breaking")) {
  console.error(
    "These changes break clients, and nothing was released: deprecate instead (docs/upgrading.md), or give --breaking",
  );
  process.exit(1);
}
await writeFile(RELEASED, text);
console.log(`released: ${RELEASED}`);
