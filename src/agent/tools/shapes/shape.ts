import type { ShapeProblem } from "../../../db/commit/change.ts";
import { isJsonObject, isNestedDeeper } from "../../../lib/json.ts";
import { byteLength } from "../../../lib/text.ts";

/** The largest schema of an answer, in bytes of JSON. */
export const SHAPE_BYTES = 64 * 1024;

/** The deepest nesting of a schema, and of an answer, in levels. */
export const SHAPE_LEVELS = 50;

/** The problem of a given schema that needs no compilation; null for none. */
export function boundsProblem(schema: unknown): ShapeProblem | null {
  const whole = (message: string): ShapeProblem => ({ path: "/", message });
  if (!isJsonObject(schema)) return whole("must be an object: a JSON Schema");
  if (schema["type"] !== "object") return { path: "/type", message: 'must be "object": an answer is an object with fields' };
  if (isNestedDeeper(schema, SHAPE_LEVELS)) return whole(`is nested more than ${SHAPE_LEVELS} levels deep`);
  const bytes = byteLength(JSON.stringify(schema));
  return bytes > SHAPE_BYTES ? whole(`has ${bytes} bytes, and ${SHAPE_BYTES} is the most`) : null;
}

/** The parts of a JSON pointer. */
export function pointerParts(path: string): readonly string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
