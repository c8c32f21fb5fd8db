import type { WaitRow } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { waitFor } from "../../approvals/request.ts";
import { callStep, type CallView } from "../../calls/call.ts";
import { hostsColumn, toolWarning } from "../../calls/events.ts";
import type { KeptOutcome } from "../../calls/outcome.ts";
import { answeredAt, keptUntil } from "../../calls/kept-answer.ts";
import type { CallTemplate } from "../../calls/scope.ts";
import { serverRef } from "../../waits/wait.ts";
import type { AgentView } from "../view.ts";
import { callsChanged, compose, noted, waiting, type Commit } from "./commit.ts";

type Kept = {
  readonly call: CallView;
  readonly outcome: KeptOutcome;
  readonly template: Pick<CallTemplate, "deferredTimeoutMs">;
};

/** A call ran with the answer of a person, and did not reach its server: it waits for that, and then runs again. */
export function answerKept(view: AgentView, { call, outcome, template }: Kept, at: Date): Commit {
  const { stages, keptOutputBytes, files, warnings, kept } = outcome;
  const note = `the MCP server ${kept.server} is away: the answer is kept`;
  const step = callStep(call, "APPROVAL_REQUIRED", at, { stages }, { keptOutputBytes, ...hostsColumn(outcome) }, { note });
  const wait = serverWait(view, step.call, kept, template, at);
  const known = { agentId: view.id, tenant: view.tenant, callId: call.id, at };
  return {
    change: {
      transitions: [step.transition],
      waits: [wait],
      knownFiles: files.map((file) => ({ ...file, ...known })),
    },
    events: [...warnings.map(toolWarning), awayWarning(call, kept.reason)],
    after: compose(callsChanged([step.call]), waiting([wait]), noted(files.length > 0)),
  };
}

/**
 * The wait of an answered call for its server. Its look finds out if the server is back. It is due when the server takes
 * the answer, otherwise soon, and later with each try.
 */
export function serverWait(
  view: AgentView,
  call: CallView,
  { server, afterMs }: { readonly server: string; readonly afterMs: number | null },
  { deferredTimeoutMs }: Kept["template"],
  at: Date,
): WaitRow {
  const until = keptUntil(call, deferredTimeoutMs);
  const triedMs = at.getTime() - answeredAt(call).getTime();
  const pauseMs = Math.max(afterMs ?? 0, Math.min(Math.max(triedMs, LOOK_MS), MOST_LOOK_MS));
  const due = new Date(Math.max(at.getTime() + LOOK_MS, Math.min(at.getTime() + pauseMs, until.getTime())));
  return waitFor("MCP_SERVER", view, { callId: call.id, ref: serverRef(server, until), due });
}

export function awayWarning({ name }: CallView, reason: string): AgentEventBody {
  return toolWarning({ detail: "answer_kept", message: `${name}: ${reason}; the answer of a person is kept until it is back` });
}

/** The time until the first look for the server, and the longest between two, in ms. */
const LOOK_MS = 2_000;
const MOST_LOOK_MS = 300_000;
