import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { errorCode } from "../../../lib/error-code.ts";
import { isNearAddress } from "../../../lib/near-address.ts";
import { isPrivateAddress } from "../../../lib/private-address.ts";
import { messageOf } from "../../../lib/text.ts";
import { Turns } from "../../../lib/turns.ts";

/** The way from the server to the internet. Tests put another one in its place. */
export type Network = {
  /** The addresses of a name. */
  lookup(name: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
  /** True for an address of this machine, or of a network that it lies in. */
  isNear(address: string): boolean;
};

/** Looks names up one after the other. */
export function oneByOne(look: Network["lookup"]): Network["lookup"] {
  const turns = new Turns(1);
  return (name) => turns.run("", () => look(name));
}

/**
 * The network of this machine. Names are looked up one after the other: the system looks up two at a time for all of a process,
 * and the server looks for its models and webhooks by the same way. A name that nobody answers for takes it ten seconds and more.
 */
export const INTERNET: Network = {
  lookup: oneByOne(async (name) => (await lookup(name, { all: true })).map(({ address }) => address)),
  connect: (address, port) => connect({ host: address, port }),
  isNear: (address) => isNearAddress(address),
};

/** True if a program may reach a host at a port now. Hosts are names in lower case, or addresses. One that fails refuses. */
export type HostDecision = (host: string, port: number) => boolean | Promise<boolean>;

/** The longest name of a host, in characters (RFC 1035), with a dot at its end. */
const MOST_CHARACTERS = 254;

/** A host and a port, as a program asked for them. */
export type Target = { readonly host: string; readonly port: number };

/** The address to which a connection goes, or why there is none, in words for the model. `isRefused`: by a decision, not by the network. */
export type Reached =
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "none"; readonly isRefused: boolean; readonly reason: string };

/** A target as `host:port`; null if it is none. The name is in lower case, without a dot at its end and without brackets. */
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

/** A target as it is written. */
export function shown({ host, port }: Target): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * The address for a connection to a target: allowed by the decision, resolved once, and of the public internet. The
 * connection goes to this address, whatever the name stands for a moment later.
 */
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

/** A decision that fails refuses. */
async function mayReach({ host, port }: Target, decide: HostDecision): Promise<boolean> {
  try {
    return await decide(host, port);
  } catch {
    return false;
  }
}
