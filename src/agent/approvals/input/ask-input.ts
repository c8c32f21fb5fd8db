import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { OutsideChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { ToolQuestion } from "../../../events/tool-question.ts";
import type { Json } from "../../../lib/json.ts";
import { callStep, type CallingAgent, type CallView } from "../../calls/call.ts";
import { requestApproval, type ApprovalRequest } from "../request.ts";
import type { ApprovalTemplate } from "../scope.ts";

type Asking = Pick<CallingAgent, "id" | "tenant">;

/** A question of a tool, and its own notes, with which its call continues. */
export type InputQuestion = { readonly question: ToolQuestion; readonly continuation: Json };

export function requestInput(
  agent: Asking,
  call: CallView,
  { question, continuation }: InputQuestion,
  template: Pick<ApprovalTemplate, "approvalExpiresMs">,
  at: Date,
): ApprovalRequest {
  return requestApproval(
    agent,
    {
      kind: "TOOL_INPUT",
      call,
      input: null,
      inputHash: questionHash(agent, call, question),
      reason: inputReason(question),
      risk: "MEDIUM",
      meta: null,
      preview: null,
      question,
      continuation,
      quorum: 1,
      at,
    },
    template,
  );
}

/** The task of an MCP server asks: its call waits on. Refused if the call has ended. */
export function taskAsks(
  agent: Asking,
  call: CallView,
  asked: InputQuestion,
  template: Pick<ApprovalTemplate, "approvalExpiresMs">,
  at: Date,
): { readonly change: OutsideChange; readonly events: readonly AgentEventBody[] } {
  const step = callStep(call, "WAITING", at, {}, {}, { note: inputReason(asked.question) });
  const { row, wait, event } = requestInput(agent, step.call, asked, template, at);
  return { change: { wake: true, transitions: [step.transition], approvals: [row], waits: [wait] }, events: [event] };
}

export function inputReason({ server }: ToolQuestion): string {
  return `the MCP server ${server} asks for input`;
}

/** SHA-256 over the RFC 8785 form of everything that an answer is bound to. */
export function questionHash({ id, tenant }: Asking, { id: call }: Pick<CallView, "id">, question: ToolQuestion): string {
  const form = canonicalize({ agent: id, call, question, tenant }) ?? "";
  return createHash("sha256").update(form).digest("hex");
}
