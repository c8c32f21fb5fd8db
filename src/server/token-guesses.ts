import type { IncomingMessage } from "node:http";
import { GraphQLError } from "graphql";
import { recentlyUsed } from "../lib/recently-used.ts";
import { hashOf } from "../agent/actors/access-token.ts";
import { isPrivateAddress, networkOf } from "../lib/addresses.ts";
import type { Clock } from "../lib/time.ts";
import type { Authentication, Credentials } from "./authenticate.ts";
import { Buckets } from "./buckets.ts";

/** The wrong tokens that an address may try in a minute. */
const PER_ADDRESS = 10;
/** A token of so many characters cannot be guessed, and is always tried. */
const LONG = 20;
const REMEMBERED = 10_000;

export function isGuessable(token: string): boolean {
  return token.length < LONG;
}

/**
 * Counts wrong Bearer tokens by address, so that short tokens of a configuration cannot be guessed. At an address with too
 * many, a short token is tried only if it was right there before. One bad client of a proxy stops no other. The same wrong
 * token counts once: a program with an old token does not guess.
 */
export class TokenGuesses {
  readonly #isOn: boolean;
  readonly #wrong: Buckets;
  /** The tokens that were tried at an address, by the hash of both; true for right ones. */
  readonly #tried = recentlyUsed<boolean>(REMEMBERED);

  /** A function of the configuration reads its tokens itself, and most of those are signed. */
  constructor({ kind }: Authentication, clock: Clock) {
    this.#isOn = kind === "tokens";
    this.#wrong = new Buckets(PER_ADDRESS, clock);
  }

  /** Finds who has these credentials, unless too many wrong ones came from the address of the request. */
  async tried<Found>(
    credentials: Credentials,
    request: Pick<IncomingMessage, "socket" | "headers">,
    find: () => Promise<Found | null>,
  ): Promise<Found | null> {
    if (!this.#isOn || credentials.kind !== "TOKEN" || !isGuessable(credentials.token)) return find();
    const network = networkOf(addressOf(request));
    const key = hashOf(`${network} ${credentials.token}`);
    const isKnown = this.#tried.get(key) !== undefined;
    const waitMs = this.#wrong.msUntil(network, 1);
    if (waitMs > 0 && !isKnown) throw tooMany(Math.ceil(waitMs / 1_000));
    const found = await find();
    if (found === null && !isKnown) this.#wrong.take(network, 1);
    this.#tried.set(key, found !== null);
    return found;
  }
}

function tooMany(seconds: number): GraphQLError {
  return new GraphQLError(`too many wrong tokens came from your address: try again in ${seconds} s, or use a longer token`, {
    extensions: {
      code: "RATE_LIMITED",
      retryAfterMs: seconds * 1_000,
      http: { status: 429, headers: { "retry-after": String(seconds) } },
    },
  });
}

/** The address of the client. That of the nearest proxy's header counts if the proxy is in a private network, or on this machine. */
export function addressOf({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): string {
  const peer = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  if (!isPrivateAddress(peer)) return peer;
  const forwarded =
    String(headers["x-forwarded-for"] ?? "")
      .split(",")
      .at(-1)
      ?.trim() ?? "";
  return forwarded === "" ? peer : withoutPort(forwarded).slice(0, 100);
}

/** Some proxies write the port of the connection behind the address. */
function withoutPort(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}
