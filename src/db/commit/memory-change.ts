import type { Json } from "../../lib/json.ts";
import type { ActorKind } from "../generated/enums.ts";

/** The origin of a text in memory, the most trusted first. OUTSIDE: a model wrote it whose tree of agents had read text from outside. */
export const MEMORY_LINEAGES = ["PERSON", "MODEL", "OUTSIDE"] as const;
export type MemoryLineage = (typeof MEMORY_LINEAGES)[number];

/** The owner of a memory: one requester's agents of a template, or all its agents ("" for `requester`). */
export type MemoryOwner = { readonly templateId: string; readonly requester: string };

/** A change of one entry. Refused if another entry has its path, or if its version is not `expected`: 0 for one that is not there. */
export type MemoryOp = { readonly id: string; readonly path: string } & (
  | {
      readonly kind: "PUT";
      readonly expected: number;
      readonly text: string;
      readonly bytes: number;
      readonly lineage: MemoryLineage;
    }
  | { readonly kind: "MOVE"; readonly expected: number; readonly to: string; readonly lineage: MemoryLineage }
  | { readonly kind: "DELETE"; readonly expected: number }
  /** Takes the text away from the entry and all its former versions. */
  | { readonly kind: "ERASE" }
);

/** Changes of one memory, all of them or none. */
export type MemoryChange = MemoryOwner & {
  /** ISO 8601. */
  readonly at: string;
  /** The actor who makes the change; null for a call. */
  readonly writtenBy: string | null;
  readonly writtenByKind: ActorKind | null;
  readonly callId: string | null;
  readonly agentId: string | null;
  readonly ops: readonly MemoryOp[];
  /** New paths. Refused if an entry is there, above or below. */
  readonly claims: readonly string[];
  readonly limits: typeof MEMORY;
  /** The answer of the call, which its row keeps with the change: the call writes once. Null for no call. */
  readonly answer: { readonly output: string; readonly details: Json } | null;
};

/** The most entries and bytes of one memory, of one entry, and its former versions; and the most deleted entries that are kept. */
export const MEMORY = { entries: 1_000, bytes: 4 * 1024 * 1024, entryBytes: 64 * 1024, versions: 20, deleted: 1_000 } as const;
