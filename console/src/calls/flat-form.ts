import type { FormField } from "@triplane/client/input-form";

/** A JSON Schema as far as a flat form needs it. */
type Property = Readonly<Record<string, unknown>>;

/**
 * The fields of a tool's input schema: texts, numbers, booleans, and choices of texts. An optional property of another shape has no
 * field: an input that has it is edited as JSON. Null if a required property has another shape.
 */
export function flatFields(schema: unknown): readonly FormField[] | null {
  if (!isRecord(schema) || schema["type"] !== "object" || !isRecord(schema["properties"])) return null;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly unknown[]) : [];
  const fields: FormField[] = [];
  for (const [name, property] of Object.entries(schema["properties"])) {
    const isRequired = required.includes(name);
    const field = isRecord(property) ? fieldOf(name, property, isRequired) : null;
    if (field !== null) fields.push(field);
    else if (isRequired) return null;
  }
  return fields.length > 0 ? fields : null;
}

/** The name of the field of a value that is no object. */
export const VALUE = "result";

/** The form of a value by its schema. One that is no object has one field, VALUE. Null for a schema of another shape. */
export function valueFields(schema: unknown): readonly FormField[] | null {
  return flatFields(schema) ?? flatFields({ type: "object", required: [VALUE], properties: { [VALUE]: schema } });
}

/** The value that the entries of its form make. */
export function valueOf(
  schema: unknown,
  fields: readonly FormField[],
  entries: Readonly<Record<string, string | boolean | readonly string[]>>,
): unknown {
  const input = inputOf(fields, entries, {});
  return flatFields(schema) === null ? input[VALUE] : input;
}

function fieldOf(name: string, property: Property, isRequired: boolean): FormField | null {
  const shape = shapeOf(property);
  if (shape === null) return null;
  return {
    name,
    title: textOf(property["title"]),
    description: textOf(property["description"]),
    isRequired,
    default: property["default"] ?? null,
    format: null,
    minLength: numberOf(property["minLength"]),
    maxLength: numberOf(property["maxLength"]),
    minimum: numberOf(property["minimum"]),
    maximum: numberOf(property["maximum"]),
    minItems: numberOf(property["minItems"]),
    maxItems: numberOf(property["maxItems"]),
    ...shape,
  };
}

function shapeOf(property: Property): Pick<FormField, "kind" | "options"> | null {
  const choices = choicesOf(property);
  if (choices !== null) return { kind: "CHOICE", options: choices };
  switch (property["type"]) {
    case "string":
      return { kind: "TEXT", options: [] };
    case "number":
      return { kind: "NUMBER", options: [] };
    case "integer":
      return { kind: "INTEGER", options: [] };
    case "boolean":
      return { kind: "BOOLEAN", options: [] };
    case "array": {
      const items = property["items"];
      const options = isRecord(items) ? choicesOf(items) : null;
      return options === null ? null : { kind: "CHOICES", options };
    }
    default:
      return null;
  }
}

function choicesOf(property: Property): FormField["options"] | null {
  const values = property["enum"] ?? (Array.isArray(property["anyOf"]) ? property["anyOf"].map(constantOf) : null);
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === "string")) return null;
  return values.map((value) => ({ value, title: value }));
}

function constantOf(schema: unknown): unknown {
  return isRecord(schema) ? schema["const"] : undefined;
}

/** The entries of an input in a flat form; null if the input has values that the form cannot show. */
export function entriesOf(
  fields: readonly FormField[],
  input: unknown,
): Readonly<Record<string, string | boolean | readonly string[]>> | null {
  if (!isRecord(input)) return null;
  const known = new Set(fields.map(({ name }) => name));
  if (Object.keys(input).some((name) => !known.has(name))) return null;
  const entries: Record<string, string | boolean | readonly string[]> = {};
  for (const { name, kind } of fields) {
    const entry = entryOf(kind, input[name]);
    if (entry === null) return null;
    entries[name] = entry;
  }
  return entries;
}

/** A field that an input has, with its value as a text. */
export type FlatEntry = { readonly field: FormField; readonly text: string };

/**
 * The values of an input by the fields of its flat schema, in the schema's order. Null for another schema, an input with further
 * parameters, and values of other types than those of their fields.
 */
export function flatEntries(schema: unknown, input: unknown): readonly FlatEntry[] | null {
  const fields = flatFields(schema);
  if (fields === null || !isRecord(input) || entriesOf(fields, input) === null) return null;
  const had = fields.filter(({ name }) => Object.hasOwn(input, name));
  if (had.length === 0 || !had.every(({ kind, name }) => isOfKind(kind, input[name]))) return null;
  return had.map((field) => {
    const value = input[field.name];
    return { field, text: typeof value === "string" ? value : JSON.stringify(value) };
  });
}

function isOfKind(kind: FormField["kind"], value: unknown): boolean {
  switch (kind) {
    case "NUMBER":
    case "INTEGER":
      return typeof value === "number";
    case "BOOLEAN":
      return typeof value === "boolean";
    case "CHOICES":
      return Array.isArray(value);
    case "TEXT":
    case "CHOICE":
      return typeof value === "string";
  }
}

function entryOf(kind: FormField["kind"], value: unknown): string | boolean | readonly string[] | null {
  if (kind === "BOOLEAN") return value === undefined ? false : typeof value === "boolean" ? value : null;
  if (kind === "CHOICES")
    return value === undefined ? [] : Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
  if (value === undefined) return "";
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

/**
 * The input that the entries make. An empty entry leaves an optional property out. An unchecked box is left out if the input did
 * not have it.
 */
export function inputOf(
  fields: readonly FormField[],
  entries: Readonly<Record<string, string | boolean | readonly string[]>>,
  before: unknown,
): Readonly<Record<string, unknown>> {
  const had = isRecord(before) ? before : {};
  return Object.fromEntries(
    fields.flatMap(({ name, kind, isRequired }) => {
      const entry = entries[name] ?? "";
      const isUnset = entry === "" || entry === false || (Array.isArray(entry) && entry.length === 0);
      if (isUnset && !isRequired && !Object.hasOwn(had, name)) return [];
      if (entry === "" && !isRequired && had[name] !== "") return [];
      const isNumber = (kind === "NUMBER" || kind === "INTEGER") && typeof entry === "string" && entry.trim() !== "";
      return [[name, isNumber && Number.isFinite(Number(entry)) ? Number(entry) : entry] as const];
    }),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
