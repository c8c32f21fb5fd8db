/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Right of an actor, beyond reading and steering their own agents. */
export type Action =
  /** Make access tokens for oneself. Depends on the sign-in, not on roles. */
  | 'CREATE_ACCESS_TOKENS'
  /** Create agents. */
  | 'CREATE_AGENTS'
  /** Decide on approvals. `Approval.viewerCanDecide` tells it for a single approval. */
  | 'DECIDE'
  /** Let another actor decide on one's behalf. */
  | 'DELEGATE'
  /** Delete archived agents. */
  | 'DELETE_AGENTS'
  /** Export inputs, results and payloads: `createExport` with `withTexts`. */
  | 'EXPORT_TEXTS'
  /** Read `operations`: servers, deliveries and the log. */
  | 'READ_OPERATIONS'
  /** Read agents of other actors, and the events of the tenant itself. */
  | 'READ_TENANT'
  /** Replace the permission of a template for an agent (`permissionScope: REPLACE`). */
  | 'REPLACE_PERMISSION'
  /** Set and revoke budgets. */
  | 'SET_BUDGETS'
  /** Send messages to agents of other actors, and interrupt them. */
  | 'STEER_ALL_AGENTS'
  /** Store and revoke rules under which calls run without asking. */
  | 'STORE_ALLOW_RULES';

/** Activity of an agent. */
export type AgentState =
  /** The turn waits for a person. */
  | 'PAUSED'
  /** Idle: it waits for a message. */
  | 'READY'
  /** A turn is running. */
  | 'WORKING';

/** Input of `allowAlways`. */
export type AllowAlwaysInput = {
  /** `id` of the approval whose call or host the rule must match. */
  approvalId: string | number;
  /** First moment at which the rule no longer applies. It never expires if this and `expiresInDays` are omitted. */
  expiresAt?: string | null | undefined;
  /** Days until the rule expires, instead of `expiresAt`: 1 to 3,650. */
  expiresInDays?: number | null | undefined;
  /** Reason, at most 4,000 characters. */
  note?: string | null | undefined;
  /** Rule to store instead of the proposed one, at most 1,000 characters. It must match the call of the approval, let it run, and name no other tool. */
  rule?: string | null | undefined;
};

/** Decision of a person on an approval. */
export type ApprovalDecision =
  /** Allow the action. */
  | 'ALLOW'
  /** Deny the action. */
  | 'DENY'
  /** For OUTCOME_UNKNOWN: the call succeeded with the given result. */
  | 'DONE'
  /** For OUTCOME_UNKNOWN: the call failed. */
  | 'FAIL'
  /** For OUTCOME_UNKNOWN: run the call again. */
  | 'RETRY';

/** State of an approval. */
export type ApprovalState =
  /** As many people as its quorum requires have allowed it. */
  | 'ALLOWED'
  /** A person denied it. */
  | 'DENIED'
  /** Nobody decided before `expiresAt`. */
  | 'EXPIRED'
  /** It waits for people. */
  | 'PENDING'
  /** A person reported the outcome of a call whose outcome was unknown. */
  | 'RESOLVED'
  /** The turn, or the background program that asked, ended before anybody decided. */
  | 'SEALED'
  /** The action has changed since the request: a newer approval replaces it. */
  | 'STALE';

/** Agents or turns that share the limit of a budget. */
export type BudgetPer =
  /** An agent, without those below it. */
  | 'AGENT'
  /** The turns that one actor asked for, with those of the agents below. */
  | 'REQUESTER'
  /** All agents of a template. */
  | 'TEMPLATE'
  /** All agents of the tenant. */
  | 'TENANT'
  /** An agent with all agents below it. */
  | 'TREE'
  /** A turn of an agent. */
  | 'TURN';

/** Reason why the viewer may not decide on an approval now. */
export type CannotDecideReason =
  /** The viewer has already allowed it, and another person must allow it too. */
  | 'ALREADY_DECIDED'
  /** The approval is closed. */
  | 'CLOSED'
  /** The approval has expired. */
  | 'EXPIRED'
  /** The viewer is not an approver or administrator, and no approver delegates to them. */
  | 'NO_ROLE'
  /** The viewer, or the actor who delegates to them, asked for it, and the template requires another person. */
  | 'SELF_APPROVAL';

/** Input of `completeToolCall`: `result` or `error`. */
export type CompleteToolCallInput = {
  /** `callId` of the call. */
  callId: string | number;
  /** Error message, in place of a result: the call ends as FAILED. */
  error?: string | null | undefined;
  /** Key that makes a repeated request safe, at most 200 characters. */
  idempotencyKey?: string | null | undefined;
  /** Result, at most 1 MB of JSON. The model reads a text as it is, other JSON as its text. */
  result?: unknown;
};

/** Input of `createAgent`. */
export type CreateAgentInput = {
  /** Names of hooks in `agentHooks` of the configuration. They run after the template's hooks, and can only tighten permissions. */
  hooks?: Array<string> | null | undefined;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same agent. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Name of a configured model. The template's model if omitted. */
  model?: string | null | undefined;
  /** Permission block of this agent. */
  permission?: PermissionInput | null | undefined;
  /** How `permission` combines with the template's permission. REPLACE needs the role admin. */
  permissionScope?: PermissionScope | null | undefined;
  /** Template of the agent, given by `templateId`. NOT_FOUND if it is not configured; see `templates`. */
  templateId: string | number;
  /** Title for people, one line of at most 200 characters. */
  title?: string | null | undefined;
  /** Time limit of each tool call in ms, 1 to 3,600,000. The template's limit if omitted. */
  toolTimeoutMs?: number | null | undefined;
  /** Folder in which the agent works. An absolute path, or relative to a workspace root or to the server's start folder. It must exist, and lie in a workspace root if any are configured. If omitted, `defaultWorkspace` of the configuration, or else a new empty folder. */
  workspace?: string | null | undefined;
};

/** A decision on one approval. */
export type DecideApprovalInput = {
  /** `id` of the approval. */
  approvalId: string | number;
  /** The decision. ALLOW and DENY, or DONE, RETRY and FAIL for an OUTCOME_UNKNOWN. DENY of a TOOL_INPUT declines its question. */
  decision: ApprovalDecision;
  /** Another input to run, with ALLOW of a TOOL_CALL. It is validated and checked against the permission: DENIED_BY_POLICY if a rule denies it. INVALID if several people must allow the call. Without self-approval, a new approval asks another person about it. */
  input?: unknown;
  /** `inputHash` of the approval that the person saw. Required for ALLOW and RETRY; HASH_MISMATCH if it does not match. */
  inputHash?: string | null | undefined;
  /** Reason, at most 4,000 characters. The model reads the note of a denial. */
  note?: string | null | undefined;
  /** New limits for the present period, with ALLOW of a BUDGET. Those of `BudgetQuestion.raiseTo` if omitted. INVALID if several people must allow them. */
  raiseTo?: RaiseToInput | null | undefined;
  /** Result of the call for the model to read. Required for DONE, and only allowed there. At most 16,000 characters. */
  result?: string | null | undefined;
  /** Values of the form by field, with ALLOW of a TOOL_INPUT: an object, such as `{ "city": "Bonn" }`. A field that is left out has its default; null leaves an optional field empty. Each wrong field is an error of its own with the path `["values", FIELD]`. */
  values?: unknown;
};

/** An image for the model. */
export type ImageInput = {
  /** The file in base64, with padding and without line breaks. At most 3.75 MB before encoding, and 8,000 pixels a side. */
  data: string;
  /** File type of the image. INVALID if the data has another type. */
  mediaType: ImageType;
};

/** Image formats that models read. */
export type ImageType =
  /** GIF. */
  | 'GIF'
  /** JPEG. */
  | 'JPEG'
  /** PNG. */
  | 'PNG'
  /** WebP. */
  | 'WEBP';

/** Input of `interruptAgent`. */
export type InterruptAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Reason, at most 4,000 characters. The model reads it. */
  note?: string | null | undefined;
  /** True to interrupt all agents below it as well, also those that it started in the background. */
  tree?: boolean | null | undefined;
};

/** A permission block, as in the configuration. See docs/permissions.md. */
export type PermissionInput = {
  /** Rules. Matching calls run without asking, unless they are denied. */
  allow?: Array<string> | null | undefined;
  /** Names of tools. If given, all other tools are denied. */
  allowTools?: Array<string> | null | undefined;
  /** Rules. Matching calls need approval, unless they are denied or allowed. */
  ask?: Array<string> | null | undefined;
  /** Names of tools that run without asking, unless they are denied, if the agent's programs run in a sandbox. */
  autoAllowInBox?: Array<string> | null | undefined;
  /** Names of tools that run without asking, unless they are denied. */
  autoAllowTools?: Array<string> | null | undefined;
  /** Rules such as `fs_read(path:.env)`. Matching calls are denied. */
  deny?: Array<string> | null | undefined;
  /** Names of tools that are denied. */
  denyTools?: Array<string> | null | undefined;
  /** Verdict on calls that no rule or list decides: `auto`, `approval` (or `ask`), `readonly`, `deny`, `default`, or a mode of the configuration. If omitted: `auto` with TIGHTEN, else `default`. */
  mode?: string | null | undefined;
  /** True to run command lines without asking if they are known to only read. False if omitted. */
  readOnlyCommands?: boolean | null | undefined;
  /** Names of tools that need approval, unless they are denied or allowed. */
  requireApprovalTools?: Array<string> | null | undefined;
};

/** How an agent's own permission block combines with that of its template. */
export type PermissionScope =
  /** Only the agent's own block applies. Needs the role admin. */
  | 'REPLACE'
  /** Both apply, and the stricter verdict wins. */
  | 'TIGHTEN';

/** Limits to which a budget is raised for its present period. */
export type RaiseToInput = {
  /** Tokens, a whole number, at least the present limit. It stays if omitted. */
  tokens?: number | null | undefined;
  /** US dollars, at least the present limit. It stays if omitted. */
  usd?: number | null | undefined;
};

/** Rights of an actor. The rights of several roles add up. */
export type Role =
  /** May do everything in the tenant. */
  | 'ADMIN'
  /** Reads the tenant and decides on approvals. */
  | 'APPROVER'
  /** Creates agents. Reads, messages and interrupts their own agents. */
  | 'USER'
  /** Reads the tenant and changes nothing. */
  | 'VIEWER';

/** Input of `sendMessage`. */
export type SendMessageInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same message. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Images, at most 20 and 5 MB in total. The model reads them before the text. */
  images?: Array<ImageInput> | null | undefined;
  /** JSON Schema of the answer that ends the turn, with `type: object`, at most 64 KB. INVALID names its first problem. The template's if omitted. Of several messages of a turn, the newest schema applies. */
  outputSchema?: unknown;
  /** Text of the message, at most 1 MB. May be empty if there are images. */
  text: string;
};

/** State of a tool call. */
export type ToolCallState =
  /** A person must decide on the call, or report its outcome. */
  | 'APPROVAL_REQUIRED'
  /** A person allowed the call, and it has not started. */
  | 'APPROVED'
  /** Final: the call has its result. */
  | 'COMPLETED'
  /** Final: a rule, a hook or a person denied the call, or its approval expired. */
  | 'DENIED'
  /** The call is running, or was running when its server stopped. */
  | 'EXECUTING'
  /** Final: the call could not run, was cancelled, or ended with an error. */
  | 'FAILED'
  /** The model requested the call. */
  | 'PENDING'
  /** Final: the call was closed without a result of its own, because its turn ended or its outcome is unknown. */
  | 'SEALED'
  /** The tool has answered that the result comes later: `completeToolCall` gives it. */
  | 'WAITING';

/** Reason why a mutation failed. */
export type UserErrorCode =
  /** A different decision was made earlier, and stands. */
  | 'ALREADY_DECIDED'
  /** The call has already ended. */
  | 'ALREADY_ENDED'
  /** The message has already joined the conversation. */
  | 'ALREADY_JOINED'
  /** The agent is archived and accepts no messages. */
  | 'ARCHIVED'
  /** The agent to delete, or one below it, works or has an open question. */
  | 'AT_WORK'
  /** The call has ended, and takes no result: the message names its state. */
  | 'CALL_ENDED'
  /** Agents that it started are at work: `tree` means them, too. */
  | 'CHILDREN_WORK'
  /** A compaction of the agent's context is asked for or under way. */
  | 'COMPACTING'
  /** The object has changed since it was read. Read it again. */
  | 'CONFLICT'
  /** The permission denies it, and no decision can override that. */
  | 'DENIED_BY_POLICY'
  /** The approval expired before a decision. */
  | 'EXPIRED'
  /** The viewer lacks the required role or right. */
  | 'FORBIDDEN'
  /** `inputHash` does not match the approval. Read the approval again. */
  | 'HASH_MISMATCH'
  /** The idempotency key was used with another input. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** Part of the input is invalid: see `field` and `message`. */
  | 'INVALID'
  /** The last turn did not end with ERROR, INTERRUPTED, SHAPE or BUDGET, or a turn is running. */
  | 'NOTHING_TO_RETRY'
  /** The agent to delete, or one below it, is not archived. */
  | 'NOT_ARCHIVED'
  /** The object does not exist, or the viewer may not see it. */
  | 'NOT_FOUND'
  /** The call does not wait for a result from elsewhere, or not yet. */
  | 'NOT_WAITING'
  /** Too many messages are queued for the agent. Retry later. */
  | 'QUEUE_FULL'
  /** The turn ended: the decision is no longer needed. */
  | 'SEALED'
  /** The viewer, or the actor who delegates to them, asked for it and may not decide. */
  | 'SELF_APPROVAL'
  /** The action has changed: a newer approval replaces this one. */
  | 'STALE'
  /** Part of the input is too large, or a limit is reached. */
  | 'TOO_LARGE'
  /** The database did not answer, so the outcome is unknown. Send the decision again. */
  | 'UNAVAILABLE';

export type BeginningQueryVariables = Exact<{ [key: string]: never; }>;


export type BeginningQuery = { viewer: { tenant: string, roles: Array<Role>, actor: { id: string, actorId: string, name: string | null }, abilities: Array<{ action: Action, isAllowed: boolean, reason: string | null }> }, templates: Array<{ id: string, templateId: string }> };

export type OwnAgentsQueryVariables = Exact<{
  actorId: string | number;
}>;


export type OwnAgentsQuery = { agents: { nodes: Array<{ id: string, title: string | null, state: AgentState, lastActivityAt: string, template: { templateId: string } }> } };

export type AgentQueryVariables = Exact<{
  id: string | number;
}>;


export type AgentQuery = { agent: { id: string, state: AgentState, model: string, workspace: string, title: string | null, parent: { id: string, title: string | null, template: { templateId: string } } | null } | null };

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


export type DecideApprovalMutation = { decideApproval: { approval: { id: string, state: ApprovalState } | null, userErrors: Array<{ field: Array<string> | null, message: string }> } };

export type CompleteToolCallMutationVariables = Exact<{
  input: CompleteToolCallInput;
}>;


export type CompleteToolCallMutation = { completeToolCall: { toolCall: { id: string, state: ToolCallState } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type InterruptAgentMutationVariables = Exact<{
  input: InterruptAgentInput;
}>;


export type InterruptAgentMutation = { interruptAgent: { agent: { id: string, state: AgentState } | null, userErrors: Array<{ message: string }> } };

export type AskedQueryVariables = Exact<{
  approvalId: string | number;
}>;


export type AskedQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { input: unknown, viewerCannotDecideReasons: Array<CannotDecideReason>, id: string, preview: { problem: string | null, files: Array<{ path: string, diff: string | null }> } | null, commandParts: Array<{ parameter: string, start: number, end: number, reason: string }>, subject:
        | { per: BudgetPer, spentUsd: number, limitUsd: number | null, spentTokens: number, limitTokens: number | null, windowEndsAt: string | null, averageStep: { usd: number | null, tokens: number } | null, nextStep: { usd: number | null, tokens: number }, raiseTo: { usd: number | null, tokens: number | null } }
        | { toolCalls: Array<{ id: string, name: string, inputPreview: string | null }> }
        | Record<PropertyKey, never>
       | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ProposalQueryVariables = Exact<{
  approvalId: string | number;
  rule?: string | null | undefined;
}>;


export type ProposalQuery = { allowRuleProposal: { proposal: { rule: string, matching: Array<string>, notMatching: Array<string>, takesInAll: boolean, past: { examined: number, matched: number, asked: number, denied: number } } | null, problems: Array<{ message: string }> } };

export type AllowAlwaysMutationVariables = Exact<{
  input: AllowAlwaysInput;
}>;


export type AllowAlwaysMutation = { allowAlways: { allowRule: { id: string, rule: string } | null, userErrors: Array<{ message: string }> } };


export const BeginningDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Beginning"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tenant"}},{"kind":"Field","name":{"kind":"Name","value":"roles"}},{"kind":"Field","name":{"kind":"Name","value":"abilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"isAllowed"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"templates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}}]} as unknown as DocumentNode<BeginningQuery, BeginningQueryVariables>;
export const OwnAgentsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OwnAgents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"actorId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"createdBy"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"actorId"}}]}}]}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"field"},"value":{"kind":"EnumValue","value":"LAST_ACTIVITY_AT"}},{"kind":"ObjectField","name":{"kind":"Name","value":"direction"},"value":{"kind":"EnumValue","value":"DESC"}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}}]}}]}}]} as unknown as DocumentNode<OwnAgentsQuery, OwnAgentsQueryVariables>;
export const AgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Agent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AgentQuery, AgentQueryVariables>;
export const CreateAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateAgentMutation, CreateAgentMutationVariables>;
export const SendMessageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SendMessage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SendMessageInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sendMessage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SendMessageMutation, SendMessageMutationVariables>;
export const DecideApprovalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DecideApproval"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DecideApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decideApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DecideApprovalMutation, DecideApprovalMutationVariables>;
export const CompleteToolCallDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CompleteToolCall"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CompleteToolCallInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"completeToolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CompleteToolCallMutation, CompleteToolCallMutationVariables>;
export const InterruptAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"InterruptAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"InterruptAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"interruptAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<InterruptAgentMutation, InterruptAgentMutationVariables>;
export const AskedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Asked"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"input"}},{"kind":"Field","name":{"kind":"Name","value":"preview"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"files"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"diff"}}]}},{"kind":"Field","name":{"kind":"Name","value":"problem"}}]}},{"kind":"Field","name":{"kind":"Name","value":"commandParts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"parameter"}},{"kind":"Field","name":{"kind":"Name","value":"start"}},{"kind":"Field","name":{"kind":"Name","value":"end"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"per"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsd"}},{"kind":"Field","name":{"kind":"Name","value":"limitUsd"}},{"kind":"Field","name":{"kind":"Name","value":"spentTokens"}},{"kind":"Field","name":{"kind":"Name","value":"limitTokens"}},{"kind":"Field","name":{"kind":"Name","value":"windowEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"averageStep"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextStep"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}},{"kind":"Field","name":{"kind":"Name","value":"raiseTo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"viewerCannotDecideReasons"}}]}}]}}]}}]} as unknown as DocumentNode<AskedQuery, AskedQueryVariables>;
export const ProposalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Proposal"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"rule"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRuleProposal"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"approvalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}},{"kind":"Argument","name":{"kind":"Name","value":"rule"},"value":{"kind":"Variable","name":{"kind":"Name","value":"rule"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"proposal"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"matching"}},{"kind":"Field","name":{"kind":"Name","value":"notMatching"}},{"kind":"Field","name":{"kind":"Name","value":"takesInAll"}},{"kind":"Field","name":{"kind":"Name","value":"past"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"examined"}},{"kind":"Field","name":{"kind":"Name","value":"matched"}},{"kind":"Field","name":{"kind":"Name","value":"asked"}},{"kind":"Field","name":{"kind":"Name","value":"denied"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ProposalQuery, ProposalQueryVariables>;
export const AllowAlwaysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AllowAlways"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AllowAlwaysInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowAlways"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRule"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<AllowAlwaysMutation, AllowAlwaysMutationVariables>;