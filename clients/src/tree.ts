import type { Child, ChildOutcome } from "./child.ts";
import { CONVERSATION, conversation, type Conversation, type ConversationItem, type ConversationPage } from "./conversation.ts";
import { CHILD_DOCUMENT } from "./generated/conversation.ts";
import type { TimelineView } from "./timeline-view.ts";

type ApprovalItem = Extract<ConversationItem, { readonly kind: "approval" }>;

/** An open approval of a child. */
export type ChildApproval = {
  /** The children from the first agent down to the one that asks, which is the last. */
  readonly path: readonly Child[];
  readonly item: ApprovalItem;
};

/** The agents at work below one. Children that have returned are not in it, nor what these started. */
export type Tree = {
  /** By agent: its calls, approvals and children, without its texts. */
  readonly conversations: ReadonlyMap<string, Conversation>;
  /** The open approvals of all of them, by path. */
  readonly approvals: readonly ChildApproval[];
  /** The reason why one of them is not followed after several attempts; null for none. */
  readonly error: Error | null;
};

export const EMPTY_TREE: Tree = { conversations: new Map(), approvals: [], error: null };

/** The calls, approvals and children of a child at work, as a conversation. */
export const CHILD: TimelineView<ConversationPage, Conversation> = {
  document: CHILD_DOCUMENT,
  empty: CONVERSATION.empty,
  after: conversation,
};

/** asks: it, or an agent below it, has an open approval. idle: its turn has ended, and nothing has returned. */
export type ChildState = "working" | "asks" | "idle" | Lowercase<ChildOutcome>;

export function childState({ agentId, end }: Child, { conversations, approvals }: Tree): ChildState {
  if (end !== null) return lowercase(end.outcome);
  if (approvals.some(({ path }) => path.some((child) => child.agentId === agentId))) return "asks";
  const own = conversations.get(agentId);
  return own === undefined || own.isWorking || !own.caughtUp ? "working" : "idle";
}

function lowercase(outcome: ChildOutcome): Lowercase<ChildOutcome> {
  switch (outcome) {
    case "OK":
      return "ok";
    case "ERROR":
      return "error";
    case "INTERRUPTED":
      return "interrupted";
  }
}

/** Follows one child with the view CHILD: tells its conversation after each page, or why no more follow. Returns the end of it. */
export type FollowChild = (agentId: string, tell: (own: Conversation, error: Error | null) => void) => () => void;

export type TreeFollower = {
  /** Takes `Conversation.children` of the first agent, after each change. */
  readonly take: (children: readonly Child[]) => void;
  readonly close: () => void;
};

type Followed = { own: Conversation; failures: number; error: Error | null; end: () => void };

/** Failures before one is told: at its start, a child may not be there yet. */
const UNTOLD_FAILURES = 5;

/** The wait before a child is followed again, in ms. */
const waitMs = (failures: number): number => Math.min(50 * 2 ** failures, 10_000);

/** Follows all children at work, and those below them: each from its start until it returns. */
export function followTree(follow: FollowChild, tell: (tree: Tree) => void): TreeFollower {
  let children: readonly Child[] = [];
  const followed = new Map<string, Followed>();
  const begin = (agentId: string): void => {
    const child: Followed = { own: CHILD.empty, failures: 0, error: null, end: () => {} };
    followed.set(agentId, child);
    const isCurrent = (): boolean => followed.get(agentId) === child;
    const start = (): void => {
      let again: ReturnType<typeof setTimeout> | undefined;
      const stop = follow(agentId, (own, error) => {
        if (!isCurrent() || again !== undefined) return;
        if (error !== null) {
          again = setTimeout(() => {
            stop();
            start();
          }, waitMs(child.failures));
          child.failures += 1;
          child.error = error;
        } else if (own === child.own || own === CHILD.empty) return;
        else Object.assign(child, { own, failures: 0, error: null });
        look();
      });
      child.end = () => {
        clearTimeout(again);
        stop();
      };
    };
    start();
    // It may have returned while it was begun.
    if (!isCurrent()) child.end();
  };
  const look = (): void => {
    const paths = pathsOf(children, followed);
    const atWork = new Set(paths.map((path) => path.at(-1)?.agentId ?? ""));
    for (const [agentId, { end }] of followed) {
      if (atWork.has(agentId)) continue;
      followed.delete(agentId);
      end();
    }
    for (const agentId of atWork) if (!followed.has(agentId)) begin(agentId);
    tell(treeOf(paths, followed));
  };
  return {
    take(next) {
      children = next;
      look();
    },
    close() {
      const all = [...followed.values()];
      followed.clear();
      for (const { end } of all) end();
    },
  };
}

/** The path of each agent at work, those above first. */
function pathsOf(
  children: readonly Child[],
  followed: ReadonlyMap<string, Followed>,
  above: readonly Child[] = [],
): readonly (readonly Child[])[] {
  return children.flatMap((child) => {
    const path = [...above, child];
    return [path, ...pathsOf(followed.get(child.agentId)?.own.children ?? [], followed, path)];
  });
}

function treeOf(paths: readonly (readonly Child[])[], followed: ReadonlyMap<string, Followed>): Tree {
  const approvals = paths.flatMap((path) =>
    (followed.get(path.at(-1)?.agentId ?? "")?.own.items ?? []).flatMap((item) =>
      item.kind === "approval" && item.decision === null ? [{ path, item }] : [],
    ),
  );
  const places = [...followed];
  return {
    conversations: new Map(places.map(([agentId, { own }]) => [agentId, own])),
    approvals,
    error: places.find(([, { failures, error }]) => error !== null && failures > UNTOLD_FAILURES)?.[1].error ?? null,
  };
}
