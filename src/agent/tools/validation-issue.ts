import type { ErrorObject } from "ajv";
import { isJsonObject, type Json } from "../../lib/json.ts";
import { limitWords } from "../../lib/limit-words.ts";

/** `path` is a JSON pointer; `value` is undefined if it is missing. */
export type ValidationIssue = { readonly path: string; readonly message: string; readonly value: Json | undefined };

/** Ajv's problems with an input, for the model. A problem with a field's name replaces the one that such a name exists. */
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

export function describe(error: ErrorObject): string {
  if (error.keyword === "enum") return `must be one of ${JSON.stringify(error.params["allowedValues"])}`;
  const words = limitWords(error) ?? error.message ?? error.keyword;
  return error.propertyName === undefined ? words : `the name ${JSON.stringify(error.propertyName)} ${words}`;
}
