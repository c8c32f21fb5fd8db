import { randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OutageWatch } from "../db/sql.ts";
import { isConnectionLost, isContention, sqlState } from "../db/storage-error.ts";
import { messageOf } from "../lib/text.ts";
import { encodeEvent, type EncodedEvent } from "./codec.ts";
import type { TimelineEvent, EventDraft } from "./event.ts";
import { CommitsLost } from "./log-page.ts";

export type AppendOutcome =
  { readonly outcome: "COMMITTED"; readonly events: readonly TimelineEvent[] } | { readonly outcome: "FENCED" };

/** One try's outcome: nothing was written if the agent's row was locked. */
export type TriedAppend = AppendOutcome | { readonly outcome: "LOCKED" };

export type Committed = {
  readonly outcome: "COMMITTED";
  readonly events: readonly TimelineEvent[];
  /** The last position that was written; null for a change without events. */
  readonly position: number | null;
  /** How often the agent had been signalled before it. */
  readonly signal: number;
};

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type TenantOutcome =
  { readonly outcome: "COMMITTED"; readonly position: number | null } | Conflict | { readonly outcome: "KEY_USED" };

/** A row was not in the expected state: nothing was changed. */
export type Conflict = { readonly outcome: "CONFLICT"; readonly message: string };

/** FENCED: another server owns the agent, and nothing was changed. */
export type OwnerOutcome = Committed | Conflict | { readonly outcome: "FENCED" };

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type OutsideOutcome = Committed | Conflict | { readonly outcome: "KEY_USED" };

/** The waits between the first tries of a write, in ms. */
export const FIRST_WAITS = [10, 50, 200, 500, 1_000];
/** The wait between later tries, in ms: owners' writes are retried until their outcome is known. */
const LAST_WAIT = 2_000;
const TELL_MS = 10_000;

/**
 * A write by its id, while its outcome is unknown. Once an answer was lost, each further try first asks for the result
 * of earlier ones.
 */
export type Write = { readonly id: string; isLost: boolean };

/** A write without a try. `id` is a unique UUID; the first of its events is found by it. */
export function newWrite(id: string = randomUUIDv7()): Write {
  return { id, isLost: false };
}

export class WriteTries {
  readonly #outages: OutageWatch;
  readonly #listeners = new Set<(problem: string, sinceMs: number) => void>();
  #count = 0;

  constructor(outages: OutageWatch) {
    this.#outages = outages;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Calls the listener, at most every TELL_MS, with the database's answer to a write under long retry, and the ms since
   * its first try.
   */
  onLong(listener: (problem: string, sinceMs: number) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Tries a write until its outcome is known. Owners' writes wait during an outage, since their epoch decides
   * afterwards whether they still count. Other writes are rejected: their callers may retry.
   */
  async untilKnown<Row>(tenant: string, isHeld: boolean, write: Write, attempt: () => Promise<Row[]>): Promise<Row[]> {
    const began = performance.now();
    let told = began;
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (sqlState(error) === "TP004") throw new CommitsLost(tenant);
        if (isConnectionLost(error)) write.isLost = true;
        else if (!isContention(error)) throw error;
        if (!isHeld && (tries === FIRST_WAITS.length || this.#outages.current !== null)) throw error;
        if (tries >= FIRST_WAITS.length) this.#count += 1;
        if (performance.now() - told >= TELL_MS) {
          told = performance.now();
          this.#listeners.forEach((listener) => listener(messageOf(error), told - began));
        }
        await delay(FIRST_WAITS[tries] ?? LAST_WAIT);
        if (isHeld) await this.#outages.over();
      }
    }
  }
}

/** The lease of a write: refused if the agent has another owner or epoch. */
export type Fence = { readonly owner: string; readonly epoch: number };

export type AgentEvents = {
  readonly agentId: string;
  readonly createdBy: string;
  readonly fence?: never;
  readonly events: readonly EventDraft[];
};

export type FencedEvents = Omit<AgentEvents, "fence"> & { readonly fence: Fence };

export type EncodedPart = Pick<AgentEvents, "agentId" | "createdBy"> & {
  readonly fence: Fence | null;
  readonly events: readonly EncodedEvent[];
};

export function encodePart({ agentId, createdBy, fence, events }: AgentEvents | FencedEvents): EncodedPart {
  return { agentId, createdBy, fence: fence ?? null, events: events.map(encodeEvent) };
}

export type EventColumns = [channels: string, kinds: string, payloads: string, times: string];

/**
 * Events as the columns of a statement, each the text of an array (PostgreSQL, "Array Input and Output Syntax"). Names
 * and times need no quotes. In JSON texts, quotes and backslashes are escaped; the driver would search every element
 * for both.
 */
export function columns(encoded: readonly EncodedEvent[]): EventColumns {
  return [
    `{${encoded.map(({ channel }) => channel).join()}}`,
    `{${encoded.map(({ kind }) => kind).join()}}`,
    `{${encoded.map(({ payload }) => JSON.stringify(payload)).join()}}`,
    `{${timesOf(encoded).join()}}`,
  ];
}

function timesOf(encoded: readonly EncodedEvent[]): readonly string[] {
  let last: Date | null = null;
  let text = "";
  return encoded.map(({ at }) => {
    if (at !== last) text = at.toISOString();
    last = at;
    return text;
  });
}

export function placedEvent(
  tenant: string,
  part: Pick<TimelineEvent, "agentId" | "createdBy" | "ancestors">,
  encoded: EncodedEvent,
  position: number,
  seq: number,
): TimelineEvent {
  return {
    tenant,
    agentId: part.agentId,
    createdBy: part.createdBy,
    ancestors: part.ancestors,
    position,
    seq,
    at: encoded.at,
    channel: encoded.channel,
    bytes: encoded.payload.length,
    body: encoded.body,
  };
}
