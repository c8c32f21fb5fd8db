import { returnedChild, spawnedChild, type Child, type ChildOutcome } from "./child.ts";
import type { ConversationItem } from "./conversation.ts";
import { TREE_DOCUMENT, type TreeSubscription } from "./generated/tree.ts";
import type { TimelineView } from "./timeline-view.ts";

type ApprovalItem = Extract<ConversationItem, { readonly kind: "approval" }>;

/** A page of the timeline of a tree, as TREE asks for it. */
export type TreePage = TreeSubscription["timeline"];
type TreeEvent = TreePage["events"][number];

/** The children from the first agent down to one of them, which is the last. */
export type Path = readonly Child[];

/** An open approval of a child. */
export type ChildApproval = { readonly path: Path; readonly item: ApprovalItem };

/** The agents below one, and what they ask. */
export type Tree = {
  /** The path of each agent, by its id, in the order of their starts. */
  readonly paths: ReadonlyMap<string, Path>;
  /** The open approvals of all of them, oldest first. */
  readonly approvals: readonly ChildApproval[];
  readonly caughtUp: boolean;
};

/** asks: it, or an agent below it, has an open approval. */
export type ChildState = "working" | "asks" | Lowercase<ChildOutcome>;

export function childState({ agentId, end }: Child, { approvals }: Tree): ChildState {
  if (end !== null) return OUTCOMES[end.outcome];
  return approvals.some(({ path }) => path.some((child) => child.agentId === agentId)) ? "asks" : "working";
}

const OUTCOMES = { OK: "ok", ERROR: "error", INTERRUPTED: "interrupted" } as const;

/** True if an agent below the first one is at work, or waits. */
export function hasWork({ paths }: Tree): boolean {
  return [...paths.values()].some((path) => path.at(-1)?.end === null);
}

/** The agents that one below has started, in order. */
export function childrenOf(agentId: string, { paths }: Tree): readonly Child[] {
  return [...paths.values()].flatMap((path) => (path.at(-2)?.agentId === agentId ? path.slice(-1) : []));
}

/** The tree after one more page. Pure: the same pages make the same tree, live or after a reload. */
export function tree(before: Tree, { events, caughtUp }: TreePage): Tree {
  const draft: Draft = { paths: new Map(before.paths), approvals: before.approvals };
  for (const event of events) take(draft, event);
  // A program in the background may still ask after the end of its agent.
  const approvals = draft.approvals.map((asked) => ({ ...asked, path: pathOf(draft, asked.path) }));
  return { ...draft, approvals, caughtUp };
}

type Draft = { readonly paths: Map<string, Path>; approvals: readonly ChildApproval[] };

function pathOf({ paths }: Draft, path: Path): Path {
  return paths.get(path.at(-1)?.agentId ?? "") ?? path;
}

function take(draft: Draft, event: TreeEvent): void {
  const agentId = event.agent?.id ?? "";
  switch (event.__typename) {
    case "AgentSpawned": {
      const child = spawnedChild(event);
      draft.paths.set(child.agentId, [...(draft.paths.get(agentId) ?? []), child]);
      return;
    }
    case "AgentReturned": {
      const { childId, outcome, answer } = event;
      for (const [id, path] of draft.paths)
        if (path.some((child) => child.agentId === childId))
          draft.paths.set(
            id,
            path.map((child) => (child.agentId === childId ? returnedChild(child, { outcome, answer }) : child)),
          );
      return;
    }
    case "PermissionRequired": {
      const path = draft.paths.get(agentId);
      // The first agent's own approvals are in its conversation.
      if (path === undefined) return;
      const { request, approval } = event;
      const inputText = approval?.inputText ?? "";
      const item = { kind: "approval", key: request.approvalId, request, inputText, end: null } as const;
      close(draft, (asked) => asked.item.key === item.key);
      draft.approvals = [...draft.approvals, { path, item }];
      return;
    }
    case "PermissionDecided":
      // One that waits for others still can be decided.
      if (event.missingDecisions === 0) close(draft, ({ item }) => item.key === event.approvalId);
      return;
    case "PermissionClosed":
      return close(draft, ({ item }) => item.key === event.approvalId);
    case "Done":
      // A program in the background may still ask for a host.
      return close(draft, ({ path, item }) => path.at(-1)?.agentId === agentId && item.request.kind !== "NETWORK_HOST");
    default:
    // Kinds of a newer server.
  }
}

function close(draft: Draft, isClosed: (asked: ChildApproval) => boolean): void {
  draft.approvals = draft.approvals.filter((asked) => !isClosed(asked));
}

/** The agents below one as a view: `useTimeline(agentId, TREE)`. */
export const TREE: TimelineView<TreePage, Tree> = {
  document: TREE_DOCUMENT,
  empty: { paths: new Map(), approvals: [], caughtUp: false },
  after: tree,
};
