import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { isPrivateAddress } from "../../../lib/addresses.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { type RuleScope, type RuleProblem, NOT_CLOSED, NOT_QUOTED, patternOf, takesEverything } from "../rule-text.ts";

/**
 * A host and its port, in the one form in which hosts are compared: a name in lower case and in ASCII (punycode), without
 * a dot at its end; an IPv4 address as four numbers, also one in IPv6 form; an IPv6 address in its short form, in brackets.
 */
export type Host = { readonly host: string; readonly port: number };

/** True for an address that is not of the public internet, and for names of this machine (RFC 6761). */
export function isNear({ host }: Host): boolean {
  return isPrivateAddress(host.replace(/^\[|\]$/g, "")) || host === "localhost" || host.endsWith(".localhost");
}

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
function hostName(text: string): string | null {
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
function isPort(port: number): boolean {
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

/** The word with which rules about hosts begin. No tool has this name. */
export const NETWORK = "network";

/** A rule about hosts, parsed: to which of them it speaks. */
export type HostRule = {
  readonly source: string;
  /** The place in the configuration, or `allowRules.ID` for one that is stored. */
  readonly place: string;
  readonly scope: RuleScope;
  /** Every host, one of this name, or all that lie below a name. */
  readonly hosts: { readonly kind: "every" } | { readonly kind: "named" | "below"; readonly name: string };
  /** The port that it names, every port, or null if it says nothing of ports. */
  readonly port: number | "every" | null;
};

/** A rule about hosts that a person has stored, for one agent or for all of its template. */
export type StoredHostRule = HostRule & { readonly id: string; readonly createdBy: string };

/** True if a rule speaks of hosts, and not of tools. */
export function isHostRule(source: string): boolean {
  return source === NETWORK || source.startsWith(`${NETWORK}(`);
}

/**
 * A rule of the form `network`, `network(*)` or `network(host:PATTERN)`. The pattern is a name, `*.` and a name, or `*`,
 * and may end with a port, or with `:*` for every port. `*.example.com` speaks of all that lies below example.com, and not
 * of example.com itself.
 *
 * @example
 * network(host:example.com)                // example.com
 * network(host:example.com:8443)           // the same at this port only
 * network(host:*.example.com)              // a.example.com and a.b.example.com
 * network(host:"[2001:db8::1]:8080")       // an IPv6 address stands in brackets
 */
export function parseHostRule(source: string, place: string): Result<HostRule, RuleProblem> {
  const scope = "tree";
  const problem = (character: number, message: string): Result<never, RuleProblem> => refused({ character, message });
  if (source === NETWORK) return accepted({ source, place, scope, hosts: { kind: "every" }, port: null });
  const open = NETWORK.length;
  if (!source.endsWith(")")) return problem(source.length + 1, NOT_CLOSED);
  const inner = source.slice(open + 1, -1);
  if (takesEverything(inner)) return accepted({ source, place, scope, hosts: { kind: "every" }, port: null });
  const match = /^\s*host\s*:\s*/.exec(inner);
  if (match === null) return problem(open + 2, "expected host:pattern: of a connection, rules see its host only");
  const at = open + 2 + match[0].length;
  const pattern = patternOf(inner.slice(match[0].length).trimEnd());
  if (pattern === null) return problem(at, NOT_QUOTED);
  if (pattern.includes("://")) return problem(at, notAUrl(pattern));
  const { name, port } = splitPort(pattern);
  if (port === undefined) return problem(at, "a port is a number from 1 to 65535, or * for every port");
  if (name === "*") return accepted({ source, place, scope, hosts: { kind: "every" }, port });
  const isBelow = name.startsWith("*.");
  const bare = isBelow ? name.slice(2) : name;
  const known = bare.includes("*") ? null : hostName(bare);
  if (known === null || (isBelow && isAddress(known)))
    return problem(at, "expected the name of a host, `*.` and a name, or `*`; an IPv6 address stands in brackets");
  return accepted({ source, place, scope, hosts: { kind: isBelow ? "below" : "named", name: known }, port });
}

/** The rule of a host as `sandbox.hosts` names it: as a pattern of a rule, but never every host. */
export function parseListedHost(written: string, place: string): Result<HostRule, string> {
  const rule = parseHostRule(`${NETWORK}(host:${JSON.stringify(written)})`, place);
  if (!rule.ok) return refused(rule.refusal.message);
  return rule.value.hosts.kind === "every" ? refused("expected a name: every host is what a rule allows") : rule;
}

/** The rule that allows exactly this host, and its port if that is not a usual one. */
export function hostRuleFor({ host, port }: Host): string {
  const pattern = USUAL_PORTS.includes(port) ? host : `${host}:${port}`;
  return `${NETWORK}(host:${host.startsWith("[") ? JSON.stringify(pattern) : pattern})`;
}

/** True if a rule allows a host: one that says nothing of ports allows the usual ones, 443 and 80. */
export function hostRuleAllows(rule: HostRule, host: Host): boolean {
  return namesHost(rule, host) && (rule.port === null ? USUAL_PORTS.includes(host.port) : isAtPort(rule.port, host));
}

/** True if a rule closes a host: one that says nothing of ports closes every port. */
export function hostRuleDenies(rule: HostRule, host: Host): boolean {
  return namesHost(rule, host) && (rule.port === null || isAtPort(rule.port, host));
}

function namesHost({ hosts }: HostRule, { host }: Host): boolean {
  switch (hosts.kind) {
    case "every":
      return true;
    case "named":
      return host === hosts.name;
    case "below":
      return host.endsWith(`.${hosts.name}`);
  }
}

function isAtPort(port: number | "every", host: Host): boolean {
  return port === "every" || port === host.port;
}

/** The name of a pattern, and its port: null if it has none, undefined if what stands there is none. */
function splitPort(pattern: string): { readonly name: string; readonly port: HostRule["port"] | undefined } {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(pattern);
  const [, name = pattern, port] = match ?? [];
  if (match === null) return { name: pattern, port: null };
  if (port === undefined) return { name, port: null };
  if (port === "*") return { name, port: "every" };
  return { name, port: /^\d{1,5}$/.test(port) && isPort(Number(port)) ? Number(port) : undefined };
}

/** Says of a URL what to write in its place. */
function notAUrl(pattern: string): string {
  const host = URL.parse(pattern)?.host ?? "";
  return `expected the name of a host, not a URL${host === "" ? "" : `: write ${host}`}`;
}

function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(name);
}
