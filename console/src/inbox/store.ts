import { useSyncExternalStore } from "react";
import { presentMs } from "../design/present.ts";
import type { ApprovalDecision, ApprovalState } from "../generated/documents.ts";
import {
  InboxChangesDocument,
  InboxDocument,
  LongInputsDocument,
  SnoozeChangesDocument,
  type InboxChangesSubscription,
  type InboxQuery,
  type SnoozeChangesSubscription,
} from "../generated/documents.ts";
import { ask, AskFailed, follow } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import { longRows, withLongInput } from "./batches/long-inputs.ts";
import type { Row } from "./queue.ts";
import { isPresent, type Snooze } from "./snooze/snooze-times.ts";

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
  /** The approval that the viewer decided last in this page. */
  readonly latest: string | null;
  /** Open approvals that the viewer has put off, also those whose time has come. */
  readonly snoozes: ReadonlyMap<string, Snooze>;
  /** Approvals that expired while the viewer had put them off, until the viewer has seen it. */
  readonly missed: ReadonlyMap<string, Row>;
};

const EMPTY: Inbox = {
  rows: new Map(),
  total: null,
  loading: "loading",
  problem: null,
  closed: new Map(),
  latest: null,
  snoozes: new Map(),
  missed: new Map(),
};
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
  /** The cursor of the latest news of each approval's snooze: two streams and the answers of mutations bring them. */
  readonly #snoozedAt = new Map<string, string>();

  /** The rows whose longer inputs were read, or are being read. */
  readonly #triedInputs = new Set<string>();
  #isReadingInputs = false;

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
    this.#change({ rows, closed: new Map(this.#inbox.closed).set(id, end), latest: id });
  };

  /** News of a snooze, as of a cursor. Earlier news are ignored. */
  readonly noteSnooze = (id: string, snooze: Snooze | null, cursor: string): void =>
    this.#change({ snoozes: this.#snoozesAfter([{ id, snooze, cursor }]) });

  readonly forgetMissed = (id: string): void => {
    const missed = new Map(this.#inbox.missed);
    missed.delete(id);
    this.#change({ missed });
  };

  #snoozesAfter(news: readonly SnoozeNews[]): Inbox["snoozes"] {
    const later = news.filter(({ id, cursor }) => (this.#snoozedAt.get(id) ?? "") < cursor);
    if (later.length === 0) return this.#inbox.snoozes;
    const snoozes = new Map(this.#inbox.snoozes);
    for (const { id, snooze, cursor } of later) {
      this.#snoozedAt.set(id, cursor);
      if (snooze === null) snoozes.delete(id);
      else snoozes.set(id, snooze);
    }
    return snoozes;
  }

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
        this.#snoozedAt.clear();
        this.#triedInputs.clear();
        this.#change({ ...EMPTY, total, missed: this.#inbox.missed });
        this.#end = this.#follow(asOf);
      }
      const snoozed = nodes.flatMap(({ id, viewerSnooze: snooze }) => (snooze === null ? [] : [{ id, snooze, cursor: asOf }]));
      if (snoozed.length > 0) this.#change({ snoozes: this.#snoozesAfter(snoozed) });
      if (isFirst || !hasNextPage || performance.now() - shownAt > SHOW_MS) {
        this.#add(unshown);
        unshown = [];
        shownAt = performance.now();
      }
      isFirst = false;
      after = endCursor;
      if (!hasNextPage) break;
    }
    if (!isCurrent()) return;
    this.#change({ loading: "complete" });
    void this.#readLongInputs();
  }

  /** Reads the whole inputs that batches need, some at a time. A question whose input could not be read stands alone. */
  async #readLongInputs(): Promise<void> {
    if (this.#isReadingInputs) return;
    this.#isReadingInputs = true;
    for (;;) {
      const wanted = longRows(this.#inbox.rows.values(), this.#triedInputs);
      if (wanted.length === 0) break;
      for (const { id } of wanted) this.#triedInputs.add(id);
      const answer = await ask(LongInputsDocument, { ids: wanted.map(({ id }) => id) }).catch(problemOf);
      if (typeof answer === "string") break;
      const rows = new Map(this.#inbox.rows);
      for (const node of answer.nodes) {
        const row = node === null ? undefined : rows.get(node.id);
        if (row === undefined || node === null || !("inputHash" in node)) continue;
        const longer = withLongInput(row, node.inputHash, node.toolCall?.inputPreview ?? null);
        if (longer !== null) rows.set(row.id, longer);
      }
      this.#change({ rows });
    }
    this.#isReadingInputs = false;
  }

  /** Adds rows of a page. Events since the first page have closed some of them meanwhile. */
  #add(nodes: readonly Row[]): void {
    const rows = new Map(this.#inbox.rows);
    for (const row of nodes) if (!this.#inbox.closed.has(row.id)) rows.set(row.id, row);
    this.#change({ rows, problem: null });
  }

  /** Snoozes come in a stream of their own: the other one is shared by all people who read the tenant. */
  #follow(since: string): () => void {
    const otherwise = { lostPlace: this.reload, failed: (problem: string) => this.#change({ problem }) };
    const ends = [
      follow(InboxChangesDocument, { since }, { ...otherwise, page: ({ control }) => this.#take(control.events) }),
      follow(SnoozeChangesDocument, { since }, { ...otherwise, page: ({ control }) => this.#takeSnoozes(control.events) }),
    ];
    return () => ends.forEach((end) => end());
  }

  #takeSnoozes(events: SnoozeChangesSubscription["control"]["events"]): void {
    const news = events.flatMap((event) =>
      "isSnoozed" in event
        ? [{ id: event.approvalId, snooze: event.isSnoozed ? { until: event.snoozedUntil } : null, cursor: event.cursor }]
        : [],
    );
    if (news.length > 0) this.#change({ snoozes: this.#snoozesAfter(news) });
  }

  #take(events: InboxChangesSubscription["control"]["events"]): void {
    if (events.length === 0) return;
    const rows = new Map(this.#inbox.rows);
    const closed = new Map(this.#inbox.closed);
    const missed = new Map(this.#inbox.missed);
    const snoozes = this.#snoozesAfter(
      events.flatMap((event) => ("approvalId" in event ? [{ id: event.approvalId, snooze: null, cursor: event.cursor }] : [])),
    );
    for (const event of events) {
      if ("approval" in event) {
        const { approval } = event;
        if (approval === null) continue;
        if (approval.state === "PENDING") rows.set(approval.id, approval);
        this.#triedInputs.delete(approval.id);
      } else if ("approvalId" in event) {
        if (event.approvalState === "PENDING") {
          const row = rows.get(event.approvalId);
          if (row !== undefined && "missingDecisions" in event)
            rows.set(row.id, { ...row, missingDecisions: event.missingDecisions });
          continue;
        }
        const row = rows.get(event.approvalId);
        if (event.approvalState === "EXPIRED" && row !== undefined && isPresent(this.#inbox.snoozes.get(row.id), presentMs()))
          missed.set(row.id, row);
        rows.delete(event.approvalId);
        const decided = "decision" in event ? { decision: event.decision, by: nameOf(event.decidedBy) } : NOBODY;
        closed.set(event.approvalId, { state: event.approvalState, ...decided });
      }
    }
    this.#change({ rows, closed, missed, snoozes });
    if (this.#inbox.loading === "complete") void this.#readLongInputs();
  }

  #change(part: Partial<Inbox>): void {
    this.#inbox = { ...this.#inbox, ...part };
    for (const listener of this.#listeners) listener();
  }
}

type SnoozeNews = { readonly id: string; readonly snooze: Snooze | null; readonly cursor: string };

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
export const noteSnooze = store.noteSnooze;
export const forgetMissed = store.forgetMissed;
