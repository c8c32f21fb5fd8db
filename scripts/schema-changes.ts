import { readFile } from "node:fs/promises";
import { BreakingChangeType, buildSchema, findSchemaChanges, type GraphQLSchema, type SchemaChange } from "graphql";
import { errorCode } from "../src/lib/error-code.ts";

/** The contract as it was released last; clients depend on it. */
export const RELEASED = "schema.released.graphql";

/** The text of the contract that was released last; null before the first release. */
export async function releasedSchema(): Promise<string | null> {
  return readFile(RELEASED, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

/** The changes from one contract to another after which a client of the one may not work with the other. */
export function breakingChanges(before: string, now: GraphQLSchema): readonly SchemaChange[] {
  return findSchemaChanges(buildSchema(before), now).filter(({ type }) => Object.hasOwn(BreakingChangeType, type));
}
