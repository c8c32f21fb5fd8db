/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
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
  /** May it spend more than its budget? Reserved for budgets of agents: no server asks this so far. */
  | 'BUDGET'
  /** May it reach this host? */
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

/** What went wrong. */
export type ErrorPhase =
  /** The agent's going on from turn to turn, and from server to server. */
  | 'LIFECYCLE'
  /** A model call. */
  | 'MODEL'
  /** The server, its database, or what it tells others. */
  | 'SYSTEM'
  /** A tool call. */
  | 'TOOL';

/** How bad it is. */
export type ErrorSeverity =
  /** Something is lost. */
  | 'CRITICAL'
  /** Something was not done. */
  | 'ERROR'
  /** Something that is worth knowing, as that a provider asks to wait. */
  | 'INFO'
  /** The agent goes on, but not as it should. */
  | 'WARN';

/** What something else than the file tools of an agent made of a file that the agent knows. */
export type FileChangeKind =
  /** Its content is another. */
  | 'CHANGED'
  /** It is there again, after it was removed. */
  | 'MADE_AGAIN'
  /** It is no longer there. */
  | 'REMOVED';

/** How much a call could change. */
export type Risk =
  /** What it changes may be lost. */
  | 'HIGH'
  /** It only reads. */
  | 'LOW'
  /** It changes something that can be seen and mended. */
  | 'MEDIUM';

/** Why a background shell ended. */
export type ShellEndReason =
  /** Its agent was archived. */
  | 'ARCHIVED'
  /** By itself. */
  | 'EXITED'
  /** A person interrupted its agent. */
  | 'INTERRUPTED'
  /** Its agent ended it. */
  | 'KILLED'
  /** It could not be started. */
  | 'NOT_STARTED'
  /** Its server was closed. */
  | 'SERVER_CLOSED'
  /** Its server died, or could not reach the database in time. */
  | 'SERVER_LOST'
  /** Another server went on with its agent. */
  | 'TAKEN_OVER'
  /** Its time was up. */
  | 'TIME_UP';

/** How far an entry of a todo list has come. */
export type TodoStatus =
  /** It is done. */
  | 'COMPLETED'
  /** The agent works on it. */
  | 'IN_PROGRESS'
  /** It has not begun. */
  | 'PENDING';

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

export type ConversationSubscriptionVariables = Exact<{
  agentId: string | number;
  since?: string | null | undefined;
}>;


export type ConversationSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
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
      | { __typename: 'Done', reason: DoneReason, messageIds: Array<string>, cursor: string }
      | { __typename: 'ErrorRaised', severity: ErrorSeverity, phase: ErrorPhase, message: string | null, detail: string | null, retryAt: string | null, cursor: string }
      | { __typename: 'ExecutionAborted', cursor: string }
      | { __typename: 'ExecutionCompleted', cursor: string }
      | { __typename: 'ExecutionFailed', cursor: string }
      | { __typename: 'ExecutionStarted', cursor: string }
      | { __typename: 'FileChanged', fileCount: number, cursor: string, files: Array<{ path: string | null, change: FileChangeKind }> }
      | { __typename: 'InterruptRequested', cursor: string }
      | { __typename: 'MessageReceived', messageId: string, text: string | null, cursor: string, sentBy: { actorId: string, name: string | null } }
      | { __typename: 'MessageWithdrawn', messageId: string, cursor: string }
      | { __typename: 'PermissionClosed', approvalId: string, approvalState: ApprovalState, cursor: string }
      | { __typename: 'PermissionDecided', approvalId: string, decision: ApprovalDecision, missingDecisions: number, cursor: string, decidedBy: { actorId: string, name: string | null } }
      | { __typename: 'PermissionRequired', cursor: string, request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string | null, risk: Risk, host: string | null, port: number | null, call: { name: string } | null }, approval: { inputText: string | null } | null }
      | { __typename: 'ShellEnded', shellId: string, command: string | null, endReason: ShellEndReason, exitCode: number | null, signal: string | null, cursor: string }
      | { __typename: 'ShellStarted', shellId: string, command: string | null, cursor: string }
      | { __typename: 'StageCompleted', cursor: string }
      | { __typename: 'StageStarted', cursor: string }
      | { __typename: 'StateChanged', previousState: AgentState, state: AgentState, cursor: string }
      | { __typename: 'StepComplete', cursor: string }
      | { __typename: 'StorageFailure', cursor: string }
      | { __typename: 'TextChunk', step: number, block: number, delta: string, cursor: string }
      | { __typename: 'TextChunkEnd', step: number, block: number, text: string | null, aborted: boolean, cursor: string }
      | { __typename: 'TextChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'ThinkChunk', step: number, block: number, delta: string, cursor: string }
      | { __typename: 'ThinkChunkEnd', step: number, block: number, text: string | null, aborted: boolean, cursor: string }
      | { __typename: 'ThinkChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'TodoChanged', cursor: string, todos: Array<{ todoId: string, title: string | null, status: TodoStatus, assignee: string | null, notes: string | null }> }
      | { __typename: 'TokensUsed', totalTokens: number, costUsd: number | null, cursor: string }
      | { __typename: 'ToolCancelRequested', cursor: string }
      | { __typename: 'ToolCustomEvent', callId: string | null, eventType: string, eventData: unknown, cursor: string }
      | { __typename: 'ToolEnd', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolError', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolExecuted', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolStart', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'TurnRetryRequested', cursor: string }
    > } };

export const CONVERSATION_DOCUMENT = "subscription Conversation($agentId:ID!$since:Cursor){timeline(agentIds:[$agentId]since:$since kinds:[MESSAGE_RECEIVED MESSAGE_WITHDRAWN TEXT_CHUNK_START TEXT_CHUNK TEXT_CHUNK_END THINK_CHUNK_START THINK_CHUNK THINK_CHUNK_END TOOL_START TOOL_END TOOL_CUSTOM_EVENT PERMISSION_REQUIRED PERMISSION_DECIDED PERMISSION_CLOSED DONE STATE_CHANGED FILE_CHANGED SHELL_STARTED SHELL_ENDED ERROR TODO_CHANGED TOKEN_USAGE]){cursor caughtUp outage{since bufferedEvents}events{__typename cursor ...on MessageReceived{messageId text sentBy{actorId name}}...on MessageWithdrawn{messageId}...on BlockEvent{step block}...on ChunkEvent{delta}...on BlockEndEvent{text aborted}...on ToolEvent{call{callId name state inputPreview output durationMs cachedFrom}}...on ToolCustomEvent{callId eventType eventData}...on PermissionRequired{request{approvalId kind inputHash reason risk host port call{name}}approval{inputText}}...on PermissionDecided{approvalId decision decidedBy{actorId name}missingDecisions}...on PermissionClosed{approvalId approvalState}...on StateChanged{previousState state}...on FileChanged{fileCount files{path change}}...on ShellStarted{shellId command}...on ShellEnded{shellId command endReason exitCode signal}...on ErrorRaised{severity phase message detail retryAt}...on TodoChanged{todos{todoId title status assignee notes}}...on TokensUsed{totalTokens costUsd}...on Done{reason messageIds}}}}";
