import { hostText, readHost, type Host } from "../../policy/hosts/host.ts";
import type { CallingAgent } from "../call.ts";
import type { HostGate } from "./call-hosts.ts";

export type ProgramOfCall = {
  readonly agent: Pick<CallingAgent, "id" | "tenant" | "createdBy"> & { readonly templateId: string };
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
