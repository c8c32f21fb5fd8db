import { useSyncExternalStore } from "react";
import type { ApprovalDecision, ApprovalState } from "../generated/documents.ts";
import { InboxChangesDocument, InboxDocument, type InboxChangesSubscription, type InboxQuery } from "../generated/documents.ts";
import { ask, AskFailed, follow } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import type { Row } from "./queue.ts";

type Page = InboxQuery["approvals"];

/** The end of an approval that was in the list, as the page has seen it. */
export type Closed = {
  readonly state: ApprovalState;
  readonly decision: ApprovalDecision | null;
  readonly by: string | null;
};

/** All open approvals that the viewer may see. */
export type Inbox = {
  readonly rows: ReadonlyMap<string, Row>;
  /** The server's count, at most 10,000; null before the first page. */
  readonly total: number | null;
  readonly loading: "loading" | "complete";
  readonly problem: string | null;
  readonly closed: ReadonlyMap<string, Closed>;
};

const EMPTY: Inbox = { rows: new Map(), total: null, loading: "loading", problem: null, closed: new Map() };
/** The wait after a refusal for too many points, and after a lost request; ms. */
const AGAIN_MS = 3_000;
/** Pages after the first are shown together, at most so often: each time the whole list is ordered. */
const SHOW_MS = 500;

/** Reads the open approvals page by page, and follows their changes since the first page. */
class InboxStore {
  #inbox: Inbox = EMPTY;
  readonly #listeners = new Set<() => void>();
  #end: (() => void) | null = null;
  /** Which reading is current: pages of an earlier one are ignored. */
  #reading = 0;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1 && this.#end === null) this.#begin();
    return () => this.#listeners.delete(listener);
  };

  readonly inbox = (): Inbox => this.#inbox;

  /** Reads everything again. */
  readonly reload = (): void => {
    this.#end?.();
    this.#end = null;
    this.#begin();
  };

  /** The server has taken a decision of this page: its event may come later. */
  readonly settle = (id: string, end: Closed): void => {
    if (end.state === "PENDING") return;
    const rows = new Map(this.#inbox.rows);
    rows.delete(id);
    this.#change({ rows, closed: new Map(this.#inbox.closed).set(id, end) });
  };

  #begin(): void {
    this.#reading += 1;
    this.#end = () => {};
    void this.#read(this.#reading);
  }

  async #read(reading: number): Promise<void> {
    const isCurrent = (): boolean => reading === this.#reading;
    let after: string | null = null;
    let isFirst = true;
    let shownAt = 0;
    let unshown: Row[] = [];
    while (isCurrent()) {
      const page: Page | string = await readPage(after).catch(problemOf);
      if (!isCurrent()) return;
      if (typeof page === "string") {
        this.#change({ problem: page });
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        continue;
      }
      const { nodes, totalCount: total, asOf } = page;
      const { hasNextPage, endCursor }: Page["pageInfo"] = page.pageInfo;
      unshown.push(...nodes);
      if (isFirst) {
        this.#change({ ...EMPTY, total });
        this.#end = this.#follow(asOf);
      }
      if (isFirst || !hasNextPage || performance.now() - shownAt > SHOW_MS) {
        this.#add(unshown);
        unshown = [];
        shownAt = performance.now();
      }
      isFirst = false;
      after = endCursor;
      if (!hasNextPage) break;
    }
    if (isCurrent()) this.#change({ loading: "complete" });
  }

  /** Adds rows of a page. Events since the first page have closed some of them meanwhile. */
  #add(nodes: readonly Row[]): void {
    const rows = new Map(this.#inbox.rows);
    for (const row of nodes) if (!this.#inbox.closed.has(row.id)) rows.set(row.id, row);
    this.#change({ rows, problem: null });
  }

  #follow(since: string): () => void {
    return follow(
      InboxChangesDocument,
      { since },
      {
        page: ({ control }) => this.#take(control.events),
        lostPlace: this.reload,
        failed: (problem) => this.#change({ problem }),
      },
    );
  }

  #take(events: InboxChangesSubscription["control"]["events"]): void {
    if (events.length === 0) return;
    const rows = new Map(this.#inbox.rows);
    const closed = new Map(this.#inbox.closed);
    for (const event of events) {
      if ("approval" in event) {
        const { approval } = event;
        if (approval === null) continue;
        if (approval.state === "PENDING") rows.set(approval.id, approval);
      } else if ("approvalId" in event) {
        if (event.approvalState === "PENDING") {
          const row = rows.get(event.approvalId);
          if (row !== undefined && "missingDecisions" in event)
            rows.set(row.id, { ...row, missingDecisions: event.missingDecisions });
          continue;
        }
        rows.delete(event.approvalId);
        const decided = "decision" in event ? { decision: event.decision, by: nameOf(event.decidedBy) } : NOBODY;
        closed.set(event.approvalId, { state: event.approvalState, ...decided });
      }
    }
    this.#change({ rows, closed });
  }

  #change(part: Partial<Inbox>): void {
    this.#inbox = { ...this.#inbox, ...part };
    for (const listener of this.#listeners) listener();
  }
}

const NOBODY = { decision: null, by: null } as const;

async function readPage(after: string | null): Promise<Page> {
  const { approvals } = await ask(InboxDocument, { filter: { states: ["PENDING"] }, after });
  return approvals;
}

function problemOf(error: unknown): string {
  return error instanceof AskFailed ? error.message : String(error);
}

const store = new InboxStore();

export function useInbox(): Inbox {
  return useSyncExternalStore(store.listen, store.inbox);
}

export const reloadInbox = store.reload;
export const settleInInbox = store.settle;
