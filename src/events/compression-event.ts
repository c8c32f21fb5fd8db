import type { CompactionMethod } from "../db/commit/compaction-rows.ts";

import type { ActorRef } from "./snapshots.ts";

export type CompressionPhase = "START" | "END";

/** The beginning or the end of a compaction. */
export type CompressionEvent = {
  readonly kind: "CONTEXT_COMPRESSION";
  readonly compressionPhase: CompressionPhase;
  readonly compactionId: string;
  readonly method: CompactionMethod;
  /** The first and the last message that it covers; null if its server was lost. */
  readonly fromMessageId: string | null;
  readonly toMessageId: string | null;
  /** The name of the model that summarises; null for other methods. */
  readonly summaryModel: string | null;
  readonly tokensBefore: number | null;
  /** Null at the start, and if it failed. */
  readonly tokensAfter: number | null;
  readonly contentHash: string | null;
  readonly summary: string | null;
  /** A person's wish for the summary, and who asked; null for none. */
  readonly instruction: string | null;
  readonly askedBy: ActorRef | null;
  /** Why it failed; null otherwise. */
  readonly failure: string | null;
};
