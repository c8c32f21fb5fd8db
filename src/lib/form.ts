import { Ajv, type ErrorObject } from "ajv";
import type { TSchema } from "typebox";
import { isJsonObject } from "./json.ts";

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  discriminator: true,
  verbose: true,
});
ajv.addKeyword({
  keyword: "isFunction",
  schemaType: "boolean",
  validate: (_schema: boolean, value: unknown) => typeof value === "function",
  error: { message: "must be a function" },
});

/** What is wrong with a value, each problem with the path of its field: `templates.assistant.maxSteps must be integer, not true`. */
export type FormCheck = (value: unknown) => readonly string[];

/** The check of a form. `whole` names the value where a problem is not about one field of it. */
export function formCheck(schema: TSchema, whole: string): FormCheck {
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    const undecided = new Set(
      errors.filter(({ keyword }) => keyword === "discriminator").map(({ instancePath }) => instancePath),
    );
    return [
      ...new Set(
        errors
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
  const field = instancePath.slice(1).replaceAll("/", ".") || whole;
  if (propertyName !== undefined)
    return `${field}: the name ${JSON.stringify(propertyName)} must be 1 to 64 letters, digits, _ or -`;
  switch (keyword) {
    case "additionalProperties": {
      const known = isJsonObject(parentSchema?.["properties"]) ? Object.keys(parentSchema["properties"]) : [];
      return `${field} has no field ${JSON.stringify(params["additionalProperty"])}: the fields are ${known.join(", ")}`;
    }
    case "discriminator":
      return `${field}.${String(params["tag"])} must name one of the forms`;
    case "enum":
      return `${field} must be one of ${(params["allowedValues"] as readonly string[]).join(", ")}`;
    case "type":
    case "minimum":
    case "maximum":
      // Texts may be secrets.
      return `${field} ${message ?? keyword}${typeof data === "number" || typeof data === "boolean" ? `, not ${data}` : ""}`;
    default:
      return `${field} ${message ?? keyword}`;
  }
}
