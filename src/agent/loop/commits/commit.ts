import { randomUUIDv7 } from "node:crypto";
import type { AgentPatch, NoticeRow, OwnerChange, WaitRow } from "../../../db/commit/change.ts";
import { joinChanges } from "../../../db/commit/parts.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { mapStrings } from "../../../lib/json.ts";
import { storable, byteLength } from "../../../lib/text.ts";
import type { CallView } from "../../calls/call.ts";
import { answerLine, outputWith } from "../../calls/hosts/host-lines.ts";
import type { NoticeView } from "../../calls/notices.ts";
import type { Answer } from "../../conversation/answer.ts";
import { storedBlock, type StoredBlock } from "../../conversation/images.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import { byCall, isHolding } from "../../waits/wait.ts";
import type { AgentView } from "../view.ts";

/** The agent's rows after a commit, computed from the rows before it, so that they need no second read. */
export type Reducer = (before: AgentView) => AgentView;

export type Commit = { readonly change: OwnerChange; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

export const identity: Reducer = (view) => view;

export function compose(...reducers: readonly Reducer[]): Reducer {
  return (view) => reducers.reduce((now, reducer) => reducer(now), view);
}

export function joinCommits(...commits: readonly Commit[]): Commit {
  return {
    change: joinChanges(commits.map(({ change }) => change)),
    events: commits.flatMap(({ events }) => events),
    after: compose(...commits.map(({ after }) => after)),
  };
}

export function eventsOnly(...events: readonly AgentEventBody[]): Commit {
  return { change: {}, events, after: identity };
}

export type StateAndBreakpoint = Pick<AgentView, "state" | "breakpoint">;

/** A change of state and breakpoint: columns, events, and the rows after it. */
export type Move = { readonly patch: AgentPatch; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

/** Moves an agent to a state and breakpoint. Values that stay the same have no event. */
export function move({ state, breakpoint }: StateAndBreakpoint, to: Partial<StateAndBreakpoint>): Move {
  const next = { state, breakpoint, ...to };
  return {
    patch: next,
    events: [
      ...(next.state === state ? [] : [{ kind: "STATE_CHANGED", previousState: state, state: next.state } as const]),
      ...(next.breakpoint === breakpoint
        ? []
        : [{ kind: "BREAKPOINT_CHANGED", previousBreakpoint: breakpoint, breakpoint: next.breakpoint } as const]),
    ],
    after: (view) => ({ ...view, ...next }),
  };
}

export function moved(view: AgentView, to: Partial<StateAndBreakpoint>): Commit {
  const { patch, events, after } = move(view, to);
  return { change: { agent: patch }, events, after };
}

/**
 * Ends an interrupt whose note the model was told. A newer interrupt and its note stay for the next turn, also if it
 * came after messages that wait.
 */
export function interruptEnded({ interruptAt, interruptNote }: AgentView): Commit {
  const told = interruptAt === null || interruptNote === null ? {} : { toldNote: interruptNote };
  return {
    change: { interruptEnd: { seen: interruptAt }, ...told },
    events: [],
    after: (view) => ({ ...view, interruptAt: null, interruptNote: interruptAt === null ? view.interruptNote : null }),
  };
}

export function callsChanged(changed: readonly CallView[]): Reducer {
  const stored = new Map(changed.map((call) => [call.id, asStored(call)]));
  return (view) => ({ ...view, calls: view.calls.map((call) => stored.get(call.id) ?? call) });
}

/** After waits have begun. */
export function waiting(rows: readonly WaitRow[]): Reducer {
  const held = rows.flatMap(({ callId, kind, ref }) => (isHolding(kind) ? [{ callId, kind, ref }] : []));
  return (view) => (held.length === 0 ? view : { ...view, waits: [...view.waits, ...held].toSorted(byCall) });
}

/** After calls have noted files, if any. */
export function noted(isAny: boolean): Reducer {
  return (view) => (isAny ? { ...view, knowsFiles: true } : view);
}

/** After these calls have ended otherwise: the results of others are not held back by them. */
export function callsOver(callIds: readonly string[]): Reducer {
  return (view) => ({
    ...view,
    waits: view.waits.filter(({ kind, callId }) => kind === "HOST" || callId === null || !callIds.includes(callId)),
  });
}

/** After the waits for these approvals have been settled. */
export function settled(refs: readonly string[]): Reducer {
  return (view) => ({ ...view, waits: view.waits.filter(({ ref }) => !refs.includes(ref)) });
}

/** The call as it is read from its row: characters that PostgreSQL cannot store are replaced. */
export function asStored(call: CallView): CallView {
  return {
    ...call,
    requestedInput: mapStrings(call.requestedInput, storable),
    effectiveInput: mapStrings(call.effectiveInput, storable),
    ruleValues: mapStrings(call.ruleValues, storable),
    output: call.output === null ? null : storable(call.output),
    error: call.error === null ? null : { ...call.error, message: storable(call.error.message) },
  };
}

export type Joins = NonNullable<OwnerChange["joins"]>;

export function joinWaiting(view: AgentView, turn: number, ordinal: number): Joins {
  return view.waiting.map((id, index) => ({ id, ordinal: ordinal + index, turn, step: view.stepCount + 1 }));
}

export function joined(joins: Joins): Reducer {
  const ids = new Set(joins.map(({ id }) => id));
  return (view) => {
    const reminders = new Set(view.reminders.map(({ id }) => id));
    const last = joins.at(-1);
    return {
      ...view,
      transcriptLength: view.transcriptLength + joins.length,
      turnMessageIds: [...view.turnMessageIds, ...joins.flatMap(({ id }) => (reminders.has(id) ? [] : [id]))],
      waiting: view.waiting.filter((id) => !ids.has(id)),
      shape: { ...view.shape, by: joins.findLast(({ id }) => view.shaped.includes(id))?.id ?? view.shape.by },
      shaped: view.shaped.filter((id) => !ids.has(id)),
      reminders: view.reminders.filter(({ id }) => !ids.has(id)),
      lastMessageKind: last === undefined ? view.lastMessageKind : reminders.has(last.id) ? "REMINDER" : "USER",
    };
  };
}

/**
 * The one message with the results of the last step's calls, in source order (invariant 6); none if they have joined
 * before. The answers about hosts follow the output of the call that asked.
 */
export function resultsMessage(view: AgentView, at: Date): AddedMessages {
  if (view.calls.length === 0 || view.lastMessageKind !== "ASSISTANT") return [];
  const content = view.calls.map((call): StoredBlock => ({
    type: "tool_result",
    tool_use_id: call.providerId,
    content: outputWith(
      call.output ?? "",
      call.hosts.flatMap((question) => answerLine(question) ?? []),
    ),
    is_error: call.isError,
  }));
  // Providers want the results first.
  return [agentMessage(view, "TOOL_RESULTS", [...content, ...view.calls.flatMap(imageBlocks)], at)];
}

function imageBlocks({ name, providerId, images }: CallView): readonly StoredBlock[] {
  if (images === null || images.length === 0) return [];
  return [{ type: "text", text: `[images in the result of ${name}, call ${providerId}]` }, ...images.map(storedBlock)];
}

/** Notes of the server to the model, as one message. It has no sender, starts no turn and gets no answer. */
export function noteMessage(view: AgentView, notes: readonly string[], at: Date): AddedMessages[number] {
  const content = notes.map((text) => ({ type: "text", text }) as const);
  return agentMessage(view, "USER", content, at);
}

export function answerMessage({ content }: Answer, view: AgentView, at: Date): AddedMessages {
  return content.length === 0 ? [] : [agentMessage(view, "ASSISTANT", content, at)];
}

export function added(messages: AddedMessages): Reducer {
  return (view) => ({
    ...view,
    transcriptLength: view.transcriptLength + messages.length,
    lastMessageKind: messages.at(-1)?.kind ?? view.lastMessageKind,
  });
}

/** After a commit with new notices: each replaces an untold one of the same thing. */
export function noticed(rows: readonly NoticeRow[]): Reducer {
  if (rows.length === 0) return identity;
  const added = rows.map(({ id, source, ref, text }): NoticeView => ({ id, source, ref, text }));
  const replaced = new Set(added.map(thingOf));
  return (view) => ({
    ...view,
    notices: [...view.notices.filter((notice) => !replaced.has(thingOf(notice))), ...added].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    ),
  });
}

function thingOf({ source, ref }: Pick<NoticeView, "source" | "ref">): string {
  return `${source} ${ref}`;
}

/** The columns for a transcript of this length. Its newest safe point is the last message. */
export function transcriptColumns(transcriptLength: number): { transcriptLength: number; lastSfpIndex: number } {
  return { transcriptLength, lastSfpIndex: transcriptLength - 1 };
}

function agentMessage(
  view: AgentView,
  kind: "USER" | "ASSISTANT" | "TOOL_RESULTS",
  content: readonly StoredBlock[],
  at: Date,
): AddedMessages[number] {
  return {
    id: randomUUIDv7(),
    tenant: view.tenant,
    agentId: view.id,
    kind,
    content: [...content],
    bytes: byteLength(JSON.stringify(content)),
    arrival: null,
    ordinal: view.transcriptLength,
    turn: view.turn,
    step: view.stepCount,
    createdBy: null,
    createdByKind: null,
    createdAt: at,
    erasedAt: null,
    withdrawnAt: null,
    reminder: null,
  };
}
