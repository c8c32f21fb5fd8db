import { useEffect, useState, useSyncExternalStore } from "react";
import { DecideDocument, type DecideApprovalInput as AnyDecision } from "../generated/documents.ts";
import { AskFailed, change } from "../session/ask.ts";
import { nameOf, useViewer } from "../session/viewer.tsx";
import { keepLost, takeLost } from "./lost-decisions.ts";
import { settleInInbox } from "./store.ts";

/** A decision with its approval's id as the API gives it. */
export type DecideApprovalInput = Omit<AnyDecision, "approvalId"> & { readonly approvalId: string };

/** A decision of this page under way, or its refusal. Each approval has its own. */
export type Deciding =
  | { readonly kind: "sending"; readonly decision: DecideApprovalInput["decision"] }
  | {
      readonly kind: "refused";
      readonly problems: readonly {
        readonly code: string | null;
        readonly field: readonly string[] | null;
        readonly message: string;
      }[];
      /** True if the end of the session has cut it off, on the page before this one. */
      readonly isCutOff?: true;
    };

/** True if the answer did not come: the server may have taken the decision. */
export function isLost(deciding: Deciding): boolean {
  return deciding.kind === "refused" && deciding.problems.every(({ code }) => code === null);
}

let deciding: ReadonlyMap<string, Deciding> = new Map();
const listeners = new Set<() => void>();

function set(approvalId: string, state: Deciding | null): void {
  const next = new Map(deciding);
  if (state === null) next.delete(approvalId);
  else next.set(approvalId, state);
  deciding = next;
  for (const listener of listeners) listener();
}

/** The viewer, whose decisions are sent. */
let person: string | null = null;

/** Tells the viewer of decisions that the end of a session has cut off, with these words. */
export function useLostDecisions(words: string): void {
  const { actor } = useViewer();
  useEffect(() => {
    person = actor.id;
    for (const id of takeLost(actor.id))
      set(id, { kind: "refused", problems: [{ code: "UNAUTHENTICATED", field: null, message: words }], isCutOff: true });
  }, [actor.id]);
}

/** Sends a decision. Others may be under way. True if the server has taken it. */
export async function decide(input: DecideApprovalInput): Promise<boolean> {
  const { approvalId, decision } = input;
  if (deciding.get(approvalId)?.kind === "sending") return false;
  set(approvalId, { kind: "sending", decision });
  try {
    const { decideApproval } = await change(DecideDocument, { input });
    const { approval, userErrors: problems } = decideApproval;
    if (problems.length === 0 && approval !== null) {
      const by = approval.decidedBy === null ? null : nameOf(approval.decidedBy);
      settleInInbox(approval.id, { state: approval.state, decision: approval.decision, by });
    }
    set(approvalId, problems.length === 0 ? null : { kind: "refused", problems });
    return problems.length === 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof AskFailed && error.code === "UNAUTHENTICATED" && person !== null) keepLost({ person, approvalId });
    set(approvalId, {
      kind: "refused",
      problems: [{ code: error instanceof AskFailed ? error.code : null, field: null, message }],
    });
    return false;
  }
}

/** Its person has seen the refusal. */
export function forgetRefusal(approvalId: string): void {
  if (deciding.get(approvalId)?.kind === "refused") set(approvalId, null);
}

export function useDeciding(): ReadonlyMap<string, Deciding> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => deciding,
  );
}

type Problems = Extract<Deciding, { readonly kind: "refused" }>["problems"];

/** The problems of a refused answer, until a person changes it. `changed` wraps the change of a field. */
export function useRefusal(problems: Problems): {
  readonly shown: Problems;
  readonly changed: <Value>(change: (value: Value) => void) => (value: Value) => void;
} {
  const [old, setOld] = useState<Problems | null>(null);
  return {
    shown: problems === old ? [] : problems,
    changed: (change) => (value) => {
      setOld(problems);
      change(value);
    },
  };
}
