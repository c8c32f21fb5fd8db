import { randomUUID } from "node:crypto";
import type { Change } from "../db/change.ts";
import type { Json } from "../lib/json.ts";
import { byteLength } from "../lib/text.ts";
import type { Actor } from "./actor.ts";
import type { Answer } from "./blocks.ts";
import type { OwnPermission } from "./gate/agent-policy.ts";
import type { Look } from "./look.ts";
import type { KeptBlock } from "./images.ts";
import type { TranscriptMessage } from "./transcript.ts";

type MessageRow = NonNullable<Change["messages"]>[number];
/** A message of the owner, as its row and as the transcript remembers it; or none. */
export type NewMessage = { readonly rows: readonly MessageRow[]; readonly messages: readonly TranscriptMessage[] };

/** The waiting messages as they join the transcript. */
export type Joins = NonNullable<Change["joins"]>;

/** The rows of an answer's calls. */
export type NewCalls = NonNullable<Change["toolCalls"]>;

/** What distinguishes a new agent. */
export type NewAgent = {
  readonly id: string;
  readonly actor: Pick<Actor, "id" | "kind" | "tenant">;
  readonly templateId: string;
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly permission: OwnPermission | null;
  readonly at: Date;
};

/** The row of an agent that nothing has happened to yet. */
export function agentRow({
  id,
  actor,
  templateId,
  model,
  workspace,
  toolTimeoutMs,
  permission,
  at,
}: NewAgent): NonNullable<Change["createAgent"]> {
  return {
    id,
    tenant: actor.tenant,
    templateId,
    model,
    workspace,
    toolTimeoutMs,
    permission: permission === null ? null : storedPermission(permission),
    state: "READY",
    breakpoint: "READY",
    turn: 0,
    stepCount: 0,
    arrivals: 0,
    transcriptLength: 0,
    lastSfpIndex: -1,
    seq: 0,
    needs: 0,
    signal: 0,
    interruptAt: null,
    interruptNote: null,
    createdBy: actor.id,
    createdByKind: actor.kind,
    lineage: null,
    forkedAt: null,
    leaseOwner: null,
    leaseEpoch: 0,
    leaseUntil: null,
    runnableAt: null,
    createdAt: at,
  };
}

function storedPermission({ scope, source }: OwnPermission): Json {
  return { scope, source: JSON.parse(JSON.stringify(source)) as Json };
}

/** The waiting messages as they join the transcript from `ordinal` on. */
export function joinWaiting(now: Look, turn: number, ordinal: number): Joins {
  return now.waiting.map((id, index) => ({ id, ordinal: ordinal + index, turn, step: now.stepCount + 1 }));
}

/** The one message with the results of the last step's calls, in source order (invariant 6); none where they have joined before. */
export function resultsMessage(now: Look, at: Date): NewMessage {
  if (now.calls.length === 0 || now.lastMessageKind !== "ASSISTANT") return { rows: [], messages: [] };
  const content = now.calls.map((call): KeptBlock => ({
    type: "tool_result",
    tool_use_id: call.providerId,
    content: call.output ?? "",
    is_error: call.isError,
  }));
  return agentMessage(now, "TOOL_RESULTS", content, at);
}

/** The model's answer; none where it said nothing. */
export function answerMessage(answer: Answer, now: Look, at: Date): NewMessage {
  return answer.content.length === 0 ? { rows: [], messages: [] } : agentMessage(now, "ASSISTANT", answer.content, at);
}

/** The rows of the answer's calls. */
export function newCalls(answer: Answer, now: Look, at: Date): NewCalls {
  return answer.calls.map((call, ordinal) => ({
    id: randomUUID(),
    tenant: now.tenant,
    agentId: now.id,
    turn: now.turn,
    step: now.stepCount,
    ordinal,
    providerId: call.providerId,
    name: call.name,
    state: "PENDING",
    attempt: 0,
    epoch: null,
    requestedInput: call.requestedInput,
    effectiveInput: null,
    ruleValues: null,
    inputHash: null,
    output: null,
    details: null,
    keptOutputBytes: null,
    error: null,
    isError: false,
    explanation: null,
    verdict: null,
    hookVerdict: null,
    stages: {},
    auditTrail: [{ state: "PENDING", timestamp: at.toISOString() }],
    startedAt: null,
    completedAt: null,
    durationMs: null,
    createdAt: at,
    updatedAt: at,
  }));
}

/** The row of a model call that is about to be made. */
export function stepRow(now: Look, model: string, at: Date): NonNullable<Change["stepStart"]> {
  return {
    agentId: now.id,
    step: now.stepCount,
    tenant: now.tenant,
    turn: now.turn,
    state: "STARTED",
    model,
    stopReason: null,
    inputTokens: null,
    outputTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    costUsd: null,
    startedAt: at,
    completedAt: null,
  };
}

function agentMessage(now: Look, kind: "ASSISTANT" | "TOOL_RESULTS", content: readonly KeptBlock[], at: Date): NewMessage {
  const ordinal = now.transcriptLength;
  const bytes = byteLength(JSON.stringify(content));
  return {
    rows: [
      {
        id: randomUUID(),
        tenant: now.tenant,
        agentId: now.id,
        kind,
        content: [...content],
        bytes,
        arrival: null,
        ordinal,
        turn: now.turn,
        step: now.stepCount,
        createdBy: null,
        createdByKind: null,
        createdAt: at,
      },
    ],
    messages: [{ ordinal, kind, content, bytes }],
  };
}
