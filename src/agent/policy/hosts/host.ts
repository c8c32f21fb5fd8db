import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * A host and its port, in the one form in which hosts are compared: a name in lower case and in ASCII (punycode), without
 * a dot at its end; an IPv4 address as four numbers, also one in IPv6 form; an IPv6 address in its short form, in brackets.
 */
export type Host = { readonly host: string; readonly port: number };

/** The ports that a rule without one allows. */
export const USUAL_PORTS: readonly number[] = [443, 80];

/** The longest name of a host, in characters (RFC 1035). */
const MOST_CHARACTERS = 253;

/** Letters, digits, `-` and `_` between dots: what the form of a URL leaves of a name. */
const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** A host as it is compared; null for what is no host, or no port. */
export function readHost(host: string, port: number): Host | null {
  const name = hostName(host);
  return name === null || !isPort(port) ? null : { host: name, port };
}

/** The name or address of a host in the form in which it is compared; null for what is none. */
export function hostName(text: string): string | null {
  const bare = isIPv6(text) ? `[${text}]` : text;
  // What stands beside the host of a URL would be read as something else.
  if (/[\s/?#@\\%]/.test(bare) || (bare.includes(":") && !/^\[[^\]]+\]$/.test(bare))) return null;
  const url = URL.parse(`http://${bare}/`);
  if (url === null) return null;
  const name = url.hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return addressName(name.slice(1, -1));
  return name.length <= MOST_CHARACTERS && NAME.test(name) ? name : null;
}

function addressName(address: string): string {
  const known = ipaddr.process(address);
  return known instanceof ipaddr.IPv4 ? known.toString() : `[${address}]`;
}

/** True for a number that a port can have. */
export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** The host with its port, for people and for the model: `example.com:443`. */
export function hostText({ host, port }: Host): string {
  return `${host}:${port}`;
}

/** The order in which hosts are listed. */
export function byHost(one: Host, other: Host): number {
  if (one.host !== other.host) return one.host < other.host ? -1 : 1;
  return one.port - other.port;
}
