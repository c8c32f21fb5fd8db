import { writeFile } from "node:fs/promises";
import { printSchema } from "graphql";
import { schema } from "../src/schema/index.ts";
import { breakingChanges, RELEASED, releasedSchema, releaseOf } from "./schema-changes.ts";

/**
 * `npm run release:schema`: the contract as it is now is the contract from now on. Refuses what breaks clients of the one before;
 * `--breaking` does it all the same, for a new major version.
 */
const changes = breakingChanges(await releasedSchema(), schema);
for (const { description } of changes) console.error(description);
if (changes.length > 0 && !process.argv.includes("--breaking")) {
  console.error(
    "These changes break clients, and nothing was released: deprecate instead (docs/upgrading.md), or give --breaking",
  );
  process.exit(1);
}
await writeFile(RELEASED, releaseOf(`${printSchema(schema)}\n`));
console.log(`released: ${RELEASED}`);
