import type { ApprovalDecision } from "../../db/generated/enums.ts";
import type { Json } from "../../lib/json.ts";

export type DecideApproval = {
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note: string | null;
  readonly inputHash: string | null;
  /** The input to run in place of the requested one; null for the requested one. */
  readonly input: Json | null;
  /** With DONE: the call's result, for the model. */
  readonly result: string | null;
};

/** The approval, the position that the decision reached (null for an earlier one), and the agent to wake. */
export type Decided = { readonly id: string; readonly position: number | null; readonly agentId: string };
