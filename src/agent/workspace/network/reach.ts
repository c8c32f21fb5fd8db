import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { errorCode, messageOf } from "../../../lib/text.ts";
import { isNearAddress, isPrivateAddress } from "../../../lib/addresses.ts";
import { KeyedSemaphore } from "../../../lib/keyed-semaphore.ts";

export type Network = {
  lookup(name: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
  isNear(address: string): boolean;
};

export function oneByOne(look: Network["lookup"]): Network["lookup"] {
  const turns = new KeyedSemaphore(1);
  return (name) => turns.run("", () => look(name));
}

/**
 * The network of this machine. Names are looked up one after the other. The system does two look-ups at a time for a
 * process, and the server's models and webhooks need them too. An unanswered name takes ten seconds or more.
 */
export const INTERNET: Network = {
  lookup: oneByOne(async (name) => (await lookup(name, { all: true })).map(({ address }) => address)),
  connect: (address, port) => connect({ host: address, port }),
  isNear: (address) => isNearAddress(address),
};

/** Hosts are names in lower case, or addresses. A decision that throws refuses. */
export type HostDecision = (host: string, port: number) => boolean | Promise<boolean>;

/** The longest name of a host, in characters (RFC 1035), with a dot at its end. */
const MOST_CHARACTERS = 254;

export type Target = { readonly host: string; readonly port: number };

/** The address of a connection, or the reason for the model why there is none. `isRefused`: by a decision, not by the network. */
export type Reached =
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "none"; readonly isRefused: boolean; readonly reason: string };

/** Parses `host:port`; null if it is invalid. The name is in lower case, without a final dot and brackets. */
export function targetOf(text: string, port: number | null = null): Target | null {
  const [, bracketed, plain, written] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = (bracketed ?? plain ?? "").toLowerCase().replace(/\.$/, "");
  const asked = written === undefined ? port : Number(written);
  if (
    host === "" ||
    host.length > MOST_CHARACTERS ||
    /[^a-z0-9._:%-]/.test(host) ||
    asked === null ||
    asked < 1 ||
    asked > 65_535
  )
    return null;
  return { host, port: asked };
}

export function shown({ host, port }: Target): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export async function reach(target: Target, decide: HostDecision, network: Network): Promise<Reached> {
  const refuse = (reason: string): Reached => ({ kind: "none", isRefused: true, reason });
  const isOpen = (address: string): boolean => isIP(address) !== 0 && !isPrivateAddress(address) && !network.isNear(address);
  const never = `${shown(target)} leads into a private network or to this machine, which programs never reach and nobody can allow: nothing was sent`;
  const isAddress = isIP(target.host) !== 0;
  if (isAddress && !isOpen(target.host)) return refuse(never);
  if (!(await mayReach(target, decide)))
    return refuse(`${shown(target)} is not among the hosts that programs of this agent may reach: nothing was sent`);
  let addresses: readonly string[];
  try {
    addresses = isAddress ? [target.host] : await network.lookup(target.host);
  } catch (error) {
    return { kind: "none", isRefused: false, reason: `${target.host} has no address (${errorCode(error) ?? messageOf(error)})` };
  }
  const address = addresses.find(isOpen);
  if (address === undefined) return refuse(never);
  return { kind: "address", address };
}

async function mayReach({ host, port }: Target, decide: HostDecision): Promise<boolean> {
  try {
    return await decide(host, port);
  } catch {
    return false;
  }
}
