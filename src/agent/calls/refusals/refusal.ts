import type { ToolCallError, ToolCallErrorType } from "../../../events/snapshots.ts";
import type { CancelRequest } from "../../../db/commit/change.ts";
import type { Json, JsonObject } from "../../../lib/json.ts";
import { marked } from "../../../lib/text.ts";
import type { ToolResult } from "../../tools/tool-result.ts";
import type { Trail } from "../call.ts";
import { format } from "../stages/formatting.ts";
import type { ValidationIssue } from "../../tools/input-schema.ts";

export type Refusal =
  | { readonly type: "not_found"; readonly stage: "discovery"; readonly name: string; readonly available: readonly string[] }
  | {
      readonly type: "disabled";
      readonly stage: "discovery";
      readonly name: string;
      readonly available: readonly string[];
      /** The reason why a tool of the agent cannot be called at present; null for a tool that it does not have. */
      readonly reason: string | null;
    }
  | { readonly type: "incomplete"; readonly stage: "discovery"; readonly stopReason: string }
  | {
      readonly type: "invalid_params";
      readonly stage: "validation";
      readonly name: string;
      readonly issues: readonly ValidationIssue[];
      readonly input: Json;
      readonly schema: JsonObject;
      /** The place of `input` in the arguments as the model wrote them: `/input` in a call by the bridge, empty otherwise. */
      readonly within: "" | "/input";
      /** The number of earlier refusals of exactly these arguments in the turn. */
      readonly repeats: number;
    }
  | {
      readonly type: "permission_denied";
      readonly stage: "permission";
      readonly reason: string;
      /** The result that a hook puts in place of the usual text; null for the usual text. */
      readonly result: ToolResult | null;
    }
  | { readonly type: "user_rejected"; readonly stage: "confirmation"; readonly note: string | null }
  | { readonly type: "approval_expired"; readonly stage: "confirmation"; readonly expiredAt: string }
  | { readonly type: "tool_busy"; readonly stage: "execution"; readonly waitedMs: number }
  | {
      readonly type: "execution_failed";
      /** "confirmation" if the failure was predicted, so that no question was asked and no tool ran. */
      readonly stage: "confirmation" | "execution";
      readonly message: string;
      /** The further fields of the error: `code`, `errno`, `path`. */
      readonly cause: JsonObject;
    }
  | {
      readonly type: "timeout";
      readonly stage: "execution";
      readonly afterMs: number;
      /** Why a program of the call had not started by then, with advice; null otherwise. */
      readonly waitedSince: string | null;
      readonly readOnly: boolean;
    }
  /** The result of a call that waits did not come in its time, which was `dueMs`. */
  | { readonly type: "no_result"; readonly stage: "execution"; readonly dueMs: number; readonly readOnly: boolean }
  | { readonly type: "aborted"; readonly stage: "execution"; readonly note: string | null; readonly readOnly: boolean }
  | {
      readonly type: "cancelled";
      readonly stage: "confirmation" | "execution";
      readonly by: CancelRequest["by"];
      readonly note: string | null;
    };

/** The longest invalid value shown to the model, in bytes. */
const VALUE_BYTES = 200;
export const ISSUES = 20;

/** The text that the model reads as the result, with its possible next actions. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.type) {
    case "not_found":
      return `There is no tool ${JSON.stringify(refusal.name)}. ${toolsAre(refusal)}`;
    case "disabled":
      if (refusal.reason !== null)
        return `The tool ${refusal.name} is unavailable at present: ${refusal.reason}. The call was not run. Call again later, or continue without it. ${toolsAre(refusal)}`;
      return `The tool ${refusal.name} is not available to you. ${toolsAre(refusal)}`;
    case "incomplete":
      return `The call was not run: your answer ended early (${refusal.stopReason}), so that its arguments may be incomplete. Call again, with less in one answer.`;
    case "invalid_params":
      return [
        `The arguments of ${refusal.name} are not valid. Correct them and call again:`,
        ...issueLines(refusal.issues, refusal.within),
        ...(refusal.repeats === 0
          ? []
          : [
              `You have made exactly this call ${refusal.repeats === 1 ? "once" : `${refusal.repeats} times`} before, and it was refused for the same: change the arguments, or do without the tool.`,
            ]),
      ].join("\n");
    case "permission_denied":
      if (refusal.result !== null) return format(refusal.result).output;
      return `The call is not permitted: ${refusal.reason}. Do not repeat it; find another way, or say what you cannot do.`;
    case "user_rejected":
      return `A person decided against the call${refusal.note === null ? "" : ` and noted: ${refusal.note}`}. Do not repeat it; ask what to do instead, or continue without it.`;
    case "approval_expired":
      return `The approval of the call expired at ${refusal.expiredAt}, and the call was not run. No person denied it: continue without it, or say what you need.`;
    case "tool_busy":
      return `The call was not run: the server runs as many tools as it may, and none ended within ${refusal.waitedMs} ms. Call again later.`;
    case "execution_failed":
      return `The tool failed: ${refusal.message}`;
    case "timeout":
      if (refusal.waitedSince !== null)
        return `The tool did not end within ${refusal.afterMs} ms: it waited to start a program, which did not run, since ${refusal.waitedSince}.`;
      return `The tool did not end within ${refusal.afterMs} ms and was stopped. ${effects(refusal)}`;
    case "no_result":
      return `No result came within ${refusal.dueMs} ms. ${effects(refusal)}`;
    case "aborted":
      return `The call was interrupted${refusal.note === null ? "" : `: ${refusal.note}`}. ${effects(refusal)}`;
    case "cancelled":
      return `A person cancelled the call${refusal.note === null ? "" : `: ${refusal.note}`}. ${refusal.stage === "execution" ? "It had begun, and its effects are unknown: check before you repeat it." : "It was not run: do not repeat it, ask what to do instead, or continue without it."}`;
  }
}

function toolsAre({ available }: { readonly available: readonly string[] }): string {
  return available.length === 0 ? "There are no tools." : `The tools are: ${available.join(", ")}.`;
}

function effects({ readOnly }: { readonly readOnly: boolean }): string {
  return readOnly ? "It only reads: nothing has changed." : "Its effects are unknown: check before you repeat it.";
}

export function refusedState(refusal: Refusal): "DENIED" | "FAILED" {
  switch (refusal.type) {
    case "permission_denied":
    case "user_rejected":
    case "approval_expired":
      return "DENIED";
    case "not_found":
    case "disabled":
    case "incomplete":
    case "invalid_params":
    case "tool_busy":
    case "execution_failed":
    case "timeout":
    case "no_result":
    case "aborted":
    case "cancelled":
      return "FAILED";
  }
}

export function refusedTrail(refusal: Refusal): Trail {
  return refusal.type === "cancelled"
    ? { note: refusal.note ?? "cancelled", by: refusal.by }
    : { note: refusal.type === "no_result" ? errorTypeOf(refusal) : refusal.type };
}

function errorTypeOf({ type }: Refusal): ToolCallErrorType {
  if (type === "incomplete" || type === "cancelled") return "aborted";
  return type === "no_result" ? "timeout" : type;
}

export function toolCallError(refusal: Refusal): ToolCallError {
  return { type: errorTypeOf(refusal), stage: refusal.stage, message: shownMessage(refusalText(refusal)) };
}

function shownMessage(text: string): string {
  return marked(text, 4_000, "the output has the whole");
}

/** The problems of an input, a line each: path from `within`, expectation, received value. */
export function issueLines(issues: readonly ValidationIssue[], within: "" | "/input" = ""): string[] {
  const shown = issues.slice(0, ISSUES).map((issue) => `- ${issueText(issue, within)}`);
  return issues.length > ISSUES ? [...shown, `- and ${issues.length - ISSUES} more`] : shown;
}

export function issueText({ path, message, value }: ValidationIssue, within: "" | "/input" | "/result"): string {
  const place = path === "/" && within !== "" ? within : `${within}${path}`;
  return value === undefined
    ? `${place}: ${message}`
    : `${place}: ${message}; received ${marked(JSON.stringify(value), VALUE_BYTES, "cut")}`;
}

export function replacedFacts(
  refusal: Refusal,
  { output }: { readonly output: string },
): { output: string; isError: true; error: ToolCallError } {
  return { output, isError: true, error: { ...toolCallError(refusal), message: shownMessage(output) } };
}

export function refusedFacts(refusal: Refusal): { output: string; isError: true; error: ToolCallError } {
  return { output: refusalText(refusal), isError: true, error: toolCallError(refusal) };
}
