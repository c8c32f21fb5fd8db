import { returnedText, startedText, type ReturnedChild, type StartedChild } from "../demo/operations.ts";
import type { ApprovalEvent } from "./operations.ts";

/** An event of the chat's agent or of one below it, as the chat reads it. */
export type TreeEvent = { readonly agent: { readonly id: string } | null } & (
  | ({ readonly __typename: "AgentSpawned" } & StartedChild)
  | ({ readonly __typename: "AgentReturned" } & ReturnedChild)
  | ApprovalEvent
  | { readonly __typename: "Done" }
);

/** The agents below the one of the chat, by the tasks that lead to them. */
export class Children {
  readonly #paths = new Map<string, string>();

  /** The tasks from the chat's agent down to this one; null if it is not below. */
  pathOf(agentId: string): string | null {
    return this.#paths.get(agentId) ?? null;
  }

  /** The start of a child, in words. */
  started(child: StartedChild, parentId: string): string {
    const above = this.#paths.get(parentId);
    const path = above === undefined ? child.description : `${above} › ${child.description}`;
    this.#paths.set(child.childId, path);
    return `(${startedText({ ...child, description: path })})`;
  }

  /** The end of a child, in words. */
  returned(child: ReturnedChild): string {
    const said = { ...child, answer: child.answer.trim() };
    return `(${returnedText(this.#paths.get(child.childId) ?? "an agent", said)})`;
  }
}
