import type { ChildOutcome } from "./generated/conversation.ts";

export type { ChildOutcome } from "./generated/conversation.ts";

/** An agent that a call of `task_run` started. `agentId` opens its own conversation. */
export type Child = {
  readonly agentId: string;
  readonly templateId: string;
  /** Its task in a few words. */
  readonly description: string;
  /** True if its call does not wait for it. */
  readonly isBackground: boolean;
  /** Its outcome, with the beginning of its answer; null until it returns. */
  readonly end: { readonly outcome: ChildOutcome; readonly answer: string } | null;
};

/** AGENT_SPAWNED, as far as a child follows from it. */
type Spawned = Omit<Child, "agentId" | "end"> & { readonly childId: string };

export function spawnedChild({ childId: agentId, templateId, description, isBackground }: Spawned): Child {
  return { agentId, templateId, description, isBackground, end: null };
}

export function returnedChild(child: Child, end: NonNullable<Child["end"]>): Child {
  return { ...child, end };
}
