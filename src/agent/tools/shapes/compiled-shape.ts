import { fullFormats } from "ajv-formats/dist/formats.js";
import type { ErrorObject, ValidateFunction } from "ajv";
import { hasMoreParts, isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { messageOf } from "../../../lib/text.ts";
import { describe, LISTED_PARTS, valueIssues } from "../input-schema.ts";
import { dialectOf, DRAFTS, isKnownDialect } from "../schema-dialects.ts";
import type { ShapeProblem } from "../../../db/commit/change.ts";

/** The most problems that are listed. */
const MOST_PROBLEMS = 100;

/** Fields that every object inherits, such as `toString`, are not there. */
const COMPILING = {
  ownProperties: true,
  strict: false,
  logger: false,
  meta: true,
  validateSchema: false,
  verbose: true,
  formats: fullFormats,
} as const;

/** A compiled schema: the problems of a value. */
export type CompiledShape = (value: Json) => readonly ShapeProblem[];

/**
 * Compiles a schema whole, with patterns and formats, or returns its problems. Neither has a bound of time: schemas of people
 * and models are compiled in a thread of its own (`shape-checks.ts`).
 */
export function compileShape(schema: JsonObject): CompiledShape | readonly ShapeProblem[] {
  const { $schema: dialect, ...plain } = schema;
  const asynchronous = asyncProblem(plain);
  if (asynchronous !== null) return [asynchronous];
  if (!isKnownDialect(dialect))
    return [{ path: "/$schema", message: `names no draft that is supported: leave it out, or name one of ${DRAFTS}` }];
  const { make } = dialectOf(dialect);
  try {
    const checking = make({ strict: false, validateFormats: false, logger: false, allErrors: true });
    if (checking.validateSchema(plain) !== true) return (checking.errors ?? []).slice(0, MOST_PROBLEMS).map(problemOf);
    const compiled = new Map<boolean, ValidateFunction>();
    const of = (allErrors: boolean): ValidateFunction => {
      const validate = compiled.get(allErrors) ?? make({ ...COMPILING, allErrors }).compile(plain);
      compiled.set(allErrors, validate);
      return validate;
    };
    of(true);
    return (value) => {
      const validate = of(!hasMoreParts(value, LISTED_PARTS));
      return valueIssues(validate, value)
        .slice(0, MOST_PROBLEMS)
        .map(({ path, message }) => ({ path, message }));
    };
  } catch (error) {
    return [{ path: "/", message: `is no usable JSON Schema: ${messageOf(error)}` }];
  }
}

function problemOf(error: ErrorObject): ShapeProblem {
  return { path: error.instancePath === "" ? "/" : error.instancePath, message: describe(error) };
}

/** `$async` would turn each check into a promise. */
function asyncProblem(schema: JsonObject): ShapeProblem | null {
  const waiting: Json[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isJsonObject(next) && next["$async"] === true)
      return { path: "/", message: "has `$async`, which no answer can wait for" };
    waiting.push(...(Array.isArray(next) || isJsonObject(next) ? (Object.values(next) as readonly Json[]) : []));
  }
  return null;
}
