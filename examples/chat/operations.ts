import type { AppliedCompaction } from "../../clients/src/compaction.ts";
import type { ChangedFiles, EndedShell } from "../../clients/src/workspace-news.ts";
import { ASKED, type Asked, type Call, type WatchedEvent } from "../demo/operations.ts";

import type { WaitingCall } from "./asked-user.ts";

/** The operations that the chat has beyond those of the demo. */

/** The form of a tool's question. */
const FORM = `
  fragment Form on Approval {
    form: subject {
      ... on ToolQuestion {
        server
        message
        fields {
          name kind title description isRequired default format minLength maxLength minimum maximum
          options { value title }
          minItems maxItems
        }
      }
    }
  }
`;

type WithForm = { readonly form: object | null };

export const AGENT = `
  query Agent($id: ID!) {
    toolCalls(filter: { agentIds: [$id], states: [WAITING] }) { nodes { callId name state waitsFor input } }
    agent(id: $id) {
      id model workspace state cursor template { templateId }
      pendingApprovals { id kind inputHash reason ...Asked viewerCannotDecideReasons toolCall { name } subject { ... on NetworkHost { host port } } ...Form }
    }
  }
  ${ASKED}
  ${FORM}
`;

export const INTERRUPT = `
  mutation InterruptAgent($input: InterruptAgentInput!) {
    interruptAgent(input: $input) { agent { state } userErrors { message } }
  }
`;

export const COMPACT = `
  mutation CompactAgent($input: CompactAgentInput!) {
    compactAgent(input: $input) { agent { id } userErrors { code message } }
  }
`;

export const COMPLETE = `
  mutation CompleteToolCall($input: CompleteToolCallInput!) {
    completeToolCall(input: $input) { toolCall { state } userErrors { code message } }
  }
`;

export const CHAT = `
  subscription Chat($agentId: ID!, $since: Cursor) {
    timeline(agentIds: [$agentId], since: $since) {
      cursor
      caughtUp
      events {
        __typename
        ... on TimelineEvent { seq kind channel }
        ... on MessageReceived { messageId text images }
        ... on ReminderSent { content }
        ... on MessageWithdrawn { messageId withdrawnBy { actorId name } }
        ... on TextChunk { delta }
        ... on TextChunkEnd { aborted }
        ... on ThinkChunk { delta }
        ... on ToolEvent { call { callId name state inputPreview durationMs cachedFrom error { message } } }
        ... on ToolWaiting { toolCall { callId name state waitsFor input } }
        ... on PermissionRequired { request { approvalId kind inputHash reason host port call { name } } approval { state ...Asked ...Form viewerCannotDecideReasons } }
        ... on PermissionDecided { approvalId decision decidedBy { actorId name } note missingDecisions }
        ... on PermissionClosed { approvalId approvalState note }
        ... on FileChanged { fileCount files { path change } }
        ... on ShellStarted { shellId command }
        ... on ShellEnded { shellId command endReason exitCode signal }
        ... on ErrorRaised { severity message detail }
        ... on StateChanged { state }
        ... on StepComplete { contextTokens contextWindow cachedShare cacheMiss { reason } }
        ... on ContextCompression { compressionPhase method tokensBefore tokensAfter failureReason }
        ... on Done { reason value problems { path message } messageIds }
      }
    }
  }
  ${ASKED}
  ${FORM}
`;

/** The agents below, and what they ask: from the first event on, for their paths. */
export const CHILDREN = `
  subscription Children($agentId: ID!, $since: Cursor) {
    timeline(
      agentIds: [$agentId], withDescendants: true, since: $since,
      kinds: [AGENT_SPAWNED, AGENT_RETURNED, PERMISSION_REQUIRED, PERMISSION_DECIDED, PERMISSION_CLOSED, DONE]
    ) {
      cursor
      caughtUp
      events {
        __typename
        agent { id }
        ... on AgentSpawned { childId description templateId isBackground }
        ... on AgentReturned { childId outcome answer }
        ... on PermissionRequired { request { approvalId kind inputHash reason host port call { name } } approval { state ...Asked ...Form viewerCannotDecideReasons } }
        ... on PermissionDecided { approvalId decision decidedBy { actorId name } note missingDecisions }
        ... on PermissionClosed { approvalId approvalState note }
      }
    }
  }
  ${ASKED}
  ${FORM}
`;

/** What the chat reads of an agent. */
export type ChatAgent = {
  readonly id: string;
  readonly model: string;
  readonly workspace: string;
  readonly state: string;
  readonly cursor: string;
  readonly template: { readonly templateId: string };
  readonly pendingApprovals: readonly (Asked &
    WithForm & {
      readonly id: string;
      readonly kind: string;
      readonly inputHash: string | null;
      readonly reason: string | null;
      readonly viewerCannotDecideReasons: readonly string[];
      readonly toolCall: { readonly name: string } | null;
      readonly subject: { readonly host?: string; readonly port?: number } | null;
    })[];
};

/** What the chat reads of the course of an approval. */
export type ApprovalEvent =
  | {
      readonly __typename: "PermissionRequired";
      readonly request: {
        readonly approvalId: string;
        readonly kind: string;
        readonly inputHash: string | null;
        readonly reason: string | null;
        readonly host: string | null;
        readonly port: number | null;
        readonly call: Pick<Call, "name"> | null;
      };
      readonly approval:
        (Asked & WithForm & { readonly state: string; readonly viewerCannotDecideReasons: readonly string[] }) | null;
    }
  | {
      readonly __typename: "PermissionDecided";
      readonly approvalId: string;
      readonly decision: string;
      readonly decidedBy: { readonly actorId: string; readonly name: string | null };
      readonly note: string | null;
      readonly missingDecisions: number;
    }
  | {
      readonly __typename: "PermissionClosed";
      readonly approvalId: string;
      readonly approvalState: string;
      readonly note: string | null;
    };

/** What the chat reads of an event. */
export type ChatEvent =
  | {
      readonly __typename: "MessageWithdrawn";
      readonly messageId: string;
      readonly withdrawnBy: { readonly actorId: string; readonly name: string | null };
    }
  | { readonly __typename: "MessageReceived"; readonly messageId: string; readonly text: string | null; readonly images: number }
  | { readonly __typename: "ReminderSent"; readonly content: string | null }
  | { readonly __typename: "ThinkChunkStart" | "ThinkChunkEnd" }
  | { readonly __typename: "ThinkChunk"; readonly delta: string }
  | ApprovalEvent
  | {
      readonly __typename: "ToolWaiting";
      readonly call: Pick<Call, "name"> & { readonly callId: string };
      readonly toolCall: WaitingCall | null;
    }
  | { readonly __typename: "ToolStart" | "ToolEnd"; readonly call: Call & { readonly callId: string } }
  | ({ readonly __typename: "FileChanged" } & ChangedFiles)
  | { readonly __typename: "ShellStarted"; readonly shellId: string; readonly command: string | null }
  | ({ readonly __typename: "ShellEnded"; readonly shellId: string; readonly command: string | null } & EndedShell)
  | Extract<WatchedEvent, { readonly __typename: "TextChunk" | "TextChunkEnd" }>
  | (Extract<WatchedEvent, { readonly __typename: "ErrorRaised" }> & { readonly detail: string | null })
  | {
      readonly __typename: "StepComplete";
      readonly contextTokens: number | null;
      readonly contextWindow: number | null;
      readonly cachedShare: number | null;
      readonly cacheMiss: { readonly reason: string | null } | null;
    }
  | ({
      readonly __typename: "ContextCompression";
      readonly compressionPhase: string;
      readonly failureReason: string | null;
    } & AppliedCompaction)
  | { readonly __typename: "StateChanged"; readonly state: string }
  | {
      readonly __typename: "Done";
      readonly reason: string;
      readonly value: unknown;
      readonly problems: readonly { readonly path: string; readonly message: string }[];
      readonly messageIds: readonly string[];
    };
