import { mapStrings, someString } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength } from "../../../lib/text.ts";
import { INPUT_BYTES } from "../../tools/limits.ts";
import type { BoundCall } from "../../tools/tool.ts";
import type { ValidationIssue } from "../../tools/validation-issue.ts";
import type { Discovered } from "./discovery.ts";
import type { Refusal } from "../refusals/refusal.ts";

/** A call whose input fits its tool. `bound.input`, with defaults applied, is what is judged, shown, hashed and run. */
export type Validated = Discovered & { readonly bound: BoundCall };

/** Stage 2: do the arguments fit the tool's schema? Lone surrogates in them are replaced. */
export function validate(discovered: Discovered): Result<Validated, Refusal> {
  const { request, tool } = discovered;
  const invalid = (issues: readonly ValidationIssue[]): Result<never, Refusal> =>
    refused({
      type: "invalid_params",
      stage: "validation",
      name: tool.name,
      issues,
      input: request.form === "json" ? request.input : request.text,
      schema: tool.inputSchema,
      repeats: 0,
    });
  if (request.form === "unparsed") return invalid([{ path: "/", message: request.problem, value: request.text }]);
  const bytes = byteLength(JSON.stringify(request.input));
  if (bytes > INPUT_BYTES) return invalid([{ path: "/", message: `must not be larger than ${INPUT_BYTES} bytes`, value: bytes }]);
  if (someString(request.input, (text) => text.includes("\0")))
    return invalid([{ path: "/", message: "must not contain NUL", value: undefined }]);
  const bound = tool.bind(mapStrings(request.input, (text) => text.toWellFormed()));
  return bound.ok ? accepted({ ...discovered, bound: bound.value }) : invalid(bound.refusal);
}
