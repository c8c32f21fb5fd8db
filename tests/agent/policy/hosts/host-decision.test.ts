import { describe, expect, it } from "vitest";
import { readPermission, type PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import type { Permission } from "../../../../src/agent/policy/permission.ts";
import { judgeConnection, type HostPolicy } from "../../../../src/agent/policy/judge.ts";
import { hostRuleFor, parseHostRule, parseListedHost } from "../../../../src/agent/policy/hosts/host-rule.ts";
import { ownTool } from "../../../support/tools.ts";

const VOCABULARY = { tools: new Map(), modes: new Map() };

/** The bound of an agent's own permission: it says nothing of hosts that it does not name. */
function boundOf(source: PermissionSource): Permission {
  const { permission } = readPermission(source, "own", VOCABULARY);
  return { ...permission, hosts: { ...permission.hosts, unnamed: null } };
}

function policyOf(source: PermissionSource, bound: PermissionSource | null = null, stored: readonly string[] = []): HostPolicy {
  return {
    permission: readPermission(source, "test", VOCABULARY).permission,
    bounds: bound === null ? [] : [boundOf(bound)],
    listedHosts: [],
    storedHosts: stored.map((rule) => {
      const parsed = parseHostRule(rule, "allowRules.1");
      if (!parsed.ok) throw new Error(parsed.refusal.message);
      return { ...parsed.value, id: "1", createdBy: "paul" };
    }),
  };
}

function verdict(source: PermissionSource, host: string, port = 443): string {
  return judgeConnection(policyOf(source), host, port).verdict;
}

const allow = (...rules: string[]): PermissionSource => ({ allow: rules });

describe("a host is compared in one form", () => {
  it.each([
    ["example.com", "EXAMPLE.com"],
    ["example.com", "example.com."],
    ["EXAMPLE.COM.", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "BÜCHER.example"],
    ["8.8.8.8", "8.8.8.8"],
    ['"[2a00:1450:4001::8]"', "2a00:1450:4001:0:0:0:0:8"],
    ['"[2A00:1450:4001:0::8]"', "[2a00:1450:4001::8]"],
    ["8.8.8.8", "[::ffff:8.8.8.8]"],
    ["8.8.8.8", "0x8.8.8.010"],
  ])("%s takes in %s", (rule, host) => {
    expect(verdict(allow(`network(host:${rule})`), host)).toBe("allow");
  });

  it.each([
    ["example.com", "example.com.evil.net"],
    ["example.com", "notexample.com"],
    ["example.com", "www.example.com"],
    ["example.com", "exаmple.com"],
    ["example.com", "examp1e.com"],
    ["*.example.com", "example.com"],
    ["*.example.com", "evilexample.com"],
    ["*.example.com", "a.example.com.evil.net"],
    ["*.example.com", ".example.com"],
  ])("%s does not take in %s", (rule, host) => {
    expect(verdict(allow(`network(host:${rule})`), host)).not.toBe("allow");
  });

  it.each(["a.example.com", "a.b.example.com", "A.EXAMPLE.com."])("*.example.com takes in %s", (host) => {
    expect(verdict(allow("network(host:*.example.com)"), host)).toBe("allow");
  });

  it.each([
    "",
    "a b",
    "a/b",
    "user@example.com",
    "example.com:80",
    "a\\b",
    "a..b",
    "%65xample.com",
    "-",
    "a".repeat(300),
    "[::1",
    "*",
  ])("%j is no host: nobody is asked about it", (host) => {
    expect(judgeConnection(policyOf({ mode: "auto" }), host, 443)).toMatchObject({ verdict: "deny", decidedBy: "no host" });
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])("%d is no port", (port) => {
    expect(verdict(allow("network"), "example.com", port)).toBe("deny");
  });
});

describe("ports", () => {
  it("an allow rule without a port speaks of 443 and 80, one with a port of that alone, and :* of every port", () => {
    const verdicts = (rule: string): string[] => [443, 80, 8443, 22].map((port) => verdict(allow(rule), "example.com", port));
    expect(verdicts("network(host:example.com)")).toEqual(["allow", "allow", "ask", "ask"]);
    expect(verdicts("network(host:example.com:8443)")).toEqual(["ask", "ask", "allow", "ask"]);
    expect(verdicts("network(host:example.com:*)")).toEqual(["allow", "allow", "allow", "allow"]);
    expect(verdicts("network")).toEqual(["allow", "allow", "ask", "ask"]);
    expect(verdicts("network(host:*:*)")).toEqual(["allow", "allow", "allow", "allow"]);
  });

  it("a deny rule without a port closes every port, one with a port that alone", () => {
    const verdicts = (rule: string): string[] =>
      [443, 8443].map((port) => verdict({ allow: ["network(host:*:*)"], deny: [rule] }, "example.com", port));
    expect(verdicts("network(host:example.com)")).toEqual(["deny", "deny"]);
    expect(verdicts("network(host:example.com:8443)")).toEqual(["allow", "deny"]);
  });

  it("the rule that a yes is kept as names a port only if it is not a usual one, and allows what was asked", () => {
    for (const [host, port, rule] of [
      ["example.com", 443, "network(host:example.com)"],
      ["example.com", 80, "network(host:example.com)"],
      ["example.com", 8443, "network(host:example.com:8443)"],
      ["[2a00:1450:4001::8]", 8443, 'network(host:"[2a00:1450:4001::8]:8443")'],
    ] as const) {
      expect(hostRuleFor({ host, port })).toBe(rule);
      expect(verdict(allow(rule), host, port)).toBe("allow");
    }
  });
});

describe("what decides", () => {
  it("deny wins over allow, also that of the agent's own permission; an own allow rule loosens nothing", () => {
    const own = (bound: PermissionSource): string =>
      judgeConnection(policyOf(allow("network(host:*.example.com)"), bound), "a.example.com", 443).verdict;
    expect(own({})).toBe("allow");
    expect(own({ deny: ["network(host:a.example.com)"] })).toBe("deny");
    expect(judgeConnection(policyOf({}, allow("network")), "a.example.com", 443).verdict).toBe("ask");
  });

  it("what a person has stored allows, but not what a rule denies", () => {
    const stored = ["network(host:example.com)"];
    expect(judgeConnection(policyOf({}, null, stored), "example.com", 443)).toMatchObject({ verdict: "allow", allowRuleId: "1" });
    expect(judgeConnection(policyOf({ deny: ["network(host:example.com)"] }, null, stored), "example.com", 443)).toMatchObject({
      verdict: "deny",
      place: "test.deny.0",
    });
  });

  it.each(["auto", "approval", "readonly", "default"])("mode %s asks for what no rule names", (mode) => {
    expect(verdict({ mode }, "example.com")).toBe("ask");
  });

  it("mode deny closes every host", () => {
    expect(verdict({ mode: "deny", allow: ["network"] }, "example.com")).toBe("deny");
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "[::1]",
    "[fe80::1]",
    "[::ffff:10.0.0.1]",
    "2130706433",
    "localhost",
    "a.localhost",
  ])("%s stays closed, whatever rules say", (host) => {
    expect(verdict(allow("network(host:*:*)", ...(host.startsWith("[") ? [] : [`network(host:${host})`])), host)).toBe("deny");
  });
});

describe("rules about hosts are read with the others", () => {
  const problemsOf = (source: PermissionSource): readonly string[] =>
    readPermission(source, "test", VOCABULARY).problems.map(({ field, message }) => `${field.join(".")}: ${message}`);

  it.each([
    ["network(", "at character 9"],
    ["network(path:a)", "at character 9"],
    ["network(host:)", "at character 14"],
    ["network(host:*a.example.com)", "at character 14"],
    ["network(host:a.*.com)", "at character 14"],
    ["network(host:*.1.2.3.4)", "at character 14"],
    ["network(host:https://example.com)", "at character 14"],
    ["network(host:example.com:0)", "at character 14"],
    ["network(host:example.com:99999)", "at character 14"],
    ["network(host:{a,b}.com)", "at character 14"],
    ['network(host:"a)', "at character 14"],
  ])("%s is refused with its place", (rule, words) => {
    for (const list of ["allow", "deny"]) expect(problemsOf({ [list]: [rule] })[0]).toContain(`${list}.0: ${words}`);
  });

  it("in ask they are refused: what no rule names is asked for anyway", () => {
    expect(problemsOf({ ask: ["network(host:example.com)"] })[0]).toMatch(/^ask\.0: .*anyway/);
  });

  it("no tool has their name", () => {
    expect(() => ownTool("network", () => ({ output: "", details: null }))).toThrow("rules about hosts begin with it");
  });
});

describe("sandbox.hosts", () => {
  const listed = (...written: string[]) =>
    written.map((host, index) => {
      const rule = parseListedHost(host, `sandbox.hosts.${index}`);
      if (!rule.ok) throw new Error(rule.refusal);
      return rule.value;
    });

  it("names hosts at the ports of the web, at a port, and all below a name; what it does not name is asked for", () => {
    const policy = { ...policyOf({}), listedHosts: listed("Example.org", "api.example.org:8443", "*.cdn.example") };
    const said = ([host, port]: readonly [string, number]): string => judgeConnection(policy, host, port).verdict;
    const named = [
      ["example.org", 443],
      ["example.org", 80],
      ["api.example.org", 8443],
      ["a.cdn.example", 443],
      ["a.b.cdn.example", 80],
    ] as const;
    const others = [
      ["example.org", 22],
      ["api.example.org", 443],
      ["cdn.example", 443],
      ["evilcdn.example", 443],
      ["example.org.evil", 443],
      ["a.example.org", 443],
    ] as const;
    expect(named.map(said)).toEqual(named.map(() => "allow"));
    expect(others.map(said)).toEqual(others.map(() => "ask"));
    expect(judgeConnection(policy, "example.org", 443)).toMatchObject({ decidedBy: "sandbox.hosts", place: "sandbox.hosts.0" });
  });

  it("opens nothing that a rule denies, and no private address", () => {
    const policy = { ...policyOf({ deny: ["network(host:example.org)"] }), listedHosts: listed("example.org", "127.0.0.1:3000") };
    expect(judgeConnection(policy, "example.org", 443).verdict).toBe("deny");
    expect(judgeConnection(policy, "127.0.0.1", 3000).verdict).toBe("deny");
  });

  it("has no patterns but those, and says what is wrong", () => {
    for (const host of ["*", "https://example.org", "a/b", "", "a b", "*.*.org", "example.*", "example.org:70000"])
      expect(parseListedHost(host, "sandbox.hosts.0"), host).toMatchObject({ ok: false });
  });
});
