import { randomUUID } from "node:crypto";
import type { Change } from "../db/change.ts";
import type { ApprovalKind } from "../db/generated/enums.ts";
import type { EventBody } from "../events/event.ts";
import type { Json } from "../lib/json.ts";
import { snapshot } from "./call-record.ts";
import type { ApprovalLook, CallLook, Look } from "./look.ts";
import type { Template } from "./template.ts";

/** What is asked about a call that has gone to APPROVAL_REQUIRED. */
export type Asking = {
  readonly kind: ApprovalKind;
  readonly call: CallLook;
  readonly input: Json;
  readonly inputHash: string;
  readonly reason: string;
  readonly risk: string;
  readonly quorum: number;
  readonly at: Date;
};

/** The row of a question to a person, and the event that asks it. */
export type Question = {
  readonly approval: NonNullable<Change["approvals"]>[number];
  readonly event: EventBody;
};

/** Asks a person about a call. */
export function question(
  agent: Pick<Look, "id" | "tenant">,
  { kind, call, input, inputHash, reason, risk, quorum, at }: Asking,
  { approvalExpiresMs }: Pick<Template, "approvalExpiresMs">,
): Question {
  const id = randomUUID();
  const expiresAt = approvalExpiresMs === null ? null : new Date(at.getTime() + approvalExpiresMs);
  const pending: ApprovalLook = {
    id,
    kind,
    state: "PENDING",
    inputHash,
    decision: null,
    decidedBy: null,
    decidedAt: null,
    note: null,
  };
  return {
    approval: {
      id,
      tenant: agent.tenant,
      agentId: agent.id,
      toolCallId: call.id,
      kind,
      state: "PENDING",
      input,
      inputHash,
      reason,
      risk,
      quorum,
      requestedAt: at,
      expiresAt,
      closedAt: null,
    },
    event: {
      kind: "PERMISSION_REQUIRED",
      request: {
        approvalId: id,
        kind,
        call: snapshot({ ...call, approval: pending }),
        inputHash,
        reason,
        risk,
        quorum,
        expiresAt: expiresAt?.toISOString() ?? null,
      },
    },
  };
}
