import type { CacheMissReason } from "../../events/cache-miss.ts";
import type { CacheDiagnosis } from "./model.ts";
import { objectIn, textIn, tokensIn } from "./odd-values.ts";
import type { Refused } from "./provider-requests.ts";

export const NO_DIAGNOSIS: CacheDiagnosis = { answerId: null, miss: null };

const REASON_BY_TYPE: ReadonlyMap<string, CacheMissReason> = new Map([
  ["model_changed", "MODEL_CHANGED"],
  ["system_changed", "SYSTEM_CHANGED"],
  ["tools_changed", "TOOLS_CHANGED"],
  ["messages_changed", "MESSAGES_CHANGED"],
  ["previous_message_not_found", "PREVIOUS_NOT_FOUND"],
  ["unavailable", "UNAVAILABLE"],
]);

const ANSWER_ID = /^[\w-]{1,128}$/;

/** Reads a message of a Messages server, which may be anything. A comparison that is not complete names no miss. */
export function diagnosisIn(message: unknown): CacheDiagnosis {
  const { id, diagnostics } = objectIn(message);
  const told = objectIn(objectIn(diagnostics)["cache_miss_reason"]);
  const type = textIn(told["type"]);
  const answerId = ANSWER_ID.test(textIn(id)) ? textIn(id) : null;
  if (type === "") return { answerId, miss: null };
  const reason = REASON_BY_TYPE.get(type) ?? "OTHER";
  return { answerId, miss: { reason, tokens: tokensIn(told["cache_missed_input_tokens"]) } };
}

const OWN_HOST = "api.anthropic.com";

/** True for Anthropic's own address, null for its default one. Other servers may refuse a field that they do not know. */
export function isOwnAddress(baseUrl: string | null): boolean {
  return baseUrl === null || (URL.canParse(baseUrl) && new URL(baseUrl).hostname === OWN_HOST);
}

/** True if a request was refused since it asks for a diagnosis. */
export function refusesDiagnosis(refused: Refused | null): boolean {
  return (
    refused !== null &&
    (refused.status === 400 || refused.status === 422) &&
    (JSON.stringify(refused.body) ?? "").includes("diagnostics")
  );
}
