import type { ErrorObject } from "ajv";
import { counted } from "./counted.ts";

const LIMITS: Readonly<Record<string, { readonly most: boolean; readonly noun: string }>> = {
  minLength: { most: false, noun: "character" },
  maxLength: { most: true, noun: "character" },
  minItems: { most: false, noun: "item" },
  maxItems: { most: true, noun: "item" },
  minProperties: { most: false, noun: "field" },
  maxProperties: { most: true, noun: "field" },
};

/** The violated limit of a schema, as words after the place; null if the problem is no limit. */
export function limitWords({ keyword, params }: Pick<ErrorObject, "keyword" | "params">): string | null {
  const limit: unknown = params["limit"];
  if (typeof limit !== "number") return null;
  if (keyword === "minimum") return `must be at least ${limit}`;
  if (keyword === "maximum") return `must be at most ${limit}`;
  if (keyword === "minLength" && limit === 1) return "must not be empty";
  const words = LIMITS[keyword];
  return words === undefined ? null : `must have at ${words.most ? "most" : "least"} ${counted(limit, words.noun)}`;
}
