import { isPrivateAddress } from "../../../lib/private-address.ts";
import type { Consideration, Explanation, Permission, Permissions } from "../permission.ts";
import { hostText, readHost, type Host } from "./host.ts";
import { hostRuleAllows, hostRuleDenies, type HostRule } from "./host-rule.ts";

/** A rule about hosts that a person has stored, for one agent or for all of its template. */
export type StoredHostRule = HostRule & { readonly id: string; readonly createdBy: string };

/** All by which it is decided which hosts an agent may reach: its permissions, the hosts of `sandbox.hosts`, and the rules that people have stored. */
export type HostPolicy = Permissions & {
  readonly listedHosts: readonly HostRule[];
  readonly storedHosts: readonly StoredHostRule[];
};

/**
 * The verdict on a host: denied by what is closed and by deny rules, of the permission and of its bounds; allowed
 * by allow rules, by `sandbox.hosts` and by what people have stored; else asked. A mode says nothing of hosts, but for `deny`, which closes all.
 */
export function hostDecision(policy: HostPolicy, host: string, port: number): Explanation {
  const known = readHost(host, port);
  if (known === null) return denied("no host", "built in", `${JSON.stringify(`${host}:${port}`)} is no host with a port`, []);
  if (isPrivateAddress(known.host.replace(/^\[|\]$/g, "")) || isLocalName(known.host))
    return denied("private addresses", "built in", `${known.host} is not of the public internet, and stays closed`, []);
  const considered: Consideration[] = [];
  for (const permission of [policy.permission, ...policy.bounds]) {
    const closed = deniedBy(permission, known, considered);
    if (closed !== null) return closed;
  }
  return allowedBy(policy, known, considered) ?? asked(known, considered);
}

function deniedBy({ mode, place, hosts }: Permission, host: Host, considered: Consideration[]): Explanation | null {
  for (const rule of hosts.deny) {
    if (hostRuleDenies(rule, host))
      return denied(`deny ${rule.source}`, rule.place, `the rule ${rule.source} forbids it`, considered);
    considered.push({ rule: `deny ${rule.source}`, place: rule.place, verdict: "no match" });
  }
  if (mode.kind !== "builtin" || mode.name !== "deny") return null;
  return denied("mode deny", `${place}.mode`, "mode deny forbids every host", considered);
}

function allowedBy(
  { permission, listedHosts, storedHosts }: HostPolicy,
  host: Host,
  considered: Consideration[],
): Explanation | null {
  for (const rule of permission.hosts.allow) {
    if (hostRuleAllows(rule, host))
      return explained("allow", `allow ${rule.source}`, rule.place, `the rule ${rule.source} allows it`, considered);
    considered.push({ rule: `allow ${rule.source}`, place: rule.place, verdict: "no match" });
  }
  const listed = listedHosts.find((rule) => hostRuleAllows(rule, host));
  if (listed !== undefined) return explained("allow", "sandbox.hosts", listed.place, "the configuration names it", considered);
  const stored = storedHosts.find((rule) => hostRuleAllows(rule, host));
  if (stored === undefined) return null;
  const { source, place, id, createdBy } = stored;
  const reason = `${createdBy} allows ${source}`;
  return { ...explained("allow", `always allow ${source}`, place, reason, considered), allowRuleId: id };
}

function asked(host: Host, considered: readonly Consideration[]): Explanation {
  return explained("ask", "hosts", "built in", `no rule allows ${hostText(host)}`, considered);
}

function denied(decidedBy: string, place: string, reason: string, considered: readonly Consideration[]): Explanation {
  return explained("deny", decidedBy, place, reason, considered);
}

function explained(
  verdict: Explanation["verdict"],
  decidedBy: string,
  place: string,
  reason: string,
  considered: readonly Consideration[],
): Explanation {
  return { verdict, decidedBy, place, reason, considered: [...considered, { rule: decidedBy, place, verdict }] };
}

/** Names that stand for this machine (RFC 6761). */
function isLocalName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}
