import { isJsonObject } from "../../lib/json.ts";
import { retryAfterOf } from "../../lib/retry-after.ts";
import { messageOf, withCause } from "../../lib/text.ts";
import type { Refused } from "./provider-requests.ts";
import { ModelError, type ModelErrorKind } from "./model.ts";
import { objectIn, textIn } from "./odd-values.ts";

/** `status` is null if the stream had already begun, or the provider was unreachable. */
export type ProviderFailure = {
  readonly status: number | null;
  readonly headers: Headers | undefined;
  /** The key of the call, which providers repeat in errors. Null for none. */
  readonly apiKey: string | null;
  readonly body: unknown;
  readonly cause: Error;
};

const NOT_ADMITTED: ReadonlySet<string | undefined> = new Set(["authentication_error", "permission_error"]);

/**
 * Kinds by the error types of a stream, which have no status. Without `invalid_request_error`: some servers send it for
 * a model's malformed call, or for too many requests, which pass.
 */
const KIND_OF_TYPE: ReadonlyMap<string, ModelErrorKind> = new Map([
  ["rate_limit_error", "rate_limited"],
  ["rate_limit_exceeded", "rate_limited"],
  ["overloaded_error", "overloaded"],
  ["api_error", "unavailable"],
  ["server_error", "unavailable"],
  ["timeout_error", "unavailable"],
  ["request_too_large", "too_long"],
  ["billing_error", "rejected"],
  ["not_found_error", "rejected"],
]);

/**
 * How providers say that a request is longer than the model reads, by words or by a code: Anthropic, OpenAI and DeepSeek, vLLM,
 * llama.cpp, Mistral, Gemini, Groq, LM Studio; then Moonshot, Z.AI, xAI, Bedrock, Copilot, TGI, DashScope. None of them has a status of
 * its own for it, and LM Studio says it inside of the stream.
 */
const TOO_LONG = new RegExp(
  [
    "(?:prompt|input|request) is too long",
    "exceeds? (?:the )?(?:available )?context",
    "context[ _](?:length|window|limit|size)",
    "maximum number of tokens",
    "reduce the length",
    "exceed(?:s|ed)? (?:the )?(?:model(?:'s)? )?(?:token limit|max(?:imum)? length)",
    "maximum prompt length",
    "prompt token count",
    "range of input length",
    "max_new_tokens.{0,20} must be <=",
  ].join("|"),
  "i",
);

/** The failure in the provider's words, without headers or request, which may contain the key. */
function providerError({ status, headers, body: given, cause, apiKey }: ProviderFailure): ModelError {
  const body = withoutKey(given, apiKey);
  const { type, code, message } = wordsOf(body);
  const words = message ?? textIn(withoutKey(cause.message, apiKey));
  if (status === 401 || status === 403 || (status === null && NOT_ADMITTED.has(type))) {
    const what = `the model's provider answered ${status ?? type}: it does not admit the key that the server has`;
    return new ModelError("rejected", what, { cause });
  }
  const retryAfterMs = retryAfterOf(headers) ?? retryAfterIn(body, words);
  // A provider that rules out retries is believed, as for an account without credit.
  const isOver = FINAL_TYPE.test(`${type} ${code}`) || (FINAL_WORDS.test(words) && retryAfterMs === null);
  if (status === null) {
    const ofType = KIND_OF_TYPE.get(type ?? "") ?? kindOfCode(code);
    const kind = isOver ? "rejected" : ofType !== "rate_limited" && TOO_LONG.test(`${code} ${words}`) ? "too_long" : ofType;
    const what = kind === "rejected" ? "the model's provider refused the request" : "the model's stream broke off";
    return new ModelError(kind, `${what}: ${words}`, { cause, retryAfterMs });
  }
  const kind = kindOf(status, `${type} ${code} ${words}`);
  const isFinal = (kind === "rate_limited" && isOver) || (kind !== "too_long" && headers?.get("x-should-retry") === "false");
  return new ModelError(isFinal ? "rejected" : kind, `the model's provider answered ${status}: ${words}`, {
    cause,
    retryAfterMs,
  });
}

/** A provider's message without the key, in any notation: it may be cut afterwards. */
function withoutKey(said: unknown, apiKey: string | null): unknown {
  if (apiKey === null || apiKey === "") return said;
  const text = JSON.stringify(said);
  if (text === undefined) return said;
  const forms = [
    JSON.stringify(JSON.stringify(apiKey).slice(1, -1)).slice(1, -1),
    JSON.stringify(apiKey).slice(1, -1),
    encodeURIComponent(apiKey),
  ];
  return JSON.parse(forms.reduce((left, form) => left.replaceAll(form, "…"), text));
}

export function unreachable(cause: Error, apiKey: string | null): ModelError {
  const reasons = textIn(withoutKey(withCause(cause), apiKey)).replaceAll(/\/\/[^\s/@]*@/g, "//…@");
  return new ModelError("unavailable", `the model's provider does not answer (${reasons})`, { cause });
}

/** An error while reading a stream: a closed connection, or an unreadable event. */
export function brokenStream(thrown: unknown): ModelError {
  return thrown instanceof ModelError
    ? thrown
    : new ModelError("broken", `the model's stream broke off: ${messageOf(thrown)}`, { cause: thrown });
}

/** The kind of an error in a stream by its code, if that is a status. A rejected request may be the model's own output. */
function kindOfCode(code: string | undefined): ModelErrorKind {
  const status = Number(code);
  if (status === 401 || status === 402 || status === 403) return "rejected";
  return status === 429 || status === 529 || (status >= 500 && status < 600) ? kindOf(status, "") : "broken";
}

function kindOf(status: number, words: string): ModelErrorKind {
  if (status === 413 || ([400, 422, 500].includes(status) && TOO_LONG.test(words))) return "too_long";
  if (status === 429) return "rate_limited";
  if (status === 529) return "overloaded";
  return status >= 500 || status === 408 || status === 409 ? "unavailable" : "rejected";
}

/** Errors that no wait lifts: an account without credit, or one that was never paid for. */
const FINAL_TYPE = /insufficient[_ ](?:quota|balance|credits|funds)|billing/i;
const FINAL_WORDS =
  /insufficient[_ ](?:quota|balance|credits|funds)|exceeded your current quota, please check your plan|billing/i;

const WAIT =
  /(?:try|retry)(?: again)? (?:in|after) (?:(\d+) ?h(?:ours?)?(?![a-z])[ ,]*)?(?:(\d+) ?m(?:in(?:ute)?s?)?(?![a-z])[ ,]*)?(?:(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:ond)?s?)\b)?/i;

/**
 * The wait that a body asks for, in ms: Gemini's `retryDelay`, OpenRouter's copy of a header, and OpenAI's and Groq's
 * "try again in 1m2.5s"; null for none.
 */
function retryAfterIn(body: unknown, words: string): number | null {
  const text = JSON.stringify(body) ?? "";
  const [, seconds] = /"retryDelay":"(\d+(?:\.\d+)?)s"/.exec(text) ?? /"retry-after":"?(\d+(?:\.\d+)?)"?/i.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const [, hours, minutes, rest, unit] = WAIT.exec(words) ?? [];
  if (hours === undefined && minutes === undefined && rest === undefined) return null;
  const small = Number(rest ?? 0) * (unit?.toLowerCase().startsWith("m") === true ? 1 : 1_000);
  return Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + small;
}

/**
 * `{ error: { type, code, message } }` (Anthropic, OpenAI), its inner object (OpenAI's SDK), a list of one such object
 * (Gemini), or `{ message }` or `{ detail }` (Mistral, FastAPI).
 */
function wordsOf(body: unknown): { readonly type?: string; readonly code?: string; readonly message?: string } {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const inner =
    isJsonObject(first) && (isJsonObject(first["error"]) || typeof first["error"] === "string") ? first["error"] : first;
  if (!isJsonObject(inner)) return typeof inner === "string" && inner !== "" ? { message: inner } : {};
  const { type, code, message, detail } = inner;
  const words = [message, detail].find((each) => typeof each === "string" && each !== "");
  const plain = words ?? [message, detail].find((each) => each !== undefined && each !== null);
  // OpenRouter passes on the message of the provider behind it.
  const raw = textIn(objectIn(inner["metadata"])["raw"]);
  const said = typeof plain === "string" && raw !== "" ? `${plain}: ${raw.slice(0, 1_000)}` : plain;
  return {
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
    ...(said === undefined ? {} : { message: typeof said === "string" ? said : JSON.stringify(said).slice(0, 2_000) }),
  };
}

type AnsweredError = Error & {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
};

/** The failure of an error answer: `refused` is the answer itself, null if the SDK found the error elsewhere. */
export function answeredError(error: AnsweredError, refused: Refused | null, apiKey: string | null): ModelError {
  const { status, headers, body } = refused ?? { status: error.status ?? null, headers: error.headers, body: error.error };
  return providerError({ status, headers, body, cause: error, apiKey });
}

export function streamError(body: unknown, apiKey: string | null): ModelError {
  const cause = new Error(JSON.stringify(withoutKey(body, apiKey))?.slice(0, 500) ?? "an error");
  return providerError({ status: null, headers: undefined, body, cause, apiKey });
}
