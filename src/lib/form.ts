import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { isJsonObject } from "./json.ts";
import { didYouMean } from "./text.ts";
import { limitWords } from "./limit-words.ts";

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  discriminator: true,
  verbose: true,
  // Checks are made at each start, and made use of a few times: to optimise them takes as long as to make them.
  code: { optimize: false },
  // The schemas are the project's own: that they are schemas is known, and to check it would take longer than all else here.
  meta: false,
  validateSchema: false,
});
ajv.addKeyword({
  keyword: "isFunction",
  schemaType: "boolean",
  validate: (_schema: boolean, value: unknown) => typeof value === "function",
  error: { message: "must be a function" },
});
// Of a schema whose own words say too little: the words that follow the field instead.
ajv.addKeyword({ keyword: "problem", schemaType: "string" });

/** The check of a value: its problems, each with the path of its field, as in `templates.assistant.maxSteps must be integer, not true`. */
export type FormCheck = (value: unknown) => readonly string[];

/** The check of a form, made when it is first wanted. `whole` names the value where a problem is not about one field of it. */
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
          // What is said of the whole in words of its own takes in what is said of its parts.
          .filter(
            ({ parentSchema, instancePath }) =>
              parentSchema?.["problem"] !== undefined ||
              !summed.some((place) => instancePath === place || instancePath.startsWith(`${place}/`)),
          )
          // What is missing of a form that was not found says nothing, and a wrong name has an error of its own.
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

/** The values of a tag by which the forms of a value are told apart. */
function tagsOf(schema: ErrorObject["parentSchema"], tag: string): readonly unknown[] {
  const forms: unknown = schema?.["oneOf"];
  if (!Array.isArray(forms)) return [];
  return forms.map((form: unknown) => memberOf(memberOf(memberOf(form, "properties"), tag), "const"));
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}
