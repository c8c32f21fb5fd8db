import type { Ring } from "./bell.ts";

/** A NOTIFY of 8000 bytes or more would fail. */
const PAYLOAD_BYTES = 7_000;
const SIGNAL = "!";
const TEXT = ".";

/** A message to other servers; without rings it means that any may have been missed. */
export type BellMessage = { readonly serverId: string; readonly rings: readonly Ring[] };

export function emptyPayload(serverId: string): string {
  return serverId;
}

/** The server and the rings, a line each, in as many payloads as their size needs; none without rings. */
export function* payloadsOf({ serverId, rings }: BellMessage): Generator<string> {
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

export function messageIn(payload: string): BellMessage {
  const [serverId = "", ...lines] = payload.split("\n");
  return { serverId, rings: lines.map((line) => ({ tenant: line.slice(1), isSignal: line.startsWith(SIGNAL) })) };
}
