import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, isNestedDeeper, mapStrings, MOST_LEVELS, toJson, type JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { plainSchema } from "./plain-schema.ts";
import { plainText } from "./plain-text.ts";
import { schemaProblem } from "./schema-check.ts";
import { toolName } from "./tool-name.ts";

/** The definition of a tool, as a server lists it. */
export type ListedTool = {
  /** The server's own name of it. */
  readonly ownName: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject;
  /** True if it is only called as a task (`execution.taskSupport`, older generation). */
  readonly needsTask: boolean;
  readonly definition: JsonObject;
  /** The definition in its canonical form (RFC 8785). */
  readonly canonical: string;
  /** The SHA-256 of the canonical definition, in hex. */
  readonly digest: string;
};

/** The largest definition, in characters of JSON. */
const DEFINITION_CHARACTERS = 1024 * 1024;

/** The fields of a definition by which people and models judge a tool. */
const DEFINING = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Reads an entry of a server's list; the refusal says why it is not usable. */
export function readListedTool(server: string, value: unknown): Result<ListedTool, string> {
  const entry = isJsonObject(value) ? value : {};
  const { name: ownName, description, inputSchema, outputSchema, annotations, title, execution } = entry;
  if (typeof ownName !== "string" || ownName === "") return refused("a tool without a name");
  if (!ownName.isWellFormed()) return refused(`${storable(ownName)}: its name has half a character`);
  // Numbers beyond those of JSON are null, as in the definition.
  const exact = toJson(inputSchema);
  const problem = schemaProblem(exact);
  if (problem !== null || !isJsonObject(exact)) return refused(`${ownName}: its inputSchema ${problem}`);
  const plain = plainSchema(exact);
  if (!plain.ok) return refused(`${ownName}: its inputSchema ${plain.refusal}`);
  const definition = definitionOf(server, entry);
  if (isNestedDeeper(definition, MOST_LEVELS)) return refused(`${ownName}: its definition has too many levels`);
  if (JSON.stringify(definition).length > DEFINITION_CHARACTERS) return refused(`${ownName}: its definition is too large`);
  const canonical = canonicalOf(definition);
  if (canonical === null) return refused(`${ownName}: its definition has no canonical form`);
  const described = typeof description === "string" && description.trim() !== "" ? description : title;
  return accepted({
    ownName,
    name: toolName(server, ownName),
    description: typeof described === "string" ? plainText(described) : `The tool ${plainText(ownName)} of ${server}.`,
    inputSchema: plain.value,
    outputSchema: isJsonObject(outputSchema) && schemaProblem(outputSchema) === null ? outputSchema : null,
    annotations: isJsonObject(annotations) ? annotations : {},
    needsTask: isJsonObject(execution) && execution["taskSupport"] === "required",
    definition,
    canonical,
    digest: createHash("sha256").update(canonical).digest("hex"),
  });
}

/** Null if it has none. One such tool must not take the others away. */
function canonicalOf(definition: JsonObject): string | null {
  try {
    return canonicalize(mapStrings(definition, storable)) ?? null;
  } catch {
    return null;
  }
}

function definitionOf(server: string, entry: JsonObject): JsonObject {
  const given = DEFINING.flatMap((field) => {
    const value = toJson(entry[field]);
    return value === undefined ? [] : [[field, value] as const];
  });
  return { server, name: entry["name"] ?? null, ...Object.fromEntries(given) };
}
