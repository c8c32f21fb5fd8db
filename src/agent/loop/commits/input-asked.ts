import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { ToolQuestion } from "../../../events/tool-question.ts";
import type { Json } from "../../../lib/json.ts";
import { requestApproval, type ApprovalRequest } from "../../approvals/request.ts";
import { callStep, type CallView } from "../../calls/call.ts";
import { toolWarning } from "../../calls/events.ts";
import type { AskingOutcome } from "../../calls/outcome.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import { callsChanged, compose, joinCommits, noted, waiting, type Commit } from "./commit.ts";
import { hostsAsked } from "./hosts-asked.ts";

/** A tool has ended its run with a question: its call waits for the answer, and then runs again. */
export function callAsks(
  view: AgentView,
  { call, outcome, template }: { readonly call: CallView; readonly outcome: AskingOutcome; readonly template: RecordTemplate },
  at: Date,
): Commit {
  const { question, continuation } = outcome.asked;
  const { stages, keptOutputBytes, refusedHosts } = outcome;
  const step = callStep(call, "APPROVAL_REQUIRED", at, { stages }, { keptOutputBytes }, { note: reasonOf(question) });
  const request = requested(view, step.call, { question, continuation }, template, at);
  const known = { agentId: view.id, tenant: view.tenant, callId: call.id, at };
  const asks: Commit = {
    change: {
      transitions: [step.transition],
      knownFiles: outcome.files.map((file) => ({ ...file, ...known })),
      ...asking(request, at),
    },
    events: [...outcome.warnings.map(toolWarning), request.event],
    after: compose(callsChanged([request.call]), waiting([request.wait]), noted(outcome.files.length > 0)),
  };
  if (refusedHosts.asked.length === 0) return asks;
  const { questions, commit } = hostsAsked(view, call, refusedHosts.asked, template, at);
  const hosts = callsChanged([{ ...request.call, hosts: questions }]);
  return joinCommits(asks, { ...commit, after: compose(commit.after, hosts) });
}

export type InputAsked = { readonly approvalId: string; readonly commit: Commit };

/** A tool asks while its call runs. */
export function inputAsked(
  view: AgentView,
  { call, question, expiresMs }: { readonly call: CallView; readonly question: ToolQuestion; readonly expiresMs: number },
  at: Date,
): InputAsked {
  const request = requested(view, call, { question, continuation: null }, { approvalExpiresMs: expiresMs }, at);
  return {
    approvalId: request.row.id,
    commit: {
      change: asking(request, at),
      events: [request.event],
      after: compose(callsChanged([request.call]), waiting([request.wait])),
    },
  };
}

function asking({ row, wait }: ApprovalRequest, at: Date): Commit["change"] {
  return { approvals: [row], waits: [wait], agent: { lastActivityAt: at } };
}

function requested(
  view: AgentView,
  call: CallView,
  { question, continuation }: { readonly question: ToolQuestion; readonly continuation: Json },
  template: Pick<RecordTemplate, "approvalExpiresMs">,
  at: Date,
): ApprovalRequest {
  return requestApproval(
    view,
    {
      kind: "TOOL_INPUT",
      call,
      input: null,
      inputHash: questionHash(view, call, question),
      reason: reasonOf(question),
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

function reasonOf({ server }: ToolQuestion): string {
  return `the MCP server ${server} asks for input`;
}

/** SHA-256 over the RFC 8785 form of everything that an answer is bound to. */
function questionHash({ id, tenant }: AgentView, { id: call }: CallView, question: ToolQuestion): string {
  const form = canonicalize({ agent: id, call, question, tenant }) ?? "";
  return createHash("sha256").update(form).digest("hex");
}
