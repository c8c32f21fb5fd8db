import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { BreakingChangeType, buildSchema, findSchemaChanges, type GraphQLSchema, type SchemaChange } from "graphql";

/** The contract as it was released last; clients depend on it. */
export const RELEASED = "schema.released.graphql";

const STAMP = "# Released by `npm run release:schema`, which alone changes it. SHA-256 of what follows: ";

/** The text of a release: the contract below its digest, so that a change by hand is seen. */
export function releaseOf(contract: string): string {
  return `${STAMP}${digestOf(contract)}\n\n${contract}`;
}

/** The contract of a release. Throws if anything else than a release has changed it. */
export function contractOf(release: string): string {
  const [first = ""] = release.split("\n", 1);
  const contract = release.slice(first.length + 2);
  if (first !== `${STAMP}${digestOf(contract)}`)
    throw new Error(`${RELEASED} was changed by hand: take that back, and release with \`npm run release:schema\``);
  return contract;
}

/** The contract that was released last. */
export async function releasedSchema(): Promise<string> {
  return contractOf(await readFile(RELEASED, "utf8"));
}

/** The changes from one contract to another after which a client of the one may not work with the other. */
export function breakingChanges(before: string, now: GraphQLSchema): readonly SchemaChange[] {
  return findSchemaChanges(buildSchema(before), now).filter(({ type }) => Object.hasOwn(BreakingChangeType, type));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
