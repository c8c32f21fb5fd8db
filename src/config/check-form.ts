import { Ajv } from "ajv";
import { closed } from "../lib/setting.ts";
import { CONFIG_SETTINGS, type TriplaneConfig } from "./config.ts";
import { ConfigurationError } from "./environment.ts";

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  discriminator: true,
});
ajv.addKeyword({
  keyword: "isFunction",
  schemaType: "boolean",
  validate: (_schema: boolean, value: unknown) => typeof value === "function",
  error: { message: "must be a function" },
});
const validate = ajv.compile<TriplaneConfig>(closed(CONFIG_SETTINGS));

/** The configuration, once its form is right. Each error points at its field. */
export function checkForm(name: string, value: unknown): TriplaneConfig {
  if (validate(value)) return value;
  const errors = (validate.errors ?? []).map(({ instancePath, message, keyword, params }) => {
    const field = instancePath.slice(1).replaceAll("/", ".") || "the configuration";
    if (keyword === "additionalProperties") return `${field} has no field ${JSON.stringify(params["additionalProperty"])}`;
    if (field.endsWith("tokenHash")) return `${field} must match the form of a SHA-256 in hex: printf %s TOKEN | sha256sum`;
    if (keyword === "discriminator") return `${field}.provider must be anthropic, openai or scripted`;
    if (keyword === "enum") return `${field} must be one of ${(params["allowedValues"] as string[]).join(", ")}`;
    return `${field} ${message ?? keyword}`;
  });
  throw new ConfigurationError(`${name}: ${[...new Set(errors)].join("; ")}`);
}
