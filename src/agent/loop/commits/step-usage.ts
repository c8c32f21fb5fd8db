import type { StepEnd } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { costOf, totalTokens, type TokenPrice } from "../../models/model.ts";
import type { Spending } from "../../models/spending.ts";

export type UsageColumns = Omit<StepEnd, "state" | "stopReason" | "completedAt">;

export function stepUsage(
  step: number,
  { usage, isEstimated }: Spending,
  price: TokenPrice | null,
): { readonly columns: UsageColumns; readonly event: AgentEventBody } {
  const costUsd = costOf(usage, price);
  return {
    columns: { ...usage, costUsd, outputIsEstimated: isEstimated },
    event: { kind: "TOKEN_USAGE", step, ...usage, totalTokens: totalTokens(usage), costUsd, isEstimated },
  };
}
