import type { Reader, ReaderState } from "./reader.ts";

export const TRANSPORTS = ["sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

export const READER_STATES = ["live", "catching_up", "held"] as const satisfies readonly ReaderState["kind"][];

type Open = { readonly transport: Transport; readonly reader: Reader };

export class Readers {
  sockets = 0;
  readonly #open = new Set<Open>();

  open(transport: Transport, reader: Reader): () => void {
    const open = { transport, reader };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  count(): readonly { readonly transport: Transport; readonly state: ReaderState["kind"]; readonly readers: number }[] {
    const counts = TRANSPORTS.flatMap((transport) => READER_STATES.map((state) => ({ transport, state, readers: 0 })));
    for (const { transport, reader } of this.#open) {
      const counted = counts.find((each) => each.transport === transport && each.state === reader.state.kind);
      if (counted !== undefined) counted.readers += 1;
    }
    return counts;
  }
}
