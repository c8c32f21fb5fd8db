import type { Reader, ReaderState } from "./reader.ts";

/** The transports of subscriptions. */
export const TRANSPORTS = ["sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The states of open subscriptions. */
export const READER_STATES = ["live", "catching_up", "held"] as const satisfies readonly ReaderState["kind"][];

type Open = { readonly transport: Transport; readonly reader: Reader };

/** The subscriptions that are open on this server. */
export class Readers {
  /** The WebSockets that are open: each carries any number of subscriptions. */
  sockets = 0;
  readonly #open = new Set<Open>();

  /** A subscription is open until the function that is returned is called. */
  open(transport: Transport, reader: Reader): () => void {
    const open = { transport, reader };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /** The number of those that are open, by transport and state. */
  count(): readonly { readonly transport: Transport; readonly state: ReaderState["kind"]; readonly readers: number }[] {
    const counts = TRANSPORTS.flatMap((transport) => READER_STATES.map((state) => ({ transport, state, readers: 0 })));
    for (const { transport, reader } of this.#open) {
      const counted = counts.find((each) => each.transport === transport && each.state === reader.state.kind);
      if (counted !== undefined) counted.readers += 1;
    }
    return counts;
  }
}
