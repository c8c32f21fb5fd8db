/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What an agent does. */
export type AgentState =
  /** The turn waits for a person. */
  | 'PAUSED'
  /** It waits for a message. */
  | 'READY'
  /** A turn is under way. */
  | 'WORKING';

/** What a person says about an approval. */
export type ApprovalDecision =
  /** It may run. */
  | 'ALLOW'
  /** It may not run. */
  | 'DENY'
  /** Of an outcome that is unknown: it is done, with this result. */
  | 'DONE'
  /** Of an outcome that is unknown: it has failed. */
  | 'FAIL'
  /** Of an outcome that is unknown: run it again. */
  | 'RETRY';

/** What is asked. */
export type ApprovalKind =
  /** May it spend more than its budget? Not asked yet. */
  | 'BUDGET'
  /** May it reach this host? Not asked yet. */
  | 'NETWORK_HOST'
  /** The server died while this call ran: what came of it? */
  | 'OUTCOME_UNKNOWN'
  /** May this call run? */
  | 'TOOL_CALL';

/** What became of an approval. */
export type ApprovalState =
  /** As many people as it needs have allowed it. */
  | 'ALLOWED'
  /** Somebody denied it. */
  | 'DENIED'
  /** Nobody decided in time. */
  | 'EXPIRED'
  /** It waits for people. */
  | 'PENDING'
  /** Somebody said what came of a call whose outcome was unknown. */
  | 'RESOLVED'
  /** Its turn ended before anybody decided. */
  | 'SEALED'
  /** Something else would run by now: a newer approval asks again. */
  | 'STALE';

/** What to make an agent from. */
export type CreateAgentInput = {
  /** Names of hooks of the configuration (`agentHooks`) that run after its template's. They only tighten. */
  hooks?: Array<string> | null | undefined;
  /** The same key with the same input creates once and answers the same agent. */
  idempotencyKey?: string | null | undefined;
  /** Name of a configured model. The template's if omitted. */
  model?: string | null | undefined;
  /** A permission block of the agent's own. */
  permission?: PermissionInput | null | undefined;
  /** Whether `permission` adds to the template's, so that it can only tighten, or replaces it. */
  permissionScope?: PermissionScope | null | undefined;
  /** The template: `templates` lists them. */
  templateId: string | number;
  /** What people call it: one line of at most 200 characters. */
  title?: string | null | undefined;
  /** The longest time of each tool call, in ms. The template's if omitted. */
  toolTimeoutMs?: number | null | undefined;
  /** The folder in which the agent works, absolute or relative to where the server was started. If omitted: the configuration's default, or else an empty folder of the agent's own. */
  workspace?: string | null | undefined;
};

/** A decision. */
export type DecideApprovalInput = {
  /** On which approval. */
  approvalId: string | number;
  /** What is decided. */
  decision: ApprovalDecision;
  /** With ALLOW: what shall run instead. It is validated and judged, and both inputs are kept. */
  input?: unknown;
  /** Required for ALLOW and RETRY: the hash of the input that the person saw. */
  inputHash?: string | null | undefined;
  /** Why; the model reads it with a denial. At most 4,000 characters. */
  note?: string | null | undefined;
  /** With DONE, for an outcome that is unknown: what came of the call, as the model shall read it. */
  result?: string | null | undefined;
};

/** How a turn ended. */
export type DoneReason =
  /** The model has said all that it had to say. */
  | 'COMPLETED'
  /** It could not go on: an ERROR says why. */
  | 'ERROR'
  /** Somebody interrupted it. */
  | 'INTERRUPTED'
  /** It took as many steps as its template allows. */
  | 'MAX_STEPS';

/** An image for the model to see. */
export type ImageInput = {
  /** The file in base64, at most 3.75 MB of it. */
  data: string;
  /** What it is. */
  mediaType: ImageType;
};

/** The types of images that models read. */
export type ImageType =
  /** Graphics Interchange Format. */
  | 'GIF'
  /** JPEG. */
  | 'JPEG'
  /** Portable Network Graphics. */
  | 'PNG'
  /** WebP. */
  | 'WEBP';

/** Which agent's turn to end. */
export type InterruptAgentInput = {
  /** The agent. */
  agentId: string | number;
  /** Why; the model reads it. */
  note?: string | null | undefined;
};

/** A permission block, as in the configuration: docs/permissions.md. */
export type PermissionInput = {
  /** Rules: what they match runs without asking, unless it is denied. */
  allow?: Array<string> | null | undefined;
  /** If given, every other tool is denied. */
  allowTools?: Array<string> | null | undefined;
  /** Rules: what they match is asked for, unless it is denied or allowed. */
  ask?: Array<string> | null | undefined;
  /** These tools run without asking, unless they are denied. */
  autoAllowTools?: Array<string> | null | undefined;
  /** Rules such as fs_read(path:.env): what they match is denied. */
  deny?: Array<string> | null | undefined;
  /** These tools are denied. */
  denyTools?: Array<string> | null | undefined;
  /** auto, approval (ask), readonly, deny, default, or one of the configuration's own. */
  mode?: string | null | undefined;
  /** These tools are asked for, unless they are denied or allowed. */
  requireApprovalTools?: Array<string> | null | undefined;
};

/** What a permission block of an agent's own does to its template's. */
export type PermissionScope =
  /** It takes its place, which needs an administrator. */
  | 'REPLACE'
  /** It adds to it, so that it can only tighten. */
  | 'TIGHTEN';

/** How much a call could change. */
export type Risk =
  /** What it changes may be lost. */
  | 'HIGH'
  /** It only reads. */
  | 'LOW'
  /** It changes something that can be seen and mended. */
  | 'MEDIUM';

/** A message, and to whom. */
export type SendMessageInput = {
  /** The agent. */
  agentId: string | number;
  /** The same key with the same input sends once and answers the same message. */
  idempotencyKey?: string | null | undefined;
  /** At most 20, of 5 MB together. They come before the text. */
  images?: Array<ImageInput> | null | undefined;
  /** At most 1 MB. It may be empty if there are images. */
  text: string;
};

/** How far a tool call has come. */
export type ToolCallState =
  /** A person must decide on it, or say what came of it. */
  | 'APPROVAL_REQUIRED'
  /** A person allowed it, and it has not begun. */
  | 'APPROVED'
  /** Final: it has its result. */
  | 'COMPLETED'
  /** Final: a rule, a hook or a person denied it, or nobody decided in time. */
  | 'DENIED'
  /** It runs, or ran when its server died. */
  | 'EXECUTING'
  /** Final: it could not run, or did not end well. */
  | 'FAILED'
  /** The model asked for it. */
  | 'PENDING'
  /** Final: it was closed without a result of its own. */
  | 'SEALED';

export type AgentQueryVariables = Exact<{
  id: string | number;
}>;


export type AgentQuery = { agent: { id: string, state: AgentState, model: string, workspace: string, usage: { totalTokens: number } } | null };

export type CreateAgentMutationVariables = Exact<{
  input: CreateAgentInput;
}>;


export type CreateAgentMutation = { createAgent: { agent: { id: string, state: AgentState, model: string, workspace: string } | null, userErrors: Array<{ message: string }> } };

export type SendMessageMutationVariables = Exact<{
  input: SendMessageInput;
}>;


export type SendMessageMutation = { sendMessage: { message: { id: string } | null, userErrors: Array<{ message: string }> } };

export type DecideApprovalMutationVariables = Exact<{
  input: DecideApprovalInput;
}>;


export type DecideApprovalMutation = { decideApproval: { approval: { id: string, state: ApprovalState } | null, userErrors: Array<{ message: string }> } };

export type InterruptAgentMutationVariables = Exact<{
  input: InterruptAgentInput;
}>;


export type InterruptAgentMutation = { interruptAgent: { agent: { id: string, state: AgentState } | null, userErrors: Array<{ message: string }> } };

export type WatchSubscriptionVariables = Exact<{
  agentId: string | number;
  since?: string | null | undefined;
}>;


export type WatchSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { __typename: 'AgentArchived', cursor: string }
      | { __typename: 'AgentCreated', cursor: string }
      | { __typename: 'AgentRenamed', cursor: string }
      | { __typename: 'AgentResumed', cursor: string }
      | { __typename: 'AgentUnarchived', cursor: string }
      | { __typename: 'AllowRuleRevoked', cursor: string }
      | { __typename: 'AllowRuleStored', cursor: string }
      | { __typename: 'BreakpointChanged', cursor: string }
      | { __typename: 'ConfigurationChanged', cursor: string }
      | { __typename: 'DelegationEnded', cursor: string }
      | { __typename: 'DelegationStarted', cursor: string }
      | { __typename: 'Done', reason: DoneReason, cursor: string }
      | { __typename: 'ErrorRaised', cursor: string }
      | { __typename: 'ExecutionAborted', cursor: string }
      | { __typename: 'ExecutionCompleted', cursor: string }
      | { __typename: 'ExecutionFailed', cursor: string }
      | { __typename: 'ExecutionStarted', cursor: string }
      | { __typename: 'InterruptRequested', cursor: string }
      | { __typename: 'MessageReceived', messageId: string, text: string | null, cursor: string, sentBy: { actorId: string, name: string | null } }
      | { __typename: 'MessageWithdrawn', messageId: string, cursor: string }
      | { __typename: 'PermissionClosed', approvalId: string, approvalState: ApprovalState, cursor: string }
      | { __typename: 'PermissionDecided', approvalId: string, decision: ApprovalDecision, missingDecisions: number, cursor: string, decidedBy: { actorId: string, name: string | null } }
      | { __typename: 'PermissionRequired', cursor: string, request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string, risk: Risk, host: string | null, call: { name: string } | null }, approval: { inputText: string | null } | null }
      | { __typename: 'StageCompleted', cursor: string }
      | { __typename: 'StageStarted', cursor: string }
      | { __typename: 'StateChanged', cursor: string }
      | { __typename: 'StepComplete', cursor: string }
      | { __typename: 'StorageFailure', cursor: string }
      | { __typename: 'TextChunk', step: number, block: number, delta: string, cursor: string }
      | { __typename: 'TextChunkEnd', step: number, block: number, text: string | null, aborted: boolean, cursor: string }
      | { __typename: 'TextChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'ThinkChunk', step: number, block: number, cursor: string }
      | { __typename: 'ThinkChunkEnd', step: number, block: number, cursor: string }
      | { __typename: 'ThinkChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'TodoChanged', cursor: string }
      | { __typename: 'TokensUsed', cursor: string }
      | { __typename: 'ToolCancelRequested', cursor: string }
      | { __typename: 'ToolCustomEvent', cursor: string }
      | { __typename: 'ToolEnd', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string, output: string | null, durationMs: number | null } }
      | { __typename: 'ToolError', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string, output: string | null, durationMs: number | null } }
      | { __typename: 'ToolExecuted', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string, output: string | null, durationMs: number | null } }
      | { __typename: 'ToolStart', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string, output: string | null, durationMs: number | null } }
      | { __typename: 'TurnRetryRequested', cursor: string }
    > } };


export const AgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Agent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"usage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}}]}}]}}]}}]} as unknown as DocumentNode<AgentQuery, AgentQueryVariables>;
export const CreateAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateAgentMutation, CreateAgentMutationVariables>;
export const SendMessageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SendMessage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SendMessageInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sendMessage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SendMessageMutation, SendMessageMutationVariables>;
export const DecideApprovalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DecideApproval"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DecideApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decideApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DecideApprovalMutation, DecideApprovalMutationVariables>;
export const InterruptAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"InterruptAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"InterruptAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"interruptAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<InterruptAgentMutation, InterruptAgentMutationVariables>;
export const WatchDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Watch"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"agentIds"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}]}},{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"channels"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"PROGRESS"},{"kind":"EnumValue","value":"CONTROL"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"caughtUp"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"MessageReceived"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"sentBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"MessageWithdrawn"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BlockEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"block"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TextChunk"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"delta"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TextChunkEnd"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"aborted"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"call"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"output"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionRequired"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"request"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"call"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputText"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionDecided"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionClosed"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"approvalState"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Done"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}}]}}]}}]}}]} as unknown as DocumentNode<WatchSubscription, WatchSubscriptionVariables>;