/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** Kind of question that an approval asks. */
export type ApprovalKind =
  /** May a budget of the agent be raised for its present period? The next step does not fit into it. */
  | 'BUDGET'
  /** May the agent connect to this host? */
  | 'NETWORK_HOST'
  /** What was the outcome of this call? Its server stopped while it ran. */
  | 'OUTCOME_UNKNOWN'
  /** May this call run? */
  | 'TOOL_CALL'
  /** Which values does a tool of an MCP server get that asks for them? Its form is in `subject`. */
  | 'TOOL_INPUT';

/** How the task of an agent ended that another one started. */
export type ChildOutcome =
  /** It ended with an error, or had no steps left. */
  | 'ERROR'
  /** It was interrupted. */
  | 'INTERRUPTED'
  /** It completed its task. */
  | 'OK';

/** Kind of value that a field of a form takes. */
export type FormFieldKind =
  /** true or false. */
  | 'BOOLEAN'
  /** The value of one of the options. */
  | 'CHOICE'
  /** A list of values of options, each once. */
  | 'CHOICES'
  /** A whole number. */
  | 'INTEGER'
  /** A number. */
  | 'NUMBER'
  /** A text. */
  | 'TEXT';

/** Format of a text in a form. */
export type FormFormat =
  /** A date, such as `2026-01-31`. */
  | 'DATE'
  /** A time with its zone, such as `2026-01-31T12:00:00Z`. */
  | 'DATE_TIME'
  /** An email address, such as `anna@example.com`. */
  | 'EMAIL'
  /** A URI with its scheme, such as `https://example.com`. */
  | 'URI';

/** Risk of a call. */
export type Risk =
  /** Its changes may destroy data. */
  | 'HIGH'
  /** It only reads. */
  | 'LOW'
  /** It makes changes that can be seen and repaired. */
  | 'MEDIUM';

export type AskedFragment = { request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string | null, risk: Risk, host: string | null, port: number | null, call: { name: string } | null, question: { server: string, message: string, fields: Array<{ name: string, kind: FormFieldKind, title: string | null, description: string | null, isRequired: boolean, default: unknown, format: FormFormat | null, minLength: number | null, maxLength: number | null, minimum: number | null, maximum: number | null, minItems: number | null, maxItems: number | null, options: Array<{ value: string, title: string }> }> } | null }, approval: { inputText: string | null } | null };

type ChildNews_AgentReturned_Fragment = { outcome: ChildOutcome, answer: string, callId: string | null, childId: string };

type ChildNews_AgentSpawned_Fragment = { templateId: string, description: string, isBackground: boolean, callId: string | null, childId: string };

export type ChildNewsFragment =
  | ChildNews_AgentReturned_Fragment
  | ChildNews_AgentSpawned_Fragment
;

export type TreeSubscriptionVariables = Exact<{
  agentId: string | number;
  since?: string | null | undefined;
}>;


export type TreeSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { __typename: 'AccessTokenCreated', cursor: string, agent: { id: string } | null }
      | { __typename: 'AccessTokenRevoked', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentArchived', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentCreated', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentDeleted', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentRenamed', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentResumed', cursor: string, agent: { id: string } | null }
      | { __typename: 'AgentReturned', cursor: string, outcome: ChildOutcome, answer: string, callId: string | null, childId: string, agent: { id: string } | null }
      | { __typename: 'AgentSpawned', cursor: string, templateId: string, description: string, isBackground: boolean, callId: string | null, childId: string, agent: { id: string } | null }
      | { __typename: 'AgentUnarchived', cursor: string, agent: { id: string } | null }
      | { __typename: 'AllowRuleRevoked', cursor: string, agent: { id: string } | null }
      | { __typename: 'AllowRuleStored', cursor: string, agent: { id: string } | null }
      | { __typename: 'BreakpointChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetAsked', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetRaised', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetRevoked', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetSet', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetStopped', cursor: string, agent: { id: string } | null }
      | { __typename: 'BudgetWarned', cursor: string, agent: { id: string } | null }
      | { __typename: 'ConfigurationChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'ContextCompression', cursor: string, agent: { id: string } | null }
      | { __typename: 'DelegationEnded', cursor: string, agent: { id: string } | null }
      | { __typename: 'DelegationStarted', cursor: string, agent: { id: string } | null }
      | { __typename: 'Done', cursor: string, agent: { id: string } | null }
      | { __typename: 'ErrorRaised', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExecutionAborted', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExecutionCompleted', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExecutionFailed', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExecutionStarted', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExportCreated', cursor: string, agent: { id: string } | null }
      | { __typename: 'ExportEnded', cursor: string, agent: { id: string } | null }
      | { __typename: 'FileChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'InterruptRequested', cursor: string, agent: { id: string } | null }
      | { __typename: 'MemoryChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'MessageReceived', cursor: string, agent: { id: string } | null }
      | { __typename: 'MessageWithdrawn', cursor: string, agent: { id: string } | null }
      | { __typename: 'PermissionClosed', approvalId: string, cursor: string, agent: { id: string } | null }
      | { __typename: 'PermissionDecided', approvalId: string, missingDecisions: number, cursor: string, agent: { id: string } | null }
      | { __typename: 'PermissionRequired', cursor: string, agent: { id: string } | null, request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string | null, risk: Risk, host: string | null, port: number | null, call: { name: string } | null, question: { server: string, message: string, fields: Array<{ name: string, kind: FormFieldKind, title: string | null, description: string | null, isRequired: boolean, default: unknown, format: FormFormat | null, minLength: number | null, maxLength: number | null, minimum: number | null, maximum: number | null, minItems: number | null, maxItems: number | null, options: Array<{ value: string, title: string }> }> } | null }, approval: { inputText: string | null } | null }
      | { __typename: 'ReminderSent', cursor: string, agent: { id: string } | null }
      | { __typename: 'ScheduleChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'SchedulerTriggered', cursor: string, agent: { id: string } | null }
      | { __typename: 'ShellEnded', cursor: string, agent: { id: string } | null }
      | { __typename: 'ShellStarted', cursor: string, agent: { id: string } | null }
      | { __typename: 'SnoozeChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'StageCompleted', cursor: string, agent: { id: string } | null }
      | { __typename: 'StageStarted', cursor: string, agent: { id: string } | null }
      | { __typename: 'StateChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'StepComplete', cursor: string, agent: { id: string } | null }
      | { __typename: 'StorageFailure', cursor: string, agent: { id: string } | null }
      | { __typename: 'TemplateChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'TextChunk', cursor: string, agent: { id: string } | null }
      | { __typename: 'TextChunkEnd', cursor: string, agent: { id: string } | null }
      | { __typename: 'TextChunkStart', cursor: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunk', cursor: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunkEnd', cursor: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunkStart', cursor: string, agent: { id: string } | null }
      | { __typename: 'TodoChanged', cursor: string, agent: { id: string } | null }
      | { __typename: 'TodoReminder', cursor: string, agent: { id: string } | null }
      | { __typename: 'TokensUsed', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolAccepted', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolCancelRequested', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolCustomEvent', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolEnd', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolError', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolExecuted', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolManualUpdated', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolStart', cursor: string, agent: { id: string } | null }
      | { __typename: 'ToolWaiting', cursor: string, agent: { id: string } | null }
      | { __typename: 'TurnRetryRequested', cursor: string, agent: { id: string } | null }
    > } };

export const TREE_DOCUMENT = "subscription Tree($agentId:ID!$since:Cursor){timeline(agentIds:[$agentId]withDescendants:true since:$since kinds:[AGENT_SPAWNED AGENT_RETURNED PERMISSION_REQUIRED PERMISSION_DECIDED PERMISSION_CLOSED DONE]){cursor caughtUp outage{since bufferedEvents}events{__typename cursor agent{id}...ChildNews ...Asked ...on PermissionDecided{approvalId missingDecisions}...on PermissionClosed{approvalId}}}}fragment Asked on PermissionRequired{request{approvalId kind inputHash reason risk host port call{name}question{server message fields{name kind title description isRequired default format minLength maxLength minimum maximum options{value title}minItems maxItems}}}approval{inputText}}fragment ChildNews on ChildEvent{callId childId ...on AgentSpawned{templateId description isBackground}...on AgentReturned{outcome answer}}";
