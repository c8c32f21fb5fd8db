import { agentPermissions } from "../../policy/agent-policy.ts";
import { judgeConnection } from "../../policy/judge.ts";
import type { HostRule } from "../../policy/hosts/host-rule.ts";
import { byHost, hostText, readHost, type Host } from "../../policy/hosts/host.ts";
import type { RememberedHostRules } from "../../policy/hosts/remembered-host-rules.ts";
import type { Permission } from "../../policy/permission.ts";
import type { Vocabulary } from "../../policy/permission-source.ts";
import type { CallingAgent } from "../call.ts";

/** The hosts that a call would have reached, and that a person is asked about. */
export type RefusedHosts = {
  /** In order, at most MOST_HOSTS. */
  readonly asked: readonly Host[];
  /** Those that were allowed since they were refused: nobody is asked again. */
  readonly allowedSince: readonly Host[];
  /** The number of further ones, about which nobody is asked. */
  readonly leftOut: number;
};

/** A call that asks for nothing. */
export const NO_HOSTS: RefusedHosts = { asked: [], allowedSince: [], leftOut: 0 };

/** The most hosts that one call asks for. */
export const MOST_HOSTS = 20;
/** The most different hosts that are counted beyond them: a program may try any number. */
const MOST_COUNTED = 1_000;

/** `listedHosts` are those that programs reach without asking; null if programs in boxes have no network. */
export type HostServices = Vocabulary & {
  readonly hostRules: RememberedHostRules;
  readonly listedHosts: readonly HostRule[] | null;
};
type HostTemplate = { readonly id: string; readonly permission: Permission };
type ReachingAgent = Pick<CallingAgent, "id" | "tenant" | "permission">;

/** Decides which hosts an agent may reach, as its permission and the stored rules stand at each connection, or did a second before (invariant 14). */
export class HostGate {
  readonly #services: HostServices;
  readonly #agent: ReachingAgent;
  readonly #template: HostTemplate;

  constructor(services: HostServices, agent: ReachingAgent, template: HostTemplate) {
    this.#services = services;
    this.#agent = agent;
    this.#template = template;
  }

  /** The verdict on a connection now. Rejects if the database does not answer. */
  async verdict(host: string, port: number): Promise<"allow" | "ask" | "deny"> {
    const permissions = agentPermissions(this.#template, this.#agent.permission, this.#services);
    const policy = { ...permissions, listedHosts: this.#services.listedHosts ?? [] };
    const { verdict } = judgeConnection({ ...policy, storedHosts: [] }, host, port);
    if (verdict !== "ask") return verdict;
    const storedHosts = await this.#services.hostRules.of({ ...this.#agent, templateId: this.#template.id });
    return judgeConnection({ ...policy, storedHosts }, host, port).verdict;
  }
}

/** The hosts that one call tries to reach while it runs. */
export class CallHosts {
  readonly #gate: HostGate;
  readonly #ended: AbortSignal;
  readonly #refused = new Map<string, Host>();

  /** After `ended` aborts nothing is allowed, and nothing more is asked for. */
  constructor(gate: HostGate, ended: AbortSignal) {
    this.#gate = gate;
    this.#ended = ended;
  }

  /** True if the call may reach a host now. One that a person may allow is asked for when the call ends. */
  async mayReach(host: string, port: number): Promise<boolean> {
    if (this.#ended.aborted) return false;
    const verdict = await this.#gate.verdict(host, port);
    if (this.#ended.aborted) return false;
    const asked = verdict === "ask" ? readHost(host, port) : null;
    if (asked !== null && this.#refused.size < MOST_HOSTS + MOST_COUNTED) this.#refused.set(hostText(asked), asked);
    return verdict === "allow";
  }

  /** The hosts that were refused so far, as they are judged now. Never rejects. */
  async refused(): Promise<RefusedHosts> {
    const all = [...this.#refused.values()];
    if (all.length === 0) return NO_HOSTS;
    const hosts = all.slice(0, MOST_HOSTS).toSorted(byHost);
    // What cannot be judged again, since the database does not answer, stays refused, and a person is asked.
    const again = hosts.map(({ host, port }) => this.#gate.verdict(host, port).catch(() => "ask" as const));
    const verdicts = await Promise.all(again);
    return {
      asked: hosts.filter((_host, index) => verdicts[index] === "ask"),
      allowedSince: hosts.filter((_host, index) => verdicts[index] === "allow"),
      leftOut: all.length - hosts.length,
    };
  }
}
