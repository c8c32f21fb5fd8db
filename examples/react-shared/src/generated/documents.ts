/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What actors may do beyond their own agents. */
export type Action =
  /** Create agents. */
  | 'CREATE_AGENTS'
  /** Decide on approvals; of a single one `viewerCanDecide` says it. */
  | 'DECIDE'
  /** Let somebody else decide in one's name. */
  | 'DELEGATE'
  /** Read agents of others, and the events of the tenant itself. */
  | 'READ_TENANT'
  /** Give an agent a permission in the place of its template's. */
  | 'REPLACE_PERMISSION'
  /** Send to and interrupt agents of others. */
  | 'STEER_ALL_AGENTS'
  /** Store rules by which calls run without asking, and revoke them. */
  | 'STORE_ALLOW_RULES';

/** What an agent does. */
export type AgentState =
  /** The turn waits for a person. */
  | 'PAUSED'
  /** It waits for a message. */
  | 'READY'
  /** A turn is under way. */
  | 'WORKING';

/** Input of `allowAlways`. */
export type AllowAlwaysInput = {
  /** `id` of the approval whose call or host the rule must match. */
  approvalId: string | number;
  /** Reason, at most 4,000 characters. */
  note?: string | null | undefined;
  /** Rule to store instead of the proposed one, at most 1,000 characters. It must match the call of the approval, let it run, and name no other tool. */
  rule?: string | null | undefined;
};

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

/** Why somebody may not decide on an approval now. */
export type CannotDecideReason =
  /** They have allowed it, and somebody else must, too. */
  | 'ALREADY_DECIDED'
  /** Nothing is left to decide. */
  | 'CLOSED'
  /** Its time is up. */
  | 'EXPIRED'
  /** They are no approver, and nobody who is one delegates to them. */
  | 'NO_ROLE'
  /** They, or who delegates to them, asked for it, and the template wants somebody else. */
  | 'SELF_APPROVAL';

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
  /** The folder in which the agent works: an absolute path, or one below a workspace root, or below the folder in which the server was started. If omitted: the configuration's default, or else an empty folder of the agent's own. */
  workspace?: string | null | undefined;
};

/** A decision on one approval. */
export type DecideApprovalInput = {
  /** `id` of the approval. */
  approvalId: string | number;
  /** The decision. ALLOW and DENY, or DONE, RETRY and FAIL for an OUTCOME_UNKNOWN. */
  decision: ApprovalDecision;
  /** Another input to run, with ALLOW of a TOOL_CALL. It is validated and checked against the permission: DENIED_BY_POLICY if a rule denies it. INVALID if several people must allow the call. Without self-approval, a new approval asks another person about it. */
  input?: unknown;
  /** `inputHash` of the approval that the person saw. Required for ALLOW and RETRY; HASH_MISMATCH if it does not match. */
  inputHash?: string | null | undefined;
  /** Reason, at most 4,000 characters. The model reads the note of a denial. */
  note?: string | null | undefined;
  /** Result of the call for the model to read. Required for DONE, and only allowed there. At most 16,000 characters. */
  result?: string | null | undefined;
};

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
  /** These tools run without asking, unless they are denied, if the agent's programs run in a box. */
  autoAllowInBox?: Array<string> | null | undefined;
  /** These tools run without asking, unless they are denied. */
  autoAllowTools?: Array<string> | null | undefined;
  /** Rules such as fs_read(path:.env): what they match is denied. */
  deny?: Array<string> | null | undefined;
  /** These tools are denied. */
  denyTools?: Array<string> | null | undefined;
  /** auto, approval (ask), readonly, deny, default, or one of the configuration's own. */
  mode?: string | null | undefined;
  /** True if command lines that are known to only read run without asking. */
  readOnlyCommands?: boolean | null | undefined;
  /** These tools are asked for, unless they are denied or allowed. */
  requireApprovalTools?: Array<string> | null | undefined;
};

/** What a permission block of an agent's own does to its template's. */
export type PermissionScope =
  /** It takes its place, which needs an administrator. */
  | 'REPLACE'
  /** It adds to it, so that it can only tighten. */
  | 'TIGHTEN';

/** What an actor may do. Roles add up. */
export type Role =
  /** May do everything. */
  | 'ADMIN'
  /** Reads the tenant, decides on approvals. */
  | 'APPROVER'
  /** Creates agents; reads, sends to and interrupts their own. */
  | 'USER'
  /** Reads the tenant, changes nothing. */
  | 'VIEWER';

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

export type BeginningQueryVariables = Exact<{ [key: string]: never; }>;


export type BeginningQuery = { viewer: { tenant: string, roles: Array<Role>, actor: { id: string, actorId: string, name: string | null }, abilities: Array<{ action: Action, isAllowed: boolean, reason: string | null }> }, templates: Array<{ id: string, templateId: string }> };

export type OwnAgentsQueryVariables = Exact<{
  actorId: string | number;
}>;


export type OwnAgentsQuery = { agents: { nodes: Array<{ id: string, title: string | null, state: AgentState, lastActivityAt: string, template: { templateId: string } }> } };

export type AgentQueryVariables = Exact<{
  id: string | number;
}>;


export type AgentQuery = { agent: { id: string, state: AgentState, model: string, workspace: string } | null };

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

export type AskedQueryVariables = Exact<{
  approvalId: string | number;
}>;


export type AskedQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { input: unknown, viewerCannotDecideReasons: Array<CannotDecideReason>, id: string, preview: { problem: string | null, files: Array<{ path: string, diff: string | null }> } | null, commandParts: Array<{ parameter: string, start: number, end: number, reason: string }>, subject:
        | { toolCalls: Array<{ id: string, name: string, inputPreview: string | null }> }
        | Record<PropertyKey, never>
       | null }
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
export const AgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Agent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}}]}}]}}]} as unknown as DocumentNode<AgentQuery, AgentQueryVariables>;
export const CreateAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateAgentMutation, CreateAgentMutationVariables>;
export const SendMessageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SendMessage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SendMessageInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sendMessage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SendMessageMutation, SendMessageMutationVariables>;
export const DecideApprovalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DecideApproval"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DecideApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decideApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DecideApprovalMutation, DecideApprovalMutationVariables>;
export const InterruptAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"InterruptAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"InterruptAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"interruptAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<InterruptAgentMutation, InterruptAgentMutationVariables>;
export const AskedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Asked"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"input"}},{"kind":"Field","name":{"kind":"Name","value":"preview"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"files"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"diff"}}]}},{"kind":"Field","name":{"kind":"Name","value":"problem"}}]}},{"kind":"Field","name":{"kind":"Name","value":"commandParts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"parameter"}},{"kind":"Field","name":{"kind":"Name","value":"start"}},{"kind":"Field","name":{"kind":"Name","value":"end"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"viewerCannotDecideReasons"}}]}}]}}]}}]} as unknown as DocumentNode<AskedQuery, AskedQueryVariables>;
export const ProposalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Proposal"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"rule"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRuleProposal"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"approvalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}},{"kind":"Argument","name":{"kind":"Name","value":"rule"},"value":{"kind":"Variable","name":{"kind":"Name","value":"rule"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"proposal"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"matching"}},{"kind":"Field","name":{"kind":"Name","value":"notMatching"}},{"kind":"Field","name":{"kind":"Name","value":"takesInAll"}},{"kind":"Field","name":{"kind":"Name","value":"past"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"examined"}},{"kind":"Field","name":{"kind":"Name","value":"matched"}},{"kind":"Field","name":{"kind":"Name","value":"asked"}},{"kind":"Field","name":{"kind":"Name","value":"denied"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ProposalQuery, ProposalQueryVariables>;
export const AllowAlwaysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AllowAlways"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AllowAlwaysInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowAlways"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRule"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<AllowAlwaysMutation, AllowAlwaysMutationVariables>;