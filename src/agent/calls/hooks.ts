import { basename, isAbsolute, relative } from "node:path";
import { isJsonObject, toJson, type JsonObject } from "../../lib/json.ts";
import { byteLength, messageOf } from "../../lib/text.ts";
import { UnopenedFile } from "../tools/fs/file-problem.ts";
import type { Placed, HookCall, PostToolUseEntry, PreToolUse, ToolHooks } from "../tools/tool-hooks.ts";
import { type ToolResult, readToolResult, RESULT_FORM } from "../tools/tool-result.ts";
import { systemWords } from "../workspace/workspace.ts";
import type { Validated } from "./stages/validation.ts";

export type HookAgent = Pick<HookCall, "createdBy" | "templateId">;

/** The call as hooks see it. Its input is a copy, so that hooks cannot change the call. */
export function hookCall({ request, tool, bound }: Validated, { createdBy, templateId }: HookAgent): HookCall {
  const { tenant, agentId, callId } = request;
  return { tenant, agentId, createdBy, templateId, callId, name: tool.name, input: structuredClone(bound.input) };
}

/**
 * Wraps an execution: `next` runs the tool, at most once. Its answer is the tool's answer; its error fails the call.
 * The call's time limit covers all of it.
 */
export type Around = (call: HookCall & { readonly signal: AbortSignal }, next: () => Promise<ToolResult>) => Promise<ToolResult>;

/** `place` is that of a hook in the configuration; null for a wrapper of the server's own. */
export type Wrapper = { readonly place: string | null; readonly run: Around };

/** A hook around an execution threw `cause` itself; an error of `next` is passed on instead. */
export class AroundFailed extends Error {
  constructor(place: string, cause: unknown) {
    super(`the hook ${place} failed`, { cause });
  }
}

/** The operator's code around tool calls, in running order. */
export type CallHooks = {
  readonly preToolUse: readonly Placed<PreToolUse>[];
  readonly postToolUse: readonly Placed<PostToolUseEntry>[];
  readonly around: readonly Placed<Around>[];
};

export function hooksFor<Kind extends keyof ToolHooks>(
  kind: Kind,
  tool: { readonly name: string; readonly hooks: ToolHooks },
  hooks: Pick<CallHooks, Kind>,
): readonly Placed<ToolHooks[Kind][number]>[] {
  const own = tool.hooks[kind].map((run, index) => ({ place: `tools.${tool.name}.hooks.${kind}.${index}`, run }));
  return [...own, ...hooks[kind]];
}

export type PreToolUseSaid =
  | { readonly kind: "nothing" }
  | { readonly kind: "ask"; readonly reason: string | null; readonly meta: JsonObject | null }
  | { readonly kind: "deny"; readonly reason: string | null; readonly result: ToolResult | null }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "input"; readonly input: JsonObject }
  | { readonly kind: "unreadable"; readonly problem: string };

/**
 * Reads the answer of a preToolUse hook, which is other people's code. Exactly one of the documented forms is accepted,
 * but a `deny` or an `ask` holds with any other fields.
 */
export function readPreToolUseAnswer(answer: unknown): PreToolUseSaid {
  if (answer === undefined) return { kind: "nothing" };
  if (!isJsonObject(answer)) return unreadable("it answered something else than an object");
  const { decision } = answer;
  const reason = typeof answer["reason"] === "string" ? answer["reason"] : null;
  if (decision === "deny") return { kind: "deny", reason, result: readToolResult(answer["toolResult"]) };
  if (decision === "ask")
    return isRiskOf(answer["meta"]) ? { kind: "ask", reason, meta: metaOf(answer["meta"]) } : unreadable(RISK_FORM);
  const [field, ...others] = Object.keys(answer);
  if (field === "result" && others.length === 0) {
    const result = readToolResult(answer["result"]);
    return result === null ? unreadable(RESULT_FORM) : { kind: "result", result };
  }
  if (field === "input" && others.length === 0) {
    const input = toJson(answer["input"]);
    return input !== undefined && isJsonObject(input) ? { kind: "input", input } : unreadable("its input is no JSON object");
  }
  return unreadable("it answered neither a decision (ask or deny), nor only a result, nor only an input");
}

const RISK_FORM = "its meta has a risk that is none of LOW, MEDIUM and HIGH";

/** False if a meta has an unknown risk: people would take the call for a harmless one. */
function isRiskOf(meta: unknown): boolean {
  const risk = isJsonObject(meta) ? meta["risk"] : undefined;
  return risk === undefined || risk === null || (typeof risk === "string" && /^(?:low|medium|high)$/i.test(risk));
}

/** The largest meta of an approval, in bytes of JSON. Its event has room for more. */
const META_BYTES = 8 * 1024;

/** A hook's meta for people who decide; null if it is not a JSON object, or too large. */
function metaOf(value: unknown): JsonObject | null {
  const meta = toJson(value ?? null);
  return isJsonObject(meta) && byteLength(JSON.stringify(meta)) <= META_BYTES ? meta : null;
}

export type PostToolUseSaid =
  | { readonly kind: "nothing" }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "unreadable"; readonly problem: string };

/** Reads the answer of a postToolUse hook: `{ update }` with some parts of the outcome, or `{ replace }` with all. */
export function readPostToolUseAnswer(answer: unknown, before: ToolResult): PostToolUseSaid {
  if (answer === undefined) return { kind: "nothing" };
  const form = "it answered neither { update: { output?, details? } } nor { replace: { output, details } }";
  if (!isJsonObject(answer)) return { kind: "unreadable", problem: form };
  const [field, ...others] = Object.keys(answer);
  const value: unknown = answer[field ?? ""];
  if (others.length > 0 || (field !== "update" && field !== "replace") || !isJsonObject(value))
    return { kind: "unreadable", problem: form };
  const result = readToolResult(field === "update" ? { ...before, ...value } : value);
  return result === null ? { kind: "unreadable", problem: RESULT_FORM } : { kind: "result", result };
}

function unreadable(problem: string): PreToolUseSaid {
  return { kind: "unreadable", problem };
}

export type Failure = { readonly message: string; readonly cause: JsonObject };

/**
 * The failure of a tool, or of a hook around it, for the model. Paths are relative to the workspace, not to the
 * server's disk.
 */
export function failureOf(error: unknown, root: string): Failure {
  if (error instanceof AroundFailed) {
    const { message, cause } = failureOf(error.cause, root);
    return { message: `${error.message}: ${message}`, cause };
  }
  const { code, errno, path } = fieldsOf(error instanceof UnopenedFile ? error.cause : error);
  const name = path === null ? null : inWorkspace(root, path);
  const words = error instanceof UnopenedFile ? null : systemWords(error);
  const message =
    name !== null && words !== null
      ? `${name === "" ? "the workspace" : name} ${words}`
      : messageOf(error).replaceAll(`${root}/`, "");
  return {
    message,
    cause: { ...(code === null ? {} : { code }), ...(errno === null ? {} : { errno }), ...(name === null ? {} : { path: name }) },
  };
}

function fieldsOf(error: unknown): { readonly code: string | null; readonly errno: number | null; readonly path: string | null } {
  if (!(error instanceof Error)) return { code: null, errno: null, path: null };
  const { code, errno, path } = error as { code?: unknown; errno?: unknown; path?: unknown };
  return {
    code: typeof code === "string" ? code : null,
    errno: typeof errno === "number" ? errno : null,
    path: typeof path === "string" ? path : null,
  };
}

function inWorkspace(root: string, path: string): string {
  const name = isAbsolute(path) ? relative(root, path) : path;
  return name === ".." || name.startsWith("../") ? basename(path) : name;
}
