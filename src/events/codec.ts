import { isJsonObject, mapStrings, storableJson, type Json, type JsonObject } from "../lib/json.ts";
import { byteLength, marked } from "../lib/text.ts";
import { CHANNEL_OF, type EventBody, type EventDraft, type EventKind, type TimelineEvent } from "./event.ts";
import type { Channel } from "./channel.ts";

/** The largest payload of one event in bytes. */
const EVENT_BYTES = 64 * 1024;

/** An event as the SQL functions take it. */
export type EncodedEvent = {
  readonly channel: Channel;
  readonly kind: EventKind;
  readonly payload: string;
  readonly at: string;
  readonly body: EventBody;
};

/** An event as the log's statements answer it. */
export type EventRow = {
  readonly agent_id: string;
  readonly created_by: string;
  readonly position: string | number | bigint;
  readonly seq: number;
  readonly at: Date;
  readonly channel: string;
  readonly kind: string;
  readonly payload: string;
};

/** The draft as it is stored: NUL and lone surrogates replaced, and never over EVENT_BYTES. */
export function encodeEvent(draft: EventDraft): EncodedEvent {
  const { kind, ...payload } = draft.body;
  const stored = fitting(storableJson(payload));
  const body = stored === JSON.stringify(payload) ? draft.body : decodeBody(kind, stored);
  return { channel: CHANNEL_OF[kind], kind, payload: stored, at: draft.at.toISOString(), body };
}

/** Whether this version knows the kind: a newer server that shares the database may write others. */
export function isKnownKind(kind: string): kind is EventKind {
  return Object.hasOwn(CHANNEL_OF, kind);
}

/** The event of a row. Rows are written by `encodeEvent` only, so that their form is known. */
export function decodeEvent(tenant: string, row: EventRow): TimelineEvent {
  return {
    tenant,
    agentId: row.agent_id,
    createdBy: row.created_by,
    position: Number(row.position),
    seq: row.seq,
    at: row.at,
    channel: row.channel as Channel,
    bytes: row.payload.length,
    body: decodeBody(row.kind, row.payload),
  };
}

/** The payloads of kinds that gained fields later, as they are read in events that were written without them. */
const GAINED: Readonly<Record<string, (payload: JsonObject) => JsonObject>> = {
  AGENT_CREATED: (payload) => ({ forkedFrom: null, ...payload }),
  MESSAGE_RECEIVED: (payload) => ({ images: 0, ...payload }),
  TOKEN_USAGE: (payload) => ({ cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: null, ...payload }),
  PERMISSION_REQUIRED: (payload) => {
    const request = payload["request"];
    return isJsonObject(request) ? { ...payload, request: { quorum: 1, ...request } } : payload;
  },
  PERMISSION_DECIDED: (payload) => ({
    onBehalfOf: null,
    approvalState: payload["decision"] === "ALLOW" ? "ALLOWED" : "DENIED",
    missingDecisions: 0,
    allowedHash: null,
    ...payload,
  }),
};

function decodeBody(kind: string, stored: string): EventBody {
  const payload = JSON.parse(stored) as JsonObject;
  return { kind, ...(GAINED[kind]?.(payload) ?? payload) } as EventBody;
}

function fitting(stored: string): string {
  if (stored.length * 3 <= EVENT_BYTES || byteLength(stored) <= EVENT_BYTES) return stored;
  for (let longest = EVENT_BYTES / 8; longest > 64; longest /= 2) {
    const cut = JSON.stringify(
      mapStrings(JSON.parse(stored) as Json, (field) => marked(field, longest, "cut to fit into an event")),
    );
    if (byteLength(cut) <= EVENT_BYTES) return cut;
  }
  throw new Error(`an event of ${byteLength(stored)} bytes has too many fields to fit into ${EVENT_BYTES}`);
}
