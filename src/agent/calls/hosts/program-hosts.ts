import { hostText, readHost, type Host } from "../../policy/hosts/host.ts";
import type { CallingAgent } from "../call.ts";
import type { HostGate } from "./call-hosts.ts";

/** A program that outlives the call which started it. */
export type ProgramOfCall = {
  readonly agent: Pick<CallingAgent, "id" | "tenant" | "createdBy"> & { readonly templateId: string };
  readonly callId: string;
};

/** The outcome of a question: it is open, the program has asked it before, or the program asks for too many hosts. */
export type AskedInBackground = "asked" | "asked before" | "left out";

/** Asks people about a host that a program would reach. */
export type AskInBackground = (program: ProgramOfCall, host: Host) => Promise<AskedInBackground>;

/** The hosts that a program tries to reach which outlives its call. People are asked while it runs, and nothing waits for them. */
export class ProgramHosts {
  readonly #gate: HostGate;
  readonly #program: ProgramOfCall;
  readonly #ask: AskInBackground;
  /** The hosts that it has tried, which need not be asked for again. */
  readonly #tried = new Set<string>();

  constructor(gate: HostGate, program: ProgramOfCall, ask: AskInBackground) {
    this.#gate = gate;
    this.#program = program;
    this.#ask = ask;
  }

  /**
   * True if the program may reach a host now. One that a person may allow is asked for, once. Rejects if the database does not
   * answer: the next try asks again then.
   */
  async mayReach(host: string, port: number): Promise<boolean> {
    const verdict = await this.#gate.verdict(host, port);
    const asked = verdict === "ask" ? readHost(host, port) : null;
    if (asked !== null && !this.#tried.has(hostText(asked)) && this.#tried.size < MOST_TRIED) await this.#askOnce(asked);
    return verdict === "allow";
  }

  async #askOnce(host: Host): Promise<void> {
    this.#tried.add(hostText(host));
    try {
      await this.#ask(this.#program, host);
    } catch (error) {
      this.#tried.delete(hostText(host));
      throw error;
    }
  }
}

/** The most different hosts of a program that are looked at: far more than it may ask for. */
const MOST_TRIED = 1_000;
