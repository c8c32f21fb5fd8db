import { useEffect, useRef, useState } from "react";
import { decide, useDeciding, type DecideApprovalInput, type Deciding } from "../decisions.ts";
import type { Row } from "../queue.ts";
import { useInbox, type Closed } from "../store.ts";

/** So many decisions are under way at the same time. */
const AT_ONCE = 5;

/** One question of a batch as the page knows it. `voted`: the viewer has decided, and more people must. */
export type Standing =
  | { readonly kind: "open" }
  | { readonly kind: "sending" }
  | { readonly kind: "voted" }
  | { readonly kind: "closed"; readonly closed: Closed }
  | { readonly kind: "refused"; readonly message: string };

export type Member = { readonly row: Row; readonly standing: Standing };

export type BatchState = {
  readonly members: readonly Member[];
  /** The rows that a decision on all would decide now. */
  readonly left: readonly Row[];
  readonly isBusy: boolean;
  /** Alike questions that came after these were shown. No decision takes them in before they are shown, too. */
  readonly newcomers: number;
  /** Since when the members are in view, by `performance.now()`. */
  readonly shownAtMs: number;
  readonly takeIn: () => void;
  readonly decideAll: (decision: "ALLOW" | "DENY", note: string | null) => Promise<void>;
};

/** The questions of a batch, as they were shown first. Each is decided by its own decision. */
export function useBatch(present: readonly Row[]): BatchState {
  const inbox = useInbox();
  const deciding = useDeciding();
  const [shown, setShown] = useState({ rows: present, atMs: performance.now() });
  const [voted, setVoted] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const isUnderWay = useRef(false);
  const closed = useRef(inbox.closed);
  closed.current = inbox.closed;
  const takeIn = (): void => setShown({ rows: present, atMs: performance.now() });
  const isEmpty = shown.rows.length === 0 && present.length > 0;
  useEffect(() => (isEmpty ? takeIn() : undefined), [isEmpty]);
  const members = shown.rows.map((row) => ({ row, standing: standingOf(row, inbox.closed, deciding, voted) }));
  const left = members.flatMap(({ row, standing }) => (standing.kind === "open" || standing.kind === "refused" ? [row] : []));
  const known = new Set(shown.rows.map(({ id }) => id));
  const decideAll: BatchState["decideAll"] = async (decision, note) => {
    // Two clicks may come before the page is drawn again.
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    const waiting = [...left];
    const worker = async (): Promise<void> => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
        if (closed.current.has(row.id)) continue;
        const { id } = row;
        if (await decide(inputFor(row, decision, note))) setVoted((before) => new Set(before).add(id));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    isUnderWay.current = false;
    setBusy(false);
  };
  return {
    members,
    left,
    isBusy,
    newcomers: present.filter(({ id }) => !known.has(id)).length,
    shownAtMs: shown.atMs,
    takeIn,
    decideAll,
  };
}

function inputFor({ id: approvalId, inputHash }: Row, decision: "ALLOW" | "DENY", note: string | null): DecideApprovalInput {
  return { approvalId, inputHash, decision, ...(note === null ? {} : { note }) };
}

function standingOf(
  { id }: Row,
  closed: ReadonlyMap<string, Closed>,
  deciding: ReadonlyMap<string, Deciding>,
  voted: ReadonlySet<string>,
): Standing {
  const end = closed.get(id);
  if (end !== undefined) return { kind: "closed", closed: end };
  const state = deciding.get(id);
  if (state?.kind === "sending") return { kind: "sending" };
  if (state?.kind === "refused") return { kind: "refused", message: state.problems.map(({ message }) => message).join("; ") };
  return voted.has(id) ? { kind: "voted" } : { kind: "open" };
}
