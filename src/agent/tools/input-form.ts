import type { FormField, FormFormat } from "../../events/tool-question.ts";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { counted } from "../../lib/text.ts";

/** A problem with the value of a field; `field` is null for the values as a whole. */
export type FormProblem = { readonly field: string | null; readonly message: string };

/** The most problems that are reported. */
const MOST_PROBLEMS = 100;

/** The longest text of a field, in characters. */
const TEXT_CHARACTERS = 16_000;

/**
 * The values of a form as its tool gets them. A field that is left out has its default; null leaves an optional field
 * empty, also one with a default. The refusal has all problems.
 */
export function formValues(fields: readonly FormField[], given: Json): Result<JsonObject, readonly FormProblem[]> {
  if (!isJsonObject(given)) return refused([{ field: null, message: "must be an object with the values by field" }]);
  const known = new Set(fields.map(({ name }) => name));
  const problems: FormProblem[] = Object.keys(given)
    .filter((name) => !known.has(name))
    .map((name) => ({ field: name, message: "is no field of the form" }));
  const values: [string, Json][] = [];
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? (given[field.name] ?? null) : field.default;
    const problem = value === null ? missing(field) : valueProblem(field, value);
    if (problem !== null) problems.push({ field: field.name, message: problem });
    else if (value !== null) values.push([field.name, value]);
  }
  return problems.length > 0 ? refused(problems.slice(0, MOST_PROBLEMS)) : accepted(Object.fromEntries(values));
}

function missing({ isRequired }: FormField): string | null {
  return isRequired ? "is required" : null;
}

/** The problem with a value of a field; null if it fits. */
export function valueProblem(field: FormField, value: Json): string | null {
  switch (field.kind) {
    case "TEXT":
      if (typeof value !== "string") return "must be a text";
      return textProblem(field, value);
    case "NUMBER":
    case "INTEGER":
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
      if (field.kind === "INTEGER" && !Number.isInteger(value)) return "must be a whole number";
      if (field.minimum !== null && value < field.minimum) return `must be at least ${field.minimum}`;
      return field.maximum !== null && value > field.maximum ? `must be at most ${field.maximum}` : null;
    case "BOOLEAN":
      return typeof value === "boolean" ? null : "must be true or false";
    case "CHOICE":
      return field.options.some((option) => option.value === value) ? null : "must be one of the options";
    case "CHOICES":
      return choicesProblem(field, value);
  }
}

function textProblem({ minLength, maxLength, format }: Extract<FormField, { kind: "TEXT" }>, text: string): string | null {
  const { length } = Array.from(text);
  const most = Math.min(maxLength ?? TEXT_CHARACTERS, TEXT_CHARACTERS);
  if (length > most) return `must have at most ${counted(most, "character")}`;
  if (minLength !== null && length < minLength) return `must have at least ${counted(minLength, "character")}`;
  return format === null || FORMATS[format].fits(text) ? null : FORMATS[format].problem;
}

function choicesProblem({ options, minItems, maxItems }: Extract<FormField, { kind: "CHOICES" }>, chosen: Json): string | null {
  if (!Array.isArray(chosen)) return "must be a list of options";
  const known = new Set<Json>(options.map(({ value }) => value));
  if (!chosen.every((each: Json) => known.has(each))) return "must have only the options";
  if (new Set(chosen).size < chosen.length) return "must have each option once";
  if (minItems !== null && chosen.length < minItems) return `must have at least ${counted(minItems, "option")}`;
  return maxItems !== null && chosen.length > maxItems ? `must have at most ${counted(maxItems, "option")}` : null;
}

const FORMATS: Readonly<Record<FormFormat, { readonly fits: (text: string) => boolean; readonly problem: string }>> = {
  email: { fits: (text) => text.length <= 254 && /^[^\s@]{1,64}@[^\s@]+$/.test(text), problem: "must be an email address" },
  uri: { fits: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text), problem: "must be a URI with its scheme" },
  date: { fits: isDate, problem: "must be a date such as 2026-01-31" },
  "date-time": { fits: isDateTime, problem: "must be a time such as 2026-01-31T12:00:00Z" },
};

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [, date, zone] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  return date !== undefined && zone !== undefined && isDate(date) && !Number.isNaN(Date.parse(text));
}
