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

/** The reason and the manner in which a turn is ended with all that is open in it. */
export type Sealing = {
  readonly reason: DoneReason;
  /** Why, for the model and for people. */
  readonly note: string;
  /** The note that tells the model of it if no call is open whose result would say so; null for none. */
  readonly told: string | null;
  /** The model call that is open, if one is. */
  readonly broken: Aborted;
  /** Further events that report why. */
  readonly events: readonly AgentEventBody[];
  /** True if the calls of the template are traced. */
  readonly trace: boolean;
};

/**
 * A turn ends with all that is open in it: every call is sealed, every question closed, also about hosts, the model call aborted.
 * What only background shells ask stays open while they run, unless an interrupt ends them: the turn was not theirs.
 */
export function turnSealed(view: AgentView, { reason, note, told, broken, events, trace }: Sealing, at: Date): Commit {
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
    turnEnded(calls.after(view), { reason, note: open.length === 0 ? told : null }, at),
  );
}

/** The open questions about hosts are closed, save those that stay open. */
function hostsClosed(staysOpen: (host: OpenHost) => boolean): (view: AgentView) => AgentView {
  return (view) => {
    const openHosts = view.openHosts.filter(staysOpen);
    const stays = new Set(openHosts.map(({ approvalId }) => approvalId));
    const closed = (question: HostQuestion): HostQuestion =>
      question.state === "PENDING" && !stays.has(question.approvalId) ? { ...question, state: "SEALED" } : question;
    return { ...view, openHosts, calls: view.calls.map((call) => ({ ...call, hosts: call.hosts.map(closed) })) };
  };
}
