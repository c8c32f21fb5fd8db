import { createHash } from "node:crypto";
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Webhook as Signer } from "standardwebhooks";
import { Agent, request } from "undici";
import { announcement } from "./announcement.ts";
import { GiveUp, type Consumer } from "./consumer.ts";
import type { EventKind, TimelineEvent } from "../events/event.ts";
import { DAY_MS } from "../lib/clock.ts";
import { errorCode } from "../lib/error-code.ts";
import { isPrivateAddress } from "../lib/private-address.ts";

/** A webhook: a place where the decisions of people are announced. */
export type Webhook = {
  /** Under this name it is remembered how far it has come. */
  readonly name: string;
  readonly url: URL;
  /** The key of the signature: `whsec_` and its bytes in base64. */
  readonly secret: string;
  readonly kinds: readonly EventKind[];
  /** Only events of this tenant; null for all. */
  readonly tenant: string | null;
  /** True if the operator says that the target may lie in a private network. */
  readonly allowsPrivate: boolean;
};

/** The time of one try, in ms. */
export const WEBHOOK_TRY_MS = 10_000;
/** The time of all tries of an event, in ms, and the number of tries at once. */
const GIVE_UP_MS = DAY_MS;
const CONCURRENCY = 8;

/** A webhook as a consumer of the log. */
export function webhookConsumer(webhook: Webhook): Consumer {
  const signer = new Signer(webhook.secret);
  return {
    name: `webhook.${webhook.name}`,
    kinds: webhook.kinds,
    tenant: webhook.tenant,
    concurrency: CONCURRENCY,
    giveUpMs: GIVE_UP_MS,
    deliver: async (event, signal) => {
      const body = JSON.stringify(announcement(event));
      const status = await post(webhook, signed(signer, idOf(webhook, event), body), body, signal).catch((error: unknown) => {
        throw new Unreached(error);
      });
      if (status === 410) throw new GiveUp("the target answered 410: it wants no more");
      if (status < 200 || status > 299) throw new Error(`the target answered ${status}`);
    },
  };
}

/**
 * The same id at every try, so that receivers can tell repeats. After a backup was restored, another event may come to stand at
 * the same position: its time tells it apart.
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
    // A connection a delivery: nothing is kept open towards a target.
    reset: true,
  });
  answer.body.on("error", () => {}).destroy();
  return answer.statusCode;
}

/** No answer came. People who watch the agent read why, in words without an address; the cause names the address for operators. */
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

/** Connections to any target, and to such as lie in the public internet; by HTTP/1.1, whose connections end with their request. */
const ANYWHERE = new Agent({ allowH2: false });
const PUBLIC = new Agent({ allowH2: false, connect: { lookup: publicLookup } });
