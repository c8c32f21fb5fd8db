import { isJsonObject, type Json, type JsonObject } from "../lib/json.ts";
import { TOOL_CALL_ERROR_TYPES, type GateStage, type ToolCallErrorType } from "./snapshots.ts";

/** The payload of an event as this version writes it, whatever version wrote it. */
export function asNow(kind: string, payload: JsonObject): JsonObject {
  return CHANGED[kind]?.(payload) ?? payload;
}

/** The kinds of which earlier versions wrote other payloads: fields were added, and some have other names or forms. */
const CHANGED: Readonly<Record<string, (payload: JsonObject) => JsonObject>> = {
  AGENT_CREATED: (payload) => ({ forkedFrom: null, workspace: null, hooks: null, permission: null, ...payload }),
  TOOL_START: withCached,
  TOOL_END: withCached,
  TOOL_ERROR: withCached,
  TOOL_EXECUTED: withCached,
  AGENT_RESUMED: (payload) => {
    const sealed = payload["sealed"];
    return Array.isArray(sealed) ? { ...payload, sealed: sealed.map(asCall) } : payload;
  },
  MESSAGE_RECEIVED: (payload) => ({ images: 0, ...payload }),
  TOKEN_USAGE: (payload) => ({ cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: null, isEstimated: false, ...payload }),
  PERMISSION_REQUIRED: (payload) => {
    const request = payload["request"];
    return isJsonObject(request)
      ? {
          ...payload,
          request: { quorum: 1, host: null, port: null, meta: null, ...request, call: asCall(request["call"] ?? null) },
        }
      : payload;
  },
  PERMISSION_DECIDED: (payload) => {
    const { onBehalfOf = null } = payload;
    return {
      approvalState: payload["decision"] === "ALLOW" ? "ALLOWED" : "DENIED",
      missingDecisions: 0,
      allowedHash: null,
      allowRuleId: null,
      ...payload,
      onBehalfOf: typeof onBehalfOf === "string" ? { id: onBehalfOf, kind: "USER" } : onBehalfOf,
    };
  },
  ALLOW_RULE_STORED: withRule,
  ALLOW_RULE_REVOKED: withRule,
  EXECUTION_STARTED: (payload) => ({ parameters: null, ...named(payload) }),
  EXECUTION_COMPLETED: (payload) => ({ result: null, ...named(payload) }),
  EXECUTION_FAILED: ended,
  EXECUTION_ABORTED: ended,
  TOOL_CUSTOM_EVENT: named,
};

/** Each call ran itself. */
function withCached(payload: JsonObject): JsonObject {
  return { ...payload, call: asCall(payload["call"] ?? null) };
}

function asCall(call: Json): Json {
  return isJsonObject(call) ? { cachedFrom: null, ...call } : call;
}

/** Rules were for templates only. */
function withRule(payload: JsonObject): JsonObject {
  const rule = payload["rule"];
  return isJsonObject(rule) ? { ...payload, rule: { agentId: null, ...rule } } : payload;
}

/** The tool of a call had another name. */
function named({ toolName, ...payload }: JsonObject): JsonObject {
  return toolName === undefined ? payload : { ...payload, tool: toolName };
}

/** Of the error, only the type was told. */
function ended({ failure, ...payload }: JsonObject): JsonObject {
  if (failure === undefined) return named(payload);
  const type = TOOL_CALL_ERROR_TYPES.find((known) => known === failure) ?? "aborted";
  return { ...named(payload), error: { type, stage: STAGE_OF[type], message: "" } };
}

/** The stage in which each kind of refusal came about. */
const STAGE_OF: Readonly<Record<ToolCallErrorType, GateStage>> = {
  not_found: "discovery",
  disabled: "discovery",
  invalid_params: "validation",
  permission_denied: "permission",
  user_rejected: "confirmation",
  approval_expired: "confirmation",
  tool_busy: "execution",
  execution_failed: "execution",
  timeout: "execution",
  aborted: "execution",
};
