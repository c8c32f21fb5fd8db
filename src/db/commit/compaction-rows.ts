import type { Prisma } from "../generated/client.ts";
import type { Patch, Row } from "./row.ts";

export const COMPACTION_METHODS = ["CLEARED", "SUMMARY", "SHORTENED"] as const;
export type CompactionMethod = (typeof COMPACTION_METHODS)[number];
export type CompactionState = "ASKED" | "STARTED" | "APPLIED" | "FAILED";

export type CompactionRow = Row<Omit<Prisma.CompactionUncheckedCreateInput, "method" | "state">> & {
  readonly method: CompactionMethod;
  readonly state: CompactionState;
};

/** The columns of a compaction that its steps set. */
export type CompactionPatch = Patch<
  Omit<
    CompactionRow,
    | "id"
    | "tenant"
    | "agentId"
    | "method"
    | "instruction"
    | "requestedBy"
    | "requestedByKind"
    | "askedAt"
    | "erasedAt"
    | "copiedFrom"
  >
>;

export type Compactions = {
  /** Refused if the agent has one that is asked for or under way, and one of these is, too. */
  readonly compactions?: readonly CompactionRow[];
};

/** A step of a compaction from one state to the next: refused if the row is not in `from`. */
export type CompactionMove = { readonly id: string; readonly from: CompactionState; readonly set: CompactionPatch };
