import { type ErrorObject, Ajv, type Options, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { hasMoreParts, isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { limitWords, messageOf } from "../../lib/text.ts";
import { mapSubschemas } from "../models/tool-schema.ts";

/** `path` is a JSON pointer; `value` is undefined if it is missing. */
export type ValidationIssue = { readonly path: string; readonly message: string; readonly value: Json | undefined };

/**
 * The problems of a value by a compiled schema. For `uniqueItems`, `const` and `enum` ajv compares values. It throws for
 * fields such as `toString`, since it calls those (ajv#2624). Such a value does not fit.
 */
export function valueIssues(validate: ValidateFunction, value: unknown): readonly ValidationIssue[] {
  try {
    return validate(value) ? [] : issuesOf(validate.errors ?? [], value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return [INCOMPARABLE];
  }
}

/** The problem of a value that ajv cannot compare. */
export const INCOMPARABLE: ValidationIssue = {
  path: "/",
  message: "must not have fields with the names of methods, such as `toString`, where values are compared",
  value: undefined,
};

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
  return typeof key === "string" ? ownOf(data, key) : undefined;
}

function ownOf(data: unknown, key: string): Json | undefined {
  return isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
}

export function describe(error: ErrorObject): string {
  if (error.keyword === "enum") return `must be one of ${JSON.stringify(error.params["allowedValues"])}`;
  const words = limitWords(error) ?? error.message ?? error.keyword;
  return error.propertyName === undefined ? words : `the name ${JSON.stringify(error.propertyName)} ${words}`;
}

/** The definition of a tool is invalid; the message names the place. */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
}

/** The schema of a tool's input, whose objects accept only their named properties. Throws ToolDefinitionError. */
export function schemaOf(name: string, schema: object): JsonObject {
  const json = JSON.parse(JSON.stringify(schema)) as JsonObject;
  if (json["type"] !== "object") throw new ToolDefinitionError(`the inputSchema of tool ${name} must have type "object"`);
  // Combined schemas cannot be closed one by one.
  const inner = JSON.stringify(json).includes('"allOf":') ? json : mapSubschemas(json, closedObject);
  return isOpen(json) ? inner : { ...inner, additionalProperties: false };
}

/**
 * The schema, whose objects accept only their named properties, unless they say otherwise. Objects without properties,
 * or with alternatives or conditions, stay open.
 */
function closedObject(schema: JsonObject): JsonObject {
  const namesProperties = isJsonObject(schema["properties"]);
  const isComposed = ["if", "not", "dependentSchemas"].some((keyword) => keyword in schema);
  if (isComposed || (namesProperties && ("anyOf" in schema || "oneOf" in schema))) return schema;
  const inner = mapSubschemas(schema, closedObject);
  return namesProperties && !isOpen(schema) ? { ...inner, additionalProperties: false } : inner;
}

function isOpen(schema: JsonObject): boolean {
  return "additionalProperties" in schema || "unevaluatedProperties" in schema;
}

const schemas = withFormats({});

function withFormats(options: Options): Ajv {
  return addFormats.default(new Ajv(options), { mode: "full" });
}

const COMPILING = {
  useDefaults: true,
  // A parameter may have the name of a method of objects, such as `constructor`.
  ownProperties: true,
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

/**
 * For a schema whose library validates again: it may have its own keywords, and regular expression flags that JSON
 * Schema lacks.
 */
const CHECKED_AGAIN = { ...COMPILING, strict: false, validateFormats: false, logger: false } as const;

export function compile<Input>(
  name: string,
  schema: JsonObject,
  problems: "all" | "first" = "all",
  isCheckedAgain = false,
  field: "inputSchema" | "outputSchema" = "inputSchema",
): ValidateFunction<Input> {
  try {
    const read = isCheckedAgain ? withoutPatterns(schema) : schema;
    if (schemas.validateSchema(read) !== true) throw new Error(`schema is invalid: ${schemas.errorsText()}`);
    // One for each tool: references resolve only within its schema.
    return withFormats({ ...(isCheckedAgain ? CHECKED_AGAIN : COMPILING), allErrors: problems === "all" }).compile<Input>(read);
  } catch (error) {
    throw new ToolDefinitionError(
      `the ${field} of tool ${name} is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function withoutPatterns({ pattern: _pattern, ...schema }: JsonObject): JsonObject {
  return mapSubschemas(schema, withoutPatterns);
}

/** The largest value, in items and fields, whose problems are all listed: listing blocks other work. */
export const LISTED_PARTS = 5_000;

/** The problems of a result by a schema of results; none without a schema. Throws ToolDefinitionError for an invalid schema. */
export function resultCheck(name: string, schema: object | null): (result: Json) => readonly ValidationIssue[] {
  if (schema === null) return () => [];
  const json = JSON.parse(JSON.stringify(schema)) as JsonObject;
  const validateAll = compile<unknown>(name, json, "all", false, "outputSchema");
  let validateFirst: ValidateFunction | null = null;
  return (result) => {
    const isLarge = hasMoreParts(result, LISTED_PARTS);
    const validate = isLarge ? (validateFirst ??= compile(name, json, "first", false, "outputSchema")) : validateAll;
    const value = structuredClone(result);
    return valueIssues(validate, value);
  };
}

/** An invalid default would fail each call without that parameter. Throws ToolDefinitionError. */
export function checkDefaults(name: string, schema: JsonObject): void {
  if (!JSON.stringify(schema).includes('"default":')) return;
  const validate = compile(name, { ...schema, required: [] });
  if (validate({})) return;
  const problem = validate.errors?.find(({ instancePath }) => instancePath !== "");
  if (problem !== undefined)
    throw new ToolDefinitionError(
      `the default of ${problem.instancePath.slice(1).replaceAll("/", ".")} of tool ${name} does not fit: it ${describe(problem)}`,
    );
}

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
    (at, key) => (Array.isArray(at) ? (at as readonly Json[])[Number(key)] : ownOf(at, key)),
    input,
  );
  return { path: `/${keys.join("/")}`, message: typeof message === "string" ? message : "does not fit its schema", value };
}
