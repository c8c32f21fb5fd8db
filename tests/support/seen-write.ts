/** A change that is about to be committed, as tests look at it: its parts, with columns as the database names them. */
export type SeenChange = {
  readonly expectSignal?: number;
  readonly interrupt?: object;
  readonly received?: object;
  readonly createAgent?: object;
  readonly childAwaited?: object;
  readonly waitSettled?: { readonly ref: string };
  readonly waits?: readonly { readonly kind: string }[];
  readonly decision?: object;
  readonly joins?: readonly object[];
  readonly stepStart?: object;
  readonly stepEnd?: { readonly state: string };
  readonly toolCalls?: readonly object[];
  readonly approvals?: readonly { readonly kind: string }[];
  readonly agent?: { readonly state?: string; readonly lease_owner?: string | null };
  readonly transitions?: readonly { readonly id: string; readonly set: { readonly state: string } }[];
};

/** A write of the log that is about to be made: of which agents, whether as the holder of their leases, and what it changes and appends. */
export type SeenWrite = {
  readonly agentIds: readonly string[];
  readonly isFenced: boolean;
  /** Null if rows stay as they are. */
  readonly change: SeenChange | null;
  readonly kinds: readonly string[];
};

/** The names in the text of an array of names (`columns` in src/events/write.ts). */
export function namesIn(text: unknown): readonly string[] {
  const names = String(text).slice(1, -1);
  return names === "" ? [] : names.split(",");
}
