import { encodeEvent, type EncodedEvent } from "./codec.ts";
import type { EventDraft, TimelineEvent } from "./event.ts";

/** The lease under which something is written: refused if the agent has another owner or epoch by then. */
export type Fence = { readonly owner: string; readonly epoch: number };

/** The events of one agent, by somebody who holds no lease of it. */
export type AgentEvents = {
  readonly agentId: string;
  readonly createdBy: string;
  readonly fence?: never;
  readonly events: readonly EventDraft[];
};

/** The events of one agent by its owner, under its lease. */
export type HeldEvents = Omit<AgentEvents, "fence"> & { readonly fence: Fence };

/** The events of one agent as they are stored; the fence of its owner, or null. */
export type EncodedPart = Pick<AgentEvents, "agentId" | "createdBy"> & {
  readonly fence: Fence | null;
  readonly events: readonly EncodedEvent[];
};

/** The part with its events as they are stored. Throws if one is too large to be an event. */
export function encodePart({ agentId, createdBy, fence, events }: AgentEvents | HeldEvents): EncodedPart {
  return { agentId, createdBy, fence: fence ?? null, events: events.map(encodeEvent) };
}

/** The channels, kinds, payloads and times of events, as arrays of PostgreSQL. */
export type EventColumns = [channels: string, kinds: string, payloads: string, times: string];

/**
 * The events as the columns of a statement, each the text of an array (PostgreSQL, "Array Input and Output Syntax"). Names
 * and times need no quotes in it. Of a JSON text, which has no control characters, quotes and backslashes are escaped, as in
 * a string of JSON. The driver would look for both in each element.
 */
export function columns(encoded: readonly EncodedEvent[]): EventColumns {
  return [
    `{${encoded.map(({ channel }) => channel).join()}}`,
    `{${encoded.map(({ kind }) => kind).join()}}`,
    `{${encoded.map(({ payload }) => JSON.stringify(payload)).join()}}`,
    `{${timesOf(encoded).join()}}`,
  ];
}

/** Most events of one commit share one time, which is written out once. */
function timesOf(encoded: readonly EncodedEvent[]): readonly string[] {
  let last: Date | null = null;
  let text = "";
  return encoded.map(({ at }) => {
    if (at !== last) text = at.toISOString();
    last = at;
    return text;
  });
}

/** The event at its place in the log. */
export function placedEvent(
  tenant: string,
  part: Pick<TimelineEvent, "agentId" | "createdBy">,
  encoded: EncodedEvent,
  position: number,
  seq: number,
): TimelineEvent {
  return {
    tenant,
    agentId: part.agentId,
    createdBy: part.createdBy,
    position,
    seq,
    at: encoded.at,
    channel: encoded.channel,
    bytes: encoded.payload.length,
    body: encoded.body,
  };
}
