import { createHash } from "node:crypto";
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Webhook as Signer } from "standardwebhooks";
import { Agent, request } from "undici";
import { readActorNames } from "../agent/actors/actor-names.ts";
import type { Sql } from "../db/sql.ts";
import type { EventBody, EventKind, TimelineEvent } from "../events/event.ts";
import { isPrivateAddress } from "../lib/addresses.ts";
import { actorGlobalId, globalId, type NodeType } from "../lib/global-id.ts";
import { isJsonObject, type Json, type JsonObject } from "../lib/json.ts";
import { errorCode } from "../lib/text.ts";
import { DAY_MS } from "../lib/time.ts";
import { GiveUp, type Consumer } from "./consumer.ts";

export type Webhook = {
  readonly name: string;
  readonly url: URL;
  /** `whsec_` and the signing key in base64. */
  readonly secret: string;
  readonly kinds: readonly EventKind[];
  readonly tenant: string | null;
  readonly allowsPrivate: boolean;
  /** The origin of the console, which announced requests link; null if unknown. */
  readonly publicUrl: string | null;
};

export const WEBHOOK_TRY_MS = 10_000;
/** The time limit of all tries of an event, in ms, and the number of concurrent tries. */
const GIVE_UP_MS = DAY_MS;
const CONCURRENCY = 8;

/** `sql` reads the names of actors, which no event has. */
export function webhookConsumer(sql: Pick<Sql, "query">): (webhook: Webhook) => Consumer {
  return (webhook) => announcing(webhook, async (event) => announcement(event, webhook.publicUrl, await deciderName(sql, event)));
}

/** The name of the actor who decided; null for other events, and for an actor without one. */
async function deciderName(sql: Pick<Sql, "query">, { tenant, body }: TimelineEvent): Promise<string | null> {
  if (body.kind !== "PERMISSION_DECIDED") return null;
  const [name = null] = await readActorNames(sql, tenant, [body.decidedBy]);
  return name;
}

function announcing(webhook: Webhook, announced: (event: TimelineEvent) => Promise<object>): Consumer {
  const signer = new Signer(webhook.secret);
  return {
    name: `webhook.${webhook.name}`,
    kinds: webhook.kinds,
    tenant: webhook.tenant,
    concurrency: CONCURRENCY,
    giveUpMs: GIVE_UP_MS,
    deliver: async (event, signal) => {
      const body = JSON.stringify(await announced(event));
      const status = await post(webhook, signed(signer, idOf(webhook, event), body), body, signal).catch((error: unknown) => {
        throw new Unreached(error);
      });
      if (status === 410) throw new GiveUp("the target answered 410: it wants no more");
      if (status < 200 || status > 299) throw new Error(`the target answered ${status}`);
    },
  };
}

/**
 * The same at every try, so that receivers recognise repetitions. After a backup is restored, another event may have
 * the same position: its time distinguishes it.
 */
function idOf({ name }: Webhook, { tenant, position, at }: TimelineEvent): string {
  const id = createHash("sha256").update([name, tenant, position, at.toISOString()].join("\n"));
  return `msg_${id.digest("hex").slice(0, 32)}`;
}

/** The headers of Standard Webhooks (standardwebhooks.com). */
function signed(signer: Signer, id: string, body: string): Record<string, string> {
  const now = new Date();
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": signer.sign(id, now, body),
  };
}

/** The status of the answer. Redirects are not followed, and the answer's body is not read. */
async function post(
  { url, allowsPrivate }: Webhook,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowsPrivate && isPrivateAddress(host)) throw new PrivateTarget(host);
  const answer = await request(url, {
    method: "POST",
    headers,
    body,
    dispatcher: allowsPrivate ? ANYWHERE : PUBLIC,
    signal: AbortSignal.any([stop, AbortSignal.timeout(WEBHOOK_TRY_MS)]),
    // One connection a delivery.
    reset: true,
  });
  answer.body.on("error", () => {}).destroy();
  return answer.statusCode;
}

/** There was no answer. The message is for people who watch the agent, without an address; the cause names it for operators. */
class Unreached extends Error {
  constructor(cause: unknown) {
    const name = cause instanceof Error ? cause.name : "an unknown error";
    const why = cause instanceof PrivateTarget ? "it lies in a private network" : (errorCode(cause) ?? name);
    super(`the target was not reached: ${why}`, { cause });
  }
}

class PrivateTarget extends Error {
  constructor(host: string) {
    super(`${host} lies in a private network: set allowPrivateTarget if that is meant`);
  }
}

/** Resolves a name, and rejects it if any of its addresses is private. The connection uses these addresses. */
const publicLookup: LookupFunction = (host, options, answer) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return answer(error, "", 0);
    const [first] = addresses;
    if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address)))
      return answer(new PrivateTarget(host), "", 0);
    return options.all === true ? answer(null, addresses) : answer(null, first.address, first.family);
  });
};

/** Connections to any target, and to public ones; by HTTP/1.1, whose connections end with their request. */
const ANYWHERE = new Agent({ allowH2: false });
const PUBLIC = new Agent({ allowH2: false, connect: { lookup: publicLookup } });

/**
 * An event as webhooks announce it: the ids of the API, with which receivers read the rest. A call's input is not sent:
 * it is read with a token. A request has the address of its page in the console; a decision has the decider's name.
 */
export function announcement(
  { body, tenant, agentId, seq, at }: TimelineEvent,
  publicUrl: string | null,
  deciderName: string | null,
): object {
  const { kind, ...fields } = body;
  const common = { tenant, agentId: agentId === null ? null : globalId("Agent", agentId), seq };
  const data = { ...common, ...withGlobalIds(flat(fields)), ...added(body, publicUrl, deciderName) };
  return { type: kind, timestamp: at.toISOString(), data };
}

function added(body: EventBody, publicUrl: string | null, deciderName: string | null): object {
  switch (body.kind) {
    case "PERMISSION_REQUIRED": {
      const id = encodeURIComponent(globalId("Approval", body.request.approvalId));
      return { url: publicUrl === null ? null : `${publicUrl}/console/inbox/${id}` };
    }
    case "PERMISSION_DECIDED":
      return { tool: body.tool ?? null, deciderName };
    default:
      return {};
  }
}

/** Merges the fields of a request, and of its call, into the event's fields. */
function flat({ request, ...fields }: JsonObject): JsonObject {
  if (!isJsonObject(request)) return fields;
  const { call, ...asked } = request;
  if (!isJsonObject(call)) return { ...fields, ...asked };
  const { callId = null, name: tool = null, inputPreview = null } = call;
  return { ...fields, ...asked, callId, tool, inputPreview };
}

const IDS: Readonly<Record<string, NodeType>> = {
  agentId: "Agent",
  messageId: "Message",
  messageIds: "Message",
  approvalId: "Approval",
  forkedFrom: "Agent",
  allowRuleId: "AllowRule",
  delegationId: "Delegation",
};

/** The fields with JSON of the operator's code and of models, which contains no ids of the API. */
const OWN_JSON: ReadonlySet<string> = new Set(["eventData", "meta", "parameters"]);

function withGlobalIds(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withIds(name, value)]));
}

function withIds(name: string, value: Json): Json {
  if (OWN_JSON.has(name)) return value;
  const type = IDS[name];
  if (type !== undefined && typeof value === "string") return globalId(type, value);
  if (Array.isArray(value)) return value.map((item: Json) => withIds(name, item));
  if (!isJsonObject(value)) return value;
  const { id, kind } = value;
  return typeof id === "string" && typeof kind === "string" && Object.keys(value).length === 2
    ? { id: actorGlobalId({ id, kind }), kind, actorId: id }
    : withGlobalIds(value);
}
