import type { Json, JsonObject } from "../../lib/json.ts";

/** The request for a child. The call's input has its prompt. `model` is null for that of its template. */
export type ChildRequest = {
  readonly description: string;
  readonly templateId: string;
  readonly model: string | null;
  /** The schema of its answer; null for that of its template. */
  readonly outputSchema: JsonObject | null;
  readonly isBackground: boolean;
};

/** A child that is to be made with the commit of its call. */
export type StartedChild = Omit<ChildRequest, "model" | "outputSchema"> & { readonly agentId: string; readonly model: string };

/** The answer of `task_run`: a child is started, and its call waits for it, or ends with a receipt. */
export class ChildStarted {
  readonly child: StartedChild;

  constructor(child: StartedChild) {
    this.child = child;
  }
}

/** The result of a call that starts a child in the background. */
export function receiptOf({ agentId, templateId, description }: StartedChild): {
  readonly output: string;
  readonly details: Json;
} {
  return {
    output: `The agent ${agentId} (${templateId}) has started on: ${description}. You are told when it has ended.`,
    details: {
      status: "started",
      agentId,
      template: templateId,
      text: null,
      value: null,
      reason: null,
      permissionIds: [],
      usage: null,
    },
  };
}
