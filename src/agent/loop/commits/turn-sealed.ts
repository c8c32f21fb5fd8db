import type { DoneReason } from "../../../db/done-reason.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { HostQuestion, OpenHost } from "../../calls/hosts/host-question.ts";
import { endEvents } from "../../calls/events.ts";
import { sealCall } from "../../calls/seal.ts";
import { isFinal } from "../../calls/states.ts";
import type { AgentView } from "../view.ts";
import { callsChanged, compose, joinCommits, type Commit } from "./commit.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "./questions-sealed.ts";
import { stepAbortedIfOpen, type Aborted } from "./step-aborted.ts";
import { turnEnded } from "./turn-ended.ts";

export type Sealing = {
  readonly reason: DoneReason;
  readonly note: string;
  /** A note that tells the model the reason if no open call's result does; null for none. */
  readonly modelNote: string | null;
  readonly broken: Aborted;
  readonly events: readonly AgentEventBody[];
  readonly trace: boolean;
};

/**
 * Ends a turn with all unfinished work: calls are sealed, questions closed, the model call aborted. Questions of
 * background shells stay open while the shells run, unless an interrupt ends those.
 */
export function turnSealed(view: AgentView, { reason, note, modelNote, broken, events, trace }: Sealing, at: Date): Commit {
  const open = view.calls.filter((call) => !isFinal(call.state));
  const staysOpen = ({ isOfShells }: OpenHost): boolean => isOfShells && reason !== "INTERRUPTED";
  const closed = view.openHosts.filter((host) => !staysOpen(host));
  const hosts = closed.map(({ approvalId }) => ({ id: approvalId, callId: null }));
  const questions = questionsSealed([...openQuestions(open), ...hosts], note, at);
  const sealed = open.map((call) => sealCall(call, { note }, at));
  const aborted = stepAbortedIfOpen(view, { ...broken, events: [...broken.events, ...events] }, at);
  const calls: Commit = {
    change: { transitions: sealed.map(({ transition }) => transition) },
    events: sealed.flatMap(({ call }) => endEvents(call, { trace })),
    after: compose(callsChanged(sealed.map(({ call }) => withQuestionSealed(call))), hostsClosed(staysOpen)),
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
