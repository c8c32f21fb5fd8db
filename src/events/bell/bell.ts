/** A tenant whose log has grown, and whether one of its agents must read its rows again. */
export type Ring = { readonly tenant: string; readonly isSignal: boolean };

/** Tells other servers that a tenant's log has grown. A hint without content: it may be lost, or come without cause. */
export type Bell = {
  ring(ring: Ring): void;
  /**
   * Listens to the rings of other servers; an empty list means that rings may have been missed. Returns the function
   * that stops it.
   */
  listen(listener: (rings: readonly Ring[]) => void): () => void;
  isConnected(): boolean;
  close(): Promise<void>;
};

export function silentBell(): Bell {
  return { ring: () => {}, listen: () => () => {}, isConnected: () => true, close: async () => {} };
}
