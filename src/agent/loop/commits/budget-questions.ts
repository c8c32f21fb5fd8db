import type { AgentView } from "../view.ts";

/** The open question about a budget, if there is one. */
export function budgetQuestions({ waits }: Pick<AgentView, "waits">): readonly { readonly id: string; readonly callId: null }[] {
  return waits.flatMap(({ kind, ref }) => (kind === "BUDGET" ? [{ id: ref, callId: null }] : []));
}
