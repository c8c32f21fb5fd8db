/** A tenant whose log has grown, and whether an agent of it may go on, or must look at its rows. */
export type Ring = { readonly tenant: string; readonly isSignal: boolean };

/** Tells other servers that a tenant's log has grown. A hint: it may be lost or ring for nothing, and carries no content. */
export type Bell = {
  /** Rings on the other servers that are known to be there, within 20 ms. */
  ring(ring: Ring): void;
  /** Hears the rings of the other servers; none means that any may have been missed. Returns the end of listening. */
  listen(listener: (rings: readonly Ring[]) => void): () => void;
  /** True if rings are heard now. While not, the net beneath (a poll) must be faster. */
  isConnected(): boolean;
  /** Sends what was rung, and ends. */
  close(): Promise<void>;
};

/** The bell of a deployment of one process: there is nobody else to ring for. */
export function silentBell(): Bell {
  return { ring: () => {}, listen: () => () => {}, isConnected: () => true, close: async () => {} };
}
