import { randomUUIDv7 } from "node:crypto";
import type { OwnerChange, WaitKind, WaitRow } from "../../db/commit/change.ts";
import type { ApprovalKind, ApprovalState } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { ToolQuestion } from "../../events/tool-question.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { CallingAgent, CallView } from "../calls/call.ts";
import { snapshot } from "../calls/events.ts";
import type { CallPreview } from "../calls/stages/preview.ts";
import { RISKS } from "../tools/tool.ts";
import type { ApprovalTemplate } from "./scope.ts";

export type Asking = {
  readonly kind: ApprovalKind;
  readonly call: CallView;
  readonly input: Json;
  readonly inputHash: string;
  readonly reason: string;
  readonly risk: string;
  readonly meta: JsonObject | null;
  readonly preview: CallPreview | null;
  readonly quorum: number;
  /** The question of a tool to people; null for other kinds. */
  readonly question: ToolQuestion | null;
  readonly continuation: Json;
  readonly at: Date;
};

export type ApprovalRequest = {
  readonly row: NonNullable<OwnerChange["approvals"]>[number];
  readonly event: AgentEventBody;
  readonly call: CallView;
  readonly wait: WaitRow;
};

export function requestApproval(
  agent: Pick<CallingAgent, "id" | "tenant">,
  { kind, call, input, inputHash, reason, risk, meta, preview, quorum, question, continuation, at }: Asking,
  { approvalExpiresMs }: Pick<ApprovalTemplate, "approvalExpiresMs">,
): ApprovalRequest {
  const id = randomUUIDv7();
  const expiresAt = approvalExpiresMs === null ? null : new Date(at.getTime() + approvalExpiresMs);
  const undecided = { isEdited: false, decision: null, decidedBy: null, decidedAt: null, note: null };
  const asked: CallView = { ...call, approval: { id, kind, state: "PENDING", inputHash, ...undecided } };
  return {
    row: {
      id,
      tenant: agent.tenant,
      agentId: agent.id,
      toolCallId: call.id,
      host: null,
      port: null,
      kind,
      state: "PENDING",
      input,
      inputHash,
      reason,
      risk,
      riskRank: riskRank(risk),
      meta,
      preview,
      question,
      continuation,
      quorum,
      requestedAt: at,
      expiresAt,
      closedAt: null,
      erasedAt: null,
      inputDigest: null,
    },
    event: {
      kind: "PERMISSION_REQUIRED",
      request: {
        approvalId: id,
        kind,
        call: snapshot(asked),
        host: null,
        port: null,
        inputHash,
        reason,
        risk,
        meta,
        quorum,
        expiresAt: expiresAt?.toISOString() ?? null,
        ...(question === null ? {} : { question }),
      },
    },
    call: asked,
    wait: waitFor("APPROVAL", agent, { callId: call.id, ref: id, due: expiresAt }),
  };
}

type Row = NonNullable<OwnerChange["approvals"]>[number];

/** The place of a risk, from 0 for the lowest. */
function riskRank(risk: string): number {
  return Math.max(
    0,
    RISKS.findIndex((known) => known === risk),
  );
}

/** What a question without a call is about, and the time until which it is open; null for ever. */
type Question = Pick<Row, "id" | "kind" | "host" | "port" | "input" | "inputHash" | "reason" | "risk" | "meta" | "quorum"> & {
  readonly expiresAt: Date | null;
};

/** The row of a question that no call asks. */
export function questionRow(agent: Pick<CallingAgent, "id" | "tenant">, question: Question, at: Date): Row {
  return {
    ...question,
    riskRank: riskRank(question.risk),
    tenant: agent.tenant,
    agentId: agent.id,
    toolCallId: null,
    state: "PENDING",
    preview: null,
    question: null,
    continuation: null,
    requestedAt: at,
    closedAt: null,
    erasedAt: null,
    inputDigest: null,
  };
}

/** A new wait of an agent. `due` is null for never. */
export function waitFor(
  kind: WaitKind,
  agent: Pick<CallingAgent, "id" | "tenant">,
  { process = null, ...waiting }: Pick<WaitRow, "callId" | "ref" | "due"> & Partial<Pick<WaitRow, "process">>,
): WaitRow {
  return { id: randomUUIDv7(), tenant: agent.tenant, agentId: agent.id, kind, ...waiting, process, settledAt: null };
}

export function closedEvent(
  approvalId: string,
  callId: string | null,
  approvalState: ApprovalState,
  note: string,
): AgentEventBody {
  return { kind: "PERMISSION_CLOSED", approvalId, callId, approvalState, note };
}
