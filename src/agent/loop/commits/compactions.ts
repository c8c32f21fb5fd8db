import { randomUUIDv7 } from "node:crypto";
import type { CompactionMethod, CompactionPatch, CompactionRow } from "../../../db/commit/compaction-rows.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { Compaction, OpenCompaction } from "../../conversation/compaction.ts";
import type { CoveredMessages } from "../../conversation/covered.ts";
import { NOTHING_SPENT, totalTokens, type Spending, type TokenPrice } from "../../models/model.ts";
import type { AgentView } from "../view.ts";
import type { Commit, Reducer } from "./commit.ts";
import { stepUsage } from "./steps.ts";

const NONE: Compaction = { head: null, clearedTo: -1, step: 0, open: null };

export type BegunCompaction = {
  /** The one that was asked for; null for a new one. */
  readonly asked: OpenCompaction | null;
  readonly covered: CoveredMessages;
  readonly model: string;
  readonly tokensBefore: number;
  readonly epoch: number;
};

/** A summary begins to be made. Its row is under way until it is applied or has failed. */
export function compactionBegun(
  view: AgentView,
  { asked, covered, model, tokensBefore, epoch }: BegunCompaction,
  at: Date,
): Commit & { readonly open: OpenCompaction } {
  const { from, to, contentHash } = covered;
  const begun = { fromOrdinal: from, toOrdinal: to, model, tokensBefore, contentHash, epoch, startedAt: at } as const;
  const id = asked?.id ?? randomUUIDv7();
  const open: OpenCompaction = {
    id,
    method: "SUMMARY",
    state: "STARTED",
    from,
    to,
    epoch,
    model,
    tokensBefore,
    instruction: asked?.instruction ?? null,
    askedBy: asked?.askedBy ?? null,
  };
  return {
    open,
    change:
      asked === null
        ? { compactions: [{ ...newRow(view, "SUMMARY", id), ...begun, state: "STARTED" }] }
        : { compactionMoved: { id, from: "ASKED", set: { ...begun, state: "STARTED" } } },
    events: [compression("START", open, covered)],
    after: changed({ open }),
  };
}

/** The window after a compaction: the texts that it begins with, and its tokens. */
export type CompactedWindow = {
  readonly wordsFrom: number | null;
  readonly restated: string | null;
  readonly tokensAfter: number;
};

export type Summarised = CompactedWindow & { readonly summary: string; readonly covered: CoveredMessages };
export type Cost = { readonly spent: Spending; readonly price: TokenPrice | null };

/** The summary replaces the covered messages, from the next step on. */
export function compactionApplied(view: AgentView, open: OpenCompaction, summarised: Summarised, cost: Cost, at: Date): Commit {
  const { covered, summary, wordsFrom, restated, tokensAfter } = summarised;
  const used = usage(view, cost);
  const step = view.stepCount + 1;
  const applied = { summary, wordsFrom, restated, tokensAfter, appliedAtStep: step, endedAt: at };
  return {
    change: { compactionMoved: { id: open.id, from: open.state, set: { ...applied, ...used.columns, state: "APPLIED" } } },
    events: [compression("END", open, covered, { tokensAfter, summary }), ...used.events],
    after: changed({ open: null, step, head: { id: open.id, to: covered.to, step, isErased: false } }),
  };
}

/** The compaction has failed: the window stays as it is. */
export function compactionFailed(
  view: AgentView,
  open: OpenCompaction,
  failed: { readonly failure: string; readonly covered: CoveredMessages | null },
  cost: Cost,
  at: Date,
): Commit {
  const used = usage(view, cost);
  const { failure, covered } = failed;
  return {
    change: {
      compactionMoved: { id: open.id, from: open.state, set: { ...used.columns, failure, endedAt: at, state: "FAILED" } },
    },
    events: [compression("END", open, covered, { failure }), ...used.events],
    after: changed({ open: null }),
  };
}

export const NO_COST: Cost = { spent: NOTHING_SPENT, price: null };

export type CompactedAtOnce = CompactedWindow & {
  readonly method: Exclude<CompactionMethod, "SUMMARY">;
  readonly covered: CoveredMessages;
  readonly tokensBefore: number;
};

/** Outputs are cleared, or messages left out, from the next step on. */
export function compactedAtOnce(view: AgentView, compacted: CompactedAtOnce, at: Date): Commit {
  const { method, covered, tokensBefore, wordsFrom, restated, tokensAfter } = compacted;
  const { from, to, contentHash } = covered;
  const id = randomUUIDv7();
  const step = view.stepCount + 1;
  const row: CompactionRow = {
    ...newRow(view, method, id),
    state: "APPLIED",
    fromOrdinal: from,
    toOrdinal: to,
    wordsFrom,
    restated,
    tokensBefore,
    tokensAfter,
    contentHash,
    appliedAtStep: step,
    startedAt: at,
    endedAt: at,
  };
  const open = { id, method, model: null, tokensBefore, instruction: null, askedBy: null };
  return {
    change: { compactions: [row] },
    events: [compression("START", open, covered), compression("END", open, covered, { tokensAfter })],
    after: changed(method === "CLEARED" ? { step, clearedTo: to } : { step, head: { id, to, step, isErased: false } }),
  };
}

function changed(to: Partial<Compaction>): Reducer {
  return (view) => ({ ...view, compaction: { ...(view.compaction ?? NONE), ...to } });
}

function compression(
  compressionPhase: "START" | "END",
  { id, method, model, tokensBefore, instruction, askedBy }: Omit<OpenCompaction, "state" | "from" | "to" | "epoch">,
  covered: CoveredMessages | null,
  end: { readonly tokensAfter?: number; readonly summary?: string; readonly failure?: string } = {},
): AgentEventBody {
  return {
    kind: "CONTEXT_COMPRESSION",
    compressionPhase,
    compactionId: id,
    method,
    fromMessageId: covered?.fromId ?? null,
    toMessageId: covered?.toId ?? null,
    summaryModel: model,
    tokensBefore,
    tokensAfter: end.tokensAfter ?? null,
    contentHash: covered?.contentHash ?? null,
    summary: end.summary ?? null,
    instruction,
    askedBy,
    failure: end.failure ?? null,
  };
}

function usage(
  view: AgentView,
  { spent, price }: Cost,
): { readonly columns: CompactionPatch; readonly events: readonly AgentEventBody[] } {
  if (totalTokens(spent.usage) === 0) return { columns: {}, events: [] };
  const { columns, event } = stepUsage(view.stepCount, spent, price);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd, outputIsEstimated } = columns;
  return {
    columns: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd, outputIsEstimated },
    events: [event],
  };
}

/** The row of a new compaction. */
export function newRow(
  { id: agentId, tenant }: Pick<AgentView, "id" | "tenant">,
  method: CompactionMethod,
  id: string,
): CompactionRow {
  return {
    id,
    tenant,
    agentId,
    method,
    state: "ASKED",
    fromOrdinal: null,
    toOrdinal: null,
    wordsFrom: null,
    summary: null,
    restated: null,
    model: null,
    tokensBefore: null,
    tokensAfter: null,
    contentHash: null,
    instruction: null,
    requestedBy: null,
    requestedByKind: null,
    failure: null,
    inputTokens: null,
    outputTokens: null,
    outputIsEstimated: false,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    costUsd: null,
    epoch: null,
    appliedAtStep: null,
    askedAt: null,
    startedAt: null,
    endedAt: null,
    erasedAt: null,
    copiedFrom: null,
  };
}
