import type { Budget } from "./budget.ts";

/** An agent that spends. `above` are the agents above it, the first of the tree first. */
export type Spender = {
  readonly id: string;
  readonly turn: number;
  readonly templateId: string;
  readonly above: readonly { readonly id: string; readonly templateId: string }[];
  /** The person who asked for the turn; null for none. */
  readonly requester: string | null;
};

/** A budget on which an agent spends, and the turn, agent, template or actor whose spending is counted there. */
export type Link = { readonly budget: Budget; readonly ref: string };

/** The budgets on which an agent spends. The order of the budgets stays. */
export function chainOf(budgets: readonly Budget[], spender: Spender): readonly Link[] {
  return budgets.flatMap((budget) => refsOf(budget, spender).map((ref) => ({ budget, ref })));
}

function refsOf({ per, templateId, subject }: Budget, { id, turn, above, requester, ...spender }: Spender): readonly string[] {
  const applies = templateId === null || templateId === spender.templateId;
  const isFor = (each: string): boolean => subject === null || subject === each;
  switch (per) {
    case "TURN":
      return applies && isFor(id) ? [turnRef(id, turn)] : [];
    case "AGENT":
      return applies && isFor(id) ? [id] : [];
    case "TREE":
      return treesOf({ templateId, subject }, [...above, { id, templateId: spender.templateId }]);
    case "TEMPLATE":
      return isFor(spender.templateId) ? [spender.templateId] : [];
    case "TENANT":
      return [""];
    case "REQUESTER":
      return applies && requester !== null && isFor(requester) ? [requester] : [];
  }
}

/** The agents of a path whose trees are counted: the named one, all of the template, or the first of the path. */
function treesOf({ templateId, subject }: Pick<Budget, "templateId" | "subject">, path: Spender["above"]): readonly string[] {
  const counted = path.filter((agent, index) => {
    if (subject !== null) return agent.id === subject;
    return templateId === null ? index === 0 : agent.templateId === templateId;
  });
  return counted.map(({ id }) => id);
}

export function turnRef(agentId: string, turn: number): string {
  return `${agentId}#${turn}`;
}

/** True if the chain depends on the agents above, or on the person who asked: they are read for that. */
export function needsReading({ per }: Budget, { depth }: { readonly depth: number }): boolean {
  return per === "REQUESTER" || (per === "TREE" && depth > 0);
}
