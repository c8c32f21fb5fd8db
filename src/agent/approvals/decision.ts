import type { ApprovalDecision } from "../../db/generated/enums.ts";
import type { Json } from "../../lib/json.ts";

/** The request of decideApproval. */
export type DecideApproval = {
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note: string | null;
  /** The hash of the input that the person saw. */
  readonly inputHash: string | null;
  /** The input that shall run instead of the one that was asked for; null for that one. */
  readonly input: Json | null;
  /** With DONE: what came of the call, as the model shall read it. */
  readonly result: string | null;
};

/** The approval, the position that the decision reached (null if it stood before), and the agent to wake. */
export type Decided = { readonly id: string; readonly position: number | null; readonly agentId: string };
