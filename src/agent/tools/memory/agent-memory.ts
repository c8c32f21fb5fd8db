import type { MemoryLineage, MemoryOp } from "../../../db/commit/memory-change.ts";
import type { MemoryAction } from "../../../events/memory-event.ts";
import type { ToolResult } from "../tool-result.ts";

/** An entry without its text. */
export type ListedEntry = {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly version: number;
  readonly lineage: MemoryLineage;
  /** ISO 8601. */
  readonly updatedAt: string;
};

export type MemoryEntryText = ListedEntry & { readonly text: string };

/** A memory as it stands, for one change of it. `lineage`: of all that the call writes. */
export type StandingMemory = {
  readonly entries: readonly ListedEntry[];
  readonly lineage: MemoryLineage;
  readonly read: (path: string) => Promise<MemoryEntryText | null>;
  /** The deleted entry whose path a new one takes over, with its id and version; null for none. */
  readonly deleted: (path: string) => Promise<Pick<ListedEntry, "id" | "version"> | null>;
};

/** A change that a call wants, with its answer. Refused if an entry has changed since: then it is planned again. */
export type PlannedChange = {
  readonly ops: readonly MemoryOp[];
  readonly claims: readonly string[];
  readonly action: MemoryAction;
  readonly path: string;
  readonly newPath: string | null;
  /** The changed entry as it will be; null for a folder. */
  readonly entry: Pick<ListedEntry, "id" | "version" | "bytes" | "lineage"> | null;
  readonly answer: ToolResult;
};

/** The memory of an agent, as one of its calls uses it. */
export type AgentMemory = {
  /** The entries that no deny rule closes to the call. */
  list(): Promise<readonly ListedEntry[]>;
  read(path: string): Promise<MemoryEntryText | null>;
  /**
   * Makes a change and reports it, in one commit, once a call: the same call that runs again gets its first answer. Plans it
   * again if others have changed the memory meanwhile. Rejects with advice if it may not be made.
   */
  change(plan: (memory: StandingMemory) => Promise<PlannedChange>): Promise<ToolResult>;
  /** Why a rule keeps a call for a whole folder from this path; null if none does. */
  closedBy(path: string): string | null;
};
