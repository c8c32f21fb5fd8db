import { readFile } from "node:fs/promises";
import { GraphQLError, validate } from "graphql";
import { isJsonObject, type Json } from "../lib/json.ts";
import { messageOf } from "../lib/text.ts";
import { schema } from "../schema/index.ts";
import { parseBounded } from "../server/documents.ts";
import { TrustedDocuments, type RoleOperations } from "../server/trusted-documents.ts";
import { ConfigurationError } from "./configuration-error.ts";

/**
 * Reads the trusted documents, and the roles that may send others. The file is JSON: `{ id: text }`, as Relay and
 * codegen write it, or Apollo's manifest. Refuses documents that do not fit the schema, or are too large, so that they
 * fail here and not at a client.
 */
export async function trustedDocumentsOf(
  path: string,
  file: string | null,
  operations: RoleOperations,
): Promise<TrustedDocuments> {
  if (file === null && Object.values(operations).includes("trusted"))
    throw new ConfigurationError(
      `${path}: operations limits a role to trusted documents, and there are none: give trustedDocuments`,
    );
  return new TrustedDocuments(file === null ? new Map() : await readDocuments(`${path}: trustedDocuments`, file), operations);
}

async function readDocuments(field: string, file: string): Promise<Map<string, string>> {
  const written = await readFile(file, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${file} cannot be read (${messageOf(error)})`);
  });
  const texts = textsOf(jsonOf(field, file, written));
  if (texts === null)
    throw new ConfigurationError(`${field}: ${file} is neither { "id": "text" } nor Apollo's persisted query manifest`);
  for (const [id, text] of texts) {
    const [problem] = problemsOf(text);
    if (problem !== undefined) throw new ConfigurationError(`${field}: the document ${id} of ${file}: ${problem.message}`);
  }
  return texts;
}

function jsonOf(field: string, file: string, written: string): Json {
  try {
    return JSON.parse(written) as Json;
  } catch (error) {
    throw new ConfigurationError(`${field}: ${file} is no JSON (${messageOf(error)})`);
  }
}

function textsOf(manifest: Json): Map<string, string> | null {
  if (!isJsonObject(manifest)) return null;
  const { operations } = manifest;
  const entries = Array.isArray(operations)
    ? operations.map((each): [Json | undefined, Json | undefined] =>
        isJsonObject(each) ? [each["id"], each["body"]] : [null, null],
      )
    : Object.entries(manifest);
  const texts = entries.flatMap(([id, text]): [string, string][] =>
    typeof id === "string" && typeof text === "string" ? [[id, text]] : [],
  );
  return texts.length === entries.length ? new Map(texts) : null;
}

function problemsOf(text: string): readonly GraphQLError[] {
  try {
    return validate(schema, parseBounded(text));
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}
