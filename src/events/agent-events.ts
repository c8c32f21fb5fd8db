import { encodeEvent, type EncodedEvent } from "./codec.ts";
import type { EventDraft, TimelineEvent } from "./event.ts";

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
