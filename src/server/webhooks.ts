import { createHash, createHmac } from "node:crypto";
import { lookup } from "node:dns";
import { request as requestHttp, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { GiveUp, type Consumer } from "../events/consumer.ts";
import type { EventKind, TimelineEvent } from "../events/event.ts";
import { isPrivateAddress } from "../lib/private-address.ts";
import { globalId } from "../resolvers/global-id.ts";

/** Where the decisions of people are announced. */
export type Webhook = {
  /** Under this name it is remembered how far it has come. */
  readonly name: string;
  readonly url: URL;
  /** The key of the signature. */
  readonly secret: Buffer;
  readonly kinds: readonly EventKind[];
  /** Only events of this tenant; null for all. */
  readonly tenant: string | null;
  /** Whether the operator says that the target may lie in a private network. */
  readonly allowsPrivate: boolean;
};

/** How long one try may take, for how long an event is tried, and how many are under way at once. */
const TRY_MS = 10_000;
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;
const CONCURRENCY = 8;

/** A webhook as a consumer of the log. */
export function webhookConsumer(webhook: Webhook): Consumer {
  return {
    name: `webhook.${webhook.name}`,
    kinds: webhook.kinds,
    concurrency: CONCURRENCY,
    giveUpMs: GIVE_UP_MS,
    wants: ({ tenant }) => webhook.tenant === null || webhook.tenant === tenant,
    deliver: async (event, signal) => {
      const body = JSON.stringify(payloadOf(event));
      const id = createHash("sha256").update(`${webhook.name}\n${event.tenant}\n${event.position}`).digest("hex").slice(0, 32);
      const status = await post(webhook, signed(webhook, `msg_${id}`, body), body, signal);
      if (status === 410) throw new GiveUp("the target answered 410: it wants no more");
      if (status < 200 || status > 299) throw new Error(`the target answered ${status}`);
    },
  };
}

/** The headers of Standard Webhooks (standardwebhooks.com): the same id at every try, so that receivers can tell repeats. */
function signed({ secret }: Webhook, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

/** What receivers need to ask for the rest. The input itself is not sent: it is read with a token. */
function payloadOf({ body, tenant, agentId, seq, at }: TimelineEvent): object {
  const common = { tenant, agentId: globalId("Agent", agentId), seq };
  const data = { ...common, ...detailsOf(body) };
  return { type: body.kind, timestamp: at.toISOString(), data };
}

function detailsOf(body: TimelineEvent["body"]): object {
  switch (body.kind) {
    case "PERMISSION_REQUIRED": {
      const { approvalId, call, ...request } = body.request;
      const { callId, name: tool, inputPreview } = call;
      return { ...request, approvalId: globalId("Approval", approvalId), callId, tool, inputPreview };
    }
    case "PERMISSION_DECIDED":
    case "PERMISSION_CLOSED":
      return { ...fieldsOf(body), approvalId: globalId("Approval", body.approvalId) };
    default:
      return fieldsOf(body);
  }
}

function fieldsOf(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== "kind"));
}

/** The status of the answer. Redirects are not followed, and the answer's body is not read. */
function post(
  { url, allowsPrivate }: Webhook,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowsPrivate && isIP(host) !== 0 && isPrivateAddress(host)) return Promise.reject(new PrivateTarget(host));
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: "POST",
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
      signal: AbortSignal.any([stop, AbortSignal.timeout(TRY_MS)]),
      agent: false,
      ...(allowsPrivate ? {} : { lookup: publicLookup }),
    };
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.once("error", reject);
    // Without these, a target that switches protocols or goes away silently would never be heard of again.
    request.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the target answered 101"));
    });
    request.once("close", () => reject(new Error("the target closed the connection without an answer")));
    request.end(body);
  });
}

class PrivateTarget extends Error {
  constructor(host: string) {
    super(`${host} lies in a private network: set allowPrivateTarget where that is meant`);
  }
}

/** Looks up a name, and refuses it where any of its addresses is private: what is looked up is what is connected to. */
const publicLookup: LookupFunction = (host, options, answer) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return answer(error, "", 0);
    const [first] = addresses;
    if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address)))
      return answer(new PrivateTarget(host), "", 0);
    return options.all === true ? answer(null, addresses) : answer(null, first.address, first.family);
  });
};
