import { askedLines, type AskedPart } from "../../clients/src/command-lines.ts";
import type { ChangedFiles, EndedShell } from "../../clients/src/workspace-news.ts";

/** The operations of the demo, as any GraphQL client would send them. */

export const BEGINNING = `
  query Beginning {
    viewer { actor { actorId name } tenant roles abilities { action isAllowed reason } }
    templates { templateId }
  }
`;

export const CREATE = `
  mutation CreateAgent($input: CreateAgentInput!) {
    createAgent(input: $input) {
      agent { id workspace model }
      cursor
      userErrors { message }
    }
  }
`;

export const SEND = `
  mutation SendMessage($input: SendMessageInput!) {
    sendMessage(input: $input) { message { id } userErrors { message } }
  }
`;

export const DECIDE = `
  mutation DecideApproval($input: DecideApprovalInput!) {
    decideApproval(input: $input) { approval { state } userErrors { message field } }
  }
`;

/** The question, as a person should see it before they decide. */
export const ASKED = `
  fragment Asked on Approval {
    input
    inputText
    commandParts { parameter start end reason }
    preview { files { diff } problem }
  }
`;

export const WATCH = `
  subscription Watch($agentId: ID!, $since: Cursor!) {
    timeline(agentIds: [$agentId], since: $since, withDescendants: true) {
      events {
        __typename
        ... on TimelineEvent { seq kind channel agent { id } }
        ... on TextChunk { delta }
        ... on TextChunkEnd { aborted }
        ... on ToolEvent { call { callId name state inputPreview durationMs cachedFrom error { message } } }
        ... on ToolWaiting { waitsFor }
        ... on PermissionRequired { request { approvalId kind inputHash reason host port call { name } } approval { ...Asked viewerCannotDecideReasons } }
        ... on StateChanged { previousState state }
        ... on BreakpointChanged { previousBreakpoint breakpoint }
        ... on StepComplete { durationMs stopReason }
        ... on TokensUsed { inputTokens outputTokens }
        ... on TodoChanged { todos { todoId title status } }
        ... on FileChanged { fileCount files { path change } }
        ... on ShellStarted { command }
        ... on ShellEnded { command endReason exitCode signal }
        ... on ErrorRaised { severity phase message }
        ... on AgentSpawned { childId description templateId isBackground }
        ... on AgentReturned { childId outcome answer }
        ... on Done { reason step }
      }
    }
  }
  ${ASKED}
`;

/** All that agents ask for, whichever they are. */
export const INBOX = `
  subscription Inbox($since: Cursor!) {
    control(since: $since, kinds: [PERMISSION_REQUIRED]) {
      events {
        __typename
        ... on TimelineEvent { seq kind channel agent { title parent { id } } }
        ... on PermissionRequired { request { approvalId kind inputHash reason host port call { name } } approval { ...Asked viewerCannotDecideReasons } }
      }
    }
  }
  ${ASKED}
`;

/** Who asks, and what they can make agents of. */
export type Beginning = {
  readonly viewer: {
    readonly actor: { readonly actorId: string; readonly name: string | null };
    readonly tenant: string;
    readonly roles: readonly string[];
    readonly abilities: readonly { readonly action: string; readonly isAllowed: boolean; readonly reason: string | null }[];
  };
  readonly templates: readonly { readonly templateId: string }[];
};

/** What the demo reads of a tool call. */
export type Call = {
  readonly name: string;
  readonly state: string;
  readonly inputPreview: string | null;
  readonly durationMs: number | null;
  /** The call whose result it was given; null if its tool ran. */
  readonly cachedFrom: string | null;
  readonly error: { readonly message: string | null } | null;
};

/** A child that a call has started. */
export type StartedChild = {
  readonly childId: string;
  readonly description: string;
  readonly templateId: string;
  readonly isBackground: boolean;
};

/** The end of a child. */
export type ReturnedChild = { readonly childId: string; readonly outcome: string; readonly answer: string };

/** A question in the inbox, and the agent that asks. */
export type InboxEvent = WatchedEvent & {
  readonly agent: { readonly title: string | null; readonly parent: { readonly id: string } | null } | null;
};

/** An event of an agent, or of one below it. */
export type TreeEvent = WatchedEvent & { readonly agent: { readonly id: string } | null };

/** What the demo reads of an event. */
export type WatchedEvent = { readonly seq: number; readonly kind: string; readonly channel: string } & (
  | { readonly __typename: "TextChunk"; readonly delta: string }
  | { readonly __typename: "TextChunkEnd"; readonly aborted: boolean }
  | { readonly __typename: "ToolStart" | "ToolEnd" | "ToolError" | "ToolExecuted"; readonly call: Call }
  | { readonly __typename: "ToolWaiting"; readonly call: Call; readonly waitsFor: string }
  | {
      readonly __typename: "PermissionRequired";
      readonly request: AskedAbout & {
        readonly approvalId: string;
        readonly kind: string;
        /** Null if a host is asked about. */
        readonly inputHash: string | null;
        readonly reason: string | null;
      };
      readonly approval: (Asked & { readonly viewerCannotDecideReasons: readonly string[] }) | null;
    }
  | { readonly __typename: "StateChanged"; readonly previousState: string; readonly state: string }
  | { readonly __typename: "BreakpointChanged"; readonly previousBreakpoint: string; readonly breakpoint: string }
  | { readonly __typename: "StepComplete"; readonly durationMs: number; readonly stopReason: string }
  | { readonly __typename: "TokensUsed"; readonly inputTokens: number; readonly outputTokens: number }
  | {
      readonly __typename: "TodoChanged";
      readonly todos: readonly { readonly todoId: string; readonly title: string | null; readonly status: string }[];
    }
  | ({ readonly __typename: "FileChanged" } & ChangedFiles)
  | { readonly __typename: "ShellStarted"; readonly command: string | null }
  | ({ readonly __typename: "ShellEnded"; readonly command: string | null } & EndedShell)
  | { readonly __typename: "ErrorRaised"; readonly severity: string; readonly phase: string; readonly message: string }
  | ({ readonly __typename: "AgentSpawned" } & StartedChild)
  | ({ readonly __typename: "AgentReturned" } & ReturnedChild)
  | { readonly __typename: "Done"; readonly reason: string; readonly step: number }
  | { readonly __typename: "TextChunkStart" | "MessageReceived" | "PermissionDecided" | "PermissionClosed" | "AgentCreated" }
);

/** The fields of an approval that the fragment Asked reads. */
export type Asked = {
  readonly input: unknown;
  readonly inputText: string | null;
  readonly commandParts: readonly AskedPart[];
  /** The changes that a call would make. */
  readonly preview: { readonly files: readonly { readonly diff: string | null }[]; readonly problem: string | null } | null;
};

/** The call or the host that an approval is about. */
export type AskedAbout = { readonly call: Pick<Call, "name"> | null; readonly host: string | null; readonly port: number | null };

/** The end of a call, in words. */
export function endedText({ name, state, durationMs, cachedFrom, error }: Call): string {
  return `[${name}] ${state} in ${(durationMs ?? 0).toFixed(1)} ms${cachedFrom === null ? "" : " (cached)"}${error === null ? "" : `: ${error.message}`}`;
}

/** The beginning of a child, in words. */
export function startedText({ description, templateId, isBackground }: StartedChild): string {
  return `${description}: ${templateId} begins${isBackground ? " in the background" : ""}`;
}

/** The end of a child, in words. */
export function returnedText(description: string, { outcome, answer }: ReturnedChild): string {
  return `${description}: ${outcome === "OK" ? "done" : outcome.toLowerCase()}. ${answer}`;
}

/** The tool of the call that is asked about, or the host. */
export function nameOf({ call, host, port }: AskedAbout): string {
  return call?.name ?? (host === null ? "it" : `${host}:${port ?? ""}`);
}

/** A question of this kind in words. */
export function questionText(kind: string, name: string): string {
  switch (kind) {
    case "OUTCOME_UNKNOWN":
      return `Shall ${name} run again?`;
    case "NETWORK_HOST":
      return `May ${name} be reached?`;
    case "BUDGET":
      return "May the budget be raised?";
    case "TOOL_INPUT":
      return `Which values does ${name} get?`;
    default:
      return `May ${name} run?`;
  }
}

/** The decision that a yes or a no to a question of this kind means. */
export function decisionOf(kind: string, isYes: boolean): "RETRY" | "FAIL" | "ALLOW" | "DENY" {
  if (kind === "OUTCOME_UNKNOWN") return isYes ? "RETRY" : "FAIL";
  return isYes ? "ALLOW" : "DENY";
}

/** A decision in words. One that only a newer server knows stays as it is. */
export function decisionText(decision: string): string {
  switch (decision) {
    case "ALLOW":
      return "allowed";
    case "DENY":
      return "denied";
    case "DONE":
      return "settled as done";
    case "RETRY":
      return "run again";
    case "FAIL":
      return "given up";
    default:
      return decision;
  }
}

/** The words for who may not decide on what is asked. */
export function elsewhereText(name: string, reason: string | null, cannotDecide: readonly string[]): string {
  return `${name} waits for somebody else to decide (${reason ?? "why is no longer known"}). You may not: ${cannotDecide.join(", ")}.`;
}

/** The subject of a question as people read it: the input, the parts of its command lines that ask, and what it would change. */
export function askedText(asked: Asked | null): string {
  if (asked === null) return "";
  const pieces = askedLines(asked.input, asked.commandParts).flatMap((line) => line.pieces);
  const parts = pieces.flatMap(({ text, reasons }) => (reasons.length === 0 ? [] : `asks: ${text} (${reasons.join("; ")})`));
  const { files = [], problem = null } = asked.preview ?? {};
  const changes = [...files.flatMap(({ diff }) => diff ?? []), ...(problem === null ? [] : [`(${problem})`])];
  return [asked.inputText ?? "", ...parts, ...changes].join("\n");
}
