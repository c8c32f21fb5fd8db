import { CONVERSATION_DOCUMENT, type ConversationSubscription } from "./generated/conversation.ts";
import type { TimelineView } from "./timeline-view.ts";
import { changedFilesText, endedShellText } from "./workspace-news.ts";

export type { ApprovalKind } from "./generated/conversation.ts";

/** A page of the timeline, as CONVERSATION asks for it. */
export type ConversationPage = ConversationSubscription["timeline"];
type WatchedEvent = ConversationPage["events"][number];
type Call = Extract<WatchedEvent, { readonly __typename: "ToolStart" }>["call"];
type Request = Extract<WatchedEvent, { readonly __typename: "PermissionRequired" }>["request"];

/** One thing that people see in a conversation. */
export type ConversationItem =
  | { readonly kind: "message"; readonly key: string; readonly text: string; readonly by: string }
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly state: "streaming" | "kept" | "aborted" }
  | { readonly kind: "tool"; readonly key: string; readonly call: Call }
  | {
      readonly kind: "approval";
      readonly key: string;
      readonly request: Request;
      readonly inputText: string;
      readonly decision: string | null;
    }
  /** A command that goes on in the background, with how it ended; null while it runs. */
  | { readonly kind: "shell"; readonly key: string; readonly command: string; readonly end: string | null }
  /** Something else than the agent's file tools has changed files. */
  | { readonly kind: "files"; readonly key: string; readonly text: string }
  | { readonly kind: "end"; readonly key: string; readonly reason: string };

/** What the events of an agent amount to, as people see them: its items in order. */
export type Conversation = {
  readonly items: readonly ConversationItem[];
  /** True while a turn is under way, also if it waits for a person, and from a message on that waits for its turn. */
  readonly isWorking: boolean;
  /** True while a turn is under way. */
  readonly isInTurn: boolean;
  /** The ids of messages that came since a turn last began or ended: no turn has taken them yet, as far as is known. */
  readonly waiting: readonly string[];
  readonly caughtUp: boolean;
};

/** The conversation after one more page. Pure: the same pages make the same conversation, live or after a reload. */
export function conversation(view: Conversation, page: ConversationPage): Conversation {
  return { ...page.events.reduce(afterEvent, view), caughtUp: page.caughtUp };
}

function afterEvent(view: Conversation, event: WatchedEvent): Conversation {
  switch (event.__typename) {
    case "MessageReceived":
      return {
        ...put(view, {
          kind: "message",
          key: event.messageId,
          text: event.text ?? "(erased)",
          by: event.sentBy.name ?? event.sentBy.actorId,
        }),
        isWorking: true,
        waiting: [...view.waiting, event.messageId],
      };
    case "MessageWithdrawn": {
      const items = view.items.filter(({ key }) => key !== event.messageId);
      const waiting = view.waiting.filter((id) => id !== event.messageId);
      return { ...view, items, waiting, isWorking: view.isInTurn || waiting.length > 0 };
    }
    case "TextChunkStart":
      return put(view, { kind: "text", key: blockKey(event), text: "", state: "streaming" });
    case "TextChunk":
      return change(view, blockKey(event), (item) => (item.kind === "text" ? { ...item, text: item.text + event.delta } : item));
    case "TextChunkEnd":
      return put(view, {
        kind: "text",
        key: blockKey(event),
        text: event.text ?? "(erased)",
        state: event.aborted ? "aborted" : "kept",
      });
    case "ToolStart":
    case "ToolEnd":
      return put(view, { kind: "tool", key: event.call.callId, call: event.call });
    case "PermissionRequired":
      return put(view, {
        kind: "approval",
        key: event.request.approvalId,
        request: event.request,
        inputText: event.approval?.inputText ?? "",
        decision: null,
      });
    case "PermissionDecided": {
      // One that waits for others still can be decided.
      if (event.missingDecisions > 0) return view;
      const decision = `${event.decision} by ${event.decidedBy.name ?? event.decidedBy.actorId}`;
      return change(view, event.approvalId, (item) => (item.kind === "approval" ? { ...item, decision } : item));
    }
    case "PermissionClosed":
      return change(view, event.approvalId, (item) =>
        item.kind === "approval" ? { ...item, decision: event.approvalState.toLowerCase() } : item,
      );
    case "ShellStarted":
      return put(view, { kind: "shell", key: event.shellId, command: event.command ?? "(erased)", end: null });
    case "ShellEnded":
      return put(view, { kind: "shell", key: event.shellId, command: event.command ?? "(erased)", end: endedShellText(event) });
    case "FileChanged":
      return put(view, { kind: "files", key: event.cursor, text: changedFilesText(event) });
    case "StateChanged":
      // A turn may begin without a new message: one that is tried again, or one for messages that waited.
      return { ...view, isWorking: event.state !== "READY", isInTurn: event.state !== "READY", waiting: [] };
    case "Done": {
      const ended = { ...view, items: view.items.map(closed), isWorking: false, isInTurn: false, waiting: [] };
      return event.reason === "COMPLETED" ? ended : put(ended, { kind: "end", key: event.cursor, reason: event.reason });
    }
    default:
      // Kinds that a conversation does not show, and those of a newer server.
      return view;
  }
}

/** After the end of a turn nothing of it can be decided. A program in the background may still ask for a host: if not, an event says so. */
function closed(item: ConversationItem): ConversationItem {
  if (item.kind === "approval" && item.request.kind === "NETWORK_HOST") return item;
  return item.kind === "approval" && item.decision === null ? { ...item, decision: "closed with the turn" } : item;
}

function blockKey({ step, block }: { readonly step: number; readonly block: number }): string {
  return `${step}/${block}`;
}

/** In the place of the item with its key, or at the end. */
function put(view: Conversation, item: ConversationItem): Conversation {
  const place = view.items.findIndex(({ key }) => key === item.key);
  return { ...view, items: place < 0 ? [...view.items, item] : view.items.with(place, item) };
}

function change(view: Conversation, key: string, next: (item: ConversationItem) => ConversationItem): Conversation {
  return { ...view, items: view.items.map((item) => (item.key === key ? next(item) : item)) };
}

/** The timeline of an agent as a conversation. */
export const CONVERSATION: TimelineView<ConversationPage, Conversation> = {
  document: CONVERSATION_DOCUMENT,
  empty: { items: [], isWorking: false, isInTurn: false, waiting: [], caughtUp: false },
  after: conversation,
};
