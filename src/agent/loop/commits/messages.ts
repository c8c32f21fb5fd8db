import { randomUUIDv7 } from "node:crypto";
import type { OwnerChange } from "../../../db/commit/change.ts";
import { byteLength } from "../../../lib/text.ts";
import type { Answer } from "../../conversation/answer.ts";
import type { StoredBlock } from "../../conversation/images.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import { answerLine, answersNote, outputWith } from "../../calls/hosts/host-lines.ts";
import type { AgentView } from "../view.ts";
import type { Reducer } from "./commit.ts";

export type Joins = NonNullable<OwnerChange["joins"]>;

export function joinWaiting(view: AgentView, turn: number, ordinal: number): Joins {
  return view.waiting.map((id, index) => ({ id, ordinal: ordinal + index, turn, step: view.stepCount + 1 }));
}

export function joined(joins: Joins): Reducer {
  const ids = new Set(joins.map(({ id }) => id));
  return (view) => ({
    ...view,
    transcriptLength: view.transcriptLength + joins.length,
    turnMessageIds: [...view.turnMessageIds, ...ids],
    waiting: view.waiting.filter((id) => !ids.has(id)),
    lastMessageKind: joins.length > 0 ? "USER" : view.lastMessageKind,
  });
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
  return [agentMessage(view, "TOOL_RESULTS", content, at)];
}

/** A note to the model with the answers about hosts that background programs asked for; none if there are none. */
export function hostAnswersNote(view: AgentView, at: Date): AddedMessages {
  return view.untoldHosts.length === 0 ? [] : [noteMessage(view, answersNote(view.untoldHosts, view.shells), at)];
}

/** A note of the server to the model. It has no sender, starts no turn and gets no answer. */
export function noteMessage(view: AgentView, note: string, at: Date): AddedMessages[number] {
  return agentMessage(view, "USER", [{ type: "text", text: note }], at);
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
  };
}
