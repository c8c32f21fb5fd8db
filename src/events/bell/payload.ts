import type { Ring } from "./bell.ts";

/** A NOTIFY of 8000 bytes or more would fail. */
const PAYLOAD_BYTES = 7_000;
const SIGNAL = "!";
const TEXT = ".";

/** What a server tells the others: no rings mean that any may have been missed. */
export type Told = { readonly serverId: string; readonly rings: readonly Ring[] };

/** The payload of a server that tells of no rings. */
export function emptyPayload(serverId: string): string {
  return serverId;
}

/** The server and the rings, a line each, in as many payloads as their size needs. None if there are no rings. */
export function* payloadsOf({ serverId, rings }: Told): Generator<string> {
  let payload = serverId;
  for (const { tenant, isSignal } of rings) {
    const line = `\n${isSignal ? SIGNAL : TEXT}${tenant}`;
    if (Buffer.byteLength(payload) + Buffer.byteLength(line) > PAYLOAD_BYTES) {
      yield payload;
      payload = serverId;
    }
    payload += line;
  }
  if (payload !== serverId) yield payload;
}

/** What a payload tells. */
export function toldIn(payload: string): Told {
  const [serverId = "", ...lines] = payload.split("\n");
  return { serverId, rings: lines.map((line) => ({ tenant: line.slice(1), isSignal: line.startsWith(SIGNAL) })) };
}
