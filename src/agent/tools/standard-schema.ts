import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";
import { ToolDefinitionError } from "./input-schema.ts";
import type { ValidationIssue } from "./validation-issue.ts";

/**
 * A schema of another library with its own validation and JSON Schema: Standard Schema 1 and Standard JSON Schema 1
 * (standardschema.dev), such as an object of zod 4.2 or later.
 */
export type StandardSchema<Input = unknown, Output = Input> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-07" }) => Record<string, unknown> };
  };
};

export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export type StandardCheck = (
  input: JsonObject,
) => { readonly value: unknown; readonly issues: null } | { readonly issues: readonly ValidationIssue[] };

/**
 * The JSON Schema of another library's schema, with its validation; null for other values. Throws ToolDefinitionError
 * for one without a JSON Schema.
 */
export function readStandardSchema(
  name: string,
  given: unknown,
): { readonly schema: Record<string, unknown>; readonly check: StandardCheck } | null {
  if ((typeof given !== "object" && typeof given !== "function") || given === null || !("~standard" in given)) return null;
  const { validate, jsonSchema, vendor } = given["~standard"] as Partial<StandardSchema["~standard"]>;
  if (typeof validate !== "function" || typeof jsonSchema?.input !== "function")
    throw new ToolDefinitionError(
      `the inputSchema of tool ${name} is one of ${vendor ?? "a library"} that does not say its JSON Schema: update the library (zod to 4.2 or later), or give a Type.Object`,
    );
  const check: StandardCheck = (input) => {
    try {
      return checked(validate(input), input);
    } catch (error) {
      return { issues: [{ path: "/", message: `could not be checked by its schema: ${messageOf(error)}`, value: input }] };
    }
  };
  return { schema: schemaFrom(name, () => jsonSchema.input({ target: "draft-07" })), check };
}

function schemaFrom(name: string, made: () => Record<string, unknown>): Record<string, unknown> {
  try {
    // The dialect is implied: tools are validated, and sent to models, as draft-07.
    const { $schema: _dialect, ...schema } = made();
    return schema;
  } catch (error) {
    throw new ToolDefinitionError(
      `the inputSchema of tool ${name} cannot be said as JSON Schema (${messageOf(error)}): take a text or a number, and convert it in run`,
    );
  }
}

function checked(answer: unknown, input: JsonObject): ReturnType<StandardCheck> {
  if (answer instanceof Promise) {
    answer.catch(() => {});
    return { issues: [{ path: "/", message: "is checked asynchronously by its schema: do that in run", value: input }] };
  }
  const { issues, value } = answer as { readonly issues?: unknown; readonly value?: unknown };
  if (!Array.isArray(issues)) return { value, issues: null };
  return { issues: issues.map((issue: unknown) => issueFrom(issue, input)) };
}

function issueFrom(issue: unknown, input: JsonObject): ValidationIssue {
  const { message, path } = issue as { readonly message?: unknown; readonly path?: unknown };
  const keys = (Array.isArray(path) ? path : []).map((step: unknown) =>
    String(typeof step === "object" && step !== null && "key" in step ? step.key : step),
  );
  const value = keys.reduce<Json | undefined>(
    (at, key) => (Array.isArray(at) ? (at as readonly Json[])[Number(key)] : isJsonObject(at) ? at[key] : undefined),
    input,
  );
  return { path: `/${keys.join("/")}`, message: typeof message === "string" ? message : "does not fit its schema", value };
}
