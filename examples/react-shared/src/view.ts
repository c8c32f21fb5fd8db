import type { WatchSubscription } from "./generated/documents.ts";

/** A page of the timeline, as the operation `Watch` asks for it. */
export type Page = WatchSubscription["timeline"];
type WatchedEvent = Page["events"][number];
type Call = Extract<WatchedEvent, { readonly __typename: "ToolStart" }>["call"];
type Request = Extract<WatchedEvent, { readonly __typename: "PermissionRequired" }>["request"];

/** One thing that people see in a conversation. */
export type Item =
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
  | { readonly kind: "end"; readonly key: string; readonly reason: string };

/** What the events so far amount to. */
export type View = { readonly items: readonly Item[]; readonly isWorking: boolean; readonly caughtUp: boolean };

/** Before any event. */
export const EMPTY: View = { items: [], isWorking: false, caughtUp: false };

/** The view after one more page. Pure: the same pages make the same view, live or after a reload. */
export function after(view: View, page: Page): View {
  return { ...page.events.reduce(afterEvent, view), caughtUp: page.caughtUp };
}

function afterEvent(view: View, event: WatchedEvent): View {
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
      };
    case "MessageWithdrawn":
      return { ...view, items: view.items.filter(({ key }) => key !== event.messageId) };
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
    case "Done": {
      const ended = { ...view, items: view.items.map(closed), isWorking: false };
      return event.reason === "COMPLETED" ? ended : put(ended, { kind: "end", key: event.cursor, reason: event.reason });
    }
    default:
      // Kinds that this app does not show, and those of a newer server.
      return view;
  }
}

/** After the end of a turn nothing of it can be decided. */
function closed(item: Item): Item {
  return item.kind === "approval" && item.decision === null ? { ...item, decision: "closed with the turn" } : item;
}

function blockKey({ step, block }: { readonly step: number; readonly block: number }): string {
  return `${step}/${block}`;
}

/** In the place of the item with its key, or at the end. */
function put(view: View, item: Item): View {
  const place = view.items.findIndex(({ key }) => key === item.key);
  return { ...view, items: place < 0 ? [...view.items, item] : view.items.with(place, item) };
}

function change(view: View, key: string, next: (item: Item) => Item): View {
  return { ...view, items: view.items.map((item) => (item.key === key ? next(item) : item)) };
}
