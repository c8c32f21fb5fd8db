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
  /** The hosts that it has tried, each with the time from which on it is looked again whether somebody must be asked. */
  readonly #tried = new Map<string, number>();

  constructor(gate: HostGate, program: ProgramOfCall, ask: AskInBackground) {
    this.#gate = gate;
    this.#program = program;
    this.#ask = ask;
  }

  /**
   * True if the program may reach a host now. One that a person may allow is asked for, and again if nobody answered and the question
   * was closed. Rejects if the database does not answer: the next try asks again then.
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

/** The most different hosts of a program that are looked at: far more than it may ask for. */
const MOST_TRIED = 1_000;
/** The time for which a host that was asked for is not looked at again, in ms: a program may try it without a pause. */
const AGAIN_MS = 10_000;
