import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { isJsonObject } from "./json.ts";
import { didYouMean, limitWords } from "./text.ts";

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  discriminator: true,
  verbose: true,
  // Checks are compiled at each start, and used a few times: optimising takes as long as compiling.
  code: { optimize: false },
  // The schemas are the project's own: validating them would take longer than the rest.
  meta: false,
  validateSchema: false,
});
ajv.addKeyword({
  keyword: "isFunction",
  schemaType: "boolean",
  validate: (_schema: boolean, value: unknown) => typeof value === "function",
  error: { message: "must be a function" },
});
// The words after the field, for a schema whose usual message is unclear.
ajv.addKeyword({ keyword: "problem", schemaType: "string" });

export type FormCheck = (value: unknown) => readonly string[];

/** A check that is compiled at its first use. `whole` names the value in problems without a field. */
export function formCheck(schema: TSchema, whole: string): FormCheck {
  let validate: ValidateFunction | null = null;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    const undecided = new Set(
      errors.filter(({ keyword }) => keyword === "discriminator").map(({ instancePath }) => instancePath),
    );
    const summed = errors.flatMap(({ parentSchema, instancePath }) =>
      parentSchema?.["problem"] === undefined ? [] : [instancePath],
    );
    return [
      ...new Set(
        errors
          // A schema's own words about the whole replace those about its parts.
          .filter(
            ({ parentSchema, instancePath }) =>
              parentSchema?.["problem"] !== undefined ||
              !summed.some((place) => instancePath === place || instancePath.startsWith(`${place}/`)),
          )
          // Missing fields of an unknown form are noise, and wrong names have their own error.
          .filter(
            ({ keyword, instancePath }) =>
              keyword !== "propertyNames" && (keyword !== "required" || !undecided.has(instancePath)),
          )
          .map((error) => problemOf(error, whole)),
      ),
    ];
  };
}

function problemOf(
  { instancePath, message, keyword, params, parentSchema, propertyName, data }: ErrorObject,
  whole: string,
): string {
  const place = instancePath.slice(1).replaceAll("/", ".") || whole;
  const field = propertyName === undefined ? place : `${place}: the name ${JSON.stringify(propertyName)}`;
  const problem: unknown = parentSchema?.["problem"];
  if (typeof problem === "string") return `${field} ${problem}`;
  const words = limitWords({ keyword, params }) ?? message ?? keyword;
  switch (keyword) {
    case "additionalProperties": {
      const known = isJsonObject(parentSchema?.["properties"]) ? Object.keys(parentSchema["properties"]) : [];
      const wrong = String(params["additionalProperty"]);
      return `${field} has no field ${JSON.stringify(wrong)}${didYouMean(wrong, known)}: the fields are ${known.toSorted().join(", ")}`;
    }
    case "discriminator":
      return `${field}.${String(params["tag"])} must be one of ${tagsOf(parentSchema, String(params["tag"])).join(", ")}`;
    case "enum":
      return `${field} must be one of ${(params["allowedValues"] as readonly string[]).join(", ")}`;
    case "type":
    case "minimum":
    case "maximum":
      // Texts may be secrets.
      return `${field} ${words}${typeof data === "number" || typeof data === "boolean" ? `, not ${data}` : ""}`;
    default:
      return `${field} ${words}`;
  }
}

function tagsOf(schema: ErrorObject["parentSchema"], tag: string): readonly unknown[] {
  const forms: unknown = schema?.["oneOf"];
  if (!Array.isArray(forms)) return [];
  return forms.map((form: unknown) => memberOf(memberOf(memberOf(form, "properties"), tag), "const"));
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}
