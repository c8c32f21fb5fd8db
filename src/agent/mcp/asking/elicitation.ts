import { FORM_FORMATS, type FormField, type FormOption, type ToolQuestion } from "../../../events/tool-question.ts";
import { visibleLine, visibleLines } from "../../../lib/escape-hidden.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { headBytes, marked, storable } from "../../../lib/text.ts";
import { valueProblem } from "../../tools/input-form.ts";
import { isPlain } from "../plain-text.ts";

/** A question of a server that is not asked, with the reason. */
export class QuestionRefused extends Error {
  override readonly name = "Error";
  /** The code of JSON-RPC for invalid parameters. */
  readonly code = -32_602;
}

const MOST_FIELDS = 50;
const MOST_OPTIONS = 200;
const MESSAGE_BYTES = 4 * 1024;
const TITLE_BYTES = 500;
const DESCRIPTION_BYTES = 2 * 1024;
const NAME_CHARACTERS = 100;
const VALUE_CHARACTERS = 500;

/** The largest question, in characters of JSON. */
const QUESTION_CHARACTERS = 64 * 1024;

/** Keywords that do not restrict values. */
const NOTES = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

const FORM_KEYWORDS = new Set(["type", "properties", "required", "additionalProperties", "$schema", "$id", ...NOTES]);

/** Reads the parameters of `elicitation/create`. Throws QuestionRefused for another mode, or for a form that is not flat. */
export function readQuestion(server: string, params: Json | undefined): ToolQuestion {
  if (!isJsonObject(params)) throw new QuestionRefused("it asks for input in an unknown form");
  const { mode = "form", message, requestedSchema } = params;
  if (mode !== "form")
    throw new QuestionRefused(
      mode === "url"
        ? "it asks a person to open an address (elicitation of the mode url), which is not built here"
        : "it asks for input in an unknown mode",
    );
  if (typeof message !== "string") throw new QuestionRefused("it asks for input without a message");
  const fields = readForm(requestedSchema);
  const question = { server, message: shownText(message, MESSAGE_BYTES), fields };
  if (JSON.stringify(question).length > QUESTION_CHARACTERS) throw new QuestionRefused("its form is too large");
  return question;
}

function readForm(schema: Json | undefined): readonly FormField[] {
  if (!isJsonObject(schema) || schema["type"] !== "object" || !isJsonObject(schema["properties"]))
    throw new QuestionRefused("its form is no object with properties");
  refuseOthers("its form", schema, FORM_KEYWORDS);
  const names = Object.keys(schema["properties"]);
  if (names.length > MOST_FIELDS) throw new QuestionRefused(`its form has more than ${MOST_FIELDS} fields`);
  const required = schema["required"] ?? [];
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string" && names.includes(name)))
    throw new QuestionRefused("its form requires fields that it does not have");
  return Object.entries(schema["properties"]).map(([name, field]) => readField(name, field, required.includes(name)));
}

function readField(name: string, schema: Json, isRequired: boolean): FormField {
  const isSeen = isPlain(name) && visibleLine(name) === name;
  if (name === "" || name.length > NAME_CHARACTERS || !isSeen || name === "__proto__")
    throw new QuestionRefused("the name of a field of its form is empty, too long or has invisible characters");
  if (!isJsonObject(schema)) throw new QuestionRefused(`its field ${name} has no schema`);
  const { title, description } = schema;
  const field = {
    name,
    title: typeof title === "string" ? shownText(title, TITLE_BYTES) : null,
    description: typeof description === "string" ? shownText(description, DESCRIPTION_BYTES) : null,
    isRequired,
    ...readKind(name, schema),
  };
  // A default that does not fit is none. A text with characters that people do not see does not fit.
  const preset = schema["default"] ?? null;
  if (preset === null || valueProblem(field, preset) !== null) return field;
  return field.kind === "TEXT" && typeof preset === "string" && !isPlain(preset)
    ? field
    : ({ ...field, default: preset } as FormField);
}

type WithoutNames<Field> = Field extends FormField ? Omit<Field, "name" | "title" | "description" | "isRequired"> : never;

function readKind(name: string, schema: JsonObject): WithoutNames<FormField> {
  const of = `its field ${name}`;
  switch (schema["type"]) {
    case "string": {
      if (schema["enum"] !== undefined || schema["oneOf"] !== undefined || schema["anyOf"] !== undefined) {
        refuseOthers(of, schema, CHOICE_KEYWORDS);
        return { kind: "CHOICE", options: readOptions(of, schema), default: null };
      }
      refuseOthers(of, schema, TEXT_KEYWORDS);
      const format = FORM_FORMATS.find((known) => known === schema["format"]) ?? null;
      if (format === null && schema["format"] !== undefined) throw new QuestionRefused(`${of} has an unknown format`);
      return { kind: "TEXT", ...readBounds(of, schema, "minLength", "maxLength", isCount), format, default: null };
    }
    case "number":
    case "integer":
      refuseOthers(of, schema, NUMBER_KEYWORDS);
      return {
        kind: schema["type"] === "integer" ? "INTEGER" : "NUMBER",
        ...readBounds(of, schema, "minimum", "maximum", Number.isFinite),
        default: null,
      };
    case "boolean":
      refuseOthers(of, schema, BOOLEAN_KEYWORDS);
      return { kind: "BOOLEAN", default: null };
    case "array": {
      refuseOthers(of, schema, CHOICES_KEYWORDS);
      const { items } = schema;
      if (!isJsonObject(items)) throw new QuestionRefused(`${of} is a list of anything`);
      refuseOthers(of, items, CHOICE_KEYWORDS);
      const bounds = readBounds(of, schema, "minItems", "maxItems", isCount);
      return { kind: "CHOICES", options: readOptions(of, items), ...bounds, default: null };
    }
    default:
      throw new QuestionRefused(`${of} is no text, number, boolean or choice`);
  }
}

const TEXT_KEYWORDS = new Set(["type", "minLength", "maxLength", "format", ...NOTES]);
const NUMBER_KEYWORDS = new Set(["type", "minimum", "maximum", ...NOTES]);
const BOOLEAN_KEYWORDS = new Set(["type", ...NOTES]);
const CHOICE_KEYWORDS = new Set(["type", "enum", "enumNames", "oneOf", "anyOf", ...NOTES]);
const CHOICES_KEYWORDS = new Set(["type", "items", "minItems", "maxItems", "uniqueItems", ...NOTES]);

function refuseOthers(of: string, schema: JsonObject, known: ReadonlySet<string>): void {
  const other = Object.keys(schema).find((keyword) => !known.has(keyword) && !keyword.startsWith("x-"));
  if (other !== undefined)
    throw new QuestionRefused(
      `${of} has \`${visibleLine(headBytes(storable(other), NAME_CHARACTERS))}\`, which flat forms do not have`,
    );
}

/** `enum` with `enumNames`, or a list of `const` with `title`. */
function readOptions(of: string, { enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly FormOption[] {
  const list = values ?? oneOf ?? anyOf;
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_OPTIONS)
    throw new QuestionRefused(`${of} has no options, or more than ${MOST_OPTIONS}`);
  const options = list.map((entry: Json, index): FormOption => {
    const value = values === undefined && isJsonObject(entry) ? entry["const"] : entry;
    const named = values === undefined && isJsonObject(entry) ? entry["title"] : nameAt(enumNames, index);
    if (typeof value !== "string" || value.length > VALUE_CHARACTERS || storable(value) !== value)
      throw new QuestionRefused(`${of} has an option that is no text, or too long`);
    return { value, title: shownText(typeof named === "string" && named !== "" ? named : value, TITLE_BYTES) };
  });
  if (new Set(options.map(({ value }) => value)).size < options.length)
    throw new QuestionRefused(`${of} has the same option twice`);
  return options;
}

function nameAt(names: Json | undefined, index: number): Json | undefined {
  return Array.isArray(names) ? (names[index] as Json | undefined) : undefined;
}

function readBounds<Least extends string, Most extends string>(
  of: string,
  schema: JsonObject,
  least: Least,
  most: Most,
  isBound: (value: number) => boolean,
): Record<Least | Most, number | null> {
  const bound = (keyword: string): number | null => {
    const value = schema[keyword];
    if (value === undefined) return null;
    if (typeof value !== "number" || !isBound(value)) throw new QuestionRefused(`${of} has an invalid \`${keyword}\``);
    return value;
  };
  const bounds = { [least]: bound(least), [most]: bound(most) } as Record<Least | Most, number | null>;
  if ((bounds[least] ?? -Infinity) > (bounds[most] ?? Infinity)) throw new QuestionRefused(`${of} has bounds that no value fits`);
  return bounds;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function shownText(text: string, bytes: number): string {
  return marked(visibleLines(storable(text)), bytes, "the rest is left out");
}
