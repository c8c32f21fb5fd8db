import { CALL_WAITS, type DoneReason, type TemplateVersion, type WaitKind } from "../../../db/commit/change.ts";
import type { Breakpoint } from "../../../db/generated/enums.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { TemplateVersionSnapshot } from "../../../events/snapshots.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { storable } from "../../../lib/text.ts";
import { closedEvent } from "../../approvals/request.ts";
import { sealCall, isFinal, type CallView, type SealedChild } from "../../calls/call.ts";
import { endEvents } from "../../calls/events.ts";
import type { HostQuestion, OpenHost } from "../../calls/hosts/host-question.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import type { Tool } from "../../tools/tool.ts";
import { budgetQuestions } from "../../waits/wait.ts";
import type { AgentView } from "../view.ts";
import {
  compose,
  type Commit,
  identity,
  move,
  added,
  joined,
  joinWaiting,
  noteMessage,
  transcriptColumns,
  interruptEnded,
  resultsMessage,
  callsChanged,
  joinCommits,
  moved,
  callsOver,
  settled,
} from "./commit.ts";
import { needsAfter } from "./hosts-asked.ts";
import { stepAbortedIfOpen, type Aborted } from "./steps.ts";

/**
 * Begins a turn: the waiting messages join the transcript. A retry also answers the messages of the turn before, which
 * are in the transcript already. The note of an interrupt that came too late for its turn precedes them. `template` is the
 * present one; null if it is not configured.
 */
export function turnStarted(view: AgentView, template: TurnVersion | null, at: Date): Commit {
  const turn = view.turn + 1;
  const messages = lateNote({ ...view, turn }, at);
  const joins = joinWaiting(view, turn, view.transcriptLength + messages.length);
  const retried = view.retryTurn === null ? [] : view.turnMessageIds;
  const { patch, events, after } = move(view, { state: "WORKING" });
  const transcript = transcriptColumns(view.transcriptLength + messages.length + joins.length);
  const told = messages.length === 0 ? null : view.interruptNote;
  const taken = template === null ? null : versionTaken(view, template, turn);
  const isWatched = view.isWatched || template?.watchFiles === "always";
  return {
    change: {
      agent: { ...patch, turn, ...transcript },
      messages,
      joins,
      ...(told === null ? {} : { toldNote: told }),
      ...(isWatched ? { watch: true } : {}),
      ...taken?.change,
    },
    events: [...(taken?.events ?? []), ...events],
    after: compose(
      after,
      (now) => ({
        ...now,
        turn,
        isWatched,
        turnMessageIds: retried,
        shape: { by: view.retryTurn === null ? null : now.shape.by, corrections: 0 },
        retryTurn: null,
        stepsInTurn: 0,
        interruptNote: told === null ? now.interruptNote : null,
      }),
      added(messages),
      joined(joins),
      taken?.after ?? identity,
    ),
  };
}

/** The version of a template with which a turn begins. */
export type TurnVersion = {
  readonly digest: string;
  readonly version: string | null;
  readonly data: JsonObject;
  readonly watchFiles: "atWork" | "always" | "never";
};

/** The turn begins with another version of the template than the last one; null if it does not. */
function versionTaken(
  { tenant, templateVersion: from }: AgentView,
  { digest, version, data }: TurnVersion,
  turn: number,
): Commit | null {
  if (from?.digest === digest) return null;
  const to = { digest, version: version === null ? null : storable(version) };
  const templateVersion = { ...to, sinceTurn: turn };
  return {
    change: { templateVersion, versionData: { tenant, digest, data } },
    events: from === null ? [] : [{ kind: "TEMPLATE_CHANGED", from: shown(from), to }],
    after: (view) => ({ ...view, templateVersion }),
  };
}

function shown({ digest, version }: TemplateVersion): TemplateVersionSnapshot {
  return { digest, version };
}

function lateNote(view: AgentView, at: Date): AddedMessages {
  if (view.interruptAt !== null || view.interruptNote === null) return [];
  return [noteMessage(view, [`[While the last turn ended, a person wanted to interrupt it: ${view.interruptNote}]`], at)];
}

/** The most messages that a DONE lists. If there are more, readers take them from their rows. */
const EVENT_MESSAGE_IDS = 200;

/** The end of a turn. `note` is for the model; null for none. The rest stands in the DONE. */
export type TurnEnd = { readonly reason: DoneReason; readonly note: string | null } & Pick<
  AgentEventBody & { readonly kind: "DONE" },
  "detail" | "problems" | "value" | "valueMessageId"
>;

/**
 * Ends a turn with exactly one DONE, which lists the messages that it answers. Results of the last step's calls join
 * the transcript, followed by a note for the model, if there is one.
 */
export function turnEnded(view: AgentView, { reason, note, ...more }: TurnEnd, at: Date): Commit {
  const results = resultsMessage(view, at);
  const messages = note === null ? results : [...results, noteMessage(added(results)(view), [note], at)];
  const { patch, events, after } = move(view, { state: "READY", breakpoint: "READY" });
  const calm = interruptEnded(view);
  const messageIds = view.turnMessageIds.length > EVENT_MESSAGE_IDS ? null : view.turnMessageIds;
  return {
    change: {
      ...calm.change,
      ...(view.parentId === null ? {} : { returns: true }),
      ...(view.isWatched ? { watch: true } : {}),
      messages,
      agent: {
        ...patch,
        ...needsAfter(view),
        ...transcriptColumns(view.transcriptLength + messages.length),
        lastActivityAt: at,
        doneReason: reason,
      },
    },
    events: [...events, { kind: "DONE", turn: view.turn, step: view.stepCount, reason, ...more, messageIds }],
    after: compose(after, added(messages), calm.after),
  };
}

export type Sealing = {
  readonly reason: DoneReason;
  readonly note: string;
  /** A note that tells the model the reason if no open call's result does; null for none. */
  readonly modelNote: string | null;
  readonly broken: Aborted;
  readonly events: readonly AgentEventBody[];
  readonly trace: boolean;
  readonly tools: ReadonlyMap<string, Pick<Tool, "readOnly">>;
  /** The children that calls wait for, by the calls. */
  readonly children: ReadonlyMap<string, SealedChild>;
};

/**
 * Ends a turn with all unfinished work: calls are sealed, questions closed, the model call aborted. Questions of
 * background shells stay open while the shells run, unless an interrupt ends those.
 */
export function turnSealed(
  view: AgentView,
  { reason, note, modelNote, broken, events, trace, tools, children }: Sealing,
  at: Date,
): Commit {
  const open = view.calls.filter((call) => !isFinal(call.state));
  const staysOpen = ({ isOfShells }: OpenHost): boolean => isOfShells && reason !== "INTERRUPTED";
  const closed = view.openHosts.filter((host) => !staysOpen(host));
  const hosts = closed.map(({ approvalId }) => ({ id: approvalId, callId: null }));
  const questions = questionsSealed([...openQuestions(open), ...hosts, ...budgetQuestions(view.waits)], note, at);
  const sealed = open.map((call) => {
    const readOnly = tools.get(call.name)?.readOnly === true;
    return sealCall(call, { note, readOnly, child: children.get(call.id) ?? null }, at);
  });
  const aborted = stepAbortedIfOpen(view, { ...broken, events: [...broken.events, ...events] }, at);
  const calls: Commit = {
    change: { transitions: sealed.map(({ transition }) => transition) },
    events: sealed.flatMap(({ call }) => endEvents(call, { trace })),
    after: compose(
      callsChanged(sealed.map(({ call }) => withQuestionSealed(call))),
      callsOver(open.map(({ id }) => id)),
      hostsClosed(staysOpen),
    ),
  };
  return joinCommits(
    aborted,
    questions,
    calls,
    turnEnded(calls.after(view), { reason, note: open.length === 0 ? modelNote : null }, at),
  );
}

function hostsClosed(staysOpen: (host: OpenHost) => boolean): (view: AgentView) => AgentView {
  return (view) => {
    const openHosts = view.openHosts.filter(staysOpen);
    const stays = new Set(openHosts.map(({ approvalId }) => approvalId));
    const closed = (question: HostQuestion): HostQuestion =>
      question.state === "PENDING" && !stays.has(question.approvalId) ? { ...question, state: "SEALED" } : question;
    return { ...view, openHosts, calls: view.calls.map((call) => ({ ...call, hosts: call.hosts.map(closed) })) };
  };
}

/** An open approval. `callId` is null for a question about a host. */
export type OpenQuestion = { readonly id: string; readonly callId: string | null };

export function openQuestions(calls: readonly CallView[]): readonly OpenQuestion[] {
  return calls.flatMap(({ id, approval }) => (approval?.state === "PENDING" ? [{ id: approval.id, callId: id }] : []));
}

/** Closes questions without an answer. Another part of the same commit ends their calls. */
export function questionsSealed(questions: readonly OpenQuestion[], note: string, at: Date): Commit {
  return {
    change: { approvalTransitions: questions.map(({ id }) => ({ id, from: "PENDING", to: "SEALED", closedAt: at })) },
    events: questions.map(({ id, callId }) => closedEvent(id, callId, "SEALED", note)),
    after: settled(questions.map(({ id }) => id)),
  };
}

export function withQuestionSealed(call: CallView): CallView {
  return call.approval?.state === "PENDING" ? { ...call, approval: { ...call.approval, state: "SEALED" } } : call;
}

/**
 * Gives the agent back: refused if anything arrived since the view was read (invariant 8). An interrupt of a turn that
 * never began, because its message was withdrawn, is cleared.
 */
export function parked(view: AgentView): Commit {
  const { change, events, after } =
    view.state === "READY" ? interruptEnded(view) : moved(view, { state: "PAUSED", breakpoint: breakpointOf(view) });
  return {
    change: {
      ...change,
      expectSignal: view.signal,
      agent: { ...change.agent, runnableAt: null, leaseOwner: null, leaseUntil: null },
    },
    events,
    after: compose(after, (now) => ({ ...now, leaseOwner: null })),
  };
}

const FOR_RESULTS: ReadonlySet<WaitKind> = new Set(["MCP_SERVER", ...CALL_WAITS]);

/** The breakpoint of an agent that only waits: with an open question to people, that of approvals. */
function breakpointOf({ waits }: AgentView): Breakpoint {
  const isForResults = waits.length > 0 && waits.every(({ kind }) => FOR_RESULTS.has(kind));
  return isForResults ? "TOOL_EXECUTING" : "AWAITING_APPROVAL";
}
