import type { AgentEventBody } from "../../../events/event.ts";
import { totalTokens, type TokenPrice } from "../../models/model.ts";
import type { Spending } from "../../models/spending.ts";
import type { AgentView } from "../view.ts";
import { said, type Commit } from "./commit.ts";
import { stepUsage, type UsageColumns } from "./step-usage.ts";

/** A model call that has no answer, as far as it is known. */
export type Aborted = {
  /** They close what it said, and say why. */
  readonly events: readonly AgentEventBody[];
  readonly spent: Spending;
  readonly price: TokenPrice | null;
  /** True if its server was stopped on purpose: whoever goes on says so. */
  readonly isPlanned?: boolean;
};

/** The stop reason of a step that a planned stop broke off. */
export const PLANNED_STOP = "planned_stop";

/** What a call used of which nothing is known. */
const UNKNOWN: UsageColumns = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  costUsd: null,
  outputIsEstimated: false,
};

/** A model call that was begun has no answer: it broke off, failed, or was not made. What it used is paid for all the same. */
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

/** The same if a model call of the last step was begun and not answered; else only the events. */
export function stepAbortedIfOpen(view: AgentView, facts: Aborted, at: Date): Commit {
  if (view.lastStep?.state === "STARTED") return stepAborted(view, facts, at);
  return said(...facts.events);
}
