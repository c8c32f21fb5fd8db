import { returnedChild, spawnedChild, type Child } from "./child.ts";
import { CONVERSATION_DOCUMENT, type ConversationSubscription } from "./generated/conversation.ts";
import type { TimelineView } from "./timeline-view.ts";
import type { ApprovalEnd } from "./approval-end.ts";
import { compactionText } from "./compaction.ts";
import { changedFilesText, endedShellText } from "./workspace-news.ts";

export { approvalEndText, type ApprovalEnd } from "./approval-end.ts";
export { cacheText, contextText } from "./compaction.ts";
export type { Child } from "./child.ts";
export type { ApprovalKind } from "./generated/conversation.ts";

/** A page of the timeline, as CONVERSATION asks for it. */
export type ConversationPage = ConversationSubscription["timeline"];
type WatchedEvent = ConversationPage["events"][number];
type EventOf<Name extends WatchedEvent["__typename"]> = Extract<WatchedEvent, { readonly __typename: Name }>;
type Call = EventOf<"ToolStart">["call"];
type Request = EventOf<"PermissionRequired">["request"];
type Progress = Pick<EventOf<"ToolCustomEvent">, "eventType" | "eventData">;

/** One thing that people see in a conversation. */
export type ConversationItem =
  /** The key is the id of the message, which has the images: `images` is their number. */
  | { readonly kind: "message"; readonly key: string; readonly text: string; readonly by: string; readonly images: number }
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly state: "streaming" | "kept" | "aborted" }
  /** What the model thinks, if the template exposes it. */
  | { readonly kind: "thinking"; readonly key: string; readonly text: string; readonly state: "streaming" | "kept" | "aborted" }
  /** A call, with the last progress of its tool, and the question to clients; null for none. */
  | {
      readonly kind: "tool";
      readonly key: string;
      readonly call: Call;
      readonly progress: Progress | null;
      /** The whole input of a waiting call that a client answers (`completeToolCall`), and its deadline. */
      readonly toAnswer: { readonly input: unknown; readonly dueAt: string | null } | null;
      /** The agent that the call started; null for none. */
      readonly child: Child | null;
    }
  | {
      readonly kind: "approval";
      readonly key: string;
      readonly request: Request;
      readonly inputText: string;
      /** Null while it can be decided; `approvalEndText` has its words. */
      readonly end: ApprovalEnd | null;
    }
  /** A command that goes on in the background, with how it ended; null while it runs. */
  | { readonly kind: "shell"; readonly key: string; readonly command: string; readonly end: string | null }
  /** The agent is reminded of something. It answers no reminder. */
  | { readonly kind: "reminder"; readonly key: string; readonly text: string; readonly by: string }
  /** Something else than the agent's file tools has changed files. */
  | { readonly kind: "files"; readonly key: string; readonly text: string }
  /** Something failed; `retryAt` says when it is tried again, null for never. */
  | { readonly kind: "error"; readonly key: string; readonly text: string; readonly retryAt: string | null }
  /** Old messages or outputs were left out of the context of the model. `summary` stands in their place; null if nothing does. */
  | {
      readonly kind: "compaction";
      readonly key: string;
      readonly text: string;
      readonly method: EventOf<"ContextCompression">["method"];
      readonly summary: string | null;
      /** The size of the context before and after, in tokens; null if unknown. */
      readonly tokensBefore: number | null;
      readonly tokensAfter: number | null;
    }
  /** The value of an answer in a shape, which the text before it says. */
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  /** `problems` are the parts of the last answer that do not have its shape, as lines. */
  | { readonly kind: "end"; readonly key: string; readonly reason: string; readonly problems: readonly string[] };

/** What the events of an agent amount to, as people see them: its items in order. */
export type Conversation = {
  readonly items: readonly ConversationItem[];
  /** True while a turn is under way, also if it waits for a person, and from a message on that waits for its turn. */
  readonly isWorking: boolean;
  /** True while a turn is under way. */
  readonly isInTurn: boolean;
  /** The ids of messages that came after their turn began, in order: none has answered them yet. */
  readonly waiting: readonly string[];
  /** The agent's todo list. */
  readonly todos: EventOf<"TodoChanged">["todos"];
  /** The tokens of the steps so far, and what they cost in US dollars; null if the model of one has no price. */
  readonly usage: { readonly totalTokens: number; readonly costUsd: number | null };
  /** The share of the newest answer's input that came from the provider's cache, and the reason of a miss; null if unknown. */
  readonly cache: { readonly share: number | null; readonly miss: string | null };
  /** The size of the context after the newest answer or compaction, and of the model's window, in tokens; null if unknown. */
  readonly context: { readonly tokens: number | null; readonly window: number | null };
  readonly caughtUp: boolean;
};

/** The conversation after one more page. Pure: the same pages make the same conversation, live or after a reload. */
export function conversation(view: Conversation, page: ConversationPage): Conversation {
  const draft: Draft = { ...view, items: [...view.items] };
  for (const event of page.events) take(draft, event);
  return { ...draft, isWorking: draft.isInTurn || draft.waiting.length > 0, caughtUp: page.caughtUp };
}

/** A conversation while a page is taken into it: its items are copied once a page. */
type Draft = { -readonly [Part in Exclude<keyof Conversation, "items">]: Conversation[Part] } & {
  readonly items: ConversationItem[];
};

function take(draft: Draft, event: WatchedEvent): void {
  switch (event.__typename) {
    case "MessageReceived": {
      const by = event.sentBy.name ?? event.sentBy.actorId;
      put(draft, { kind: "message", key: event.messageId, text: event.text ?? "(erased)", by, images: event.images });
      draft.waiting = [...draft.waiting, event.messageId];
      return;
    }
    case "ReminderSent": {
      const by = event.sentBy.name ?? event.sentBy.actorId;
      return put(draft, { kind: "reminder", key: event.messageId, text: event.content ?? "(erased)", by });
    }
    case "MessageWithdrawn": {
      const place = placeOf(draft, event.messageId);
      if (place >= 0) draft.items.splice(place, 1);
      draft.waiting = draft.waiting.filter((id) => id !== event.messageId);
      return;
    }
    case "TextChunkStart":
    case "ThinkChunkStart":
      return begin(draft, event.__typename === "TextChunkStart" ? "text" : "thinking", blockKey(event));
    case "TextChunk":
    case "ThinkChunk":
      return change(draft, blockKey(event), (item) =>
        item.kind === "text" || item.kind === "thinking" ? { ...item, text: item.text + event.delta } : item,
      );
    case "TextChunkEnd":
    case "ThinkChunkEnd":
      return put(draft, {
        kind: event.__typename === "TextChunkEnd" ? "text" : "thinking",
        key: blockKey(event),
        text: event.text ?? "(erased)",
        state: event.aborted ? "aborted" : "kept",
      });
    case "ToolStart":
    case "ToolWaiting":
    case "ToolEnd": {
      const shown = draft.items[placeOf(draft, event.call.callId)];
      const { progress, child } = shown?.kind === "tool" ? shown : { progress: null, child: null };
      const { callId: key } = event.call;
      return put(draft, { kind: "tool", key, call: event.call, progress, toAnswer: toAnswerOf(event), child });
    }
    case "ToolCustomEvent": {
      const { callId, eventType, eventData } = event;
      return change(draft, callId, (item) => (item.kind === "tool" ? { ...item, progress: { eventType, eventData } } : item));
    }
    case "AgentSpawned": {
      const child = spawnedChild(event);
      return change(draft, event.callId, (item) => (item.kind === "tool" ? { ...item, child } : item));
    }
    case "AgentReturned": {
      const { outcome, answer } = event;
      return change(draft, event.callId, (item) =>
        item.kind === "tool" && item.child !== null ? { ...item, child: returnedChild(item.child, { outcome, answer }) } : item,
      );
    }
    case "PermissionRequired":
      return put(draft, {
        kind: "approval",
        key: event.request.approvalId,
        request: event.request,
        inputText: event.approval?.inputText ?? "",
        end: null,
      });
    case "PermissionDecided": {
      // One that waits for others still can be decided.
      if (event.missingDecisions > 0) return;
      const { decision, decidedBy, note } = event;
      const end = { kind: "decided", decision, by: decidedBy.name ?? decidedBy.actorId, note } as const;
      return change(draft, event.approvalId, (item) => (item.kind === "approval" ? { ...item, end } : item));
    }
    case "PermissionClosed": {
      const end = { kind: "closed", state: event.approvalState } as const;
      return change(draft, event.approvalId, (item) => (item.kind === "approval" ? { ...item, end } : item));
    }
    case "ShellStarted":
      return put(draft, { kind: "shell", key: event.shellId, command: event.command ?? "(erased)", end: null });
    case "ShellEnded":
      return put(draft, { kind: "shell", key: event.shellId, command: event.command ?? "(erased)", end: endedShellText(event) });
    case "FileChanged":
      return put(draft, { kind: "files", key: event.cursor, text: changedFilesText(event) });
    case "ErrorRaised": {
      const { cursor: key, severity, message, retryAt } = event;
      // What nobody waits for is for operators.
      if (severity !== "ERROR" && retryAt === null) return;
      return put(draft, { kind: "error", key, text: message ?? "(erased)", retryAt });
    }
    case "TodoChanged":
      draft.todos = event.todos;
      return;
    case "StepComplete":
      draft.context = { tokens: event.contextTokens, window: event.contextWindow };
      draft.cache = { share: event.cachedShare, miss: event.cacheMiss?.reason ?? null };
      return;
    case "ContextCompression": {
      const { compressionPhase, failureReason, compactionId: key, method, summary, tokensBefore, tokensAfter } = event;
      if (compressionPhase !== "END" || failureReason !== null) return;
      draft.context = { ...draft.context, tokens: tokensAfter };
      const text = compactionText(event);
      return put(draft, { kind: "compaction", key, text, method, summary, tokensBefore, tokensAfter });
    }
    case "TokensUsed": {
      const { totalTokens, costUsd } = draft.usage;
      const cost = costUsd === null || event.costUsd === null ? null : costUsd + event.costUsd;
      draft.usage = { totalTokens: totalTokens + event.totalTokens, costUsd: cost };
      return;
    }
    case "StateChanged":
      draft.isInTurn = event.state !== "READY";
      // A turn begins with the messages that wait. It may begin without a new one, as one that is tried again.
      if (event.previousState === "READY") draft.waiting = [];
      return;
    case "Done": {
      const answered = new Set(event.messageIds);
      draft.waiting = draft.waiting.filter((id) => !answered.has(id));
      draft.isInTurn = false;
      for (const [place, item] of draft.items.entries()) draft.items[place] = closed(item);
      if (event.value !== null) put(draft, { kind: "value", key: event.cursor, value: event.value });
      if (event.reason !== "COMPLETED") put(draft, ended(event));
      return;
    }
    default:
    // Kinds that a conversation does not show, and those of a newer server.
  }
}

function ended({ cursor, reason, problems }: EventOf<"Done">): ConversationItem {
  return { kind: "end", key: cursor, reason, problems: problems.map(({ path, message }) => `${path}: ${message}`) };
}

/** Null unless a client is to answer the call of this event. */
function toAnswerOf(event: EventOf<"ToolStart" | "ToolWaiting" | "ToolEnd">): { input: unknown; dueAt: string | null } | null {
  if (event.__typename !== "ToolWaiting" || event.waitsFor !== "CLIENT_TOOL" || event.toolCall === null) return null;
  return { input: event.toolCall.input, dueAt: event.dueAt };
}

/** After the end of a turn nothing of it can be decided. A program in the background may still ask for a host: if not, an event says so. */
function closed(item: ConversationItem): ConversationItem {
  if (item.kind === "approval" && item.request.kind === "NETWORK_HOST") return item;
  return item.kind === "approval" && item.end === null ? { ...item, end: { kind: "closed", state: "SEALED" } } : item;
}

/** A block begins, where the one before it ends: whether that is kept is said at the end of the answer. */
function begin(draft: Draft, kind: "text" | "thinking", key: string): void {
  const last = draft.items.at(-1);
  if ((last?.kind === "text" || last?.kind === "thinking") && last.state === "streaming") put(draft, { ...last, state: "kept" });
  put(draft, { kind, key, text: "", state: "streaming" });
}

function blockKey({ step, block }: { readonly step: number; readonly block: number }): string {
  return `${step}/${block}`;
}

/** The place of the item with this key; -1 for none. What changes stands near the end. */
function placeOf({ items }: Draft, key: string): number {
  return items.findLastIndex((item) => item.key === key);
}

/** In the place of the item with its key, or at the end. */
function put(draft: Draft, item: ConversationItem): void {
  const place = placeOf(draft, item.key);
  draft.items[place < 0 ? draft.items.length : place] = item;
}

function change(draft: Draft, key: string | null, next: (item: ConversationItem) => ConversationItem): void {
  const place = key === null ? -1 : placeOf(draft, key);
  const item = draft.items[place];
  if (item !== undefined) draft.items[place] = next(item);
}

/** The timeline of an agent as a conversation. */
export const CONVERSATION: TimelineView<ConversationPage, Conversation> = {
  document: CONVERSATION_DOCUMENT,
  empty: {
    items: [],
    isWorking: false,
    isInTurn: false,
    waiting: [],
    todos: [],
    usage: { totalTokens: 0, costUsd: 0 },
    context: { tokens: null, window: null },
    cache: { share: null, miss: null },
    caughtUp: false,
  },
  after: conversation,
};
