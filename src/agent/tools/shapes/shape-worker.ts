import { parentPort } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import type { JsonObject } from "../../../lib/json.ts";
import { compileShape } from "./compiled-shape.ts";
import type { ShapeAnswer, ShapeQuestion } from "./shape-checks.ts";

/** The schemas whose compiled form is remembered, by their text. */
const compiled = new LRUCache<string, ReturnType<typeof compileShape>>({ max: 50 });

parentPort?.on("message", ({ schema, value }: ShapeQuestion) => {
  const known = compiled.get(schema) ?? compileShape(JSON.parse(schema) as JsonObject);
  compiled.set(schema, known);
  const answer: ShapeAnswer =
    typeof known === "function"
      ? { isUsable: true, problems: value === undefined ? [] : known(value) }
      : { isUsable: false, problems: known };
  parentPort?.postMessage(answer);
});
