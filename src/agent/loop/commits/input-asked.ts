import type { ToolQuestion } from "../../../events/tool-question.ts";
import { inputReason, requestInput } from "../../approvals/input/ask-input.ts";
import type { ApprovalRequest } from "../../approvals/request.ts";
import { callStep, type CallView } from "../../calls/call.ts";
import { hostsColumn, toolWarning } from "../../calls/events.ts";
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
  const step = callStep(
    call,
    "APPROVAL_REQUIRED",
    at,
    { stages },
    { keptOutputBytes, ...hostsColumn(outcome) },
    { note: inputReason(question) },
  );
  const request = requestInput(view, step.call, { question, continuation }, template, at);
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
  const request = requestInput(view, call, { question, continuation: null }, { approvalExpiresMs: expiresMs }, at);
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
