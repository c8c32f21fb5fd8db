import type { MemoryLineage } from "../db/commit/memory-change.ts";
import type { ActorRef } from "./snapshots.ts";

export const MEMORY_ACTIONS = ["CREATED", "CHANGED", "RENAMED", "DELETED", "ERASED"] as const;
export type MemoryAction = (typeof MEMORY_ACTIONS)[number];

/** A change of memory: an event of the agent whose call made it, or of the tenant if a person did. It has no text. */
export type MemoryEvent = {
  readonly kind: "MEMORY_CHANGED";
  readonly templateId: string;
  /** The id of the actor whose memory it is; null for that of all agents of the template. */
  readonly requesterId: string | null;
  readonly memoryAction: MemoryAction;
  /** The path of the entry, or of the folder of all changed entries. */
  readonly path: string;
  /** Null unless it was renamed. */
  readonly newPath: string | null;
  /** The number of changed entries. */
  readonly entryCount: number;
  /** Null for a folder. */
  readonly entryId: string | null;
  readonly version: number | null;
  readonly bytes: number | null;
  readonly lineage: MemoryLineage | null;
  /** The call that made the change; null for a person. */
  readonly callId: string | null;
  readonly changedBy: ActorRef;
};
