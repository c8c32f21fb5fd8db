import type { AgentEventBody } from "../../../events/event.ts";
import { totalTokens, type TokenPrice } from "../../models/model.ts";
import type { Spending } from "../../models/spending.ts";
import type { AgentView } from "../view.ts";
import { eventsOnly, type Commit } from "./commit.ts";
import { stepUsage, type UsageColumns } from "./step-usage.ts";

export type Aborted = {
  readonly events: readonly AgentEventBody[];
  readonly spent: Spending;
  readonly price: TokenPrice | null;
  /** True if its server shut down in a planned way: the next owner reports that. */
  readonly isPlanned?: boolean;
};

/** The stop reason of a step that a planned shutdown interrupted. */
export const PLANNED_STOP = "planned_stop";

const UNKNOWN: UsageColumns = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  costUsd: null,
  outputIsEstimated: false,
};

/** Ends a model call without an answer: it broke off, failed, or was not made. Its tokens are charged all the same. */
export function stepAborted(view: AgentView, { events, spent, price, isPlanned = false }: Aborted, at: Date): Commit {
  const stopReason = isPlanned ? PLANNED_STOP : null;
  const used = totalTokens(spent.usage) === 0 ? null : stepUsage(view.stepCount, spent, price);
  return {
    change: {
      stepEnd: { step: view.stepCount, state: "ABORTED", stopReason, ...(used?.columns ?? UNKNOWN), completedAt: at },
    },
    events: used === null ? events : [...events, used.event],
    after: (now) => ({ ...now, lastStep: now.lastStep === null ? null : { ...now.lastStep, state: "ABORTED", stopReason } }),
  };
}

export function stepAbortedIfOpen(view: AgentView, facts: Aborted, at: Date): Commit {
  if (view.lastStep?.state === "STARTED") return stepAborted(view, facts, at);
  return eventsOnly(...facts.events);
}
