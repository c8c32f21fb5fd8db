import { agentPermissions } from "../../policy/agent-policy.ts";
import type { PolicyTemplate, VersionedAgent } from "../../policy/held-template.ts";
import type { Vocabulary } from "../../policy/permission-source.ts";
import { type HostRule, byHost, hostText, readHost, type Host } from "../../policy/hosts/host-rule.ts";
import type { RememberedHostRules } from "../../policy/hosts/remembered-host-rules.ts";
import { judgeConnection } from "../../policy/judge.ts";
import type { CallingAgent } from "../call.ts";

export type RefusedHosts = {
  readonly asked: readonly Host[];
  /** Hosts that were allowed after their refusal: no question is needed. */
  readonly allowedSince: readonly Host[];
  readonly leftOut: number;
};

export const NO_HOSTS: RefusedHosts = { asked: [], allowedSince: [], leftOut: 0 };

export const MOST_HOSTS = 20;
const MOST_COUNTED = 1_000;

export type HostServices = Vocabulary & {
  readonly hostRules: RememberedHostRules;
  readonly listedHosts: readonly HostRule[] | null;
};
type HostTemplate = Omit<PolicyTemplate, "box"> & { readonly id: string };
type ReachingAgent = Pick<CallingAgent, "id" | "tenant" | "permission">;

/** Decides which hosts an agent may reach, by its permission and the stored rules, at most a second old (invariant 14). */
export class HostGate {
  readonly #services: HostServices;
  readonly #agent: ReachingAgent;
  readonly #template: HostTemplate;

  constructor(services: HostServices, agent: ReachingAgent, template: HostTemplate) {
    this.#services = services;
    this.#agent = agent;
    this.#template = template;
  }

  /** Rejects if the database does not answer. */
  async verdict(host: string, port: number): Promise<"allow" | "ask" | "deny"> {
    const permissions = agentPermissions(this.#template, this.#agent.permission, this.#services);
    const policy = { ...permissions, listedHosts: this.#services.listedHosts ?? [] };
    const { verdict } = judgeConnection({ ...policy, storedHosts: [] }, host, port);
    if (verdict !== "ask") return verdict;
    const storedHosts = await this.#services.hostRules.of({ ...this.#agent, templateId: this.#template.id });
    return judgeConnection({ ...policy, storedHosts }, host, port).verdict;
  }
}

export class CallHosts {
  readonly #gate: HostGate;
  readonly #ended: AbortSignal;
  readonly #refused = new Map<string, Host>();
  readonly #tried = new Set<string>();

  /** After `ended` aborts, every host is refused without a question. */
  constructor(gate: HostGate, ended: AbortSignal) {
    this.#gate = gate;
    this.#ended = ended;
  }

  /** True if the call may reach a host at present. If a person may allow it, the question is asked when the call ends. */
  async mayReach(host: string, port: number): Promise<boolean> {
    if (this.#ended.aborted) return false;
    const verdict = await this.#gate.verdict(host, port);
    if (this.#ended.aborted) return false;
    const known = readHost(host, port);
    if (known !== null && this.#tried.size < MOST_HOSTS) this.#tried.add(known.host);
    const asked = verdict === "ask" ? known : null;
    if (asked !== null && this.#refused.size < MOST_HOSTS + MOST_COUNTED) this.#refused.set(hostText(asked), asked);
    return verdict === "allow";
  }

  /** The hosts that the call asked to reach, whatever the verdict, by name: at most MOST_HOSTS. */
  get tried(): readonly string[] {
    return [...this.#tried].toSorted();
  }

  /** The refused hosts, judged again. Never rejects. */
  async refused(): Promise<RefusedHosts> {
    const all = [...this.#refused.values()];
    if (all.length === 0) return NO_HOSTS;
    const hosts = all.slice(0, MOST_HOSTS).toSorted(byHost);
    // During an outage a host stays refused, and a person is asked.
    const again = hosts.map(({ host, port }) => this.#gate.verdict(host, port).catch(() => "ask" as const));
    const verdicts = await Promise.all(again);
    return {
      asked: hosts.filter((_host, index) => verdicts[index] === "ask"),
      allowedSince: hosts.filter((_host, index) => verdicts[index] === "allow"),
      leftOut: all.length - hosts.length,
    };
  }
}

export type ProgramOfCall = {
  readonly agent: VersionedAgent & Pick<CallingAgent, "id" | "createdBy">;
  readonly callId: string;
};

export type AskedInBackground = "asked" | "asked before" | "left out";

export type AskInBackground = (program: ProgramOfCall, host: Host) => Promise<AskedInBackground>;

/** The hosts that a program tries to reach after its call ended. Questions are asked while it runs and block no results. */
export class ProgramHosts {
  readonly #gate: HostGate;
  readonly #program: ProgramOfCall;
  readonly #ask: AskInBackground;
  readonly #tried = new Map<string, number>();

  constructor(gate: HostGate, program: ProgramOfCall, ask: AskInBackground) {
    this.#gate = gate;
    this.#program = program;
    this.#ask = ask;
  }

  /**
   * True if the program may reach a host at present. If a person may allow it, the question is asked, and asked again
   * if it was closed without an answer. Rejects if the database does not answer: the next try asks again.
   */
  async mayReach(host: string, port: number): Promise<boolean> {
    const verdict = await this.#gate.verdict(host, port);
    const asked = verdict === "ask" ? readHost(host, port) : null;
    if (asked !== null) await this.#askFor(asked);
    return verdict === "allow";
  }

  async #askFor(host: Host): Promise<void> {
    const again = this.#tried.get(hostText(host));
    if (again === undefined ? this.#tried.size >= MOST_TRIED : performance.now() < again) return;
    this.#tried.set(hostText(host), performance.now() + AGAIN_MS);
    try {
      await this.#ask(this.#program, host);
    } catch (error) {
      this.#tried.delete(hostText(host));
      throw error;
    }
  }
}

const MOST_TRIED = 1_000;
/** The time, in ms, after which a requested host is checked again: a program may retry without a pause. */
const AGAIN_MS = 10_000;
