import { BACKED_UP_BYTES, type Line } from "./line.ts";

/** The ways on which subscriptions come. */
export const TRANSPORTS = ["sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** A reader keeps up, or has more waiting than one who does. */
export const READER_STATES = ["following", "backed_up"] as const;
type ReaderState = (typeof READER_STATES)[number];

type Reader = { readonly transport: Transport; readonly line: Line | null };

/** The subscriptions that are open on this server. */
export class Readers {
  /** The WebSockets that are open: each carries any number of subscriptions. */
  sockets = 0;
  readonly #open = new Set<Reader>();

  /** A subscription is open until the function that is returned is called. */
  open(transport: Transport, line: Line | null): () => void {
    const reader = { transport, line };
    this.#open.add(reader);
    return () => void this.#open.delete(reader);
  }

  /** The number of those that are open, by transport and state. */
  count(): readonly { readonly transport: Transport; readonly state: ReaderState; readonly readers: number }[] {
    const counts = TRANSPORTS.flatMap((transport) => READER_STATES.map((state) => ({ transport, state, readers: 0 })));
    for (const { transport, line } of this.#open) {
      const state = (line?.waitingBytes ?? 0) > BACKED_UP_BYTES ? "backed_up" : "following";
      const counted = counts.find((each) => each.transport === transport && each.state === state);
      if (counted !== undefined) counted.readers += 1;
    }
    return counts;
  }
}
