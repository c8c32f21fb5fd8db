import type { ErrorObject } from "ajv";
import { isJsonObject, type Json } from "../../lib/json.ts";

/** The problem with one parameter: a JSON pointer, what was expected, and the value that came; undefined if none did. */
export type ValidationIssue = { readonly path: string; readonly message: string; readonly value: Json | undefined };

/** The problem that Ajv found in an input, for the model. */
export function issueOf(error: ErrorObject, input: unknown): ValidationIssue {
  const path = error.instancePath === "" ? "/" : error.instancePath;
  switch (error.keyword) {
    case "required":
      return { path, message: describe(error), value: undefined };
    case "additionalProperties": {
      const name: unknown = error.params["additionalProperty"];
      return { path, message: `has no parameter ${JSON.stringify(name)}`, value: propertyOf(error.data, name) as Json };
    }
    default:
      return { path, message: describe(error), value: (error.data === undefined ? input : error.data) as Json };
  }
}

function propertyOf(data: unknown, key: unknown): unknown {
  return isJsonObject(data) && typeof key === "string" ? data[key] : undefined;
}

/** The problem in words that follow the place. */
export function describe(error: ErrorObject): string {
  if (error.keyword === "enum") return `must be one of ${JSON.stringify(error.params["allowedValues"])}`;
  if (error.keyword === "minLength" && error.params["limit"] === 1) return "must not be empty";
  return error.message ?? error.keyword;
}
