import type { CancelRequest, WaitRow } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { StartedChild } from "../../tools/child.ts";
import type { StartedTask } from "../../tools/later.ts";
import { requestApproval, waitFor, type ApprovalRequest } from "../../approvals/request.ts";
import { type CallView, callStep, hasRun, type CallFacts, type CallStep, sealCall } from "../../calls/call.ts";
import {
  endEvents,
  endStep,
  hostsColumn,
  imageRows,
  imagesIn,
  startEvents,
  stageEvents,
  snapshot,
  toolWarning,
} from "../../calls/events.ts";
import type { RefusedHosts } from "../../calls/hosts/call-hosts.ts";
import { outputWith, unaskedLines } from "../../calls/hosts/host-lines.ts";
import { judgedColumns, judgedFacts, type ReadyCall } from "../../calls/judge.ts";
import { refusedStep } from "../../calls/refusals/refusal-details.ts";
import type { EndedOutcome, LaterOutcome } from "../../calls/outcome.ts";
import { cancelledRefusal } from "../../calls/stages/execution.ts";
import type { Tool } from "../../tools/tool.ts";
import { taskRef } from "../../waits/wait.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import {
  callsChanged,
  compose,
  joinCommits,
  move,
  moved,
  type Commit,
  type Reducer,
  eventsOnly,
  callsOver,
  noted,
  waiting,
} from "./commit.ts";
import { hostsAsked } from "./hosts-asked.ts";
import { stepAbortedIfOpen, type Aborted } from "./steps.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "./turns.ts";

/** Calls are about to run: EXECUTING is committed before they do (invariant 5). */
export function callsStarted(
  view: AgentView,
  { ready, trace }: { readonly ready: readonly ReadyCall[]; readonly trace: boolean },
  at: Date,
): Commit {
  const steps = ready.map((call) => begin(call, at));
  const before = view.breakpoint === "TOOL_EXECUTING" ? [] : move(view, { breakpoint: "PRE_TOOL" }).events;
  const from = before.length === 0 ? view : { ...view, breakpoint: "PRE_TOOL" as const };
  const { patch, events, after } = move(from, { state: "WORKING", breakpoint: "TOOL_EXECUTING" });
  return {
    change: { agent: patch, transitions: steps.map(({ transition }) => transition) },
    events: [
      ...before,
      ...events,
      ...(trace ? ready.flatMap((call) => stageEvents(call.call.id, rowOf(view, call).stages, call.stages)) : []),
      // A call that runs again has its TOOL_START.
      ...steps.flatMap(({ call }, index) => (ready[index] !== undefined && hasRun(ready[index].call) ? [] : startEvents(call))),
    ],
    after: compose(after, callsChanged(steps.map(({ call }) => call))),
  };
}

/** The call as its row is. */
function rowOf(view: AgentView, { call }: ReadyCall): Pick<CallView, "stages"> {
  return view.calls.find(({ id }) => id === call.id) ?? { stages: [] };
}

function begin(ready: ReadyCall, at: Date): CallStep {
  const facts: CallFacts = {
    startedAt: ready.call.startedAt ?? at.toISOString(),
    attempt: ready.call.attempt + 1,
    effectiveInput: ready.validated.bound.input,
    inputHash: ready.confirmed.inputHash,
    stages: ready.stages,
  };
  const { by } = ready.confirmed;
  // Why a call was asked stays on it, whatever would be said of it now. Of an input that a person gave, hooks say something only now.
  const { state, approval } = ready.call;
  const isNew = state === "PENDING" || (state === "APPROVED" && approval?.isEdited === true);
  const all = isNew ? { ...facts, ...judgedFacts(ready) } : facts;
  const step = callStep(ready.call, "EXECUTING", at, all, isNew ? judgedColumns(ready) : {});
  return by === null ? step : { ...step, transition: { ...step.transition, by } };
}

/** The end of a call that ran. */
export type Ended = {
  /** The call as it stands while it runs. */
  readonly call: CallView;
  readonly outcome: EndedOutcome;
  /** True if no other call runs. */
  readonly isLast: boolean;
  readonly template: RecordTemplate;
};

/** A call that ran has ended. The hosts that it would have reached are asked for in the same commit. */
export function callEnded(view: AgentView, { call, outcome, isLast, template }: Ended, at: Date): Commit {
  const step = withLines(endStep(call, outcome, at), outcome.refusedHosts);
  const warnings = [...failureOf(step.call, outcome), ...outcome.warnings].map(toolWarning);
  const known = { agentId: view.id, tenant: view.tenant, callId: call.id, at };
  const ended: Commit = {
    change: {
      transitions: [step.transition],
      knownFiles: outcome.files.map((file) => ({ ...file, ...known })),
      images: imageRows(imagesIn(outcome)),
      waits: outcome.child === null ? [] : [childWait(view, call, outcome.child, at)],
    },
    events: [...warnings, ...spawned(call, outcome.child), ...endEvents(step.call, template)],
    after: compose(ranCallChanged(step.call), noted(outcome.files.length > 0)),
  };
  const last = isLast ? [moved(view, { breakpoint: "POST_TOOL" })] : [];
  const { asked } = outcome.refusedHosts;
  if (asked.length === 0) return joinCommits(ended, ...last);
  const { questions, commit } = hostsAsked(view, call, asked, template, at);
  return joinCommits(
    ended,
    { ...commit, after: compose(commit.after, ranCallChanged({ ...step.call, hosts: questions })) },
    ...last,
  );
}

export type Deferred = Omit<Ended, "outcome" | "isLast"> & { readonly outcome: LaterOutcome };

/** A tool has answered that its result comes later: the call waits, and its place is free. */
export function callDeferred(view: AgentView, { call, outcome, template }: Deferred, at: Date): Commit {
  const due = outcome.dueMs === null ? null : new Date(at.getTime() + outcome.dueMs);
  const { stages, keptOutputBytes, files, refusedHosts, waitsFor, child, task } = outcome;
  const step = callStep(call, "WAITING", at, { stages }, { keptOutputBytes, ...hostsColumn(outcome) });
  const waits =
    child === null
      ? [waitFor(waitsFor, view, { callId: call.id, ref: call.id, due }), ...taskWaits(view, call, task, at)]
      : [childWait(view, call, child, at)];
  const known = { agentId: view.id, tenant: view.tenant, callId: call.id, at };
  const deferred: Commit = {
    change: { transitions: [step.transition], waits, knownFiles: files.map((file) => ({ ...file, ...known })) },
    events: [
      ...outcome.warnings.map(toolWarning),
      { kind: "TOOL_WAITING", call: snapshot(step.call), waitsFor, dueAt: due?.toISOString() ?? null },
      ...spawned(call, child),
    ],
    after: compose(ranCallChanged(step.call), waiting(waits), noted(files.length > 0)),
  };
  if (refusedHosts.asked.length === 0) return deferred;
  const { questions, commit } = hostsAsked(view, call, refusedHosts.asked, template, at);
  const hosts = ranCallChanged({ ...step.call, hosts: questions });
  return joinCommits(deferred, { ...commit, after: compose(commit.after, hosts) });
}

/** After a call has run: questions that its tool asked meanwhile stand on its row. */
function ranCallChanged(call: CallView): Reducer {
  return (view) => callsChanged([{ ...call, approval: view.calls.find(({ id }) => id === call.id)?.approval ?? null }])(view);
}

/** The wait for a child, due immediately: its look makes the child. */
function childWait(view: AgentView, { id: callId }: CallView, { agentId: ref, isBackground }: StartedChild, at: Date): WaitRow {
  return waitFor(isBackground ? "BACKGROUND_CHILD" : "CHILD", view, { callId, ref, due: at });
}

/** The wait for the task of an MCP server, due when it is to be asked for. */
function taskWaits(view: AgentView, { id: callId }: CallView, task: StartedTask | null, at: Date): readonly WaitRow[] {
  if (task === null) return [];
  const due = new Date(at.getTime() + task.pollMs);
  return [waitFor("MCP_TASK", view, { callId, ref: taskRef(callId, task.taskId), due, process: task.process })];
}

function spawned({ id: callId }: CallView, child: StartedChild | null): readonly AgentEventBody[] {
  if (child === null) return [];
  const { agentId: childId, templateId, description, isBackground } = child;
  return [{ kind: "AGENT_SPAWNED", callId, childId, templateId, description, isBackground }];
}

/** The step with what is said of hosts about which nobody is asked behind the output. */
function withLines({ call, transition }: CallStep, hosts: RefusedHosts): CallStep {
  if (hosts.allowedSince.length + hosts.leftOut === 0) return { call, transition };
  const output = outputWith(call.output ?? "", unaskedLines(hosts));
  return { call: { ...call, output }, transition: { ...transition, set: { ...transition.set, output } } };
}

/** A tool that failed, or did not end in time, is told of by the kind of its refusal. One that was interrupted or cancelled did neither. */
function failureOf({ name, error }: CallView, outcome: EndedOutcome): readonly { detail: string; message: string }[] {
  if (outcome.kind !== "refused" || error === null || error.type === "aborted") return [];
  return [{ detail: error.type, message: `${name}: ${error.message}` }];
}

export type CancelledCall = { readonly call: CallView; readonly request: CancelRequest };

export function callsCancelled(cancelled: readonly CancelledCall[], { trace }: { readonly trace: boolean }, at: Date): Commit {
  const questions = questionsSealed(openQuestions(cancelled.map(({ call }) => call)), "the call was cancelled", at);
  const steps = cancelled.map((each) => failed(each, at));
  return joinCommits(questions, {
    change: { transitions: steps.map(({ transition }) => transition) },
    events: steps.flatMap(({ call }) => endEvents(call, { trace })),
    after: compose(callsChanged(steps.map(({ call }) => call)), callsOver(steps.map(({ call }) => call.id))),
  });
}

function failed({ call, request }: CancelledCall, at: Date): CallStep {
  const refusal = cancelledRefusal(request, call.startedAt === null ? "confirmation" : "execution");
  const step = refusedStep(call, refusal, at);
  return { ...step, call: withQuestionSealed(step.call) };
}

const NOTE = "the server stopped while the tool ran";
const NOTE_BEHIND = "a call before it in the same answer broke off, and its outcome is unknown";

export type RecoveryTemplate = RecordTemplate & { readonly unknownOutcome: "seal" | "ask" };

export type Left = {
  readonly unknown: readonly CallView[];
  readonly broken: Aborted;
  readonly tools: ReadonlyMap<string, Pick<Tool, "risk" | "readOnly">>;
  /** Null if the template is no longer configured: its calls are sealed. */
  readonly template: RecoveryTemplate | null;
  /** False if the earlier owner released the agent itself, as a server does that shuts down. */
  readonly isTakenOver: boolean;
};

/**
 * Continues an agent after its owner stopped. Calls with an unknown outcome are never run again silently (invariant 5):
 * they are asked about or sealed, as the template says. If a call is sealed, later calls of the same answer that change
 * something are sealed too: they were planned for its success.
 */
export function recovered(view: AgentView, { unknown, broken, tools, template, isTakenOver }: Left, at: Date): Commit {
  const aborted = stepAbortedIfOpen(view, broken, at);
  const questions = questionsSealed(openQuestions(unknown), NOTE, at);
  const isAsked = template?.unknownOutcome === "ask";
  const asked = isAsked ? unknown.map((call) => ask(view, call, tools.get(call.name)?.risk ?? "MEDIUM", template, at)) : [];
  const behind = isAsked ? [] : changesBehind(view, unknown, tools);
  const sealed = isAsked
    ? []
    : [
        ...unknown.map((call) => sealCall(withQuestionSealed(call), { note: NOTE }, at)),
        ...behind.map((call) => sealCall(call, { note: NOTE_BEHIND }, at)),
      ];
  const calls: Commit = {
    change: {
      transitions: [...asked, ...sealed].map(({ transition }) => transition),
      approvals: asked.map(({ request }) => request.row),
      waits: asked.map(({ request }) => request.wait),
      ...(asked.length === 0 ? {} : { agent: { lastActivityAt: at } }),
    },
    events: [...asked.map(({ request }) => request.event), ...sealed.flatMap(({ call }) => endEvents(call, template))],
    after: compose(
      callsChanged([...asked, ...sealed].map(({ call }) => call)),
      waiting(asked.map(({ request }) => request.wait)),
    ),
  };
  const resumed = eventsOnly({
    kind: "AGENT_RESUMED",
    strategy: asked.length > 0 ? "MANUAL" : isTakenOver || sealed.length > 0 ? "CRASH" : "PLANNED",
    sealed: sealed.map(({ call }) => snapshot(call)),
  });
  return joinCommits(aborted, questions, calls, resumed);
}

function changesBehind(view: AgentView, unknown: readonly CallView[], tools: Left["tools"]): readonly CallView[] {
  const first = Math.min(...unknown.map(({ ordinal }) => ordinal));
  return view.calls.filter(
    ({ ordinal, state, name }) =>
      ordinal > first && (state === "PENDING" || state === "APPROVED") && tools.get(name)?.readOnly !== true,
  );
}

function ask(
  view: AgentView,
  call: CallView,
  risk: string,
  template: RecoveryTemplate,
  at: Date,
): CallStep & { readonly request: ApprovalRequest } {
  const reason = `${NOTE}: whether it had effects is unknown. Look, and say DONE with its result, RETRY to run it again, or FAIL`;
  const step = callStep(call, "APPROVAL_REQUIRED", at, {}, {}, { note: NOTE });
  const { inputHash } = call;
  if (inputHash === null) throw new Error(`call ${call.id} ran without a hash of its input`);
  const request = requestApproval(
    view,
    {
      kind: "OUTCOME_UNKNOWN",
      call: step.call,
      input: call.effectiveInput,
      inputHash,
      reason,
      risk,
      meta: null,
      preview: null,
      quorum: template.approvalQuorum,
      question: null,
      continuation: null,
      at,
    },
    template,
  );
  return { ...step, call: request.call, request };
}
