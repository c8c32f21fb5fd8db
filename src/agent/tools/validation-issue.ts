import type { ErrorObject } from "ajv";
import { isJsonObject, type Json } from "../../lib/json.ts";
import { limitWords } from "../../lib/limit-words.ts";

/** The problem with one parameter: a JSON pointer, what was expected, and the value that came; undefined if none did. */
export type ValidationIssue = { readonly path: string; readonly message: string; readonly value: Json | undefined };

/** The problems that Ajv found in an input, for the model. The problem with a name of a field stands alone, without the one that there is such a name. */
export function issuesOf(errors: readonly ErrorObject[], input: unknown): readonly ValidationIssue[] {
  return errors.filter(({ keyword }) => keyword !== "propertyNames").map((error) => issueOf(error, input));
}

function issueOf(error: ErrorObject, input: unknown): ValidationIssue {
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
  const words = limitWords(error) ?? error.message ?? error.keyword;
  return error.propertyName === undefined ? words : `the name ${JSON.stringify(error.propertyName)} ${words}`;
}
